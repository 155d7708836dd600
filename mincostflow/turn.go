package mincostflow

import (
	"context"
	"slices"

	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/internal/rowcache"
)

// turnRows is the least number of rows with which plain transport is solved with its sides exchanged, if rows are also at
// least as many as the square of the columns: few rows and many columns begin with Newton's start. The time falls to
// 0.04 to 0.71 with 4000 x 20, and to 0.18 to 0.48 with 1000 x 20; with 4000 x 100, 2000 x 200 and 1000 x 500 it may grow
// (table on docs/algorithms/newton-start.md).
const turnRows = 500

// tall reports whether the problem is better solved with its sides exchanged: plain transport of many rows to few
// columns, none of the rows with more mass than a column has in the mean. (Newton's method takes columns to be light.)
func (in *instance) tall() bool {
	k, n := len(in.Rows), in.Kv
	return in.source != nil && n > 1 && k >= turnRows && n <= k/n && rowcache.Fit(0, n, k) == n &&
		slices.Max(in.net.Supply) <= unit/uint64(n)
}

// turned solves a loaded problem of plain transport with its sides exchanged.
func (s *solver) turned(ctx context.Context) (answer, error) {
	in, t := &s.in, solvers.Get().(*solver)
	defer t.release()
	s.out.g = num.Grow(s.out.g, len(in.Rows))
	for n, i := range in.Rows {
		s.out.g[n] = in.source[i]
	}
	t.in.K, t.in.Kv = in.Kv, len(in.Rows)
	if err := t.in.setMasses(in.Point, s.out.g); err != nil {
		return answer{}, err
	}
	t.in.writeSource()
	t.sx.LoadTurned(t.in.net, &s.sx)
	b := t.simplex(ctx)
	s.out.f, s.out.q = append(s.out.f[:0], b.g...), append(s.out.q[:0], in.Lo...)
	a := answer{status: b.status, stats: b.stats, q: s.out.q, f: s.out.f, plan: s.out.plan[:0]}
	// A column that takes nothing has a price that is valid because costs are not negative.
	a.g = slices.Repeat([]float64{0 - max(0, slices.Max(a.f))}, in.Kv)
	for n, j := range t.in.Rows {
		a.g[j] = b.f[n]
	}
	for _, e := range b.plan {
		a.plan = append(a.plan, entry{e.j, int32(t.in.Rows[e.i]), e.mass, e.cost})
	}
	s.out.plan = a.plan
	s.bound(&a)
	return a, nil
}
