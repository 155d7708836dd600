// Package hilbert computes Hilbert's projective metric, Birkhoff's diameter of a positive matrix, and the contraction
// coefficient that follows from the diameter.
//
// # Definitions
//
// For x, y > 0 coordinate by coordinate,
//
//	d_H(x, y) = log max_i (x_i/y_i) - log min_i (x_i/y_i),
//
// which does not change when x or y is multiplied by a positive number. A positive matrix A brings points closer by a
// factor, Birkhoff's contraction coefficient (Birkhoff 1957):
//
//	d_H(Ax, Ay) <= tau(A) d_H(x, y),   tau(A) = tanh(Delta(A)/4),
//	Delta(A) = max_{i,k,j,l} log (A_ij A_kl / (A_il A_kj)),
//
// where Delta is the diameter of the image of A. A and its transpose have the same diameter. Algorithm 1 of package
// sinkhorn applies K and its transpose in turn, with K_ij = exp(-C_ij/reg), and so contracts by c = tau(K)^2.
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
// Zeros follow Birkhoff. Points with different supports are at distance +Inf, two zero vectors are at distance 0, and
// coordinates where both points vanish do not count. Rows and columns of zeros are removed from a matrix first. If a
// zero is left, the diameter is infinite; otherwise it is the diameter of the remaining matrix. No function returns
// NaN, except Contraction, Rate and Posterior, on a diameter or a distance that is negative or NaN.
//
// # Accuracy and cost
//
// Distance has a relative error of a few units in the last place, also for close points. GibbsDiameter is the largest
// second difference of costs, computed in float64, divided by reg. Its error is at most 2^-51 max C / reg. It takes
// O(min(k, kv) k kv) steps at worst; on metric costs, the triangle inequality through a few pivot rows rules out most
// pairs of rows. Rows are spread over the processors; the result does not depend on the number of processors.
//
// The contraction is often too weak for float64: for Delta = 80, 1 - c is 2e-17. So Contraction and Rate return the
// difference from 1 as a second number, and no solver of this module derives an iteration count from the contraction.
package hilbert
