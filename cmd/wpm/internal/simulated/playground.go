package simulated

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm/internal/atomicfile"
	"github.com/wpm-go/wpm/internal/playground"
	"github.com/wpm-go/wpm/internal/shell"
)

// Playground is the command playground.
func Playground() *cli.Command {
	return &cli.Command{
		Name:  "playground",
		Usage: "one page for a browser: who learns what, with sliders",
		Description: "Writes one page to a file that opens without a network. All that it shows is simulated and computed in the\n" +
			"page; files that are dropped there stay in its memory. In a clone, the first run builds the page's program with Go,\n" +
			"and keeps it in the user's cache.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Value: "wpm-playground.html",
				Usage: "write the page to `FILE`, or - for standard output"},
			&cli.BoolFlag{Name: "open", Usage: "open the page in the browser"},
		},
		OnUsageError: shell.UsageError,
		Action:       runPlayground,
	}
}

func runPlayground(ctx context.Context, c *cli.Command) error {
	if err := shell.NoArgs(c); err != nil {
		return err
	}
	out := c.String("out")
	if out == "" || out == "-" && c.Bool("open") {
		return errors.New("-o writes a file, which needs a name to be opened")
	}
	program, err := playground.Find(ctx, ".", programProgress(c.Root().ErrWriter))
	if err != nil {
		return err
	}
	page, err := playground.Page(program, nil)
	if err != nil {
		return err
	}
	if out == "-" {
		_, err := c.Root().Writer.Write(page)
		return err
	}
	if err := atomicfile.Write(out, 0o644, page); err != nil {
		return err
	}
	fmt.Fprintf(c.Root().Writer, "%s: %d bytes; open it in a browser\n", out, len(page))
	if c.Bool("open") {
		return browse(ctx, out)
	}
	return nil
}

// programProgress says how far the build of the page's program is.
func programProgress(stderr io.Writer) func(done, total int) {
	bar := shell.Progress(stderr)
	return func(done, total int) { bar(done, total, "building the page's program") }
}

// browse opens a page in the browser of the desktop.
func browse(ctx context.Context, target string) error {
	name, args := "xdg-open", []string{target}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", target}
	}
	if err := exec.CommandContext(ctx, name, args...).Run(); err != nil {
		return fmt.Errorf("-open: %s: %w; open %s by hand", name, err, target)
	}
	return nil
}
