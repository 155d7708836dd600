package codebook

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"slices"

	"github.com/wpm-go/wpm/ldp"
)

// Release draws a report for the point x, a vector of d+1 coordinates of which the direction counts. Randomness is crypto/rand's.
//
// It costs Config.Epsilon, each time. Errors: ErrZero and ErrRandom; neither depends on x. A vector that is no point (see
// CheckPoint) gets the fallback law.
func (c *Codebook) Release(x []float64) (Report, error) {
	return c.release(rand.Reader, [][]float64{x}, []float64{1})
}

// ReleaseAtoms draws a report for the distribution with the given atoms and weights. As Release: total but for ErrZero and
// ErrRandom; what CheckAtoms refuses gets the fallback law.
func (c *Codebook) ReleaseAtoms(atoms [][]float64, weights []float64) (Report, error) {
	return c.release(rand.Reader, atoms, weights)
}

// Simulate is Release with the random bytes from r: for tests, demonstrations and experiments. With a seeded generator it keeps nothing
// private.
func (c *Codebook) Simulate(r io.Reader, x []float64) (Report, error) {
	return c.release(r, [][]float64{x}, []float64{1})
}

// SimulateAtoms is ReleaseAtoms with the random bytes from r; see Simulate.
func (c *Codebook) SimulateAtoms(r io.Reader, atoms [][]float64, weights []float64) (Report, error) {
	return c.release(r, atoms, weights)
}

// release reads all its random bytes, always the same number, before it looks at the data: 32 for the seed unless that is fixed, and
// ceil(B/8) that ldp draws with. So a failure, too, has nothing to do with the data.
func (c *Codebook) release(random io.Reader, atoms [][]float64, weights []float64) (Report, error) {
	if c == nil || c.cfg.Points == 0 {
		return Report{}, ErrZero
	}
	if random == nil {
		return Report{}, fmt.Errorf("%w: nil reader", ErrRandom)
	}
	seed := c.cfg.Seed
	fresh := seed == Seed{}
	words := make([]byte, (c.cfg.Bits+7)/8)
	if fresh {
		if _, err := io.ReadFull(random, seed[:]); err != nil {
			return Report{}, fmt.Errorf("%w: %w", ErrRandom, err)
		}
	}
	if _, err := io.ReadFull(random, words); err != nil {
		return Report{}, fmt.Errorf("%w: %w", ErrRandom, err)
	}
	j, err := c.Law(seed, atoms, weights).Sample(bytes.NewReader(words))
	if err != nil { // not possible: the law is a point of the box and the bytes are there
		return Report{}, fmt.Errorf("%w: %w", ErrRandom, err)
	}
	return Report{seed: seed, index: uint32(j)}, nil
}

// Law returns the point of the box that a client with this distribution draws from when the seed is this: for audits, tests and
// experiments. It is as private as the data. It is total: what CheckAtoms refuses gives the fallback; a zero Codebook
// gives the zero Weights.
//
// One atom: the K nearest candidates high, the first of equals. Several: see assign.
func (c *Codebook) Law(seed Seed, atoms [][]float64, weights []float64) (w ldp.Weights) {
	if c == nil || c.cfg.Points == 0 {
		return ldp.Weights{}
	}
	// A second lock: nothing below is known to panic, and if something did, it would tell something about the data.
	defer func() {
		if recover() != nil {
			w = c.fallback
		}
	}()
	points, mu, err := c.parse(atoms, weights)
	if err != nil {
		return c.fallback
	}
	cost := c.costs(seed, points)
	if len(mu) == 1 {
		return c.box.Round(c.nearest(cost))
	}
	return c.box.Round(newAssignment(cost, mu, c.lo, c.hi).solve())
}

// nearest marks the K candidates of least cost high and all others low.
func (c *Codebook) nearest(cost []float64) []float64 {
	order := make([]int32, len(cost))
	for j := range order {
		order[j] = int32(j)
	}
	slices.SortFunc(order, func(i, j int32) int {
		switch {
		case cost[i] < cost[j]:
			return -1
		case cost[i] > cost[j]:
			return 1
		}
		return int(i - j)
	})
	q := slices.Clone(c.lo)
	for _, j := range order[:c.cfg.High] {
		q[j] = c.hi[j]
	}
	return q
}
