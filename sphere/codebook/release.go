package codebook

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"slices"

	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy/ledger"
	"github.com/wpm-go/wpm/wpmerr"
)

// Release draws a report for a client with the given private data (see "Private data" in the package comment), and pays
// for it from the ledger. It is the only path for private vectors.
//
// The debit is in the ledger before the seed and the random word are drawn from crypto/rand, and both are drawn before
// the data are read. Data that cannot be read give the public fallback law, uniform on the candidates. A second release
// in the ledger's epoch returns the first report again. The end of ctx before the debit gives ctx.Err(); it has no
// effect later.
//
// Errors: ErrZero, ledger.ErrUnusable, ctx.Err(), those of the ledger, and ErrRandom. They do not depend on the private
// data, and come with the zero Report. After ErrRandom, or if the ledger fails after the debit, the debit stands.
func Release(ctx context.Context, c *Codebook, l ledger.Ledger, private []byte) (Report, error) {
	return release(ctx, c, l, private, rand.Reader)
}

// release is Release with the random source as an argument, for this package's tests.
func release(ctx context.Context, c *Codebook, l ledger.Ledger, private []byte, random io.Reader) (r Report,
	err error) {
	if c.isZero() {
		return Report{}, ErrZero
	}
	if err := wpmerr.Context(ctx).Err(); err != nil {
		return Report{}, err
	}
	c.rehearse()
	m := c.newMemory(c.cfg.Atoms)
	draw := func() ([]byte, error) {
		r, err := c.draw(m, random, func() ([][]float64, []float64, error) { return c.parsePrivate(m, private) })
		if err != nil {
			return nil, err
		}
		return r.MarshalBinary()
	}
	b, err := ledger.Account(l, ledger.Debit{Policy: c.id, Epsilon: c.cfg.Epsilon},
		func() (ledger.Draw, error) { return draw, nil })
	if err != nil {
		return Report{}, err
	}
	err = r.UnmarshalBinary(b)
	return r, err
}

// Simulate draws a report for the point x with the random bytes from r: for tests, demonstrations and experiments. It
// is a simulation: no ledger counts it, and with a seeded generator it keeps nothing private. Errors: those of
// SimulateAtoms.
func (c *Codebook) Simulate(r io.Reader, x []float64) (Report, error) {
	return c.SimulateAtoms(r, [][]float64{x}, []float64{1})
}

// SimulateAtoms is Simulate for the distribution with the given atoms and weights. Errors: ErrZero, ErrRandom, and
// those of CheckAtoms.
func (c *Codebook) SimulateAtoms(r io.Reader, atoms [][]float64, weights []float64) (Report, error) {
	if c.isZero() {
		return Report{}, ErrZero
	}
	if r == nil {
		return Report{}, fmt.Errorf("%w: nil reader", ErrRandom)
	}
	return c.draw(c.memoryFor(atoms), r, func() ([][]float64, []float64, error) { return atoms, weights, nil })
}

// rehearse does what a release does for one atom and for several, on a seed that counts for nothing, and rounds a law. So
// before the debit the system has loaded the code of either, the stack has its size, and the heap has room for the law.
func (c *Codebook) rehearse() {
	small, texts := rehearsal(c.cfg.P)
	for _, text := range texts {
		m := small.newMemory(small.cfg.Atoms)
		small.law(m, Seed{}, func() ([][]float64, []float64, error) { return small.parsePrivate(m, []byte(text)) })
	}
	c.box.Round(c.lo)
}

// rehearsal returns four candidates in the plane, and data of no meaning: an atom, three atoms, and what is unusable.
func rehearsal(p float64) (*Codebook, []string) {
	return &Codebook{cfg: Config{Dim: 1, P: p, Points: 4, High: 1, Atoms: 3},
		lo: []float64{0.1, 0.1, 0.1, 0.1}, hi: []float64{0.4, 0.4, 0.4, 0.4},
	}, []string{"1,-0.5,1\n", "5,1,1\n3,-1,1\n2,0,1\n", "-\n"}
}

// A reading returns the atoms and weights of a client. It runs once, after everything is drawn.
type reading func() (atoms [][]float64, weights []float64, err error)

// draw reads all its random bytes, always the same number, before it reads the data: 32 for the seed unless that is
// fixed, and ceil(B/8) that ldp draws with. So a failure, too, has nothing to do with the data.
func (c *Codebook) draw(m *memory, random io.Reader, data reading) (Report, error) {
	seed := c.cfg.Seed
	words := make([]byte, (c.cfg.Bits+7)/8)
	if c.Fresh() {
		if _, err := io.ReadFull(random, seed[:]); err != nil {
			return Report{}, fmt.Errorf("%w: %w", ErrRandom, err)
		}
	}
	if _, err := io.ReadFull(random, words); err != nil {
		return Report{}, fmt.Errorf("%w: %w", ErrRandom, err)
	}
	j, err := c.law(m, seed, data).Sample(bytes.NewReader(words))
	if err != nil { // not possible: the law is a point of the box and the bytes are there
		return Report{}, fmt.Errorf("%w: %w", ErrRandom, err)
	}
	return Report{id: c.id, seed: seed, index: uint32(j)}, nil
}

// Law returns the point of the box that a client with this distribution draws from when the seed is this: for audits,
// tests and experiments. The law is as private as the data. The method is total: data that CheckAtoms refuses give the
// fallback, and a zero Codebook gives the zero Weights.
//
// For one atom, the K nearest candidates (the first among equals) are high. For several atoms, see assign.
func (c *Codebook) Law(seed Seed, atoms [][]float64, weights []float64) ldp.Weights {
	if c.isZero() {
		return ldp.Weights{}
	}
	return c.law(c.memoryFor(atoms), seed, func() ([][]float64, []float64, error) { return atoms, weights, nil })
}

// law is Law for data that are read within: it is total, whatever data does. Data that cannot be read cost the work of
// one atom: what is made for them has no part in the answer.
func (c *Codebook) law(m *memory, seed Seed, data reading) (w ldp.Weights) {
	// A second lock: nothing below is known to panic, and if something did, it would tell something about the data.
	defer func() {
		if recover() != nil {
			w = c.fallback
		}
	}()
	points, mu, err := c.read(m, data)
	if err != nil {
		points, mu = c.anyPoint(m)
	}
	cost := c.costs(m, seed, points)
	var q []float64
	if len(mu) == 1 {
		q = c.nearest(m, cost)
	} else {
		q = newAssignment(m, cost, mu, c.lo, c.hi).solve()
	}
	if w = c.box.Round(q); err != nil {
		return c.fallback
	}
	return w
}

// read returns the atoms as unit vectors, row-major, and their weights.
func (c *Codebook) read(m *memory, data reading) (points, mu []float64, err error) {
	atoms, weights, err := data()
	if err != nil {
		return nil, nil, err
	}
	return c.parse(m, atoms, weights)
}

// anyPoint returns a distribution of one atom, whatever has been read into m.
func (c *Codebook) anyPoint(m *memory) (points, mu []float64) {
	m.used = 0
	points, mu = m.float64s(c.cfg.Dim+1), m.float64s(1)
	clear(points)
	points[0], mu[0] = 1, 1
	return points, mu
}

// nearest marks the K candidates of least cost high and all others low.
func (c *Codebook) nearest(m *memory, cost []float64) []float64 {
	order := m.indices[:len(cost)]
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
	q := m.float64s(len(cost))
	copy(q, c.lo)
	for _, j := range order[:c.cfg.High] {
		q[j] = c.hi[j]
	}
	return q
}
