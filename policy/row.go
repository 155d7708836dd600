package policy

import (
	"crypto/subtle"
	"fmt"

	"github.com/wpm-go/wpm/ldp"
)

// Row is an integer point of a box in compact form: lo, plus the columns raised to hi, plus single units.
// The zero Row adds nothing to lo.
type Row struct {
	full  []int32 // columns with n = hi > lo, ascending
	extra []extra // columns with lo < n < hi, ascending
}

type extra struct {
	col int32
	add uint64 // n - lo
}

// NewRow returns the compact form of w, which must be a point of the box.
//
// Errors: ErrShape, ErrLimit, ErrRow (wrapping the reason that ldp gives).
func NewRow(box *ldp.Polytope, w ldp.Weights) (Row, error) {
	if box == nil || box.Len() == 0 {
		return Row{}, fmt.Errorf("%w: no box", ErrShape)
	}
	kv := box.Len()
	if kv > MaxOutputs {
		return Row{}, fmt.Errorf("%w: %d outputs, at most %d", ErrLimit, kv, MaxOutputs)
	}
	if w.Len() != kv {
		return Row{}, fmt.Errorf("%w: the row has %d columns, the box %d", ErrShape, w.Len(), kv)
	}
	n := make([]uint64, kv)
	for j := range n {
		n[j] = w.At(j)
	}
	if _, err := box.Weights(n); err != nil {
		return Row{}, fmt.Errorf("%w: %w", ErrRow, err)
	}
	var r Row
	for j, v := range n {
		switch lo, hi := box.Lo(j), box.Hi(j); {
		case v == lo:
		case v == hi:
			r.full = append(r.full, int32(j))
		default:
			r.extra = append(r.extra, extra{int32(j), v - lo})
		}
	}
	return r, nil
}

// Fill returns how many columns the row raises above lo: what it takes in the file.
func (r Row) Fill() int { return len(r.full) + len(r.extra) }

// isZero reports whether the row adds nothing to lo.
func (r Row) isZero() bool { return len(r.full) == 0 && len(r.extra) == 0 }

// check decides whether r is the compact form of a point of the box, without writing the point out: in
// O(len of r). base is sum lo. It is exact: with base, total and every hi at most 2^62, each partial sum
// stays below 2^63 because the loop stops at the first one above total.
func (r Row) check(box *ldp.Polytope, base uint64) error {
	kv, total, sum := int32(box.Len()), box.Total(), base
	if sum > total {
		return fmt.Errorf("%w: sum lo = %d > %d", ErrRow, base, total)
	}
	last := int32(-1)
	for full, more := r.full, r.extra; len(full)+len(more) > 0; { // merged: both must ascend, with no column twice
		e, whole := extra{}, len(more) == 0 || len(full) > 0 && full[0] <= more[0].col
		if whole {
			e.col, full = full[0], full[1:]
		} else {
			e, more = more[0], more[1:]
		}
		if e.col <= last || e.col >= kv {
			return fmt.Errorf("%w: column %d after %d, of %d columns", ErrRow, e.col, last, kv)
		}
		last = e.col
		lo, hi := box.Lo(int(e.col)), box.Hi(int(e.col))
		if whole && hi <= lo {
			return fmt.Errorf("%w: column %d cannot be raised: lo = hi = %d", ErrRow, e.col, lo)
		}
		if whole {
			e.add = hi - lo
		} else if e.add == 0 || e.add >= hi-lo {
			return fmt.Errorf("%w: column %d has %d extra units, want 0 < units < %d", ErrRow, e.col, e.add, hi-lo)
		}
		if sum += e.add; sum > total {
			return fmt.Errorf("%w: weights up to column %d sum to more than %d", ErrRow, e.col, total)
		}
	}
	if sum != total {
		return fmt.Errorf("%w: weights sum to %d, want %d", ErrRow, sum, total)
	}
	return nil
}

// addTo adds the row's fill to n where mask is all ones, and nothing where it is 0. Work and memory
// touched do not depend on mask. width is hi - lo.
func (r Row) addTo(n, width []uint64, mask uint64) {
	for _, j := range r.full {
		n[j] += mask & width[j]
	}
	for _, e := range r.extra {
		n[e.col] += mask & e.add
	}
}

// weights writes the row out, through ldp's own check.
func (r Row) weights(box *ldp.Polytope) (ldp.Weights, error) {
	w, err := secretRow(box, nil, r, 0)
	if err != nil {
		return ldp.Weights{}, fmt.Errorf("%w: %w", ErrRow, err)
	}
	return w, nil
}

// secretRow writes out row i of rows, or fallback if i is len(rows), reading all of them so that the work does not
// depend on i.
func secretRow(box *ldp.Polytope, rows []Row, fallback Row, i int) (ldp.Weights, error) {
	n, width := columns(box)
	for r, row := range rows {
		row.addTo(n, width, -uint64(subtle.ConstantTimeEq(int32(r), int32(i))))
	}
	fallback.addTo(n, width, -uint64(subtle.ConstantTimeEq(int32(len(rows)), int32(i))))
	return box.Weights(n)
}

// columns returns the lower bounds of a box and the widths hi - lo, in new slices.
func columns(box *ldp.Polytope) (lo, width []uint64) {
	lo, width = make([]uint64, box.Len()), make([]uint64, box.Len())
	for j := range lo {
		lo[j] = box.Lo(j)
		width[j] = box.Hi(j) - lo[j]
	}
	return lo, width
}
