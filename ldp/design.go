package ldp

import (
	"fmt"
	"math"
	"math/big"
)

// tolerance is how far, relatively, the mass of a base measure may lie outside its range: room for
// the rounding of float sums, far below any mistake. It decides what is refused, not what is private.
const tolerance = 1_000_000_000 // 1 / 1e-9

// NewPolytope returns a box of 2^bits units for the base measure m, that is one near
//
//	lo_j = 2^B e^(-eps/2) m_j,   hi_j = 2^B e^(eps/2) m_j,
//
// in integers that satisfy Verify. It fails with ErrEpsilon, ErrBits (also when m has more than
// 2^bits positive entries: each needs a unit), ErrBase (m is empty, or an entry is negative or not
// finite), and ErrInfeasible if sum m is outside [e^(-eps/2), e^(eps/2)] by more than 1e-9 of itself.
//
// Each positive m_j gives (ceil rule), up to the last bits of e^(eps/2) and e^eps,
//
//	H_j = ceil(2^B e^(eps/2) m_j),   lo_j = ceil(H_j / e^eps),   hi_j = min(floor(e^eps lo_j), 2^B)
//
// and m_j = 0 gives lo_j = hi_j = 0. Roundings are upwards, so hi_j >= min(2^B e^(eps/2) m_j, 2^B), and
// lo_j < 2^B e^(-eps/2) m_j + 1 + e^-eps + 2^-30. If then sum lo > 2^B, the largest lo are lowered to a
// common level; if sum hi < 2^B, the column with the largest lo is raised. Both repair rounding only: the
// first sum is below 2^B (1 + 1e-9) + 3 kv, the second at least 2^B (1 - 1e-9).
//
// Rounding raises the worst-case cost W_p^p by about R kv (1 + e^-eps) / 2^B, where R is the range of the cost matrix
// (below float64 resolution at B = 62). If 2^B is small, the box loses utility but stays valid. A column can move only
// if floor(e^eps lo_j) > lo_j, so a small eps needs 2^B well above kv / (e^eps - 1). A lower bound is at least one
// unit, so an eps above B ln 2 does not bind.
func NewPolytope(eps Epsilon, m []float64, bits int) (*Polytope, error) {
	if eps.IsZero() {
		return nil, fmt.Errorf("%w: zero Epsilon", ErrEpsilon)
	}
	if err := checkBits(bits); err != nil {
		return nil, err
	}
	if len(m) == 0 {
		return nil, fmt.Errorf("%w: empty", ErrBase)
	}
	x := eps.Rat()
	_, root := expInterval(new(big.Rat).Quo(x, big.NewRat(2, 1)), factorBits) // >= 2^w e^(eps/2)
	support, err := checkBase(m, root)
	if err != nil {
		return nil, err
	}
	p := &Polytope{eps, bits, make([]uint64, len(m)), make([]uint64, len(m))}
	total := p.Total()
	if support > total {
		return nil, fmt.Errorf("%w: %d positive entries of m need more than %d bits", ErrBits, support, bits)
	}
	e := newFactor(x)
	inverse := e.inverse()
	z := new(big.Int)
	for j, v := range m {
		// 2^B e^(eps/2) m_j, rounded up; then e^-eps times that, rounded up. The mass is below 2^47, so
		// mant 2^exp = m_j < 2^47 has exp < -5, and both shifts are to the right. Last,
		// lo_j <= 2^62 e^(-eps/2) m_j (1 + 2^-99) + 2 <= 2^62 (1 + 1e-9) (1 + 2^-99) + 2 < 2^63.
		mant, exp := split(v)
		ceilMul(z.SetUint64(mant), root, uint(factorBits-exp-bits))
		p.lo[j] = ceilMul(z, inverse, factorBits).Uint64()
	}
	lowerTo(p.lo, total)
	for j, lo := range p.lo {
		p.hi[j] = min(e.floor(lo), total)
	}
	p.raise(e, inverse)
	if err := p.Verify(); err != nil {
		return nil, err
	}
	return p, nil
}

// checkBase returns the number of positive entries of m, if m is a base measure: finite, >= 0, and of a
// mass in [1/G, G] up to the tolerance. G = root / 2^factorBits is above e^(eps/2) by less than 2^-200 of it.
// Every m_j is a multiple of 2^-1074, so the sum is taken exactly.
func checkBase(m []float64, root *big.Int) (support uint64, err error) {
	s, z := new(big.Int), new(big.Int)
	for j, v := range m {
		if !(v >= 0 && v <= math.MaxFloat64) {
			return 0, fmt.Errorf("%w: m[%d] = %v", ErrBase, j, v)
		}
		if v > 0 {
			support++
		}
		mant, exp := split(v)
		s.Add(s, z.Lsh(z.SetUint64(mant), uint(exp+1074)))
	}
	mass := new(big.Rat).SetFrac(s, z.Lsh(big.NewInt(1), 1074))
	most := new(big.Rat).SetFrac(root, new(big.Int).Lsh(big.NewInt(1), factorBits))
	most.Mul(most, big.NewRat(tolerance+1, tolerance))
	if mass.Cmp(most) > 0 || new(big.Rat).Mul(mass, most).Cmp(big.NewRat(1, 1)) < 0 {
		f, _ := mass.Float64()
		g, _ := most.Float64()
		return 0, fmt.Errorf("%w: mass %v is outside [%v, %v]", ErrInfeasible, f, 1/g, g)
	}
	return support, nil
}

// split returns the integers with v = mant 2^exp, mant < 2^53, -1074 <= exp <= 971, for a finite
// v >= 0. It is exact.
func split(v float64) (mant uint64, exp int) {
	b := math.Float64bits(v)
	mant, exp = b&(1<<52-1), int(b>>52&0x7ff)
	if exp == 0 {
		return mant, -1074 // zero and subnormal numbers
	}
	return mant | 1<<52, exp - 1075
}

// ceilMul sets z to ceil(z f / 2^s), for z, f >= 0: Rsh rounds towards minus infinity.
func ceilMul(z, f *big.Int, s uint) *big.Int {
	z.Mul(z, f)
	return z.Neg(z.Rsh(z.Neg(z), s))
}

// inverse returns d with 2^w e^-eps < d <= 2^w, w = factorBits, above by less than 2^-100 of itself.
//
// It follows that c = ceil(h d / 2^w) has c >= h e^-eps, so floor(e^eps c) >= h, and c <= h, for
// integers h >= 0. Argument: 2^2w / d < below <= 2^w e^eps; and d <= 2^w since
// below >= 2^w (1 + 1e-18) - 1, the first two terms of the series.
//
// Precondition: f is new, so that f.w = factorBits.
func (f *factor) inverse() *big.Int {
	d := new(big.Int).Lsh(big.NewInt(1), 2*f.w)
	return d.Add(d.Quo(d, f.below), big.NewInt(1))
}

// lowerTo lowers the largest entries of lo to a common level until the sum is total, if it was above.
// Positive entries stay positive.
//
// Precondition: total >= the number of positive entries. Argument: let c(L) = sum min(lo_j, L). Then
// c(1) <= total, c is increasing, and the loop finds level = the largest L < 2^63 with c(L) <= total. If
// nothing is above it, nothing is lowered. Otherwise the rest, total - c(level), is less than
// c(level+1) - c(level), the number of entries above level; so as many of these, the first ones, get
// one unit more.
func lowerTo(lo []uint64, total uint64) {
	if _, fits := roomBelow(lo, math.MaxUint64, total); fits {
		return
	}
	level, rest := uint64(0), total
	for step := uint64(1) << 62; step > 0; step /= 2 {
		if room, fits := roomBelow(lo, level+step, total); fits {
			level, rest = level+step, room
		}
	}
	for j, v := range lo {
		if v > level {
			lo[j] = level
			if rest > 0 {
				lo[j], rest = level+1, rest-1
			}
		}
	}
}

// roomBelow returns total - sum min(v_j, level), and false if that is negative.
func roomBelow(v []uint64, level, total uint64) (room uint64, fits bool) {
	room = total
	for _, x := range v {
		x = min(x, level)
		if x > room {
			return 0, false
		}
		room -= x
	}
	return room, true
}

// raise lifts the column with the largest lo until sum hi = 2^B or more, if it was below.
//
// Precondition: hi_j = min(floor(e^eps lo_j), 2^B), sum lo <= 2^B. Postcondition: the same, and
// sum hi >= 2^B. Argument: with D = 2^B - sum hi > 0, the target hi_j + D is at most 2^B; the new lo_j =
// ceil(target e^-eps), rounded up, has floor(e^eps lo_j) >= target and lo_j <= target (see inverse),
// so sum lo <= sum of the other hi + target = 2^B.
func (p *Polytope) raise(e *factor, inverse *big.Int) {
	s := sum(p.hi)
	if s >= p.Total() {
		return
	}
	j := 0
	for i, v := range p.lo {
		if v > p.lo[j] {
			j = i
		}
	}
	target := new(big.Int).SetUint64(p.hi[j] + p.Total() - s)
	p.lo[j] = ceilMul(target, inverse, factorBits).Uint64()
	p.hi[j] = min(e.floor(p.lo[j]), p.Total())
}
