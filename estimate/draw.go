package estimate

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"

	"github.com/wpm-go/wpm/internal/parallel"
)

const (
	// burn is how many draws of a chain are left out at its beginning, and thin of how many draws one is taken: where the
	// posterior is far from normal, a draw is near the one before.
	burn, thin = 40, 3
	// shrinks of an ellipse are enough to come back to where it begins, to rounding.
	shrinks = 60
)

// drawSeed starts the generators of draws.
const drawSeed = 0x77706d2064726177

// draws returns n maps of the posterior, from each model as many as its weight is worth. They have neither the guess nor
// the preference for smooth models, e^-tau: both make a map cautious, and would make its error too small.
func (a average) draws(n int) [][]float64 {
	logs := slices.Repeat([]float64{math.Inf(-1)}, len(a.logs))
	for m, f := range a.fits {
		if f != nil {
			logs[m] = a.logs[m] + roughnesses[(m%family-1)%len(roughnesses)]
		}
	}
	if n == 0 || math.IsInf(slices.Max(logs), -1) {
		return nil
	}
	of, sum, left := make([]int, len(logs)), 0.0, 0
	for m, w := range softmax(logs) {
		sum += w * float64(n)
		of[m] = int(math.Floor(sum+0.5)) - left
		left += of[m]
	}
	out := make([][][]float64, len(of))
	// No task fails, and none is long.
	_ = parallel.For(context.Background(), len(of), func(m int) {
		if of[m] == 0 {
			return
		}
		c := a.fits[m].chain(rand.New(rand.NewPCG(drawSeed, uint64(m))))
		for range of[m] {
			for range thin {
				c.next()
			}
			out[m] = append(out[m], c.theta)
		}
	})
	return slices.Concat(out...)
}

// imagine returns the draws of the prior that have the kernel of a length, n in all.
func (f *fit) imagine(c kernel, l, n int) (list [][]float64) {
	k := len(f.prior)
	r, none := rand.New(rand.NewPCG(drawSeed, uint64(l)<<32)), make([]float64, k)
	for d := l; d < n; d += len(kernels) {
		tau := roughnesses[d/len(kernels)%len(roughnesses)]
		list = append(list, f.move(none, c.normal(r, tau)).theta)
	}
	return list
}

// chain draws from the posterior of a model. Laplace's approximation is a normal law around the mode; what it leaves
// out is a factor, and elliptical slice sampling (Murray, Adams and MacKay, 2010) draws from the product. It needs no
// setting, and moves at every draw.
type chain struct {
	*fit
	random *rand.Rand
	off, t []float64 // of f from the mode, and S off
	theta  []float64
	factor float64 // its logarithm
}

// chain begins one at the mode.
func (f *fit) chain(r *rand.Rand) *chain {
	c := &chain{fit: f, random: r, off: make([]float64, len(f.prior)), t: make([]float64, len(f.prior))}
	c.theta, c.factor = c.weigh(c.off, c.t)
	for range burn {
		c.next()
	}
	return c
}

// weigh returns the map at a distance from the mode, and the logarithm of the posterior over the normal law.
func (c *chain) weigh(off, t []float64) (theta []float64, factor float64) {
	logs := slices.Clone(c.at.f)
	add(1, off, logs)
	p := c.move(make([]float64, len(off)), logs)
	return p.theta, p.value - dot(c.at.a, off) + dot(off, t)/2
}

// next moves.
func (c *chain) next() {
	off := c.normal(c.random)
	t := c.informed(off)
	least := c.factor - c.random.ExpFloat64()
	angle := 2 * math.Pi * c.random.Float64()
	low, high := angle-2*math.Pi, angle
	for range shrinks {
		sin, cos := math.Sincos(angle)
		x, y := between(cos, c.off, sin, off), between(cos, c.t, sin, t)
		if theta, factor := c.weigh(x, y); factor >= least {
			c.off, c.t, c.theta, c.factor = x, y, theta, factor
			return
		}
		if angle < 0 {
			low = angle
		} else {
			high = angle
		}
		angle = low + c.random.Float64()*(high-low)
	}
}

// between returns a x + b y.
func between(a float64, x []float64, b float64, y []float64) []float64 {
	out := make([]float64, len(x))
	add(a, x, out)
	add(b, y, out)
	return out
}

// normal draws from the normal law of Laplace's approximation, less its mean, but for a constant. Of few outputs, it is
// g - tau^2 K V W^-1 (V' g + e), where g is a draw from the prior and e has unit variance (Matheron's rule).
func (f *fit) normal(r *rand.Rand) []float64 {
	k := len(f.prior)
	if f.v != nil {
		g := f.kernel.normal(r, f.tau)
		w := f.across(g)
		for b := range w {
			w[b] += r.NormFloat64()
		}
		f.less(w, g)
		return g
	}
	z := normals(r, k, 1)
	blasOf.Dtrsv(blas.Lower, blas.Trans, blas.NonUnit, k, f.factor, k, z, 1)
	return z
}

// normal draws from the prior of a roughness over k places, but for a constant.
func (c kernel) normal(r *rand.Rand, tau float64) []float64 {
	k := int(math.Sqrt(float64(len(c.root))))
	z := normals(r, k, tau)
	blasOf.Dtrmv(blas.Lower, blas.NoTrans, blas.NonUnit, k, c.root, k, z, 1)
	return z
}

func normals(r *rand.Rand, n int, deviation float64) []float64 {
	z := make([]float64, n)
	for b := range z {
		z[b] = deviation * r.NormFloat64()
	}
	return z
}
