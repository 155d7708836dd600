package cost

import (
	"context"
	"fmt"

	"github.com/wpm-go/wpm/wpmerr"
)

// NewDense returns the k x kv matrix with C_ij = data[i*kv+j]. It keeps data and does not copy it.
// The error is ErrShape, ErrNotFinite or ErrNegative.
func NewDense(k, kv int, data []float64) (*Dense, error) {
	d := &Dense{K: k, Kv: kv, Data: data}
	if err := Validate(context.Background(), d); err != nil {
		return nil, err
	}
	return d, nil
}

// FromRows copies rows of equal length into a matrix. The error is ErrShape (which names a row of
// another length), ErrNotFinite, ErrNegative or ErrTooLarge.
func FromRows(rows [][]float64) (*Dense, error) {
	data, kv, err := flatten("row", rows, wpmerr.ErrShape)
	if err != nil {
		return nil, err
	}
	return NewDense(len(rows), kv, data)
}

// Materialize returns m as a matrix in memory: a *Dense as it is, anything else row by row. It
// validates m first. The error is that of Validate, ErrTooLarge above MaxEntries, or ErrNotConverged when ctx
// ends, after which no more than 16 rows are read; a nil ctx never ends.
func Materialize(ctx context.Context, m Matrix) (*Dense, error) {
	ctx = wpmerr.Context(ctx)
	d, ok := m.(*Dense)
	if err := checkDims(m); err != nil {
		return nil, err
	}
	k, kv := m.Dims()
	switch {
	case ok:
		if err := d.checkLength(); err != nil {
			return nil, err
		}
	case k > MaxEntries/kv:
		return nil, fmt.Errorf("%w: %d x %d entries, at most %d", wpmerr.ErrTooLarge, k, kv, MaxEntries)
	default:
		if ctx.Err() != nil { // before memory is asked for
			return nil, wpmerr.Ended(ctx)
		}
		d = &Dense{K: k, Kv: kv, Data: make([]float64, k*kv)}
	}
	for i := range k {
		if i%16 == 0 && ctx.Err() != nil {
			return nil, wpmerr.Ended(ctx)
		}
		dst := d.Row(i, nil)
		if !ok {
			src := m.Row(i, dst)
			if len(src) != kv {
				return nil, rowLength(i, len(src), kv)
			}
			copy(dst, src) // a no-op when the row was written in place
		}
		if err := checkRow(i, dst); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// flatten copies equally long rows into one slice. short is the error for a row of length zero.
func flatten(what string, rows [][]float64, short error) (data []float64, n int, err error) {
	if len(rows) == 0 {
		return nil, 0, fmt.Errorf("%w: no %ss", wpmerr.ErrShape, what)
	}
	n = len(rows[0])
	if n == 0 {
		return nil, 0, fmt.Errorf("%w: %s 0 is empty", short, what)
	}
	for i, r := range rows {
		if len(r) != n {
			return nil, 0, fmt.Errorf("%w: %s %d has %d numbers, %s 0 has %d", wpmerr.ErrShape, what, i, len(r), what, n)
		}
	}
	if len(rows) > MaxEntries/n {
		return nil, 0, fmt.Errorf("%w: %d x %d numbers, at most %d", wpmerr.ErrTooLarge, len(rows), n, MaxEntries)
	}
	data = make([]float64, 0, len(rows)*n)
	for _, r := range rows {
		data = append(data, r...)
	}
	return data, n, nil
}

// unflatten copies a flat array back into rows.
func unflatten(data []float64, n int) [][]float64 {
	if n == 0 {
		return nil
	}
	c := append([]float64(nil), data...)
	rows := make([][]float64, len(c)/n)
	for i := range rows {
		rows[i] = c[i*n : (i+1)*n : (i+1)*n]
	}
	return rows
}
