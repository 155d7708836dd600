// Package channel finds which public rows are best for a map: which law a device should release from at each input, so
// that the counts of N devices say most about where the population is.
//
// # The problem
//
// A device at input i releases output y with probability P_iy, and every column of P keeps within a factor e^eps. A map
// estimated from N releases has a Bayes risk, which depends on the information I(P) of a release. The rows that favour
// the outputs nearest to the device, a disc, are not the best ones, and often give several places the same row. Then no
// number of devices tells those places apart.
//
// # The channel
//
// A [Mixture] is a public list of components, each with a public weight. A device draws a component by the weights, and
// releases it with an output of that component:
//
//	code   the places are cut into blocks and the blocks have G colours; the own colour has odds e^eps to 1 against
//	       each other one
//	disc   the nearest places have odds e^eps to 1 against the others
//
// The component is public and is drawn without private data, so each component has to be private by itself. In each one
// every output has two weights (a third at the rim of a disc, between the two) of ratio at most e^eps. They are
// integers, and package ldp checks them.
//
// Blocks come from nets: centres in random order at least r from each other, every place with its nearest centre. So
// codes need distances alone, and no coordinates. There are several scales, and at the finest one every place is a block
// by itself. Colours are balanced by the number of blocks.
//
// # The weights
//
// With theta = u + R z for the prior u and z of unit covariance, the risk
//
//	f(w) = trace(A (1 + N sum_c w_c I_c)^-1),   A = R' W R
//
// is convex in the weights w. W is -D, the distance, made positive semidefinite by clipping its eigenvalues: the risk is
// the mean squared energy distance to the truth of the linear estimate, which stands for W_1. There are two priors around
// u, that of estimate.Disc for rough maps, and one for smooth maps. f is the sum of both risks, each divided by that of
// its best single disc. Above 200 places, 200 groups stand for the places: a row of a group is the mean of the rows of
// its places. The multiplicative update w_c <- w_c (g_c / mean)^a, with g the gradient, goes on until the duality gap
// N (max g - sum w g) is below 0.4 % of f. [Design] states the gap. If a list may have a number of outputs at most, the
// components of the largest weight for each output are kept, and get new weights.
//
// The best single disc is always compared. Codes are taken from 500 devices on if the predicted root risk is at most 0.97
// of that of the disc. Where places would still be inseparable, 3 % of the weight goes to codes of single places.
//
//	symbol  here             meaning
//	k       Inputs           places
//	N       Problem.Devices  releases
//	G       Component.Colors colours of a code
//	w       Weight / 2^Bits  odds of a component
//
// # Cost
//
// With k places, c components and n <= 200 groups, a design takes O(c k) memory, and O(c b k) time for nets of b blocks,
// O(c n^2) for each step of the weights. 400 places take a second or two.
//
// # What is guaranteed and what is not
//
// Privacy: every component passes the check of package ldp. By its own risk a design is never above the best single
// disc. The same problem and seed give the same design, at any GOMAXPROCS. That risk predicts the error of a map is an
// approximation: it is of a linear estimate, to second order around the prior, in energy distance.
package channel
