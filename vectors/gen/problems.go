package main

import (
	"math"
	"math/big"
	"slices"

	"github.com/wpm-go/wpm/proptest/exact"
	"github.com/wpm-go/wpm/vectors/gen/internal/cases"
	"github.com/wpm-go/wpm/vectors/gen/internal/values"
)

// problem is a cost with a box of its columns and, for some kinds, a distribution on its rows.
type problem struct {
	c      [][]float64
	mu     []float64
	lo, hi []float64
	flags  []string
}

// randomProblem returns a feasible problem, whose numbers lean to edges.
func randomProblem(r *values.RNG, most int) problem {
	k, kv := r.Between(1, most), r.Between(1, most)
	coarse := r.Chance(65)
	p := problem{}
	scale := values.Pick(r, 1, 1, 1, 0x1p-30, 1e12, 3)
	for range k {
		row := make([]float64, kv)
		for j := range row {
			row[j] = values.Grain(r, coarse) * scale
		}
		p.c = append(p.c, row)
	}
	switch r.Intn(6) {
	case 0: // a metric: a ring
		for i := range k {
			for j := range kv {
				d := math.Abs(float64(i%kv - j))
				p.c[i][j] = math.Pow(min(d, float64(kv)-d), 2)
			}
		}
	case 1: // one size of cost for all
		for i := range p.c {
			for j := range p.c[i] {
				p.c[i][j] = values.Pick(r, 0, 1.0)
			}
		}
	}
	p.flags = costFlags(p.c)
	for range k {
		p.mu = append(p.mu, values.Pick(r, values.Grain(r, coarse), values.Grain(r, coarse), float64(r.Intn(100)), 0))
	}
	if !slices.ContainsFunc(p.mu, func(v float64) bool { return v > 0 }) {
		p.mu[0] = 1
	}
	if slices.Contains(p.mu, 0) {
		p.flags = append(p.flags, "zero-mass")
	}
	p.lo, p.hi = make([]float64, kv), make([]float64, kv)
	for {
		for j := range kv {
			p.lo[j] = values.Grain(r, coarse) / float64(kv) * values.Pick(r, 0, 0.5, 1)
			p.hi[j] = p.lo[j] + values.Grain(r, coarse)*values.Pick(r, 0, 1.0, 2)/float64(kv)*1.5
		}
		switch r.Intn(8) {
		case 0: // the same factor for all
			for j := range kv {
				p.hi[j] = 8 * p.lo[j]
			}
		case 1:
			p.hi[r.Intn(kv)] = values.Pick(r, 1, 1e300, 2)
		case 2:
			j := r.Intn(kv)
			p.lo[j], p.hi[j] = 0, 0
		case 3:
			p.lo[r.Intn(kv)] = values.Pick(r, 0x1p-1074, 0x1p-1040, 0)
		}
		for j := range kv {
			p.hi[j] = max(p.hi[j], p.lo[j])
		}
		if reason, _, _ := boxOf(p.lo, p.hi); reason == "" {
			break
		}
	}
	p.flags = append(p.flags, boundFlags(p.lo, p.hi)...)
	return p
}

func costFlags(c [][]float64) (flags []string) {
	k, kv := len(c), len(c[0])
	if k != kv {
		flags = append(flags, "k!=kv")
	}
	if k == 1 {
		flags = append(flags, "one-row")
	}
	if kv == 1 {
		flags = append(flags, "one-column")
	}
	for _, row := range c {
		row = slices.Clone(row)
		slices.Sort(row)
		if len(slices.Compact(row)) < kv {
			return append(flags, "tie")
		}
	}
	return flags
}

func boundFlags(lo, hi []float64) (flags []string) {
	one := big.NewRat(1, 1)
	sl, sh := exact.Sum(exact.Rats(lo)), exact.Sum(exact.Rats(hi))
	switch {
	case sl.Cmp(one) == 0 || sh.Cmp(one) == 0:
		flags = append(flags, "tight-mass")
	case sl.Cmp(one) > 0 || sh.Cmp(one) < 0:
		flags = append(flags, "rounded-box")
	}
	for _, list := range [][]float64{lo, hi} {
		for _, v := range list {
			switch {
			case v > 0 && v < 0x1p-1022:
				return append(flags, "denormal")
			case v > 1e100:
				return append(flags, "huge")
			}
		}
	}
	return flags
}

// boxOf returns what the bounds mean, or why they mean nothing.
func boxOf(lo, hi []float64) (reason string, l, h []*big.Rat) {
	if len(lo) != len(hi) || len(lo) == 0 {
		return "shape", nil, nil
	}
	for j := range lo {
		for _, v := range []float64{lo[j], hi[j]} {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return "finite", nil, nil
			}
		}
	}
	for j := range lo {
		if lo[j] < 0 || hi[j] < 0 {
			return "negative", nil, nil
		}
	}
	for j := range lo {
		if lo[j] > hi[j] {
			return "bounds", nil, nil
		}
	}
	l, h, err := exact.Box(lo, hi)
	if err != nil {
		return "infeasible", nil, nil
	}
	return "", l, h
}

// tight makes the sum of one side of the bounds 1, exactly or up to rounding.
func (p *problem) tight(r *values.RNG) {
	side := p.lo
	if r.Chance(50) {
		side = p.hi
	}
	n := len(side)
	switch r.Intn(3) {
	case 0: // in quarters of 2^-4
		rest := 64
		for j := range side {
			units := r.Intn(rest + 1)
			if j == n-1 {
				units = rest
			}
			rest -= units
			side[j] = float64(units) / 64
		}
	case 1: // off by rounding
		for j := range side {
			side[j] = 1 / float64(n)
		}
		side[0] += values.Pick(r, 1e-13, -1e-13, 5e-13, -5e-13, 0x1p-52, -0x1p-52)
		side[0] = max(side[0], 0)
	case 2:
		for j := range side {
			side[j] = 1 / float64(n)
		}
	}
	for j := range side {
		p.lo[j], p.hi[j] = min(p.lo[j], side[j]), max(p.hi[j], side[j])
	}
}

// broken returns a problem that must be refused, and why.
func broken(r *values.RNG, p problem) (problem, string, []string) {
	j, i := r.Intn(len(p.lo)), r.Intn(len(p.c))
	bad, flag := values.Bad(r)
	switch r.Intn(9) {
	case 0:
		p.lo[j] = bad
	case 1:
		p.hi[j] = bad
	case 2:
		p.c[i][r.Intn(len(p.lo))] = bad
	case 3:
		p.lo, flag = append(p.lo, 0), "long"
	case 4:
		p.hi, flag = p.hi[:len(p.hi)-1], "short"
	case 5: // too much, by a little more than rounding
		flag = "sums-out"
		share := (1 + values.Pick(r, 4e-12, 1e-9, 0.5, 1e300)) / float64(len(p.lo))
		for j := range p.lo {
			p.lo[j], p.hi[j] = share, 2*share
		}
	case 6: // too little
		flag = "sums-out"
		share := (1 - values.Pick(r, 4e-12, 1e-9, 0.5, 1)) / float64(len(p.lo))
		for j := range p.lo {
			p.lo[j], p.hi[j] = share/2, share
		}
	case 7:
		flag = "wrong-order"
		p.lo[j], p.hi[j] = p.hi[j]+values.Pick(r, 0x1p-60, 0.25, 0x1p-1074), p.lo[j]
		if p.lo[j] <= p.hi[j] {
			p.lo[j] = p.hi[j] + 0.5
		}
	case 8:
		if p.mu == nil {
			p.hi[j] = math.NaN()
			return p, "finite", []string{"nan"}
		}
		switch r.Intn(4) {
		case 0:
			p.mu[i] = bad
		case 1:
			for i := range p.mu {
				p.mu[i] = 0
			}
			return p, "mass", []string{"zero-mass"}
		case 2:
			p.mu, flag = append(p.mu, 1), "long"
		case 3:
			p.mu, flag = p.mu[:len(p.mu)-1], "short"
		}
	}
	return p, faultOf(p), []string{flag}
}

// faultOf returns why a problem with one fault is refused.
func faultOf(p problem) string {
	reason, _, _ := boxOf(p.lo, p.hi)
	if len(p.lo) != len(p.c[0]) || p.mu != nil && len(p.mu) != len(p.c) {
		reason = "shape"
	}
	if reason == "" || reason == "infeasible" || reason == "bounds" {
		for _, list := range append(slices.Clone(p.c), p.mu) {
			for _, v := range list {
				switch {
				case math.IsNaN(v) || math.IsInf(v, 0):
					return "finite"
				case v < 0:
					return "negative"
				}
			}
		}
	}
	return reason
}

type phiIn struct {
	C  [][]string `json:"c"`
	Lo []string   `json:"lo"`
	Hi []string   `json:"hi"`
}

type phiOut struct {
	Phi    []string `json:"phi"`
	Tau    []string `json:"tau"`
	F      string   `json:"f"`
	Argmax int      `json:"argmax"`
}

// threshold is the convention for tau: where the greedy fill of a row ends.
func threshold(c, lo, hi []float64) float64 {
	one := big.NewRat(1, 1)
	l, h := exact.Rats(lo), exact.Rats(hi)
	rest := exact.Sub(one, exact.Sum(l))
	if rest.Sign() <= 0 {
		return slices.Min(c)
	}
	order := make([]int, len(c))
	for j := range order {
		order[j] = j
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case c[a] < c[b]:
			return -1
		case c[a] > c[b]:
			return 1
		}
		return 0
	})
	if exact.Sum(h).Cmp(one) <= 0 {
		last := 0.0
		for _, j := range order {
			if h[j].Sign() > 0 {
				last = c[j]
			}
		}
		return last
	}
	for _, j := range order {
		if rest.Sub(rest, exact.Sub(h[j], l[j])); rest.Sign() <= 0 {
			return c[j]
		}
	}
	panic("a fill that does not end")
}

func phiVectors(s *cases.Set) {
	r := &s.RNG
	s.Until(260, 120, func(n int) {
		p := randomProblem(r, 6)
		if n%5 == 0 {
			p.tight(r)
			p.flags = append(costFlags(p.c), boundFlags(p.lo, p.hi)...)
		}
		p.mu = nil
		reason := ""
		if n%3 == 2 {
			p, reason, p.flags = broken(r, p)
		}
		in := phiIn{values.HexMatrix(p.c), values.HexFloats(p.lo), values.HexFloats(p.hi)}
		why, l, h := boxOf(p.lo, p.hi)
		if reason != "" || why != "" {
			if reason == "" {
				reason = why
			}
			s.Invalid(reason, in, p.flags...)
			return
		}
		var phi []*big.Rat
		out := phiOut{}
		for i, row := range values.Matrix(p.c) {
			v, _ := exact.Greedy(row, l, h)
			tau := threshold(p.c[i], p.lo, p.hi)
			values.Must(exact.Cut(exact.Rat(tau), row, l, h).Cmp(v) == 0, "the cut at tau does not touch phi")
			phi = append(phi, v)
			out.Tau = append(out.Tau, values.HexFloat(tau))
			if v.Cmp(phi[out.Argmax]) > 0 {
				out.Argmax = i
			}
		}
		out.Phi, out.F = values.Ratios(phi), phi[out.Argmax].RatString()
		s.Valid(in, out, p.flags...)
	})
}

type projectIn struct {
	C  [][]string `json:"c"`
	Mu []string   `json:"mu"`
	Lo []string   `json:"lo"`
	Hi []string   `json:"hi"`
}

type planEntry struct {
	I    int    `json:"i"`
	J    int    `json:"j"`
	Mass string `json:"mass"`
}

type projectOut struct {
	Value string      `json:"value"`
	Plan  []planEntry `json:"plan"`
	F     []string    `json:"f"`
	G     []string    `json:"g"`
}

func projectVectors(s *cases.Set) {
	r := &s.RNG
	s.Until(220, 110, func(n int) {
		p := randomProblem(r, 5)
		if n%5 == 0 {
			p.tight(r)
			p.flags = append(costFlags(p.c), boundFlags(p.lo, p.hi)...)
		}
		reason := ""
		if n%3 == 2 {
			p, reason, p.flags = broken(r, p)
		}
		in := projectIn{values.HexMatrix(p.c), values.HexFloats(p.mu), values.HexFloats(p.lo), values.HexFloats(p.hi)}
		why, l, h := boxOf(p.lo, p.hi)
		if reason == "" {
			reason = why
		}
		if reason != "" {
			s.Invalid(reason, in, p.flags...)
			return
		}
		mu, err := exact.Distribution(p.mu)
		values.Must(err == nil, "no distribution")
		value, plan, f, g := solve(values.Matrix(p.c), mu, l, h)
		out := projectOut{Value: value.RatString(), Plan: []planEntry{}, F: values.Ratios(f), G: values.Ratios(g)}
		for i, row := range plan {
			for j, v := range row {
				if v.Sign() > 0 {
					out.Plan = append(out.Plan, planEntry{i, j, v.RatString()})
				}
			}
		}
		s.Valid(in, out, p.flags...)
	})
}

// solve is the projection by successive shortest paths in rationals, found by relaxing every arc until nothing changes.
// Its answer is a plan and potentials, whose values are equal: that proves it, whatever happened on the way.
func solve(c [][]*big.Rat, mu, l, h []*big.Rat) (value *big.Rat, plan [][]*big.Rat, f, g []*big.Rat) {
	k, kv := len(mu), len(l)
	t := &transport{
		k: k, kv: kv, c: c, l: l, h: h, plan: make([][]*big.Rat, k), owed: slices.Clone(mu), want: slices.Clone(l), over: exact.Zeros(kv),
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

// A transport is a plan on the way. Nodes are the inputs, then the outputs, then a sink. Input i owes mu_i; output j must
// get l_j and may pass on what is above, up to h_j - l_j, to the sink, which takes what the lower bounds leave.
type transport struct {
	k, kv            int
	c, plan          [][]*big.Rat
	l, h             []*big.Rat
	owed, want, over []*big.Rat
	free             *big.Rat
	dist             []*big.Rat
	from             []int
}

// distances finds the cheapest ways from the inputs that still owe.
func (t *transport) distances() {
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

func (t *transport) relax(u, v int, price *big.Rat) bool {
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
func (t *transport) push() {
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
