// Package city holds check-in counts of users over the cells of a map, and generates a synthetic city of them.
//
// [Population] is what the location studies work on: for each user how often each cell of a rows x cols grid was
// visited. A user's private distribution is the frequency of her check-ins, mu_u(j) = count_uj / sum_j count_uj, and
// the truth of a study is the plain mean of the mu_u: every user has the same weight, however active.
//
// [Generate] is a simulation, for demonstrations and tests where no real data can be used. It is not fitted to any data
// set; it has the features that make real check-ins hard for mechanisms that ignore geography:
//
//   - a few districts of different size (a dense centre, residential quarters, one or two places far out), so the map
//     is very uneven;
//   - a user lives in one cell, works in another (often the centre), and spends leisure near either or at a common
//     destination, so her distribution sits on few cells;
//   - the numbers of check-ins per user and per place are heavy-tailed.
//
// Equal arguments give equal cities: the generator is a PCG seeded by the caller and nothing else is read. It is of no
// use for privacy.
//
// Cost: linear in users times places per user; 500 users take about a millisecond.
package city
