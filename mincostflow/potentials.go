package mincostflow

import (
	"errors"
	"math"
	"slices"

	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/mincostflow/internal/ctransform"
	"github.com/wpm-go/wpm/wpmerr"
)

// dual fills in what a lacks, and is worth nothing if s.sx has stopped in the end: the largest valid potentials of the
// rows with mass for the prices a.g, and then the largest valid prices of the columns that take no part (-Inf in
// a.g). It returns the dual value, scaled, and the sum of the magnitudes of its terms.
func (s *solver) dual(a *answer) (value num.Twofold, size float64) {
	in := &s.in
	if a.f == nil {
		s.out.f = num.Grow(s.out.f, len(in.Rows))
		a.f = s.out.f
		s.sx.Potentials(a.f, a.g)
	}
	var rows, columns dualSum
	for n, f := range a.f {
		rows.add(in.Mass[n], s.sx.Scaled(f), true)
	}
	for j, x := range a.g {
		b := in.Hi[j]
		if x > 0 {
			b = in.Lo[j]
		}
		if in.Point != nil {
			b = in.Point[j]
		}
		if b > 0 { // or its price may be beyond the scale
			columns.add(num.Twofold{Hi: b}, s.sx.Scaled(x), in.Point != nil)
		}
	}
	if in.Point != nil {
		columns.value = columns.value.Over(in.Sum)
	}
	return rows.value.Plus(columns.value), rows.size + columns.size
}

// dualSum is a sum of masses times prices, and of their magnitudes.
type dualSum struct {
	value num.Twofold
	size  float64
}

// add adds mass times y. A quotient of masses below nearlySubnormal is not good to twofold precision, but only to
// lostMass: so much of y, as a part of size that the factor of rounding brings back.
func (d *dualSum) add(mass num.Twofold, y float64, quotient bool) {
	x := mass.Times(y)
	d.value = d.value.Plus(x)
	d.size += math.Abs(x.Hi)
	if quotient && mass.Hi < nearlySubnormal {
		d.size += float64(math.Abs(y)*lostMass) / rounding
	}
}

// nearlySubnormal is where twofold numbers begin to lose bits: 106 below the leading one are needed.
const nearlySubnormal = 0x1p-960

// allRows fills in the potentials of all rows, given those of the rows with mass. If the context ends, or *st says
// that it has, rows are no longer read, those without mass get the potential that they have without AllRows, and *st
// is Cancelled.
func (s *solver) allRows(f, g, live []float64, settings Settings, st *Status) error {
	in := &s.in
	least := 0 - max(0, slices.Max(g))
	for i := range f {
		f[i] = least
	}
	for n, i := range in.Rows {
		f[i] = live[n]
	}
	if !settings.AllRows || *st == Cancelled {
		return nil // here, since the next line allocates
	}
	err := s.sx.IdleRows(func(i int, row []float64) { f[i] = ctransform.Row(row, g) })
	if errors.Is(err, wpmerr.ErrNotConverged) {
		*st, err = Cancelled, nil
	}
	return err
}
