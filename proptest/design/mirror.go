package design

import (
	"math"
	"math/big"
	"slices"

	"github.com/wpm-go/wpm/proptest"
	"github.com/wpm-go/wpm/proptest/exact"
	"pgregory.net/rapid"
)

// A GKLProjector returns the point of { m >= 0, e^(-eps/2) <= sum m <= e^(eps/2) } that is nearest to v > 0 in the
// generalised Kullback-Leibler divergence D(m || v) = sum m log(m/v) - m + v.
type GKLProjector func(v []float64, eps float64) ([]float64, error)

// GKLLaws returns the laws of the projection that the mirror descent uses.
func GKLLaws() []proptest.Law[GKLProjector] {
	return []proptest.Law[GKLProjector]{
		{Name: "GKLProjection", Check: GKLProjection,
			Statement: "app:mirror-descent-base-measure, closed form of the projection"},
		{Name: "GKLThreePoint", Check: GKLThreePoint,
			// an entry that only scaling keeps small
			First: []func(proptest.TB, GKLProjector){func(t proptest.TB, f GKLProjector) {
				v := []float64{1e-4, 0.1}
				threePoint(t, v, 1, gklOf(t, f, v, 1), []float64{0, math.Exp(-0.5)})
			}},
			Statement: "app:mirror-descent-base-measure, what the proof of the bound uses of it"},
	}
}

// A Descender is the mirror descent of the paper's appendix: steps iterations from the uniform measure of mass
// e^(eps/2) with the paper's constant step.
type Descender func(c [][]float64, eps float64, steps int) (Descent, error)

// A Descent is what a Descender found.
type Descent struct {
	// Average is the mean of the iterates m^(1) (the start) to m^(T).
	Average []float64
	// Bound is claimed: f(Average) - f* <= Bound. +Inf claims nothing.
	Bound float64
	// History, which may be empty, has claims about earlier averages, in order.
	History []DescentReport
}

// A DescentReport is a claim after Step iterates: their average has f(average) = Average, it is at most Bound above f*,
// and no eps-LDP mechanism has a worst case below Lower.
type DescentReport struct {
	Step                  int
	Average, Bound, Lower float64
}

// DescenderLaws returns the laws of the mirror descent.
func DescenderLaws() []proptest.Law[Descender] {
	return []proptest.Law[Descender]{
		{Name: "MirrorIterates", Statement: "app:mirror-descent-base-measure, the algorithm", Check: MirrorIterates},
		{Name: "MirrorRepairedBound", Check: MirrorRepairedBound,
			Statement: "prop:mirror-descent-base-measure, with log kv and R"},
		{Name: "MirrorClaimedBound", Check: MirrorClaimedBound,
			First: []func(proptest.TB, Descender){func(t proptest.TB, d Descender) { // slow, and a free output: f* = 0
				claimedBound(t, d, [][]float64{{0, 1, 1}}, 4, 1000, func() *big.Rat { return new(big.Rat) })
			}},
			Statement: "prop:mirror-descent-base-measure, as the implementation states it"},
		{Name: "MirrorHistory", Statement: "averaged cuts are lower bounds; the bound at every report", Check: MirrorHistory},
	}
}

// maxGKL is the number of columns of an instance, at most.
const maxGKL = 6

// gkl returns D(m || v).
func gkl(m, v []float64) float64 {
	d := 0.0
	for j := range m {
		if m[j] > 0 {
			d += m[j] * math.Log(m[j]/v[j])
		}
		d += v[j] - m[j]
	}
	return d
}

// GKLProjection: the projection is a multiple of v, with the nearest mass of the interval, and no other measure of the
// set is nearer.
func GKLProjection(t *rapid.T, f GKLProjector) {
	v, eps, m := gklProject(t, f)
	n := len(v)
	low, high := math.Exp(-eps/2), math.Exp(eps/2)
	mass, sum := 0.0, 0.0
	for j, x := range m {
		mass += x
		sum += v[j]
	}
	if !(mass >= low*(1-proptest.KLTol) && mass <= high*(1+proptest.KLTol)) {
		t.Fatalf("mass %v is outside [%v, %v]\nv %v, eps %v", mass, low, high, v, eps)
	}
	for j := range m {
		proptest.Relative(t, "entry of the projection", m[j], v[j]*min(max(sum, low), high)/sum, proptest.KLTol)
	}
	other := proptest.BaseMeasure(n, eps).Draw(t, "other")
	theta := rapid.SampledFrom([]float64{1, 0.5, 1e-2}).Draw(t, "theta")
	for j := range other {
		other[j] = theta*other[j] + (1-theta)*m[j]
	}
	if d, o := gkl(m, v), gkl(other, v); !(d <= o+100*proptest.KLTol*(1+d+mass+sum+high)) {
		t.Fatalf("D(m || v) = %.17g, but %.17g at %v\nm %v, v %v, eps %v", d, o, other, m, v, eps)
	}
}

// GKLThreePoint: D(x || v) >= D(x || m) + D(m || v) for every measure x of the set, also for one with all its mass on
// one column.
func GKLThreePoint(t *rapid.T, f GKLProjector) {
	v, eps, m := gklProject(t, f)
	x := proptest.BaseMeasure(len(v), eps).Draw(t, "x")
	if rapid.Bool().Draw(t, "on one column") {
		clear(x)
		x[rapid.IntRange(0, len(x)-1).Draw(t, "column")] = math.Exp(
			rapid.SampledFrom([]float64{-eps / 2, 0, eps / 2}).Draw(t, "log mass"))
	}
	threePoint(t, v, eps, m, x)
}

func threePoint(t proptest.TB, v []float64, eps float64, m, x []float64) {
	t.Helper()
	for j := range m {
		if !(m[j] > 0) {
			t.Fatalf("m[%d] = %v, though v[%d] = %v\nv %v, eps %v", j, m[j], j, v[j], v, eps)
		}
	}
	far, near, step := gkl(x, v), gkl(x, m), gkl(m, v)
	size := 1 + far + near + step + 2*math.Exp(eps/2)
	for _, w := range v {
		size += w // it cancels in the divergence
	}
	if !(far >= near+step-100*proptest.KLTol*size) {
		t.Fatalf("D(x || v) = %.17g < D(x || m) + D(m || v) = %.17g + %.17g\nx %v, v %v, m %v, eps %v",
			far, near, step, x, v, m, eps)
	}
}

// gklProject draws an instance and projects it.
func gklProject(t *rapid.T, f GKLProjector) (v []float64, eps float64, m []float64) {
	t.Helper()
	n := proptest.Size(maxGKL).Draw(t, "kv")
	eps = min(proptest.Epsilon().Draw(t, "eps"), 20)
	v = make([]float64, n)
	scale := math.Exp(rapid.Float64Range(-1.5, 1.5).Draw(t, "log scale") * eps)
	for j := range v {
		v[j] = scale * math.Exp(rapid.Float64Range(-3, 3).Draw(t, "log v"))
	}
	return v, eps, gklOf(t, f, v, eps)
}

// gklOf runs f on a copy.
func gklOf(t proptest.TB, f GKLProjector, v []float64, eps float64) []float64 {
	t.Helper()
	work := proptest.Clone(v)
	m, err := f(work, eps)
	if err != nil {
		t.Fatalf("GKLProjector(%v, %v): %v", v, eps, err)
	}
	proptest.SameFloats(t, "v", work, v)
	proptest.Length(t, "m", m, len(v))
	proptest.Finite(t, "m", m...)
	for j, x := range m {
		if !(x >= 0) {
			t.Fatalf("m[%d] = %v", j, x)
		}
	}
	return m
}

// paperProject is the closed form.
func paperProject(v []float64, eps float64) ([]float64, error) {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	m := proptest.Clone(v)
	for j := range m {
		m[j] *= min(max(sum, math.Exp(-eps/2)), math.Exp(eps/2)) / sum
	}
	return m, nil
}

// fillFloats is φ and τ of one row in floats, by the convention for the ends of the mass, and clear: that neither the
// fill nor τ hangs on rounding.
func fillFloats(c, m []float64, eps float64) (phi, tau float64, isClear bool) {
	b := proptest.BoxOf(m, eps)
	order := proptest.Indices(len(c))
	slices.SortStableFunc(order, func(x, y int) int {
		switch {
		case c[x] < c[y]:
			return -1
		case c[x] > c[y]:
			return 1
		}
		return 0
	})
	rest := 1.0
	for j, v := range b.Lo {
		rest -= v
		phi += v * c[j]
	}
	const edge = 1e-9
	tau, isClear = c[order[0]], true
	if rest <= 1e-14*float64(len(c)) { // the start: no mass left, and any τ up to the least cost would do
		return phi, tau, true
	}
	for n, j := range order {
		width := b.Hi[j] - b.Lo[j]
		up := min(rest, width)
		phi += up * c[j]
		rest -= up
		tau = c[j]
		if n == len(order)-1 { // full, or nearly: the largest cost either way
			break
		}
		if rest <= 0 {
			if width-up < edge { // full: the next column is nearly the threshold
				isClear = false
			}
			break
		}
		if rest < edge {
			isClear = false
		}
	}
	return phi, tau, isClear
}

func drawDescent(t *rapid.T) (c [][]float64, eps float64, steps int) {
	k, kv := proptest.Size(4).Draw(t, "k"), proptest.Size(4).Draw(t, "kv")
	c = proptest.Costs(k, kv).Draw(t, "C")
	eps = rapid.SampledFrom([]float64{1e-3, 0.01, 0.1, 0.5, 1, 2, 4}).Draw(t, "eps")
	return c, eps, rapid.IntRange(1, 40).Draw(t, "steps")
}

func descend(t proptest.TB, d Descender, c [][]float64, eps float64, steps int) Descent {
	t.Helper()
	work := proptest.Problem{C: c}.Clone().C
	r, err := d(work, eps, steps)
	if err != nil {
		t.Fatalf("Descender: %v\neps %v, %d steps, C %v", err, eps, steps, c)
	}
	for i := range c {
		proptest.SameFloats(t, "C", work[i], c[i])
	}
	proptest.Length(t, "Average", r.Average, len(c[0]))
	proptest.Finite(t, "Average", r.Average...)
	return r
}

// MirrorIterates: the average is that of the algorithm as printed, with the largest φ_i at its lowest index, the step
// sqrt(2(1+log k))/(β D sqrt T), m_j e^(-η g_j), and the projection in closed form. If a choice depends on rounding,
// the instance is not compared beyond this step.
func MirrorIterates(t *rapid.T, d Descender) {
	c, eps, steps := drawDescent(t)
	steps = min(steps, 8)
	scale := proptest.MaxCost(c)
	if scale == 0 {
		return // the step divides by it
	}
	k, kv := len(c), len(c[0])
	alpha, beta := math.Exp(-eps/2), math.Exp(eps/2)
	eta := math.Sqrt(2*(1+math.Log(float64(k)))) / (beta * math.Sqrt(float64(steps))) // times 1/D, below
	m, mean := make([]float64, kv), make([]float64, kv)
	for j := range m {
		m[j] = 1 / (alpha * float64(kv))
	}
	for n := range steps {
		for j := range m {
			mean[j] += m[j] / float64(steps)
		}
		if n == steps-1 {
			break
		}
		best, second, at := math.Inf(-1), math.Inf(-1), 0
		tau := 0.0
		for i := range c {
			v, u, ok := fillFloats(c[i], m, eps)
			if !ok {
				return
			}
			if v > best {
				best, second, at, tau = v, best, i, u
			} else {
				second = max(second, v)
			}
		}
		if best-second < 1e-9*scale {
			return
		}
		for j := range m {
			g := -beta * max(0, tau-c[at][j]) / scale
			if c[at][j] > tau {
				g = alpha * (c[at][j] - tau) / scale
			}
			m[j] *= math.Exp(-eta * g)
		}
		m, _ = paperProject(m, eps)
	}
	r := descend(t, d, c, eps, steps)
	for j := range mean {
		proptest.Relative(t, "entry of the average", r.Average[j], mean[j], 1e-9) // eight steps from clear choices
	}
}

// rivals returns values f(m) of some base measures, exactly but for the box, the least of which stands for f*: constant
// mechanisms, measures at random, the uniform one.
func rivals(t *rapid.T, c [][]float64, eps float64) *big.Rat {
	t.Helper()
	kv := len(c[0])
	var best *big.Rat
	for j := range kv { // all mass on one output
		worst := 0.0
		for i := range c {
			worst = max(worst, c[i][j])
		}
		best = pickLeast(best, exact.Rat(worst))
	}
	if kv > 8 {
		return best
	}
	m := proptest.ExactCost(c)
	shapes := [][]float64{slices.Repeat([]float64{1 / float64(kv)}, kv)}
	for range 3 {
		shapes = append(shapes, proptest.BaseMeasure(kv, eps).Draw(t, "rival"))
	}
	for _, x := range shapes {
		if l, h, err := realBox(x, eps); err == nil {
			best = pickLeast(best, worst(m, l, h))
		}
	}
	return best
}

func pickLeast(x, y *big.Rat) *big.Rat {
	if x == nil {
		return y
	}
	return exact.Min(x, y)
}

// wide is one input with many outputs of which one is free: f* = 0. The mass has far to go, and log kv counts.
func wide(t *rapid.T) (c [][]float64, eps float64, steps int) {
	row := slices.Repeat([]float64{1}, rapid.IntRange(40, 80).Draw(t, "outputs"))
	row[rapid.IntRange(0, len(row)-1).Draw(t, "free")] = 0
	return [][]float64{row}, rapid.SampledFrom([]float64{1e-3, 0.01, 0.1}).Draw(t, "eps"),
		rapid.IntRange(5, 60).Draw(t, "steps")
}

func drawDescentOrWide(t *rapid.T) (c [][]float64, eps float64, steps int) {
	if rapid.IntRange(0, 3).Draw(t, "wide") == 3 {
		return wide(t)
	}
	return drawDescent(t)
}

// MirrorRepairedBound: with L = max(1, log kv), R the spread of the costs and r = η β R, the regret of the paper's step
// is at most E R (L/(rT) + r/2). For kv <= k that is below the paper's E D sqrt(2 (1 + log k)/T), which then holds too.
func MirrorRepairedBound(t *rapid.T, d Descender) {
	c, eps, steps := drawDescentOrWide(t)
	span, top := proptest.RowRange(c), proptest.MaxCost(c)
	if span == 0 {
		return // every measure is optimal
	}
	k, kv := float64(len(c)), float64(len(c[0]))
	over := exact.Sub(valueOf(t, c, eps, descend(t, d, c, eps, steps).Average), rivals(t, c, eps))
	n := float64(steps)
	l := max(1, math.Log(kv))
	r := math.Sqrt(2*(1+math.Log(k))/n) * span / top
	repaired := math.Exp(eps) * span * (l/(r*n) + r/2)
	paper := math.Exp(eps) * top * math.Sqrt(2*(1+math.Log(k))/n)
	proptest.AtMost(t, "f(average) - f* against the repaired bound", over, exact.Rat(repaired), proptest.ValueTol, top)
	if kv <= k {
		proptest.AtMost(t, "f(average) - f* against the paper's bound", over, exact.Rat(paper), proptest.ValueTol, top)
	}
}

// MirrorClaimedBound: the claim of the implementation about its average is true.
func MirrorClaimedBound(t *rapid.T, d Descender) {
	c, eps, steps := drawDescentOrWide(t)
	claimedBound(t, d, c, eps, steps, func() *big.Rat { return rivals(t, c, eps) })
}

func claimedBound(t proptest.TB, d Descender, c [][]float64, eps float64, steps int, least func() *big.Rat) {
	t.Helper()
	r := descend(t, d, c, eps, steps)
	if math.IsNaN(r.Bound) {
		t.Fatalf("Bound is NaN")
	}
	if !math.IsInf(r.Bound, 1) {
		proptest.AtMost(t, "f(average) - f* against the claim (the paper's log k should be log kv: docs/errata.md, 5)",
			exact.Sub(valueOf(t, c, eps, r.Average), least()), exact.Rat(r.Bound), proptest.ValueTol, proptest.MaxCost(c))
	}
}

// MirrorHistory: the reports come in order, the last one is about the average returned, lower bounds do not fall, and
// no claim is refuted by a base measure or by an eps-LDP mechanism.
func MirrorHistory(t *rapid.T, d Descender) {
	c, eps, steps := drawDescentOrWide(t)
	r := descend(t, d, c, eps, steps)
	if len(r.History) == 0 {
		return
	}
	top := proptest.MaxCost(c)
	best := rivals(t, c, eps)
	if len(c[0]) <= 8 {
		best = exact.Min(best, familyCost(proptest.FamiliesAt(exact.Rat(eps), c, r.Average).Draw(t, "mechanism"), c))
	}
	step, lower := 0, math.Inf(-1)
	for _, h := range r.History {
		proptest.Finite(t, "Average, Lower", h.Average, h.Lower)
		if h.Step <= step || h.Step > steps || h.Lower < lower || math.IsNaN(h.Bound) {
			t.Fatalf("report %+v after step %d with lower bound %v", h, step, lower)
		}
		step, lower = h.Step, h.Lower
		if exact.Rat(h.Lower).Cmp(best) > 0 {
			t.Fatalf("step %d: lower bound %.17g, but %.17g is reached\neps %v, C %v",
				h.Step, h.Lower, exact.Float(best), eps, c)
		}
		if !math.IsInf(h.Bound, 1) {
			proptest.AtMost(t, "f(average) - f* against the claim",
				exact.Sub(exact.Rat(h.Average), best), exact.Rat(h.Bound), proptest.ValueTol, top)
		}
	}
	l, hi, err := realBox(r.Average, eps)
	if err != nil {
		t.Fatal(err)
	}
	proptest.Near(t, "last report",
		exact.Rat(r.History[len(r.History)-1].Average), worst(proptest.ExactCost(c), l, hi), proptest.ValueTol, top)
	if step != steps {
		t.Fatalf("the last report is about step %d of %d", step, steps)
	}
}
