// Package estimate finds where a population is from the releases of its devices: a map, the share of a region with its
// interval, and what either is worth.
//
// # The problem
//
// N devices release one of kv outputs each. The rows P_i of a public channel say how a device at input i releases: with
// probability P_ij the output j. A device whose private distribution is mu releases from mu P (the mixture mode of a
// policy), so the counts N_j of the outputs are a sample of size N from theta P, where theta is the mean of the private
// distributions: the map. The question is theta, a distribution over the k inputs.
//
// A release is private because the rows are alike, and so the counts say little about theta beyond some resolution.
// Undoing the rows exactly amplifies noise; the releases as they are (Raw) keep a bias that no number of devices
// removes. What lies between depends on how rough a map may be.
//
// # The estimators
//
//	Map       a prior over smooth and rough maps, weighed by how well each explains the counts: the default
//	EM        the expectation-maximization path, averaged by cross-validation: needs no distances
//	MLE       the most likely map, with a certificate; piles mass on few places, and is an anchor, not a picture
//	Raw       the releases as they are
//	Interval  the share of a region: all values that the counts do not contradict, whatever the map
//
// All of them see releases and public data alone, so they cost no privacy. They are right where the model is: in
// mixture mode. In projection mode the mean of the released laws depends on the shapes of the private distributions,
// not only on their mean, and does not identify the map at any N.
//
// # Map
//
// A map of a model is theta = u exp(f) / Z: u is the public prior, f is normal with the covariance tau^2 exp(-D/l), its
// mean over the places taken away. Its mode given the counts is found by Fisher scoring, its evidence is Laplace's. Map
// is the average of the modes over four lengths l and five roughnesses tau, and of the guess u itself, by their
// evidence. The guess has the log-weight 0, and each model -tau - log 20, so that it takes counts to leave the guess,
// and more of them for a rough map. See [Map] for the numbers, and [Signal] for what the answer says of itself.
//
// It is not the best everywhere. Broad, smooth maps of few devices are a little better served by Raw. And between
// counts that say nothing and counts that say something, the average hesitates: it stays near the guess when EM has
// left it.
//
// With k places and kv outputs, a step takes O(k^2 + k kv) and the runs of the channel. Its matrix takes O(k + kv) for
// each run, and kv^3 / 6 for a factor, or less if the counts see few directions; there are two or three for each model
// whose weight counts. 400 places take 0.2 to 0.5 seconds of processor time, 900 take 1 to 6, and as many devices as
// make the map clear take the longest. What depends on the distances alone, a tenth of that, is kept by a Geometry.
// Above 1,000 places, groups stand for places. TestCoarseLoss compares the two on 400: W_1 to the truth grows by less
// than 2 % on average, at up to 12 releases a place. With more of them, at a large eps, the counts may tell places
// apart that a group holds together: with 25 releases a place at eps 4, W_1 grew by 45 % for masses without a pattern.
//
// Where an output is far likelier from some inputs than from others, the posterior may have several modes, and which
// one is found may depend on the order of the places. TestMapLaws finds that in one of 400 worlds that are more awkward
// than those of a policy.
//
// # Guarantees
//
// Every result is a distribution: finite, not negative, with sum 1 to rounding. The same input gives the same bits at
// any GOMAXPROCS. Nothing is tuned, and nothing is left to chance: EM splits the counts with a fixed seed. Inputs are
// not modified. The errors are ErrShape, ErrCounts, ErrChannel, ErrNoGeometry and ErrNotConverged; ctx is looked at
// between steps.
//
// No estimator here is unbiased, and no error is promised but that of MLE against the best likelihood. How far a map is
// from the truth, on average, is a matter of simulation: see package estimate/plan.
package estimate
