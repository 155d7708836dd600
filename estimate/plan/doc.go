// Package plan predicts the accuracy of a map before any release: how far the map of package estimate will be from the
// truth, for an eps, a number of devices, and a mechanism.
//
// # The prediction
//
// The prediction is a simulation. Thirty worlds stand for what the truth may be. For every mechanism and every number N of
// devices, releases are drawn from each world once, and a map is estimated from them. The worlds are:
//
//   - With a prior p, a public distribution that is expected to be about right, a world is p with 15 to 30 % of its
//     mass moved elsewhere; every fifth is p itself, with releases of its own. Let s be the total variation distance
//     between p and the even map. A mass of 15 % times s moves between regions, by a smooth random field around places
//     drawn uniformly. A mass of 30 % times 1 - s moves from everywhere to all places alike.
//   - Without a prior, the worlds are log-Gaussian maps of two lengths and five roughnesses, from nearly even to
//     concentrated on few places. They differ far more than the worlds of one prior. So the prediction is a range,
//     relative to the guess.
//
// Mass does not move place by place, because such moves would make a smooth map rough. A rough map is far harder to
// estimate, so predictions would be up to three times too large. Predictions would be twice too large if regions
// appeared in a map that is nearly even, or if people appeared everywhere in a map of a single place.
//
// The counts have the law of N draws from theta P, where P has the integer rows of the mechanism. A generator with a
// fixed seed draws them; no private data are used. Map reads these counts like any others, without the prior. Distances
// to the truth are W_p under the cost, by exact transport.
//
// # The floor
//
// Rows may not tell some places apart, whatever the number of devices: see package estimate/patch. The floor is the mean
// over the worlds of the distance between the truth and the best map of exact reports. That is the nearest of three:
// what Map makes of exact counts of a million and of a hundred million releases, and the sums of patches, shared as the
// prior says. The floor is simulated, and not a proved bound.
//
// # Many places
//
// Up to 2,048 places, all distances are exact, and maps are nearly those of a user: above 300 places, of groups where these
// will do. The floor's are not: they have every place up to 1,000. Above 2,048, maps are those of 250 groups of places, distances are those of 400 groups, small where there is
// mass, and the interval is that of 250 merged places. Rows that follow from thresholds are not written out. Releases as
// they are have no distance unless outputs are inputs. Groups do not see that mass moves within a patch. So the first map
// of the floor is as far from the truth as moves within patches are, by exact transport.
//
// # What it is worth
//
// docs/choosing.md compares predictions with the errors of the same estimator when the prior is the truth. The
// prediction is too optimistic if the prior is smoother than the truth, or farther from the truth than from its worlds.
// All worlds of an exactly even prior equal the prior, and the worlds of a prior on a single place nearly do.
//
// One world in ten is below a range over the worlds, and one in ten is above it. The range shows the spread of the
// worlds, and is not a confidence interval.
package plan
