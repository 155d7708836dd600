package ledger

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// book is a ledger to be checked: its account, and what someone who opened its storage at this moment would find spent.
type book struct {
	Ledger
	spent, stored func() *big.Rat
	close         func() error
}

// checkLedger takes a ledger of budget 3 through releases, repeats, failures, epochs and the end of the budget. open
// opens the same storage again.
func checkLedger(t testing.TB, open func(epoch string) (book, error)) error {
	t.Helper()
	b, err := open("a")
	if err != nil {
		return err
	}
	want := new(big.Rat)
	policies := map[string]mechanism{}
	pol := func(eps, note string) mechanism {
		if _, ok := policies[eps+note]; !ok {
			policies[eps+note] = epsPolicy(t, eps, note)
		}
		return policies[eps+note]
	}
	// paid releases and expects a debit, in storage before the first random byte is read.
	paid := func(p mechanism, source io.Reader, fails bool) (report, error) {
		want.Add(want, p.eps.Rat())
		var early error
		read := false
		spy := readerFunc(func(buf []byte) (int, error) {
			if !read && b.stored().Cmp(want) != 0 {
				early = fmt.Errorf("stored %v at the draw, want %v", b.stored(), want)
			}
			read = true
			return source.Read(buf)
		})
		before := new(big.Rat).Sub(want, p.eps.Rat())
		r, err := release(context.Background(), p, b, nil, func() error {
			if b.stored().Cmp(before) != 0 {
				early = fmt.Errorf("stored %v when the solver starts, want %v", b.stored(), before)
			}
			return nil
		}, spy)
		switch {
		case early != nil:
			return r, early
		case fails != errors.Is(err, errRandom) || !fails && err != nil:
			return r, fmt.Errorf("a release: %v", err)
		case !read:
			return r, errors.New("no draw")
		case b.spent().Cmp(want) != 0 || b.stored().Cmp(want) != 0:
			return r, fmt.Errorf("spent %v, stored %v, want %v", b.spent(), b.stored(), want)
		case !fails && !strings.Contains(string(r), hex.EncodeToString(p.id[:])):
			return r, fmt.Errorf("a report of another policy: %s", r)
		}
		return r, nil
	}
	broke := errors.New("no process")
	repeat := func(p mechanism, first report) error {
		r, err := release(context.Background(), p, b, nil, func() error { return broke }, failAfter(0))
		if err != nil || r != first || b.spent().Cmp(want) != 0 {
			return fmt.Errorf("a repeat: %v, %v, want %v; spent %v, want %v", r, err, first, b.spent(), want)
		}
		return nil
	}
	reopen := func(epoch string) (err error) {
		if err = b.close(); err == nil {
			b, err = open(epoch)
		}
		return err
	}
	third, fifth := pol("1/3", ""), pol("1/5", "")
	first, err := paid(third, words(0, 0), false)
	if err != nil {
		return err
	}
	if _, err := paid(fifth, words(0, 0), false); err != nil { // another policy: no memo of the first
		return err
	}
	if err := repeat(third, first); err != nil {
		return err
	}
	broken := pol("1/15", "broken")
	_, err = release(context.Background(), broken, b, nil, func() error { return broke }, words(0, 0))
	if !errors.Is(err, broke) || b.spent().Cmp(want) != 0 || b.stored().Cmp(want) != 0 {
		return fmt.Errorf("a solver that does not start: %v, spent %v, stored %v, want %v", err, b.spent(), b.stored(), want)
	}
	if _, err := paid(broken, failAfter(3), true); err != nil {
		return err
	}
	if _, err := paid(broken, words(0, 0), false); err != nil { // no refund, no free second try
		return err
	}
	for n := range 10 { // ten tenths are one, and in no float
		if _, err := paid(pol("0.1", strconv.Itoa(n)), words(0, 0), false); err != nil {
			return err
		}
	}
	if err := reopen("b"); err != nil {
		return err
	}
	if second, err := paid(third, words(0, 255), false); err != nil {
		return err
	} else if second == first {
		return errors.New("another epoch has the report of the first")
	}
	if err := reopen("a"); err != nil {
		return err
	}
	if err := repeat(third, first); err != nil {
		return err
	}
	// Spent are 2 of 3. What is left is 1, exactly.
	r, err := release(context.Background(), pol("1.000000000000000001", ""), b, []byte("0,1"), identity, words(0, 0))
	if !errors.Is(err, ErrBudget) || r != "" || b.spent().Cmp(want) != 0 {
		return fmt.Errorf("over the budget: %v, %v; spent %v, want %v", r, err, b.spent(), want)
	}
	if _, err := paid(pol("1", ""), words(0, 0), false); err != nil {
		return err
	}
	return b.close()
}

func TestLedgerKeepsTheBooks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	err := checkLedger(t, func(epoch string) (book, error) {
		l, err := Open(path, Options{Epoch: epoch, Budget: "3"})
		stored := func() *big.Rat {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var s state
			if _, err := s.replay(data); err != nil {
				t.Fatal(err)
			}
			return s.spent
		}
		return book{l, l.Spent, stored, l.Close}, err
	})
	if err != nil {
		t.Error(err)
	}
}

// toyLedger is a ledger in memory with at most one bug. Without one it passes checkLedger.
type toyLedger struct {
	bug, epoch string
	*toyStore
	*Books // none
}

type toyStore struct {
	spent *big.Rat
	memo  map[occasion][]byte
}

func (l toyLedger) account(d Debit, ready func() (Draw, error)) ([]byte, error) {
	eps := d.Epsilon
	o, cost := occasion{d.Policy, l.epoch}, eps.Rat()
	switch l.bug {
	case "memo keyed without the epoch":
		o.epoch = ""
	case "memo keyed without the policy":
		o.policy = [32]byte{}
	case "epsilons added as floats":
		cost.SetFloat64(eps.Float64())
	}
	if r, ok := l.memo[o]; ok && l.bug != "memo not honoured" {
		if l.bug == "made ready for a repeat" {
			if _, err := ready(); err != nil {
				return nil, err
			}
		}
		if l.bug == "repeat charged" {
			l.spent.Add(l.spent, cost)
		}
		return r, nil
	}
	if new(big.Rat).Add(l.spent, cost).Cmp(big.NewRat(3, 1)) > 0 && l.bug != "budget not enforced" {
		return nil, ErrBudget
	}
	if l.bug == "made ready after the debit" {
		l.spent.Add(l.spent, cost)
	}
	draw, err := ready()
	if err != nil {
		return nil, err
	}
	if l.bug != "debit after the draw" && l.bug != "made ready after the debit" {
		l.spent.Add(l.spent, cost)
	}
	r, err := draw()
	if l.bug == "debit after the draw" {
		l.spent.Add(l.spent, cost)
	}
	if err != nil {
		if l.bug == "refund when the source fails" {
			l.spent.Sub(l.spent, cost)
		}
		if l.bug == "a failed draw is free the next time" {
			l.spent.Sub(l.spent, cost)
			defer l.spent.Add(l.spent, cost)
		}
		return nil, err
	}
	l.memo[o] = r
	return r, nil
}

func checkToyLedger(t testing.TB, bug string) error {
	store := &toyStore{new(big.Rat), map[occasion][]byte{}}
	return checkLedger(t, func(epoch string) (book, error) {
		if bug == "memo lost when opened again" {
			store.memo = map[occasion][]byte{}
		}
		spent := func() *big.Rat { return new(big.Rat).Set(store.spent) }
		return book{toyLedger{bug, epoch, store, nil}, spent, spent, func() error { return nil }}, nil
	})
}

// The check of TestLedgerKeepsTheBooks passes a ledger without a bug, and refuses each of these.
func TestPlantedBugs(t *testing.T) {
	if err := checkToyLedger(t, ""); err != nil {
		t.Errorf("the ledger without a bug: %v", err)
	}
	for _, bug := range []string{
		"debit after the draw", "refund when the source fails", "memo not honoured", "memo keyed without the epoch",
		"memo keyed without the policy", "memo lost when opened again", "repeat charged", "made ready after the debit",
		"made ready for a repeat", "epsilons added as floats",
		"budget not enforced",
	} {
		t.Run(bug, func(t *testing.T) {
			if err := checkToyLedger(t, bug); err == nil {
				t.Error("not caught")
			} else {
				t.Log(err)
			}
		})
	}
}

// A ledger that was never opened, the ends of alphabets and of lengths, and what a broken line says.
func TestEdgesOfBooks(t *testing.T) {
	// A ledger that was never opened has books, with nothing in them.
	for _, l := range []*Books{nil, {}} {
		if l.Budget().Sign() != 0 || l.Spent().Sign() != 0 || l.Remaining().Sign() != 0 || l.Epoch() != "" ||
			l.Close() != nil {
			t.Errorf("%#v: not empty", l)
		}
	}
	// The lock is part of closing.
	file, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	if err := (&Books{store: &fileStore{file: file, unlock: func() error { return errDisk }}}).Close(); !errors.Is(err,
		errDisk) {
		t.Errorf("Close with a lock that fails: %v", err)
	}
	// The ends of the alphabets, and of the lengths.
	for _, c := range []struct {
		word string
		ok   bool
	}{
		{"azAZ09._:-", true}, {strings.Repeat("e", 64), true}, {strings.Repeat("e", 65), false},
		{"`", false}, {"{", false}, {"@", false}, {"[", false}, {"/", false}, {";", false},
	} {
		if isWord(c.word) != c.ok {
			t.Errorf("isWord(%q) = %v", c.word, !c.ok)
		}
	}
	for n, want := range map[int]bool{maxRational: true, maxRational + 1: false} {
		if _, ok := parseRational(strings.Repeat("1", n)); ok != want {
			t.Errorf("a numeral of %d digits: %v", n, ok)
		}
	}
	// A broken line is named by its number, from 1.
	broken := sealed(t, "wpm-ledger-1 1", "debit 1 "+strings.Repeat("ab", 32)+" e", "credit 1")
	if _, err := new(state).replay(broken); !errors.Is(err, ErrCorrupt) ||
		!strings.Contains(err.Error(), "line 3:") {
		t.Errorf("%v, want line 3", err)
	}
	// A record of one word is none, and a torn line may be nothing but its charge.
	for body, want := range map[string]error{"report": ErrCorrupt, "debit": ErrCorrupt, "~torn 1/2": nil} {
		var s state
		if _, err := s.replay(sealed(t, "wpm-ledger-1 1", body)); !errors.Is(err, want) ||
			err == nil && s.spent.Cmp(big.NewRat(1, 2)) != 0 {
			t.Errorf("%q: %v, spent %v", body, err, s.spent)
		}
	}
}

func TestSyncFolderFails(t *testing.T) {
	// A folder that cannot be opened cannot be synced.
	if err := syncFolder(filepath.Join(t.TempDir(), "gone", "ledger")); runtime.GOOS == "linux" &&
		!errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
}
