//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package ledger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// kernelLocks: a lock is a file that the kernel locks, and what a crash leaves behind is taken over.
const kernelLocks = true

// hold makes a lock of the file at path, if there is one, or of a new one. While it is held the file is there, for
// programs that cannot see such a lock.
func hold(path string, me owner) (unlock func() error, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if errors.Is(err, syscall.EISDIR) {
		return nil, otherLock(path) // someone else's since look
	}
	if err != nil {
		return nil, err
	}
	if err := claim(f, path, me); err != nil {
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

// claim locks the file, and writes its owner into it if it is a lock.
func claim(f *os.File, path string, me owner) error {
	if info, err := f.Stat(); err != nil {
		return err
	} else if !info.Mode().IsRegular() {
		return noLock(path)
	}
	if err := lockFile(f); err != nil {
		return err
	}
	if !isAt(f, path) {
		return inUse(path) // who had it has removed the file since it was opened
	}
	return sign(f, path, me)
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
		return inUse(f.Name())
	}
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrUnusable, f.Name(), err)
	}
	return nil
}

// missing reports whether the system is certain that there is no process of that number.
func missing(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// syncFolder makes a new file's name durable.
func syncFolder(path string) error {
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
