// Package ldp is the trusted core of wpm. It draws a sample from a finite set under pure local differential privacy,
// and proves the guarantee as a statement about integers.
//
// # The problem
//
// Every client holds a private distribution and releases one index j out of kv. A mechanism
// fixes, in public, a number of bits B, a rational eps > 0 and a box of integers
//
//	lo_j <= n_j <= hi_j,   sum_j n_j = 2^B,   hi_j <= e^eps lo_j.
//
// A client picks any point n of the box, by any means, and draws j with probability n_j / 2^B.
//
// # The guarantee
//
// Let n and n' be the points of two clients and A any set of indices. Then
//
//	P[j in A] = sum_A n_j / 2^B <= sum_A hi_j / 2^B <= e^eps sum_A lo_j / 2^B <= e^eps sum_A n'_j / 2^B,
//
// which is eps-local differential privacy, with no slack and no delta. The argument does not depend on how n was found:
// a solver that fails, stops early or returns NaN costs utility, not privacy. Only this package has to be right:
//
//   - [Polytope.Verify] decides hi_j <= e^eps lo_j and sum lo <= 2^B <= sum hi. A *Polytope that a constructor returned
//     has passed this check, and no method changes the box. (Assigning another box to *p replaces the whole box, as
//     with any pointer; a publisher should keep a copy.)
//   - [Polytope.Round] takes any slice of floats to a point of the box. [Polytope.Weights] takes integers, and refuses
//     them unless they are a point of the box.
//   - [Weights.Sample] reads B random bits r and returns the first j with n_0 + .. + n_j > r.
//     Exactly n_j of the 2^B values of r give j.
//
// The guarantee is for one release. Two releases of one client cost 2 eps. The guarantee assumes that the random bits
// are uniform and secret, and that the caller of Sample shows the index alone. The weights of one client are private
// (they print as a fixed text), and so are the running times and errors of the solver that found them. Sample and the
// reading of random bytes do the same work for every point of a box; Round does not.
//
// # Names
//
//	eps        Epsilon       a rational between 1e-18 and 64, read from a decimal or a fraction
//	B          bits          1 to 62
//	2^B        Total         the sum of all weights
//	lo_j, hi_j Lo, Hi        the box, 0 <= lo_j <= hi_j <= 2^B
//	n_j        Weights.At    the weights of one row
//	m_j        m             a base measure: lo_j is near 2^B e^(-eps/2) m_j, hi_j near 2^B e^(eps/2) m_j
//
// # How
//
// e^eps is irrational for every rational eps > 0. So e^eps n is never an integer for n >= 1, and its floor can be
// decided by enclosing e^eps narrowly enough (exp.go). All other arithmetic is on math/big, or on uint64 with a stated
// bound at each step. Floats come in as untrusted proposals (m and q, taken as exact dyadic rationals) and go out for
// display and for solvers (Bounds, Float64). No float takes part in a verdict or in a probability.
//
// # Cost
//
// Verify, Weights and Sample are linear in kv. NewPolytope and Round scan the columns up to about 64 times. A Polytope
// takes two words of memory per column, Weights one, and Round two while it runs.
//
// # Trust base
//
// This package, math/big, math/bits, the reader of random bytes, and the toolchain.
package ldp
