package main

import (
	"context"
	"os"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm/internal/manual"
	"github.com/wpm-go/wpm/internal/shell"
	"github.com/wpm-go/wpm/lab/bench"
)

func benchCommand() *cli.Command {
	return &cli.Command{
		Name: "bench", Usage: "wpm beside other solvers: times and ratios on instances that they share",
		Description: "The script lab/bench/run installs and compiles the others (Debian; as root), and then calls this command. Tables\n" +
			"without another solver need the go command alone, in the folder lab of a clone: " + "-group policy.\n" +
			"Tables: " + strings.Join(bench.Tables(), ", ") + ".",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "group", Usage: "some of the tables, `NAME,NAME,...` (default all)"},
			&cli.IntFlag{Name: "runs", Value: 3, Usage: "of everything; what is printed are medians"},
			&cli.StringFlag{Name: "only", Usage: "instances whose name contains `TEXT`"},
			&cli.FloatFlag{Name: "limit", Value: 60, Usage: "seconds after which an iteration of another solver is stopped"},
			&cli.StringFlag{Name: "peers", Value: "bench/peers", Usage: "`FOLDER` of the drivers in Python"},
			&cli.StringFlag{Name: "built", Usage: "`FOLDER` of the compiled drivers"},
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "also write the tables to `FILE`"},
			&cli.StringFlag{Name: "figure", Usage: "draw time against size to this SVG `FILE`"},
			&cli.StringFlag{Name: "figure-distance", Usage: "draw W_1 against time to this SVG `FILE`"},
		},
		Metadata:     map[string]any{manual.ModelExamples: []string{"bench -group policy -runs 3"}},
		OnUsageError: shell.UsageError,
		Action: func(_ context.Context, c *cli.Command) error {
			if err := shell.NoArgs(c); err != nil {
				return err
			}
			return bench.Run(bench.Config{
				Groups: shell.List(c.String("group")), Runs: c.Int("runs"), Only: c.String("only"), Limit: c.Float("limit"),
				Peers: c.String("peers"), Built: c.String("built"), Out: c.String("out"), Figure: c.String("figure"),
				Distance: c.String("figure-distance"), Stdout: c.Root().Writer, Log: c.Root().ErrWriter, Args: os.Args[1:],
			})
		},
	}
}
