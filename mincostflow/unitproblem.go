package mincostflow

import (
	"fmt"
	"math/big"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/wpmerr"
)

// UnitProblem is the projection of a distribution that consists of N whole units. Source[n] of them lie on one row, and
// column j may hold Lo[j] to Hi[j] units. Nothing in it is modified or retained.
type UnitProblem struct {
	// Cost is the k x kv matrix C, finite and >= 0.
	Cost cost.Matrix
	// Source counts the units on the rows, >= 0, at least one and at most 2^62 in all.
	Source []int64
	// Support lists the rows that the entries of Source belong to, as in Problem.
	Support []int
	// Lo and Hi bound the columns: 0 <= Lo <= Hi, kv entries each, sum Lo <= N <= sum Hi. Hi may exceed N.
	Lo, Hi []int64
}

// UnitEntry is one positive entry of a plan of whole units.
type UnitEntry struct {
	I, J  int
	Units int64
}

// UnitPotentials are dual variables as exact numbers: F[i] + G[j] <= C_ij for every i and j.
type UnitPotentials struct {
	F, G []*big.Rat
}

// UnitResult is an answer to a UnitProblem together with its evidence. Costs are those of the distribution, that is,
// the cost of the units divided by N.
type UnitResult struct {
	// Q is the projection: whole units in the box, N in all.
	Q []int64
	// Plan moves the source to Q, with exactly these row and column sums; rows ascending, then columns. When Status is
	// Cancelled, it may move a part of the source only.
	Plan []UnitEntry
	// Potentials prove Lower.
	Potentials UnitPotentials
	// Upper is the cost of Plan, plus the mass that it leaves at the largest cost, and Lower is the dual value of
	// Potentials. Both are exact. If Status is Optimal, they are equal, and are the optimum. Upper is the largest float64
	// if the context ended before the costs were read.
	Upper, Lower *big.Rat
	// Objective is Upper, rounded to nearest.
	Objective float64
	// Status and Stats are as in Result. Stats.Repairs counts the pivots that exact prices required.
	Status Status
	Stats  Stats
}

// maxUnits bounds N: see units.go.
const maxUnits = 1 << 62

// check returns the dimensions of the problem and its units, N. It reads no costs.
func (p *UnitProblem) check() (k, kv int, n uint64, err error) {
	if k, kv, err = projection.Dims(p.Cost); err != nil {
		return 0, 0, 0, err
	}
	if err := projection.CheckSupport(k, len(p.Source), p.Support); err != nil {
		return 0, 0, 0, err
	}
	for m, u := range p.Source {
		if u < 0 {
			return 0, 0, 0, fmt.Errorf("%w: Source[%d] = %d", wpmerr.ErrNegative, m, u)
		}
		if n += uint64(u); n > maxUnits {
			return 0, 0, 0, fmt.Errorf("%w: the entries of Source up to %d sum to %d, at most 2^62", wpmerr.ErrOverflow, m, n)
		}
	}
	if n == 0 {
		return 0, 0, 0, fmt.Errorf("%w: Source sums to 0", wpmerr.ErrMass)
	}
	return k, kv, n, p.checkBox(kv, n)
}

// checkBox checks the bounds, for n units.
func (p *UnitProblem) checkBox(kv int, n uint64) error {
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
func (p *UnitProblem) row(m int) int {
	if p.Support == nil {
		return m
	}
	return p.Support[m]
}

// dual returns the dual value of potentials, for n units, or zero if that is more.
func (p *UnitProblem) dual(u UnitPotentials, n uint64) *big.Rat {
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

// unitCost is the exact cost of a plan of whole units.
type unitCost struct{ sum num.Acc }

// add adds the cost of moving units.
func (c *unitCost) add(units uint64, cost float64) {
	const low = 1<<32 - 1 // units may have more bits than a float
	c.sum.AddMul(float64(units&^low), cost)
	c.sum.AddMul(float64(units&low), cost)
}

// over returns the cost over n units.
func (c *unitCost) over(n uint64) *big.Rat {
	x := c.sum.Rat()
	return x.Quo(x, new(big.Rat).SetUint64(n))
}
