// Package minimax proves how near a map of a population can be, at best, whatever the mechanism and whatever the reader
// of its reports: a distance below which nobody stays for every population.
//
// # The problem
//
// N people have one place each, drawn independently from a population P of K places. Each sends one report by an eps-LDP
// channel: of any kind, one for each person if need be, chosen before any report is seen. A reader makes a map Q of the
// reports. How small can the largest mean of W(P, Q) over all populations P be, where W is the optimal transport cost?
//
//	Lower <= inf over channels and readers of sup over P of E W(P, Q) <= Upper
//
// For a cost that is a distance, W is W_1, and W_p >= W_1 for p >= 1. P is the population, not the places of these N
// people, which are themselves some distance from it. The bound says nothing of people who each hold a distribution: if
// each holds P itself, a report may depend on P as it likes.
//
// # The bound
//
// Take J pairs of places, the poles, with a radius h_j such that C(a, b) >= h_a + h_b for any two poles. Put a mass u_j on
// pair j, half on each pole, sum u_j = 1. For signs v the population P_v gives the poles of pair j the masses
// u_j (1 + eta v_j)/2 and u_j (1 - eta v_j)/2. Let f_j be the tent of height h_j on the one pole less that on the other: any
// sum of them with signs is 1-Lipschitz. So a map is at least sum_j |v_j eta u_j h_j - <f_j, Q>| from P_v, and whoever
// makes it guesses J signs (Assouad):
//
//	E W >= sum_j eta u_j h_j (1 - TV_j),   TV_j <= sqrt(1 - exp(-x_j)),   x_j = -2 sum over people of log(1 - H_ij/2),
//
// where H_ij is the squared Hellinger distance of one report under v_j = 1 and v_j = -1. A column of an eps-LDP channel is
// l (1 + kappa s) with 0 <= s <= 1 and kappa = e^eps - 1, and Bessel's inequality bounds what it tells of all pairs
// together:
//
//	sum_j H_ij / (eta^2 u_j) <= Phi = kappa^2 / (sqrt(e^eps) + sqrt(e^eps - kappa eta))^2.
//
// So mechanisms can choose x with sum_j x_j/(eta^2 u_j) <= N c Phi, with c = -(2/H) log(1 - H/2) at the largest H_ij. The
// sum above is convex in x. A tangent at one x, and a multiplier for the constraint, bound it from below: they are the
// certificate. See docs/algorithms/minimax.md for the proofs.
//
// The upper bound needs no reports: the map that has everybody at the place nearest to the farthest.
//
// # How it is found
//
// Solve tries poles at many distances from one another: greedily in the order of the places, and farthest first. It
// takes u_j in proportion to h_j^(-1/2), at which no pair is worth more reports than another, and searches eta.
//
// # Guarantee
//
// [Bound.Verify] checks the tents for every pair of places, in rationals where floats do not decide, and computes the
// bound in rationals. It owes nothing to the search, and assumes no triangle inequality of the cost: where tents are
// steeper than the cost, if only by its rounding, the bound is as much lower.
//
// # Cost
//
// One pass over the K^2 costs for each distance that is tried, some 40, and one in Verify: 400 places take .02 s, 2,000
// half a second.
//
// # Sources
//
// Duchi, Jordan and Wainwright, Minimax optimal procedures for locally private estimation (JASA 2018), which has the rate
// for distributions without distances; Assouad's lemma as in Yu, Assouad, Fano and Le Cam (1997). The constant Phi, and
// the numbers for given places, are of this package.
package minimax
