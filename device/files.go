package device

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/wpm-go/wpm/internal/atomicfile"
	"github.com/wpm-go/wpm/policy/private"
)

// Open opens a file for reading; "-" is standard input. The error is that of os.Open, or says that the path is a
// folder.
func Open(path string, stdin io.Reader) (io.ReadCloser, error) {
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

// Output is a file to be written, all or nothing.
type Output struct {
	Path string // "-" is standard output
	Data []byte
	// Fill, if not nil, writes the file instead of Data, for content that is too long for memory. Its errors are returned
	// unchanged.
	Fill func(io.Writer) error
}

// write writes the content to w. refused is an error of Fill.
func (o Output) write(w io.Writer) (refused, err error) {
	if o.Fill == nil {
		_, err = w.Write(o.Data)
		return nil, err
	}
	kept := &keeper{w: w}
	buffered := bufio.NewWriter(kept)
	if err := o.Fill(buffered); err != nil {
		if kept.err != nil {
			return nil, kept.err
		}
		return err, err
	}
	return nil, buffered.Flush()
}

// keeper keeps the error of a file, to tell it from one of Fill.
type keeper struct {
	w   io.Writer
	err error
}

func (k *keeper) Write(p []byte) (n int, err error) {
	n, err = k.w.Write(p)
	if err != nil {
		k.err = err
	}
	return n, err
}

// WriteFiles writes every output, or, as far as possible, none. A regular file is written under a temporary name in the
// same folder and then renamed; the renames come last, after everything else has succeeded. A link is followed; a
// device or a pipe is written in place. The error names the path that cannot be written, or is that of what writes the
// contents.
func WriteFiles(stdout io.Writer, outs ...Output) error {
	var batch atomicfile.Batch
	defer batch.Discard()
	var direct []Output
	for _, o := range outs {
		target, mode, regular, err := resolve(o.Path)
		if err != nil {
			return cannotWrite(o.Path, err)
		}
		if !regular {
			direct = append(direct, o)
			continue
		}
		var refused error
		err = batch.AddFrom(target, mode, func(w io.Writer) (err error) {
			refused, err = o.write(w)
			return err
		})
		if refused != nil {
			return refused
		}
		if err != nil {
			return cannotWrite(o.Path, err)
		}
	}
	for _, o := range direct {
		if refused, err := writeDirect(o, stdout); refused != nil {
			return refused
		} else if err != nil {
			return cannotWrite(o.Path, err)
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

// Writable fails if WriteFiles would certainly fail: for a name that cannot be a file, or a folder that does not exist.
// Call it before long work. The error names the path.
func Writable(path string) error {
	target, _, regular, err := resolve(path)
	if err == nil && regular {
		_, err = os.Stat(filepath.Dir(target))
	}
	if err != nil {
		return cannotWrite(path, err)
	}
	return nil
}

func writeDirect(o Output, stdout io.Writer) (refused, err error) {
	if o.Path == "-" {
		return o.write(stdout)
	}
	f, err := os.OpenFile(o.Path, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	refused, err = o.write(f)
	return refused, errors.Join(err, f.Close())
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

// Apart fails if an output is also an input or another output: it would be lost. The error names both paths.
func Apart(outputs, inputs []string) error {
	for i, out := range outputs {
		for _, other := range append(outputs[:i:i], inputs...) {
			if out != "-" && other != "-" && out != "" && other != "" && sameFile(out, other) {
				return fmt.Errorf("%q would be written over: it is in use as %q", out, other)
			}
		}
	}
	return nil
}

// sameFile reports whether two names are of one file, or, of one that is not there, would be.
func sameFile(a, b string) bool {
	same := func(a, b string) bool {
		x, err := os.Stat(a)
		if err != nil {
			return false
		}
		y, err := os.Stat(b)
		return err == nil && os.SameFile(x, y)
	}
	return same(a, b) || filepath.Base(a) == filepath.Base(b) && same(filepath.Dir(a), filepath.Dir(b))
}

// readPrivate reads private data as they are, which only the mechanism looks into: at most one byte more than policy
// accepts, for longer data are unusable as a whole anyway.
func readPrivate(path string, stdin io.Reader) ([]byte, error) {
	f, err := Open(path, stdin)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAtMost(f, private.MaxBytes+1)
}

// readAtMost reads up to limit bytes. It holds them twice at most, and those of a regular file once: a device with
// little memory must not run out of it before the debit.
func readAtMost(r io.Reader, limit int64) ([]byte, error) {
	if f, ok := r.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
			data := make([]byte, min(info.Size(), limit))
			n, err := io.ReadFull(f, data)
			if err == io.ErrUnexpectedEOF || err == io.EOF { // it has become shorter
				err = nil
			}
			return data[:n], err
		}
	}
	const chunk = 1 << 20
	var chunks [][]byte
	for r := io.LimitReader(r, limit); ; {
		b := make([]byte, chunk)
		n, err := io.ReadFull(r, b)
		chunks = append(chunks, b[:n])
		if err == io.ErrUnexpectedEOF || err == io.EOF {
			return bytes.Join(chunks, nil), nil
		}
		if err != nil {
			return nil, err
		}
	}
}
