package privacy

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/wpm-go/wpm/proptest"
	"github.com/wpm-go/wpm/proptest/exact"
	"pgregory.net/rapid"
)

// KPM is a Kullback-Leibler projection mechanism: q_j = max(mu_j / r, a), a = 1/(e^eps + k - 1).
type KPM func(mu []float64, eps float64) (q []float64, r float64, err error)

// KPMLaws returns the laws of the Kullback-Leibler projection.
func KPMLaws() []proptest.Law[KPM] {
	return []proptest.Law[KPM]{
		{Name: "KPMClosedForm", Statement: "section 2.2, definition of the mechanism", Check: KPMClosedForm},
		{Name: "KPMInBox", Statement: "section 2.2, base measure of the mechanism", Check: KPMInBox},
		{Name: "KPMProjection", Check: KPMProjection,
			Statement: "section 2.2, projection in the Kullback-Leibler divergence"},
		{Name: "KPMOrder", Statement: "the closed form is monotone and symmetric", Check: KPMOrder},
	}
}

const (
	maxKPM = 7 // points
	// kpmTol bounds the relative error of an entry: e^eps, a sum of a dozen terms and two divisions, each good
	// to a few 2^-53.
	kpmTol = 1e-13
)

func drawKPM(t *rapid.T) (mu []float64, eps float64) {
	mu = proptest.Mass(proptest.Size(maxKPM).Draw(t, "k")).Draw(t, "mu")
	eps = proptest.Epsilon().Draw(t, "eps")
	if rapid.IntRange(0, 9).Draw(t, "zero eps") == 9 {
		eps = 0
	}
	return mu, eps
}

func kpm(t *rapid.T, f KPM, mu []float64, eps float64) (q []float64, r float64) {
	t.Helper()
	work := proptest.Clone(mu)
	q, r, err := f(work, eps)
	if err != nil {
		t.Fatalf("KPM(%v, %v): %v", mu, eps, err)
	}
	proptest.SameFloats(t, "mu", work, mu)
	proptest.Length(t, "q", q, len(mu))
	proptest.Finite(t, "q", q...)
	proptest.Finite(t, "r", r)
	return q, r
}

// kpmExact returns the mechanism in rationals, with e^eps replaced by a rational within 2^-120 of it: with
// n entries above the floor, r = (sum of the n largest) / (1 - (k-n) a).
func kpmExact(mu []*big.Rat, eps float64) (q []*big.Rat, r *big.Rat) {
	k := int64(len(mu))
	e, _ := exact.ExpBounds(exact.Rat(eps), 120)
	a := exact.Quo(big.NewRat(1, 1), exact.Add(e, big.NewRat(k-1, 1)))
	sorted := slices.Clone(mu)
	slices.SortFunc(sorted, func(x, y *big.Rat) int { return y.Cmp(x) })
	top := new(big.Rat)
	for n := int64(1); n <= k; n++ {
		top.Add(top, sorted[n-1])
		rest := exact.Sub(big.NewRat(1, 1), exact.Mul(big.NewRat(k-n, 1), a))
		if rest.Sign() <= 0 {
			continue
		}
		r = exact.Quo(top, rest)
		if n == k || sorted[n].Cmp(exact.Mul(r, a)) <= 0 {
			break
		}
	}
	for _, v := range mu {
		q = append(q, exact.Max(exact.Quo(v, r), a))
	}
	return q, r
}

// KPMClosedForm: every entry is that of the closed form, and r is its normaliser.
func KPMClosedForm(t *rapid.T, f KPM) {
	mu, eps := drawKPM(t)
	q, r := kpm(t, f, mu, eps)
	m, err := exact.Distribution(mu)
	if err != nil {
		t.Fatal(err)
	}
	want, wantR := kpmExact(m, eps)
	for j := range q {
		proptest.Near(t, fmt.Sprintf("q[%d] of KPM(%v, %v)", j, mu, eps), exact.Rat(q[j]), want[j], kpmTol,
			exact.Float(want[j]))
	}
	if eps > 0 { // at eps = 0 every large enough r gives 1/k
		proptest.Near(t, fmt.Sprintf("r of KPM(%v, %v)", mu, eps), exact.Rat(r), wantR, kpmTol, exact.Float(wantR))
	}
}

// KPMInBox: a <= q_j <= e^eps a and sum q = 1, up to rounding.
func KPMInBox(t *rapid.T, f KPM) {
	mu, eps := drawKPM(t)
	q, _ := kpm(t, f, mu, eps)
	e, _ := exact.ExpBounds(exact.Rat(eps), 120)
	a := exact.Quo(big.NewRat(1, 1), exact.Add(e, big.NewRat(int64(len(mu))-1, 1)))
	for j := range q {
		what := fmt.Sprintf("q[%d] of KPM(%v, %v)", j, mu, eps)
		proptest.AtMost(t, what+" below", a, exact.Rat(q[j]), kpmTol, exact.Float(a))
		proptest.AtMost(t, what+" above", exact.Rat(q[j]), exact.Mul(e, a), kpmTol, exact.Float(exact.Mul(e, a)))
	}
	proptest.Near(t, "sum q", exact.Sum(exact.Rats(q)), big.NewRat(1, 1), proptest.MassTol, 4*float64(len(q)))
}

// KPMProjection: no other point of the box is nearer to mu in KL(mu || q), nor in KL(q || mu) where mu has no
// zeros. The other points are between q and a vertex, near and far.
func KPMProjection(t *rapid.T, f KPM) {
	mu, eps := drawKPM(t)
	q, _ := kpm(t, f, mu, eps)
	k := len(mu)
	e := math.Exp(eps)
	a := 1 / (e + float64(k) - 1)
	order := rapid.Permutation(proptest.Indices(k)).Draw(t, "vertex")
	step := rapid.SampledFrom([]float64{1, 0.5, 1e-2, 1e-4}).Draw(t, "step")
	other := make([]float64, k)
	rest := 1 - float64(k)*a
	for _, j := range order {
		up := math.Min(math.Max(rest, 0), (e-1)*a)
		rest -= up
		other[j] = (1-step)*q[j] + step*(a+up)
	}
	d := divergence(mu, q)
	if o := divergence(mu, other); !(d <= o+proptest.KLTol*(1+math.Abs(o))) {
		t.Fatalf("KL(mu || q) = %.17g, but %.17g at %v\nKPM(%v, %v) = %v", d, o, other, mu, eps, q)
	}
	if slices.Min(mu) > 0 {
		d := divergence(q, mu)
		if o := divergence(other, mu); !(d <= o+proptest.KLTol*(1+math.Abs(o))) {
			t.Fatalf("KL(q || mu) = %.17g, but %.17g at %v\nKPM(%v, %v) = %v", d, o, other, mu, eps, q)
		}
	}
}

// divergence is KL(p || q) of vectors of sum about 1, by terms p log(p/q) - p + q, which are not negative.
func divergence(p, q []float64) float64 {
	d := 0.0
	for j := range p {
		if p[j] > 0 {
			d += p[j] * (math.Log(p[j]) - math.Log(q[j]))
		}
		d += q[j] - p[j]
	}
	return d
}

// KPMOrder: a point with more mass does not get less, equal points get the same, and names do not matter.
func KPMOrder(t *rapid.T, f KPM) {
	mu, eps := drawKPM(t)
	q, _ := kpm(t, f, mu, eps)
	for i := range mu {
		for j := range mu {
			if mu[i] >= mu[j] && !(q[i] >= q[j]) {
				t.Fatalf("mu[%d] = %v >= mu[%d] = %v, but q is %v and %v (eps %v)", i, mu[i], j, mu[j], q[i], q[j], eps)
			}
		}
	}
	order := rapid.Permutation(proptest.Indices(len(mu))).Draw(t, "order")
	p, _ := kpm(t, f, proptest.Pick(mu, order), eps)
	for i, n := range order {
		proptest.Near(t, "entry of the permuted input", exact.Rat(p[i]), exact.Rat(q[n]), kpmTol, q[n])
	}
}
