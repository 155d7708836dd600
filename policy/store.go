package policy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// OpenLedger opens the ledger at path, or makes one with permissions 0600, and locks it until Close. The lock is path +
// ".lock", with links in path followed, as docs/spec/ledger.md describes it: a file, or a folder of a program without
// kernel locks. On Unix the ledger itself is locked as well, so a hard link does not evade the lock. On systems with
// kernel locks (Unix, Windows) the lock ends with the process. Elsewhere (Plan 9, js/wasm, wasip1), and in JavaScript,
// the lock is a folder, which must be removed by hand after a crash.
//
// Errors: ErrEpoch, ErrBudget, ErrLedgerLocked, ErrLedgerCorrupt, ErrLedger, and those of the file system.
func OpenLedger(path string, opt LedgerOptions) (*FileLedger, error) {
	return openBooks(&fileStore{path: path, create: opt.Budget != ""}, opt)
}

// fileStore is a Store in a file.
type fileStore struct {
	path   string
	create bool // the file, if it is not there
	file   appendFile
	unlock func() error
}

// appendFile is what a fileStore needs of its file once it is open.
type appendFile interface {
	io.ReadWriteCloser
	Sync() error
}

// Lock implements Store.
func (s *fileStore) Lock(ctx context.Context) error {
	const pause = 20 * time.Millisecond
	for {
		err := s.try()
		if !errors.Is(err, ErrLedgerLocked) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}

// try opens and locks the file, or leaves nothing open.
func (s *fileStore) try() error {
	// One ledger must have one lock, by whatever name it is opened: links are followed first.
	path := s.path
	if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSymlink != 0 {
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return fmt.Errorf("%w: %w", ErrLedger, err)
		}
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%w: not a regular file", ErrLedger)
	}
	unlock, err := lock(path + ".lock")
	if err != nil {
		return err
	}
	flags := os.O_RDWR | os.O_APPEND
	if s.create {
		flags |= os.O_CREATE
	}
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		_ = unlock()
		return err
	}
	err = lockFile(f)
	if err == nil {
		err = syncFolder(path) // the file's name must survive as its content does
	}
	if err != nil {
		_ = f.Close()
		_ = unlock()
		return err
	}
	s.file, s.unlock = f, unlock
	return nil
}

// otherLock says that the lock at path belongs to a program without kernel locks.
func otherLock(path string) error {
	return fmt.Errorf("%w: %s is there; remove it if no program has the ledger open", ErrLedgerLocked, path)
}

// Load implements Store.
func (s *fileStore) Load() ([]byte, error) {
	if s.file == nil {
		return nil, fmt.Errorf("%w: not locked", ErrLedger)
	}
	return io.ReadAll(s.file)
}

// Append implements Store.
func (s *fileStore) Append(b []byte) error {
	if s.file == nil {
		return fmt.Errorf("%w: not locked", ErrLedger)
	}
	if _, err := s.file.Write(b); err != nil {
		return err
	}
	return s.file.Sync()
}

// Unlock implements Store.
func (s *fileStore) Unlock() error {
	if s.file == nil {
		return nil
	}
	err := errors.Join(s.file.Close(), s.unlock())
	s.file = nil
	return err
}
