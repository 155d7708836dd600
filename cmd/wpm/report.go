package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"

	"github.com/urfave/cli/v3"
)

func reportCommand() *cli.Command {
	return &cli.Command{
		Name:      "report",
		Usage:     "name the points that reports released",
		ArgsUsage: "POLICY [REPORTS]",
		Description: "REPORTS has one report per line, in the hexadecimal form of release (default: standard input). Prints the index and\n" +
			"label of each released point, or, of a codebook, its coordinates. A report of another policy is an error.",
		Flags:        []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "one JSON object per line"}},
		OnUsageError: usageError,
		Action:       showReports,
	}
}

func showReports(_ context.Context, c *cli.Command) error {
	p, reports, err := policyAndReports(c, c.Args().Slice())
	if b, ok := asCodebook(err); ok {
		return showCodebook(c, b)
	}
	if err != nil {
		return err
	}
	out := bufio.NewWriter(c.Root().Writer)
	for _, r := range reports {
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
	return out.Flush()
}
