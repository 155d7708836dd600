// Package codebook releases a point of the sphere, or a distribution of several, under pure eps-local differential privacy: not with
// a continuous sampler in floats, but with a public list of candidate points and exact integer probabilities.
//
// # The problem
//
// A client holds a unit vector x of R^(d+1), or a distribution mu = sum mu_i delta_(x_i) of unit vectors, and wants to release one unit
// vector y so that any two clients' laws are within e^eps of each other and the law of y is as close as possible to mu in
// W_p. Package sphere has the optimum over all mechanisms: density high on a cap around x, low outside.
//
// # The mechanism
//
//  1. A seed of 32 bytes is drawn that has nothing to do with the client's data, and is published with the answer. (Or it is fixed in
//     the Config, public before there were data.)
//  2. The seed gives N candidate points y_0 .. y_(N-1), uniform on the sphere. Anybody can make them again.
//  3. The client chooses integers n_0 .. n_(N-1) of sum 2^B in the public box lo_j <= n_j <= hi_j, hi_j <= e^eps lo_j, the same box for every
//     client and seed: for one point, the K candidates nearest to x are high and the rest low; for many, the exact optimum on
//     these candidates.
//  4. Index j is drawn with probability n_j / 2^B (package ldp), and the Report is the seed and the index.
//
// # The guarantee
//
// Given the seed, the index is a draw from a point of one box, which is eps-LDP by the argument of package ldp: integers, no float, whatever
// the ranking did (rounding, ties, NaN, an early stop). The seed's law does not depend on the data, so the
// pair (seed, index) has probabilities within e^eps as well, and so has the point y that it stands for. Nothing is assumed about the
// candidates: a bad or biased seed costs accuracy, not privacy. But the seed must not depend on the data: a client who draws
// seeds until the candidates please him has no guarantee at all. So Release draws the seed itself, before it looks at the data, and no
// function takes a seed for a real release.
//
// [Codebook.Release] and [Codebook.ReleaseAtoms] are total: data of the wrong form (a NaN, a zero vector, a wrong length) get the public
// fallback law, uniform on the candidates, and no error. Their only error comes from the random source. [Codebook.CheckPoint] and
// [Codebook.CheckAtoms] tell a client, on the device, whether its data are well formed. Not covered: time (ranking and the solver
// take times that depend on the data), and composition: each release costs eps, there is no ledger here.
//
// # Why there is no continuous sampler
//
// The optimal law is easy to sample in floats: choose cap or complement, a height, a direction, rotate to x. The result is not private. The
// set of float vectors which that program can return depends on x, because rotation and normalisation round: on the circle
// with eps = 1, an output computed from x could have come from another x' in the same caps in only one case out of seven, so that a
// single release refutes a wrong guess with probability 0.85, where e^eps allows a factor of 2.7. Rounding the output afterwards does not
// repair it in many dimensions (cells of tiny probability, whose ratios nobody controls); at best it gives an (eps, delta) statement. And a
// coin of 53 bits misses cap probabilities like 1 - 1e-22 altogether. A list of candidates loses next to nothing against it (below)
// and its privacy is a comparison of integers.
//
// # How much it costs
//
// W against the continuous optimum, for one point, averaged over seeds, p = 2 (TestCost): d = 63, eps = 4, N = 1024: +0.02 %; d = 63, eps = 8: +0.4 %;
// d = 2, eps = 4: +0.17 %, and +2.3 % with N = 64. N of 20 / S, S the share of the optimal cap (sphere.Measure), is plenty; so eps up to 8
// or 10 is practical in any dimension, and up to 16 on the circle and on S^2. For many atoms the law is the optimum over all laws on these
// candidates in the box, found by successive shortest paths to float accuracy (file assign.go). It beats drawing one of the atoms and
// releasing that as a point: on S^2 with 20 atoms, W_2 is 0.81 of the rival's at eps = 1 and half of it at eps = 4.
//
// Time of a release, d = 63, N = 1024: 1 ms for a point, 3 ms for 20 atoms (one core). Making the candidates and the costs takes
// N (d+1) (1 + number of atoms) operations. Memory: two float64 for each pair of a candidate and an atom.
//
// # Candidates
//
// The seed is a key of AES-256; its key stream in counter mode from zero is the source. Candidate j takes the b blocks from block b j on, b =
// ceil((d+1)/4), as little-endian pairs of uint32 (v, w): (r cos a, r sin a) with r = sqrt(-2 log((v+1/2)/2^32)), a = 2 pi w / 2^32 are two coordinates;
// a last odd one is dropped; then the vector is divided by its length. Processors may differ in the last bits of log, sin and cos.
package codebook
