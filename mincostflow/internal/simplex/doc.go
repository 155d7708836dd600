// Package simplex solves transport problems in whole units by a primal network simplex.
//
// # Problem
//
// Given a k x kv cost matrix C >= 0, Supply[n] units on row Rows[n] and bounds on the columns,
//
//	minimise    sum_nj C_nj x_nj
//	subject to  x >= 0,  sum_j x_nj = Supply[n],  Low[j] <= sum_n x_nj <= Low[j] + Room[j].
//
// # Method
//
// Rows and columns hang from a hub. The arc from a column to the hub is its slack arc; artificial arcs join rows and
// columns to the hub in the first tree. Flows are integers. Costs are rounded to a grid, of which all potentials are
// exact multiples, so a reduced cost that should be zero is zero. Strongly feasible trees (Cunningham 1976) prevent
// cycles. The grid is then refined as far as floats allow, and what is left is decided at exact prices.
//
// # Use
//
// A Solver is a workspace. Load reads the costs, Start makes the first tree, Run pivots until it is optimal for the
// costs on the grid, and Refine makes the grid finer. OptimiseExactly ends with the optimum for the costs as they are.
// After, Before and Arc walk the tree, for whoever carries other masses along it; Flows and Proved say what is known,
// also after a stop.
//
// docs/algorithms describes the method on the pages network-simplex, newton-start, multiscale-start and units.
package simplex
