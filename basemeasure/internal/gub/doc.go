// Package gub solves linear programs with generalized upper bounds by a revised simplex method with column generation.
//
// # Problem
//
// Columns c have an objective t_c and a coefficient a_cj in each row j. At most one bound holds each of them:
//
//	maximise    sum_c t_c x_c
//	subject to  sum of x_c over the columns of bound b = rhs_b    for each bound
//	            sum_c a_cj x_c - y_j = 0                          for each row
//	            x, y >= 0.
//
// There may be far more columns than can be listed. The caller offers some, lets those with a positive reduced cost
// enter, and finds others at the prices that result. With m_j the multiplier of row j and pi_b the price of bound b, the
// reduced cost of a column is t_c + sum_j m_j a_cj - pi_b, and that of the slack of row j is -m_j. Where none is
// positive, the basis is optimal, and m solves the dual program
//
//	minimise sum_b rhs_b max over the columns of bound b of (t_c + sum_j m_j a_cj),   m >= 0.
//
// # Method
//
// A basis has a column in each bound, its key, and some other columns and slacks. Keys and basic slacks are eliminated.
// What is left is a square matrix S over the rows whose slack is not basic, with a column for each basic column that is
// no key: that column, less the key of its bound. The package keeps the inverse of S, changes it by a rank of one at
// each pivot, and applies such changes in blocks. It computes the inverse from scratch now and then, and where a
// residual or a pivot asks for it. The ratio test is that of Harris. So basic values may be below zero by the tolerances
// of New.
//
// # Guarantee
//
// Each basis is one to within rounding, and its objective is that of a feasible solution to within the tolerances. No
// bound is certified. Numbers are expected to be of the order of 1. Nothing prevents cycling but the tolerances of the
// ratio test: the caller counts its rounds. A program without a bound on its objective ends in Rejected. The bits do not
// depend on the number of processors.
//
// # Cost
//
// With n rows in S, a pivot takes n (rows + n) multiplications, and one more n for each column that is offered. Memory is
// 8 rows (n + offered) + 8 n^2 bytes.
//
// # Sources
//
//   - G. B. Dantzig and R. M. Van Slyke, Generalized upper bounding techniques, J. Comput. System Sci. 1 (1967).
//   - P. M. J. Harris, Pivot selection methods of the Devex LP code, Math. Programming 5 (1973): the ratio test.
package gub
