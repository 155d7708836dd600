package proptest_test

import (
	"context"
	"errors"
	"fmt"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"io"
	"math"
	"math/big"
	"slices"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/baseline"
	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/hilbert"
	"github.com/wpm-go/wpm/knapsack"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/mirror"
	instance "github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/proptest"
	"github.com/wpm-go/wpm/proptest/design"
	estimators "github.com/wpm-go/wpm/proptest/estimate"
	"github.com/wpm-go/wpm/proptest/privacy"
	"github.com/wpm-go/wpm/proptest/projection"
	"github.com/wpm-go/wpm/sinkhorn"
	"github.com/wpm-go/wpm/sinkhorn/paper"
	"github.com/wpm-go/wpm/wpmerr"
)

// What it takes to run the laws on the packages of this module: a few lines each.

func epsilon(eps *big.Rat) (ldp.Epsilon, error) { return ldp.ParseEpsilon(eps.RatString()) }

func verifyBox(eps *big.Rat, lo, hi []uint64, bits int) error {
	e, err := epsilon(eps)
	if err != nil {
		return err
	}
	_, err = ldp.NewPolytopeFromBounds(e, lo, hi, bits)
	return err
}

// box is *ldp.Polytope with its weights as integers.
type box struct{ *ldp.Polytope }

func (b box) Round(q []float64) []uint64 { return weights(b.Polytope.Round(q)) }

func weights(w ldp.Weights) []uint64 {
	n := make([]uint64, w.Len())
	for j := range n {
		n[j] = w.At(j)
	}
	return n
}

func newBox(eps *big.Rat, m []float64, bits int) (privacy.IntegerBox, error) {
	e, err := epsilon(eps)
	if err != nil {
		return nil, err
	}
	p, err := ldp.NewPolytope(e, m, bits)
	if err != nil {
		return nil, err
	}
	return box{p}, p.Verify()
}

// newSampler draws from the point n of the box that holds nothing else.
func newSampler(n []uint64, bits int) (func(io.Reader) (int, error), error) {
	e, err := ldp.ParseEpsilon("1")
	if err != nil {
		return nil, err
	}
	p, err := ldp.NewPolytopeFromBounds(e, n, n, bits)
	if err != nil {
		return nil, err
	}
	w, err := p.Weights(n)
	return w.Sample, err
}

func newKnapsack(c [][]float64) (design.KnapsackOracle, error) {
	d, err := cost.FromRows(c)
	if err != nil {
		return nil, err
	}
	return knapsack.New(context.Background(), d)
}

func uniform(c [][]float64, eps float64) (design.Base, error) {
	return measure(c, eps, func(d *cost.Dense) (basemeasure.Result, error) {
		return basemeasure.Uniform(context.Background(), d, eps, basemeasure.Settings{})
	})
}

// tilted is the best multiple of a shape that is not uniform and has a zero where there is room for one.
func tilted(c [][]float64, eps float64) (design.Base, error) {
	shape := make([]float64, len(c[0]))
	for j := range shape {
		shape[j] = float64((j + 1) % 3)
	}
	return measure(c, eps, func(d *cost.Dense) (basemeasure.Result, error) {
		return basemeasure.Shape(context.Background(), d, shape, eps, basemeasure.Settings{})
	})
}

// bestEffort is the best measure of all. The gap asked for is at the limit of what floats can do. Where the solver says
// that it stopped, its answer counts if the gap is within ValueTol of the largest cost.
func bestEffort(c [][]float64, eps float64) (design.Base, error) {
	return measure(c, eps, func(d *cost.Dense) (basemeasure.Result, error) {
		r, err := basemeasure.Solve(context.Background(), d, eps, basemeasure.Settings{Gap: 1e-14})
		if errors.Is(err, wpmerr.ErrNotConverged) {
			if r.Upper-r.Lower > proptest.ValueTol*given.Max(d) {
				return r, fmt.Errorf("%w: %w", design.ErrNoAnswer, err)
			}
			err = nil
		}
		return r, err
	})
}

// descended is what forty steps of a rule of mirror descent find.
func descended(rule mirror.Rule) design.BaseMeasurer {
	return func(c [][]float64, eps float64) (design.Base, error) {
		return measure(c, eps, func(d *cost.Dense) (basemeasure.Result, error) {
			r, err := mirrorDescend(d, eps, mirror.Settings{Rule: rule, Steps: 40})
			return basemeasure.Result{M: r.M, F: r.F, Upper: r.Upper, Lower: r.Lower, Weights: r.Weights,
				Thresholds: r.Thresholds}, err
		})
	}
}

func mirrorDescend(d *cost.Dense, eps float64, s mirror.Settings) (mirror.Result, error) {
	table, err := knapsack.New(context.Background(), d)
	if err != nil {
		return mirror.Result{}, err
	}
	return mirror.Descend(context.Background(), table, eps, s)
}

// paperDescent is mirror.Descend with the paper's step.
func paperDescent(c [][]float64, eps float64, steps int) (design.Descent, error) {
	d, err := cost.FromRows(c)
	if err != nil {
		return design.Descent{}, err
	}
	r, err := mirrorDescend(d, eps, mirror.Settings{Steps: steps, Every: 3})
	out := design.Descent{Average: r.Average, Bound: r.Bound}
	for _, h := range r.History {
		out.History = append(out.History,
			design.DescentReport{Step: h.Step, Average: h.Average, Bound: h.Bound, Lower: h.Lower})
	}
	return out, err
}

// sink is sinkhorn.Project with some settings. A stop at a limit of iterations is an answer, too.
type sink sinkhorn.Settings

func (s sink) Project(p proptest.Problem, reg float64) (projection.EntropicProjection, error) {
	in := sinkhorn.Problem{Problem: instance.Problem{Cost: p.Cost(), Source: p.Mu, Lo: p.Lo, Hi: p.Hi}, Reg: reg}
	r, err := sinkhorn.Project(context.Background(), in, sinkhorn.Settings(s))
	return smoothed(in, r, stopped(err, s.MaxIterations))
}

// hurried is a sink that has no answer where its limit of iterations ends it.
type hurried sink

func (h hurried) Project(p proptest.Problem, reg float64) (projection.EntropicProjection, error) {
	in := sinkhorn.Problem{Problem: instance.Problem{Cost: p.Cost(), Source: p.Mu, Lo: p.Lo, Hi: p.Hi}, Reg: reg}
	r, err := sinkhorn.Project(context.Background(), in, sinkhorn.Settings(h))
	return smoothed(in, r, stopped(err, 0))
}

// stopped is the error of a solver that stopped before its goal: none if there was a limit.
func stopped(err error, limit int) error {
	switch {
	case !errors.Is(err, wpmerr.ErrNotConverged):
		return err
	case limit > 0:
		return nil
	}
	return fmt.Errorf("%w: %w", projection.ErrNoAnswer, err)
}

// smoothed is an answer that its own package has verified.
func smoothed(in sinkhorn.Problem, r sinkhorn.Result, err error) (projection.EntropicProjection, error) {
	if err != nil {
		return projection.EntropicProjection{}, err
	}
	_, _, err = sinkhorn.Verify(context.Background(), in, r)
	return projection.EntropicProjection{
		Q: r.Q, LogV: r.LogV, Lower: r.Lower, Upper: r.Upper, Objective: r.Objective, G: r.Potentials.G,
	}, err
}

// listing is Algorithm 1 of package paper. The listing has no rows without mass.
func listing(p proptest.Problem, reg float64) (projection.EntropicProjection, error) {
	in := paper.Problem{Lo: p.Lo, Hi: p.Hi, Lambda: reg}
	for i, m := range p.Mu {
		if m > 0 {
			in.C, in.Mu = append(in.C, p.C[i]), append(in.Mu, m)
		}
	}
	it, _, err := paper.Project(context.Background(), in, 1e-13, 1e6)
	return projection.EntropicProjection{Q: it.Q, LogV: it.LogV}, err
}

// stream is the same by a sinkhorn.Projector, which has solved another problem before.
type stream sinkhorn.Settings

func (s stream) Project(p proptest.Problem, reg float64) (projection.EntropicProjection, error) {
	in := sinkhorn.Problem{Problem: instance.Problem{Cost: p.Cost(), Source: p.Mu, Lo: p.Lo, Hi: p.Hi}, Reg: reg}
	pr, err := sinkhorn.NewProjector(context.Background(), in.Cost, in.Lo, in.Hi, reg, sinkhorn.Settings(s))
	if err != nil {
		return projection.EntropicProjection{}, err
	}
	var r sinkhorn.Result
	if err := pr.Project(context.Background(), []float64{1}, []int{0}, &r); err != nil &&
		!errors.Is(err, wpmerr.ErrNotConverged) {
		return projection.EntropicProjection{}, err
	}
	err = pr.Project(context.Background(), in.Source, nil, &r)
	return smoothed(in, r, stopped(err, s.MaxIterations))
}

// streams returns a solver that keeps a sinkhorn.Projector, and its Result, as long as only mu changes.
func streams() projection.EntropicFunc {
	var pr *sinkhorn.Projector
	var last proptest.Problem
	var lastReg float64
	var r sinkhorn.Result
	return func(p proptest.Problem, reg float64) (projection.EntropicProjection, error) {
		in := sinkhorn.Problem{Problem: instance.Problem{Cost: p.Cost(), Source: p.Mu, Lo: p.Lo, Hi: p.Hi}, Reg: reg}
		same := slices.EqualFunc(p.C, last.C, slices.Equal[[]float64]) && slices.Equal(p.Lo, last.Lo) &&
			slices.Equal(p.Hi, last.Hi)
		if pr == nil || !same || reg != lastReg {
			var err error
			if pr, err = sinkhorn.NewProjector(context.Background(), in.Cost, in.Lo, in.Hi, reg, sinkhorn.Settings{}); err != nil {
				return projection.EntropicProjection{}, err
			}
			last, lastReg = p.Clone(), reg
		}
		err := pr.Project(context.Background(), in.Source, nil, &r)
		e, err := smoothed(in, r, stopped(err, 0))
		e.Q, e.LogV = slices.Clone(e.Q), slices.Clone(e.LogV) // r is used again
		return e, err
	}
}

// paperStep is one iteration of sinkhorn's method Paper: stopped after one iteration it has q, after two T(v).
func paperStep(p proptest.Problem, reg float64, logV []float64) (next, q []float64, err error) {
	in := sinkhorn.Problem{Problem: instance.Problem{Cost: p.Cost(), Source: p.Mu, Lo: p.Lo, Hi: p.Hi}, Reg: reg}
	after := func(n int) sinkhorn.Result {
		r, e := sinkhorn.Project(context.Background(), in, sinkhorn.Settings{
			Method: sinkhorn.Paper, Initial: logV, MaxIterations: n, Tolerance: 1e-300,
		})
		if e != nil && !errors.Is(e, wpmerr.ErrNotConverged) {
			err = e
		}
		return r
	}
	one, two := after(1), after(2)
	return two.LogV, one.Q, err
}

// metric is package hilbert.
type metric struct{}

func (metric) Distance(x, y []float64) (float64, error) { return hilbert.Distance(x, y) }

func (metric) Diameter(a [][]float64) (float64, error) {
	d, err := cost.FromRows(a)
	if err != nil {
		return 0, err
	}
	return hilbert.Diameter(context.Background(), d)
}

func (metric) Contraction(diameter float64) (tau, oneMinusTau float64) {
	return hilbert.Contraction(diameter)
}

// gibbs is package hilbert from logarithms: LogDistance, and the diameter of exp(-C/reg) from C.
type gibbs struct{ metric }

func (gibbs) Distance(x, y []float64) (float64, error) { return hilbert.LogDistance(logs(x), logs(y)) }

func (gibbs) Diameter(a [][]float64) (float64, error) {
	const shift = 1000 // costs are not negative; the diameter does not see a shift
	c := make([][]float64, len(a))
	for i, row := range a {
		for _, v := range logs(row) {
			c[i] = append(c[i], shift-v)
		}
	}
	d, err := cost.FromRows(c)
	if err != nil {
		return 0, err
	}
	return hilbert.GibbsDiameter(context.Background(), d, 1)
}

func measure(c [][]float64, eps float64, solve func(*cost.Dense) (basemeasure.Result, error)) (design.Base, error) {
	d, err := cost.FromRows(c)
	if err != nil {
		return design.Base{}, err
	}
	r, err := solve(d)
	if err != nil {
		return design.Base{}, fmt.Errorf("solve: %w", err)
	}
	_, _, err = basemeasure.Verify(context.Background(), d, eps, r)
	return design.Base{M: r.M, F: r.F, Upper: r.Upper, Lower: r.Lower, Weights: r.Weights, Thresholds: r.Thresholds}, err
}

// flow is mincostflow.Project with some settings.
type flow mincostflow.Settings

func (f flow) Project(p proptest.Problem) (projection.Projection, error) {
	in := instance.Problem{Cost: p.Cost(), Source: p.Mu, Lo: p.Lo, Hi: p.Hi}
	r, err := mincostflow.Project(context.Background(), in, mincostflow.Settings(f))
	return projected(in, r, err)
}

// projected is an answer that its own package has verified. The laws have the plan and potentials.
func projected(in instance.Problem, r mincostflow.Result, err error) (projection.Projection, error) {
	if err != nil {
		return projection.Projection{}, err
	}
	p := projection.Projection{Q: r.Q, Objective: r.Objective, Lower: r.Lower, Upper: r.Upper}
	p.Certificate.G = r.Potentials.G
	for _, e := range r.Plan {
		p.Certificate.Plan = append(p.Certificate.Plan, projection.Arc(e))
	}
	_, _, err = mincostflow.Verify(context.Background(), in, r)
	return p, err
}

// sparse gives the rows with mass only.
type sparse mincostflow.Settings

func (f sparse) Project(p proptest.Problem) (projection.Projection, error) {
	in := instance.Problem{Cost: p.Cost(), Support: []int{}, Lo: p.Lo, Hi: p.Hi}
	for i, m := range p.Mu {
		if m > 0 {
			in.Support, in.Source = append(in.Support, i), append(in.Source, m)
		}
	}
	r, err := mincostflow.Project(context.Background(), in, mincostflow.Settings(f))
	return projected(in, r, err)
}

// mechanism is *wpm.Mechanism in projection mode.
type mechanism struct{ *wpm.Mechanism }

func (m mechanism) Weights(mu []float64) ([]uint64, error) {
	r, err := m.Project(context.Background(), mu)
	return weights(r.Weights()), err
}

func newWPM(c [][]float64, eps *big.Rat, m []float64, bits int) (*wpm.Mechanism, error) {
	d, err := cost.FromRows(c)
	if err != nil {
		return nil, err
	}
	e, err := epsilon(eps)
	if err != nil {
		return nil, err
	}
	return wpm.New(context.Background(), d, m, e, wpm.Options{Bits: bits})
}

func newMechanism(c [][]float64, eps *big.Rat, m []float64, bits int) (privacy.Mechanism, error) {
	w, err := newWPM(c, eps, m, bits)
	return mechanism{w}, err
}

// newChannel is *wpm.Mechanism in mixture mode.
func newChannel(c [][]float64, eps *big.Rat, m []float64, bits int) (privacy.Channel, error) {
	w, err := newWPM(c, eps, m, bits)
	if err != nil {
		return privacy.Channel{}, err
	}
	rows, err := w.Channel(context.Background())
	if err != nil {
		return privacy.Channel{}, err
	}
	p := w.Polytope()
	ch := privacy.Channel{Bits: p.Bits()}
	for j := range p.Len() {
		ch.Lo, ch.Hi = append(ch.Lo, p.Lo(j)), append(ch.Hi, p.Hi(j))
	}
	for i := range c {
		ch.Rows = append(ch.Rows, weights(rows.Row(i)))
	}
	return ch, nil
}

// counted is the problem of an estimator.
func counted(counts []uint64, rows [][]float64) (estimate.Problem, error) {
	c, err := estimate.NewChannel(len(rows), len(counts), func(i int, dst []float64) { copy(dst, rows[i]) })
	return estimate.Problem{Counts: counts, Channel: c}, err
}

func likeliest(counts []uint64, rows [][]float64) ([]float64, float64, error) {
	p, err := counted(counts, rows)
	if err != nil {
		return nil, 0, err
	}
	r, err := estimate.MLE(context.Background(), p, estimators.MaxGap)
	return r.Theta, r.Gap, err
}

func shareInterval(counts []uint64, rows [][]float64, region []float64) (lower, upper float64, err error) {
	p, err := counted(counts, rows)
	if err != nil {
		return 0, 0, err
	}
	s, err := estimate.Interval(context.Background(), p, region, 0.9)
	return s.Lower, s.Upper, err
}

// lawOf is the law of a sampler, made for one call.
func lawOf(s baseline.Sampler, err error, mu []float64) ([]float64, error) {
	if err != nil {
		return nil, err
	}
	_, kv := s.Dims()
	q := make([]float64, kv)
	return q, s.Law(q, mu)
}

func localMinimax(public, mu []float64, eps, gamma float64) ([]float64, error) {
	s, err := baseline.NewLocalMinimax(public, eps, gamma)
	return lawOf(s, err, mu)
}

func linearSampler(public, mu []float64, eps float64) ([]float64, error) {
	s, err := baseline.NewLinear(public, eps)
	return lawOf(s, err, mu)
}

func diskReports(rows, cols, radius int, eps float64, cell int) ([]float64, error) {
	d, err := baseline.NewDisk(rows, cols, radius, eps)
	if err != nil {
		return nil, err
	}
	q := make([]float64, d.Reports())
	d.Row(cell, q)
	return q, nil
}

func oracleOf(newOracle func(k int, eps float64) (baseline.Oracle, error)) privacy.Oracle {
	return func(k int, eps float64) (own, other float64, estimate privacy.Estimate, err error) {
		o, err := newOracle(k, eps)
		if err != nil {
			return 0, 0, nil, err
		}
		own, other = o.Support()
		return own, other, func(counts []uint64, reports uint64) ([]float64, error) {
			theta := make([]float64, k)
			return theta, o.Estimate(theta, counts, reports)
		}, nil
	}
}

func logs(x []float64) []float64 {
	y := make([]float64, len(x))
	for j := range x {
		y[j] = math.Log(x[j])
	}
	return y
}

func transport(c [][]float64, a, b []float64) (float64, error) {
	d, err := cost.FromRows(c)
	if err != nil {
		return 0, err
	}
	r, err := mincostflow.Transport(context.Background(), d, a, b)
	return r.Objective, err
}
