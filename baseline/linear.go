package baseline

import (
	"math"
	"slices"
)

// NewLinear returns the linear sampler of Zamanlooy, Diaz and Asoodeh (Locally Private Sampling with Public Data, arXiv
// 2411.08791) for a public distribution P on k points: q = mu K for a stochastic matrix K with P K = P. The user's law
// approximates mu, and a user who is like the public data releases the public data unchanged. The paper proves K
// minimax-optimal for every f-divergence among such matrices.
//
// With the points in ascending order of P, R_l the mass of P from point l on, p = P_l/R_l and D_l = e^eps p + 1 - p,
// K is built from its first row and column and from the matrix of the points that are left:
//
//	K_ll = A_l e^eps p/D_l,  K_lj = A_l P_j/(R_l D_l),  K_jl = A_l p/D_l for j > l,  A_(l+1) = A_l (1 - p/D_l), A_0 = 1.
//
// With P uniform it is RandomizedResponse. Points of equal P are taken in the order of their index.
//
// Cost: O(k log k) once, O(k) for a user. Errors: ErrShape, ErrNotFinite, ErrNegative, ErrMass, ErrEpsilon.
func NewLinear(public []float64, eps float64) (Sampler, error) {
	k := len(public)
	if _, err := checkDistribution("public", public, k); err != nil {
		return nil, err
	}
	if err := checkEps(eps); err != nil {
		return nil, err
	}
	order := make([]int, k)
	for j := range order {
		order[j] = j
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case public[a] < public[b]:
			return -1
		case public[a] > public[b]:
			return 1
		}
		return 0
	})
	l := &linear{public: slices.Clone(public), order: order}
	l.later, l.own, l.other = make([]float64, k), make([]float64, k), make([]float64, k)
	l.prepare(eps)
	return &rule{k, l.measure(eps), l.law}, nil
}

// linear is K by its entries: row l has own_l in column l and public_j later_l in a column j after it in the order;
// column l has other_l in the rows after it.
type linear struct {
	public            []float64
	order             []int
	later, own, other []float64 // by point
}

func (l *linear) prepare(eps float64) {
	e, kappa := math.Exp(eps), math.Expm1(eps)
	rest := make([]float64, len(l.order)+1) // R, small terms first in the sum that is left
	for at := len(l.order) - 1; at >= 0; at-- {
		rest[at] = rest[at+1] + l.public[l.order[at]]
	}
	left := 1.0 // A
	for at, j := range l.order {
		if at == len(l.order)-1 {
			l.own[j], l.other[j] = left, left
			break
		}
		p, tail := l.public[j]/rest[at], rest[at+1]/rest[at]
		d := e*p + tail
		l.own[j], l.other[j], l.later[j] = left*(e*p/d), left*(p/d), left/rest[at]/d
		left *= (kappa*p + tail) / d // 1 - p/D without a difference
	}
}

// measure is e^(eps/2) times the least entry of each column.
func (l *linear) measure(eps float64) []float64 {
	m := make([]float64, len(l.public))
	least := math.Inf(1)
	for at, j := range l.order {
		low := l.public[j] * least
		if at == 0 {
			low = math.Inf(1)
		}
		if at < len(l.order)-1 {
			low = min(low, l.other[j])
		}
		if len(l.order) == 1 {
			low = 1
		}
		m[j] = math.Exp(eps/2) * min(low, l.own[j])
		least = min(least, l.later[j])
	}
	return m
}

func (l *linear) law(mu []float64) ([]float64, error) {
	sum, err := checkDistribution("mu", mu, len(l.public))
	if err != nil {
		return nil, err
	}
	k := len(mu)
	after := make([]float64, k+1) // the mass of mu from a place of the order on
	for at := k - 1; at >= 0; at-- {
		after[at] = after[at+1] + mu[l.order[at]]/sum
	}
	q := make([]float64, k)
	before := 0.0 // sum of mu_i later_i over the points before
	for at, j := range l.order {
		x := mu[j] / sum
		q[j] = l.public[j]*before + x*l.own[j]
		if at < k-1 {
			q[j] += after[at+1] * l.other[j]
		}
		before += x * l.later[j]
	}
	return q, nil
}
