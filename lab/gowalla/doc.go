// Package gowalla is the paper's location study ("Experiments on Geometric Data"): users of a city each release one
// check-in under local differential privacy, a server averages the releases, and the study measures how far that
// average is from the truth in W_1.
//
// # Protocol
//
// The defaults of [Config] are the protocol; every number in it is a field.
//
//	area       latitude 30.15 to 30.45, longitude -97.90 to -97.60 (Austin), 20 x 20 equal cells, last cell of each side closed
//	users      those with at least 10 check-ins in the area; of these the 500 with the lowest ids
//	mu_u       the user's check-in frequencies over the 400 cells; the truth is the plain mean of the mu_u
//	cost       Euclidean distance of cell centres in the unit square, p = 1; W_1 is reported in cell widths (times the number of columns)
//	eps        0.5, 1, 2, 3, 4, 5
//	WPM        uniform base measure at its exact minimax scale; exact projection of each mu_u (package mincostflow), ties at random
//	paper      the same box, by the paper's algorithm with lambda = 0.01 in the unit square and 40 rounds from v = 1
//	mixture    the same box, client mode without a solver: draw a cell from mu_u, then from the projection of that cell's point mass, ties as above
//	KPM        q = max(mu/r, 1/(e^eps + k - 1)), the closed formula
//	KPM tuned  its projection onto a uniform box, of 21 masses the one whose expected W_1 to the truth is least
//	disk       the Disk Area Mechanism on one check-in, reports from outside moved to the nearest cell (package baseline)
//	others     exponential mechanism with the expected distance as its score; k-ary randomised response on one check-in
//
// # Ties
//
// The projection onto the box is not unique on a grid: cells at the same distance, and ways over a cell in between,
// cost the same. All exact projections serve the user alike, but the mean map of all users depends on which are taken,
// and so does its distance from the truth: at eps = 5 by some hundredths of a cell width. [Config].Ties is the choice.
// By default the law of a user (in mixture mode: of a cell) is the mean of 8 exact projections, each extreme in a
// random direction, which is an exact projection too: it prefers no side of the city, and it is the same for every
// exact solver. The directions do not depend on Seed. With TiesSolver it is the one that the solver ends at, as on a
// device. The report gives, beside the expected W_1, the range of it over all exact projections, so that other exact
// numbers can be placed.
//
// # Errors
//
// Two errors are measured. "Expected" is W_1 between the mean over users of the distributions that releases are drawn
// from and the truth: the bias of the mechanism, without randomness. "Sampled" is W_1 between the histogram of one
// simulated release per user and the truth, over 20 runs: what an analyst would get from this many users. All W_1 are
// exact transport.
//
// # Estimated maps
//
// A map of everybody is another task than a sample of a user's own distribution. Of each of the 20 runs a server
// estimates one, too: with [estimate.Map] and [estimate.EM] from the releases of the mixture and of randomised
// response, from all reports of the disk, with several radii, and from the reports of the frequency oracles OUE and
// subset selection, by the exact likelihood of each and by their own estimate (unbiased, then the nearest distribution).
// Beside them stand the uniform map and one true check-in of each user, without
// privacy.
//
// # What is certified
//
// Every mechanism's float output is rounded by package ldp into an integer box, and both errors are computed from the
// rounded integers: from what would really be released. ldp.CheckRows then decides, in integers, that the rows of all
// users differ by no more than e^eps in any cell. For WPM the largest certified gap of any user's projection is
// recorded, and for all W_1 the gap of the transport.
//
// This is a simulation: releases are drawn with ldp.Weights.Sample from a seeded stream (ChaCha8 keyed by the SHA-256
// of seed, mechanism, eps and run), which keeps nothing private. Equal Config and data give equal results at any
// GOMAXPROCS.
//
// # Data
//
// No data comes with this package. [Load] reads the SNAP file of Cho, Myers and Leskovec (KDD 2011), or tables prepared
// from it; see its comment. It is location data of people: research use only, not to be redistributed, and results
// should stay aggregates.
//
// # Cost
//
// With the defaults 24 000 projections onto 400 cells, 2 400 for the mixture, some 20 000 for the range over ties, and
// some 500 exact transports between full distributions, and 300 estimated maps: four minutes of processor time, most of
// it for ties and maps; a few MB per eps.
package gowalla
