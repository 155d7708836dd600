package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/experiments/gowalla"
	"github.com/wpm-go/wpm/experiments/mirror"
	"github.com/wpm-go/wpm/experiments/movielens"
	"github.com/wpm-go/wpm/experiments/ring"
	"github.com/wpm-go/wpm/internal/places"
)

func experimentCommand() *cli.Command {
	studies := []*cli.Command{ringCommand(), movielensCommand(), gowallaCommand(), mirrorCommand(), sphereStudyCommand()}
	names := make([]string, len(studies))
	for i, s := range studies {
		names[i] = s.Name
	}
	list := strings.Join(append(names, "all"), ", ")
	return &cli.Command{
		Name:     "experiment",
		Usage:    "the paper's studies: tables and figures",
		Commands: append(studies, allCommand()),
		Action: func(_ context.Context, c *cli.Command) error {
			if c.Args().Present() {
				return fmt.Errorf("unknown experiment %q: want one of %s", c.Args().First(), list)
			}
			return fmt.Errorf("experiment takes a study: %s", list)
		},
		OnUsageError: usageError,
	}
}

// listed splits a flag of the form A,B,C.
func listed(s string) (parts []string) {
	if s == "" {
		return nil
	}
	for part := range strings.SplitSeq(s, ",") {
		parts = append(parts, strings.TrimSpace(part))
	}
	return parts
}

func ringCommand() *cli.Command {
	return &cli.Command{
		Name:        "ring",
		Usage:       "distributions on a ring: W_2 over eps and over the iterations of Algorithm 1",
		Description: "Needs no data; inputs are drawn from -seed. Half a minute with the defaults.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Value: "wpm-experiment-ring", Usage: "`FOLDER` for tables and figures"},
			&cli.StringFlag{Name: "eps", Usage: "privacy levels of the comparison, `EPS,EPS,...` (default 0.5,1,2,3,4,5,6)"},
			&cli.StringFlag{Name: "main-eps", Usage: "`EPS` of the example and the iterations (default 5)"},
			&cli.StringFlag{Name: "lambda", Usage: "regularisations, `L,L,...` in units of the cost (default 0.1,0.3,1,3,10; the paper names none)"},
			&cli.StringFlag{Name: "iterations", Usage: "where the distance is measured, `N,N,...` ascending (default 1,2,3,5,10,...,1000)"},
			&cli.IntFlag{Name: "points", Value: 30, Usage: "points of the ring"},
			&cli.FloatFlag{Name: "p", Value: 2, Usage: "power of the distance"},
			&cli.FloatFlag{Name: "alpha", Value: 0.1, Usage: "concentration of the Dirichlet distribution of the inputs"},
			&cli.IntFlag{Name: "inputs", Value: 500, Usage: "inputs of the means"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "of the inputs"},
			&cli.BoolFlag{Name: "json", Usage: "print the result as JSON"},
		},
		OnUsageError: usageError,
		Action:       runRing,
	}
}

func runRing(ctx context.Context, c *cli.Command) error {
	if err := noArgs(c); err != nil {
		return err
	}
	if err := positive(c, "points", "inputs"); err != nil {
		return err
	}
	cfg := ring.Config{
		Out: c.String("out"), Epsilons: listed(c.String("eps")), Epsilon: c.String("main-eps"), Points: c.Int("points"), P: c.Float("p"),
		Alpha: c.Float("alpha"), Inputs: c.Int("inputs"), Seed: c.Uint64("seed"), Progress: progress(c.Root().ErrWriter),
	}
	for _, s := range listed(c.String("lambda")) {
		l, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return fmt.Errorf("-lambda: %q is not a number", s)
		}
		cfg.Lambdas = append(cfg.Lambdas, l)
	}
	for _, s := range listed(c.String("iterations")) {
		n, err := strconv.Atoi(s)
		if err != nil {
			return fmt.Errorf("-iterations: %q is not a whole number", s)
		}
		cfg.Iterations = append(cfg.Iterations, n)
	}
	res, err := ring.Run(ctx, cfg)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return device.PrintJSON(c.Root().Writer, res)
	}
	fmt.Fprintf(c.Root().Writer, "%d inputs on a ring of %d points. Mean W_%v to the input:\n\n", res.Config.Inputs, res.Config.Points, res.Config.P)
	w := tabwriter.NewWriter(c.Root().Writer, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "eps\tWPM\tKPM\tWPM closer\tworst case of WPM\t")
	for _, row := range res.Rows {
		fmt.Fprintf(w, "%s\t%.4f\t%.4f\t%d\t%.4f\t\n", row.Epsilon, row.WPM.Mean, row.KPM.Mean, row.Better, row.Worst)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.Root().Writer, "\nReport: %s\n", filepath.Join(c.String("out"), "index.html"))
	return err
}

func movielensCommand() *cli.Command {
	return &cli.Command{
		Name:        "movielens",
		Usage:       "hit rate of a recommended film over eps, on ratings",
		Description: "Reads u.data and u.item of MovieLens-100K, plain or gzipped; see docs/data.md. Two or three minutes with the defaults; a run that was stopped goes on where it was.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "ratings", Usage: "u.data `FILE` (required)"},
			&cli.StringFlag{Name: "movies", Usage: "u.item `FILE` (required)"},
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Value: "wpm-experiment-movielens", Usage: "`FOLDER` for tables and figures"},
			&cli.StringFlag{Name: "eps", Usage: "privacy levels, `EPS,EPS,...` (default 0.2,0.5,1,2,3,4,5)"},
			&cli.IntFlag{Name: "splits", Value: 5, Usage: "random splits into train and test"},
			&cli.IntFlag{Name: "dimension", Value: 64, Usage: "of the embedding"},
			&cli.StringFlag{Name: "embedding", Value: string(movielens.Scores), Usage: "scores (U S) or loadings (U) of the principal components"},
			&cli.IntFlag{Name: "candidates", Value: 250, Usage: "films to recommend from"},
			&cli.IntFlag{Name: "scales", Value: 21, Usage: "masses of the base measure tried on validation users"},
			&cli.FloatFlag{Name: "lambda", Value: 0.01, Usage: "regularisation of Algorithm 1, in units of the cost"},
			&cli.IntFlag{Name: "rounds", Value: 40, Usage: "iterations of Algorithm 1"},
			&cli.IntFlag{Name: "like", Value: 4, Usage: "least rating that counts as a hit"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "of the first split"},
			&cli.BoolFlag{Name: "json", Usage: "print the result as JSON"},
		},
		OnUsageError: usageError,
		Action:       runMovielens,
	}
}

func runMovielens(ctx context.Context, c *cli.Command) error {
	if err := noArgs(c); err != nil {
		return err
	}
	if !c.IsSet("ratings") || !c.IsSet("movies") {
		return errors.New("experiment movielens needs -ratings u.data and -movies u.item; see docs/data.md for where to get them")
	}
	if err := positive(c, "splits", "dimension", "candidates", "scales", "rounds", "like"); err != nil {
		return err
	}
	if c.Float("lambda") == 0 {
		return errors.New("-lambda: 0 is not positive")
	}
	res, err := movielens.Run(ctx, movielens.Config{
		Ratings: c.String("ratings"), Films: c.String("movies"), Out: c.String("out"), Epsilons: listed(c.String("eps")), Splits: c.Int("splits"), Seed: c.Uint64("seed"),
		Dimension: c.Int("dimension"), Embedding: movielens.Embedding(c.String("embedding")), Candidates: c.Int("candidates"), Scales: c.Int("scales"),
		Lambda: c.Float("lambda"), Rounds: c.Int("rounds"), Like: c.Int("like"), Progress: progress(c.Root().ErrWriter),
	})
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return device.PrintJSON(c.Root().Writer, res)
	}
	fmt.Fprintf(c.Root().Writer, "%d users, %d films, %d ratings; HR@1, mean over %d splits (standard error):\n\n", res.Users, res.Films, res.Ratings, res.Config.Splits)
	w := tabwriter.NewWriter(c.Root().Writer, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "eps\t")
	for _, m := range movielens.Methods() {
		fmt.Fprintf(w, "%s\t", m.Name())
	}
	fmt.Fprintln(w)
	for _, eps := range res.Config.Epsilons {
		fmt.Fprintf(w, "%s\t", eps)
		for _, row := range res.Rows {
			if row.Epsilon == eps {
				fmt.Fprintf(w, "%.4f (%.4f)\t", row.HitRate, row.SE)
			}
		}
		fmt.Fprintln(w)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.Root().Writer, "\nTuning on validation users is outside the guarantee. Report: %s\n", filepath.Join(c.String("out"), "index.html"))
	return err
}

func mirrorCommand() *cli.Command {
	return &cli.Command{
		Name:        "mirror",
		Usage:       "base measures: mirror descent beside the certified optimum, designs, client modes",
		Description: "Needs no data; spaces and inputs are drawn from -seed. A minute with the defaults.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Value: "wpm-experiment-mirror", Usage: "`FOLDER` for tables and figures"},
			&cli.StringFlag{Name: "eps", Usage: "privacy levels of the descents, `EPS,EPS,...` (default 0.5,2,5)"},
			&cli.StringFlag{Name: "design-eps", Usage: "privacy levels of the designs, `EPS,EPS,...` (default 0.5,1,2,5)"},
			&cli.IntFlag{Name: "steps", Value: 100_000, Usage: "of mirror descent"},
			&cli.IntFlag{Name: "points", Value: 30, Usage: "points of the descents' spaces"},
			&cli.IntFlag{Name: "size", Value: 100, Usage: "points of the designs' spaces"},
			&cli.IntFlag{Name: "inputs", Value: 200, Usage: "inputs of the comparison of modes"},
			&cli.IntFlag{Name: "side", Value: 10, Usage: "cells on a side of the modes' grid"},
			&cli.StringFlag{Name: "mode-eps", Usage: "privacy level `EPS` of the modes (default 2)"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "of spaces and inputs"},
			&cli.BoolFlag{Name: "json", Usage: "print the result as JSON"},
		},
		OnUsageError: usageError,
		Action:       runMirror,
	}
}

func runMirror(ctx context.Context, c *cli.Command) error {
	if err := noArgs(c); err != nil {
		return err
	}
	if err := positive(c, "steps", "points", "size", "inputs", "side"); err != nil {
		return err
	}
	res, err := mirror.Run(ctx, mirror.Config{
		Out: c.String("out"), Epsilons: listed(c.String("eps")), Designs: listed(c.String("design-eps")), Steps: c.Int("steps"), Points: c.Int("points"),
		Size: c.Int("size"), Inputs: c.Int("inputs"), Side: c.Int("side"), ModeEps: c.String("mode-eps"), Seed: c.Uint64("seed"), Progress: progress(c.Root().ErrWriter),
	})
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return device.PrintJSON(c.Root().Writer, res)
	}
	fmt.Fprintf(c.Root().Writer, "Mirror descent after %d steps, relative to the certified optimum:\n\n", res.Config.Steps)
	w := tabwriter.NewWriter(c.Root().Writer, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "space\teps\tstep\taverage\tbest\tbound\tcertified gap")
	for _, d := range res.Descents {
		p := d.Points[len(d.Points)-1]
		gap := "none yet"
		if p.Gap >= 0 {
			gap = fmt.Sprintf("%.3g", p.Gap)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%.3g\t%.3g\t%.3g\t%s\n", d.Space, d.Epsilon, d.Rule, p.Average, p.Best, p.Bound, gap)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.Root().Writer, "\nDesigns and client modes: %s\n", filepath.Join(c.String("out"), "index.html"))
	return err
}

// allCommand runs every study with its defaults: those that need no data, and those whose data are given.
func allCommand() *cli.Command {
	return &cli.Command{
		Name:  "all",
		Usage: "every study with its defaults: those that need no data, and those whose data are given",
		Description: "Each writes a folder of its own below -out. A study that is there already, complete and of the same seed and data files, is not run\n" +
			"again: remove the folder to repeat it.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Value: "wpm-experiments", Usage: "`FOLDER` of the studies' folders"},
			&cli.StringFlag{Name: "ratings", Usage: "u.data `FILE`, for movielens"},
			&cli.StringFlag{Name: "movies", Usage: "u.item `FILE`, for movielens"},
			&cli.StringFlag{Name: "data", Usage: "`PATH` of the check-ins, for gowalla; without it, a synthetic city"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "of every study"},
		},
		OnUsageError: usageError,
		Action:       runAll,
	}
}

func runAll(ctx context.Context, c *cli.Command) error {
	if err := noArgs(c); err != nil {
		return err
	}
	if c.IsSet("ratings") != c.IsSet("movies") {
		return errors.New("-ratings and -movies go together")
	}
	for _, path := range []string{c.String("data"), c.String("ratings"), c.String("movies")} {
		if path == "" {
			continue
		}
		if _, err := os.Stat(path); err != nil { // now, and not after the studies before it
			return err
		}
	}
	seed := "-seed=" + strconv.FormatUint(c.Uint64("seed"), 10)
	studies := [][]string{{"ring", seed}, {"gowalla", seed}, {"mirror", seed}, {"sphere", seed}}
	if c.IsSet("data") {
		studies[1] = append(studies[1], "-data="+c.String("data"))
	}
	if c.IsSet("ratings") {
		studies = append(studies, []string{"movielens", seed, "-ratings=" + c.String("ratings"), "-movies=" + c.String("movies")})
	}
	w := c.Root().Writer
	for _, args := range studies {
		folder := filepath.Join(c.String("out"), args[0])
		if finished(folder, c.Uint64("seed"), dataNames(c, args[0])) {
			fmt.Fprintf(w, "%s: %s is there already\n\n", args[0], folder)
			continue
		}
		fmt.Fprintf(w, "== %s\n", args[0])
		study := command()
		study.Reader, study.Writer, study.ErrWriter = c.Root().Reader, w, c.Root().ErrWriter
		if err := study.Run(ctx, slices.Concat([]string{"wpm", "experiment"}, args, []string{"-out", folder})); err != nil {
			return fmt.Errorf("%s: %w", args[0], err)
		}
		fmt.Fprintln(w)
	}
	return nil
}

// dataNames are the names of the data files of a study of runAll, as far as the command line gives them.
func dataNames(c *cli.Command, study string) []string {
	switch {
	case study == "movielens":
		return []string{filepath.Base(c.String("ratings")) + " and " + filepath.Base(c.String("movies"))}
	case study == "gowalla" && !c.IsSet("data"):
		return []string{gowalla.FormatSynthetic}
	case study == "gowalla":
		if st, err := os.Stat(c.String("data")); err == nil && st.IsDir() { // which files of the folder, the study knows
			return []string{"(" + gowalla.FormatSNAP + ")", "(" + gowalla.FormatPlaces + ")", "(" + gowalla.FormatCells + ")"}
		}
		return []string{filepath.Base(c.String("data"))}
	}
	return nil
}

// finished reports whether the folder holds a complete report of that seed, made from one of the data (index.html is the last file to be written).
func finished(folder string, seed uint64, data []string) bool {
	if _, err := os.Stat(filepath.Join(folder, "index.html")); err != nil {
		return false
	}
	text, err := os.ReadFile(filepath.Join(folder, "table.json"))
	if err != nil {
		return false
	}
	var table struct {
		Seed     string `json:"seed"`
		Settings []struct {
			Name  string `json:"name"`
			Value string `json:"value"`
		} `json:"settings"`
	}
	if json.Unmarshal(text, &table) != nil || table.Seed != strconv.FormatUint(seed, 10) {
		return false
	}
	if data == nil {
		return true
	}
	for _, s := range table.Settings {
		if s.Name == "data" {
			return slices.ContainsFunc(data, func(name string) bool { return strings.Contains(s.Value, name) })
		}
	}
	return false
}

func gowallaCommand() *cli.Command {
	area := gowalla.Austin()
	return &cli.Command{
		Name:  "gowalla",
		Usage: "W_1 of the released map against the true one over eps, on check-ins",
		Description: "-data is the original SNAP file (user, time, latitude, longitude, place), a folder with user_poi_count.tsv and\n" +
			"poi_lat_lon.tsv, or a table of counts per cell; plain or gzipped. Releases are simulated from -seed.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "data", Usage: "`PATH` of the check-ins: a file or a folder; without it, a synthetic city"},
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
			&cli.StringFlag{Name: "solver", Value: "exact", Usage: "`NAME` of what finds the projections of WPM: " + wpm.Solvers},
			&cli.StringFlag{Name: "ties", Value: string(gowalla.TiesRandom), Usage: "`RULE` for exact projections that cost the same: random (no side preferred) or solver (what it ends at); moves the last digits"},
			&cli.BoolFlag{Name: "tie-range", Value: true, Usage: "also look for the range of expected W_1 over all exact projections; false saves half of the time"},
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
	if c.IsSet("data") && c.String("data") == "" {
		return errors.New("-data: the path is empty; leave the flag out for a synthetic city")
	}
	if err := positive(c, "min-checkins", "runs"); err != nil {
		return err
	}
	rows, cols, err := places.ParseGrid(c.String("grid"))
	if err != nil {
		return err
	}
	cfg := gowalla.Config{
		Data: c.String("data"), Out: c.String("out"), Rows: rows, Cols: cols,
		Area:        gowalla.Box{South: c.Float("south"), North: c.Float("north"), West: c.Float("west"), East: c.Float("east")},
		MinCheckins: c.Int("min-checkins"), Users: c.Int("users"), AllUsers: c.Int("users") == 0,
		Runs: c.Int("runs"), Seed: c.Uint64("seed"), MapEps: c.String("map-eps"), Solver: c.String("solver"),
		Ties: gowalla.Ties(c.String("ties")), SkipTieRange: !c.Bool("tie-range"), Progress: progress(c.Root().ErrWriter),
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
		return device.PrintJSON(c.Root().Writer, res)
	}
	if res.Source.Format == gowalla.FormatSynthetic {
		fmt.Fprint(c.Root().Writer, "A synthetic city (no -data): ")
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
	if !res.Config.SkipTieRange {
		fmt.Fprint(w, "WPM over ties\t")
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
		if row, ok := res.Row(gowalla.WPM, eps); ok && !res.Config.SkipTieRange {
			fmt.Fprintf(w, "%.4f to %.4f\t", row.TieLow, row.TieHigh)
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}
