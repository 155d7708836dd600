package estimate

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas"
	blasgonum "gonum.org/v1/gonum/blas/gonum"
	lapackgonum "gonum.org/v1/gonum/lapack/gonum"
)

// fit looks for the most probable map of a model. With z normal of unit covariance and theta = u exp(tau L z) / Z, that is the maximum of
//
//	sum_j c_j log(q_j / guess_j) - |z|^2 / 2,   q = theta P
//
// found by Fisher scoring: the matrix of a step is I + W, W = A diag(N/q) A', A = tau L' diag(theta) (P - 1q').
type fit struct {
	channel *Channel
	counts  []float64
	n       float64 // sum of counts
	prior   []float64
	guess   []float64 // prior P

	root    root
	tau     float64
	z       []float64 // the mode
	theta   []float64
	q       []float64
	value   float64
	a, w    []float64
	started bool
}

const (
	maxSteps = 30   // of Fisher scoring: three to ten are usual
	gainGoal = 0.01 // a step that gains less, in units of log-likelihood, is the last
	leastT   = 1e-3 // of a step's length in the line search
	// leastShare keeps a quotient of a count and a probability finite. No probability that matters is as small.
	leastShare = 1e-280
)

var (
	blasOf   blasgonum.Implementation
	lapackOf lapackgonum.Implementation
)

// begin starts the models of one kernel.
func (f *fit) begin(r root) {
	f.root = r
	f.z = make([]float64, r.rank)
	f.started = false
}

// point is a map of the model at z.
type point struct {
	z, theta, q []float64
	value       float64
}

func (f *fit) at(z []float64) point {
	p := point{z: z, theta: make([]float64, len(f.prior)), q: make([]float64, len(f.counts))}
	for i := range p.theta { // the logarithm of theta/prior
		s := 0.0
		for b, l := range f.root.l[i*f.root.rank:][:f.root.rank] {
			s += l * z[b]
		}
		p.theta[i] = f.tau * s
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
			p.value += c * math.Log(p.q[j]/f.guess[j])
		}
	}
	for _, v := range z {
		p.value -= v * v / 2
	}
	return p
}

// mode moves z to the mode for a roughness and returns Laplace's log-evidence, relative to the guess.
func (f *fit) mode(ctx context.Context, tau float64) (float64, error) {
	z := f.z
	if f.started {
		z = make([]float64, f.root.rank)
		for b, v := range f.z {
			z[b] = v * f.tau / tau
		}
	}
	f.tau, f.started = tau, true
	at := f.at(z)
	logdet := 0.0
	for range maxSteps {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		var step []float64
		step, logdet = f.step(at)
		next := at
		for t := 1.0; ; t /= 2 {
			trial := make([]float64, len(z))
			for b := range trial {
				trial[b] = at.z[b] + t*step[b]
			}
			next = f.at(trial)
			if next.value >= at.value-1e-9 {
				break
			}
			if t < leastT {
				next = at
				break
			}
		}
		gain := next.value - at.value
		at = next
		if !(gain >= gainGoal) {
			break
		}
	}
	f.z, f.theta = at.z, at.theta
	return at.value - logdet/2, nil
}

// step returns the step of Fisher scoring and log det(I + W).
func (f *fit) step(p point) (step []float64, logdet float64) {
	k, kv := f.channel.Dims()
	r := f.root.rank
	if r == 0 {
		return nil, 0
	}
	ratio, g := make([]float64, kv), make([]float64, k)
	for j, c := range f.counts {
		ratio[j] = c / max(p.q[j], leastShare)
	}
	f.channel.back(ratio, g)
	m, mean := make([]float64, k*r), make([]float64, r)
	step = make([]float64, r)
	for i, t := range p.theta {
		d := t*g[i] - t*f.n
		for b, l := range f.root.l[i*r:][:r] {
			m[i*r+b] = f.tau * t * l
			mean[b] += m[i*r+b]
			step[b] += f.tau * l * d
		}
	}
	a := make([]float64, kv*r)
	blasOf.Dgemm(blas.Trans, blas.NoTrans, kv, r, k, 1, f.channel.rows, kv, m, r, 0, a, r)
	for j, q := range p.q {
		s := math.Sqrt(f.n / max(q, leastShare))
		for b := range r {
			a[j*r+b] = s * (a[j*r+b] - q*mean[b])
		}
	}
	w := make([]float64, r*r)
	blasOf.Dsyrk(blas.Upper, blas.Trans, r, kv, 1, a, r, 0, w, r)
	for b := range r {
		w[b*r+b]++
		step[b] -= p.z[b]
	}
	lapackOf.Dpotrf(blas.Upper, r, w, r)
	for b := range r {
		logdet += 2 * math.Log(w[b*r+b])
	}
	lapackOf.Dpotrs(blas.Upper, r, 1, w, r, step, 1)
	return step, logdet
}
