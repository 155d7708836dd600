// Package atlas makes a map of a population from a policy and the counts of its reports.
//
// # The problem
//
// A policy says how each device releases: one of kv outputs, by the row of the place where the device is. The server
// counts the outputs. Wanted is the share of the population at each of the k places, said no more finely than the
// counts support, and in words.
//
// Package estimate has the estimators, over a channel and distances that the caller makes. This package makes both from
// the policy, so that no program repeats that step:
//
//	world, err := atlas.Of(ctx, p)                            // once for each policy
//	m, err := world.Map(ctx, counts, atlas.Settings{})        // once for each epoch
//	shares, err := world.Regions(ctx, counts, regions, atlas.Settings{})
//
// # What a map has
//
// [World.Estimate] gives a share for each place, by one of four estimators. The counts do not settle each share,
// because the rows of neighbours are nearly the same. So [World.Map] also groups places in squares, in steps of a
// factor 2. The squares are large enough for the counts to say something about the three largest, and no smaller than
// the counts ask for. Map.Parts lists them, Map.Drawn spreads the mass of each within it like the guess, and
// Map.Headline says in a sentence or two where the population is. Estimate.Error is how far the truth is expected to be
// from the map, from draws of what the counts leave open, and Information and Verdict are what the counts know, and what
// they say of the guess. [World.Regions] gives the share of a region with its
// interval, by the counts alone: no prior and no estimator has a part in it.
//
// # What is guaranteed
//
// Every map is a distribution: finite, not negative, with sum 1 to rounding. The same input gives the same bits at any
// GOMAXPROCS. A place that Map.Single names, or a square of a map with more than one, has more than the guess in every
// map that the counts do not contradict at level 0.9; see estimate.Interval for what that level holds. The map itself
// is an estimate. Its error is stated, and not proved: lab's "wpm-lab errors" compares it with real distances.
//
// Everything here comes from reports and public data. It costs no privacy, and no error here can cost any.
//
// A policy of projection mode does not identify a map: its releases follow the shapes of the private distributions, and
// not only their mean. The error is then ErrProjection. [Assume] makes a map of it all the same, and marks it as biased.
//
// # What it costs
//
// [Of] reads k kv integers, at most MaxRows of them; not so those of points and grids, whose rows follow from thresholds.
// Memory is that of the channel (see estimate.NewChannel and NewRuns) and of the geometry: O(k) for places, 8 k^2 bytes
// for a matrix. A map takes the time of its estimator (see package estimate: some tenths of a second for 400 places), and
// 20 s and 800 MB or so for 100,000. Of another estimator than ByMap it takes up to that of ByMap as well, for the
// error. Then come up to three intervals for each level of squares: some seconds at 1,500 squares, and above that none
// are made.
//
// # When to use another package
//
// For the histogram of the reports with confidence bands use aggregate; for rows of your own without integers use
// estimate; for how good a map will be before there are reports use estimate/plan.
package atlas
