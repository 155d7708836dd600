package num

import "math"

// Twofold is an unevaluated sum Hi + Lo with |Lo| at most half an ulp of Hi: about 106 bits (Dekker 1971). One
// operation is off by a few 2^-105 of the magnitudes of its arguments.
type Twofold struct{ Hi, Lo float64 }

// TwoSum returns s = fl(a+b) and the exact error, a + b = s + e (Knuth). No product occurs, so no compiler may fuse
// anything.
func TwoSum(a, b float64) (s, e float64) {
	s = a + b
	t := s - a
	return s, (a - (s - t)) + (b - t)
}

// TwoDiff returns d = fl(a-b) and its error: d + e = a - b exactly.
func TwoDiff(a, b float64) (d, e float64) {
	d = a - b
	t := a - d
	return d, (a - (d + t)) + (t - b)
}

// TwoProd returns p = fl(a*b) and e with a*b = p + e, barring underflow of e.
func TwoProd(a, b float64) (p, e float64) {
	p = float64(a * b) // the conversion keeps a caller's p + x from becoming one fused operation on other numbers
	return p, math.FMA(a, b, -p)
}

// renorm returns the Twofold nearest to s + e for |e| well below |s|.
func renorm(s, e float64) Twofold {
	h := s + e
	return Twofold{h, e - (h - s)}
}

// Plus returns x + y.
func (x Twofold) Plus(y Twofold) Twofold {
	s, e := TwoSum(x.Hi, y.Hi)
	t, f := TwoSum(x.Lo, y.Lo)
	z := renorm(s, e+t)
	return renorm(z.Hi, z.Lo+f)
}

// PlusFloat returns x + y.
func (x Twofold) PlusFloat(y float64) Twofold {
	s, e := TwoSum(x.Hi, y)
	return renorm(s, e+x.Lo)
}

// Add returns x + y without bringing |Lo| down, for long sums: the error is of second order, the roundings of Lo alone.
func (x Twofold) Add(y float64) Twofold {
	s, e := TwoSum(x.Hi, y)
	return Twofold{s, x.Lo + e}
}

// Renorm brings |Lo| down to half an ulp of Hi.
func (x Twofold) Renorm() Twofold {
	s, e := TwoSum(x.Hi, x.Lo)
	return Twofold{s, e}
}

// OneMinus returns 1 - x.
func (x Twofold) OneMinus() Twofold {
	s, e := TwoDiff(1, x.Hi)
	return Twofold{s, e - x.Lo}.Renorm()
}

// Neg returns -x.
func (x Twofold) Neg() Twofold { return Twofold{-x.Hi, -x.Lo} }

// Times returns x * y.
func (x Twofold) Times(y float64) Twofold {
	p, e := TwoProd(x.Hi, y)
	return renorm(p, math.FMA(x.Lo, y, e))
}

// Over returns x / y for y != 0.
func (x Twofold) Over(y Twofold) Twofold {
	q := x.Hi / y.Hi
	r := x.Plus(y.Times(q).Neg())
	q2 := r.Hi / y.Hi
	r = r.Plus(y.Times(q2).Neg())
	return renorm(q, q2).PlusFloat(r.Hi / y.Hi)
}

// Float returns x rounded to the nearest float64.
func (x Twofold) Float() float64 { return x.Hi + x.Lo }

// CappedSum returns the sum of xs, each capped at most, with an error below len(xs) * 2^-100 times the sum of their
// magnitudes.
func CappedSum(xs []float64, most float64) Twofold {
	// Four sums, because every addition to one waits for the one before.
	var s [4]Twofold
	for len(xs) >= 4 {
		s[0] = s[0].PlusFloat(min(xs[0], most))
		s[1] = s[1].PlusFloat(min(xs[1], most))
		s[2] = s[2].PlusFloat(min(xs[2], most))
		s[3] = s[3].PlusFloat(min(xs[3], most))
		xs = xs[4:]
	}
	for _, x := range xs {
		s[0] = s[0].PlusFloat(min(x, most))
	}
	return s[0].Plus(s[1]).Plus(s[2].Plus(s[3]))
}

// CompareSum returns the sign of (sum of xs, each capped at most) - t - u, exactly. x is CappedSum(xs, most); the xs
// are finite and >= 0, and most, t and u are about 1 or less.
func (x Twofold) CompareSum(xs []float64, most, t, u float64) int {
	d := x.PlusFloat(-t).PlusFloat(-u)
	// The sum is at most most*n, so its error is far below n * 2^-90.
	if slack := float64(len(xs)+1) * most * 0x1p-90; d.Hi > slack {
		return 1
	} else if d.Hi < -slack {
		return -1
	}
	var a Acc
	for _, x := range xs {
		a.Add(min(x, most))
	}
	a.Add(-t)
	a.Add(-u)
	return a.Rat().Sign()
}
