// Package discs reads the rows of a policy with a geometry by their thresholds, without writing them out.
//
// # Problem
//
// A row gives all outputs their least weight lo, and raises those that come before its threshold to hi. In the order
// of a geometry these are the outputs in a disc around the input. To sum over a row, or to draw from it, takes O(kv)
// where the row is written out, as policy.Row does for a device. A server and a simulation have no secrets, and need not.
//
// # Method
//
// A k-d tree holds the outputs. A node that lies within the disc counts as a whole, by sums over the order of the tree.
// Only nodes that the rim goes through are opened: about the root of kv in the plane.
//
// # Guarantee
//
// All sums are exact: keys and weights are integers. A row with a wrong threshold is the policy's fallback, as in
// package policy, and Disc and Draw say so. Privacy does not depend on this package: nothing on a device uses it.
//
// # Source
//
// J. L. Bentley, Multidimensional binary search trees used for associative searching, 1975.
package discs
