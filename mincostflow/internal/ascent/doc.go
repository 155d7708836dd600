// Package ascent finds row prices of a transport problem by Newton's method.
//
// # Problem
//
// k rows have Mass, and columns take Low to Low + Room. With row prices f, a column pays the least C_ij - f_i, and the
// dual value
//
//	sum_i mass_i f_i + sum_j min over low_j <= q <= low_j + room_j of q * min_i (C_ij - f_i)
//
// is concave. Its slope in f_i is what row i has left.
//
// # Method
//
// Kinks are smoothed over a width, and damped Newton steps with a line search climb the rest: first for a sample of the
// columns, then for finer ones and narrower kinks. docs/algorithms/newton-start.md has the derivation and the table of
// the constants. Prices need not be good for anything to be right. No product is fused with a sum, so the bits are the
// same on every machine.
//
// # Cost
//
// A step takes a pass over the cells and k^3 / 6 multiplications. k is 128 at most.
package ascent
