//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package policy

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// lock creates the file, which must not be there. It outlives a crash: better a lock to be removed by hand
// than two writers.
func lock(path string) (unlock func() error, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("%w: %s exists; remove it if no program has the ledger open", ErrLedgerLocked, path)
	}
	if err != nil {
		return nil, err
	}
	return func() error {
		err := f.Close()
		if e := os.Remove(path); err == nil {
			err = e
		}
		return err
	}, nil
}

// lockFile does nothing: here a ledger is locked by name only, and a second hard link gets past the lock.
func lockFile(*os.File) error { return nil }

// syncFolder does nothing: not every system here can sync a folder.
func syncFolder(string) error { return nil }
