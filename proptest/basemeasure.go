package proptest

import (
	"fmt"
	"math/big"

	"pgregory.net/rapid"
)

// A BaseMeasurer chooses a base measure for a cost and a privacy level.
type BaseMeasurer func(c [][]float64, eps float64) (Base, error)

// Base is a base measure and what is claimed about it.
type Base struct {
	M []float64
	// F is f(M) = max_i φ_i(M) up to rounding, and Upper a proved upper bound on it.
	F, Upper float64
	// Lower is a proved lower bound on the worst case of every eps-LDP mechanism.
	Lower float64
	// Verify, if not nil, recomputes both bounds in exact arithmetic.
	Verify func() (upper, lower *big.Rat, err error)
}

// BaseLaws returns the laws of a base measure that need not be the best one.
func BaseLaws() []Law[BaseMeasurer] {
	return []Law[BaseMeasurer]{
		{"BaseValue", "thm:base-measure-minimax, f(m)", BaseValue},
		{"BaseLowerBound", "thm:minimax; thm:base-measure-minimax", BaseLowerBound},
		{"BaseCertificate", "weak duality of the design problem", BaseCertificate},
		{"BaseScale", "f is linear in C", BaseScale},
		{"BaseMonotone", "the value does not rise with eps", BaseMonotone},
	}
}

const maxDesign = 5 // rows and columns

func base(t *rapid.T, b BaseMeasurer, c [][]float64, eps float64) Base {
	t.Helper()
	work := Problem{C: c}.Clone()
	r, err := b(work.C, eps)
	if err != nil {
		t.Fatalf("BaseMeasurer: %v\neps %v, C %v", err, eps, c)
	}
	for i := range c {
		sameFloats(t, "C", work.C[i], c[i])
	}
	length(t, "M", r.M, len(c[0]))
	finite(t, "M", r.M...)
	finite(t, "F, Upper, Lower", r.F, r.Upper, r.Lower)
	return r
}

func drawDesign(t *rapid.T) (c [][]float64, eps float64) {
	k, kv := Size(maxDesign).Draw(t, "k"), Size(maxDesign).Draw(t, "kv")
	return Costs(k, kv).Draw(t, "C"), Epsilon().Draw(t, "eps")
}

// realBox returns the box [e^(-eps/2) m, e^(eps/2) m] to 2^-120, rounded outward.
func realBox(m []float64, eps float64) (l, h []*big.Rat, err error) {
	_, upper := ExpBounds(mul(rat(eps), big.NewRat(1, 2)), 120)
	for _, v := range m {
		l = append(l, quo(rat(v), upper))
		h = append(h, mul(rat(v), upper))
	}
	one, slack := big.NewRat(1, 1), rat(boxSlack)
	sl, sh := sumRat(l), sumRat(h)
	for j := range m {
		if sl.Cmp(one) > 0 {
			l[j] = quo(l[j], sl)
			h[j] = l[j]
		} else if sh.Cmp(one) < 0 {
			h[j] = quo(h[j], sh)
			l[j] = h[j]
		}
	}
	if sub(sl, one).Cmp(slack) > 0 || sub(one, sh).Cmp(slack) > 0 {
		return nil, nil, fmt.Errorf("%w: mass %v at eps %v", ErrInfeasible, float(sumRat(ratsOf(m))), eps)
	}
	return l, h, nil
}

// worst returns max_i φ_i over a box.
func worst(c [][]*big.Rat, l, h []*big.Rat) *big.Rat {
	var f *big.Rat
	for _, row := range c {
		if v, _ := greedy(row, l, h); f == nil || v.Cmp(f) > 0 {
			f = v
		}
	}
	return f
}

// BaseValue: m is a base measure (non-negative, mass in [e^(-eps/2), e^(eps/2)]), F is its worst case and
// Upper bounds it.
func BaseValue(t *rapid.T, b BaseMeasurer) {
	c, eps := drawDesign(t)
	r := base(t, b, c, eps)
	for j, m := range r.M {
		if !(m >= 0) {
			t.Fatalf("M[%d] = %v\neps %v, C %v", j, m, eps, c)
		}
	}
	l, h, err := realBox(r.M, eps)
	if err != nil {
		t.Fatalf("%v: M = %v\nC %v", err, r.M, c)
	}
	f := worst(exactCost(c), l, h)
	what := fmt.Sprintf("eps %v, C %v, M %v: ", eps, c, r.M)
	near(t, what+"F", rat(r.F), f, ValueTol, maxCost(c))
	atMost(t, what+"f(M) against Upper", f, rat(r.Upper), 0, 1)
	near(t, what+"Upper against F", rat(r.Upper), f, ValueTol, maxCost(c))
	atMost(t, what+"Lower against Upper", rat(r.Lower), rat(r.Upper), 0, 1)
}

// BaseLowerBound: no eps-LDP mechanism does better than Lower. The mechanisms are exact (integer rows), and many
// of them are near the measure proposed.
func BaseLowerBound(t *rapid.T, b BaseMeasurer) {
	c, eps := drawDesign(t)
	r := base(t, b, c, eps)
	f := FamiliesAt(rat(eps), c, r.M).Draw(t, "mechanism")
	if w := familyCost(f, c); rat(r.Lower).Cmp(w) > 0 {
		t.Fatalf("Lower = %.17g, but this mechanism costs %.17g: %#v\neps %v, C %v", r.Lower, float(w), f, eps, c)
	}
}

// familyCost returns max_i <C_i, row_i>, the worst case over point masses, exactly.
func familyCost(f Family, c [][]float64) *big.Rat {
	var worst *big.Rat
	total := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(f.Bits)))
	for i, row := range c {
		v := new(big.Rat)
		for j, n := range f.Rows[i] {
			v.Add(v, mul(rat(row[j]), integer(n)))
		}
		if v.Quo(v, total); worst == nil || v.Cmp(worst) > 0 {
			worst = v
		}
	}
	return worst
}

// BaseCertificate: the certificate, recomputed exactly, encloses what the floats claim.
func BaseCertificate(t *rapid.T, b BaseMeasurer) {
	c, eps := drawDesign(t)
	r := base(t, b, c, eps)
	if r.Verify == nil {
		t.Fatalf("the base measure has no certificate")
	}
	upper, lower, err := r.Verify()
	if err != nil {
		t.Fatalf("Verify: %v\neps %v, C %v", err, eps, c)
	}
	what := fmt.Sprintf("eps %v, C %v: ", eps, c)
	atMost(t, what+"certified lower against upper", lower, upper, 0, 1)
	atMost(t, what+"Lower against its certificate", rat(r.Lower), lower, 0, 1)
	atMost(t, what+"certified upper against Upper", upper, rat(r.Upper), 0, 1)
}

// MinimaxOptimality (thm:minimax): on a cost where the proposed measure is optimal, no eps-LDP mechanism beats
// it, and Lower proves it.
func MinimaxOptimality(t *rapid.T, b BaseMeasurer, c [][]float64) { MinimaxWithin(t, b, c, 0) }

// MinimaxWithin is MinimaxOptimality for a measure that is optimal up to a relative gap.
func MinimaxWithin(t *rapid.T, b BaseMeasurer, c [][]float64, gap float64) {
	eps := Epsilon().Draw(t, "eps")
	r := base(t, b, c, eps)
	f := FamiliesAt(rat(eps), c, r.M).Draw(t, "mechanism")
	what := fmt.Sprintf("eps %v, C %v: ", eps, c)
	upper := mul(rat(r.Upper), rat(1-gap))
	atMost(t, what+"Upper against a mechanism", upper, familyCost(f, c), ValueTol, maxCost(c))
	atMost(t, what+"Upper against Lower", upper, rat(r.Lower), ValueTol, maxCost(c))
	atMost(t, what+"Lower against Upper", rat(r.Lower), rat(r.Upper), 0, 1)
}

// BaseScale: scaling C by a power of two scales the value by it.
func BaseScale(t *rapid.T, b BaseMeasurer) {
	k, kv := Size(maxDesign).Draw(t, "k"), Size(maxDesign).Draw(t, "kv")
	c, eps := GridCosts(k, kv).Draw(t, "C"), Epsilon().Draw(t, "eps")
	s := new(big.Rat).SetFloat64(rapid.SampledFrom([]float64{0x1p-100, 0.5, 2, 0x1p100}).Draw(t, "factor"))
	d := Problem{C: c}.Clone().C
	for _, row := range d {
		for j := range row {
			row[j] *= float(s)
		}
	}
	x, y := base(t, b, c, eps), base(t, b, d, eps)
	near(t, fmt.Sprintf("eps %v, C %v", eps, c), rat(y.F), mul(rat(x.F), s), 2*ValueTol, maxCost(d))
}

// BaseMonotone: more budget is never worse, for a family of measures that is closed under the change of
// m that keeps e^(-eps/2) m.
func BaseMonotone(t *rapid.T, b BaseMeasurer) {
	c, eps := drawDesign(t)
	more := min(MaxEpsilon, eps*rapid.SampledFrom([]float64{1 + 1e-9, 1.1, 3}).Draw(t, "factor"))
	x, y := base(t, b, c, eps), base(t, b, c, more)
	atMost(t, fmt.Sprintf("eps %v against %v, C %v", more, eps, c), rat(y.F), rat(x.F), 2*ValueTol, maxCost(c))
}
