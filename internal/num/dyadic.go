package num

import (
	"math"
	"math/big"
)

// Dyadic is an exact number n * 2^e. Sums and products of floats are of this form, and stay so without a gcd. The zero
// value is 0. Add changes its receiver; all other methods leave theirs alone.
type Dyadic struct {
	n big.Int
	e int
}

// NewDyadic returns the finite x.
func NewDyadic(x float64) *Dyadic {
	m, e := math.Frexp(x)
	z := &Dyadic{e: e - 53}
	z.n.SetInt64(int64(math.Ldexp(m, 53)))
	return z
}

// DyadicUint returns x.
func DyadicUint(x uint64) *Dyadic {
	z := new(Dyadic)
	z.n.SetUint64(x)
	return z
}

// DyadicInt returns n * 2^e.
func DyadicInt(n *big.Int, e int) *Dyadic {
	zeros := n.TrailingZeroBits()
	z := &Dyadic{e: e + int(zeros)}
	z.n.Rsh(n, zeros)
	return z
}

// DyadicSum returns the sum of the finite xs.
func DyadicSum(xs []float64) *Dyadic {
	r := SumRat(xs)
	z := &Dyadic{e: 1 - r.Denom().BitLen()} // the denominator is a power of two
	z.n.Set(r.Num())
	return z
}

// Add adds y to x and returns x.
func (x *Dyadic) Add(y *Dyadic) *Dyadic { return x.add(y, false) }

// add adds y, or -y.
func (x *Dyadic) add(y *Dyadic, negative bool) *Dyadic {
	if y.n.Sign() == 0 {
		return x
	}
	switch {
	case x.n.Sign() == 0:
		x.e = y.e
	case y.e < x.e:
		x.n.Lsh(&x.n, uint(x.e-y.e))
		x.e = y.e
	}
	var t big.Int
	t.Lsh(&y.n, uint(y.e-x.e))
	if negative {
		t.Neg(&t)
	}
	x.n.Add(&x.n, &t)
	return x
}

// Minus returns x - y.
func (x *Dyadic) Minus(y *Dyadic) *Dyadic {
	z := &Dyadic{e: x.e}
	z.n.Set(&x.n)
	return z.add(y, true)
}

// Times returns x * y.
func (x *Dyadic) Times(y *Dyadic) *Dyadic {
	z := &Dyadic{e: x.e + y.e}
	z.n.Mul(&x.n, &y.n)
	return z
}

// Abs returns |x|.
func (x *Dyadic) Abs() *Dyadic {
	z := &Dyadic{e: x.e}
	z.n.Abs(&x.n)
	return z
}

// Sign returns -1, 0 or 1.
func (x *Dyadic) Sign() int { return x.n.Sign() }

// Cmp returns the sign of x - y.
func (x *Dyadic) Cmp(y *Dyadic) int { return x.Minus(y).Sign() }

// Over returns x / y for y != 0, in lowest terms.
func (x *Dyadic) Over(y *Dyadic) *big.Rat {
	a, b := new(big.Int).Set(&x.n), new(big.Int).Set(&y.n)
	if d := x.e - y.e; d >= 0 {
		a.Lsh(a, uint(d))
	} else {
		b.Lsh(b, uint(-d))
	}
	return new(big.Rat).SetFrac(a, b)
}

// Rat returns x in lowest terms.
func (x *Dyadic) Rat() *big.Rat { return x.Over(DyadicUint(1)) }

// Float returns the float64 nearest to x.
func (x *Dyadic) Float() float64 {
	f := new(big.Float).SetInt(&x.n) // exactly
	y, _ := f.SetMantExp(f, x.e).Float64()
	return y
}
