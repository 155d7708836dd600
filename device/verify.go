package device

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
)

// VerifyCommand checks a policy.
func VerifyCommand(e *Env) *Command {
	c := &Command{
		Name: "verify", Summary: "check a policy: exit status 0 only if its integer certificate holds", Args: "POLICY",
		About: "Reads the policy, checks its form byte for byte, and decides in integers that every output is at most\n" +
			"e^eps times likelier for one client than for another: hi <= e^eps lo in every column, sum lo <= 2^B <= sum hi,\n" +
			"and every published row inside the box. Trusts no solver. Exit status 1: the certificate fails, or -max-eps or\n" +
			"-policy-id refuses the policy.",
		Flags: newFlags("verify"),
	}
	var want conditions
	want.flags(c.Flags)
	asJSON := c.Flags.Bool("json", false, "print the verdict as JSON")
	c.Do = func(ctx context.Context, args []string) error {
		if len(args) != 1 {
			return errors.New("verify takes one policy file")
		}
		err := e.verify(ctx, args[0], want, *asJSON)
		if errors.Is(err, ErrNo) && *asJSON {
			reason := strings.TrimSuffix(err.Error(), ": "+ErrNo.Error())
			_ = PrintJSON(e.Out, map[string]any{"verified": false, "reason": reason})
		}
		return err
	}
	return c
}

func (e *Env) verify(ctx context.Context, path string, want conditions, asJSON bool) error {
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
	v, err := m.Verify(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return err
	case err != nil:
		return fmt.Errorf("%s: %w: %w", path, err, ErrNo)
	}
	e.Warn(m)
	id := m.ID()
	if asJSON {
		fields := publisherJSON(m)
		maps.Copy(fields, map[string]any{
			"verified": true, "id": hex.EncodeToString(id[:]), "epsilon": m.Epsilon().String(), "bits": v.Bits,
		})
		maps.Copy(fields, v.JSON)
		return PrintJSON(e.Out, fields)
	}
	_, err = fmt.Fprintf(e.Out, "verified: eps = %s %s, exact in units of 2^-%d\nin words: %s\n%s, sha256 %x\n%s%s",
		m.Epsilon(), v.Size, v.Bits, InWords(m.Epsilon()), v.Form, id, publisherText(m), v.Claims)
	return err
}

// PrintJSON prints a value as indented JSON.
func PrintJSON(w io.Writer, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}
