package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/wpm-go/wpm/internal/atomicfile"
)

// open opens a file for reading; "-" is standard input.
func open(path string, stdin io.Reader) (io.ReadCloser, error) {
	if path == "-" {
		return io.NopCloser(stdin), nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		_ = f.Close()
		return nil, fmt.Errorf("%s is a folder, not a file", path)
	}
	return f, nil
}

// output is a file to be written, all or nothing.
type output struct {
	path string // "-" is standard output
	data []byte
}

// writeFiles writes every output, or, as long as it is in its power, none. A regular file is written under
// a temporary name beside its place and then renamed; the renames come last, after everything else has
// worked. A link is followed; a device or a pipe is written in place.
func writeFiles(stdout io.Writer, outs ...output) error {
	var batch atomicfile.Batch
	defer batch.Discard()
	var direct []output
	for _, o := range outs {
		target, mode, regular, err := resolve(o.path)
		if err != nil {
			return cannotWrite(o.path, err)
		}
		if !regular {
			direct = append(direct, o)
			continue
		}
		if err := batch.Add(target, mode, o.data); err != nil {
			return cannotWrite(o.path, err)
		}
	}
	for _, o := range direct {
		if err := writeDirect(o, stdout); err != nil {
			return cannotWrite(o.path, err)
		}
	}
	if err := batch.Commit(); err != nil {
		path := ""
		if le := (*os.LinkError)(nil); errors.As(err, &le) {
			path = le.New
		}
		return cannotWrite(path, err)
	}
	return nil
}

// resolve follows links. regular is false for standard output and for what must not be replaced by a file.
func resolve(path string) (target string, mode fs.FileMode, regular bool, err error) {
	if path == "-" {
		return path, 0, false, nil
	}
	if path == "" {
		return "", 0, false, errors.New("the name is empty")
	}
	target, err = filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return path, 0, true, nil
	}
	if err != nil {
		return "", 0, false, err
	}
	info, err := os.Stat(target)
	if err != nil {
		return "", 0, false, err
	}
	if info.IsDir() {
		return "", 0, false, errors.New("it is a folder")
	}
	return target, info.Mode().Perm(), info.Mode().IsRegular(), nil
}

func writeDirect(o output, stdout io.Writer) error {
	if o.path == "-" {
		_, err := stdout.Write(o.data)
		return err
	}
	f, err := os.OpenFile(o.path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(o.data)
	return errors.Join(err, f.Close())
}

// cannotWrite names the file as the user did, not the temporary one.
func cannotWrite(path string, err error) error {
	var pe *fs.PathError
	var le *os.LinkError
	switch {
	case errors.As(err, &pe):
		err = pe.Err
	case errors.As(err, &le):
		err = le.Err
	}
	return fmt.Errorf("cannot write %q: %w", path, err)
}

// apart fails if an output is also an input or another output: it would be lost.
func apart(outputs, inputs []string) error {
	for i, out := range outputs {
		for _, other := range append(outputs[:i:i], inputs...) {
			if out != "-" && other != "-" && out != "" && sameFile(out, other) {
				return fmt.Errorf("%q would be written over: it is in use as %q", out, other)
			}
		}
	}
	return nil
}

func sameFile(a, b string) bool {
	if x, err := os.Stat(a); err == nil {
		if y, err := os.Stat(b); err == nil {
			return os.SameFile(x, y)
		}
	}
	x, err1 := filepath.Abs(a)
	y, err2 := filepath.Abs(b)
	return err1 == nil && err2 == nil && x == y
}

// progress returns a callback that draws a bar on stderr if that is a terminal, and does nothing otherwise.
func progress(stderr io.Writer) func(done, total int, what string) {
	f, ok := stderr.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return func(int, int, string) {}
	}
	var bar *progressbar.ProgressBar
	last := ""
	return func(done, total int, what string) {
		if bar == nil || what != last {
			if bar != nil {
				_ = bar.Finish()
			}
			bar = progressbar.NewOptions(total,
				progressbar.OptionSetWriter(f),
				progressbar.OptionSetDescription(what),
				progressbar.OptionShowCount(),
				progressbar.OptionClearOnFinish(),
				progressbar.OptionSetWidth(30),
			)
			last = what
		}
		bar.ChangeMax(total)
		_ = bar.Set(done)
	}
}
