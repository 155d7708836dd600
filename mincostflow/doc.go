// Package mincostflow solves the Wasserstein projection exactly: it moves a distribution into a box
// at least cost and proves the answer.
//
// # Problem
//
// Given a k x kv cost matrix C >= 0, a distribution mu on the rows and bounds lo <= hi on the
// columns,
//
//	minimise    <C, P> = sum_ij C_ij P_ij
//	subject to  P >= 0,  sum_j P_ij = mu_i,  sum_i P_ij = q_j,  lo_j <= q_j <= hi_j,  sum_j q_j = 1.
//
// q is the projection of mu onto the box in the Wasserstein distance that C stands for, and with
// lo = hi this is plain optimal transport (Transport). The dual problem is
//
//	maximise    sum_i mu_i f_i + sum_j min(lo_j g_j, hi_j g_j)
//	subject to  f_i + g_j <= C_ij,
//
// and at an optimum g_j > 0 only where q_j = lo_j, g_j < 0 only where q_j = hi_j.
//
//	symbol   here                  meaning
//	C        Problem.Cost          unit costs, float64, taken as exact numbers
//	mu       Problem.Source        taken as the exact rationals Source / sum Source
//	lo, hi   Problem.Lo, Hi        bounds of the columns
//	P, q     Result.Plan, Q        coupling and projection
//	f, g     Result.Potentials     dual variables, for every row and column
//	         Result.Upper, Lower   proven bounds on the optimum
//
// # Guarantees
//
// Result.Lower <= optimum <= cost of moving mu to Q <= Result.Upper, as statements about the
// numbers given and returned, all rounding included; the gap of a result without an error is at
// most 1e-13 of the largest cost (or a few times the smallest float64, if that is more). Verify
// recomputes both bounds from the Result in rational arithmetic, without code of the solver, and
// checks that f_i + g_j <= C_ij exactly and that Q lies in the box to the last bit.
//
// mu may be in any unit: counts are fine, and masses whose sum overflows, too. If sum lo is in (1, 1+1e-12] the box is the
// point lo / sum lo, and if sum hi is in [1-1e-12, 1) it is hi / sum hi; both sums are decided
// exactly, and anything further out is ErrInfeasible. Otherwise Q is never rescaled: lo <= Q <= hi,
// and its sum is off 1 by at most kv * 2^-52.
//
// Bad input of any kind is a typed error, never a panic and never a NaN. Costs may be as large and
// as small as float64 goes, upper bounds as large; infinities are refused (ErrNotFinite), also for
// upper bounds: write 1. An arc is forbidden by a cost far above the others, which costs no
// accuracy unless the optimum has to use it. Inputs are not modified or retained. The same input
// gives the same bits on every machine and at every GOMAXPROCS.
//
// When the context ends or Settings.MaxPivots is reached, the Result beside ErrNotConverged is
// still a feasible plan with a Q in the box and valid bounds; only the gap is larger. Once the context has ended, each
// processor reads 16 rows of costs at most: the plan may then be a part, whose rest Upper pays at the largest cost.
//
// Not guaranteed: a polynomial bound on the number of pivots. That number has no better proven
// bound than exponential for this rule; in practice it is 2 to 30 for every row and column.
//
// # The projection is not unique
//
// When several q cost the same, which of them comes back depends on the order in which arcs are
// tried and ties are broken: it is deterministic, but it is a choice of this version of this code,
// and other exact solvers choose others. All have the same W(q, mu), and nothing else in common: what a
// mechanism that releases a draw from q achieves against a truth other than mu may differ by
// some percent. Compare objectives, never plans or q.
//
// # Method
//
// The problem is a minimum-cost flow: rows are sources, columns are sinks that need lo_j, and a
// hub takes the rest over slack arcs, from column j at most hi_j - lo_j at no cost. It is solved
// by a primal network simplex whose spanning tree is rooted at the hub (tree.go).
//
//   - All its arithmetic is exact. Flows are integers, masses being rounded to multiples of 2^-61
//     (units.go). Costs are rounded to a grid 2^-48 times the largest, on which potentials are
//     exact sums as long as they stay below 8 times the largest cost; if they do not, the grid is
//     made coarser, and if the plan in the end turns out to use only arcs far cheaper than the
//     largest, it is refined and the search goes on. So a reduced cost is negative or it is not,
//     and the rule of strongly feasible trees (Cunningham 1976) excludes cycling altogether;
//     there is no tolerance and no fallback rule.
//   - Artificial arcs cost 1.5 to 2 times the largest cost. That is enough, since every row is
//     joined to every column, and loses no digits.
//   - Arcs have no storage. Rows of C are read in place; each row keeps a list of 16 candidate
//     columns, full sweeps refill the lists, and a sweep that finds nothing proves the tree optimal
//     (price.go).
//   - A few rows against many columns start from row prices that Newton's method finds on samples
//     of the columns, where the kinks of the dual function are smoothed (newton.go, start.go). Columns with
//     nothing below them in the tree are then kept in lists (leaves.go). A single row is a fractional knapsack
//     (knapsack.go).
//   - From the final tree, potentials and flows are recomputed with the unrounded costs and
//     masses in twofold arithmetic, and rounded so that the dual is feasible exactly.
//
// # Many distributions, one box
//
// Projector fixes the cost and the box and projects a stream of distributions without allocating,
// each from what is public alone, so that no result depends on another. Its results are those of Project.
//
// # Whole units
//
// ProjectUnits moves integer masses, up to 2^62 units in all, and rounds nothing: q and the plan
// are integers, potentials are exact binary fractions, and on every instance both bounds are the same
// rational number, the optimum. After the simplex on the cost grid, the tree is priced with exact
// costs; floats settle what is beyond their doubt, and big integers the rest (exact.go).
// VerifyUnits checks the answer.
//
// # Cost
//
// Memory is O(k + kv) beside C and Settings.Memory. Time is some 5 to 15 sweeps over the rows with mass, 1 ns or less a
// cell, and 0.1 to 1 microsecond a pivot. Rows without mass are read if they are few, to find the largest
// potentials that they may have; see Settings. Of matrices other than cost.Dense, which may compute their rows
// anew for every reader, as many rows with mass as fit into Settings.Memory are held (256 MiB by default), so that each is
// computed once; those beyond are computed in every sweep.
//
// Package network, below this one, solves minimum-cost flow on any directed graph.
// Use package knapsack when every source is a point mass, and sinkhorn when an approximation is
// enough and k and kv are above some 10^4.
package mincostflow
