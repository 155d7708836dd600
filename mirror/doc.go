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
// The best iterate can be closer by many orders of magnitude, above all at large eps, where the start has far too much
// mass and most steps only remove mass. The masses are kept as logarithms, so none is lost to underflow.
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
// convex in l1, and the same constants follow. The step of Sharp rests on E sum alpha m_j <= 1, a sum over the columns
// cheaper than tau: where the subgradient is E times larger, on the cheap columns, there is little mass.
//
// Adaptive needs neither D nor eps, uses c = 1/2, starts at mass 1, gives iterate t the weight w_t = t, and never
// changes a mass by more than a factor e in a step. Its bound is computed from the run. With y = eta g, a step adds at
// most v = sum_j m_j (e^(-y_j) - 1 + y_j) to the divergence from an optimum. So that divergence at iterate t is at most
// B_t: the divergence at the start plus the v of all steps so far, or the bound from the least entry of m. Then
//
//	f(average) - f* <= sum_t [ (w_t/eta_t - w_(t-1)/eta_(t-1)) B_t + (w_t/eta_t) v_t ] / sum_t w_t.
//
// Settings.Factor multiplies the step of any rule, and the bounds take it into account. Sharp and Adaptive keep their
// limits on a step. The bounds are float64 formulas, correct to a few roundings, and can be +Inf at large eps. On
// ordinary instances the true error is 7 to 900 times smaller than the bound.
//
// # Certificate
//
// Every iterate leaves a cut (i, tau), which is a lower bound on f that is affine in m. The weighted average of the
// cuts bounds f* from below. The cuts of one input are merged into a weight w_i and a mean threshold eta_i; by
// concavity this never weakens the bound. Then all thresholds are shifted by the one number that makes the bound
// largest. Report.Lower and Result.Lower are the best bound so far, rounded down. The proof assumes nothing about the
// descent: Weights and Thresholds prove Lower for every eps-LDP mechanism, M proves Upper, and basemeasure.Verify
// checks both in rational arithmetic, given the fields of the same names. For a plain average, the gap between
// f(average) and the certificate is at most the bound of the rule. So the certificate converges wherever the descent
// does.
//
// # Cost
//
// A step takes one evaluation of f, which is O(k kv), and one exponential for each output. A report takes an evaluation
// of f and two to six passes over the rows that were the worst at some step. Memory is O(k + kv), all of it allocated
// before the first step.
//
// # Limits
//
// The error of the average falls like 1/sqrt(T). Take 30 points at eps = 2: after 10,000 steps of the paper's size the
// error is one to four percent, and a guarantee of one percent would take 1e8 steps. At eps = 5 the average is still
// off by half or more after a million steps, while the best iterate is within 0.03 percent. Adaptive reaches 0.5 to 4
// percent in 3000 steps.
//
// Results have the same bits at any GOMAXPROCS. On another processor the last bits of math.Exp can differ, and then
// another of several equally bad inputs may be chosen.
package mirror
