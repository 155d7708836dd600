package ledger

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// sharingViolation is ERROR_SHARING_VIOLATION: another handle on the file is open.
const sharingViolation = syscall.Errno(32)

// kernelLocks: a lock is a file that is open without sharing, and what a crash leaves behind is taken over.
const kernelLocks = true

// hold opens the file at path with no sharing, or makes it. The handle, and so the lock, ends with the process. While
// it is held the file is there. A link is opened itself, and then is no lock.
func hold(path string, me owner) (unlock func() error, err error) {
	const openReparsePoint = 0x00200000 // FILE_FLAG_OPEN_REPARSE_POINT
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrUnusable, path, err)
	}
	h, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0, nil,
		syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL|openReparsePoint, 0)
	if errors.Is(err, sharingViolation) {
		return nil, inUse(path)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrUnusable, path, err)
	}
	f := os.NewFile(uintptr(h), path)
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = noLock(path)
	}
	if err == nil {
		err = sign(f, path, me)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return func() error {
		err := f.Close()
		_ = syscall.DeleteFile(name) // fails for a file that someone else has opened since, and for a folder
		return err
	}, nil
}

// missing is never certain here.
func missing(int) bool { return false }

// lockFile refuses a file with a second name: here a ledger is locked by its name alone.
func lockFile(f *os.File) error {
	var info syscall.ByHandleFileInformation
	err := syscall.GetFileInformationByHandle(syscall.Handle(f.Fd()), &info)
	if err == nil && info.NumberOfLinks != 1 {
		err = fmt.Errorf("%w: it has %d names, and a lock is for one", ErrUnusable, info.NumberOfLinks)
	}
	return err
}

// syncFolder does nothing: folders cannot be synced here, and file names are journalled.
func syncFolder(string) error { return nil }
