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

// dotBlock is the length over which dot adds in plain arithmetic: 8 additions in each of four lanes,
// two to join them and one rounding of the product give at most 11 roundings per term, before the
// compensated sum over blocks. Longer blocks are hardly faster.
const dotBlock = 32

// dot returns sum_j a_j b_j for non-negative a and b of the same length, with relative error at most
// (11 + 2) 2^-53 before the last rounding, whatever the length (underflow aside).
func dot(a, b []float64) double {
	b = b[:len(a)]
	var s double
	for len(a) > 0 {
		n := min(dotBlock, len(a))
		s = s.add(dotPlain(a[:n], b[:n]))
		a, b = a[n:], b[n:]
	}
	return s
}

func dotPlain(a, b []float64) float64 {
	var d0, d1, d2, d3 float64
	for len(a) >= 4 && len(b) >= 4 {
		d0 += a[0] * b[0]
		d1 += a[1] * b[1]
		d2 += a[2] * b[2]
		d3 += a[3] * b[3]
		a, b = a[4:], b[4:]
	}
	for j, x := range a {
		d0 += x * b[j]
	}
	return (d0 + d1) + (d2 + d3)
}
