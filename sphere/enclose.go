package sphere

import (
	"fmt"
	"math/big"
)

// MaxBits is the largest number of bits that Enclose takes.
const MaxBits = 2048

// Enclose returns verified bounds on w* = (1-T)/2 with Upper - Lower <= 2^-bits w*, 1 <= bits <= MaxBits; 0 means 50,
// about the precision of a float64. Enclose starts from Solve, but its answer rests on the arithmetic of Verify alone:
// it returns only bounds that Verify accepts.
//
// At 50 bits it takes some milliseconds for small d, 0.1 s at d = 10^5, and 1 s at d = 10^7. For each bound it sums
// five series of about sqrt(d) terms in big floats. Errors: as Solve, ErrPrecision for bits out of range, and ErrBounds
// if no bounds can be proved (no input is known to cause it).
func Enclose(d int, p, eps float64, bits int) (Bounds, error) {
	if bits == 0 {
		bits = 50
	}
	if bits < 1 || bits > MaxBits {
		return Bounds{}, fmt.Errorf("%w: %d bits, want 1 to %d", ErrPrecision, bits, MaxBits)
	}
	m, err := Solve(d, p, eps)
	if err != nil {
		return Bounds{}, err
	}
	e := newEquation(d, p, eps)
	w := new(big.Rat).SetFloat64(m.Omt)
	w.Mul(w, big.NewRat(1, 2))
	// Solve is good to 2^-43 by its promise, and nearly always to 2^-48.
	b, width, err := e.around(w, min(bits+2, 47))
	if err != nil {
		return Bounds{}, err
	}
	for width < bits+1 {
		b, width, err = e.refine(b, width, bits+2)
		if err != nil {
			return Bounds{}, err
		}
	}
	return b, nil
}

// around returns bounds w (1 -+ 2^-k) that hold, with the largest k <= want, want-2, want-4, ... down to 20.
func (e *equation) around(w *big.Rat, want int) (Bounds, int, error) {
	for k := want; k >= 20 || k == want; k -= 2 {
		r := new(big.Rat).Mul(w, new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), uint(k))))
		b := Bounds{trim(new(big.Rat).Sub(w, r), k+16, -1), trim(new(big.Rat).Add(w, r), k+16, 1)}
		if b.Upper.Cmp(big.NewRat(1, 1)) >= 0 {
			continue
		}
		lower, err := e.sign(b.Lower)
		if err != nil {
			return Bounds{}, 0, err
		}
		upper, err := e.sign(b.Upper)
		if err != nil {
			return Bounds{}, 0, err
		}
		if lower > 0 && upper < 0 {
			return b, k, nil
		}
	}
	f, _ := w.Float64()
	return Bounds{}, 0, fmt.Errorf("%w: w* is not near %v", ErrBounds, f)
}

// refine takes the point where the chord of P between the bounds is zero, and looks around it: from k to nearly 2k
// bits.
func (e *equation) refine(b Bounds, k, want int) (Bounds, int, error) {
	ar := arith{uint(2*k + 64)}
	ar.bits = max(ar.bits, firstBits)
	mid := func(w *big.Rat) *big.Float {
		v := e.value(ar, w)
		v.lo.Add(v.lo, v.hi)
		return v.lo
	}
	low, high := mid(b.Lower), mid(b.Upper)
	share, _ := low.Quo(low, new(big.Float).SetPrec(ar.bits).Sub(low, high)).Rat(nil)
	w := new(big.Rat).Sub(b.Upper, b.Lower)
	w.Mul(w, share).Add(w, b.Lower)
	if w.Cmp(b.Lower) <= 0 || w.Cmp(b.Upper) >= 0 {
		return Bounds{}, 0, fmt.Errorf("%w: no progress beyond %d bits", ErrBounds, k)
	}
	// The chord is off by the curvature: at most about d + p units in the scale of lambda, so some bits of 2k are given up
	// at first.
	return e.around(w, min(want, 2*k-8))
}

// trim rounds w to a dyadic number of the given relative precision, downwards or upwards, so that numbers stay short.
func trim(w *big.Rat, bits, side int) *big.Rat {
	f := new(big.Float).SetPrec(uint(bits)).SetMode(big.ToNegativeInf)
	if side > 0 {
		f.SetMode(big.ToPositiveInf)
	}
	r, _ := f.SetRat(w).Rat(nil)
	return r
}
