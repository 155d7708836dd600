//go:build darwin || linux

package storetest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/wpm-go/wpm/policy/ledger"
	"github.com/wpm-go/wpm/policy/ledger/storetest"
)

// bug says, in every process, what is wrong with disk.
const bug = "WPM_TEST_BUG"

func TestMain(m *testing.M) {
	if os.Getenv(bug) != "Main is not called" {
		storetest.Main(openDisk)
	}
	os.Exit(m.Run())
}

func openDisk(name string) (ledger.Store, error) {
	return &disk{path: name, bug: os.Getenv(bug), fail: -1}, nil
}

// disk is a store in a file, with at most one bug. Its lock is a second file, which the kernel locks; who finds it gone
// has lost the lock.
type disk struct {
	path, bug string
	lock      *os.File // nil without the lock
	fail      int      // bytes that the next Append writes before it fails; -1: it does not fail
	waiting   []byte
}

var (
	mu   sync.Mutex
	here = map[string]bool{} // what "locks in one process" has locked
)

func (d *disk) Lock(ctx context.Context) error {
	for {
		ok, err := d.try()
		if ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ledger.ErrLocked
		case <-time.After(time.Millisecond):
		}
	}
}

func (d *disk) try() (bool, error) {
	flags := os.O_RDWR | os.O_CREATE
	switch d.bug {
	case "locks in one process":
		if mu.Lock(); here[d.path] {
			mu.Unlock()
			return false, nil
		}
		here[d.path] = true
		mu.Unlock()
	case "a lock that survives":
		flags |= os.O_EXCL
	}
	f, err := os.OpenFile(d.path+".lock", flags, 0o600)
	if errors.Is(err, os.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if d.free(f) {
		d.lock = f
		return true, nil
	}
	return false, f.Close()
}

// free takes the lock if nobody has it.
func (d *disk) free(f *os.File) bool {
	switch d.bug {
	case "locks in one process", "a lock that survives":
		return true
	}
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
		return d.has(f)
	}
	if d.bug == "takes the last to ask for the owner" {
		b, _ := os.ReadFile(d.path + ".asked")
		_ = os.WriteFile(d.path+".asked", []byte(fmt.Sprint(os.Getpid())), 0o600)
		if pid, _ := strconv.Atoi(string(b)); pid != 0 && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			_ = os.Remove(d.path + ".lock")
		}
	}
	return false
}

// has reports whether nobody has taken the lock away.
func (d *disk) has(f *os.File) bool {
	mine, err := f.Stat()
	there, err2 := os.Stat(d.path + ".lock")
	return err == nil && err2 == nil && os.SameFile(mine, there)
}

func (d *disk) Load() ([]byte, error) {
	b, err := os.ReadFile(d.path)
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	if d.bug == "loses what is above 1 MB" {
		b = b[:min(len(b), 1<<20)]
	}
	return append(b, d.waiting...), err
}

func (d *disk) Append(at int64, b []byte) error {
	if d.lock == nil || d.bug != "writes without its lock" && !d.has(d.lock) {
		return ledger.ErrUnusable
	}
	text, err := d.Load()
	if err != nil {
		return err
	}
	if int64(len(text)) != at && d.bug != "does not look at the length" && d.bug != "loses what is above 1 MB" {
		return ledger.ErrUnusable
	}
	keep := d.fail
	if d.fail = -1; keep >= 0 {
		b = b[:min(keep, len(b))]
		switch d.bug {
		case "cuts when it fails":
			_ = os.Truncate(d.path, max(0, at-int64(keep)))
			return io.ErrShortWrite
		case "garbage when it fails":
			b = bytes.Repeat([]byte("?"), len(b))
		}
	}
	if d.bug == "writes at the end" {
		d.waiting = append(d.waiting, b...)
	} else {
		f, err := os.OpenFile(d.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
		if err != nil {
			return err
		}
		_, err = f.Write(b)
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	if keep >= 0 && d.bug != "hides that it fails" {
		return io.ErrShortWrite
	}
	return nil
}

func (d *disk) Unlock() error {
	if d.lock == nil {
		return nil
	}
	f := d.lock
	d.lock = nil
	switch d.bug {
	case "writes at the end":
		text, _ := os.ReadFile(d.path)
		_ = os.WriteFile(d.path, append(text, d.waiting...), 0o600)
		d.waiting = nil
	case "locks in one process":
		mu.Lock()
		delete(here, d.path)
		mu.Unlock()
	case "a lock that survives", "frees another's lock":
		_ = os.Remove(d.path + ".lock")
	}
	return f.Close()
}

func (d *disk) breakAt(keep int) { d.fail = keep }

// A store that keeps what it promises passes, also where processes are killed, media fail and locks are lost; each
// wrong one does not. The first wrong one passed all tests of one process.
func TestStoresOfProcesses(t *testing.T) {
	hooks := storetest.Hooks{
		Revoke: func(name string) error { return os.Remove(name + ".lock") },
		Fail:   func(s ledger.Store, keep int) { s.(*disk).breakAt(keep) },
	}
	for name, want := range map[string]string{
		"":                                    "",
		"locks in one process":                "a second process",
		"a lock that survives":                "killed: after Lock",
		"takes the last to ask for the owner": "bystanders|a second process", // where luck has it, without bystanders
		"writes at the end":                   "killed: after Append",
		"does not look at the length":         "length",
		"loses what is above 1 MB":            "text",
		"cuts when it fails":                  "an Append that fails",
		"garbage when it fails":               "an Append that fails",
		"hides that it fails":                 "an Append that fails",
		"writes without its lock":             "a lock that is taken away",
		"frees another's lock":                "a lock that is taken away",
		"Main is not called":                  `does it call Main\?`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(bug, name)
			hooks := hooks
			if name == "locks in one process" || name == "a lock that survives" {
				hooks.Revoke = nil // its lock is no file that can go
				hooks.Lease = 200 * time.Millisecond
			}
			skipped, err := storetest.Test(openDisk, hooks)
			if want == "" && (err != nil || len(skipped) != 1) {
				t.Errorf("a right store: %v, not tested: %q", err, skipped)
			}
			if want != "" && (err == nil || !regexp.MustCompile(want).MatchString(err.Error())) {
				t.Errorf("%.300v, want %q", err, want)
			}
		})
	}
}
