// Package audit checks a published mechanism without trusting whoever made it. It decides in integers whether the
// published numbers are right, tests the running program by statistics, and checks claims about utility by their
// certificates.
//
// # The problem
//
// A mechanism with inputs i and outputs j is eps-LDP if P_i(j) <= e^eps P_i'(j) for all i, i', j. Its loss is
// the largest ln P_i(j)/P_i'(j). Three questions are asked of one mechanism:
//
//   - Exact: do the published integers carry the guarantee? That is, lo_j <= n_j <= hi_j, sum n_j = 2^B and hi_j <=
//     e^eps lo_j for the box, every row and the fallback. And does the sampler turn given random words into the right
//     output? Both are decided exactly, with an enclosure of e^eps that this package computes itself. It shares no code
//     with ldp, and both must agree.
//   - Statistical: does the running program, whatever it is, have a loss above eps? Its draws are counted and compared
//     with bounds on probabilities. A program that fails or panics does not pass.
//   - Certificates: do the bounds that solvers stated hold? See package certificate.
//
// # The statistics
//
// n draws for each of k inputs give counts x_ij of kv outputs. For every cell there are Clopper-Pearson bounds L_ij <=
// P_i(j) <= U_ij. There are also r further tests, one for each row whose law is known. Each bound or test is wrong with
// probability at most alpha/(2 k kv + r), so all of them hold together with probability at least 1 - alpha. The loss
// for an output and an ordered pair of inputs is then at least ln L_ij/U_i'j, and
//
//	eps_lower = max_j ln( max_i L_ij / min_i U_ij )
//
// is a lower bound on the loss. The verdict is "violated" if eps_lower > eps. A false alarm has probability at most
// alpha (1e-6 unless set otherwise), whatever the mechanism is.
//
// The same bounds also test whether the draws follow the published rows. P_i(j) outside [L_ij, U_ij] is a deviation: it
// may be harmless for privacy, but it is a fault. A row whose outputs deviate together does too; see [Together].
//
// # Clients
//
// Draws are made for clients with all data on one input, for one without usable data, and for mixed ones: two
// neighbouring inputs, the two inputs of the worst published pair, all inputs, and one heavy input beside all others.
// In mixture mode the law of a mixed client is sum_i mu_i n_ij / 2^B. In projection mode it depends on the solver: the
// draws count for the loss, but are not compared with any row. Simulations make no release and have no mixed clients.
//
// A verdict "not violated" says little, and the report says how little. It gives the detection limit: the smallest
// excess over eps that these n draws would have found with probability at least 1/2. It also gives the n that an excess
// of 5 % would need. No n is enough to find an excess of one unit in 2^62; only the exact part can find such an excess.
//
// # Controls
//
// An audit that finds nothing may itself be broken. So before Run examines its target, it plants known bugs, taken from
// incidents in other libraries, into a small mechanism. It must find every bug with the gate that is stated for the
// bug, and must find nothing in the same mechanism without a bug. If a control fails, the verdict of the report is
// "broken". The report also says which bugs statistics cannot detect.
//
// # What it cannot see
//
// The audit does not see time, memory or any output except the index. Some programs misbehave only on distributions
// other than those of the clients above; the exact check of random rows finds this in the solver or in rounding alone.
// Repeated releases are not audited together. A command is assumed to start every run afresh.
//
// # Cost
//
// The exact part takes O(k kv) operations on 64-bit words, the statistical part the time of its draws, the controls a
// tenth of a second. The same inputs and seed give the same report at any GOMAXPROCS.
package audit
