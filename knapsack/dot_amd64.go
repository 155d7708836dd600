//go:build amd64 && simd

package knapsack

// dotRows is dot for four rows, whole blocks in assembly: two lanes are one register of SSE2, which every amd64
// processor has. The bits are those of dot.
func dotRows(x0, x1, x2, x3, y []float64) (s0, s1, s2, s3 double) {
	n := min(len(x0), len(x1), len(x2), len(x3), len(y)) / dotBlock * dotBlock
	if n > 0 {
		var s [8]float64
		dot4SSE(&x0[0], &x1[0], &x2[0], &x3[0], &y[0], n/dotBlock, &s)
		s0, s1, s2, s3 = double{s[0], s[2]}, double{s[1], s[3]}, double{s[4], s[6]}, double{s[5], s[7]}
	}
	t0, t1, t2, t3 := dot4(x0[n:], x1[n:], x2[n:], x3[n:], y[n:]) // less than a block: one number each
	return s0.add(t0.hi), s1.add(t1.hi), s2.add(t2.hi), s3.add(t3.hi)
}

//go:noescape
func dot4SSE(x0, x1, x2, x3, y *float64, blocks int, sum *[8]float64)
