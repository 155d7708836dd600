// Faults looks for releases whose existence tells something about private data: it makes threads, memory, file handles
// and file sizes short, and compares how often there is a report for usable and for unusable data of one length.
//
//	cd lab && go run ./faults [-pairs 20] [-many 300] [-only REGEXP] [-programs FOLDER]
//
// It runs on Linux, as root: each worker has a user ID of its own, because limits of
// processes count those of a user. -programs has wpm and wpm-device of another commit.
//
// For each release and each limit, a coarse search finds where reports begin. Around it, -pairs pairs run at each step,
// each pair in random order, and -many where between 2 and 98 % of the runs report. Steps become finer until two such
// limits are found or nothing lies between two steps. Rates are compared by Fisher's exact test, and a p below 0.001
// over the number of limits is an error. The output is a table in Markdown.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
)

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "faults:", err)
		os.Exit(1)
	}
}

func run(args []string, out, progress io.Writer) error {
	flags := flag.NewFlagSet("faults", flag.ContinueOnError)
	p := plan{wanted: 2}
	flags.IntVar(&p.pairs, "pairs", 20, "pairs of runs at each limit")
	flags.IntVar(&p.many, "many", 300, "pairs where between 2 and 98 % of the runs report")
	only := flags.String("only", "", "leave out what does not match `REGEXP`, such as \"projection, threads\"")
	programs := flags.String("programs", "", "`FOLDER` with the programs wpm and wpm-device (default: they are built)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	match, err := regexp.Compile(*only)
	switch {
	case err != nil:
		return err
	case flags.NArg() > 0 || p.pairs < 1 || p.many < p.pairs:
		return errors.New("want no arguments, -pairs above 0, and -many no less")
	case runtime.GOOS != "linux":
		return errors.New("the limits are those of Linux")
	case os.Getuid() != 0:
		return errors.New("must be root, to run each worker under a user ID of its own")
	}
	if err := adopt(); err != nil {
		return fmt.Errorf("adopting processes: %w", err)
	}
	dir, clean, err := scratch("")
	if err != nil {
		return err
	}
	defer clean()
	b, err := newBench(dir, *programs)
	if err != nil {
		return err
	}
	if runs, clean, err := scratch("/dev/shm"); err == nil { // where a sync costs nothing
		defer clean()
		b.runs = runs
	}
	var tables []table
	for _, r := range resources() {
		for _, s := range subjects {
			name := s.name + ", " + r.name
			if !match.MatchString(name) {
				continue
			}
			if r.group.root == "" && r.option == "" {
				_, _ = fmt.Fprintf(progress, "%s: no such control group here\n", name)
				continue
			}
			p := p
			p.most, p.unit = r.most, r.unit
			rows, err := p.sweep(func(limit int64, pairs int) (row, error) { return b.try(s, r, limit, pairs) })
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			tables = append(tables, table{s.name, r.name, rows})
			_, _ = fmt.Fprintf(progress, "%s: %d limits\n", name, len(rows))
		}
	}
	if len(tables) == 0 {
		return fmt.Errorf("nothing matches %q", *only)
	}
	return judge(out, tables)
}

// scratch makes a folder that every user can read, in the given one, and returns what removes it.
func scratch(in string) (dir string, clean func(), err error) {
	if dir, err = os.MkdirTemp(in, "wpm-faults-"); err != nil {
		return "", nil, err
	}
	clean = func() { _ = os.RemoveAll(dir) }
	return dir, clean, os.Chmod(dir, 0o755)
}

// command runs a program and returns what it printed, with what it said in the error.
func command(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w: %s", filepath.Base(name), err, errs.String())
	}
	return string(out), nil
}
