package estimate

import (
	"context"
	"fmt"
	"math"
)

// The models that Map averages, besides the guess.
var (
	lengths     = [...]float64{1.5, 3, 6, 12}         // of the kernel, in units of the median distance to the nearest place
	roughnesses = [...]float64{0.3, 0.6, 1.2, 2.4, 4} // standard deviations of the logarithm of a map
)

// Settings of an estimator. The zero value is the default.
type Settings struct {
	// Progress, if not nil, is told how many of how many steps are done, never twice at a time.
	Progress func(done, total int)
}

func (s Settings) progress(done, total int) {
	if s.Progress != nil {
		s.Progress(done, total)
	}
}

// Model is one of those that Map averages. The guess has Length and Roughness 0.
type Model struct {
	Length    float64 `json:"length"`    // of the kernel, in the unit of the distances
	Roughness float64 `json:"roughness"` // standard deviation of the logarithm of the map
	Weight    float64 `json:"weight"`    // in the average; all of a Result sum to 1
}

// Guess reports whether m is the guess: the prior, whatever the counts.
func (m Model) Guess() bool { return m.Roughness == 0 }

// Result is what Map found.
type Result struct {
	// Theta is the map: k shares.
	Theta []float64
	// Models are the guess and the 20 others, by length and roughness.
	Models []Model
	// Signal says what the counts say beyond the guess.
	Signal Signal
}

// negligible is how far a log-weight is below the largest when it is left out: e^-40 is less than the rounding of the others.
const negligible = 40

// Map returns the posterior mean of the map, to Laplace's approximation, under a prior over smooth and rough maps:
//
//	theta = u exp(f) / Z,   f normal with mean 0 and covariance tau^2 H exp(-D/l) H
//
// where u is the public prior, D are the distances of p.Geometry, and H takes the mean away. It averages 4 lengths l (1.5,
// 3, 6 and 12 times the median distance of a place to its nearest) and 5 roughnesses tau (0.3, 0.6, 1.2, 2.4, 4), each with the weight
// e^(-tau)/20 times its evidence, and the guess u itself with the weight of its likelihood.
//
// Errors: ErrShape, ErrCounts, ErrChannel, ErrNoGeometry if p.Geometry is nil, and that of ctx, which is looked at in every step.
func Map(ctx context.Context, p Problem, s Settings) (Result, error) {
	f, err := newFit(p)
	if err != nil {
		return Result{}, err
	}
	k, _ := p.Channel.Dims()
	total := 1 + len(lengths)*len(roughnesses)
	res := Result{Models: []Model{{}}}
	// The guess has the log-likelihood 0: all others are relative to it.
	logs, maps := []float64{0}, [][]float64{f.prior}
	best := 0.0
	s.progress(1, total)
	for n, length := range lengths {
		if err := ctx.Err(); err != nil {
			return Result{}, err
		}
		root, err := p.Geometry.root(n)
		if err != nil {
			return Result{}, err
		}
		f.begin(root)
		for _, tau := range roughnesses {
			prior := -tau - math.Log(float64(total-1))
			evidence, err := f.mode(ctx, tau, best-prior-negligible)
			if err != nil {
				return Result{}, err
			}
			logs, maps = append(logs, evidence+prior), append(maps, f.at.theta)
			best = max(best, evidence+prior)
			res.Models = append(res.Models, Model{Length: length * p.Geometry.unit, Roughness: tau})
			s.progress(len(maps), total)
		}
	}
	weights := softmax(logs)
	res.Theta = make([]float64, k)
	for m, w := range weights {
		res.Models[m].Weight = w
		for i, t := range maps[m] {
			res.Theta[i] += w * t
		}
	}
	return res, nil
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

// newFit checks a problem of Map.
func newFit(p Problem) (*fit, error) {
	counts, n, prior, err := p.check()
	if err != nil {
		return nil, err
	}
	if p.Geometry == nil {
		return nil, fmt.Errorf("%w: none is given", ErrNoGeometry)
	}
	k, kv := p.Channel.Dims()
	if p.Geometry.K() != k {
		return nil, fmt.Errorf("%w: distances between %d places for %d inputs", ErrShape, p.Geometry.K(), k)
	}
	f := &fit{channel: p.Channel, counts: counts, n: n, prior: prior, guess: make([]float64, kv), slack: 1e-9 + n*0x1p-50}
	p.Channel.forward(prior, f.guess)
	for j, c := range counts {
		if c > 0 && f.guess[j] == 0 {
			return nil, fmt.Errorf("%w: output %d was released %v times, and no input of the prior releases it", ErrChannel, j, c)
		}
	}
	return f, nil
}
