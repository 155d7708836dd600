// Command wpm designs, publishes, verifies and runs a Wasserstein projection mechanism: locally
// differentially private sampling from distributions.
//
// Run "wpm help" for the commands, "wpm demo" for a tour that needs no input.
//
// Exit status: 0 for yes, 1 when a check failed or some lines of solve got an error, 2 for bad usage or
// bad input, 3 when reports were refused and the result, of the others, was written, 130 when interrupted.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm/cmd/wpm/internal/auditor"
	"github.com/wpm-go/wpm/cmd/wpm/internal/ondevice"
	"github.com/wpm-go/wpm/cmd/wpm/internal/planning"
	"github.com/wpm-go/wpm/cmd/wpm/internal/published"
	"github.com/wpm-go/wpm/cmd/wpm/internal/publisher"
	"github.com/wpm-go/wpm/cmd/wpm/internal/server"
	"github.com/wpm-go/wpm/cmd/wpm/internal/simulated"
	"github.com/wpm-go/wpm/cmd/wpm/internal/tools"
	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/internal/manual"
	"github.com/wpm-go/wpm/internal/shell"
)

const program = published.Program

const exitStatus = "0 yes, 1 a check failed, 2 bad usage or input, 3 a result without the reports that were refused, 130 interrupted"

func main() {
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
		Usage:   "differentially private sampling from distributions, by Wasserstein projection",
		Description: "Design a mechanism and publish it as a policy, let anyone verify it, release one point per user.\n" +
			"Exit status: " + exitStatus + ".",
		Commands: slices.Concat(
			shell.Group("try", simulated.Demo(), simulated.Playground()),
			shell.Group("publish", planning.Command(), publisher.Design(), publisher.Sphere(), publisher.Sign(),
				simulated.Simulate()),
			shell.Group("device", ondevice.Verify(), ondevice.Check(), ondevice.Release(),
				ondevice.Command(device.LedgerCommand, "", nil)),
			shell.Group("server", server.Count(), server.Merge(), server.Aggregate(), server.Report(), server.Evaluate()),
			shell.Group("audit", auditor.Audit(), auditor.Certify()),
			shell.Group("solve", tools.Solve(), tools.Flow()),
			shell.Group("tools", manual.CompletionCommand(command), manual.ManCommand(command, exitStatus),
				ondevice.Command(device.VersionCommand, "", nil)),
			[]*cli.Command{published.SolverCommand(), experimentCommand()},
		),
	}
	shell.Program(app)
	manual.ShowExamples(app, program, examples)
	return app
}

// experimentCommand tells those who used it where the studies are now.
func experimentCommand() *cli.Command {
	return &cli.Command{
		Name: "experiment", Hidden: true, SkipFlagParsing: true, HideHelp: true,
		Action: func(_ context.Context, c *cli.Command) error {
			study := "STUDY"
			if first := c.Args().First(); first != "" && first[0] != '-' {
				study = first
			}
			return fmt.Errorf("the studies are a program of their own: wpm-lab %s; in a clone: cd lab && go run ./cmd/wpm-lab", study)
		},
	}
}
