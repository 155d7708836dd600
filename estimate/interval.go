package estimate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/wpmerr"
)

// DefaultLevel is the level of an interval if the level is given as 0.
const DefaultLevel = 0.9

// intervalTolerance is by how much an end may be further out than the likelihood's own, as a share.
const intervalTolerance = 1e-5

// Share is how much of the population is in a region.
type Share struct {
	Lower float64 `json:"lower"`
	Upper float64 `json:"upper"`
	// Likeliest is the share under a likeliest map, always between the two. It is not the share that Map gives.
	Likeliest float64 `json:"likeliest"`
	// Single: the region, or all that is outside of it, is one place. The interval is then approximate: it covers peaks
	// less often than its level.
	Single bool `json:"approximate,omitempty"`
}

// Interval returns the shares of a region that agree with the counts, by the counts alone: all values region .
// theta for which the log-likelihood of N releases, over theta >= 0 of sum 1, comes within chi2_1(level)/2 of its
// maximum. region holds the weight of each of the k inputs, from 0 to 1. level is the nominal coverage, or 0 for
// DefaultLevel. Prior and Geometry are not used.
//
// The interval is that of the likelihood itself, not of a quadratic approximation. It contains all values of the
// definition, and each end is at most 1e-5 beyond them. Both properties are proved by duality. For every map theta with
// log-likelihood at least T, every theta_0 >= 0 with the gradient g of L at theta_0, and 0 < v < 1,
//
//	region . theta <= (1 - exp(T - L(theta_0)) / max_i (g_i / a_i)) / v,   a_i = 1 - v region_i
//
// and the map that maximizes L(theta) - a theta makes this bound tight for one T. v is found by interpolation.
//
// The level holds for many releases and a truth inside the simplex. On nine generated maps of 300 and 400 places,
// intervals at 0.9 of four regions each held the truth in 0.90 to 0.98 of 50 runs (TestIntervalCoverage). For a single
// place see Share.
//
// A truth near a corner, with nearly all mass on one place, is covered less: more places without mass can follow the
// noise than chi2_1 allows for. With 95, 99, 99.9 or 100 % of the mass on one of 10 x 10 cells, the rest even, and 500
// or 20,000 releases, intervals at 0.9 held the truth in these parts of 50 runs each (TestIntervalCorner):
//
//	                              eps 1         eps 2         eps 4
//	the quarter with that cell    0.52 to 0.98  0.40 to 1     0.04 to 0.94
//	each other quarter            0.86 to 1     0.88 to 1     0.54 to 0.98
//	that cell                     0.20 to 0.74  0.16 to 0.82  0    to 0.90
//	another cell                  1             0.98 to 1     1
//
// Coverage of the quarter with the cell is worst if all of the mass is there; with 95 % of the mass and 20,000 releases
// it is at least 0.84. An interval that misses the truth is off by at most 1.3 times the mean width of the intervals in
// its world. If the likeliest map has nearly all mass on one place, take an end near 0 or 1 as approximate.
//
// Interval takes the time of MLE and of about ten similar problems, which start from its solution. Errors: ErrShape,
// ErrSettings for the level and a weight above 1, ErrNotFinite and ErrNegative for another weight, ErrCounts,
// ErrChannel; ErrNotConverged if an end is not within its tolerance, also if ctx ends. The interval is then too wide,
// and still contains all values of the definition.
func Interval(ctx context.Context, p Problem, region []float64, level float64) (Share, error) {
	s, err := Intervals(ctx, p, [][]float64{region}, level)
	if len(s) == 0 {
		return Share{}, err
	}
	return s[0], err
}

// Intervals is Interval for many regions, with one search for the likeliest map. Errors: those of Interval.
func Intervals(ctx context.Context, p Problem, regions [][]float64, level float64) ([]Share, error) {
	ctx = wpmerr.Context(ctx)
	if level == 0 {
		level = DefaultLevel
	}
	if !(level > 0 && level < 1) {
		return nil, fmt.Errorf("%w: level %v", wpmerr.ErrSettings, level)
	}
	counts, n, _, err := p.check()
	if err != nil {
		return nil, err
	}
	k, _ := p.Channel.Dims()
	if err := checkRegions(regions, k); err != nil {
		return nil, err
	}
	m, err := newMost(p.Channel, counts, n)
	if err != nil {
		return nil, err
	}
	root := math.Erfinv(level)
	f := profile{most: m, drop: root * root} // chi2_1(level)/2
	// How far the interval goes hangs on the likelihood of the best map: an error of a part in 100,000 of what it may
	// fall moves an end by half as much of its distance.
	_, best, err := m.likeliest(ctx, min(DefaultGap, max(f.drop/n*1e-5, 10*m.rounding())))
	if err != nil && !errors.Is(err, wpmerr.ErrNotConverged) {
		return nil, err
	}
	f.likeliest = best
	shares, failed := make([]Share, len(regions)), make([]error, len(regions))
	err = parallel.Each(ctx, len(regions), func(r int) error {
		shares[r], failed[r] = f.share(ctx, regions[r])
		return nil
	}, nil)
	if err != nil {
		for r, region := range regions { // those that were not begun
			if failed[r] == nil && shares[r].Upper == 0 {
				shares[r] = Share{slices.Min(region), slices.Max(region), dot(region, best.Theta), single(region)}
			}
		}
		return shares, err
	}
	return shares, firstOf(failed)
}

// firstOf returns the first error, with its region.
func firstOf(failed []error) error {
	for r, err := range failed {
		if err != nil {
			return fmt.Errorf("region %d: %w", r, err)
		}
	}
	return nil
}

func checkRegions(regions [][]float64, k int) error {
	for r, region := range regions {
		if err := checkRegion(region, k); err != nil {
			return fmt.Errorf("region %d: %w", r, err)
		}
	}
	return nil
}

func checkRegion(region []float64, k int) error {
	if len(region) != k {
		return fmt.Errorf("%w: %d weights for %d inputs", wpmerr.ErrShape, len(region), k)
	}
	if err := wpmerr.Masses("weight", region); err != nil {
		return err
	}
	if i := argmax(region); region[i] > 1 {
		return fmt.Errorf("%w: weight[%d] = %v, want 0 to 1", wpmerr.ErrSettings, i, region[i])
	}
	return nil
}

// profile is the likelihood near its maximum.
type profile struct {
	*most
	likeliest Likeliest
	drop      float64 // of the log-likelihood of all releases
}

// share returns the interval of a region.
func (f profile) share(ctx context.Context, region []float64) (Share, error) {
	low, high := slices.Min(region), slices.Max(region)
	s := Share{Lower: low, Upper: high, Likeliest: min(max(dot(region, f.likeliest.Theta), low), high),
		Single: single(region)}
	if low == high {
		return s, nil
	}
	// In units in which the weights span 0 to 1, the lower end is the upper end of the rest.
	up, down := make([]float64, len(region)), make([]float64, len(region))
	for i, w := range region {
		up[i] = (w - low) / (high - low)
		down[i] = (high - w) / (high - low)
	}
	u, err1 := f.upper(ctx, up, intervalTolerance/(high-low))
	d, err2 := f.upper(ctx, down, intervalTolerance/(high-low))
	s.Upper = min(high, max(s.Likeliest, low+u*(high-low)))
	s.Lower = max(low, min(s.Likeliest, high-d*(high-low)))
	return s, errors.Join(err1, err2)
}

// single reports whether one place differs from all others.
func single(region []float64) bool {
	low, high := slices.Min(region), slices.Max(region)
	atLow, atHigh := 0, 0
	for _, w := range region {
		if w == low {
			atLow++
		}
		if w == high {
			atHigh++
		}
	}
	return atLow+atHigh == len(region) && (atLow == 1 || atHigh == 1)
}

// tilted is the solution for one v.
type tilted struct {
	tau   float64 // v = 1 - exp(-tau)
	fall  float64 // sqrt(2 N (L at the likeliest map - L)): about linear in tau
	value float64 // region . theta
	q     []float64
}

const (
	maxTilts = 60
	// largestTilt leaves exp(-tau) above the rounding of a sum near 1.
	largestTilt = 36
	leastTilt   = 1e-9 // of a level near 0: below, rounding moves a bound by more than its tolerance
)

// corner is a map of one place, of weight 1 in the region: the one where likelihood falls least at first. A likelihood
// that does not depend on the mass there is out of reach of all tilts.
func (f profile) corner(region []float64) tilted {
	best := -1
	for i, w := range region {
		if w == 1 && (best < 0 || f.g[i] > f.g[best]) {
			best = i
		}
	}
	row, t := f.channel.row(best), tilted{value: 1, q: make([]float64, len(f.seen))}
	for n, j := range f.seen {
		t.q[n] = row[j]
	}
	return t
}

// upper returns the largest value of region . theta, with weights that span 0 to 1.
func (f profile) upper(ctx context.Context, region []float64, tolerance float64) (bound float64, err error) {
	m := f.clone()
	left := tilted{q: slices.Clone(m.q), value: dot(region, m.theta)}
	right := f.corner(region) // its tau is 0 until a tilt is too large
	// Whatever the likeliest map is, one that falls no more than that is in the set, to the rounding of L.
	goal := math.Sqrt(max(0, 2*(f.drop-m.n*(f.likeliest.Gap-m.rounding()))))
	tau := f.guess(m, region, left.value)
	bound = 1
	a := make([]float64, len(region))
	inner := left.value
	for n := range maxTilts {
		at, most := f.tilt(ctx, m, region, tau, a)
		bound = min(bound, most)
		if at.fall <= goal {
			left = at
		} else {
			right = at
		}
		inner = max(inner, f.inside(left, right, goal))
		if bound-inner <= tolerance {
			return bound, nil
		}
		if ctx.Err() != nil || tau >= largestTilt && right.tau == 0 {
			break
		}
		tau = f.nextTilt(left, right, goal, n)
	}
	return bound, fmt.Errorf("%w: an end of the interval is between %v and %v",
		cmp.Or(wpmerr.Ended(ctx), wpmerr.ErrNotConverged), inner, bound)
}

// guess returns the tilt that a quadratic likelihood on the support of the likeliest map would need.
func (f profile) guess(m *most, region []float64, value float64) float64 {
	v := make([]float64, 0, len(m.set.passive))
	for _, i := range m.set.passive {
		v = append(v, region[i]-value)
	}
	m.set.forward(v)
	tilt := math.Sqrt(2 * f.drop / m.n / dot(v, v))
	if !(tilt < 0.8) { // also where no place of the support differs from the rest
		tilt = math.Sqrt(f.drop / (f.drop + m.n))
	}
	return -math.Log1p(-max(tilt, leastTilt))
}

// nextTilt goes further while no tilt is too large. Between two tilts it interpolates; every other time it takes the
// one at which both maps have the same L - a theta, where the solution jumps if it does not move in between.
func (f profile) nextTilt(left, right tilted, goal float64, n int) float64 {
	if right.tau == 0 {
		grow := 4.0
		if left.fall > 0 {
			grow = min(4, max(1.05*goal/left.fall, 1.2))
		}
		return min(largestTilt, left.tau*grow)
	}
	part := min(max((goal-left.fall)/(right.fall-left.fall), 0.05), 0.95)
	if n%2 == 1 && n > 2 {
		ratio := (right.fall*right.fall - left.fall*left.fall) / (2 * f.n) // of the likelihoods, and its logarithm
		v := math.Expm1(ratio) / (right.value*math.Exp(ratio) - left.value)
		part = (-math.Log1p(-v) - left.tau) / (right.tau - left.tau)
	}
	if !(part > 0 && part < 1) {
		part = 0.5
	}
	return left.tau + part*(right.tau-left.tau)
}

// tilt maximizes L - a theta from where m is, and returns what follows for all maps that are likely enough.
func (f profile) tilt(ctx context.Context, m *most, region []float64, tau float64, a []float64) (at tilted,
	most float64) {
	v, rest := -math.Expm1(-tau), math.Exp(-tau)
	for i, w := range region {
		a[i] = (1 - w) + w*rest
	}
	m.maximize(ctx, a, max(10*m.rounding(), v*intervalTolerance/20))
	gap := m.certify(a)
	sum := 0.0
	for _, t := range m.theta {
		sum += t
	}
	least := f.likeliest.LogLikelihood - f.drop/m.n
	here := m.value(m.q)
	most = -math.Expm1(least-here-math.Log1p(gap)) / v
	at = tilted{tau: tau, value: dot(region, m.theta) / sum, q: slices.Clone(m.q)}
	for n := range at.q {
		at.q[n] /= sum
	}
	at.fall = math.Sqrt(max(0, 2*m.n*(f.likeliest.LogLikelihood-here+math.Log(sum)-m.rounding())))
	if !(most >= 0) { // NaN
		most = 1
	}
	return at, most
}

// inside returns a value that is in the interval for certain: that of left, or on the way from there to right as far as
// the likelihood allows.
func (f profile) inside(left, right tilted, goal float64) float64 {
	least := f.likeliest.LogLikelihood - goal*goal/2/f.n - f.rounding()
	q := make([]float64, len(left.q))
	part := bisect(40, func(t float64) bool {
		for n := range q {
			q[n] = (1-t)*left.q[n] + t*right.q[n]
		}
		return f.value(q) >= least
	})
	return left.value + part*(right.value-left.value)
}
