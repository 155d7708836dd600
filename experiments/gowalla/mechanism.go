package gowalla

import (
	"context"
	"fmt"

	"github.com/wpm-go/wpm/baseline"
	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/experiments/city"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/mincostflow"
)

// mechanism is a rule and the box its output is rounded into.
type mechanism struct {
	box *ldp.Polytope
	// law returns the distribution that the user's release is drawn from, in floats, and the certified gap if it came from a solver.
	law func(u city.User) (q []float64, gap float64, err error)
}

// design is WPM's uniform base measure at one eps.
type design struct {
	eps    ldp.Epsilon
	base   basemeasure.Result
	box    *ldp.Polytope
	lo, hi []float64 // the box in floats, for the solver
}

func (s *study) design(eps ldp.Epsilon) (design, error) {
	base, err := basemeasure.Uniform(s.ctx, s.cost, eps.Float64(), basemeasure.Settings{})
	if err != nil {
		return design{}, fmt.Errorf("gowalla: base measure at eps %s: %w", eps, err)
	}
	box, err := ldp.NewPolytope(eps, base.M, s.cfg.Bits)
	if err != nil {
		return design{}, fmt.Errorf("gowalla: box at eps %s: %w", eps, err)
	}
	lo, hi := box.Bounds()
	return design{eps, base, box, lo, hi}, nil
}

// public is what the result says of the design; unit turns costs into cell widths.
func (d design) public(unit float64) Design {
	return Design{Epsilon: d.eps.String(), Mass: d.base.Mass, Worst: d.base.Upper * unit, Lower: d.base.Lower * unit}
}

// project is the exact projection of a sparse distribution into the box of d.
func (s *study) project(ctx context.Context, d design, support []int, weight []float64) (mincostflow.Result, error) {
	return mincostflow.Project(ctx, mincostflow.Problem{Cost: s.cost, Source: weight, Support: support, Lo: d.lo, Hi: d.hi}, mincostflow.Settings{})
}

// mechanism sets up method m.
func (s *study) mechanism(m Method, eps ldp.Epsilon, d design) (mechanism, error) {
	switch m {
	case WPM:
		return mechanism{d.box, func(u city.User) ([]float64, float64, error) {
			support, weight := u.Distribution()
			res, err := s.project(s.ctx, d, support, weight)
			return res.Q, res.Upper - res.Lower, err
		}}, nil
	case Mixture:
		return s.mixture(d)
	case KPM:
		base, err := baseline.KPMBox(s.pop.Cells(), eps.Float64())
		return s.closed(eps, base, err, func(mu []float64, e float64) ([]float64, error) {
			q, _, err := baseline.KPM(mu, e)
			return q, err
		})
	case Exponential:
		base, err := baseline.ExponentialBox(s.cost, eps.Float64())
		return s.closed(eps, base, err, func(mu []float64, e float64) ([]float64, error) { return baseline.Exponential(s.cost, mu, e) })
	case Response:
		base, err := baseline.RandomizedResponseBox(s.pop.Cells(), eps.Float64())
		return s.closed(eps, base, err, baseline.RandomizedResponse)
	}
	return mechanism{}, fmt.Errorf("%w: method %q", ErrConfig, m)
}

// closed is a mechanism with a formula, which works on dense distributions.
func (s *study) closed(eps ldp.Epsilon, base []float64, err error, formula func(mu []float64, eps float64) ([]float64, error)) (mechanism, error) {
	if err != nil {
		return mechanism{}, err
	}
	box, err := ldp.NewPolytope(eps, base, s.cfg.Bits)
	if err != nil {
		return mechanism{}, err
	}
	e := eps.Float64()
	return mechanism{box, func(u city.User) ([]float64, float64, error) {
		mu := make([]float64, s.pop.Cells())
		support, weight := u.Distribution()
		for n, j := range support {
			mu[j] = weight[n]
		}
		q, err := formula(mu, e)
		return q, 0, err
	}}, nil
}

// mixture is the client mode without a solver: a cell is drawn from mu, then the release from the row of that cell, the projection of its point mass.
// The law of the release is the mixture of those rows; they lie in the box, so the mixture does.
func (s *study) mixture(d design) (mechanism, error) {
	k := s.pop.Cells()
	rows := make([][]float64, k)
	what := fmt.Sprintf("rows of the mixture at eps %s", d.eps)
	err := parallel(s.ctx, k, func(i int) error {
		res, err := s.project(s.ctx, d, []int{i}, []float64{1})
		if err != nil {
			return fmt.Errorf("row %d: %w", i, err)
		}
		rows[i] = res.Q
		return nil
	}, func(done int) { s.progress(done, k, what) })
	if err != nil {
		return mechanism{}, err
	}
	return mechanism{d.box, func(u city.User) ([]float64, float64, error) {
		q := make([]float64, k)
		support, weight := u.Distribution()
		for n, i := range support {
			for j, v := range rows[i] {
				q[j] += weight[n] * v
			}
		}
		return q, 0, nil
	}}, nil
}
