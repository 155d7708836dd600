package verify

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/wpmerr"
)

// A Case is a problem and a projection claimed for it, both checked. Its methods refuse false evidence with an error
// that wraps wpmerr.ErrCertificate and says what failed.
type Case struct {
	Cost  cost.Matrix
	K, Kv int
	Q     []float64 // the claimed projection
	// Lo and Hi are the effective bounds: if the lower or the upper bounds sum to 1, both equal these bounds.
	Lo, Hi []float64

	source []float64
	rows   []int       // of source
	sum    *num.Dyadic // of source
	// scale is 1, or the sum of Lo = Hi when the box is the point Lo / scale.
	scale *num.Dyadic
	point bool
	most  float64 // see Most; negative: not known yet
	buf   []float64
	ctx   context.Context // see Until; nil never ends
}

// one is not changed.
var one = num.NewDyadic(1)

// New checks p and that q is a distribution in its box: to the last bit, with a sum that is off 1 by at most kv *
// 2^-52. If the box is a point by scaling, q is that point to within 2^-52 or four of the smallest floats. Errors:
// ErrCertificate for q, and those of the solvers for an invalid Problem.
func New(p projection.Problem, q []float64) (*Case, error) {
	c, err := begin(p.Cost, p.Source, p.Support)
	if err != nil {
		return nil, err
	}
	if err := projection.CheckBounds(c.Kv, p.Lo, p.Hi); err != nil {
		return nil, err
	}
	if err := c.bound(p.Lo, p.Hi); err != nil {
		return nil, err
	}
	if c.point {
		return c, c.scaled(q)
	}
	if len(q) != c.Kv {
		return nil, refuse("Q has %d entries, want %d", len(q), c.Kv)
	}
	for j, x := range q {
		if !(p.Lo[j] <= x && x <= p.Hi[j]) {
			return nil, refuse("Q[%d] = %v is outside [%v, %v]", j, x, p.Lo[j], p.Hi[j])
		}
	}
	return c, c.projection(q)
}

// bound sets the effective bounds.
func (c *Case) bound(lo, hi []float64) error {
	c.Lo, c.Hi = lo, hi
	low, high, slack := num.DyadicSum(lo), num.DyadicSum(hi), num.NewDyadic(projection.BoxTol)
	above, below := low.Minus(one), one.Minus(high)
	switch {
	case above.Cmp(slack) > 0 || below.Cmp(slack) > 0:
		return fmt.Errorf("%w: no distribution in the box: the bounds sum to %v and %v",
			wpmerr.ErrInfeasible, low.Float(), high.Float())
	case above.Sign() >= 0:
		c.Hi = lo
		c.scale, c.point = low, above.Sign() > 0
	case below.Sign() >= 0:
		c.Lo = hi
		c.scale, c.point = high, below.Sign() > 0
	}
	return nil
}

// NewTransport is New for the point b / sum b instead of a box, in any unit. A nil a or b is uniform. The lengths of
// the potentials are needed first: a matrix may claim any dimensions. Errors: ErrCertificate for q and the potentials,
// and for bad a, b and cost those of projection.Dims and projection.CheckMasses, ErrShape and ErrMass.
func NewTransport(m cost.Matrix, a, b, q []float64, f projection.Potentials) (*Case, error) {
	k, kv, err := projection.Dims(m)
	if err != nil {
		return nil, err
	}
	if err := lengths(k, kv, f); err != nil {
		return nil, err
	}
	a, b = orUniform(a, k), orUniform(b, kv)
	c, err := begin(m, a, nil)
	if err != nil {
		return nil, err
	}
	if len(b) != kv {
		return nil, fmt.Errorf("%w: target of %d for %d columns", wpmerr.ErrShape, len(b), kv)
	}
	if err := projection.CheckMasses("Target", b); err != nil {
		return nil, err
	}
	c.Lo, c.Hi, c.scale, c.point = b, b, num.DyadicSum(b), true
	if c.scale.Sign() == 0 {
		return nil, fmt.Errorf("%w: the target sums to 0", wpmerr.ErrMass)
	}
	return c, c.scaled(q)
}

func orUniform(masses []float64, n int) []float64 {
	if masses == nil {
		return slices.Repeat([]float64{1}, n)
	}
	return masses
}

// begin checks the cost and the source.
func begin(m cost.Matrix, source []float64, support []int) (*Case, error) {
	c := &Case{Cost: m, source: source, rows: support, scale: one, most: -1}
	var err error
	if c.K, c.Kv, err = projection.Dims(m); err != nil {
		return nil, err
	}
	if err := projection.CheckSupport(c.K, len(source), support); err != nil {
		return nil, err
	}
	if err := projection.CheckMasses("Source", source); err != nil {
		return nil, err
	}
	if support == nil {
		c.rows = make([]int, c.K)
		for i := range c.rows {
			c.rows[i] = i
		}
	}
	if c.sum = num.DyadicSum(source); c.sum.Sign() == 0 {
		return nil, fmt.Errorf("%w: the %d entries of Source sum to 0", wpmerr.ErrMass, len(source))
	}
	return c, nil
}

// scaled checks that q is the point of the box.
func (c *Case) scaled(q []float64) error {
	if len(q) != c.Kv {
		return refuse("Q has %d entries, want %d", len(q), c.Kv)
	}
	if err := finite("Q", q); err != nil {
		return err
	}
	for j, x := range q {
		if x != 0 && c.Hi[j] == 0 {
			return refuse("Q[%d] = %v in a column that takes nothing", j, x)
		}
		if !c.isPoint(j, x) {
			return refuse("Q[%d] = %v is not the point of the box", j, x)
		}
	}
	return c.projection(q)
}

// isPoint reports whether x is entry j of the point Lo / scale, but for rounding.
func (c *Case) isPoint(j int, x float64) bool {
	want := num.NewDyadic(c.Lo[j])
	d := num.NewDyadic(x).Times(c.scale).Minus(want).Abs()
	least := num.NewDyadic(0x1p-1072).Times(c.scale) // where floats are hardly denser
	return d.Cmp(num.NewDyadic(0x1p-52).Times(want)) <= 0 || d.Cmp(least) <= 0
}

// projection checks the sum of q, which is in the box.
func (c *Case) projection(q []float64) error {
	c.Q, c.buf = q, make([]float64, c.Kv)
	sum := num.DyadicSum(q)
	if sum.Minus(one).Abs().Cmp(num.NewDyadic(0x1p-52*float64(c.Kv))) > 0 {
		return refuse("Q sums to %v", sum.Float())
	}
	return nil
}

func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: %s", wpmerr.ErrCertificate, fmt.Sprintf(format, args...))
}

func isFinite(x float64) bool { return math.Abs(x) <= math.MaxFloat64 }

// finite refuses numbers that are not finite.
func finite(what string, xs []float64) error {
	for n, x := range xs {
		if !isFinite(x) {
			return refuse("%s[%d] = %v", what, n, x)
		}
	}
	return nil
}

// lengths checks those of potentials. What the matrix claims are then lengths of slices that exist.
func lengths(k, kv int, p projection.Potentials) error {
	if len(p.F) != k || len(p.G) != kv {
		return refuse("potentials have %d and %d entries, want %d and %d", len(p.F), len(p.G), k, kv)
	}
	return nil
}

// Row returns row i of the cost, checked. It is valid until the next call. Errors: those of projection.CheckRow, and
// ErrNotConverged after the end of the context of Until.
func (c *Case) Row(i int) ([]float64, error) {
	if c.ctx != nil && c.ctx.Err() != nil {
		return nil, wpmerr.Ended(c.ctx)
	}
	row := c.Cost.Row(i, c.buf)
	return row, projection.CheckRow(i, row, c.Kv)
}

// Until makes Row fail with ErrNotConverged when a context has ended, and so everything that reads the cost.
func (c *Case) Until(ctx context.Context) { c.ctx = wpmerr.Context(ctx) }

// Masses calls f for every row with mass, in ascending order, with its mass as given and as a float of the whole, until
// f returns an error. The error is that of f.
func (c *Case) Masses(f func(i int, given, mass float64) error) error {
	for n, m := range c.source {
		if m == 0 {
			continue
		}
		mass, _ := num.NewDyadic(m).Over(c.sum).Float64()
		if err := f(c.rows[n], m, mass); err != nil {
			return err
		}
	}
	return nil
}

// Most returns the largest cost between a row with mass and a column that may hold some. Errors: those of Row.
func (c *Case) Most() (float64, error) {
	if c.most >= 0 {
		return c.most, nil
	}
	most := 0.0
	err := c.Masses(func(i int, _, _ float64) error {
		row, err := c.Row(i)
		if err == nil {
			most = max(most, c.largest(row))
		}
		return err
	})
	if err == nil {
		c.most = most
	}
	return most, err
}

// largest returns the largest cost of a row among the columns that may hold mass.
func (c *Case) largest(row []float64) float64 {
	most := 0.0
	for j, x := range row {
		if x > most && (c.Hi[j] > 0 || c.Q[j] > 0) {
			most = x
		}
	}
	return most
}

// Claims compares the bounds that a solver claims with the proven ones. The error is ErrCertificate if a bound is not
// finite, or more than what is proved.
func Claims(claimedLower, claimedUpper float64, lower, upper *big.Rat) error {
	if !isFinite(claimedLower) || !isFinite(claimedUpper) {
		return refuse("Lower = %v, Upper = %v", claimedLower, claimedUpper)
	}
	if num.Rat(claimedLower).Cmp(lower) > 0 {
		return refuse("Lower = %v, but only %v is proved", claimedLower, num.Down(lower))
	}
	if num.Rat(claimedUpper).Cmp(upper) < 0 {
		return refuse("Upper = %v, but only %v is proved", claimedUpper, num.Up(upper))
	}
	return nil
}
