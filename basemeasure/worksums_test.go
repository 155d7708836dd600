package basemeasure

import (
	"context"
	"math"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
)

// TestWorkSums holds the work of many small problems, of all kinds and objectives, to a tenth more than measured,
// and three: TestWorkCounts for what shows in sums alone. (Where a processor adds and multiplies in one, other bits
// lead to other pivots.)
func TestWorkSums(t *testing.T) {
	for _, tt := range []struct {
		name string
		most Stats // of Solve
		rays int   // evaluations of Uniform
		each func(g *numtest.SplitMix64, i, j int) float64
	}{
		{"generic", Stats{Evaluations: 1028, Pivots: 978, Recomputes: 59, Shifts: 373}, 532,
			func(g *numtest.SplitMix64, _, _ int) float64 { return g.Float64() }},
		{"ties", Stats{Evaluations: 866, Pivots: 820, Refactors: 34, Recomputes: 77, Shifts: 321}, 437,
			func(g *numtest.SplitMix64, _, _ int) float64 { return float64(g.Intn(4)) }},
		{"line", Stats{Evaluations: 903, Pivots: 933, Refactors: 1, Recomputes: 55, Shifts: 349}, 469,
			func(_ *numtest.SplitMix64, i, j int) float64 { return math.Abs(float64(i - j)) }},
		{"spread", Stats{Evaluations: 1178, Pivots: 1246, Refactors: 48, Recomputes: 129, Rejected: 4, Shifts: 360}, 675,
			func(g *numtest.SplitMix64, _, _ int) float64 { return math.Exp(20 * (g.Float64() - 0.5)) }},
		{"far", Stats{Evaluations: 920, Pivots: 967, Refactors: 119, Recomputes: 168, Rejected: 134, Restarts: 4,
			Shifts: 369}, 445,
			func(_ *numtest.SplitMix64, i, j int) float64 {
				return math.Abs(math.Ldexp(1, 3*i) - math.Ldexp(1, 3*j))
			}},
	} {
		var sum Stats
		rays := 0
		g := numtest.NewSplitMix64(87)
		for n := range 24 {
			k, kv := 2+g.Intn(12), 2+g.Intn(12)
			c := &cost.Dense{K: k, Kv: kv}
			for i := range k {
				for j := range kv {
					c.Data = append(c.Data, tt.each(g, i, j))
				}
			}
			weights := make([]float64, k)
			for i := range weights {
				weights[i] = float64(g.Intn(3))
			}
			weights[0] = 1
			eps := []float64{0.1, 1, 4, 12}[n%4]
			for _, s := range []Settings{
				{}, {Objective: Average, InputWeights: weights}, {Objective: Mixed, Mix: 0.4, InputWeights: weights},
				{Exclude: []int{g.Intn(k)}},
			} {
				r, err := Solve(context.Background(), c, eps, s)
				if err != nil {
					t.Fatalf("%s: %v", tt.name, err)
				}
				sum.add(r.Stats)
				if r, err = Uniform(context.Background(), c, eps, s); err != nil {
					t.Fatalf("%s, uniform: %v", tt.name, err)
				}
				rays += r.Stats.Evaluations
			}
		}
		// A tenth more: inner products are summed in another order on other processors, which moves ties.
		more := func(n int) int { return n + n/10 + 3 }
		if m := tt.most; sum.Evaluations > more(m.Evaluations) || sum.Pivots > more(m.Pivots) ||
			sum.Refactors > more(m.Refactors) ||
			sum.Recomputes > more(m.Recomputes) || sum.Rejected > more(m.Rejected) || sum.Restarts > more(m.Restarts) ||
			sum.Shifts > more(m.Shifts) || rays > more(tt.rays) {
			t.Errorf("%s: %+v and %d for uniform ones, %+v and %d were enough", tt.name, sum, rays, m, tt.rays)
		}
	}
}

func (s *Stats) add(r Stats) {
	s.Evaluations += r.Evaluations
	s.Pivots += r.Pivots
	s.Refactors += r.Refactors
	s.Recomputes += r.Recomputes
	s.Rejected += r.Rejected
	s.Restarts += r.Restarts
	s.Shifts += r.Shifts
}
