package projection

import (
	"math"

	"github.com/wpm-go/wpm/proptest"
	"github.com/wpm-go/wpm/proptest/exact"
	"pgregory.net/rapid"
)

// A KLProjector returns the point q of a box that is nearest to s in KL(q || s), and a theta with
// q_j = min(max(e^theta s_j, lo_j), hi_j). s > 0 comes as its logarithms and need not have mass 1.
type KLProjector func(logS, lo, hi []float64) (q []float64, theta float64, err error)

// KLLaws returns the laws of the projection in the Kullback-Leibler divergence, Π.
func KLLaws() []proptest.Law[KLProjector] {
	return []proptest.Law[KLProjector]{
		{Name: "KLClosedForm", Statement: "lem:kl-projection, form of the projection", Check: KLClosedForm},
		{Name: "KLMinimal", Statement: "lem:kl-projection, it is the minimiser", Check: KLMinimal,
			First: []func(proptest.TB, KLProjector){func(t proptest.TB, f KLProjector) { // no bound is active
				b := proptest.Box{Lo: []float64{0.06, 0.06, 0.06, 0.06}, Hi: []float64{0.97, 0.97, 0.97, 0.97}}
				klMinimal(t, f, []float64{1, 1, 0.5, 1}, b, []int{2, 1, 0, 3}, 1e-2)
			}}},
		{Name: "RatioNonexpansive", Statement: "lem:ratio-nonexpansive", Check: RatioNonexpansive},
		{Name: "ProjectionLipschitz", Statement: "lem:pi-lipschitz, with 2 and with the sharp 1", Check: ProjectionLipschitz},
	}
}

const (
	maxKL = 6 // columns

	// EntropicMassTol is how far the sum of a q may be from 1 in the laws of entropic projections: a theta found by
	// bisection is good to an ulp, and the logarithms of an instance stay below 1000.
	EntropicMassTol = 1e-12

	// LogTol bounds the rounding of differences of logarithms of size 1: an exponential, a sum of a dozen positive
	// terms and a logarithm, each good to a few 2^-53. Laws multiply it by the largest logarithm.
	LogTol = 1e-13
)

// softBox draws boxes in which there is room on either side: sum lo < 1 < sum hi by about a millionth, so that no
// convention for inexact masses is needed. If full, every column has a positive lower bound.
func softBox(n int, full bool) *rapid.Generator[proptest.Box] {
	const room = 0x1p-20
	return rapid.Custom(func(t *rapid.T) proptest.Box {
		b := proptest.Boxes(n).Draw(t, "box")
		if full {
			eps := min(proptest.Epsilon().Draw(t, "eps"), 20)
			m := proptest.BaseMeasure(n, eps).Draw(t, "m")
			top := 0.0
			for _, v := range m {
				top = max(top, v)
			}
			for j := range m {
				m[j] = max(m[j], top*0x1p-24)
			}
			b = proptest.BoxOf(proptest.Normalise(m, 1), eps)
		}
		for j := range b.Lo {
			b.Lo[j] *= 1 - room
			b.Hi[j] *= 1 + room
		}
		return b
	})
}

// drawLogs draws logarithms: ties, small and large differences, a common offset.
func drawLogs(t *rapid.T, n int, what string) []float64 {
	x := make([]float64, n)
	spread := rapid.SampledFrom([]float64{0, 1e-6, 1, 5, 40}).Draw(t, what+" spread")
	offset := rapid.SampledFrom([]float64{0, -100, 30}).Draw(t, what+" offset")
	for j := range x {
		x[j] = offset + spread*rapid.Float64Range(-1, 1).Draw(t, what)
	}
	return x
}

// maxLog is the largest absolute value, at least 1.
func maxLog(xs ...[]float64) float64 {
	m := 1.0
	for _, x := range xs {
		for _, v := range x {
			if !math.IsInf(v, -1) {
				m = max(m, math.Abs(v))
			}
		}
	}
	return m
}

func klProject(t proptest.TB, f KLProjector, logS []float64, b proptest.Box) (q []float64, theta float64) {
	t.Helper()
	s, lo, hi := proptest.Clone(logS), proptest.Clone(b.Lo), proptest.Clone(b.Hi)
	q, theta, err := f(s, lo, hi)
	if err != nil {
		t.Fatalf("KLProjector(%v, %v, %v): %v", logS, b.Lo, b.Hi, err)
	}
	proptest.SameFloats(t, "logS", s, logS)
	proptest.SameFloats(t, "lo", lo, b.Lo)
	proptest.SameFloats(t, "hi", hi, b.Hi)
	proptest.Length(t, "q", q, len(logS))
	proptest.Finite(t, "q", q...)
	return q, theta
}

// KLClosedForm: q is in the box bit for bit, has mass 1, and is the multiple e^theta of s, cut to the box.
func KLClosedForm(t *rapid.T, f KLProjector) {
	n := proptest.Size(maxKL).Draw(t, "kv")
	b := softBox(n, false).Draw(t, "box")
	logS := drawLogs(t, n, "log s")
	q, theta := klProject(t, f, logS, b)
	inBox(t, q, b.Lo, b.Hi)
	for j := range q {
		want := min(max(math.Exp(theta+logS[j]), b.Lo[j]), b.Hi[j])
		if tol := LogTol * (maxLog(logS) + math.Abs(theta)); !(math.Abs(q[j]-want) <= tol*want) {
			t.Fatalf("q[%d] = %v, but e^theta s = %v with theta = %v\nlog s %v, lo %v, hi %v",
				j, q[j], want, theta, logS, b.Lo, b.Hi)
		}
	}
}

// inBox fails the test unless lo <= q <= hi bit for bit and the sum is near 1.
func inBox(t *rapid.T, q, lo, hi []float64) {
	t.Helper()
	for j := range q {
		if !(lo[j] <= q[j] && q[j] <= hi[j]) {
			t.Fatalf("q[%d] = %v is outside [%v, %v]\nq %v, lo %v, hi %v", j, q[j], lo[j], hi[j], q, lo, hi)
		}
	}
	proptest.Near(t, "sum q", exact.Sum(exact.Rats(q)), exact.Rat(1), EntropicMassTol, 1)
}

// KLMinimal: no other point of the box is nearer to s in KL(q || s). The others lie between q and a vertex.
func KLMinimal(t *rapid.T, f KLProjector) {
	n := proptest.Size(maxKL).Draw(t, "kv")
	b := softBox(n, false).Draw(t, "box")
	logS := drawLogs(t, n, "log s")
	order := rapid.Permutation(proptest.Indices(n)).Draw(t, "vertex")
	step := rapid.SampledFrom([]float64{1, 0.5, 1e-2, 1e-4}).Draw(t, "step")
	klMinimal(t, f, logS, b, order, step)
}

func klMinimal(t proptest.TB, f KLProjector, logS []float64, b proptest.Box, order []int, step float64) {
	t.Helper()
	q, _ := klProject(t, f, logS, b)
	rest := 1.0
	other := proptest.Clone(b.Lo)
	for _, v := range b.Lo {
		rest -= v
	}
	for _, j := range order {
		up := min(max(rest, 0), b.Hi[j]-b.Lo[j])
		other[j] += up
		rest -= up
	}
	value := func(x func(j int) float64) (d, size float64) {
		for j := range logS {
			if v := x(j); v > 0 {
				d += v * (math.Log(v) - logS[j])
				size += v * (math.Abs(math.Log(v)) + math.Abs(logS[j]))
			}
		}
		return d, size
	}
	d, size := value(func(j int) float64 { return q[j] })
	o, more := value(func(j int) float64 { return (1-step)*q[j] + step*other[j] })
	// The masses of the two may differ by EntropicMassTol, each unit worth a logarithm.
	if !(d <= o+proptest.KLTol*(1+size+more)+2*EntropicMassTol*maxLog(logS)) {
		t.Fatalf("KL(q || s) = %.17g, but %.17g at a step %v towards %v\nq %v, log s %v, lo %v, hi %v",
			d, o, step, other, q, logS, b.Lo, b.Hi)
	}
}

// drawTwo draws a box with positive bounds and two vectors, near or far from each other.
func drawTwo(t *rapid.T) (b proptest.Box, x, y []float64) {
	n := proptest.Size(maxKL).Draw(t, "kv")
	b = softBox(n, true).Draw(t, "box")
	x, y = drawLogs(t, n, "log x"), drawLogs(t, n, "log y")
	if rapid.Bool().Draw(t, "near") {
		for j := range y {
			y[j] = x[j] + 1e-3*y[j]
		}
	}
	return b, x, y
}

// hilbertLogs is Hilbert's distance of two vectors given by their logarithms. Coordinates where both vanish do not
// count.
func hilbertLogs(x, y []float64) float64 {
	lo, hi := math.Inf(1), math.Inf(-1)
	for j := range x {
		if math.IsInf(x[j], -1) && math.IsInf(y[j], -1) {
			continue
		}
		d := x[j] - y[j]
		lo, hi = min(lo, d), max(hi, d)
	}
	return max(0, hi-lo)
}

func logsOf(x []float64) []float64 {
	y := make([]float64, len(x))
	for j, v := range x {
		y[j] = math.Log(v)
	}
	return y
}

func minus(x, y []float64) []float64 {
	z := make([]float64, len(x))
	for j := range x {
		z[j] = x[j] - y[j]
	}
	return z
}

// RatioNonexpansive: d_H(F(x), F(y)) <= d_H(x, y) for F(x) = Π(x)/x.
func RatioNonexpansive(t *rapid.T, f KLProjector) {
	b, x, y := drawTwo(t)
	p, _ := klProject(t, f, x, b)
	q, _ := klProject(t, f, y, b)
	got, want := hilbertLogs(minus(logsOf(p), x), minus(logsOf(q), y)), hilbertLogs(x, y)
	if tol := 4 * LogTol * maxLog(x, y, logsOf(p), logsOf(q)); !(got <= want+tol) {
		t.Fatalf("d_H(F(x), F(y)) = %.17g > d_H(x, y) = %.17g\nlog x %v, log y %v, lo %v, hi %v", got, want, x, y, b.Lo, b.Hi)
	}
}

// ProjectionLipschitz: d_H(Π(x), Π(y)) <= 2 d_H(x, y), as the lemma says, and <= d_H(x, y), which is what its case
// distinction gives.
func ProjectionLipschitz(t *rapid.T, f KLProjector) {
	b, x, y := drawTwo(t)
	p, _ := klProject(t, f, x, b)
	q, _ := klProject(t, f, y, b)
	got, want := hilbertLogs(logsOf(p), logsOf(q)), hilbertLogs(x, y)
	tol := 4 * LogTol * maxLog(x, y, logsOf(p), logsOf(q))
	if !(got <= 2*want+tol) {
		t.Fatalf("d_H of the projections = %.17g > twice d_H(x, y) = %.17g\nlog x %v, log y %v, lo %v, hi %v",
			got, want, x, y, b.Lo, b.Hi)
	}
	if !(got <= want+tol) {
		t.Fatalf("d_H of the projections = %.17g > d_H(x, y) = %.17g\nlog x %v, log y %v, lo %v, hi %v",
			got, want, x, y, b.Lo, b.Hi)
	}
}
