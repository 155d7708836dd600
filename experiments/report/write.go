package report

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/wpm-go/wpm/internal/atomicfile"
)

// WriteFiles writes the files into the folder dir, creating it if need be, and returns their paths in order.
//
// Every file is first written in full and synced under a temporary name in dir; only when all are there are they
// renamed, the first one last. On an error the temporary files are removed. A failing rename (the target is a folder,
// say) is checked for beforehand, so that in practice either all files are new or none is; the file system offers no
// promise for the whole set.
func WriteFiles(dir string, files []File) (paths []string, err error) {
	seen := map[string]bool{}
	for _, f := range files {
		if err := checkName(f.Name); err != nil {
			return nil, err
		}
		if seen[f.Name] {
			return nil, fmt.Errorf("%w: %q is used twice", ErrName, f.Name)
		}
		seen[f.Name] = true
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	var batch atomicfile.Batch
	defer batch.Discard()
	for _, f := range slices.Backward(files) { // the first, the page that links to the others, comes last
		path := filepath.Join(dir, f.Name)
		if st, err := os.Lstat(path); err == nil && !st.Mode().IsRegular() && st.Mode()&os.ModeSymlink == 0 {
			return nil, fmt.Errorf("report: %s exists and is not a file", path)
		}
		if err := batch.Add(path, 0o644, f.Data); err != nil {
			return nil, fmt.Errorf("report: %s: %w", path, err)
		}
		paths = append(paths, path)
	}
	if err := batch.Commit(); err != nil {
		return nil, fmt.Errorf("report: %w", err)
	}
	slices.Reverse(paths)
	return paths, nil
}

// Prepare makes the folder dir if need be and checks that files can be written there: for studies, before the work and
// not after it. It does nothing if dir is "".
func Prepare(dir string) error {
	if dir == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	tmp, err := os.CreateTemp(dir, ".prepare.*")
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	_ = tmp.Close()
	return os.Remove(tmp.Name())
}

// Finished reports whether the folder holds a complete report of that seed, made from one of the data, or from any
// if there are none: index.html is the last file to be written.
func Finished(folder string, seed uint64, data []string) bool {
	if _, err := os.Stat(filepath.Join(folder, "index.html")); err != nil {
		return false
	}
	text, err := os.ReadFile(filepath.Join(folder, "table.json"))
	if err != nil {
		return false
	}
	var table struct {
		Seed     string    `json:"seed"`
		Settings []Setting `json:"settings"`
	}
	if json.Unmarshal(text, &table) != nil || table.Seed != strconv.FormatUint(seed, 10) {
		return false
	}
	if data == nil {
		return true
	}
	for _, s := range table.Settings {
		if s.Name == "data" {
			return slices.ContainsFunc(data, func(name string) bool { return strings.Contains(s.Value, name) })
		}
	}
	return false
}
