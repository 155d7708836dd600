package mincostflow

import (
	"context"
	"slices"

	"github.com/wpm-go/wpm/cost"
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

// turned solves a loaded problem of plain transport with its sides exchanged, on a copy of its costs.
func (s *solver) turned(ctx context.Context) (answer, error) {
	in, t := &s.in, solvers.Get().(*solver)
	defer t.release()
	k := len(in.Rows)
	c, masses := &cost.Dense{K: in.Kv, Kv: k, Data: make([]float64, in.Kv*k)}, make([]float64, k)
	for n, i := range in.Rows {
		masses[n] = in.source[i]
		for j, x := range s.sx.Row(n) {
			c.Data[j*k+n] = x
		}
	}
	err := t.in.setTransport(c, in.Point, masses)
	if err == nil {
		err = t.load(context.Background(), nil, 0) // it is in memory
	}
	if err != nil {
		return answer{}, err
	}
	b := t.simplex(ctx)
	a := answer{status: b.status, stats: b.stats, q: slices.Clone(in.Lo), f: slices.Clone(b.g)}
	// A column that takes nothing has a price that is valid because costs are not negative.
	a.g = slices.Repeat([]float64{0 - max(0, slices.Max(a.f))}, in.Kv)
	for n, j := range t.in.Rows {
		a.g[j] = b.f[n]
	}
	for _, e := range b.plan {
		a.plan = append(a.plan, entry{e.j, int32(t.in.Rows[e.i]), e.mass, e.cost})
	}
	s.bound(&a)
	return a, nil
}
