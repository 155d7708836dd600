package codebook

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/sphere"
)

// Config is the content of a policy to be made by New. All of it is public and must not depend on private data.
type Config struct {
	Dim     int         // d: the sphere S^d, vectors of d+1 coordinates
	P       float64     // cost |x-y|^p
	Epsilon ldp.Epsilon // privacy of one release
	Points  int         // N, number of candidates; 0: 1024
	High    int         // K, how many are high for one point; 0: S N rounded, at least 1, S the optimal cap's share
	Bits    int         // B: probabilities are multiples of 2^-B; 0: 62
	Atoms   int         // the most atoms of a client, which bounds the work; 0: 64, less if Points or Dim is large
	// Seed fixes the candidates for all releases. With the zero Seed, the default, each release draws its own. With one
	// list for all clients, every report has the error of this list, which biases means over any number of users.
	Seed Seed

	Provenance policy.Provenance // required. Geometry: of the embedding; base measure: of K and eps
	Metadata   map[string]string // free pairs of text, as in a policy.Config
}

// Seed determines the candidates. It must not depend on private data.
type Seed [32]byte

// Limits of a Config.
const (
	MaxPoints = 1 << 20
	MaxAtoms  = 1 << 9
	maxCoords = 1 << 26   // Points (Dim+1): what a release draws
	maxTerms  = 1<<31 - 1 // Points (Dim+1) Atoms: what it multiplies
	maxCosts  = 1 << 20   // Points Atoms: half of what it keeps for the candidates, in float64s
	maxMany   = 1 << 15   // Points if Atoms is above 1: the time of an assignment grows as their square
	maxVector = 1 << 24   // Atoms (Dim+1): half of what it keeps for the vectors, in float64s
)

// resolve fills in the defaults that need no solver.
func (c Config) resolve() Config {
	def := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	def(&c.Points, 1024)
	def(&c.Bits, 62)
	n, coords := max(c.Points, 1), max(c.Dim, 0)+1
	if n > maxMany {
		def(&c.Atoms, 1)
	}
	def(&c.Atoms, max(1, min(64, maxCosts/n, maxTerms/n/coords, maxVector/coords)))
	return c
}

// check returns the optimum that c approaches. High = 0 is accepted.
func (c Config) check() (sphere.Measure, error) {
	for _, v := range []struct {
		what      string
		n, lo, hi int
	}{
		{"Dim", c.Dim, 1, sphere.MaxDimension}, {"Points", c.Points, 2, MaxPoints},
		{"Bits", c.Bits, 1, 62}, {"Atoms", c.Atoms, 1, MaxAtoms},
	} {
		if v.n < v.lo || v.n > v.hi {
			return sphere.Measure{}, fmt.Errorf("%w: %s is %d, want %d to %d", ErrConfig, v.what, v.n, v.lo, v.hi)
		}
	}
	if c.High < 0 || c.High >= c.Points {
		return sphere.Measure{}, fmt.Errorf("%w: High is %d, want 1 to %d, or 0", ErrConfig, c.High, c.Points-1)
	}
	n, coords, atoms := c.Points, c.Dim+1, c.Atoms
	if n > maxCoords/coords || n > maxTerms/coords/atoms || n > maxCosts/atoms || coords > maxVector/atoms ||
		atoms > 1 && n > maxMany {
		return sphere.Measure{}, fmt.Errorf("%w: %d points in %d coordinates, %d atoms: too much for one release",
			ErrConfig, c.Points, c.Dim+1, c.Atoms)
	}
	if c.Epsilon.IsZero() {
		return sphere.Measure{}, fmt.Errorf("%w: zero Epsilon", ErrConfig)
	}
	m, err := sphere.Solve(c.Dim, c.P, c.Epsilon.Float64())
	if err != nil {
		return m, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	return m, nil
}

// A Codebook is a published mechanism, a policy of its own kind. It is made by New or Decode, does not change, and may
// be used concurrently; the nil and the zero Codebook are refused everywhere.
type Codebook struct {
	cfg      Config
	measure  sphere.Measure
	box      ldp.Polytope
	lo, hi   []float64
	fallback ldp.Weights
	text     []byte // the file
	id       [sha256.Size]byte
}

// New designs the mechanism. Errors: ErrConfig, which may also wrap errors of sphere, ldp and policy.
func New(c Config) (*Codebook, error) {
	c = c.resolve()
	m, err := c.check()
	if err != nil {
		return nil, err
	}
	if c.High == 0 {
		c.High = max(int(math.Round(m.S*float64(c.Points))), 1) // S < 3/4, so never all
	}
	lo, hi, err := c.levels()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	return build(c, lo, hi)
}

// levels returns the bounds that all columns share.
func (c Config) levels() (lo, hi uint64, err error) {
	// K high and N-K low entries of sum 1: K h + (N-K) l = 1 with h = e^eps l, m_j = e^(eps/2) l.
	n, k, eps := float64(c.Points), float64(c.High), c.Epsilon.Float64()
	each := 1 / (k*math.Exp(eps/2) + (n-k)*math.Exp(-eps/2))
	box, err := ldp.NewPolytope(c.Epsilon, slices.Repeat([]float64{each}, c.Points), c.Bits)
	if err != nil {
		return 0, 0, err
	}
	j := c.Points - 1 // where sums do not come out even, ldp raises the first columns
	return box.Lo(j), box.Hi(j), nil
}

// build makes the mechanism of a complete Config and a box, which ldp decides.
func build(c Config, lo, hi uint64) (*Codebook, error) {
	m, err := c.check()
	if err == nil && c.High == 0 {
		err = fmt.Errorf("%w: High is 0, want 1 to %d", ErrConfig, c.Points-1)
	}
	if err != nil {
		return nil, err
	}
	all := func(v uint64) []uint64 { return slices.Repeat([]uint64{v}, c.Points) }
	box, err := ldp.NewPolytopeFromBounds(c.Epsilon, all(lo), all(hi), c.Bits)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	c.Metadata = maps.Clone(c.Metadata)
	b := &Codebook{cfg: c, measure: m, box: *box}
	b.lo, b.hi = box.Bounds()
	b.fallback = box.Round(slices.Repeat([]float64{1 / float64(c.Points)}, c.Points))
	if b.text, err = b.encode(); err != nil {
		return nil, err
	}
	b.id = sha256.Sum256(b.text)
	return b, nil
}

// isZero reports whether c was not made by New or Decode.
func (c *Codebook) isZero() bool { return c == nil || c.text == nil }

// Config returns the configuration with its defaults filled in.
func (c *Codebook) Config() Config {
	if c == nil {
		return Config{}
	}
	cfg := c.cfg
	cfg.Metadata = maps.Clone(cfg.Metadata)
	return cfg
}

// ID returns the SHA-256 of the policy's file, all zeros for the zero Codebook.
func (c *Codebook) ID() [sha256.Size]byte {
	if c == nil {
		return [sha256.Size]byte{}
	}
	return c.id
}

// Epsilon returns the privacy level of one release.
func (c *Codebook) Epsilon() ldp.Epsilon { return c.Config().Epsilon }

// Provenance returns the publisher's statement about where geometry and base measure come from.
func (c *Codebook) Provenance() policy.Provenance { return c.Config().Provenance }

// Metadata returns the free pairs of text, in a map of its own.
func (c *Codebook) Metadata() map[string]string { return c.Config().Metadata }

// Fresh reports whether every release draws a seed of its own.
func (c *Codebook) Fresh() bool { return c.Config().Seed == Seed{} }

// String names the policy by sizes, epsilon and the start of its ID.
func (c *Codebook) String() string {
	if c.isZero() {
		return "codebook(zero)"
	}
	return fmt.Sprintf("codebook %s: sphere of dimension %d, p = %v, %d points, %d high, epsilon %v, %d bits",
		hex.EncodeToString(c.id[:6]), c.cfg.Dim, c.cfg.P, c.cfg.Points, c.cfg.High, c.cfg.Epsilon, c.cfg.Bits)
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
