package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm/cost/costio"
	"github.com/wpm-go/wpm/policy"
)

func reportCommand() *cli.Command {
	return &cli.Command{
		Name:      "report",
		Usage:     "name the points that reports released",
		ArgsUsage: "POLICY [REPORTS]",
		Description: "REPORTS has one report per line, in the hexadecimal form of release (default: standard input). Prints the index and\n" +
			"label of each released point, or, of a codebook, its coordinates, up to the first line that is not a report of the\n" +
			"policy, which is an error.",
		Flags:        []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "one JSON object per line"}},
		OnUsageError: usageError,
		Action:       showReports,
	}
}

func showReports(ctx context.Context, c *cli.Command) error {
	p, files, err := policyAndFiles(c, c.Args().Slice())
	if b, ok := asCodebook(err); ok {
		return showCodebook(c, b)
	}
	if err != nil {
		return err
	}
	if len(files) > 1 {
		return errors.New("report takes a policy and at most one file of reports")
	}
	file := append(files, "-")[0]
	f, err := open(file, c.Root().Reader)
	if err != nil {
		return err
	}
	defer f.Close()
	in, err := costio.Unzip(f)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	out := bufio.NewWriter(c.Root().Writer)
	err = eachReport(ctx, in, func(number int, record []byte, binary bool) error {
		var r policy.Report
		unmarshal := r.UnmarshalText
		if binary {
			unmarshal = r.UnmarshalBinary
		}
		err := unmarshal(record)
		if err == nil {
			err = p.Belongs(r)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", where(number, binary), err)
		}
		label := p.OutputLabel(r.Index())
		if !c.Bool("json") {
			fmt.Fprintf(out, "%d\t%s\n", r.Index(), label)
			return nil
		}
		quoted, err := json.Marshal(label)
		fmt.Fprintf(out, "{\"index\":%d,\"label\":%s}\n", r.Index(), quoted)
		return err
	})
	if err != nil {
		err = fmt.Errorf("%s:%w", file, err)
	}
	return errors.Join(err, out.Flush())
}
