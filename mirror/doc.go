// Package mirror finds a base measure by mirror descent, as the appendix of the paper does. The method (Nemirovski and
// Yudin 1983) takes generalised Kullback-Leibler steps along a subgradient of the worst input, which is exponentiated
// gradient (Kivinen and Warmuth 1997; Beck and Teboulle 2003), and averages the iterates. The step of Adaptive is that
// of Duchi, Hazan and Singer (2011). The package serves as a reference for the paper's algorithm and its bound. A
// certificate says how near the optimum the answer is. For the optimum itself, use basemeasure.Solve.
//
// # Problem
//
// For a cost matrix C and eps >= 0 let alpha = e^(-eps/2), beta = e^(eps/2), E = e^eps, and
//
//	f(m) = max_i phi_i(m),  phi_i(m) = min { <C_i, q> : sum q = 1, alpha m <= q <= beta m }
//
// for m in M = { m >= 0, 1/beta <= sum m <= 1/alpha }. f is convex; f* is its minimum, the least worst case of any
// eps-LDP mechanism. Package knapsack evaluates f and its subgradients.
//
// # Algorithm
//
// From the uniform m of mass 1/alpha, T times: let i be the lowest row with the largest phi_i(m), tau its
// threshold, and
//
//	g_j = alpha (C_ij - tau)_+ - beta (tau - C_ij)_+ ,  m_j <- m_j e^(-eta g_j),  and clip sum m to [1/beta, 1/alpha]
//
// by scaling. The answer of the paper is the average of the T iterates. The start counts as the first iterate, and the
// point after the last step does not count. A Result has the average, the best iterate, and the better of the two as M.
//
// # Steps and bounds
//
// Let k, kv be the numbers of inputs and outputs, D the largest cost, R = max_i (max_j C_ij - min_j C_ij) <= D, and L =
// max(1, log kv). Then L/alpha bounds the divergence of any measure from the start. At every report, f(average) - f* <=
// Bound is proved, with
//
//	Rule      step eta                                      Bound after t steps
//	Paper     sqrt(2(1 + log k)/T) / (beta D)               E R (L/(r t) + r/2), r = eta beta R
//	Repaired  sqrt(2L/T) / (beta R)                         the same; at t = T it is E R sqrt(2L/T)
//	Sharp     sqrt(L/(K T)) / (alpha R), <= 1/(beta R)      R (L E/(r t) + r K/E), r = eta beta R; K = (e-2)E + 1/2;
//	                                                        at t = T, if T >= L E^2/K, it is 2R sqrt(L K/T)
//	Adaptive  c sqrt((1 + log kv) / sum_s sum_j m_j g_j^2)  from the steps taken; see below
//
// For the first rule the paper states the bound E D sqrt(2(1 + log k)/T), which is reported as PaperBound. PaperBound
// holds for kv <= k, where it is larger than Bound; for kv > k it can be false. The paper's proof needs a repair: it
// cites an inequality that does not hold for subgradients of both signs. But the mirror map of f is alpha-strongly
// convex in l1, and the same constants follow.
//
// Adaptive needs neither D nor eps, uses c = 1/2, starts at mass 1, gives iterate t the weight w_t = t, and never
// changes a mass by more than a factor e in a step. Its bound is computed from the run. The bounds are float64 formulas,
// correct to a few roundings, and can be +Inf at large eps.
//
// # Certificate
//
// The cuts of the run, merged by input, bound f* from below. The proof assumes nothing about the descent: Weights and
// Thresholds prove Lower for every eps-LDP mechanism, M proves Upper, and basemeasure.Verify checks both in rational
// arithmetic. For a plain average, the gap between f(average) and Lower is at most the bound of the rule.
//
// # Cost
//
// A step takes one evaluation of f, which is O(k kv), and one exponential for each output. Memory is O(k + kv). The error
// of the average falls like 1/sqrt(T); docs/algorithms/mirror.md has examples.
//
// Results have the same bits at any GOMAXPROCS. On another processor the last bits of math.Exp can differ, and then
// another of several equally bad inputs may be chosen.
package mirror
