// Package knapsack projects a single point onto an LDP box: the closed form phi_i, its threshold
// tau_i and the subgradient that every design of a base measure is built on.
//
// # Problem
//
// Given a k x kv cost matrix C and a box 0 <= lo <= hi whose masses allow a probability vector,
//
//	phi_i(lo, hi) = min { sum_j C_ij q_j : sum_j q_j = 1, lo_j <= q_j <= hi_j }
//
// is W_p^p between the Dirac measure at input i and its projection onto the box. It is a fractional
// knapsack: start at q = lo and hand out the remaining mass 1 - sum lo to the cheapest columns first,
// each up to hi_j. The worst case of the whole mechanism is f = max_i phi_i (Theorem 'Simpler
// Reformulation' and its proof in the paper).
//
// # Duality
//
//	phi_i(lo, hi) = max_eta  eta + sum_j lo_j (C_ij - eta)_+ - hi_j (eta - C_ij)_+
//
// a concave piecewise linear function of eta with its breaks at the costs of row i. Each eta gives a
// lower bound that is affine in (lo, hi) (Table.Cut), tight at eta = tau_i, the cost at which the greedy
// fill ends. With lo = a*x and hi = b*x this is a cut in x whose slope is Table.Subgradient: a, b are
// e^(-eps/2), e^(eps/2) for a base measure m, or 1, e^eps for x = e^(-eps/2) m.
//
// The maximiser need not be unique. The conventions are: when no mass is left to hand out (sum lo = 1,
// and so at eps = 0) tau_i is the smallest cost of the row, columns without mass included; when every
// column is full (sum hi = 1) it is the largest cost among the columns with hi_j > 0; otherwise the
// cost of the first column, in the order of the row, at which the fill is complete.
//
// # Boxes that are infeasible by rounding
//
// A box with sum lo in (1, 1+1e-12] is taken as the point lo / sum lo, one with sum hi in [1-1e-12, 1)
// as the point hi / sum hi. Further out it is an error (ErrInfeasible). Every other box is taken at its
// word: bounds are exact numbers, and Table.Project never leaves them.
//
// # Accuracy
//
// For the box as given, phi is a sum of non-negative terms with relative error at most PhiError: there is no
// cancellation in 1 - sum lo, whatever the scale of lo, hi (hi may be as large as it likes) and C. The mass
// that remains is counted down in integers of 64 bits, each room rounded up. Where that leaves open in which
// column it ends, or what is left there matters to more digits, the row is done again in 128 bits.
//
// # Cost
//
// New sorts every row once: O(k kv log kv) time, and 12 bytes per entry when C has to be copied (4 when
// it is a *cost.Dense). After that one evaluation of a row is O(kv): a dot product and a scan that stops
// where the fill ends. All and Max work on rows in parallel; each row is computed by one goroutine in
// one fixed order, so the bits do not depend on GOMAXPROCS. A table keeps the memory that an evaluation
// needs, about 24 kv + 8 k bytes for each call that ever ran at the same time, and then allocates nothing but what the
// goroutines of a large evaluation take, less than 10 kB.
//
// # Elsewhere
//
// This package projects Diracs. For a general input use mincostflow (exact) or sinkhorn (entropic); to
// choose the box see basemeasure and mirror.
package knapsack
