package server

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/estimate/atlas"
	"github.com/wpm-go/wpm/internal/places"
	"github.com/wpm-go/wpm/internal/shell"
	"github.com/wpm-go/wpm/policy"
)

// forecast says what it does to a map to take a policy of projection mode for one of mixture mode: by made-up people,
// whose releases follow from the policy. Both are distances in the unit of the places.
type forecast struct {
	// Bias is how far apart the maps of the two modes are, of as many reports without noise. It does not shrink with the
	// reports, and mostly grows: a map of few leans on the guess in either mode.
	Bias float64
	// Error is what the map of mixture mode states of itself. It shrinks with the reports.
	Error float64
}

const (
	// people are made up, around centres: enough that no single one matters.
	people, centres = 60, 3
	crowdSeed       = 1
)

// parts of the time of a person at three places.
var parts = [...]float64{1. / 2, 1. / 3, 1. / 6}

// crowd makes the people up: distributions on places around some centres, the same for the same places and seed.
func crowd(between cost.Matrix, seed uint64) (list [][]float64) {
	k, _ := between.Dims()
	r := rand.New(rand.NewPCG(seed, seed))
	density, row := make([]float64, k), make([]float64, k)
	total := 0.0
	for range centres {
		far := between.Row(r.IntN(k), row)
		mean := 0.0
		for _, d := range far {
			mean += d / float64(k)
		}
		for i, d := range far {
			v := math.Exp(-4 * d / mean)
			density[i] += v
			total += v
		}
	}
	pick := func() int {
		u := r.Float64() * total
		for i, v := range density {
			if u -= v; u < 0 {
				return i
			}
		}
		return k - 1
	}
	for range people {
		p := make([]float64, k)
		for _, v := range parts {
			p[pick()] += v
		}
		list = append(list, p)
	}
	return list
}

// laws are those of a release of people: in mixture mode, and in the projection mode of a policy.
func laws(ctx context.Context, m *wpm.Mechanism, w atlas.World, crowd [][]float64) (mixed, projected []float64, err error) {
	k, kv := w.Channel.Dims()
	mean, projected := make([]float64, k), make([]float64, kv)
	for _, p := range crowd {
		q, err := m.Project(ctx, p)
		if err != nil {
			return nil, nil, err
		}
		for i, v := range p {
			mean[i] += v / float64(len(crowd))
		}
		for j, v := range q.Q() {
			projected[j] += v / float64(len(crowd))
		}
	}
	mixed, err = w.Channel.Law(mean)
	return mixed, projected, err
}

// predict makes the forecast for n reports of people.
func predict(ctx context.Context, m *wpm.Mechanism, w atlas.World, crowd [][]float64, n uint64) (f forecast, err error) {
	mixed, projected, err := laws(ctx, m, w, crowd)
	if err != nil {
		return f, err
	}
	w.Biased = false // a map of mixture mode states its error
	honest, err := w.Estimate(ctx, counted(mixed, n), atlas.Settings{})
	if err != nil {
		return f, err
	}
	biased, err := w.Estimate(ctx, counted(projected, n), atlas.Settings{})
	if err != nil || honest.Error == nil {
		return f, err
	}
	f.Error = honest.Error.Expected
	f.Bias, err = w.Distance(ctx, biased.Shares, honest.Shares)
	return f, err
}

// checkAssumed makes the forecast for n reports of a policy, and refuses to make a map whose bias is more than the error
// that a map of as many reports in mixture mode has: such a map only gets worse with more reports. It says the forecast
// in words: "" of a policy of mixture mode, and of places without distances, where there is no forecast.
func checkAssumed(ctx context.Context, p policy.Policy, w atlas.World, n uint64) (string, error) {
	if !w.Biased || w.Geometry == nil || w.Between == nil || n == 0 {
		return "", nil
	}
	m, err := wpm.Load(ctx, p, wpm.Options{})
	if err != nil {
		return "", err
	}
	f, err := predict(ctx, m, w, crowd(w.Between, crowdSeed), n)
	if err != nil {
		return "", err
	}
	name, scale := places.UnitOfPolicy(p).Distances()
	if f.Bias > f.Error {
		return "", fmt.Errorf("-assume-mixture: %s are too many: for people at three places each, the bias would be about %.2g %s, "+
			"more than the %.2g %s that a map of so many reports in mixture mode is off; the reports as they are stand alone",
			shell.Plural(n, "report"), scale*f.Bias, name, scale*f.Error, name)
	}
	return fmt.Sprintf("For people at three places each, the bias would be about %.2g %s, and what the reports leave open %.2g %s.",
		scale*f.Bias, name, scale*f.Error, name), nil
}

// counted returns n reports with the shares of a law, as nearly as whole numbers can have them.
func counted(law []float64, n uint64) []uint64 {
	out := make([]uint64, len(law))
	sum, total := 0.0, 0.0
	for _, q := range law {
		total += q
	}
	at := uint64(0)
	for j, q := range law {
		sum += q
		if next := uint64(math.Round(sum / total * float64(n))); next > at {
			out[j], at = next-at, next
		}
	}
	return out
}
