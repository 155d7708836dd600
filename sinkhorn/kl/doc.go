// Package kl projects positive vectors onto a box of distributions in the Kullback-Leibler divergence.
//
// # Problem
//
// Given s >= 0 by its logarithm, and bounds lo <= hi,
//
//	minimise    KL(q || s) = sum_j q_j log(q_j / s_j) - q_j + s_j
//	subject to  lo_j <= q_j <= hi_j,  sum_j q_j = 1.
//
// The minimiser is q_j = clip(e^theta s_j, lo_j, hi_j), where the multiplier theta makes the mass 1. The mass grows
// with theta. Its formula changes only at the 2n breakpoints log(lo_j/s_j) and log(hi_j/s_j).
//
// # Guarantees
//
// Workspace.Project brackets theta between two neighbouring breakpoints and solves for it there. There is no tolerance,
// and no iteration that could stop early. q is in the box to the last bit, and its exact sum is 1 up to n * 2^-52. The
// breakpoints are divided at medians of a few, where Kiwiel (2008) divides those of continuous quadratic knapsacks at
// the median of all. Each of the O(log n) divisions takes O(n).
//
// Scale finds theta from a guess by Newton's method, in one or two passes if the guess is good. It may fail.
//
// docs/algorithms/kl.md describes the method and proves it.
package kl
