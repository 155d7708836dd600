package estimate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/wpm-go/wpm/proptest"
	"pgregory.net/rapid"
)

// Likeliest returns a map under which the counts are most likely, and a bound, at most MaxGap, on how far its
// log-likelihood of a release is below the largest. rows[i] is the law of a release at input i.
type Likeliest func(counts []uint64, rows [][]float64) (theta []float64, gap float64, err error)

// Interval returns the smallest and the largest share of a region, with weights from 0 to 1, under maps whose
// log-likelihood of all releases is within Drop of the largest; outward, by at most IntervalTol.
type Interval func(counts []uint64, rows [][]float64, region []float64) (lower, upper float64, err error)

// Raw returns the releases as shares.
type Raw func(counts []uint64) ([]float64, error)

const (
	// MaxGap is how far the log-likelihood of a likeliest map may be below the largest.
	MaxGap = 1e-9
	// Drop is half of the quantile of chi2_1 at 0.9.
	Drop = 2.705543454095414 / 2
	// IntervalTol is how far an end of an interval may be beyond its exact value.
	IntervalTol = 1e-4

	// likelihoodTol covers sums of a dozen logarithms of up to 20.
	likelihoodTol = 1e-12
	// shareTol covers sums of a dozen products of shares.
	shareTol = 1e-12
)

// LikeliestLaws returns the laws of the likeliest map.
func LikeliestLaws() []proptest.Law[Likeliest] {
	return []proptest.Law[Likeliest]{
		{Name: "LikeliestOptimal", Statement: "no map is more likely", Check: LikeliestOptimal},
		{Name: "LikeliestGrid", Statement: "no map of a grid is more likely, for two and three inputs", Check: LikeliestGrid},
		{Name: "LikeliestScale", Statement: "three times the counts say the same", Check: LikeliestScale},
		{Name: "LikeliestPermuted", Statement: "the order of inputs and outputs does not matter", Check: LikeliestPermuted},
		{Name: "LikeliestRecovers", Statement: "all mass on one place is found", Check: LikeliestRecovers},
	}
}

// IntervalLaws returns the laws of the interval of a share.
func IntervalLaws() []proptest.Law[Interval] {
	return []proptest.Law[Interval]{
		{Name: "IntervalHolds", Statement: "every map that is likely enough has its share in the interval",
			Check: IntervalHolds},
		{Name: "IntervalTight", Statement: "the ends are shares of such maps, for two inputs", Check: IntervalTight},
		{Name: "IntervalComplement", Statement: "what is outside of a region has the rest", Check: IntervalComplement},
		{Name: "IntervalNested", Statement: "the same shares of four times the releases: an interval inside",
			Check: IntervalNested},
		{Name: "IntervalNarrows", Statement: "more releases do not widen it on average", Check: IntervalNarrows},
	}
}

// RawLaws returns the laws of the releases as they are.
func RawLaws() []proptest.Law[Raw] {
	return []proptest.Law[Raw]{
		{Name: "RawScale", Statement: "three times the counts say the same", Check: RawScale},
		{Name: "RawPermuted", Statement: "the order of outputs does not matter", Check: RawPermuted},
	}
}

// World is a channel with counts of releases.
type World struct {
	Rows   [][]float64
	Counts []uint64
}

// Worlds draws a world of k inputs: rows with equal and with small entries, equal rows and zeros, counts from none to
// thousands. Each output that was released can be.
func Worlds(k int) *rapid.Generator[World] {
	return rapid.Custom(func(t *rapid.T) World {
		kv := proptest.Size(5).Draw(t, "kv")
		w := World{Rows: make([][]float64, k), Counts: make([]uint64, kv)}
		reached := make([]bool, kv)
		for i := range w.Rows {
			w.Rows[i] = rapid.SliceOfN(rapid.SampledFrom([]float64{0, 1, 1, 2, 3, 30, 0.001}), kv, kv).Draw(t, "row")
			if i > 0 && rapid.IntRange(0, 5).Draw(t, "equal") == 0 {
				w.Rows[i] = proptest.Clone(w.Rows[i-1])
			}
			if slices.Max(w.Rows[i]) == 0 {
				w.Rows[i][i%kv] = 1
			}
			sum := 0.0
			for _, v := range w.Rows[i] {
				sum += v
			}
			for j := range w.Rows[i] {
				w.Rows[i][j] /= sum
				reached[j] = reached[j] || w.Rows[i][j] > 0
			}
		}
		total := uint64(0)
		for j := range w.Counts {
			if reached[j] {
				w.Counts[j] = rapid.SampledFrom([]uint64{0, 1, 2, 7, 40, 3000}).Draw(t, "count")
			}
			total += w.Counts[j]
		}
		if total == 0 {
			w.Counts[slices.Index(reached, true)] = 1
		}
		return w
	})
}

func draw(t *rapid.T) World { return Worlds(proptest.Size(5).Draw(t, "k")).Draw(t, "world") }

func (w World) total() (n float64) {
	for _, c := range w.Counts {
		n += float64(c)
	}
	return n
}

// outputs returns theta P.
func (w World) outputs(theta []float64) []float64 {
	q := make([]float64, len(w.Counts))
	for i, t := range theta {
		for j, p := range w.Rows[i] {
			q[j] += t * p
		}
	}
	return q
}

// likelihood is the log-likelihood of a release, on average; -Inf where an output that was released is ruled out.
func (w World) likelihood(theta []float64) float64 {
	n, l := w.total(), 0.0
	q := w.outputs(theta)
	for j, c := range w.Counts {
		if c > 0 {
			l += float64(c) / n * math.Log(q[j])
		}
	}
	return l
}

// climb makes steps of expectation-maximization, which never lower the likelihood, and returns a bound on what is still
// missing.
func (w World) climb(theta []float64, steps int) (at []float64, gap float64) {
	at, n := proptest.Clone(theta), w.total()
	for s := 0; ; s++ {
		q, top := w.outputs(at), 0.0
		g := make([]float64, len(at))
		for i := range at {
			for j, c := range w.Counts {
				if c > 0 {
					g[i] += float64(c) / n * w.Rows[i][j] / q[j]
				}
			}
			top = max(top, g[i])
		}
		if s == steps {
			return at, max(0, top-1) + likelihoodTol
		}
		for i := range at {
			at[i] *= g[i]
		}
	}
}

func uniform(k int) []float64 { return slices.Repeat([]float64{1 / float64(k)}, k) }

// drawMap draws a distribution: anything, or little away from start.
func drawMap(t *rapid.T, start []float64) []float64 {
	p := rapid.SliceOfN(rapid.SampledFrom([]float64{0, 0, 1, 2, 10}), len(start), len(start)).Draw(t, "other")
	p[rapid.IntRange(0, len(p)-1).Draw(t, "at")]++
	sum := 0.0
	for _, v := range p {
		sum += v
	}
	step := rapid.SampledFrom([]float64{1, 0.5, 0.1, 1e-3}).Draw(t, "step")
	for i := range p {
		p[i] = step*p[i]/sum + (1-step)*start[i]
	}
	return p
}

// ask runs an implementation, checks that it returns a distribution with a gap, and that it leaves its inputs alone.
func (w World) ask(t *rapid.T, impl Likeliest) (theta []float64, gap float64) {
	t.Helper()
	counts, rows := slices.Clone(w.Counts), proptest.Problem{C: w.Rows}.Clone().C
	theta, gap, err := impl(counts, rows)
	if err != nil {
		t.Fatalf("%v on %+v", err, w)
	}
	proptest.Length(t, "theta", theta, len(w.Rows))
	w.unchanged(t, counts, rows)
	sum := 0.0
	for _, v := range theta {
		if !(v >= 0) {
			t.Fatalf("theta = %v on %+v", theta, w)
		}
		sum += v
	}
	if !(math.Abs(sum-1) <= shareTol) || !(gap >= 0 && gap <= MaxGap) {
		t.Fatalf("theta = %v sums to %v, gap %v on %+v", theta, sum, gap, w)
	}
	return theta, gap
}

func (w World) unchanged(t *rapid.T, counts []uint64, rows [][]float64) {
	t.Helper()
	if !slices.Equal(counts, w.Counts) {
		t.Fatalf("counts were changed from %v to %v", w.Counts, counts)
	}
	for i := range rows {
		proptest.SameFloats(t, "row", rows[i], w.Rows[i])
	}
}

// LikeliestOptimal: the likelihood is not below that of random maps, of what expectation-maximization makes of the map
// or of the uniform one, and of point masses, but for the gap.
func LikeliestOptimal(t *rapid.T, impl Likeliest) {
	w := draw(t)
	theta, gap := w.ask(t, impl)
	l := w.likelihood(theta)
	better := func(other []float64) {
		if o := w.likelihood(other); !(o <= l+gap+likelihoodTol) {
			t.Fatalf("%v has log-likelihood %v, %v has %v with gap %v, on %+v", theta, l, other, o, gap, w)
		}
	}
	k := len(w.Rows)
	climbed, _ := w.climb(uniform(k), 100)
	better(climbed)
	climbed, _ = w.climb(theta, 3)
	better(climbed)
	for i := range k {
		one := make([]float64, k)
		one[i] = 1
		better(one)
	}
	for range 10 {
		better(drawMap(t, theta))
	}
}

// LikeliestGrid: by enumeration of the maps of two or three inputs with shares in parts of 40.
func LikeliestGrid(t *rapid.T, impl Likeliest) {
	k := rapid.IntRange(2, 3).Draw(t, "k")
	w := Worlds(k).Draw(t, "world")
	theta, gap := w.ask(t, impl)
	l := w.likelihood(theta)
	const parts = 40
	for a := 0; a <= parts; a++ {
		for b := 0; a+b <= parts; b++ {
			if k == 2 && a+b < parts {
				continue
			}
			other := []float64{float64(a) / parts, float64(b) / parts, float64(parts-a-b) / parts}[:k]
			if o := w.likelihood(other); !(o <= l+gap+likelihoodTol) {
				t.Fatalf("%v has log-likelihood %v, %v has %v with gap %v, on %+v", theta, l, other, o, gap, w)
			}
		}
	}
}

// sameOutputs fails the test unless two maps lead to the same law of releases, which is unique on the outputs that were
// released: with u_j = q_j / q*_j, the sum of s_j u_j is at most 1 and that of -s_j log u_j at most the gap, so |u_j -
// 1| is at most about sqrt(2 gap / s_j). The factor 4 is for both maps and for the change of u_j within it.
func (w World) sameOutputs(t *rapid.T, what string, a, b []float64, gap float64) {
	t.Helper()
	n, p, q := w.total(), w.outputs(a), w.outputs(b)
	for j, c := range w.Counts {
		if c > 0 && !(math.Abs(p[j]-q[j]) <= 4*math.Sqrt(2*(gap+likelihoodTol)*n/float64(c))*q[j]) {
			t.Fatalf("%s: output %d has probability %v and %v, under %v and %v, on %+v", what, j, p[j], q[j], a, b, w)
		}
	}
}

// LikeliestScale: three times the counts have the same likeliest law of releases.
func LikeliestScale(t *rapid.T, impl Likeliest) {
	w := draw(t)
	theta, gap := w.ask(t, impl)
	three := World{Rows: w.Rows, Counts: slices.Clone(w.Counts)}
	for j := range three.Counts {
		three.Counts[j] *= 3
	}
	again, other := three.ask(t, impl)
	w.sameOutputs(t, "three times the counts", again, theta, max(gap, other))
}

// LikeliestPermuted: inputs and outputs in another order have the same likeliest law of releases, in that order.
func LikeliestPermuted(t *rapid.T, impl Likeliest) {
	w := draw(t)
	theta, gap := w.ask(t, impl)
	k, kv := len(w.Rows), len(w.Counts)
	in := rapid.Permutation(indices(k)).Draw(t, "inputs")
	out := rapid.Permutation(indices(kv)).Draw(t, "outputs")
	p := World{Rows: make([][]float64, k), Counts: make([]uint64, kv)}
	for a, i := range in {
		p.Rows[a] = make([]float64, kv)
		for b, j := range out {
			p.Rows[a][b] = w.Rows[i][j]
			p.Counts[b] = w.Counts[j]
		}
	}
	moved, other := p.ask(t, impl)
	back := make([]float64, k)
	for a, i := range in {
		back[i] = moved[a]
	}
	w.sameOutputs(t, "another order", back, theta, max(gap, other))
}

func indices(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// LikeliestRecovers: rows give one output a weights of a and the others 1, and the counts are multiples of one row.
// Then P_i - theta P = (a-1)/(a+k-1) (e_i - theta), whose 1-norm is at most sqrt(2 gap), by Pinsker: what is missing of
// theta_i is half of that over the factor.
func LikeliestRecovers(t *rapid.T, impl Likeliest) {
	k := rapid.IntRange(2, 5).Draw(t, "k")
	a := rapid.SampledFrom([]uint64{2, 3, 50}).Draw(t, "a")
	i := rapid.IntRange(0, k-1).Draw(t, "place")
	n := rapid.SampledFrom([]uint64{1, 1000, 1 << 30}).Draw(t, "N")
	w := World{Rows: make([][]float64, k), Counts: slices.Repeat([]uint64{n}, k)}
	w.Counts[i] *= a
	all := float64(a) + float64(k-1)
	for r := range w.Rows {
		w.Rows[r] = slices.Repeat([]float64{1 / all}, k)
		w.Rows[r][r] = float64(a) / all
	}
	theta, gap := w.ask(t, impl)
	if miss := math.Sqrt(2*(gap+likelihoodTol)) / 2 * all / float64(a-1); !(theta[i] >= 1-miss) {
		t.Fatalf("theta[%d] = %v, want 1 - %.3g, on %+v", i, theta[i], miss, w)
	}
}

// span runs an interval, and checks its order and its inputs.
func (w World) span(t *rapid.T, impl Interval, region []float64) (lower, upper float64) {
	t.Helper()
	counts, rows, part := slices.Clone(w.Counts), proptest.Problem{C: w.Rows}.Clone().C, proptest.Clone(region)
	lower, upper, err := impl(counts, rows, part)
	if err != nil {
		t.Fatalf("%v for %v on %+v", err, region, w)
	}
	w.unchanged(t, counts, rows)
	proptest.SameFloats(t, "region", part, region)
	if !(0 <= lower && lower <= upper && upper <= 1) {
		t.Fatalf("%v to %v for %v on %+v", lower, upper, region, w)
	}
	return lower, upper
}

func drawRegion(t *rapid.T, k int) []float64 {
	return rapid.SliceOfN(rapid.SampledFrom([]float64{0, 1, 0, 1, 0.25}), k, k).Draw(t, "region")
}

func share(region, theta []float64) (s float64) {
	for i, r := range region {
		s += r * theta[i]
	}
	return s
}

// IntervalHolds: the interval contains the share under a likeliest map, whichever one is found, and under maps near it.
func IntervalHolds(t *rapid.T, impl Interval) {
	w := draw(t)
	k := len(w.Rows)
	region := drawRegion(t, k)
	lower, upper := w.span(t, impl, region)
	best, gap := w.climb(uniform(k), 300)
	least := w.likelihood(best) + gap - Drop/w.total() + likelihoodTol
	try := func(theta []float64) {
		if s := share(region, theta); w.likelihood(theta) >= least && !(lower-shareTol <= s && s <= upper+shareTol) {
			t.Fatalf("%v is likely enough, and its share %v is not from %v to %v, region %v of %+v", theta, s, lower, upper,
				region, w)
		}
	}
	try(best)
	for range 20 {
		try(drawMap(t, best))
	}
	other, _ := w.climb(drawMap(t, uniform(k)), 300)
	try(other)
}

// IntervalTight: for two inputs the likelihood is a concave function of one share, and bisection finds where it has
// fallen by Drop.
func IntervalTight(t *rapid.T, impl Interval) {
	w := Worlds(2).Draw(t, "world")
	lower, upper := w.span(t, impl, []float64{1, 0})
	best, gap := w.climb([]float64{0.5, 0.5}, 3000)
	if !(w.total()*gap < Drop*IntervalTol) { // the slow method did not get there
		t.Skip("slow")
	}
	least := w.likelihood(best) - Drop/w.total()
	end := func(to float64) float64 {
		in, out := best[0], to
		for range 60 {
			if p := (in + out) / 2; w.likelihood([]float64{p, 1 - p}) >= least {
				in = p
			} else {
				out = p
			}
		}
		return in
	}
	if low, high := end(0), end(1); !(lower >= low-2*IntervalTol && upper <= high+2*IntervalTol) {
		t.Fatalf("%v to %v, only %v to %v are likely enough, on %+v", lower, upper, low, high, w)
	}
}

// IntervalComplement: the interval of 1 - region is 1 minus that of region.
func IntervalComplement(t *rapid.T, impl Interval) {
	w := draw(t)
	region := drawRegion(t, len(w.Rows))
	rest := make([]float64, len(region))
	for i, r := range region {
		rest[i] = 1 - r
	}
	lower, upper := w.span(t, impl, region)
	low, high := w.span(t, impl, rest)
	if !(math.Abs(lower+high-1) <= IntervalTol+shareTol && math.Abs(upper+low-1) <= IntervalTol+shareTol) {
		t.Fatalf("%v to %v, and %v to %v outside of it, region %v of %+v", lower, upper, low, high, region, w)
	}
}

// IntervalNested: with four times the counts the likelihood of all releases falls four times as fast.
func IntervalNested(t *rapid.T, impl Interval) {
	w := draw(t)
	region := drawRegion(t, len(w.Rows))
	four := World{Rows: w.Rows, Counts: slices.Clone(w.Counts)}
	for j := range four.Counts {
		four.Counts[j] *= 4
	}
	lower, upper := w.span(t, impl, region)
	low, high := four.span(t, impl, region)
	if !(low >= lower-IntervalTol && high <= upper+IntervalTol) {
		t.Fatalf("%v to %v, with four times the releases %v to %v, region %v of %+v", lower, upper, low, high, region, w)
	}
}

// IntervalNarrows: releases of four places in a row, of which the region is the first two, drawn with twelve fixed
// seeds: ten times as many releases have narrower intervals on average.
func IntervalNarrows(t *rapid.T, impl Interval) {
	a := rapid.SampledFrom([]float64{2, 5, 20}).Draw(t, "a")
	w := World{Rows: make([][]float64, 4), Counts: make([]uint64, 4)}
	for i := range w.Rows {
		w.Rows[i] = slices.Repeat([]float64{1 / (3 + a)}, 4)
		w.Rows[i][i] = a / (3 + a)
	}
	q := w.outputs([]float64{0.4, 0.1, 0.2, 0.3})
	last := math.Inf(1)
	for _, n := range []int{50, 500, 5000} {
		mean := 0.0
		for seed := range uint64(12) {
			r := rand.New(rand.NewPCG(seed, uint64(n)))
			clear(w.Counts)
			for range n {
				u, j := r.Float64(), 0
				for j < 3 && u >= q[j] {
					u -= q[j]
					j++
				}
				w.Counts[j]++
			}
			lower, upper := w.span(t, impl, []float64{1, 1, 0, 0})
			mean += (upper - lower) / 12
		}
		if !(mean < last) {
			t.Fatalf("%d releases: mean width %v, with a tenth of them %v, a = %v", n, mean, last, a)
		}
		last = mean
	}
}

func askRaw(t *rapid.T, impl Raw, counts []uint64) []float64 {
	t.Helper()
	kept := slices.Clone(counts)
	out, err := impl(kept)
	if err != nil {
		t.Fatalf("%v on %v", err, counts)
	}
	if !slices.Equal(kept, counts) {
		t.Fatalf("counts were changed from %v to %v", counts, kept)
	}
	proptest.Length(t, "shares", out, len(counts))
	proptest.Finite(t, "shares", out...)
	return out
}

// RawScale: counts and three times the counts give the same shares, which are those of the counts.
func RawScale(t *rapid.T, impl Raw) {
	w := draw(t)
	out := askRaw(t, impl, w.Counts)
	three := slices.Clone(w.Counts)
	for j := range three {
		three[j] *= 3
	}
	again := askRaw(t, impl, three)
	for j, c := range w.Counts {
		want := float64(c) / w.total()
		proptest.Relative(t, fmt.Sprintf("share %d of %v", j, w.Counts), out[j], want, shareTol)
		proptest.Relative(t, fmt.Sprintf("share %d of three times %v", j, w.Counts), again[j], want, shareTol)
	}
}

// RawPermuted: counts in another order have the shares in that order.
func RawPermuted(t *rapid.T, impl Raw) {
	w := draw(t)
	out := askRaw(t, impl, w.Counts)
	order := rapid.Permutation(indices(len(w.Counts))).Draw(t, "outputs")
	moved := make([]uint64, len(order))
	for a, j := range order {
		moved[a] = w.Counts[j]
	}
	for a, v := range askRaw(t, impl, moved) {
		proptest.Relative(t, fmt.Sprintf("share of output %d of %v", a, moved), v, out[order[a]], shareTol)
	}
}
