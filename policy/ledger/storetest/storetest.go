// Package storetest checks a ledger.Store: what the ledger of a browser, a phone or a fleet of servers is kept in. A
// test of a store has two lines:
//
//	func TestMain(m *testing.M) { storetest.Main(open); os.Exit(m.Run()) }
//	func TestStore(t *testing.T) { skipped, err := storetest.Test(open, storetest.Hooks{}); ... }
package storetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy/ledger"
)

// patience bounds how long a Lock may take that has nothing to wait for.
const patience = 5 * time.Second

// Open returns a new handle on the storage of a name, which is empty at first. In every process a name is of the same
// storage. It is a path in a temporary folder, which Test makes and removes; a store that is not kept in files may use
// it as any other text.
type Open = func(name string) (ledger.Store, error)

// Hooks are what Test cannot do by itself. Each may be left out, and then Test names what it has not tested.
type Hooks struct {
	// Lease is how long the lock of a process that was killed may last; 0 stands for five seconds.
	Lease time.Duration
	// Revoke takes the lock of a storage away from whoever has it, as the end of a lease would.
	Revoke func(name string) error
	// Fail lets the next Append of a handle fail in the medium, after about keep bytes are written (none, if the medium
	// writes all or nothing).
	Fail func(s ledger.Store, keep int)
}

// Test checks a kind of store, and returns the first fault that it finds, and what it has not tested. It uses several
// handles at the same time, and starts the program again, as further processes, some of which it kills: Main must be
// called there. It writes a text of 10 MB, and takes some seconds.
func Test(open Open, hooks Hooks) (skipped []string, err error) {
	if os.Getenv(variable) != "" {
		return nil, errors.New("Test in a process that Test has started: call Main first, in TestMain or init")
	}
	skipped = []string{"a loss of power"}
	dir, err := os.MkdirTemp("", "storetest")
	if err != nil {
		return skipped, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	at := func(folder string) Open {
		return func(name string) (ledger.Store, error) { return open(filepath.Join(dir, folder+name)) }
	}
	if err := testHandles(at("own-")); err != nil {
		return skipped, err
	}
	if hooks.Fail == nil {
		skipped = append(skipped, "errors of the medium, without Hooks.Fail")
	} else if err := testFailures(at("fail-"), hooks.Fail); err != nil {
		return skipped, fmt.Errorf("an Append that fails: %w", err)
	}
	if hooks.Revoke == nil {
		skipped = append(skipped, "a lock that is taken away, without Hooks.Revoke")
	} else if err := testRevoked(at("revoke-"), func(name string) error {
		return hooks.Revoke(filepath.Join(dir, "revoke-"+name))
	}); err != nil {
		return skipped, fmt.Errorf("a lock that is taken away: %w", err)
	}
	if hooks.Lease == 0 {
		hooks.Lease = patience
	}
	err = testProcesses(open, dir, hooks.Lease)
	if errors.Is(err, errors.ErrUnsupported) {
		return append(skipped, fmt.Sprintf("a second process: %v", err)), nil
	}
	if err != nil {
		return skipped, fmt.Errorf("a second process: %w", err)
	}
	return skipped, nil
}

// testHandles tests what can be tested in one process, and in two if open gives a handle of each in turn.
func testHandles(open Open) error {
	for _, part := range []struct {
		name string
		test func(a, b ledger.Store) error
	}{{"lock", testLock}, {"text", testText}, {"length", testLength}, {"large text", testLarge}} {
		a, err := open(part.name)
		if err != nil {
			return fmt.Errorf("open: %w", err)
		}
		b, err := open(part.name)
		if err != nil {
			return fmt.Errorf("open: %w", err)
		}
		if err := part.test(a, b); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	if err := testCrowd(open); err != nil {
		return fmt.Errorf("several handles at a time: %w", err)
	}
	if err := testLedger(open); err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	return nil
}

// testLock: one handle has the store at a time; another waits as long as it is told to, and can neither write meanwhile
// nor free the store.
func testLock(a, b ledger.Store) error {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if err := a.Lock(ended); err != nil {
		return fmt.Errorf("of a free store, with a context that has ended: %w", err)
	}
	if err := b.Append(0, []byte("not mine")); err == nil {
		return errors.New("another handle has the lock, and Append works")
	}
	_ = b.Unlock() // an error is as good as none
	for _, wait := range []time.Duration{0, 100 * time.Millisecond} {
		start := time.Now()
		ctx, cancel := context.WithTimeout(context.Background(), wait)
		err := b.Lock(ctx)
		cancel()
		if took := time.Since(start); !errors.Is(err, ledger.ErrLocked) || took < wait || took > wait+patience {
			return fmt.Errorf("of a store that another handle has: %v after %v, want ErrLedgerLocked after %v", err, took, wait)
		}
	}
	off, callOff := context.WithCancel(context.Background()) // without a deadline
	early := time.AfterFunc(50*time.Millisecond, callOff)
	defer early.Stop()
	late := time.AfterFunc(patience, func() { _ = a.Unlock() }) // or b might wait for ever
	if err := b.Lock(off); !late.Stop() || !errors.Is(err, ledger.ErrLocked) {
		return fmt.Errorf("of a store that another handle has, called off while waiting: %v, want ErrLedgerLocked at once",
			err)
	}
	unlocked := make(chan error, 1)
	free := time.AfterFunc(100*time.Millisecond, func() { unlocked <- a.Unlock() })
	defer free.Stop()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := b.Lock(ctx); err != nil {
		return fmt.Errorf("of a store that becomes free while waiting: %w", err)
	}
	if err := errors.Join(<-unlocked, b.Unlock()); err != nil {
		return fmt.Errorf("given up: %w", err)
	}
	return nil
}

// testText: what is appended is there, in order, for every handle, and belongs to nobody else.
func testText(a, b ledger.Store) error {
	var want []byte
	for i, s := range []ledger.Store{a, b, a} {
		if err := s.Lock(context.Background()); err != nil {
			return fmt.Errorf("lock: %w", err)
		}
		got, err := s.Load()
		if err != nil || !bytes.Equal(got, want) {
			return fmt.Errorf("opening %d: Load gives %q, %w; want %q", i, got, err, want)
		}
		clear(got) // it is the caller's
		for _, piece := range []string{"a\n", "\x00\xff~\r\n", string(bytes.Repeat([]byte("long "), 1<<16)), "no end"} {
			text := []byte(piece)
			if err := s.Append(int64(len(want)), text); err != nil {
				return fmt.Errorf("%d bytes to append: %w", len(piece), err)
			}
			if string(text) != piece {
				return errors.New("what was given is changed by Append")
			}
			clear(text) // it is the caller's again
			want = append(want, piece...)
		}
		if err := s.Unlock(); err != nil {
			return fmt.Errorf("unlock: %w", err)
		}
		if err := s.Append(int64(len(want)), []byte("late")); err == nil {
			return errors.New("without the lock Append works")
		}
	}
	return nil
}

// testLength: who does not know the end of the text cannot append, and does no harm.
func testLength(a, b ledger.Store) error {
	want := []byte("0123456789")
	if err := appendTo(a, nil, want); err != nil {
		return err
	}
	for _, at := range []int64{0, 9, 11, 1 << 40} {
		if err := a.Lock(context.Background()); err != nil {
			return err
		}
		_, err := a.Load()
		if err == nil && a.Append(at, []byte("stale")) == nil {
			err = fmt.Errorf("the text has 10 bytes, and Append works at %d", at)
		}
		if err := errors.Join(err, a.Unlock()); err != nil {
			return err
		}
		if err := holds(b, want); err != nil {
			return fmt.Errorf("after an Append at %d of 10 bytes: %w", at, err)
		}
	}
	return nil
}

// testLarge: 10 MB are as safe as 10 bytes.
func testLarge(a, b ledger.Store) error {
	var text []byte
	for n := range 10 {
		piece := bytes.Repeat(fmt.Appendf(nil, "%7d\n", n), 1<<17)
		if err := appendTo(a, text, piece); err != nil {
			return fmt.Errorf("after %d MB: %w", n, err)
		}
		text = append(text, piece...)
	}
	if err := appendTo(b, text, []byte("end")); err != nil {
		return err
	}
	return holds(a, append(text, "end"...))
}

// appendTo adds a piece to a store that holds text.
func appendTo(s ledger.Store, text, piece []byte) error {
	return inTurn(s, text, patience, func() error { return s.Append(int64(len(text)), piece) })
}

// holds checks that a store can be locked, and holds text.
func holds(s ledger.Store, text []byte) error {
	return inTurn(s, text, patience, func() error { return nil })
}

// inTurn locks a store, which holds text, for one action.
func inTurn(s ledger.Store, text []byte, wait time.Duration, do func() error) error {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	if err := s.Lock(ctx); err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	got, err := s.Load()
	if err == nil && !bytes.Equal(got, text) {
		err = fmt.Errorf("Load gives %d bytes, %.40q, want %d, %.40q", len(got), got, len(text), text)
	}
	if err == nil {
		err = do()
	}
	return errors.Join(err, s.Unlock())
}

// refuses checks that nobody can lock a store now.
func refuses(s ledger.Store) error {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Lock(ended); !errors.Is(err, ledger.ErrLocked) {
		return fmt.Errorf("another handle has the lock, and Lock gives %w, want ErrLedgerLocked", err)
	}
	return nil
}

// testFailures: an Append that fails leaves a beginning of what it was given behind what there was.
func testFailures(open Open, fail func(s ledger.Store, keep int)) error {
	const piece = "a line that is not finished\n"
	text := []byte("before\n")
	first, err := open("text")
	if err != nil {
		return err
	}
	if err := appendTo(first, nil, text); err != nil {
		return err
	}
	for _, keep := range []int{0, 1, 10, len(piece) - 1, len(piece)} {
		s, err := open("text")
		if err != nil {
			return err
		}
		err = inTurn(s, text, patience, func() error {
			fail(s, keep)
			if s.Append(int64(len(text)), []byte(piece)) == nil {
				return errors.New("returns nil")
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("after %d bytes: %w", keep, err)
		}
		if text, err = beginning(first, text, piece, patience); err != nil {
			return fmt.Errorf("after %d bytes: %w", keep, err)
		}
	}
	return appendTo(first, text, []byte("after\n"))
}

// beginning checks that a store holds text and then a beginning of piece, and returns it.
func beginning(s ledger.Store, text []byte, piece string, wait time.Duration) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	if err := s.Lock(ctx); err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	got, err := s.Load()
	rest, same := bytes.CutPrefix(got, text)
	if err == nil && (!same || !bytes.HasPrefix([]byte(piece), rest)) {
		err = fmt.Errorf("%d bytes became %d, which are not these and a beginning of what was appended", len(text), len(got))
	}
	return slices.Clone(got), errors.Join(err, s.Unlock())
}

// testRevoked: who has lost the lock cannot write, and does not free the lock of the next.
func testRevoked(open Open, revoke func(name string) error) error {
	var s [3]ledger.Store
	for i := range s {
		var err error
		if s[i], err = open("text"); err != nil {
			return err
		}
	}
	if err := s[0].Lock(context.Background()); err != nil {
		return err
	}
	if _, err := s[0].Load(); err != nil {
		return err
	}
	if err := revoke("text"); err != nil {
		return err
	}
	err := inTurn(s[1], nil, patience, func() error {
		if s[0].Append(0, []byte("too late, and nobody has written")) == nil {
			return errors.New("who has lost it appends to a store that another handle has locked")
		}
		if err := s[1].Append(0, []byte("new")); err != nil {
			return err
		}
		if s[0].Append(0, []byte("too late")) == nil {
			return errors.New("who has lost it appends")
		}
		_ = s[0].Unlock() // an error is as good as none
		if err := refuses(s[2]); err != nil {
			return fmt.Errorf("after an Unlock by who has lost it: %w", err)
		}
		return s[1].Append(3, []byte("er"))
	})
	if err != nil {
		return err
	}
	return holds(s[2], []byte("newer"))
}

// testCrowd: of handles that count together, each adds one to what the last one has written.
func testCrowd(open func(name string) (ledger.Store, error)) error {
	const handles, turns = 4, 6
	var stores [handles]ledger.Store
	var failed [handles]error
	var crowd parallel.Group
	for i := range stores {
		var err error
		if stores[i], err = open("crowd"); err != nil {
			return err
		}
	}
	for i, s := range stores {
		crowd.Go(func() {
			for range turns {
				if failed[i] = count(s); failed[i] != nil {
					return
				}
			}
		})
	}
	crowd.Wait()
	if err := errors.Join(failed[:]...); err != nil {
		return err
	}
	s := stores[0]
	if err := s.Lock(context.Background()); err != nil {
		return err
	}
	got, err := s.Load()
	var want []byte
	for n := range handles * turns {
		want = append(want, byte(n))
	}
	if err == nil && !bytes.Equal(got, want) {
		err = fmt.Errorf("they count %v: two had the lock at once, or something is lost", got)
	}
	return errors.Join(err, s.Unlock())
}

// count appends the length of the text, which is below 256.
func count(s ledger.Store) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := s.Lock(ctx); err != nil {
		return err
	}
	text, err := s.Load()
	if err == nil {
		time.Sleep(2 * time.Millisecond) // for whoever is let in as well
		err = s.Append(int64(len(text)), []byte{byte(len(text))})
	}
	return errors.Join(err, s.Unlock())
}

// testLedger: a ledger in the store pays once for each report, repeats it for nothing, and keeps its budget, however
// often it is opened.
func testLedger(open func(name string) (ledger.Store, error)) error {
	const reports = 3
	eps, err := ldp.ParseEpsilon("1/3")
	if err != nil {
		return err
	}
	for round := range reports + 1 { // each opens the ledger anew, repeats what there is, and asks for one report more
		store, err := open("ledger")
		if err != nil {
			return err
		}
		l, err := ledger.New(store, ledger.Options{Epoch: "e", Budget: "1"})
		if err != nil {
			return fmt.Errorf("opening %d: %w", round, err)
		}
		for n := range round + 1 {
			id := sha256.Sum256([]byte{byte(n)})
			want := append(append([]byte("test"), id[:]...), byte(n))
			drawn := false
			draw := func() ([]byte, error) { drawn = true; return want, nil }
			got, err := ledger.Account(l, ledger.Debit{Policy: id, Epsilon: eps}, func() (ledger.Draw, error) { return draw, nil })
			if n == reports {
				if !errors.Is(err, ledger.ErrBudget) || drawn {
					return fmt.Errorf("above the budget: %w, drawn %v", err, drawn)
				}
			} else if err != nil || !bytes.Equal(got, want) || drawn != (n == round) {
				return fmt.Errorf("opening %d, report %d: %x, %w, drawn %v; want %x", round, n, got, err, drawn, want)
			}
		}
		if want := big.NewRat(int64(min(round+1, reports)), 3); l.Spent().Cmp(want) != 0 {
			return fmt.Errorf("opening %d: %s spent, want %s", round, l.Spent().RatString(), want.RatString())
		}
		if err := l.Close(); err != nil {
			return err
		}
	}
	return nil
}
