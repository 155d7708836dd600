package sinkhorn

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/big"

	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/projection/verify"
	"github.com/wpm-go/wpm/sinkhorn/internal/gridproof"
	"github.com/wpm-go/wpm/wpmerr"
)

// Verify checks r against p and returns, in lowest terms, bounds that it has proved itself on the exact problem, the
// one without the entropy:
//
//	lower <= min { <C, P> : P from the source into the box } <= W(Q, source) <= upper.
//
// The lower bound is what r.Potentials prove, whose feasibility F_i + G_j <= C_ij is checked for every i and j as an
// exact statement about floats. The upper bound is the cost of a plan from mu to Q. The plan is not stored: it is made
// from r.LogV and r.Reg, repaired, and cut to multiples of 2^-62. From there on everything is exact. Package
// projection/verify does this work, and its comments have the proof.
//
// Verify also checks that Q is in the box to the last bit and sums to 1 as documented, and that r.Lower, r.Upper,
// r.Transport and r.Residual do not promise more than it finds. An error wraps ErrCertificate and says what failed; a
// Problem that is itself invalid gives the errors of Project.
//
// Answers of Project are accepted if Reg and the largest cost are at least 1e-290. Smaller values lead to subnormal
// floats, where the rounding of Reg and of the bounds may not be small, so some answers are refused.
//
// It takes three passes over the cost, with two exponentials and an exact product for every pair of a row with mass and
// a column with room: about 60 ns per pair. On a grid of more than 1e8 pairs, floats with bounds on their errors
// replace the exact products.
//
// If the context ends, the error is wpmerr.ErrNotConverged, and at most one further row is read. The float passes of a
// grid of more than 1e8 pairs do not look at it.
func Verify(ctx context.Context, p Problem, r Result) (upper, lower *big.Rat, err error) {
	ctx = wpmerr.Context(ctx)
	if p.Reg == 0 && r.Settings.Gap > 0 {
		p.Reg = r.Reg // chosen by the gap
	}
	v, err := newVerifier(p, r.Q)
	if err != nil {
		return nil, nil, err
	}
	v.Until(ctx)
	if lower, err = v.lower(r.Potentials); err != nil {
		return nil, nil, err
	}
	if upper, err = v.upper(r); err != nil {
		return nil, nil, err
	}
	for _, x := range []float64{r.Transport, r.Objective, r.Residual, r.Posterior} {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, nil, refuse("Transport = %v, Objective = %v, Residual = %v, Posterior = %v",
				r.Transport, r.Objective, r.Residual, r.Posterior)
		}
	}
	if err := verify.Claims(r.Lower, r.Upper, lower, upper); err != nil {
		return nil, nil, err
	}
	return upper, lower, nil
}

// verifier is a problem as Verify reads it.
type verifier struct {
	*verify.Case
	grid *gridproof.Case // the same, if the cost is a grid at squared distance, else nil
}

func newVerifier(p Problem, q []float64) (*verifier, error) {
	c, err := verify.New(p.Problem, q)
	if err != nil {
		return nil, err
	}
	if err := checkReg("Reg", p.Reg); err != nil {
		return nil, err
	}
	return &verifier{c, gridproof.New(c)}, nil
}

func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: %s", wpmerr.ErrCertificate, fmt.Sprintf(format, args...))
}

// large reports whether so many rows of a grid have too many pairs to look at each.
func (v *verifier) large(rows int) bool {
	return v.grid != nil && float64(rows)*float64(v.Kv) > gridproof.Pairs
}

// lower proves the lower bound: p is feasible, and its dual value is exact.
func (v *verifier) lower(p projection.Potentials) (*big.Rat, error) {
	if v.large(v.K) {
		return v.grid.Lower(p)
	}
	if _, err := v.Lower(p); err != nil {
		return nil, err
	}
	return v.Dual(p), nil
}

// upper proves the upper bound, and checks Transport and Residual.
func (v *verifier) upper(r Result) (*big.Rat, error) {
	if r.Flow != nil {
		if v.grid == nil {
			return nil, refuse("a flow between cells, but the cost is not a grid")
		}
		if err := v.grid.Check((*gridproof.Flow)(r.Flow)); err != nil {
			return nil, err
		}
	}
	rows := 0
	_ = v.Masses(func(int, float64, float64) error {
		rows++
		return nil
	})
	return v.plan(r, v.large(rows))
}

// plan is upper with the plan of r.LogV: row by row or, on a large grid, with its moments.
func (v *verifier) plan(r Result, large bool) (*big.Rat, error) {
	found, err := v.found(r, large)
	if err != nil {
		return nil, err
	}
	return found.Upper, claimed(r, found)
}

func (v *verifier) found(r Result, large bool) (verify.Found, error) {
	flow := (*gridproof.Flow)(r.Flow)
	if large {
		return v.grid.Plan(r.LogV, r.Reg, flow)
	}
	plan, err := v.Scaling(r.LogV, r.Reg)
	if err != nil {
		return verify.Found{}, err
	}
	var moves verify.Moves
	if flow != nil {
		moves = v.grid.Moves(flow)
	}
	return v.Dense(plan, moves)
}

// claimSlack is how far Transport, over the largest cost, and Residual may be from what Verify computes from LogV in
// float64. Entries of the plan are off by the rounding of LogV and C/Reg, which Project limits to 1e9 and so to 1e-6
// relative; the bounds do not depend on these two claims.
const claimSlack = 4e-6

// claimed compares what r says of its plan with what was found.
func claimed(r Result, found verify.Found) error {
	most := cmp.Or(found.Most, 1)
	if d := math.Abs(found.Transport - r.Transport/most); !(d <= claimSlack+4*math.SmallestNonzeroFloat64/most) {
		return refuse("Transport = %v, but the plan of LogV costs %v", r.Transport, found.Transport*most)
	}
	if d := math.Abs(found.Residual - r.Residual); !(d <= claimSlack) {
		return refuse("Residual = %v, but the columns of the plan are off Q by %v", r.Residual, found.Residual)
	}
	return nil
}
