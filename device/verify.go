package device

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/wpm-go/wpm/policy"
)

// VerifyCommand checks a policy.
func VerifyCommand(e *Env) *Command {
	c := &Command{
		Name: "verify", Summary: "check policies: exit status 0 only if the integer certificate of each holds",
		Args: "POLICY...",
		About: "Reads the policy, checks its form byte for byte, and decides in integers that every output is at most\n" +
			"e^eps times likelier for one client than for another: hi <= e^eps lo in every column, sum lo <= 2^B <= sum hi,\n" +
			"and every published row inside the box. Trusts no solver. Exit status 1: the certificate fails, or -max-eps or\n" +
			"-policy-id refuses the policy. Of several policies each is checked, whatever the others are. -json prints one\n" +
			"object for each, with the member file. Exit status 2: one cannot be read.",
		Examples: []string{"verify policy.json", "verify -max-eps 2 policy.json", "verify -json policy.json other.json"},
		Flags:    newFlags("verify"),
	}
	var want conditions
	want.flags(c.Flags)
	quick := c.Flags.Bool("privacy-only", false,
		"leave unchecked what privacy does not need: the order of the rows, and what is claimed of utility")
	rows := c.Flags.Bool("rows", false,
		"check the order of the rows of a large policy, too: some seconds for each 2^29 pairs of an input and an output on 8 axes")
	asJSON := c.Flags.Bool("json", false, "print the verdict as JSON")
	c.Do = func(ctx context.Context, args []string) error {
		if len(args) == 0 {
			return c.try(e, errors.New("verify needs a policy file"))
		}
		pairs := int64(quickRows)
		switch {
		case *rows:
			pairs = math.MaxInt64
		case *quick:
			pairs = 0
		}
		if len(args) == 1 {
			return e.verifyOne(ctx, args[0], want, pairs, *asJSON, nil)
		}
		return e.verifyAll(ctx, args, want, pairs, *asJSON)
	}
	return c
}

// verifyOne checks a policy. With asJSON, a refusal is an object, too, with the members more; of one policy, only a
// refusal of what could be read.
func (e *Env) verifyOne(ctx context.Context, path string, want conditions, pairs int64, asJSON bool,
	more map[string]any) error {
	err := e.verify(ctx, path, want, pairs, asJSON, more)
	if asJSON && ctx.Err() == nil && (errors.Is(err, ErrNo) || err != nil && more != nil) {
		object := map[string]any{"verified": false, "reason": strings.TrimSuffix(err.Error(), ": "+ErrNo.Error())}
		maps.Copy(object, more)
		_ = PrintJSON(e.Out, object)
	}
	return err
}

// verifyAll checks several policies, each with its name. One that cannot be read outweighs those that are refused.
func (e *Env) verifyAll(ctx context.Context, paths []string, want conditions, pairs int64, asJSON bool) error {
	refused, unread := 0, 0
	for i, path := range paths {
		if slices.Contains(paths[:i], path) {
			return fmt.Errorf("%s is given twice", path)
		}
	}
	for _, path := range paths {
		if !asJSON {
			fmt.Fprintf(e.Out, "%s: ", path)
		}
		err := e.verifyOne(ctx, path, want, pairs, asJSON, map[string]any{"file": path})
		switch {
		case err == nil:
			continue
		case ctx.Err() != nil:
			return err
		case errors.Is(err, ErrNo):
			refused++
		default:
			unread++
		}
		if !asJSON {
			fmt.Fprintln(e.Out, "not verified")
		}
		e.Status(ctx, err) // says why
	}
	switch {
	case unread > 0:
		return fmt.Errorf("%d of %d policies cannot be read, %d are refused", unread, len(paths), refused)
	case refused > 0:
		return fmt.Errorf("%d of %d policies are refused: %w", refused, len(paths), ErrNo)
	}
	return nil
}

func (e *Env) verify(ctx context.Context, path string, want conditions, pairs int64, asJSON bool,
	more map[string]any) error {
	m, err := e.OpenPolicy(path)
	switch {
	case IsFalse(err):
		return fmt.Errorf("%w: %w", err, ErrNo)
	case err != nil:
		return err
	}
	if err := want.meets(m); err != nil {
		return fmt.Errorf("%s: %w: %w", path, err, ErrNo)
	}
	if err := e.signed(want, m, path); err != nil {
		return err
	}
	v, err := m.Verify(ctx)
	if v.Bits > 0 { // privacy holds: a claim that fails must not hide what eps means
		e.Warn(m)
		e.WarnFormulas(m)
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return err
	case err != nil && v.Bits > 0:
		return fmt.Errorf("%s: %s; %w: %w", path, holds(m), err, ErrNo)
	case err != nil:
		return fmt.Errorf("%s: %w: %w", path, err, ErrNo)
	}
	if text := DescribeSchedule(m.Schedule(), m.Epsilon()); text != "" {
		v.Claims += "schedule: " + text + "\n"
		v.JSON = maps.Clone(v.JSON)
		v.JSON["schedule"] = text
	}
	if r, ok := m.(ranked); ok {
		text, err := r.CheckRows(ctx, pairs)
		switch {
		case err != nil && ctx.Err() != nil:
			return err
		case err != nil:
			return fmt.Errorf("%s: %s; a row is not the cheapest of the box: %w: %w", path, holds(m), err, ErrNo)
		}
		if text != "" {
			v.Claims += "rows: " + text + "\n"
			v.JSON["rows"] = text
		}
	}
	id := m.ID()
	if asJSON {
		fields := publisherJSON(m)
		maps.Copy(fields, map[string]any{
			"verified": true, "id": hex.EncodeToString(id[:]), "epsilon": m.Epsilon().String(), "bits": v.Bits,
		})
		maps.Copy(fields, v.JSON)
		maps.Copy(fields, more)
		return PrintJSON(e.Out, fields)
	}
	_, err = fmt.Fprintf(e.Out, "verified: eps = %s %s, exact in units of 2^-%d\nin words: %s\n%s, sha256 %x\n%s%s",
		m.Epsilon(), v.Size, v.Bits, InWords(m.Epsilon()), v.Form, id, publisherText(m), v.Claims)
	return err
}

// holds says what a policy keeps although something else that it says is wrong.
func holds(p Stated) string {
	return fmt.Sprintf("privacy holds at eps = %s (%s)", p.Epsilon(), InWords(p.Epsilon()))
}

// ranked is a policy whose rows follow an order, which privacy does not need.
type ranked interface {
	// CheckRows checks that they do and says so, if there are at most so many pairs of an input and an output, each counted
	// once for every 8 axes, else that nobody did; "" if there is no order.
	CheckRows(ctx context.Context, pairs int64) (string, error)
}

const (
	// quickRows is the number of pairs of an input and an output up to which rows are checked unasked: some seconds.
	quickRows = 1 << 29
	// axesOfPair is how many axes take about as long as the rest of what a pair takes: a pair counts once for so many, or
	// for a part of so many.
	axesOfPair = 8
)

// rowsNotChecked is the verdict on rows that nobody looked at.
const rowsNotChecked = "not checked (-rows does)"

// CheckRows checks every threshold of a policy with a geometry. Errors: those of policy.VerifyRows.
func (p Points) CheckRows(ctx context.Context, pairs int64) (string, error) {
	ctx = endless(ctx)
	if !p.Ranked() {
		return "", nil
	}
	if int64(p.Inputs()) > pairs/int64(p.Outputs())/pairsOf(p.Policy) {
		return rowsNotChecked, nil
	}
	check := p.VerifyRows
	if check == nil {
		check = func(ctx context.Context, p policy.Policy) error { return policy.VerifyRows(ctx, p, 0, p.Inputs()) }
	}
	if p.HasCodes() {
		return "each disc has the nearest places, by the order of its keys", check(ctx, p.Policy)
	}
	return "each the cheapest of the box, by the order of its keys", check(ctx, p.Policy)
}

// pairsOf is how many pairs a pair of an input and an output counts for.
func pairsOf(p policy.Policy) int64 {
	return max(1, (int64(p.Axes())+axesOfPair-1)/axesOfPair)
}

// PrintJSON prints a value as indented JSON. Errors: those of encoding/json and of w.
func PrintJSON(w io.Writer, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}
