package private

import (
	"errors"
	"fmt"
)

// ErrUnusable is for data that are no distribution over the inputs.
var ErrUnusable = errors.New("private: unusable data")

// Error says which line of private data is unusable, never what it holds. It wraps ErrUnusable.
type Error struct {
	Line    int // from 1; 0 for the data as a whole
	Problem string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%v: %s", ErrUnusable, e.Problem)
	}
	return fmt.Sprintf("%v: line %d: %s", ErrUnusable, e.Line, e.Problem)
}

// Unwrap returns ErrUnusable.
func (e *Error) Unwrap() error { return ErrUnusable }
