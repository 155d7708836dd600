// Package sinkhorn solves the entropic projection: it moves a distribution into a box at least cost plus
// entropy, by Algorithm 1 of the paper or much faster, and proves how far the answer is from that
// of the problem without the entropy.
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
// s is K'u of the original kernel, without v. Variants that project another vector (column sums of the
// plan, s of a rescaled kernel) look alike and converge, too, but to another q.
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
// At every stop: Q is in the box to the last bit and sums to 1 up to kv * 2^-52, and Lower <= optimum without entropy
// <= cost of moving mu to Q <= Upper, all rounding included. Verify recomputes both bounds in rational arithmetic
// without code of the solvers.
//
// A result without an error met its goal: by default a residual |Q - c|_1 <= 1e-12, c being the column sums of the
// plan. Q was then within max(1e-9, 4e-16 R/Reg) of the exact minimiser in all tests, R = max_i (max_j C_ij - min_j
// C_ij). The goal is met in practice for Reg >= 1e-6 R. Down to 1e-9 R only the bounds are promised; below that is
// ErrReg. Result.Posterior, which is below Reg log kv, bounds the distance from the exact projection in cost.
//
// When the context ends, the result is the best so far, with bounds that hold. Bad input of any kind is a typed error,
// never a panic and never a NaN. Inputs are not modified or retained. The same input gives the same bits at every
// GOMAXPROCS, on one type of processor.
//
// With Settings.Gap and Reg = 0, Reg comes down until the certified gap is small enough; Result.Reg says where it was.
// If a Reg is given and its entropy rules the gap out, the status is RegLimit, early where that is seen early.
//
// # Methods
//
// Paper is the listing step for step in logarithms (package sinkhorn/paper). Fast, the default, finds the same answer
// by annealing (epsilon scaling), absorbed potentials and Newton's method: docs/algorithms/sinkhorn.md. Large grids at
// squared distance have a method of their own, package sinkhorn/grid. A Projector does once what many distributions
// share.
//
// # Cost
//
// The kernel takes 8 bytes for every pair of a row with mass and a column with room. A cost that computes its rows is
// read once and held, which takes 8 bytes more, and so does a copy without closed columns or in another scale. No
// setting limits this memory. A large *cost.Grid at squared distance takes a few hundred bytes a cell instead. An
// iteration takes 0.2 to 0.4 ns a cell for Fast, some 20 ns for Paper. Fast takes 1 to 40 passes at Reg = 0.1 and 0.01
// max C, and hundreds at 0.001, where Algorithm 1 takes thousands.
//
// Use package mincostflow for the exact projection, for few points, and for gaps that Reg cannot reach; this package
// where larger instances need an approximation with a proof, or where the smoothing is wanted.
package sinkhorn
