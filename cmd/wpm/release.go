package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"os"

	"github.com/urfave/cli/v3"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
)

func releaseCommand() *cli.Command {
	return &cli.Command{
		Name:      "release",
		Usage:     "draw one report from private counts, on the device",
		ArgsUsage: "POLICY [COUNTS]",
		Description: "COUNTS is CSV, label,count, or user,label,count of one user with that header; plain or gzipped (default: standard\n" +
			"input). Inputs of a grid, a ring or a cost matrix are labelled 0, 1, 2, ... A release never fails on the bytes of\n" +
			"COUNTS: what cannot be read gets the public fallback, so that an error tells nothing, and costs as much. To see\n" +
			"whether a file is usable, run -check first: it reads locally, prints what is wrong, and draws nothing.\n" +
			"The policy of a codebook (wpm sphere -out) takes vectors instead: lines weight,x1,...,x(d+1), plain or gzipped.\n" +
			"Every release is paid from the ledger before it is drawn; a second one in the same epoch repeats the first.\n" +
			"In projection mode the solver is a process of its own: if it fails, the draw is from the policy's rows or the fallback.",
		Flags: append(conditionFlags(),
			&cli.StringFlag{Name: "ledger", Usage: "ledger `FILE`; made on first use, with -budget"},
			&cli.StringFlag{Name: "epoch", Usage: "`NAME` of the period: one release per policy and epoch"},
			&cli.StringFlag{Name: "budget", Usage: "total `EPS` that the ledger may ever spend; fixed when the ledger is made"},
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Value: "-", Usage: "report `FILE`"},
			&cli.BoolFlag{Name: "binary", Usage: "write the bytes as they are, not as a line of hexadecimal"},
			&cli.StringFlag{Name: "check", Usage: "read private counts from `FILE`, say whether they are usable, and draw nothing"},
			&cli.StringFlag{Name: "solver", Value: "exact", Usage: "`NAME` of what finds the projection: " + wpm.Solvers},
			&cli.BoolFlag{Name: "unaccounted-for-testing", Usage: "no ledger: every run spends eps again and nobody counts. Never with real data"},
		),
		OnUsageError: usageError,
		Action:       release,
	}
}

func release(ctx context.Context, c *cli.Command) error {
	if n := c.Args().Len(); n < 1 || n > 2 {
		return errors.New("release takes a policy and at most one counts file")
	}
	file, counts := c.Args().First(), "-"
	if c.Args().Len() == 2 {
		counts = c.Args().Get(1)
	}
	if c.IsSet("check") {
		counts = c.String("check")
	}
	if file == "-" && counts == "-" {
		return errors.New("policy and counts cannot both be standard input")
	}
	err := apart([]string{c.String("out")}, []string{file, counts, c.String("ledger"), c.String("ledger") + ".lock"})
	if err != nil {
		return err
	}
	solver, err := wpm.ParseSolver(c.String("solver"))
	if err != nil {
		return fmt.Errorf("-solver: %w", err)
	}
	want, err := readConditions(c)
	if err != nil {
		return err
	}
	p, err := readPolicy(file, c.Root().Reader)
	if b, ok := asCodebook(err); ok {
		return releaseCodebook(ctx, c, b, counts, want)
	}
	if err != nil {
		return err
	}
	if err := want.admit(p); err != nil {
		return fmt.Errorf("%s: %w: %w", file, err, errNo)
	}
	if c.IsSet("check") {
		warn(c.Root().ErrWriter, p)
		return check(c, p)
	}
	ledger, done, err := openLedger(c, p, want.maxEpsilon)
	if err != nil {
		return err
	}
	var project policy.ProjectFunc
	if p.Mode() == policy.Projection {
		var end func()
		if project, end, err = projector(p, solver); err != nil {
			return errors.Join(fmt.Errorf("%s: %w", file, err), done())
		}
		defer end() // after the report is written
	}
	// From here on nothing may depend on what the private bytes are: a file that cannot be read at all is an
	// error about the file system, everything else gets a report.
	private, err := readPrivate(counts, c.Root().Reader)
	if err != nil {
		return errors.Join(err, done())
	}
	report, err := policy.Release(ctx, p, ledger, private, project)
	if err := errors.Join(err, done()); err != nil {
		if errors.Is(err, policy.ErrBudget) {
			return fmt.Errorf("%s: %w: %w", c.String("ledger"), err, errNo)
		}
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
	return writeReport(c, out)
}

// writeReport writes a report that is paid for.
func writeReport(c *cli.Command, out []byte) error {
	err := writeFiles(c.Root().Writer, output{c.String("out"), out})
	if err != nil && c.IsSet("ledger") {
		return fmt.Errorf("%w; the release is paid for, and the same command with another -out repeats it for nothing", err)
	}
	return err
}

func openLedger(c *cli.Command, p interface{ Epsilon() ldp.Epsilon }, limit ldp.Epsilon) (policy.Ledger, func() error, error) {
	none := func() error { return nil }
	if c.Bool("unaccounted-for-testing") {
		if c.IsSet("ledger") || c.IsSet("epoch") || c.IsSet("budget") {
			return nil, nil, errors.New("-unaccounted-for-testing does not go with -ledger, -epoch, -budget")
		}
		fmt.Fprintln(c.Root().ErrWriter, "wpm: warning: no ledger; this release is counted by nobody")
		return policy.UnaccountedForTesting(), none, nil
	}
	path, budget := c.String("ledger"), c.String("budget")
	if path == "" || c.String("epoch") == "" {
		return nil, nil, errors.New("release needs -ledger FILE and -epoch NAME (and -budget EPS the first time)")
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		// A ledger's budget is for good: do not make one that can never pay.
		if budget == "" {
			return nil, nil, fmt.Errorf("ledger %s does not exist; give -budget EPS to make it", path)
		}
		if b, ok := new(big.Rat).SetString(budget); ok && len(budget) <= 100 && b.Cmp(p.Epsilon().Rat()) < 0 {
			return nil, nil, fmt.Errorf("-budget: %s is less than the %s that one release of this policy costs", budget, p.Epsilon())
		}
	}
	l, err := policy.OpenLedger(path, policy.LedgerOptions{Epoch: c.String("epoch"), Budget: budget, MaxEpsilon: limit})
	if err != nil {
		return nil, nil, fmt.Errorf("ledger %s: %w", path, err)
	}
	return l, l.Close, nil
}

// readPrivate reads private data as they are, which only policy looks into: at most one byte more than policy
// accepts, for longer data are unusable as a whole anyway.
func readPrivate(path string, stdin io.Reader) ([]byte, error) {
	f, err := open(path, stdin)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAtMost(f, policy.MaxBytes+1)
}

// readAtMost reads up to limit bytes. It holds them twice at most, and those of a regular file once: a device with little
// memory must not run out of it before the debit.
func readAtMost(r io.Reader, limit int64) ([]byte, error) {
	if f, ok := r.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
			data := make([]byte, min(info.Size(), limit))
			n, err := io.ReadFull(f, data)
			if err == io.ErrUnexpectedEOF || err == io.EOF { // it has become shorter
				err = nil
			}
			return data[:n], err
		}
	}
	const chunk = 1 << 20
	var chunks [][]byte
	for r := io.LimitReader(r, limit); ; {
		b := make([]byte, chunk)
		n, err := io.ReadFull(r, b)
		chunks = append(chunks, b[:n])
		if err == io.ErrUnexpectedEOF || err == io.EOF {
			return bytes.Join(chunks, nil), nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func check(c *cli.Command, p policy.Policy) error {
	path := c.String("check")
	data, err := readPrivate(path, c.Root().Reader)
	if err != nil {
		return err
	}
	if _, err := policy.ParsePrivate(p, data); err != nil {
		return fmt.Errorf("%s: %w%s: a release would use the public fallback: %w", path, err, labelHint(p, data, err), errNo)
	}
	_, err = fmt.Fprintln(c.Root().Writer, "usable")
	return err
}
