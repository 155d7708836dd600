package minimax

import (
	"context"
	"fmt"
	"math"
	"math/big"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/wpmerr"
)

// Verify returns the bounds that b proves, exactly. Errors: those of Solve, and ErrEvidence.
func (b Bound) Verify(ctx context.Context, p Problem) (lower, upper *big.Rat, err error) {
	ctx = wpmerr.Context(ctx)
	c, err := p.read(ctx)
	if err != nil {
		return nil, nil, err
	}
	if b.Centre < 0 || b.Centre >= c.K {
		return nil, nil, fmt.Errorf("%w: the centre is place %d of %d", ErrEvidence, b.Centre, c.K)
	}
	most := 0.0
	for a := range c.K {
		most = max(most, c.Data[a*c.K+b.Centre])
	}
	upper = num.Rat(most)
	if len(b.Poles) == 0 && len(b.Radius) == 0 && len(b.Mass) == 0 {
		return new(big.Rat), upper, nil
	}
	if err := b.check(c); err != nil {
		return nil, nil, err
	}
	steep, err := b.tents(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	if lower, err = b.lower(p); err != nil {
		return nil, nil, err
	}
	if lower.Sub(lower, steep); lower.Sign() < 0 { // no distance is
		lower = new(big.Rat)
	}
	return lower, upper, nil
}

// check looks at the parts of b by themselves.
func (b Bound) check(c *cost.Dense) error {
	pairs := len(b.Radius)
	if len(b.Poles) != 2*pairs || len(b.Mass) != pairs {
		return fmt.Errorf("%w: %d poles, %d radii and %d masses", ErrEvidence, len(b.Poles), pairs, len(b.Mass))
	}
	for i, a := range b.Poles {
		if a < 0 || a >= c.K {
			return fmt.Errorf("%w: pole %d is place %d of %d", ErrEvidence, i, a, c.K)
		}
		if c.Data[a*c.K+a] != 0 {
			return fmt.Errorf("%w: pole %d is at place %d, which costs %v to itself", ErrEvidence, i, a, c.Data[a*c.K+a])
		}
	}
	positive := func(x float64) bool { return x > 0 && !math.IsInf(x, 1) }
	for j := range pairs {
		if !positive(b.Radius[j]) || !positive(b.Mass[j]) {
			return fmt.Errorf("%w: pair %d has radius %v and mass %v", ErrEvidence, j, b.Radius[j], b.Mass[j])
		}
	}
	if !(b.Amplitude > 0 && b.Amplitude <= 1) || !(b.Root > 0 && b.Root < 1) ||
		!(b.Exponent >= 0 && b.Exponent <= num.MaxEpsilon) {
		return fmt.Errorf("%w: amplitude %v, root %v, exponent %v", ErrEvidence, b.Amplitude, b.Root, b.Exponent)
	}
	return nil
}

// tents returns by how much sums of the f_j with signs may rise between two places beyond the cost: 0 if they are
// 1-Lipschitz, as they are but for the roundings of costs. A bound on W loses that much. A place is in one tent at most;
// where it is h high, and another place g high, a sum rises by up to h + g, and by |h - g| in one tent.
func (b Bound) tents(ctx context.Context, c *cost.Dense) (*big.Rat, error) {
	under := make([]int, c.K) // the pole whose tent a place is in, -1 for none
	for z := range under {
		under[z] = -1
		for i, a := range b.Poles {
			if c.Data[z*c.K+a] < b.Radius[i/2] {
				if under[z] >= 0 {
					return nil, fmt.Errorf("%w: place %d is in the tents of places %d and %d", ErrEvidence, z,
						b.Poles[under[z]], a)
				}
				under[z] = i
			}
		}
	}
	worst := new(big.Rat)
	var terms []float64 // cost less rise
	rise := func(z int, sign float64) {
		if i := under[z]; i >= 0 {
			terms = append(terms, -sign*b.Radius[i/2], sign*c.Data[z*c.K+b.Poles[i]])
		}
	}
	for y := range c.K {
		if err := wpmerr.Ended(ctx); err != nil {
			return nil, err
		}
		for z := range c.K {
			if y == z || under[y] < 0 && under[z] < 0 {
				continue
			}
			terms = append(terms[:0], c.Data[y*c.K+z])
			sign := 1.0
			if under[y] == under[z] {
				sign = -1
			}
			rise(y, 1)
			rise(z, sign)
			sum, size := 0.0, 0.0
			for _, x := range terms {
				sum += x
				size += math.Abs(x)
			}
			if sum > size*0x1p-50 { // four additions err by less than 5 * 2^-53 of all magnitudes
				continue
			}
			if over := num.SumRat(terms); over.Neg(over).Cmp(worst) > 0 {
				worst = over
			}
		}
	}
	return worst, nil
}

// places are binary places of square roots and exponentials.
const places = 128

// lower returns the bound: sum_j w_j ((1 - s) + t x) - t max_j(w_j eta^2 u_j) N c Phi, w_j = eta u_j h_j. The tangent at x
// of 1 - sqrt(1 - e^-x) = 1 - s falls by t = (1 - s^2)/(2s).
func (b Bound) lower(p Problem) (*big.Rat, error) {
	one := big.NewRat(1, 1)
	mul := func(xs ...*big.Rat) *big.Rat {
		y := new(big.Rat).Set(one)
		for _, x := range xs {
			y.Mul(y, x)
		}
		return y
	}
	sub := func(x, y *big.Rat) *big.Rat { return new(big.Rat).Sub(x, y) }
	add := func(x, y *big.Rat) *big.Rat { return new(big.Rat).Add(x, y) }
	eta, s := num.Rat(b.Amplitude), num.Rat(b.Root)
	rest := sub(one, mul(s, s))
	_, grown := num.ExpFixed(num.Rat(b.Exponent), places)
	if mul(over(grown), rest).Cmp(one) > 0 {
		return nil, fmt.Errorf("%w: root %v is too small for exponent %v", ErrEvidence, b.Root, b.Exponent)
	}
	x := num.Rat(b.Exponent)
	slope := new(big.Rat).Quo(rest, add(s, s))

	sum := num.SumRat(b.Mass)
	high := new(big.Rat).Quo(num.DotRat(b.Mass, b.Radius), sum)
	steep, largest := new(big.Rat), new(big.Rat) // max of u^2 h, and of u
	for j, m := range b.Mass {
		u := num.Rat(m)
		if v := mul(u, u, num.Rat(b.Radius[j])); v.Cmp(steep) > 0 {
			steep = v
		}
		if u.Cmp(largest) > 0 {
			largest = u
		}
	}
	steep.Quo(steep, mul(sum, sum))
	largest.Quo(largest, sum)

	_, up := num.ExpFixed(num.Rat(p.Epsilon), places)
	e := over(up)
	k := sub(e, one)
	roots := add(rootDown(e), rootDown(sub(e, mul(k, eta))))
	phi := new(big.Rat).Quo(mul(k, k), mul(roots, roots))

	// c = -(1/z) log(1 - z) <= 1 + z/2 + z^2/(3 (1-z)), z half the largest H
	z := mul(eta, eta, largest, phi, big.NewRat(1, 2))
	if z.Cmp(one) >= 0 {
		return nil, fmt.Errorf("%w: one report may tell a sign: amplitude %v, mass %v", ErrEvidence, b.Amplitude,
			num.Down(largest))
	}
	c := add(one, mul(z, big.NewRat(1, 2)))
	c.Add(c, new(big.Rat).Quo(mul(z, z), mul(big.NewRat(3, 1), sub(one, z))))
	reports := mul(new(big.Rat).SetInt64(int64(p.Clients)), c, phi)

	gain := mul(eta, high, add(sub(one, s), mul(slope, x)))
	return sub(gain, mul(slope, eta, eta, eta, steep, reports)), nil
}

func over(n *big.Int) *big.Rat {
	return new(big.Rat).SetFrac(n, new(big.Int).Lsh(big.NewInt(1), places))
}

// rootDown returns a rational at most the square root of x >= 0.
func rootDown(x *big.Rat) *big.Rat {
	n := new(big.Int).Lsh(x.Num(), 2*places)
	return over(n.Sqrt(n.Quo(n, x.Denom())))
}
