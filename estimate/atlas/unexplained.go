package atlas

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/wpmerr"
)

// chance is how rarely the counts of honest reports are called unexplained.
const chance = 1e-6

// Up to so many places, and pairs of a place and an output, the counts of a map are explained.
const (
	maxExplained      = 2048
	maxExplainedPairs = 1 << 24
)

// Unexplained reports whether no map explains the counts: whatever the population is, honest reports are that far from
// their law once in a million times, at most. shares are a map; if its law is near, no other is looked for. Counts of
// more than 2,048 places are not looked at, nor are those of a biased world. The errors are
// ErrShape and that of ctx.
//
// Let p be the shares of N counts, q their law, and d one less than the number of outputs. For t > d, N KL(p, q) is t or
// more with a probability of at most e^-t (e t/d)^d (Agrawal, Finite-sample concentration of the multinomial in relative
// entropy, IEEE Trans. Inf. Theory 66, 2020). His proof bounds the mean of a convex function of the counts, which is
// largest if all reports have one law (Hoeffding 1956): so it holds for devices at places of their own.
func (w World) Unexplained(ctx context.Context, counts []uint64, shares []float64) (bool, error) {
	ctx = wpmerr.Context(ctx)
	k, kv := w.Channel.Dims()
	if len(counts) != kv || len(shares) != k {
		return false, fmt.Errorf("%w: %d counts and %d shares, for %d outputs and %d inputs", wpmerr.ErrShape, len(counts),
			len(shares), kv, k)
	}
	if w.Biased || kv < 2 || k > maxExplained || kv > maxExplainedPairs/k {
		return false, nil
	}
	far, n, err := w.far(counts, shares)
	if err != nil || !beyondChance(far, float64(kv-1)) {
		return false, err
	}
	best, err := estimate.MLE(ctx, w.problem(counts, nil), max(leastGap, min(estimate.DefaultGap, 1/n)))
	if err != nil && (!errors.Is(err, wpmerr.ErrNotConverged) || ctx.Err() != nil) {
		return false, err
	}
	if far, n, err = w.far(counts, best.Theta); err != nil {
		return false, err
	}
	return beyondChance(far-n*best.Gap, float64(kv-1)), nil // no map is nearer than that
}

// leastGap is what rounding leaves of the gap of estimate.MLE.
const leastGap = 1e-12

// beyondChance says that e^-t (e t/d)^d is at most chance.
func beyondChance(t, d float64) bool { return t > d && t-d*(1+math.Log(t/d)) >= -math.Log(chance) }

// far returns N KL(p, q) for the law q of a map, less what rounding may add, and N.
func (w World) far(counts []uint64, theta []float64) (far, n float64, err error) {
	q, err := w.Channel.Law(theta)
	if err != nil {
		return 0, 0, err
	}
	for _, c := range counts {
		n += float64(c)
	}
	for j, c := range counts {
		if c > 0 {
			far += float64(c) * math.Log(float64(c)/n/q[j])
		}
	}
	const rounding = 0x1p-50 // of each term: of the law, a quotient and a logarithm
	return far - n*float64(len(q))*rounding, n, nil
}
