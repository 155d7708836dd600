package demo

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"

	"github.com/wpm-go/wpm/baseline"
	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/estimate/atlas"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/policy"
)

// Learned is what one release per user says of the map, by this mechanism and by a rival. Distances are W_1 to the
// truth.
type Learned struct {
	Guess  float64 `json:"guess"` // every cell alike: without data
	Raw    float64 `json:"raw"`   // the releases as they are, in mixture mode
	Map    float64 `json:"map"`   // by package estimate
	OUE    float64 `json:"oue"`   // optimized unary encoding, which knows no distances
	Signal string  `json:"signal"`

	Shares    []float64 `json:"shares"`     // of Map, by cell
	OUEShares []float64 `json:"oue_shares"` // of OUE
}

// learn makes the map of the mixture's releases, and has everybody answer by OUE.
func (t *tour) learn(ctx context.Context, p policy.Policy, eps ldp.Epsilon, counts []uint64, raw float64) (l Learned,
	err error) {
	w, err := atlas.Of(ctx, p)
	if err != nil {
		return l, err
	}
	r, err := w.Estimate(ctx, counts, atlas.Settings{Estimator: atlas.ByMap})
	if err != nil {
		return l, err
	}
	l = Learned{Raw: raw, Signal: r.Signal.String(), Shares: r.Shares}
	if l.OUEShares, err = t.oue(ctx, eps); err != nil {
		return l, err
	}
	for _, d := range []struct {
		share []float64
		to    *float64
	}{{r.Guess, &l.Guess}, {l.Shares, &l.Map}, {l.OUEShares, &l.OUE}} {
		res, err := mincostflow.Transport(ctx, t.cost, d.share, t.people.Truth())
		if err != nil {
			return l, err
		}
		*d.to = res.Objective * t.unit
	}
	return l, nil
}

// oue simulates optimized unary encoding (Wang et al., USENIX Security 2017): a user draws one of the own cells as in
// mixture mode, and sends a bit for every cell. The map is read at its best: by the estimator that reads this mechanism's
// map, from the exact likelihood of every report. For more than exactReports users that takes minutes: then it is the
// unbiased estimate, brought to the nearest distribution.
func (t *tour) oue(ctx context.Context, eps ldp.Epsilon) ([]float64, error) {
	r := rand.NewChaCha8(sha256.Sum256(fmt.Appendf(nil, "wpm demo simulation, seed %d, OUE", t.seed)))
	k := t.people.Cells()
	o, err := baseline.NewUnary(k, eps.Float64())
	if err != nil {
		return nil, err
	}
	sets := make([][]int32, len(t.people.Users))
	for n, u := range t.people.Users {
		own, err := drawCell(u, r)
		if err != nil {
			return nil, err
		}
		sets[n] = o.Report(nil, own, r)
	}
	if len(sets) > exactReports {
		return unbiased(o, sets)
	}
	reports, err := baseline.NewReports(k, eps.Float64(), sets)
	if err != nil {
		return nil, err
	}
	_, kv := reports.Dims()
	channel, err := estimate.NewChannel(k, kv, reports.Row)
	if err != nil {
		return nil, err
	}
	geometry, err := estimate.NewGeometry(ctx, t.cost, 1)
	if err != nil {
		return nil, err
	}
	m, err := estimate.Map(ctx, estimate.Problem{Counts: reports.Counts(), Channel: channel, Geometry: geometry},
		estimate.Settings{})
	return m.Theta, err
}

// exactReports is the largest number of reports whose likelihood the demo takes whole: 400 x 2,000 numbers, some
// seconds.
const exactReports = 2000

// unbiased is the distribution nearest to the unbiased estimate.
func unbiased(o baseline.Oracle, sets [][]int32) ([]float64, error) {
	counts := make([]uint64, o.Dims())
	for _, set := range sets {
		for _, j := range set {
			counts[j]++
		}
	}
	shares := make([]float64, len(counts))
	if err := o.Estimate(shares, counts, uint64(len(sets))); err != nil {
		return nil, err
	}
	return baseline.Simplex(shares)
}

// Sentence says what the releases are worth.
func (r Result) Sentence() string {
	l, reading := r.Learned, "read by the same estimator"
	if r.Config.Users > exactReports {
		reading = "read by its unbiased estimate"
	}
	return fmt.Sprintf("From %d reports at the privacy level ε = %s, the map is %.2f cell widths from the truth. The reports as they are: %.2f. "+
		"The same users with optimized unary encoding (OUE), which knows no distances, %s: %.2f. "+
		"Without data: %.2f.",
		r.Config.Users, r.Config.Epsilon, l.Map, l.Raw, reading, l.OUE, l.Guess)
}
