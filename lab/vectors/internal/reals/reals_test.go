package reals

import (
	"math/big"
	"testing"
)

// TestDigits: 60 digits of numbers from tables (OEIS A000796, A001113, A002162, A068985), and what is exact.
func TestDigits(t *testing.T) {
	for _, c := range []struct {
		name string
		x    *big.Float
		want string
	}{
		{"pi", Pi(), "3.14159265358979323846264338327950288419716939937510582097494"},
		{"e", Exp(Int(1)), "2.71828182845904523536028747135266249775724709369995957496697"},
		{"1/e", Exp(Int(-1)), "3.67879441171442321595523770161460867445811131031767834507837e-01"},
		{"log 2", Log(Int(2)), "6.9314718055994530941723212145817656807550013436025525412068e-01"},
		{"log e^-700", Log(Exp(Int(-700))), "-7e+02"},
		{"e^0", Exp(Int(0)), "1"},
		{"log 1", Log(Int(1)), "0"},
		{"1/8", Quo(Int(1), Int(8)), "1.25e-01"},
		{"1/3", Rat(big.NewRat(1, 3)), "3.33333333333333333333333333333333333333333333333333333333333e-01"},
	} {
		if got := Digits(c.x); got != c.want {
			t.Errorf("%s = %s, want %s", c.name, got, c.want)
		}
	}
}

// TestLogNearOne: log(1 + d) is d - d^2/2 + d^3/3 up to d^4; for d = 2^-200 that is below the last of 512 bits.
func TestLogNearOne(t *testing.T) {
	d := New().SetMantExp(Int(1), -200)
	square := Mul(d, d)
	want := Add(Sub(d, Quo(square, Int(2))), Quo(Mul(square, d), Int(3)))
	got := Log(Add(Int(1), d))
	if off := Sub(got, want); off.Sign() != 0 && off.MantExp(nil) > -200-Precision+4 { // four roundings
		t.Errorf("log(1 + 2^-200) = %v, off by %v", got, off)
	}
}
