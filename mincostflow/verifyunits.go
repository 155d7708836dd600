package mincostflow

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
)

// VerifyUnits checks r against p and returns bounds that it has proved itself, in lowest terms:
//
//	lower <= min { <C, P>/N : P from the source into the box } <= W(Q, source) <= upper.
//
// All of it is exact: Q consists of whole units in the box, N in all; the plan has the source and Q
// as its row and column sums, which makes its cost over N the upper bound (if Status is Cancelled, it may have less, and what is
// missing counts at the largest cost); F and G are feasible, and the
// lower bound is their dual value
//
//	(sum_i source_i F_i + sum_j min(lo_j G_j, hi_j G_j)) / N,
//
// with hi_j at most N, since no column can hold more, or zero. Of a result without an error both are
// the same number. An error wraps ErrCertificate and says what failed, also if r.Lower or r.Upper promise
// more; a UnitProblem that is itself invalid gives the errors of ProjectUnits.
//
// It takes one pass over the cost in floats, with rational arithmetic for close calls. Like Verify, it uses no
// code of the solver.
func VerifyUnits(p UnitProblem, r UnitResult) (upper, lower *big.Rat, err error) {
	k, kv, n, err := unitShape(p)
	if err != nil {
		return nil, nil, err
	}
	if len(r.Q) != kv {
		return nil, nil, refuse("Q has %d entries, want %d", len(r.Q), kv)
	}
	left := make([]uint64, kv) // of Q, as the plan is read
	var sum uint64
	for j, q := range r.Q {
		if q < p.Lo[j] || q > p.Hi[j] {
			return nil, nil, refuse("Q[%d] = %d is outside [%d, %d]", j, q, p.Lo[j], p.Hi[j])
		}
		left[j] = uint64(q)
		if sum += left[j]; sum > n {
			return nil, nil, refuse("Q sums to more than %d up to entry %d", n, j)
		}
	}
	if sum != n {
		return nil, nil, refuse("Q sums to %d, want %d", sum, n)
	}
	f, g := r.Potentials.F, r.Potentials.G
	if len(f) != k || len(g) != kv {
		return nil, nil, refuse("potentials have %d and %d entries, want %d and %d", len(f), len(g), k, kv)
	}
	// Floats near the potentials; a nil one is refused.
	nearF, err := nearRats("F", f)
	if err != nil {
		return nil, nil, err
	}
	nearG, err := nearRats("G", g)
	if err != nil {
		return nil, nil, err
	}
	source := make([]uint64, k)
	for m, u := range p.Source {
		i := m
		if p.Support != nil {
			i = p.Support[m]
		}
		source[i] = uint64(u)
	}

	v := verifier{c: p.Cost, k: k, kv: kv, buf: make([]float64, kv)}
	carried := new(exact)
	missing, most := uint64(0), 0.0
	at := 0
	for i := range k {
		row, err := v.row(i)
		if err != nil {
			return nil, nil, err
		}
		if err := feasible(row, i, f, g, nearF, nearG); err != nil {
			return nil, nil, err
		}
		rest, last := source[i], -1
		for ; at < len(r.Plan) && r.Plan[at].I == i; at++ {
			a := r.Plan[at]
			if a.J <= last || a.J >= kv {
				return nil, nil, refuse("Plan[%d] at (%d, %d) is out of order or outside %d x %d", at, a.I, a.J, k, kv)
			}
			last = a.J
			if a.Units < 1 || uint64(a.Units) > rest || uint64(a.Units) > left[a.J] {
				return nil, nil, refuse("Plan[%d] moves %d units; the row has %d left, the column takes %d more", at, a.Units, rest, left[a.J])
			}
			rest -= uint64(a.Units)
			left[a.J] -= uint64(a.Units)
			x := &exact{}
			x.n.SetInt64(a.Units)
			carried.add(x.times(exactFloat(row[a.J])), 1)
		}
		if rest != 0 && r.Status != Cancelled {
			return nil, nil, refuse("the plan leaves %d units on row %d", rest, i)
		}
		missing += rest
		if source[i] > 0 {
			for j, c := range row {
				if c > most && p.Hi[j] > 0 {
					most = c
				}
			}
		}
	}
	if at < len(r.Plan) {
		return nil, nil, refuse("Plan[%d] at (%d, %d) is out of order or outside %d x %d", at, r.Plan[at].I, r.Plan[at].J, k, kv)
	}
	// No row sends more than it has, and no column takes more than Q: since both sum to N, the rows with units left can send
	// them to the columns that lack some, at the largest cost at most.
	x := &exact{}
	x.n.SetUint64(missing)
	carried.add(x.times(exactFloat(most)), 1)

	units := new(big.Rat).SetInt(new(big.Int).SetUint64(n))
	upper = carried.over(one)
	upper.Quo(upper, units)
	lower = new(big.Rat)
	y := new(big.Rat)
	for i, u := range source {
		if u > 0 {
			y.SetInt(new(big.Int).SetUint64(u))
			lower.Add(lower, y.Mul(y, f[i]))
		}
	}
	for j := range g {
		b := uint64(p.Lo[j])
		if g[j].Sign() < 0 {
			b = min(uint64(p.Hi[j]), n)
		}
		y.SetInt(new(big.Int).SetUint64(b))
		lower.Add(lower, y.Mul(y, g[j]))
	}
	lower.Quo(lower, units)
	if lower.Sign() < 0 {
		lower.SetInt64(0)
	}
	switch {
	case r.Lower == nil || r.Upper == nil:
		return nil, nil, refuse("Lower or Upper is missing")
	case r.Lower.Cmp(lower) > 0:
		return nil, nil, refuse("Lower = %v, but only %v is proved", r.Lower.RatString(), lower.RatString())
	case r.Upper.Cmp(upper) < 0:
		return nil, nil, refuse("Upper = %v, but only %v is proved", r.Upper.RatString(), upper.RatString())
	case math.IsNaN(r.Objective) || math.IsInf(r.Objective, 0):
		return nil, nil, refuse("Objective = %v", r.Objective)
	}
	return upper, lower, nil
}

// unitShape checks p as far as it takes no pass over the cost, and returns its dimensions and units.
func unitShape(p UnitProblem) (k, kv int, n uint64, err error) {
	// A source of one unit on the first row stands in for the checks that do not concern units.
	v, err := newVerifier(p.Cost, []float64{1}, []int{0})
	if err != nil {
		return 0, 0, 0, err
	}
	k, kv = v.k, v.kv
	if p.Support == nil && len(p.Source) != k {
		return 0, 0, 0, fmt.Errorf("%w: source of %d for %d rows", ErrShape, len(p.Source), k)
	}
	if p.Support != nil && len(p.Source) != len(p.Support) {
		return 0, 0, 0, fmt.Errorf("%w: source of %d for a support of %d", ErrShape, len(p.Source), len(p.Support))
	}
	for m, i := range p.Support {
		if i < 0 || i >= k || m > 0 && i <= p.Support[m-1] {
			return 0, 0, 0, fmt.Errorf("%w: entry %d is %d", ErrSupport, m, i)
		}
	}
	for m, u := range p.Source {
		if u < 0 {
			return 0, 0, 0, fmt.Errorf("%w: source %d is %d", ErrNegative, m, u)
		}
		var carry uint64
		if n, carry = bits.Add64(n, uint64(u), 0); carry != 0 || n > 1<<62 {
			return 0, 0, 0, fmt.Errorf("%w: more than 2^62 units up to source %d", ErrOverflow, m)
		}
	}
	if n == 0 {
		return 0, 0, 0, fmt.Errorf("%w: no units", ErrMass)
	}
	if len(p.Lo) != kv || len(p.Hi) != kv {
		return 0, 0, 0, fmt.Errorf("%w: bounds of %d and %d for %d columns", ErrShape, len(p.Lo), len(p.Hi), kv)
	}
	low, high := new(big.Int), new(big.Int)
	for j := range p.Lo {
		if p.Lo[j] < 0 || p.Hi[j] < 0 {
			return 0, 0, 0, fmt.Errorf("%w: column %d in [%d, %d]", ErrNegative, j, p.Lo[j], p.Hi[j])
		}
		if p.Lo[j] > p.Hi[j] {
			return 0, 0, 0, fmt.Errorf("%w: column %d, %d > %d", ErrBox, j, p.Lo[j], p.Hi[j])
		}
		low.Add(low, big.NewInt(p.Lo[j]))
		high.Add(high, big.NewInt(p.Hi[j]))
	}
	if m := new(big.Int).SetUint64(n); low.Cmp(m) > 0 || high.Cmp(m) < 0 {
		return 0, 0, 0, fmt.Errorf("%w: no distribution in the box: the bounds sum to %v and %v, for %d units", ErrInfeasible, low, high, n)
	}
	return k, kv, n, nil
}

// nearRats returns floats near xs: within 2^-52 of themselves, or a smallest float, or infinite.
func nearRats(name string, xs []*big.Rat) ([]float64, error) {
	near := make([]float64, len(xs))
	for n, x := range xs {
		if x == nil {
			return nil, refuse("%s[%d] is missing", name, n)
		}
		near[n], _ = x.Float64()
	}
	return near, nil
}

// feasible checks that f[i] + g[j] <= row[j] for all j: in floats, where that is beyond doubt, and in rationals
// where not.
func feasible(row []float64, i int, f, g []*big.Rat, nearF, nearG []float64) error {
	// Far above the rounding of three numbers and two subtractions; and not a number or infinite is doubt.
	const sure = 0x1p-48
	a := nearF[i]
	for j, c := range row {
		b := nearG[j]
		if d := (c - a) - b; d > sure*(c+math.Abs(a)+math.Abs(b))+0x1p-1000 && d <= math.MaxFloat64 {
			continue
		}
		x := new(big.Rat).SetFloat64(c)
		x.Sub(x, f[i])
		if x.Cmp(g[j]) < 0 {
			return refuse("F[%d] + G[%d] is above C[%d][%d] = %v", i, j, i, j, c)
		}
	}
	return nil
}
