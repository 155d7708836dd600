package policy

import (
	"bytes"
	"compress/gzip"
	"io"
	"strconv"
)

// PrivateText returns a reader of the text of private data. Data that start with the bytes 1f 8b are gzip (RFC 1952),
// one member or several in a row, which it unpacks on the way; all others are the text. It is for packages that have a
// private format of their own, and takes only the memory of gzip's window.
//
// The reader fails with a *PrivateError after MaxBytes of data or of text, and where gzip is damaged, cut off, or
// followed by something else.
func PrivateText(data []byte) io.Reader {
	t := openText(data)
	if t.fault != nil {
		t.err = t.fault
	}
	return t
}

// openText is PrivateText for a reader that works on whatever is wrong: what is seen at once is fault, and as much of
// the data as there may be then stands for the text.
func openText(data []byte) *privateText {
	t := &privateText{left: MaxBytes}
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

func tooLong() *PrivateError { return &PrivateError{Problem: "more than 64 MiB"} } // MaxBytes

func damaged() *PrivateError {
	return &PrivateError{Problem: "gzip damaged, cut off, or followed by something else"}
}

type privateText struct {
	in    io.Reader
	left  int // bytes that may still come
	fault *PrivateError
	err   error // of every further Read: io.EOF or a *PrivateError
}

// Read implements io.Reader.
func (t *privateText) Read(b []byte) (n int, err error) {
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

// PrivateNumeral reads a number as private data have it: a decimal without sign, with an optional exponent, of at most
// 64 characters, as the nearest float64, which must be finite. For other text it does a conversion, too, and returns 0.
func PrivateNumeral(b []byte) (v float64, ok bool) {
	ok = len(b) <= maxNumeral
	// strconv also reads signs, "inf", hexadecimal and ".5"; a numeral starts with a digit and has no letter but e.
	for i, c := range b {
		digit := '0' <= c && c <= '9'
		if !digit && (i == 0 || c != '.' && c != 'e' && c != 'E' && c != '+' && c != '-') {
			ok = false
		}
	}
	if !ok {
		b = []byte("0")
	}
	v, err := strconv.ParseFloat(string(b), 64)
	if err != nil {
		return 0, false
	}
	return v, ok
}
