// Package cost holds the cost matrices of optimal transport: C_ij >= 0 is what it costs to move one
// unit of mass from input i to output j.
//
// # The problem
//
// A projection or a transport plan P costs Σ C_ij·P_ij. In most uses C_ij = d(x_i, v_j)^p for a distance d, and the
// p-th root of the optimal cost is the Wasserstein distance W_p. But no solver of this module needs the triangle
// inequality or symmetry: any finite non-negative matrix is a cost.
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
//	Metric       what a cost knows of its distance: the power, the symmetries, how far its inputs are from each other
//
//	symbol   here             meaning
//	k, kv    Dims             inputs (rows) and outputs (columns)
//	C_ij     Row(i)[j]        cost, finite and >= 0
//	p        P, Exponent      the power, finite and > 0; it may be below 1
//	R        Range            max over i of (max_j C_ij - min_j C_ij)
//
// # Guarantees
//
// The structured costs are immutable once built, safe for concurrent use, and give the same bits at every call. With
// one point set for both sides they are exactly symmetric and exactly zero on the diagonal (except Cosine at zero
// vectors). Equal displacements on a Ring or a Grid give equal bits, so ties stay ties. p = 1 and p = 2 do not use
// math.Pow, and p = 2 takes no square root. The cost is the rounded value: solvers and certificates speak about the
// matrix as given, and each type states how far this value is from the real d^p.
//
// If a power overflows, building the cost gives ErrNotFinite. A power that underflows gives a cost of 0, with an error
// below 2^-1074.
//
// Nothing here panics on any input, except Row, which panics if i is not in [0, k), as indexing a slice does. A nil
// pointer to a cost is 0 x 0, and every function refuses it; its methods other than Dims panic. Inputs
// are copied, except by NewDense, which keeps the slice it is given. They are never modified.
//
// # Cost
//
// A row of a Dense takes no time. A row of a Ring or a Grid is copied from a table of at most k numbers. A row of the
// other types is computed at each call, in O(dim) per entry, so a 10^5 x 10^5 problem does not need 80 GB of memory.
// Use Materialize when rows are read many times and the matrix fits.
//
// This package imports the standard library and wpmerr only. Reading files is in cost/costio.
package cost
