package projection

import (
	"math"
	"math/big"

	"github.com/wpm-go/wpm/proptest"
	"github.com/wpm-go/wpm/proptest/exact"
	"pgregory.net/rapid"
)

// A Hilbert computes Hilbert's projective metric, Birkhoff's diameter of a matrix and the contraction that follows.
type Hilbert interface {
	// Distance is log max_i (x_i/y_i) - log min_i (x_i/y_i) over the coordinates that do not vanish in both; +Inf where
	// the supports differ.
	Distance(x, y []float64) (float64, error)
	// Diameter is the largest log (A_ij A_kl / (A_il A_kj)) of a positive matrix.
	Diameter(a [][]float64) (float64, error)
	// Contraction is tanh(diameter/4), and the difference from 1 as a number of its own.
	Contraction(diameter float64) (tau, oneMinusTau float64)
}

// HilbertLaws returns the laws of Hilbert's metric.
func HilbertLaws() []proptest.Law[Hilbert] {
	return []proptest.Law[Hilbert]{
		{Name: "HilbertMetric", Statement: "section 4, definition of the metric", Check: HilbertMetric},
		{Name: "BirkhoffDiameter", Statement: "app:proof-convergence, definition of Δ(A)", Check: BirkhoffDiameter},
		{Name: "BirkhoffContraction", Statement: "app:proof-convergence, Birkhoff's lemma", Check: BirkhoffContraction,
			First: []func(proptest.TB, Hilbert){func(t proptest.TB, h Hilbert) { // the first row against the last decides
				contracts(t, h, [][]float64{{1, 2}, {1, 1}, {2, 1}}, []float64{1, 1}, []float64{1, 4})
			}}},
	}
}

const maxHilbert = 4

// positive draws positive vectors: ties, near ties, magnitudes from 2^-300 to 2^300.
func positive(n int) *rapid.Generator[[]float64] {
	return rapid.Custom(func(t *rapid.T) []float64 {
		x := make([]float64, n)
		style := rapid.SampledFrom([]string{"ties", "near ties", "weights", "spread"}).Draw(t, "vector style")
		for i := range x {
			switch style {
			case "ties":
				x[i] = float64(rapid.IntRange(1, 4).Draw(t, "x"))
			case "near ties":
				x[i] = 1 + 0x1p-52*float64(rapid.IntRange(0, 8).Draw(t, "ulps"))
			case "weights":
				x[i] = math.Exp(rapid.Float64Range(-4, 4).Draw(t, "log x"))
			default:
				x[i] = math.Ldexp(1+rapid.Float64Range(0, 0.5).Draw(t, "x"), rapid.IntRange(-300, 300).Draw(t, "exponent"))
			}
		}
		return x
	})
}

// logRat returns log r for r > 0, to a few units in the last place, also for r near 1 and beyond float64.
func logRat(r *big.Rat) float64 {
	if d := exact.Float(exact.Sub(r, big.NewRat(1, 1))); math.Abs(d) < 0.5 {
		return math.Log1p(d)
	}
	m := new(big.Float).SetPrec(128).SetRat(r)
	e := m.MantExp(m)
	f, _ := m.Float64()
	return math.Log(f) + float64(e)*math.Ln2
}

// spreadOf returns log max - log min of positive rationals.
func spreadOf(ratios []*big.Rat) float64 {
	lo, hi := ratios[0], ratios[0]
	for _, r := range ratios {
		lo, hi = exact.Min(lo, r), exact.Max(hi, r)
	}
	return logRat(exact.Quo(hi, lo))
}

func ratios(x, y []*big.Rat) []*big.Rat {
	var r []*big.Rat
	for i := range x {
		r = append(r, exact.Quo(x[i], y[i]))
	}
	return r
}

func hilbertDistance(t *rapid.T, h Hilbert, x, y []float64) float64 {
	t.Helper()
	a, b := proptest.Clone(x), proptest.Clone(y)
	d, err := h.Distance(a, b)
	if err != nil {
		t.Fatalf("Distance(%v, %v): %v", x, y, err)
	}
	proptest.SameFloats(t, "x", a, x)
	proptest.SameFloats(t, "y", b, y)
	if math.IsNaN(d) || d < 0 {
		t.Fatalf("Distance(%v, %v) = %v", x, y, d)
	}
	return d
}

// HilbertMetric: the distance is that of the definition, from exact ratios and one logarithm. It is symmetric, does not
// change under scaling, obeys the triangle inequality, vanishes for proportional vectors, and is infinite if supports
// differ.
func HilbertMetric(t *rapid.T, h Hilbert) {
	n := proptest.Size(maxHilbert).Draw(t, "n")
	x, y, z := positive(n).Draw(t, "x"), positive(n).Draw(t, "y"), positive(n).Draw(t, "z")
	d := hilbertDistance(t, h, x, y)
	want := spreadOf(ratios(exact.Rats(x), exact.Rats(y)))
	tol := 10 * LogTol * (1 + want)
	if !(math.Abs(d-want) <= tol) {
		t.Fatalf("Distance(%v, %v) = %.17g, want %.17g", x, y, d, want)
	}
	if back := hilbertDistance(t, h, y, x); !(math.Abs(back-d) <= tol) {
		t.Fatalf("Distance(%v, %v) = %v, and the other way %v", x, y, d, back)
	}
	factor := math.Ldexp(1, rapid.IntRange(-200, 200).Draw(t, "factor"))
	scaled := proptest.Clone(x)
	for i := range scaled {
		scaled[i] *= factor
	}
	if e := hilbertDistance(t, h, scaled, y); !(math.Abs(e-d) <= tol) {
		t.Fatalf("Distance(%v, %v) = %v, after scaling by %v it is %v", x, y, d, factor, e)
	}
	if e := hilbertDistance(t, h, x, scaled); !(e <= tol) {
		t.Fatalf("Distance(%v, %v) = %v for proportional vectors", x, scaled, e)
	}
	a, b := hilbertDistance(t, h, x, z), hilbertDistance(t, h, z, y)
	if !(d <= a+b+10*LogTol*(1+a+b)) {
		t.Fatalf("Distance(%v, %v) = %v, by way of %v it is %v", x, y, d, z, a+b)
	}
	if n > 1 {
		i := rapid.IntRange(0, n-1).Draw(t, "zero")
		gone := proptest.Clone(x)
		gone[i] = 0
		if e := hilbertDistance(t, h, gone, y); !math.IsInf(e, 1) {
			t.Fatalf("Distance(%v, %v) = %v for different supports", gone, y, e)
		}
		other := proptest.Clone(y)
		other[i] = 0
		rest := func(v []float64) []float64 { return append(proptest.Clone(v[:i]), v[i+1:]...) }
		e, want := hilbertDistance(t, h, gone, other), spreadOf(ratios(exact.Rats(rest(x)), exact.Rats(rest(y))))
		if !(math.Abs(e-want) <= 10*LogTol*(1+want)) {
			t.Fatalf("Distance(%v, %v) = %v, want %v", gone, other, e, want)
		}
	}
}

func drawMatrix(t *rapid.T, maxRows int) [][]float64 {
	k, n := proptest.Size(maxRows).Draw(t, "rows"), proptest.Size(maxHilbert).Draw(t, "columns")
	a := make([][]float64, k)
	for i := range a {
		a[i] = positive(n).Draw(t, "row")
	}
	if k > 1 && rapid.IntRange(0, 4).Draw(t, "rank one") == 4 {
		for j := range a[1] {
			a[1][j] = 2 * a[0][j]
		}
	}
	return a
}

func diameter(t proptest.TB, h Hilbert, a [][]float64) float64 {
	t.Helper()
	work := proptest.Problem{C: a}.Clone().C
	d, err := h.Diameter(work)
	if err != nil {
		t.Fatalf("Diameter(%v): %v", a, err)
	}
	for i := range a {
		proptest.SameFloats(t, "row", work[i], a[i])
	}
	if !(d >= 0) {
		t.Fatalf("Diameter(%v) = %v", a, d)
	}
	return d
}

// exactDiameter is the definition, over all pairs of rows and of columns.
func exactDiameter(a [][]float64) float64 {
	best := big.NewRat(1, 1)
	m := proptest.ExactCost(a)
	for i := range m {
		for k := range m {
			r := ratios(m[i], m[k])
			for j := range r {
				for l := range r {
					best = exact.Max(best, exact.Quo(r[j], r[l]))
				}
			}
		}
	}
	return logRat(best)
}

// BirkhoffDiameter: Δ(A) is the largest logarithm of a cross ratio, the same for the transpose and for rescaled rows.
func BirkhoffDiameter(t *rapid.T, h Hilbert) {
	a := drawMatrix(t, maxHilbert)
	d, want := diameter(t, h, a), exactDiameter(a)
	tol := 10 * LogTol * (1 + want)
	if !(math.Abs(d-want) <= tol) {
		t.Fatalf("Diameter(%v) = %.17g, want %.17g", a, d, want)
	}
	b := make([][]float64, len(a[0]))
	for i := range a {
		factor := math.Ldexp(1, rapid.IntRange(-100, 100).Draw(t, "factor"))
		for j, v := range a[i] {
			b[j] = append(b[j], v*factor)
		}
	}
	if e := diameter(t, h, b); !(math.Abs(e-want) <= tol) {
		t.Fatalf("Diameter(%v) = %v, of a rescaled transpose %v", a, d, e)
	}
}

// BirkhoffContraction: d_H(Ax, Ay) <= τ(A) d_H(x, y), with τ = tanh(Δ/4), and no smaller number is possible: on two
// rows and columns, close points at the right place come within a ten-thousandth of τ. 1 - τ keeps its digits.
func BirkhoffContraction(t *rapid.T, h Hilbert) {
	a := drawMatrix(t, maxHilbert)
	n := len(a[0])
	contracts(t, h, a, positive(n).Draw(t, "x"), positive(n).Draw(t, "y"))
	p := make([]float64, 4)
	for i := range p {
		p[i] = math.Exp(rapid.Float64Range(-3, 3).Draw(t, "log entry"))
	}
	contractsLeast(t, h, p)
}

func contracts(t proptest.TB, h Hilbert, a [][]float64, x, y []float64) {
	t.Helper()
	delta := diameter(t, h, a)
	tau, rest := h.Contraction(delta)
	proptest.Finite(t, "tau and 1 - tau", tau, rest)
	proptest.Relative(t, "tau", tau, math.Tanh(delta/4), 1e-12)
	if delta < 1300 { // beyond, it is about to underflow
		proptest.Relative(t, "1 - tau", rest, 2/(math.Exp(delta/2)+1), LogTol*(10+delta))
	}
	if m := proptest.ExactCost(a); len(a) > 1 {
		before := spreadOf(ratios(exact.Rats(x), exact.Rats(y)))
		after := spreadOf(ratios(times(m, exact.Rats(x)), times(m, exact.Rats(y))))
		if !(after <= tau*before+10*LogTol*(1+after)) {
			t.Fatalf("d_H(Ax, Ay) = %.17g > tau d_H(x, y) = %.17g * %.17g\nA %v, x %v, y %v", after, tau, before, a, x, y)
		}
	}
}

func contractsLeast(t proptest.TB, h Hilbert, p []float64) {
	t.Helper()
	// f(s) = log((a + b e^s)/(c + d e^s)) is steepest at e^s = sqrt(ac/(bd)), with slope tanh(Δ/4).
	const step = 1e-3
	two := [][]float64{{p[0], p[1]}, {p[2], p[3]}}
	tau, _ := h.Contraction(diameter(t, h, two))
	s := math.Sqrt(p[0] * p[2] / (p[1] * p[3]))
	m := proptest.ExactCost(two)
	u, v := exact.Rats([]float64{1, s * math.Exp(step)}), exact.Rats([]float64{1, s * math.Exp(-step)})
	after := spreadOf(ratios(times(m, u), times(m, v)))
	if !(after >= (tau-1e-4)*2*step) {
		t.Fatalf("tau = %v, but the matrix %v contracts by %v where it contracts least", tau, two, after/(2*step))
	}
}

// times returns the product of a matrix and a vector.
func times(m [][]*big.Rat, x []*big.Rat) []*big.Rat {
	y := exact.Zeros(len(m))
	for i := range m {
		for j := range x {
			y[i].Add(y[i], exact.Mul(m[i][j], x[j]))
		}
	}
	return y
}
