package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm/internal/shell"
	"github.com/wpm-go/wpm/lab/errata"
)

func errataStudy() study {
	return study{
		examples: []string{"errata -o errata"},
		name:     "errata", usage: "numbers of docs/errata.md that depend on the instance: items 7, 12 and 13",
		about:  "Needs no data; instances, columns and users are drawn from -seed.",
		seeded: "of instances, columns and users", positive: []string{"instances", "columns", "users"}, run: runErrata,
		end: "Report: ",
		flags: []cli.Flag{
			&cli.IntFlag{Name: "instances", Value: 1000, Usage: "of item 7, projections without a correction"},
			&cli.IntFlag{Name: "columns", Value: 20_000, Usage: "of item 12, boxes of floats, for each eps"},
			&cli.IntFlag{Name: "users", Value: 40, Usage: "of item 13, the unit of lambda"},
		},
	}
}

func runErrata(ctx context.Context, c *cli.Command) (any, func(io.Writer) error, error) {
	res, err := errata.Run(ctx, errata.Config{
		Out: c.String("out"), Instances: c.Int("instances"), Columns: c.Int("columns"), Users: c.Int("users"),
		Seed:     c.Uint64("seed"),
		Progress: shell.Progress(c.Root().ErrWriter),
	})
	if err != nil {
		return nil, nil, err
	}
	return res, func(out io.Writer) error {
		fmt.Fprintf(out, "7: without the correction %d of %d instances end elsewhere, at most %.2g away in total variation\n\n",
			res.Elsewhere, res.Compared, res.Farthest)
		w := tabwriter.NewWriter(out, 0, 4, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(w, "12: eps\tcolumns above e^eps\t")
		for _, v := range res.Columns {
			fmt.Fprintf(w, "%s\t%.1f %%\t\n", v.Epsilon, 100*v.Share)
		}
		fmt.Fprintln(w, "\t\t")
		fmt.Fprintln(w, "13: eps\texcess, lambda = 0.01 in sides\tin cells\t")
		for _, v := range res.Units {
			fmt.Fprintf(w, "%s\t%.1f %%\t%.1f %%\t\n", v.Epsilon, 100*v.Sides, 100*v.Cells)
		}
		return w.Flush()
	}, nil
}
