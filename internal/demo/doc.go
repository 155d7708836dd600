// Package demo is the tour behind "wpm demo": everything the toolkit does, on a synthetic city, without any input.
//
//  1. Generate a city of 500 users on 20 x 20 cells (package city: a simulation).
//  2. Design: the uniform base measure at its exact minimax scale, with a certified worst case and a bound that no
//     eps-LDP mechanism beats.
//  3. Publish: the mechanism as a policy file, in both client modes, encoded, decoded and verified again from the
//     bytes.
//  4. Release: one report through policy.Release, the real private path, with a ledger in a temporary folder; a second
//     request repeats the report instead of spending again. Then, as a labelled simulation, one release per user in
//     each mode with ldp.Weights.Sample and a seeded stream.
//  5. Aggregate the simulated releases to histograms and measure W_1 against the truth.
//  6. Estimate the map, and compare it with optimized unary encoding by the same users.
//  7. Compare the mean of the releases with KPM, geo-indistinguishability and randomised response over several eps.
//  8. Write the policy files and a page with maps, which are drawn as those of "wpm aggregate -map" are.
//
// The result and all files are a function of the seed: the index that the real release draws is never looked at, only
// that its form, its policy and its bookkeeping are right.
//
// Cost: a second on two cores.
package demo
