// Package verify checks answers of projection solvers in exact arithmetic: it proves bounds
//
//	lower <= min { <C, P> : P from the source into the box } <= W(Q, source) <= upper
//
// from what a solver hands over, potentials and a plan, and trusts nothing of it. It imports no solver: the reading of
// the masses, the arithmetic and the argument are its own.
//
// # The lower bound
//
// Lower uses G alone, and any numbers would do (weak duality): with f_i = min_j (C_ij - G_j), every plan P from mu to
// some q in the box costs
//
//	<C, P> >= sum_ij (f_i + G_j) P_ij = sum_i mu_i f_i + sum_j q_j G_j
//	       >= sum_i mu_i f_i + sum_j min(lo_j G_j, hi_j G_j),
//
// and costs are not negative. It also checks what potentials claim, F_i + G_j <= C_ij as exact numbers.
//
// # The upper bound
//
// Plan takes a plan that is stored, and Dense one that is made row by row. Any numbers >= 0 are a plan between their
// own sums. Scale down the rows of P that exceed mu, then the columns that exceed the target t: this removes at most
// the sum of the excesses and costs nothing. What is then missing to mass 1 can be moved from the rows with some left
// to the columns with room left, at no more than maxC, the largest cost between a row with mass and a column that may
// hold some. So
//
//	W(t, mu) <= <C, P> + maxC * (1 - mass(P) + excess of rows over mu + excess of columns over t),
//
// and W(t, mu) <= maxC. Q as floats need not sum to 1. If it sums to s > 1, t is any distribution below Q, or Q/s, and
// columns exceed it by at most s - 1 more than they exceed Q; if to less, t is any above it, or Q/s, and they exceed it
// by no more. When the box is a single point that the bounds describe only up to scale, t is that exact point, or Q,
// whichever is worse.
//
// # Cost
//
// Lower takes one pass over the cost, and big-number operations for every row and column; Plan takes them for every
// entry of the plan. Dense takes two passes over the rows with mass, and an exact product for every cell.
package verify
