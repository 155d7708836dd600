// Package mincostflow solves the Wasserstein projection exactly: it moves a distribution into a box at least cost, and
// proves that the cost is the least.
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
// Here C is Cost and mu is Source of the projection.Problem, P and q are Result.Plan and Q, f and g are Result.Potentials.
//
// # Guarantees
//
// Result.Lower <= optimum <= cost of moving mu to Q <= Result.Upper. These inequalities hold for the numbers as given
// and returned, all rounding included. If there is no error, the gap is at most 1e-13 times the largest cost (or a few
// times the smallest float64). Verify recomputes both bounds in rational arithmetic and shares no code with the solver.
//
// mu may be in any unit: it is taken as the exact rationals Source / sum Source. If sum lo is in (1, 1+1e-12], the box
// is the point lo / sum lo, and if sum hi is in [1-1e-12, 1), the box is the point hi / sum hi. Sums further from 1
// give ErrInfeasible. In all other cases lo <= Q <= hi to the last bit, and the sum of Q differs from 1 by at most kv *
// 2^-52.
//
// Bad input of any kind gives a typed error. A cost may be any finite float64; infinities are refused. Give a forbidden
// arc a cost far above the others. Inputs are neither modified nor retained. The same input gives the same bits on
// every machine and at every GOMAXPROCS.
//
// A stop by the context gives ErrNotConverged. The Result returned with it is feasible, and its bounds hold. After the
// context has ended, each processor reads at most 32 more rows; the plan may then be incomplete.
//
// There is no polynomial bound on the number of pivots; in practice there are 2 to 30 for each row and column. If
// several q are optimal, any of them may be returned. Compare objectives, never plans or q.
//
// # Cost
//
// A solve takes 3 to 20 passes over the rows with mass, at 1 ns or less for each cell in memory, and 0.1 to 2
// microseconds for each pivot up to 4000 rows. Passes over many rows are shared among processors. Pivots are not, but
// transport and tight projections of many rows pivot while the next rows are read. Memory is O(k + kv), besides C and
// the rows that Settings.Memory allows the solver to hold. A problem with many rows and many columns takes another
// fifteenth of C for its start, 150 MB at most. Transport of many rows to few columns takes a copy of C, 256 MiB at
// most. Rows without mass are not read; see Settings.AllRows.
//
// # What is here
//
// Project solves one problem. Projector solves a stream of problems with one cost and one box. Transport finds the
// distance between two given distributions.
//
// The method is a primal network simplex in exact arithmetic; docs/algorithms describes it on the pages
// network-simplex, newton-start, multiscale-start and units.
//
// Package mincostflow/units projects whole units: q and the plan are integers, and both bounds are the optimum, a
// fraction. Package mincostflow/network solves minimum-cost flow on any directed graph. Use package knapsack when every
// source is a point mass. Use package sinkhorn when an approximation is enough and k and kv are above about 10^4.
package mincostflow
