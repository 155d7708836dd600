package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm/policy"
)

func reportCommand() *cli.Command {
	return &cli.Command{
		Name:      "report",
		Usage:     "name the points that reports released",
		ArgsUsage: "POLICY [REPORTS]",
		Description: "REPORTS has one report per line, in the hexadecimal form of release (default: standard input). Prints the index and\n" +
			"label of each released point. A report of another policy is an error.",
		Flags:        []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "one JSON object per line"}},
		OnUsageError: usageError,
		Action:       showReports,
	}
}

func showReports(_ context.Context, c *cli.Command) error {
	if n := c.Args().Len(); n < 1 || n > 2 {
		return errors.New("report takes a policy and at most one file of reports")
	}
	file, reports := c.Args().First(), "-"
	if c.Args().Len() == 2 {
		reports = c.Args().Get(1)
	}
	if file == "-" && reports == "-" {
		return errors.New("policy and reports cannot both be standard input")
	}
	p, err := readPolicy(file, c.Root().Reader)
	if err != nil {
		return err
	}
	f, err := open(reports, c.Root().Reader)
	if err != nil {
		return err
	}
	defer f.Close()
	out := bufio.NewWriter(c.Root().Writer)
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		if len(lines.Bytes()) == 0 {
			continue
		}
		var r policy.Report
		err := r.UnmarshalText(lines.Bytes())
		if err == nil {
			err = p.Belongs(r)
		}
		if err != nil {
			return errors.Join(fmt.Errorf("%s:%d: %w", reports, n, err), out.Flush())
		}
		if c.Bool("json") {
			label, err := json.Marshal(p.OutputLabel(r.Index()))
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "{\"index\":%d,\"label\":%s}\n", r.Index(), label)
		} else {
			fmt.Fprintf(out, "%d\t%s\n", r.Index(), p.OutputLabel(r.Index()))
		}
	}
	if err := lines.Err(); err != nil {
		return errors.Join(fmt.Errorf("%s: %w", reports, err), out.Flush())
	}
	return out.Flush()
}
