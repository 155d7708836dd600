package policy

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
)

// What Decode accepts, Encode writes back byte for byte, and Verify confirms.
func FuzzDecode(f *testing.F) {
	f.Add(mustEncode(f, mustNew(f, smallConfig(f))))
	f.Add(mustEncode(f, mustNew(f, projectionConfig(f, false))))
	for _, text := range verdictBases(f) {
		f.Add([]byte(text))
	}
	f.Add(mustEncode(f, mustNew(f, aliasConfig(f))))
	for _, cfg := range geometryConfigs(f) {
		f.Add(mustEncode(f, mustNew(f, cfg)))
	}
	f.Add([]byte("{\n\"format\":\"wpm-policy-1\",\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Decode(data)
		if err != nil {
			var at *FormatError
			if errors.As(err, &at) && (at.Offset < 0 || at.Offset > len(data) || at.Line < 1) {
				t.Fatalf("%+v of %d bytes", at, len(data))
			}
			return
		}
		if again := mustEncode(t, p); !bytes.Equal(again, data) {
			t.Fatalf("%q became %q", data, again)
		}
		if err := Verify(p); err != nil {
			t.Fatal(err)
		}
	})
}

// No bytes make a report but those it marshals to.
func FuzzReport(f *testing.F) {
	b, err := Report{id: [32]byte{1}, index: 5}.MarshalBinary()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, data []byte) {
		var r Report
		if err := r.UnmarshalBinary(data); err != nil {
			if !r.IsZero() {
				t.Fatal("receiver changed")
			}
			return
		}
		if again, err := r.MarshalBinary(); err != nil || !bytes.Equal(again, data) {
			t.Fatalf("%x became %x, %v", data, again, err)
		}
	})
}

// Whatever the lines of a ledger say, chained right: what ReadLedger says of them adds up, is what a ledger opened on
// them says, and falls for no line; and a release is paid as that leaves room.
func FuzzLedger(f *testing.F) {
	id := [32]byte{7}
	debit, report := fmt.Sprintf("debit 1/3 %x e", id), fmt.Sprintf("report %x e", otherBytes(id, "x"))
	for _, text := range []string{
		"wpm-ledger-1 100\n" + debit + "\n" + report + "\ndebit 2", "wpm-ledger-1 1\n" + debit + "\n" + debit + "\ndebit 5/2 ",
		"wpm-ledger-1 1\n" + debit[:9] + "~torn 7\ndebit 4 ab~to",
		"wpm-led~torn 0\nwpm-ledger-1 2.5\n" + debit + "\n" + report[:70], "wpm-ledger-1 ", "",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		bodies := strings.Split(string(text), "\n")
		tail := bodies[len(bodies)-1]
		lines := sealed(t, bodies[:len(bodies)-1]...)
		data := append(bytes.Clone(lines), tail...)
		_, _ = ReadLedger(text) // and unchained, as they are
		s, err := ReadLedger(data)
		l, lerr := openBooks(&memory{*bytes.NewBuffer(bytes.Clone(data))}, LedgerOptions{Epoch: "e"})
		if (err == nil) != (lerr == nil) || err != nil && !errors.Is(err, ErrLedgerCorrupt) {
			t.Fatalf("%v, opened: %v", err, lerr)
		}
		if err != nil {
			return
		}
		if s.Incomplete != (tail != "") {
			t.Fatalf("incomplete: %v after %q", s.Incomplete, tail)
		}
		sum, room := new(big.Rat).Set(s.Torn), new(big.Rat).Sub(s.Budget, s.Spent)
		for _, e := range s.Entries {
			sum.Add(sum, e.Spent)
		}
		if room.Sign() < 0 {
			room.SetInt64(0)
		}
		if sum.Cmp(s.Spent) != 0 || s.Left.Cmp(room) != 0 || s.Spent.Cmp(l.Spent()) != 0 || s.Left.Cmp(l.Remaining()) != 0 ||
			s.Budget.Cmp(l.Budget()) != 0 {
			t.Fatalf("%+v, opened: spent %v, left %v of %v", s, l.Spent(), l.Remaining(), l.Budget())
		}
		if before, err := ReadLedger(lines); err != nil || before.Spent.Cmp(s.Spent) > 0 {
			t.Fatalf("without its tail %v, %v, with it %v", before.Spent, err, s.Spent)
		}
		eps := mustEpsilon(t, "1/3")
		known := slices.ContainsFunc(s.Entries, func(e Entry) bool { return e.Policy == id && e.Epoch == "e" && e.Report != nil })
		drawn := false
		_, err = Account(l, id, eps, func() ([]byte, error) { drawn = true; return otherBytes(id, "y"), nil })
		if fits := eps.Rat().Cmp(s.Left) <= 0; drawn != (!known && fits) || (err == nil) != (known || fits) {
			t.Fatalf("%+v: drawn %v, %v", s, drawn, err)
		}
		after, err := ReadLedger(l.store.(*memory).Bytes())
		if err != nil || after.Spent.Cmp(l.Spent()) != 0 || drawn && after.Incomplete {
			t.Fatalf("%+v, %v after a release, spent %v", after, err, l.Spent())
		}
	})
}
