// Package network solves the general minimum-cost flow problem, and proves every answer:
//
//	minimise    sum_e Cost_e x_e
//	subject to  Lower_e <= x_e <= Upper_e                for every arc e
//	            flow out of v - flow into v = Supply_v   for every node v
//
// on any directed graph. Bounds may be finite or infinite, costs may have either sign, and all numbers are int64.
//
// # Guarantees
//
// The answer is Optimal with potentials, Infeasible with a cut (beside ErrInfeasible), or Unbounded with a cycle
// (beside ErrUnbounded). Potentials, cut and cycle are proofs, which Verify checks in exact integers without any code
// of the solver. Input whose intermediate results might not fit in 64 bits is refused before any work (ErrOverflow).
// All arithmetic is exact, and the same input gives the same result on every machine.
//
// No polynomial bound on the number of pivots is known for this pivot rule. In practice there are 2 to 50 pivots for
// each node.
//
// # Method
//
// The solver is a primal network simplex with strongly feasible trees (Cunningham 1976), which cannot cycle, a few first
// pivots, and block search pricing (Dezso, Juttner and Kovacs 2011; Kovacs 2015). docs/algorithms/network-simplex.md
// describes them. The solver takes about 40 bytes for each arc and 100 for each node.
//
// # Files
//
// ReadDIMACS reads the DIMACS format ".min"; Problem.WriteDIMACS and Result.WriteSolution write it.
//
// For a projection or a transport between distributions use package mincostflow, whose arcs need no storage.
package network
