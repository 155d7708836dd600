// Package simulated has the commands of wpm that run on made-up people: the demonstration, the page with sliders, and the
// reports of many devices.
package simulated

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/internal/demo"
	"github.com/wpm-go/wpm/internal/playground"
	"github.com/wpm-go/wpm/internal/shell"
)

// Demo is the command demo.
func Demo() *cli.Command {
	return &cli.Command{
		Name:  "demo",
		Usage: "a tour that needs no input: a synthetic city, from design to report",
		Description: "Designs a mechanism for a synthetic city of 500 users, publishes and verifies it, releases one point per user\n" +
			"(a simulation), compares with the baselines, and writes policies, a report with figures, and\n" +
			"a page with sliders (see \"wpm playground\"), if it can be made here.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Value: "wpm-demo", Usage: "`FOLDER` to write"},
			&cli.IntFlag{Name: "devices", Value: 500, Usage: "how many users, a device each"},
			&cli.StringFlag{Name: "grid", Value: "20x20", Usage: "cells of the city, `ROWSxCOLS`"},
			&cli.StringFlag{Name: "eps", Value: "4", Usage: "privacy level `EPS` of the published mechanism"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "of the synthetic city and the simulated releases"},
			&cli.BoolFlag{Name: "json", Usage: "print the result as JSON"},
		},
		Metadata:     shell.Renamed("users", "-devices"),
		OnUsageError: shell.UsageError,
		Action:       runDemo,
	}
}

func runDemo(ctx context.Context, c *cli.Command) error {
	if err := shell.NoArgs(c); err != nil {
		return err
	}
	if err := shell.Positive(c, "devices"); err != nil {
		return err
	}
	rows, cols, err := shell.Grid(c)
	if err != nil {
		return err
	}
	res, err := demo.Run(ctx, demo.Config{
		Out: c.String("out"), Users: c.Int("devices"), Rows: rows, Cols: cols, Epsilon: c.String("eps"), Seed: c.Uint64("seed"),
		Progress: shell.Progress(c.Root().ErrWriter), Page: func(r demo.Result) []byte { return demoPage(ctx, c, r) },
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

// demoPage returns the playground with the demo's result inside. Without the page's program there is none: a note says so,
// and the demo is complete.
func demoPage(ctx context.Context, c *cli.Command, r demo.Result) []byte {
	none := func(err error) {
		fmt.Fprintf(c.Root().ErrWriter, "%s: note: the demo has no playground.html: %v\n", c.Root().Name, err)
	}
	program, err := playground.Find(ctx, ".", programProgress(c.Root().ErrWriter))
	if err != nil {
		none(err)
		return nil
	}
	shown := playground.Results{
		Settings: playground.Settings{Epsilon: r.Config.Epsilon, People: r.Config.Users, Seed: r.Config.Seed},
		Sentence: r.Sentence(), Rows: r.Config.Rows, Cols: r.Config.Cols,
	}
	for _, m := range []playground.Map{
		{Title: "The truth", Note: "known only in a simulation", Shares: r.Truth},
		{Title: "Releases as they are", Note: "one of each user", Shares: r.Modes[len(r.Modes)-1].Histogram},
		{Title: "Estimate", Note: "made from these releases", Shares: r.Learned.Shares},
		{Title: "Rival", Note: "optimized unary encoding", Shares: r.Learned.OUEShares},
	} {
		m.Shares = slices.Clone(m.Shares)
		for i, v := range m.Shares {
			m.Shares[i] = math.Round(v*1e5) / 1e5 // finer than colours
		}
		shown.Maps = append(shown.Maps, m)
	}
	page, err := playground.Page(program, &shown)
	if err != nil {
		none(err)
		return nil
	}
	return page
}
