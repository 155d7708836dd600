package network

import (
	"fmt"
	"math"
	"math/big"

	"github.com/wpm-go/wpm/wpmerr"
)

// Unlimited as the upper bound of an arc means that it has none, and -Unlimited (or less) as the
// lower bound likewise.
const Unlimited = math.MaxInt64

// Problem is a minimum-cost flow problem on any directed graph:
//
//	minimise    sum_e Cost_e x_e
//	subject to  Lower_e <= x_e <= Upper_e            for every arc e
//	            flow out of v - flow into v = Supply_v   for every node v
//
// in integers. Nodes are the indices of Supply, arcs the indices of Arcs; parallel arcs and
// arcs from a node to itself are allowed, and so are negative costs, bounds and flows. The zero
// value has no nodes. Fill in the fields or use AddNode and AddArc; Solve checks everything.
type Problem struct {
	Supply []int64 // what each node sends out, negative for what it takes in; the sum is zero
	Arcs   []Arc
}

// Arc joins node From to node To. Each unit of flow costs Cost.
type Arc struct {
	From, To     int
	Lower, Upper int64 // -Unlimited and Unlimited mean that there is no bound
	Cost         int64
}

// AddNode adds a node and returns its index.
func (g *Problem) AddNode(supply int64) int {
	g.Supply = append(g.Supply, supply)
	return len(g.Supply) - 1
}

// AddArc adds an arc and returns its index.
func (g *Problem) AddArc(from, to int, lower, upper, cost int64) int {
	g.Arcs = append(g.Arcs, Arc{from, to, lower, upper, cost})
	return len(g.Arcs) - 1
}

// hasLower and hasUpper report whether a bound is finite.
func (a *Arc) hasLower() bool { return a.Lower > -Unlimited }
func (a *Arc) hasUpper() bool { return a.Upper < Unlimited }

// maxSize is the largest number of nodes, and of arcs with two for each that is unbounded on both
// sides: together with one artificial arc for each node they are counted in an int32.
const maxSize = math.MaxInt32/2 - 1

// check is the door: it refuses what has no meaning. What is too large is refused by load.
func (g *Problem) check() error {
	if g == nil {
		return fmt.Errorf("%w: no network", wpmerr.ErrShape)
	}
	if len(g.Supply) > maxSize || len(g.Arcs) > maxSize/2 {
		return fmt.Errorf("%w: %d nodes and %d arcs; there may be %d and %d", wpmerr.ErrOverflow, len(g.Supply), len(g.Arcs),
			maxSize, maxSize/2)
	}
	var sum big.Int
	for _, b := range g.Supply {
		add(&sum, b)
	}
	if sum.Sign() != 0 {
		return fmt.Errorf("%w: their sum is %v", ErrBalance, &sum)
	}
	for e := range g.Arcs {
		if err := g.Arcs[e].check(e, len(g.Supply)); err != nil {
			return err
		}
	}
	return nil
}

// check refuses an arc, number e, that is none between n nodes.
func (a *Arc) check(e, n int) error {
	switch {
	case a.From < 0 || a.From >= n:
		return fmt.Errorf("%w: Arcs[%d].From = %d, there are %d nodes", ErrArc, e, a.From, n)
	case a.To < 0 || a.To >= n:
		return fmt.Errorf("%w: Arcs[%d].To = %d, there are %d nodes", ErrArc, e, a.To, n)
	case a.Lower == Unlimited:
		return fmt.Errorf("%w: Arcs[%d].Lower = %d, which means infinity", ErrArc, e, a.Lower)
	case a.Upper <= -Unlimited:
		return fmt.Errorf("%w: Arcs[%d].Upper = %d, which means minus infinity", ErrArc, e, a.Upper)
	case a.Lower > a.Upper:
		return fmt.Errorf("%w: Arcs[%d]: Lower = %d, Upper = %d", wpmerr.ErrBox, e, a.Lower, a.Upper)
	}
	return nil
}

// add and sub are n + x and n - x, in place.
func add(n *big.Int, x int64) { n.Add(n, big.NewInt(x)) }
func sub(n *big.Int, x int64) { n.Sub(n, big.NewInt(x)) }

// cost returns what a flow costs.
func (g *Problem) cost(flow []int64) *big.Int {
	sum, x := new(big.Int), new(big.Int)
	for e, y := range flow {
		if c := g.Arcs[e].Cost; c != 0 && y != 0 {
			sum.Add(sum, x.Mul(big.NewInt(c), big.NewInt(y)))
		}
	}
	return sum
}
