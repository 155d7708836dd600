package num

// Twofold is an unevaluated sum Hi + Lo: a number in about twice the working precision. Only sums and differences are
// needed here. Callers round products by a conversion before they add them, so that a compiler that fuses the two does
// not change the bits.
type Twofold struct{ Hi, Lo float64 }

// TwoSum returns s = fl(a+b) and its error e: s + e = a + b exactly, for any a, b without overflow (Knuth).
func TwoSum(a, b float64) (s, e float64) {
	s = a + b
	bv := s - a
	return s, (a - (s - bv)) + (b - bv)
}

// TwoDiff returns d = fl(a-b) and its error: d + e = a - b exactly.
func TwoDiff(a, b float64) (d, e float64) {
	d = a - b
	bv := a - d
	return d, (a - (d + bv)) + (bv - b)
}

// Add returns d + x. The error is of second order: the roundings of d.Lo alone.
func (d Twofold) Add(x float64) Twofold {
	s, e := TwoSum(d.Hi, x)
	return Twofold{s, d.Lo + e}
}

// Renorm returns the same number with |Lo| at most half an ulp of Hi.
func (d Twofold) Renorm() Twofold {
	s, e := TwoSum(d.Hi, d.Lo)
	return Twofold{s, e}
}

// Value rounds to one float64.
func (d Twofold) Value() float64 { return d.Hi + d.Lo }

// OneMinus returns 1 - d.
func (d Twofold) OneMinus() Twofold {
	s, e := TwoDiff(1, d.Hi)
	return Twofold{s, e - d.Lo}.Renorm()
}
