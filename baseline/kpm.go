package baseline

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/wpmerr"
)

// KPM is the KL projection mechanism on k = len(mu) points, as the paper states it: it returns
// q_j = max(mu_j/r, a), a = 1/(e^eps + k - 1), with the r >= 1 that makes q a distribution.
//
// It is the point of the box [a, e^eps a] that is closest to mu in KL(mu||q). (Where mu has no zeros it also minimises
// KL(q||mu); where it has some, that divergence is infinite for all q in the box.) If n entries are above the floor,
// they are the n largest, and r = (their sum)/(1 - (k-n) a). n is found by sorting, without iteration and without a
// tolerance.
//
// At eps = 0, q = 1/k, and every r >= k*max(mu) is valid; r is k*max(mu), the limit as eps falls to 0. Every q_j is at
// least a as a real number. Errors: ErrShape, ErrNotFinite, ErrNegative, ErrMass, ErrEpsilon.
func KPM(mu []float64, eps float64) (q []float64, r float64, err error) {
	k := len(mu)
	sum, err := checkDistribution("mu", mu, k)
	if err != nil {
		return nil, 0, err
	}
	if err := checkEps(eps); err != nil {
		return nil, 0, err
	}
	a, kappa := floor(k, eps), math.Expm1(eps)
	down := slices.Clone(mu)
	slices.Sort(down)
	slices.Reverse(down)
	q = make([]float64, k)
	if kappa == 0 {
		for j := range q {
			q[j] = a
		}
		return q, max(1, float64(k)*(down[0]/sum)), nil
	}
	// With S_n the sum of the n largest, r = S_n (kappa + k)/(kappa + n), and entry n is above the floor iff
	// mu_n (kappa + n) > S_n. The difference of the two sides never rises with n, and is positive at n = 1.
	// A wrong decision by rounding means that mu_n/r is the floor to within rounding.
	n, top := 1, down[0]
	for n < k && down[n]*(kappa+float64(n+1)) > top+down[n] {
		top += down[n]
		n++
	}
	top = num.Sum(down[:n])
	share := (kappa + float64(n)) / (kappa + float64(k)) // of the mass, for the n largest
	for j, x := range mu {
		q[j] = max(x/top*share, a)
	}
	return q, max(1, top/sum/share), nil
}

// KPMBase returns the mass e^(eps/2)/(e^eps + k - 1) that the base measure of KPM has at each of k points. It
// is NaN for k < 1 or eps out of range.
func KPMBase(k int, eps float64) float64 {
	if k < 1 || checkEps(eps) != nil {
		return math.NaN()
	}
	return 1 / (math.Exp(eps/2) + float64(k-1)*math.Exp(-eps/2))
}

// KPMMeasure returns the base measure m of KPM on k points: for every mu, q lies in [e^(-eps/2) m, e^(eps/2) m]
// (see the package comment). Errors: ErrShape, ErrEpsilon.
func KPMMeasure(k int, eps float64) ([]float64, error) {
	if err := checkSize(k); err != nil {
		return nil, err
	}
	if err := checkEps(eps); err != nil {
		return nil, err
	}
	return slices.Repeat([]float64{KPMBase(k, eps)}, k), nil
}

// KPMChannel returns KPM on the k Dirac inputs: row i has e^eps a at i and a elsewhere. Errors as KPMMeasure.
func KPMChannel(k int, eps float64) ([][]float64, error) {
	if err := checkSize(k); err != nil {
		return nil, err
	}
	if err := checkEps(eps); err != nil {
		return nil, err
	}
	a, kappa := floor(k, eps), math.Expm1(eps)
	rows := make([][]float64, k)
	for i := range rows {
		rows[i] = slices.Repeat([]float64{a}, k)
		rows[i][i] = max((kappa+1)/(kappa+float64(k)), a)
	}
	return rows, nil
}

// KPMScaled returns the point closest to mu in KL(mu||q) of the box of the uniform base measure of the given mass:
// q_j = t*mu_j clamped to [e^(-eps/2) mass/k, e^(eps/2) mass/k]. KPM is the case mass = k*KPMBase(k, eps). A sweep over
// the mass tunes KPM.
//
// If the points of mu cannot take all the mass within the box, the rest goes to the other points evenly (the divergence
// does not depend on them). If the mass is not in [e^(-eps/2), e^(eps/2)], up to a relative 1e-12, the error is
// ErrInfeasible; other errors as KPM.
func KPMScaled(mu []float64, eps, mass float64) ([]float64, error) {
	k := len(mu)
	if _, err := checkDistribution("mu", mu, k); err != nil {
		return nil, err
	}
	if err := checkEps(eps); err != nil {
		return nil, err
	}
	if err := checkMass(eps, mass); err != nil {
		return nil, err
	}
	alpha, beta := math.Exp(-eps/2), math.Exp(eps/2)
	base := 1 / float64(k)
	if float64(k)*(alpha*mass*base) >= 1 || float64(k)*min(beta*mass*base, 1) <= 1 || eps == 0 {
		return slices.Repeat([]float64{base}, k), nil
	}
	lo, hi := alpha*mass/float64(k), min(beta*mass/float64(k), 1)
	return clampKL(mu, slices.Repeat([]float64{lo}, k), slices.Repeat([]float64{hi}, k)), nil
}

// clampKL returns q = t*mu clamped to [lo, hi], for the t that gives it mass 1. It wants sum lo < 1 < sum hi, hi <= 1,
// and lo_j > 0 or hi_j = 0. What the points of mu cannot take goes to the others in proportion to lo.
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
		for j, x := range mu {
			if x > 0 {
				full = append(full, hi[j])
			} else {
				other = append(other, lo[j])
			}
		}
		scale := (1 - num.Sum(full)) / num.Sum(other)
		for j, x := range mu {
			q[j] = hi[j]
			if x == 0 {
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
	// Rounding may put t outside the interval, where what is clamped here would move.
	fill(min(max((1-num.Sum(clamped))/num.Sum(free), below), breaks[at]))
	q[largest] = 0
	q[largest] = min(max(1-num.Sum(q), lo[largest]), hi[largest]) // what rounding left over
	return q
}

// KPMVerify checks in exact rational arithmetic that q and r are what KPM says for mu and eps: every q_j and r
// to within a relative 2^-50, no q_j below the floor, the sum within k * 2^-52 of 1. eps and mu count as the
// rationals that the float64 values are. It returns nil, ErrCertificate, or the errors of KPM.
func KPMVerify(mu []float64, eps float64, q []float64, r float64) error {
	k := len(mu)
	if _, err := checkDistribution("mu", mu, k); err != nil {
		return err
	}
	if err := checkEps(eps); err != nil {
		return err
	}
	if len(q) != k {
		return fmt.Errorf("%w: len(q) = %d, want %d", wpmerr.ErrCertificate, len(q), k)
	}
	total, defect := num.SumRat(mu), num.SumRat(q)
	if defect == nil {
		return fmt.Errorf("%w: q is not finite", wpmerr.ErrCertificate)
	}
	defect.Sub(defect, big.NewRat(1, 1)).Abs(defect)
	if defect.Cmp(big.NewRat(int64(k), 1<<52)) > 0 {
		return fmt.Errorf("%w: sum q - 1 = %s", wpmerr.ErrCertificate, defect.FloatString(20))
	}
	down := slices.Clone(mu)
	slices.Sort(down)
	slices.Reverse(down)
	n, top := 0, new(big.Rat)
	for n < k {
		// Entry n+1 is above the floor iff mu kappa > S - (n+1) mu, with S the sum of the n+1 largest.
		x := num.Rat(down[n])
		next := new(big.Rat).Add(top, x)
		need := new(big.Rat).Sub(next, new(big.Rat).Mul(x, big.NewRat(int64(n)+1, 1)))
		if x.Sign() == 0 || !expm1Above(eps, need.Quo(need, x)) {
			break
		}
		n, top = n+1, next
	}
	// Below, e^eps >= 1 enters with a relative error of 2^-128, which the comparisons to 2^-50 do not notice.
	e, _ := expBounds(eps, 128)
	size := new(big.Rat).Add(e, big.NewRat(int64(k)-1, 1)) // kappa + k
	wantFloor := new(big.Rat).Inv(size)
	wantR := new(big.Rat)
	if n == 0 { // eps = 0
		wantR.Mul(num.Rat(down[0]), big.NewRat(int64(k), 1))
		wantR.Quo(wantR, total)
	} else {
		wantR.Mul(top, size)
		wantR.Quo(wantR, new(big.Rat).Add(e, big.NewRat(int64(n)-1, 1)))
		wantR.Quo(wantR, total)
	}
	if !nearRat(r, wantR) {
		return fmt.Errorf("%w: r = %v, want %s", wpmerr.ErrCertificate, r, wantR.FloatString(20))
	}
	scale := new(big.Rat).Mul(wantR, total)
	for j, x := range mu {
		want := num.Rat(x)
		want.Quo(want, scale)
		if want.Cmp(wantFloor) < 0 {
			want.Set(wantFloor)
		}
		if !nearRat(q[j], want) {
			return fmt.Errorf("%w: q[%d] = %v, want %s", wpmerr.ErrCertificate, j, q[j], want.FloatString(20))
		}
		if eps > 0 && num.Rat(q[j]).Cmp(wantFloor) < 0 {
			return fmt.Errorf("%w: q[%d] = %v is below the floor %s", wpmerr.ErrCertificate, j, q[j], wantFloor.FloatString(20))
		}
	}
	return nil
}

// expm1Above reports whether e^eps - 1 > x, for x >= 0. For eps > 0 the left side is irrational, so refining
// decides it.
func expm1Above(eps float64, x *big.Rat) bool {
	if eps == 0 {
		return false
	}
	x = new(big.Rat).Add(x, big.NewRat(1, 1))
	for bits := uint(128); ; bits *= 2 {
		down, up := expBounds(eps, bits)
		if down.Cmp(x) > 0 {
			return true
		}
		if up.Cmp(x) < 0 {
			return false
		}
	}
}

// nearRat reports whether |got - want| <= 2^-50 want.
func nearRat(got float64, want *big.Rat) bool {
	g := num.Rat(got)
	if g == nil {
		return false
	}
	g.Sub(g, want).Abs(g)
	return g.Cmp(new(big.Rat).Mul(want, big.NewRat(1, 1<<50))) <= 0
}
