package projection

import (
	"fmt"
	"math"
	"reflect"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/wpmerr"
)

// Problem is one projection: the distribution Source, to be moved at least cost into the box Lo <= q <= Hi, sum q = 1.
// Nothing in it is modified or retained.
type Problem struct {
	// Cost is the k x kv matrix C, finite and >= 0.
	Cost cost.Matrix
	// Source is the distribution mu on the rows, in any unit: finite, >= 0, not all zero. It is taken as the exact
	// rationals Source / sum Source.
	Source []float64
	// Support lists the rows that the entries of Source belong to: sorted, distinct, as many as Source. Nil means that
	// Source lists all k rows. Zero masses are allowed either way.
	Support []int
	// Lo and Hi bound the columns: 0 <= Lo <= Hi, finite, kv entries each. Hi may exceed 1.
	Lo, Hi []float64
}

// Potentials are dual variables, one for every row and every column, with F[i] + G[j] <= C_ij for every i and j, as an
// exact statement about the numbers.
type Potentials struct {
	F, G []float64
}

// Entry is one positive entry of a plan: Mass moves from row I to column J.
type Entry struct {
	I, J int
	Mass float64
}

// Dims returns the dimensions of c. It returns ErrShape for a matrix that cannot be read without a panic.
func Dims(c cost.Matrix) (k, kv int, err error) {
	if v := reflect.ValueOf(c); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return 0, 0, fmt.Errorf("%w: Cost is nil", wpmerr.ErrShape)
	}
	k, kv = c.Dims()
	if k < 1 || kv < 1 {
		return 0, 0, fmt.Errorf("%w: Cost is %d x %d, need at least 1 x 1", wpmerr.ErrShape, k, kv)
	}
	// Division, because k*kv can overflow.
	if d, ok := c.(*cost.Dense); ok && (len(d.Data)/kv != k || len(d.Data)%kv != 0) {
		return 0, 0, fmt.Errorf("%w: Cost has %d numbers for %d x %d", wpmerr.ErrShape, len(d.Data), k, kv)
	}
	return k, kv, nil
}

// CheckRow checks row i of a cost with kv columns. Errors: ErrShape, or a *cost.EntryError that wraps ErrNotFinite or
// ErrNegative.
func CheckRow(i int, row []float64, kv int) error {
	if len(row) != kv {
		return fmt.Errorf("%w: row %d of the cost has %d entries, want %d", wpmerr.ErrShape, i, len(row), kv)
	}
	for j, c := range row {
		if c >= 0 && c <= math.MaxFloat64 {
			continue
		}
		if math.IsNaN(c) || math.IsInf(c, 0) {
			return &cost.EntryError{I: i, J: j, Value: c, Err: wpmerr.ErrNotFinite}
		}
		return &cost.EntryError{I: i, J: j, Value: c, Err: wpmerr.ErrNegative}
	}
	return nil
}

// CheckMasses refuses masses that are not finite and >= 0. Errors use name for the slice. They are ErrNotFinite and
// ErrNegative.
func CheckMasses(name string, xs []float64) error {
	return wpmerr.Masses(name, xs)
}

// CheckSupport checks the rows that the n entries of a source belong to, of k rows in all. Errors: ErrShape,
// ErrSupport.
func CheckSupport(k, n int, support []int) error {
	want := k
	if support != nil {
		want = len(support)
	}
	if n != want {
		return fmt.Errorf("%w: Source has %d entries, want %d", wpmerr.ErrShape, n, want)
	}
	last := -1
	for n, i := range support {
		if i <= last || i >= k {
			return fmt.Errorf("%w: Support[%d] = %d, want above %d and below %d", wpmerr.ErrSupport, n, i, last, k)
		}
		last = i
	}
	return nil
}

// CheckBounds checks the bounds of kv columns one by one, and not what they sum to. Errors: ErrShape, ErrNotFinite,
// ErrNegative, ErrBox.
func CheckBounds(kv int, lo, hi []float64) error {
	if len(lo) != kv || len(hi) != kv {
		return fmt.Errorf("%w: Lo has %d entries and Hi %d, want %d", wpmerr.ErrShape, len(lo), len(hi), kv)
	}
	if err := CheckMasses("Lo", lo); err != nil {
		return err
	}
	if err := CheckMasses("Hi", hi); err != nil {
		return err
	}
	for j := range lo {
		if lo[j] > hi[j] {
			return fmt.Errorf("%w: Lo[%d] = %v, Hi[%d] = %v", wpmerr.ErrBox, j, lo[j], j, hi[j])
		}
	}
	return nil
}
