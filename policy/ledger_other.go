//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package policy

import (
	"errors"
	"io/fs"
	"os"
)

// lock makes a folder, which must not be there: any program sees it, and none takes it for what a crash left behind. It
// outlives a crash: better a lock to be removed by hand than two writers.
func lock(path string) (unlock func() error, err error) {
	if err := os.Mkdir(path, 0o700); errors.Is(err, fs.ErrExist) {
		return nil, otherLock(path)
	} else if err != nil {
		return nil, err
	}
	return func() error { return os.Remove(path) }, nil
}

// lockFile does nothing: here a ledger is locked by name only, and a second hard link gets past the lock.
func lockFile(*os.File) error { return nil }

// syncFolder does nothing: not every system here can sync a folder.
func syncFolder(string) error { return nil }
