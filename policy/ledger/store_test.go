package ledger

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// full is a store on a full disk: of what is appended, the first keep bytes get there.
type full struct {
	memory
	keep int
}

func (f *full) Append(at int64, b []byte) error {
	n := min(f.keep, len(b))
	f.keep -= n
	if err := f.memory.Append(at, b[:n]); err != nil || n == len(b) {
		return err
	}
	return errDisk
}

// A report that is paid for is repeated where nothing can be written, in the ledger that failed and in one that is
// opened later, whatever part of a line the failure left. Nothing new is paid for.
func TestRepeatsOnAFullDisk(t *testing.T) {
	p, next := epsPolicy(t, "1/2", ""), epsPolicy(t, "1/2", "next")
	for _, keep := range []int{0, 1, 30, 100} {
		store := new(full)
		store.keep = 1 << 20
		opt := Options{Epoch: "e", Budget: "9"}
		l, err := New(store, opt)
		if err != nil {
			t.Fatal(err)
		}
		first, err := Release(t.Context(), p, l, []byte("0,1"), identity)
		if err != nil {
			t.Fatal(err)
		}
		store.keep = keep
		for range 3 { // the second and third time, opened again
			if r, err := Release(t.Context(), next, l, []byte("0,1"), identity); !errors.Is(err, ErrUnusable) || r != "" {
				t.Errorf("%d bytes left: %v, %v", keep, r, err)
			}
			if r, err := release(t.Context(), p, l, nil, identity, failAfter(0)); err != nil || r != first {
				t.Errorf("%d bytes left: a repeat gives %v, %v, want %v", keep, r, err, first)
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			if l, err = New(store, opt); err != nil {
				t.Fatalf("%d bytes left: %v", keep, err)
			}
		}
		store.keep = 1 << 20
		if l, err = New(store, opt); err != nil {
			t.Fatal(err)
		}
		spent := l.Spent()
		if _, err := Release(t.Context(), next, l, []byte("0,1"), identity); err != nil {
			t.Errorf("%d bytes left, then more: %v", keep, err)
		}
		again, err := New(store, opt)
		if err != nil {
			t.Fatal(err)
		}
		if got := again.Spent(); got.Cmp(l.Spent()) != 0 || got.Cmp(spent.Add(spent, next.eps.Rat())) != 0 {
			t.Errorf("%d bytes left, then more: spent %v, read again %v, want %v", keep, l.Spent(), got, spent)
		}
	}
}

// broken is a store whose next Append stops after so many bytes, in a panic.
type broken struct {
	memory
	keep int // -1: it does not
}

func (b *broken) Append(at int64, text []byte) error {
	if b.keep < 0 {
		return b.memory.Append(at, text)
	}
	text, b.keep = text[:min(b.keep, len(text))], -1
	_ = b.memory.Append(at, text)
	panic("broken")
}

// After a store has panicked, nothing is written behind what is unknown: the ledger can be opened again.
func TestStorePanics(t *testing.T) {
	p := epsPolicy(t, "1/2", "")
	for _, keep := range []int{0, 1, 30, 1 << 20} {
		store := &broken{keep: -1}
		opt := Options{Epoch: "e", Budget: "9"}
		l, err := New(store, opt)
		if err != nil {
			t.Fatal(err)
		}
		store.keep = keep
		func() {
			defer func() { _ = recover() }()
			r, err := Release(t.Context(), p, l, []byte("0,1"), identity)
			t.Errorf("%d bytes: %v, %v, no panic", keep, r, err)
		}()
		if r, err := Release(t.Context(), p, l, []byte("0,1"), identity); !errors.Is(err, ErrUnusable) || r != "" {
			t.Errorf("%d bytes, then another release: %v, %v", keep, r, err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		again, err := New(store, opt)
		if err != nil {
			t.Fatalf("%d bytes: %v", keep, err)
		}
		if _, err := Release(t.Context(), p, again, []byte("0,1"), identity); err != nil {
			t.Errorf("%d bytes: %v", keep, err)
		}
	}
}

// Who may wait for a ledger gets it as soon as it is free, and who may not is told at once.
func TestLedgerWait(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger")
	l := reopen(t, path, "e", "1")
	if _, err := Open(path, Options{Epoch: "e", Wait: 30 * time.Millisecond}); !errors.Is(err,
		ErrLocked) {
		t.Errorf("a ledger that stays open: %v", err)
	}
	free := time.AfterFunc(50*time.Millisecond, func() { _ = l.Close() })
	defer free.Stop()
	next, err := Open(path, Options{Epoch: "e", Wait: time.Minute})
	if err != nil {
		t.Fatalf("a ledger that is closed meanwhile: %v", err)
	}
	if err := next.Close(); err != nil {
		t.Error(err)
	}
}

// Who waits looks again after a while, not all the time, and not after another error. Only the pauses move the clock,
// which is that of synctest.
func TestRetryPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start, tries := time.Now(), 0
		err := retry(t.Context(), func() error {
			if tries++; tries < 11 {
				return ErrLocked
			}
			return errDisk
		})
		// Ten pauses: none is so short that it takes a processor, or so long that a person sees it.
		if took := time.Since(start); !errors.Is(err, errDisk) || took < 10*time.Millisecond || took > time.Second {
			t.Errorf("%d tries take %v: %v", tries, took, err)
		}
	})
}

// What a ledger refuses is said in words, and in the numbers that matter, once.
func TestLedgerWords(t *testing.T) {
	l, store := inMemory(t, nil)
	if _, err := Release(t.Context(), epsPolicy(t, "64", ""), l, nil, identity); err != nil {
		t.Fatal(err)
	}
	_, err := Release(t.Context(), epsPolicy(t, "36.5", ""), l, nil, identity)
	if want := "ledger: privacy budget: this release costs 36.5; of the ledger's 100, 64 is spent and 36 is left"; err == nil || err.Error() != want {
		t.Errorf("%v, want %q", err, want)
	}
	for _, c := range []struct {
		store  Store
		budget string
		want   string
	}{
		{store, "2", "ledger: privacy budget: the ledger was made with 100, and that cannot become 2"},
		{new(memory), "1e2", `ledger: privacy budget: "1e2": want a number above 0 in at most 100 digits, written as 8, 2.5 or 5/2, without sign or exponent`},
		{new(memory), "", "ledger: privacy budget: a new ledger needs one"},
		{nil, "1", "ledger: unusable: no store"},
	} {
		if _, err := New(c.store, Options{Epoch: "e", Budget: c.budget}); err == nil || err.Error() != c.want {
			t.Errorf("%q: %v, want %q", c.budget, err, c.want)
		}
	}
	path := filepath.Join(t.TempDir(), "my.ledger")
	reopen(t, path, "e", "1")
	if _, err := Open(path, Options{Epoch: "e"}); !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), path+".lock") {
		t.Errorf("%v: the lock is not named", err)
	}
	nowhere := filepath.Join(t.TempDir(), "nodir")
	if _, err := Open(filepath.Join(nowhere, "l"), Options{Epoch: "e", Budget: "1"}); !errors.Is(err, os.ErrNotExist) ||
		!strings.Contains(err.Error(), "no folder "+nowhere+" ") {
		t.Errorf("%v: the folder is not named", err)
	}
	if _, err := New(new(memory), Options{Epoch: "a b", Budget: "1"}); !errors.Is(err, ErrEpoch) ||
		!strings.Contains(err.Error(), "letters, digits") {
		t.Errorf("%v: it does not say what an epoch is", err)
	}
	other := filepath.Join(t.TempDir(), "counts")
	if err := os.WriteFile(other, []byte("label,count\nhome,3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(other, Options{Epoch: "e"}); !errors.Is(err, ErrCorrupt) ||
		!strings.Contains(err.Error(), "not a ledger") || strings.Contains(err.Error(), "chain") {
		t.Errorf("%v: a file that is no ledger", err)
	}
	// A ledger of nobody has no books.
	for _, l := range []Ledger{UnaccountedForTesting(), (*Books)(nil), &Books{}} {
		if l.Spent().Sign() != 0 || l.Budget().Sign() != 0 || l.Remaining().Sign() != 0 || l.Epoch() != "" ||
			l.Close() != nil {
			t.Errorf("%T: not empty", l)
		}
	}
	if err := (&fileStore{}).Append(0, nil); !errors.Is(err, ErrUnusable) {
		t.Errorf("a store that is not locked: %v", err)
	}
}
