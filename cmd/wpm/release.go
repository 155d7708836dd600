package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/policy"
)

func releaseCommand() *cli.Command {
	return &cli.Command{
		Name:      "release",
		Usage:     "draw one report from private counts, on the device",
		ArgsUsage: "POLICY [COUNTS]",
		Description: "COUNTS is CSV, label,count (default: standard input). It never fails on the bytes of COUNTS: what cannot be read\n" +
			"gets the public fallback, so that an error tells nothing. To see whether a file is readable, use -check: it reads\n" +
			"locally, prints what is wrong, and draws nothing.\n" +
			"Every release is paid from the ledger before it is drawn; a second one in the same epoch repeats the first.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "ledger", Usage: "ledger `FILE`; made on first use, with -budget"},
			&cli.StringFlag{Name: "epoch", Usage: "`NAME` of the period: one release per policy and epoch"},
			&cli.StringFlag{Name: "budget", Usage: "total `EPS` that the ledger may ever spend; fixed when the ledger is made"},
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Value: "-", Usage: "report `FILE`"},
			&cli.BoolFlag{Name: "binary", Usage: "write the 40 bytes as they are, not as a line of hexadecimal"},
			&cli.StringFlag{Name: "check", Usage: "read private counts from `FILE`, say whether they are usable, and draw nothing"},
			&cli.BoolFlag{Name: "unaccounted-for-testing", Usage: "no ledger: every run spends eps again and nobody counts. Never with real data"},
		},
		OnUsageError: usageError,
		Action:       release,
	}
}

func release(ctx context.Context, c *cli.Command) error {
	if n := c.Args().Len(); n < 1 || n > 2 {
		return errors.New("release takes a policy and at most one counts file")
	}
	p, err := readPolicy(c.Args().First(), c.Root().Reader)
	if err != nil {
		return err
	}
	if c.IsSet("check") {
		return check(c, p)
	}
	ledger, done, err := openLedger(c)
	if err != nil {
		return err
	}
	var project policy.ProjectFunc
	if p.Mode() == policy.Projection {
		m, err := wpm.Load(p, wpm.Options{})
		if err != nil {
			return errors.Join(fmt.Errorf("%s: %w", c.Args().First(), err), done())
		}
		project = m.Projector()
	}
	// From here on nothing may depend on what the private bytes are: a file that cannot be read at all is an
	// error about the file system, everything else gets a report.
	path := "-"
	if c.Args().Len() == 2 {
		path = c.Args().Get(1)
	}
	private, err := readPrivate(path, c.Root().Reader)
	if err != nil {
		return errors.Join(err, done())
	}
	report, err := policy.Release(ctx, p, ledger, private, project)
	if err := errors.Join(err, done()); err != nil {
		return err
	}
	out, err := report.MarshalText()
	if c.Bool("binary") {
		out, err = report.MarshalBinary()
	} else {
		out = append(out, '\n')
	}
	if err != nil {
		return err
	}
	return writeFile(c.String("out"), out, c.Root().Writer)
}

func openLedger(c *cli.Command) (policy.Ledger, func() error, error) {
	none := func() error { return nil }
	if c.Bool("unaccounted-for-testing") {
		if c.IsSet("ledger") || c.IsSet("epoch") || c.IsSet("budget") {
			return nil, nil, errors.New("-unaccounted-for-testing does not go with -ledger, -epoch, -budget")
		}
		fmt.Fprintln(c.Root().ErrWriter, "wpm: warning: no ledger; this release is counted by nobody")
		return policy.UnaccountedForTesting(), none, nil
	}
	if !c.IsSet("ledger") || !c.IsSet("epoch") {
		return nil, nil, errors.New("release needs -ledger FILE and -epoch NAME (and -budget EPS the first time)")
	}
	l, err := policy.OpenLedger(c.String("ledger"), policy.LedgerOptions{Epoch: c.String("epoch"), Budget: c.String("budget")})
	if err != nil {
		return nil, nil, err
	}
	return l, l.Close, nil
}

// readPrivate reads at most one byte more than policy accepts: longer data are unusable as a whole anyway.
func readPrivate(path string, stdin io.Reader) ([]byte, error) {
	f, err := open(path, stdin)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, policy.MaxBytes+1))
}

func check(c *cli.Command, p policy.Policy) error {
	data, err := os.ReadFile(c.String("check"))
	if err != nil {
		return err
	}
	if _, err := policy.ParsePrivate(p, data); err != nil {
		return fmt.Errorf("%s: %w: a release would use the public fallback: %w", c.String("check"), err, errNo)
	}
	_, err = fmt.Fprintln(c.Root().Writer, "usable")
	return err
}
