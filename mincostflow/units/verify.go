package units

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/wpmerr"
)

// Verify checks r against p and returns bounds that it has proved itself, in lowest terms:
//
//	lower <= min { <C, P>/N : P from the source into the box } <= W(Q, source) <= upper.
//
// All of it is exact: Q consists of whole units in the box, N in all; the plan has the source and Q as its row and
// column sums, which makes its cost over N the upper bound (if Status is Cancelled, the plan may have less mass, and
// the missing mass counts at the largest cost); F and G are feasible, and the lower bound is their dual value
//
//	(sum_i source_i F_i + sum_j min(lo_j G_j, hi_j G_j)) / N,
//
// with hi_j at most N, since no column can hold more, or zero if this value is negative. For a result without an error
// both bounds are equal. An error wraps ErrCertificate and says what failed, also if r.Lower or r.Upper claim more. A
// Problem that is itself invalid gives the errors of Project. If ctx ends, the error is ErrNotConverged, and no more rows
// are read.
//
// It takes one pass over the cost in floats, with rational arithmetic for close calls. It shares the checks of the
// problem, the dual value and the sum of costs with the solver (problem.go), and no other code.
func Verify(ctx context.Context, p Problem, r Result) (upper, lower *big.Rat, err error) {
	c := verifier{ctx: wpmerr.Context(ctx), p: p, r: r}
	if c.k, c.kv, c.n, err = p.check(); err != nil {
		return nil, nil, err
	}
	if err := c.checkQ(); err != nil {
		return nil, nil, err
	}
	if err := c.readPotentials(); err != nil {
		return nil, nil, err
	}
	if upper, err = c.upper(); err != nil {
		return nil, nil, err
	}
	lower = p.dual(r.Potentials, c.n)
	switch {
	case r.Lower == nil || r.Upper == nil:
		return nil, nil, refuse("Lower or Upper is missing")
	case r.Lower.Cmp(lower) > 0:
		return nil, nil, refuse("Lower = %v, but only %v is proved", r.Lower.RatString(), lower.RatString())
	case r.Upper.Cmp(upper) < 0:
		return nil, nil, refuse("Upper = %v, but only %v is proved", r.Upper.RatString(), upper.RatString())
	case math.IsNaN(r.Objective) || math.IsInf(r.Objective, 0):
		return nil, nil, refuse("Objective = %v", r.Objective)
	}
	return upper, lower, nil
}

// verifier is one run of Verify.
type verifier struct {
	ctx          context.Context
	p            Problem
	r            Result
	k, kv        int
	n            uint64    // units
	source       []uint64  // of all rows
	left         []uint64  // of Q, as the plan is read
	nearF, nearG []float64 // floats near the potentials
	at           int       // entries of the plan that have been read
	cost         payment   // of these
}

// checkQ checks that Q lies in the box and has all units.
func (c *verifier) checkQ() error {
	if len(c.r.Q) != c.kv {
		return refuse("Q has %d entries, want %d", len(c.r.Q), c.kv)
	}
	c.left = make([]uint64, c.kv)
	var sum uint64
	for j, q := range c.r.Q {
		if q < c.p.Lo[j] || q > c.p.Hi[j] {
			return refuse("Q[%d] = %d is outside [%d, %d]", j, q, c.p.Lo[j], c.p.Hi[j])
		}
		c.left[j] = uint64(q)
		if sum += c.left[j]; sum > c.n {
			return refuse("Q sums to more than %d up to entry %d", c.n, j)
		}
	}
	if sum != c.n {
		return refuse("Q sums to %d, want %d", sum, c.n)
	}
	return nil
}

// readPotentials fills in floats near the potentials, none of which may be missing.
func (c *verifier) readPotentials() (err error) {
	f, g := c.r.Potentials.F, c.r.Potentials.G
	if len(f) != c.k || len(g) != c.kv {
		return refuse("potentials have %d and %d entries, want %d and %d", len(f), len(g), c.k, c.kv)
	}
	if c.nearF, err = nearRats("F", f); err != nil {
		return err
	}
	c.nearG, err = nearRats("G", g)
	return err
}

// upper reads the costs: it checks that the potentials are feasible and that the plan leads from the source to Q, and
// returns what that costs.
//
// No row sends more than it has, and no column takes more than Q: since both sum to N, the rows with units left can
// send them to the columns that lack some, at the largest cost at most.
func (c *verifier) upper() (*big.Rat, error) {
	c.source = make([]uint64, c.k)
	for m, u := range c.p.Source {
		c.source[c.p.row(m)] = uint64(u)
	}
	buf := make([]float64, c.kv)
	missing, most := uint64(0), 0.0
	f, g := c.r.Potentials.F, c.r.Potentials.G
	for i := range c.k {
		if c.ctx.Err() != nil {
			return nil, wpmerr.Ended(c.ctx)
		}
		row := c.p.Cost.Row(i, buf)
		if err := projection.CheckRow(i, row, c.kv); err != nil {
			return nil, err
		}
		if err := feasible(row, i, f, g, c.nearF, c.nearG); err != nil {
			return nil, err
		}
		rest, err := c.planRow(i, row)
		if err != nil {
			return nil, err
		}
		missing += rest
		if c.source[i] == 0 {
			continue
		}
		for j, x := range row {
			if x > most && c.p.Hi[j] > 0 {
				most = x
			}
		}
	}
	if c.at < len(c.r.Plan) {
		return nil, c.misplaced()
	}
	c.cost.add(missing, most)
	return c.cost.over(c.n), nil
}

// planRow reads the entries of the plan in row i, and returns what they leave of the source.
func (c *verifier) planRow(i int, row []float64) (rest uint64, err error) {
	rest = c.source[i]
	for last := -1; c.at < len(c.r.Plan) && c.r.Plan[c.at].I == i; c.at++ {
		a := c.r.Plan[c.at]
		if a.J <= last || a.J >= c.kv {
			return 0, c.misplaced()
		}
		last = a.J
		if a.Units < 1 || uint64(a.Units) > rest || uint64(a.Units) > c.left[a.J] {
			return 0, refuse("Plan[%d] moves %d units; the row has %d left, the column takes %d more", c.at, a.Units, rest,
				c.left[a.J])
		}
		rest -= uint64(a.Units)
		c.left[a.J] -= uint64(a.Units)
		c.cost.add(uint64(a.Units), row[a.J])
	}
	if rest != 0 && c.r.Status != Cancelled {
		return 0, refuse("the plan leaves %d units on row %d", rest, i)
	}
	return rest, nil
}

func (c *verifier) misplaced() error {
	a := c.r.Plan[c.at]
	return refuse("Plan[%d] at (%d, %d) is out of order or outside %d x %d", c.at, a.I, a.J, c.k, c.kv)
}

// refuse is the error of a certificate.
func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: %s", wpmerr.ErrCertificate, fmt.Sprintf(format, args...))
}

// nearRats returns floats near xs: within 2^-52 of themselves, or a smallest float, or infinite.
func nearRats(name string, xs []*big.Rat) ([]float64, error) {
	near := make([]float64, len(xs))
	for n, x := range xs {
		if x == nil {
			return nil, refuse("%s[%d] is missing", name, n)
		}
		near[n], _ = x.Float64()
	}
	return near, nil
}

// feasible checks that f[i] + g[j] <= row[j] for all j: in floats, where that is beyond doubt, and in rationals
// where not.
func feasible(row []float64, i int, f, g []*big.Rat, nearF, nearG []float64) error {
	// Far above the rounding of three numbers and two subtractions; and not a number or infinite is doubt.
	const sure = 0x1p-48
	a := nearF[i]
	for j, c := range row {
		b := nearG[j]
		if d := (c - a) - b; d > sure*(c+math.Abs(a)+math.Abs(b))+0x1p-1000 && d <= math.MaxFloat64 {
			continue
		}
		x := new(big.Rat).SetFloat64(c)
		x.Sub(x, f[i])
		if x.Cmp(g[j]) < 0 {
			return refuse("F[%d] + G[%d] is above C[%d][%d] = %v", i, j, i, j, c)
		}
	}
	return nil
}
