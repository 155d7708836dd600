package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm/internal/shell"
)

// Report is the command report.
func Report() *cli.Command {
	return &cli.Command{
		Name:      "report",
		Usage:     "name the points that reports released",
		ArgsUsage: "POLICY [REPORTS]",
		Description: "REPORTS has one report per line, in the hexadecimal form of release (default: standard input). Prints the index and\n" +
			"label of each released point, or, of a codebook, its coordinates, up to the first line that is not a report of the\n" +
			"policy, which is an error.",
		Flags:        []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "one JSON object per line"}},
		OnUsageError: shell.UsageError,
		Action:       showReports,
	}
}

func showReports(ctx context.Context, c *cli.Command) error {
	k, files, err := policyAndFiles(c, c.Args().Slice())
	if err != nil {
		return err
	}
	if len(files) > 1 {
		return errors.New("report takes a policy and at most one file of reports")
	}
	out := bufio.NewWriter(c.Root().Writer)
	err = reader(c, k).Each(ctx, append(files, "-")[0], func(record []byte, binary bool) error {
		index, text, asJSON, err := k.Show(record, binary)
		switch {
		case err != nil:
			return err
		case c.Bool("json"):
			_, err = fmt.Fprintf(out, "{\"index\":%d,%s}\n", index, asJSON)
		default:
			_, err = fmt.Fprintf(out, "%d\t%s\n", index, text)
		}
		return err
	})
	return errors.Join(err, out.Flush())
}
