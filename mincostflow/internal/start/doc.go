// Package start finds where a network simplex with many rows and many columns should begin.
//
// # Problem
//
// Rows have units of mass, columns take Low to Low + Room units, and the arcs between them cost C_ij. A simplex that
// begins with artificial arcs alone takes up to 145 pivots for every row and column, between two clouds of 4000 points
// in the plane. One that begins near the optimum takes a few.
//
// # Method
//
//  1. Sample. Rows that look alike from a few landmark columns form groups of four or more, and columns that look alike
//     from a few rows. A group is one row or column of a smaller problem: it has the units of all its members and the
//     costs of the one in the middle. The caller solves that problem, with a start of its own.
//  2. Forest. The row prices f of the smaller problem give every column the least C_ij - f_i over the sampled rows (a
//     c-transform), g_j, and these give every row the least C_ij - g_j. The arcs of least reduced cost
//     C_ij - f_i - g_j of every row and of every column are listed. In the order of their reduced costs they carry as
//     much as they can. Each of them exhausts a row or a column, which hangs from the other end; what is left over
//     hangs from the hub.
//
// The forest is strongly feasible: an arc that carries nothing points to the hub. Nothing here has to be right for the
// answer of the simplex to be right. No product is fused with a sum, and ties are decided by the order of groups and
// numbers, so the bits are the same on every machine.
//
// Where rows and columns are few, Greedy makes a forest of a plan without a smaller problem.
//
// # Cost
//
// Two and a half passes over the rows, and O((k + n) log(k + n)) besides. The smaller problem has a sixteenth of the
// cells, at most 2^24.
//
// # Sources
//
// Sampling and extension: B. Schmitzer, A sparse multiscale algorithm for dense optimal transport, J. Math. Imaging
// Vis. 56 (2016). Lists of arcs: C. Gottschlich and D. Schuhmacher, The shortlist method for fast computation of the
// earth mover's distance, PLoS ONE 9 (2014). The simplex on such problems: N. Bonneel, M. van de Panne, S. Paris and
// W. Heidrich, Displacement interpolation using Lagrangian mass transport, ACM Trans. Graph. 30 (2011). A few arcs of
// every block at a time: a block coordinate descent network simplex, arXiv 2506.21231.
package start
