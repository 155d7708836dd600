package demo

import (
	"context"
	"fmt"
	"math"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/baseline"
	"github.com/wpm-go/wpm/internal/city"
	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/mincostflow"
)

// Mechanism is what the releases of one mechanism are on average: there is no randomness in it.
type Mechanism struct {
	Name  string    `json:"name"`
	Drawn string    `json:"-"`    // its name above a map; "" for what looks like another
	W1    []float64 `json:"w1"`   // of the mean distribution of the releases against the truth, for each of Config.Epsilons
	Mean  []float64 `json:"mean"` // that distribution at Config.Epsilon, by cell
}

// law is a mechanism at one eps: its name, and the weights that a user's release is drawn from.
type law struct {
	name, drawn string
	weights     func(u city.User) (ldp.Weights, error)
}

// compare measures this mechanism, in both modes, and three that need no design.
func (t *tour) compare(ctx context.Context, epsilons []string, step func(int, int, string)) (all []Mechanism, err error) {
	for n, text := range epsilons {
		step(n, len(epsilons), "comparing mechanisms")
		eps, err := ldp.ParseEpsilon(text)
		if err != nil {
			return nil, err
		}
		laws, err := t.laws(ctx, eps)
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = make([]Mechanism, len(laws))
		}
		for i, l := range laws {
			m := &all[i]
			m.Name, m.Drawn = l.name, l.drawn
			mean, err := t.mean(ctx, eps, l)
			if err != nil {
				return nil, fmt.Errorf("demo: %s at eps %s: %w", l.name, eps, err)
			}
			w1, err := mincostflow.Transport(ctx, t.cost, mean, t.people.Truth())
			if err != nil {
				return nil, err
			}
			m.W1 = append(m.W1, w1.Objective*t.unit)
			if eps.Cmp(t.mech.Epsilon()) == 0 {
				m.Mean = mean
			}
		}
	}
	step(len(epsilons), len(epsilons), "comparing mechanisms")
	return all, nil
}

// laws returns the mechanisms at one eps. The rows of each are rounded into the integer box of its own base measure.
func (t *tour) laws(ctx context.Context, eps ldp.Epsilon) ([]law, error) {
	made, err := wpm.NewDesign(ctx, t.cost, eps, wpm.Objective{})
	if err != nil {
		return nil, err
	}
	mech := made.Mechanism()
	rows, err := mech.Channel(ctx)
	if err != nil {
		return nil, err
	}
	geo, err := baseline.NewGeoIndistinguishable(ctx, t.cost, eps.Float64())
	if err != nil {
		return nil, err
	}
	kl, err := baseline.KPMMeasure(t.people.Cells(), eps.Float64())
	if err != nil {
		return nil, err
	}
	response, err := baseline.RandomizedResponseMeasure(t.people.Cells(), eps.Float64())
	if err != nil {
		return nil, err
	}
	laws := []law{{"Wasserstein projection (WPM)", "WPM", func(u city.User) (ldp.Weights, error) {
		p, err := mech.ProjectSparse(ctx, u.Cells, t.shares(u))
		if err != nil {
			return ldp.Weights{}, err
		}
		return p.Weights(), nil
	}}}
	for _, r := range []struct {
		name, drawn string
		base        []float64
		law         func(mu []float64) ([]float64, error)
	}{
		{"Wasserstein projection, mixture mode", "", nil, rows.Mix},
		{"Kullback-Leibler projection (KPM)", "KPM", kl, func(mu []float64) ([]float64, error) {
			q, _, err := baseline.KPM(mu, eps.Float64())
			return q, err
		}},
		{"geo-indistinguishability", "geo-indistinguishability", geo.Measure(), func(mu []float64) ([]float64, error) {
			q := make([]float64, len(mu))
			return q, geo.Law(q, mu)
		}},
		{"randomised response", "", response, func(mu []float64) ([]float64, error) {
			return baseline.RandomizedResponse(mu, eps.Float64())
		}},
	} {
		box := mech.Polytope()
		if r.base != nil {
			if box, err = ldp.NewPolytope(eps, r.base, box.Bits()); err != nil {
				return nil, err
			}
		}
		laws = append(laws, law{r.name, r.drawn, func(u city.User) (ldp.Weights, error) {
			mu := make([]float64, t.people.Cells())
			for n, x := range t.shares(u) {
				mu[u.Cells[n]] = x
			}
			q, err := r.law(mu)
			if err != nil {
				return ldp.Weights{}, err
			}
			return box.Round(q), nil
		}})
	}
	return laws, nil
}

// shares are the frequencies of a user's check-ins.
func (t *tour) shares(u city.User) []float64 {
	_, weights := u.Distribution()
	return weights
}

// mean is the mean of what all users draw from, after the rows have been found to be private by themselves.
func (t *tour) mean(ctx context.Context, eps ldp.Epsilon, l law) ([]float64, error) {
	users := t.people.Users
	weights := make([]ldp.Weights, len(users))
	err := parallel.Each(ctx, len(users), func(n int) (err error) {
		weights[n], err = l.weights(users[n])
		return err
	}, nil)
	if err != nil {
		return nil, err
	}
	if err := ldp.CheckRows(eps, weights); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCheck, err)
	}
	mean := make([]float64, t.people.Cells())
	for _, w := range weights {
		for j := range mean {
			mean[j] += math.Ldexp(float64(w.At(j)), -w.Bits()) / float64(len(users))
		}
	}
	return mean, nil
}
