package mincostflow

import (
	"math"
	"slices"

	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/internal/rowcache"
	"github.com/wpm-go/wpm/mincostflow/internal/ctransform"
)

// dual fills in what a lacks, and is worth nothing if s.watch is over in the end: the largest valid potentials of the
// rows with mass for the prices a.g, and then the largest valid prices of the columns that take no part (-Inf in
// a.g). It returns the dual value, scaled, and the sum of the magnitudes of its terms.
func (s *solver) dual(a *answer) (value num.Twofold, size float64) {
	in := &s.in
	if a.f == nil {
		s.out.f = grow(s.out.f, len(in.Rows))
		a.f = s.out.f
		s.potentials(a.f, a.g)
		s.deadColumns(a.g, a.f)
	}
	var rows, columns dualSum
	for n, f := range a.f {
		rows.add(in.Mass[n], shifted(f, s.rows.exp), true)
	}
	for j, x := range a.g {
		b := in.hi[j]
		if x > 0 {
			b = in.lo[j]
		}
		if in.point != nil {
			b = in.point[j]
		}
		if b > 0 { // or its price may be beyond the scale
			columns.add(num.Twofold{Hi: b}, shifted(x, s.rows.exp), in.point != nil)
		}
	}
	if in.point != nil {
		columns.value = columns.value.Over(in.pointSum)
	}
	return rows.value.Plus(columns.value), rows.size + columns.size
}

// potentials fills in the largest valid potentials f of the rows with mass for the prices g, as far as there is time:
// the answer is given up if not.
func (s *solver) potentials(f, g []float64) {
	if s.rows.shared(len(f)) {
		s.rows.share(&s.watch, len(f), func(own *rows, n int) { f[n] = ctransform.Row(own.raw(n), g) })
		return
	}
	for n := range f {
		if !s.watch.row(len(g)) {
			return
		}
		f[n] = ctransform.Row(s.rows.raw(n), g)
	}
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

// deadColumns gives the columns that take no part (-Inf) the largest prices valid for the rows
// with mass.
func (s *solver) deadColumns(g, f []float64) {
	dead := s.out.list[:0]
	for j, x := range g {
		if math.IsInf(x, -1) {
			dead = append(dead, j)
			g[j] = math.MaxFloat64
		}
	}
	s.out.list = dead
	if len(dead) == 0 {
		return
	}
	s.out.below = grow(s.out.below, len(g))
	below := s.out.below // the exact minimum is below its rounded value
	clear(below)
	for n := range s.rows.index {
		if !s.watch.row(len(g)) {
			break // as above
		}
		row := s.rows.raw(n)
		for _, j := range dead {
			g[j], below[j] = ctransform.Lower(g[j], below[j], row[j], f[n])
		}
	}
	for _, j := range dead {
		if below[j] {
			g[j] = math.Nextafter(g[j], math.Inf(-1))
		}
	}
}

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
	if !settings.AllRows {
		return nil // here, since the next line allocates
	}
	return s.eachIdleRow(st, func(i int, row []float64) { f[i] = ctransform.Row(row, g) })
}

// eachIdleRow reads and checks the rows without mass, and hands them to use, from several goroutines. If the context
// ends, or *st says that it has, it stops, and *st is Cancelled.
func (s *solver) eachIdleRow(st *Status, use func(i int, row []float64)) error {
	in := &s.in
	if *st == Cancelled {
		return nil
	}
	idle := s.out.list[:0]
	for i, n := 0, 0; i < in.k; i++ {
		if n < len(in.Rows) && in.Rows[n] == i {
			n++
		} else {
			idle = append(idle, i)
		}
	}
	s.out.list = idle
	err := rowcache.Read(s.watch.ctx, in.matrix, idle, nil, func(n int, row []float64) error {
		if _, err := checkRow(idle[n], row, in.kv, nil); err != nil {
			return err
		}
		use(idle[n], row)
		return nil
	})
	if err != nil && err == s.watch.ctx.Err() {
		*st = Cancelled
		return nil
	}
	return err
}
