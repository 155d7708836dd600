//go:build !amd64 || !simd

package knapsack

// dotRows is dot for four rows.
func dotRows(x0, x1, x2, x3, y []float64) (s0, s1, s2, s3 double) { return dot4(x0, x1, x2, x3, y) }
