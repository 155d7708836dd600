package wpm_test

import (
	"bytes"
	"context"
	"math"
	"slices"
	"testing"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/estimate/atlas"
	"github.com/wpm-go/wpm/estimate/plan"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"github.com/wpm-go/wpm/internal/worst"
	"github.com/wpm-go/wpm/knapsack"
)

// streets is a metric that package cost does not know: the Manhattan distance in the plane, to a power.
type streets struct {
	x, v  [][]float64 // v is nil if it is x
	power float64
}

func (s streets) outputs() [][]float64 {
	if s.v == nil {
		return s.x
	}
	return s.v
}

func (s streets) Dims() (k, kv int) { return len(s.x), len(s.outputs()) }

func (s streets) Row(i int, _ []float64) (row []float64) {
	for _, y := range s.outputs() {
		row = append(row, math.Pow(math.Abs(s.x[i][0]-y[0])+math.Abs(s.x[i][1]-y[1]), s.power))
	}
	return row
}

func (s streets) Space() cost.Space {
	return cost.Space{Power: s.power, Scale: 1, Same: s.v == nil, Rel: 0x1p-48}
}

func (s streets) Distances() (cost.Matrix, error) { return streets{s.x, nil, 1}, nil }
func (s streets) Between() (cost.Matrix, error)   { return streets{s.x, nil, s.power}, nil }

// product is the sum of two distances, of pairs.
type product [2]cost.Metric

func (m product) Dims() (k, kv int) {
	k, kv = m[0].Dims()
	k1, kv1 := m[1].Dims()
	return k * k1, kv * kv1
}

func (m product) Row(i int, _ []float64) (row []float64) {
	k1, _ := m[1].Dims()
	for _, a := range m[0].Row(i/k1, nil) {
		for _, b := range m[1].Row(i%k1, nil) {
			row = append(row, a+b)
		}
	}
	return row
}

func (m product) Space() cost.Space {
	a, b := m[0].Space(), m[1].Space()
	return cost.Space{Power: 1, Scale: 1, Same: a.Same && b.Same, Rel: 2 * max(a.Rel, b.Rel), Abs: a.Abs + b.Abs,
		First: a.First && b.First, Exact: a.Exact && b.Exact, Transitive: a.Transitive && b.Transitive}
}

func (m product) Distances() (cost.Matrix, error) { return m.Between() }

func (m product) Between() (cost.Matrix, error) {
	a, err := m[0].Between()
	if err != nil {
		return nil, err
	}
	b, err := m[1].Between()
	return product{a.(cost.Metric), b.(cost.Metric)}, err
}

// foreign are metrics of this file.
func foreign(t *testing.T) map[string]cost.Metric {
	ring := func(n int) cost.Metric {
		c, err := cost.NewRing(n, 1)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	rng := numtest.NewSplitMix64(8)
	x := numtest.Cloud(rng, 24, 2, 0, 9)
	return map[string]cost.Metric{
		"streets":            streets{x: x, power: 1},
		"streets, squared":   streets{x: x, power: 2},
		"streets, two sides": streets{x: x, v: numtest.Cloud(rng, 18, 2, 0, 9), power: 1},
		"root of streets":    streets{x: x, power: 0.5},
		"torus":              product{ring(5), ring(6)},
		"streets by ring":    product{streets{x: x[:7], power: 1}, ring(4)},
	}
}

// TestForeignMetric takes metrics of another package from the design to the map. Nothing outside this file knows them.
func TestForeignMetric(t *testing.T) {
	ctx, eps := context.Background(), given.Epsilon(t, "2")
	for name, c := range foreign(t) {
		t.Run(name, func(t *testing.T) {
			k, kv := c.Dims()
			dense, err := cost.Materialize(ctx, c)
			if err != nil {
				t.Fatal(err)
			}
			// A design, its policy, and the mechanism that the policy loads as.
			d, err := wpm.NewDesign(ctx, c, eps, wpm.Objective{})
			if err != nil {
				t.Fatal(err)
			}
			plain, err := wpm.NewDesign(ctx, dense, eps, wpm.Objective{})
			if err != nil {
				t.Fatal(err)
			}
			if a, b := d.Base().Upper, plain.Base().Upper; a != b {
				t.Errorf("the worst case is %v, as a matrix %v", a, b)
			}
			p, err := d.Publish(published)
			if err != nil {
				t.Fatal(err)
			}
			same, err := plain.Publish(published)
			if stated := p.Metadata()[cost.PowerKey] != ""; err != nil || !bytes.Equal(p.Cost(), same.Cost()) ||
				(p.ID() == same.ID()) == stated || stated != (c.Space().Same && c.Space().Power != 1) {
				t.Errorf("%v: the policy is %s, that of the matrix %s", err, p.ID(), same.ID())
			}
			// A map knows the distances, whatever the power is.
			w, err := atlas.OfRows(ctx, c, d.Channel().Row)
			if err != nil || w.Geometry == nil || w.Same != c.Space().Same {
				t.Fatalf("%v, no geometry: %v; same %v", err, w.NoGeometry, w.Same)
			}
			distances, err := c.Distances()
			if err != nil {
				t.Fatal(err)
			}
			for i := range k {
				if want := distances.Row(i, nil); !slices.Equal(w.Geometry.Row(i, make([]float64, k)), want) {
					t.Fatalf("distances of input %d are not %v", i, want)
				}
			}
			if between, _ := w.Between.Dims(); between != k {
				t.Errorf("a cost between %d inputs, want %d", between, k)
			}
			// So does one of the policy, to the rounding of powers; a policy of other outputs does not know them.
			of, err := atlas.Of(ctx, p)
			if err != nil || (of.Geometry != nil) != c.Space().Same {
				t.Fatalf("by the policy: %v, %v", err, of.NoGeometry)
			}
			if of.Geometry != nil {
				for i := range k {
					for j, want := range distances.Row(i, nil) {
						if got := of.Geometry.Row(i, make([]float64, k))[j]; !(math.Abs(got-want) <= 0x1p-40*want) {
							t.Fatalf("by the policy, %d is %v from %d, want %v", i, got, j, want)
						}
					}
				}
			}
			counts := make([]uint64, kv)
			for j := range counts {
				counts[j] = 20
			}
			counts[1] = 500
			m, err := w.Map(ctx, counts, atlas.Settings{})
			if err != nil || len(m.Shares) != k {
				t.Fatalf("a map of %d places, %v", len(m.Shares), err)
			}
			if of.Geometry != nil { // errors of distances: hardly more apart than their roundings
				got, err := of.Map(ctx, counts, atlas.Settings{})
				if err != nil || !(math.Abs(got.Error.Guess-m.Error.Guess) <= 1e-6*m.Error.Guess) {
					t.Errorf("by the policy the guess is %v off, by the metric %v; %v", got.Error, m.Error, err)
				}
			}
			even := slices.Repeat([]float64{1}, k)
			if of, centers, err := w.Geometry.Groups(ctx, even, 3); err != nil || len(of) != k || len(centers) != 3 {
				t.Errorf("%v groups, %v", centers, err)
			}
			// A forecast.
			l, err := plan.New(ctx, plan.Problem{Cost: c, P: c.Space().Power})
			if err != nil {
				t.Fatal(err)
			}
			mechanism, err := l.Mechanism(d.Channel().Row)
			if err != nil {
				t.Fatal(err)
			}
			forecast, err := mechanism.Predict(ctx, 1000, estimate.Settings{})
			if err != nil || !(forecast.Map.Mean > 0) {
				t.Errorf("%+v, %v", forecast.Map, err)
			}
			// One pass by the triangle inequality finds what a table does.
			table, err := knapsack.New(ctx, c)
			if err != nil {
				t.Fatal(err)
			}
			want, err := basemeasure.Uniform(ctx, table, eps.Float64(), basemeasure.Settings{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := basemeasure.UniformOnePass(ctx, c, eps.Float64())
			if err != nil || math.Abs(got.F-want.F) > 1e-12*want.F {
				t.Errorf("one pass finds %v, %v; a table %v", got.F, err, want.F)
			}
		})
	}
}

// TestForeignBounds holds that the triangle inequality spares most inputs of a metric of another package, and symmetry
// all but one.
func TestForeignBounds(t *testing.T) {
	ring, err := cost.NewRing(30, 1)
	if err != nil {
		t.Fatal(err)
	}
	cloud := numtest.Cloud(numtest.NewSplitMix64(3), 2000, 2, 0, 1)
	for name, test := range map[string]struct {
		c    cost.Metric
		most int
	}{
		"streets":          {streets{x: cloud, power: 1}, 200},
		"streets, squared": {streets{x: cloud, power: 2}, 200},
		"torus":            {product{ring, ring}, 1},
	} {
		k, kv := test.c.Dims()
		values := make([]float64, k)
		for i := range values {
			for _, c := range test.c.Row(i, nil) {
				values[i] += c / float64(kv)
			}
		}
		r, err := worst.NewSpace(test.c).Search(context.Background(), nil, nil, func(i int) (float64, error) { return values[i], nil },
			1e-12, 0)
		if err != nil || r.Looked > test.most || r.Value < slices.Max(values)*(1-1e-9) || r.Upper < slices.Max(values) {
			t.Errorf("%s: %+v, %v; want at most %d inputs looked at, for %v", name, r, err, test.most, slices.Max(values))
		}
	}
}
