package ledger

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Open opens the ledger at path, or makes one with permissions 0600, and locks it until Close. The lock is
// LockOf path, as docs/spec/ledger.md describes it: a file, or a folder of a program without kernel locks. On Unix the
// ledger itself is locked as well, so a hard link does not evade the lock. On systems with kernel locks (Unix,
// Windows) the lock ends with the process. Elsewhere (Plan 9, js/wasm, wasip1), and in JavaScript, the lock is a
// folder. What a crash leaves of it is taken over on Linux, by a program that can tell that its owner has ended;
// otherwise it must be removed by hand. What is at that name and is no lock is refused, and left as it is.
//
// Errors: ErrEpoch, ErrBudget, ErrLocked, ErrCorrupt, ErrUnusable, and those of the file system.
func Open(path string, opt Options) (*Books, error) {
	return openBooks(&fileStore{path: path, create: opt.Budget != ""}, opt)
}

// lockEnd is the end of a lock's name. No ledger has it, so none is in the place of another's lock.
const lockEnd = ".lock"

// LockOf returns the path of the lock of a ledger in a file: beside the file, with links followed, and ".lock" at the
// end. Nothing else may have this path.
//
// Errors: ErrUnusable, for a link that leads nowhere, and for a ledger whose name ends in ".lock".
func LockOf(ledger string) (string, error) {
	path, err := fileOf(ledger)
	return path + lockEnd, err
}

// fileOf returns the path of the file that a ledger is in: one ledger must have one lock, by whatever name it is
// opened.
func fileOf(path string) (string, error) {
	if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSymlink != 0 {
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return "", fmt.Errorf("%w: %w", ErrUnusable, err)
		}
	}
	if n := len(path) - len(lockEnd); n >= 0 && strings.EqualFold(path[n:], lockEnd) { // some systems do not tell case
		return "", fmt.Errorf("%w: a name that ends in %s is that of a lock", ErrUnusable, lockEnd)
	}
	return path, nil
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
	Stat() (fs.FileInfo, error)
	Sync() error
}

// Lock implements Store.
func (s *fileStore) Lock(ctx context.Context) error { return retry(ctx, s.try) }

// retry calls try, with pauses, while its error is ErrLocked and ctx lasts.
func retry(ctx context.Context, try func() error) error {
	const pause = 20 * time.Millisecond
	for {
		err := try()
		if !errors.Is(err, ErrLocked) {
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
	path, err := fileOf(s.path)
	if err != nil {
		return err
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%w: not a regular file", ErrUnusable)
	}
	unlock, err := lock(path + lockEnd)
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

// Load implements Store.
func (s *fileStore) Load() ([]byte, error) {
	if s.file == nil {
		return nil, fmt.Errorf("%w: not locked", ErrUnusable)
	}
	return io.ReadAll(s.file)
}

// Append implements Store. It looks at the length while it has both locks, of the name and of the file.
func (s *fileStore) Append(at int64, b []byte) error {
	if s.file == nil {
		return fmt.Errorf("%w: not locked", ErrUnusable)
	}
	info, err := s.file.Stat()
	if err != nil {
		return err
	}
	if info.Size() != at {
		return fmt.Errorf("%w: it has %d bytes, not %d: someone else has written", ErrUnusable, info.Size(), at)
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
