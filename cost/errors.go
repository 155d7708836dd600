package cost

import (
	"errors"
	"fmt"
)

// The errors of this package alone. Every error it returns wraps one of them or one of package wpmerr (test with
// errors.Is); a bad matrix entry is an *EntryError as well.
var (
	// ErrExponent: a power p that is not a finite number > 0.
	ErrExponent = errors.New("cost: bad exponent")
	// ErrPoint: a coordinate that is not finite, or outside its range.
	ErrPoint = errors.New("cost: bad point")
	// ErrSpec: a Spec or its JSON form that breaks the rules of its kind.
	ErrSpec = errors.New("cost: bad specification")
)

const (
	// MaxPoints bounds the rows, and the columns, of every structured cost (2^24).
	MaxPoints = 1 << 24
	// MaxEntries bounds the float64 numbers that a constructor or Materialize allocates: 2^27, a
	// gigabyte. NewDense, which allocates nothing, has no bound.
	MaxEntries = 1 << 27
)

// EntryError says which entry of a matrix is bad. It wraps ErrNotFinite or ErrNegative.
type EntryError struct {
	I, J  int
	Value float64
	Err   error
}

func (e *EntryError) Error() string {
	return fmt.Sprintf("%v: C[%d][%d] = %v", e.Err, e.I, e.J, e.Value)
}

// Unwrap returns ErrNotFinite or ErrNegative.
func (e *EntryError) Unwrap() error { return e.Err }
