package manual

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/internal/shell"
)

// CompletionCommand is wpm completion, for the commands of app.
func CompletionCommand(app func() *cli.Command) *cli.Command {
	return &cli.Command{
		Name: "completion", Usage: "print a script that completes commands and flags in a shell", ArgsUsage: "bash|zsh|fish",
		Description:  "The script has the words of this version, and runs nothing when it completes.",
		OnUsageError: shell.UsageError,
		Action: func(_ context.Context, c *cli.Command) error {
			if c.Args().Len() != 1 {
				return fmt.Errorf("completion takes one shell; try: source <(%s completion bash)", c.Root().Name)
			}
			// Not of the running one, to which flags were added.
			return Completion(c.Root().Writer, app(), c.Args().First())
		},
	}
}

// ManCommand is wpm man, for the commands of app; exit says what their exit statuses mean.
func ManCommand(app func() *cli.Command, exit string) *cli.Command {
	return &cli.Command{
		Name: "man", Usage: "write the manual pages, one for each command",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "`FOLDER` to write, made if it is not there (required)"},
		},
		OnUsageError: shell.UsageError,
		Action: func(_ context.Context, c *cli.Command) error {
			if err := shell.NoArgs(c); err != nil {
				return err
			}
			dir := c.String("out")
			if dir == "" {
				return fmt.Errorf("man needs -out FOLDER; try: %s man -o man1", c.Root().Name)
			}
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return err
			}
			var outs []device.Output
			for _, page := range Pages(app(), device.Version(), exit) {
				outs = append(outs, device.Output{Path: filepath.Join(dir, page.Name), Data: page.Text})
			}
			return device.WriteFiles(c.Root().Writer, outs...)
		},
	}
}
