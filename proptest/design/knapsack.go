package design

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/wpm-go/wpm/proptest"
	"github.com/wpm-go/wpm/proptest/exact"
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
func KnapsackLaws() []proptest.Law[NewKnapsack] {
	return []proptest.Law[NewKnapsack]{
		{Name: "PhiClosedForm", Statement: "thm:base-measure-minimax, step 3", Check: PhiClosedForm},
		{Name: "PhiMax", Statement: "thm:base-measure-minimax, definition of f", Check: PhiMax},
		{Name: "PhiConvex", Statement: "thm:base-measure-minimax, step 4", Check: PhiConvex},
		{Name: "PhiMonotone", Statement: "a larger box cannot be farther", Check: PhiMonotone},
		{Name: "PhiSubgradient", Statement: "app:mirror-descent-base-measure, subgradient", Check: PhiSubgradient},
		{Name: "PhiLipschitz", Statement: "app:mirror-descent-base-measure, Lipschitz bound", Check: PhiLipschitz},
	}
}

const maxKnapsack = 7 // columns

// phiInstance is a cost and a box.
type phiInstance struct {
	C   [][]float64
	Box proptest.Box
}

func (in phiInstance) String() string {
	return fmt.Sprintf("%#v", proptest.Problem{C: in.C, Lo: in.Box.Lo, Hi: in.Box.Hi})
}

func drawPhi(t *rapid.T) phiInstance {
	k, kv := proptest.Size(3).Draw(t, "k"), proptest.Size(maxKnapsack).Draw(t, "kv")
	return phiInstance{proptest.Costs(k, kv).Draw(t, "C"), proptest.Boxes(kv).Draw(t, "box")}
}

func oracle(t *rapid.T, build NewKnapsack, c [][]float64) KnapsackOracle {
	t.Helper()
	o, err := build(proptest.Problem{C: c}.Clone().C)
	if err != nil {
		t.Fatalf("NewKnapsack: %v\non %v", err, c)
	}
	return o
}

// phi evaluates one row and fails on NaN or a changed input.
func phi(t *rapid.T, o KnapsackOracle, i int, b proptest.Box) (value, tau float64) {
	t.Helper()
	lo, hi := proptest.Clone(b.Lo), proptest.Clone(b.Hi)
	value, tau = o.Phi(i, lo, hi)
	proptest.Finite(t, "phi, tau", value, tau)
	proptest.SameFloats(t, "lo", lo, b.Lo)
	proptest.SameFloats(t, "hi", hi, b.Hi)
	return value, tau
}

// PhiClosedForm: φ_i is the value of the fractional knapsack, found here by a greedy fill in rationals, and the cut at
// τ_i supports it: τ + sum_j lo_j (C_ij-τ)_+ - hi_j (τ-C_ij)_+ = φ_i. By weak duality every such τ is a proof, so ties
// and the ends of the mass need no special rule.
func PhiClosedForm(t *rapid.T, build NewKnapsack) {
	in := drawPhi(t)
	o := oracle(t, build, in.C)
	l, h, err := exact.Box(in.Box.Lo, in.Box.Hi)
	if err != nil {
		t.Fatalf("%v\non %v", err, in)
	}
	for i, row := range in.C {
		got, tau := phi(t, o, i, in.Box)
		c, scale := exact.Rats(row), proptest.MaxCost(in.C[i:i+1])
		want, _ := exact.Greedy(c, l, h)
		proptest.Near(t, fmt.Sprintf("phi(%d) on %v", i, in), exact.Rat(got), want, proptest.PhiTol, scale)
		// The cut is taken in the box as given, which misses mass 1 by rounding at most: a τ beyond the convention
		// for the ends of the mass may be optimal there, but its cut would not survive a change of the box.
		at := exact.Cut(exact.Rat(tau), c, exact.Rats(in.Box.Lo), exact.Rats(in.Box.Hi))
		proptest.Near(t, fmt.Sprintf("cut at tau(%d) = %v on %v", i, tau, in), at, want, proptest.PhiTol, scale)
	}
}

// PhiMax: f is the largest φ_i, at its first index.
func PhiMax(t *rapid.T, build NewKnapsack) {
	in := drawPhi(t)
	o := oracle(t, build, in.C)
	f, at := o.Max(proptest.Clone(in.Box.Lo), proptest.Clone(in.Box.Hi))
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
	other := proptest.Boxes(len(in.Box.Lo)).Draw(t, "other box")
	theta := rapid.SampledFrom([]float64{0.25, 0.5, 0.75}).Draw(t, "theta") // products are exact
	mid := proptest.Box{Lo: blend(theta, in.Box.Lo, other.Lo), Hi: blend(theta, in.Box.Hi, other.Hi)}
	o := oracle(t, build, in.C)
	for i := range in.C {
		a, _ := phi(t, o, i, in.Box)
		b, _ := phi(t, o, i, other)
		m, _ := phi(t, o, i, mid)
		chord := exact.Add(exact.Mul(exact.Rat(theta), exact.Rat(a)), exact.Mul(exact.Rat(1-theta), exact.Rat(b)))
		proptest.AtMost(t, fmt.Sprintf("phi(%d) between two boxes, %v", i, in), exact.Rat(m), chord, 4*proptest.PhiTol,
			proptest.MaxCost(in.C[i:i+1]))
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
	wide := proptest.Box{Lo: proptest.Clone(in.Box.Lo), Hi: proptest.Clone(in.Box.Hi)}
	for j := range wide.Lo {
		wide.Lo[j] *= rapid.SampledFrom([]float64{1, 0.5, 0}).Draw(t, "lower")
		wide.Hi[j] += rapid.SampledFrom([]float64{0, 1e-9, 0.25}).Draw(t, "raise")
	}
	o := oracle(t, build, in.C)
	for i := range in.C {
		a, _ := phi(t, o, i, in.Box)
		b, _ := phi(t, o, i, wide)
		proptest.AtMost(t, fmt.Sprintf("phi(%d) in the larger box, %v", i, in), exact.Rat(b), exact.Rat(a), 2*proptest.PhiTol,
			proptest.MaxCost(in.C[i:i+1]))
	}
}

// drawPair draws a privacy level, a cost and two base measures.
func drawPair(t *rapid.T) (eps float64, c [][]float64, m, n []float64) {
	kv := proptest.Size(maxKnapsack).Draw(t, "kv")
	eps = proptest.Epsilon().Draw(t, "eps")
	c = proptest.Costs(1, kv).Draw(t, "C")
	m = proptest.BaseMeasure(kv, eps).Draw(t, "m")
	n = proptest.BaseMeasure(kv, eps).Draw(t, "m'")
	return eps, c, m, n
}

// PhiSubgradient: with g_j = α (C_ij-τ)_+ - β (τ-C_ij)_+ and τ = τ_i(m),
// φ_i(m') >= φ_i(m) + <g, m'-m> for every m', φ_i(m) = τ + <g, m>, and -β R <= g <= α R.
func PhiSubgradient(t *rapid.T, build NewKnapsack) {
	eps, c, m, n := drawPair(t)
	a, b := math.Exp(-eps/2), math.Exp(eps/2)
	o := oracle(t, build, c)
	p, tau := phi(t, o, 0, proptest.BoxOf(m, eps))
	q, _ := phi(t, o, 0, proptest.BoxOf(n, eps))
	g := slices.Repeat([]float64{-7}, len(m)) // what was there before must not matter
	o.Subgradient(0, tau, a, b, g)
	proptest.Finite(t, "subgradient", g...)

	// Each product with a and b, and each entry of the boxes, is good to two units of 2^-52.
	scale := exact.Rat(proptest.MaxCost(c))
	gm, gn := new(big.Rat), new(big.Rat)
	r := proptest.RowRange(c)
	for j := range g {
		gm.Add(gm, exact.Mul(exact.Rat(g[j]), exact.Rat(m[j])))
		gn.Add(gn, exact.Mul(exact.Rat(g[j]), exact.Rat(n[j])))
		size := exact.Mul(exact.Rat(math.Abs(g[j])), exact.Add(exact.Rat(m[j]), exact.Rat(n[j])))
		scale.Add(scale, size)
		if !(g[j] <= a*r*(1+proptest.PhiTol) && -g[j] <= b*r*(1+proptest.PhiTol)) {
			t.Fatalf("g[%d] = %v leaves [-βR, αR] = [%v, %v]\neps %v, C %v, m %v", j, g[j], -b*r, a*r, eps, c, m)
		}
	}
	what := fmt.Sprintf("eps %v, C %v, m %v, m' %v", eps, c, m, n)
	tol := exact.Mul(exact.Rat(2*proptest.PhiTol), scale)
	if d := exact.Sub(exact.Add(exact.Rat(tau), gm), exact.Rat(p)); d.Abs(d).Cmp(tol) > 0 {
		t.Fatalf("tau + <g, m> misses phi(m) = %v by %v\n%s", p, exact.Float(d), what)
	}
	if d := exact.Sub(exact.Add(exact.Rat(p), exact.Sub(gn, gm)), exact.Rat(q)); d.Cmp(tol) > 0 {
		t.Fatalf("phi(m) + <g, m'-m> exceeds phi(m') = %v by %v\n%s", q, exact.Float(d), what)
	}
}

// PhiLipschitz: |φ_i(m) - φ_i(m')| <= β R |m - m'|_1, with R the spread of the row (the paper has its largest
// cost, which is no smaller).
func PhiLipschitz(t *rapid.T, build NewKnapsack) {
	eps, c, m, n := drawPair(t)
	o := oracle(t, build, c)
	p, _ := phi(t, o, 0, proptest.BoxOf(m, eps))
	q, _ := phi(t, o, 0, proptest.BoxOf(n, eps))
	dist := 0.0
	for j := range m {
		dist += math.Abs(m[j] - n[j])
	}
	bound := exact.Rat(math.Exp(eps/2) * proptest.RowRange(c) * dist * (1 + proptest.PhiTol))
	d := exact.Sub(exact.Rat(p), exact.Rat(q))
	proptest.AtMost(t, fmt.Sprintf("eps %v, C %v, m %v, m' %v", eps, c, m, n),
		d.Abs(d), bound, 2*proptest.PhiTol, proptest.MaxCost(c))
}
