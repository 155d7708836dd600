package costio

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// Unzip returns a buffered reader of r that undoes gzip if the first two bytes say so. The error is that of a
// broken gzip header, or of r.
func Unzip(r io.Reader) (*bufio.Reader, error) {
	if r == nil {
		return nil, fmt.Errorf("%w: no reader", ErrFormat)
	}
	in := bufio.NewReaderSize(r, chunkBytes)
	head, err := in.Peek(2)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if len(head) < 2 || head[0] != 0x1f || head[1] != 0x8b {
		return in, nil
	}
	z, err := gzip.NewReader(in)
	if err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	return bufio.NewReaderSize(z, chunkBytes), nil
}

// Lines reads a text line by line in fixed memory, whatever the lines are.
type Lines struct {
	in   *bufio.Reader
	most int
	n    int
	line []byte
	long bool
	cut  bool
	err  error
}

// NewLines reads the lines of r, each of at most limit bytes without its end, 1 <= limit < 2^16.
func NewLines(r *bufio.Reader, limit int) *Lines {
	if r.Size() < limit+2 { // a line and its end fit into the buffer
		r = bufio.NewReaderSize(r, chunkBytes)
	}
	return &Lines{in: r, most: limit}
}

// Next moves to the next line; false at the end of the text or at an error. Half a line before an error of the
// reader is not a line.
func (l *Lines) Next() bool {
	if l.err != nil {
		return false
	}
	line, err := l.in.ReadSlice('\n')
	l.long = false
	for errors.Is(err, bufio.ErrBufferFull) {
		l.long = true
		line, err = l.in.ReadSlice('\n')
	}
	if err != nil {
		l.err = err
		if err != io.EOF || len(line) == 0 && !l.long {
			return false
		}
		l.cut = true
	}
	l.n++
	l.line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
	if l.long = l.long || len(l.line) > l.most; l.long {
		l.line = nil
	}
	return true
}

// Bytes returns the line without its end, LF or CRLF; nil if it is too long. It is valid until Next.
func (l *Lines) Bytes() []byte { return l.line }

// Long reports whether the line is longer than the limit. Its bytes were skipped.
func (l *Lines) Long() bool { return l.long }

// Cut reports whether the text ended within this line: it has no end of its own.
func (l *Lines) Cut() bool { return l.cut }

// Number returns the number of the line, from 1.
func (l *Lines) Number() int { return l.n }

// Err returns what ended the reading, or nil at the end of the text. The error is that of the reader.
func (l *Lines) Err() error {
	if l.err == io.EOF {
		return nil
	}
	return l.err
}
