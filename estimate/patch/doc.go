// Package patch finds the places that the rows of a policy cannot tell apart.
//
// # The problem
//
// A map is estimated from the law of the releases, theta P. If places i and j have the same row, P_i = P_j, then mass that
// moves from i to j changes no law. So no number of releases tells how the mass of the two is shared, and a map there
// is the prior's. Rows that are nearly equal are as bad until there are very many devices.
//
// # Patches
//
// Let u be the prior and q = u P the law of a release from it. Places i and j are inseparable at N devices if
//
//	N (u_i + u_j)^2 sum_y (P_iy - P_jy)^2 / q_y < 4
//
// The left side is the squared signal, in standard deviations, of all mass of the two places moving from one to the
// other. A patch is a set of places that are inseparable in pairs. Patches come from complete linkage: the two nearest
// sets are joined first, by the largest left side between their places, until none is below 4. Where the left side is 0
// whatever else there is, the places are joined before: those without a prior share, and those with one row. At N =
// [Countless], the patches are what no number of devices resolves. Groups are something else: what the reports at hand did
// not resolve.
//
// # The floor
//
// [Patches.Best] is a map of exact reports: the sum of a patch is known, and is shared as the prior says. Package
// estimate/plan states a floor from it and from other maps of exact reports. Models of smooth maps may share the sum of
// a patch better than the prior does.
//
//	symbol  here           meaning
//	k, kv   Channel.Dims   inputs and outputs
//	u       prior          a public distribution over the inputs
//
// # Many places
//
// Most pairs are far apart, and are not compared. Let B be the blocks of a partition of the outputs. By Cauchy's inequality,
//
//	sum_B (sum_{y in B} (P_iy - P_jy))^2 / sum_{y in B} q_y <= sum_y (P_iy - P_jy)^2 / q_y
//
// So the sums of a row over 64 blocks are a point, and pairs whose points are too far from each other are separable. A k-d
// tree finds the others. Where entries are high or low, and rows that differ in a few of them are separable, an index is
// faster. Let the outputs be in m groups, and rows that differ in m of them be separable. Then the rows of an inseparable
// pair agree in a whole group, and share a bucket of the index. Only pairs that were found are compared in full, and until
// they are known to be separable. Linkage then takes the pairs that are inseparable, in chains of nearest neighbours.
//
// # Cost
//
// The memory is O(k + p), with k places and p inseparable pairs of different rows. The time is that of a pass over the
// rows, of the search, and of p comparisons of rows. 20,000 places of a policy with thresholds take a quarter of a second of
// one core at eps 1, and a tenth at eps 4. The nearer rows are to each other, the more pairs there are: at eps 0.5 it is a
// second, and at eps 0.2 several. [ErrLimit] ends a search for more than 2^23 pairs, or of 2^35 numbers: some 400 MB and a
// minute.
// [Quick] gives up after a second or two, for commands that are not about maps. If all rows are so near to the first that
// there is only one patch, pairs are not looked at.
//
// # What is guaranteed and what is not
//
// Every pair of a patch is inseparable by the formula, and no two patches could be one. The same input gives the same
// patches. Patches are about pairs: three rows of which one is the mean of the others are no patch, although some maps
// have the same law.
package patch
