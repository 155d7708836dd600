// Package transport projects a distribution into a box at least cost, in rationals, with a proof.
package transport

import (
	"math/big"
	"slices"

	"github.com/wpm-go/wpm/lab/vectors/internal/values"
	"github.com/wpm-go/wpm/proptest/exact"
)

// Project returns the least cost of moving mu to a distribution between l and h, a plan of that cost, and potentials.
// Plans are found by successive shortest paths, and those by relaxing every arc until nothing changes. The values of
// the plan and of the potentials are equal: that proves both, whatever happened on the way.
func Project(c [][]*big.Rat, mu, l, h []*big.Rat) (value *big.Rat, plan [][]*big.Rat, f, g []*big.Rat) {
	k, kv := len(mu), len(l)
	t := &state{
		k: k, kv: kv, c: c, l: l, h: h, plan: make([][]*big.Rat, k), owed: slices.Clone(mu), want: slices.Clone(l),
		over: exact.Zeros(kv),
		free: exact.Sub(big.NewRat(1, 1), exact.Sum(l)),
	}
	for i := range t.plan {
		t.plan[i] = exact.Zeros(kv)
	}
	for slices.ContainsFunc(t.owed, func(v *big.Rat) bool { return v.Sign() > 0 }) {
		t.distances()
		t.push()
	}
	f, g = potentials(c, t.plan, l, h)
	return proved(c, mu, l, h, t.plan, f, g), t.plan, f, g
}

// A state is a plan on the way. Nodes are the inputs, then the outputs, then a sink. Input i owes mu_i; output j must
// get l_j and may pass on what is above, up to h_j - l_j, to the sink, which takes what the lower bounds leave.
type state struct {
	k, kv            int
	c, plan          [][]*big.Rat
	l, h             []*big.Rat
	owed, want, over []*big.Rat
	free             *big.Rat
	dist             []*big.Rat
	from             []int
}

// distances finds the cheapest ways from the inputs that still owe.
func (t *state) distances() {
	k, sink := t.k, t.k+t.kv
	t.dist, t.from = make([]*big.Rat, sink+1), make([]int, sink+1)
	for i := range k {
		if t.owed[i].Sign() > 0 {
			t.dist[i], t.from[i] = new(big.Rat), -1
		}
	}
	zero := new(big.Rat)
	for changed := true; changed; {
		changed = false
		for i := range k {
			for j := range t.kv {
				changed = t.relax(i, k+j, t.c[i][j]) || changed
				if t.plan[i][j].Sign() > 0 {
					changed = t.relax(k+j, i, new(big.Rat).Neg(t.c[i][j])) || changed
				}
			}
		}
		for j := range t.kv {
			if t.over[j].Cmp(exact.Sub(t.h[j], t.l[j])) < 0 {
				changed = t.relax(k+j, sink, zero) || changed
			}
			if t.over[j].Sign() > 0 {
				changed = t.relax(sink, k+j, zero) || changed
			}
		}
	}
}

func (t *state) relax(u, v int, price *big.Rat) bool {
	if t.dist[u] == nil {
		return false
	}
	d := exact.Add(t.dist[u], price)
	if t.dist[v] != nil && t.dist[v].Cmp(d) <= 0 {
		return false
	}
	t.dist[v], t.from[v] = d, u
	return true
}

// push sends as much as it can to the nearest output that wants, or to the sink.
func (t *state) push() {
	k, sink, end := t.k, t.k+t.kv, -1
	for v := k; v <= sink; v++ {
		wants := v == sink && t.free.Sign() > 0 || v < sink && t.want[v-k].Sign() > 0
		if wants && t.dist[v] != nil && (end < 0 || t.dist[v].Cmp(t.dist[end]) < 0) {
			end = v
		}
	}
	values.Must(end >= 0, "no path")
	amount, start := t.free, end
	if end < sink {
		amount = t.want[end-k]
	}
	for v := end; t.from[v] >= 0; v = t.from[v] {
		switch u := t.from[v]; {
		case u >= k && u < sink && v < k:
			amount = exact.Min(amount, t.plan[v][u-k])
		case v == sink:
			amount = exact.Min(amount, exact.Sub(exact.Sub(t.h[u-k], t.l[u-k]), t.over[u-k]))
		case u == sink:
			amount = exact.Min(amount, t.over[v-k])
		}
		start = t.from[v]
	}
	amount = exact.Min(amount, t.owed[start])
	for v := end; t.from[v] >= 0; v = t.from[v] {
		switch u := t.from[v]; {
		case u < k:
			t.plan[u][v-k] = exact.Add(t.plan[u][v-k], amount)
		case v == sink:
			t.over[u-k] = exact.Add(t.over[u-k], amount)
		case u == sink:
			t.over[v-k] = exact.Sub(t.over[v-k], amount)
		default:
			t.plan[v][u-k] = exact.Sub(t.plan[v][u-k], amount)
		}
	}
	t.owed[start] = exact.Sub(t.owed[start], amount)
	if end == sink {
		t.free = exact.Sub(t.free, amount)
	} else {
		t.want[end-k] = exact.Sub(t.want[end-k], amount)
	}
}

// proved returns the cost of a plan that the potentials prove to be the least.
func proved(c [][]*big.Rat, mu, l, h []*big.Rat, plan [][]*big.Rat, f, g []*big.Rat) *big.Rat {
	value, dual, q := new(big.Rat), new(big.Rat), exact.Zeros(len(l))
	for i, row := range plan {
		sum := new(big.Rat)
		for j, v := range row {
			values.Must(v.Sign() >= 0, "a plan below zero")
			value.Add(value, exact.Mul(c[i][j], v))
			q[j].Add(q[j], v)
			sum.Add(sum, v)
		}
		values.Must(sum.Cmp(mu[i]) == 0, "a row of the plan")
		dual.Add(dual, exact.Mul(mu[i], f[i]))
	}
	for j := range q {
		values.Must(q[j].Cmp(l[j]) >= 0 && q[j].Cmp(h[j]) <= 0, "a plan outside the box")
		dual.Add(dual, exact.Min(exact.Mul(l[j], g[j]), exact.Mul(h[j], g[j])))
		for i := range mu {
			values.Must(exact.Add(f[i], g[j]).Cmp(c[i][j]) <= 0, "potentials")
		}
	}
	values.Must(dual.Cmp(value) == 0, "the dual value is not the cost of the plan")
	return value
}

// potentials returns f, g with f + g <= c that prove a plan to be optimal: minus the distances in its residual graph,
// to which the outputs are joined by a sink. They say g_j > 0 only where q_j = l_j, and g_j < 0 only where q_j = h_j.
func potentials(c, plan [][]*big.Rat, l, h []*big.Rat) (f, g []*big.Rat) {
	k, kv := len(c), len(l)
	q := exact.Zeros(kv)
	for _, row := range plan {
		for j, v := range row {
			q[j].Add(q[j], v)
		}
	}
	// u_i <= c_ij + v_j for all, v_j <= u_i - c_ij where mass moves, v_j <= 0 where q can rise, 0 <= v_j where it can
	// fall: with u = f, v = -g. The greatest solution below a bound is found by relaxation.
	u, v := make([]*big.Rat, k), make([]*big.Rat, kv)
	bound := big.NewRat(1, 1)
	for _, row := range c {
		for _, x := range row {
			bound.Add(bound, x)
		}
	}
	sink := new(big.Rat) // its potential, shifted to 0 at the end
	sink.Set(bound)
	for i := range u {
		u[i] = new(big.Rat).Set(bound)
	}
	for j := range v {
		v[j] = new(big.Rat).Set(bound)
	}
	lower := func(x **big.Rat, to *big.Rat) bool {
		if (*x).Cmp(to) <= 0 {
			return false
		}
		*x = new(big.Rat).Set(to)
		return true
	}
	for round, changed := 0, true; changed; round++ {
		values.Must(round <= k+kv+2, "a cheaper plan")
		changed = false
		for i := range u {
			for j := range v {
				changed = lower(&u[i], exact.Add(c[i][j], v[j])) || changed
				if plan[i][j].Sign() > 0 {
					changed = lower(&v[j], exact.Sub(u[i], c[i][j])) || changed
				}
			}
		}
		for j := range v {
			if q[j].Cmp(h[j]) < 0 {
				changed = lower(&v[j], sink) || changed
			}
			if q[j].Cmp(l[j]) > 0 {
				changed = lower(&sink, v[j]) || changed
			}
		}
	}
	for i := range u {
		f = append(f, exact.Sub(u[i], sink))
	}
	for j := range v {
		g = append(g, exact.Sub(sink, v[j]))
	}
	return f, g
}
