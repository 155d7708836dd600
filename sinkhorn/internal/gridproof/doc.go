// Package gridproof verifies the answers of the method for grids, package sinkhorn/grid: what a Flow makes of a plan,
// and the bounds of a grid with too many pairs of cells to look at each. It shares no code with the solvers.
//
// # Bounds in floats
//
// At squared distance, least costs, log-sum-exps and moments are found an axis at a time, in n^(3/2) operations for n
// cells. Every margin for rounding is added to the safe side.
//
// # Moments
//
// A plan is known by its columns: the mass in each, and means over it of the way that it has come and of its square.
// What came from x away and goes on by d is x - d away, so that the squares are known after every move.
package gridproof
