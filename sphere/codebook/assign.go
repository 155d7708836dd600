package codebook

import (
	"math"
	"slices"
)

// assignment is the transport problem of a release: atoms with masses mu (sum 1), candidates that must get at least
// lo_j and can take hi_j,
//
//	min sum_ij c_ij pi_ij,   sum_j pi_ij = mu_i,   lo_j <= sum_i pi_ij <= hi_j.
//
// Its dual is that of the projection on the whole sphere, with the candidates for the uniform distribution: with one
// number w_i for each atom and m_j = min_i (c_ij - w_i),
//
//	max sum_i w_i mu_i + sum_j (lo_j max(m_j, 0) - hi_j max(-m_j, 0)).
//
// The method is successive shortest paths on a graph of the atoms alone, which are few, and a sink T that stands for
// the part of a candidate above lo. It starts with each lo_j at the nearest atom, and w = 0. An atom with mass left
// over passes it on: it takes a candidate over from another atom, which then has mass left over (edge i -> k, price min
// over the candidates j of k of c_ij - c_kj), or raises a candidate that is not full (i -> T, price c_ij), or has
// another atom lower one that is above lo (T -> k, price -c_kj); along a cheapest path to an atom that has given too
// much, or to T. The cheapest candidate of each edge is kept in a table.
//
// Nothing here is trusted: the answer is rounded into the box by ldp.
type assignment struct {
	k, n   int       // atoms, candidates
	cost   []float64 // k x n
	lo, hi []float64
	pi     []float64 // k x n
	mass   []float64 // of a candidate: the column sums of pi
	served [][]int32 // for each atom, the candidates with pi > 0, in no order
	excess []float64 // for each atom mass not yet placed; the last entry is minus what T still has to take

	move, put, take []price   // k x k (from i to k), k, k
	w               []float64 // potentials: w_i = pot_T - pot_i
	dist            []float64
	from            []int // on the way to a node with a finite dist, the one before it
	done            []bool
	hops            []hop // of the path along which mass is pushed
	work            int   // entries of tables, lists and paths that may still be looked at
}

// A hop is an edge of a path, with its candidate.
type hop struct{ u, v, j int }

// price is the cheapest candidate of an edge; at is -1 if there is none.
type price struct {
	v  float64
	at int32
}

var none = price{math.Inf(1), -1}

func (p *price) offer(v float64, j int32) {
	if v < p.v {
		*p = price{v, j}
	}
}

// newAssignment states the problem. It takes all memory for it from m.
func newAssignment(m *memory, cost, mu, lo, hi []float64) *assignment {
	k, n := len(mu), len(lo)
	a := &m.assignment
	*a = assignment{
		k: k, n: n, cost: cost, lo: lo, hi: hi,
		pi: m.float64s(k * n), mass: m.float64s(n), served: m.lists[:k], excess: m.float64s(k + 1),
		move: m.prices[:k*k], put: m.prices[k*k:][:k], take: m.prices[k*k+k:][:k],
		w: m.float64s(k + 1), dist: m.float64s(k + 1), from: a.from, done: a.done, hops: a.hops, work: maxWork,
	}
	copy(a.mass, lo)
	a.excess[copy(a.excess, mu)] = -1
	for i := range k {
		a.served[i] = m.indices[i*n : i*n : (i+1)*n]
	}
	for j := range n {
		best := 0
		for i := 1; i < k; i++ {
			if cost[i*n+j] < cost[best*n+j] {
				best = i
			}
		}
		a.pi[best*n+j] = lo[j]
		a.excess[best] -= lo[j]
		a.excess[k] += lo[j]
		if lo[j] > 0 {
			a.served[best] = append(a.served[best], int32(j))
		}
	}
	for i := range k {
		a.rescanPut(i)
		a.take[i] = none
		for l := range k {
			a.rescanMove(i, l)
		}
	}
	return a
}

func (a *assignment) rescanMove(i, l int) {
	best := none
	if i != l {
		a.work -= len(a.served[l])
		ci, cl := a.cost[i*a.n:(i+1)*a.n], a.cost[l*a.n:(l+1)*a.n]
		for _, j := range a.served[l] {
			best.offer(ci[j]-cl[j], j)
		}
	}
	a.move[i*a.k+l] = best
}

func (a *assignment) rescanPut(i int) {
	best := none
	a.work -= a.n
	for j, c := range a.cost[i*a.n : (i+1)*a.n] {
		if a.mass[j] < a.hi[j] {
			best.offer(c, int32(j))
		}
	}
	a.put[i] = best
}

func (a *assignment) rescanTake(l int) {
	best := none
	a.work -= len(a.served[l])
	for _, j := range a.served[l] {
		if a.mass[j] > a.lo[j] {
			best.offer(-a.cost[l*a.n+int(j)], j)
		}
	}
	a.take[l] = best
}

const (
	// dust is the mass below which an atom counts as placed: rounding leaves 1e-16 or so, and ldp rounds to 2^-B anyway.
	dust = 1e-14
	// maxWork bounds what solve looks at, some seconds: a path empties or fills one candidate at least, and few do so more
	// than twice, but nothing bounds how often rounding makes them. It is a count and no time, so that a law is a function
	// of the data.
	maxWork = 1 << 30
)

// solve returns the column sums of an optimal pi; where the work runs out before that, those of a pi that leaves mass
// over, which ldp places.
func (a *assignment) solve() []float64 {
	for a.work > 0 {
		a.work--
		start := 0
		for i := range a.k {
			if a.excess[i] > a.excess[start] {
				start = i
			}
		}
		if !(a.excess[start] > dust) {
			break
		}
		end := a.path(start)
		if end < 0 {
			break // only rounding can have left more supply than demand
		}
		a.push(start, end)
	}
	return a.mass
}

// edge returns the price of u -> v.
func (a *assignment) edge(u, v int) price {
	switch {
	case u == a.k:
		return a.take[v]
	case v == a.k:
		return a.put[u]
	}
	return a.move[u*a.k+v]
}

// path is Dijkstra's search from start, on prices reduced by the potentials, to the nearest node that can take mass; -1
// if there is none.
func (a *assignment) path(start int) int {
	for v := range a.dist {
		a.dist[v], a.done[v] = math.Inf(1), false
	}
	a.dist[start] = 0
	for {
		u := -1
		for v, d := range a.dist {
			if !a.done[v] && d < math.Inf(1) && (u < 0 || d < a.dist[u]) {
				u = v
			}
		}
		if u < 0 {
			return -1
		}
		if a.excess[u] < -dust {
			for v, d := range a.dist {
				if a.done[v] {
					a.w[v] += d - a.dist[u]
				}
			}
			return u
		}
		a.done[u] = true
		a.work -= 2 * (a.k + 1)
		for v := range a.dist {
			if a.done[v] {
				continue
			}
			// Rounding can make a reduced price negative by an ulp.
			if d := a.dist[u] + max(a.edge(u, v).v+a.w[u]-a.w[v], 0); d < a.dist[v] {
				a.dist[v], a.from[v] = d, u
			}
		}
	}
}

// push sends as much as it can along the path that was found.
func (a *assignment) push(start, end int) {
	amount := min(a.excess[start], -a.excess[end])
	for v := end; v != start; v = a.from[v] {
		u := a.from[v]
		j := int(a.edge(u, v).at)
		switch {
		case v == a.k:
			amount = min(amount, a.hi[j]-a.mass[j])
		case u == a.k:
			amount = min(amount, a.pi[v*a.n+j], a.mass[j]-a.lo[j])
		default:
			amount = min(amount, a.pi[v*a.n+j])
		}
	}
	// The candidates are those of the tables before anything is changed.
	path := a.hops[:0]
	for v := end; v != start; v = a.from[v] {
		path = append(path, hop{a.from[v], v, int(a.edge(a.from[v], v).at)})
	}
	for _, h := range path {
		if h.u < a.k {
			a.change(h.u, h.j, amount)
		}
		if h.v < a.k {
			a.change(h.v, h.j, -amount)
		}
		if h.v == a.k {
			a.level(h.j, amount)
		}
		if h.u == a.k {
			a.level(h.j, -amount)
		}
	}
	a.excess[start] -= amount
	a.excess[end] += amount
}

// change adds d to pi_ij and keeps served and the tables.
func (a *assignment) change(i, j int, d float64) {
	pi := &a.pi[i*a.n+j]
	was := *pi > 0
	*pi = max(*pi+d, 0)
	switch is := *pi > 0; {
	case is && !was:
		a.served[i] = append(a.served[i], int32(j))
		for l := range a.k {
			if l != i {
				a.move[l*a.k+i].offer(a.cost[l*a.n+j]-a.cost[i*a.n+j], int32(j))
			}
		}
		if a.mass[j] > a.lo[j] {
			a.take[i].offer(-a.cost[i*a.n+j], int32(j))
		}
	case was && !is:
		s := a.served[i]
		s[slices.Index(s, int32(j))] = s[len(s)-1]
		a.served[i] = s[:len(s)-1]
		for l := range a.k {
			if a.move[l*a.k+i].at == int32(j) {
				a.rescanMove(l, i)
			}
		}
		if a.take[i].at == int32(j) {
			a.rescanTake(i)
		}
	}
}

// level adds d to the mass of a candidate, to lo or hi exactly if that is what d is for.
func (a *assignment) level(j int, d float64) {
	wasFull, wasLow := a.mass[j] >= a.hi[j], a.mass[j] <= a.lo[j]
	switch {
	case d == a.hi[j]-a.mass[j]:
		a.mass[j] = a.hi[j]
	case -d == a.mass[j]-a.lo[j]:
		a.mass[j] = a.lo[j]
	default:
		a.mass[j] = min(max(a.mass[j]+d, a.lo[j]), a.hi[j])
	}
	full, low := a.mass[j] >= a.hi[j], a.mass[j] <= a.lo[j]
	for i := range a.k {
		if full && !wasFull && a.put[i].at == int32(j) {
			a.rescanPut(i)
		}
		if wasFull && !full {
			a.put[i].offer(a.cost[i*a.n+j], int32(j))
		}
		if low && !wasLow && a.take[i].at == int32(j) {
			a.rescanTake(i)
		}
		if wasLow && !low && a.pi[i*a.n+j] > 0 {
			a.take[i].offer(-a.cost[i*a.n+j], int32(j))
		}
	}
}
