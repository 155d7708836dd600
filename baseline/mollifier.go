package baseline

import (
	"math"
	"slices"

	"github.com/wpm-go/wpm/internal/num"
)

// Mollifier returns the projection of mu, in Kullback-Leibler divergence KL(mu||q), onto the relative mollifier of Husain et al.
// (AISTATS 2020): the distributions q within a factor e^(eps/2) of a public reference distribution, that is the box of base measure
// m = reference. Any two of its members are within e^eps, so that releasing from one of them is eps-LDP.
//
// It is the relation between three of the paper's mechanisms: KPM is the same projection with the uniform m of the mass that is best in
// the minimax sense ([KPMScaled] has any mass), and Wasserstein projection is another divergence on the same box. The boosted density
// estimator by which the authors approximate it for continuous data is not here: on finitely many points the projection has a closed form,
// q_j = t mu_j clamped to [e^(-eps/2) m_j, e^(eps/2) m_j].
//
// If the box wants more mass than the points of mu can take, the rest goes to the others in proportion to the reference (the divergence does
// not see them). A point that mu has and the reference has not is never released. Both count as distributions: their sums must be 1
// within 1e-9. Errors: ErrShape, ErrNotFinite, ErrNegative, ErrMass, ErrEpsilon. Cost: O(k log k) passes of a clamp, O(k log^2 k) in all.
func Mollifier(mu, reference []float64, eps float64) ([]float64, error) {
	k := len(mu)
	if _, err := checkDistribution("mu", mu, k); err != nil {
		return nil, err
	}
	sum, err := checkDistribution("reference", reference, k)
	if err != nil {
		return nil, err
	}
	if err := checkEps(eps); err != nil {
		return nil, err
	}
	m := make([]float64, k)
	for j, x := range reference {
		m[j] = x / sum
	}
	if eps == 0 {
		return m, nil
	}
	alpha, beta := math.Exp(-eps/2), math.Exp(eps/2)
	lo, hi := make([]float64, k), make([]float64, k)
	for j, x := range m {
		lo[j], hi[j] = alpha*x, min(beta*x, 1)
	}
	if num.Sum(lo) >= 1 || num.Sum(hi) <= 1 { // eps so small that rounding decides
		return m, nil
	}
	return clampKL(mu, lo, hi), nil
}

// MollifierChannel returns Mollifier on the k Dirac inputs, one row each. Its base measure is the reference. Errors as Mollifier.
func MollifierChannel(reference []float64, eps float64) ([][]float64, error) {
	if err := checkSize(len(reference)); err != nil {
		return nil, err
	}
	return onDiracs(len(reference), func(mu []float64) ([]float64, error) { return Mollifier(mu, reference, eps) })
}

// clampKL returns q = t*mu clamped to [lo, hi], for the t that gives it mass 1; sum lo < 1 < sum hi, hi <= 1, and hi/lo is the same for all.
//
// The mass rises with t and is linear between the breaks lo_j/mu_j, hi_j/mu_j. At the first break where it reaches
// 1 the entries that are free are known, and t with them.
func clampKL(mu, lo, hi []float64) []float64 {
	// Multiplied by a power of two, so that hi/mu stays in range for the smallest floats, and t is smaller by as much.
	scaled := make([]float64, len(mu))
	for j, x := range mu {
		scaled[j] = x * 0x1p200
	}
	mu = scaled
	q := make([]float64, len(mu))
	var breaks []float64
	for j, x := range mu {
		if x > 0 {
			breaks = append(breaks, lo[j]/x, hi[j]/x)
		}
	}
	slices.Sort(breaks)
	fill := func(t float64) float64 {
		for j, x := range mu {
			q[j] = min(max(t*x, lo[j]), hi[j])
		}
		return num.Sum(q)
	}
	at, _ := slices.BinarySearchFunc(breaks, 1.0, func(t, _ float64) int {
		if fill(t) < 1 {
			return -1
		}
		return 1
	})
	if at == len(breaks) { // the points of mu are full
		var full, other []float64
		for j := range mu {
			if mu[j] > 0 {
				full = append(full, hi[j])
			} else {
				other = append(other, lo[j])
			}
		}
		scale := (1 - num.Sum(full)) / num.Sum(other)
		for j := range mu {
			q[j] = hi[j]
			if mu[j] == 0 {
				q[j] = min(max(scale*lo[j], lo[j]), hi[j])
			}
		}
		return q
	}
	below := 0.0
	if at > 0 {
		below = breaks[at-1]
	}
	var free, clamped []float64
	largest := -1
	for j, x := range mu {
		switch {
		case x == 0 || lo[j]/x >= breaks[at]:
			clamped = append(clamped, lo[j])
		case hi[j]/x <= below:
			clamped = append(clamped, hi[j])
		default:
			free = append(free, x)
			if largest < 0 || x > mu[largest] {
				largest = j
			}
		}
	}
	if largest < 0 {
		fill(breaks[at])
		return q
	}
	fill((1 - num.Sum(clamped)) / num.Sum(free))
	q[largest] = 0
	q[largest] = min(max(1-num.Sum(q), lo[largest]), hi[largest]) // what rounding left over
	return q
}
