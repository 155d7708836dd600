package projection

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"github.com/wpm-go/wpm/proptest"
	"github.com/wpm-go/wpm/proptest/exact"
)

// A Certificate is the evidence for a projection. It is data: the laws recompute what it proves in exact arithmetic.
type Certificate struct {
	// Plan moves Mu / sum Mu to Q. Row and column sums may be off by rounding: excess mass is cut, and missing mass is
	// charged at the largest cost.
	Plan []Arc
	// G has a number for every column: the dual variables of the column sums. Those of the rows follow from them,
	// F_i = min_j C_ij - G_j.
	G []float64
}

// An Arc is an entry of a plan: Mass moves from row I to column J.
type Arc struct {
	I, J int
	Mass float64
}

var errCertificate = errors.New("projection: not a certificate")

// Lower returns the bound that G proves on every plan from Mu to a point of the box,
//
//	sum_i mu_i min_j (C_ij - G_j) + sum_j min(lo_j G_j, hi_j G_j),
//
// with the minimum over the columns that may have mass, or 0 if that is larger, since costs are not negative. The bound
// is exact.
func Lower(p proptest.Problem, g []float64) (*big.Rat, error) {
	if len(g) != len(p.Lo) {
		return nil, fmt.Errorf("%w: G has %d entries, want %d", errCertificate, len(g), len(p.Lo))
	}
	for j, v := range g {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%w: G[%d] = %v", errCertificate, j, v)
		}
	}
	mu, err := exact.Distribution(p.Mu)
	if err != nil {
		return nil, err
	}
	l, h, err := exact.Box(p.Lo, p.Hi)
	if err != nil {
		return nil, err
	}
	b, sum := exact.Rats(g), new(big.Rat)
	for j := range b {
		sum.Add(sum, exact.Min(exact.Mul(l[j], b[j]), exact.Mul(h[j], b[j])))
	}
	for i, m := range mu {
		if m.Sign() == 0 {
			continue
		}
		var least *big.Rat
		for j, c := range p.C[i] {
			if h[j].Sign() == 0 {
				continue
			}
			if d := exact.Sub(exact.Rat(c), b[j]); least == nil || d.Cmp(least) < 0 {
				least = d
			}
		}
		sum.Add(sum, exact.Mul(m, least))
	}
	return exact.Max(sum, new(big.Rat)), nil
}

// Upper returns the cost of a plan from Mu to the point of the box next to q: the given plan where it fits, and the
// largest cost for the remaining mass. The bound is exact.
func Upper(p proptest.Problem, q []float64, plan []Arc) (*big.Rat, error) {
	mu, err := exact.Distribution(p.Mu)
	if err != nil {
		return nil, err
	}
	room, err := nearest(p, q)
	if err != nil {
		return nil, err
	}
	sum, rest, seen := new(big.Rat), big.NewRat(1, 1), map[[2]int]bool{}
	for _, e := range plan {
		switch at := [2]int{e.I, e.J}; {
		case e.I < 0 || e.I >= len(mu) || e.J < 0 || e.J >= len(room):
			return nil, fmt.Errorf("%w: no pair (%d, %d)", errCertificate, e.I, e.J)
		case !(e.Mass >= 0) || math.IsInf(e.Mass, 0):
			return nil, fmt.Errorf("%w: mass %v from %d to %d", errCertificate, e.Mass, e.I, e.J)
		case seen[at]:
			return nil, fmt.Errorf("%w: pair (%d, %d) twice", errCertificate, e.I, e.J)
		default:
			seen[at] = true
		}
		m := exact.Min(exact.Rat(e.Mass), exact.Min(mu[e.I], room[e.J]))
		mu[e.I], room[e.J], rest = exact.Sub(mu[e.I], m), exact.Sub(room[e.J], m), exact.Sub(rest, m)
		sum.Add(sum, exact.Mul(m, exact.Rat(p.C[e.I][e.J])))
	}
	return sum.Add(sum, exact.Mul(rest, exact.Rat(proptest.MaxCost(p.C)))), nil
}

// nearest returns a point of the box as near to q as its mass allows.
func nearest(p proptest.Problem, q []float64) ([]*big.Rat, error) {
	l, h, err := exact.Box(p.Lo, p.Hi)
	if err != nil {
		return nil, err
	}
	x, rest := make([]*big.Rat, len(l)), big.NewRat(1, 1)
	for j := range x {
		x[j] = exact.Max(l[j], exact.Min(h[j], exact.Rat(q[j])))
		rest.Sub(rest, x[j])
	}
	for j := range x {
		step := exact.Max(exact.Sub(l[j], x[j]), exact.Min(exact.Sub(h[j], x[j]), rest))
		x[j], rest = exact.Add(x[j], step), exact.Sub(rest, step)
	}
	return x, nil
}

// claims fails the test if a bound is NaN. An infinite bound says nothing.
func claims(t proptest.TB, lower, upper float64) {
	t.Helper()
	if math.IsNaN(lower) || math.IsNaN(upper) || math.IsInf(lower, 1) || math.IsInf(upper, -1) {
		t.Fatalf("[Lower, Upper] = [%v, %v]", lower, upper)
	}
}

// above reports whether the claim x is above the exact v. NaN is.
func above(x float64, v *big.Rat) bool {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return !math.IsInf(x, -1)
	}
	return exact.Rat(x).Cmp(v) > 0
}

// below reports whether the claim x is below the exact v. NaN is.
func below(x float64, v *big.Rat) bool {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return !math.IsInf(x, 1)
	}
	return exact.Rat(x).Cmp(v) < 0
}
