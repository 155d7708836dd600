package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm/experiments/gowalla"
)

func experimentCommand() *cli.Command {
	return &cli.Command{
		Name:     "experiment",
		Usage:    "the paper's studies: tables and figures",
		Commands: []*cli.Command{gowallaCommand()},
		Action: func(_ context.Context, c *cli.Command) error {
			if c.Args().Present() {
				return fmt.Errorf("unknown experiment %q: gowalla", c.Args().First())
			}
			return errors.New("experiment takes a study: gowalla")
		},
		OnUsageError: usageError,
	}
}

func gowallaCommand() *cli.Command {
	area := gowalla.Austin()
	return &cli.Command{
		Name:  "gowalla",
		Usage: "W_1 of the released map against the true one over eps, on check-ins",
		Description: "-data is the original SNAP file (user, time, latitude, longitude, place), a folder with user_poi_count.tsv and\n" +
			"poi_lat_lon.tsv, or a table of counts per cell; plain or gzipped. Releases are simulated from -seed.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "data", Usage: "`PATH` of the check-ins: a file or a folder (required)"},
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Value: "wpm-experiment-gowalla", Usage: "`FOLDER` for tables and figures"},
			&cli.StringFlag{Name: "eps", Usage: "privacy levels, `EPS,EPS,...` (default 0.5,1,2,3,4,5)"},
			&cli.StringFlag{Name: "map-eps", Usage: "`EPS` of the heat maps (default 4)"},
			&cli.StringFlag{Name: "grid", Value: "20x20", Usage: "cells, `ROWSxCOLS`"},
			&cli.FloatFlag{Name: "south", Value: area.South, Usage: "latitude of the area's lower edge"},
			&cli.FloatFlag{Name: "north", Value: area.North, Usage: "latitude of the area's upper edge"},
			&cli.FloatFlag{Name: "west", Value: area.West, Usage: "longitude of the area's left edge"},
			&cli.FloatFlag{Name: "east", Value: area.East, Usage: "longitude of the area's right edge"},
			&cli.IntFlag{Name: "users", Value: 500, Usage: "the so many lowest user ids; 0 for all"},
			&cli.IntFlag{Name: "min-checkins", Value: 10, Usage: "least number of check-ins of a user in the area"},
			&cli.IntFlag{Name: "runs", Value: 5, Usage: "simulated releases of everybody"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "of the simulated releases"},
			&cli.BoolFlag{Name: "json", Usage: "print the result as JSON"},
		},
		OnUsageError: usageError,
		Action:       runGowalla,
	}
}

func runGowalla(ctx context.Context, c *cli.Command) error {
	if err := noArgs(c); err != nil {
		return err
	}
	if !c.IsSet("data") {
		return errors.New("experiment gowalla needs -data PATH; see docs/data.md for where to get check-ins")
	}
	if err := positive(c, "min-checkins", "runs"); err != nil {
		return err
	}
	rows, cols, err := parseGrid(c.String("grid"))
	if err != nil {
		return err
	}
	cfg := gowalla.Config{
		Data: c.String("data"), Out: c.String("out"), Rows: rows, Cols: cols,
		Area:        gowalla.Box{South: c.Float("south"), North: c.Float("north"), West: c.Float("west"), East: c.Float("east")},
		MinCheckins: c.Int("min-checkins"), Users: c.Int("users"), AllUsers: c.Int("users") == 0,
		Runs: c.Int("runs"), Seed: c.Uint64("seed"), MapEps: c.String("map-eps"), Progress: progress(c.Root().ErrWriter),
	}
	if s := c.String("eps"); s != "" {
		for _, e := range strings.Split(s, ",") {
			cfg.Epsilons = append(cfg.Epsilons, strings.TrimSpace(e))
		}
	}
	res, err := gowalla.Run(ctx, cfg)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return printJSON(c.Root().Writer, res)
	}
	fmt.Fprintf(c.Root().Writer, "%d users, %d check-ins. Expected W_1 to the truth, in cell widths:\n\n", res.Users, res.Checkins)
	if err := printComparison(c, res); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.Root().Writer, "\nAll released weights of all pairs of users are within e^eps of each other, decided in integers.\nReport: %s\n",
		filepath.Join(c.String("out"), "index.html"))
	return err
}

// printComparison tabulates the expected W_1 of each mechanism over eps.
func printComparison(c *cli.Command, res gowalla.Result) error {
	w := tabwriter.NewWriter(c.Root().Writer, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "eps\t")
	for _, m := range res.Config.Methods {
		fmt.Fprintf(w, "%s\t", m.Name())
	}
	fmt.Fprintln(w)
	for _, eps := range res.Config.Epsilons {
		fmt.Fprintf(w, "%s\t", eps)
		for _, m := range res.Config.Methods {
			v := math.NaN()
			if row, ok := res.Row(m, eps); ok {
				v = row.Expected
			}
			fmt.Fprintf(w, "%.4f\t", v)
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}
