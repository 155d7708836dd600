package cost

import (
	"context"
	"fmt"
	"math"

	"github.com/wpm-go/wpm/wpmerr"
)

// Validate returns nil if m is a cost matrix: not nil, at least one row and one column, every row of
// the stated length, every entry finite and >= 0 (-0 counts as 0). The error is ErrShape, or an
// *EntryError that names the first bad entry and wraps ErrNotFinite or ErrNegative.
//
// It reads every entry of a Dense or foreign matrix. The structured costs of this package were
// checked when they were built and cannot change, so they take constant time. If ctx ends, the error is
// wpmerr.ErrNotConverged, and no more than 16 rows are read; a nil ctx never ends.
func Validate(ctx context.Context, m Matrix) error {
	if err := checkDims(m); err != nil {
		return err
	}
	switch c := m.(type) {
	case *Dense:
		if err := c.checkLength(); err != nil {
			return err
		}
	case structured:
		return nil
	}
	return scan(ctx, m)
}

// checkDims is the part of Validate that reads no entry.
func checkDims(m Matrix) error {
	if m == nil {
		return fmt.Errorf("%w: the matrix is nil", wpmerr.ErrShape)
	}
	if k, kv := m.Dims(); k < 1 || kv < 1 {
		return fmt.Errorf("%w: %d x %d, need at least 1 x 1 (nil is 0 x 0)", wpmerr.ErrShape, k, kv)
	}
	return nil
}

// checkLength compares the data with the dimensions, which are at least 1.
func (d *Dense) checkLength() error {
	// Division, because K*Kv can overflow.
	if len(d.Data)/d.Kv != d.K || len(d.Data)%d.Kv != 0 {
		return fmt.Errorf("%w: %d numbers for a %d x %d matrix", wpmerr.ErrShape, len(d.Data), d.K, d.Kv)
	}
	return nil
}

// scan checks every row of a matrix with valid dimensions.
func scan(ctx context.Context, m Matrix) error {
	ctx = wpmerr.Context(ctx)
	k, kv := m.Dims()
	_, inMemory := m.(*Dense)
	var buf []float64
	for i := range k {
		if i%16 == 0 && ctx.Err() != nil {
			return wpmerr.Ended(ctx)
		}
		row := m.Row(i, buf)
		if len(row) != kv {
			return rowLength(i, len(row), kv)
		}
		if err := checkRow(i, row); err != nil {
			return err
		}
		if !inMemory {
			buf = buffer(buf, kv)
		}
	}
	return nil
}

func rowLength(i, got, want int) error {
	return fmt.Errorf("%w: row %d has %d numbers, want %d", wpmerr.ErrShape, i, got, want)
}

func checkRow(i int, row []float64) error {
	for j, c := range row {
		if c >= 0 && c <= math.MaxFloat64 {
			continue
		}
		e := &EntryError{I: i, J: j, Value: c, Err: wpmerr.ErrNotFinite}
		if c < 0 && !math.IsInf(c, -1) {
			e.Err = wpmerr.ErrNegative
		}
		return e
	}
	return nil
}

// buffer returns a slice of length n: buf if it is long enough, else a new one. Capacity beyond the
// length is not used: it may belong to the caller's next row.
func buffer(buf []float64, n int) []float64 {
	if len(buf) < n {
		return make([]float64, n)
	}
	return buf[:n]
}

// Extent returns the largest entry of m and its range R = max over i of (max_j C_ij - min_j C_ij), the only scale of a
// cost that a projection sees: adding a constant to a row of C moves every objective by a constant. It takes O(k·kv), or
// O(k) on a Ring or a Grid. The errors are those of Validate; both numbers are NaN then. If ctx ends, the error is
// wpmerr.ErrNotConverged, and no more than 16 rows are read.
func Extent(ctx context.Context, m Matrix) (largest, widest float64, err error) {
	ctx = wpmerr.Context(ctx)
	if err := checkDims(m); err != nil {
		return math.NaN(), math.NaN(), err
	}
	k, kv := m.Dims()
	switch c := m.(type) {
	case structured:
		if c.Space().First { // row 0 holds every entry there is, and every row holds 0
			top := maxOf(m.Row(0, nil))
			return top, top, nil
		}
	case *Dense:
		if err := c.checkLength(); err != nil {
			return math.NaN(), math.NaN(), err
		}
	}
	var buf []float64
	for i := range k {
		if i%16 == 0 && ctx.Err() != nil {
			return math.NaN(), math.NaN(), wpmerr.Ended(ctx)
		}
		row := m.Row(i, buf)
		if len(row) != kv {
			return math.NaN(), math.NaN(), rowLength(i, len(row), kv)
		}
		if err := checkRow(i, row); err != nil {
			return math.NaN(), math.NaN(), err
		}
		low, high := row[0], row[0]
		for _, c := range row {
			low, high = min(low, c), max(high, c)
		}
		largest, widest = max(largest, high), max(widest, high-low)
		if _, ok := m.(*Dense); !ok {
			buf = buffer(buf, kv)
		}
	}
	return largest, widest, nil
}

func maxOf(x []float64) float64 {
	hi := 0.0
	for _, c := range x {
		hi = max(hi, c)
	}
	return hi
}
