package estimate

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	blasgonum "gonum.org/v1/gonum/blas/gonum"
	lapack "gonum.org/v1/gonum/lapack/gonum"
)

var (
	blasOf   blasgonum.Implementation
	lapackOf lapack.Implementation
)

// fit looks for the most probable map of a model. With z normal of unit covariance and theta = u exp(tau L z) / Z, that
// is the maximum of
//
//	sum_j c_j log(q_j / guess_j) - |z|^2 / 2,   q = theta P
//
// found by Fisher scoring: the matrix of a step is I + W, W = A diag(N/q) A', A = tau L' diag(theta) (P - 1q').
//
// W is dear, and steps are cheap. So W is computed at the mode, where the evidence needs it, and again only if steps
// gain too little; the next roughness begins at the same theta, where it is the same but for the factor tau^2.
type fit struct {
	channel *Channel
	counts  []float64
	n       float64 // sum of counts
	prior   []float64
	guess   []float64 // prior P
	slack   float64   // rounding of a log-likelihood

	root  basis
	fresh bool // no model of this root is done
	tau   float64
	at    point
	first []float64 // the map of the first model of the root before
	information
}

// point is a map of a model.
type point struct {
	z, theta, q []float64
	value       float64
}

// information is W / tau^2 at some theta. Directions of which the counts say next to nothing are kept as a diagonal.
type information struct {
	diag   []float64 // of all directions
	active []int     // the others, ascending
	moved  float64   // gain since
	gram   []float64 // |active| x |active|, lower triangle

	factor []float64 // Cholesky's, of I + tau^2 gram
	logdet float64   // of I + W, too large by no more than 4 idle
}

const (
	maxSteps = 50   // three to ten are usual
	gainGoal = 0.01 // of log-likelihood: a step that gains less is the last but one, and that one has W at its point
	patience = 10   // steps that cost as much as W
	leastT   = 1e-3 // of a step's length in the line search
	// idle is the sum of tau^2 diag over the directions that are not active. By the inequalities of Fischer and of
	// Hadamard, log det(I + W) is between that of the active part and that plus the sum of log(1 + tau^2 diag).
	idle  = 0.02
	block = 256 // outputs at a time of a gram matrix: their part of 500 rows is a megabyte
	// leastShare keeps a quotient of a count and a probability finite. No probability that matters is as small.
	leastShare = 1e-280
	// leastLog is where the logarithm of a map is cut for a start elsewhere.
	leastLog = 50
)

// begin starts the models of one kernel at the map where those of the last one began.
func (f *fit) begin(r basis) {
	f.root = r
	f.fresh = true
}

// project returns the z whose map is closest to theta, in the logarithm.
func (f *fit) project(theta []float64) []float64 {
	k, r := len(f.prior), f.root.rank
	z, logs := make([]float64, r), make([]float64, k)
	if r == 0 || theta == nil {
		return z
	}
	for i, t := range theta {
		if t > 0 { // not so small that it says nothing
			logs[i] = max(math.Log(t/f.prior[i]), -leastLog)
		}
	}
	blasOf.Dgemv(blas.Trans, k, r, 1/f.tau, f.root.l, r, logs, 1, 0, z, 1)
	for b := range z {
		norm := 0.0
		for i := range k {
			norm += f.root.l[i*r+b] * f.root.l[i*r+b]
		}
		z[b] /= norm
	}
	return z
}

// move returns the map of the model at z.
func (f *fit) move(z []float64) point {
	k, r := len(f.prior), f.root.rank
	p := point{z: z, theta: make([]float64, k), q: make([]float64, len(f.counts))}
	if r > 0 {
		blasOf.Dgemv(blas.NoTrans, k, r, f.tau, f.root.l, r, z, 1, 0, p.theta, 1)
	}
	largest := math.Inf(-1)
	for i, u := range f.prior {
		if u > 0 {
			largest = max(largest, p.theta[i])
		}
	}
	sum := 0.0
	for i, u := range f.prior {
		v := 0.0
		if u > 0 {
			v = u * math.Exp(p.theta[i]-largest)
		}
		p.theta[i] = v
		sum += v
	}
	for i := range p.theta {
		p.theta[i] /= sum
	}
	f.channel.forward(p.theta, p.q)
	for j, c := range f.counts {
		if c > 0 {
			p.value += c * logRatio(p.q[j], f.guess[j])
		}
	}
	for _, v := range z {
		p.value -= v * v / 2
	}
	return p
}

// logRatio returns log(a/b), also where the quotient overflows.
func logRatio(a, b float64) float64 {
	if q := a / b; q <= math.MaxFloat64 {
		return math.Log(q)
	}
	return math.Log(a) - math.Log(b)
}

// mode moves to the mode for a roughness and returns Laplace's log-evidence, relative to the guess. It is not computed,
// and -Inf, if it is below least.
func (f *fit) mode(ctx context.Context, tau, least float64) (float64, error) {
	fresh, last := f.fresh, f.tau
	f.fresh, f.tau = false, tau
	if fresh {
		f.at = f.move(f.project(f.first))
	} else {
		z := slices.Clone(f.at.z)
		blasOf.Dscal(len(z), last/tau, z, 1)
		f.at = f.move(z)
	}
	if fresh || tau > 2*last { // then what was idle may not be
		f.inform()
	}
	f.decompose()
	if err := f.climb(ctx); err != nil {
		return 0, err
	}
	if fresh {
		f.first = f.at.theta
	}
	if !(f.at.value > least) { // log det(I + W) > 0
		return math.Inf(-1), nil
	}
	if f.moved > gainGoal {
		f.inform()
		f.decompose()
		f.advance()
	}
	return f.at.value - f.logdet/2, nil
}

// climb takes steps until they gain little.
func (f *fit) climb(ctx context.Context) error {
	last, fresh := math.Inf(1), false
	for range maxSteps {
		if err := ctx.Err(); err != nil {
			return err
		}
		gain, full := f.advance()
		small := !(gain > gainGoal+f.slack)
		if small && (full || fresh) {
			break
		}
		// At this rate, how many steps are left?
		fresh = small || math.Log(gain/gainGoal) > patience*math.Log(last/gain)
		last = gain
		if fresh {
			f.inform()
			f.decompose()
			last = math.Inf(1)
		}
	}
	return nil
}

// advance takes a step, and returns what it gains and whether it is of full length.
func (f *fit) advance() (gain float64, full bool) {
	step := f.direction()
	for t := 1.0; t >= leastT; t /= 2 {
		z := slices.Clone(f.at.z)
		add(t, step, z)
		if next := f.move(z); next.value >= f.at.value-f.slack { // false for NaN
			gain, f.at = next.value-f.at.value, next
			f.moved += math.Abs(gain)
			return gain, t == 1
		}
	}
	return 0, false
}

// direction returns (I + W)^-1 times the gradient.
func (f *fit) direction() []float64 {
	k, kv := f.channel.Dims()
	r := f.root.rank
	step := make([]float64, r)
	if r == 0 {
		return step
	}
	ratio, g := make([]float64, kv), make([]float64, k)
	for j, c := range f.counts {
		ratio[j] = c / max(f.at.q[j], leastShare)
	}
	f.channel.back(ratio, g)
	for i, t := range f.at.theta {
		g[i] = t*g[i] - t*f.n
	}
	blasOf.Dgemv(blas.Trans, k, r, f.tau, f.root.l, r, g, 1, 0, step, 1)
	add(-1, f.at.z, step)
	return f.solve(step)
}

// solve returns (I + W)^-1 x.
func (f *fit) solve(x []float64) []float64 {
	out := slices.Clone(x)
	m := len(f.active)
	part := make([]float64, m)
	for a, b := range f.active {
		part[a] = out[b]
	}
	if m > 0 {
		lapackOf.Dpotrs(blas.Lower, m, 1, f.factor, m, part, 1)
	}
	for b, d := range f.diag {
		out[b] /= 1 + f.tau*f.tau*d
	}
	for a, b := range f.active {
		out[b] = part[a]
	}
	return out
}

// inform computes the information at the point.
func (f *fit) inform() {
	k, kv := f.channel.Dims()
	r := f.root.rank
	f.diag, f.moved = make([]float64, r), 0
	if r == 0 {
		f.active = nil
		return
	}
	m, mean := make([]float64, k*r), make([]float64, r)
	for i, t := range f.at.theta {
		row := m[i*r:][:r]
		add(t, f.root.l[i*r:][:r], row)
		add(1, row, mean)
	}
	a := make([]float64, kv*r)
	f.channel.times(m, r, a)
	for j, q := range f.at.q {
		s := math.Sqrt(f.n / max(q, leastShare))
		row := a[j*r:][:r]
		for b, v := range row {
			v = s * (v - q*mean[b])
			row[b] = v
			f.diag[b] += v * v
		}
	}
	f.active = active(f.diag, idle/(f.tau*f.tau))
	n := len(f.active)
	f.gram = make([]float64, n*n)
	rows := make([]float64, n*min(kv, block))
	for from := 0; from < kv && n > 0; from += block {
		wide := min(block, kv-from)
		for c, b := range f.active {
			for j := range wide {
				rows[c*wide+j] = a[(from+j)*r+b]
			}
		}
		blasOf.Dsyrk(blas.Lower, blas.NoTrans, n, wide, 1, rows, wide, 1, f.gram, n)
	}
}

// active returns the indices of all but the least entries, whose sum is at most rest.
func active(diag []float64, rest float64) []int {
	order := make([]int, len(diag))
	for b := range order {
		order[b] = b
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case diag[a] < diag[b]:
			return -1
		case diag[a] > diag[b]:
			return 1
		}
		return 0
	})
	n := 0
	for sum := 0.0; n < len(order); n++ {
		if sum += diag[order[n]]; !(sum <= rest) {
			break
		}
	}
	out := order[n:]
	slices.Sort(out)
	return out
}

// decompose factors I + W.
func (f *fit) decompose() {
	n := len(f.active)
	scale := f.tau * f.tau
	f.logdet = 0
	f.factor = make([]float64, n*n)
	// Rounding of a gram matrix is relative to its diagonal: with very many counts, 1 may be too little.
	for more := 0.0; n > 0; more = 4*more + 0x1p-50 {
		for i := range n {
			for j := range i + 1 {
				f.factor[i*n+j] = scale * f.gram[i*n+j]
			}
			f.factor[i*n+i] += 1 + more*f.factor[i*n+i]
		}
		if lapackOf.Dpotrf(blas.Lower, n, f.factor, n) || more > 1 {
			break
		}
	}
	for a := range n {
		f.logdet += 2 * math.Log(f.factor[a*n+a])
	}
	isActive := 0
	for b, d := range f.diag {
		if isActive < n && f.active[isActive] == b {
			isActive++
			continue
		}
		f.logdet += math.Log1p(scale * d)
	}
}
