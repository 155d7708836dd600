// Package atomicfile writes files so that a reader sees the old content or the new, never a part.
package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// A Batch is a set of files that are written in full, each under a temporary name beside its place, before the first of
// them gets its own name. The file system offers no promise for the whole set. The zero Batch is empty.
type Batch struct {
	staged []file
}

type file struct{ tmp, path string }

// Add writes data for path and syncs it, with the given permissions; 0 means what the umask leaves.
func (b *Batch) Add(path string, mode fs.FileMode, data []byte) error {
	return b.AddFrom(path, mode, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// AddFrom is Add for what fill writes; an error of fill is returned as it is.
func (b *Batch) AddFrom(path string, mode fs.FileMode, fill func(io.Writer) error) error {
	f, err := create(path)
	if err != nil {
		return err
	}
	b.staged = append(b.staged, file{f.Name(), path})
	err = fill(f)
	if err == nil && mode != 0 {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// create opens a new file in the folder of path.
func create(path string) (*os.File, error) {
	for try := 0; ; try++ {
		name := fmt.Sprintf(".%s.%d-%d", filepath.Base(path), os.Getpid(), try)
		f, err := os.OpenFile(filepath.Join(filepath.Dir(path), name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err == nil || !errors.Is(err, fs.ErrExist) || try == 100 {
			return f, err
		}
	}
}

// Commit gives the files their names, in the order in which they were added. An error is that of the first rename that
// fails, an *os.LinkError with the path; the files after it stay as they were.
func (b *Batch) Commit() error {
	for len(b.staged) > 0 {
		next := b.staged[0]
		if err := os.Rename(next.tmp, next.path); err != nil {
			return err
		}
		b.staged = b.staged[1:]
	}
	return nil
}

// Discard removes what is still under a temporary name.
func (b *Batch) Discard() {
	for _, f := range b.staged {
		_ = os.Remove(f.tmp)
	}
	b.staged = nil
}

// Write replaces one file.
func Write(path string, mode fs.FileMode, data []byte) error {
	var b Batch
	defer b.Discard()
	if err := b.Add(path, mode, data); err != nil {
		return err
	}
	return b.Commit()
}
