// Package hilbert computes Hilbert's projective metric, Birkhoff's diameter of a positive matrix,
// and the contraction that follows from it.
//
// # Definitions
//
// For x, y > 0 coordinate by coordinate,
//
//	d_H(x, y) = log max_i (x_i/y_i) - log min_i (x_i/y_i),
//
// which does not change when x or y is multiplied by a number. A positive matrix A brings points
// closer by a factor, Birkhoff's contraction coefficient (Birkhoff 1957),
//
//	d_H(Ax, Ay) <= tau(A) d_H(x, y),   tau(A) = tanh(Delta(A)/4),
//	Delta(A) = max_{i,k,j,l} log (A_ij A_kl / (A_il A_kj)),
//
// Delta being the diameter of the image of A; A and its transpose have the same. Algorithm 1 of package
// sinkhorn applies K and its transpose in turn and so contracts by c = tau(K)^2, K_ij = exp(-C_ij/reg).
//
//	function          gives
//	Distance          d_H(x, y)
//	LogDistance       d_H(e^x, e^y), for vectors too large or small for float64
//	Diameter          Delta(A)
//	GibbsDiameter     Delta(K) from C and reg: no kernel is too small
//	GibbsBound        an upper bound of it in O(k kv)
//	Contraction       tau and 1 - tau
//	Rate              c = tau^2 and 1 - c
//	Posterior         a bound on the distance to the fixed point from the last step
//
// # Conventions
//
// Zeros follow Birkhoff: points with different supports are at distance +Inf, points without any
// support at 0, and coordinates where both vanish do not count. A matrix has an infinite diameter if,
// after rows and columns of zeros are removed, a zero is left; otherwise it has that of what is
// left. No function returns NaN, save Contraction, Rate and Posterior on a diameter or a
// distance that is negative or NaN.
//
// # Accuracy and cost
//
// Distance has a relative error of a few units in the last place also for close points.
// GibbsDiameter is the largest of float64 differences of differences of costs over reg: its
// error is at most 2^-51 max C / reg. It takes O(min(k, kv) k kv) steps at worst; the triangle
// inequality between rows, from a few pivots, leaves out most pairs of rows on metric costs. Rows are
// spread over the processors; the result does not depend on how many there are.
//
// The contraction is often too weak to see: for Delta = 80, 1 - c is 2e-17. That is why Contraction and
// Rate return the difference from 1 as a number of its own, and why no solver of this module derives an
// iteration count from it.
package hilbert
