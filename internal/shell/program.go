package shell

import (
	"context"
	"fmt"
	"io"
	"strings"

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
	cli.FlagStringer = flagText
	if text := groups(app); text != "" {
		app.CustomRootCommandHelpTemplate = strings.Replace(cli.RootCommandHelpTemplate,
			`{{template "visibleCommandCategoryTemplate" .}}`, text, 1)
	}
}

// groups lists the commands of app by category, both in their order, for the help; "" if there are no categories.
func groups(app *cli.Command) string {
	var names []string
	lines, wide := map[string][]*cli.Command{}, 0
	for _, c := range app.Commands {
		if c.Hidden || c.Category == "" {
			continue
		}
		if lines[c.Category] == nil {
			names = append(names, c.Category)
		}
		lines[c.Category] = append(lines[c.Category], c)
		wide = max(wide, len(c.Name))
	}
	var b strings.Builder
	for _, name := range names {
		fmt.Fprintf(&b, "\n   %s:", name)
		for _, c := range lines[name] {
			fmt.Fprintf(&b, "\n     %-*s  %s", wide, c.Name, c.Usage)
		}
	}
	return b.String()
}

// Group returns commands of one group, as the help lists them.
func Group(name string, commands ...*cli.Command) []*cli.Command {
	for _, c := range commands {
		c.Category = name
	}
	return commands
}

// standard is how the library prints a flag.
var standard = cli.FlagStringer

// flagText prints a flag as people type it here, with one dash, and with its default where there is one to tell: not
// for one that is required, nor beside the default that its usage names, nor 0 for one that is not set.
func flagText(f cli.Flag) string {
	head, about, _ := strings.Cut(standard(f), "\t")
	if i := strings.LastIndex(about, " (default: "); i >= 0 {
		if said := about[:i]; strings.Contains(said, "(required") || strings.Contains(said, "(default") ||
			about[i:] == " (default: 0)" {
			about = said
		}
	}
	return strings.ReplaceAll(head, "--", "-") + "\t" + about
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
