package wpm

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/policy/private"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/sinkhorn"
	"github.com/wpm-go/wpm/wpmerr"
)

// Project finds the point of the box nearest to mu. mu has length k and finite masses >= 0 with a positive sum, such as
// counts; it is taken as mu / sum mu.
//
// If the context ends first, it returns the best feasible Projection with its valid bounds and an error
// that wraps wpmerr.ErrNotConverged (see Unfinished). Other errors come with the zero Projection: ErrShape and those of
// the solver.
func (m *Mechanism) Project(ctx context.Context, mu []float64) (Projection, error) {
	if err := m.checkLength(mu); err != nil {
		return Projection{}, err
	}
	return m.project(ctx, mu, nil)
}

// ProjectSparse is Project for a distribution on few points: weight[n] is the mass of point support[n]
// (sorted, distinct). It costs len(support) * kv instead of k * kv. Errors: those of Project, and ErrSupport.
func (m *Mechanism) ProjectSparse(ctx context.Context, support []int, weight []float64) (Projection, error) {
	if len(support) != len(weight) {
		return Projection{}, fmt.Errorf("%w: %d points with %d weights", wpmerr.ErrShape, len(support), len(weight))
	}
	if err := m.made(); err != nil {
		return Projection{}, err
	}
	if support == nil {
		support = []int{} // nil would mean a dense source
	}
	return m.project(ctx, weight, support)
}

// Projector returns the projection as the function that policy.Release takes. A projection stopped by its context still
// lies in the box and is returned without an error: it is the best found in the time. With Exact, nothing that depends
// on mu is kept, so a study with many calls should use Project, which is faster.
func (m *Mechanism) Projector() policy.ProjectFunc {
	return func(ctx context.Context, mu []float64) ([]float64, error) {
		if err := m.checkLength(mu); err != nil {
			return nil, err
		}
		a, err := m.solve(ctx, mu, nil, false)
		if err != nil && !Unfinished(err) {
			return nil, err
		}
		return a.q, nil
	}
}

// Unfinished reports whether err says that a projection was stopped early. The Projection returned with such an error
// is feasible.
func Unfinished(err error) bool {
	return errors.Is(err, wpmerr.ErrNotConverged)
}

func (m *Mechanism) checkLength(mu []float64) error {
	if err := m.made(); err != nil {
		return err
	}
	if len(mu) != m.k {
		return fmt.Errorf("%w: mu has %d entries, the cost %d rows", wpmerr.ErrShape, len(mu), m.k)
	}
	return nil
}

func (m *Mechanism) project(ctx context.Context, mass []float64, support []int) (Projection, error) {
	a, err := m.solve(ctx, mass, support, true)
	if err != nil && !Unfinished(err) {
		return Projection{}, err
	}
	return Projection{hidden: &hidden{
		mechanism: m, mass: slices.Clone(mass), support: slices.Clone(support), answer: a, weights: m.box.Round(a.q),
	}}, err
}

// answer is what a solver has found, with its whole result.
type answer struct {
	q                       []float64
	objective, upper, lower float64
	exact                   *mincostflow.Result
	entropic                *sinkhorn.Result
}

// solve runs the solver; many says that others may follow. The answer is empty beside an error other than one of an
// early stop.
func (m *Mechanism) solve(ctx context.Context, mass []float64, support []int, many bool) (answer, error) {
	if m.opt.Solver == Entropic {
		res, err := m.entropic.project(ctx, mass, support)
		if err != nil && !Unfinished(err) {
			return answer{}, err
		}
		if res.Status == sinkhorn.Stalled || res.Status == sinkhorn.RegLimit {
			err = nil // this is the entropic projection, and its gap is what it is
		}
		return answer{q: res.Q, objective: res.Transport, upper: res.Upper, lower: res.Lower, entropic: res}, err
	}
	res, err := m.exact.project(ctx, m.problem(mass, support), many)
	if err != nil && !Unfinished(err) {
		return answer{}, err
	}
	return answer{q: res.Q, objective: res.Objective, upper: res.Upper, lower: res.Lower, exact: res}, err
}

func (m *Mechanism) problem(mass []float64, support []int) projection.Problem {
	return projection.Problem{Cost: m.cost, Source: mass, Support: support, Lo: m.lo, Hi: m.hi}
}

// Projection is the answer for one private distribution μ. It is a function of μ, and as private as μ. However it is
// printed, it shows nothing; only a release may leave the device.
type Projection struct {
	private.Redacted[Projection]
	*hidden
}

// hidden is behind a pointer because fmt cannot call Format on what lies in another type's unexported
// field: there it prints fields, but of a pointer only the address.
type hidden struct {
	mechanism *Mechanism
	mass      []float64
	support   []int
	answer
	weights ldp.Weights
}

// get makes the zero Projection an empty one.
func (p Projection) get() hidden {
	if p.hidden == nil {
		return hidden{}
	}
	return *p.hidden
}

// Q returns the projection in floats: lo <= q <= hi. The caller must not modify it.
func (p Projection) Q() []float64 { return p.get().q }

// Weights returns q rounded into the integer box: the distribution that a release draws from.
func (p Projection) Weights() ldp.Weights { return p.get().weights }

// Objective returns <C, P> of the plan found: W_p^p(q, μ) up to rounding with Exact, and the cost of the entropic
// plan with Entropic.
func (p Projection) Objective() float64 { return p.get().objective }

// Upper returns a proved upper bound on W_p^p(q, μ).
func (p Projection) Upper() float64 { return p.get().upper }

// Lower returns a proved lower bound on the smallest W_p^p(ν, μ) over the box.
func (p Projection) Lower() float64 { return p.get().lower }

// Certificate makes the certificate of Upper and Lower, by one exact verification. The certificate contains μ, and is
// as private as μ.
//
// Errors: ErrMass for the zero Projection; those of certificate.NewProjection and certificate.NewEntropic, ErrNotConverged
// among them if ctx ends.
func (p Projection) Certificate(ctx context.Context) (certificate.Certificate, error) {
	if p.hidden == nil {
		return certificate.Certificate{}, fmt.Errorf("%w: the projection is empty", wpmerr.ErrMass)
	}
	problem := p.mechanism.problem(p.mass, p.support)
	if r := p.entropic; r != nil {
		return certificate.NewEntropic(ctx, sinkhorn.Problem{Problem: problem, Reg: r.Reg}, *r)
	}
	return certificate.NewProjection(ctx, problem, *p.exact)
}
