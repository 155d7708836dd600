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
// The optimum of the worst case is made for the worst input and pays for it elsewhere. It is sparse: at small eps a
// handful of central points take all the mass, whatever k is, and the mechanism does little more than announce the
// centre. It lifts every input to the cost of the worst one, so the mean over inputs can rise: by a third on a path,
// tenfold with a far outlier. And one far input, with or without clients, dictates the design: see
// Settings.Exclude. Look at Result.Mean, Nonzeros and Peak beside WorstCase; Uniform at its best scale is a
// robust default, Mixed a sensible middle. On transitive spaces the uniform measure is optimal and there is
// nothing to choose.
//
// # Method of Solve
//
// phi_i(m) is the maximum over thresholds eta of eta + sum_j m_j h(C_ij - eta), where h(x) is e^(-eps/2) x for x > 0
// and e^(eps/2) x otherwise; so f is the value of a matrix game between the designer, who plays m, and an adversary,
// who plays cuts (i, eta). The game is solved by a simplex on the adversary's side. Its columns, k*kv of them, are
// never stored: package knapsack finds the best cut of every input at the current m. Only the columns of cuts and
// the rows of outputs with mass are inverted, and of the rows of inputs one column each is eliminated, so the matrix
// has the size of the support of m, for every objective. The ratio test is Harris's, with tolerances relative to the
// direction and to e^eps; residuals are watched and the inverse is computed again when they grow. If an attempt
// ends without closing the gap, others follow: in units of the value instead of the largest cost, with smaller
// tolerances, with slacks perturbed to break ties. An attempt that fails costs time, never truth: what is returned
// is the best measure and the best certificate of all attempts.
//
// Settings.Initial starts from the certificate of another result. It saves most of the work when eps changes by a
// thousandth, and little when it changes by a tenth.
//
// # Method of Uniform and Shape
//
// Along a ray m = t*w each evaluation of f gives a line tau + t*(w.g) that lies below f and touches it
// (package knapsack). Two lines with slopes of opposite sign bracket the minimum; where they meet f is
// evaluated again, and the new line replaces the one on its side. f is piecewise linear, so this ends: when
// the new line is one of the two, they meet in the minimum. From 4 to 16 evaluations are usual, at any k and
// eps. An all-constant cost ends after one.
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
// It holds because every eps-LDP mechanism lies in the box of some m, and for x = e^(-eps/2) m the cut of
// input i at eta_i says phi_i >= eta_i + sum_j x_j [...], where e^-eps <= sum x <= 1. For an objective with an average
// part, w is the adversary's weights in the maximum times t plus the public weights times 1 - t. Cuts of one input
// merge into one (the weighted mean of their thresholds), and all thresholds are shifted by one number to where
// min_j b_j = 0, their best place.
//
// Uniform and Shape take the best of a few candidates: equal weights on all inputs, which closes the gap on
// transitive spaces; equal weights on the inputs that attain the maximum; the inputs whose lines meet at the minimum;
// and the distances from inputs to their nearest outputs. On other spaces their gap stays open.
//
// Verify recomputes both numbers in exact rational arithmetic from M, the weights and the thresholds, with
// its own bounds on e^eps. It shares no code with the solvers.
//
// # Accuracy
//
// Solve reaches a relative gap of 1e-12 or less nearly always, whatever is asked for: it ends rather than converges. Over
// some twenty families of costs, degenerate ones included, up to 300 points and eps from 0.01 to 12 no run missed 1e-9.
// What can stall it, with an honest gap, is a value a million times below the largest cost, or eps far above 12, where
// that is the rule. Result.Status and ErrNotConverged say so.
//
// f at the scale returned by Uniform and Shape is within 1e-14 of the best scale, relatively, for every eps up to 700:
// near the minimum f may be far steeper to the left (where the nearest output no longer takes all the mass) than to
// the right, so the scale is kept on the gentle side of rounding.
//
// Results have the same bits at any GOMAXPROCS.
//
// # Cost
//
// O(k kv log kv) to sort the cost once (skipped when it comes as a *knapsack.Table), O(k kv) for each
// evaluation and each shift, 12 k kv bytes. A pivot of Solve costs O(n kv) with n the number of nonzeros of m; random
// points in a square take 40 evaluations and 200 pivots for k = 100 at eps = 2, and 600 and 18 000 for k = 1000 at
// eps = 5: milliseconds, and some seconds. Verify costs O(k kv) operations on integers of a few hundred bits, and
// O(k kv log kv) comparisons.
package basemeasure
