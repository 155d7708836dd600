package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// What a statement says of lines that no release has written as well, to the last entry.
func TestReadLedger(t *testing.T) {
	a, b := [32]byte{1}, [32]byte{2}
	report := otherBytes(a, "x")
	debit := func(eps string, id [32]byte, epoch string) string {
		return fmt.Sprintf("debit %s %x %s", eps, id, epoch)
	}
	for _, c := range []struct {
		bodies []string
		tail   string
		want   string // or an error, if there is no "spent" in it
	}{
		{[]string{"wpm-ledger-1 3"}, "", "spent 0, left 3 of 3, torn 0, incomplete false"},
		{[]string{"wpm-ledger-1 3", debit("1/3", a, "e"), fmt.Sprintf("report %x e", report), debit("2", b, "e"),
			debit("1/2", a, "f"), debit("1/6", a, "e")}, "",
			"spent 3, left 0 of 3, torn 0, incomplete false; 01 e 1/2 2 true; 02 e 2 1 false; 01 f 1/2 1 false"},
		{[]string{"wpm-ledger-1 3", "deb~torn 1/2", debit("1", a, "e")}, "debit 1/4 0",
			"spent 7/4, left 5/4 of 3, torn 3/4, incomplete true; 01 e 1 1 false"},
		// 1/4 may be cut from 1/44
		{[]string{"wpm-ledger-1 3", "debit 9 ab~to~torn 9"}, "debit 1/4", "spent 9, left 0 of 3, torn 9, incomplete true"},
		{[]string{"wpm-ledger-1~torn 0", "wpm-ledger-1 2.5"}, "", "spent 0, left 5/2 of 5/2, torn 0, incomplete false"},
		{[]string{"wpm-ledger-1~torn 0"}, "wpm-ledger-1 3", "no budget"},
		{[]string{"wpm-ledger-1 3", debit("1", a, "e"), debit("1", b, "e"), fmt.Sprintf("report %x e", report)}, "",
			"line 4: ledger: corrupt: ledger: invalid report"},
		{[]string{"wpm-ledger-1 3", debit("1", a, "e"), "~torn 0", fmt.Sprintf("report %x e", report)}, "",
			"line 4: ledger: corrupt: a report without"},
		{[]string{"wpm-ledger-1 3", debit("1", a, "e"), fmt.Sprintf("report %x e", report[:36])}, "", "line 3: "},
		{[]string{"wpm-ledger-1 3", debit("1", a, "e~")}, "", "line 2: "},
		{[]string{"wpm-ledger-1 3", debit("1", a, "\x1b[2J")}, "", "line 2: "},
		{[]string{"wpm-ledger-1 3", debit("1//2", a, "e")}, "", "line 2: "},
		{nil, "", "no budget"},
		{nil, "hello", "no budget"},
	} {
		s, err := Read(append(sealed(t, c.bodies...), c.tail...))
		if !strings.Contains(c.want, "spent") {
			if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), c.want) || s.Entries != nil ||
				s.Spent != nil {
				t.Errorf("%q: %v, want %q", c.bodies, err, c.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", c.bodies, err)
			continue
		}
		got := fmt.Sprintf("spent %s, left %s of %s, torn %s, incomplete %v", s.Spent.RatString(), s.Left.RatString(),
			s.Budget.RatString(), s.Torn.RatString(), s.Incomplete)
		for _, e := range s.Entries {
			got += fmt.Sprintf("; %x %s %s %d %v", e.Policy[:1], e.Epoch, e.Spent.RatString(), e.Debits,
				bytes.Equal(e.Report, report))
		}
		if got != c.want {
			t.Errorf("%q:\n%s, want\n%s", c.bodies, got, c.want)
		}
	}
}

// Wherever a write broke off, a statement and a ledger opened on the same text agree, before the repair and after it.
func TestReadLedgerAnywhere(t *testing.T) {
	file := runHistory(t).file
	first := bytes.IndexByte(file, '\n') + 1
	for n := range len(file) + 1 {
		s, err := Read(file[:n])
		if n < first {
			if !errors.Is(err, ErrCorrupt) {
				t.Errorf("%d bytes: a ledger without a budget: %+v, %v", n, s, err)
			}
			continue
		}
		l, store := inMemory(t, file[:n])
		if err != nil || s.Spent.Cmp(l.Spent()) != 0 || s.Left.Cmp(l.Remaining()) != 0 ||
			s.Incomplete != (file[n-1] != '\n') {
			t.Fatalf("%d bytes: %+v, %v, opened: %v", n, s, err, l.Spent())
		}
		id := [32]byte{9}
		if _, err := pay(l, id, mustEpsilon(t, "1/3"),
			func() ([]byte, error) { return otherBytes(id, "x"), nil }); err != nil {
			t.Fatal(err)
		}
		s, err = Read(store.Bytes())
		if err != nil || s.Spent.Cmp(l.Spent()) != 0 || s.Incomplete ||
			!slices.Equal(s.Entries[len(s.Entries)-1].Policy[:], id[:]) {
			t.Fatalf("%d bytes, repaired: %+v, %v, opened: %v", n, s, err, l.Spent())
		}
	}
}
