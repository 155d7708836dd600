package network

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/wpm-go/wpm/wpmerr"
)

// Solve finds a flow of least cost, or proves that there is none: see Result. The proof can
// be checked with Verify.
//
// Bad input gives one of the errors ErrShape, ErrArc, ErrBox, ErrBalance, ErrOverflow and ErrSettings, and an empty
// result. A network without a feasible flow gives ErrInfeasible, and a network without a cheapest flow gives
// ErrUnbounded; the result returned with these two errors holds the proof. ErrNotConverged (the context ended or
// Settings.MaxPivots was reached) comes with the best flow so far, if there was one.
func Solve(ctx context.Context, g *Problem, settings Settings) (Result, error) {
	if settings.MaxPivots < 0 {
		return Result{}, fmt.Errorf("%w: MaxPivots = %d is negative", wpmerr.ErrSettings, settings.MaxPivots)
	}
	ctx = wpmerr.Context(ctx)
	if err := g.check(); err != nil {
		return Result{}, err
	}
	l, err := g.load()
	if err != nil {
		return Result{}, err
	}
	maxPivots := settings.MaxPivots
	if maxPivots == 0 {
		maxPivots = math.MaxInt
	}
	var r Result
	r.Status, r.Cycle = l.solve(ctx, maxPivots)
	r.Stats = Stats{Pivots: l.pivots, Degenerate: l.degenerate}
	if !l.artificialFlow() {
		r.Flow = l.flow()
		r.Objective = g.cost(r.Flow)
	}
	switch r.Status {
	case Optimal:
		r.Potentials = l.potentials()
	case Infeasible:
		r.Cut = l.cut()
	}
	return r, r.err(ctx, settings)
}

// err is the error that belongs to the status.
func (r Result) err(ctx context.Context, settings Settings) error {
	switch r.Status {
	case Infeasible:
		return fmt.Errorf("%w: the supplies of a set of %d nodes exceed what can leave it (Result.Cut)", wpmerr.ErrInfeasible,
			len(r.Cut))
	case Unbounded:
		return fmt.Errorf("%w: a cycle of %d arcs with negative cost has no bound (Result.Cycle)", ErrUnbounded, len(r.Cycle))
	case PivotLimit:
		return fmt.Errorf("%w: MaxPivots = %d reached", wpmerr.ErrNotConverged, settings.MaxPivots)
	case Cancelled:
		return fmt.Errorf("%w after %d pivots", wpmerr.Ended(ctx), r.Stats.Pivots)
	}
	return nil
}

// solve runs the simplex and says what came of it, with the cycle that makes the network unbounded.
func (l *loaded) solve(ctx context.Context, maxPivots int) (Status, []Step) {
	if ctx.Err() == nil {
		l.initial(maxPivots)
	}
	st := l.run(ctx, maxPivots)
	if st != Unbounded && (st != Optimal || l.loop < 0) {
		if st == Optimal && l.artificialFlow() {
			st = Infeasible
		}
		return st, nil
	}
	cycle := l.cycle()
	if l.artificialFlow() {
		// A cycle proves nothing without a feasible flow. Look for one at any cost.
		l.forget()
		if st = l.run(ctx, maxPivots); st != Optimal {
			return st, nil
		}
		if l.artificialFlow() {
			return Infeasible, nil
		}
	}
	return Unbounded, cycle
}

// artificial reports whether the arc from v to its parent is artificial, and if so its flow.
func (l *loaded) artificial(v int) (flow int64, ok bool) {
	p := &l.tree[v]
	if int(p.pred) < len(l.arcs) {
		return 0, false
	}
	if l.supply[v] < 0 {
		return p.up, true
	}
	return p.down, true
}

// artificialFlow reports whether artificial arcs carry flow: the flow is not feasible then.
func (l *loaded) artificialFlow() bool {
	for v := range l.supply {
		if flow, _ := l.artificial(v); flow > 0 {
			return true
		}
	}
	return false
}

// forget makes all costs zero and goes on with the same tree.
func (l *loaded) forget() {
	for e := range l.arcs {
		l.arcs[e].cost = 0
	}
	l.big = 1
	l.pi[l.root] = 0
	for v := l.next[l.root]; v != l.root; v = l.next[v] {
		switch _, ok := l.artificial(int(v)); {
		case !ok:
			l.pi[v] = l.pi[l.tree[v].parent]
		case l.supply[v] < 0:
			l.pi[v] = l.big
		default:
			l.pi[v] = 0
		}
	}
}

// cut returns the set that proves that the network is infeasible: all nodes but those that are joined to
// the root by an artificial arc of a demand, directly or through others. No arc can carry more from the
// set to these, since it would replace an artificial arc, and the flow on the artificial arcs of the set
// is what it has too much.
func (l *loaded) cut() []int {
	out := make([]bool, len(l.tree))
	for v := l.next[l.root]; v != l.root; v = l.next[v] {
		if _, ok := l.artificial(int(v)); ok {
			out[v] = l.supply[v] < 0
		} else {
			out[v] = out[l.tree[v].parent]
		}
	}
	var set []int
	for v := range l.supply {
		if !out[v] {
			set = append(set, v)
		}
	}
	return set
}

// cycle returns the cycle that ray closes, or the one of loop.
func (l *loaded) cycle() []Step {
	if l.ray < 0 {
		return []Step{{l.loop, l.net.Arcs[l.loop].Cost > 0}}
	}
	step := func(e int32) Step { return Step{int(l.origin[e] >> 1), l.origin[e]&1 == 1} }
	a := l.arcs[l.ray]
	steps := []Step{step(l.ray)}
	var back []Step // from join to a.from, last first
	for u, v := a.from, a.to; u != v; {
		if l.tree[u].size < l.tree[v].size {
			back = append(back, step(l.tree[u].pred))
			u = l.tree[u].parent
		} else {
			steps = append(steps, step(l.tree[v].pred))
			v = l.tree[v].parent
		}
	}
	slices.Reverse(back)
	return append(steps, back...)
}

// flow returns the flow on the arcs of the network.
func (l *loaded) flow() []int64 {
	x := make([]int64, len(l.net.Arcs))
	for e := range x {
		_, x[e] = l.parts(e)
	}
	y := l.arcFlow()
	for e, o := range l.origin {
		if o&1 == 0 {
			x[o>>1] += y[e]
		} else {
			x[o>>1] -= y[e]
		}
	}
	return x
}

// arcFlow returns the flow on the arcs of the simplex.
func (l *loaded) arcFlow() []int64 {
	y := make([]int64, len(l.arcs))
	for e, full := range l.turned {
		if full {
			y[e] = l.room[e]
		}
	}
	for v := range l.supply {
		p := &l.tree[v]
		if int(p.pred) >= len(l.arcs) {
			continue
		}
		y[p.pred] = p.up
		if (l.arcs[p.pred].from == int32(v)) != l.turned[p.pred] { // it points up
			y[p.pred] = p.down
		}
	}
	return y
}

// potentials returns potentials that prove that the flow is optimal. The price of artificial arcs is not
// in them: it is paid on arcs from the root, which are empty by now, and no empty arc of a strongly
// feasible tree leads away from the root. So each potential is the cost of a path.
func (l *loaded) potentials() []int64 {
	p := make([]int64, len(l.supply))
	for v := range p {
		p[v] = l.pi[v] - l.pi[l.root]
	}
	return p
}
