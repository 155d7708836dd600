package num

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
)

func (x Twofold) rat() *big.Rat { return new(big.Rat).Add(Rat(x.Hi), Rat(x.Lo)) }

func TestTwofold(t *testing.T) {
	const rel = 0x1p-102 // bounds the relative error of one operation: a few 2^-105
	g := numtest.NewSplitMix64(1)
	random := func() Twofold {
		x := math.Ldexp(g.Float64()-0.5, g.Intn(40)-20)
		return renorm(x, x*0x1p-53*(g.Float64()-0.5))
	}
	check := func(op string, got Twofold, want *big.Rat, size float64) {
		t.Helper()
		diff, _ := new(big.Rat).Sub(got.rat(), want).Float64()
		if !(math.Abs(diff) <= rel*size) {
			t.Fatalf("%s: off by %g, size %g", op, diff, size)
		}
		if got.Hi+got.Lo != got.Hi {
			t.Fatalf("%s: %v is not normalised", op, got)
		}
	}
	for range 2000 {
		x, y, f := random(), random(), g.Float64()-0.5
		size := math.Abs(x.Hi) + math.Abs(y.Hi)
		check("Plus", x.Plus(y), new(big.Rat).Add(x.rat(), y.rat()), size)
		check("PlusFloat", x.PlusFloat(f), new(big.Rat).Add(x.rat(), Rat(f)), math.Abs(x.Hi)+math.Abs(f))
		check("Times", x.Times(f), new(big.Rat).Mul(x.rat(), Rat(f)), math.Abs(x.Hi*f))
		if y.Hi != 0 {
			check("Over", x.Over(y), new(big.Rat).Quo(x.rat(), y.rat()), math.Abs(x.Hi/y.Hi))
		}
	}
}

func TestCompareSum(t *testing.T) {
	for _, c := range []struct {
		xs   []float64
		t, u float64
		want int
	}{
		{nil, 0, 0, 0},
		{[]float64{0.5, 0.5}, 1, 0, 0},
		{[]float64{0.5, 0.5, minF}, 1, 0, 1},
		{[]float64{0.5, 0.5}, 1, minF, -1},
		{[]float64{minF, 1, minF}, 1, 2 * minF, 0},
		{slices.Repeat([]float64{0.1}, 10), 1, 0, 1}, // 0.1 as a float is above 1/10
		{[]float64{1e300, 1e300}, 1, 0, 1},
		{slices.Repeat([]float64{1.0 / 3}, 3), 1, 0, -1},
	} {
		if got := CappedSum(c.xs, 2).CompareSum(c.xs, 2, c.t, c.u); got != c.want {
			t.Errorf("%v against %v + %v: %d, want %d", c.xs, c.t, c.u, got, c.want)
		}
	}
	// Sums that are equal but for some units of the last place, or off by something.
	g := numtest.NewSplitMix64(92)
	var signs [3]int
	for range 500 {
		xs := make([]float64, 1+g.Intn(20))
		for i := range xs {
			xs[i] = g.Float64() / float64(len(xs))
		}
		if g.Intn(3) == 0 {
			xs[0] += []float64{5, 1e-9, -xs[0]}[g.Intn(3)]
		}
		u := []float64{0, 1e-9, -1e-9, 1e-12}[g.Intn(4)]
		if last := len(xs) - 1; last > 0 && g.Intn(3) > 0 {
			var sum float64
			for i, x := range xs[:last] {
				if u == 0 { // sums are exact
					xs[i] = math.Floor(x*0x1p30) * 0x1p-30
				}
				sum += min(xs[i], 2)
			}
			xs[last] = max(0, 1+u-sum)
			if side := g.Intn(3) - 1; side != 0 {
				xs[last] = max(0, math.Nextafter(xs[last], math.Inf(side)))
			}
		}
		want := new(big.Rat)
		for _, x := range xs {
			want.Add(want, Rat(min(x, 2)))
		}
		want.Sub(want, big.NewRat(1, 1))
		want.Sub(want, Rat(u))
		if got := CappedSum(xs, 2).CompareSum(xs, 2, 1, u); got != want.Sign() {
			t.Errorf("%v against 1 + %v: %d, want %d", xs, u, got, want.Sign())
		}
		signs[want.Sign()+1]++
	}
	if slices.Min(signs[:]) < 10 {
		t.Errorf("%v sums are less, equal and more", signs)
	}
}

// TestErrorFree checks that the two error-free transformations are error-free.
func TestErrorFree(t *testing.T) {
	rnd := numtest.NewSplitMix64(5)
	for range 10000 {
		a := math.Ldexp(rnd.Float64()-0.5, rnd.Intn(120)-60)
		b := math.Ldexp(rnd.Float64()-0.5, rnd.Intn(120)-60)
		s, e := TwoSum(a, b)
		if sum := new(big.Rat).Add(Rat(a), Rat(b)); sum.Cmp(new(big.Rat).Add(Rat(s), Rat(e))) != 0 {
			t.Fatalf("TwoSum(%v, %v) = %v, %v", a, b, s, e)
		}
		s, e = TwoDiff(a, b)
		if diff := new(big.Rat).Sub(Rat(a), Rat(b)); diff.Cmp(new(big.Rat).Add(Rat(s), Rat(e))) != 0 {
			t.Fatalf("TwoDiff(%v, %v) = %v, %v", a, b, s, e)
		}
	}
}

// TestTwofoldAdd: sums by Add keep what plain ones lose.
func TestTwofoldAdd(t *testing.T) {
	var n Twofold
	n = n.Add(1)
	for range 1 << 12 {
		n = n.Add(0x1p-60)
	}
	if n.PlusFloat(-1).Neg().Float() != -0x1p-48 || n.Float() != 1+0x1p-48 || n.Hi != 1 {
		t.Errorf("%v, %v above 1", n.Float(), -n.PlusFloat(-1).Neg().Float())
	}
	n = Twofold{}
	for _, x := range []float64{0x1p-60, 1, 0x1p-60, 0x1p53} {
		n = n.Add(x)
	}
	if n.PlusFloat(-0x1p53).Neg().Float() != -1-0x1p-59 && n.PlusFloat(-0x1p53).Neg().Float() != -1 {
		t.Errorf("%v above 2^53", -n.PlusFloat(-0x1p53).Neg().Float())
	}
}
