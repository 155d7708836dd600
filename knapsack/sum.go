package knapsack

import "github.com/wpm-go/wpm/internal/num"

// double is a number in about twice the working precision. Products are rounded by a conversion before they are
// added to one, so that a compiler that fuses the two (arm64, GOAMD64=v3) does not change the bits.
type double = num.Twofold

// dotBlock is the length over which dot adds in plain arithmetic: two lanes of 8 terms, 7 additions each, one
// to join the lanes and one rounding of the product make 9 roundings per term, before the compensated
// sum over blocks.
const dotBlock = 16

// dot returns sum_j a_j b_j for non-negative a and b of the same length, with relative error at most
// (9 + 2) 2^-53 before the last rounding, whatever the length (underflow aside).
func dot(a, b []float64) double {
	var s double
	for len(a) >= dotBlock && len(b) >= dotBlock {
		x, y := (*[dotBlock]float64)(a), (*[dotBlock]float64)(b) // the compiler checks bounds once
		d0 := float64(x[0] * y[0])
		d1 := float64(x[1] * y[1])
		for j := 2; j < dotBlock; j += 2 {
			d0 += float64(x[j] * y[j])
			d1 += float64(x[j+1] * y[j+1])
		}
		s = s.Add(d0 + d1)
		a, b = a[dotBlock:], b[dotBlock:]
	}
	b = b[:len(a)]
	var d0, d1 float64
	for j, x := range a {
		d0, d1 = d1, d0+float64(x*b[j])
	}
	return s.Add(d0 + d1)
}

// dot4 is dot for four rows at once, bit for bit: faster by what is saved in loads of y and gained from four
// streams of memory. The block is written out: a loop would cost as much again.
func dot4(x0, x1, x2, x3, y []float64) (s0, s1, s2, s3 double) {
	for len(y) >= dotBlock && len(x0) >= dotBlock && len(x1) >= dotBlock && len(x2) >= dotBlock && len(x3) >= dotBlock {
		p0, p1, p2, p3 := (*[dotBlock]float64)(x0), (*[dotBlock]float64)(x1), (*[dotBlock]float64)(x2),
			(*[dotBlock]float64)(x3)
		w := (*[dotBlock]float64)(y)
		v := w[0]
		a0, b0, c0, d0 := float64(p0[0]*v), float64(p1[0]*v), float64(p2[0]*v), float64(p3[0]*v)
		v = w[1]
		a1, b1, c1, d1 := float64(p0[1]*v), float64(p1[1]*v), float64(p2[1]*v), float64(p3[1]*v)
		v = w[2]
		a0 += float64(p0[2] * v)
		b0 += float64(p1[2] * v)
		c0 += float64(p2[2] * v)
		d0 += float64(p3[2] * v)
		v = w[3]
		a1 += float64(p0[3] * v)
		b1 += float64(p1[3] * v)
		c1 += float64(p2[3] * v)
		d1 += float64(p3[3] * v)
		v = w[4]
		a0 += float64(p0[4] * v)
		b0 += float64(p1[4] * v)
		c0 += float64(p2[4] * v)
		d0 += float64(p3[4] * v)
		v = w[5]
		a1 += float64(p0[5] * v)
		b1 += float64(p1[5] * v)
		c1 += float64(p2[5] * v)
		d1 += float64(p3[5] * v)
		v = w[6]
		a0 += float64(p0[6] * v)
		b0 += float64(p1[6] * v)
		c0 += float64(p2[6] * v)
		d0 += float64(p3[6] * v)
		v = w[7]
		a1 += float64(p0[7] * v)
		b1 += float64(p1[7] * v)
		c1 += float64(p2[7] * v)
		d1 += float64(p3[7] * v)
		v = w[8]
		a0 += float64(p0[8] * v)
		b0 += float64(p1[8] * v)
		c0 += float64(p2[8] * v)
		d0 += float64(p3[8] * v)
		v = w[9]
		a1 += float64(p0[9] * v)
		b1 += float64(p1[9] * v)
		c1 += float64(p2[9] * v)
		d1 += float64(p3[9] * v)
		v = w[10]
		a0 += float64(p0[10] * v)
		b0 += float64(p1[10] * v)
		c0 += float64(p2[10] * v)
		d0 += float64(p3[10] * v)
		v = w[11]
		a1 += float64(p0[11] * v)
		b1 += float64(p1[11] * v)
		c1 += float64(p2[11] * v)
		d1 += float64(p3[11] * v)
		v = w[12]
		a0 += float64(p0[12] * v)
		b0 += float64(p1[12] * v)
		c0 += float64(p2[12] * v)
		d0 += float64(p3[12] * v)
		v = w[13]
		a1 += float64(p0[13] * v)
		b1 += float64(p1[13] * v)
		c1 += float64(p2[13] * v)
		d1 += float64(p3[13] * v)
		v = w[14]
		a0 += float64(p0[14] * v)
		b0 += float64(p1[14] * v)
		c0 += float64(p2[14] * v)
		d0 += float64(p3[14] * v)
		v = w[15]
		a1 += float64(p0[15] * v)
		b1 += float64(p1[15] * v)
		c1 += float64(p2[15] * v)
		d1 += float64(p3[15] * v)
		s0, s1, s2, s3 = s0.Add(a0+a1), s1.Add(b0+b1), s2.Add(c0+c1), s3.Add(d0+d1)
		y, x0, x1, x2, x3 = y[dotBlock:], x0[dotBlock:], x1[dotBlock:], x2[dotBlock:], x3[dotBlock:]
	}
	n := len(y)
	x0, x1, x2, x3 = x0[:n], x1[:n], x2[:n], x3[:n]
	var a0, a1, b0, b1, c0, c1, d0, d1 float64
	for j, v := range y {
		a0, a1 = a1, a0+float64(x0[j]*v)
		b0, b1 = b1, b0+float64(x1[j]*v)
		c0, c1 = c1, c0+float64(x2[j]*v)
		d0, d1 = d1, d0+float64(x3[j]*v)
	}
	return s0.Add(a0 + a1), s1.Add(b0 + b1), s2.Add(c0 + c1), s3.Add(d0 + d1)
}
