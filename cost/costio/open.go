package costio

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/wpmerr"
)

const (
	// MaxBytes bounds the text of a CSV file after decompression: 2^30 bytes. An NPY file is
	// bounded by cost.MaxEntries instead.
	MaxBytes = 1 << 30
	// MaxLine bounds a line of it: 2^26 bytes.
	MaxLine = 1 << 26
	// MaxFields bounds the commas in a line, and so the columns of a matrix in CSV: 2^20.
	MaxFields = 1 << 20
)

// maxNPYHeader bounds the text of an NPY header; that of a matrix has about a hundred bytes.
const maxNPYHeader = 1 << 16

// maxNPYBytes is a little above MaxBytes.
const maxNPYBytes = 8*cost.MaxEntries + maxNPYHeader + 64

// source is a file being read: decompressed, bounded, buffered.
type source struct {
	*bufio.Reader
	name  string
	below *bounded
}

// newSource undoes gzip if the first bytes say so.
func newSource(r io.Reader, name string, limit int64, text bool) (*source, error) {
	if r == nil {
		return nil, &Error{File: name, Msg: "no reader", Err: ErrFormat}
	}
	in, err := Unzip(r)
	if err != nil {
		return nil, &Error{File: name, Msg: err.Error(), Err: err}
	}
	b := &bounded{r: in, left: limit, text: text}
	return &source{bufio.NewReaderSize(b, chunkBytes), name, b}, nil
}

// becomeText changes the bounds from those of NPY to those of CSV. What is in the buffer already is
// less than a chunk, too little to break a bound of lines.
func (s *source) becomeText() {
	s.below.left -= maxNPYBytes - MaxBytes
	s.below.text = true
}

// chunkBytes is far below both bounds of a line, so what a chunk adds to them does not matter.
const chunkBytes = 1 << 16

// bounded fails once more than left bytes have come, where io.LimitReader would pretend that the
// file ends. In text it also fails at a line that is too long, before anyone collects it. (A line
// break within quotes counts as one here, which only makes the bound milder.)
type bounded struct {
	r             io.Reader
	left          int64
	text          bool
	bytes, commas int // of the current line
}

var (
	errBytes = fmt.Errorf("%w: more than %d bytes after decompression", wpmerr.ErrTooLarge, MaxBytes)
	errLine  = fmt.Errorf("%w: a line of more than %d bytes or %d commas", wpmerr.ErrTooLarge, MaxLine, MaxFields)
)

func (b *bounded) Read(p []byte) (int, error) {
	if len(p) > chunkBytes {
		p = p[:chunkBytes]
	}
	n, err := b.r.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, errBytes
	}
	if b.text {
		p = p[:n]
		if i := bytes.LastIndexByte(p, '\n'); i >= 0 {
			// A line that ends in this chunk is past its bound by less than a chunk.
			p, b.bytes, b.commas = p[i+1:], 0, 0
		}
		b.bytes += len(p)
		b.commas += bytes.Count(p, []byte(","))
		if b.bytes > MaxLine || b.commas > MaxFields {
			return 0, errLine
		}
	}
	return n, err
}

// fail makes an *Error of any error of reading.
func (s *source) fail(err error) error {
	var e *Error
	switch {
	case errors.As(err, &e):
		return err
	case err == io.EOF:
		err = io.ErrUnexpectedEOF
	}
	return &Error{File: s.name, Msg: err.Error(), Err: err}
}

// withFile opens path for one reading function.
func withFile[T any](path string, read func(r io.Reader, name string) (T, error)) (T, error) {
	f, err := os.Open(path)
	if err != nil {
		var zero T
		msg := err.Error()
		var pe *fs.PathError
		if errors.As(err, &pe) {
			msg = pe.Err.Error() // without the path
		}
		return zero, &Error{File: path, Msg: msg, Err: err}
	}
	defer f.Close()
	return read(f, path)
}
