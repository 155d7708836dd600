package device

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/policy/ledger"
)

// maxLedger is the longest ledger that is read, in bytes.
const maxLedger = policy.MaxBytes

// LedgerCommand prints what is spent and what is left.
func LedgerCommand(e *Env) *Command {
	c := &Command{
		Name: "ledger", Summary: "what a ledger has spent, by policy and epoch, and what is left", Args: "LEDGER",
		About: "Reads the file without a lock, checks its hash chain, and changes nothing. Of a ledger with a slot it says in\n" +
			"which epoch the next report is due. Exit status 1: it is no ledger, or a damaged one.",
		Examples: []string{"ledger ledger", "ledger -json ledger"},
		Flags:    newFlags("ledger"),
	}
	asJSON := c.Flags.Bool("json", false, "print as JSON")
	var clock time.Time
	clockFlag(c.Flags, &clock)
	c.Do = func(_ context.Context, args []string) error {
		if len(args) != 1 {
			return c.try(e, errors.New("ledger takes one ledger file"))
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
		s, err := ledger.Read(data)
		if err != nil {
			return fmt.Errorf("%s: %w: %w", args[0], err, ErrNo)
		}
		next := upcoming(s, now(clock))
		if *asJSON {
			return PrintJSON(e.Out, fields(s, next))
		}
		return printStatement(e.Out, s, next)
	}
	return c
}

func fields(s ledger.Statement, next string) map[string]any {
	entries := make([]map[string]any, 0, len(s.Entries))
	for _, x := range s.Entries {
		entries = append(entries, map[string]any{
			"policy": hex.EncodeToString(x.Policy[:]), "epoch": x.Epoch, "spent": x.Spent.RatString(), "debits": x.Debits,
			"reported": x.Report != nil,
		})
	}
	all := map[string]any{
		"budget": s.Budget.RatString(), "spent": s.Spent.RatString(), "left": s.Left.RatString(),
		"torn": s.Torn.RatString(), "incomplete": s.Incomplete, "entries": entries,
	}
	if s.Key != nil {
		all["key"] = hex.EncodeToString(s.Key)
	}
	if s.Slot != nil {
		all["slot"] = map[string]any{"epochs": s.Slot.Epochs, "period": s.Slot.Period, "slot": s.Slot.Number,
			"window": s.Window.RatString(), "next": next}
	}
	return all
}

// upcoming returns the first epoch of the slot that is not before the clock's, nor before one that is paid for, and in
// which nothing was paid; "" without a slot, or by a clock that says none.
func upcoming(s ledger.Statement, now time.Time) string {
	if s.Slot == nil {
		return ""
	}
	form := s.Slot.Epochs
	from, err := form.Number(form.At(now))
	if err != nil {
		return ""
	}
	for _, x := range s.Entries {
		if n, err := form.Number(x.Epoch); err == nil {
			from = max(from, n+1)
		}
	}
	next, err := s.Slot.Next(form.Name(from))
	if err != nil {
		return ""
	}
	return next
}

func printStatement(out io.Writer, s ledger.Statement, next string) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0) // Flush returns the error of any line
	if s.Slot == nil {
		fmt.Fprintf(w, "budget %s, spent %s, left %s\n", s.Budget.RatString(), s.Spent.RatString(), s.Left.RatString())
	} else {
		fmt.Fprintf(w, "budget %s for any %d %ss in a row, of which at most %s was spent; %s in all\n",
			s.Budget.RatString(), s.Slot.Period, s.Slot.Epochs, s.Window.RatString(), s.Spent.RatString())
		from := ""
		if next != "" {
			from = fmt.Sprintf(" (%s, and every %d after it)", next, s.Slot.Period)
		}
		fmt.Fprintf(w, "slot %d: this device reports in one %s of %d%s, and %s is left for the next report\n",
			s.Slot.Number, s.Slot.Epochs, s.Slot.Period, from, s.Left.RatString())
	}
	if s.Key != nil {
		fmt.Fprintf(w, "the ledger takes policies signed by %x alone\n", s.Key)
	}
	if s.Torn.Sign() > 0 {
		fmt.Fprintf(w, "of that, %s for writes that broke off\n", s.Torn.RatString())
	}
	if s.Incomplete {
		fmt.Fprintln(w, "the last line is incomplete: a release is under way, or one broke off")
	}
	if len(s.Entries) > 0 {
		fmt.Fprintln(w, "\nepoch\tspent\treport\tpolicy")
	}
	for _, x := range s.Entries {
		report := "yes"
		if x.Report == nil {
			report = "none"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%x\n", x.Epoch, x.Spent.RatString(), report, x.Policy)
	}
	return w.Flush()
}
