package units

import (
	"fmt"
	"math/big"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/mincostflow/internal/simplex"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/wpmerr"
)

// Problem is the projection of a distribution that consists of N whole units. Source[n] of them lie on one row, and
// column j may hold Lo[j] to Hi[j] units. Nothing in it is modified or retained.
type Problem struct {
	// Cost is the k x kv matrix C, finite and >= 0.
	Cost cost.Matrix
	// Source counts the units on the rows, >= 0, at least one and at most 2^62 in all.
	Source []int64
	// Support lists the rows that the entries of Source belong to, ascending; nil if Source has an entry for every row.
	Support []int
	// Lo and Hi bound the columns: 0 <= Lo <= Hi, kv entries each, sum Lo <= N <= sum Hi. Hi may exceed N.
	Lo, Hi []int64
}

// check returns the dimensions of the problem and its units, N. It reads no costs.
func (p *Problem) check() (k, kv int, n uint64, err error) {
	if k, kv, err = simplex.Dims(p.Cost); err != nil {
		return 0, 0, 0, err
	}
	if err := projection.CheckSupport(k, len(p.Source), p.Support); err != nil {
		return 0, 0, 0, err
	}
	for m, u := range p.Source {
		if u < 0 {
			return 0, 0, 0, fmt.Errorf("%w: Source[%d] = %d", wpmerr.ErrNegative, m, u)
		}
		if n += uint64(u); n > simplex.MaxUnits {
			return 0, 0, 0, fmt.Errorf("%w: the entries of Source up to %d sum to %d, at most 2^62", wpmerr.ErrOverflow, m, n)
		}
	}
	if n == 0 {
		return 0, 0, 0, fmt.Errorf("%w: Source sums to 0", wpmerr.ErrMass)
	}
	return k, kv, n, p.checkBox(kv, n)
}

// checkBox checks the bounds, for n units.
func (p *Problem) checkBox(kv int, n uint64) error {
	if len(p.Lo) != kv || len(p.Hi) != kv {
		return fmt.Errorf("%w: Lo has %d entries and Hi %d, want %d", wpmerr.ErrShape, len(p.Lo), len(p.Hi), kv)
	}
	var sumLo, sumHi uint64 // up to n + 1 and n
	for j, lo := range p.Lo {
		switch hi := p.Hi[j]; {
		case lo < 0:
			return fmt.Errorf("%w: Lo[%d] = %d", wpmerr.ErrNegative, j, lo)
		case hi < 0:
			return fmt.Errorf("%w: Hi[%d] = %d", wpmerr.ErrNegative, j, hi)
		case lo > hi:
			return fmt.Errorf("%w: Lo[%d] = %d, Hi[%d] = %d", wpmerr.ErrBox, j, lo, j, hi)
		}
		sumLo = min(sumLo+uint64(lo), n+1)
		sumHi = min(sumHi+uint64(p.Hi[j]), n)
	}
	if sumLo > n {
		return fmt.Errorf("%w: no distribution in the box: Lo sums to more than the %d units there are", wpmerr.ErrInfeasible, n)
	}
	if sumHi < n {
		return fmt.Errorf("%w: no distribution in the box: Hi sums to %d, less than the %d units there are", wpmerr.ErrInfeasible,
			sumHi, n)
	}
	return nil
}

// row returns the row that entry m of the source belongs to.
func (p *Problem) row(m int) int {
	if p.Support == nil {
		return m
	}
	return p.Support[m]
}

// dual returns the dual value of potentials, for n units, or zero if that is more.
func (p *Problem) dual(u Potentials, n uint64) *big.Rat {
	sum, x := new(big.Rat), new(big.Rat)
	for m, s := range p.Source {
		sum.Add(sum, x.Mul(x.SetInt64(s), u.F[p.row(m)]))
	}
	for j, g := range u.G {
		b := p.Lo[j]
		if g.Sign() < 0 {
			b = int64(min(uint64(p.Hi[j]), n)) // no column can hold more
		}
		sum.Add(sum, x.Mul(x.SetInt64(b), g))
	}
	if sum.Sign() < 0 {
		return new(big.Rat)
	}
	return sum.Quo(sum, x.SetUint64(n))
}

// payment is the exact cost of a plan.
type payment struct{ sum num.Acc }

// add adds the cost of moving units.
func (c *payment) add(units uint64, cost float64) {
	const low = 1<<32 - 1 // units may have more bits than a float
	c.sum.AddMul(float64(units&^low), cost)
	c.sum.AddMul(float64(units&low), cost)
}

// over returns the cost over n units.
func (c *payment) over(n uint64) *big.Rat {
	x := c.sum.Rat()
	return x.Quo(x, new(big.Rat).SetUint64(n))
}
