// Package knapsack projects a point mass onto an LDP box. It computes the closed form phi_i, its threshold tau_i and
// its subgradient, on which every design of a base measure is built.
//
// # Problem
//
// Given a k x kv cost matrix C and a box 0 <= lo <= hi whose masses allow a probability vector,
//
//	phi_i(lo, hi) = min { sum_j C_ij q_j : sum_j q_j = 1, lo_j <= q_j <= hi_j }
//
// is W_p^p between the Dirac measure at input i and its projection onto the box. The problem is a fractional knapsack:
// start at q = lo, and give the remaining mass 1 - sum lo to the cheapest columns first, each up to hi_j. The worst
// case of the whole mechanism is f = max_i phi_i (Theorem 'Simpler Reformulation' and its proof in the paper).
//
// # Duality
//
//	phi_i(lo, hi) = max_eta  eta + sum_j lo_j (C_ij - eta)_+ - hi_j (eta - C_ij)_+
//
// The function of eta is concave and piecewise linear, with its breakpoints at the costs of row i. Each eta gives a
// lower bound that is affine in (lo, hi) (Table.Cut). The bound is tight at eta = tau_i, the cost at which the greedy
// fill ends. With lo = a*x and hi = b*x this is a cut in x whose slope is Table.Subgradient: a, b are e^(-eps/2),
// e^(eps/2) for a base measure m, or 1, e^eps for x = e^(-eps/2) m.
//
// The maximiser need not be unique. These conventions settle tau_i:
//
//   - If no mass is left to hand out (sum lo = 1, and so at eps = 0), tau_i is the smallest cost of the row, columns
//     without mass included.
//   - If every column is full (sum hi = 1), tau_i is the largest cost among the columns with hi_j > 0.
//   - Otherwise tau_i is the cost of the first column, in the order of the row, at which the fill is complete.
//
// # Boxes that are infeasible by rounding
//
// A box with sum lo in (1, 1+1e-12] is taken as the point lo / sum lo, and a box with sum hi in [1-1e-12, 1) as the
// point hi / sum hi. Sums further from feasibility are an error (ErrInfeasible). Every other box is taken as given: its
// bounds are exact numbers, and Table.Project stays within them.
//
// # Accuracy
//
// For the box as given, phi is a sum of non-negative terms with relative error at most PhiError. There is no
// cancellation in 1 - sum lo, whatever the scale of lo, hi and C; hi may be arbitrarily large. The remaining mass is
// counted down in 64-bit integers, with each room hi_j - lo_j rounded up. If the rounding leaves open in which column
// the fill ends, or if the mass left for that column needs more digits, the row is computed again with 128 bits.
//
// # Cost
//
// New sorts every row once, in O(k kv log kv) time. It takes 12 bytes per entry when C has to be copied, and 4 when C
// is a *cost.Dense. One evaluation of a row is then O(kv): a dot product, and a scan that stops where the fill ends.
// All and Max work on rows in parallel. Each row is computed by one goroutine in one fixed order, so the bits do not
// depend on GOMAXPROCS. A table keeps the memory that evaluations need, about 24 kv + 8 k bytes for each of the calls
// that run at the same time. Apart from that, an evaluation allocates only what the goroutines of a large evaluation
// take, less than 10 kB.
//
// # Source
//
// The greedy fill is Dantzig's (1957). Sums are in twice the working precision (Ogita, Rump and Oishi 2005).
//
// # Elsewhere
//
// This package projects Dirac measures. For a general input use mincostflow (exact) or sinkhorn (entropic). To choose
// the box, see basemeasure and mirror.
package knapsack
