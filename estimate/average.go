package estimate

import (
	"context"
	"math"
	"slices"

	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/wpmerr"
)

// roughnesses of the models that Map averages, besides the guess: one for each kernel and each roughness, a standard
// deviation of the logarithm of a map.
var roughnesses = [...]float64{0.3, 0.6, 1.2, 2.4, 4}

// firstRoughness is the one that a walk begins at: of 1.2, which is likely for many maps.
const firstRoughness = 2

const (
	// guessWeight is the prior weight of the guess; the models share the rest, in proportion to e^-tau.
	guessWeight = 0.5
	// evenWeight is the prior weight of the even map and its models, beside a prior that is not even. Where the signal is
	// ok, in 47 cases with right and wrong priors, .03 and .1 in its place change W_1 by 2 % at most in geometric mean.
	// Elsewhere, less weight keeps more of a right prior and loses more by a wrong one.
	evenWeight = 0.05
	// family is the number of models of a prior.
	family = 1 + len(kernels)*len(roughnesses)
)

// Settings of an estimator. The zero value is the default.
type Settings struct {
	// Progress, if not nil, is called with the numbers of steps done and of all steps, never concurrently.
	Progress func(done, total int)
	// Draws is how many maps Map draws from its posterior, and as many from its prior: 0 to MaxDraws. They are what its
	// error is measured by.
	Draws int
	// Groups, if not 0, is how many groups of places stand for the places in Map, if there are more places: coarse maps
	// take a small part of the time. It is at least 2. Above 1,000 outputs, groups stand for the outputs, too. With Far,
	// maps of so many groups come first, with 7 times as many for the outputs. They will do if they are twice as far from the
	// truth as maps of more groups have to be.
	Groups int
	// Far, if not nil, says how far a map of groups is expected to be from the truth, in the unit of the Geometry's
	// distances. Its argument has draws if there are any. If the map is far beside the size of its groups, it is the result,
	// which saves most of the time. Far is not called up to 300 places. See Map.
	Far func(coarse Result) (float64, error)
	// Trial asks for Result.Trial, which takes as long as the map again.
	Trial bool
}

// MaxDraws bounds Settings.Draws.
const MaxDraws = 10_000

func (s Settings) progress(done, total int) {
	if s.Progress != nil {
		s.Progress(done, total)
	}
}

// Model is one of the models that Map averages. The guess has Length and Roughness 0.
type Model struct {
	Even      bool    `json:"even,omitempty"`   // it changes the even map, and not the prior
	Length    float64 `json:"length"`           // of the kernel, in the unit of the distances
	Smooth    bool    `json:"smooth,omitempty"` // the kernel is that of smooth maps
	Roughness float64 `json:"roughness"`        // standard deviation of the logarithm of the map
	Weight    float64 `json:"weight"`           // in the average; all of a Result sum to 1
}

// Guess reports whether m is the guess: the prior, whatever the counts.
func (m Model) Guess() bool { return m.Roughness == 0 && !m.Even }

// Result is what Map found.
type Result struct {
	// Theta is the map: k shares.
	Theta []float64
	// Models are the guess and the 35 others, by kernel and roughness; and as many of the even map, beside a prior that is
	// not even.
	Models []Model
	// Ratio is the expected distance of the map to the truth, divided by that of the guess: between 0 and 1. See Signal.
	Ratio float64
	// Signal says what the counts say beyond the guess.
	Signal Signal
	// Draws are maps drawn from the posterior, and Before as many from the prior, all equally likely: what the truth may
	// be after the counts, and before them. They leave the guess itself out: a cautious map leans on it, and an honest
	// error does not.
	Draws, Before [][]float64
	// Trial is there if it was asked for, there are draws, and groups stand for the places; else nil.
	Trial *Trial
}

// doubtful is how far a log-weight may be below the best. Models below have less than 1/20,000 of its weight, and are
// left out. With 5 in its place, the first map leaves models out that the second would miss: TestCoarseLoss finds maps
// that are a tenth farther from the truth.
const doubtful = 10

// average is the guess and the models of Map: all that a Result is made of.
type average struct {
	logs []float64   // of the weights, -Inf if negligible
	maps [][]float64 // of those that are not

	// For the signal: of maps, their shares of features, and the sum of their variances.
	features [][]float64
	variance []float64

	fits   []*fit      // of the models that have a part in draws, at their modes
	before [][]float64 // draws from the prior
}

// average fits the models, or those that are likely. The guess is one of them. Beside a prior that is not even, so are the
// even map and its models.
func (f *fit) average(ctx context.Context, kernelOf func(n int) (kernel, error), s Settings) (average, error) {
	if f.even == nil {
		return f.models(ctx, kernelOf, s, math.Inf(-1))
	}
	half := Settings{Progress: func(done, total int) { s.progress(done, 2*total) }, Draws: s.Draws}
	even := *f
	even.prior, even.even, even.guess = f.even, nil, make([]float64, len(f.counts))
	f.channel.forward(even.prior, even.guess)
	if f.known != nil {
		even.known = f.known[family:]
	}
	a, err := f.models(ctx, kernelOf, half, math.Inf(-1))
	if err != nil {
		return a, err
	}
	// The weights of both are relative to their own guess.
	offset := math.Log(evenWeight / (1 - evenWeight))
	for j, c := range f.counts {
		if c > 0 {
			offset += c * logRatio(even.guess[j], f.guess[j])
		}
	}
	half.Progress = func(done, total int) { s.progress(total+done, 2*total) }
	b, err := even.models(ctx, kernelOf, half, slices.Max(a.logs[1:])-offset)
	a.maps, a.features = append(a.maps, b.maps...), append(a.features, b.features...)
	a.variance = append(a.variance, b.variance...)
	for m, v := range b.logs {
		a.logs, a.fits = append(a.logs, v+offset), append(a.fits, b.fits[m])
	}
	best := a.logs[a.likeliest()]
	for m, v := range a.logs {
		if !(v > best-doubtful) {
			a.fits[m] = nil
		}
	}
	return a, err
}

// models is average for one prior. Models that are less likely than least need not be found.
func (f *fit) models(ctx context.Context, kernelOf func(n int) (kernel, error), s Settings, least float64) (average,
	error) {
	n := family
	a := average{logs: make([]float64, n), maps: make([][]float64, n), features: make([][]float64, n),
		variance: make([]float64, n), fits: make([]*fit, n)}
	c, err := kernelOf(longest)
	if err != nil {
		return a, err
	}
	smooth := c.smooth
	// The guess has the log-likelihood 0: all others are relative to it.
	a.maps[0], a.features[0] = f.prior, smooth.features(f.prior)
	for m := range a.logs[1:] {
		a.logs[1+m] = math.Inf(-1)
	}
	s.progress(1, n)
	if f.first != nil {
		return a, f.sideBySide(ctx, &a, kernelOf, smooth, s, least)
	}
	w := walk{fit: f, ctx: ctx, average: a, smooth: smooth, best: least, keep: s.Draws > 0,
		from: firstRoughness}
	before := make([][][]float64, len(kernels))
	for done, l := range walked {
		if ctx.Err() != nil {
			return a, wpmerr.Ended(ctx)
		}
		c, err := kernelOf(l)
		if err != nil {
			return a, err
		}
		if err := w.length(l, c); err != nil {
			return a, err
		}
		before[l] = f.imagine(c, l, s.Draws)
		s.progress(1+(done+1)*len(roughnesses), n)
	}
	a.before = slices.Concat(before...)
	return a, nil
}

// sideBySide fits the likely models, each kernel on a core: a kernel begins at the first map, and at its first likely
// roughness. So the results do not depend on the number of cores.
func (f *fit) sideBySide(ctx context.Context, a *average, kernelOf func(n int) (kernel, error), smooth basis,
	s Settings, best float64) error {
	start := make([]float64, len(f.prior))
	for i, u := range f.prior {
		if u > 0 {
			start[i] = math.Log(max(f.first[i]/u, leastShare))
		}
	}
	before := make([][][]float64, len(kernels))
	draws := s.Draws
	if likely(best) { // of the even map, beside a prior, which has those
		draws = 0
	}
	kernel := func(l int) (top float64, err error) {
		first := slices.IndexFunc(f.known[1+l*len(roughnesses):][:len(roughnesses)], likely)
		if first < 0 && draws == 0 {
			return 0, nil
		}
		c, err := kernelOf(l)
		if err != nil {
			return 0, err
		}
		before[l] = f.imagine(c, l, draws)
		if first < 0 {
			return 0, nil
		}
		own := *f
		w := walk{fit: &own, ctx: ctx, average: *a, known: f.known, smooth: smooth, best: best,
			keep: s.Draws > 0, from: first, start: start}
		err = w.length(l, c)
		return w.best, err
	}
	// The likeliest kernel is first: most models of others are found to be less likely before they are done.
	foremost := argmax(f.known[1:family]) / len(roughnesses)
	top, err := kernel(foremost)
	if err != nil {
		return err
	}
	best = max(best, top)
	err = parallel.Each(ctx, len(kernels), func(l int) (err error) {
		if l != foremost {
			_, err = kernel(l)
		}
		return err
	}, func(done int) { s.progress(1+done*len(roughnesses), 1+len(kernels)*len(roughnesses)) })
	a.before = slices.Concat(before...)
	best = max(best, slices.Max(a.logs[1:]))
	for m, v := range a.logs[1:] { // each kernel has kept what is near the best that it knew
		if !(v > best-doubtful) {
			a.logs[1+m], a.fits[1+m] = math.Inf(-1), nil
		}
	}
	return err
}

// walk goes from model to model: each begins at the map of one that is near it.
type walk struct {
	*fit
	ctx     context.Context
	average average
	known   []float64 // see fit
	smooth  basis
	keep    bool // fits, for draws

	best  float64   // of the log-weights of models
	from  int       // the best roughness of the last length, where the next one begins
	start []float64 // logarithm of its map, or nil
}

// length fits the models of a length: from the best roughness of the last one up, and then down. Weights of a length
// rise to some roughness and fall from there, so none is looked at beyond one that is lower than the one before and
// doubtful.
func (w *walk) length(l int, c kernel) error {
	w.begin(c, w.start)
	first, from, top := *w.fit, w.from, math.Inf(-1)
	walk := func(from, step int) error {
		last := top // of the model before, or above it
		for t := from; 0 <= t && t < len(roughnesses); t += step {
			m := 1 + l*len(roughnesses) + t
			if w.known != nil && !likely(w.known[m]) {
				continue
			}
			v, err := w.model(m, roughnesses[t])
			if err != nil {
				return err
			}
			if math.IsInf(top, -1) { // the way down begins here, too
				first = w.lend()
			}
			if v > top {
				top, w.from, w.start = v, t, w.at.f
			}
			if v < last && v < w.best-doubtful {
				break
			}
			last = v
		}
		return nil
	}
	if err := walk(from, 1); err != nil {
		return err
	}
	first.factor = w.factor // to write to
	*w.fit = first
	return walk(from-1, -1)
}

// logPrior is the logarithm of the prior weight of a model over that of the guess.
func logPrior(tau float64) float64 {
	all := 0.0
	for _, t := range roughnesses {
		all += math.Exp(-t)
	}
	return math.Log((1-guessWeight)/guessWeight/float64(len(kernels))/all) - tau
}

// model fits one, and returns its log-weight.
func (w *walk) model(m int, tau float64) (float64, error) {
	a := w.average
	prior := logPrior(tau)
	evidence, err := w.mode(w.ctx, tau, w.best-prior-doubtful)
	if err != nil {
		return 0, err
	}
	v := evidence + prior
	if v > w.best-doubtful {
		w.best = max(w.best, v)
		a.logs[m] = v
		a.maps[m], a.features[m] = w.at.theta, w.smooth.features(w.at.theta)
		a.variance[m] = w.variance(w.smooth)
		if w.keep {
			at := w.lend()
			a.fits[m], w.factor = &at, nil
		}
	}
	return v, nil
}

// theta is the average map.
func (a average) theta() []float64 { return mean(softmax(a.logs), a.maps) }

// uneven is how much logarithms of the density differ at a distance, in units of the lengths, at most 1: by the models,
// whose kernel at a distance d is exp(-d/l) or smoother.
func (a average) uneven(far float64) (sum float64) {
	for m, w := range softmax(a.logs) {
		if n := m%family - 1; n >= 0 {
			tau, l := roughnesses[n%len(roughnesses)], kernels[n/len(roughnesses)].length
			sum += w * min(1, tau*math.Sqrt(2*(1-math.Exp(-far/l))))
		}
	}
	return sum
}

// likeliest returns the model of the largest log-weight, but for the guess and the even map.
func (a average) likeliest() int {
	best := 1
	for m, v := range a.logs {
		if m%family > 0 && v > a.logs[best] {
			best = m
		}
	}
	return best
}

// likely returns the log-weights, -Inf for models that are not worth another look.
func (a average) likely() []float64 {
	best, out := a.logs[a.likeliest()], slices.Clone(a.logs)
	for m, v := range out {
		if !(v > best-doubtful) {
			out[m] = math.Inf(-1)
		}
	}
	return out
}

func likely(v float64) bool { return v > math.Inf(-1) }

// result needs the unit of lengths.
func (a average) result(unit float64) Result {
	res := Result{Theta: a.theta()}
	for m, w := range softmax(a.logs) {
		model := Model{Even: m >= family, Weight: w}
		if n := m%family - 1; n >= 0 {
			c := kernels[n/len(roughnesses)]
			model.Length, model.Smooth = min(c.length*unit, math.MaxFloat64), c.smooth
			model.Roughness = roughnesses[n%len(roughnesses)]
		}
		res.Models = append(res.Models, model)
	}
	res.Ratio = a.ratio()
	res.Signal = SignalOf(res.Ratio)
	return res
}

// mean is the sum of w_m x_m. Those of weight 0 may be nil.
func mean(w []float64, x [][]float64) []float64 {
	out := make([]float64, len(x[0]))
	for m, w := range w {
		if w > 0 && x[m] != nil {
			add(w, x[m], out)
		}
	}
	return out
}

// softmax returns exp(logs) with sum 1.
func softmax(logs []float64) []float64 {
	largest := math.Inf(-1)
	for _, v := range logs {
		largest = max(largest, v)
	}
	w := make([]float64, len(logs))
	sum := 0.0
	for m, v := range logs {
		w[m] = math.Exp(v - largest)
		sum += w[m]
	}
	for m := range w {
		w[m] /= sum
	}
	return w
}
