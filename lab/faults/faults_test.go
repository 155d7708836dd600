package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
)

// Values from tables of hypergeometric probabilities: all ways of the margins are few enough to count by hand.
func TestFisher(t *testing.T) {
	for _, tc := range []struct {
		a, n, b, m int
		want       float64
	}{
		{0, 5, 0, 5, 1}, {5, 5, 5, 5, 1}, {1, 1, 0, 1, 1},
		{2, 2, 0, 2, 1. / 3},   // 1 + 1 of 6
		{3, 3, 0, 3, 1. / 10},  // 1 + 1 of 20
		{4, 4, 1, 4, 8. / 56},  // 4 + 4 of 56
		{1, 4, 3, 4, 34. / 70}, // 16 + 16 + 1 + 1 of 70
		{8, 10, 1, 5, 0},       // written out below
	} {
		got := fisher(tc.a, tc.n, tc.b, tc.m)
		if tc.n == 10 { // the sum, written out: k of 10 beside 9-k of 5
			seen, unlikely, all := 45.*5, 0., 0.
			for _, w := range []float64{210 * 1, 252 * 5, 210 * 10, 120 * 10, 45 * 5, 10 * 1} {
				if all += w; w <= seen {
					unlikely += w
				}
			}
			tc.want = unlikely / all
		}
		if math.Abs(got-tc.want) > 1e-12 {
			t.Errorf("fisher(%d of %d, %d of %d) = %v, want %v", tc.a, tc.n, tc.b, tc.m, got, tc.want)
		}
	}
}

// world is a made-up program: from a limit on all runs report, below none, and in between some.
func world(usable, unusable func(limit int64) float64) func(int64, int) (row, error) {
	return func(limit int64, pairs int) (row, error) {
		n := func(rate float64) int { return int(math.Round(rate * float64(pairs))) }
		return row{limit: limit, pairs: pairs, reports: [2]int{n(usable(limit)), n(unusable(limit))}}, nil
	}
}

func ramp(from, to int64) func(int64) float64 {
	return func(limit int64) float64 { return min(1, max(0, float64(limit-from)/float64(to-from))) }
}

// The sweep finds the limits in between, and judge tells programs that depend on the data from those that do not.
func TestSweepJudges(t *testing.T) {
	p := plan{most: 4096, unit: 1, pairs: 20, many: 300, wanted: 2}
	for _, tc := range []struct {
		name             string
		usable, unusable func(int64) float64
		differ           bool
	}{
		{"alike", ramp(40, 60), ramp(40, 60), false},
		{"the solver needs threads", ramp(45, 65), ramp(40, 60), true},
		{"one step", ramp(50, 51), ramp(50, 51), false},
		{"far below", ramp(2, 9), ramp(2, 9), false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rows, err := p.sweep(world(tc.usable, tc.unusable))
			if err != nil {
				t.Fatal(err)
			}
			between := 0
			for i, r := range rows {
				if r.between() {
					if between++; r.pairs < p.many {
						t.Errorf("%d pairs at %d, which is between", r.pairs, r.limit)
					}
				}
				if i > 0 && rows[i-1].limit >= r.limit {
					t.Errorf("limits %d, %d", rows[i-1].limit, r.limit)
				}
			}
			if tc.name != "one step" && between < p.wanted {
				t.Errorf("%d limits are between", between)
			}
			if err := judge(io.Discard, []table{{"s", "r", rows}}); (err != nil) != tc.differ {
				t.Errorf("judge: %v", err)
			}
		})
	}
	if _, err := p.sweep(world(ramp(1<<20, 1<<21), ramp(1<<20, 1<<21))); err == nil ||
		!strings.Contains(err.Error(), fmt.Sprint(p.most)) {
		t.Errorf("a program that never reports: %v", err)
	}
}
