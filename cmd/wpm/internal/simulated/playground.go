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
		Description: "Serves one page on this machine, until Ctrl-C, or writes it to a file that opens without a network. All that it\n" +
			"shows is simulated and computed in the page; files that are dropped there stay in its memory. In a clone, the first\n" +
			"run builds the page's program with Go, which takes some 20 seconds, and keeps it in the user's cache.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "out", Aliases: []string{"o"},
				Usage: "write the page to `FILE`, - for standard output, and serve nothing"},
			&cli.BoolFlag{Name: "open", Usage: "open the page in the browser"},
			&cli.StringFlag{Name: "addr", Value: "127.0.0.1:0",
				Usage: "serve at `HOST:PORT` of this machine; port 0 is a free one"},
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
	if c.IsSet("out") && (out == "" || c.IsSet("addr")) {
		return errors.New("-o writes a file, which needs a name and no -addr")
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
	if out != "" {
		if err := atomicfile.Write(out, 0o644, page); err != nil {
			return err
		}
		fmt.Fprintf(c.Root().Writer, "%s: %d bytes; open it in a browser\n", out, len(page))
		if c.Bool("open") {
			return browse(ctx, out)
		}
		return nil
	}
	l, err := playground.Listen(c.String("addr"))
	if err != nil {
		return err
	}
	defer l.Close()
	url := "http://" + l.Addr().String() + "/"
	fmt.Fprintf(c.Root().Writer, "%s until Ctrl-C\n", url)
	if c.Bool("open") {
		if err := browse(ctx, url); err != nil {
			return err
		}
	}
	return playground.Serve(ctx, l, page)
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
