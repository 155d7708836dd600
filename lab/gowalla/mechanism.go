package gowalla

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/baseline"
	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/internal/city"
	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/lab/compare"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/sinkhorn/paper"
)

// mechanism is a rule and the box its output is rounded into.
type mechanism struct {
	box *ldp.Polytope
	// law returns the distribution that the user's release is drawn from, in floats, and the certified gap if it came from
	// a solver.
	law func(u city.User) (q []float64, gap float64, err error)
}

// design is WPM at one eps.
type design struct {
	mech *wpm.Mechanism
	base basemeasure.Result
}

func (s *study) design(eps ldp.Epsilon) (design, error) {
	solver, err := wpm.ParseSolver(s.cfg.Solver)
	if err != nil {
		return design{}, err
	}
	objective, err := compare.ParseObjective(s.cfg.Objective)
	if err != nil {
		return design{}, err
	}
	base, err := compare.BaseMeasure(s.ctx, s.cost, eps.Float64(), objective)
	if err != nil {
		return design{}, fmt.Errorf("gowalla: base measure at eps %s: %w", eps, err)
	}
	mech, err := wpm.New(s.ctx, s.cost, base.M, eps, wpm.Options{Bits: s.cfg.Bits, Solver: solver})
	if err != nil {
		return design{}, fmt.Errorf("gowalla: mechanism at eps %s: %w", eps, err)
	}
	return design{mech, base}, nil
}

// public is what the result says of the design; unit turns costs into cell widths.
func (d design) public(unit float64) Design {
	return Design{Epsilon: d.mech.Epsilon().String(), Mass: d.base.Mass, Worst: d.base.Upper * unit,
		Lower: d.base.Lower * unit}
}

// mechanism sets up method m.
func (s *study) mechanism(m Method, eps ldp.Epsilon, d design) (mechanism, error) {
	switch m {
	case WPM:
		return mechanism{d.mech.Polytope(), func(u city.User) ([]float64, float64, error) {
			support, weight := u.Distribution()
			if s.randomly() {
				return s.randomTies(d.mech.Polytope(), source{support: support, weight: weight}, u.ID)
			}
			pr, err := d.mech.ProjectSparse(s.ctx, support, weight)
			return pr.Q(), pr.Upper() - pr.Lower(), err
		}}, nil
	case Paper:
		return s.algorithmOne(d)
	case Mixture:
		return s.mixture(d)
	case KPM:
		base, err := baseline.KPMMeasure(s.pop.Cells(), eps.Float64())
		return s.closed(eps, base, err, func(u city.User) ([]float64, error) {
			q, _, err := baseline.KPM(s.dense(u), eps.Float64())
			return q, err
		})
	case KPMTuned:
		return s.tunedKPM(eps)
	case DiskArea:
		rule, err := s.diskArea(eps)
		if err != nil {
			return mechanism{}, err
		}
		return s.sampler(eps, rule)
	case Exponential:
		rule, err := baseline.NewExponential(context.Background(), s.cost, eps.Float64())
		if err != nil {
			return mechanism{}, err
		}
		return s.closed(eps, rule.Measure(), nil, func(u city.User) ([]float64, error) {
			support, weight := u.Distribution()
			return rule.Law(weight, support)
		})
	case Response:
		base, err := baseline.RandomizedResponseMeasure(s.pop.Cells(), eps.Float64())
		return s.closed(eps, base, err, func(u city.User) ([]float64, error) {
			return baseline.RandomizedResponse(s.dense(u), eps.Float64())
		})
	}
	return mechanism{}, fmt.Errorf("%w: method %q", ErrConfig, m)
}

// closed is a mechanism with a formula for the law of a user.
func (s *study) closed(eps ldp.Epsilon, base []float64, err error, law func(u city.User) ([]float64, error)) (mechanism,
	error) {
	if err != nil {
		return mechanism{}, err
	}
	box, err := ldp.NewPolytope(eps, base, s.cfg.Bits)
	if err != nil {
		return mechanism{}, err
	}
	return mechanism{box, func(u city.User) ([]float64, float64, error) {
		q, err := law(u)
		return q, 0, err
	}}, nil
}

// sampler is a mechanism of package baseline.
func (s *study) sampler(eps ldp.Epsilon, rule baseline.Sampler) (mechanism, error) {
	return s.closed(eps, rule.Measure(), nil, func(u city.User) ([]float64, error) {
		q := make([]float64, s.pop.Cells())
		return q, rule.Law(q, s.dense(u))
	})
}

// diskArea has the radius of its authors for a square grid; for another, that of a square of as many cells.
func (s *study) diskArea(eps ldp.Epsilon) (*baseline.Disk, error) {
	return baseline.NewDisk(s.pop.Rows, s.pop.Cols, baseline.DiskRadius(s.side(), eps.Float64()), eps.Float64())
}

// side is that of a square of as many cells.
func (s *study) side() int { return int(math.Round(math.Sqrt(float64(s.pop.Cells())))) }

// tunedScales is the number of masses that KPM is tuned over, from e^(-eps/2) to e^(eps/2).
const tunedScales = 21

// tunedKPM is KPM with the mass of the base measure whose expected W_1 to the truth is least: a choice that needs the
// truth, and so flatters it.
func (s *study) tunedKPM(eps ldp.Epsilon) (mechanism, error) {
	rules := make([]baseline.Sampler, tunedScales)
	w := make([]float64, tunedScales)
	err := parallel.Each(s.ctx, tunedScales, func(n int) (err error) {
		mass := math.Exp(eps.Float64() * (float64(n)/(tunedScales-1) - 0.5))
		if rules[n], err = baseline.NewKPM(s.pop.Cells(), eps.Float64(), mass); err != nil {
			return err
		}
		mean, q := make([]float64, s.pop.Cells()), make([]float64, s.pop.Cells())
		for _, u := range s.pop.Users {
			if err := rules[n].Law(q, s.dense(u)); err != nil {
				return err
			}
			for j, x := range q {
				mean[j] += x / float64(len(s.pop.Users))
			}
		}
		w[n], _, err = s.distance(mean)
		return err
	}, nil)
	if err != nil {
		return mechanism{}, err
	}
	return s.sampler(eps, rules[slices.Index(w, slices.Min(w))])
}

// algorithmOne is the projection by a fixed number of rounds of Algorithm 1, as the listing stands: every round's q is
// in the box.
func (s *study) algorithmOne(d design) (mechanism, error) {
	box := d.mech.Polytope()
	lo, hi := box.Bounds()
	return mechanism{box, func(u city.User) ([]float64, float64, error) {
		support, weight := u.Distribution()
		p := paper.Problem{Mu: weight, Lo: lo, Hi: hi, Lambda: s.cfg.Lambda}
		for _, i := range support {
			p.C = append(p.C, s.cost.Data[i*s.cost.Kv:(i+1)*s.cost.Kv])
		}
		it := paper.New(p, nil)
		for range s.cfg.Rounds {
			if err := it.Step(s.ctx, p); err != nil {
				return nil, 0, err
			}
		}
		return it.Q, 0, nil
	}}, nil
}

// dense is the distribution of a user over all cells.
func (s *study) dense(u city.User) []float64 {
	mu := make([]float64, s.pop.Cells())
	support, weight := u.Distribution()
	for n, j := range support {
		mu[j] = weight[n]
	}
	return mu
}

// mixture is the client mode without a solver: a cell is drawn from mu, then the release from the row of that cell, the
// projection of its point mass. The law of the release is the mixture of those rows; they lie in the box, so the
// mixture does, and rounding it to integers changes it by less than a unit a cell. With TiesSolver the rows are the
// integers that would be published.
func (s *study) mixture(d design) (mechanism, error) {
	if s.randomly() {
		return s.randomMixture(d.mech.Polytope())
	}
	rows, err := d.mech.Channel(s.ctx)
	if err != nil {
		return mechanism{}, err
	}
	return mechanism{d.mech.Polytope(), func(u city.User) ([]float64, float64, error) {
		q, err := rows.Mix(s.dense(u))
		return q, 0, err
	}}, nil
}

// randomMixture has rows by TiesRandom.
func (s *study) randomMixture(box *ldp.Polytope) (mechanism, error) {
	rows := make([][]float64, s.pop.Cells())
	gaps := make([]float64, len(rows))
	err := parallel.Each(s.ctx, len(rows), func(i int) (err error) {
		// ids of users are not negative
		rows[i], gaps[i], err = s.randomTies(box, source{support: []int{i}, weight: []float64{1}}, -1-int64(i))
		return err
	}, nil)
	return mechanism{box, func(u city.User) ([]float64, float64, error) {
		q := make([]float64, len(rows))
		gap := 0.0
		support, weight := u.Distribution()
		for n, i := range support {
			for j, x := range rows[i] {
				q[j] += weight[n] * x
			}
			gap += weight[n] * gaps[i]
		}
		return q, gap, nil
	}}, err
}
