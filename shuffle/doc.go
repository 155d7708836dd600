// Package shuffle says what is known of one client when only the multiset or the sum of all reports is seen: privacy
// amplification by shuffling, for the boxes of package ldp.
//
// # The problem
//
// N clients draw one report each, client i from a row n_i of a published box: weights lo_j <= n_j <= e^eps lo_j of sum
// 1. A relay that mixes the reports, or two servers that add them under secret sharing, hand on no more than how often
// each output occurs. For which (eps', delta) is this differentially private, when one client's data are replaced by
// any other?
//
// # The bound
//
// Let gamma = sum_j lo_j be the mass of the blanket, e = e^eps, c = e^eps', and f = (1 - gamma) / (gamma (e - 1)), the
// share of the blanket on which a row can reach its upper bounds. Then the reports are (eps', delta)-DP with
//
//	delta = E_m [ gamma/M E ( sum of M independent draws of X )_+ ],   M = m + 1, m ~ Bin(N-1, gamma),
//
// where X is e - c and 1 - e c, with probability min(f, 1-f) each, and else 1 - c if 2f <= 1, e (1 - c) if 2f > 1. Only
// gamma, eps and N enter, so the bound holds for both modes, for the fallback row, and for codes as for discs.
//
// Proof. (1) Every row is at least lo, so a client draws from lo/gamma with probability gamma whatever its data are.
// Reveal which clients do not, and their reports: m of the other N-1 are left, and the client in question. (2) Given m,
// the likelihood of the M values, against M draws of the blanket, is gamma/M sum_i n(y_i)/lo(y_i): the client may be any
// of them. So delta is E (gamma/M sum_i X_i)_+ with X = n/lo - c n'/lo. (3) Both ratios lie in [1, e] with mean
// 1/gamma. A positive part is convex, so it grows when both are spread to {1, e}, each e with probability f, and when
// e c - e and c - 1, on the overlap and on neither, are replaced by values of equal sum further apart: so on sets of
// least overlap. See docs/algorithms/shuffling.md.
//
// # How it is computed
//
// With T ~ Bin(M, 2 min(f, 1-f)) draws that are not the constant one, a ~ Bin(T, 1/2) of them are e - c, and the sum is
// D (a - a0) with D = (e-1)(1+c). Tails of Bin(t, 1/2) move from t to t+1 and from a to a+1 by one addition each. The
// inner expectation falls as M grows (means of more draws are less spread), so m is rounded down to some sixty edges.
//
// [Solve] searches in floats, then proves what it found by [Guarantee.Verify], which shares no code with the search: it
// takes e up and c down to rationals, and carries every sum as integers with the error on the side of a larger delta.
//
// # Cost
//
// About sqrt(N) additions an edge: 10^6 clients take a second to solve and verify, 1,000 a few milliseconds.
//
// # What is assumed
//
// N honest clients, whose number and participation do not depend on data, and an adversary who sees the multiset alone.
// If everybody else colludes, the local eps is left. Reports of several epochs compose: the eps' and the deltas add.
//
// # Sources
//
// Balle, Bell, Gascon and Nissim, The privacy blanket of the shuffle model (CRYPTO 2019); Feldman, McMillan and Talwar,
// Hiding among the clones (FOCS 2021), whose bound for any eps-LDP reports is larger; Wang and others, variation ratio
// (arXiv 2304.05007).
package shuffle
