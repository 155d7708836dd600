//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package policy

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// lock takes an advisory lock that ends with the process. While it is held the file is there, for programs that cannot
// see such a lock; what a crash leaves behind is taken over.
func lock(path string) (unlock func() error, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, syscall.EISDIR) {
		return nil, otherLock(path)
	}
	if err != nil {
		return nil, err
	}
	if err = lockFile(f); err == nil && !isAt(f, path) {
		err = ErrLedgerLocked // who had it has removed the file since it was opened
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return func() error {
		if isAt(f, path) {
			_ = syscall.Unlink(path) // before the lock ends; a file that stays is one that a crash leaves behind
		}
		return f.Close()
	}, nil
}

// isAt reports whether the open file has that path.
func isAt(f *os.File, path string) bool {
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(path)
	return err == nil && os.SameFile(mine, there)
}

// lockFile locks the open file, under whatever name it was opened, until it is closed.
func lockFile(f *os.File) error {
	var err error
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err != syscall.EINTR {
			break
		}
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrLedgerLocked
	}
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrLedger, f.Name(), err)
	}
	return nil
}

// syncFolder makes a new file's name durable.
func syncFolder(path string) error {
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
