package cost_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/wpmerr"
)

// metrics are costs of every type that computes its entries.
func metrics(t *testing.T) map[string]cost.Metric {
	t.Helper()
	list := map[string]cost.Metric{}
	add := func(name string) func(c cost.Metric, err error) {
		return func(c cost.Metric, err error) {
			if err != nil {
				t.Fatal(name, err)
			}
			list[name] = c
		}
	}
	rng := numtest.NewSplitMix64(4)
	x, v := numtest.Cloud(rng, 12, 3, -1, 2), numtest.Cloud(rng, 9, 3, -1, 2)
	earth := [][2]float64{{48.2, 16.4}, {52.5, 13.4}, {-33.9, 151.2}, {90, 0}, {0, 180}}
	for _, p := range []float64{0.5, 1, 2, 3} {
		at := " to the power " + string(rune('0'+int(p)))
		ring, err := cost.NewRing(9, p)
		add("ring"+at)(ring, err)
		grid, err := cost.NewGrid(3, 5, p)
		add("grid"+at)(grid, err)
		points, err := cost.NewPoints(x, nil, p)
		add("points"+at)(points, err)
		if points, err = cost.NewPoints(x, v, p); err == nil {
			add("two sides"+at)(points, err)
		}
		circle, err := cost.NewGreatCircle(earth, earth[1:], p)
		add("great circle"+at)(circle, err)
	}
	cosine, err := cost.NewCosine(x, nil)
	add("cosine")(cosine, err)
	cosine, err = cost.NewCosine(x, v)
	add("cosine, two sides")(cosine, err)
	return list
}

// TestSpace holds every type to what it says of its distance: entries between inputs are those of Distances, to the
// power and the scale, the triangle inequality holds, and rows are alike as stated.
func TestSpace(t *testing.T) {
	for name, c := range metrics(t) {
		s := cost.SpaceOf(c)
		k, kv := c.Dims()
		distances, err := c.Distances()
		if err != nil {
			t.Fatal(name, err)
		}
		between, err := c.Between()
		if err != nil {
			t.Fatal(name, err)
		}
		d := make([][]float64, k)
		for i := range d {
			d[i] = slices.Clone(distances.Row(i, nil))
			for j, b := range between.Row(i, nil) {
				root := math.Pow(b/s.Scale, 1/s.Power)
				if off := math.Abs(root - d[i][j]); off > 2*(s.Rel*root+s.Abs) {
					t.Errorf("%s: C[%d][%d] = %v, of the distance %v", name, i, j, b, d[i][j])
				}
			}
			if d[i][i] != 0 {
				t.Errorf("%s: input %d is at %v from itself", name, i, d[i][i])
			}
		}
		root := func(i, j int) float64 { return math.Pow(c.Row(i, nil)[j]/s.Scale, 1/s.Power) }
		for a := range k {
			for b := range k {
				for j := range kv {
					if x, y := root(a, j), d[a][b]+root(b, j); x > y*(1+4*s.Rel)+4*s.Abs {
						t.Errorf("%s: input %d is at %v from output %d, by input %d at %v", name, a, x, j, b, y)
					}
				}
			}
		}
		if s.Same != (k == kv) {
			t.Errorf("%s: same %v, with %d inputs and %d outputs", name, s.Same, k, kv)
		}
		first := slices.Sorted(slices.Values(c.Row(0, nil)))
		for i := range k {
			row := slices.Sorted(slices.Values(c.Row(i, nil)))
			for j := range row {
				if s.Exact && row[j] > first[j] || s.First && row[j] > first[j]*(1+s.Rel) || s.Transitive && row[j] != first[j] {
					t.Errorf("%s: input %d has %v, input 0 %v, in order", name, i, row[j], first[j])
				}
			}
			if slices.Contains(s.Far, i) && !slices.Equal(row, first) {
				t.Errorf("%s: input %d is not like input 0", name, i)
			}
		}
	}
}

// lying states a power that is none.
type lying struct{ cost.Metric }

func (lying) Space() cost.Space { return cost.Space{Power: math.NaN(), Scale: 1} }

func TestNoSpace(t *testing.T) {
	ring, err := cost.NewRing(4, 1)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]cost.Matrix{"a matrix": &cost.Dense{K: 1, Kv: 1, Data: []float64{0}}, "no power": lying{ring}} {
		if s := cost.SpaceOf(c); s.Power != 0 || s.Scale != 0 {
			t.Errorf("%s: %+v", name, s)
		}
		if p, ok := cost.Exponent(c); ok {
			t.Errorf("%s: exponent %v", name, p)
		}
	}
	// A zero vector is at cost 1 from itself: no distance proves anything there.
	zero, err := cost.NewCosine([][]float64{{0, 0}, {1, 0}}, nil)
	if err != nil || !math.IsInf(zero.Space().Abs, 1) {
		t.Errorf("%+v, %v", zero.Space(), err)
	}
	// Inputs may be too far from each other, though no output is too far from them.
	points, err := cost.NewPoints([][]float64{{-1e308}, {1e308}}, [][]float64{{0}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := points.Distances(); !errors.Is(err, wpmerr.ErrNotFinite) {
		t.Error(err)
	}
}

// TestNilCosts: a nil pointer to a cost is 0 x 0, and the functions that ask about a cost find nothing.
func TestNilCosts(t *testing.T) {
	ctx := context.Background()
	for _, c := range []cost.Matrix{(*cost.Dense)(nil), (*cost.Ring)(nil), (*cost.Grid)(nil), (*cost.Points)(nil), (*cost.Cosine)(nil), (*cost.GreatCircle)(nil)} {
		if k, kv := c.Dims(); k != 0 || kv != 0 {
			t.Errorf("%T: %d x %d", c, k, kv)
		}
		if s := cost.SpaceOf(c); s.Power != 0 {
			t.Errorf("%T: %+v", c, s)
		}
		if p, ok := cost.Exponent(c); ok || cost.Separable(c) != nil {
			t.Errorf("%T: exponent %v", c, p)
		}
		if err := cost.Validate(ctx, c); !errors.Is(err, wpmerr.ErrShape) {
			t.Errorf("%T: %v", c, err)
		}
		if _, err := cost.SpecOf(ctx, c); !errors.Is(err, wpmerr.ErrShape) {
			t.Errorf("%T: %v", c, err)
		}
		if _, err := cost.Bound(ctx, c); !errors.Is(err, wpmerr.ErrShape) {
			t.Errorf("%T: bound: %v", c, err)
		}
	}
}

// TestPowerOf: metadata state a power, or none; what is no power is an error.
func TestPowerOf(t *testing.T) {
	for text, want := range map[string]float64{"2": 2, "0.5": 0.5, "0": 0, "-1": 0, "NaN": 0, "Inf": 0, "two": 0, "": 0} {
		p, err := cost.PowerOf(map[string]string{cost.PowerKey: text})
		if p != want || errors.Is(err, cost.ErrExponent) != (want == 0) {
			t.Errorf("%q: %v, %v", text, p, err)
		}
	}
	if p, err := cost.PowerOf(map[string]string{"title": "2"}); p != 0 || err != nil {
		t.Errorf("none: %v, %v", p, err)
	}
}
