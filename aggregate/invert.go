package aggregate

import (
	"context"
	"fmt"
	"math"
)

// InvertSettings of the iterative Bayesian update. The zero value is the default.
type InvertSettings struct {
	// Gap is the distance to the largest log-likelihood per release at which the iteration stops; 0: 1e-6. With N releases the
	// likelihood is then within exp(-N Gap) of the best.
	Gap float64
	// MaxIterations; 0: 100 000.
	MaxIterations int
}

// Inverse is an estimate of the mean private distribution.
type Inverse struct {
	Theta      []float64 // sums to 1
	Likelihood float64   // mean log-likelihood of a release
	// Gap is proved: no distribution has a mean log-likelihood above Likelihood + Gap.
	Gap        float64
	Iterations int
}

// Invert returns the distribution over the k inputs under which the counts are most likely, if releases are drawn from theta P: the
// iterative Bayesian update. rows[i] is P_i, the distribution (or integer weights of any common sum, as floats) of input i's release.
//
// It is post-processing: it sees releases only. It is right only where the model is (see the package comment), and it amplifies sampling
// noise; the estimate has no bands, and with few releases it piles mass on few points.
//
// The log-likelihood L is concave and theta_i times its gradient sums to 1, so that max_i g_i - 1 with g_i = sum_j (N_j/N) P_ij/(theta P)_j
// bounds what is missing to its maximum. That is the gap. The iteration theta_i <- theta_i g_i never lowers L.
//
// Errors: ErrShape, ErrEmpty, ErrChannel (a row that is negative, not finite, or all zero; a point that was released but that no input can
// release), ErrNotConverged with the estimate so far. Cost: O(k kv) per iteration.
func Invert(ctx context.Context, counts []uint64, rows [][]float64, settings InvertSettings) (Inverse, error) {
	goal, most := settings.Gap, settings.MaxIterations
	if goal == 0 {
		goal = 1e-6
	}
	if most == 0 {
		most = 100_000
	}
	if !(goal > 0) || most < 0 {
		return Inverse{}, fmt.Errorf("%w: gap %v, iterations %d", ErrShape, settings.Gap, settings.MaxIterations)
	}
	p, seen, share, err := channel(counts, rows)
	if err != nil {
		return Inverse{}, err
	}
	k := len(rows)
	theta, g, out := make([]float64, k), make([]float64, k), make([]float64, len(seen))
	for i := range theta {
		theta[i] = 1 / float64(k)
	}
	for n := 0; ; n++ {
		var likelihood float64
		clear(out)
		for i, t := range theta {
			if t > 0 {
				for j, x := range p[i] {
					out[j] += t * x
				}
			}
		}
		least := math.Inf(1)
		for j, x := range out {
			least = min(least, x)
			likelihood += share[j] * math.Log(x)
			out[j] = share[j] / x
		}
		top := 0.0
		for i := range theta {
			var s float64
			for j, x := range p[i] {
				s += x * out[j]
			}
			g[i], top = s, max(top, s)
		}
		// 1e-13: the sums above are right to some kv 2^-53.
		r := Inverse{Theta: theta, Likelihood: likelihood, Gap: max(0, top-1) + 1e-13, Iterations: n}
		switch {
		case math.IsNaN(likelihood) || math.IsInf(likelihood, 0) || math.IsInf(top, 0) || least < 0x1p-1022: // math.Log is wrong below
			return Inverse{}, fmt.Errorf("%w: probabilities too small to work with", ErrChannel)
		case r.Gap <= goal:
			return r, nil
		case n == most || ctx.Err() != nil:
			return r, fmt.Errorf("%w: gap %v after %d iterations, want %v", ErrNotConverged, r.Gap, n, goal)
		}
		var sum float64
		for i := range theta {
			theta[i] *= g[i]
			sum += theta[i]
		}
		for i := range theta {
			theta[i] /= sum
		}
	}
}

// channel checks the data and keeps what matters of it: the columns that were released, rows scaled to sum 1, and their shares.
func channel(counts []uint64, rows [][]float64) (p [][]float64, seen []int, share []float64, err error) {
	if len(rows) == 0 || len(counts) == 0 {
		return nil, nil, nil, fmt.Errorf("%w: %d rows, %d counts", ErrShape, len(rows), len(counts))
	}
	var n float64
	for j, c := range counts {
		if c > 0 {
			seen, n = append(seen, j), n+float64(c)
		}
	}
	if n == 0 {
		return nil, nil, nil, ErrEmpty
	}
	for _, j := range seen {
		share = append(share, float64(counts[j])/n)
	}
	reached := make([]bool, len(seen))
	for i, row := range rows {
		if len(row) != len(counts) {
			return nil, nil, nil, fmt.Errorf("%w: row %d has %d entries, want %d", ErrShape, i, len(row), len(counts))
		}
		var sum float64
		for j, x := range row {
			if !(x >= 0 && x <= math.MaxFloat64) {
				return nil, nil, nil, fmt.Errorf("%w: entry %d, %d is %v", ErrChannel, i, j, x)
			}
			sum += x
		}
		if !(sum > 0 && sum <= math.MaxFloat64) {
			return nil, nil, nil, fmt.Errorf("%w: row %d sums to %v", ErrChannel, i, sum)
		}
		q := make([]float64, len(seen))
		for n, j := range seen {
			q[n] = row[j] / sum
			reached[n] = reached[n] || q[n] > 0
		}
		p = append(p, q)
	}
	for n, ok := range reached {
		if !ok {
			return nil, nil, nil, fmt.Errorf("%w: point %d was released, but no input can release it", ErrChannel, seen[n])
		}
	}
	return p, seen, share, nil
}
