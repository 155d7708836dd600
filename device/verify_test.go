package device

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/policy/ledger"
)

// staged is a policy whose checks are those of a test. It has rows with an order.
type staged struct {
	Points
	verify, claims, rows func(context.Context) error
	pairs                *int64 // what CheckRows was asked for
}

func (s staged) Verify(ctx context.Context) (Verdict, error) {
	if s.verify != nil {
		if err := s.verify(ctx); err != nil {
			return Verdict{}, err
		}
	}
	v, err := s.Points.Verify(ctx)
	if err == nil && s.claims != nil {
		err = s.claims(ctx)
	}
	return v, err
}

func (s staged) CheckRows(ctx context.Context, pairs int64) (string, error) {
	*s.pairs = pairs
	if s.rows != nil {
		if err := s.rows(ctx); err != nil {
			return "", err
		}
	}
	return "in order", nil
}

// stages are the checks of a staged policy, of which nil finds nothing: the box, the claims, the rows.
type stages [3]func(ctx context.Context, cancel func()) error

// verifyStaged runs verify on a policy with those checks, whose context cancel ends.
func verifyStaged(t *testing.T, dir string, s stages, args ...string) (status int, out string, pairs int64) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	check := func(f func(context.Context, func()) error) func(context.Context) error {
		if f == nil {
			return nil
		}
		return func(ctx context.Context) error { return f(ctx, cancel) }
	}
	var text bytes.Buffer
	e := &Env{Program: "prog", Out: &text, Err: &text, Open: func(data []byte) (Mechanism, error) {
		m, err := OpenPoints(data)
		if err != nil {
			return nil, err
		}
		return staged{Points: m.(Points), verify: check(s[0]), claims: check(s[1]), rows: check(s[2]), pairs: &pairs}, nil
	}}
	status = Run(ctx, e, []*Command{VerifyCommand(e)}, append(append([]string{"verify"}, args...), filepath.Join(dir, "p")))
	return status, text.String(), pairs
}

// TestVerifyInterrupted: a check that is called off is no refusal, and one that fails is no interrupt.
func TestVerifyInterrupted(t *testing.T) {
	dir := folder(t)
	stopped := func(ctx context.Context, cancel func()) error { cancel(); return ctx.Err() }
	failed := func(context.Context, func()) error { return errors.New("not in order") }
	for name, c := range map[string]struct {
		verify, rows func(context.Context, func()) error
		status       int
		want         string
	}{
		"stopped":      {stopped, nil, Interrupted, "interrupted"},
		"rows stopped": {nil, stopped, Interrupted, "interrupted"},
		"failed":       {failed, nil, No, "p: not in order"},
		"rows failed":  {nil, failed, No, "; a row is not the cheapest of the box: not in order"},
	} {
		if status, out, _ := verifyStaged(t, dir, stages{c.verify, nil, c.rows}); status != c.status || !strings.Contains(out, c.want) {
			t.Errorf("%s: status %d, %s, want %d, %q", name, status, out, c.status, c.want)
		}
	}
}

// TestVerifyClaims: the lines of the cost, of the schedule and of the rows stand below each other.
func TestVerifyClaims(t *testing.T) {
	dir := folder(t)
	scheduled(t, dir, "p", ledger.Schedule{Epochs: ledger.Month, Period: 12})
	status, out, _ := verifyStaged(t, dir, stages{})
	want := "cost: not loaded\nschedule: one report in 12 months, in a slot that each device draws; any 12 months in a row " +
		"cost eps = 1 together, any L at most ceil(L/12) times that\nrows: in order\n"
	if status != Yes || !strings.HasSuffix(out, want) {
		t.Errorf("status %d, %s\nwant at its end\n%s", status, out, want)
	}
	_, out, _ = verifyStaged(t, dir, stages{}, "-json")
	for _, member := range []string{`"cost": "not loaded"`, `"schedule": "one report in 12 months`, `"rows": "in order"`} {
		if !strings.Contains(out, member) {
			t.Errorf("no %s in\n%s", member, out)
		}
	}
}

// TestVerifyPairs: how many pairs are checked unasked, which docs/device.md says, with -rows, and with -privacy-only.
func TestVerifyPairs(t *testing.T) {
	dir := folder(t)
	for args, want := range map[string]int64{"": 1 << 29, "-rows": math.MaxInt64, "-privacy-only": 0} {
		if status, out, pairs := verifyStaged(t, dir, stages{}, strings.Fields(args)...); status != Yes || pairs != want {
			t.Errorf("%q: status %d, %s, %d pairs, want %d", args, status, out, pairs, want)
		}
	}
}

// TestIsFalse: each way in which a policy is false, by itself.
func TestIsFalse(t *testing.T) {
	for _, err := range []error{ldp.ErrBox, ldp.ErrInfeasible, policy.ErrRow} {
		if !IsFalse(fmt.Errorf("a policy: %w", err)) {
			t.Errorf("%v: not false", err)
		}
	}
	if IsFalse(nil) || IsFalse(os.ErrNotExist) {
		t.Error("what cannot be read is false")
	}
}

// TestPolicyID: exactly 64 hexadecimal digits.
func TestPolicyID(t *testing.T) {
	dir := folder(t)
	digits := strings.Repeat("0", 64)
	for _, id := range []string{"00", digits[1:], digits + "0", digits + "00", digits + "zz", strings.Repeat("z", 64)} {
		if status, _, errs := try(t, dir, "", "verify", "-policy-id", id, "p"); status != Bad ||
			!strings.Contains(errs, "64 hexadecimal digits") {
			t.Errorf("%s: status %d, %s", id, status, errs)
		}
	}
}

// TestWarnings: eps is weak above 8, not at it; of labels that are formulas there is the number and the first; -quiet
// has neither.
func TestWarnings(t *testing.T) {
	dir := folder(t)
	text := encoded(t, "8", policy.Mixture)
	text = bytes.ReplaceAll(bytes.ReplaceAll(text, []byte(`"home"`), []byte(`"=1+2"`)), []byte(`"gym"`), []byte(`"@gym"`))
	if err := os.WriteFile(filepath.Join(dir, "new"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	status, _, errs := try(t, dir, "", "verify", "new")
	if status != Yes || strings.Contains(errs, "protects little") ||
		!strings.Contains(errs, `for formulas: 2, the first is "=1+2"`) {
		t.Errorf("status %d, %s", status, errs)
	}
	for _, file := range []string{"new", "weak"} {
		for _, args := range [][]string{{"verify", "-quiet", file}, {"-q", "verify", file}} {
			if status, _, errs := try(t, dir, "", args...); status != Yes || errs != "" {
				t.Errorf("%s: status %d, %s", args, status, errs)
			}
		}
	}
	var out bytes.Buffer
	(&Env{Program: "prog", Err: &out}).WarnFormulas("no labels")
	(&Env{Program: "prog", Err: &out, Quiet: true}).WarnFormulas("no labels")
	if out.Len() > 0 {
		t.Errorf("%s", out.String())
	}
}

// TestWeakIsSaid: the meaning of an eps above 8 is said by whatever finds that privacy holds or draws, also where a claim
// or a row is wrong, and not where privacy does not hold.
func TestWeakIsSaid(t *testing.T) {
	dir := folder(t)
	weak, err := os.ReadFile(filepath.Join(dir, "weak"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "p"), weak, 0o600); err != nil {
		t.Fatal(err)
	}
	wrong := func(context.Context, func()) error { return errors.New("wrong") }
	const meaning = "eps = 9 protects little: from one report, an observer's odds"
	for name, c := range map[string]struct {
		verify, claims, rows func(context.Context, func()) error
		status               int
		said                 bool
		want                 string
	}{
		"in order": {nil, nil, nil, Yes, true, "in words: from one report"},
		"box":      {wrong, nil, nil, No, false, ": wrong\n"},
		"claim":    {nil, wrong, nil, No, true, ": privacy holds at eps = 9 (from one report, an observer's odds"},
		"row":      {nil, nil, wrong, No, true, ": privacy holds at eps = 9 (from one report, an observer's odds"},
	} {
		status, out, _ := verifyStaged(t, dir, stages{c.verify, c.claims, c.rows})
		if status != c.status || strings.Contains(out, meaning) != c.said || !strings.Contains(out, c.want) {
			t.Errorf("%s: status %d, %s", name, status, out)
		}
	}
	for _, args := range []string{"check weak counts", "release -check weak counts",
		"release -ledger new -budget 40 -epoch a weak counts", "release -ledger new -epoch a weak counts"} {
		if status, _, errs := try(t, dir, "", strings.Fields(args)...); status != Yes || !strings.Contains(errs, meaning) {
			t.Errorf("%s: status %d, %s", args, status, errs)
		}
	}
}

// TestDescribeSchedule: the words for each kind of schedule.
func TestDescribeSchedule(t *testing.T) {
	eps, err := ldp.ParseEpsilon("1/2")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		schedule ledger.Schedule
		want     string
	}{
		{ledger.Schedule{}, ""},
		{ledger.Schedule{Epochs: ledger.Week}, "one report a week; each costs eps = 0.5"},
		{ledger.Schedule{Epochs: ledger.Month, First: "2026-01"}, "one report a month, from 2026-01; each costs eps = 0.5"},
		{ledger.Schedule{Epochs: ledger.Month, Last: "2027-12"}, "one report a month, until 2027-12; each costs eps = 0.5"},
		{ledger.Schedule{Epochs: ledger.Month, First: "2026-01", Last: "2027-12", Period: 12},
			"one report in 12 months, in a slot that each device draws, from 2026-01, until 2027-12; any 12 months in a row " +
				"cost eps = 0.5 together, any L at most ceil(L/12) times that"},
	} {
		if got := DescribeSchedule(c.schedule, eps); got != c.want {
			t.Errorf("%+v: %q, want %q", c.schedule, got, c.want)
		}
	}
}
