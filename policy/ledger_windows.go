package policy

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// sharingViolation is ERROR_SHARING_VIOLATION: another handle on the file is open.
const sharingViolation = syscall.Errno(32)

// lock opens the file with no sharing. The handle, and so the lock, ends with the process. While it is held the file is
// there; what a crash leaves behind is taken over.
func lock(path string) (unlock func() error, err error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrLedger, path, err)
	}
	h, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0, nil,
		syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if errors.Is(err, sharingViolation) {
		return nil, ErrLedgerLocked
	}
	if info, e := os.Lstat(path); err != nil && e == nil && info.IsDir() {
		return nil, otherLock(path)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrLedger, path, err)
	}
	return func() error {
		err := syscall.CloseHandle(h)
		_ = syscall.DeleteFile(name) // fails for a file that someone else has opened since, and for a folder
		return err
	}, nil
}

// lockFile does nothing: here a ledger is locked by name only, and a second hard link gets past the lock.
func lockFile(*os.File) error { return nil }

// syncFolder does nothing: folders cannot be synced here, and file names are journalled.
func syncFolder(string) error { return nil }
