package sphere

import (
	"errors"
	"fmt"

	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/sphere"
)

// ErrConfig reports a Config field out of range.
var ErrConfig = errors.New("experiments/sphere: bad configuration")

// ErrCertificate reports laws that are more than e^eps apart: a bug, not bad input.
var ErrCertificate = errors.New("experiments/sphere: certificate does not hold")

// Config describes a run. Its zero value is the study.
type Config struct {
	Out string `json:"out"` // folder to write the report to; "": nothing is written

	Dims []int `json:"dims"` // d of the mean estimation; nil: 3, 63, 1023, 4095
	// eps of the mean estimation, ascending; nil: 0.5, 1, 2, 3, 4, 5, 6, 8, 10, 12, 16
	Epsilons []float64 `json:"epsilons"`

	AtomDims     []int    `json:"atom_dims"`     // d of the distributions; nil: 2, 63
	Atoms        []int    `json:"atoms"`         // n; nil: 5, 20
	AtomEpsilons []string `json:"atom_epsilons"` // exact decimals or fractions; nil: 1, 4, 8
	// candidates: this many or 40/S, S the share of the optimal cap, if that is more; 0: 1024
	Points    int    `json:"points"`
	Instances int    `json:"instances"` // random distributions for each row; 0: 5
	Seed      uint64 `json:"seed"`

	// Progress, if not nil, is told how much is done. Calls never overlap.
	Progress func(done, total int, what string) `json:"-"`
}

// Limits of a Config: what a study does in reasonable time.
const (
	maxPoints    = 1 << 14
	maxAtoms     = 256
	maxAtomDim   = 1 << 12
	maxInstances = 1000
	maxList      = 64
	// maxStudyEpsilon is where log((1-S)/S) is still taken from an incomplete beta function without underflow, and far
	// beyond use.
	maxStudyEpsilon = 64
	maxStudyDim     = 1_000_000
)

func (c Config) resolve() (Config, []ldp.Epsilon, error) {
	if c.Dims == nil {
		c.Dims = []int{3, 63, 1023, 4095}
	}
	if c.Epsilons == nil {
		c.Epsilons = []float64{0.5, 1, 2, 3, 4, 5, 6, 8, 10, 12, 16}
	}
	if c.AtomDims == nil {
		c.AtomDims = []int{2, 63}
	}
	if c.Atoms == nil {
		c.Atoms = []int{5, 20}
	}
	if c.AtomEpsilons == nil {
		c.AtomEpsilons = []string{"1", "4", "8"}
	}
	if c.Points == 0 {
		c.Points = 1024
	}
	if c.Instances == 0 {
		c.Instances = 5
	}
	for _, v := range []struct {
		what   string
		n      []int
		lo, hi int
	}{
		{"Dims", c.Dims, 2, maxStudyDim}, {"AtomDims", c.AtomDims, 1, maxAtomDim}, {"Atoms", c.Atoms, 2, maxAtoms},
		{"Points", []int{c.Points}, 2, maxPoints}, {"Instances", []int{c.Instances}, 1, maxInstances},
		{"number of lists", []int{len(c.Dims), len(c.Epsilons), len(c.AtomDims), len(c.Atoms), len(c.AtomEpsilons)}, 1,
			maxList},
	} {
		for _, n := range v.n {
			if n < v.lo || n > v.hi {
				return c, nil, fmt.Errorf("%w: %s: %d, want %d to %d", ErrConfig, v.what, n, v.lo, v.hi)
			}
		}
	}
	for i, e := range c.Epsilons {
		if !(e >= 0.01 && e <= maxStudyEpsilon) || i > 0 && !(e > c.Epsilons[i-1]) {
			return c, nil, fmt.Errorf("%w: Epsilons[%d] = %v, want ascending from 0.01 to %d", ErrConfig, i, e, maxStudyEpsilon)
		}
	}
	eps := make([]ldp.Epsilon, len(c.AtomEpsilons))
	texts := make([]string, len(eps))
	for i, s := range c.AtomEpsilons {
		e, err := ldp.ParseEpsilon(s)
		if err != nil {
			return c, nil, fmt.Errorf("%w: AtomEpsilons[%d]: %w", ErrConfig, i, err)
		}
		if e.Float64() < sphere.MinEpsilon || i > 0 && e.Cmp(eps[i-1]) <= 0 {
			return c, nil, fmt.Errorf("%w: AtomEpsilons[%d] = %s, want ascending and at least %v", ErrConfig, i, s,
				sphere.MinEpsilon)
		}
		eps[i], texts[i] = e, e.String()
	}
	c.AtomEpsilons = texts
	return c, eps, nil
}
