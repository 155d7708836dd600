package device

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"
	"text/tabwriter"

	"github.com/wpm-go/wpm/policy"
)

// Statement is what a ledger says of its losses.
type Statement struct {
	Budget, Spent, Left *big.Rat
	Entries             []Entry  // by first debit
	Torn                *big.Rat // charged for writes that broke off; part of Spent
	Incomplete          bool     // the last line has no end yet; its charge is in Torn
	paid                int      // 1 + the entry of the debit in the last line, which a report may follow; else 0
}

// Entry is what one policy has cost in one epoch.
type Entry struct {
	Policy, Epoch string // the policy by its SHA-256 in hexadecimal
	Spent         *big.Rat
	Debits        int
	Reported      bool // a further release in this epoch repeats the report, for nothing
}

// ReadLedger reads the text of a ledger as policy.FileLedger describes it, hash chain included, and changes nothing.
//
// Errors: policy.ErrLedgerCorrupt, with the line.
func ReadLedger(data []byte) (Statement, error) {
	s := Statement{Spent: new(big.Rat), Torn: new(big.Rat)}
	var chain [sha256.Size]byte
	n := 1
	for ; ; n++ {
		line, rest, whole := bytes.Cut(data, []byte("\n"))
		if !whole {
			break
		}
		data = rest
		at := max(bytes.LastIndexByte(line, ' '), 0)
		chain = sha256.Sum256(append(chain[:], line[:at]...))
		if string(bytes.TrimPrefix(line[at:], []byte(" "))) != hex.EncodeToString(chain[:]) {
			return Statement{}, fmt.Errorf("line %d: %w: the hash chain breaks here", n, policy.ErrLedgerCorrupt)
		}
		if !s.record(string(line[:at])) {
			return Statement{}, fmt.Errorf("line %d: %w: a record that no ledger has", n, policy.ErrLedgerCorrupt)
		}
	}
	if s.Budget == nil {
		return Statement{}, fmt.Errorf("line %d: %w: there is no budget", n, policy.ErrLedgerCorrupt)
	}
	if s.Incomplete = len(data) > 0; s.Incomplete { // as opening completes it
		if word := strings.SplitN(string(data), " ", 3); len(word) == 3 && word[0] == "debit" {
			if eps := rational(word[1]); eps != nil {
				s.tear(eps)
			}
		}
	}
	if s.Left = new(big.Rat).Sub(s.Budget, s.Spent); s.Left.Sign() < 0 { // charges for torn lines may pass the budget
		s.Left.SetInt64(0)
	}
	return s, nil
}

// record takes one line without its hash.
func (s *Statement) record(body string) bool {
	paid := s.paid
	s.paid = 0
	const torn = "~torn " // the last one counts: a repair may itself break off
	if i := strings.LastIndex(body, torn); i >= 0 {
		eps := rational(body[i+len(torn):])
		if eps != nil {
			s.tear(eps)
		}
		return eps != nil
	}
	word := strings.Split(body, " ")
	if first := word[0] == "wpm-ledger-1"; first != (s.Budget == nil) {
		return false
	}
	switch {
	case s.Budget == nil && len(word) == 2:
		s.Budget = rational(word[1])
		return s.Budget != nil
	case word[0] == "debit" && len(word) == 4:
		eps := rational(word[1])
		if id, err := hex.DecodeString(word[2]); eps == nil || err != nil || len(id) != sha256.Size || !isEpoch(word[3]) {
			return false
		}
		s.Spent.Add(s.Spent, eps)
		s.paid = 1 + s.entry(word[2], word[3])
		e := &s.Entries[s.paid-1]
		e.Spent.Add(e.Spent, eps)
		e.Debits++
		return true
	case word[0] == "report" && len(word) == 3 && paid > 0:
		e := &s.Entries[paid-1]
		e.Reported = true
		const kind = 8 // hexadecimal digits before the policy
		return word[2] == e.Epoch && len(word[1]) > kind && strings.HasPrefix(word[1][kind:], e.Policy)
	}
	return false
}

// isEpoch reports whether s can be the name of an epoch, which a terminal shows as it is.
func isEpoch(s string) bool {
	other := func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && !strings.ContainsRune("._:-", r)
	}
	return len(s) >= 1 && len(s) <= 64 && !strings.ContainsFunc(s, other)
}

func (s *Statement) tear(eps *big.Rat) {
	s.Spent.Add(s.Spent, eps)
	s.Torn.Add(s.Torn, eps)
}

// entry returns the place of a policy and epoch, which may be new. The newest is sought most.
func (s *Statement) entry(id, epoch string) int {
	for i := len(s.Entries) - 1; i >= 0; i-- {
		if e := s.Entries[i]; e.Policy == id && e.Epoch == epoch {
			return i
		}
	}
	s.Entries = append(s.Entries, Entry{Policy: id, Epoch: epoch, Spent: new(big.Rat)})
	return len(s.Entries) - 1
}

// rational reads what a ledger writes: digits, or digits/digits; nil if it is something else.
func rational(s string) *big.Rat {
	if len(s) > 256 || strings.Trim(s, "0123456789/") != "" {
		return nil
	}
	if r, ok := new(big.Rat).SetString(s); ok {
		return r
	}
	return nil
}

// maxLedger is the longest ledger that is read, in bytes.
const maxLedger = policy.MaxBytes

// LedgerCommand prints what is spent and what is left.
func LedgerCommand(e *Env) *Command {
	c := &Command{
		Name: "ledger", Summary: "what a ledger has spent, by policy and epoch, and what is left", Args: "LEDGER",
		About: "Reads the file without a lock, checks its hash chain, and changes nothing. Exit status 1: it is no ledger, or\n" +
			"a damaged one.",
		Flags: newFlags("ledger"),
	}
	asJSON := c.Flags.Bool("json", false, "print as JSON")
	c.Do = func(_ context.Context, args []string) error {
		if len(args) != 1 {
			return errors.New("ledger takes one ledger file")
		}
		f, err := Open(args[0], e.In)
		if err != nil {
			return err
		}
		defer f.Close()
		data, err := io.ReadAll(io.LimitReader(f, maxLedger+1))
		if err == nil && len(data) > maxLedger {
			err = fmt.Errorf("%s: more than %d bytes", args[0], maxLedger)
		}
		if err != nil {
			return err
		}
		s, err := ReadLedger(data)
		if err != nil {
			return fmt.Errorf("%s: %w: %w", args[0], err, ErrNo)
		}
		if *asJSON {
			return PrintJSON(e.Out, s.fields())
		}
		return s.print(e.Out)
	}
	return c
}

func (s Statement) fields() map[string]any {
	entries := make([]map[string]any, 0, len(s.Entries))
	for _, x := range s.Entries {
		entries = append(entries, map[string]any{
			"policy": x.Policy, "epoch": x.Epoch, "spent": x.Spent.RatString(), "debits": x.Debits, "reported": x.Reported,
		})
	}
	return map[string]any{
		"budget": s.Budget.RatString(), "spent": s.Spent.RatString(), "left": s.Left.RatString(),
		"torn": s.Torn.RatString(), "incomplete": s.Incomplete, "entries": entries,
	}
}

func (s Statement) print(out io.Writer) error {
	fmt.Fprintf(out, "budget %s, spent %s, left %s\n", s.Budget.RatString(), s.Spent.RatString(), s.Left.RatString())
	if s.Torn.Sign() > 0 {
		fmt.Fprintf(out, "of that, %s for writes that broke off\n", s.Torn.RatString())
	}
	if s.Incomplete {
		fmt.Fprintln(out, "the last line is incomplete: a release is under way, or one broke off")
	}
	if len(s.Entries) == 0 {
		return nil
	}
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "\nepoch\tspent\treport\tpolicy")
	for _, x := range s.Entries {
		report := "yes"
		if !x.Reported {
			report = "none"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", x.Epoch, x.Spent.RatString(), report, x.Policy)
	}
	return w.Flush()
}
