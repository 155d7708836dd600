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
func writeFiles(stdout io.Writer, outs ...output) (err error) {
	var renames [][2]string
	defer func() {
		if err != nil {
			for _, r := range renames {
				_ = os.Remove(r[0])
			}
		}
	}()
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
		tmp, err := stage(target, mode, o.data)
		if err != nil {
			return cannotWrite(o.path, err)
		}
		renames = append(renames, [2]string{tmp, target})
	}
	for _, o := range direct {
		if err := writeDirect(o, stdout); err != nil {
			return cannotWrite(o.path, err)
		}
	}
	for _, r := range renames {
		if err := os.Rename(r[0], r[1]); err != nil {
			return cannotWrite(r[1], err)
		}
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

// stage writes data under a new name in the folder of target, with the mode of the file that it will replace,
// if any, and else what the umask leaves.
func stage(target string, mode fs.FileMode, data []byte) (tmp string, err error) {
	var f *os.File
	for try := 0; ; try++ {
		tmp = filepath.Join(filepath.Dir(target), "."+filepath.Base(target)+"."+fmt.Sprintf("%d-%d", os.Getpid(), try))
		f, err = os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrExist) || try == 100 {
			return "", err
		}
	}
	_, err = f.Write(data)
	if err == nil && mode != 0 {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		_ = os.Remove(tmp)
	}
	return tmp, err
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
