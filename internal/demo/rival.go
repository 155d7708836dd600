package demo

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

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
	if l.OUEShares, err = t.oue(eps); err != nil {
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
// mixture mode, and sends a bit for every cell, which is 1 with probability 1/2 for that one and 1/(e^eps + 1) for the
// others. The shares are the unbiased estimate, brought to the nearest distribution.
func (t *tour) oue(eps ldp.Epsilon) ([]float64, error) {
	r := rand.NewChaCha8(sha256.Sum256(fmt.Appendf(nil, "wpm demo simulation, seed %d, OUE", t.seed)))
	bits := rand.New(r)
	e, _ := eps.Rat().Float64()
	other := 1 / (math.Exp(e) + 1)
	ones := make([]float64, t.people.Cells())
	for _, u := range t.people.Users {
		own, err := drawCell(u, r)
		if err != nil {
			return nil, err
		}
		for j := range ones {
			chance := other
			if j == own {
				chance = 0.5
			}
			if bits.Float64() < chance {
				ones[j]++
			}
		}
	}
	for j, c := range ones {
		ones[j] = (c/float64(len(t.people.Users)) - other) / (0.5 - other)
	}
	return nearest(ones), nil
}

// nearest returns the nearest distribution in Euclidean distance: max(x - level, 0) for the level that makes the sum 1.
func nearest(x []float64) []float64 {
	order := slices.Clone(x)
	slices.SortFunc(order, func(a, b float64) int {
		switch {
		case a > b:
			return -1
		case a < b:
			return 1
		}
		return 0
	})
	level, sum := 0.0, 0.0
	for n, v := range order {
		sum += v
		next := (sum - 1) / float64(n+1)
		if !(v > next) {
			break
		}
		level = next
	}
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = max(v-level, 0)
	}
	return out
}

// Sentence says what the releases are worth.
func (r Result) Sentence() string {
	l := r.Learned
	return fmt.Sprintf("From %d reports at the privacy level ε = %s, the map is %.2f cell widths from the truth. The reports as they are: %.2f. "+
		"The same users with optimized unary encoding (OUE), which knows no distances: %.2f. Without data: %.2f.",
		r.Config.Users, r.Config.Epsilon, l.Map, l.Raw, l.OUE, l.Guess)
}
