package policy

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/ldp"
)

// Points keep their places to half a unit, whatever their scale; with half the unit the keys could reach 2^63, or a
// coordinate 2^31.
func TestFixedPoints(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for n := range 300 {
		axes := 1 + r.IntN(4)
		draw := func(k int) (x [][]float64) {
			for range k {
				v := make([]float64, axes)
				for a := range v {
					v[a] = math.Ldexp(r.Float64()-0.3, []int{-300, -20, 0, 40, 900}[n%5])
				}
				x = append(x, v)
			}
			return x
		}
		in, out := draw(r.IntN(4)), draw(2+r.IntN(5))
		g, unit, err := FixedPoints(in, out)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g.places(g.inputs(len(out)), len(out)); err != nil {
			t.Fatal(err)
		}
		all, fixed := slices.Concat(in, out), slices.Concat(g.InputPoints, g.OutputPoints)
		ranges := make([]float64, axes)
		for a := range axes {
			least, most := all[0][a], all[0][a]
			for _, x := range all {
				least, most = min(least, x[a]), max(most, x[a])
			}
			ranges[a] = most - least
			for i, x := range all { // half a unit, and the rounding of the difference and of the quotient
				if d := math.Abs((x[a]-least)/unit - float64(fixed[i*axes+a])); d > 0.5+math.Ldexp(1, -20) {
					t.Fatalf("%v moved by %v units", x[a], d)
				}
			}
		}
		if fits(ranges, unit/2) {
			t.Errorf("ranges %v would fit half of unit %v", ranges, unit)
		}
	}
	same, unit, err := FixedPoints(nil, [][]float64{{3}, {3}})
	if err != nil || unit != 1 || !slices.Equal(same.OutputPoints, []int32{0, 0}) {
		t.Errorf("points at one place: %v, %v, %v", same, unit, err)
	}
	tiny, _, err := FixedPoints(nil, [][]float64{{0}, {5e-324}})
	if err != nil || tiny.OutputPoints[0] != 0 {
		t.Errorf("the least float: %v, %v", tiny, err)
	}
}

// Places 50 m apart on the earth, seen from 20,000 km, are in order: their unit vectors have 30 bits and their keys 62.
func TestFixedDirections(t *testing.T) {
	place := func(lat, lon float64) []float64 {
		lat, lon = lat*math.Pi/180, lon*math.Pi/180
		return []float64{math.Cos(lat) * math.Cos(lon), math.Cos(lat) * math.Sin(lon), math.Sin(lat)}
	}
	const step = 50 / 111_195.0 // degrees, at 6371 km
	for _, from := range []float64{0.001, 1, 45, 90, 170} {
		var out [][]float64
		for n := range 20 {
			out = append(out, place(0, from+float64(n)*step))
		}
		g, err := FixedDirections([][]float64{place(0, 0)}, out)
		if err != nil {
			t.Fatal(err)
		}
		p, err := g.places(1, len(out))
		if err != nil {
			t.Fatal(err)
		}
		for j := range len(out) - 1 {
			if p.key(p.input(0), p.output(j)) >= p.key(p.input(0), p.output(j+1)) {
				t.Errorf("%v degrees away, steps %d and %d are out of order", from, j, j+1)
			}
		}
	}
	long, err := FixedDirections(nil, [][]float64{{1e300, 0}, {0, -1e-300}, {3, 4}})
	if want := []int32{1 << 30, 0, 0, -1 << 30, 644245094, 858993459}; err != nil ||
		!slices.Equal(long.OutputPoints, want) {
		t.Errorf("%v, %v, want %v", long, err, want)
	}
	box, err := ldp.NewPolytope(mustEpsilon(t, "1"), []float64{0.25, 0.5, 0.25}, 20)
	if err != nil {
		t.Fatal(err)
	}
	if err := verifyRows(mustNew(t, Config{Polytope: box, Geometry: long, Provenance: clean})); err != nil {
		t.Error(err)
	}
}

func TestFixedErrors(t *testing.T) {
	for _, c := range []struct{ in, out [][]float64 }{
		{nil, nil}, {nil, [][]float64{{}}}, {nil, [][]float64{{1}, {1, 2}}}, {[][]float64{{1, 2}}, [][]float64{{1}}},
		{nil, [][]float64{{math.NaN()}}}, {[][]float64{{math.Inf(1)}}, [][]float64{{1}}},
		{nil, [][]float64{{math.MaxFloat64}, {-math.MaxFloat64}}},
	} {
		if g, _, err := FixedPoints(c.in, c.out); !errors.Is(err, ErrShape) || g != nil {
			t.Errorf("points %v, %v: %v, %v", c.in, c.out, g, err)
		}
	}
	for _, out := range [][][]float64{nil, {{0, 0}}, {{1, 0}, {0, 0}}, {{math.NaN(), 1}}} {
		if g, err := FixedDirections(nil, out); !errors.Is(err, ErrShape) || g != nil {
			t.Errorf("directions %v: %v, %v", out, g, err)
		}
	}
}
