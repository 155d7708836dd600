// Package mirror finds a base measure by mirror descent, as the appendix of the paper does: generalised
// Kullback-Leibler steps along a subgradient of the worst input, and an average of the iterates. It is the
// paper's algorithm for reference, with its bound. A certificate says how near the optimum the answer is. For
// the optimum itself, use basemeasure.Solve.
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
// by scaling. The answer of the paper is the average of the T iterates. The start is the first of them, and what the
// last step leads to is none. A Result has the average, the best iterate, and the better of the two as M: the best
// iterate can be many orders of magnitude closer, above all at large eps, where the start is far too heavy and most
// of the steps go into losing mass. The masses are kept as logarithms, so none is lost to underflow.
//
// # Steps and bounds
//
// Let k, kv be the numbers of inputs and outputs, D the largest cost, R = max_i (max_j C_ij - min_j C_ij) <= D, and
// L = max(1, log kv), for which L/alpha bounds the divergence of any measure from the start. What is proved is
// f(average) - f* <= Bound, at every report, with
//
//	Rule      step eta                                      Bound after t steps
//	Paper     sqrt(2(1 + log k)/T) / (beta D)               E R (L/(r t) + r/2), r = eta beta R
//	Repaired  sqrt(2L/T) / (beta R)                         the same; at t = T it is E R sqrt(2L/T)
//	Sharp     sqrt(L/(K T)) / (alpha R), <= 1/(beta R)      R (L E/(r t) + r K/E), r = eta beta R; K = (e-2)E + 1/2;
//	                                                        at t = T, if T >= L E^2/K, it is 2R sqrt(L K/T)
//	Adaptive  c sqrt((1 + log kv) / sum_s sum_j m_j g_j^2)  from the steps taken; see below
//
// The paper states E D sqrt(2(1 + log k)/T) for the first. That is true for kv <= k, where it is the larger number,
// and is reported as PaperBound; for kv > k it can be false. Its proof needs repair: the inequality it cites does not
// hold for subgradients of both signs, but f's mirror map is alpha-strongly convex in l1, and the same constants
// follow. The sharper step comes from E sum alpha m_j <= 1 over the columns cheaper than tau: near the cheap columns,
// where the subgradient is E times larger, there is little mass.
//
// Adaptive needs neither D nor eps, uses c = 1/2, starts at mass 1, gives iterate t the weight w_t = t, and never
// changes a mass by more than a factor e in a step. Its bound is computed from the run: with y = eta g, a step spends v
// = sum_j m_j (e^(-y_j) - 1 + y_j) at most; an optimum is no further from iterate t than B_t, which is its divergence
// from the start plus all that was spent, or what the least entry of m allows; and
//
//	f(average) - f* <= sum_t [ (w_t/eta_t - w_(t-1)/eta_(t-1)) B_t + (w_t/eta_t) v_t ] / sum_t w_t.
//
// Settings.Factor multiplies any of the steps; the bounds follow. Sharp and Adaptive keep their limits. The
// bounds are float64 formulas, good to a few roundings, and can be +Inf at large eps. On ordinary instances the error
// is 7 to 900 times smaller.
//
// # Certificate
//
// Every iterate leaves a cut (i, tau), a lower bound on f that is affine in m. Their weighted average bounds f* from
// below: merged by input (weights w_i, mean thresholds eta_i; never worse, by concavity) and then shifted, all
// thresholds by one number, to where the bound is largest. Report.Lower and Result.Lower are the best bound so
// far, rounded down. Nothing is assumed about the descent: Weights and Thresholds prove Lower for every eps-LDP
// mechanism, M proves Upper, and basemeasure.Verify checks both in rational arithmetic, given the fields of the same
// names. For a plain average the gap between f(average) and the certificate is at most the bound of the rule, so
// where the descent converges its certificate does.
//
// # Cost
//
// A step costs one evaluation of f, O(k kv), and one exponential for each output; a report costs an evaluation of f
// and two to six passes over the rows that were ever the worst one. Memory is O(k + kv), all of it allocated before
// the first step.
//
// # Limits
//
// The error of the average falls like 1/sqrt(T). For 30 points at eps = 2, ten thousand steps of the paper's size
// leave one to four percent, and to guarantee one percent would take 1e8; at eps = 5 the average is off by half or more
// after a million, though the best iterate is within 0.03 percent by then. Adaptive steps leave 0.5 to 4 percent after
// 3000.
// Results have the same bits at any GOMAXPROCS; on another processor the last bits of math.Exp can differ, and with
// them the choice between inputs that are equally bad.
package mirror
