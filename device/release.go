package device

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"strings"
	"time"

	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy/ledger"
)

// release is the command of that name.
type release struct {
	*Env
	*Command
	want          conditions
	ledger, epoch string
	budget        string
	out           string
	check         bool
	binary        bool
	wait          time.Duration
	clock         time.Time // zero is the device's
}

// ReleaseCommand draws one report from private data.
func ReleaseCommand(e *Env) *Command {
	c := &Command{
		Name: "release", Summary: "draw one report from private counts, on the device", Args: "POLICY [COUNTS]",
		About: "COUNTS is CSV, label,count, or user,label,count of one user with that header; plain or gzipped (default:\n" +
			"standard input). Commas are between fields and a point in numbers: tables with semicolons, tabs or decimal\n" +
			"commas, which the commands of a server read, are not usable here. Inputs of a grid, a ring or a cost matrix are\n" +
			"labelled 0, 1, 2, ... A release never fails on the bytes of COUNTS: what cannot be read gets the public\n" +
			"fallback, so that an error tells nothing, and costs as much. To see whether a file is usable, run -check first:\n" +
			"it reads locally, prints what is wrong, and draws nothing. Every release is paid from the ledger before it is\n" +
			"drawn; a second one in the same epoch repeats the first. Under a policy with a period the device reports in the\n" +
			"epochs of its slot alone; in others it says so, does not open COUNTS, leaves the file of -out empty, and ends\n" +
			"with status 0.",
		Examples: []string{
			"release -ledger ledger -budget 4 -epoch 2026-11 policy.json counts.csv",
			"release -ledger ledger -epoch 2026-12 -o report.txt policy.json counts.csv",
			"release -ledger monthly -budget 4 -epoch auto -o report.txt monthly.json counts.csv",
			"release -check policy.json counts.csv",
		},
		Flags: newFlags("release"),
	}
	r := &release{Env: e, Command: c}
	r.want.flags(c.Flags)
	c.Flags.StringVar(&r.ledger, "ledger", "", "ledger `FILE`; made on first use, with -budget")
	c.Flags.StringVar(&r.epoch, "epoch", "",
		"`NAME` of the epoch: one release per policy and epoch; auto is that of the clock, in the policy's form")
	clockFlag(c.Flags, &r.clock)
	c.Flags.StringVar(&r.budget, "budget", "",
		"`EPS` that the ledger may ever spend; with a slot, in any period; fixed when the ledger is made")
	c.Flags.DurationVar(&r.wait, "wait", 0, "wait for a ledger that is in use, at most `DURATION`, as 10s")
	outFlag(c.Flags, &r.out, "write the report to `FILE`, and print nothing (- is standard output)")
	c.Flags.BoolVar(&r.binary, "binary", false, "write the bytes as they are, not as a line of hexadecimal")
	c.Flags.BoolVar(&r.check, "check", false, "say whether the private counts are usable, and draw nothing")
	c.Do = r.run
	return c
}

// clockFlag adds -clock.
func clockFlag(f *flag.FlagSet, at *time.Time) {
	f.Func("clock", "the time, for tests: `TIME`, as 2026-01-31T12:00:00Z (default: the device's clock)",
		func(s string) error {
			t, err := time.Parse(time.RFC3339, s)
			if err != nil {
				return errors.New("want a time as 2026-01-31T12:00:00Z")
			}
			*at = t
			return nil
		})
}

// now is the time that a command goes by.
func now(clock time.Time) time.Time {
	if clock.IsZero() {
		return time.Now()
	}
	return clock
}

// outFlag adds -out and -o.
func outFlag(f *flag.FlagSet, path *string, usage string) {
	f.StringVar(path, "out", "-", usage)
	f.StringVar(path, "o", "-", "short for -out `FILE`")
}

// CheckCommand says whether private data are usable.
func CheckCommand(e *Env) *Command {
	c := &Command{
		Name: "check", Summary: "say whether private counts are usable, and draw nothing", Args: "POLICY [COUNTS]",
		About: "Reads COUNTS as release does (default: standard input), and prints what is wrong with them. The words, the\n" +
			"exit status and the time depend on private data: they are for the device alone.",
		Examples: []string{"check policy.json counts.csv"},
		Flags:    newFlags("check"),
	}
	r := &release{Env: e, Command: c}
	r.want.flags(c.Flags)
	c.Do = func(_ context.Context, args []string) error {
		file, counts, err := r.files(args)
		if err != nil {
			return err
		}
		m, _, err := r.open(file)
		if err != nil {
			return r.swapped(err, counts, "check POLICY COUNTS")
		}
		return r.usable(m, counts)
	}
	return c
}

// files returns the names of the policy and of the private data.
func (r *release) files(args []string) (file, counts string, err error) {
	if n := len(args); n < 1 || n > 2 {
		return "", "", r.try(r.Env, fmt.Errorf("%s takes a policy and at most one counts file", r.Command.Name))
	}
	file, counts = args[0], "-"
	if len(args) == 2 {
		counts = args[1]
	}
	if r.Given("out") && r.Given("o") {
		return "", "", errors.New("-out is given twice")
	}
	if file == "-" && counts == "-" {
		return "", "", errors.New("policy and counts cannot both be standard input")
	}
	return file, counts, nil
}

// open reads the policy, and makes ready to draw from it.
func (r *release) open(file string) (Mechanism, Release, error) {
	m, err := r.OpenPolicy(file)
	if err != nil {
		return nil, Release{}, err
	}
	if err := r.want.meets(m); err != nil {
		return nil, Release{}, fmt.Errorf("%s: %w: %w", file, err, ErrNo)
	}
	if err := r.signed(r.want, m, file); err != nil {
		return nil, Release{}, err
	}
	ready, err := m.Prepare()
	if err != nil {
		return nil, Release{}, fmt.Errorf("%s: %w", file, err)
	}
	return m, ready, nil
}

// swapped adds to the error of a policy that cannot be read that the counts can be: as one, by a command that draws
// nothing.
func (r *release) swapped(err error, counts, order string) error {
	if counts != "-" && !errors.Is(err, ErrNo) {
		if _, other := r.OpenPolicy(counts); other == nil {
			return fmt.Errorf("%w; %s is a policy, and the order is %s", err, counts, order)
		}
	}
	return err
}

func (r *release) usable(m Mechanism, counts string) error {
	r.Warn(m)
	data, err := readPrivate(counts, r.In)
	if err != nil {
		return err
	}
	if err := m.Check(data); err != nil {
		return fmt.Errorf("%s: %w: a release would use the public fallback: %w", counts, err, ErrNo)
	}
	_, err = fmt.Fprintln(r.Out, "usable")
	return err
}

func (r *release) run(ctx context.Context, args []string) error {
	file, counts, err := r.files(args)
	if err != nil {
		return err
	}
	if err := r.apart(file, counts); err != nil {
		return err
	}
	m, ready, err := r.open(file)
	if err != nil && r.check {
		err = r.swapped(err, counts, "release -check POLICY COUNTS")
	}
	if err != nil {
		return err
	}
	if r.check {
		return r.usable(m, counts)
	}
	r.warnWeak(m)
	if err := Writable(r.out); err != nil {
		return err
	}
	if err := r.auto(m); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	books, err := r.openLedger(ctx, m.Epsilon())
	if err != nil {
		return err
	}
	// A ledger that has just been made can be known by its other names.
	if err := r.apart(file, counts); err != nil {
		return errors.Join(err, books.Close())
	}
	// From here on nothing may depend on what the private bytes are: a file that cannot be read at all is an
	// error about the file system, everything else gets a report.
	private, err := r.private(m, books, counts)
	var report Report
	if err == nil {
		report, err = ready.Draw(ctx, books, private)
	}
	if err := errors.Join(err, books.Close()); err != nil {
		return r.unpaid(m, err)
	}
	return r.write(report)
}

// errDue says that the next thing is the debit.
var errDue = errors.New("due")

// private reads the private data if a draw needs them: silence, and a report that is repeated, must not depend on them.
// Standard input is read in any case, so that whoever writes there sees no difference. Errors: those of the file, if a
// draw needs it, and those of the ledger. Nothing is paid.
func (r *release) private(m Mechanism, books ledger.Ledger, counts string) (data []byte, err error) {
	read := func() ([]byte, error) { return readPrivate(counts, r.In) }
	if counts == "-" {
		data, err := read()
		read = func() ([]byte, error) { return data, err }
	}
	d := ledger.Debit{Policy: m.ID(), Epsilon: m.Epsilon(), Schedule: m.Schedule()}
	_, err = ledger.Account(books, d, func() (draw ledger.Draw, err error) {
		if data, err = read(); err == nil {
			err = errDue
		}
		return nil, err
	})
	if errors.Is(err, errDue) {
		err = nil
	}
	return data, err
}

// unpaid says why there is no report: the silence of a device that reports in another epoch is no error.
func (r *release) unpaid(m Mechanism, err error) error {
	silent := (*ledger.SilentError)(nil)
	switch {
	case errors.As(err, &silent):
		if err := WriteFiles(r.Out, Output{Path: r.out}); err != nil { // or a report of an earlier epoch is sent again
			return err
		}
		end := ""
		if last := m.Schedule().Last; last != "" && last < silent.Next { // names of one form order as time does
			end = ", and the policy ends in " + last
		}
		_, err = fmt.Fprintf(r.Err, "%s: no report in %s: this device reports in %s%s\n", r.Program, silent.Epoch, silent.Next,
			end)
	case errors.Is(err, ledger.ErrBudget):
		return fmt.Errorf("%s: %w; \"%s ledger %s\" shows what it has spent: %w", r.ledger, err, r.Program, r.ledger, ErrNo)
	case errors.Is(err, ledger.ErrEpoch), errors.Is(err, ledger.ErrSchedule), errors.Is(err, ledger.ErrKey):
		return fmt.Errorf("%s: %w: %w", r.ledger, err, ErrNo)
	}
	return err
}

// now is the time that the command goes by.
func (r *release) now() time.Time { return now(r.clock) }

// auto puts the epoch of the clock in the place of "auto".
func (r *release) auto(m Mechanism) error {
	if r.epoch != "auto" {
		return nil
	}
	form := m.Schedule().Epochs
	if form == ledger.Free {
		return errors.New("-epoch auto: the policy states no form of epochs; give the epoch a name")
	}
	if r.epoch = form.At(r.now()); r.epoch == "" {
		return fmt.Errorf("-epoch auto: the clock says %s, and epochs are of the years 2000 to 9999", r.now().UTC())
	}
	return nil
}

// apart fails if two of the files of this release are one: policy, signature, counts, report, ledger and the ledger's
// lock.
func (r *release) apart(file, counts string) error {
	inputs := []string{file, counts, r.want.signatureOf(file)}
	if file != "-" && sameFile(file, counts) {
		return fmt.Errorf("%q is the policy, and %q the counts: they are one file", file, counts)
	}
	if r.ledger == "" || r.ledger == "-" {
		return Apart([]string{r.out}, inputs)
	}
	lock, err := ledger.LockOf(r.ledger)
	if err != nil {
		return fmt.Errorf("ledger %s: %w", r.ledger, err)
	}
	if err := Apart([]string{r.out, r.ledger}, append(inputs, lock)); err != nil {
		return err
	}
	if err := Apart([]string{lock}, inputs); err != nil {
		return fmt.Errorf("%w; ledger %s has its lock there", err, r.ledger)
	}
	return nil
}

// write writes a report that is paid for.
func (r *release) write(report Report) error {
	out, err := report.MarshalText()
	if r.binary {
		out, err = report.MarshalBinary()
	} else {
		out = append(out, '\n')
	}
	if err == nil {
		err = WriteFiles(r.Out, Output{Path: r.out, Data: out})
	}
	if err != nil {
		return fmt.Errorf("%w; the release is paid for, and the same command with another -out repeats it for nothing", err)
	}
	return nil
}

// openLedger opens the ledger, or makes one that can pay for a release at eps.
func (r *release) openLedger(ctx context.Context, eps ldp.Epsilon) (*ledger.Books, error) {
	switch {
	case r.ledger == "" || r.epoch == "":
		return nil, r.try(r.Env, errors.New("release needs -ledger FILE and -epoch NAME (and -budget EPS the first time)"))
	case r.ledger == "-":
		return nil, errors.New(`-ledger: "-" is no file; a ledger of that name is ./-`)
	case r.wait < 0:
		return nil, fmt.Errorf("-wait: %v is negative", r.wait)
	}
	// A ledger's budget is for good: do not make one that can never pay.
	if _, err := os.Stat(r.ledger); errors.Is(err, fs.ErrNotExist) && r.budget == "" {
		return nil, fmt.Errorf("ledger %s does not exist; add -budget EPS to make it, %s for one release", r.ledger, eps)
	}
	if len(r.budget) <= 100 && strings.Trim(r.budget, "0123456789./") == "" {
		if b, ok := new(big.Rat).SetString(r.budget); ok && b.Cmp(eps.Rat()) < 0 {
			return nil, fmt.Errorf("-budget: %s is less than the %s that one release of this policy costs", r.budget, eps)
		}
	}
	l, err := ledger.Open(r.ledger, ledger.Options{
		Epoch: r.epoch, Budget: r.budget, MaxEpsilon: r.want.maxEpsilon, Wait: r.wait, Context: ctx, Clock: r.now,
		Key: r.want.key,
	})
	if err != nil && !strings.Contains(err.Error(), r.ledger) {
		err = fmt.Errorf("ledger %s: %w", r.ledger, err)
	}
	if errors.Is(err, ledger.ErrLocked) {
		err = fmt.Errorf("%w; -wait 10s waits for it", err)
	}
	return l, err
}
