package policy

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strconv"
)

// PrivateText returns a reader of the text of private data. Data that start with the bytes 1f 8b are gzip (RFC 1952),
// one member or several in a row, which it unpacks on the way; all others are the text. It is for packages that have a
// private format of their own, and takes memory for gzip's window alone.
//
// The reader fails with a *PrivateError after MaxBytes of data or of text, and where gzip is damaged, cut off, or
// followed by something else.
func PrivateText(data []byte) io.Reader {
	t := &privateText{in: bytes.NewReader(data), left: MaxBytes}
	if len(data) > MaxBytes {
		t.err = tooLong()
	} else if bytes.HasPrefix(data, []byte("\x1f\x8b")) {
		z, err := gzip.NewReader(bytes.NewReader(data))
		if t.in = z; err != nil {
			t.err = damaged()
		}
	}
	return t
}

func tooLong() error { return &PrivateError{Problem: "more than 64 MiB"} } // MaxBytes

func damaged() error {
	return &PrivateError{Problem: "gzip damaged, cut off, or followed by something else"}
}

type privateText struct {
	in   io.Reader
	left int // bytes that may still come
	err  error
}

// Read implements io.Reader.
func (t *privateText) Read(b []byte) (int, error) {
	if t.err != nil {
		return 0, t.err
	}
	n, err := t.in.Read(b[:min(len(b), t.left+1)])
	if t.left -= n; t.left < 0 {
		n, err = n-1, tooLong()
	} else if err != nil && !errors.Is(err, io.EOF) {
		err = damaged()
	}
	t.err = err
	return n, err
}

// PrivateNumeral reads a number as private data have it: a decimal without sign, with an optional exponent, of at most
// 64 characters, as the nearest float64, which must be finite.
func PrivateNumeral(b []byte) (v float64, ok bool) {
	if len(b) == 0 || len(b) > maxNumeral {
		return 0, false
	}
	// strconv also reads signs, "inf", hexadecimal and ".5"; a numeral starts with a digit and has no letter but e.
	for i, c := range b {
		digit := '0' <= c && c <= '9'
		if !digit && (i == 0 || c != '.' && c != 'e' && c != 'E' && c != '+' && c != '-') {
			return 0, false
		}
	}
	v, err := strconv.ParseFloat(string(b), 64)
	return v, err == nil
}
