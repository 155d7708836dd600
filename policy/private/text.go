package private

import (
	"bytes"
	"compress/gzip"
	"io"
)

// Text returns a reader of the text of private data. Data that start with the bytes 1f 8b are gzip (RFC 1952),
// one member or several in a row, which it unpacks on the way; all others are the text. It is for packages that have a
// private format of their own, and takes only the memory of gzip's window.
//
// The reader fails with a *Error after MaxBytes of data or of text, and where gzip is damaged, cut off, or
// followed by something else.
func Text(data []byte) io.Reader {
	t := open(data)
	if t.fault != nil {
		t.err = t.fault
	}
	return t
}

// open is Text for a reader that works on whatever is wrong: what is seen at once is fault, and as much of
// the data as there may be then stands for the text.
func open(data []byte) *unpacked {
	t := &unpacked{left: MaxBytes}
	if len(data) > MaxBytes {
		t.fault, data = tooLong(), data[:MaxBytes]
	}
	t.in = bytes.NewReader(data)
	if bytes.HasPrefix(data, []byte("\x1f\x8b")) {
		if z, err := gzip.NewReader(bytes.NewReader(data)); err == nil {
			t.in = z
		} else if t.fault == nil {
			t.fault = damaged()
		}
	}
	return t
}

func tooLong() *Error { return &Error{Problem: "more than 64 MiB"} } // MaxBytes

func damaged() *Error {
	return &Error{Problem: "gzip damaged, cut off, or followed by something else"}
}

type unpacked struct {
	in    io.Reader
	left  int // bytes that may still come
	fault *Error
	err   error // of every further Read: io.EOF or a *Error
}

// Read implements io.Reader.
func (t *unpacked) Read(b []byte) (n int, err error) {
	if t.err != nil {
		return 0, t.err
	}
	n, err = t.in.Read(b[:min(len(b), t.left+1)])
	if t.left -= n; t.left < 0 {
		n, t.err = n-1, tooLong()
	} else if err == io.EOF {
		t.err = io.EOF
	} else if err != nil {
		t.err = damaged()
	}
	return n, t.err
}
