package proptest

import (
	"fmt"
	"math"
	"math/big"

	"pgregory.net/rapid"
)

// A KnapsackOracle evaluates the reduction to point masses on one cost matrix. *knapsack.Table is one.
type KnapsackOracle interface {
	// Phi returns φ_i = min { sum_j C_ij q_j : lo <= q <= hi, sum q = 1 } and a threshold whose cut
	// supports it.
	Phi(i int, lo, hi []float64) (phi, tau float64)
	// Max returns the largest φ_i and the first i that has it.
	Max(lo, hi []float64) (f float64, i int)
	// Subgradient sets dst_j = a (C_ij - tau)_+ - b (tau - C_ij)_+.
	Subgradient(i int, tau, a, b float64, dst []float64)
}

// NewKnapsack makes the oracle of a cost matrix.
type NewKnapsack func(c [][]float64) (KnapsackOracle, error)

// KnapsackLaws returns the laws of the reduction to point masses.
func KnapsackLaws() []Law[NewKnapsack] {
	return []Law[NewKnapsack]{
		{"PhiClosedForm", "thm:base-measure-minimax, step 3", PhiClosedForm},
		{"PhiMax", "thm:base-measure-minimax, definition of f", PhiMax},
		{"PhiConvex", "thm:base-measure-minimax, step 4", PhiConvex},
		{"PhiMonotone", "a larger box cannot be farther", PhiMonotone},
		{"PhiSubgradient", "app:mirror-descent-base-measure, subgradient", PhiSubgradient},
		{"PhiLipschitz", "app:mirror-descent-base-measure, Lipschitz bound", PhiLipschitz},
	}
}

const maxKnapsack = 7 // columns

// phiInstance is a cost and a box.
type phiInstance struct {
	C   [][]float64
	Box Box
}

func (in phiInstance) String() string {
	return fmt.Sprintf("%#v", Problem{C: in.C, Lo: in.Box.Lo, Hi: in.Box.Hi})
}

func drawPhi(t *rapid.T) phiInstance {
	k, kv := Size(3).Draw(t, "k"), Size(maxKnapsack).Draw(t, "kv")
	return phiInstance{Costs(k, kv).Draw(t, "C"), Boxes(kv).Draw(t, "box")}
}

func oracle(t *rapid.T, build NewKnapsack, c [][]float64) KnapsackOracle {
	t.Helper()
	o, err := build(Problem{C: c}.Clone().C)
	if err != nil {
		t.Fatalf("NewKnapsack: %v\non %v", err, c)
	}
	return o
}

// phi evaluates one row and fails on NaN or a changed input.
func phi(t *rapid.T, o KnapsackOracle, i int, b Box) (value, tau float64) {
	t.Helper()
	lo, hi := clone(b.Lo), clone(b.Hi)
	value, tau = o.Phi(i, lo, hi)
	finite(t, "phi, tau", value, tau)
	sameFloats(t, "lo", lo, b.Lo)
	sameFloats(t, "hi", hi, b.Hi)
	return value, tau
}

// PhiClosedForm: φ_i is the value of the fractional knapsack, found here by a greedy fill in rationals, and
// the cut at τ_i supports it: τ + sum_j lo_j (C_ij-τ)_+ - hi_j (τ-C_ij)_+ = φ_i. Weak duality makes any such
// τ a proof, so ties and the ends of the mass need no rule of their own.
func PhiClosedForm(t *rapid.T, build NewKnapsack) {
	in := drawPhi(t)
	o := oracle(t, build, in.C)
	l, h, err := exactBox(in.Box.Lo, in.Box.Hi)
	if err != nil {
		t.Fatalf("%v\non %v", err, in)
	}
	for i, row := range in.C {
		got, tau := phi(t, o, i, in.Box)
		c, scale := ratsOf(row), maxCost(in.C[i:i+1])
		want, _ := greedy(c, l, h)
		near(t, fmt.Sprintf("phi(%d) on %v", i, in), rat(got), want, PhiTol, scale)
		// The cut is taken in the box as given, which misses mass 1 by rounding at most: a τ beyond the convention
		// for the ends of the mass may be optimal there, but its cut would not survive a change of the box.
		at := cut(rat(tau), c, ratsOf(in.Box.Lo), ratsOf(in.Box.Hi))
		near(t, fmt.Sprintf("cut at tau(%d) = %v on %v", i, tau, in), at, want, PhiTol, scale)
	}
}

// PhiMax: f is the largest φ_i, at its first index.
func PhiMax(t *rapid.T, build NewKnapsack) {
	in := drawPhi(t)
	o := oracle(t, build, in.C)
	f, at := o.Max(clone(in.Box.Lo), clone(in.Box.Hi))
	best, first := 0.0, -1
	for i := range in.C {
		if v, _ := phi(t, o, i, in.Box); first < 0 || v > best {
			best, first = v, i
		}
	}
	if f != best || at != first {
		t.Fatalf("Max = %v at %d, the largest phi is %v at %d\non %v", f, at, best, first, in)
	}
}

// PhiConvex: φ_i is convex, jointly in lo and hi (so in m, for any eps), as a maximum of affine functions.
func PhiConvex(t *rapid.T, build NewKnapsack) {
	in := drawPhi(t)
	other := Boxes(len(in.Box.Lo)).Draw(t, "other box")
	theta := rapid.SampledFrom([]float64{0.25, 0.5, 0.75}).Draw(t, "theta") // products are exact
	mid := Box{Lo: blend(theta, in.Box.Lo, other.Lo), Hi: blend(theta, in.Box.Hi, other.Hi)}
	o := oracle(t, build, in.C)
	for i := range in.C {
		a, _ := phi(t, o, i, in.Box)
		b, _ := phi(t, o, i, other)
		m, _ := phi(t, o, i, mid)
		chord := add(mul(rat(theta), rat(a)), mul(rat(1-theta), rat(b)))
		atMost(t, fmt.Sprintf("phi(%d) between two boxes, %v", i, in), rat(m), chord, 4*PhiTol, maxCost(in.C[i:i+1]))
	}
}

func blend(theta float64, x, y []float64) []float64 {
	z := make([]float64, len(x))
	for i := range x {
		z[i] = theta*x[i] + (1-theta)*y[i]
	}
	return z
}

// PhiMonotone: raising hi and lowering lo cannot raise φ_i.
func PhiMonotone(t *rapid.T, build NewKnapsack) {
	in := drawPhi(t)
	wide := Box{Lo: clone(in.Box.Lo), Hi: clone(in.Box.Hi)}
	for j := range wide.Lo {
		wide.Lo[j] *= rapid.SampledFrom([]float64{1, 0.5, 0}).Draw(t, "lower")
		wide.Hi[j] += rapid.SampledFrom([]float64{0, 1e-9, 0.25}).Draw(t, "raise")
	}
	o := oracle(t, build, in.C)
	for i := range in.C {
		a, _ := phi(t, o, i, in.Box)
		b, _ := phi(t, o, i, wide)
		atMost(t, fmt.Sprintf("phi(%d) in the larger box, %v", i, in), rat(b), rat(a), 2*PhiTol, maxCost(in.C[i:i+1]))
	}
}

// drawPair draws a privacy level, a cost and two base measures.
func drawPair(t *rapid.T) (eps float64, c [][]float64, m, n []float64) {
	kv := Size(maxKnapsack).Draw(t, "kv")
	eps = Epsilon().Draw(t, "eps")
	c = Costs(1, kv).Draw(t, "C")
	m = BaseMeasure(kv, eps).Draw(t, "m")
	n = BaseMeasure(kv, eps).Draw(t, "m'")
	return eps, c, m, n
}

// PhiSubgradient: with g_j = α (C_ij-τ)_+ - β (τ-C_ij)_+ and τ = τ_i(m),
// φ_i(m') >= φ_i(m) + <g, m'-m> for every m', φ_i(m) = τ + <g, m>, and -β R <= g <= α R.
func PhiSubgradient(t *rapid.T, build NewKnapsack) {
	eps, c, m, n := drawPair(t)
	a, b := math.Exp(-eps/2), math.Exp(eps/2)
	o := oracle(t, build, c)
	p, tau := phi(t, o, 0, BoxOf(m, eps))
	q, _ := phi(t, o, 0, BoxOf(n, eps))
	g := make([]float64, len(m))
	o.Subgradient(0, tau, a, b, g)
	finite(t, "subgradient", g...)

	// Each product with a and b, and each entry of the boxes, is good to two units of 2^-52.
	scale := rat(maxCost(c))
	gm, gn := new(big.Rat), new(big.Rat)
	r := rowRange(c)
	for j := range g {
		gm.Add(gm, mul(rat(g[j]), rat(m[j])))
		gn.Add(gn, mul(rat(g[j]), rat(n[j])))
		size := mul(rat(math.Abs(g[j])), add(rat(m[j]), rat(n[j])))
		scale.Add(scale, size)
		if !(g[j] <= a*r*(1+PhiTol) && -g[j] <= b*r*(1+PhiTol)) {
			t.Fatalf("g[%d] = %v leaves [-βR, αR] = [%v, %v]\neps %v, C %v, m %v", j, g[j], -b*r, a*r, eps, c, m)
		}
	}
	what := fmt.Sprintf("eps %v, C %v, m %v, m' %v", eps, c, m, n)
	tol := mul(rat(2*PhiTol), scale)
	if d := sub(add(rat(tau), gm), rat(p)); d.Abs(d).Cmp(tol) > 0 {
		t.Fatalf("tau + <g, m> misses phi(m) = %v by %v\n%s", p, float(d), what)
	}
	if d := sub(add(rat(p), sub(gn, gm)), rat(q)); d.Cmp(tol) > 0 {
		t.Fatalf("phi(m) + <g, m'-m> exceeds phi(m') = %v by %v\n%s", q, float(d), what)
	}
}

// PhiLipschitz: |φ_i(m) - φ_i(m')| <= β R |m - m'|_1, with R the spread of the row (the paper has its largest
// cost, which is no smaller).
func PhiLipschitz(t *rapid.T, build NewKnapsack) {
	eps, c, m, n := drawPair(t)
	o := oracle(t, build, c)
	p, _ := phi(t, o, 0, BoxOf(m, eps))
	q, _ := phi(t, o, 0, BoxOf(n, eps))
	dist := 0.0
	for j := range m {
		dist += math.Abs(m[j] - n[j])
	}
	bound := rat(math.Exp(eps/2) * rowRange(c) * dist * (1 + PhiTol))
	d := sub(rat(p), rat(q))
	atMost(t, fmt.Sprintf("eps %v, C %v, m %v, m' %v", eps, c, m, n), d.Abs(d), bound, 2*PhiTol, maxCost(c))
}
