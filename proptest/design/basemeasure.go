package design

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"

	"github.com/wpm-go/wpm/proptest"
	"github.com/wpm-go/wpm/proptest/exact"
	"pgregory.net/rapid"
)

// A BaseMeasurer chooses a base measure for a cost and a privacy level. Its error may wrap ErrNoAnswer.
type BaseMeasurer func(c [][]float64, eps float64) (Base, error)

// ErrNoAnswer is wrapped by the error of a BaseMeasurer that reports that it did not converge. The laws then skip the
// instance; a solver that reports this for nine instances in ten fails.
var ErrNoAnswer = errors.New("design: not converged")

// Base is a base measure and what is claimed about it.
type Base struct {
	M []float64
	// F is f(M) = max_i φ_i(M) up to rounding.
	F float64
	// Upper, for BaseBoundLaws, is at least f(M), rounding included, by proptest.ValueTol max C at most; +Inf claims
	// nothing.
	Upper float64
	// Lower, for BaseBoundLaws, is a lower bound on the worst case of every eps-LDP mechanism; -Inf claims nothing.
	Lower float64
	// Weights and Thresholds, for BaseCertificateLaws, have a number for every row, and prove Lower: see LowerBound.
	Weights, Thresholds []float64
}

// BaseLaws returns the laws of M and F of a base measure that need not be the best one.
func BaseLaws() []proptest.Law[BaseMeasurer] {
	return []proptest.Law[BaseMeasurer]{
		{Name: "BaseValue", Statement: "thm:base-measure-minimax, f(m)", Check: BaseValue},
		{Name: "BaseScale", Statement: "f is linear in C", Check: BaseScale},
		{Name: "BaseMonotone", Statement: "the value does not rise with eps", Check: BaseMonotone},
	}
}

// BaseBoundLaws returns the laws of Upper and Lower.
func BaseBoundLaws() []proptest.Law[BaseMeasurer] {
	return []proptest.Law[BaseMeasurer]{
		{Name: "BaseUpperBound", Statement: "thm:base-measure-minimax, f(m)", Check: BaseUpperBound},
		{Name: "BaseLowerBound", Statement: "thm:minimax; thm:base-measure-minimax", Check: BaseLowerBound,
			// randomised response, the best of all
			First: []func(proptest.TB, BaseMeasurer){func(t proptest.TB, b BaseMeasurer) {
				c := [][]float64{{0, 1}, {1, 0}}
				const total, lo = 1 << 40, 295704219987 // ceil(total / (1 + e))
				r := proptest.Family{Epsilon: big.NewRat(1, 1), Bits: 40, Rows: [][]uint64{{total - lo, lo}, {lo, total - lo}}}
				noBetter(t, base(t, b, c, 1), r, c, 1)
			}}},
	}
}

// BaseCertificateLaws returns the laws of a base measure whose lower bound comes with its proof, which is recomputed
// here.
func BaseCertificateLaws() []proptest.Law[BaseMeasurer] {
	return []proptest.Law[BaseMeasurer]{
		{Name: "BaseCertificate", Statement: "weak duality of the design problem", Check: BaseCertificate},
		{Name: "BaseCertificateLarge", Statement: "the same and f(m), on up to 600 pairs", Check: BaseCertificateLarge,
			First: []func(proptest.TB, BaseMeasurer){func(t proptest.TB, b BaseMeasurer) { // beyond blocks of 8, 16, 32 and 64
				for _, n := range [][2]int{{17, 65}, {65, 17}, {33, 33}} {
					certificateLarge(t, b, largeCost(n[0], n[1], 1<<20, 1), 1)
				}
			}}},
	}
}

const maxDesign = 5 // rows and columns

func base(t proptest.TB, b BaseMeasurer, c [][]float64, eps float64) Base {
	t.Helper()
	work := proptest.Problem{C: c}.Clone()
	r, err := b(work.C, eps)
	if errors.Is(err, ErrNoAnswer) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatalf("BaseMeasurer: %v\neps %v, C %v", err, eps, c)
	}
	for i := range c {
		proptest.SameFloats(t, "C", work.C[i], c[i])
	}
	proptest.Length(t, "M", r.M, len(c[0]))
	proptest.Finite(t, "M", r.M...)
	proptest.Finite(t, "F", r.F)
	if math.IsNaN(r.Upper) || math.IsNaN(r.Lower) || math.IsInf(r.Upper, -1) || math.IsInf(r.Lower, 1) {
		t.Fatalf("[Lower, Upper] = [%v, %v]\neps %v, C %v", r.Lower, r.Upper, eps, c)
	}
	return r
}

func drawDesign(t *rapid.T) (c [][]float64, eps float64) {
	k, kv := proptest.Size(maxDesign).Draw(t, "k"), proptest.Size(maxDesign).Draw(t, "kv")
	return proptest.Costs(k, kv).Draw(t, "C"), proptest.Epsilon().Draw(t, "eps")
}

// realBox returns the box [e^(-eps/2) m, e^(eps/2) m] to 2^-120, rounded outward.
func realBox(m []float64, eps float64) (l, h []*big.Rat, err error) {
	_, upper := exact.ExpBounds(exact.Mul(exact.Rat(eps), big.NewRat(1, 2)), 120)
	lower := exact.Down(new(big.Rat).Inv(upper), 128) // every number of the box is one over a power of two
	for _, v := range m {
		l = append(l, exact.Mul(exact.Rat(v), lower))
		h = append(h, exact.Mul(exact.Rat(v), upper))
	}
	one, slack := big.NewRat(1, 1), exact.Rat(exact.BoxSlack)
	sl, sh := exact.Sum(l), exact.Sum(h)
	for j := range m {
		if sl.Cmp(one) > 0 {
			l[j] = exact.Quo(l[j], sl)
			h[j] = l[j]
		} else if sh.Cmp(one) < 0 {
			h[j] = exact.Quo(h[j], sh)
			l[j] = h[j]
		}
	}
	if exact.Sub(sl, one).Cmp(slack) > 0 || exact.Sub(one, sh).Cmp(slack) > 0 {
		return nil, nil, fmt.Errorf("%w: mass %v at eps %v", exact.ErrInfeasible, exact.Float(exact.Sum(exact.Rats(m))), eps)
	}
	return l, h, nil
}

// worst returns max_i φ_i over a box.
func worst(c [][]*big.Rat, l, h []*big.Rat) *big.Rat {
	var f *big.Rat
	for _, row := range c {
		if v, _ := exact.Greedy(row, l, h); f == nil || v.Cmp(f) > 0 {
			f = v
		}
	}
	return f
}

// BaseValue: m is a base measure (non-negative, mass in [e^(-eps/2), e^(eps/2)]), and F is its worst case.
func BaseValue(t *rapid.T, b BaseMeasurer) {
	c, eps := drawDesign(t)
	r := base(t, b, c, eps)
	f := valueOf(t, c, eps, r.M)
	proptest.Near(t, fmt.Sprintf("eps %v, C %v, M %v: F", eps, c, r.M), exact.Rat(r.F), f, proptest.ValueTol,
		proptest.MaxCost(c))
}

// valueOf returns f(m), and fails the test unless m is a base measure.
func valueOf(t proptest.TB, c [][]float64, eps float64, m []float64) *big.Rat {
	t.Helper()
	for j, v := range m {
		if !(v >= 0) {
			t.Fatalf("M[%d] = %v\neps %v, C %v", j, v, eps, c)
		}
	}
	l, h, err := realBox(m, eps)
	if err != nil {
		t.Fatalf("%v: M = %v\nC %v", err, m, c)
	}
	return worst(proptest.ExactCost(c), l, h)
}

// BaseUpperBound: Upper is at least f(M), and near it.
func BaseUpperBound(t *rapid.T, b BaseMeasurer) {
	c, eps := drawDesign(t)
	r := base(t, b, c, eps)
	if math.IsInf(r.Upper, 1) {
		return
	}
	what := fmt.Sprintf("eps %v, C %v, M %v: ", eps, c, r.M)
	f := valueOf(t, c, eps, r.M)
	proptest.AtMost(t, what+"f(M) against Upper", f, exact.Rat(r.Upper), 0, 1)
	proptest.Near(t, what+"Upper against f(M)", exact.Rat(r.Upper), f, proptest.ValueTol, proptest.MaxCost(c))
	if !math.IsInf(r.Lower, -1) {
		proptest.AtMost(t, what+"Lower against Upper", exact.Rat(r.Lower), exact.Rat(r.Upper), 0, 1)
	}
}

// BaseLowerBound: no eps-LDP mechanism does better than Lower. The mechanisms are exact (integer rows), and many
// of them are near the measure proposed.
func BaseLowerBound(t *rapid.T, b BaseMeasurer) {
	c, eps := drawDesign(t)
	r := base(t, b, c, eps)
	noBetter(t, r, proptest.FamiliesAt(exact.Rat(eps), c, r.M).Draw(t, "mechanism"), c, eps)
}

func noBetter(t proptest.TB, r Base, f proptest.Family, c [][]float64, eps float64) {
	t.Helper()
	if w := familyCost(f, c); !math.IsInf(r.Lower, -1) && exact.Rat(r.Lower).Cmp(w) > 0 {
		t.Fatalf("Lower = %.17g, but this mechanism costs %.17g: %#v\neps %v, C %v", r.Lower, exact.Float(w), f, eps, c)
	}
}

// familyCost returns max_i <C_i, row_i>, the worst case over point masses, exactly.
func familyCost(f proptest.Family, c [][]float64) *big.Rat {
	var worst *big.Rat
	total := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(f.Bits)))
	for i, row := range c {
		v := new(big.Rat)
		for j, n := range f.Rows[i] {
			v.Add(v, exact.Mul(exact.Rat(row[j]), exact.Integer(n)))
		}
		if v.Quo(v, total); worst == nil || v.Cmp(worst) > 0 {
			worst = v
		}
	}
	return worst
}

// LowerBound returns what weights and thresholds of the rows prove about every eps-LDP mechanism. With weights
// w_i >= 0 of sum 1 (here relative to their sum), thresholds η_i and E = e^eps,
//
//	b_j = sum_i w_i ((C_ij - η_i)_+ - E (η_i - C_ij)_+),
//
// every mechanism has an input that costs at least sum_i w_i η_i + min_j min(b_j, b_j / E). It is exact but for E,
// which is rounded to the safe side by 2^-120.
func LowerBound(c [][]float64, eps float64, weights, thresholds []float64) (*big.Rat, error) {
	if len(weights) != len(c) || len(thresholds) != len(c) {
		return nil, fmt.Errorf("%d weights and %d thresholds for %d rows", len(weights), len(thresholds), len(c))
	}
	for i, w := range weights {
		if eta := thresholds[i]; !(w >= 0) || math.IsInf(w, 1) || math.IsNaN(eta) || math.IsInf(eta, 0) {
			return nil, fmt.Errorf("row %d: weight %v, threshold %v", i, w, eta)
		}
	}
	w := exact.Rats(weights)
	sum := exact.Sum(w)
	if sum.Sign() <= 0 {
		return nil, fmt.Errorf("%w: sum of weights %v", exact.ErrInfeasible, exact.Float(sum))
	}
	v := dual(c, eps, w, exact.Rats(thresholds))
	return v.Quo(v, sum), nil // one division at the end: sums of numbers over powers of two are cheap
}

// dual is LowerBound times the sum of the weights.
func dual(c [][]float64, eps float64, w, eta []*big.Rat) *big.Rat {
	_, e := exact.ExpBounds(exact.Rat(eps), 120)
	a, least := new(big.Rat), (*big.Rat)(nil)
	for i := range c {
		a.Add(a, exact.Mul(w[i], eta[i]))
	}
	for j := range c[0] {
		b := new(big.Rat)
		for i := range c {
			d := exact.Sub(exact.Rat(c[i][j]), eta[i])
			if d.Sign() < 0 {
				d = exact.Mul(e, d)
			}
			b.Add(b, exact.Mul(w[i], d))
		}
		if least == nil || b.Cmp(least) < 0 {
			least = b
		}
	}
	return a.Add(a, exact.Min(least, exact.Quo(least, e)))
}

// BaseCertificate: Lower claims no more than weights and thresholds prove, in exact arithmetic.
func BaseCertificate(t *rapid.T, b BaseMeasurer) {
	c, eps := drawDesign(t)
	proved(t, base(t, b, c, eps), c, eps)
}

func proved(t proptest.TB, r Base, c [][]float64, eps float64) {
	t.Helper()
	lower, err := LowerBound(c, eps, r.Weights, r.Thresholds)
	if err != nil {
		t.Fatalf("%v\neps %v, C %v", err, eps, c)
	}
	if !math.IsInf(r.Lower, -1) && exact.Rat(r.Lower).Cmp(lower) > 0 {
		t.Fatalf("Lower = %.17g, but weights %v and thresholds %v prove %.17g only\neps %v, C %v",
			r.Lower, r.Weights, r.Thresholds, exact.Float(lower), eps, c)
	}
}

// BaseCertificateLarge is BaseCertificate, and F and Upper against f(M), next to powers of two, where blocks and lanes
// end. Costs are integers, many of them equal.
func BaseCertificateLarge(t *rapid.T, b BaseMeasurer) {
	side := rapid.SampledFrom([]int{1, 6, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65})
	k, kv := side.Draw(t, "k"), side.Draw(t, "kv")
	for k*kv > 600 {
		k, kv = (k+1)/2, (kv+1)/2
	}
	most := rapid.SampledFrom([]int64{2, 16, 1 << 20}).Draw(t, "costs below")
	seed := rapid.Uint64().Draw(t, "seed") // drawing every cost would take most of the time
	certificateLarge(t, b, largeCost(k, kv, most, seed), proptest.Epsilon().Draw(t, "eps"))
}

func certificateLarge(t proptest.TB, b BaseMeasurer, c [][]float64, eps float64) {
	t.Helper()
	r := base(t, b, c, eps)
	proved(t, r, c, eps)
	f, top := valueOf(t, c, eps, r.M), proptest.MaxCost(c)
	proptest.Near(t, "F against f(M)", exact.Rat(r.F), f, proptest.ValueTol, top)
	if !math.IsInf(r.Upper, 1) {
		proptest.AtMost(t, "f(M) against Upper", f, exact.Rat(r.Upper), 0, 1)
	}
}

// largeCost returns integers below most.
func largeCost(k, kv int, most int64, seed uint64) [][]float64 {
	r := rand.New(rand.NewPCG(seed, 3))
	c := make([][]float64, k)
	for i := range c {
		c[i] = make([]float64, kv)
		for j := range kv {
			c[i][j] = float64(r.Int64N(most))
		}
	}
	return c
}

// MinimaxOptimality (thm:minimax): on a cost where the proposed measure is optimal, no eps-LDP mechanism beats
// it, and Lower proves it.
func MinimaxOptimality(t *rapid.T, b BaseMeasurer, c [][]float64) { MinimaxWithin(t, b, c, 0) }

// MinimaxWithin is MinimaxOptimality for a measure that is optimal up to a relative gap.
func MinimaxWithin(t *rapid.T, b BaseMeasurer, c [][]float64, gap float64) {
	eps := proptest.Epsilon().Draw(t, "eps")
	r := base(t, b, c, eps)
	proptest.Finite(t, "Upper, Lower", r.Upper, r.Lower)
	f := proptest.FamiliesAt(exact.Rat(eps), c, r.M).Draw(t, "mechanism")
	what := fmt.Sprintf("eps %v, C %v: ", eps, c)
	upper := exact.Mul(exact.Rat(r.Upper), exact.Rat(1-gap))
	proptest.AtMost(t, what+"Upper against a mechanism", upper, familyCost(f, c), proptest.ValueTol, proptest.MaxCost(c))
	proptest.AtMost(t, what+"Upper against Lower", upper, exact.Rat(r.Lower), proptest.ValueTol, proptest.MaxCost(c))
	proptest.AtMost(t, what+"Lower against Upper", exact.Rat(r.Lower), exact.Rat(r.Upper), 0, 1)
}

// BaseScale: scaling C by a power of two scales the value by it.
func BaseScale(t *rapid.T, b BaseMeasurer) {
	k, kv := proptest.Size(maxDesign).Draw(t, "k"), proptest.Size(maxDesign).Draw(t, "kv")
	c, eps := proptest.GridCosts(k, kv).Draw(t, "C"), proptest.Epsilon().Draw(t, "eps")
	s := new(big.Rat).SetFloat64(rapid.SampledFrom([]float64{0x1p-100, 0.5, 2, 0x1p100}).Draw(t, "factor"))
	d := proptest.Problem{C: c}.Clone().C
	for _, row := range d {
		for j := range row {
			row[j] *= exact.Float(s)
		}
	}
	x, y := base(t, b, c, eps), base(t, b, d, eps)
	proptest.Near(t, fmt.Sprintf("eps %v, C %v", eps, c),
		exact.Rat(y.F), exact.Mul(exact.Rat(x.F), s), 2*proptest.ValueTol, proptest.MaxCost(d))
}

// BaseMonotone: more budget is never worse, for a family of measures that is closed under the change of
// m that keeps e^(-eps/2) m.
func BaseMonotone(t *rapid.T, b BaseMeasurer) {
	c, eps := drawDesign(t)
	more := min(proptest.MaxEpsilon, eps*rapid.SampledFrom([]float64{1 + 1e-9, 1.1, 3}).Draw(t, "factor"))
	x, y := base(t, b, c, eps), base(t, b, c, more)
	proptest.AtMost(t, fmt.Sprintf("eps %v against %v, C %v", more, eps, c),
		exact.Rat(y.F), exact.Rat(x.F), 2*proptest.ValueTol, proptest.MaxCost(c))
}
