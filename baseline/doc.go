// Package baseline holds the mechanisms that Wasserstein projection is compared with. Each is a rule that maps
// an input distribution mu to an output distribution q, from which one sample is released, and each comes
// with a public box that holds all its outputs, so that package ldp can round and certify it like any other
// mechanism.
//
// # The rules
//
// For k points, E = e^eps and a = 1/(E+k-1):
//
//	KPM                 q = max(mu/r, a), the projection of mu in Kullback-Leibler divergence KL(mu||q)
//	KPMScaled           the same projection onto the box of a uniform base measure of any mass
//	RandomizedResponse  draw x from mu, report it with probability E*a, else one of the others
//	Exponential         q_j ~ exp(-eps u_j/(2 Delta)), u_j = sum_i mu_i C_ij the mean cost of output j
//	Groups              collect mu into groups (genres), release a group, draw a member: any rule above in between
//	GroupKPM            KPMScaled in between: films to other films by genre
//	NewLocalMinimax     mu/r clamped to a box around public data (arXiv 2510.09485)
//	NewLinear           mu K, a matrix that keeps public data (arXiv 2411.08791)
//	NewDisk             a disk around a cell drawn from mu, on a grid (arXiv 2412.06541)
//	NewGeoIndistinguishable   e^(-t d) around a place drawn from mu, with the largest t for eps (CCS 2013)
//
// Each is available as a Sampler, the form in which mechanisms are compared, except the group mechanisms, whose outputs
// are other items. NewUnary, NewSubset and NewHash are frequency oracles (OUE, subset selection, OLH), which are not
// samplers; see Oracle. Reports has the exact likelihood of what they and a Hierarchy send.
//
// In exact arithmetic all rules are eps-LDP for the whole distribution mu. In floating point they are eps-LDP only
// after package ldp has rounded them into an integer box.
//
// # The boxes
//
// Let m be what KPMMeasure, RandomizedResponseMeasure or Exponential.Measure returns. For every mu the output q
// satisfies e^(-eps/2) m <= q <= e^(eps/2) m:
//
//   - KPM and randomised response, m_j = e^(eps/2) a. q_j >= a by definition (for randomised response
//     q_j = a (1 + (E-1) mu_j)), and so q_j = 1 - sum of the others <= 1 - (k-1) a = E a.
//   - KPMScaled, m_j = mass/k: by definition.
//   - Exponential, m = softmax(-eps c_j/(2 Delta)) with c_j the middle of column j of C. A mean u_j of the
//     column is within Delta/2 of c_j, so exp(-eps u_j/(2 Delta)) is within a factor e^(eps/4) of
//     exp(-eps c_j/(2 Delta)), and so is their sum over j: q_j is within e^(eps/2) of m_j.
//   - NewLocalMinimax, m = e^(eps/2) b P: by definition.
//   - NewLinear and NewDisk: the rule is linear in mu, and m_j is e^(eps/2) times the least entry of column j of its
//     matrix, or a bound below it.
//   - Groups: Spread is linear and has no negative coefficients, so it maps the box of m into the box of
//     Spread(m).
//
// # Conventions
//
// mu counts as mu / sum mu. If |sum mu - 1| > 1e-9, the error is ErrMass. eps must be in [0, 700]. At eps = 0 every
// rule returns a constant: 1/k for KPM and randomised response. Every result sums to 1 within k * 2^-52, and each entry
// has a relative error of a few roundings. In KPMScaled, the entry that takes the remainder of the mass may have an
// absolute error of 2^-52 instead. Inputs are not modified.
//
// # Worst cases and cost
//
// The Channel functions and methods give the rule on Dirac inputs as a row-stochastic matrix, and WorstCase gives the
// largest cost of its rows. For randomised response this is the worst case over all mu, because the rule is affine in
// mu and W_p^p is convex. For the other rules it is a lower bound on the worst case. Search looks for a worse mixture,
// which gives a lower bound too.
//
// KPM takes O(k log k), and randomised response O(k). Exponential takes O(k kv) to prepare, once for all users, and O(n
// kv) for a user with mass at n points.
package baseline
