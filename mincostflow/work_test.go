package mincostflow

import (
	"context"
	"fmt"
	"testing"

	"github.com/wpm-go/wpm/cost"
)

// TestWorkCounts holds how many pivots and sweeps fixed instances take: a twentieth more than measured. What only
// saves work shows nowhere else.
func TestWorkCounts(t *testing.T) {
	check := func(name string, pivots, sweeps, mostPivots, mostSweeps int) {
		t.Helper()
		if pivots > mostPivots+mostPivots/20 || sweeps > mostSweeps+mostSweeps/20 {
			t.Errorf("%s: %d pivots and %d sweeps, %d and %d were enough", name, pivots, sweeps, mostPivots, mostSweeps)
		}
	}
	for _, tt := range []struct {
		name           string
		pivots, sweeps int
	}{
		{"ring100:dir:2", 360, 4}, {"sq100p1:dir:2", 79, 4}, {"sq300p1:dir:2", 355, 5}, {"sq300p1:sp20:2", 146, 4},
		{"sq1000p1:sp20:2", 132, 3},
		{"sq1000p1:sp20:0.5", 206, 3},
		{"cos250x146:dir:2", 400, 4}, {"grid20p1:dir:2", 541, 4}, {"grid12p2:dir:0.5", 456, 5},
		{"ring300:dir:0.5", 1776, 10}, {"sq300p2:dir:0.5", 824, 6}, {"cos250x146:dir:0.5", 676, 5}, // from heavy rows
		{"ring400:dir:0.5", 2751, 17}, {"sq400p2:dir:0.5", 2867, 6}, // from a smaller problem
	} {
		p, err := instanceNamed(tt.name)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Project(context.Background(), p, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		check(tt.name, r.Stats.Pivots, r.Stats.Sweeps, tt.pivots, tt.sweeps)
	}
	for _, tt := range []struct {
		name           string
		n              int
		p              float64
		weighted       bool
		pivots, sweeps int
	}{
		{"plane, p = 1, equal", 400, 1, false, 4238, 10}, {"plane, p = 1, weighted", 400, 1, true, 5278, 14},
		{"plane, p = 2, equal", 400, 2, false, 3134, 7}, {"plane, p = 2, weighted", 400, 2, true, 3363, 10},
		{"20 points, p = 1, equal", 20, 1, false, 0, 1}, {"100 points, p = 1, equal", 100, 1, false, 0, 1}, // an assignment
		{"128 points, p = 2, equal", 128, 2, false, 0, 1},
	} {
		c, a, b := clouds(tt.n, tt.p)
		if !tt.weighted {
			a, b = nil, nil
		}
		r, err := Transport(context.Background(), c, a, b)
		if err != nil {
			t.Fatal(err)
		}
		check(tt.name, r.Stats.Pivots, r.Stats.Sweeps, tt.pivots, tt.sweeps)
	}
	// Many rows and more columns: from Newton's start, it is 7127 and 3440 pivots.
	for _, tt := range []struct{ k, n, pivots, sweeps int }{{128, 500, 3384, 11}, {100, 300, 1858, 7}} {
		r := &source{newDraw(67e6).SplitMix64}
		c, err := cost.NewPoints(r.points(tt.k, 2, r.normal), r.points(tt.n, 2, func() float64 { return 1 + 0.8*r.normal() }), 1)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Transport(context.Background(), c, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		check(fmt.Sprintf("clouds, %d x %d", tt.k, tt.n), got.Stats.Pivots, got.Stats.Sweeps, tt.pivots, tt.sweeps)
	}
	// What changes in one place goes a long way round.
	for _, tt := range []struct{ k, n, pivots, sweeps int }{{3000, 750, 1664, 18}, {8000, 200, 641, 17}} {
		c := &cost.Dense{K: tt.k, Kv: tt.n}
		for i := range tt.k {
			for j := range tt.n {
				c.Data = append(c.Data, float64((j-i%tt.n+tt.n)%tt.n))
			}
		}
		r, err := Transport(context.Background(), c, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		check(fmt.Sprintf("one way round, %d x %d", tt.k, tt.n), r.Stats.Pivots, r.Stats.Sweeps, tt.pivots, tt.sweeps)
	}
	for _, tt := range []struct {
		name           string
		draw           func(d draw) Problem
		pivots, sweeps int
	}{
		{"small ones", func(d draw) Problem { return d.problem(30) }, 735, 49},
		{"few rows", draw.wideProblem, 581, 61},
	} {
		var pivots, sweeps int
		for seed := range 20 {
			r, err := Project(context.Background(), tt.draw(newDraw(uint64(seed)+50e6)), Settings{})
			if err != nil {
				t.Fatal(err)
			}
			pivots += r.Stats.Pivots
			sweeps += r.Stats.Sweeps
		}
		check(tt.name, pivots, sweeps, tt.pivots, tt.sweeps)
	}
}
