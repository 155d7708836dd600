package ldp

import (
	"fmt"
	"math"
	"math/bits"
)

// maxBits is the largest B: a weight, and twice a weight, fit in a uint64 and in an int64.
const maxBits = 62

// A Polytope is the public box of a mechanism: the integer points n with lo <= n <= hi and sum 2^B.
//
// Invariant: a Polytope made by NewPolytope or NewPolytopeFromBounds satisfies Verify, and no method changes it. The
// zero Polytope (and a nil Polytope) has no columns, fails Verify, and rounds everything to the zero Weights. Methods
// may be called concurrently.
type Polytope struct {
	eps    Epsilon
	bits   int
	lo, hi []uint64
}

// NewPolytopeFromBounds returns the box with the given bounds, which it copies. It fails as Verify does. The errors are
// those of Verify, and a *BoxError for bounds of different lengths.
func NewPolytopeFromBounds(eps Epsilon, lo, hi []uint64, bits int) (*Polytope, error) {
	if len(lo) != len(hi) {
		return nil, &BoxError{Index: -1, Reason: fmt.Sprintf("%d lower and %d upper bounds", len(lo), len(hi))}
	}
	p := &Polytope{eps, bits, append([]uint64(nil), lo...), append([]uint64(nil), hi...)}
	if err := p.Verify(); err != nil {
		return nil, err
	}
	return p, nil
}

// Verify returns nil if and only if the box carries the guarantee and has a point:
//
//	lo_j <= hi_j <= 2^B and hi_j <= e^eps lo_j for every j,   sum lo <= 2^B <= sum hi,
//
// with 1 <= B <= 62 and a non-zero eps. Otherwise it returns a *BoxError (for the lowest such column,
// if the fault is in a column), ErrEpsilon or ErrBits.
//
// Argument: hi_j is an integer, so hi_j <= e^eps lo_j is hi_j <= floor(e^eps lo_j), and since
// hi_j <= 2^62 that is hi_j <= factor.floor(lo_j); for lo_j = 0 it says hi_j = 0. Sums are exact.
func (p *Polytope) Verify() error {
	if p == nil || len(p.lo) == 0 || len(p.lo) != len(p.hi) {
		return &BoxError{Index: -1, Reason: "no column"}
	}
	if p.eps.IsZero() {
		return fmt.Errorf("%w: zero Epsilon", ErrEpsilon)
	}
	if err := checkBits(p.bits); err != nil {
		return err
	}
	total, e := p.Total(), newFactor(p.eps.Rat())
	for j, lo := range p.lo {
		hi, reason := p.hi[j], ""
		switch {
		case lo > hi:
			reason = "lower bound above upper bound"
		case hi > total:
			reason = fmt.Sprintf("upper bound above 2^%d", p.bits)
		case hi > e.floor(lo):
			reason = fmt.Sprintf("upper bound above e^%v times the lower bound", p.eps)
		default:
			continue
		}
		return &BoxError{j, lo, hi, reason}
	}
	if sum(p.lo) > total {
		return &BoxError{Index: -1, Reason: fmt.Sprintf("lower bounds sum to more than 2^%d", p.bits)}
	}
	if s := sum(p.hi); s < total {
		return &BoxError{Index: -1, Reason: fmt.Sprintf("upper bounds sum to %d, less than 2^%d", s, p.bits)}
	}
	return nil
}

func checkBits(b int) error {
	if b < 1 || b > maxBits {
		return fmt.Errorf("%w: %d, not in 1..%d", ErrBits, b, maxBits)
	}
	return nil
}

// sum returns min(sum_j v_j, 2^64 - 1). The sums that it is compared with, totals, are at most 2^62.
func sum(v []uint64) (s uint64) {
	for _, x := range v {
		var carry uint64
		if s, carry = bits.Add64(s, x, 0); carry != 0 {
			return math.MaxUint64
		}
	}
	return s
}

// get makes a nil Polytope the zero one.
func (p *Polytope) get() Polytope {
	if p == nil {
		return Polytope{}
	}
	return *p
}

func at(v []uint64, j int) uint64 {
	if j < 0 || j >= len(v) {
		return 0
	}
	return v[j]
}

// Len returns the number of columns.
func (p *Polytope) Len() int { return len(p.get().lo) }

// Lo returns lo_j, in units of 2^-B; 0 if there is no column j.
func (p *Polytope) Lo(j int) uint64 { return at(p.get().lo, j) }

// Hi returns hi_j, in units of 2^-B; 0 if there is no column j.
func (p *Polytope) Hi(j int) uint64 { return at(p.get().hi, j) }

// Bits returns B; 0 for the zero Polytope.
func (p *Polytope) Bits() int { return p.get().bits }

// Epsilon returns eps.
func (p *Polytope) Epsilon() Epsilon { return p.get().eps }

// Total returns 2^B, the sum of the weights of every row; 0 for the zero Polytope.
func (p *Polytope) Total() uint64 {
	if p.Len() == 0 {
		return 0
	}
	return 1 << uint(p.bits)
}

// Bounds returns the float64 nearest to lo_j / 2^B and to hi_j / 2^B, for solvers and displays. Round rounds whatever a
// solver returns, so the rounding of these floats does not affect privacy.
func (p *Polytope) Bounds() (lo, hi []float64) {
	lo, hi = make([]float64, p.Len()), make([]float64, p.Len())
	for j := range lo {
		// One rounding, in the conversion: 2^-62 <= x <= 1 scales exactly.
		lo[j] = math.Ldexp(float64(p.lo[j]), -p.bits)
		hi[j] = math.Ldexp(float64(p.hi[j]), -p.bits)
	}
	return lo, hi
}

// Weights returns n as a row of weights if it is a point of the box: one weight for each column,
// lo <= n <= hi, sum 2^B. Otherwise it returns a *BoxError. It copies n.
func (p *Polytope) Weights(n []uint64) (Weights, error) {
	if len(n) != p.Len() || len(n) == 0 {
		return Weights{}, &BoxError{Index: -1, Reason: fmt.Sprintf("%d weights for %d columns", len(n), p.Len())}
	}
	for j, v := range n {
		if v < p.lo[j] || v > p.hi[j] {
			return Weights{}, &BoxError{j, p.lo[j], p.hi[j], fmt.Sprintf("weight %d is outside", v)}
		}
	}
	if sum(n) != p.Total() {
		return Weights{}, &BoxError{Index: -1, Reason: fmt.Sprintf("weights do not sum to 2^%d", p.bits)}
	}
	return Weights{&row{p.bits, append([]uint64(nil), n...)}}, nil
}
