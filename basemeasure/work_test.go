package basemeasure

import (
	"context"
	"math"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
)

// TestWorkCounts holds how many pivots, evaluations and certificates fixed instances take: a tenth more than measured,
// and two, for the last bits of exponentials differ between machines. What only saves work shows nowhere else.
func TestWorkCounts(t *testing.T) {
	g := numtest.NewSplitMix64(61)
	points := func(k int) *cost.Dense {
		x := make([][]float64, k)
		for i := range x {
			x[i] = []float64{g.Float64(), g.Float64()}
		}
		c, err := cost.NewPoints(x, nil, 1)
		if err != nil {
			t.Fatal(err)
		}
		d, err := cost.Materialize(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	line := &cost.Dense{K: 30, Kv: 30}
	for i := range 30 {
		for j := range 30 {
			line.Data = append(line.Data, math.Abs(float64(i-j)))
		}
	}
	blocks := &cost.Dense{K: 36, Kv: 36} // 6 x 6 cells: many ties
	for i := range 36 {
		for j := range 36 {
			blocks.Data = append(blocks.Data, math.Abs(float64(i%6-j%6))+math.Abs(float64(i/6-j/6)))
		}
	}
	square := points(40)
	small := make([]*cost.Dense, 10)
	for n := range small {
		small[n] = points(3 + n)
	}
	squares := make([]*cost.Dense, 8) // of one alone the roundings of a machine make a third more or less
	for n := range squares {
		squares[n] = points(40)
	}
	for _, tt := range []struct {
		name                        string
		c                           []*cost.Dense
		eps                         float64
		s                           Settings
		pivots, evaluations, shifts int
	}{
		{"square", []*cost.Dense{square}, 5, Settings{}, 141, 23, 6},
		{"square, small eps", []*cost.Dense{square}, 0.5, Settings{}, 59, 16, 6},
		{"square, average", []*cost.Dense{square}, 3, Settings{Objective: Average}, 70, 21, 6},
		{"squares, mixed", squares, 3, Settings{Objective: Mixed, Mix: 0.5}, 1415, 255, 57},
		{"line", []*cost.Dense{line}, 2, Settings{}, 73, 21, 7},
		{"blocks", []*cost.Dense{blocks}, 8, Settings{}, 104, 24, 4},
		{"small ones", small, 1, Settings{}, 217, 116, 50},
		{"small ones, large eps", small, 12, Settings{}, 230, 127, 40},
	} {
		var sum Stats
		for _, c := range tt.c {
			r, err := Solve(context.Background(), c, tt.eps, tt.s)
			if err != nil {
				t.Fatalf("%s: %v", tt.name, err)
			}
			sum.Pivots += r.Stats.Pivots
			sum.Evaluations += r.Stats.Evaluations
			sum.Shifts += r.Stats.Shifts
			sum.Restarts += r.Stats.Restarts
		}
		if sum.Restarts > 0 { // the first attempt is enough where costs are no harder than these
			t.Errorf("%s: %d restarts", tt.name, sum.Restarts)
		}
		for _, n := range []struct {
			what       string
			have, most int
		}{{"pivots", sum.Pivots, tt.pivots}, {"evaluations", sum.Evaluations, tt.evaluations},
			{"certificates", sum.Shifts, tt.shifts}} {
			if n.have > n.most+n.most/10+2 {
				t.Errorf("%s: %d %s, %d were enough", tt.name, n.have, n.what, n.most)
			}
		}
	}
}
