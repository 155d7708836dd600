package knapsack

// double is an unevaluated sum hi + lo: a number in about twice the working precision. Only sums and
// differences are needed here. None of the code below multiplies and adds in one expression, so a
// compiler that fuses the two (arm64, GOAMD64=v3) does not change it.
type double struct{ hi, lo float64 }

// twoSum returns s = fl(a+b) and its error e: s + e = a + b exactly, for any a, b without overflow.
func twoSum(a, b float64) (s, e float64) {
	s = a + b
	bv := s - a
	return s, (a - (s - bv)) + (b - bv)
}

// twoDiff returns d = fl(a-b) and its error: d + e = a - b exactly.
func twoDiff(a, b float64) (d, e float64) {
	d = a - b
	bv := a - d
	return d, (a - (d + bv)) + (bv - b)
}

// add returns d + x. The error is of second order: the roundings of d.lo alone.
func (d double) add(x float64) double {
	s, e := twoSum(d.hi, x)
	return double{s, d.lo + e}
}

// renorm returns the same number with |lo| at most half an ulp of hi.
func (d double) renorm() double {
	s, e := twoSum(d.hi, d.lo)
	return double{s, e}
}

// value rounds to one float64.
func (d double) value() float64 { return d.hi + d.lo }

// oneMinus returns 1 - d.
func (d double) oneMinus() double {
	s, e := twoDiff(1, d.hi)
	return double{s, e - d.lo}.renorm()
}

// dotBlock is the length over which dot adds in plain arithmetic: four lanes of 8 terms, 7 additions each, two
// to join the lanes and one rounding of the product make at most 10 roundings per term, before the
// compensated sum over blocks.
const dotBlock = 32

// dot returns sum_j a_j b_j for non-negative a and b of the same length, with relative error at most
// (10 + 2) 2^-53 before the last rounding, whatever the length (underflow aside).
func dot(a, b []float64) double {
	var s double
	for len(a) >= dotBlock && len(b) >= dotBlock {
		x, y := (*[dotBlock]float64)(a), (*[dotBlock]float64)(b) // the compiler checks bounds once
		var d0, d1, d2, d3 float64
		for j := 0; j < dotBlock; j += 4 {
			d0 += float64(x[j] * y[j])
			d1 += float64(x[j+1] * y[j+1])
			d2 += float64(x[j+2] * y[j+2])
			d3 += float64(x[j+3] * y[j+3])
		}
		s = s.add((d0 + d1) + (d2 + d3))
		a, b = a[dotBlock:], b[dotBlock:]
	}
	var d0, d1, d2, d3 float64 // at most 8 terms each
	for len(a) >= 4 && len(b) >= 4 {
		d0 += float64(a[0] * b[0])
		d1 += float64(a[1] * b[1])
		d2 += float64(a[2] * b[2])
		d3 += float64(a[3] * b[3])
		a, b = a[4:], b[4:]
	}
	switch {
	case len(a) > 2 && len(b) > 2:
		d2 += float64(a[2] * b[2])
		fallthrough
	case len(a) > 1 && len(b) > 1:
		d1 += float64(a[1] * b[1])
		fallthrough
	case len(a) > 0 && len(b) > 0:
		d0 += float64(a[0] * b[0])
	}
	return s.add((d0 + d1) + (d2 + d3))
}
