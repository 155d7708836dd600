package estimate

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/wpm-go/wpm/wpmerr"
)

// DefaultGap is the gap of MLE if the gap is given as 0.
const DefaultGap = 1e-6

// Likeliest is a map under which the counts are most likely, up to Gap.
type Likeliest struct {
	Theta []float64 // k shares
	// LogLikelihood of a release, on average.
	LogLikelihood float64
	// Gap is proved: no map has a log-likelihood of a release above LogLikelihood + Gap.
	Gap float64
	// Iterations of either kind: of expectation-maximization, and solutions of a quadratic problem.
	Iterations int
}

// MLE returns a map under which the counts are most likely. It does not use Prior or Geometry. The map puts its mass on
// few places. It need not be the only such map, but the law of the releases that follows from it is unique. The map is
// an anchor, for Interval and for comparisons.
//
// The log-likelihood of a release, L(theta) = sum_j (N_j/N) log (theta P)_j, is concave, and theta_i times its gradient
// g_i sums to 1. So max_i g_i - 1, the gap, bounds how far L(theta) is below the maximum. The search stops at the
// argument gap; 0 means DefaultGap. Below about 1e-12, the rounding of the sums limits the gap.
//
// Steps of expectation-maximization come first (theta_i <- theta_i g_i, which never lowers L), then those of Newton's
// method: a quadratic model of L is maximized over theta >= 0 by an active-set method, and L along the way there.
//
// MLE takes O(k kv) for a step and for each place that enters or leaves; 400 places take some hundredths of a second.
// Errors: ErrShape, ErrSettings for the gap, those of Guess for the prior, ErrCounts, ErrChannel; ErrNotConverged,
// also if ctx ends, with the best map so far and its gap.
func MLE(ctx context.Context, p Problem, gap float64) (Likeliest, error) {
	ctx = wpmerr.Context(ctx)
	if gap == 0 {
		gap = DefaultGap
	}
	if !(gap > 0 && gap <= math.MaxFloat64) {
		return Likeliest{}, fmt.Errorf("%w: gap %v", wpmerr.ErrSettings, gap)
	}
	counts, n, _, err := p.check()
	if err != nil {
		return Likeliest{}, err
	}
	m, err := newMost(p.Channel, counts, n)
	if err != nil {
		return Likeliest{}, err
	}
	_, best, err := m.likeliest(ctx, gap)
	return best, err
}

// likelihood is L of the outputs seen, for weights theta of any sum.
type likelihood struct {
	channel *Channel
	seen    []int
	share   []float64 // N_j/N, by seen
	n       float64   // N

	full []float64 // by output; zero but on seen
	out  []float64 // theta P, by output
}

func newLikelihood(channel *Channel, counts []float64, n float64) *likelihood {
	_, kv := channel.Dims()
	l := &likelihood{channel: channel, n: n, full: make([]float64, kv), out: make([]float64, kv)}
	for j, c := range counts {
		if c > 0 {
			l.seen, l.share = append(l.seen, j), append(l.share, c/n)
		}
	}
	return l
}

// leastProbability of an output that was seen: below, quotients lose digits or overflow.
const leastProbability = 0x1p-1000

// reach sets q to the outputs seen of theta P. The error is ErrChannel if one cannot be, or hardly.
func (l *likelihood) reach(theta, q []float64) error {
	l.channel.forward(theta, l.out)
	for n, j := range l.seen {
		if q[n] = l.out[j]; !(q[n] >= leastProbability) {
			return fmt.Errorf("%w: output %d was released, and the inputs release it with probability %v", ErrChannel, j, q[n])
		}
	}
	return nil
}

// value returns L for the outputs seen q.
func (l *likelihood) value(q []float64) float64 {
	var sum, lost float64 // compensated, after Neumaier
	for n, s := range l.share {
		v := s * math.Log(q[n])
		t := sum + v
		if math.Abs(sum) >= math.Abs(v) {
			lost += (sum - t) + v
		} else {
			lost += (v - t) + sum
		}
		sum = t
	}
	return sum + lost
}

// gradient sets g_i = sum_j (N_j/N) P_ij / q_j.
func (l *likelihood) gradient(q, g []float64) {
	for n, j := range l.seen {
		l.full[j] = l.share[n] / q[n]
	}
	l.channel.back(l.full, g)
}

// most maximizes L(theta) - a theta over theta >= 0, a > 0. At a = 1 that is the likeliest map; with other a, a map
// that gives up likelihood for mass where a is small. Scaled by a, it is the same problem: a theta is 1 at the optimum,
// and g_i / a_i - 1 is at most 0.
type most struct {
	*likelihood
	set   *activeSet
	theta []float64
	q     []float64 // of theta, by seen
	g     []float64
	base  []float64 // q when set was scaled; nil: never
	steps int

	ahead []float64
}

func newMost(channel *Channel, counts []float64, n float64) (*most, error) {
	l := newLikelihood(channel, counts, n)
	k, _ := channel.Dims()
	m := &most{
		likelihood: l, set: newActiveSet(channel), theta: make([]float64, k), g: make([]float64, k),
		q: make([]float64, len(l.seen)), ahead: make([]float64, len(l.seen)),
	}
	for i := range m.theta {
		m.theta[i] = 1 / float64(k)
	}
	return m, l.reach(m.theta, m.q)
}

// clone returns a copy to work on, at the same theta.
func (m *most) clone() *most {
	l := *m.likelihood
	l.full, l.out = make([]float64, len(l.full)), make([]float64, len(l.out))
	return &most{
		likelihood: &l, set: m.set.clone(), theta: slices.Clone(m.theta), q: slices.Clone(m.q), g: slices.Clone(m.g),
		base: slices.Clone(m.base), ahead: make([]float64, len(m.q)),
	}
}

const (
	firstSteps = 50 // of expectation-maximization: then quadratic models are good enough
	maxRounds  = 100
	// staleWeights is by how much probabilities may change, relatively, before a model is made anew. An old
	// one takes some digits less a step, but its factorization is there.
	staleWeights = 0.1
	// nearby is where Newton's full step does best: the slope towards the minimum of the model is, in units of
	// log-likelihood, the square of Newton's decrement, and the likelihood of whole counts is self-concordant.
	nearby = 0.01
	// slopeRounding is what the sums of a slope, of terms of up to 1, may be off.
	slopeRounding = 1e-14
)

// ones returns a vector of n ones.
func ones(n int) []float64 { return slices.Repeat([]float64{1}, n) }

// likeliest returns the likeliest map, at which m is then. a is 1.
func (m *most) likeliest(ctx context.Context, goal float64) (a []float64, best Likeliest, err error) {
	a = ones(len(m.theta))
	gap := m.measure(a)
	for n := 0; n < firstSteps && gap > goal && ctx.Err() == nil; n++ {
		gap = m.step(a)
	}
	if gap > goal {
		m.maximize(ctx, a, goal)
	}
	gap = m.certify(a)
	best = Likeliest{Theta: slices.Clone(m.theta), LogLikelihood: m.value(m.q), Gap: gap, Iterations: m.steps}
	if !(gap <= goal) {
		err = fmt.Errorf("%w: gap %v after %d iterations, want %v", wpmerr.ErrNotConverged, gap, m.steps, goal)
		if ctx.Err() != nil {
			err = fmt.Errorf("%w: gap %v after %d iterations, want %v", wpmerr.Ended(ctx), gap, m.steps, goal)
		}
	}
	return a, best, err
}

// measure scales theta to a theta = 1, sets q and g, and returns the gap.
func (m *most) measure(a []float64) float64 {
	sum := 0.0
	for i, t := range m.theta {
		sum += a[i] * t
	}
	for i := range m.theta {
		if m.theta[i] /= sum; m.theta[i] < leastWeight {
			m.theta[i] = 0
		}
	}
	if m.reach(m.theta, m.q) != nil {
		return math.Inf(1)
	}
	m.gradient(m.q, m.g)
	top := 0.0
	for i, g := range m.g {
		top = max(top, g/a[i])
	}
	return max(0, top-1) + m.rounding()
}

// certify is measure with sums of terms that are not negative, for which rounding is known: see rounding.
func (m *most) certify(a []float64) float64 {
	sum := 0.0
	for i, t := range m.theta {
		sum += a[i] * t
	}
	for i := range m.theta {
		m.theta[i] /= sum
	}
	m.channel.mix(m.theta, m.out, 0, false)
	for n, j := range m.seen {
		m.q[n] = m.out[j]
		m.full[j] = m.share[n] / m.q[n]
	}
	m.channel.collect(m.full, m.g, false)
	top := 0.0
	for i, g := range m.g {
		top = max(top, g/a[i])
	}
	return max(0, top-1) + m.rounding()
}

// rounding bounds the relative error of a theta, theta P and g: sums of k, 2 k and 2 kv terms that are not negative, as the
// low part of an entry and the rest are added apart; the sums of rows that P and g have; and a few operations more.
func (m *most) rounding() float64 {
	return float64(3*len(m.theta)+2*len(m.seen)+2*len(m.full)+32) * 0x1p-53
}

// leastWeight is what rounds to 0: products with smaller weights are slow, and nothing depends on them.
const leastWeight = 1e-290

// step is one of expectation-maximization.
func (m *most) step(a []float64) float64 {
	m.steps++
	for i, g := range m.g {
		m.theta[i] *= g / a[i]
	}
	return m.measure(a)
}

// maximize goes on from theta until the gap is at most goal, and goes back to the best theta that it saw.
func (m *most) maximize(ctx context.Context, a []float64, goal float64) {
	gap := m.measure(a)
	goal /= 2 // what certify may find worse
	best, at := gap, slices.Clone(m.theta)
	anew, slow := false, 0
	for round := 0; round < maxRounds && gap > goal && ctx.Err() == nil; round++ {
		m.model(anew)
		m.set.minimize(ctx, a, max(goal/4, gap/64))
		before := gap
		if m.move(a) {
			m.steps++
			gap = m.measure(a)
		}
		anew = gap > before/4
		if anew {
			slow++
		}
		if !(gap < before) || slow > 6 { // where models mislead, steps that never do
			for range 1 << min(slow, 8) {
				gap = m.step(a)
			}
			slow += 2
		}
		if gap < best {
			best = gap
			copy(at, m.theta)
		}
	}
	copy(m.theta, at)
	m.measure(a)
}

// model sets b, and A where it is too old, such that |A x - b|^2/2 + a x has the value, but for a constant, and the
// slope of a theta - L at theta.
func (m *most) model(anew bool) {
	if m.base == nil {
		m.base, anew = make([]float64, len(m.q)), true
	}
	for n, q := range m.q {
		anew = anew || !(math.Abs(q/m.base[n]-1) <= staleWeights)
	}
	if anew {
		copy(m.base, m.q)
		for n, j := range m.seen {
			m.set.scale[j] = math.Sqrt(m.share[n]) / m.q[n]
		}
		m.set.rescale()
	}
	for n, j := range m.seen {
		m.set.b[j] = math.Sqrt(m.share[n]) * (m.q[n]/m.base[n] + m.base[n]/m.q[n])
	}
}

// move goes from theta towards x, to where L - a theta is highest on the way, or all the way where that is about the
// same. It reports whether x was uphill.
func (m *most) move(a []float64) bool {
	x := m.set.x
	m.channel.forward(x, m.out)
	linear := 0.0
	for i, t := range m.theta {
		linear += a[i] * (x[i] - t)
	}
	for n, j := range m.seen {
		m.ahead[n] = m.out[j] - m.q[n]
	}
	slope := func(t float64) float64 { // of a theta - L, at theta + t (x - theta)
		s := linear
		for n, d := range m.ahead {
			at := m.q[n] + t*d
			if !(at > 0) {
				return math.Inf(1)
			}
			s -= m.share[n] * d / at
		}
		return s
	}
	first := slope(0)
	if !(first <= slopeRounding) {
		return false
	}
	t := 1.0
	if -first > max(nearby/m.n, slopeRounding) && !(slope(1) <= -first/10) {
		t = bisect(30, func(t float64) bool { return slope(t) <= 0 })
	}
	if t == 1 {
		copy(m.theta, x)
		return true
	}
	for i := range m.theta {
		m.theta[i] += t * (x[i] - m.theta[i])
	}
	return t > 0
}
