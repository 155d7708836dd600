package exact

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
)

// ErrInfeasible says that a box holds no distribution, or that masses are not a distribution.
var ErrInfeasible = errors.New("proptest: infeasible instance")

// BoxSlack is how far a box may miss mass 1 and still be the nearest point to it: the module's convention for inexact
// boxes.
const BoxSlack = 1e-12

// Rat returns x exactly. It panics if x is not finite; laws check this first.
func Rat(x float64) *big.Rat {
	r := new(big.Rat).SetFloat64(x)
	if r == nil {
		panic(fmt.Sprintf("proptest: %v has no exact value", x)) // laws check for NaN and infinities first
	}
	return r
}

// Integer returns n exactly.
func Integer(n uint64) *big.Rat { return new(big.Rat).SetInt(new(big.Int).SetUint64(n)) }

// Add returns x + y.
func Add(x, y *big.Rat) *big.Rat { return new(big.Rat).Add(x, y) }

// Sub returns x - y.
func Sub(x, y *big.Rat) *big.Rat { return new(big.Rat).Sub(x, y) }

// Mul returns x * y.
func Mul(x, y *big.Rat) *big.Rat { return new(big.Rat).Mul(x, y) }

// Quo returns x / y.
func Quo(x, y *big.Rat) *big.Rat { return new(big.Rat).Quo(x, y) }

// Min returns the lesser.
func Min(x, y *big.Rat) *big.Rat {
	if x.Cmp(y) <= 0 {
		return x
	}
	return y
}

// Max returns the greater.
func Max(x, y *big.Rat) *big.Rat {
	if x.Cmp(y) >= 0 {
		return x
	}
	return y
}

// Sum returns the sum.
func Sum(x []*big.Rat) *big.Rat {
	s := new(big.Rat)
	for _, v := range x {
		s.Add(s, v)
	}
	return s
}

// Zeros returns n zeros.
func Zeros(n int) []*big.Rat {
	x := make([]*big.Rat, n)
	for j := range x {
		x[j] = new(big.Rat)
	}
	return x
}

// Rats returns the floats exactly.
func Rats(x []float64) []*big.Rat {
	r := make([]*big.Rat, len(x))
	for i, v := range x {
		r[i] = Rat(v)
	}
	return r
}

// Floats returns the floats nearest to x.
func Floats(x []*big.Rat) []float64 {
	f := make([]float64, len(x))
	for i, v := range x {
		f[i] = Float(v)
	}
	return f
}

// Float returns the float nearest to r.
func Float(r *big.Rat) float64 {
	f, _ := r.Float64()
	return f
}

// ExpBounds returns rationals with lower <= e^x <= upper for x >= 0, at a relative distance of about
// 2^-bits: a partial sum of the series, and the same plus a bound on the rest. Both are 1 at x = 0.
//
// The terms x^n/n! are multiples of 2^-(bits+64), rounded down for one sum and up for the other. Once n+1 >= 2x, each
// term is at most half of the one before, so the rest is at most the last term.
func ExpBounds(x *big.Rat, bits int) (lower, upper *big.Rat) {
	switch x.Sign() {
	case 0:
		return big.NewRat(1, 1), big.NewRat(1, 1)
	case -1:
		panic("proptest: ExpBounds of a negative number")
	}
	one := new(big.Int).Lsh(big.NewInt(1), uint(bits)+64)
	down, up := new(big.Int).Set(one), new(big.Int).Set(one) // the last term
	low, high := new(big.Int).Set(one), new(big.Int).Set(one)
	den := new(big.Int)
	for n, most := int64(1), int64(math.Ceil(2*Float(x))); n <= most || down.Sign() > 0; n++ {
		den.Mul(x.Denom(), den.SetInt64(n))
		down.Div(down.Mul(down, x.Num()), den)
		up.Div(up.Add(up.Mul(up, x.Num()), den).Sub(up, big.NewInt(1)), den)
		low.Add(low, down)
		high.Add(high, up)
	}
	high.Add(high, up)
	return Down(new(big.Rat).SetFrac(low, one), bits+8), Up(new(big.Rat).SetFrac(high, one), bits+8)
}

// Down rounds r down to a multiple of 2^-bits, to keep the numbers short.
func Down(r *big.Rat, bits int) *big.Rat {
	one := new(big.Int).Lsh(big.NewInt(1), uint(bits))
	n := new(big.Int).Mul(r.Num(), one)
	return new(big.Rat).SetFrac(n.Div(n, r.Denom()), one) // floor, also below zero
}

// Up rounds r up to a multiple of 2^-bits.
func Up(r *big.Rat, bits int) *big.Rat {
	n := Down(new(big.Rat).Neg(r), bits)
	return n.Neg(n)
}

// An expo decides comparisons with e^x exactly, refining its bounds as needed.
type Expo struct {
	X            *big.Rat
	bits         int
	Lower, Upper *big.Rat
}

// NewExpo returns e^x, for x >= 0.
func NewExpo(x *big.Rat) *Expo {
	e := &Expo{X: x, bits: 96}
	e.Lower, e.Upper = ExpBounds(x, e.bits)
	return e
}

// Holds reports whether hi <= e^x lo. It ends, because e^x is irrational for rational x > 0, and the bounds are equal
// for x = 0.
func (e *Expo) Holds(hi, lo uint64) bool {
	h, l := new(big.Int).SetUint64(hi), new(big.Int).SetUint64(lo)
	compare := func(bound *big.Rat) int { // bound * l with h
		return new(big.Int).Mul(bound.Num(), l).Cmp(new(big.Int).Mul(bound.Denom(), h))
	}
	for {
		if compare(e.Lower) >= 0 {
			return true
		}
		if compare(e.Upper) < 0 {
			return false
		}
		e.bits *= 2
		e.Lower, e.Upper = ExpBounds(e.X, e.bits)
	}
}

// Floor returns the largest n <= limit with n <= e^x lo, by bisection, which is slow but simple.
func (e *Expo) Floor(lo, limit uint64) uint64 {
	if e.Holds(limit, lo) {
		return limit
	}
	a, b := uint64(0), limit // a holds, b does not
	for b-a > 1 {
		mid := a + (b-a)/2
		if e.Holds(mid, lo) {
			a = mid
		} else {
			b = mid
		}
	}
	return a
}

// CeilQuo returns x / y rounded up.
func CeilQuo(x, y *big.Rat) *big.Int {
	r := Quo(x, y)
	n := new(big.Int).Add(r.Num(), r.Denom())
	return n.Sub(n, big.NewInt(1)).Div(n, r.Denom())
}

// Fit moves lo until sum lo <= total <= sum hi, with hi = floor(e^eps lo).
func (e *Expo) Fit(lo, hi []uint64, total uint64) {
	sum := func(x []uint64) *big.Int {
		s := new(big.Int)
		for _, v := range x {
			s.Add(s, new(big.Int).SetUint64(v))
		}
		return s
	}
	t := new(big.Int).SetUint64(total)
	if over := sum(lo); over.Cmp(t) > 0 {
		d := over.Sub(over, t).Uint64()
		for j := range lo {
			step := min(d, lo[j])
			lo[j] -= step
			d -= step
			hi[j] = e.Floor(lo[j], total)
		}
	}
	for j := 0; sum(hi).Cmp(t) < 0; j = (j + 1) % len(lo) {
		// Half of what is missing, at least one unit: sum lo <= sum hi < total leaves the room.
		miss := new(big.Int).Sub(t, sum(hi)).Uint64()
		lo[j] += max(1, uint64(float64(miss)/2/Float(e.Upper)))
		hi[j] = e.Floor(lo[j], total)
	}
	for j := range lo {
		lo[j] = min(lo[j], total)
	}
}

// Box returns the box that lo and hi mean: themselves, or the single point that the convention for
// inexact masses puts in their place when they miss mass 1 by rounding.
func Box(lo, hi []float64) (l, h []*big.Rat, err error) {
	l, h = Rats(lo), Rats(hi)
	one, slack := big.NewRat(1, 1), Rat(BoxSlack)
	sl, sh := Sum(l), Sum(h)
	switch {
	case sl.Cmp(one) > 0:
		if Sub(sl, one).Cmp(slack) > 0 {
			return nil, nil, fmt.Errorf("%w: sum lo = %v", ErrInfeasible, Float(sl))
		}
		for j := range l {
			l[j] = Quo(l[j], sl)
		}
		return l, l, nil
	case sh.Cmp(one) < 0:
		if Sub(one, sh).Cmp(slack) > 0 {
			return nil, nil, fmt.Errorf("%w: sum hi = %v", ErrInfeasible, Float(sh))
		}
		for j := range h {
			h[j] = Quo(h[j], sh)
		}
		return h, h, nil
	}
	return l, h, nil
}

// Greedy returns φ = min { <c, q> : l <= q <= h, sum q = 1 } and a q that attains it: cheapest columns
// first. Ties go to the lowest index.
func Greedy(c, l, h []*big.Rat) (phi *big.Rat, q []*big.Rat) {
	order := make([]int, len(c))
	for j := range order {
		order[j] = j
	}
	slices.SortStableFunc(order, func(a, b int) int { return c[a].Cmp(c[b]) })
	// In integers: sums of rationals spend their time on common divisors.
	mass, price := commonDenominator(l, h), commonDenominator(c)
	lo, hi, costs := over(mass, l), over(mass, h), over(price, c)
	rest := new(big.Int).Set(mass)
	for _, v := range lo {
		rest.Sub(rest, v)
	}
	value, step := new(big.Int), new(big.Int)
	q = make([]*big.Rat, len(c))
	for _, j := range order {
		if step.Sub(hi[j], lo[j]).Cmp(rest) > 0 {
			step.Set(rest)
		}
		rest.Sub(rest, step)
		lo[j].Add(lo[j], step)
		q[j] = new(big.Rat).SetFrac(lo[j], mass)
		value.Add(value, step.Mul(costs[j], lo[j]))
	}
	return new(big.Rat).SetFrac(value, mass.Mul(mass, price)), q
}

// Cut is the affine lower bound that a threshold gives: eta + sum_j l_j (c_j-eta)_+ - h_j (eta-c_j)_+.
// Its maximum over eta is φ, by linear programming duality.
func Cut(eta *big.Rat, c, l, h []*big.Rat) *big.Rat {
	v := new(big.Rat).Set(eta)
	for j := range c {
		d := Sub(c[j], eta)
		if d.Sign() >= 0 {
			v.Add(v, Mul(l[j], d))
		} else {
			v.Add(v, Mul(h[j], d))
		}
	}
	return v
}

// Distribution returns the exact distribution that the floats mu mean, mu / sum mu.
func Distribution(mu []float64) ([]*big.Rat, error) {
	m := Rats(mu)
	s := Sum(m)
	if s.Sign() <= 0 {
		return nil, fmt.Errorf("%w: sum mu = %v", ErrInfeasible, Float(s))
	}
	for i := range m {
		m[i] = Quo(m[i], s)
	}
	return m, nil
}

// Flow returns the Value and Q of Solve.
func Flow(c [][]*big.Rat, mu, l, h []*big.Rat) (value *big.Rat, q []*big.Rat, err error) {
	s, err := Solve(c, mu, l, h)
	return s.Value, s.Q, err
}

// A Solution is an optimal plan with its column sums Q and its Value, and a dual variable G for every column: the value
// is sum_i mu_i min_j (c_ij - G_j) + sum_j min(l_j G_j, h_j G_j), with the minimum over columns with h_j > 0.
type Solution struct {
	Value *big.Rat
	Q, G  []*big.Rat
	Plan  [][]*big.Rat
}

// Solve minimises <c, P> over plans P >= 0 with row sums mu and column sums in [l, h], all exact.
//
// It builds the graph of the paper's appendix (source, inputs, outputs, sink), scales every mass and
// every cost to integers, and augments along shortest paths found by Bellman-Ford. The lower bound of
// the arc v_j -> t is a second arc of capacity l_j so cheap that every optimal flow fills it. The value
// is returned only if the potentials of the final residual graph prove it.
func Solve(c [][]*big.Rat, mu, l, h []*big.Rat) (Solution, error) {
	k, kv := len(mu), len(l)
	mass := new(big.Rat).SetInt(commonDenominator(mu, l, h))
	price := new(big.Rat).SetInt(commonDenominator(c...))
	units := func(r, scale *big.Rat) *big.Int { return new(big.Int).Set(Mul(r, scale).Num()) }

	// More than any path can cost: it passes each transport arc at most once in either direction.
	huge := big.NewInt(1)
	for i := range k {
		for j := range kv {
			huge.Add(huge, units(c[i][j], price))
		}
	}

	const s, t = 0, 1
	u := func(i int) int { return 2 + i }
	v := func(j int) int { return 2 + k + j }
	g := &residual{nodes: 2 + k + kv}
	zero := new(big.Int)
	for i := range k {
		g.arc(s, u(i), units(mu[i], mass), zero)
	}
	for i := range k {
		for j := range kv {
			g.arc(u(i), v(j), units(mu[i], mass), units(c[i][j], price))
		}
	}
	required := len(g.arcs)
	for j := range kv {
		g.arc(v(j), t, units(l[j], mass), new(big.Int).Neg(huge))
		g.arc(v(j), t, units(Sub(h[j], l[j]), mass), zero)
	}
	g.augment(s, t)

	// Feasible: all mass has left the source, and the required arcs are full.
	for n := range g.arcs {
		a := &g.arcs[n]
		full := n%2 == 0 && (a.from == s || n >= required && (n-required)%4 == 0)
		if full && a.room.Sign() != 0 {
			return Solution{}, fmt.Errorf("%w: no flow meets every bound", ErrInfeasible)
		}
	}
	primal, q, plan := new(big.Rat), Zeros(kv), make([][]*big.Rat, k)
	for i := range k {
		plan[i] = make([]*big.Rat, kv)
		for j := range kv {
			flow := Quo(new(big.Rat).SetInt(g.arcs[2*(k+i*kv+j)+1].room), mass) // what the reverse arc could take back
			plan[i][j] = flow
			primal.Add(primal, Mul(flow, c[i][j]))
			q[j].Add(q[j], flow)
		}
	}

	pot, ok := g.potentials()
	if !ok {
		return Solution{}, errors.New("proptest: broken oracle: the residual graph has a negative cycle")
	}
	dual := new(big.Rat)
	b := make([]*big.Rat, kv)
	for j := range kv {
		b[j] = Quo(new(big.Rat).SetInt(new(big.Int).Sub(pot[v(j)], pot[t])), price)
		dual.Add(dual, Min(Mul(l[j], b[j]), Mul(h[j], b[j])))
	}
	for i := range k {
		var a *big.Rat
		for j := range kv {
			if h[j].Sign() > 0 {
				if d := Sub(c[i][j], b[j]); a == nil || d.Cmp(a) < 0 {
					a = d
				}
			}
		}
		dual.Add(dual, Mul(mu[i], a))
	}
	if dual.Cmp(primal) != 0 {
		return Solution{}, fmt.Errorf("proptest: broken oracle: flow costs %v, its proof says %v", Float(primal), Float(dual))
	}
	return Solution{primal, q, b, plan}, nil
}

// commonDenominator returns the least common denominator of all numbers.
func commonDenominator(groups ...[]*big.Rat) *big.Int {
	l, g := big.NewInt(1), new(big.Int)
	for _, group := range groups {
		for _, r := range group {
			if g.Rem(l, r.Denom()).Sign() != 0 {
				g.GCD(nil, nil, l, r.Denom())
				l.Quo(l, g).Mul(l, r.Denom())
			}
		}
	}
	return l
}

// over returns the numerators of x over a common denominator.
func over(denominator *big.Int, x []*big.Rat) []*big.Int {
	n := make([]*big.Int, len(x))
	for i, r := range x {
		n[i] = new(big.Int).Quo(denominator, r.Denom())
		n[i].Mul(n[i], r.Num())
	}
	return n
}

// residual is a residual graph: arc 2n and its reverse 2n+1.
type residual struct {
	nodes int
	arcs  []residualArc
}

type residualArc struct {
	from, to   int
	room, cost *big.Int
}

func (g *residual) arc(from, to int, capacity, cost *big.Int) {
	g.arcs = append(g.arcs,
		residualArc{from, to, new(big.Int).Set(capacity), cost},
		residualArc{to, from, new(big.Int), new(big.Int).Neg(cost)})
}

// augment sends as much as it can from s to t, always along a cheapest path. It ends because all
// capacities are integers.
func (g *residual) augment(s, t int) {
	for {
		dist, via, _ := g.bellmanFord(func(n int) bool { return n == s })
		if dist[t] == nil {
			return
		}
		var push *big.Int
		for n := t; n != s; n = g.arcs[via[n]].from {
			if room := g.arcs[via[n]].room; push == nil || room.Cmp(push) < 0 {
				push = room
			}
		}
		push = new(big.Int).Set(push)
		for n := t; n != s; n = g.arcs[via[n]].from {
			a := via[n]
			g.arcs[a].room.Sub(g.arcs[a].room, push)
			g.arcs[a^1].room.Add(g.arcs[a^1].room, push)
		}
	}
}

// potentials returns pot with cost + pot[from] - pot[to] >= 0 on every arc that has room.
func (g *residual) potentials() (pot []*big.Int, ok bool) {
	pot, _, ok = g.bellmanFord(func(int) bool { return true })
	return pot, ok
}

// bellmanFord returns the distances from a set of nodes (nil: not reached) and the last arc of each
// path. ok is false if it met a negative cycle.
func (g *residual) bellmanFord(start func(int) bool) (dist []*big.Int, via []int, ok bool) {
	dist, via = make([]*big.Int, g.nodes), make([]int, g.nodes)
	for n := range dist {
		if start(n) {
			dist[n] = new(big.Int)
		}
	}
	for range g.nodes + 1 {
		changed := false
		for n := range g.arcs {
			a := &g.arcs[n]
			if a.room.Sign() == 0 || dist[a.from] == nil {
				continue
			}
			d := new(big.Int).Add(dist[a.from], a.cost)
			if dist[a.to] == nil || d.Cmp(dist[a.to]) < 0 {
				dist[a.to], via[a.to], changed = d, n, true
			}
		}
		if !changed {
			return dist, via, true
		}
	}
	return dist, via, false
}

// RowsHold is the definition of eps-LDP for a finite family: as probabilities add up, it is enough to
// compare single outputs.
func RowsHold(e *Expo, rows [][]uint64) error {
	for a, x := range rows {
		for b, y := range rows {
			for j := range x {
				if !e.Holds(x[j], y[j]) {
					return fmt.Errorf("output %d: weight %d in row %d, %d in row %d, ratio above e^%v", j, x[j], a, y[j], b, e.X)
				}
			}
		}
	}
	return nil
}

func TotalIs(row []uint64, bits int) bool {
	s := new(big.Int)
	for _, n := range row {
		s.Add(s, new(big.Int).SetUint64(n))
	}
	return s.Cmp(new(big.Int).Lsh(big.NewInt(1), uint(bits))) == 0
}
