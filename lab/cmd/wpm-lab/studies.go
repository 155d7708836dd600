package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/estimate/atlas"
	"github.com/wpm-go/wpm/internal/shell"
	"github.com/wpm-go/wpm/lab/compare"
	"github.com/wpm-go/wpm/lab/country"
	"github.com/wpm-go/wpm/lab/gowalla"
	"github.com/wpm-go/wpm/lab/mapping"
	"github.com/wpm-go/wpm/lab/mirror"
	"github.com/wpm-go/wpm/lab/months"
	"github.com/wpm-go/wpm/lab/movielens"
	"github.com/wpm-go/wpm/lab/ring"
	"github.com/wpm-go/wpm/lab/rivals"
	"github.com/wpm-go/wpm/lab/rows"
	sphere "github.com/wpm-go/wpm/lab/sphere"
)

func ringStudy() study {
	return study{
		examples: []string{"ring -inputs 50 -o ring"},
		name:     "ring", usage: "distributions on a ring: W_2 over eps and over the iterations of Algorithm 1",
		about:  "Needs no data; inputs are drawn from -seed. Half a minute with the defaults.",
		seeded: "of the inputs", positive: []string{"points", "inputs"}, run: runRing,
		end: "Report: ",
		flags: []cli.Flag{
			&cli.StringFlag{Name: "eps", Usage: "privacy levels of the comparison, `EPS,EPS,...` (default 0.5,1,2,3,4,5,6)"},
			&cli.StringFlag{Name: "main-eps", Usage: "`EPS` of the example and the iterations (default 5)"},
			&cli.StringFlag{Name: "lambda",
				Usage: "regularisations, `L,L,...` in units of the cost (default 0.1,0.3,1,3,10; the paper names none)"},
			&cli.StringFlag{Name: "iterations",
				Usage: "where the distance is measured, `N,N,...` ascending (default 1,2,3,5,10,...,1000)"},
			&cli.IntFlag{Name: "points", Value: 30, Usage: "points of the ring"},
			&cli.FloatFlag{Name: "p", Value: 2, Usage: "power of the distance"},
			&cli.FloatFlag{Name: "alpha", Value: 0.1, Usage: "concentration of the Dirichlet distribution of the inputs"},
			&cli.IntFlag{Name: "inputs", Value: 500, Usage: "inputs of the means"},
		},
	}
}

func runRing(ctx context.Context, c *cli.Command) (any, func(io.Writer) error, error) {
	cfg := ring.Config{
		Out: c.String("out"), Epsilons: shell.List(c.String("eps")), Epsilon: c.String("main-eps"), Points: c.Int("points"),
		P:     c.Float("p"),
		Alpha: c.Float("alpha"), Inputs: c.Int("inputs"), Seed: c.Uint64("seed"),
		Progress: shell.Progress(c.Root().ErrWriter),
	}
	for _, s := range shell.List(c.String("lambda")) {
		l, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return nil, nil, fmt.Errorf("-lambda: %q is not a number", s)
		}
		cfg.Lambdas = append(cfg.Lambdas, l)
	}
	for _, s := range shell.List(c.String("iterations")) {
		n, err := strconv.Atoi(s)
		if err != nil {
			return nil, nil, fmt.Errorf("-iterations: %q is not a whole number", s)
		}
		cfg.Iterations = append(cfg.Iterations, n)
	}
	res, err := ring.Run(ctx, cfg)
	if err != nil {
		return nil, nil, err
	}
	return res, func(out io.Writer) error {
		fmt.Fprintf(out, "%d inputs on a ring of %d points. Mean W_%v to the input:\n\n", res.Config.Inputs,
			res.Config.Points, res.Config.P)
		w := tabwriter.NewWriter(out, 0, 4, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(w, "eps\tWPM\tKPM\tWPM closer\tworst case of WPM\t")
		for _, row := range res.Rows {
			fmt.Fprintf(w, "%s\t%.4f\t%.4f\t%d\t%.4f\t\n", row.Epsilon, row.WPM.Mean, row.KPM.Mean, row.Better, row.Worst)
		}
		return w.Flush()
	}, nil
}

func movielensStudy() study {
	return study{
		examples: []string{"movielens -ratings u.data -movies u.item"},
		name:     "movielens", usage: "hit rate of a recommended film over eps, on ratings",
		about:  "Reads u.data and u.item of MovieLens-100K, plain or gzipped; see docs/data.md. 16 minutes of processor time with the defaults; a run that was stopped goes on where it was.",
		seeded: "of the first split", positive: []string{"splits", "dimension", "candidates", "scales", "rounds", "like"},
		run: runMovielens,
		end: "Tuning on validation users is outside the guarantee. Report: ",
		flags: []cli.Flag{
			&cli.StringFlag{Name: "ratings", Usage: "u.data `FILE` (required, or -data)"},
			&cli.StringFlag{Name: "movies", Usage: "u.item `FILE` (required, or -data)"},
			&cli.StringFlag{Name: "data", Usage: "`FOLDER` of u.data and u.item, gzip allowed"},
			&cli.StringFlag{Name: "eps", Usage: "privacy levels, `EPS,EPS,...` (default 0.2,0.5,1,2,3,4,5)"},
			&cli.IntFlag{Name: "splits", Value: 20,
				Usage: "splits into train and test; with -split-file, its first ones (default all)"},
			&cli.StringFlag{Name: "split-file",
				Usage: "`FILE` of splits, lines of split,film,id and split,user,id; see docs/data.md (default: drawn from -seed)"},
			&cli.IntFlag{Name: "dimension", Value: 64, Usage: "of the embedding"},
			&cli.StringFlag{Name: "embedding", Value: string(movielens.Scores),
				Usage: "scores (U S) or loadings (U) of the principal components"},
			&cli.IntFlag{Name: "candidates", Value: 250, Usage: "films to recommend from"},
			&cli.IntFlag{Name: "scales", Value: 21, Usage: "masses of the base measure tried on validation users"},
			&cli.FloatFlag{Name: "lambda", Value: 0.01, Usage: "regularisation of Algorithm 1, in units of the cost"},
			&cli.IntFlag{Name: "rounds", Value: 40, Usage: "iterations of Algorithm 1"},
			&cli.IntFlag{Name: "like", Value: 4, Usage: "least rating that counts as a hit"},
		},
	}
}

// movielensFiles are the two files, by themselves or in the folder that they come in.
func movielensFiles(c *cli.Command) (ratings, movies string, err error) {
	switch {
	case c.IsSet("data") && (c.IsSet("ratings") || c.IsSet("movies")):
		return "", "", errors.New("-data is the folder of both files; -ratings and -movies are the files")
	case c.IsSet("data"):
		for _, f := range []struct {
			path *string
			name string
		}{{&ratings, "u.data"}, {&movies, "u.item"}} {
			*f.path = filepath.Join(c.String("data"), f.name)
			if _, err := os.Stat(*f.path); errors.Is(err, fs.ErrNotExist) {
				if _, err := os.Stat(*f.path + ".gz"); err == nil {
					*f.path += ".gz"
				}
			}
		}
		return ratings, movies, nil
	case !c.IsSet("ratings") || !c.IsSet("movies"):
		return "", "", errors.New("experiment movielens needs -ratings u.data and -movies u.item, or -data and their folder; " +
			"see docs/data.md for where to get them")
	}
	return c.String("ratings"), c.String("movies"), nil
}

func runMovielens(ctx context.Context, c *cli.Command) (any, func(io.Writer) error, error) {
	ratings, movies, err := movielensFiles(c)
	if err != nil {
		return nil, nil, err
	}
	if c.Float("lambda") == 0 {
		return nil, nil, errors.New("-lambda: 0 is not positive")
	}
	splits := c.Int("splits")
	if c.IsSet("split-file") && !c.IsSet("splits") {
		splits = 0 // all
	}
	res, err := movielens.Run(ctx, movielens.Config{
		Ratings: ratings, Films: movies, Out: c.String("out"), Epsilons: shell.List(c.String("eps")),
		Splits: splits, SplitFile: c.String("split-file"), Seed: c.Uint64("seed"),
		Dimension: c.Int("dimension"), Embedding: movielens.Embedding(c.String("embedding")), Candidates: c.Int("candidates"),
		Scales: c.Int("scales"),
		Lambda: c.Float("lambda"), Rounds: c.Int("rounds"), Like: c.Int("like"), Progress: shell.Progress(c.Root().ErrWriter),
	})
	if err != nil {
		return nil, nil, err
	}
	return res, func(out io.Writer) error {
		fmt.Fprintf(out, "%d users, %d films, %d ratings; HR@1, mean over %d splits (standard error):\n\n", res.Users,
			res.Films, res.Ratings, res.Config.Splits)
		w := tabwriter.NewWriter(out, 0, 4, 2, ' ', tabwriter.AlignRight)
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
		for _, d := range res.Differences {
			if d.Method == movielens.KPM {
				fmt.Fprintf(out, "WPM less %s at eps %s: %.4f, t-interval of 95 %%: %.4f to %.4f\n", d.Method.Name(), d.Epsilon,
					d.Mean, d.Low, d.High)
			}
		}
		for _, row := range res.Ceilings {
			fmt.Fprintf(out, "%s: %.4f (%.4f)\n", row.Method.Name(), row.HitRate, row.SE)
		}
		return nil
	}, nil
}

func mirrorStudy() study {
	return study{
		examples: []string{"mirror -o mirror"},
		name:     "mirror", usage: "base measures: mirror descent beside the certified optimum, designs, client modes",
		about:  "Needs no data; spaces and inputs are drawn from -seed. A minute with the defaults.",
		seeded: "of spaces and inputs", positive: []string{"steps", "points", "size", "inputs", "side"}, run: runMirror,
		end: "Designs and client modes: ",
		flags: []cli.Flag{
			&cli.StringFlag{Name: "eps", Usage: "privacy levels of the descents, `EPS,EPS,...` (default 0.5,2,5)"},
			&cli.StringFlag{Name: "design-eps", Usage: "privacy levels of the designs, `EPS,EPS,...` (default 0.5,1,2,5)"},
			&cli.IntFlag{Name: "steps", Value: 100_000, Usage: "of mirror descent"},
			&cli.IntFlag{Name: "points", Value: 30, Usage: "points of the descents' spaces"},
			&cli.IntFlag{Name: "size", Value: 100, Usage: "points of the designs' spaces"},
			&cli.IntFlag{Name: "inputs", Value: 200, Usage: "inputs of the comparison of modes"},
			&cli.IntFlag{Name: "side", Value: 10, Usage: "cells on a side of the modes' grid"},
			&cli.StringFlag{Name: "mode-eps", Usage: "privacy level `EPS` of the modes (default 2)"},
		},
	}
}

func runMirror(ctx context.Context, c *cli.Command) (any, func(io.Writer) error, error) {
	res, err := mirror.Run(ctx, mirror.Config{
		Out: c.String("out"), Epsilons: shell.List(c.String("eps")), Designs: shell.List(c.String("design-eps")),
		Steps: c.Int("steps"), Points: c.Int("points"),
		Size: c.Int("size"), Inputs: c.Int("inputs"), Side: c.Int("side"), ModeEps: c.String("mode-eps"),
		Seed: c.Uint64("seed"), Progress: shell.Progress(c.Root().ErrWriter),
	})
	if err != nil {
		return nil, nil, err
	}
	return res, func(out io.Writer) error {
		fmt.Fprintf(out, "Mirror descent after %d steps, relative to the certified optimum:\n\n", res.Config.Steps)
		w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
		fmt.Fprintln(w, "space\teps\tstep\taverage\tbest\tbound\tcertified gap")
		for _, d := range res.Descents {
			p := d.Points[len(d.Points)-1]
			gap := "none yet"
			if p.Gap >= 0 {
				gap = fmt.Sprintf("%.3g", p.Gap)
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%.3g\t%.3g\t%.3g\t%s\n", d.Space, d.Epsilon, d.Rule, p.Average, p.Best, p.Bound, gap)
		}
		return w.Flush()
	}, nil
}

func gowallaStudy() study {
	area := gowalla.Austin()
	return study{
		examples: []string{"gowalla -data loc-gowalla_totalCheckins.txt.gz"},
		name:     "gowalla", usage: "W_1 of the released map against the true one over eps, on check-ins",
		about: "-data is the original SNAP file (user, time, latitude, longitude, place), a folder with user_poi_count.tsv and\n" +
			"poi_lat_lon.tsv, or a table of counts per cell; plain or gzipped. Releases are simulated from -seed.",
		seeded: "of the simulated releases", positive: []string{"min-checkins", "runs", "rounds"}, run: runGowalla,
		end: "All released weights of all pairs of users are within e^eps of each other, decided in integers.\nReport: ",
		flags: []cli.Flag{
			&cli.StringFlag{Name: "data", Usage: "`PATH` of the check-ins: a file or a folder; without it, a synthetic city"},
			&cli.StringFlag{Name: "eps", Usage: "privacy levels, `EPS,EPS,...` (default 0.5,1,2,3,4,5)"},
			&cli.StringFlag{Name: "map-eps", Usage: "`EPS` of the heat maps (default 4)"},
			&cli.StringFlag{Name: "grid", Value: "20x20", Usage: "cells, `ROWSxCOLS`"},
			&cli.FloatFlag{Name: "south", Value: area.South, Usage: "latitude of the area's lower edge"},
			&cli.FloatFlag{Name: "north", Value: area.North, Usage: "latitude of the area's upper edge"},
			&cli.FloatFlag{Name: "west", Value: area.West, Usage: "longitude of the area's left edge"},
			&cli.FloatFlag{Name: "east", Value: area.East, Usage: "longitude of the area's right edge"},
			&cli.IntFlag{Name: "users", Value: 500, Usage: "the so many lowest user ids; 0 for all"},
			&cli.IntFlag{Name: "min-checkins", Value: 10, Usage: "least number of check-ins of a user in the area"},
			&cli.IntFlag{Name: "runs", Value: 20, Usage: "simulated releases of everybody"},
			&cli.FloatFlag{Name: "lambda", Value: 0.01,
				Usage: "regularisation of Algorithm 1, in units of the unit square's side"},
			&cli.IntFlag{Name: "rounds", Value: 40, Usage: "iterations of Algorithm 1"},
			&cli.BoolFlag{Name: "estimates", Value: true,
				Usage: "also estimate maps from one report of each user, of WPM and of its rivals"},
			&cli.StringFlag{Name: "objective", Value: "uniform",
				Usage: "what the base measure of WPM is for: `NAME` is " + compare.Objectives},
			&cli.StringFlag{Name: "solver", Value: "exact",
				Usage: "`NAME` of what finds the projections of WPM: " + wpm.Solvers},
			&cli.StringFlag{Name: "ties", Value: string(gowalla.TiesRandom),
				Usage: "`RULE` for exact projections that cost the same: random (no side preferred) or solver (what it ends at); moves the last digits"},
			&cli.BoolFlag{Name: "tie-range", Value: true,
				Usage: "also look for the range of expected W_1 over all exact projections; false saves half of the time"},
		},
	}
}

func runGowalla(ctx context.Context, c *cli.Command) (any, func(io.Writer) error, error) {
	if c.IsSet("data") && c.String("data") == "" {
		return nil, nil, errors.New("-data: the path is empty; leave the flag out for a synthetic city")
	}
	if c.Float("lambda") == 0 {
		return nil, nil, errors.New("-lambda: 0 is not positive")
	}
	rows, cols, err := shell.Grid(c)
	if err != nil {
		return nil, nil, err
	}
	cfg := gowalla.Config{
		Data: c.String("data"), Out: c.String("out"), Epsilons: shell.List(c.String("eps")), Rows: rows, Cols: cols,
		Area: gowalla.Box{South: c.Float("south"), North: c.Float("north"), West: c.Float("west"),
			East: c.Float("east")},
		MinCheckins: c.Int("min-checkins"), Users: c.Int("users"), AllUsers: c.Int("users") == 0,
		Runs: c.Int("runs"), Seed: c.Uint64("seed"), MapEps: c.String("map-eps"), Objective: c.String("objective"),
		Solver: c.String("solver"),
		Lambda: c.Float("lambda"), Rounds: c.Int("rounds"), SkipEstimates: !c.Bool("estimates"),
		Ties: gowalla.Ties(c.String("ties")), SkipTieRange: !c.Bool("tie-range"),
		Progress: shell.Progress(c.Root().ErrWriter),
	}
	res, err := gowalla.Run(ctx, cfg)
	if err != nil {
		return nil, nil, err
	}
	return res, func(out io.Writer) error {
		if res.Source.Format == gowalla.FormatSynthetic {
			fmt.Fprint(out, "A synthetic city (no -data): ")
		}
		fmt.Fprintf(out, "%d users, %d check-ins. Expected W_1 to the truth, in cell widths:\n\n", res.Users, res.Checkins)
		return printComparison(out, res)
	}, nil
}

// printComparison tabulates the expected W_1 of each mechanism over eps.
func printComparison(out io.Writer, res gowalla.Result) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', tabwriter.AlignRight)
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

func sphereStudy() study {
	return study{
		examples: []string{"sphere -o sphere"},
		name:     "sphere", usage: "the sphere: mean estimation against published parameter rules, distributions against a random atom",
		about: "Needs no data. Mean squared error of the unbiased estimate of a unit vector, relative to the optimum, for two published\n" +
			"rules; W_2 of distributions of several atoms, by projection, by releasing a random atom, and with no data.",
		seeded: "of the distributions and candidates", positive: []string{"points", "instances"}, run: runSphereStudy,
		end: "Report: ",
		flags: []cli.Flag{
			&cli.IntFlag{Name: "points", Value: 1024, Usage: "candidates of a release, at least"},
			&cli.IntFlag{Name: "instances", Value: 5, Usage: "random distributions for each number of atoms and eps"},
		},
	}
}

func runSphereStudy(ctx context.Context, c *cli.Command) (any, func(io.Writer) error, error) {
	res, err := sphere.Run(ctx, sphere.Config{
		Out: c.String("out"), Points: c.Int("points"), Instances: c.Int("instances"), Seed: c.Uint64("seed"),
		Progress: shell.Progress(c.Root().ErrWriter),
	})
	if err != nil {
		return nil, nil, err
	}
	return res, func(out io.Writer) error {
		fmt.Fprint(out, "Mean squared error of published parameter rules over the optimum, p = 2:\n\n")
		w := tabwriter.NewWriter(out, 0, 4, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(w, "d\teps\toptimal MSE\tPrivUnit2, grid\tspends\tPrivUnit2, search\tspends\t")
		for _, m := range res.Means {
			fmt.Fprintf(w, "%d\t%v\t%.5g\t%.3f\t%.3f\t%.3f\t%.3f\t\n", m.Dim, m.Eps, m.Optimum, m.Grid.Ratio, m.Grid.Spent,
				m.Search.Ratio, m.Search.Spent)
		}
		if err := w.Flush(); err != nil {
			return err
		}
		fmt.Fprintf(out, "\nDistributions of n atoms, W_2, mean of %d:\n\n", res.Config.Instances)
		fmt.Fprintln(w, "d\tn\teps\tno data\trandom atom\tprojection\tratio\t")
		for _, a := range res.Rows {
			fmt.Fprintf(w, "%d\t%d\t%s\t%.4f\t%.4f\t%.4f\t%.3f\t\n", a.Dim, a.Atoms, a.Epsilon, a.Uniform, a.RandomAtom,
				a.Projection, a.Ratio)
		}
		return w.Flush()
	}, nil
}

func mappingStudy() study {
	return study{
		examples: []string{"mapping -runs 5 -o mapping"},
		name:     "mapping", usage: "maps from releases: the guess, the raw counts and the estimators, over kinds of maps, eps and devices",
		about: "Needs no data; -data adds check-ins, in the forms that gowalla reads. Releases are simulated from -seed. " +
			"Two hours of processor time with the defaults; -runs 5 takes some minutes.",
		seeded: "of maps and releases", positive: []string{"runs", "large"}, run: runMapping,
		end: "Report: ",
		flags: []cli.Flag{
			&cli.StringFlag{Name: "data", Usage: "`PATH` of check-ins: a file or a folder"},
			&cli.StringFlag{Name: "maps", Usage: "some of the maps, `NAME;NAME;...` (default all)"},
			&cli.StringFlag{Name: "eps", Usage: "privacy levels, `EPS,EPS,...` (default 0.5,1,2,4; -plan: 1,2,4)"},
			&cli.StringFlag{Name: "devices", Usage: "numbers of devices, `N,N,...` (default 500,5000; -plan: 500,2000,20000)"},
			&cli.IntFlag{Name: "large", Value: 200_000, Usage: "devices of one more case, for four of the maps"},
			&cli.IntFlag{Name: "runs", Value: 100, Usage: "simulations of each case"},
			&cli.BoolFlag{Name: "plan",
				Usage: "compare the map with what \"wpm plan\" predicts of it, on other maps, and leave EM out"},
		},
	}
}

func runMapping(ctx context.Context, c *cli.Command) (any, func(io.Writer) error, error) {
	cfg, err := mappingConfig(c)
	if err != nil {
		return nil, nil, err
	}
	res, err := mapping.Run(ctx, cfg)
	if err != nil {
		return nil, nil, err
	}
	return res, func(out io.Writer) error {
		w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
		fmt.Fprintf(w, "map\teps\tdevices\tguess")
		for _, s := range res.Summary {
			fmt.Fprintf(w, "\t%s", s.Estimator)
		}
		if res.Plan != nil {
			fmt.Fprint(w, "\tpredicted")
		}
		fmt.Fprintln(w, "\tbest\tunit")
		for _, r := range res.Rows {
			fmt.Fprintf(w, "%s\t%s\t%d\t%.3g", r.Map, r.Epsilon, r.Devices, r.Guess)
			for _, o := range r.By {
				fmt.Fprintf(w, "\t%.3g", o.Mean)
			}
			if res.Plan != nil {
				fmt.Fprintf(w, "\t%.3g", r.Planned)
			}
			fmt.Fprintf(w, "\t%s\t%s\n", r.Best, r.Unit)
		}
		fmt.Fprintln(w)
		fmt.Fprintln(w, "made maps\tlargest ratio to the guess\tcases above 1.02\tgeometric mean to the best\tlargest")
		for _, s := range res.Summary {
			fmt.Fprintf(w, "%s\t%.3f\t%d\t%.3f\t%.3f\n", s.Estimator, s.WorstGuess, s.Worse, s.GeoBest, s.WorstBest)
		}
		if p := res.Plan; p != nil {
			fmt.Fprintf(w, "\nmap predicted over realised: geometric mean %.2f, sd of the logarithm %.2f; "+
				"%.0f %% of %d within 25 %%, %.0f %% within a factor 2\nmap to guess in the range of a plan without a prior: %.0f %%, above it: %.0f %%\n",
				p.GeoMean, p.SD, 100*p.Within25, p.Cases, 100*p.WithinTwo, 100*p.InRange, 100*p.AboveRange)
		}
		return w.Flush()
	}, nil
}

func errorsStudy() study {
	return study{
		examples: []string{"errors -runs 20 -o errors"},
		name:     "errors", usage: "the error that maps state, beside what it is, over kinds of maps, eps and devices",
		about:  "Needs no data. Releases are simulated from -seed. Half an hour of processor time with the defaults.",
		seeded: "of maps and releases", positive: []string{"runs", "cases"}, run: runErrors,
		end: "Report: ",
		flags: []cli.Flag{
			&cli.StringFlag{Name: "maps", Usage: "some of the maps, `NAME;NAME;...` (default all)"},
			&cli.StringFlag{Name: "eps", Usage: "privacy levels, `EPS,EPS,...` (default 0.5,1,2,4)"},
			&cli.StringFlag{Name: "devices", Usage: "numbers of devices, `N,N,...` (default 500,5000,50000)"},
			&cli.IntFlag{Name: "cases", Value: 60, Usage: "`NUMBER` of cases"},
			&cli.StringFlag{Name: "estimator", Value: atlas.ByMap, Usage: "`NAME` of what finds the maps: " + atlas.Estimators},
			&cli.IntFlag{Name: "runs", Value: 20, Usage: "simulations of each case"},
		},
	}
}

func runErrors(ctx context.Context, c *cli.Command) (any, func(io.Writer) error, error) {
	cfg, err := mappingConfig(c)
	if err != nil {
		return nil, nil, err
	}
	res, err := mapping.RunErrors(ctx, cfg)
	if err != nil {
		return nil, nil, err
	}
	return res, func(out io.Writer) error {
		w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
		fmt.Fprintln(w, "map\teps\tdevices\tguess\treal over stated\tunit\tsignal")
		for _, s := range res.Cases {
			fmt.Fprintf(w, "%s\t%v\t%d\t%.3g\t%.2f\t%s\t%s\n", s.Map, s.Eps, s.Devices, s.Guess, s.Ratio(), s.Unit, s.Signal)
		}
		fmt.Fprintln(w, "\nsignal\tcases\treal over stated\twithin 25 %\twithin 40 %\tmaps below the upper figure")
		for _, s := range res.Calibration {
			fmt.Fprintf(w, "%s\t%d\t%.2f\t%.0f %%\t%.0f %%\t%.1f %%\n", s.Signal, s.Cases, s.Ratio, 100*s.Within25,
				100*s.Within40, 100*s.Below)
		}
		return w.Flush()
	}, nil
}

func forecastsStudy() study {
	return study{
		examples: []string{"forecasts -o forecasts"},
		name:     "forecasts", usage: "the forecast of plan for nine of ten maps, beside how far maps are from the truth",
		about:  "Needs no data. Releases are simulated from -seed. Half an hour of processor time with the defaults.",
		seeded: "of maps and releases", positive: []string{"runs", "cases"}, run: runForecasts,
		end: "Report: ",
		flags: []cli.Flag{
			&cli.StringFlag{Name: "maps", Usage: "some of the maps, `NAME;NAME;...` (default all)"},
			&cli.StringFlag{Name: "eps", Usage: "privacy levels, `EPS,EPS,...` (default 0.5,1,2,4)"},
			&cli.StringFlag{Name: "devices", Usage: "numbers of devices, `N,N,...` (default 500,5000,50000)"},
			&cli.IntFlag{Name: "cases", Value: 40, Usage: "`NUMBER` of cases"},
			&cli.IntFlag{Name: "runs", Value: 20, Usage: "simulations of each case"},
		},
	}
}

func runForecasts(ctx context.Context, c *cli.Command) (any, func(io.Writer) error, error) {
	cfg, err := mappingConfig(c)
	if err != nil {
		return nil, nil, err
	}
	res, err := mapping.RunForecasts(ctx, cfg)
	if err != nil {
		return nil, nil, err
	}
	return res, func(out io.Writer) error {
		w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
		fmt.Fprintln(w, "prior\teps\tdevices\tforecast\tnine of ten\tmaps within it\tunit")
		for _, f := range res.Cases {
			fmt.Fprintf(w, "%s\t%v\t%d\t%.3g\t%.3g\t%d of %d\t%s\n", f.Map, f.Eps, f.Devices, f.Mean, f.Line, f.Below(),
				len(f.Real), f.Unit)
		}
		fmt.Fprintf(w, "\nwithin the line: %.1f %% of all maps, %.0f %% in the worst case\n", 100*res.Below, 100*res.Least)
		return w.Flush()
	}, nil
}

func priorsStudy() study {
	return study{
		examples: []string{"priors -o priors"},
		name:     "priors", usage: "maps with right and wrong priors, beside maps of the same reports without one",
		about:  "Needs no data. Releases are simulated from -seed. A quarter of an hour of processor time with the defaults.",
		seeded: "of maps and releases", positive: []string{"runs", "cases"}, run: runPriors,
		end: "Report: ",
		flags: []cli.Flag{
			&cli.StringFlag{Name: "maps", Usage: "some of the maps, `NAME;NAME;...` (default all)"},
			&cli.StringFlag{Name: "eps", Usage: "privacy levels, `EPS,EPS,...` (default 0.5,1,2,4)"},
			&cli.StringFlag{Name: "devices", Usage: "numbers of devices, `N,N,...` (default 500,5000)"},
			&cli.IntFlag{Name: "cases", Value: 56, Usage: "`NUMBER` of cases"},
			&cli.IntFlag{Name: "runs", Value: 20, Usage: "simulations of each case"},
		},
	}
}

func runPriors(ctx context.Context, c *cli.Command) (any, func(io.Writer) error, error) {
	cfg, err := mappingConfig(c)
	if err != nil {
		return nil, nil, err
	}
	res, err := mapping.RunPriors(ctx, cfg)
	if err != nil {
		return nil, nil, err
	}
	return res, func(out io.Writer) error {
		w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
		fmt.Fprintln(w, "signal without it\tprior\tcases\tratio to the map without it\tlargest\tabove the bar\tgain kept")
		for _, s := range res.Summary {
			fmt.Fprintf(w, "%s\t%s\t%d\t%.3f\t%.2f\t%d\t", s.Signal, s.Prior, s.Cases, s.Geo, s.Worst, s.Over)
			if s.KeptOf > 0 {
				fmt.Fprintf(w, "%.0f %% in %d", 100*s.Kept, s.KeptOf)
			}
			fmt.Fprintln(w)
		}
		return w.Flush()
	}, nil
}

// mappingConfig reads the flags of the studies of maps.
func mappingConfig(c *cli.Command) (mapping.Config, error) {
	cfg := mapping.Config{
		Data: c.String("data"), Out: c.String("out"), Epsilons: shell.List(c.String("eps")), Large: c.Int("large"),
		Runs: c.Int("runs"), Cases: c.Int("cases"), Estimator: c.String("estimator"),
		Seed: c.Uint64("seed"), Plan: c.Bool("plan"), Progress: shell.Progress(c.Root().ErrWriter),
	}
	if c.String("maps") != "" {
		cfg.Maps = strings.Split(c.String("maps"), ";")
	}
	for _, s := range shell.List(c.String("devices")) {
		n, err := strconv.Atoi(s)
		if err != nil {
			return cfg, fmt.Errorf("-devices: %q is not a whole number", s)
		}
		cfg.Devices = append(cfg.Devices, n)
	}
	return cfg, nil
}

func countryStudy() study {
	return study{
		examples: []string{"country -o country"},
		name:     "country", usage: "a policy of 20,000 places like those of a real country: times, and the map of 1,000 devices",
		about: "Needs no data; country, devices and releases are drawn from -seed, so this is a simulation. Great-circle distances. A minute\n" +
			"with the defaults.",
		seeded: "of country, devices and releases", positive: []string{"places", "devices"}, run: runCountry,
		end: "Simulated. Report: ",
		flags: []cli.Flag{
			&cli.StringFlag{Name: "eps", Usage: "privacy levels, `EPS,EPS,...` (default 2,4,8)"},
			&cli.IntFlag{Name: "places", Value: 20_000, Usage: "towns and villages"},
			&cli.IntFlag{Name: "devices", Value: 1000, Usage: "that release one place each"},
		},
	}
}

func runCountry(ctx context.Context, c *cli.Command) (any, func(io.Writer) error, error) {
	res, err := country.Run(ctx, country.Config{
		Out: c.String("out"), Places: c.Int("places"), Devices: c.Int("devices"), Epsilons: shell.List(c.String("eps")),
		Seed:     c.Uint64("seed"),
		Progress: shell.Progress(c.Root().ErrWriter),
	})
	if err != nil {
		return nil, nil, err
	}
	return res, func(out io.Writer) error {
		fmt.Fprintf(out, "%d places, %d devices. Seconds of the wall:\n\n", res.Config.Places, res.Config.Devices)
		w := tabwriter.NewWriter(out, 0, 4, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(w, "eps\tpolicy, MB\tdesign\tverify\torder of rows\tall releases\t")
		for _, row := range res.Rows {
			t := row.Times
			fmt.Fprintf(w, "%s\t%.2f\t%.2f\t%.3f\t%.2f\t%.2f\t\n", row.Epsilon, float64(row.Bytes)/1e6, t.Design, t.Verify,
				t.Order, t.Release)
		}
		if err := w.Flush(); err != nil {
			return err
		}
		fmt.Fprintf(out, "\nW_1 in km; the last three columns are the distances from the truth to maps without a release:\n\n")
		fmt.Fprintln(w, "eps\tworst case\tno mechanism beats\tmap of the releases\tall places alike\tby inhabitants\tno privacy\t")
		for _, row := range res.Rows {
			fmt.Fprintf(w, "%s\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t\n", row.Epsilon, row.Worst, row.Lower, row.Map, res.Uniform,
				res.People, res.Open)
		}
		return w.Flush()
	}, nil
}

func rowsStudy() study {
	return study{
		examples: []string{"rows -few 3 -many 3 -o rows"},
		name:     "rows", usage: "rows for a map: the error of maps by the default, the best disc, and codes, on made-up cities",
		about: "Needs no data; cities and counts are drawn from -seed, so this is a simulation. An hour of processor time with the " +
			"defaults; -few 3 -many 3 takes two minutes.",
		seeded: "of cities and counts", positive: []string{"few", "many"}, run: runRows,
		end: "Simulated. Report: ",
		flags: []cli.Flag{
			&cli.StringFlag{Name: "eps", Usage: "privacy levels, `EPS,EPS,...` (default 0.5,1,2,4)"},
			&cli.IntFlag{Name: "few", Value: 100, Usage: "runs of a cell with up to 5,000 devices"},
			&cli.IntFlag{Name: "many", Value: 20, Usage: "runs of a cell with more devices"},
			&cli.IntFlag{Name: "cities", Usage: "only the first so many; 0: all"},
		},
	}
}

func runRows(ctx context.Context, c *cli.Command) (any, func(io.Writer) error, error) {
	res, err := rows.Run(ctx, rows.Config{
		Out: c.String("out"), Epsilons: shell.List(c.String("eps")), Few: c.Int("few"), Many: c.Int("many"),
		Cities: c.Int("cities"), Seed: c.Uint64("seed"), Progress: shell.Progress(c.Root().ErrWriter),
	})
	if err != nil {
		return nil, nil, err
	}
	return res, func(out io.Writer) error {
		w := tabwriter.NewWriter(out, 0, 4, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(w, "city\teps\tdevices\truns\tguess\tdefault\trule disc\tchosen\tcodes\tpredicted\toutputs\t")
		for _, x := range res.Cells {
			fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%.3g\t%.3g (%.1g)\t%.3g (%.1g)\t%.3g (%.1g)\t%v\t%.3f\t%d\t\n", x.City, x.Epsilon,
				x.Devices, x.Runs, x.Guess, x.Default.Mean, x.Default.SE, x.Disc.Mean, x.Disc.SE, x.Chosen.Mean, x.Chosen.SE,
				x.Codes, x.Risk, x.Outputs)
		}
		if err := w.Flush(); err != nil {
			return err
		}
		fmt.Fprintf(out, "\nGeometric means of ratios:\n\n")
		fmt.Fprintln(w, "family\teps\tdevices\tcities\tchosen / default\tchosen / rule disc\trule disc / default\t")
		for _, s := range res.Summaries() {
			fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%.2f\t%.2f\t%.2f\t\n", s.Family, s.Epsilon, s.Devices, s.Cells, s.OfDefault, s.OfDisc,
				s.DiscOfDefault)
		}
		return w.Flush()
	}, nil
}

func monthsStudy() study {
	return study{
		examples: []string{"months -o months"},
		name:     "months", usage: "maps month after month, of people who move: slots, maps in a row, and other ways to spend a budget",
		about: "Needs no data; cities, moves and counts are drawn from -seed, so this is a simulation. Twenty minutes of\n" +
			"processor time with the defaults.",
		seeded: "of cities, moves and counts", positive: []string{"epochs", "devices", "runs"}, run: runMonths,
		end: "Simulated. Report: ",
		flags: []cli.Flag{
			&cli.StringFlag{Name: "eps", Usage: "`EPS` that each device spends in all epochs together (default 4)"},
			&cli.IntFlag{Name: "epochs", Value: 12, Usage: "epochs, and slots"},
			&cli.IntFlag{Name: "devices", Value: 20_000, Usage: "devices in all"},
			&cli.FloatSliceFlag{Name: "moving", Usage: "`SHARE,SHARE,...` of people who move each epoch (default 0.005,0.05,0.3)"},
			&cli.IntFlag{Name: "cities", Usage: "only the first so many; 0: all"},
			&cli.IntFlag{Name: "runs", Value: 1, Usage: "runs of each city and share"},
		},
	}
}

func runMonths(ctx context.Context, c *cli.Command) (any, func(io.Writer) error, error) {
	var moving []float64
	if c.IsSet("moving") {
		moving = c.FloatSlice("moving")
	}
	res, err := months.Run(ctx, months.Config{
		Out: c.String("out"), Epsilon: c.String("eps"), Epochs: c.Int("epochs"), Devices: c.Int("devices"), Moving: moving,
		Cities: c.Int("cities"), Runs: c.Int("runs"), Seed: c.Uint64("seed"),
		Progress: shell.Progress(c.Root().ErrWriter),
	})
	if err != nil {
		return nil, nil, err
	}
	return res, func(out io.Writer) error {
		w := tabwriter.NewWriter(out, 0, 4, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintln(w, "city\tmoving\tguess\tsplit\tonce\tslots\tin a row\tstated\tbelow\trates\t")
		for _, x := range res.Cells {
			fmt.Fprintf(w, "%s\t%v\t%.3g\t%.3g\t%.3g\t%.3g\t%.3g\t%.3g\t%.2f\t%v\t\n", x.City, x.Moving, x.Guess, x.Split, x.Once,
				x.Slots, x.Row, x.Stated, x.Below, x.Rates)
		}
		if err := w.Flush(); err != nil {
			return err
		}
		fmt.Fprintf(out, "\nMaps in a row over maps of one epoch; slots over split; real errors over stated ones:\n\n")
		fmt.Fprintln(w, "moving\tcities\tin a row / alone\tmean\tlargest\tslots / split\treal / stated\twithin 25 %\tbelow\t")
		for _, s := range res.Summaries() {
			fmt.Fprintf(w, "%v\t%d\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t\n", s.Moving, s.Cities, s.OfSlots, s.Mean, s.Largest, s.OfSplit,
				s.Stated, s.Within, s.Below)
		}
		return w.Flush()
	}, nil
}

func rivalsStudy() study {
	return study{
		examples: []string{"rivals -runs 20 -eps 4 -o rivals", "rivals -methods dam,oue,olh,subset,geoind,hierarchy"},
		name:     "rivals", usage: "maps of other mechanisms, each at its best reading, beside wpm's, on made-up cities",
		about: "Needs no data; cities and reports are drawn from -seed, so this is a simulation. Radii and kernels of rivals are chosen in\n" +
			"hindsight, in their favour. Two hours of processor time with the defaults, half an hour with -eps 4.",
		seeded: "of cities and reports", positive: []string{"devices", "runs", "side"}, run: runRivals,
		end: "Simulated. Report: ",
		flags: []cli.Flag{
			&cli.StringFlag{Name: "eps", Usage: "privacy levels, `EPS,EPS,...` (default 1,2,4)"},
			&cli.IntFlag{Name: "devices", Value: 500, Usage: "users of a city, one report each"},
			&cli.IntFlag{Name: "runs", Value: 100, Usage: "cities"},
			&cli.IntFlag{Name: "side", Value: 20, Usage: "cells a side"},
			&cli.StringFlag{Name: "methods", Usage: "mechanisms, `NAME,NAME,...` of " + strings.Join(rivals.Methods(), ", ") + " (default all)"},
		},
	}
}

func runRivals(ctx context.Context, c *cli.Command) (any, func(io.Writer) error, error) {
	res, err := rivals.Run(ctx, rivals.Config{
		Out: c.String("out"), Epsilons: shell.List(c.String("eps")), Devices: c.Int("devices"), Runs: c.Int("runs"),
		Side: c.Int("side"), Methods: shell.List(c.String("methods")), Seed: c.Uint64("seed"),
		Progress: shell.Progress(c.Root().ErrWriter),
	})
	if err != nil {
		return nil, nil, err
	}
	return res, func(out io.Writer) error {
		fmt.Fprintf(out, "W_1 to the truth in cell widths; %d cities of %d devices. The even map: %.2f.\n\n", res.Config.Runs,
			res.Config.Devices, res.Guess)
		return printReadings(out, res.Rows)
	}, nil
}

// printReadings tabulates maps of several mechanisms.
func printReadings(out io.Writer, rows []rivals.Row) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "eps\tmechanism\treading\tmean\tmedian\t90 %\t")
	for _, x := range rows {
		mark := ""
		if x.Best {
			mark = "best reading"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%.3g\t%.3g\t%.3g\t%s\n", x.Epsilon, x.Method, x.Reading, x.Mean, x.Median, x.Q90, mark)
	}
	return w.Flush()
}
