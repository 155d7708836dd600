// Command wpm-lab has the studies of the paper, the comparison of mechanisms on data of one's own, and the measurements
// beside other solvers. It brings what they need to draw, and belongs on no device and on no server.
//
// Run "wpm-lab help" for the commands. Exit status: 0 for yes, 2 for bad usage or bad input, 130 when interrupted.
package main

import (
	"context"
	"io"
	"os"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/internal/manual"
	"github.com/wpm-go/wpm/internal/shell"
	"github.com/wpm-go/wpm/lab/bench"
)

const program = "wpm-lab"

const exitStatus = "0 yes, 2 bad usage or input, 130 interrupted"

func main() {
	bench.Child(os.Args[1:])
	device.Main(program, func(ctx context.Context) int { return run(ctx, os.Args, os.Stdin, os.Stdout, os.Stderr) })
}

// run is the whole command with its surroundings as arguments, so that tests can call it.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	app := command()
	app.Reader, app.Writer, app.ErrWriter = stdin, stdout, stderr
	e := &device.Env{Program: program, Err: stderr}
	return e.Status(ctx, app.Run(ctx, args))
}

func command() *cli.Command {
	app := &cli.Command{
		Name:    program,
		Version: device.Version(),
		Usage:   "studies of wpm: mechanisms compared, on your data and on the paper's; measurements beside other solvers",
		Description: "Every study writes a folder with a page, tables and figures. All releases are simulated, from a seed.\n" +
			"Exit status: " + exitStatus + ".",
		Metadata: map[string]any{manual.ModelExamples: []string{
			"compare -points places.csv -users users.csv -eps 1,2 -o compare", "ring -inputs 50 -o ring",
		}},
	}
	for _, s := range studies() {
		app.Commands = append(app.Commands, s.command())
	}
	app.Commands = append(app.Commands, allCommand(), benchCommand(), manual.CompletionCommand(command),
		manual.ManCommand(command, exitStatus))
	shell.Program(app)
	manual.ShowExamples(app, program, map[string][]string{
		"wpm-lab completion": {"wpm-lab completion zsh >_wpm-lab"}, "wpm-lab man": {"wpm-lab man -o man1"},
	})
	return app
}
