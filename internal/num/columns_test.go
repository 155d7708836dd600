package num

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// TestColumns holds sums side by side against rationals: of close exponents and of all there are, of both signs.
func TestColumns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := edgy()
		if rapid.Bool().Draw(t, "close") {
			number = rapid.Float64Range(-9, 9)
		}
		n, terms := rapid.IntRange(1, 5).Draw(t, "n"), rapid.IntRange(0, 40).Draw(t, "terms")
		xs := rapid.SliceOfN(number.Filter(isFinite), terms, terms).Draw(t, "x")
		ys := rapid.SliceOfN(number.Filter(isFinite), terms, terms).Draw(t, "y")
		var x, y, part Span
		part.See(xs...)
		x.Join(part)
		x.Join(Span{})
		y.See(ys...)
		c := NewColumns(n, x, y, terms)
		want := make([]*big.Rat, n)
		for j := range want {
			want[j] = new(big.Rat)
		}
		for i, x := range xs {
			j := rapid.IntRange(0, n-1).Draw(t, "column")
			c.AddMul(j, x, ys[i])
			p := Rat(x)
			want[j].Add(want[j], p.Mul(p, Rat(ys[i])))
		}
		for j, w := range want {
			if got := c.Sum(j).Rat(); got.Cmp(w) != 0 {
				t.Fatalf("sum %d is %v, want %v", j, got, w)
			}
		}
	})
}

// TestColumnsFull fills sums to the largest numbers that there is room for, of either sign.
func TestColumnsFull(t *testing.T) {
	const terms = 1 << 10
	for _, spread := range []int{0, 1, 20, 21, 22, 63, 64, 65, 149, 150, 900} {
		least, most := 1., math.Ldexp(2-0x1p-52, spread)
		var x, y Span
		x.See(least, most)
		y.See(most)
		for _, sign := range []float64{1, -1} {
			c := NewColumns(3, x, y, terms)
			for range terms {
				c.AddMul(1, sign*most, most)
			}
			want := Rat(most)
			want.Mul(want, want).Mul(want, big.NewRat(int64(sign)*terms, 1))
			for j, w := range []*big.Rat{new(big.Rat), want, new(big.Rat)} {
				if got := c.Sum(j).Rat(); got.Cmp(w) != 0 {
					t.Errorf("spread %d, sum %d: %v, want %v", spread, j, got, w)
				}
			}
		}
	}
}

// TestAddUnits holds products with integers against rationals.
func TestAddUnits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a Acc
		want := new(big.Rat)
		for range rapid.IntRange(0, 20).Draw(t, "terms") {
			x := edgy().Filter(isFinite).Draw(t, "x")
			n := rapid.OneOf(rapid.Uint64(), rapid.SampledFrom([]uint64{0, 1, 1 << 62, math.MaxUint64})).Draw(t, "n")
			a.AddUnits(x, n)
			p := Rat(x)
			want.Add(want, p.Mul(p, new(big.Rat).SetInt(new(big.Int).SetUint64(n))))
		}
		if got := a.Rat(); got.Cmp(want) != 0 {
			t.Fatalf("got %v, want %v", got, want)
		}
		if got := a.Dyadic().Rat(); got.Cmp(want) != 0 {
			t.Fatalf("as a dyadic %v, want %v", got, want)
		}
		a.AddUnits(math.Inf(1), 1)
		if a.Rat() != nil || a.Dyadic() != nil {
			t.Fatal("an infinity does not spoil the sum")
		}
	})
}

func BenchmarkColumns(b *testing.B) {
	xs := make([]float64, 1000)
	for i := range xs {
		xs[i] = 1 / float64(i+1)
	}
	var x Span
	x.See(xs...)
	c := NewColumns(len(xs), x, x, 1<<30)
	for b.Loop() {
		for j, v := range xs {
			c.AddMul(j, v, 0.7)
		}
	}
}
