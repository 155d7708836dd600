package mincostflow

import (
	"context"
	"math"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
)

// TestRefinementEnds: where arcs that hold the tree together carry nothing but rounding, a finer grid is not tried
// again and again.
func TestRefinementEnds(t *testing.T) {
	apart := func(k, kv int) *cost.Dense { // 100 |i - j|
		c := &cost.Dense{K: k, Kv: kv}
		for i := range k {
			for j := range kv {
				c.Data = append(c.Data, 100*math.Abs(float64(i-j)))
			}
		}
		return c
	}
	halves := Problem{Cost: &cost.Dense{K: 3, Kv: 62, Data: make([]float64, 3*62)},
		Source: []float64{1, 1.1 * 0x1p-62, 1.1 * 0x1p-62}}
	for j := range 62 {
		x := math.Ldexp(1, -min(j+1, 61))
		halves.Hi = append(halves.Hi, x)
		halves.Lo = append(halves.Lo, x)
		for i := range 3 {
			if (i == 0) != (j < 61) {
				halves.Cost.(*cost.Dense).Data[i*62+j] = 100
			}
		}
	}
	halves.Lo[61] = 0
	for name, p := range map[string]Problem{
		"four rows": {
			Cost:   &cost.Dense{K: 4, Kv: 2, Data: []float64{0, 0, 1e-30, 1, 0, 1, 1e-07, 0}},
			Source: []float64{6. / 28, 8. / 28, 6. / 28, 8. / 28},
			Lo:     []float64{0, 0}, Hi: []float64{0.5, 0.5},
		},
		"halves": halves,
	} {
		if r, err := Project(&numtest.Asked{Context: context.Background(), Most: 10_000}, p, Settings{}); err != nil {
			t.Errorf("%s: %v, %+v", name, err, r.Stats)
		}
	}
	for seed := range 4000 {
		d := newDraw(uint64(seed) + 82e6)
		k, kv := 2+d.Intn(5), 2+d.Intn(6)
		p := Problem{Cost: apart(k, kv), Source: make([]float64, k), Lo: make([]float64, kv), Hi: make([]float64, kv)}
		if d.Intn(2) == 0 {
			for x := range p.Cost.(*cost.Dense).Data {
				p.Cost.(*cost.Dense).Data[x] = []float64{0, 1e-30, 1e-7, 1, 1000}[d.Intn(5)]
			}
		}
		for i := range p.Source {
			p.Source[i] = float64(1 + d.Intn(5))
		}
		normalise(p.Source)
		rest := 1.0
		for j := range kv { // as much as the rows have, where there are rows
			if p.Hi[j] = rest; j < k && j+1 < kv {
				p.Hi[j] = min(p.Source[j], rest)
			}
			rest -= p.Hi[j]
			if d.Intn(3) == 0 {
				p.Lo[j] = p.Hi[j]
			}
		}
		if r, err := Project(&numtest.Asked{Context: context.Background(), Most: 10_000}, p, Settings{}); err != nil {
			t.Fatalf("seed %d: %v, %+v", seed, err, r.Stats)
		}
	}
}
