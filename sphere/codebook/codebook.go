package codebook

import (
	"fmt"
	"math"

	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/sphere"
)

// Config is the public description of a mechanism. Everybody who releases or reads reports must have the same.
type Config struct {
	Dim     int         // d: the sphere S^d, vectors of d+1 coordinates
	P       float64     // cost |x-y|^p
	Epsilon ldp.Epsilon // privacy of one release
	Points  int         // N, number of candidates; 0: 1024
	High    int         // K, how many are high for one point; 0: S N rounded, S the share of the optimal cap, at least 1
	Bits    int         // B: probabilities are multiples of 2^-B; 0: 62
	Atoms   int         // the most atoms that a client may have; 0: 64, less if Points is above 2^18. It bounds the work; more get the fallback
	// Seed fixes the candidates for all releases. Zero: each release draws its own, which averages out the luck of one list.
	Seed Seed
}

// Seed determines the candidates. It must not depend on private data.
type Seed [32]byte

// Limits of a Config.
const (
	MaxPoints = 1 << 20
	MaxAtoms  = 1 << 9
	maxCoords = 1 << 28 // Points (Dim+1): what one release computes
	maxCosts  = 1 << 24 // Points Atoms: half of what one release keeps, in float64s
)

func (c Config) resolve() (Config, sphere.Measure, error) {
	def := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	def(&c.Points, 1024)
	def(&c.Bits, 62)
	def(&c.Atoms, min(64, maxCosts/max(c.Points, 1)))
	for _, v := range []struct {
		what      string
		n, lo, hi int
	}{
		{"Dim", c.Dim, 1, sphere.MaxDimension}, {"Points", c.Points, 2, MaxPoints}, {"Bits", c.Bits, 1, 62}, {"Atoms", c.Atoms, 1, MaxAtoms},
	} {
		if v.n < v.lo || v.n > v.hi {
			return c, sphere.Measure{}, fmt.Errorf("%w: %s is %d, want %d to %d", ErrConfig, v.what, v.n, v.lo, v.hi)
		}
	}
	if c.High < 0 || c.High >= c.Points {
		return c, sphere.Measure{}, fmt.Errorf("%w: High is %d, want 1 to %d, or 0", ErrConfig, c.High, c.Points-1)
	}
	if c.Points > maxCoords/(c.Dim+1) || c.Points > maxCosts/c.Atoms {
		return c, sphere.Measure{}, fmt.Errorf("%w: %d points in %d coordinates, %d atoms: too much for one release", ErrConfig, c.Points, c.Dim+1, c.Atoms)
	}
	if c.Epsilon.IsZero() {
		return c, sphere.Measure{}, fmt.Errorf("%w: zero Epsilon", ErrConfig)
	}
	m, err := sphere.Solve(c.Dim, c.P, c.Epsilon.Float64())
	if err != nil {
		return c, m, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	if c.High == 0 {
		c.High = min(max(int(math.Round(m.S*float64(c.Points))), 1), c.Points-1)
	}
	return c, m, nil
}

// A Codebook is a mechanism. It does not change and may be used concurrently.
type Codebook struct {
	cfg      Config
	measure  sphere.Measure
	box      ldp.Polytope
	lo, hi   []float64
	fallback ldp.Weights
}

// New designs the mechanism. Errors: ErrConfig.
func New(c Config) (*Codebook, error) {
	c, m, err := c.resolve()
	if err != nil {
		return nil, err
	}
	// K high and N-K low entries of sum 1: K h + (N-K) l = 1 with h = e^eps l, m_j = e^(eps/2) l.
	n, k, eps := float64(c.Points), float64(c.High), c.Epsilon.Float64()
	each := 1 / (k*math.Exp(eps/2) + (n-k)*math.Exp(-eps/2))
	base := make([]float64, c.Points)
	for j := range base {
		base[j] = each
	}
	box, err := ldp.NewPolytope(c.Epsilon, base, c.Bits)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	b := &Codebook{cfg: c, measure: m, box: *box}
	b.lo, b.hi = box.Bounds()
	uniform := make([]float64, c.Points)
	for j := range uniform {
		uniform[j] = 1 / n
	}
	b.fallback = box.Round(uniform)
	return b, nil
}

// Config returns the configuration with its defaults filled in.
func (c *Codebook) Config() Config {
	if c == nil {
		return Config{}
	}
	return c.cfg
}

// Measure returns the continuous optimum, which the mechanism approaches as Points grows.
func (c *Codebook) Measure() sphere.Measure {
	if c == nil {
		return sphere.Measure{}
	}
	return c.measure
}

// Box returns a copy of the box that every release draws from, whatever the data and the seed.
func (c *Codebook) Box() *ldp.Polytope {
	if c == nil {
		return nil
	}
	box := c.box
	return &box
}

// Fallback returns the law for data of the wrong form: uniform on the candidates, a point of the box. It is public.
func (c *Codebook) Fallback() ldp.Weights {
	if c == nil {
		return ldp.Weights{}
	}
	return c.fallback
}
