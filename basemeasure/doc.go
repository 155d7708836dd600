// Package basemeasure chooses the base measure m of a mechanism: the measure whose LDP box [e^(-eps/2) m, e^(eps/2) m]
// makes the worst input, or the average input, as cheap as possible. Solve proves how close the answer is to the best
// of all eps-LDP mechanisms.
//
// # Problem
//
// For a k x kv cost matrix C and eps >= 0 let
//
//	phi_i(m) = min { sum_j C_ij q_j : sum_j q_j = 1, e^(-eps/2) m_j <= q_j <= e^(eps/2) m_j },
//	f(m) = max_i phi_i(m).
//
// phi_i is the cost (W_p^p) of a client whose whole mass is at input i. f(m) is the worst case over all private
// distributions, which a point mass attains. Both functions are convex and piecewise linear, and defined where
// e^(-eps/2) <= sum m <= e^(eps/2). An Objective is f, an average of the phi_i with public weights, or a mix t*f +
// (1-t)*average; inputs may be left out of the maximum.
//
//	Solve        the best m of all, to a certified gap of 1e-9 by default
//	Uniform      the best uniform measure (t, ..., t)
//	Shape        the best multiple of a given measure
//	Homogeneous  the optimum on a ring, a torus, a hypercube, ... from one row of the cost: an expectile, O(k)
//
// # When minimax is the wrong choice
//
// A design that is optimal for the worst input is worse for other inputs. At small eps a handful of central points take
// all the mass, and the mean cost over inputs can rise: by a third on a path, tenfold with a far outlier. A single far
// input dictates the design, whether it has clients or not: see Settings.Exclude. Look at Result.Mean, Nonzeros and
// Peak as well as WorstCase. Uniform at its best scale is a robust default, and Mixed is a compromise.
//
// docs/algorithms/base-measure.md describes the methods and their constants.
//
// # Evidence
//
// Result.Upper is at least the objective at M. Result.Lower is at most the objective of every eps-LDP mechanism with
// the same inputs and outputs, whatever its form. So no other measure and no other mechanism can improve on M by more
// than Upper - Lower. The evidence for Lower is a weight and a threshold for each input:
//
//	b_j = sum_i w_i [ (C_ij - eta_i)_+ - e^eps (eta_i - C_ij)_+ ],  sum w = 1,
//	lower = sum_i w_i eta_i + min( min_j b_j, e^-eps min_j b_j ).
//
// Uniform and Shape try a few candidates for this evidence. They close the gap on transitive spaces; elsewhere a gap
// remains.
//
// Verify recomputes both bounds in exact rational arithmetic from M, the weights and the thresholds, with its own
// bounds on e^eps. It shares no code with the solvers.
//
// # Accuracy and cost
//
// Solve nearly always reaches a relative gap of 1e-12, even if a larger gap is allowed. It can stall, with a valid gap,
// if the optimal value is a million times smaller than the largest cost, or if eps is far above 12. Result.Status and
// ErrNotConverged then report this. The value of Uniform and Shape at their scale is within a relative 1e-14 of the
// best. Results have the same bits at any GOMAXPROCS.
//
// Sorting the cost takes O(k kv log kv) and is skipped for a *knapsack.Table. An evaluation takes O(k kv), and a pivot
// of Solve O(n kv) if m has n nonzeros. Memory is 12 k kv bytes, or 28 k kv + 8 kv^2 if the interior-point method is
// used. For random points in a square, Solve takes milliseconds at k = 100 and some seconds at k = 1000. For 1000
// random directions in 64 dimensions, Solve takes one to two seconds to a gap of 1e-3. Verify takes O(k kv) operations
// on integers of a few hundred bits.
package basemeasure
