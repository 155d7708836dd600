package hilbert

import (
	"context"
	"errors"
	"fmt"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"math"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/wpmerr"
)

var (
	inf = math.Inf(1)
	nan = math.NaN()
)

const tiny = math.SmallestNonzeroFloat64

var ulps = numtest.Tol{Rel: 8 * 0x1p-52, Why: "a few roundings"}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		name string
		x, y []float64
		want float64
	}{
		{"empty", nil, nil, 0},
		{"one", []float64{3}, []float64{5}, 0},
		{"equal", []float64{1, 2, 3}, []float64{1, 2, 3}, 0},
		{"proportional", []float64{1, 2, 4}, []float64{2, 4, 8}, 0},
		{"two", []float64{1, 2}, []float64{1, 1}, math.Ln2},
		{"other way", []float64{1, 1}, []float64{1, 2}, math.Ln2},
		{"supports differ", []float64{1, 0}, []float64{1, 1}, inf},
		{"supports differ the other way", []float64{1, 1}, []float64{0, 1}, inf},
		{"both zero do not count", []float64{1, 0, 2}, []float64{1, 0, 1}, math.Ln2},
		{"all zero", []float64{0, 0}, []float64{0, 0}, 0},
		{"one all zero", []float64{0, 0}, []float64{1, 0}, inf},
		{"minus zero", []float64{math.Copysign(0, -1), 1}, []float64{0, 1}, 0},
		{"ratios beyond float64", []float64{1e308, tiny}, []float64{tiny, 1e308}, 2 * (308*math.Ln10 + 1074*math.Ln2)},
		{"one ulp", []float64{1, 1 + 0x1p-52}, []float64{1, 1}, 0x1p-52},
		{"close, at the ends of the range", []float64{1e308, 1e-308}, []float64{1e308, 1e-308 * (1 + 0x1p-50)},
			math.Log1p(0x1p-50)},
		{"across a power of two", []float64{1, math.Nextafter(2, 0)}, []float64{1, 2}, 0x1p-53},
		// The quotients are 1/(1 + 2 ulps) of two sizes: their products round to one number.
		{"ratios that round to one", []float64{33, 28}, []float64{33 + 0x1p-46, 28 + 0x1p-46}, 7.689856447620128e-17},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Distance(c.x, c.y)
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			// 1e-308 times a number near 1 is rounded at 2^-52 of it.
			tol := ulps
			if c.name == "close, at the ends of the range" {
				tol = numtest.Tol{Rel: 0.6, Why: "the input is rounded"}
			}
			numtest.Near(t, c.name, got, c.want, tol)
		})
	}
	for _, c := range []struct {
		x, y []float64
		want error
	}{
		{[]float64{1}, []float64{1, 2}, wpmerr.ErrShape}, {[]float64{nan}, []float64{1}, wpmerr.ErrNotFinite},
		{[]float64{1}, []float64{inf}, wpmerr.ErrNotFinite},
		{[]float64{-1}, []float64{1}, wpmerr.ErrNegative}, {[]float64{1}, []float64{-inf}, wpmerr.ErrNotFinite},
	} {
		if _, err := Distance(c.x, c.y); !errors.Is(err, c.want) {
			t.Errorf("Distance(%v, %v): error %v, want %v", c.x, c.y, err, c.want)
		}
	}
}

func TestLogDistance(t *testing.T) {
	for _, c := range []struct {
		name string
		x, y []float64
		want float64
	}{
		{"empty", nil, nil, 0},
		{"shift", []float64{1, 2}, []float64{11, 12}, 0},
		{"plain", []float64{0, 1, 5}, []float64{0, 0, 0}, 5},
		{"far", []float64{1e6, 0}, []float64{0, 1e6}, 2e6},
		{"zeros", []float64{-inf, 1, 2}, []float64{-inf, 1, 1}, 1},
		{"supports differ", []float64{-inf, 1}, []float64{0, 1}, inf},
		{"all zero", []float64{-inf}, []float64{-inf}, 0},
		{"overflow", []float64{math.MaxFloat64, 0}, []float64{-math.MaxFloat64, 0}, inf},
		{"overflow at both ends", []float64{math.MaxFloat64}, []float64{-math.MaxFloat64}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := LogDistance(c.x, c.y)
			if got != c.want || err != nil {
				t.Errorf("%s: %v, %v, want %v", c.name, got, err, c.want)
			}
		})
	}
	for _, c := range []struct {
		x, y []float64
		want error
	}{
		{[]float64{1}, nil, wpmerr.ErrShape}, {[]float64{nan}, []float64{1}, wpmerr.ErrNotFinite},
		{[]float64{1}, []float64{inf}, wpmerr.ErrNotFinite}, {[]float64{inf}, []float64{1}, wpmerr.ErrNotFinite},
	} {
		if _, err := LogDistance(c.x, c.y); !errors.Is(err, c.want) {
			t.Errorf("LogDistance(%v, %v): error %v, want %v", c.x, c.y, err, c.want)
		}
	}
}

func TestContraction(t *testing.T) {
	for _, d := range []float64{0, 1e-300, 1e-9, 0.1, 1, 4, 20, 80, 700, 1400, 2900, inf} {
		tau, rest := Contraction(d)
		c, restC := Rate(d)
		if math.IsNaN(tau+rest+c+restC) || tau < 0 || tau > 1 || c > tau {
			t.Fatalf("diameter %v: tau %v, 1 - tau %v, c %v, 1 - c %v", d, tau, rest, c, restC)
		}
		numtest.Near(t, "tau", tau, math.Tanh(d/4), ulps)
		sum := numtest.Tol{Rel: 4 * 0x1p-53, Why: "two rounded numbers add up to one"}
		numtest.Near(t, "tau + (1 - tau)", tau+rest, 1, sum)
		numtest.Near(t, "c + (1 - c)", c+restC, 1, sum)
		if d > 0 && d < 1300 {
			// sech^2 itself, where it neither underflows nor cancels.
			s := 1 / math.Cosh(d/4)
			numtest.Near(t, "1 - c", restC, s*s, numtest.Tol{Rel: 1e-13, Why: "exp of up to 325 is good to 325 ulps"})
			numtest.Near(t, "1 - tau", rest, s*s/(1+tau), numtest.Tol{Rel: 1e-13, Why: "the same"})
			numtest.Near(t, "Posterior", Posterior(d, 2), 2*c/restC, numtest.Tol{Rel: 1e-12, Why: "the same, squared"})
		}
	}
	// At 80 the subtraction gives 0.0; the audit has 4 e^-40.
	if _, rest := Rate(80); !(math.Abs(rest/(4*math.Exp(-40))-1) < 1e-15) {
		t.Errorf("1 - c at diameter 80 is %v", rest)
	}
	for _, d := range []float64{-1, nan} {
		a, b := Contraction(d)
		c, e := Rate(d)
		for _, x := range []float64{a, b, c, e, Posterior(d, 1), Posterior(1, d)} {
			if !math.IsNaN(x) {
				t.Errorf("diameter %v gives %v", d, x)
			}
		}
	}
	for _, c := range []struct{ d, step, want float64 }{{inf, 1, inf}, {5000, 1, inf}, {inf, 0, 0}, {0, 3, 0}} {
		if got := Posterior(c.d, c.step); got != c.want {
			t.Errorf("Posterior(%v, %v) = %v, want %v", c.d, c.step, got, c.want)
		}
	}
}

// gibbsBrute takes every quadruple.
func gibbsBrute(d *cost.Dense, reg float64) float64 {
	var best float64
	for i := range d.K {
		for k := range d.K {
			for j := range d.Kv {
				for l := range d.Kv {
					best = math.Max(best, (d.Data[i*d.Kv+l]-d.Data[k*d.Kv+l])-(d.Data[i*d.Kv+j]-d.Data[k*d.Kv+j]))
				}
			}
		}
	}
	return best / reg
}

func drawCost(t *rapid.T, most int) *cost.Dense {
	k, kv := rapid.IntRange(1, most).Draw(t, "k"), rapid.IntRange(1, most).Draw(t, "kv")
	r := numtest.NewSplitMix64(rapid.Uint64().Draw(t, "seed"))
	kind := rapid.IntRange(0, 2).Draw(t, "kind")
	x := make([]float64, k+kv)
	for i := range x {
		x[i] = r.Float64()
	}
	d := &cost.Dense{K: k, Kv: kv, Data: make([]float64, k*kv)}
	for i := range k {
		for j := range kv {
			switch kind {
			case 0:
				d.Data[i*kv+j] = r.Float64()
			case 1:
				d.Data[i*kv+j] = math.Abs(x[i] - x[k+j])
			case 2:
				d.Data[i*kv+j] = float64(r.Uint64() % 3)
			}
		}
	}
	return d
}

func TestLawGibbsDiameter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawCost(t, 14)
		reg := math.Pow(10, rapid.Float64Range(-3, 3).Draw(t, "log reg"))
		got, err := GibbsDiameter(context.Background(), d, reg)
		if err != nil {
			t.Fatal(err)
		}
		want := gibbsBrute(d, reg)
		tol := 0x1p-51 * given.Max(d) / reg // as documented
		if !(math.Abs(got-want) <= tol) {
			t.Fatalf("GibbsDiameter = %v, want %v, tolerance %g", got, want, tol)
		}
		bound, err := GibbsBound(context.Background(), d, reg)
		if err != nil || !(bound >= got) || !(bound <= 2*got*(1+1e-14)+8*tol) {
			t.Fatalf("GibbsBound = %v, %v for the diameter %v", bound, err, got)
		}
		// The kernel and its transpose have one diameter, and Diameter finds it from the kernel.
		e := &cost.Dense{K: d.Kv, Kv: d.K, Data: make([]float64, len(d.Data))}
		kernel := &cost.Dense{K: d.K, Kv: d.Kv, Data: make([]float64, len(d.Data))}
		for i := range d.K {
			for j := range d.Kv {
				e.Data[j*d.K+i] = d.Data[i*d.Kv+j]
				kernel.Data[i*d.Kv+j] = math.Exp(-d.Data[i*d.Kv+j] / reg)
			}
		}
		back, err := GibbsDiameter(context.Background(), e, reg)
		if err != nil || !(math.Abs(back-got) <= 2*tol) {
			t.Fatalf("transposed: %v, %v, want %v", back, err, got)
		}
		if given.Max(d)/reg < 700 {
			k, err := Diameter(context.Background(), kernel)
			if err != nil || !(math.Abs(k-got) <= 1e-13*(1+given.Max(d)/reg)) {
				t.Fatalf("Diameter of the kernel: %v, %v, want %v", k, err, got)
			}
		}
	})
}

// Birkhoff's theorem, on random vectors: a positive matrix contracts by tau.
func TestLawBirkhoff(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawCost(t, 8)
		const reg = 0.3
		delta, err := GibbsDiameter(context.Background(), d, reg)
		if err != nil {
			t.Fatal(err)
		}
		tau, _ := Contraction(delta)
		r := numtest.NewSplitMix64(rapid.Uint64().Draw(t, "vectors"))
		x, y := make([]float64, d.Kv), make([]float64, d.Kv)
		for j := range x {
			x[j], y[j] = math.Exp(10*r.Float64()), math.Exp(10*r.Float64())
		}
		ax, ay := make([]float64, d.K), make([]float64, d.K)
		for i := range ax {
			for j := range x {
				k := math.Exp(-d.Data[i*d.Kv+j] / reg)
				ax[i] += k * x[j]
				ay[i] += k * y[j]
			}
		}
		before, err := Distance(x, y)
		if err != nil {
			t.Fatal(err)
		}
		after, err := Distance(ax, ay)
		if err != nil {
			t.Fatal(err)
		}
		const noise = 1e-13 // sums of 8 positive terms and logarithms
		if !(after <= tau*before+noise) || !(after <= delta+noise) {
			t.Fatalf("distance %g becomes %g; tau %g, diameter %g", before, after, tau, delta)
		}
	})
}

// A metric in the range where both forms apply: symmetry, triangle inequality, scaling.
func TestLawDistance(t *testing.T) {
	positive := rapid.Float64Range(1e-6, 1e6)
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "n")
		v := func(name string) []float64 { return rapid.SliceOfN(positive, n, n).Draw(t, name) }
		x, y, z := v("x"), v("y"), v("z")
		d := func(a, b []float64) float64 {
			m, err := Distance(a, b)
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		const noise = 1e-13 // logarithms up to 28
		if d(x, y) != d(y, x) && math.Abs(d(x, y)-d(y, x)) > noise {
			t.Fatalf("not symmetric: %v and %v", d(x, y), d(y, x))
		}
		if !(d(x, z) <= d(x, y)+d(y, z)+noise) {
			t.Fatalf("triangle: %v > %v + %v", d(x, z), d(x, y), d(y, z))
		}
		scaled := slices.Clone(x)
		lx, ly := slices.Clone(x), slices.Clone(y)
		for i := range scaled {
			scaled[i] *= 0x1p400
			lx[i], ly[i] = math.Log(x[i]), math.Log(y[i])
		}
		if d(scaled, y) != d(x, y) {
			t.Fatalf("scaling: %v, want %v", d(scaled, y), d(x, y))
		}
		l, err := LogDistance(lx, ly)
		if err != nil || math.Abs(l-d(x, y)) > noise {
			t.Fatalf("LogDistance: %v, %v, want %v", l, err, d(x, y))
		}
	})
}

func TestDiameter(t *testing.T) {
	m := func(k, kv int, data ...float64) cost.Matrix { return &cost.Dense{K: k, Kv: kv, Data: data} }
	for _, c := range []struct {
		name string
		a    cost.Matrix
		want float64
	}{
		{"1 x 1", m(1, 1, 5), 0},
		{"zero", m(1, 1, 0), 0},
		{"rank one", m(2, 2, 1, 2, 2, 4), 0},
		{"plain", m(2, 2, 2, 1, 1, 2), math.Log(4)},
		{"a zero", m(2, 2, 1, 0, 1, 1), inf},
		{"identity", m(2, 2, 1, 0, 0, 1), inf},
		{"a row of zeros", m(3, 2, 2, 1, 0, 0, 1, 2), math.Log(4)},
		{"a column of zeros", m(2, 3, 2, 0, 1, 1, 0, 2), math.Log(4)},
		{"one row", m(1, 3, 1, 2, 0), 0},
		{"one column", m(3, 1, 1, 2, 0), 0},
		{"the ends of float64", m(2, 2, 1e308, tiny, tiny, 1e308), 2 * (308*math.Ln10 + 1074*math.Ln2)},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := Diameter(context.Background(), c.a)
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			numtest.Near(t, c.name, got, c.want, numtest.Tol{Abs: 1e-15, Rel: 1e-14, Why: "logarithms up to 745"})
		})
	}
	if d, err := GibbsDiameter(context.Background(), m(2, 2, 0, math.MaxFloat64, math.MaxFloat64, 0), 1); d != inf || err != nil {
		t.Errorf("an overflow: %v, %v", d, err)
	}
	if d, err := GibbsDiameter(context.Background(), m(2, 2, 0, math.MaxFloat64, math.MaxFloat64, 0),
		math.MaxFloat64); !(math.Abs(d-2) < 1e-15) || err != nil {
		t.Errorf("the largest costs: %v, %v", d, err)
	}
	for _, c := range []struct {
		a    cost.Matrix
		reg  float64
		want error
	}{
		{nil, 1, wpmerr.ErrShape}, {(*cost.Dense)(nil), 1, wpmerr.ErrShape}, {m(2, 2, 1, 1), 1, wpmerr.ErrShape},
		{m(1, 1, nan), 1, wpmerr.ErrNotFinite}, {m(1, 1, inf), 1, wpmerr.ErrNotFinite}, {m(1, 1, -1), 1, wpmerr.ErrNegative},
		{m(1, 1, 1), 0, wpmerr.ErrReg}, {m(1, 1, 1), -1, wpmerr.ErrReg}, {m(1, 1, 1), nan, wpmerr.ErrReg}, {m(1, 1, 1), inf, wpmerr.ErrReg},
	} {
		if _, err := GibbsDiameter(context.Background(), c.a, c.reg); !errors.Is(err, c.want) {
			t.Errorf("GibbsDiameter: error %v, want %v", err, c.want)
		}
		if _, err := GibbsBound(context.Background(), c.a, c.reg); !errors.Is(err, c.want) {
			t.Errorf("GibbsBound: error %v, want %v", err, c.want)
		}
		if c.want != wpmerr.ErrReg {
			if _, err := Diameter(context.Background(), c.a); !errors.Is(err, c.want) {
				t.Errorf("Diameter: error %v, want %v", err, c.want)
			}
		}
	}
}

// TestThreads: pruning depends on the order in which pairs are met, the result does not.
func TestThreads(t *testing.T) {
	r := numtest.NewSplitMix64(1)
	old := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(old)
	for n := range 20 {
		d := &cost.Dense{K: 60, Kv: 40, Data: make([]float64, 2400)}
		for i := range d.Data {
			d.Data[i] = r.Float64()
			if n%2 == 0 { // near ties everywhere
				d.Data[i] = 1 + float64(r.Uint64()%3)*0x1p-50
			}
		}
		runtime.GOMAXPROCS(1)
		one, err := GibbsDiameter(context.Background(), d, 0.1)
		if err != nil {
			t.Fatal(err)
		}
		runtime.GOMAXPROCS(8)
		many, err := GibbsDiameter(context.Background(), d, 0.1)
		if err != nil || one != many {
			t.Errorf("%v with one thread, %v with eight (%v)", one, many, err)
		}
	}
}

func ExampleDistance() {
	d, err := Distance([]float64{1, 2, 3}, []float64{10, 20, 60})
	fmt.Printf("%.4f %v\n", d, err)
	// Output: 0.6931 <nil>
}

// How fast Algorithm 1 is sure to converge, and that 1 - tau keeps its digits.
func ExampleContraction() {
	ring, err := cost.NewRing(30, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	d, err := GibbsDiameter(context.Background(), ring, 10)
	tau, rest := Contraction(d)
	fmt.Printf("diameter %.1f, tau %.6f, 1 - tau %.3g, %v\n", d, tau, rest, err)
	// Output: diameter 45.0, tau 1.000000, 1 - tau 3.38e-10, <nil>
}

func BenchmarkGibbsDiameter(b *testing.B) {
	for _, n := range []int{250, 1000} {
		r := numtest.NewSplitMix64(uint64(n))
		x := make([][]float64, n)
		for i := range x {
			x[i] = []float64{r.Float64(), r.Float64()}
		}
		for _, p := range []float64{1, 2} {
			m, err := cost.NewPoints(x, nil, p)
			if err != nil {
				b.Fatal(err)
			}
			d, err := cost.Materialize(context.Background(), m)
			if err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprintf("points %d, p = %v", n, p), func(b *testing.B) {
				for b.Loop() {
					if _, err := GibbsDiameter(context.Background(), d, 0.1); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
