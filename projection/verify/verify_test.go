package verify

import (
	"math"
	"math/big"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/projection"
)

func ulps(x float64, n int) float64 {
	for ; n > 0; n-- {
		x = math.Nextafter(x, math.Inf(1))
	}
	for ; n < 0; n++ {
		x = math.Nextafter(x, math.Inf(-1))
	}
	return x
}

// TestFeasibility: whether F + G <= C is decided as rationals decide it, for sums that are equal but for an ulp, and
// numbers of all sizes, the largest too.
func TestFeasibility(t *testing.T) {
	g := numtest.NewSplitMix64(91)
	var yes, no int
	for n := range 3000 {
		c := math.Ldexp(g.Float64(), g.Intn(60)-30)
		if n%3 == 0 {
			c = math.MaxFloat64 * g.Float64()
		}
		price := ulps(c*(4*g.Float64()-2), g.Intn(3))
		if n%5 == 0 {
			price = math.Ldexp(price, -g.Intn(60))
		}
		if math.IsInf(price, 0) {
			continue
		}
		f := ulps(c-price, g.Intn(5)-2)
		if math.IsInf(f, 0) || math.IsNaN(f) {
			continue
		}
		v, err := New(projection.Problem{
			Cost: &cost.Dense{K: 1, Kv: 1, Data: []float64{c}}, Source: []float64{1}, Lo: []float64{1}, Hi: []float64{1},
		}, []float64{1})
		if err != nil {
			t.Fatal(err)
		}
		p := projection.Potentials{F: []float64{f}, G: []float64{price}}
		got, err := v.Lower(p)
		sum := new(big.Rat).Add(num.Rat(f), num.Rat(price))
		if want := sum.Cmp(num.Rat(c)) <= 0; (err == nil) != want {
			t.Fatalf("%v + %v <= %v: %v", f, price, c, err)
		}
		if err != nil {
			no++
			continue
		}
		yes++
		if most, _ := v.Most(); got.Cmp(num.Rat(c)) != 0 || most != c { // the best f is C - G
			t.Fatalf("%v + %v: the bound is %v, and the largest cost %v of %v", f, price, got, most, c)
		}
		if sum.Sign() < 0 {
			sum.SetInt64(0)
		}
		if got := v.Dual(p); got.Cmp(sum) != 0 {
			t.Fatalf("%v + %v: the dual value is %v", f, price, got)
		}
	}
	if yes < 500 || no < 500 {
		t.Errorf("%d are feasible, %d are not", yes, no)
	}
}

// TestSlack compares with the same minimum in rationals, on numbers close enough for rounding to matter.
func TestSlack(t *testing.T) {
	for seed := range 3000 {
		d := numtest.NewSplitMix64(uint64(seed))
		n := 1 + d.Intn(9)
		row, g := make([]float64, n), make([]float64, n)
		for j := range row {
			row[j] = 1 + math.Ldexp(float64(d.Intn(16)), -52)
			g[j] = float64(d.Intn(3)-1) * (1 + math.Ldexp(float64(d.Intn(16)), -54)) * math.Ldexp(1, d.Intn(3)-2)
		}
		var want *big.Rat
		for j := range row {
			if x := new(big.Rat).Sub(num.Rat(row[j]), num.Rat(g[j])); want == nil || x.Cmp(want) < 0 {
				want = x
			}
		}
		x, e := slack(row, g)
		if new(big.Rat).Add(num.Rat(x), num.Rat(e)).Cmp(want) != 0 || slackBig(row, g).Rat().Cmp(want) != 0 {
			t.Fatalf("slack(%v, %v) = %v + %v, want %v exactly", row, g, x, e, want)
		}
	}
}

// TestMost: the largest cost is that of a column with room, whether q uses it or not; columns without room and rows
// without mass do not count.
func TestMost(t *testing.T) {
	c := &cost.Dense{K: 2, Kv: 4, Data: []float64{1, 2, 4, 8, 16, 16, 16, 16}}
	for _, tt := range []struct {
		lo, hi, q []float64
		most      float64
	}{
		{[]float64{0.25, 0.25, 0, 0}, []float64{0.75, 0.75, 0.5, 0}, []float64{0.5, 0.5, 0, 0}, 4},
		{[]float64{0, 0, 0, 0}, []float64{1, 1, 0, 0}, []float64{0.5, 0.5, 0, 0}, 2},
		{[]float64{0.5, 0, 0, 0x1p-60}, []float64{1, 1, 0, 0x1p-60}, []float64{1, 0, 0, 0x1p-60}, 8},
	} {
		v, err := New(projection.Problem{Cost: c, Source: []float64{1, 0}, Lo: tt.lo, Hi: tt.hi}, tt.q)
		if err != nil {
			t.Fatal(err)
		}
		if most, err := v.Most(); err != nil || most != tt.most {
			t.Errorf("lo %v, hi %v, q %v: the largest cost is %v, %v; want %v", tt.lo, tt.hi, tt.q, most, err, tt.most)
		}
	}
}

// TestFull: bounds that fill everything leave one point, whatever room the others claim.
func TestFull(t *testing.T) {
	c := &cost.Dense{K: 1, Kv: 3, Data: []float64{1, 2, 4}}
	for _, p := range []projection.Problem{
		{Lo: []float64{0.5, 0.5, 0}, Hi: []float64{1, 1, 9}}, {Lo: []float64{0, 0, 0}, Hi: []float64{0.5, 0.5, 0}},
	} {
		p.Cost, p.Source = c, []float64{3}
		v, err := New(p, []float64{0.5, 0.5, 0})
		if err != nil {
			t.Fatal(err)
		}
		if most, err := v.Most(); err != nil || most != 2 {
			t.Errorf("%v: the largest cost is %v, %v", p, most, err)
		}
		f := projection.Potentials{F: []float64{2}, G: []float64{-1, 0, 2}}
		if lower, err := v.Lower(f); err != nil || lower.Cmp(big.NewRat(3, 2)) != 0 {
			t.Errorf("%v: %v, %v", p, lower, err)
		}
		plan := []projection.Entry{{I: 0, J: 0, Mass: 0.5}, {I: 0, J: 1, Mass: 0.5}}
		if upper, err := v.Plan(plan, 1.5, false); err != nil || upper.Cmp(big.NewRat(3, 2)) != 0 {
			t.Errorf("%v: %v, %v", p, upper, err)
		}
	}
}

// TestDense: whatever numbers a row function writes, the bound holds, and a good plan has its cost.
func TestDense(t *testing.T) {
	const k, kv = 4, 5
	g := numtest.NewSplitMix64(7)
	c := &cost.Dense{K: k, Kv: kv, Data: make([]float64, k*kv)}
	for x := range c.Data {
		c.Data[x] = g.Float64()
	}
	p := projection.Problem{
		Cost: c, Source: []float64{1, 0, 2, 5}, Lo: make([]float64, kv), Hi: []float64{1, 1, 1, 1, 1},
	}
	q := []float64{0.125, 0.25, 0.0625, 0.5, 0.0625}
	v, err := New(p, q)
	if err != nil {
		t.Fatal(err)
	}
	product := 0.0
	for i, m := range p.Source {
		for j, x := range q {
			product += m / 8 * x * c.Data[i*kv+j]
		}
	}
	least, err := v.Dense(func(_ int, mass float64, _, dst []float64) {
		for j, x := range q {
			dst[j] = mass * x
		}
	}, nil)
	if x, _ := least.Upper.Float64(); err != nil || math.Abs(x-product) > 1e-15 || least.Residual != 0 {
		t.Errorf("the product: %v, residual %v, %v; want %v", x, least.Residual, err, product)
	}
	// The product plan is what a plan of nothing is repaired to.
	odd := []float64{0, 1, 1e-300, 1e300, -1, -1e300, math.Inf(1), math.Inf(-1), math.NaN(), 0x1p-62, 0x1p-63}
	for n := range 500 {
		fill := func(i int, mass float64, _, dst []float64) {
			g := numtest.NewSplitMix64(uint64(n*k + i))
			for j := range dst {
				if dst[j] = 0; n > 0 {
					dst[j] = odd[g.Intn(len(odd))] * mass
				}
			}
		}
		found, err := v.Dense(fill, nil)
		if err != nil {
			t.Fatal(err)
		}
		// No plan costs less than the cheapest in every row.
		lower := 0.0
		for i, m := range p.Source {
			cheapest := math.Inf(1)
			for j := range q {
				cheapest = math.Min(cheapest, c.Data[i*kv+j])
			}
			lower += m / 8 * cheapest
		}
		x, _ := found.Upper.Float64()
		if x < lower || x > found.Most {
			t.Errorf("number %d: %v is not between %v and %v", n, x, lower, found.Most)
		}
		if n == 0 && math.Abs(x-product) > 1e-15 {
			t.Errorf("nothing: %v, want %v", x, product)
		}
	}
}
