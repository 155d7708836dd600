//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package policy

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// lock takes an advisory lock that ends with the process. The file stays: to remove it would let two
// processes lock two files of one name.
func lock(path string) (unlock func() error, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := lockFile(f); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f.Close, nil
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
