// Package certificate writes the evidence of every solver to a file that anyone can check again.
//
// # The problem
//
// A solver of this module returns an answer with bounds, and a Verify beside it recomputes the bounds in exact
// rational arithmetic, sharing no code with the solver. That is of use only to whoever holds the Go values.
// This package gives problem, bounds and evidence one canonical text, so that they can be stored beside a
// result, mailed, and checked by another program in another language, years later.
//
// # The file
//
// A certificate is one JSON object without white space; a file holds one on each line (JSON Lines). Members
// are always all there, in this order:
//
//	{"format":"wpm-certificate-1",
//	 "kind":"projection",            or another of those below
//	 "problem":{...},                what was asked: sizes, SHA-256 of the cost, masses, bounds, eps
//	 "problem_sha256":"...",         of the bytes of the object above
//	 "lower":"1/4","upper":"1/4",    what is claimed, as exact fractions in lowest terms
//	 "evidence":{...},               from which Verify recomputes the two
//	 "cost":{...}}                   a cost.Spec, or null if it is supplied apart
//
// A certificate has exactly one byte string. [Encode] writes it, and [Decode] accepts nothing else: unknown,
// missing, repeated or reordered members, white space, numbers in another spelling, a fraction that can be
// reduced. A NaN or an infinity has no spelling. The problem names its cost by hash, so that it has the same
// hash whether the cost is in the file or not; two certificates about one problem have one problem hash.
//
// The kinds, with what lower and upper enclose:
//
//	projection    cost of the best point of a box for one distribution; upper also holds for q   mincostflow.Project
//	units         the same in whole units, potentials exact: lower = upper at an optimum         mincostflow.ProjectUnits
//	entropic      as projection, for the q of an entropic solver                                 sinkhorn.Project
//	transport     cost of the best plan between two distributions                                mincostflow.Transport
//	flow          least cost of an integer flow in a network: lower = upper                      network.Problem
//	base-measure  lower: the worst case of every eps-LDP mechanism; upper: that of m             basemeasure.Uniform, Shape, mirror.Descend
//	sphere        w* of the optimal cap on the sphere                                            sphere.Enclose
//	kpm           the r of the KPM rule; q is then the rule's output                             baseline.KPM
//
// docs/certificates.md has each of them for a 2 x 2 problem, checked with a pencil.
//
// # The guarantee
//
// If Verify returns nil, then lower and upper hold for the stated problem and the stated cost. It recomputes
// the bounds through the solver package's own Verify and compares as rationals: stated lower <= recomputed
// lower, stated upper >= recomputed upper. There is no tolerance. Nothing is said about how the evidence was
// found, and nothing about where the problem came from: a certificate about another problem than one's own is
// true and useless, so compare the problem hash.
//
// A policy carries one about its base measure; CheckPolicy decides whether it is about that policy, and holds the
// published integers to its upper bound.
//
// # Private and public
//
// All kinds but base-measure and sphere hold the private distribution that was projected (a flow may); so do,
// to whoever can guess it, their bounds and their problem hash. They are as private as the data and must
// not leave the device: such a [Certificate] prints as a fixed text under every verb and encoder, and only
// Encode shows it. Base-measure and sphere certificates are functions of public parameters and may be published.
//
// # Cost
//
// Encode and Decode are linear in the text. Verify costs what the solver's Verify does: one pass over the cost and a
// number of operations on large integers that is linear in k + kv + plan for projections. For base measures it is O(kv)
// for each input with a weight and for each that may be the worst, which are few of many places (see
// basemeasure.Verify). An entropic one takes two exponentials for each pair as well, a sphere some sqrt(d) terms of
// series in big floats: a second at d = 10^7. Limits: 64 MiB of text, cost.MaxPoints rows and columns, cost.MaxEntries
// cells (2^40 for base measures), and numbers so short that no text costs more than these lines say.
package certificate
