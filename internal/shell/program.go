package shell

import (
	"context"
	"io"

	"github.com/urfave/cli/v3"
)

// Program gives a command with commands below it what every program here has: a flag that silences notes, errors of one
// line, the help when nothing is asked, and flags that can be given once. The caller prints the errors.
func Program(app *cli.Command) {
	app.Flags = append(app.Flags, &cli.BoolFlag{
		Name: "quiet", Aliases: []string{"q"}, Usage: "print no progress, notes and warnings; errors remain",
	})
	app.Before = func(ctx context.Context, c *cli.Command) (context.Context, error) {
		if c.Bool("quiet") {
			c.Root().ErrWriter = io.Discard // the error itself is the caller's to print
		}
		return ctx, nil
	}
	app.ExitErrHandler = func(context.Context, *cli.Command, error) {}
	app.OnUsageError = UsageError
	app.Action = func(_ context.Context, c *cli.Command) error {
		if c.Args().Present() {
			return Unknown(c, "command")
		}
		return cli.ShowAppHelp(c)
	}
	once(app)
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
