// Package sinkhorn solves the entropic projection: it moves a distribution into a box at least cost plus entropy, by
// Algorithm 1 of the paper or by a much faster method. It proves how far the answer is from the optimum without entropy.
//
// # Problem
//
// Given a k x kv cost matrix C >= 0, a distribution mu on the rows, bounds lo <= hi on the columns and a
// weight Reg > 0,
//
//	minimise    <C, P> + Reg sum_ij P_ij log P_ij
//	subject to  P >= 0,  sum_j P_ij = mu_i,  sum_i P_ij = q_j,  lo_j <= q_j <= hi_j,  sum_j q_j = 1.
//
// With K_ij = exp(-C_ij/Reg), the answer is P_ij = u_i K_ij v_j, and Algorithm 1 alternates
//
//	u = mu / K v,   s = K' u,   q = min(max(e^theta s, lo), hi) with sum q = 1,   v = q / s.
//
// Here s = K'u with the original kernel, without v. Variants that project another vector (the column sums of the plan,
// or s of a rescaled kernel) look much the same and also converge, but to another q.
//
//	symbol   here                  meaning
//	C        Problem.Cost          unit costs, float64, taken as exact numbers
//	mu       Problem.Source        taken as the exact rationals Source / sum Source
//	lo, hi   Problem.Lo, Hi        bounds of the columns
//	lambda   Problem.Reg           entropic weight, in units of C; see RelativeReg
//	q        Result.Q              the projection
//	v        Result.LogV           its logarithm
//	f, g     Result.Potentials     dual variables of the exact problem, for every row and column
//	         Result.Upper, Lower   proven bounds on the exact problem
//
// # Guarantees
//
// Whenever the solver stops, Q is in the box to the last bit and sums to 1 up to kv * 2^-52. Moreover, Lower <= optimum
// without entropy <= cost of moving mu to Q <= Upper, all rounding included. Verify recomputes both bounds in rational
// arithmetic and shares no code with the solvers.
//
// A result without an error met its goal, which by default is a residual |Q - c|_1 <= 1e-12, where c holds the column
// sums of the plan. In all tests, Q was then within max(1e-9, 4e-16 R/Reg) of the exact minimiser, where R = max_i
// (max_j C_ij - min_j C_ij). In practice the goal is met for Reg >= 1e-6 R. For smaller Reg, down to 1e-9 R, only the
// bounds are promised; a Reg below 1e-9 R gives ErrReg. Result.Posterior bounds the difference in cost from the exact
// projection, and is below Reg log kv.
//
// When the context ends, the result is the best so far, with bounds that hold. Bad input gives a typed error, never a
// panic or a NaN. Inputs are neither modified nor retained. On one type of processor, the same input gives the same bits
// at every GOMAXPROCS. With Settings.Gap and Reg = 0, the solver lowers Reg until the certified gap is small enough, and
// Result.Reg holds the last value. If a Reg is given whose entropy makes the gap unreachable, the status is RegLimit.
//
// # Methods
//
// Paper is the listing step for step in logarithms (package sinkhorn/paper). Fast, the default, finds the same answer
// by annealing (epsilon scaling), absorbed potentials and Newton's method: docs/algorithms/sinkhorn.md. Large grids at
// squared distance have package sinkhorn/grid. A Projector does the work that many distributions share only once.
//
// # Cost
//
// The kernel takes 8 bytes for every pair of a row with mass and a column with room. A cost that computes its rows is
// read once and held, which takes 8 bytes more; so does a copy without closed columns, or in another scale. No setting
// limits this memory. For each entry of the kernel an iteration takes 0.2 to 0.4 ns with Fast, and about 20 ns with
// Paper. Fast takes 1 to 40 passes for Reg from 0.1 to 0.01 max C, and hundreds for 0.001 max C, where Algorithm 1 takes
// thousands.
// Use package mincostflow for the exact projection, for few points, and for gaps that Reg cannot reach. Use this
// package for larger instances where an approximation with a proof is enough, or where the smoothing is wanted.
package sinkhorn
