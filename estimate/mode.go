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
// the mode. The matrix of a step is 1 + S tau^2 K, where
//
//	S = V V',   V = diag(theta) (P - 1 q') diag(N/q)^1/2
//
// is the information of the counts about f. By Woodbury's formula a step needs no more than a factor of
// M = 1 + tau^2 V' K V, or of M = 1 + tau^2 R' S R with R R' = K, and the evidence no more than det M. The first is
// kv x kv, the second k x k at most.
//
// M is dear, and steps are cheap. So V' K V or R' S R is computed at the mode, where the evidence needs it, and again only
// if steps gain too little; the next roughness begins at the same theta, where it is the same. See Rasmussen and Williams,
// Gaussian Processes for Machine Learning, 2006, 3.4, for such an iteration.
type fit struct {
	channel *Channel
	counts  []float64
	n       float64 // sum of counts
	prior   []float64
	guess   []float64 // prior P
	slack   float64   // rounding of a log-likelihood
	first   []float64 // a first map, where kernels begin that are fitted side by side; or nil
	chosen  []bool    // the models to fit then

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

// information is S at some theta.
type information struct {
	theta []float64 // of V
	q     []float64 // of V
	roots []float64 // of N/q
	side  bool      // M is that of V, else that of R
	wide  int       // rows of M
	gram  []float64 // V' K V or R' S R, of which the lower triangle is used
	moved float64   // gain since

	// M = 1 + F F', if it has few directions, and the factor is that of 1 + F' F; else it is that of M.
	few    bool
	rank   int       // columns of F
	low    []float64 // F', rank x wide
	factor []float64 // lower triangle
	logdet float64   // of M
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
	// idle is the largest trace of E = M - 1 - F F', which is positive semidefinite. It adds to log det(1 + F F') between
	// 0 and the sum of log(1 + E_ii), by Hadamard's inequality, and that sum is taken: log det M is too large by no more
	// than idle, and the evidence too small by no more than half of that.
	idle  = 0.3
	tile  = 64  // rows of a product at a time
	block = 256 // outputs at a time of a gram matrix: their part of 500 rows is a megabyte
	// leastShare keeps a quotient of a count and a probability finite. No probability that matters is as small.
	leastShare = 1e-280
	// leastLog is where the logarithm of a density of groups is cut.
	leastLog = 50
)

// begin starts the models of one kernel at the map whose logarithm is given, or at the guess if that is better.
func (f *fit) begin(c kernel, logs []float64) {
	k := len(f.prior)
	f.kernel, f.fresh, f.few, f.tau, f.damp = c, true, true, 1, 1
	f.at = f.move(make([]float64, k), make([]float64, k))
	if logs == nil || c.full {
		return
	}
	// K a = logs, but for a constant, where the sum of a is 0.
	a, one := slices.Clone(logs), slices.Repeat([]float64{1}, k)
	for _, x := range [][]float64{a, one} {
		blasOf.Dtrsv(blas.Lower, blas.NoTrans, blas.NonUnit, k, c.root.l, k, x, 1)
		blasOf.Dtrsv(blas.Lower, blas.Trans, blas.NonUnit, k, c.root.l, k, x, 1)
	}
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

// mode moves to the mode for a roughness and returns Laplace's log-evidence, relative to the guess. It is rough if it
// is far below least.
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
		n, err := f.climb(ctx, maxSteps-steps)
		if err != nil {
			return 0, err
		}
		steps += n + 1
		// M was computed a few steps ago. Its determinant is accurate enough to reject models whose evidence is below least.
		if v := f.at.value - f.logdet/2; !(v > least-negligible) || f.moved <= settled {
			return v, nil
		}
		f.inform()
		f.decompose()
		if gain, _ := f.advance(); !(gain > gainGoal+f.slack) || steps >= maxSteps {
			return f.at.value - f.logdet/2, nil
		}
	}
}

// climb takes steps until they gain little.
//
// Where a share is far too small, the information about its logarithm is next to nothing, and a step for it is much too
// long; cut short, it gains next to nothing elsewhere. So damp makes the prior of a step stronger, after Levenberg and
// Marquardt, while steps are short.
func (f *fit) climb(ctx context.Context, most int) (steps int, err error) {
	last, fresh := math.Inf(1), false
	for ; steps < most; steps++ {
		if ctx.Err() != nil {
			return steps, wpmerr.Ended(ctx)
		}
		gain, t := f.advance()
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
func (f *fit) advance() (gain, length float64) {
	da, df := f.direction()
	for t := 1.0; t >= leastT; t /= 2 {
		a, logs := slices.Clone(f.at.a), slices.Clone(f.at.f)
		add(t, da, a)
		add(t, df, logs)
		if next := f.move(a, logs); next.value >= f.at.value-f.slack { // false for NaN
			gain, f.at = next.value-f.at.value, next
			f.moved += math.Abs(gain)
			return gain, t
		}
	}
	return 0, 0
}

// direction returns (1 + S s^2 K)^-1 (g - a) s^2/tau^2, and tau^2 K times that, where s^2 = tau^2/damp.
func (f *fit) direction() (da, df []float64) {
	k, kv := f.channel.Dims()
	ratio, g := make([]float64, kv), make([]float64, k)
	for j, c := range f.counts {
		ratio[j] = c / max(f.at.q[j], leastShare)
	}
	f.channel.back(ratio, g)
	for i, t := range f.at.theta {
		g[i] = t*g[i] - t*f.n - f.at.a[i]
	}
	df = f.solve(g)
	blasOf.Dscal(k, 1/f.damp, g, 1)
	return g, df
}

// square is that of the roughness in a step.
func (f *fit) square() float64 { return f.tau * f.tau / f.damp }

// solve replaces x, of sum 0, by (1 + S s^2 K)^-1 x, and returns s^2 K times that, but for a constant. The second is
// (1/s^2 K^-1 + S)^-1 x.
func (f *fit) solve(x []float64) []float64 {
	y := make([]float64, len(x))
	if f.side {
		symmetric(f.square(), f.cov, x, y)
		w := f.across(y)
		f.divide(w)
		f.subtract(w, x)
		symmetric(f.square(), f.cov, x, y)
		return y
	}
	w := f.kernel.across(x)
	f.divide(w)
	blasOf.Dscal(len(w), f.square(), w, 1)
	y = f.kernel.times(w)
	f.subtract(f.across(y), x)
	return y
}

// across returns V' y.
func (f *fit) across(y []float64) []float64 {
	weighed, w, sum := make([]float64, len(y)), make([]float64, len(f.q)), 0.0
	for i, t := range f.theta {
		weighed[i] = t * y[i]
		sum += weighed[i]
	}
	f.channel.mix(weighed, w, math.Inf(-1))
	for j, q := range f.q {
		w[j] = f.roots[j] * (w[j] - q*sum)
	}
	return w
}

// subtract sets x -= V w.
func (f *fit) subtract(w, x []float64) {
	scaled, g, sum := make([]float64, len(w)), make([]float64, len(x)), 0.0
	for j, q := range f.q {
		scaled[j] = f.roots[j] * w[j]
		sum += q * scaled[j]
	}
	f.channel.back(scaled, g)
	for i, t := range f.theta {
		x[i] -= t * (g[i] - sum)
	}
}

// divide replaces x by M^-1 x.
func (f *fit) divide(x []float64) {
	if !f.few {
		f.backward(x)
		return
	}
	f.remove(f.directions(x), x)
}

// directions returns F' x.
func (f *fit) directions(x []float64) []float64 {
	y := make([]float64, f.rank)
	for b := range y {
		y[b] = dot(f.low[b*f.wide:][:f.wide], x)
	}
	return y
}

// remove sets x -= F (1 + F' F)^-1 y.
func (f *fit) remove(y, x []float64) {
	f.backward(y)
	blasOf.Dscal(len(y), -1, y, 1)
	addRows(y, f.low, x)
}

// backward replaces y by A^-1 y for the matrix A of the factor.
func (f *fit) backward(y []float64) {
	r := len(y)
	if r > 0 {
		blasOf.Dtrsv(blas.Lower, blas.NoTrans, blas.NonUnit, r, f.factor, r, y, 1)
		blasOf.Dtrsv(blas.Lower, blas.Trans, blas.NonUnit, r, f.factor, r, y, 1)
	}
}

// inform computes the information at the point.
func (f *fit) inform() {
	k, kv := f.channel.Dims()
	f.moved = 0
	f.theta, f.q, f.roots = f.at.theta, f.at.q, make([]float64, kv)
	for j, q := range f.q {
		f.roots[j] = math.Sqrt(f.n / max(q, leastShare))
	}
	f.side = kv <= k || 4*kv <= 5*k && f.channel.rows == nil // runs make V' K V cheap
	if f.side {
		f.byOutputs()
		return
	}
	f.byPlaces()
}

// byOutputs computes V' K V, which for a policy is the work of some rows per run.
func (f *fit) byOutputs() {
	k, kv := f.channel.Dims()
	f.wide = kv
	theta, q, roots := f.theta, f.q, f.roots
	weighed, mean := make([]float64, k*k), make([]float64, k) // diag(theta) K and theta' K
	for i, t := range theta {
		row := weighed[i*k:][:k]
		for j, v := range f.cov[i*k:][:k] {
			row[j] = t * v
		}
	}
	symmetric(1, f.cov, theta, mean)
	half := make([]float64, kv*k) // P' diag(theta) K
	f.channel.times(weighed, k, half)
	other, means := make([]float64, k*kv), make([]float64, kv) // diag(theta) K diag(theta) (P - 1 q'), and its sums
	for i, t := range theta {
		if t == 0 {
			continue
		}
		row := other[i*kv:][:kv]
		for j, q := range q {
			v := t * (half[j*k+i] - q*mean[i])
			row[j] = v
			means[j] += v
		}
	}
	f.gram = make([]float64, kv*kv)
	f.channel.times(other, kv, f.gram)
	for j, q := range q {
		row := f.gram[j*kv:][:j+1]
		for h := range row {
			row[h] = roots[j] * roots[h] * (row[h] - q*means[h])
		}
	}
}

// byPlaces computes R' S R.
func (f *fit) byPlaces() {
	k, n := len(f.prior), f.root.rank
	s := make([]float64, k*k)
	if !f.scattered(s) {
		f.product(s)
	}
	upper := make([]float64, n*k) // R'
	for i := range k {
		for h := range i {
			s[h*k+i] = s[i*k+h]
		}
		for b, v := range f.root.l[i*n:][:n] {
			upper[b*k+i] = v
		}
	}
	half := make([]float64, n*k) // R' S
	f.wide, f.gram = n, make([]float64, n*n)
	// Of a triangle, half of the entries are 0.
	each := func(do func(b, rows, from int)) {
		for b := 0; b < n; b += tile {
			if f.full {
				do(b, min(tile, n-b), 0)
			} else {
				do(b, min(tile, n-b), b)
			}
		}
	}
	each(func(b, rows, from int) {
		blasOf.Dgemm(blas.NoTrans, blas.NoTrans, rows, k, k-from, 1, upper[b*k+from:], k, s[from*k:], k, 0, half[b*k:], k)
	})
	each(func(b, rows, from int) {
		blasOf.Dgemm(blas.NoTrans, blas.Trans, rows, b+rows, k-from, 1, upper[b*k+from:], k, half[from:], k, 0, f.gram[b*n:], n)
	})
}

// scattered computes the lower triangle of S by the high entries of the channel, or returns false if it is not of that
// form.
func (f *fit) scattered(s []float64) bool {
	k, kv := f.channel.Dims()
	v := make([]float64, kv)
	for j, r := range f.roots {
		v[j] = r * r
	}
	if !f.channel.scatter(f.q, v, s) {
		return false
	}
	for i, t := range f.theta {
		row := s[i*k:][:i+1]
		for h := range row {
			row[h] *= t * f.theta[h]
		}
	}
	return true
}

// product computes the lower triangle of S as a product of matrices.
func (f *fit) product(s []float64) {
	k, kv := f.channel.Dims()
	for from := 0; from < kv; from += block {
		wide := min(block, kv-from)
		part := make([]float64, k*wide) // of V
		for i, t := range f.theta {
			for j, p := range f.channel.row(i)[from:][:wide] {
				part[i*wide+j] = t * (p - f.q[from+j]) * f.roots[from+j]
			}
		}
		grams(part, k, s)
	}
}

// decompose factors M.
func (f *fit) decompose() {
	if f.few = f.few && f.pivot(); f.few { // with more roughness, there are more directions
		return
	}
	n, square := f.wide, f.square()
	f.factor = make([]float64, n*n)
	// Rounding of a gram matrix is relative to its diagonal: with very many counts, 1 may be too little.
	for more := 0.0; ; more = 4*more + 0x1p-50 {
		for b := range n {
			row := f.factor[b*n:][:b+1]
			for c, v := range f.gram[b*n:][:b+1] {
				row[c] = square * v
			}
			row[b] += 1 + more*row[b]
		}
		if cholesky(f.factor, n) || more > 1 {
			break
		}
	}
	f.logdet = logdet(f.factor, n)
}

// column returns column p of M - 1, less what the rows of F' so far have of it.
func (f *fit) column(p, rows int) []float64 {
	n, square := f.wide, f.square()
	column, before := make([]float64, n), make([]float64, rows)
	for b, v := range f.gram[p*n:][:p+1] {
		column[b] = square * v
	}
	for b := p + 1; b < n; b++ {
		column[b] = square * f.gram[b*n+p]
	}
	for c := range before {
		before[c] = -f.low[c*n+p]
	}
	addRows(before, f.low, column)
	return column
}

// pivot finds F, unless its rank is above a third of that of M. It is the factor with pivots of M - 1, and needs no
// columns but those of the pivots.
func (f *fit) pivot() bool {
	n, square := f.wide, f.square()
	left, used := make([]float64, n), make([]int, 0, n/3)
	for b := range left {
		left[b] = square * f.gram[b*n+b]
	}
	f.low = f.low[:0:0]
	for {
		p := argmax(left)
		if !(left[p] > idle/float64(n)) {
			break
		}
		if 3*(len(used)+1) > n {
			return false
		}
		column := f.column(p, len(used))
		root := math.Sqrt(left[p])
		for b := range column {
			column[b] /= root
		}
		for _, b := range used {
			column[b] = 0
		}
		column[p] = root
		for b, v := range column {
			left[b] -= v * v
		}
		left[p] = 0
		f.low, used = append(f.low, column...), append(used, p)
	}
	rest, r := 0.0, len(used)
	for _, v := range left {
		rest += math.Log1p(max(0, v))
	}
	f.rank, f.factor = r, make([]float64, r*r)
	for b := range r {
		f.factor[b*r+b] = 1
	}
	grams(f.low, r, f.factor)
	if !cholesky(f.factor, r) {
		return false
	}
	f.logdet = logdet(f.factor, r) + rest
	return true
}

// logdet returns that of the square of a triangular matrix.
func logdet(factor []float64, n int) float64 {
	sum := 0.0
	for b := range n {
		sum += 2 * math.Log(factor[b*n+b])
	}
	return sum
}

// negligible is how far a log-weight is below the largest when it is left out: e^-20 is next to nothing.
const negligible = 20
