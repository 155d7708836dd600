package storetest_test

import (
	"bytes"
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wpm-go/wpm/policy/ledger"
	"github.com/wpm-go/wpm/policy/ledger/storetest"
)

// memory is a store within a process, with at most one bug.
type memory struct {
	bug  string
	held bool // by this handle
	*shared
}

type shared struct {
	lock  chan struct{} // holds something while the store is locked
	mu    sync.Mutex    // of the text, so that a bug of the lock is no data race
	text  []byte
	taken atomic.Bool // the lock that two can have
}

func (m *memory) Lock(ctx context.Context) error {
	if m.bug == "no lock" {
		return nil
	}
	if m.bug == "a lock that two can have" {
		for m.taken.Load() {
			select {
			case <-ctx.Done():
				return ledger.ErrLocked
			case <-time.After(time.Millisecond):
			}
		}
		time.Sleep(time.Millisecond)
		m.taken.Store(true)
		m.held = true
		return nil
	}
	if m.bug == "a lock that does not try" && ctx.Err() != nil {
		return ledger.ErrLocked
	}
	if d, ok := ctx.Deadline(); m.bug == "a lock that looks at deadlines alone" && (ok || ctx.Err() == nil) {
		ctx = context.Background()
		if ok {
			var stop func()
			ctx, stop = context.WithDeadline(ctx, d)
			defer stop()
		}
	}
	if m.bug == "a lock that does not wait" {
		ended, cancel := context.WithCancel(ctx)
		cancel()
		ctx = ended
	}
	select {
	case m.lock <- struct{}{}:
		m.held = true
		return nil
	default:
	}
	select {
	case m.lock <- struct{}{}:
		m.held = true
		return nil
	case <-ctx.Done():
		if m.bug == "another error" {
			return ctx.Err()
		}
		return ledger.ErrLocked
	}
}

func (m *memory) Unlock() error {
	switch {
	case m.held && m.bug == "a lock that two can have":
		m.taken.Store(false)
	case m.bug == "a lock that anyone gives up":
		select {
		case <-m.lock:
		default:
		}
	case m.held && m.bug != "a lock that is not given up":
		<-m.lock
	}
	m.held = false
	return nil
}

func (m *memory) Load() ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.bug == "Load hands out its own" {
		return m.text, nil
	}
	return bytes.Clone(m.text), nil
}

func (m *memory) Append(at int64, b []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.bug != "appends anywhere" && at != int64(len(m.text)):
		return ledger.ErrUnusable
	case m.bug == "appends by another's lock" && len(m.lock) == 0,
		m.bug != "appends by another's lock" && !m.held && m.bug != "appends without the lock":
		return ledger.ErrUnusable
	case m.bug == "forgets" && len(m.text) > 100, m.bug == "forgets after 1 MB" && len(m.text) > 1<<20:
		return nil
	case m.bug == "in the wrong order":
		m.text = append(bytes.Clone(b), m.text...)
	case m.bug == "up to the first zero":
		b, _, _ := bytes.Cut(b, []byte{0})
		m.text = append(m.text, b...)
	default:
		m.text = append(m.text, b...)
		if m.bug == "clears what it is given" {
			clear(b)
		}
	}
	return nil
}

// A right store passes; each wrong one does not.
func TestStores(t *testing.T) {
	for _, bug := range []string{
		"", "no lock", "a lock that does not try", "a lock that looks at deadlines alone", "a lock that does not wait",
		"another error", "a lock that is not given up",
		"a lock that two can have", "a lock that anyone gives up", "appends by another's lock", "Load hands out its own",
		"appends without the lock", "forgets", "in the wrong order", "up to the first zero", "clears what it is given",
		"appends anywhere", "forgets after 1 MB",
	} {
		synctest.Test(t, func(t *testing.T) { // its clock waits for nobody
			stores := map[string]*shared{}
			err := storetest.Handles(func(name string) (ledger.Store, error) {
				if stores[name] == nil {
					stores[name] = &shared{lock: make(chan struct{}, 1)}
				}
				return &memory{bug: bug, shared: stores[name]}, nil
			})
			if (err == nil) != (bug == "") {
				t.Errorf("%q: %.200v", bug, err)
			}
		})
	}
}
