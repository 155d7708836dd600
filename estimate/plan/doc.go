// Package plan says before any release how good a map will be: how far package estimate will be from the truth, by
// eps, by the number of devices, and by mechanism.
//
// # The prediction
//
// It simulates. Ten worlds stand for what the truth may be, and each is released from and estimated once, for every
// choice of a mechanism and a number N of devices:
//
//   - With a prior p, a public distribution that one expects to be about right, a world is p with 15 to 30 % of its
//     mass elsewhere. With s the share by which p differs from the even map (total variation), 15 % times s moves
//     between regions, by a smooth random field around places drawn uniformly, and 30 % times 1 - s from everywhere to
//     all places alike.
//   - Without one, the worlds are log-Gaussian maps of two lengths and five roughnesses, from nearly even to
//     concentrated on few places. They differ by far more than worlds of one prior: what is predicted is a range,
//     relative to the guess.
//
// Mass does not move place by place, because that would make a smooth map rough, and a rough one is far harder to
// estimate: predictions would be up to three times too large. They would be twice too large if regions appeared in a map
// that is nearly even, or people everywhere in one of a single place.
//
// The counts have the law of N draws from theta P, with P the integer rows of the mechanism, by a generator of fixed
// seed. They are simulations: nothing private goes in. Map reads them as it reads any counts, without the prior.
// Distances to the truth are W_p under the cost, by exact transport.
//
// # What it is worth
//
// docs/planning.md compares predictions with what the same estimator does, where the prior is the truth. A prior that is
// wrong by more than its worlds are, or smoother than the truth, makes the prediction too good. A prior that is exactly
// even has only itself as a world, and so has, nearly, one that is all on one place.
// The spread over ten worlds is printed as their second and ninth: it is what worlds differ by, and no confidence
// interval.
package plan
