// Package network solves the general minimum-cost flow problem, and proves every answer:
//
//	minimise    sum_e Cost_e x_e
//	subject to  Lower_e <= x_e <= Upper_e                for every arc e
//	            flow out of v - flow into v = Supply_v   for every node v
//
// on any directed graph, with bounds that are finite or not, costs of either sign, and all numbers in int64.
//
// # Guarantees
//
// The answer is Optimal with potentials, Infeasible with a cut (beside ErrInfeasible), or Unbounded with a cycle
// (beside ErrUnbounded). Each is a proof that Verify checks in exact integers without code of the solver. Numbers
// that might not fit 64 bits on the way are refused before any work (ErrOverflow). All arithmetic is exact, and the
// same input gives the same result on every machine.
//
// Not guaranteed: a polynomial bound on the number of pivots. None is known for this rule; in practice it is
// 2 to 50 for every node.
//
// # Method
//
// The solver is a primal network simplex with strongly feasible trees (Cunningham 1976), which cannot cycle, and
// block search pricing (Dezso, Juttner and Kovacs 2011; Kovacs 2015). docs/algorithms/network-simplex.md describes
// both. Memory is some 40 bytes for each arc and 100 for each node.
//
// # Files
//
// ReadDIMACS reads the common format ".min"; Problem.WriteDIMACS and Result.WriteSolution write it.
//
// For a projection or a transport between distributions use package mincostflow, whose arcs need no storage.
package network
