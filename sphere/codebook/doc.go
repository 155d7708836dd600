// Package codebook releases a point of the sphere, or a distribution of several, under pure eps-local differential
// privacy: a published policy, a public list of candidate points, exact integer probabilities, and a ledger that pays.
//
// A client holds unit vectors x_i of R^(d+1) with weights mu_i and releases one unit vector y, so that any two clients'
// laws are within e^eps and the law of y is as close as possible to mu in W_p. Package sphere has the optimum. This
// package approaches it, as far as the random candidates allow:
//
//  1. A seed of 32 bytes is drawn anew for every release, or is fixed in the policy, public before there were data.
//  2. It gives N points y_0 .. y_(N-1), uniform on the sphere. Anybody can make them again.
//  3. The client chooses integers lo <= n_j <= hi of sum 2^B, in the policy's box, hi <= e^eps lo: for one point, the
//     K candidates nearest to x high and the rest low; for several, the exact optimum on these candidates.
//  4. Index j is drawn with probability n_j / 2^B (package ldp). The report is the policy's ID, the seed and j.
//
// # The guarantee
//
// Given the seed, the index is drawn from a point of one box: eps-LDP by the argument of package ldp, whatever the
// ranking did. The seed's law does not depend on the data, so the pair (seed, index) is within e^eps as well, and so is
// y. A bad list costs accuracy, not privacy. But a client that draws seeds until it likes the candidates has no
// guarantee. So [Release], the only path for private vectors, takes no seed and draws its own, after the debit and
// before it looks at the data. Data that cannot be read get the public fallback, uniform on the candidates. The time of
// a release depends on the data, also on whether they can be read.
//
// With a fixed seed, reports can be counted by index. But every report then has the same error from the one list: the
// mean over any number of users is off by up to 1/sqrt(K), root mean square over lists. Fresh seeds, the default,
// average this error out.
//
// A continuous sampler in floats would not be private: the last bits of a vector that was rotated to x tell x.
//
// # The file
//
// One JSON member a line in the order below and no other white space; big integers, p and epsilon are strings. Decode
// accepts what Encode writes and nothing else; the SHA-256 of the file is the ID. Members provenance and metadata are
// as in package policy.
//
//	format "wpm-codebook-1"; dimension d; p; epsilon; points N; high K; bits B; atoms, the most vectors of a client;
//	lo; hi; seed "fresh" or 64 hexadecimal digits, not all zero; provenance; metadata
//
// # Private data
//
// Lines weight,x1,...,x(d+1): 1 to the policy's number of atoms. A weight is a decimal from 0 to 2^53, a coordinate one
// with an optional minus, both with an optional exponent (0.5, 1e-3), of at most 64 characters, taken as the nearest
// float64, which must be finite. No spaces, no plus, no NaN. Not all coordinates of a line are 0, nor all weights.
// Vectors are divided by their lengths, weights by their sum. The first line may be the header weight,x1,...,x(d+1). A
// byte order mark before it, empty lines, and a carriage return before a line end are ignored. Data that
// start with the bytes 1f 8b are gzip, as in package policy. Anything else, and more than 64 MiB of data or of text, is
// unusable as a whole. [Codebook.FormatPrivate] writes the format, [Codebook.CheckPrivate] checks it.
//
// # Cost
//
// W over the optimum, one point, p = 2 (TestCost): d = 63, N = 1024: +0.02 % at eps = 4, +0.4 % at 8; d = 2, eps = 4:
// +0.17 %, and +2.3 % with N = 64. N of 20 / S is plenty, S the optimal cap's share (sphere.Measure). Several atoms
// against releasing a random one: on S^2 with 20 atoms W_2 is 0.81 of that at eps = 1, half at eps = 4. Time, d = 63, N
// = 1024: 1 ms for a point, 3 ms for 20 atoms; N (d+1) (1 + atoms) operations make candidates and costs. Memory: two
// float64 for each pair of candidate and atom and for each coordinate of an atom.
//
// Limits bound a release, whatever the data: N (d+1) <= 2^26, N (d+1) atoms <= 2^31, N atoms <= 2^20, atoms (d+1) <=
// 2^24, and N <= 2^15 if there is more than one atom. The first three take some 3 s, 1 s and 0.1 s; the assignment of
// several atoms stops after 2^30 steps, some 4 to 8 s, and what it has by then is rounded into the box. Most end long
// before: 64 atoms and N = 16384 at eps = 1 take a seventh of that. Memory is within 400 MiB, gzip included.
//
// # Candidates
//
// The source is the key stream of AES-256 in counter mode from zero, with the seed as the key. Candidate j takes b =
// ceil((d+1)/4) blocks from block b j on as little-endian pairs of uint32 (v, w): (r cos a, r sin a), r = sqrt(-2
// log((v+1/2)/2^32)), a = 2 pi w / 2^32, are two coordinates; a last odd one is dropped; the vector is divided by its
// length. Processors may differ in the last bits of log, sin and cos.
package codebook
