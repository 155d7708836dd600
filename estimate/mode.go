package estimate

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"

	"github.com/wpm-go/wpm/wpmerr"
)

// fit looks for the most probable map of a model. With f normal of covariance tau^2 K and theta = u exp(f) / Z, that is
// the maximum of
//
//	sum_j c_j log(q_j / guess_j) - a'f / 2,   q = theta P,   f = tau^2 K a
//
// found by Fisher scoring. The gradient in f is g - a, where g_i = theta_i (sum_j P_ij c_j / q_j - N), so that a = g at
// the mode. A step is M^-1 (g - a) with
//
//	M = (tau^2 K)^-1 + S,   S = diag(theta) (P - 1 q') diag(N/q) (P - 1 q')' diag(theta)
//
// where S is the information of the counts about f. M^-1 is the covariance of Laplace's approximation, and the evidence
// needs det(tau^2 K) det M.
//
// With few outputs, S = V V' is not written out: by Woodbury's formula a factor of W = 1 + tau^2 V' K V is enough.
//
// S and a factor of M are dear, and steps are cheap. So they are computed at the mode, where the evidence needs them, and
// again only if steps gain too little; the next roughness begins at the same theta, where S is the same. See Rasmussen and
// Williams, Gaussian Processes for Machine Learning, 2006, 3.4, for such an iteration.
type fit struct {
	channel *Channel
	counts  []float64
	n       float64 // sum of counts
	prior   []float64
	guess   []float64 // prior P
	slack   float64   // rounding of a log-likelihood
	even    []float64 // the even map, beside a prior that is not even; else nil
	within  []float64 // how mass is spread within groups: the prior, with some of the even map
	// Where kernels are fitted side by side, first is the map that they begin at, and known are log-weights that are likely to
	// be near those of the models, -Inf for those to leave out. Else both are nil.
	first []float64
	known []float64

	kernel
	fresh bool // no model of this K is done
	tau   float64
	damp  float64 // 1 or more, of (tau^2 K)^-1 in steps: see climb
	at    point
	information
}

// point is a map of a model.
type point struct {
	a, f     []float64
	theta, q []float64
	value    float64
}

// information is S at some theta, and M.
type information struct {
	s      []float64 // k x k, lower triangle
	lent   bool      // s is another's, too
	v, kv  []float64 // V and K V, k x kv, in place of s if outputs are few
	moved  float64   // gain since
	factor []float64 // of M, or of W, lower triangle
	logdet float64   // of s^2 K M, which is that of W
}

const (
	maxSteps = 100  // three to ten are usual
	gainGoal = 0.01 // of log-likelihood: a step that gains less is the last but one, and that one has M at its point
	// settled is how much the log-likelihood may have grown since M was computed, if its determinant is taken at the mode.
	// With gainGoal in its place a map of 400 places takes 1.25 times as long in geometric mean (8 cells of lab/rows), one of
	// 153 places no longer (16 cells), and W_1 to the truth differs by 0.7 % at most.
	settled  = 0.2
	patience = 10   // steps that cost as much as M
	leastT   = 1e-3 // of a step's length in the line search
	shortest = 0.1  // of a step's length that is worth another with the same M
	damping  = 10   // factor by which damp changes
	maxDamp  = 1e12 // where rounding is all that is left
	block    = 256  // outputs at a time of a product of matrices: their part of 500 rows is a megabyte
	// leastShare keeps a quotient of a count and a probability finite. No probability that matters is as small.
	leastShare = 1e-280
	// leastLog is where the logarithm of a density of groups is cut.
	leastLog = 50
)

// begin starts the models of one kernel at the map whose logarithm is given, or at the guess if that is better.
func (f *fit) begin(c kernel, logs []float64) {
	k := len(f.prior)
	f.kernel, f.fresh, f.tau, f.damp = c, true, 1, 1
	f.at = f.move(make([]float64, k), make([]float64, k))
	if logs == nil {
		return
	}
	// K a = logs, but for a constant, where the sum of a is 0.
	a, one := slices.Clone(logs), slices.Repeat([]float64{1}, k)
	solve(c.root, a)
	solve(c.root, one)
	sum, all := 0.0, 0.0
	for i := range a {
		sum, all = sum+a[i], all+one[i]
	}
	add(-sum/all, one, a)
	symmetric(1, f.cov, a, one)
	if p := f.move(a, one); p.value > f.at.value {
		f.at = p
	}
}

// move returns the map of the model with the given a and f.
func (f *fit) move(a, logs []float64) point {
	p := point{a: a, f: logs, theta: make([]float64, len(a)), q: make([]float64, len(f.counts))}
	largest := math.Inf(-1)
	for i, u := range f.prior {
		if u > 0 {
			largest = max(largest, logs[i])
		}
	}
	for i, u := range f.prior {
		if u > 0 {
			p.theta[i] = u * math.Exp(logs[i]-largest)
		}
	}
	toSum(p.theta)
	f.channel.forward(p.theta, p.q)
	for j, c := range f.counts {
		if c > 0 {
			p.value += c * logRatio(p.q[j], f.guess[j])
		}
	}
	p.value -= dot(a, logs) / 2
	return p
}

// logRatio returns log(a/b), also where the quotient overflows.
func logRatio(a, b float64) float64 {
	if q := a / b; q <= math.MaxFloat64 {
		return math.Log(q)
	}
	return math.Log(a) - math.Log(b)
}

// mode moves to the mode for a roughness and returns Laplace's log-evidence, relative to the guess. It gives up on a model
// whose evidence is going to be below least, and returns what it has so far, which is below, too.
func (f *fit) mode(ctx context.Context, tau, least float64) (float64, error) {
	a := slices.Clone(f.at.a) // of the same f
	blasOf.Dscal(len(a), f.tau/tau*(f.tau/tau), a, 1)
	f.at.value += dot(f.at.a, f.at.f)/2 - dot(a, f.at.f)/2
	f.at.a, f.tau = a, tau
	if f.fresh {
		f.inform()
		f.fresh = false
	}
	f.decompose()
	for steps := 0; ; {
		n, err := f.climb(ctx, maxSteps-steps, least)
		if err != nil {
			return 0, err
		}
		steps += n + 1
		// M was computed a few steps ago. Its determinant is accurate enough to reject models whose evidence is below least.
		if v := f.at.value - f.logdet/2; !(v > least) || f.moved <= settled {
			return v, nil
		}
		f.inform()
		f.decompose()
		if gain, _, _ := f.advance(least); !(gain > gainGoal+f.slack) || steps >= maxSteps {
			return f.at.value - f.logdet/2, nil
		}
	}
}

// climb takes steps until they gain little, or until the model is hopeless: twice of what the next step is expected to gain
// would leave its evidence below least.
//
// Where a share is far too small, the information about its logarithm is next to nothing, and a step for it is much too
// long; cut short, it gains next to nothing elsewhere. So damp makes the prior of a step stronger, after Levenberg and
// Marquardt, while steps are short.
func (f *fit) climb(ctx context.Context, most int, least float64) (steps int, err error) {
	last, fresh := math.Inf(1), false
	for ; steps < most; steps++ {
		if ctx.Err() != nil {
			return steps, wpmerr.Ended(ctx)
		}
		gain, t, hopeless := f.advance(least)
		if hopeless {
			break
		}
		small := !(gain > gainGoal+f.slack)
		if small && (f.damp == 1 && (t == 1 || fresh && t >= shortest) || f.damp >= maxDamp) {
			break
		}
		damp := f.damped(t, fresh)
		// At this rate, how many steps are left?
		fresh = small || t < shortest || math.Log(gain/gainGoal) > patience*math.Log(last/gain)
		last = gain
		if fresh {
			f.inform()
			last = math.Inf(1)
		}
		if fresh || damp != f.damp {
			f.damp = damp
			f.decompose()
		}
	}
	if f.damp > 1 {
		f.damp = 1
		f.decompose()
	}
	return steps, nil
}

// damped is the damping after a step of length t.
func (f *fit) damped(t float64, fresh bool) float64 {
	switch {
	case t == 1:
		return max(1, f.damp/damping)
	case fresh && t < shortest:
		return f.damp * damping
	}
	return f.damp
}

// advance takes a step, and returns what it gains and how much of its length it is.
func (f *fit) advance(least float64) (gain, length float64, hopeless bool) {
	da, df, twice := f.direction()
	if f.damp == 1 && f.at.value+twice-f.logdet/2 < least {
		return 0, 0, true
	}
	for t := 1.0; t >= leastT; t /= 2 {
		a, logs := slices.Clone(f.at.a), slices.Clone(f.at.f)
		add(t, da, a)
		add(t, df, logs)
		if next := f.move(a, logs); next.value >= f.at.value-f.slack { // false for NaN
			gain, f.at = next.value-f.at.value, next
			f.moved += math.Abs(gain)
			return gain, t, false
		}
	}
	return 0, 0, false
}

// direction returns a step of a and one of f, where s^2 = tau^2/damp takes the place of tau^2 in M: df = M^-1 (g - a), and
// da = (s^2 K)^-1 df / damp, which is (g - a - S df) / damp. K loses what rounding leaves of a difference, so df is
// computed from da again. A quadratic function gains half of twice.
func (f *fit) direction() (da, df []float64, twice float64) {
	k, kv := f.channel.Dims()
	ratio, g := make([]float64, kv), make([]float64, k)
	for j, c := range f.counts {
		ratio[j] = c / max(f.at.q[j], leastShare)
	}
	f.channel.back(ratio, g)
	for i, t := range f.at.theta {
		g[i] = t*g[i] - t*f.n - f.at.a[i]
	}
	df = f.covered(g)
	twice = dot(g, df)
	add(-1, f.informed(df), g)
	symmetric(f.square(), f.cov, g, df)
	blasOf.Dscal(k, 1/f.damp, g, 1)
	return g, df, twice
}

// square is that of the roughness in a step.
func (f *fit) square() float64 { return f.tau * f.tau / f.damp }

// scarce is how many inputs there are for an output, and more, if S is not written out. BenchmarkMapFew, a map of 400
// places, takes with 31, 100, 134 and 200 outputs .15, .35, .87 and 1.66 s in this form; else .68, .79, 1.68 and 1.62 s.
const scarce = 3

// inform computes S at the point.
func (f *fit) inform() {
	k, kv := f.channel.Dims()
	f.moved = 0
	if scarce*kv <= k {
		f.split()
		return
	}
	if f.lent {
		f.s, f.lent = nil, false
	}
	f.s = room(f.s, k*k)
	clear(f.s)
	if !f.scattered() {
		f.product()
	}
}

// split makes V and K V.
func (f *fit) split() {
	k, kv := f.channel.Dims()
	f.v, f.kv = f.roots(0, kv), make([]float64, k*kv)
	blasOf.Dgemm(blas.NoTrans, blas.NoTrans, k, kv, k, 1, f.cov, k, f.v, kv, 0, f.kv, kv)
}

// informed returns S x.
func (f *fit) informed(x []float64) []float64 {
	k := len(x)
	y := make([]float64, k)
	if f.v == nil {
		blasOf.Dsymv(blas.Lower, k, 1, f.s, k, x, 1, 0, y, 1)
		return y
	}
	w := f.across(x)
	blasOf.Dgemv(blas.NoTrans, k, len(w), 1, f.v, len(w), w, 1, 0, y, 1)
	return y
}

// across returns V' x.
func (f *fit) across(x []float64) []float64 {
	w := make([]float64, len(f.v)/len(x))
	blasOf.Dgemv(blas.Trans, len(x), len(w), 1, f.v, len(w), x, 1, 0, w, 1)
	return w
}

// covered returns M^-1 x, for x of sum 0; of few outputs, but for a constant.
func (f *fit) covered(x []float64) []float64 {
	y := slices.Clone(x)
	if f.v == nil {
		solve(f.factor, y)
		return y
	}
	symmetric(f.square(), f.cov, x, y)
	f.less(f.across(y), y)
	return y
}

// less sets y -= s^2 K V W^-1 w.
func (f *fit) less(w, y []float64) {
	solve(f.factor, w)
	blasOf.Dgemv(blas.NoTrans, len(y), len(w), -f.square(), f.kv, len(w), w, 1, 1, y, 1)
}

// scattered computes S by the high entries of the channel, or returns false if it is not of that form.
func (f *fit) scattered() bool {
	v := make([]float64, len(f.at.q))
	for j, q := range f.at.q {
		v[j] = f.n / max(q, leastShare)
	}
	if !f.channel.scatter(f.at.q, v, f.s) {
		return false
	}
	for i, t := range f.at.theta {
		row := f.s[i*len(f.at.theta):][:i+1]
		for h := range row {
			row[h] *= t * f.at.theta[h]
		}
	}
	return true
}

// product computes S as a product of matrices.
func (f *fit) product() {
	k, kv := f.channel.Dims()
	for from := 0; from < kv; from += block {
		grams(f.roots(from, min(block, kv-from)), k, f.s)
	}
}

// roots returns some columns of V = diag(theta) (P - 1 q') diag(N/q)^1/2, row-major.
func (f *fit) roots(from, wide int) []float64 {
	out, size := make([]float64, len(f.prior)*wide), make([]float64, wide)
	q := f.at.q[from:][:wide]
	for j, v := range q {
		size[j] = math.Sqrt(f.n / max(v, leastShare))
	}
	for i, t := range f.at.theta {
		row := out[i*wide:][:wide]
		for j, p := range f.channel.row(i)[from:][:wide] {
			row[j] = t * (p - q[j]) * size[j]
		}
	}
	return out
}

// decompose factors M, or W.
func (f *fit) decompose() {
	k, square := len(f.prior), f.square()
	if f.v != nil {
		n := len(f.v) / k
		f.factor = room(f.factor, n*n)
		blasOf.Dgemm(blas.Trans, blas.NoTrans, n, n, k, square, f.v, n, f.kv, n, 0, f.factor, n)
		for b := range n {
			f.factor[b*n+b]++
		}
		cholesky(f.factor, n)
		f.logdet = logdet(f.factor, n)
		return
	}
	f.factor = room(f.factor, k*k)
	// Rounding of S is relative to its diagonal: with very many counts, what K adds may be too little.
	for more := 0.0; ; more = 4*more + 0x1p-50 {
		for b := range k {
			row, inverse := f.factor[b*k:][:b+1], f.inverse[b*k:][:b+1]
			for c, v := range f.s[b*k:][:b+1] {
				row[c] = v + inverse[c]/square
			}
			row[b] += more * row[b]
		}
		if cholesky(f.factor, k) || more > 1 {
			break
		}
	}
	f.logdet = logdet(f.factor, k) + f.det + float64(k)*math.Log(square)
}

// lend returns a copy of f that shares S, which neither writes to from now on.
func (f *fit) lend() fit {
	f.lent = true
	return *f
}

// room returns a slice of length n: x, if it is one.
func room(x []float64, n int) []float64 {
	if len(x) == n {
		return x
	}
	return make([]float64, n)
}

// solve replaces x by A^-1 x for the A of a factor.
func solve(factor, x []float64) {
	k := len(x)
	blasOf.Dtrsv(blas.Lower, blas.NoTrans, blas.NonUnit, k, factor, k, x, 1)
	blasOf.Dtrsv(blas.Lower, blas.Trans, blas.NonUnit, k, factor, k, x, 1)
}

// logdet returns that of the square of a triangular matrix.
func logdet(factor []float64, n int) float64 {
	sum := 0.0
	for b := range n {
		sum += 2 * math.Log(factor[b*n+b])
	}
	return sum
}
