package network

import (
	"fmt"
	"math/big"

	"github.com/wpm-go/wpm/wpmerr"
)

// Verify checks the proof in a Result, in exact integers and without code of the solver:
//
//   - Optimal: Flow meets all bounds and supplies, Objective is its cost, and Potentials show that no flow is
//     cheaper: an arc with positive reduced cost Cost + Potentials[From] - Potentials[To] is at its
//     lower bound, one with negative reduced cost at its upper bound.
//   - Infeasible: the supplies of the nodes in Cut sum to more than can leave the set, which is the sum of the upper
//     bounds of the arcs out of it less the lower bounds of the arcs into it.
//   - Unbounded: Flow meets all bounds and supplies, Objective is its cost, and Cycle is a closed walk of
//     negative cost on which no arc ever meets a bound.
//   - PivotLimit, Cancelled: Flow, if there is one, meets all bounds and supplies, and Objective is its
//     cost.
//
// If a check fails, the error wraps ErrCertificate. A bad network gives the same error as in Solve.
func Verify(g *Problem, r Result) error {
	if err := g.check(); err != nil {
		return err
	}
	c := flowCheck{g, r}
	switch r.Status {
	case Optimal:
		if err := c.feasible(); err != nil {
			return err
		}
		return c.optimal()
	case Infeasible:
		return c.cut()
	case Unbounded:
		if err := c.feasible(); err != nil {
			return err
		}
		return c.cycle()
	case PivotLimit, Cancelled:
		if r.Flow == nil {
			return nil
		}
		return c.feasible()
	}
	return fmt.Errorf("%w: status %d", wpmerr.ErrCertificate, int(r.Status))
}

type flowCheck struct {
	g *Problem
	r Result
}

// feasible checks bounds, supplies and the objective.
func (c flowCheck) feasible() error {
	if len(c.r.Flow) != len(c.g.Arcs) {
		return fmt.Errorf("%w: %d flows on %d arcs", wpmerr.ErrCertificate, len(c.r.Flow), len(c.g.Arcs))
	}
	for e, a := range c.g.Arcs {
		y := c.r.Flow[e]
		if a.Lower > -Unlimited && y < a.Lower || a.Upper < Unlimited && y > a.Upper {
			return fmt.Errorf("%w: Flow[%d] = %d is not from %d to %d", wpmerr.ErrCertificate, e, y, a.Lower, a.Upper)
		}
	}
	if err := c.balanced(); err != nil {
		return err
	}
	if cost := c.g.cost(c.r.Flow); c.r.Objective == nil || cost.Cmp(c.r.Objective) != 0 {
		return fmt.Errorf("%w: the flow costs %v, Objective = %v", wpmerr.ErrCertificate, cost, c.r.Objective)
	}
	return nil
}

// balanced checks that every node sends its supply.
func (c flowCheck) balanced() error {
	net := make([]big.Int, len(c.g.Supply))
	for e, a := range c.g.Arcs {
		add(&net[a.From], c.r.Flow[e])
		sub(&net[a.To], c.r.Flow[e])
	}
	for v, b := range c.g.Supply {
		if net[v].Cmp(big.NewInt(b)) != 0 {
			return fmt.Errorf("%w: node %d sends %v, its supply is %d", wpmerr.ErrCertificate, v, &net[v], b)
		}
	}
	return nil
}

func (c flowCheck) optimal() error {
	p := c.r.Potentials
	if len(p) != len(c.g.Supply) {
		return fmt.Errorf("%w: %d potentials of %d nodes", wpmerr.ErrCertificate, len(p), len(c.g.Supply))
	}
	for e, a := range c.g.Arcs {
		reduced := big.NewInt(a.Cost)
		add(reduced, p[a.From])
		sub(reduced, p[a.To])
		y, sign := c.r.Flow[e], reduced.Sign()
		if sign > 0 && (a.Lower <= -Unlimited || y != a.Lower) || sign < 0 && (a.Upper == Unlimited || y != a.Upper) {
			return fmt.Errorf("%w: arc %d from %d to %d has flow %d and reduced cost %v", wpmerr.ErrCertificate, e, a.Lower, a.Upper, y,
				reduced)
		}
	}
	return nil
}

func (c flowCheck) cut() error {
	in := make([]bool, len(c.g.Supply))
	var excess big.Int
	for _, v := range c.r.Cut {
		if v < 0 || v >= len(in) || in[v] {
			return fmt.Errorf("%w: Cut contains node %d, which does not exist or twice", wpmerr.ErrCertificate, v)
		}
		in[v] = true
		add(&excess, c.g.Supply[v])
	}
	for e, a := range c.g.Arcs {
		if in[a.From] == in[a.To] {
			continue
		}
		if err := c.crossing(&excess, e, in[a.From]); err != nil {
			return err
		}
	}
	if excess.Sign() <= 0 {
		return fmt.Errorf("%w: the cut holds %v more than may leave it, which is not positive", wpmerr.ErrCertificate, &excess)
	}
	return nil
}

// crossing takes from the excess of a cut what arc e can carry out of it, net.
func (c flowCheck) crossing(excess *big.Int, e int, out bool) error {
	a := c.g.Arcs[e]
	switch {
	case out && a.Upper == Unlimited:
		return fmt.Errorf("%w: arc %d out of the cut has no upper bound", wpmerr.ErrCertificate, e)
	case out:
		sub(excess, a.Upper)
	case a.Lower <= -Unlimited:
		return fmt.Errorf("%w: arc %d into the cut has no lower bound", wpmerr.ErrCertificate, e)
	default:
		add(excess, a.Lower)
	}
	return nil
}

func (c flowCheck) cycle() error {
	var cost big.Int
	at, start := -1, -1
	for i := range c.r.Cycle {
		from, to, err := c.step(&cost, i)
		switch {
		case err != nil:
			return err
		case i == 0:
			start = from
		case from != at:
			return fmt.Errorf("%w: Cycle[%d] goes on from node %d, not from node %d", wpmerr.ErrCertificate, i, from, at)
		}
		at = to
	}
	if at != start {
		return fmt.Errorf("%w: Cycle starts at node %d and ends at node %d", wpmerr.ErrCertificate, start, at)
	}
	if cost.Sign() >= 0 {
		return fmt.Errorf("%w: Cycle costs %v, which is not negative", wpmerr.ErrCertificate, &cost)
	}
	return nil
}

// step adds the cost of step i of the cycle, checks that no bound stops it, and returns where it goes.
func (c flowCheck) step(cost *big.Int, i int) (from, to int, err error) {
	s := c.r.Cycle[i]
	if s.Arc < 0 || s.Arc >= len(c.g.Arcs) {
		return 0, 0, fmt.Errorf("%w: Cycle[%d] is arc %d of %d", wpmerr.ErrCertificate, i, s.Arc, len(c.g.Arcs))
	}
	a := c.g.Arcs[s.Arc]
	if s.Backward {
		sub(cost, a.Cost)
		if a.Lower > -Unlimited {
			err = fmt.Errorf("%w: Cycle[%d]: arc %d has the lower bound %d", wpmerr.ErrCertificate, i, s.Arc, a.Lower)
		}
		return a.To, a.From, err
	}
	add(cost, a.Cost)
	if a.Upper < Unlimited {
		err = fmt.Errorf("%w: Cycle[%d]: arc %d has the upper bound %d", wpmerr.ErrCertificate, i, s.Arc, a.Upper)
	}
	return a.From, a.To, err
}
