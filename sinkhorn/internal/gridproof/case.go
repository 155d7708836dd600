package gridproof

import (
	"fmt"
	"math"
	"math/big"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/projection/verify"
	"github.com/wpm-go/wpm/wpmerr"
)

// Pairs is the number of pairs of cells up to which every one is looked at, with exact arithmetic.
const Pairs = 1e8

// A Case is a case of projection/verify whose cost is a grid at squared distance. Its methods refuse evidence with an
// error that wraps wpmerr.ErrCertificate.
type Case struct {
	*verify.Case
	rows, cols int
}

// New returns c as a case on a grid, or nil if its cost is not a *cost.Grid at squared distance.
func New(c *verify.Case) *Case {
	g := cost.Separable(c.Cost)
	if g == nil {
		return nil
	}
	rows, cols := g.Size()
	return &Case{c, rows, cols}
}

func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: %s", wpmerr.ErrCertificate, fmt.Sprintf(format, args...))
}

// axis is one of the two directions of a grid: lines of n cells, start apart. Neighbours in a line are stride apart in
// memory, and (dx, dy) in the unit square.
type axis struct {
	lines, start int
	n, stride    int
	dx, dy       float64
	squares      []float64 // squared distances over the line
}

// axes returns the two directions: along rows, and along columns.
func (c *Case) axes() [2]axis {
	rows, cols := c.rows, c.cols
	return [2]axis{
		{rows, cols, cols, 1, 1 / float64(cols), 0, squares(cols)},
		{cols, 1, rows, cols, 0, 1 / float64(rows), squares(rows)},
	}
}

// squares returns (d/n)^2 for d = 0..n-1.
func squares(n int) []float64 {
	s := make([]float64, n)
	for d := range s {
		x := float64(d) / float64(n)
		s[d] = x * x
	}
	return s
}

func gap(a, b int) int { return max(a-b, b-a) }

// each calls f for every cell, number c of the line that begins at start.
func (a axis) each(f func(at, start, c int)) {
	for l := range a.lines {
		for c := range a.n {
			f(l*a.start+c*a.stride, l*a.start, c)
		}
	}
}

// least returns min_j (in_j + squared distance) over the cells j of the same line.
func (a axis) least(in []float64) []float64 {
	out := make([]float64, len(in))
	a.each(func(at, start, c int) {
		out[at] = math.Inf(1)
		for j := range a.n {
			out[at] = min(out[at], in[start+j*a.stride]+a.squares[gap(c, j)])
		}
	})
	return out
}

// Lower checks that p is feasible, and returns the exact dual value that it proves. The least of C_ij - G_j over the
// cells j is found axis by axis in floats, and F_i must be below it by more than the rounding errors.
func (c *Case) Lower(p projection.Potentials) (*big.Rat, error) {
	if len(p.F) != c.K || len(p.G) != c.Kv {
		return nil, refuse("potentials have %d and %d entries, want %d and %d", len(p.F), len(p.G), c.K, c.Kv)
	}
	least := make([]float64, c.Kv)
	size := 0.0
	for j, x := range p.G {
		if !(math.Abs(x) <= math.MaxFloat64) {
			return nil, refuse("G[%d] = %v", j, x)
		}
		size = math.Max(size, math.Abs(x))
		least[j] = -x
	}
	for _, a := range c.axes() {
		least = a.least(least)
	}
	// (C - G) is formed with three roundings of numbers up to size + 2; C itself is rounded from an
	// integer fraction, and the squares are twice.
	slack := 16 * 0x1p-53 * (size + 2)
	pairs := float64(Pairs)
	for i, x := range least {
		if p.F[i] <= x-slack {
			continue
		}
		// Too close for floats. There may be a few of these, such as the only rows with mass.
		if pairs -= float64(c.Kv); pairs < 0 || math.IsNaN(p.F[i]) {
			return nil, refuse("F[%d] = %v is not below %v, the least C - G, by the rounding error %v", i, p.F[i], x, slack)
		}
		if err := c.feasible(i, p); err != nil {
			return nil, err
		}
	}
	bound := c.Dual(p)
	if bound == nil {
		return nil, refuse("F is not finite")
	}
	return bound, nil
}

// feasible checks one row in exact numbers.
func (c *Case) feasible(i int, p projection.Potentials) error {
	row, err := c.Row(i)
	if err != nil {
		return err
	}
	for j, x := range row {
		// A rounded difference above F says that the exact one is; otherwise the exact one decides.
		if d := x - p.G[j]; d <= p.F[i] && num.NewDyadic(x).Minus(num.NewDyadic(p.G[j])).Cmp(num.NewDyadic(p.F[i])) < 0 {
			return refuse("F[%d] + G[%d] = %v + %v is above the cost %v", i, j, p.F[i], p.G[j], x)
		}
	}
	return nil
}
