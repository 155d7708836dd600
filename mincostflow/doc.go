// Package mincostflow solves the Wasserstein projection exactly: it moves a distribution into a box
// at least cost and proves the answer.
//
// # Problem
//
// Given a k x kv cost matrix C >= 0, a distribution mu on the rows and bounds lo <= hi on the columns,
//
//	minimise    <C, P> = sum_ij C_ij P_ij
//	subject to  P >= 0,  sum_j P_ij = mu_i,  sum_i P_ij = q_j,  lo_j <= q_j <= hi_j,  sum_j q_j = 1.
//
// q is the projection of mu onto the box; with lo = hi this is plain optimal transport (Transport). The dual is
//
//	maximise    sum_i mu_i f_i + sum_j min(lo_j g_j, hi_j g_j)   subject to  f_i + g_j <= C_ij.
//
// C is Problem.Cost, mu is Problem.Source, P and q are Result.Plan and Q, f and g are Result.Potentials.
//
// # Guarantees
//
// Result.Lower <= optimum <= cost of moving mu to Q <= Result.Upper, as statements about the numbers given and
// returned, all rounding included. Without an error the gap is at most 1e-13 of the largest cost (or a few times the
// smallest float64). Verify recomputes both bounds in rational arithmetic, without code of the solver.
//
// mu may be in any unit: it is taken as the exact rationals Source / sum Source. If sum lo is in (1, 1+1e-12], the
// box is the point lo / sum lo, and if sum hi is in [1-1e-12, 1), it is hi / sum hi; further out is ErrInfeasible.
// Otherwise lo <= Q <= hi to the last bit, and the sum of Q is off 1 by at most kv * 2^-52.
//
// Bad input of any kind is a typed error. Costs may be as large and as small as float64 goes; infinities are refused.
// Write a forbidden arc as a cost far above the others. Inputs are not modified or retained. The same input gives the
// same bits on every machine and at every GOMAXPROCS.
//
// A stop by the context is ErrNotConverged. The Result beside it is feasible and its bounds
// hold. After the context has ended, each processor reads at most 16 rows; the plan may then be a part.
//
// Not guaranteed: a polynomial bound on the number of pivots, which is 2 to 30 for every row and column in practice;
// and which of several optimal q is returned. Compare objectives, never plans or q.
//
// # Cost
//
// Time is 5 to 15 passes over the rows with mass, 1 ns or less for a cell, and 0.1 to 1 microsecond for a pivot. Passes
// over many rows are shared among processors; pivots are not.
// Memory is O(k + kv) beside C and the rows that Settings.Memory allows to hold; where many rows meet many columns, the
// start takes a fifteenth of C besides, 150 MB at most. Rows without mass are not read; see Settings.AllRows.
//
// # What is here
//
// Project solves one problem, Projector a stream of distributions with one cost and one box, and Transport the
// distance of two given distributions. ProjectUnits moves integer masses: q and the plan are integers, and both
// bounds are one rational number, the optimum; VerifyUnits checks it.
//
// The method is a primal network simplex in exact arithmetic; docs/algorithms describes it on the pages
// network-simplex, newton-start, multiscale-start and units.
//
// Package network, below this one, solves minimum-cost flow on any directed graph. Use package knapsack when every
// source is a point mass, and sinkhorn when an approximation is enough and k and kv are above some 10^4.
package mincostflow
