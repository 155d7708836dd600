package network

import (
	"math/big"
)

// Second opinions on networks: short, slow, and in big integers where numbers can be large.

// residual is the residual graph of a flow, for the dumb solver: edges come in pairs e, e^1.
type residual struct {
	n          int
	from, to   []int
	room, cost []*big.Int // room nil: infinite
}

func (g *residual) add(u, v int, room, back, cost *big.Int) {
	g.from, g.to = append(g.from, u, v), append(g.to, v, u)
	g.room = append(g.room, room, back)
	g.cost = append(g.cost, cost, new(big.Int).Neg(cost))
}

// negativeCycle returns the edges of a cycle of negative cost among those that have room, or only
// infinite room, by Bellman and Ford from everywhere; nil if there is none.
func (g *residual) negativeCycle(infinite bool) []int {
	dist := make([]*big.Int, g.n)
	via := make([]int, g.n)
	for v := range dist {
		dist[v], via[v] = new(big.Int), -1
	}
	last := -1
	for range g.n + 1 {
		last = -1
		for e := range g.from {
			if g.room[e] != nil && (infinite || g.room[e].Sign() == 0) {
				continue
			}
			if d := new(big.Int).Add(dist[g.from[e]], g.cost[e]); d.Cmp(dist[g.to[e]]) < 0 {
				dist[g.to[e]], via[g.to[e]], last = d, e, g.to[e]
			}
		}
		if last < 0 {
			return nil
		}
	}
	for range g.n {
		last = g.from[via[last]]
	}
	var cycle []int
	for v := last; ; {
		e := via[v]
		cycle = append(cycle, e)
		if v = g.from[e]; v == last {
			return cycle
		}
	}
}

// path returns the edges with room of a cheapest path from s to t, last one first; nil if there is none.
// There must be no cycle of negative cost.
func (g *residual) path(s, t int) []int {
	dist := make([]*big.Int, g.n)
	via := make([]int, g.n)
	dist[s] = new(big.Int)
	for changed := true; changed; {
		changed = false
		for e := range g.from {
			if dist[g.from[e]] == nil || g.room[e] != nil && g.room[e].Sign() == 0 {
				continue
			}
			d := new(big.Int).Add(dist[g.from[e]], g.cost[e])
			if to := g.to[e]; dist[to] == nil || d.Cmp(dist[to]) < 0 {
				dist[to], via[to], changed = d, e, true
			}
		}
	}
	if dist[t] == nil {
		return nil
	}
	path := []int{}
	for v := t; v != s; v = g.from[via[v]] {
		path = append(path, via[v])
	}
	return path
}

// send sends as much as fits, at most most (nil: no limit), and returns how much that is.
func (g *residual) send(edges []int, most *big.Int) *big.Int {
	for _, e := range edges {
		if g.room[e] != nil && (most == nil || g.room[e].Cmp(most) < 0) {
			most = g.room[e]
		}
	}
	most = new(big.Int).Set(most)
	for _, e := range edges {
		if g.room[e] != nil {
			g.room[e] = new(big.Int).Sub(g.room[e], most)
		}
		if g.room[e^1] != nil {
			g.room[e^1] = new(big.Int).Add(g.room[e^1], most)
		}
	}
	return most
}

// dumbFlow solves a network by cancelling negative cycles, then successive shortest paths from a
// super source to a super sink, all in big integers. The cost is nil unless the status is Optimal.
func dumbFlow(net *Problem) (Status, *big.Int) {
	n := len(net.Supply)
	g := &residual{n: n + 2}
	s, t := n, n+1
	supply := make([]*big.Int, n)
	for v, b := range net.Supply {
		supply[v] = big.NewInt(b)
	}
	cost := new(big.Int)
	for _, a := range net.Arcs {
		start := new(big.Int)
		var room, back *big.Int
		switch lower, upper := a.Lower > -Unlimited, a.Upper < Unlimited; {
		case lower:
			start.SetInt64(a.Lower)
			back = new(big.Int)
			if upper {
				room = new(big.Int).Sub(big.NewInt(a.Upper), start)
			}
		case upper:
			start.SetInt64(a.Upper)
			room = new(big.Int)
		}
		g.add(a.From, a.To, room, back, big.NewInt(a.Cost))
		supply[a.From].Sub(supply[a.From], start)
		supply[a.To].Add(supply[a.To], start)
		cost.Add(cost, start.Mul(start, big.NewInt(a.Cost)))
	}
	for v, b := range supply {
		if b.Sign() > 0 {
			g.add(s, v, b, new(big.Int), new(big.Int))
		} else {
			g.add(v, t, new(big.Int).Neg(b), new(big.Int), new(big.Int))
		}
	}
	ray := g.negativeCycle(true) != nil
	for !ray {
		cycle := g.negativeCycle(false)
		if cycle == nil {
			break
		}
		g.pay(cost, cycle, g.send(cycle, nil))
	}
	if ray { // only feasibility counts
		for e := range g.cost {
			g.cost[e] = new(big.Int)
		}
	}
	for {
		path := g.path(s, t)
		if path == nil {
			break
		}
		g.pay(cost, path, g.send(path, nil))
	}
	for e := range g.from {
		if g.from[e] == s && g.room[e].Sign() != 0 {
			return Infeasible, nil
		}
	}
	if ray {
		return Unbounded, nil
	}
	return Optimal, cost
}

func (g *residual) pay(cost *big.Int, edges []int, flow *big.Int) {
	for _, e := range edges {
		cost.Add(cost, new(big.Int).Mul(g.cost[e], flow))
	}
}

// bruteFlow tries all integer flows within the bounds, which must be finite and close together.
func bruteFlow(net *Problem) (Status, *big.Int) {
	left := make([]int64, len(net.Supply))
	copy(left, net.Supply)
	status, best := Infeasible, int64(0)
	var try func(e int, cost int64)
	try = func(e int, cost int64) {
		if e == len(net.Arcs) {
			for _, b := range left {
				if b != 0 {
					return
				}
			}
			if status == Infeasible || cost < best {
				status, best = Optimal, cost
			}
			return
		}
		a := net.Arcs[e]
		for x := a.Lower; x <= a.Upper; x++ {
			left[a.From] -= x
			left[a.To] += x
			try(e+1, cost+x*a.Cost)
			left[a.From] += x
			left[a.To] -= x
		}
	}
	try(0, 0)
	if status == Infeasible {
		return status, nil
	}
	return status, big.NewInt(best)
}
