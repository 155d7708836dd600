// Package verify checks answers of projection solvers in exact arithmetic. It proves bounds
//
//	lower <= min { <C, P> : P from the source into the box } <= W(Q, source) <= upper
//
// from the potentials and the plan that a solver returns, and trusts neither. It imports no solver: it reads the
// masses, does the arithmetic and proves the bounds by itself.
//
// # The lower bound
//
// Lower uses G alone, and any numbers G_j give a bound (weak duality). With f_i = min_j (C_ij - G_j), every plan P from
// mu to some q in the box costs
//
//	<C, P> >= sum_ij (f_i + G_j) P_ij = sum_i mu_i f_i + sum_j q_j G_j
//	       >= sum_i mu_i f_i + sum_j min(lo_j G_j, hi_j G_j),
//
// and costs are not negative, so 0 is a bound as well. Lower also checks the claim of the potentials, F_i + G_j <=
// C_ij, in exact numbers.
//
// # The upper bound
//
// Plan takes a stored plan; Dense takes a plan that is made row by row. Any numbers >= 0 are a plan between their own
// sums. Scale down the rows of P that exceed mu, then the columns that exceed the target t: this removes at most the
// sum of the excesses and costs nothing. The mass that is then missing can be moved from the rows with mass left to the
// columns with room left, at a unit cost of at most maxC, the largest cost between a row with mass and a column that
// may hold mass. So
//
//	W(t, mu) <= <C, P> + maxC * (1 - mass(P) + excess of rows over mu + excess of columns over t),
//
// and W(t, mu) <= maxC. Q as floats need not sum to 1. If Q sums to s > 1, t is any distribution below Q, or Q/s, and
// the columns exceed t by at most s - 1 more than they exceed Q. If Q sums to s < 1, t is any distribution above Q, or
// Q/s, and the columns exceed t by no more than they exceed Q. If the box is a single point that the bounds describe
// only up to scale, t is that exact point or Q, whichever gives the larger bound.
//
// # Source
//
// A solver that hands over what a short program can check is a certifying algorithm (McConnell, Mehlhorn, Naeher and
// Schweitzer 2011). The repair of a plan is that of Altschuler, Weed and Rigollet (2017), whose cost is only bounded
// here.
//
// # Cost
//
// Lower takes one pass over the cost, and operations on big numbers for every row and column. Plan takes operations on
// big numbers for every entry of the plan. Dense takes two passes over the rows with mass, and an exact product for
// every cell.
package verify
