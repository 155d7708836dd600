// Package certificate writes the evidence of every solver to a file that anyone can check again.
//
// # The problem
//
// A solver of this module returns an answer with bounds. The Verify function of its package recomputes the bounds in
// exact rational arithmetic, and shares no code with the solver. Verify needs the Go values. This package gives
// problem, bounds and evidence a canonical text, so that they can be stored beside a result, mailed, and checked years
// later by another program in another language.
//
// # The file
//
// A certificate is one JSON object without white space; a file holds one on each line (JSON Lines). All members are
// always present, in this order:
//
//	{"format":"wpm-certificate-1",
//	 "kind":"projection",            or another Kind
//	 "problem":{...},                what was asked: sizes, SHA-256 of the cost, masses, bounds, eps
//	 "problem_sha256":"...",         of the bytes of the object above
//	 "lower":"1/4","upper":"1/4",    what is claimed, as exact fractions in lowest terms
//	 "evidence":{...},               from which Verify recomputes the two
//	 "cost":{...}}                   a cost.Spec, or null if it is supplied apart
//
// A certificate has exactly one byte string. [Encode] writes it, and [Decode] refuses everything else: unknown,
// missing, repeated or reordered members, white space, numbers in another spelling, and fractions that can be reduced.
// NaN and infinities cannot be written. The problem names its cost by hash. So the problem has the same hash whether
// the cost is in the file or not, and two certificates about one problem have the same problem hash.
//
// docs/certificates.md has every kind, with what lower and upper enclose, and an example of each, worked out by hand.
//
// # The guarantee
//
// If Verify returns nil, then lower and upper hold for the stated problem and the stated cost. It recomputes the bounds
// through the solver package's own Verify and compares as rationals: stated lower <= recomputed lower, stated upper >=
// recomputed upper. There is no tolerance. A certificate does not say how the evidence was found, or where the problem
// came from. A certificate about a problem other than one's own is true but useless, so compare the problem hash.
//
// A policy carries a certificate about its base measure. CheckPolicy decides whether the certificate is about that
// policy, and checks that the published integers keep its upper bound.
//
// # Private and public
//
// All kinds except base-measure, sphere, shuffled and minimax hold the private distribution that was projected (a flow
// may hold it). Their bounds and their problem hash also reveal the distribution, to anyone who can guess it. So these
// certificates are as private as the data and must not leave the device: such a [Certificate] prints as a fixed text
// under every verb and encoder, and only Encode shows it. Base-measure, sphere, shuffled and minimax certificates are
// functions of public parameters and may be published.
//
// # Cost
//
// Encode and Decode are linear in the text. Verify takes the time of the solver's Verify:
//
//   - Projections take one pass over the cost, and a number of operations on large integers that is linear in k + kv +
//     plan. Entropic projections also take two exponentials for each pair.
//   - Base measures take O(kv) for each input with a weight, and for each input that may be the worst; of many places
//     these are few (see basemeasure.Verify).
//   - A sphere takes about sqrt(d) terms of series in big floats: a second at d = 10^7.
//   - Shuffled reports take about sqrt(N) steps for each edge: some .05 s at N = 10^6.
//
// The limits are 64 MiB of text, cost.MaxPoints rows and columns, and cost.MaxEntries cells (2^40 for base measures).
// The length of numbers is limited too, so that no text takes longer to check than stated here.
package certificate
