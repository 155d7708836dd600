// Package series makes a map of every epoch, of reports that come month after month, and says what has changed.
//
// # The problem
//
// Each epoch has its reports: with slots, those of a part of the clients. A map of one epoch alone is made from few
// reports, and a map of all epochs together is of a population that has moved. Wanted is the map of each epoch, as near
// to the truth of that epoch as the reports up to it allow, and its error.
//
//	maps, err := series.Maps(ctx, epochs, series.Settings{})
//	changes, err := series.Changes(ctx, epochs[0], epochs[11], regions, series.Settings{})
//
// # Maps
//
// The map of an epoch is made from its reports and those before. Reports of age a, in epochs, count for rho^a; all are
// scaled so that they count for as many as a mean with these weights is worth, (sum w n)^2 / sum w^2 n. The rate rho is
// one of 0, .5, .8, .95 and 1: the one whose maps have best predicted the reports of the epochs up to this one, each
// from those before it. Nothing of the future is used, so a map of the past does not change when an epoch is added.
// Where no rate is better than another, rho is 0, and the epoch stands alone.
//
// Policies may differ from epoch to epoch, if they have the same places: estimate.Join makes one channel of theirs.
//
// # Errors
//
// A map of old reports has two errors. One is of chance; draws of the posterior give it, as in package estimate/atlas.
// The other is drift: the population was elsewhere. The maps of an epoch with its own reports alone, and with those
// before it, lie further apart if it moves. How far apart they would be if nothing moved comes from simulated reports
// of the smoothed map. What is beyond that, in the mean of squares over all epochs up to this one, is the square of the
// drift. Moment.Error is the root of the sum of both squares.
//
// # Changes
//
// Changes compares shares of regions in two epochs, each by its own reports alone, without smoothing. Intervals of the
// two shares give that of their difference by MOVER (Zou and Donner, Construction of confidence intervals about effect
// measures, Statistics in Medicine 27, 2008): they hold as well as those of estimate.Interval. A change is known if its
// interval does not hold 0.
//
// # Guarantee and cost
//
// Everything is made from reports and public data: it costs no privacy, and no error here can cost any. The same input
// gives the same bits at any GOMAXPROCS. For each epoch there are a full map, and ten of at most 150 groups of places.
package series
