package certificate

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/ranking"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
)

// TestWorstRow: where most rows are not read, the worst is what reading all of them finds, to the last bit, and the same
// input; a wrong threshold, and places that are not those of the geometry, have all rows read.
func TestWorstRow(t *testing.T) {
	const k = 1100 // just above fewEntries
	ctx := context.Background()
	r := rand.New(rand.NewPCG(41, 3))
	cloud := func(axes int) (list [][]float64) {
		for range k {
			x := make([]float64, axes)
			for a := range x {
				x[a] = float64(r.IntN(400)) / 8 // many at one place, and far from a circle
			}
			list = append(list, x)
		}
		return list
	}
	places := make([][2]float64, k)
	for i := range places {
		places[i] = [2]float64{45 + r.NormFloat64(), 5 + 3*r.NormFloat64()}
	}
	costs := map[string]cost.Matrix{}
	add := func(name string) func(cost.Matrix, error) {
		return func(c cost.Matrix, err error) {
			if err != nil {
				t.Fatal(name, err)
			}
			costs[name] = c
		}
	}
	for name, p := range map[string]float64{"plane": 1, "square": 2, "root": 0.5} {
		c, err := cost.NewPoints(cloud(2), nil, p)
		add(name)(c, err)
	}
	c, err := cost.NewPoints(cloud(3), cloud(3), 1)
	add("other outputs")(c, err)
	g, err := cost.NewGreatCircle(places, nil, 1)
	add("great circle")(g, err)
	grid, err := cost.NewGrid(34, 33, 1)
	add("grid")(grid, err)
	eps, err := ldp.ParseEpsilon("2")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range costs {
		ranked, err := ranking.Of(c)
		if err != nil {
			t.Fatal(name, err)
		}
		_, kv := c.Dims()
		m := make([]float64, kv)
		for j := range m {
			m[j] = 1 / float64(kv)
		}
		box, err := ldp.NewPolytope(eps, m, 62)
		if err != nil {
			t.Fatal(name, err)
		}
		thresholds, err := ranked.Thresholds(ctx, box)
		if err != nil {
			t.Fatal(name, err)
		}
		stated := func() policy.Policy {
			p, err := policy.New(policy.Config{Polytope: box, Geometry: &ranked.Geometry, Thresholds: thresholds,
				Provenance: policy.Provenance{Geometry: policy.Unstated, BaseMeasure: policy.Unstated}})
			if err != nil {
				t.Fatal(name, err)
			}
			return p
		}
		check := func(what string, p policy.Policy, c cost.Matrix, want bool) {
			if _, ok, err := greedy(ctx, p, c); err != nil || ok != want {
				t.Errorf("%s, %s: greedy %v, %v", name, what, ok, err)
			}
			a, i, err := worstRow(ctx, p, c)
			if err != nil {
				t.Fatal(name, err)
			}
			b, j, err := anyRow(ctx, p, c)
			if err != nil || a.Cmp(b) != 0 || i != j {
				t.Errorf("%s, %s: %v at %d, %v; want %v at %d", name, what, a, i, err, b, j)
			}
		}
		check("as published", stated(), ranked.Cost, true)
		if name == "plane" {
			check("other places", stated(), costs["square"], false)
		}
		// The row of an input in the middle becomes the fallback, which may be the worst of all.
		for i := range thresholds {
			if int(thresholds[i]) != i%kv {
				thresholds[i] = int32(i % kv)
				break
			}
		}
		check("a wrong threshold", stated(), ranked.Cost, false)
	}
}
