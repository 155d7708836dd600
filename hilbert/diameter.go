package hilbert

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/wpmerr"
)

// Diameter returns Birkhoff's diameter log max (A_ij A_kl / (A_il A_kj)) of a matrix of finite numbers >= 0. Rows and
// columns of zeros are left out. The diameter is +Inf if a zero remains, and 0 if nothing remains. Errors are ErrShape,
// ErrNotFinite, ErrNegative, and ErrNotConverged if ctx ends. Diameter takes the time of GibbsDiameter and a copy of the matrix.
func Diameter(ctx context.Context, a cost.Matrix) (float64, error) {
	d, err := cost.Materialize(ctx, a)
	if err != nil {
		return 0, err
	}
	rows, cols := positive(d)
	logs := make([][]float64, len(rows))
	data := make([]float64, len(rows)*len(cols))
	for i, row := range rows {
		logs[i] = data[i*len(cols) : (i+1)*len(cols)]
		for n, j := range cols {
			if row[j] == 0 {
				return math.Inf(1), nil
			}
			logs[i][n] = logarithm(row[j])
		}
	}
	return diameterOf(ctx, logs)
}

// positive returns the rows of a matrix that are not zero, and the numbers of the columns.
func positive(d *cost.Dense) (rows [][]float64, cols []int) {
	above := func(x float64) bool { return x > 0 }
	for i := range d.K {
		if row := d.Row(i, nil); slices.ContainsFunc(row, above) {
			rows = append(rows, row)
		}
	}
	for j := range d.Kv {
		if slices.ContainsFunc(rows, func(row []float64) bool { return row[j] > 0 }) {
			cols = append(cols, j)
		}
	}
	return rows, cols
}

// logarithm is math.Log, which some processors' versions get wrong for subnormal numbers.
func logarithm(x float64) float64 {
	if x >= 0x1p-1022 {
		return math.Log(x)
	}
	m, e := math.Frexp(x)
	return math.Log(m) + float64(e)*math.Ln2
}

// GibbsDiameter returns the diameter of the kernel exp(-C/reg):
//
//	max_{i,k} (max_j (C_ij - C_kj) - min_j (C_ij - C_kj)) / reg.
//
// It works on C, so no kernel is too small, and is +Inf only if the quotient exceeds float64. Errors are ErrShape,
// ErrNotFinite, ErrNegative, ErrReg, and ErrNotConverged if ctx ends.
func GibbsDiameter(ctx context.Context, c cost.Matrix, reg float64) (float64, error) {
	rows, scale, err := gibbs(ctx, c, reg)
	if err != nil {
		return 0, err
	}
	widest, err := diameterOf(ctx, rows)
	return widest / reg * scale, err
}

// GibbsBound returns an upper bound of GibbsDiameter, at most twice as large (up to rounding), in one
// pass: twice the largest distance of a row from the first one. The errors are the same.
func GibbsBound(ctx context.Context, c cost.Matrix, reg float64) (float64, error) {
	rows, scale, err := gibbs(ctx, c, reg)
	if err != nil {
		return 0, err
	}
	var top float64
	for _, r := range rows[1:] {
		top = math.Max(top, oscillation(rows[0], r))
	}
	if len(rows) <= 2 {
		return top / reg * scale, nil
	}
	most, _, err := cost.Extent(ctx, c)
	// Rounded up, for each difference may be short by a unit of the largest cost.
	return (2*top + most/scale*0x1p-50) * (1 + 0x1p-50) / reg * scale, err
}

// gibbs returns the rows of c over scale, which is 1 unless differences of differences could
// overflow.
func gibbs(ctx context.Context, c cost.Matrix, reg float64) (rows [][]float64, scale float64, err error) {
	d, err := cost.Materialize(ctx, c)
	if err != nil {
		return nil, 0, err
	}
	if !(reg > 0) || math.IsInf(reg, 0) {
		return nil, 0, fmt.Errorf("%w: reg = %v, want a finite number > 0", wpmerr.ErrReg, reg)
	}
	rows = make([][]float64, d.K)
	for i := range rows {
		rows[i] = d.Row(i, nil)
	}
	if slices.Max(d.Data) <= math.MaxFloat64/8 {
		return rows, 1, nil
	}
	for i := range rows {
		rows[i] = over(rows[i], 8)
	}
	return rows, 8, nil
}

// over returns a copy of x over a number.
func over(x []float64, scale float64) []float64 {
	x = slices.Clone(x)
	for j := range x {
		x[j] /= scale
	}
	return x
}

// oscillation returns max_j (x_j - y_j) - min_j (x_j - y_j), a seminorm of x - y. It reads two
// entries at a time; the order does not matter for a minimum.
func oscillation(x, y []float64) float64 {
	y = y[:len(x)]
	lo, hi := math.Inf(1), math.Inf(-1)
	lo2, hi2 := lo, hi
	for ; len(x) >= 2; x, y = x[2:], y[2:] {
		a, b := x[0]-y[0], x[1]-y[1]
		if a < lo {
			lo = a
		}
		if a > hi {
			hi = a
		}
		if b < lo2 {
			lo2 = b
		}
		if b > hi2 {
			hi2 = b
		}
	}
	if len(x) > 0 {
		a := x[0] - y[0]
		lo, hi = math.Min(lo, a), math.Max(hi, a)
	}
	lo, hi = math.Min(lo, lo2), math.Max(hi, hi2)
	if !(lo < hi) {
		return 0
	}
	return hi - lo
}

const (
	// extremes and centres are how many rows of either kind serve to bound distances between others
	// by the triangle inequality.
	extremes = 4
	centres  = 4
)

// diameterOf returns the largest oscillation between two rows, unless the context ends.
//
// The oscillation D is a seminorm, so D(i, k) <= D(i, p) + D(k, p) for every pivot p. That is sharp for a
// pivot halfway between i and k, and the pairs that count are at opposite ends: so the pivots are
// rows in the middle, those whose largest distance to a few extreme rows is least. With rows in the
// order of their distance from the first pivot, most pairs are bounded below the best known without
// being read. This is pivot filtering (LAESA: Mico, Oncina and Vidal 1994) with central pivots, as iFUB
// (Crescenzi et al. 2013) has them for the diameter of a graph.
func diameterOf(ctx context.Context, rows [][]float64) (float64, error) {
	ctx = wpmerr.Context(ctx)
	if len(rows) < 2 || len(rows[0]) < 2 {
		return 0, nil
	}
	if n := len(rows[0]); n < len(rows)/2 {
		rows = transpose(rows)
	}
	s := &search{ctx: ctx, rows: rows, slack: sizeOf(rows) * 0x1p-48}
	reach := s.extremes()
	s.pivots(reach)
	s.pairs()
	if ctx.Err() != nil {
		return 0, wpmerr.Ended(ctx)
	}
	return math.Float64frombits(s.best.Load()), nil
}

// sizeOf returns the largest size of an entry.
func sizeOf(rows [][]float64) (size float64) {
	for _, r := range rows {
		for _, x := range r {
			size = math.Max(size, math.Abs(x))
		}
	}
	return size
}

// search looks for the pair of rows with the largest distance.
type search struct {
	ctx  context.Context
	rows [][]float64
	// Differences of entries are off by half a unit of twice the largest, and an oscillation by two of those and its own:
	// the bound for a pair has to be below the best by slack before the pair can be left out, or the last bits would depend
	// on the order.
	slack float64
	dist  [][]float64   // distances of all rows from each pivot
	order []int         // rows by their distance from the first pivot, the farthest first
	best  atomic.Uint64 // bits of the largest distance so far; non-negative floats are ordered like their bits
}

// see raises best to x.
func (s *search) see(x float64) {
	bits := math.Float64bits(x)
	for old := s.best.Load(); bits > old && !s.best.CompareAndSwap(old, bits); old = s.best.Load() {
	}
}

// from returns the distances of all rows from row p.
func (s *search) from(p int) []float64 {
	d := make([]float64, len(s.rows))
	_ = parallel.For(s.ctx, len(d), func(i int) { d[i] = oscillation(s.rows[i], s.rows[p]) })
	return d
}

// extremes finds rows, each the farthest from those before, and returns the distance of every row to the farthest of
// them.
func (s *search) extremes() (reach []float64) {
	k := len(s.rows)
	nearest, reach := slices.Repeat([]float64{math.Inf(1)}, k), make([]float64, k)
	for n, p := 0, 0; n < min(extremes, k); n++ {
		next := 0
		for i, x := range s.from(p) {
			nearest[i] = math.Min(nearest[i], x)
			if n > 0 { // the first row is anywhere
				reach[i] = math.Max(reach[i], x)
			}
			if nearest[i] > nearest[next] {
				next = i
			}
			s.see(x)
		}
		p = next
	}
	return reach
}

// pivots makes those with the least reach pivots, and puts the rows in the order of their distance from the first.
func (s *search) pivots(reach []float64) {
	s.order = make([]int, len(s.rows))
	for i := range s.order {
		s.order[i] = i
	}
	slices.SortStableFunc(s.order, func(a, b int) int { return cmp.Compare(reach[a], reach[b]) })
	for _, p := range s.order[:min(centres, len(s.order))] {
		d := s.from(p)
		s.dist = append(s.dist, d)
		s.see(slices.Max(d))
	}
	first := s.dist[0]
	slices.SortFunc(s.order, func(a, b int) int { return cmp.Or(cmp.Compare(first[b], first[a]), b-a) })
}

// pairs looks at the pairs that may be farther from each other than the best.
func (s *search) pairs() {
	reach := s.dist[0]
	_ = parallel.For(s.ctx, len(s.rows), func(a int) {
		i := s.order[a]
		for _, j := range s.order[a+1:] {
			best := math.Float64frombits(s.best.Load())
			if reach[i]+reach[j]+s.slack <= best {
				return // and so for all that follow
			}
			if !s.near(i, j, best) {
				s.see(oscillation(s.rows[i], s.rows[j]))
			}
		}
	})
}

// near reports whether a pivot but the first shows that two rows are not farther from each other than the best.
func (s *search) near(i, j int, best float64) bool {
	for _, d := range s.dist[1:] {
		if d[i]+d[j]+s.slack <= best {
			return true
		}
	}
	return false
}

func transpose(rows [][]float64) [][]float64 {
	k, n := len(rows), len(rows[0])
	data := make([]float64, k*n)
	out := make([][]float64, n)
	for j := range out {
		out[j] = data[j*k : (j+1)*k]
	}
	for i, row := range rows {
		for j, x := range row {
			out[j][i] = x
		}
	}
	return out
}
