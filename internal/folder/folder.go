// Package folder writes the results of a command into a folder: a page and the files beside it.
package folder

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wpm-go/wpm/internal/atomicfile"
)

// ErrName: a name that is empty, used twice, or not a plain file name.
var ErrName = errors.New("folder: bad name")

// File is a file of the folder.
type File struct {
	Name string
	Data []byte
}

// CheckName allows plain file names only: letters, digits, '-', '_' and '.', not starting with a dot.
func CheckName(name string) error {
	for i, c := range name {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_':
		case c == '.' && i > 0:
		default:
			return fmt.Errorf("%w: %q: character %q", ErrName, name, c)
		}
	}
	if stem, _, _ := strings.Cut(name, "."); stem == "" {
		return fmt.Errorf("%w: %q has no stem", ErrName, name)
	}
	return nil
}

// Write writes the files into the folder dir, creating it if need be, and returns their paths in order.
//
// Every file is first written in full and synced under a temporary name in dir; only when all are there are they
// renamed, the first one last. On an error the temporary files are removed. A failing rename (the target is a folder,
// say) is checked for beforehand, so that in practice either all files are new or none is; the file system offers no
// promise for the whole set.
func Write(dir string, files []File) (paths []string, err error) {
	seen := map[string]bool{}
	for _, f := range files {
		if err := CheckName(f.Name); err != nil {
			return nil, err
		}
		if seen[f.Name] {
			return nil, fmt.Errorf("%w: %q is used twice", ErrName, f.Name)
		}
		seen[f.Name] = true
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("folder: %w", err)
	}
	var batch atomicfile.Batch
	defer batch.Discard()
	for _, f := range slices.Backward(files) { // the first, the page that links to the others, comes last
		path := filepath.Join(dir, f.Name)
		if st, err := os.Lstat(path); err == nil && !st.Mode().IsRegular() && st.Mode()&os.ModeSymlink == 0 {
			return nil, fmt.Errorf("folder: %s exists and is not a file", path)
		}
		if err := batch.Add(path, 0o644, f.Data); err != nil {
			return nil, fmt.Errorf("folder: %s: %w", path, err)
		}
		paths = append(paths, path)
	}
	if err := batch.Commit(); err != nil {
		return nil, fmt.Errorf("folder: %w", err)
	}
	slices.Reverse(paths)
	return paths, nil
}

// Prepare makes the folder dir if need be and checks that files can be written there: before the work and not after it. It does nothing if dir is "".
func Prepare(dir string) error {
	if dir == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("folder: %w", err)
	}
	tmp, err := os.CreateTemp(dir, ".prepare.*")
	if err != nil {
		return fmt.Errorf("folder: %w", err)
	}
	_ = tmp.Close()
	return os.Remove(tmp.Name())
}
