//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package ledger

import (
	"fmt"
	"os"
	"path/filepath"
)

// kernelLocks: a lock is a folder, which outlives a crash.
const kernelLocks = false

// hold makes a folder with its owner's name in it, and then its place, which must be free. Any program sees it, and
// none takes it for a file that a crash left behind.
func hold(path string, me owner) (unlock func() error, err error) {
	spare, err := spareFolder(path, me)
	if err != nil {
		return nil, err
	}
	entry := filepath.Join(spare, me.name())
	if err = os.WriteFile(entry, nil, 0o600); err == nil {
		err = os.Rename(spare, path)
	}
	if err == nil {
		return func() error { return dropFolder(path, spare, me) }, nil
	}
	_ = os.Remove(entry)
	_ = os.Remove(spare)
	if _, e := os.Lstat(path); e == nil {
		err = otherLock(path) // someone else's since look
	}
	return nil, err
}

// missing is never certain here.
func missing(int) bool { return false }

// lockFile refuses a file with a second name: here a ledger is locked by its name alone.
func lockFile(f *os.File) error {
	info, err := f.Stat()
	if err == nil && links(info) != 1 {
		err = fmt.Errorf("%w: it has %d names, and a lock is for one", ErrUnusable, links(info))
	}
	return err
}

// syncFolder does nothing: not every system here can sync a folder.
func syncFolder(string) error { return nil }
