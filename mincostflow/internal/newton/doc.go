// Package newton finds where a network simplex with few rows, or few heavy ones, and many columns should begin: by row
// prices that are nearly right, from Newton's method.
//
// # Problem
//
// k rows have masses, and columns take Low to Low + Room units. With row prices f, a column pays the least C_ij - f_i,
// and the dual value
//
//	sum_i mass_i f_i + sum_j min over low_j <= q <= low_j + room_j of q * min_i (C_ij - f_i)
//
// is concave. Its slope in f_i is what row i has left.
//
// # Method
//
// Kinks are smoothed over a width h: a column whose two best rows are within h of each other is shared between them, and
// one within h of zero stands between its bounds. Damped Newton steps with a line search climb the rest: first for a
// sample of the columns, then for finer ones and narrower kinks. This is the method of semi-discrete transport
// (J. Kitagawa, Q. Merigot and B. Thibert, Convergence of a Newton algorithm for semi-discrete optimal transport, J. Eur.
// Math. Soc. 21 (2019)), stopped early: the simplex does the rest.
//
// With the prices, every column hangs from the row of least C_ij - f_i, at its upper bound if that is below zero and at
// its lower bound if not. If rows are many, those with most mass take part, and the others hang from columns.
//
// docs/algorithms/newton-start.md has the derivation and the table of the constants. Prices need not be good for
// anything to be right. But other bits here may mean another of several optima there, so no product is fused with a sum.
//
// # Cost
//
// A step takes a pass over the cells and k^3 / 6 multiplications. k is 128 at most.
package newton
