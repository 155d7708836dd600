// Package audit checks a published mechanism without trusting whoever made it: in integers what can be decided,
// by statistics what can only be seen from outside, and by its certificates what is claimed about utility.
//
// # The problem
//
// A mechanism with inputs i and outputs j is eps-LDP if P_i(j) <= e^eps P_i'(j) for all i, i', j. Its loss is
// the largest ln P_i(j)/P_i'(j). Three questions are asked of one mechanism:
//
//   - Exact: do the published integers carry the guarantee? lo_j <= n_j <= hi_j, sum n_j = 2^B and hi_j <= e^eps lo_j
//     for the box, every row and the fallback, and does the sampler turn the right random words into the right
//     output? These are decisions, with an enclosure of e^eps that this package computes itself; it shares no
//     code with ldp, and both must agree.
//   - Statistical: does the thing that runs, any program, have a loss above eps? A program that fails or panics has
//     not passed. Its draws are counted and compared with bounds on probabilities.
//   - Certificates: do the bounds that solvers stated hold? See package certificate.
//
// # The statistics
//
// n draws for each of k inputs give counts x_ij. For every cell there are Clopper-Pearson bounds
// L_ij <= P_i(j) <= U_ij, each wrong with probability at most alpha/(2 k kv + r): so all of them hold together, and r
// tests more, one for each row whose law is known, with probability at least 1 - alpha. Every loss of every output and
// every ordered pair of inputs is then at least ln L_ij/U_i'j, and
//
//	eps_lower = max_j ln( max_i L_ij / min_i U_ij )
//
// is a lower bound on the loss. The verdict is "violated" if eps_lower > eps: a false alarm has probability at
// most alpha (1e-6 unless set otherwise), whatever the mechanism is. (The bounds are counted once each.
// Counting them once for every pair that uses them, as is often done, gives the same promise with less power.)
// The same bounds test for free whether the draws follow the published rows: P_i(j) outside [L_ij, U_ij] is a
// deviation, which may be harmless for privacy and is a fault all the same. So is a row whose outputs deviate together:
// a random half of its draws says which outputs come too often, and the other half, which is independent of it, tests
// their sum. That finds a row that is wrong by a little in each of many outputs.
//
// # Clients
//
// Draws are made for clients with all data on one input, for one without usable data, and for mixed ones: two
// neighbouring inputs, the two inputs of the worst published pair, all inputs, and one heavy input beside all others.
// In mixture mode the law of a mixed client is sum_i mu_i n_ij / 2^B. Its counts sum to a power of two, so that a
// release chooses an input with exactly these probabilities, and the law is known to the last bit. Simulations make no
// release and have no mixed clients. In projection mode the law of a mixed client depends on the solver: its draws
// count for the loss, and are not compared with any row.
//
// A verdict "not violated" says little, and the report says how little: the detection limit is the smallest
// excess over eps that these n draws would have found with probability at least 1/2, and the report has the n
// that an excess of 5 % would need. An excess of one unit in 2^62 is beyond any n; that is what the exact part
// is for.
//
// # Controls
//
// An audit that finds nothing may be broken itself. So before it looks at its target, Run plants bugs of its
// own, taken from incidents in other libraries, into a small mechanism, and must find every one with the gate
// that is stated for it, and nothing in the same mechanism without a bug. A control that is missed makes the
// report "broken". The report also says which bugs statistics cannot see.
//
// # What it cannot see
//
// Time, memory and any other output than the index. A program that misbehaves on other distributions only than those
// of the clients above is caught by the exact check of random rows if the fault is in the solver or in rounding, and
// not at all if it is elsewhere. Repeated releases: one draw is audited at a time. A command is believed to start every
// run afresh.
//
// # Cost
//
// Exact: O(k kv) words of 64 bits, and an enclosure of e^eps for a few pairs. Statistical: the draws. The
// controls take a tenth of a second. Same inputs and seed, same report, at any GOMAXPROCS.
//
// # Names
//
//	k, kv      audited inputs (rows), outputs (columns)
//	n          draws for each input
//	alpha      false-alarm rate of the whole statistical verdict
//	level      that of one bound, alpha/(2 k kv + r)
//	overshoot  loss minus eps
package audit
