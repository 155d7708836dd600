package mincostflow

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/wpmerr"
)

// oddCosts are plain transport problems at which a start could stumble.
var oddCosts = []struct {
	name string
	cost func(i, j int) float64
}{
	{"all equal", func(i, j int) float64 { return 7 }},
	{"all zero", func(i, j int) float64 { return 0 }},
	{"few values", func(i, j int) float64 { return float64(i * j % 3) }},
	{"duplicate rows and columns", func(i, j int) float64 { return math.Abs(float64(i/9 - j/9)) }},
	{"huge", func(i, j int) float64 { return math.MaxFloat64 / float64(1+(i*7+j*11)%13) }},
	{"the smallest", func(i, j int) float64 { return math.SmallestNonzeroFloat64 * float64((i+2*j)%4) }},
	{"tiny differences", func(i, j int) float64 { return 1 + 0x1p-52*float64((i*j+i)%9) }},
	{"forbidden arcs", func(i, j int) float64 {
		if (i+j)%3 != 0 {
			return 1e300
		}
		return math.Abs(float64(i - j))
	}},
	{"line", func(i, j int) float64 { return math.Abs(float64(i - j)) }},
	{"square of a line", func(i, j int) float64 { return float64((i - j) * (i - j)) }},
	{"one cheap column", func(i, j int) float64 { return float64(min(j, 1) * (1 + i)) }},
	{"landmarks see nothing", func(i, j int) float64 { return float64(i % 5 * (j % 2) * j) }},
}

// oddMasses are sources and targets of them.
var oddMasses = []struct {
	name string
	mass func(n int) float64
}{
	{"equal", func(n int) float64 { return 1 }},
	{"nearly all in one", func(n int) float64 { return math.Ldexp(1, -50*min(n, 1)) }},
	{"all in one", func(n int) float64 { return float64(1 - min(n, 1)) }},
	{"many zeros", func(n int) float64 { return float64(n % 3 / 2) }},
	{"geometric", func(n int) float64 { return math.Ldexp(1, -n) }},
	{"small integers", func(n int) float64 { return float64(1 + n*n%5) }},
}

// TestScalesOnOddTransport runs the start as it is, without lower limits for tests, on odd costs with all pairs of odd
// masses.
func TestScalesOnOddTransport(t *testing.T) {
	const k, n = 46, 103 // above the least that start from a smaller problem
	masses := func(n int, mass func(n int) float64) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = mass(i)
		}
		return x
	}
	for c, costs := range oddCosts {
		if !numtest.Full() && c%3 != 0 {
			continue
		}
		m := &cost.Dense{K: k, Kv: n}
		for i := range k {
			for j := range n {
				m.Data = append(m.Data, costs.cost(i, j))
			}
		}
		for x, a := range oddMasses {
			for y, b := range oddMasses {
				if (x+y+c/3)%2 != 0 && !numtest.Full() {
					continue
				}
				t.Run(fmt.Sprint(costs.name, ", ", a.name, ", ", b.name), func(t *testing.T) {
					mustTransport(t, m, masses(k, a.mass), masses(n, b.mass))
				})
			}
		}
	}
}

// TestScalesStop: a context that ends anywhere on the way of a start from smaller problems, in blocks of rows, leaves a
// feasible result whose bounds hold.
func TestScalesStop(t *testing.T) {
	const n = 370
	c, a, b := clouds(n, 2)
	optimum := mustTransport(t, c, a, b)
	stopped, finished := 0, false
	for most := 1; !finished; most += 1 + most/8 {
		s := new(solver)
		if err := s.in.setTransport(c, a, b); err != nil {
			t.Fatal(err)
		}
		if err := s.load(context.Background(), nil, 0); err != nil {
			t.Fatal(err)
		}
		var r Result
		err := s.run(&numtest.Asked{Context: context.Background(), Most: most}, Settings{}, &r)
		if finished = err == nil; !finished && !errors.Is(err, wpmerr.ErrNotConverged) {
			t.Fatal(err)
		}
		if stopped++; finished {
			stopped--
		}
		if r.Lower > optimum.Upper || r.Upper < optimum.Lower {
			t.Fatalf("after %d looks: [%v, %v], want [%v, %v]", most, r.Lower, r.Upper, optimum.Lower, optimum.Upper)
		}
		if stopped%8 == 0 {
			if _, _, err := VerifyTransport(context.Background(), c, a, b, r); err != nil {
				t.Fatalf("after %d looks: %v", most, err)
			}
		}
	}
	if stopped < 20 {
		t.Errorf("%d stops", stopped)
	}
}

// TestScalesPivots: plain transport takes less than the 30 pivots for every row and column that the package promises.
func TestScalesPivots(t *testing.T) {
	for _, p := range []float64{1, 2} {
		for _, n := range []int{33, 500, 1000} {
			if !numtest.Full() && n > 33 {
				continue
			}
			c, a, b := clouds(n, p)
			for _, mass := range [][2][]float64{{nil, nil}, {a, b}} {
				got := mustTransport(t, c, mass[0], mass[1])
				if most := 30 * 2 * n; got.Stats.Pivots > most {
					t.Errorf("%d points, p %v: %d pivots, %d are promised", n, p, got.Stats.Pivots, most)
				}
			}
		}
	}
}

// clouds are the distances to the power p between two clouds of n normal points in the plane, and weights of both.
func clouds(n int, p float64) (c cost.Matrix, a, b []float64) { return cloudsIn(2, n, p) }

// cloudsIn is clouds in so many dimensions. Numbers are rounded to float32, so that they are the same where sums are
// fused with products.
func cloudsIn(dimensions, n int, p float64) (c cost.Matrix, a, b []float64) {
	r := &source{newDraw(65e6).SplitMix64}
	short := func(x float64) float64 { return float64(float32(x)) }
	x := r.points(n, dimensions, func() float64 { return short(r.normal()) })
	y := r.points(n, dimensions, func() float64 { return short(1 + 0.8*r.normal()) })
	c, err := cost.NewPoints(x, y, p)
	if err != nil {
		panic(err)
	}
	for range n {
		a, b = append(a, short(-math.Log1p(-r.Float64()))), append(b, short(-math.Log1p(-r.Float64())))
	}
	return c, a, b
}

// TestShareSameBits: where rows are shared among goroutines, results are the same bits as on one; and they are those of
// the matrix where rows are computed.
func TestShareSameBits(t *testing.T) {
	const n = 370 // above sharedCells
	r := &source{newDraw(66e6).SplitMix64}
	points, err := cost.NewPoints(r.points(n, 2, r.normal), r.points(n, 2, r.Float64), 2)
	if err != nil {
		t.Fatal(err)
	}
	held, err := cost.Materialize(context.Background(), points)
	if err != nil {
		t.Fatal(err)
	}
	large := &cost.Dense{K: n, Kv: n, Data: scaled(held.Data, 0x1p1015)} // rows are scaled
	lo, hi := box(uniform(n), 0.5)
	mu, even := newDraw(67e6).masses(n), uniform(n)
	var first [2]Result
	for _, m := range []cost.Matrix{points, held, large} {
		for _, memory := range []int64{0, -1, 100 * 8 * n} {
			settings := Settings{Memory: memory}
			var got [2][2]Result // by the number of processors: projection, transport
			for i, procs := range []int{1, 4} {
				old := runtime.GOMAXPROCS(procs)
				got[i][0] = mustProject(t, Problem{Cost: m, Source: mu, Lo: lo, Hi: hi}, settings)
				got[i][1] = mustProject(t, Problem{Cost: m, Source: even, Lo: even, Hi: even}, settings)
				runtime.GOMAXPROCS(old)
			}
			if !reflect.DeepEqual(got[0], got[1]) {
				t.Errorf("%T, memory %d: results differ: %+v, %+v", m, memory, got[0], got[1])
			}
			if first[0].Q == nil {
				first = got[0]
			} else if m != large && !reflect.DeepEqual(got[0], first) {
				t.Errorf("%T, memory %d: not the result of computed rows", m, memory)
			}
		}
	}
}

// TestProductsTakeFewPivots: costs i*j at eps 1 took 39 pivots for each row and column, without a start.
func TestProductsTakeFewPivots(t *testing.T) {
	const n = 300
	c := &cost.Dense{K: n, Kv: n, Data: make([]float64, n*n)}
	for i := range n {
		for j := range n {
			c.Data[i*n+j] = float64(i * j)
		}
	}
	d := newDraw(25e6)
	source, m := make([]float64, n), make([]float64, n)
	for i := range n {
		source[i], m[i] = 0.1+d.Float64(), 0.1+d.Float64()
	}
	normalise(m)
	lo, hi := box(m, 1)
	r := mustProject(t, Problem{Cost: c, Source: source, Lo: lo, Hi: hi}, Settings{})
	if r.Stats.Pivots > 4*2*n {
		t.Errorf("%d pivots for %d rows and columns", r.Stats.Pivots, 2*n)
	}
}
