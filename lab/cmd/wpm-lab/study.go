package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/internal/manual"
	"github.com/wpm-go/wpm/internal/shell"
	"github.com/wpm-go/wpm/lab/gowalla"
	"github.com/wpm-go/wpm/lab/report"
)

// study is a command that writes a folder of results. All have the flags -out, -seed and -json.
type study struct {
	name, usage, about string
	seeded             string // what comes from the seed
	flags              []cli.Flag
	positive           []string // flags that are refused at zero or below
	// run returns the result, and what prints its table.
	run      func(ctx context.Context, c *cli.Command) (result any, table func(io.Writer) error, err error)
	end      string   // printed after the table, before the place of the report
	examples []string // without the name of the program
}

// studies are all of them, in the order of the help.
func studies() []study {
	return []study{ringStudy(), movielensStudy(), gowallaStudy(), mirrorStudy(), sphereStudy(), mappingStudy(),
		errorsStudy(), forecastsStudy(), priorsStudy(), countryStudy(), rowsStudy(), monthsStudy(), rivalsStudy(),
		compareStudy(), errataStudy()}
}

func (s study) command() *cli.Command {
	return &cli.Command{
		Name: s.name, Usage: s.usage, Description: s.about, OnUsageError: shell.UsageError,
		Metadata: map[string]any{manual.ModelExamples: s.examples},
		Flags: slices.Concat(
			[]cli.Flag{&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Value: "wpm-lab-" + s.name,
				Usage: "`FOLDER` for tables and figures"}},
			s.flags,
			[]cli.Flag{
				&cli.Uint64Flag{Name: "seed", Value: 1, Usage: s.seeded},
				&cli.BoolFlag{Name: "json", Usage: "print the result as JSON"},
			}),
		Action: func(ctx context.Context, c *cli.Command) error {
			if err := errors.Join(shell.NoArgs(c), shell.Positive(c, s.positive...)); err != nil {
				return err
			}
			result, table, err := s.run(ctx, c)
			if err != nil {
				return err
			}
			out := c.Root().Writer
			if c.Bool("json") {
				return device.PrintJSON(out, result)
			}
			if err := table(out); err != nil {
				return err
			}
			_, err = fmt.Fprintf(out, "\n%s%s\n", s.end, filepath.Join(c.String("out"), "index.html"))
			return err
		},
	}
}

// allCommand runs every study with its defaults: those that need no data, and those whose data are given.
func allCommand() *cli.Command {
	return &cli.Command{
		Name:  "all",
		Usage: "every study with its defaults: those that need no data, and those whose data are given",
		Description: "Each writes a folder of its own below -out. A study that is there already, complete and of the same seed and data files, is not run\n" +
			"again: remove the folder to repeat it.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Value: "wpm-lab-all",
				Usage: "`FOLDER` of the studies' folders"},
			&cli.StringFlag{Name: "ratings", Usage: "u.data `FILE`, for movielens"},
			&cli.StringFlag{Name: "movies", Usage: "u.item `FILE`, for movielens"},
			&cli.StringFlag{Name: "data", Usage: "`PATH` of the check-ins, for gowalla; without it, a synthetic city"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "of every study"},
		},
		Metadata:     map[string]any{manual.ModelExamples: []string{"all -o results"}},
		OnUsageError: shell.UsageError,
		Action:       runAll,
	}
}

func runAll(ctx context.Context, c *cli.Command) error {
	if err := shell.NoArgs(c); err != nil {
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
	runs := [][]string{{"ring", seed}, {"gowalla", seed}, {"mirror", seed}, {"sphere", seed}, {"country", seed}}
	if c.IsSet("data") {
		runs[1] = append(runs[1], "-data="+c.String("data"))
	}
	if c.IsSet("ratings") {
		runs = append(runs, []string{"movielens", seed, "-ratings=" + c.String("ratings"),
			"-movies=" + c.String("movies")})
	}
	w := c.Root().Writer
	for _, args := range runs {
		folder := filepath.Join(c.String("out"), args[0])
		if report.Finished(folder, c.Uint64("seed"), dataNames(c, args[0])) {
			fmt.Fprintf(w, "%s: %s is there already\n\n", args[0], folder)
			continue
		}
		fmt.Fprintf(w, "== %s\n", args[0])
		app := command()
		app.Reader, app.Writer, app.ErrWriter = c.Root().Reader, w, c.Root().ErrWriter
		if err := app.Run(ctx, slices.Concat([]string{program}, args, []string{"-out", folder})); err != nil {
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
