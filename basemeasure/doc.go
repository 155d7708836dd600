// Package basemeasure chooses the base measure of a mechanism: the m whose LDP box
// [e^(-eps/2) m, e^(eps/2) m] makes the worst input, or the average one, as cheap as possible. Solve proves how
// close to the best of all eps-LDP mechanisms the answer is.
//
// # Problem
//
// For a k x kv cost matrix C and eps >= 0 let
//
//	phi_i(m) = min { sum_j C_ij q_j : sum_j q_j = 1, e^(-eps/2) m_j <= q_j <= e^(eps/2) m_j },
//	f(m) = max_i phi_i(m).
//
// phi_i is the cost (W_p^p) of a client whose whole mass is at input i, and f(m) the worst case over all private
// distributions, which a point attains. Both are convex and piecewise linear, and defined where
// e^(-eps/2) <= sum m <= e^(eps/2). An Objective is f, an average of the phi_i with public weights, or a mix
// t*f + (1-t)*average; inputs may be left out of the maximum.
//
//	Solve        the best m of all, to a certified gap of 1e-9 by default
//	Uniform      the best uniform measure (t, ..., t)
//	Shape        the best multiple of a given measure
//	Homogeneous  the optimum on a ring, a torus, a hypercube, ... from one row of the cost: an expectile, O(k)
//
// # When minimax is the wrong choice
//
// The optimum of the worst case pays for the worst input elsewhere. At small eps a handful of central points take all
// the mass, and the mean over inputs can rise: by a third on a path, tenfold with a far outlier. One far input, with or
// without clients, dictates the design: see Settings.Exclude. Look at Result.Mean, Nonzeros and Peak beside WorstCase.
// Uniform at its best scale is a robust default, Mixed a sensible middle.
//
// The methods, and the tuned constants, are in docs/algorithms/base-measure.md. Settings.Initial starts Solve from the
// certificate of another result: it saves most of the work when eps changes by a thousandth, little at a tenth.
//
// # Evidence
//
// Result.Upper is at least the objective at M. Result.Lower is at most that of every eps-LDP mechanism with the
// same inputs and outputs, whatever its form: so Upper - Lower bounds what a better shape, or another
// mechanism, could gain. The evidence for Lower is a weight and a threshold for each input:
//
//	b_j = sum_i w_i [ (C_ij - eta_i)_+ - e^eps (eta_i - C_ij)_+ ],  sum w = 1,
//	lower = sum_i w_i eta_i + min( min_j b_j, e^-eps min_j b_j ).
//
// Uniform and Shape try a few candidates. They close the gap on transitive spaces; elsewhere it stays open.
//
// Verify recomputes both numbers in exact rational arithmetic from M, the weights and the thresholds, with
// its own bounds on e^eps. It shares no code with the solvers.
//
// # Accuracy and cost
//
// Solve reaches a relative gap of 1e-12 nearly always, whatever is asked for. What can stall it, with a valid gap, is
// a value a million times below the largest cost, or eps far above 12. Result.Status and ErrNotConverged say so. The
// scale of Uniform and Shape is the best to a relative 1e-14 of f. Results have the same bits at any GOMAXPROCS.
//
// Sorting the cost takes O(k kv log kv) (skipped for a *knapsack.Table), an evaluation O(k kv), a pivot of Solve O(n
// kv) with n nonzeros of m; memory is 12 k kv bytes, and 28 k kv + 8 kv^2 where the interior-point method helps. Random
// points in a square take milliseconds at k = 100 and some seconds at k = 1000; random directions in 64 dimensions take
// one to two seconds to a gap of 1e-3 there. Verify takes O(k kv) operations on integers of a few hundred bits.
package basemeasure
