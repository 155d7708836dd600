package basemeasure

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/projection/verify"
	"github.com/wpm-go/wpm/wpmerr"
)

// Verify recomputes the bounds of a Result in exact rational arithmetic, from M, Weights, Thresholds and the objective
// in Settings alone: upper >= the objective at M, lower <= the objective of every eps-LDP mechanism. It returns
// ErrCertificate if the evidence is malformed, or if Result.Upper or Result.Lower claim more than the evidence proves.
// eps, the costs, Mix and InputWeights count as the rationals that the float64 values are; weights count relative to
// their sum. Errors in the arguments: ErrShape, ErrNotFinite, ErrNegative, ErrEpsilon, ErrSettings.
//
// Except for the search described below, it shares no code with the functions that make a Result. All numbers are
// integers times powers of two: sums of costs in fixed arrays of words (package internal/num), the rest in big.Int, and
// nothing is reduced until the end.
//
// Upper. Let b <= e^(eps/2) be rational, b >= 1. The box [M/b, b*M] lies inside the box of M, so the cost of
// an input in it, a greedy fill, is at least the cost in the box of M. Its mass can fall outside by the
// rounding of M; by the convention for inexact masses (1e-12) the box of M is then the point M / sum M.
//
// Lower. With E >= e^eps rational, w >= 0 and sum w = 1, and any eta: an eps-LDP mechanism lies in the box of
// some m, that is, for x = e^(-eps/2) m, x <= q <= e^eps x <= E x and 1/E <= sum x <= 1. Its cost for input i is
//
//	sum_j C_ij q_j = eta_i + sum_j (C_ij - eta_i) q_j >= eta_i + sum_j x_j h(C_ij - eta_i),
//
// where h(u) = u for u > 0 and E*u otherwise. The worst input costs at least the mean with weights w,
// sum_i w_i eta_i + sum_j x_j b_j with b_j = sum_i w_i h(C_ij - eta_i), and sum_j x_j b_j is at least min_j b_j
// times a number in [1/E, 1]. An objective t * worst + (1-t) * average with weights v is at least the same mean with
// the weights t w + (1-t) v instead of w. Rows without a weight are not read.
//
// Few rows. Input 0 of a ring, and of a grid whose costs do not fall with the distance, has the worst case if M is
// constant. On a ring with equal weights and equal thresholds all b_j are the same. Above 2^22 pairs of places, package
// internal/worst evaluates a few inputs and takes their worst case. By the triangle inequality, and by how distances bend
// on a plane or a sphere, it proves in floats rounded outward that all other inputs cost no more. This proof needs costs
// that are powers of distances, to the error bounds that package cost states for their types. The other inputs are then
// not read, and upper is still the exact maximum.
//
// Verify takes O(kv) for every row that it reads, on all cores, and O(k + kv) memory besides 16 MB of rows.
// If ctx ends first, the error is wpmerr.ErrNotConverged.
func Verify(ctx context.Context, c cost.Matrix, eps float64, r Result) (upper, lower *big.Rat, err error) {
	ctx = wpmerr.Context(ctx)
	if err := cost.Validate(ctx, c); err != nil {
		return nil, nil, err
	}
	if err := checkEps(eps); err != nil {
		return nil, nil, err
	}
	k, kv := c.Dims()
	goal, err := newGoal(k, r.Settings)
	if err != nil {
		return nil, nil, err
	}
	if err := r.wellFormed(k, kv); err != nil {
		return nil, nil, err
	}
	shares, err := goal.shares(r.Weights)
	if err != nil {
		return nil, nil, err
	}

	half := new(big.Rat).SetFloat64(eps)
	down, up := num.ExpFixed(half.Quo(half, big.NewRat(2, 1)), expBits)
	u, err := newUpperCheck(c, r.M, num.DyadicInt(down, -expBits), goal)
	if err != nil {
		return nil, nil, err
	}
	if upper, err = u.check(ctx); err != nil {
		return nil, nil, ended(ctx, err)
	}
	root := num.DyadicInt(up, -expBits)
	l := lowerCheck{c: c, shares: shares, parts: num.DyadicInt(goal.parts(), 0), thresholds: r.Thresholds,
		e: root.Times(root)}
	if lower, err = l.check(ctx); err != nil {
		return nil, nil, ended(ctx, err)
	}
	if lower.Cmp(upper) > 0 {
		// Impossible for evidence about one cost: the two theorems above contradict each other.
		return upper, lower, fmt.Errorf("%w: lower bound %v above upper bound %v", wpmerr.ErrCertificate, show(lower), show(upper))
	}
	return upper, lower, verify.Claims(r.Lower, r.Upper, lower, upper)
}

// wellFormed checks lengths and ranges of the evidence.
func (r *Result) wellFormed(k, kv int) error {
	if len(r.M) != kv || len(r.Weights) != k || len(r.Thresholds) != k {
		return fmt.Errorf("%w: lengths %d, %d, %d of M, Weights, Thresholds for a %d x %d cost",
			wpmerr.ErrCertificate, len(r.M), len(r.Weights), len(r.Thresholds), k, kv)
	}
	for _, v := range []struct {
		what string
		list []float64
	}{{"M", r.M}, {"Weights", r.Weights}} {
		for at, x := range v.list {
			if !(x >= 0 && x <= math.MaxFloat64) {
				return fmt.Errorf("%w: %s[%d] = %v", wpmerr.ErrCertificate, v.what, at, x)
			}
		}
	}
	for i, x := range r.Thresholds {
		if !(math.Abs(x) <= math.MaxFloat64) {
			return fmt.Errorf("%w: Thresholds[%d] = %v", wpmerr.ErrCertificate, i, x)
		}
	}
	return nil
}

func show(r *big.Rat) string {
	x, _ := r.Float64()
	return fmt.Sprintf("%.17g", x)
}

// expBits is the number of binary places of the bounds on e^(eps/2).
const expBits = 256

// goal is the objective in exact terms: mix/(mix+rest) times the maximum over the inputs that count, plus
// rest/(mix+rest) times the mean with the weights average/sum of them.
type goal struct {
	mix, rest *big.Int
	exclude   []int
	average   []float64 // nil if rest is zero
}

func newGoal(k int, s Settings) (*goal, error) {
	if _, err := s.resolve(k, 1, false); err != nil {
		return nil, err
	}
	g := &goal{mix: big.NewInt(1), rest: new(big.Int), exclude: s.Exclude}
	switch s.Objective {
	case Average:
		g.mix, g.rest = g.rest, g.mix
	case Mixed:
		t := new(big.Rat).SetFloat64(s.Mix)
		g.mix.Set(t.Num())
		g.rest.Sub(t.Denom(), t.Num())
	}
	if g.rest.Sign() != 0 {
		if g.average = s.InputWeights; g.average == nil {
			g.average = slices.Repeat([]float64{1}, k)
		}
	}
	return g, nil
}

// plain reports whether the objective is the worst case over all inputs.
func (g *goal) plain() bool { return g.average == nil && len(g.exclude) == 0 }

func (g *goal) parts() *big.Int { return new(big.Int).Add(g.mix, g.rest) }

// weighing is a part of an objective, of mix + rest: a mean by weights relative to their sum.
type weighing struct {
	part, sum *num.Dyadic
	weights   []float64
}

// shares returns the means that the lower bound is about: by the adversary's weights, and by those of the average.
func (g *goal) shares(adversary []float64) (list []weighing, err error) {
	for _, i := range g.exclude {
		if w := adversary[i]; w != 0 {
			return nil, fmt.Errorf("%w: Weights[%d] = %v for an input that is left out", wpmerr.ErrCertificate, i, w)
		}
	}
	add := func(part *big.Int, weights []float64) {
		list = append(list, weighing{num.DyadicInt(part, 0), num.DyadicSum(weights), weights})
	}
	if g.mix.Sign() != 0 {
		if !slices.ContainsFunc(adversary, func(w float64) bool { return w != 0 }) {
			return nil, fmt.Errorf("%w: all weights are zero", wpmerr.ErrCertificate)
		}
		add(g.mix, adversary)
	}
	if g.average != nil {
		add(g.rest, g.average)
	}
	return list, nil
}
