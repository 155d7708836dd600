package baseline

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/wpm-go/wpm/wpmerr"
)

// Found is the worst input that a search met.
type Found struct {
	// Value is a lower bound on the worst case over all mu, and no more than that: the search is not exhaustive. It is at
	// least the worst case over point masses.
	Value float64
	Mu    []float64
	// Dirac is the worst case over point masses, at Input.
	Dirac       float64
	Input       int
	Evaluations int
}

// Search looks for the distribution mu on k points with the largest loss under a rule. loss(mu) is the loss on mu, such
// as W_p^p(rule(mu), mu); it must not keep or change its argument. evaluations bounds the number of calls; 0 means 20
// k.
//
// For a rule that is affine in mu (randomised response, the mixture of wpm) the loss is convex in mu and the worst case
// is a point mass, which is found. KPM and the exponential mechanism are not affine, so a mixture may be worse. Search
// evaluates all point masses. Then, from the three worst, it tries exchanges mu <- (1-t) mu + t e_i with t = 1/2, 1/4,
// ..., 1/64, and takes every exchange that makes the loss larger. The search is deterministic: the same rule gives the
// same answer.
//
// Errors: ErrShape, ErrNotFinite for a loss that is not a finite number, those of loss, the context's.
func Search(ctx context.Context, k int, loss func(mu []float64) (float64, error), evaluations int) (Found, error) {
	if err := checkSize(k); err != nil {
		return Found{}, err
	}
	if evaluations < 0 {
		return Found{}, fmt.Errorf("%w: %d evaluations", wpmerr.ErrShape, evaluations)
	}
	if evaluations == 0 {
		evaluations = 20 * k
	}
	ctx = wpmerr.Context(ctx)
	f := Found{Value: math.Inf(-1)}
	mu := make([]float64, k)
	measure := func() (float64, error) {
		if ctx.Err() != nil {
			return 0, wpmerr.Ended(ctx)
		}
		f.Evaluations++
		v, err := loss(mu)
		if err == nil && (math.IsNaN(v) || math.IsInf(v, 0)) {
			err = fmt.Errorf("%w: a loss of %v", wpmerr.ErrNotFinite, v)
		}
		if err == nil && v > f.Value {
			f.Value, f.Mu = v, slices.Clone(mu)
		}
		return v, err
	}
	dirac := make([]float64, k)
	order := make([]int, k)
	for i := range k {
		clear(mu)
		mu[i] = 1
		v, err := measure()
		if err != nil {
			return f, err
		}
		dirac[i], order[i] = v, i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case dirac[a] > dirac[b]:
			return -1
		case dirac[a] < dirac[b]:
			return 1
		}
		return 0
	})
	f.Dirac, f.Input = dirac[order[0]], order[0]
	for _, start := range order[:min(3, k)] {
		at := make([]float64, k)
		at[start] = 1
		value := dirac[start]
		for step := 0.5; step >= 1./64; step /= 2 {
			for _, i := range order {
				if f.Evaluations >= evaluations {
					return f, nil
				}
				for j := range mu {
					mu[j] = at[j] * (1 - step) // a power of two: exact
				}
				mu[i] += step
				v, err := measure()
				if err != nil {
					return f, err
				}
				if v > value {
					value = v
					copy(at, mu)
				}
			}
		}
	}
	return f, nil
}
