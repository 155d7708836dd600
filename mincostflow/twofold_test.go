package mincostflow

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/cost"
)

var denseOnes = cost.Dense{K: 50, Kv: 1, Data: repeat(1, 50)}

func (x dd) rat() *big.Rat { return new(big.Rat).Add(rat(x.hi), rat(x.lo)) }

// relDD bounds the relative error of one twofold operation: a few 2^-105.
const relDD = 0x1p-102

func TestTwofold(t *testing.T) {
	d := newDraw(1)
	random := func() dd {
		x := math.Ldexp(d.Float64()-0.5, d.Intn(40)-20)
		return renorm(x, x*0x1p-53*(d.Float64()-0.5))
	}
	check := func(op string, got dd, want *big.Rat, size float64) {
		t.Helper()
		diff, _ := new(big.Rat).Sub(got.rat(), want).Float64()
		if !(math.Abs(diff) <= relDD*size) {
			t.Fatalf("%s: off by %g, size %g", op, diff, size)
		}
		if got.hi+got.lo != got.hi {
			t.Fatalf("%s: %v is not normalised", op, got)
		}
	}
	for range 2000 {
		x, y, f := random(), random(), d.Float64()-0.5
		big1 := math.Abs(x.hi) + math.Abs(y.hi)
		check("plus", x.plus(y), new(big.Rat).Add(x.rat(), y.rat()), big1)
		check("plusFloat", x.plusFloat(f), new(big.Rat).Add(x.rat(), rat(f)), math.Abs(x.hi)+math.Abs(f))
		check("times", x.times(f), new(big.Rat).Mul(x.rat(), rat(f)), math.Abs(x.hi*f))
		if y.hi != 0 {
			check("over", x.over(y), new(big.Rat).Quo(x.rat(), y.rat()), math.Abs(x.hi/y.hi))
		}
	}
}

func TestCompareTotal(t *testing.T) {
	tiny := math.SmallestNonzeroFloat64
	for _, c := range []struct {
		xs   []float64
		t, u float64
		want int
	}{
		{nil, 0, 0, 0},
		{[]float64{0.5, 0.5}, 1, 0, 0},
		{[]float64{0.5, 0.5, tiny}, 1, 0, 1},
		{[]float64{0.5, 0.5}, 1, tiny, -1},
		{[]float64{tiny, 1, tiny}, 1, 2 * tiny, 0},
		{repeat(0.1, 10), 1, 0, 1}, // 0.1 as a float is above 1/10
		{[]float64{1e300, 1e300}, 1, 0, 1},
		{repeat(1.0/3, 3), 1, 0, -1},
	} {
		if got := total(c.xs, 2).compare(c.xs, 2, c.t, c.u); got != c.want {
			t.Errorf("compare(%v, %v, %v) = %d, want %d", c.xs, c.t, c.u, got, c.want)
		}
	}
}

// TestRowPotential compares with the same minimum in rationals, on numbers close enough for
// rounding to matter.
func TestRowPotential(t *testing.T) {
	for seed := range 3000 {
		d := newDraw(uint64(seed))
		n := 1 + d.Intn(9)
		row, g := make([]float64, n), make([]float64, n)
		for j := range row {
			row[j] = 1 + math.Ldexp(float64(d.Intn(16)), -52)
			g[j] = float64(d.Intn(3)-1) * (1 + math.Ldexp(float64(d.Intn(16)), -54)) * math.Ldexp(1, d.Intn(3)-2)
		}
		f := rowPotential(row, g)
		var want *big.Rat
		for j := range row {
			if x := new(big.Rat).Sub(rat(row[j]), rat(g[j])); want == nil || x.Cmp(want) < 0 {
				want = x
			}
		}
		if rat(f).Cmp(want) > 0 || rat(math.Nextafter(f, 9)).Cmp(want) <= 0 {
			t.Fatalf("rowPotential(%v, %v) = %v, want the largest float at most %v", row, g, f, want)
		}
	}
}

func TestRepair(t *testing.T) {
	for _, c := range []struct {
		name      string
		q, lo, hi []float64
		want      []float64
	}{
		{"inside first", []float64{0.5, 0.25, 0.125}, []float64{0.5, 0, 0.125}, repeat(1, 3), []float64{0.5, 0.375, 0.125}},
		{"down to the bound, then the next", []float64{0.5, 0.5, 0.25}, []float64{0.375, 0.25, 0.25}, repeat(1, 3), []float64{0.375, 0.375, 0.25}},
		{"only at bounds", []float64{0.5, 0.25}, []float64{0.5, 0.25}, []float64{0.5, 1}, []float64{0.5, 0.5}},
		{"already one", []float64{0.5, 0.5}, []float64{0, 0}, []float64{1, 1}, []float64{0.5, 0.5}},
		{"less than an ulp of the first", []float64{0.5, 0.5, 0x1p-60}, repeat(0, 3), repeat(1, 3), []float64{0.5, 0.5, 0}},
	} {
		in := &instance{limits: &limits{lo: c.lo, hi: c.hi}}
		in.repair(c.q)
		if !slices.Equal(c.q, c.want) {
			t.Errorf("%s: %v, want %v", c.name, c.q, c.want)
		}
	}
}
