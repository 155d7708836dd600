// Package paper is Algorithm 1 of the paper, "Projection onto LDP polytope with entropic regularization", as the
// listing stands: for reading beside it, and for checking faster methods against. Every vector of the listing is here
// under its own name with Log in front. Nothing is centred, absorbed, tabulated or accelerated.
//
// It minimises <C, P> + lambda sum P log P over the plans P >= 0 with row sums mu and column sums q in the box lo <=
// q <= hi, sum q = 1. The plan is P_ij = u_i K_ij v_j with K_ij = exp(-C_ij/lambda); the factor 1/Z of the listing
// cancels. Line 8 of the listing finds its multiplier by bisection; package kl finds the same exactly.
//
// # Where its numbers can be relied on
//
// C_ij/lambda is rounded to a relative 2^-53, and so entries of K to (max C / lambda) 2^-53. The laws of proptest ask
// for 1e-11, so this package keeps them where max C / lambda is at most 1000. sinkhorn.Project with method Paper runs
// it on differences of costs and adds proven bounds. The laws then hold for any C, where lambda is at least 1e-4 of the
// spread, max_i (max_j C_ij - min_j C_ij). proptest/projection.EntropicOn sets the domain that the laws draw from; by
// default, the spread is at least 1e-9 max C and lambda 1e-4 of it.
//
// # Cost
//
// An iteration takes two exponentials for every pair of a row and a column, some 20 ns, on one thread, and O(k + kv)
// memory. The number of iterations is up to the rate of the theorem, and so to exp(-max C/lambda): see
// docs/algorithms/algorithm1.md.
package paper

import (
	"context"
	"fmt"
	"math"

	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/sinkhorn/kl"
	"github.com/wpm-go/wpm/wpmerr"
)

// Problem is the input of the listing. Rows of C with mu_i = 0 are left out beforehand.
type Problem struct {
	C      [][]float64 // k rows of kv costs, finite
	Mu     []float64   // > 0, sums to 1
	Lo, Hi []float64   // 0 <= Lo <= Hi, and the box holds a distribution: alpha m and beta m in the paper
	Lambda float64     // > 0
}

// Iterate holds the vectors of the listing after one pass through its loop, all as logarithms except Q.
type Iterate struct {
	LogV  []float64 // v^(t)
	LogU  []float64 // u^(t) = mu / (K v^(t))
	LogS  []float64 // s^(t) = K' u^(t)
	Q     []float64 // q^(t) = clip(e^Theta s^(t), Lo, Hi), of mass 1
	Theta float64
	Next  []float64 // v^(t+1) = q^(t) / s^(t)

	terms []float64
	exact kl.Workspace
}

// New returns the iterate before the first step: v = exp(logV), or v = 1 for nil.
func New(p Problem, logV []float64) *Iterate {
	k, kv := len(p.Mu), len(p.Lo)
	it := &Iterate{
		LogV: make([]float64, kv), LogU: make([]float64, k), LogS: make([]float64, kv), Q: make([]float64, kv),
		Next: make([]float64, kv), terms: make([]float64, max(k, kv)),
	}
	copy(it.Next, logV)
	return it
}

// Step takes v from Next and passes through the loop of the listing once. If the context ends on the way, Step returns
// its error (the only error is that of ctx), and of the iterate only the last Q is still valid.
func (it *Iterate) Step(ctx context.Context, p Problem) error {
	ctx = wpmerr.Context(ctx)
	it.LogV, it.Next = it.Next, it.LogV

	// Line 6: u = mu / (K v).
	for i, row := range p.C {
		if ctx.Err() != nil {
			return wpmerr.Ended(ctx)
		}
		x := it.terms[:len(row)]
		for j, c := range row {
			x[j] = it.LogV[j] - c/p.Lambda
		}
		it.LogU[i] = num.Log(p.Mu[i]) - num.LogSumExp(x)
	}

	// Line 7: s = K' u.
	for j := range it.LogS {
		if ctx.Err() != nil {
			return wpmerr.Ended(ctx)
		}
		x := it.terms[:len(p.C)]
		for i, row := range p.C {
			x[i] = it.LogU[i] - row[j]/p.Lambda
		}
		it.LogS[j] = num.LogSumExp(x)
	}

	// Line 8: q = the projection of s in divergence.
	theta, ok := it.exact.Project(it.LogS, p.Lo, p.Hi, it.Q)
	if !ok {
		return fmt.Errorf("paper: no distribution of finite divergence in the box")
	}
	it.Theta = theta

	// Line 9: v = q / s, which is clip(e^theta, lo/s, hi/s), where nothing underflows.
	for j, s := range it.LogS {
		it.Next[j] = math.Min(math.Max(theta, num.Log(p.Lo[j])-s), num.Log(p.Hi[j])-s)
	}
	return nil
}

// Residual returns |q - c|_1, c = v s being the column sums of the plan u_i K_ij v_j, whose row sums are mu.
func (it *Iterate) Residual() float64 {
	var sum float64
	for j, q := range it.Q {
		sum += math.Abs(q - math.Exp(it.LogV[j]+it.LogS[j]))
	}
	return sum
}

// Project repeats Step from v = 1 until the residual is at most tol, but at most `most` times. It returns the last
// iterate and the number of iterations. Its error is the context's.
func Project(ctx context.Context, p Problem, tol float64, most int) (it *Iterate, n int, err error) {
	it = New(p, nil)
	for n < most {
		if err := it.Step(ctx, p); err != nil {
			return it, n, err
		}
		if n++; it.Residual() <= tol {
			break
		}
	}
	return it, n, nil
}
