package policy

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy/ledger"
	"github.com/wpm-go/wpm/policy/private"
)

// ProjectFunc projects the distribution mu (length k) into the policy's box: it returns kv floats that are
// near it. It should return when ctx ends, with the best it has by then.
//
// Its answer is not trusted: no answer, error, panic or delay of a ProjectFunc can move a release out of the box. But
// it runs in the process of the release, and Go cannot stop it from ending this process after the debit, for a reason
// that depends on mu. Then the absence of a report reveals something about mu, and the guarantee does not hold. So a
// ProjectFunc must guarantee, for every mu:
//
//   - no panic on a goroutine that it starts, because no other goroutine can recover from it;
//   - no os.Exit and no log.Fatal, no concurrent writes to a map, no other fatal error of the runtime;
//   - a stack and a memory within the limits of the process;
//   - that it neither keeps nor prints mu, which is private.
//
// The projectors of this module share work only in ways that hand a panic to the caller. For a solver that cannot
// promise all of this, use a Projector that runs it in a process of its own, as the command wpm release does.
type ProjectFunc func(ctx context.Context, mu []float64) ([]float64, error)

// Start is for a function that needs nothing but this process. A nil function gives ErrProject.
func (f ProjectFunc) Start(context.Context) (ProjectFunc, func(), error) {
	if f == nil {
		return nil, nil, ErrProject
	}
	return f, func() {}, nil
}

// Projector makes ready for the projection of one release. Every ProjectFunc is one.
type Projector interface {
	// Start is called before the debit, and knows nothing private. It starts all that the projection needs: processes,
	// pipes, threads. Its error refuses the release, and nothing is paid. Release calls project once, for unusable data
	// with a distribution of no meaning, and then end, which ends what Start began and waits for it. It calls end alone
	// if the debit fails.
	Start(ctx context.Context) (project ProjectFunc, end func(), err error)
}

// Release draws one output for a client with the given private data (package private has the format), and
// pays for it from the ledger.
//
// In mixture mode, by is not used. In projection mode it is started before the debit, unless the ledger has the report
// already. Its function is called in its own goroutine with a context that ends after 3/4 of the policy's work limit,
// and is abandoned when the work limit is over. The draw is then from the first of these rows that exists; all of them
// are in the box:
//
//  1. what the function returned, rounded by ldp, if it is a distribution (kv finite entries >= 0, sum 1);
//  2. the mixture, if the policy has rows or a geometry;
//  3. the fallback row.
//
// Private data that do not parse lead to row 3, after the same steps as for other data of the same length: in
// projection mode, the solver gets a distribution of no meaning. Nothing reads the private bytes before the debit.
//
// The end of ctx before the debit gives ctx.Err(). After the debit it only ends the solver. Release still returns its
// report, because an error would reveal how long the solver took.
//
// Errors: ErrPolicy, ErrProject, ctx.Err(), those of by.Start and of the ledger (ledger.ErrBudget, ledger.ErrUnusable),
// and ErrRandom. They do not depend on the private data, and come with the zero Report. After ErrRandom, or if
// the ledger fails after the debit, the debit stands.
func Release(ctx context.Context, p Policy, l ledger.Ledger, data []byte, by Projector) (Report, error) {
	return release(ctx, p, l, data, by, rand.Reader)
}

// endless returns ctx, or a context that never ends for nil.
func endless(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}

// release is Release with the random source as an argument, for this package's tests.
func release(ctx context.Context, p Policy, l ledger.Ledger, data []byte, by Projector, random io.Reader) (Report, error) {
	c := p.c
	if c == nil {
		return Report{}, ErrPolicy
	}
	if f, ok := by.(ProjectFunc); c.Mode == Projection && (by == nil || ok && f == nil) {
		return Report{}, ErrProject
	}
	ctx = endless(ctx)
	if err := ctx.Err(); err != nil {
		return Report{}, err
	}
	var project ProjectFunc
	end := func() {}
	defer func() { end() }()
	b, err := ledger.Account(l, ledger.Debit{Policy: c.id, Epsilon: c.Polytope.Epsilon(), Schedule: c.Schedule}, func() (ledger.Draw, error) {
		if c.Mode == Projection {
			f, done, err := by.Start(ctx)
			if err != nil {
				return nil, err
			}
			project, end = f, done
		}
		return func() ([]byte, error) {
			r, err := c.draw(ctx, data, project, random)
			if err != nil {
				return nil, err
			}
			return r.MarshalBinary()
		}, nil
	})
	if err != nil {
		return Report{}, err
	}
	var r Report
	err = r.UnmarshalBinary(b)
	return r, err
}

// draw reads the random words before it looks at the private data, always the same number: 8 bytes that
// choose an input in the mixture, and the ceil(B/8) bytes that ldp samples with. So their failure, too,
// has nothing to do with the data.
func (c *content) draw(ctx context.Context, data []byte, project ProjectFunc, random io.Reader) (Report, error) {
	words := make([]byte, 8+(c.Polytope.Bits()+7)/8)
	if _, err := io.ReadFull(random, words); err != nil {
		return Report{}, fmt.Errorf("%w: %w", ErrRandom, err)
	}
	w := c.law(ctx, data, project, binary.LittleEndian.Uint64(words))
	j, err := w.Sample(bytes.NewReader(words[8:]))
	if err != nil { // not possible: w is a point of the box and the bytes are there
		return Report{}, fmt.Errorf("%w: %w", ErrRandom, err)
	}
	return Report{id: c.id, index: uint32(j)}, nil
}

// law returns the point of the box to draw from. It is total; the recover is a second lock, for a panic in
// this package would otherwise tell something about the data.
func (c *content) law(ctx context.Context, data []byte, project ProjectFunc, word uint64) (w ldp.Weights) {
	defer func() {
		if recover() != nil {
			w = c.fallback
		}
	}()
	d, usable, _ := private.Read(c.labels(), data)
	if c.Mode == Mixture {
		return c.mixture(d, usable, word)
	}
	mu := make([]float64, c.Inputs)
	if mu[0] = 1; usable == 1 {
		copy(mu, d.Mu())
	}
	q := attempt(ctx, c.WorkLimit, project, mu, c.Polytope.Len())
	switch {
	case isDistribution(q, c.Polytope.Len()):
		w = c.Polytope.Round(q)
	case c.Rows != nil || c.Geometry != nil:
		w = c.mixture(d, usable, word)
	default:
		w = c.fallback
	}
	if usable == 0 {
		return c.fallback
	}
	return w
}

// mixture returns the row of the input that word draws, or the fallback row if usable is 0 and not 1, by the same work.
func (c *content) mixture(d private.Distribution, usable int, word uint64) ldp.Weights {
	var w ldp.Weights
	var err error
	switch i := d.Pick(word); {
	case c.Codes != nil:
		w, err = c.spread(i, usable)
	case c.Geometry != nil:
		w, err = c.fill(i, usable)
	default:
		w, err = secretRow(c.Polytope, c.Rows, c.Fallback, subtle.ConstantTimeSelect(usable, i, len(c.Rows)))
	}
	if err != nil { // not possible: build checked the rows, and a fill is one or the fallback
		return c.fallback
	}
	return w
}

// attempt calls project under the work limit. It returns nil if project fails, panics, ends its goroutine
// or is late, and otherwise a copy that project can no longer reach.
func attempt(ctx context.Context, limit time.Duration, project ProjectFunc, mu []float64, kv int) []float64 {
	over, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	soft, cancelSoft := context.WithTimeout(over, limit/4*3)
	answer := make(chan []float64, 1) // so that an abandoned goroutine can end
	go func() {
		defer cancelSoft()
		var q []float64
		defer func() { // also runs when project calls runtime.Goexit
			if recover() != nil {
				q = nil
			}
			answer <- q
		}()
		if got, err := project(soft, mu); err == nil && len(got) == kv {
			q = slices.Clone(got)
		}
	}()
	select {
	case q := <-answer:
		return q
	case <-over.Done():
		return nil
	}
}

// massSlack is how far from 1 the sum of a solver's answer may be. Solvers owe kv 2^-52, at most 2^-32;
// rounding makes up for any slack at a cost in utility of no more than its size times R.
const massSlack = 0x1p-20

// isDistribution reports whether q is worth rounding. Privacy does not rest on it.
func isDistribution(q []float64, kv int) bool {
	if len(q) != kv {
		return false
	}
	sum := 0.0
	for _, v := range q {
		if !(v >= 0) {
			return false
		}
		sum += v
	}
	return math.Abs(sum-1) <= massSlack // false for NaN and +Inf
}
