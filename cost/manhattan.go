package cost

import (
	"fmt"
	"math"

	"github.com/wpm-go/wpm/wpmerr"
)

// Manhattan returns the matrix of Manhattan costs between points of R^n, C_ij = (sum_t |x_it - v_jt|)^p, the way along
// streets at right angles. A nil v means x. All points have the same dimension, at least 1.
//
// For p = 1 an entry has a relative error of at most (n + 1)·2^-53; on the line (n = 1) it is |x - v| correctly
// rounded. The result is a matrix, so a policy states it entry by entry. It is no Metric, so what asks for a distance
// takes its power as an argument, or as 1.
//
// The error is ErrShape, ErrTooLarge (above MaxEntries too), ErrExponent, ErrPoint (which names the coordinate), or
// ErrNotFinite when a sum or its power overflows. Time is O(n) per entry, memory 8 bytes.
func Manhattan(x, v [][]float64, p float64) (*Dense, error) {
	w, err := newPower(p)
	if err != nil {
		return nil, err
	}
	s, err := newSides(x, v)
	if err != nil {
		return nil, err
	}
	if s.k > MaxEntries/s.kv {
		return nil, fmt.Errorf("%w: %d x %d entries, at most %d", wpmerr.ErrTooLarge, s.k, s.kv, MaxEntries)
	}
	d := &Dense{K: s.k, Kv: s.kv, Data: make([]float64, s.k*s.kv)}
	for i := range s.k {
		row := d.Row(i, nil)
		for j := range row {
			sum := 0.0
			for t, a := range s.x[i*s.dim : (i+1)*s.dim] {
				sum += math.Abs(a - s.v[j*s.dim+t])
			}
			row[j] = w.of(sum)
		}
		if err := checkRow(i, row); err != nil {
			return nil, fmt.Errorf("cost: points too far apart for p = %v: %w", p, err)
		}
	}
	return d, nil
}
