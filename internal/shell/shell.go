// Package shell is what the subcommands of wpm share: checks of flags and arguments, one-line errors of usage, files,
// counts of things in words, and progress on a terminal.
package shell

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/urfave/cli/v3"
	"golang.org/x/term"

	"github.com/wpm-go/wpm/cost/costio"
	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/internal/places"
)

// Positive refuses flags that were set to zero or less: zero means the default inside the packages, which
// is not what somebody who types it expects.
func Positive(c *cli.Command, names ...string) error {
	for _, name := range names {
		if c.IsSet(name) && c.Int(name) < 1 {
			return fmt.Errorf("-%s: %d is not positive", name, c.Int(name))
		}
	}
	return nil
}

// UsageError keeps a bad flag a one-line error instead of a page of help.
func UsageError(_ context.Context, c *cli.Command, err error, _ bool) error {
	msg := err.Error()
	// "strconv.ParseInt: parsing ...": the reader need not know who parses
	if i := strings.Index(msg, "strconv."); i >= 0 {
		if _, rest, ok := strings.Cut(msg[i:], ": "); ok {
			msg = msg[:i] + rest
		}
	}
	if head, ok := strings.CutSuffix(msg, ": can't duplicate this flag"); ok {
		msg = head + ": it is given twice"
		for name, is := range c.Metadata {
			if flag, ok := strings.CutPrefix(name, twice); ok && strings.HasSuffix(head, " -"+flag) {
				msg += fmt.Sprintf("; %v", is)
			}
		}
	}
	var names []string
	for _, command := range c.Lineage() {
		for _, f := range command.Flags {
			names = append(names, f.Names()...)
		}
	}
	unknown := device.UnknownFlag(err)
	meant := device.Meant(unknown, names)
	if is, ok := c.Metadata[renamed+unknown]; ok {
		meant = fmt.Sprintf("; it is %s now", is)
	}
	return fmt.Errorf("%s%s; see \"%s -help\"", msg, meant, c.FullName())
}

// twice begins the names of metadata that say what to do with several of a flag, which UsageError reads.
const twice = "twice -"

// Twice is metadata of a command, of which a flag that was given twice is an error: what is meant instead.
func Twice(flag, instead string) map[string]any { return map[string]any{twice + flag: instead} }

// renamed begins the names of the metadata that UsageError reads.
const renamed = "renamed -"

// Renamed is metadata of a command whose flags had other names: pairs of the old name and what stands in its place. The
// old one is an error that says so.
func Renamed(pairs ...string) map[string]any {
	m := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		m[renamed+pairs[i]] = pairs[i+1]
	}
	return m
}

// Unknown is the error about a word that names none of a command's own commands; what says what the word should be.
func Unknown(c *cli.Command, what string) error {
	var names []string
	for _, sub := range c.Commands {
		if !sub.Hidden {
			names = append(names, sub.Name)
		}
	}
	word := c.Args().First()
	return fmt.Errorf("unknown %s %q%s; see \"%s -help\"", what, word, device.Meant(word, names), c.FullName())
}

// Confirm asks on a terminal for a yes. Without a terminal on both sides the answer is no.
func Confirm(c *cli.Command, question string) bool {
	in, ok := c.Root().Reader.(*os.File)
	out, ok2 := c.Root().ErrWriter.(*os.File)
	return ok && ok2 && term.IsTerminal(int(in.Fd())) && term.IsTerminal(int(out.Fd())) && ask(in, out, question)
}

func ask(in io.Reader, out io.Writer, question string) bool {
	fmt.Fprintf(out, "%s [y/N] ", question)
	var answer string
	_, _ = fmt.Fscanln(in, &answer)
	return strings.EqualFold(answer, "y") || strings.EqualFold(answer, "yes")
}

// NoArgs refuses arguments where a command takes none.
func NoArgs(c *cli.Command) error {
	if c.Args().Present() {
		return fmt.Errorf("unexpected argument %q; see \"%s -help\"", c.Args().First(), c.FullName())
	}
	return nil
}

// List splits a flag of the form A,B,C.
func List(s string) (parts []string) {
	if s == "" {
		return nil
	}
	for part := range strings.SplitSeq(s, ",") {
		parts = append(parts, strings.TrimSpace(part))
	}
	return parts
}

// CountDashes counts the files that are standard input.
func CountDashes(files ...string) (n int) {
	for _, f := range files {
		if f == "-" {
			n++
		}
	}
	return n
}

// Grid reads the flag -grid, ROWSxCOLS.
func Grid(c *cli.Command) (rows, cols int, err error) {
	if rows, cols, err = places.ParseGrid(c.String("grid")); err != nil {
		err = fmt.Errorf("-grid: %w", err)
	}
	return rows, cols, err
}

// Progress returns a callback that draws a bar on stderr if that is a terminal, and else writes a line every ten seconds.
func Progress(stderr io.Writer) func(done, total int, what string) {
	f, ok := stderr.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return lines(stderr, time.Now)
	}
	var bar *progressbar.ProgressBar
	last := ""
	return func(done, total int, what string) {
		if bar == nil || what != last {
			if bar != nil {
				_ = bar.Finish()
			}
			bar = progressbar.NewOptions(total,
				progressbar.OptionSetWriter(f),
				progressbar.OptionSetDescription(what),
				progressbar.OptionShowCount(),
				progressbar.OptionClearOnFinish(),
				progressbar.OptionSetWidth(30),
			)
			last = what
		}
		bar.ChangeMax(total)
		_ = bar.Set(done)
	}
}

// seldom is how long a command is silent before a line of progress, and between two of them.
const seldom = 10 * time.Second

// lines writes progress for a log.
func lines(w io.Writer, now func() time.Time) func(done, total int, what string) {
	last := now()
	return func(done, total int, what string) {
		if t := now(); t.Sub(last) >= seldom {
			last = t
			fmt.Fprintf(w, "%s: %d of %d\n", what, done, total)
		}
	}
}

// ReadFile opens a file (or standard input) for what reads its format.
func ReadFile[T any](c *cli.Command, path string, read func(io.Reader, string) (T, error)) (none T, err error) {
	f, err := device.Open(path, c.Root().Reader)
	if err != nil {
		return none, err
	}
	defer f.Close()
	name := path
	if path == "-" {
		name = "standard input"
	}
	return read(f, name)
}

// Table reads a table of counts with these labels.
func Table(c *cli.Command, path string, labels []string) (*costio.Counts, error) {
	return ReadFile(c, path, func(r io.Reader, name string) (*costio.Counts, error) {
		return places.ReadCounts(r, name, labels)
	})
}

// Plural counts things: 1 report, 2 reports.
func Plural(n uint64, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}
