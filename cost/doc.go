// Package cost holds the cost matrices of optimal transport: C_ij >= 0 is what it costs to move one
// unit of mass from input i to output j.
//
// # The problem
//
// A projection or a transport plan P costs Σ C_ij·P_ij. In most uses C_ij = d(x_i, v_j)^p for a
// distance d, and the p-th root of the optimal cost is then the Wasserstein distance W_p; but no
// solver of this module needs the triangle inequality or symmetry, and any finite non-negative
// matrix is a cost.
//
// # What there is
//
//	Dense        any matrix, row-major in memory
//	Ring         n points on a circle, d = min(|i-j|, n-|i-j|)
//	Grid         centres of rows x cols cells of the unit square, Euclidean
//	Points       points of R^n, Euclidean
//	Cosine       1 - cos of the angle, in [0, 2]
//	GreatCircle  latitude and longitude in degrees, kilometres on the mean Earth
//	Manhattan    the matrix between points of R^n along the axes, a Dense
//	Spec         the JSON form of all of them
//
//	symbol   here             meaning
//	k, kv    Dims             inputs (rows) and outputs (columns)
//	C_ij     Row(i)[j]        cost, finite and >= 0
//	p        P, Exponent      the power, finite and > 0; it may be below 1
//	R        Range            max over i of (max_j C_ij - min_j C_ij)
//
// # Guarantees
//
// The structured costs are immutable once built, safe for concurrent use, and give the same bits at
// every call. With one point set for both sides they are exactly symmetric and exactly zero on the
// diagonal (Cosine: except at zero vectors). Equal displacements on a Ring or a Grid give
// equal bits, so that ties are ties. p = 1 and p = 2 never go through math.Pow, and p = 2 takes no
// square root. The cost is the rounded value: solvers and certificates speak about the matrix as
// given, and each type states how far that is from the real d^p.
//
// A power that overflows is ErrNotFinite when the cost is built. A power that underflows is a cost
// of 0, off by less than 2^-1074.
//
// Nothing here panics on any input, except Row, which panics like a slice when i is not in [0, k).
// Inputs are copied (NewDense alone keeps the slice it is given) and never modified.
//
// # Cost
//
// A Dense row is free. A row of Ring or Grid is copied from a table of at most k numbers; a row of
// the other types is computed at each call, O(dim) per entry, so a 10^5 x 10^5 problem needs no
// 80 GB of memory. Use Materialize when rows are read many times and the matrix fits.
//
// This package imports the standard library only. Reading files is in cost/costio.
package cost
