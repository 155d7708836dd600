package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm/aggregate"
	"github.com/wpm-go/wpm/aggregate/reports"
	"github.com/wpm-go/wpm/cmd/wpm/internal/published"
	"github.com/wpm-go/wpm/device"
	"github.com/wpm-go/wpm/internal/shell"
)

// countsFlags are the ways to read reports, for commands that need their counts only.
func countsFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "counts",
			Usage: "read `FILE`, partial counts or CSV label,count or index,count, instead of reports"},
		&cli.StringFlag{Name: "epoch",
			Usage: "`NAME` of the epoch, for partial counts: written with -partial, compared with -counts"},
		strictFlag(), equalFlag(),
	}
}

func strictFlag() cli.Flag {
	return &cli.BoolFlag{Name: "strict", Usage: "refuse all of the input for one bad report, " +
		"and a map that does not explain the counts: no output, exit status 2"}
}

func equalFlag() cli.Flag {
	return &cli.BoolFlag{Name: "allow-equal", Usage: fmt.Sprintf(
		"accept shards of equal contents under two names, of more than %d lines", aggregate.EqualLines)}
}

// readCounts reads the counts of a policy: with n from files of reports, standard input if there are none, or from
// -counts.
func readCounts(
	ctx context.Context, c *cli.Command, k published.Kind, n *aggregate.Counter, files []string,
) (counts aggregate.Counts, err error) {
	switch file := c.String("counts"); {
	case c.IsSet("epoch") && !c.IsSet("partial") && !c.IsSet("counts"):
		return counts, errors.New("-epoch goes with -partial or -counts: reports do not say their epoch")
	case c.IsSet("counts") && len(files) > 0:
		return counts, fmt.Errorf("-counts does not go with files of reports: %q", files[0])
	case c.IsSet("counts"):
		if counts, err = readPart(c, file, k); err == nil && c.IsSet("epoch") && counts.Epoch != c.String("epoch") {
			return counts, fmt.Errorf("%s: %w: %q, want %q", file, aggregate.ErrEpoch, counts.Epoch, c.String("epoch"))
		}
	default:
		if len(files) == 0 {
			files = []string{"-"}
		}
		r := reader(c, k)
		_, r.InOrder = k.(published.Vectors) // their mean, and a line for each, are made as they are read
		r.Notice = func(text string) { fmt.Fprintf(c.Root().ErrWriter, "%s: warning: %s\n", published.Program, text) }
		counts, err = r.Count(ctx, n, files, c.String("epoch"))
	}
	if err != nil {
		return counts, err
	}
	return counts, checkCounts(c, counts, files)
}

// checkCounts refuses counts of nothing, and, with -strict, those that leave something out.
func checkCounts(c *cli.Command, counts aggregate.Counts, files []string) error {
	switch refused := counts.AllRefused(); {
	case refused > 0 && c.Bool("strict"):
		return fmt.Errorf("-strict: %s", refusedText(counts))
	case counts.Total() > 0:
		return nil
	case refused > 0:
		return fmt.Errorf("no reports of this policy: %s", refusedText(counts))
	}
	return fmt.Errorf("no reports: there is none in %s", from(files, c.String("counts")))
}

// from names what was read, for people.
func from(files []string, counts string) string {
	var names []string
	for _, name := range append(files, counts) {
		switch name {
		case "":
		case "-":
			names = append(names, "standard input")
		default:
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// readPart reads partial counts, or a table of counts as CSV, which holds no ID: its points must be the policy's.
func readPart(c *cli.Command, file string, k published.Kind) (aggregate.Counts, error) {
	return shell.ReadFile(c, file, func(r io.Reader, name string) (aggregate.Counts, error) {
		counts, table, err := reports.ReadCounts(r, name, k.Labels())
		if err != nil {
			return counts, err
		}
		if err := k.Fits(counts, table); err != nil {
			return counts, fmt.Errorf("%s: %w", name, err)
		}
		if table {
			counts.Policy = k.ID()
		}
		return counts, nil
	})
}

// someRefused is the error of a command that worked, but for what it refused to count.
func someRefused(c aggregate.Counts) error {
	if c.AllRefused() == 0 {
		return nil
	}
	return fmt.Errorf("%s: %w", refusedText(c), device.ErrSome)
}

func refusedText(c aggregate.Counts) string {
	var parts []string
	for _, v := range aggregate.Reasons() {
		if n := c.Refused[v]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %v", n, v))
		}
	}
	return fmt.Sprintf("%d of %s refused: %s", c.AllRefused(), shell.Plural(c.Lines, "line"), strings.Join(parts, ", "))
}

// byReason are the refused lines as members of JSON.
func byReason(c aggregate.Counts) map[string]uint64 {
	m := map[string]uint64{}
	for _, v := range aggregate.Reasons() {
		m[v.String()] = c.Refused[v]
	}
	return m
}
