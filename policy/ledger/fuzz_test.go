package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"
)

// Whatever the lines of a ledger say, chained right: what Read says of them adds up, is what a ledger opened on
// them says, and falls for no line; and a release is paid as that leaves room.
func FuzzLedger(f *testing.F) {
	id := [32]byte{7}
	debit, report := fmt.Sprintf("debit 1/3 %x e", id), fmt.Sprintf("report %x e", otherBytes(id, "x"))
	for _, text := range []string{
		"wpm-ledger-1 100\n" + debit + "\n" + report + "\ndebit 2",
		"wpm-ledger-1 1\n" + debit + "\n" + debit + "\ndebit 5/2 ",
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
		_, _ = Read(text) // and unchained, as they are
		s, err := Read(data)
		l, lerr := openBooks(&memory{*bytes.NewBuffer(bytes.Clone(data))}, Options{Epoch: "e"})
		if (err == nil) != (lerr == nil) || err != nil && !errors.Is(err, ErrCorrupt) {
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
		if before, err := Read(lines); err != nil || before.Spent.Cmp(s.Spent) > 0 {
			t.Fatalf("without its tail %v, %v, with it %v", before.Spent, err, s.Spent)
		}
		eps := mustEpsilon(t, "1/3")
		known := slices.ContainsFunc(s.Entries,
			func(e Entry) bool { return e.Policy == id && e.Epoch == "e" && e.Report != nil })
		drawn := false
		_, err = pay(l, id, eps, func() ([]byte, error) { drawn = true; return otherBytes(id, "y"), nil })
		if fits := eps.Rat().Cmp(s.Left) <= 0; drawn != (!known && fits) || (err == nil) != (known || fits) {
			t.Fatalf("%+v: drawn %v, %v", s, drawn, err)
		}
		after, err := Read(l.store.(*memory).Bytes())
		if err != nil || after.Spent.Cmp(l.Spent()) != 0 || drawn && after.Incomplete {
			t.Fatalf("%+v, %v after a release, spent %v", after, err, l.Spent())
		}
	})
}

// tearing is a store whose next Append writes no more than room bytes, and fails if that is not all.
type tearing struct {
	memory
	room int
}

func (s *tearing) Append(at int64, b []byte) error {
	if at != int64(s.Len()) {
		return ErrUnusable
	}
	n := min(s.room, len(b))
	s.room = math.MaxInt
	s.Write(b[:n])
	if n < len(b) {
		return errTorn
	}
	return nil
}

var errTorn = errors.New("torn")

// FuzzStore: whatever is paid, torn at whatever byte and opened again, the text of the ledger is whole but for its end.
// It covers every draw before the draw is made, and never more than the budget; and a report that was returned is the
// only one of its policy and epoch from then on.
func FuzzStore(f *testing.F) {
	for _, s := range []string{"", "\x00\x01\x02\x00\x01\x02", "\x00\x10\x08\x11\x00", "\x02\x02\x09\x02\x08\x02",
		"\x00\x0a\x40\x00\x0b\x91\x00\x01"} {
		f.Add([]byte(s))
	}
	budget := big.NewRat(4, 1)
	epsilons := []string{"1/3", "1.5", "2"}
	f.Fuzz(func(t *testing.T, script []byte) {
		if len(script) > 64 {
			return
		}
		store := &tearing{room: math.MaxInt}
		var l *Books
		epoch, drawn, serial := "a", new(big.Rat), 0
		returned := map[occasion][]byte{}
		for len(script) > 0 {
			op := script[0]
			script = script[1:]
			switch op % 16 {
			case 8, 9: // another process, of one epoch or another
				l, epoch = nil, string(rune('a'+op%16-8))
				continue
			case 10, 11: // the next write goes wrong
				if len(script) > 0 {
					store.room = int(script[0])
					script = script[1:]
				}
				continue
			}
			if l == nil {
				var err error
				if l, err = openBooks(store, Options{Epoch: epoch, Budget: "4"}); err != nil {
					if !errors.Is(err, errTorn) {
						t.Fatalf("%q: %v", store.Bytes(), err)
					}
					l = nil
					continue
				}
			}
			n := int(op % 3)
			o, eps := occasion{[32]byte{byte(n)}, epoch}, mustEpsilon(t, epsilons[n])
			report, err := pay(l, o.policy, eps, func() ([]byte, error) {
				drawn.Add(drawn, eps.Rat())
				if s, err := Read(store.Bytes()); err != nil || s.Spent.Cmp(drawn) < 0 {
					t.Fatalf("%v drawn, %+v, %v", drawn, s, err)
				}
				serial++
				return otherBytes(o.policy, fmt.Sprint(serial)), nil
			})
			old, known := returned[o]
			switch {
			case err == nil && known && !bytes.Equal(report, old):
				t.Fatalf("%q, then %q", old, report)
			case err == nil:
				returned[o] = report
			case !errors.Is(err, errTorn) && !errors.Is(err, ErrBudget) && !errors.Is(err, ErrUnusable):
				t.Fatal(err)
			}
			s, err := Read(store.Bytes())
			if err != nil || s.Spent.Cmp(drawn) < 0 || s.Spent.Cmp(budget) > 0 {
				t.Fatalf("%v drawn, %+v, %v", drawn, s, err)
			}
		}
	})
}
