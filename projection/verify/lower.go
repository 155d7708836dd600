package verify

import (
	"math"
	"math/big"
	"slices"

	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/projection"
)

// Lower checks that p is feasible and returns the bound that p.G proves. Errors: ErrCertificate, and those of Row.
func (c *Case) Lower(p projection.Potentials) (*big.Rat, error) {
	if err := lengths(c.K, c.Kv, p); err != nil {
		return nil, err
	}
	if err := finite("G", p.G); err != nil {
		return nil, err
	}
	if err := finite("F", p.F); err != nil {
		return nil, err
	}
	large := slices.ContainsFunc(p.G, isLarge)
	sum, rest := new(num.Acc), new(num.Dyadic) // sum_i source_i f_i, in two parts
	most, at := 0.0, 0
	for i, f := range p.F {
		row, err := c.Row(i)
		if err != nil {
			return nil, err
		}
		mass := 0.0
		if at < len(c.rows) && c.rows[at] == i {
			mass = c.source[at]
			at++
		}
		if mass > 0 {
			most = max(most, c.largest(row))
		}
		const above = "F[%d] = %v is above min_j C[%d][j] - G[j] = %v"
		if large || isLarge(f) || slices.Max(row) >= math.MaxFloat64/2 {
			least := slackBig(row, p.G)
			if num.NewDyadic(f).Cmp(least) > 0 {
				return nil, refuse(above, i, f, i, least.Float())
			}
			rest.Add(least.Times(num.NewDyadic(mass)))
			continue
		}
		x, e := slack(row, p.G)
		if exceeds(f, x, e) {
			return nil, refuse(above+" + %v", i, f, i, x, e)
		}
		sum.AddMul(mass, x)
		sum.AddMul(mass, e)
	}
	c.most = most
	bound := sum.Rat()
	return c.dual(bound.Add(bound, rest.Rat()), p.G), nil
}

// exceeds reports whether f > x + e, where x is the float nearest to x + e.
func exceeds(f, x, e float64) bool { return f > x || f == x && e < 0 }

// Dual returns the bound that p proves, given that p is feasible: nil if a number is not finite.
func (c *Case) Dual(p projection.Potentials) *big.Rat {
	if finite("F", p.F) != nil || finite("G", p.G) != nil {
		return nil
	}
	rows := new(num.Acc)
	for n, m := range c.source {
		rows.AddMul(m, p.F[c.rows[n]])
	}
	return c.dual(rows.Rat(), p.G)
}

// dual returns the dual value, but at least 0. rows is the part of the rows times the sum of the source.
func (c *Case) dual(rows *big.Rat, g []float64) *big.Rat {
	rows.Quo(rows, c.sum.Rat())
	rows.Add(rows, new(big.Rat).Quo(c.columns(g), c.scale.Rat()))
	if rows.Sign() < 0 {
		rows.SetInt64(0)
	}
	return rows
}

// columns returns sum_j min(lo_j g_j, hi_j g_j), times scale.
func (c *Case) columns(g []float64) *big.Rat {
	sum := new(num.Acc)
	for j, x := range g {
		if x >= 0 {
			sum.AddMul(c.Lo[j], x)
		} else {
			sum.AddMul(c.Hi[j], x)
		}
	}
	return sum.Rat()
}

// largePotential is up to where differences of two numbers stay in range for slack: costs below half the largest float
// less or plus that much. Above, slackBig takes over.
const largePotential = math.MaxFloat64 / 4

func isLarge(x float64) bool { return math.Abs(x) > largePotential }

// slack returns min_j (row_j - g_j) as an unevaluated sum x + e of two floats. The error of a rounded difference is a
// float, and rounding is monotone, so the least of the exact ones is among those that round to the least.
func slack(row, g []float64) (x, e float64) {
	x = math.Inf(1)
	for j, c := range row {
		if d := c - g[j]; d <= x {
			if _, r := num.TwoDiff(c, g[j]); d < x || r < e {
				x, e = d, r
			}
		}
	}
	return x, e
}

// slackBig is slack where floats could overflow.
func slackBig(row, g []float64) *num.Dyadic {
	var least *num.Dyadic
	for j, c := range row {
		if d := num.NewDyadic(c).Minus(num.NewDyadic(g[j])); least == nil || d.Cmp(least) < 0 {
			least = d
		}
	}
	return least
}
