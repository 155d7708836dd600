// Package basemeasure chooses the base measure of a mechanism: the m whose LDP box
// [e^(-eps/2) m, e^(eps/2) m] makes the worst input as cheap as possible.
//
// # Problem
//
// For a k x kv cost matrix C and eps >= 0 let
//
//	f(m) = max_i min { sum_j C_ij q_j : sum_j q_j = 1, e^(-eps/2) m_j <= q_j <= e^(eps/2) m_j },
//
// the worst case (W_p^p) of projecting onto the box of m; it is attained at a Dirac input. f is convex and
// piecewise linear, and defined where e^(-eps/2) <= sum m <= e^(eps/2). Uniform minimises f over the
// uniform measures m = (t, ..., t), Shape over the multiples of any given measure. At eps = 0 the box is a
// point, and the answer is the given shape as a distribution.
//
// # Method
//
// Along a ray m = t*w each evaluation of f gives a line tau + t*(w.g) that lies below f and touches it
// (package knapsack). Two lines with slopes of opposite sign bracket the minimum; where they meet f is
// evaluated again, and the new line replaces the one on its side. f is piecewise linear, so this ends: when
// the new line is one of the two, they meet in the minimum. From 4 to 16 evaluations are usual, at any k and
// eps. An all-constant cost ends after one.
//
// # Evidence
//
// Result.Upper is at least f(M). Result.Lower is at most the worst case of every eps-LDP mechanism with the
// same inputs and outputs, whatever its form: so Upper - Lower bounds what a better shape, or another
// mechanism, could gain. The evidence for Lower is a weight and a threshold for each input:
//
//	b_j = sum_i w_i [ (C_ij - eta_i)_+ - e^eps (eta_i - C_ij)_+ ],  sum w = 1,
//	lower = sum_i w_i eta_i + min( min_j b_j, e^-eps min_j b_j ).
//
// It holds because every eps-LDP mechanism lies in the box of some m, and for x = e^(-eps/2) m the cut of
// input i at eta_i says f >= eta_i + sum_j x_j [...], where e^-eps <= sum x <= 1. Lower is the best of a few
// candidates: equal weights on all inputs, which closes the gap on transitive spaces (ring, torus,
// hypercube, discrete metric) because there the uniform measure is optimal; equal weights on the inputs
// that attain f; the two inputs whose lines meet at the minimum; and the largest distance from an input to
// its nearest output. Each is shifted (all thresholds by the same number) to where min_j b_j = 0, which is
// its best place. On general spaces the gap stays open: a uniform measure is not optimal there.
//
// Verify recomputes both numbers in exact rational arithmetic from M, the weights and the thresholds, with
// its own bounds on e^eps. It shares no code with the solver.
//
// # Accuracy
//
// f at the returned scale is within 1e-14 of the best scale, relatively, for every eps up to 700: near the
// minimum f may be far steeper to the left (where the nearest output no longer takes all the mass) than to
// the right, so the scale is kept on the gentle side of rounding.
//
// # Cost
//
// O(k kv log kv) to sort the cost once (skipped when it comes as a *knapsack.Table), O(k kv) for each
// evaluation and each shift, 12 k kv bytes. Verify costs O(k kv) operations on integers of a few hundred
// bits, and O(k kv log kv) comparisons.
//
// # Not here yet
//
// The optimum over all m is not computed by this package's present functions; package mirror has the
// paper's mirror descent.
package basemeasure
