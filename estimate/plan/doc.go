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
//     between regions, by a smooth random field around places drawn uniformly. Of what is then at each place,
//     30 % times 1 - s moves to another place, drawn uniformly.
//   - Without one, the worlds are log-Gaussian maps of two lengths and five roughnesses, from nearly even to
//     concentrated on few places. They differ by far more than worlds of one prior: what is predicted is a range,
//     relative to the guess.
//
// A rough map is far harder to estimate than a smooth one, and people everywhere are harder to find than those in one
// place. If 30 % of any prior moved place by place, predictions would be up to three times too large, for a smooth one;
// up to twice, if mass moved to all places from a prior on one place, or between regions from one that is nearly even.
//
// The counts have the law of N draws from theta P, with P the integer rows of the mechanism, by a generator of fixed
// seed. They are simulations: nothing private goes in. Map reads them as it reads any counts, without the prior.
// Distances to the truth are W_p under the cost, by exact transport.
//
// # What it is worth
//
// docs/planning.md compares predictions with what the same estimator does, where the prior is the truth. A prior that is
// wrong by more than its worlds are, or smoother than the truth, makes the prediction too good: above all one that is
// all on one place, and has nearly no other worlds.
// The spread over ten worlds is printed as their second and ninth: it is what worlds differ by, and no confidence
// interval.
package plan
