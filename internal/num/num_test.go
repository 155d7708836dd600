package num

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/internal/numtest"
)

const u = 0x1p-53

var (
	inf = math.Inf(1)
	nan = math.NaN()
)

const (
	maxF = math.MaxFloat64
	minF = math.SmallestNonzeroFloat64
)

// same treats NaN as equal to NaN.
func same(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }

func TestSum(t *testing.T) {
	for _, c := range []struct {
		name string
		x    []float64
		want float64
	}{
		{"empty", nil, 0},
		{"one", []float64{0.1}, 0.1},
		{"minus zero", []float64{math.Copysign(0, -1)}, 0},
		{"cancellation", []float64{1, 1e100, 1, -1e100}, 2},
		{"tenths", []float64{.1, .1, .1, .1, .1, .1, .1, .1, .1, .1}, 1},
		{"subnormal", []float64{minF, minF, -minF}, minF},
		{"overflow on the way", []float64{maxF, maxF, -maxF}, maxF},
		{"overflow on the way, negative", []float64{-maxF, -maxF, 1, maxF, maxF}, 1},
		{"true overflow", []float64{maxF, maxF}, inf},
		{"inf", []float64{1, inf, 2}, inf},
		{"minus inf", []float64{1, -inf}, -inf},
		{"inf - inf", []float64{inf, -inf}, nan},
		{"inf after overflow", []float64{maxF, maxF, -inf}, -inf},
		{"nan", []float64{1, nan}, nan},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Sum(c.x); !same(got, c.want) {
				t.Errorf("%s: Sum(%v) = %v, want %v", c.name, c.x, got, c.want)
			}
		})
	}
}

func TestDot(t *testing.T) {
	for _, c := range []struct {
		name       string
		x, y       []float64
		want       float64
		wantRatNil bool
	}{
		{"empty", nil, nil, 0, false},
		{"cancellation", []float64{0x1p300, 1, -0x1p300}, []float64{0x1p200, 3, 0x1p200}, 3, false},
		// (1+2^-30)^2 - (1+2^-29) = 2^-60 exactly, lost by a plain product.
		{"product error", []float64{1 + 0x1p-30, -1}, []float64{1 + 0x1p-30, 1 + 0x1p-29}, 0x1p-60, false},
		{"overflow on the way", []float64{1e200, 1e200, 7}, []float64{1e200, -1e200, 1}, 7, false},
		{"true overflow", []float64{1e200}, []float64{-1e200}, -inf, false},
		{"underflow", []float64{minF}, []float64{0.5}, 0, false},
		{"inf", []float64{inf, 1}, []float64{2, 2}, inf, true},
		{"inf times zero", []float64{inf}, []float64{0}, nan, true},
		{"nan", []float64{nan, 1}, []float64{0, 2}, nan, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Dot(c.x, c.y); !same(got, c.want) {
				t.Errorf("%s: Dot = %v, want %v", c.name, got, c.want)
			}
			if got := DotRat(c.x, c.y); (got == nil) != c.wantRatNil {
				t.Errorf("%s: DotRat = %v, want nil: %v", c.name, got, c.wantRatNil)
			}
		})
	}
	for name, f := range map[string]func(){
		"Dot":    func() { Dot(make([]float64, 2), make([]float64, 3)) },
		"DotRat": func() { DotRat(make([]float64, 2), make([]float64, 3)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s of different lengths did not panic", name)
				}
			}()
			f()
		}()
	}
}

func TestLogSumExp(t *testing.T) {
	for _, c := range []struct {
		name string
		x    []float64
		want float64
	}{
		{"empty", nil, -inf},
		{"all -Inf", []float64{-inf, -inf}, -inf},
		{"some -Inf", []float64{-inf, 3}, 3},
		{"+Inf", []float64{-inf, inf, 1}, inf},
		{"two +Inf", []float64{inf, inf}, inf},
		{"NaN", []float64{inf, nan}, nan},
		{"huge", []float64{maxF, maxF}, maxF},
		{"one", []float64{-1e300}, -1e300},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := LogSumExp(c.x); !same(got, c.want) {
				t.Errorf("%s: LogSumExp(%v) = %v, want %v", c.name, c.x, got, c.want)
			}
		})
	}
	// mpmath 1.3.0, mp.dps = 40: log(sum(exp(x))), 20 digits.
	for _, c := range []struct {
		x    []float64
		want string
	}{
		{[]float64{0, 0}, "0.69314718055994530942"},
		{[]float64{1000, 1001, 1002}, "1002.4076059644443803"},
		{[]float64{-1000, -1001.5, -1003}, "-999.75868870334284294"},
		{[]float64{0, -40}, "4.2483542552915889863e-18"},
		{[]float64{-0.5, -1, -2, -4, -8}, "0.12079758567552731547"},
	} {
		want, _ := numtest.ParseRat(t, c.want).Float64()
		got := LogSumExp(c.x)
		numtest.Near(t, "LogSumExp", got, want, lseTol(c.x, want))
	}
}

// lseTol is the documented bound, with its first part scaled by the sum of the terms beside the
// largest: right when the differences x_i - max are exact, as they are above, and it sees the small
// part that log1p keeps.
func lseTol(x []float64, want float64) numtest.Tol {
	n, max := float64(len(x)), -inf
	for _, v := range x {
		max = math.Max(max, v)
	}
	return numtest.Tol{
		Abs: (n+math.Log(n)+4)*u*math.Expm1(want-max) + 2*u*math.Abs(want) + 2*u*math.Abs(want-max),
		Why: "documented bound of LogSumExp",
	}
}

// edgy draws finite floats of every exponent, with a lean to the ends and to small integers.
func edgy() *rapid.Generator[float64] {
	bits := rapid.Custom(func(t *rapid.T) float64 {
		x := math.Float64frombits(rapid.Uint64().Draw(t, "bits"))
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return 0
		}
		return x
	})
	return rapid.OneOf(
		bits,
		rapid.Float64Range(-2, 2),
		rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1, -1, 0.1, minF, -minF, 0x1p-1022, 0x1.fffffffffffffp-1023,
			maxF, -maxF, 0x1p1023, 0x1p53, 0x1p53 - 1}),
	)
}

func TestSumLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(edgy(), 0, 40).Draw(t, "x")
		y := rapid.SliceOfN(edgy(), len(x), len(x)).Draw(t, "y")

		// The dumb way.
		sum, abs, dot, absDot := new(big.Rat), new(big.Rat), new(big.Rat), new(big.Rat)
		for i, v := range x {
			r, s := Rat(v), Rat(y[i])
			sum.Add(sum, r)
			abs.Add(abs, new(big.Rat).Abs(r))
			p := new(big.Rat).Mul(r, s)
			dot.Add(dot, p)
			absDot.Add(absDot, p.Abs(p))
		}
		if got := SumRat(x); got.Cmp(sum) != 0 {
			t.Fatalf("SumRat(%v) = %v, want %v", x, got, sum)
		}
		if got := DotRat(x, y); got.Cmp(dot) != 0 {
			t.Fatalf("DotRat(%v, %v) = %v, want %v", x, y, got, dot)
		}
		within(t, "Sum", Sum(x), sum, abs, len(x), 0)
		within(t, "Dot", Dot(x, y), dot, absDot, len(x), 5*len(x))
	})
}

// within checks the documented bound u·|want| + γ_n²·abs + tiny·2^-1075, in rationals.
func within(t *rapid.T, what string, got float64, want, abs *big.Rat, n, tiny int) {
	if math.IsInf(got, 0) { // right only if the nearest float is infinite, or the bound reaches there
		if f, _ := want.Float64(); math.Abs(f) < maxF/2 {
			t.Fatalf("%s = %v, want %v", what, got, f)
		}
		return
	}
	if math.IsNaN(got) {
		t.Fatalf("%s = NaN", what)
	}
	gamma := float64(n) * u / (1 - float64(n)*u)
	bound := new(big.Rat).Mul(Rat(u), new(big.Rat).Abs(want))
	bound.Add(bound, new(big.Rat).Mul(Rat(gamma*gamma), abs))
	bound.Add(bound, new(big.Rat).SetFrac(big.NewInt(int64(tiny)), new(big.Int).Lsh(big.NewInt(1), 1075)))
	d := new(big.Rat).Sub(Rat(got), want)
	if d.Abs(d).Cmp(bound) > 0 {
		e, _ := d.Float64()
		b, _ := bound.Float64()
		t.Fatalf("%s = %v is off by %v, bound %v", what, got, e, b)
	}
}

// A carry in the middle of a sum changes nothing.
func TestAccCarry(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(edgy(), 1, 20).Draw(t, "x")
		var a, b Acc
		for _, v := range x {
			a.AddMul(v, v)
			a.AddMul(v, -3)
			b.AddMul(v, v)
			b.AddMul(v, -3)
			b.lazy = accMaxLazy // the next addition carries
		}
		if a.Rat().Cmp(b.Rat()) != 0 {
			t.Fatalf("carrying early gives %v, late %v", b.Rat(), a.Rat())
		}
		// Rat leaves the sum usable.
		b.Add(x[0])
		want := new(big.Rat).Add(a.Rat(), Rat(x[0]))
		if got := b.Rat(); got.Cmp(want) != 0 {
			t.Fatalf("after Rat and Add: %v, want %v", got, want)
		}
	})
}

func TestAccFull(t *testing.T) {
	// The largest product, as often as limbs allow without a carry, and all of it back again.
	var a Acc
	const n = 1000
	for range n {
		a.AddMul(maxF, maxF)
	}
	want := new(big.Rat).Mul(Rat(maxF), Rat(maxF))
	want.Mul(want, new(big.Rat).SetInt64(n))
	if got := a.Rat(); got.Cmp(want) != 0 {
		t.Errorf("%d times MaxFloat64² is wrong", n)
	}
	for range n {
		a.AddMul(-maxF, maxF)
	}
	if got := a.Rat(); got.Sign() != 0 {
		t.Errorf("taken back: %v, want 0", got)
	}
	a.AddMul(minF, minF)
	if got := a.Rat(); got.Cmp(new(big.Rat).Mul(Rat(minF), Rat(minF))) != 0 {
		t.Errorf("the smallest product is wrong: %v", got)
	}
	a.Add(nan)
	if a.Rat() != nil || !math.IsNaN(a.Float64()) {
		t.Error("a sum with NaN is not nil")
	}
	a.Reset()
	if got := a.Float64(); got != 0 {
		t.Errorf("after Reset: %v, want 0", got)
	}
}

func TestRounding(t *testing.T) {
	pow := func(e uint) *big.Rat { return new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), e)) }
	half := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 1075))
	aboveMax := new(big.Rat).Add(Rat(maxF), big.NewRat(1, 3))
	for _, c := range []struct {
		name     string
		r        *big.Rat
		down, up float64
	}{
		{"zero", new(big.Rat), 0, 0},
		{"one third", big.NewRat(1, 3), 0x1.5555555555555p-2, 0x1.5555555555556p-2},
		{"minus one third", big.NewRat(-1, 3), -0x1.5555555555556p-2, -0x1.5555555555555p-2},
		{"half the smallest", half, 0, minF},
		{"minus half the smallest", new(big.Rat).Neg(half), -minF, 0},
		{"above the largest", aboveMax, maxF, inf},
		{"below the smallest", new(big.Rat).Neg(aboveMax), -inf, -maxF},
		{"far above", pow(2000), maxF, inf},
		{"far below", new(big.Rat).Neg(pow(2000)), -inf, -maxF},
		{"largest", Rat(maxF), maxF, maxF},
	} {
		t.Run(c.name, func(t *testing.T) {
			down, up := Down(c.r), Up(c.r)
			numtest.SameBits(t, c.name, []float64{down, up}, []float64{c.down, c.up})
		})
	}
	if !math.IsNaN(Down(nil)) || !math.IsNaN(Up(nil)) {
		t.Error("Down(nil) or Up(nil) is not NaN")
	}
}

func TestRoundingLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := edgy().Draw(t, "a"), edgy().Draw(t, "b"), edgy().Draw(t, "c")
		r := new(big.Rat).Mul(Rat(a), Rat(b))
		if c != 0 {
			r.Quo(r, Rat(c))
		}
		down, up := Down(r), Up(r)
		if !math.IsInf(down, 0) && Rat(down).Cmp(r) > 0 || !math.IsInf(up, 0) && Rat(up).Cmp(r) < 0 {
			t.Fatalf("Down, Up of %v = %v, %v", r, down, up)
		}
		if up != down && up != math.Nextafter(down, inf) {
			t.Fatalf("Down, Up of %v = %v, %v are not neighbours", r, down, up)
		}
		if m := -Down(new(big.Rat).Neg(r)); m != up {
			t.Fatalf("-Down(-r) = %v, Up(r) = %v", m, up)
		}
		if down == up && Rat(down).Cmp(r) != 0 {
			t.Fatalf("Down = Up = %v but r = %v", down, r)
		}
		if d, u := Down(Rat(a)), Up(Rat(a)); d != a || u != a {
			t.Fatalf("Down, Up of the float %v = %v, %v", a, d, u)
		}
	})
}

func TestLogSumExpLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Float64Range(-50, 50), 1, 30).Draw(t, "x")
		got := LogSumExp(x)
		// Second opinion: the terms summed plainly, good to (n+3)u relative in this range, so to
		// that much absolute in the logarithm.
		var s float64
		for _, v := range x {
			s += math.Exp(v)
		}
		want := math.Log(s)
		tol := numtest.Tol{
			Abs: 2*float64(len(x)+60)*u + 4*u*math.Abs(want),
			Why: "plain sum of exponentials: relative (n+3)u, and u·|x| <= 50u from each argument; twice for both sides",
		}
		if !tol.Close(got, want) {
			t.Fatalf("LogSumExp(%v) = %v, want %v, tol %v", x, got, want, tol)
		}
	})
}

func BenchmarkSum(b *testing.B) {
	g := numtest.NewSplitMix64(1)
	x := make([]float64, 1000)
	for i := range x {
		x[i] = g.Float64()
	}
	var s float64
	for b.Loop() {
		s += Sum(x)
	}
	if s == 0 {
		b.Fatal("no sum")
	}
}

func BenchmarkSumRat(b *testing.B) {
	g := numtest.NewSplitMix64(1)
	x := make([]float64, 100_000)
	for i := range x {
		x[i] = math.Ldexp(g.Float64()-0.5, g.Intn(2000)-1000)
	}
	for b.Loop() {
		if SumRat(x) == nil {
			b.Fatal("nil")
		}
	}
}
