// Package estimate finds where a population is from the releases of its devices. It gives a map, the share of a region
// with an interval, and the accuracy of both.
//
// # The problem
//
// N devices release one of kv outputs each. The rows P_i of a public channel say how a device at input i releases: it
// releases output j with probability P_ij. A device whose private distribution is mu releases from mu P (the mixture
// mode of a policy). So the counts N_j of the outputs are a sample of size N from theta P, where theta is the mean of
// the private distributions. This distribution over the k inputs is the map to be estimated.
//
// A release is private because the rows are alike. For the same reason the counts say little about theta beyond some
// resolution. An estimate that inverts the rows exactly amplifies the noise. The releases as they are (Raw) keep a bias
// that no number of devices removes. The best compromise depends on how rough the map may be.
//
// # The estimators
//
//	Map       a prior over smooth and rough maps, weighed by how well each explains the counts: the default
//	EM        the expectation-maximization path, averaged by cross-validation: needs no distances
//	MLE       the most likely map, with a certificate; piles mass on few places, and is an anchor, not a picture
//	Raw       the releases as they are
//	Interval  the share of a region: every value that agrees with the counts, by the counts alone
//
// All of them see releases and public data alone, so they cost no privacy. The model holds in mixture mode. In
// projection mode the mean of the released laws depends on the shapes of the private distributions, not only on their
// mean. So releases in projection mode do not identify the map, however many there are.
//
// # Map
//
// A model writes the map as theta = u exp(f) / Z. Here u is the public prior, and f is normal with the covariance tau^2
// exp(-D/l), less its mean over the places, or the square of that, for smooth maps. Fisher scoring finds the mode of f
// given the counts, and Laplace's approximation gives the evidence. Map is the average, by evidence, of the modes for
// seven such kernels and five roughnesses tau, and of the guess u itself. The prior weight of the guess is 0.5, and
// those of models fall with the roughness. A model has to explain the counts better than the guess does to outweigh it. A
// prior may be wrong: beside one that is not even, the even map and its models have a weight of 0.05 together.
//
// With Settings.Draws, Map also draws maps from the posterior, by elliptical slice sampling around each mode. The mean
// distance of draws to the map is how far the truth is expected to be; package estimate/atlas says so in words. lab's
// "wpm-lab errors" compares that with real distances.
//
// See [Map] for the numbers, and [Signal] for the accuracy that the model predicts.
//
// Map is not the best everywhere. On broad, smooth maps of few devices, Raw is a little better.
//
// With k places and kv outputs, a step takes O(k^2 + k kv), plus the time for the runs of the channel. Each model whose
// weight matters takes two or three factors of a matrix, of k^3 / 6 operations each. The processor time is
//
//	400 places  0.3 to 1 seconds
//	900 places  2 to 6 seconds
//
// and is longest where there are enough devices to make the map clear. A tenth of the work depends on the distances
// alone; a Geometry keeps its results.
//
// # Guarantees
//
// Every result is a distribution: finite, not negative, with sum 1 to rounding. The same input gives the same bits at
// any GOMAXPROCS: EM splits the counts with a fixed seed. No parameter needs tuning. Inputs are not modified. The
// errors are ErrShape, ErrCounts, ErrChannel, ErrNoGeometry and ErrNotConverged; ctx is checked between steps.
//
// No estimator here is unbiased. Only MLE has a proved bound: on the difference between its likelihood and the largest
// one. How far a map is from the truth, on average, can be simulated: see package estimate/plan.
package estimate
