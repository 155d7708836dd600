// Package projection defines the problem that the projection solvers share, and the types of its answers.
//
// # Problem
//
// Given a k x kv cost matrix C >= 0, a distribution mu on its rows and bounds lo <= hi on its columns, move mu at least
// cost to a distribution q between the bounds:
//
//	minimise    <C, P> = sum_ij C_ij P_ij
//	subject to  P >= 0,  sum_j P_ij = mu_i,  sum_i P_ij = q_j,  lo_j <= q_j <= hi_j,  sum_j q_j = 1.
//
// P is the plan, and q is the projection of mu onto the box in the Wasserstein distance with cost C. The least value is
// W(q, mu). With lo = hi this is plain optimal transport. The dual problem is
//
//	maximise    sum_i mu_i f_i + sum_j min(lo_j g_j, hi_j g_j)
//	subject to  f_i + g_j <= C_ij for all i and j,
//
// and every (f, g) that satisfies it proves a lower bound: any P as above costs at least sum_ij (f_i + g_j) P_ij =
// sum_i mu_i f_i + sum_j q_j g_j. At an optimum g_j > 0 only where q_j = lo_j, and g_j < 0 only where q_j = hi_j.
//
//	symbol   here               meaning
//	C        Problem.Cost       unit costs, k x kv, taken as exact numbers
//	mu       Problem.Source     taken as the exact rationals Source / sum Source
//	lo, hi   Problem.Lo, Hi     bounds of the columns
//	P        Entry              one positive entry of a plan
//	f, g     Potentials.F, G    dual variables, for every row and every column
//
// # Masses
//
// mu may be in any unit: any finite masses >= 0 with a positive sum, counts for instance. The sums of the bounds are
// compared with 1 exactly. If sum lo is in (1, 1 + 1e-12], the box is the point lo / sum lo. If sum hi is in [1 -
// 1e-12, 1), the box is the point hi / sum hi. Sums further from 1 give ErrInfeasible.
//
// # Solvers
//
// Packages mincostflow (exact) and sinkhorn (entropic) take and return these types and use the errors of wpmerr, so
// errors.Is(err, wpmerr.ErrNotConverged) works for both. Instance, with its Source and its Box, CheckRow and Stream are
// what solvers share; they are exported for authors of other solvers. Package projection/verify checks the answers and
// imports no solver.
package projection
