package proofs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy/ledger"
)

// memory is a ledger's store.
type memory struct{ bytes.Buffer }

func (*memory) Lock(context.Context) error       { return nil }
func (m *memory) Load() ([]byte, error)          { return bytes.Clone(m.Bytes()), nil }
func (m *memory) Append(_ int64, b []byte) error { m.Write(b); return nil }
func (*memory) Unlock() error                    { return nil }

// sealed returns the text of a ledger with these lines.
func sealed(lines []string) []byte {
	var text bytes.Buffer
	chain := [sha256.Size]byte{}
	for _, line := range lines {
		chain = sha256.Sum256(append(chain[:], line...))
		fmt.Fprintf(&text, "%s %x\n", line, chain)
	}
	return text.Bytes()
}

// report is a report of a policy.
func report(id [sha256.Size]byte) []byte { return append(append([]byte("wpm1"), id[:]...), 0, 0, 0, 0) }

// epochs draws a form with its first number, a period and a slot.
func (s *suite) epochs() (form ledger.Form, first, period, number int) {
	form = []ledger.Form{ledger.Year, ledger.Month, ledger.Week, ledger.Day}[s.r.IntN(4)]
	first, err := form.Number(form.At(time.Date(2000+s.r.IntN(5000), 1+time.Month(s.r.IntN(12)), 1, 0, 0, 0, 0, time.UTC)))
	if err != nil {
		s.Fatal(err)
	}
	period = 2 + s.r.IntN([]int{2, 12, 400}[s.r.IntN(3)])
	return form, first, period, s.r.IntN(period)
}

// amount draws a fraction, of up to 400 bits in its parts.
func (s *suite) amount() *big.Rat {
	part := func() *big.Int {
		n := big.NewInt(1 + s.r.Int64N(12))
		if s.r.IntN(3) == 0 {
			n.SetUint64(s.r.Uint64())
		}
		if s.r.IntN(6) == 0 {
			for range s.r.IntN(6) {
				n.Add(n.Lsh(n, 64), new(big.Int).SetUint64(s.r.Uint64()))
			}
		}
		return n
	}
	return new(big.Rat).SetFrac(part(), new(big.Int).Add(part(), big.NewInt(1)))
}

// slot adds a list of epochs. For names of epochs the ledger says which are of the slot, by a text with a turn in each;
// for numbers of up to 200 bits and below 0, the remainder does.
func (s *suite) slot() {
	form, first, period, number := s.epochs()
	var said strings.Builder
	var words []string
	var all []*big.Int
	huge := s.r.IntN(2) == 0
	for range 1 + s.r.IntN(6) {
		t := first + s.r.IntN(3*period)
		if s.r.IntN(2) == 0 {
			t += number - t%period
		}
		n := big.NewInt(int64(t))
		var own bool
		if huge {
			far := new(big.Int).Lsh(new(big.Int).SetUint64(s.r.Uint64()), uint(s.r.IntN(137)))
			if s.r.IntN(3) == 0 && len(all) > 0 {
				n.Add(all[0], big.NewInt(int64(s.r.IntN(2*period+1)-period)))
			} else if n.Add(n, far.Sub(far, new(big.Int).Mod(far, big.NewInt(int64(period))))); s.r.IntN(2) == 0 {
				n.Neg(n)
			}
			own = new(big.Int).Mod(n, big.NewInt(int64(period))).Int64() == int64(number)
		} else {
			_, err := ledger.Read(sealed([]string{"wpm-ledger-1 1", fmt.Sprintf("slot %s %d %d", form, period, number),
				fmt.Sprintf("turn 1 %x %s", sha256.Sum256(nil), form.Name(t))}))
			own = err == nil
		}
		fmt.Fprint(&said, map[bool]int{true: 1}[own])
		words, all = append(words, n.String()), append(all, n)
	}
	sorted := slices.SortedFunc(slices.Values(all), (*big.Int).Cmp)
	want := "one"
	for n := range sorted[1:] {
		gap := new(big.Int).Sub(sorted[n+1], sorted[n])
		if gap.Sign() > 0 && gap.Cmp(big.NewInt(int64(period))) < 0 {
			want = "several"
		}
	}
	s.rows["slot "+want]++
	s.add(said.String()+" "+want, "slot %d %d %s", period, number, strings.Join(words, ","))
}

// window adds the turns and other charges of a ledger's text, of any amounts.
func (s *suite) window() {
	form, first, period, number := s.epochs()
	lines := []string{"wpm-ledger-1 1", fmt.Sprintf("slot %s %d %d", form, period, number)}
	always := new(big.Rat)
	for range s.r.IntN(3) {
		a := s.amount()
		always.Add(always, a)
		line := fmt.Sprintf("debit %s %x any", a.RatString(), sha256.Sum256(nil))
		if s.r.IntN(2) == 0 {
			line = "debit 1~torn " + a.RatString()
		}
		lines = append(lines, line)
	}
	turns := []string{}
	t := first + (number-first%period+period)%period
	for range s.r.IntN(7) {
		t += period * s.r.IntN(3)
		if form.Name(t) > "9" { // near the last year
			break
		}
		a := s.amount()
		lines = append(lines, fmt.Sprintf("turn %s %x %s", a.RatString(), sha256.Sum256(nil), form.Name(t)))
		turns = append(turns, fmt.Sprintf("%d:%s", t, a.RatString()))
	}
	got, err := ledger.Read(sealed(lines))
	if err != nil {
		s.Fatalf("%q: %v", lines, err)
	}
	s.r.Shuffle(len(turns), func(i, j int) { turns[i], turns[j] = turns[j], turns[i] })
	list := "-"
	if len(turns) > 0 {
		list = strings.Join(turns, ",")
	}
	if len(always.RatString()) <= 256 { // as long as the program reads
		s.add(got.Window.RatString(), "window %d %s %s", period, always.RatString(), list)
	}
}

// payments adds a ledger that pays, or does not, one debit after the other; many would fill a window to its budget, or to
// 10^-18 more or less.
func (s *suite) payments() {
	form, now, period, number := s.epochs()
	budget := big.NewRat(1+s.r.Int64N(40), 1+s.r.Int64N(6))
	store := &memory{*bytes.NewBuffer(sealed([]string{"wpm-ledger-1 " + budget.RatString(),
		fmt.Sprintf("slot %s %d %d", form, period, number)}))}
	var events, said []string
	for n := range 1 + s.r.IntN(8) {
		before, err := ledger.Read(store.Bytes())
		if err != nil {
			s.Fatal(err)
		}
		d := ledger.Debit{Policy: [sha256.Size]byte{1, byte(n)}}
		room := new(big.Rat).Sub(budget, before.Window)
		if s.r.IntN(2) == 0 {
			room = before.Left
		}
		eps := new(big.Rat)
		if eps.Add(room, big.NewRat(s.r.Int64N(3)-1, 1e18)); s.r.IntN(3) > 0 {
			eps.SetFrac64(1+s.r.Int64N(30), 1+s.r.Int64N(12))
		}
		if d.Epsilon, err = ldp.ParseEpsilon(eps.RatString()); err != nil { // no room, or too much
			d.Epsilon, _ = ldp.ParseEpsilon("1/3")
		}
		epoch, event := fmt.Sprintf("word%d", n), "debit:"+d.Epsilon.Rat().RatString()
		if s.r.IntN(4) > 0 {
			now += []int{0, 1, period, period, -1, -period}[s.r.IntN(6)]
			if s.r.IntN(2) == 0 {
				now += number - now%period
			}
			if epoch = form.Name(now); epoch < "2000" || epoch > "9" {
				return // out of the calendar
			}
			d.Schedule = ledger.Schedule{Epochs: form, Period: period}
			event = fmt.Sprintf("turn:%d:%s", now, d.Epsilon.Rat().RatString())
		}
		if s.r.IntN(8) == 0 && !before.Incomplete {
			fmt.Fprintf(store, "turn %s ", d.Epsilon.Rat().RatString())
			events, said = append(events, "torn:"+d.Epsilon.Rat().RatString()), append(said, "paid")
			s.rows["torn"]++
			continue
		}
		l, err := ledger.New(store, ledger.Options{Epoch: epoch,
			Clock: func() time.Time { return time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC) }})
		if err != nil {
			s.Fatal(err)
		}
		_, err = ledger.Account(l, d, func() (ledger.Draw, error) {
			return func() ([]byte, error) { return report(d.Policy), nil }, nil
		})
		answer := "paid"
		switch {
		case errors.As(err, new(*ledger.SilentError)):
			answer = "silent"
		case errors.Is(err, ledger.ErrBudget):
			answer = "no-room"
		case errors.Is(err, ledger.ErrEpoch):
			answer = "late"
		case err != nil:
			s.Fatal(err)
		}
		if err := l.Close(); err != nil {
			s.Fatal(err)
		}
		if after, err := ledger.Read(store.Bytes()); err == nil && answer == "paid" && after.Window.Cmp(budget) == 0 {
			s.nearTies++
		}
		s.rows[answer]++
		events, said = append(events, event), append(said, answer)
	}
	after, err := ledger.Read(store.Bytes())
	if err != nil {
		s.Fatal(err)
	}
	s.add(strings.Join(said, ",")+" "+after.Window.RatString(), "ledger %d %d %s %s", period, number, budget.RatString(),
		strings.Join(events, ","))
}

// TestExtractedWindows compares the ledger with the program that is extracted from the proofs, on some 10,000 cases.
func TestExtractedWindows(t *testing.T) {
	path := extracted(t)
	s := &suite{TB: t, r: rand.New(rand.NewPCG(39, binary.BigEndian.Uint64([]byte("windows."))))}
	s.rows = map[string]int{}
	for range 3000 {
		s.slot()
	}
	for range 4000 {
		s.window()
	}
	for range 4000 {
		s.payments()
	}
	t.Logf("%v, %d windows filled to their budget", s.rows, s.nearTies)
	for _, what := range []string{"slot one", "slot several", "paid", "no-room", "silent", "late", "torn"} {
		if s.rows[what] < 300 {
			t.Errorf("%d times %q: the cases are too weak", s.rows[what], what)
		}
	}
	if s.nearTies < 300 || len(s.want) < 10000 {
		t.Errorf("%d windows filled to their budget, %d cases: the cases are too weak", s.nearTies, len(s.want))
	}
	cmd := exec.Command(path)
	cmd.Stdin = &s.in
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	s.compare(strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"))
}
