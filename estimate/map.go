package estimate

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/wpm-go/wpm/wpmerr"
)

const (
	// maxPlaces is the largest k of which Map takes every place by itself: a model takes O(k^3). Above onePass, groups say
	// first which models are likely, and where to begin.
	maxPlaces, onePass = 1000, 300
	// outputGroups stand for the outputs, if there are more. With 300 in place of 900, for 150 groups of places, maps were
	// up to 1.18 times as far from the truth. Few groups of places need outputsEach times as many at most.
	outputGroups, outputsEach = 1000, 7
	// roughGroups, middleGroups and fineGroups are numbers of groups of places. The first map, of roughGroups, says where
	// groups must be small and which models are likely. Within a group, a map follows the prior.
	roughGroups, middleGroups, fineGroups = 150, 250, 500
	// A map of groups will do if it is farther times as far from the truth as places are from the middle of their group,
	// times average.uneven.
	// With 1 in its place, groups lose up to 10 % in a case of TestCoarseLoss. A number of groups is skipped if the last
	// map was less than hopeful times as far as it would have to be: a map of more groups would be nearer still.
	farther, hopeful = 1.5, 0.8
	// glances are the draws by which the first map says how far the next may be.
	glances = 8
)

// Map returns the posterior mean of the map, to Laplace's approximation, under a prior over smooth and rough maps:
//
//	theta = u exp(f) / Z,   f normal with mean 0 and covariance tau^2 H exp(-D/l) H
//
// where u is the public prior, D are the distances of p.Geometry, and H takes the mean away. It averages 4 lengths l
// (0.5, 1.5, 6 and 48 times the median distance of a place to its nearest) and 5 roughnesses tau (0.3, 0.6, 1.2, 2.4,
// 4), each with its evidence as the weight, and the guess u itself with that of its likelihood: of a prior weight of 1,
// the guess has 0.5, and the models share the rest, in proportion to exp(-tau). In the kernel of the shortest length, a
// fifth of the variance is each place's own: so places at one point, or nearly, may have different shares.
// The maps of exp(-D/l) are rough from place to place. So there are three more kernels, of smooth maps: the squares of H
// exp(-D/l) H, of variance 1 on average, for lengths of 2, 6 and 15.
//
// A prior may be wrong. So where it is not even, the even map and its 35 models are averaged, too, with a prior weight of
// 0.05 in all. A place of prior 0 then has mass if the counts say so.
//
// Above 300 places, a first map of 150 groups says which models are likely, and where each kernel begins; the others are
// left out, and the kernels are fitted side by side, after the likeliest. TestCoarseLoss holds that the distance to the
// truth grows by 1 % at most on average; the largest growth of 35 cases of 400 and 900 places was 4 %.
//
// With s.Far, more maps of groups follow: of 150, 250 and 500 groups up to 1,000 places, but of at most half of the places
// (two thirds without draws), and of 150 and 500 above. The first is the result that the counts do not contradict, and
// that is expected to be at least 1.5 times as far from the truth as places are, on average, from the middle of their
// group: smaller groups would hardly make it better. Where the models are so smooth that logarithms of the density hardly
// differ within a group, that part of it will do. TestCoarseLoss holds that W_1 grows by 1 % at most on average; the
// largest growth of 35 cases was 3 %.
//
// Above 1,000 places, 500 groups stand for the places (150 if s.Far says that these will do), and 1,000 groups of outputs
// for the outputs; groups are small where the first map has mass. Within a group the map follows the prior.
// TestCoarseLoss compares the two on 400 places. With up to 12 releases for each place, groups make W_1 to the truth
// larger by less than 2 % on average. With more releases and a large eps, the counts may tell places of one group apart:
// with 25 releases for each place at eps 4, W_1 grew by 45 % for masses without a pattern.
//
// Where an output is far likelier from some inputs than from others, the posterior may have several modes. The order of
// the places may then decide which mode is found. TestMapLaws finds this in one of 400 worlds, which are harder than
// those of a policy.
//
// Errors: ErrShape, ErrSettings, those of Guess for the prior, ErrCounts, ErrChannel, ErrNoGeometry if p.Geometry is
// nil, and that of ctx, which is checked in every step.
func Map(ctx context.Context, p Problem, s Settings) (Result, error) {
	ctx = wpmerr.Context(ctx)
	if s.Groups < 0 || s.Groups == 1 {
		return Result{}, fmt.Errorf("%w: %d groups", wpmerr.ErrSettings, s.Groups)
	}
	if s.Groups == 0 || s.Far != nil {
		l := ladder{rungs: []int{roughGroups, fineGroups}, whole: maxPlaces, outputs: outputGroups}
		switch whole := p.Channel != nil && p.Channel.k <= maxPlaces; {
		case s.Far != nil && whole:
			l.rungs = []int{roughGroups, roughGroups, middleGroups, fineGroups}
		case s.Far != nil:
			l.rungs = []int{roughGroups, roughGroups, fineGroups}
		case whole:
			l.rungs = l.rungs[:1]
		}
		if s.Groups > 0 {
			l.rungs[0], l.few = s.Groups, s.Groups
			l.rungs = slices.Insert(l.rungs, 1, s.Groups)
		}
		return mapOf(ctx, p, s, onePass, l)
	}
	return mapOf(ctx, p, s, s.Groups,
		ladder{rungs: []int{min(s.Groups, roughGroups)/2 + 1, s.Groups}, outputs: max(outputGroups, 2*s.Groups)})
}

// A ladder says how the places of a Map are grouped.
type ladder struct {
	// rungs are the numbers of groups of maps, one after another. After the first map, groups are small where it has mass,
	// and only the models that were likely in it are fitted.
	rungs   []int
	few     int // groups that will do only of a map that is twice as far
	whole   int // up to so many places, the map after them has each place by itself
	outputs int // groups of outputs, if there are more; 0 if outputs are not grouped
}

// mapOf is Map, with groups above a number of places.
func mapOf(ctx context.Context, p Problem, s Settings, places int, l ladder) (Result, error) {
	f, err := newFit(p)
	if err != nil {
		return Result{}, err
	}
	if s.Draws < 0 || s.Draws > MaxDraws {
		return Result{}, fmt.Errorf("%w: %d draws, want 0 to %d", wpmerr.ErrSettings, s.Draws, MaxDraws)
	}
	g := p.Geometry
	if len(f.prior) <= places {
		return f.every(ctx, g, s)
	}
	return f.rungs(ctx, g, s, l)
}

// rungs is Map by maps of groups, each to begin the next.
func (f *fit) rungs(ctx context.Context, g *Geometry, s Settings, l ladder) (Result, error) {
	whole := len(f.prior) <= l.whole
	most := len(f.prior) / 2 // groups that are worth a map before that of every place
	if s.Draws == 0 {        // with draws, the map before takes longer
		most = len(f.prior) * 2 / 3
	}
	for whole && len(l.rungs) > 1 && l.rungs[len(l.rungs)-1] > most {
		l.rungs = l.rungs[:len(l.rungs)-1]
	}
	weight, err := f.rough(ctx)
	if err != nil {
		return Result{}, err
	}
	parts, steps := len(l.rungs), 0 // of the progress, and of each
	if whole {
		parts++
	}
	part := func(n int) Settings {
		out := Settings{Progress: func(done, total int) {
			steps = total
			s.progress(n*total+done, parts*total)
		}}
		switch {
		case n == parts-1 || s.Far != nil && n > 0:
			out.Draws = s.Draws
		case s.Far != nil:
			out.Draws = min(s.Draws, glances)
		}
		return out
	}
	far, uneven := math.Inf(1), func(float64) float64 { return 1 }
	for n, groups := range l.rungs {
		by, err := f.group(ctx, g, weight, groups)
		if err != nil {
			return Result{}, err
		}
		last, least := n == parts-1, 0.0
		if s.Far != nil && n > 0 && !last {
			grain := by.grain(g)
			if least = farther * grain * uneven(grain/g.unit); groups == l.few {
				least *= 2
			}
			if far < least*hopeful {
				continue
			}
		}
		now, own := part(n), l
		if groups == l.few {
			own.outputs = min(l.outputs, outputsEach*groups)
		}
		a, err := f.grouped(ctx, g, weight, by, own, now)
		if err != nil {
			return Result{}, err
		}
		res := f.result(g, by, a, now.Draws)
		if s.Far != nil && !last {
			if far, err = s.Far(res); err != nil {
				return Result{}, err
			}
			// Groups of the first map are small where steps of EM have mass, which may be noise.
			last = n > 0 && far >= least && !f.contradicts(res.Theta)
		}
		if last {
			if s.Trial && s.Draws > 0 {
				res.Trial, err = f.trial(ctx, g, by, a, res.Draws[s.Draws-1], l)
			}
			s.progress(parts*steps, parts*steps)
			return res, err
		}
		uneven = a.uneven
		if n == 0 {
			f.known, f.first = a.likely(), res.Theta
			for i, t := range f.first {
				weight[i] = t/2 + weight[i]/2
			}
		}
	}
	return f.every(ctx, g, part(parts-1))
}

// contradicts reports whether the counts speak against a map: whether twice the logarithm of its likelihood is farther
// below that of the counts' own shares than chance has it. Each count adds about 1, at most 1.15, with a variance of
// about 2, and four standard deviations are left to chance.
func (f *fit) contradicts(theta []float64) bool {
	q := make([]float64, len(f.counts))
	f.channel.forward(theta, q)
	short := 0.0
	for j, c := range f.counts {
		if c > 0 {
			short += 2 * c * logRatio(c/f.n, q[j])
		}
	}
	most := float64(len(q))
	return !(short <= 1.15*most+4*math.Sqrt(2*most))
}

// every is Map with every place by itself.
func (f *fit) every(ctx context.Context, g *Geometry, s Settings) (Result, error) {
	a, err := f.average(ctx, g.kernel, s)
	if err != nil {
		return Result{}, err
	}
	res := a.result(g.unit)
	res.Draws, res.Before = a.draws(s.Draws), a.before
	return res, nil
}

// result is that of groups, for their places.
func (f *fit) result(g *Geometry, by groups, a average, n int) Result {
	res, draws := a.result(g.unit), a.draws(n)
	all := by.expand(g, f.within, slices.Concat([][]float64{res.Theta}, draws, a.before)...)
	res.Theta, res.Draws, res.Before = all[0], all[1:1+len(draws)], all[1+len(draws):]
	return res
}

// grouped fits the models on groups. Outputs are grouped where theta has mass.
func (f *fit) grouped(ctx context.Context, g *Geometry, theta []float64, by groups, l ladder, s Settings) (a average,
	err error) {
	// Where there are as many outputs as inputs, they are taken for these. If they are not, their groups lose more.
	k, kv := f.channel.Dims()
	outputs := groups{of: make([]int, kv), centers: make([]int, kv)}
	for j := range kv {
		outputs.of[j], outputs.centers[j] = j, j
	}
	if kv == k && l.outputs > 0 && l.outputs < kv {
		if outputs, err = f.group(ctx, g, theta, l.outputs); err != nil {
			return a, err
		}
	}
	dist := g.Among(by.centers)
	kernelOf := func(n int) (kernel, error) { return g.kernelOf(n, dist, by.size) }
	return f.coarse(by, outputs).average(ctx, kernelOf, s)
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
		return nil, fmt.Errorf("%w: distances between %d places for %d inputs", wpmerr.ErrShape, p.Geometry.K(), k)
	}
	f := &fit{channel: p.Channel, counts: counts, n: n, prior: prior, within: prior, guess: make([]float64, kv),
		slack: 1e-9 + n*0x1p-50}
	if slices.Max(prior) > slices.Min(prior) {
		f.even, f.within = slices.Repeat([]float64{1 / float64(k)}, k), make([]float64, k)
		add(1-evenWeight, prior, f.within)
		add(evenWeight, f.even, f.within)
	}
	p.Channel.forward(prior, f.guess)
	for j, c := range counts {
		if c > 0 && f.guess[j] == 0 {
			return nil, fmt.Errorf("%w: output %d was released %v times, and no input of the prior releases it", ErrChannel, j,
				c)
		}
	}
	return f, nil
}
