// Package plan predicts how good a map will be, before any release: how far the map of package estimate will be from
// the truth, for an eps, a number of devices, and a mechanism.
//
// # The prediction
//
// The prediction is a simulation. Ten worlds stand for what the truth may be. For every mechanism and every number N of
// devices, releases are drawn from each world once, and a map is estimated from them. The worlds are:
//
//   - With a prior p, a public distribution that one expects to be about right, a world is p with 15 to 30 % of its
//     mass elsewhere. Let s be the share by which p differs from the even map (total variation). Then 15 % times s
//     moves between regions, by a smooth random field around places drawn uniformly, and 30 % times 1 - s moves from
//     everywhere to all places alike.
//   - Without one, the worlds are log-Gaussian maps of two lengths and five roughnesses, from nearly even to
//     concentrated on few places. They differ far more than the worlds of one prior, so the prediction is a range,
//     relative to the guess.
//
// Mass does not move place by place. That would make a smooth map rough, and a rough map is far harder to estimate:
// predictions would be up to three times too large. They would be twice too large if regions appeared in a map that is
// nearly even, or if people appeared everywhere in a map of a single place.
//
// The counts have the law of N draws from theta P, where P has the integer rows of the mechanism. A generator of fixed
// seed draws them; nothing private goes in. Map reads them as it reads any counts, without the prior. Distances to the
// truth are W_p under the cost, by exact transport.
//
// # What it is worth
//
// docs/choosing.md compares predictions with what the same estimator does, where the prior is the truth. The prediction
// is too good if the prior is smoother than the truth, or farther from it than from its worlds. All worlds of an
// exactly even prior are that prior, and nearly so for a prior that is all on one place.
//
// A range over the ten worlds is from the second to the ninth. It is the spread of the worlds, and no confidence
// interval.
package plan
