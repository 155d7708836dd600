// Package storetest checks a policy.Store: what the ledger of a browser, a phone or a fleet of servers is kept in.
package storetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
)

// patience bounds how long a Lock may take that has nothing to wait for.
const patience = 5 * time.Second

// Test checks a kind of store, and returns the first fault that it finds. open returns a handle on the storage of the
// given name, which is empty at first; each call returns a new handle, as another process would have. Test opens the
// names "text", "crowd" and "ledger", waits some tenths of a second, and uses all handles of "crowd" at the same time.
// It cannot test whether bytes survive a loss of power: the author of a Store has to ensure this.
func Test(open func(name string) (policy.Store, error)) error {
	var handles [2]policy.Store
	for i := range handles {
		var err error
		if handles[i], err = open("text"); err != nil {
			return fmt.Errorf("open: %w", err)
		}
	}
	if err := testLock(handles[0], handles[1]); err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	if err := testText(handles[0], handles[1]); err != nil {
		return fmt.Errorf("text: %w", err)
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
func testLock(a, b policy.Store) error {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if err := a.Lock(ended); err != nil {
		return fmt.Errorf("of a free store, with a context that has ended: %w", err)
	}
	if err := b.Append([]byte("not mine")); err == nil {
		return errors.New("another handle has the lock, and Append works")
	}
	_ = b.Unlock() // an error is as good as none
	for _, wait := range []time.Duration{0, 100 * time.Millisecond} {
		start := time.Now()
		ctx, cancel := context.WithTimeout(context.Background(), wait)
		err := b.Lock(ctx)
		cancel()
		if took := time.Since(start); !errors.Is(err, policy.ErrLedgerLocked) || took < wait || took > wait+patience {
			return fmt.Errorf("of a store that another handle has: %v after %v, want ErrLedgerLocked after %v", err, took, wait)
		}
	}
	off, callOff := context.WithCancel(context.Background()) // without a deadline
	early := time.AfterFunc(50*time.Millisecond, callOff)
	defer early.Stop()
	late := time.AfterFunc(patience, func() { _ = a.Unlock() }) // or b might wait for ever
	if err := b.Lock(off); !late.Stop() || !errors.Is(err, policy.ErrLedgerLocked) {
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
func testText(a, b policy.Store) error {
	var want []byte
	for i, s := range []policy.Store{a, b, a} {
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
			if err := s.Append(text); err != nil {
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
		if err := s.Append([]byte("late")); err == nil {
			return errors.New("without the lock Append works")
		}
	}
	return nil
}

// testCrowd: of handles that count together, each adds one to what the last one has written.
func testCrowd(open func(name string) (policy.Store, error)) error {
	const handles, turns = 4, 6
	var stores [handles]policy.Store
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
func count(s policy.Store) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := s.Lock(ctx); err != nil {
		return err
	}
	text, err := s.Load()
	if err == nil {
		time.Sleep(2 * time.Millisecond) // for whoever is let in as well
		err = s.Append([]byte{byte(len(text))})
	}
	return errors.Join(err, s.Unlock())
}

// testLedger: a ledger in the store pays once for each report, repeats it for nothing, and keeps its budget, however
// often it is opened.
func testLedger(open func(name string) (policy.Store, error)) error {
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
		l, err := policy.NewLedger(store, policy.LedgerOptions{Epoch: "e", Budget: "1"})
		if err != nil {
			return fmt.Errorf("opening %d: %w", round, err)
		}
		for n := range round + 1 {
			id := sha256.Sum256([]byte{byte(n)})
			want := append(append([]byte("test"), id[:]...), byte(n))
			drawn := false
			got, err := policy.Account(l, id, eps, func() ([]byte, error) { drawn = true; return want, nil })
			if n == reports {
				if !errors.Is(err, policy.ErrBudget) || drawn {
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
