// Command wpm designs, publishes, verifies and runs a Wasserstein projection mechanism: locally
// differentially private sampling from distributions.
//
// Run "wpm help" for the commands, "wpm demo" for a tour that needs no input.
//
// Exit status: 0 for yes, 1 when a check failed or some lines of solve got an error, 2 for bad usage or
// bad input, 130 when interrupted.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/urfave/cli/v3"
)

const (
	statusYes         = 0
	statusNo          = 1
	statusBad         = 2
	statusInterrupted = 130
)

// errNo says that the command worked and the answer is no: exit status 1.
var errNo = errors.New("no")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args, os.Stdin, os.Stdout, os.Stderr))
}

// run is the whole command with its surroundings as arguments, so that tests can call it.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	app := command()
	app.Reader, app.Writer, app.ErrWriter = stdin, stdout, stderr
	err := app.Run(ctx, args)
	switch {
	case err == nil:
		return statusYes
	case errors.Is(err, errNo):
		if msg := strings.TrimSuffix(strings.TrimSuffix(err.Error(), errNo.Error()), ": "); msg != "" {
			fmt.Fprintln(stderr, "wpm:", msg)
		}
		return statusNo
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "wpm: interrupted")
		return statusInterrupted
	}
	fmt.Fprintln(stderr, "wpm:", strings.Join(strings.Fields(err.Error()), " "))
	return statusBad
}

func command() *cli.Command {
	return &cli.Command{
		Name:  "wpm",
		Usage: "differentially private sampling from distributions, by Wasserstein projection",
		Description: "Design a mechanism and publish it as a policy, let anyone verify it, release one point per user.\n" +
			"Exit status: 0 yes, 1 a check failed, 2 bad usage or input.",
		Commands: []*cli.Command{
			demoCommand(), designCommand(), verifyCommand(), releaseCommand(), solveCommand(), experimentCommand(),
		},
		// Errors are printed by run, in one line, with the exit status of its own.
		ExitErrHandler: func(context.Context, *cli.Command, error) {},
		OnUsageError:   usageError,
		Action: func(_ context.Context, c *cli.Command) error {
			if c.Args().Present() {
				return fmt.Errorf("unknown command %q; see \"wpm help\"", c.Args().First())
			}
			return cli.ShowAppHelp(c)
		},
	}
}

// usageError keeps a bad flag a one-line error instead of a page of help.
func usageError(_ context.Context, c *cli.Command, err error, _ bool) error {
	return fmt.Errorf("%w; see \"%s -help\"", err, c.FullName())
}

// noArgs refuses arguments where a command takes none.
func noArgs(c *cli.Command) error {
	if c.Args().Present() {
		return fmt.Errorf("unexpected argument %q; see \"%s -help\"", c.Args().First(), c.FullName())
	}
	return nil
}
