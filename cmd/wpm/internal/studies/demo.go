package studies

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm/cmd/wpm/internal/shell"
	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/experiments/demo"
)

// Demo is the command demo.
func Demo() *cli.Command {
	return &cli.Command{
		Name:  "demo",
		Usage: "a tour that needs no input: a synthetic city, from design to report",
		Description: "Designs a mechanism for a synthetic city of 500 users, publishes and verifies it, releases one point per user\n" +
			"(a simulation), compares with the baselines, and writes policies and a report with figures.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Value: "wpm-demo", Usage: "`FOLDER` to write"},
			&cli.IntFlag{Name: "users", Value: 500, Usage: "how many users"},
			&cli.StringFlag{Name: "grid", Value: "20x20", Usage: "cells of the city, `ROWSxCOLS`"},
			&cli.StringFlag{Name: "eps", Value: "4", Usage: "privacy level `EPS` of the published mechanism"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "of the synthetic city and the simulated releases"},
			&cli.BoolFlag{Name: "json", Usage: "print the result as JSON"},
		},
		OnUsageError: shell.UsageError,
		Action:       runDemo,
	}
}

func runDemo(ctx context.Context, c *cli.Command) error {
	if err := shell.NoArgs(c); err != nil {
		return err
	}
	if err := shell.Positive(c, "users"); err != nil {
		return err
	}
	rows, cols, err := shell.Grid(c)
	if err != nil {
		return err
	}
	res, err := demo.Run(ctx, demo.Config{
		Out: c.String("out"), Users: c.Int("users"), Rows: rows, Cols: cols, Epsilon: c.String("eps"), Seed: c.Uint64("seed"),
		Progress: shell.Progress(c.Root().ErrWriter),
	})
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return device.PrintJSON(c.Root().Writer, res)
	}
	_, err = fmt.Fprintln(c.Root().Writer, res)
	return err
}
