// Package units projects a distribution of whole units onto a box exactly: it moves N units at least cost, and proves
// that the cost is the least. Nothing is rounded.
//
// # Problem
//
// Given a k x kv cost matrix C >= 0, Source_i units on the rows, N = sum Source in all, and bounds Lo <= Hi on the
// columns, all of them integers,
//
//	minimise    sum_ij C_ij P_ij / N
//	subject to  P >= 0,  sum_j P_ij = Source_i,  sum_i P_ij = Q_j,  Lo_j <= Q_j <= Hi_j,  sum_j Q_j = N.
//
// Q is the projection of the source onto the box; with Lo = Hi this is plain optimal transport. The dual is
//
//	maximise    (sum_i Source_i F_i + sum_j min(Lo_j G_j, Hi_j G_j)) / N   subject to  F_i + G_j <= C_ij.
//
// # Guarantees
//
// Costs are float64 and are taken as the exact binary fractions that they are. Q and the plan are integers, potentials
// are fractions, and in a result without an error Upper and Lower are the same fraction, the optimum. Verify recomputes
// both by counting, and compares in fractions where floats leave a doubt.
//
// N is at most 2^62. Bad input of any kind gives a typed error. A stop by the context gives ErrNotConverged beside a
// result whose Q is in the box and whose bounds hold; after the context has ended, each processor reads at most 32 more
// rows. Inputs are neither modified nor retained. The same input gives the same answer on every machine and at every
// GOMAXPROCS. If several Q are optimal, any of them may be returned.
//
// # Method
//
// A primal network simplex with integer flows and costs on a grid, which is refined as far as floats allow. Then the
// potentials of the tree are computed exactly, every arc is priced with them, in floats where that leaves no doubt, and
// pivots go on until none improves the plan. Trees are strongly feasible (W. H. Cunningham, A network simplex method,
// Mathematical Programming 11, 1976), so this ends. docs/algorithms has it on the pages network-simplex and units.
//
// # Cost
//
// That of package mincostflow, plus one pricing of all arcs in floats, fractions of as many bits as the exponents of
// the costs are apart for each row and column, and for each of the few pivots at exact prices. Verify takes one pass
// over the cost. Memory is O(k + kv) numbers, besides C and the copies of rows that Settings.Memory allows.
//
// Use package mincostflow for masses that are no counts: it is faster, and its bounds differ in the last digits.
package units
