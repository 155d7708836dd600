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
	"io"
	"os"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm/cmd/wpm/internal/planning"
	"github.com/wpm-go/wpm/cmd/wpm/internal/studies"
	"github.com/wpm-go/wpm/cmd/wpm/internal/tools"
	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/internal/manual"
	"github.com/wpm-go/wpm/internal/shell"
)

const program = "wpm"

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
		Commands: []*cli.Command{
			studies.Demo(), studies.Playground(), planning.Command(), designCommand(), verifyCommand(), releaseCommand(),
			reportCommand(), countCommand(), mergeCommand(), aggregateCommand(), evaluateCommand(), auditCommand(),
			tools.Check(), tools.Solve(), tools.Flow(), sphereCommand(), studies.Simulate(), studies.Experiments(),
			deviceCommand(device.LedgerCommand, "", nil), manual.CompletionCommand(command),
			manual.ManCommand(command, exitStatus), deviceCommand(device.VersionCommand, "", nil), solverCommand(),
		},
		Flags: []cli.Flag{&cli.BoolFlag{
			Name: "quiet", Aliases: []string{"q"}, Usage: "print no progress, notes and warnings; errors remain",
		}},
		Before: func(ctx context.Context, c *cli.Command) (context.Context, error) {
			if c.Bool("quiet") {
				c.Root().ErrWriter = io.Discard // run prints the error itself
			}
			return ctx, nil
		},
		// Errors are printed by run, in one line, with the exit status of its own.
		ExitErrHandler: func(context.Context, *cli.Command, error) {},
		OnUsageError:   shell.UsageError,
		Action: func(_ context.Context, c *cli.Command) error {
			if c.Args().Present() {
				return shell.Unknown(c, "command")
			}
			return cli.ShowAppHelp(c)
		},
	}
	once(app)
	manual.ShowExamples(app, program, examples)
	return app
}

// once makes a flag that is given twice an error, rather than let the last one win.
func once(c *cli.Command) {
	for _, f := range c.Flags {
		switch f := f.(type) {
		case *cli.StringFlag:
			f.OnlyOnce = true
		case *cli.IntFlag:
			f.OnlyOnce = true
		case *cli.Uint64Flag:
			f.OnlyOnce = true
		case *cli.FloatFlag:
			f.OnlyOnce = true
		case *cli.DurationFlag:
			f.OnlyOnce = true
		}
	}
	for _, sub := range c.Commands {
		once(sub)
	}
}
