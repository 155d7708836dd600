// Package codebook releases a point of the sphere, drawn for one private point or for a distribution over several,
// under pure eps-local differential privacy. It uses a published policy, a public list of candidate points, exact
// integer probabilities, and a ledger that pays for every release.
//
// A client holds unit vectors x_i of R^(d+1) with weights mu_i and releases one unit vector y. The laws of y of any two
// clients are within a factor e^eps, and each is as close as possible to mu in W_p. Package sphere computes the
// optimum. This package approaches the optimum as far as the random candidates allow:
//
//  1. A seed of 32 bytes is drawn anew for every release, or is fixed in the policy and so public before there are
//     data.
//  2. The seed gives N candidates y_0 .. y_(N-1), uniform on the sphere. Anybody can compute them again.
//  3. The client chooses integers lo <= n_j <= hi of sum 2^B, in the policy's box with hi <= e^eps lo. For one point x,
//     the K candidates nearest to x are high and the rest are low; for several points, the n_j are the exact optimum on
//     these candidates.
//  4. Index j is drawn with probability n_j / 2^B (package ldp). The report is the policy's ID, the seed and j.
//
// # The guarantee
//
// Given the seed, the index is drawn from a point of one box. By the argument of package ldp this is eps-LDP, however
// the candidates were ranked. The law of the seed does not depend on the data, so the pair (seed, index) is eps-LDP as
// well, and so is y. A bad list costs accuracy, not privacy. But a client that draws seeds until it likes the
// candidates has no guarantee. So [Release], the only path for private vectors, takes no seed: it draws its own, after
// the debit and before it looks at the data. Data that cannot be read get the public fallback, uniform on the
// candidates. The time of a release depends on the data, also on whether they can be read.
//
// With a fixed seed, reports can be counted by index. But every report then has the same error, that of the one list.
// For the mean over any number of users, its root mean square over lists is up to 1/sqrt(K). Fresh seeds, the default,
// average this error out.
//
// A continuous sampler in floats would not be private: the last bits of a vector rotated to x reveal x.
//
// # The file, the candidates and private data
//
// docs/spec/codebook.md has the formats, with their limits. Decode accepts what Encode writes and nothing else. The
// SHA-256 of the file is the ID. Candidates are made from the key stream of AES-256, with the seed as the key.
// Processors may differ in the last bits of their coordinates.
//
// Private data are lines weight,x1,...,x(d+1). If a part cannot be read, all is unusable, as is more than 64 MiB of
// data or of text. [Codebook.FormatPrivate] writes the format, [Codebook.CheckPrivate] checks it.
//
// # Cost
//
// For one point and p = 2, W exceeds the optimum by (TestCost):
//
//	d = 63, N = 1024, eps = 4    0.02 %
//	d = 63, N = 1024, eps = 8    0.4 %
//	d = 2,  N = 1024, eps = 4    0.17 %
//	d = 2,  N = 64,   eps = 4    2.3 %
//
// N = 20 / S is enough, where S is the share of the optimal cap (sphere.Measure). For several atoms, the projection is
// closer in W_2 than a random atom: on S^2 with 20 atoms, by a factor 0.81 at eps = 1 and by a half at eps = 4.
//
// Candidates and costs take N (d+1) (1 + atoms) operations. With d = 63 and N = 1024 a release takes 1 ms for a point
// and 3 ms for 20 atoms. Memory is 20 bytes for each pair of candidate and atom, and two float64 for each coordinate of
// an atom. A release takes it before the debit, for the most atoms of the policy, and so whatever the data are.
//
// Limits bound the work of a release: N (d+1) <= 2^26, N (d+1) atoms < 2^31, N atoms <= 2^20, atoms (d+1) <= 2^24, and
// N <= 2^15 if there is more than one atom. At the first three limits a release takes about 3 s, 1 s and 0.1 s. The
// assignment of several atoms stops after 2^30 steps, about 4 to 8 s, and its state is then rounded into the box.
// Memory stays within 400 MiB, gzip included.
package codebook
