package costio

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

var (
	// ErrFormat: the file is not CSV or NPY, or rows have the wrong number of fields, or none.
	ErrFormat = errors.New("costio: bad format")
	// ErrNumber: a field that should be a number is not.
	ErrNumber = errors.New("costio: not a number")
	// ErrLabel: an empty or unprintable label, or one that is not among those expected.
	ErrLabel = errors.New("costio: bad label")
	// ErrDuplicate: a label that occurs twice.
	ErrDuplicate = errors.New("costio: duplicate")
	// ErrWeight: a weight in a region that is not from 0 to 1.
	ErrWeight = errors.New("costio: bad weight")
)

// Error says where a file is wrong. Line and Field count from 1; 0 means that it is not known or
// does not apply.
type Error struct {
	File  string
	Line  int
	Field int
	Msg   string
	Err   error // the sentinel, or the cause
}

func (e *Error) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File + ":")
	}
	if e.Line > 0 {
		if e.File == "" {
			b.WriteString("line ")
		}
		b.WriteString(strconv.Itoa(e.Line) + ":")
	}
	if b.Len() > 0 {
		b.WriteByte(' ')
	}
	if e.Field > 0 {
		fmt.Fprintf(&b, "field %d: ", e.Field)
	}
	b.WriteString(e.Msg)
	return b.String()
}

// Unwrap returns the sentinel or the cause.
func (e *Error) Unwrap() error { return e.Err }

// quote shows a value in a message, shortened.
func quote(s string) string {
	const n = 60
	if len(s) > n {
		return strconv.Quote(strings.ToValidUTF8(s[:n], "")) + "..."
	}
	return strconv.Quote(s)
}
