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
// plan, s of a rescaled kernel) look alike, converge as quietly, and end in another q.
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
// At every stop: Q is in the box to the last bit and sums to 1
// up to kv * 2^-52, and Lower <= optimum without entropy <= cost of moving mu to Q <= Upper, all
// rounding included. Verify recomputes both bounds in rational arithmetic without code of the solvers, and
// checks that f_i + g_j <= C_ij exactly.
//
// When the context ends, no more than a few rows are read, or swept, on each thread. A matrix of up to 2^20 entries is swept to the end, for the
// bounds of the last iterate; where that would take longer, the result is the last Q with bounds that hold for every plan.
//
// A result without an error met its goal: by default a residual |Q - c|_1 <= 1e-12, c being the column sums
// of the plan. Q is then within max(1e-9, 4e-16 R/Reg) of the exact minimiser in every instance met
// in tests, R = max_i (max_j C_ij - min_j C_ij); that is measured and not proved, because an instance can be
// arbitrarily ill-conditioned. It was met for every one of many thousand random instances with Reg >= 1e-6 R.
// Between that and 1e-9 R only the bounds are promised; below 1e-9 R is ErrReg.
//
// Reg sets how far q is from the exact projection: by at most Result.Posterior in cost, which is below
// Reg W0((kv-1)/e) <= Reg log kv. The proven gap is usually smaller. Bad input of any kind is a typed error,
// never a panic and never a NaN. Costs may be as large and as small as float64 goes. Inputs are not modified
// or retained. The same input gives the same bits at every GOMAXPROCS, on one type of processor: with
// and without vector instructions sums are rounded otherwise.
//
// # Method Paper
//
// The listing step for step in logarithms, from v = 1 or any other start, with the projection in
// divergence by exact breakpoints (KLProject) in place of bisection, one exponential for every entry and
// iteration. With Settings.History it records for every iterate Hilbert's distance to the next, the
// residual, the divergence from the last, bounds on the exact problem, and beside them the rate of the
// theorem and sharper ones. The rate is true and says little: 1 - c is below 1e-8 on most instances.
//
// # Method Fast
//
// The default. The dual in f alone, E(f) = max over g, is smooth and concave, and Algorithm 1 is ascent in it.
//
//   - Steps at the final Reg from the start come first, as long as they promise to arrive soon. They are extrapolated:
//     a second-order iteration with the rate that is observed needs about half as many. The first one, in the same sweep as
//     the exponentials, also collects what its certificate would need, because where Reg is large it is often the last.
//   - If not, Reg comes down from R/25 by factors of 3, each level starting from the potentials of the one
//     before and left early; if that fails, once more with levels solved to the end.
//   - Potentials are absorbed in the kernel, exp((f_i + g_j - C_ij)/Reg), so that an iteration is two
//     matrix-vector products, done in one pass a block of rows at a time, and kv multiplications. When scalings leave the range 1e60, one step in the log domain brings them back.
//   - When the steps of Algorithm 1 promise to take long, semismooth Newton steps: columns whose q is at a bound are
//     the unknowns, the others have a common potential, and the Hessian, a graph Laplacian, is solved with by
//     conjugate gradients with a Levenberg shift. A step is taken if it halves the residual or raises E, is shortened
//     up to three times, and is followed by a step of Algorithm 1, to which the method falls back.
//   - Where Reg is small, a row of the plan reaches few columns. In large matrices, if at most one cell in 8 counts, the
//     other ones are left out, passes and Newton steps take those alone, and scalings are watched, lest one that is left
//     out come to count. In smaller ones, conjugate gradients do so. The last pass and the bounds are those of the full
//     kernel, always.
//
// # Many distributions
//
// A Projector shares between distributions what depends on the mechanism alone. On many points, the kernel is
// exponentiated once, and a distribution costs its passes; kernels beyond the cache are read once for a stack of eight.
// For few points, and a gap that Reg cannot reach, use mincostflow.Projector.
//
// # Cost
//
// Fast keeps the kernel and, during Newton steps, a matrix of |support| x (columns at a bound): 16 bytes a cell beside
// C; Paper O(k + kv). An iteration takes 0.2 (in cache) to 0.4 ns a cell for Fast, about 3 ns for Paper. Fast takes
// 1 to 40 passes at Reg = 0.1 and 0.01 max C, and at 0.001 some 100 and 20 to 600 steps of conjugate gradients of
// the same cost or, on few cells, of a twentieth, where Algorithm 1 takes thousands. Reading, exponentials and the first
// pass are 3 ns a cell, and the certificate, unless that was the only pass, is one more sweep over C of 1 to 2.
//
// Use package mincostflow for the exact projection, which is as fast up to some 2000 points, and this package
// where larger instances need an approximation with a proof, or where the smoothing is wanted.
package sinkhorn
