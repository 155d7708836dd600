package rivals

import (
	"context"
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/wpm-go/wpm/cost"
)

// TestRun: a small study has every mechanism with one best reading, the same at every call, and on a city with many
// reports the best readings are nearer than the even map.
func TestRun(t *testing.T) {
	cfg := Config{Out: t.TempDir(), Epsilons: []string{"3"}, Devices: 150, Runs: 1, Side: 6}
	a, err := Run(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Run(context.Background(), cfg)
	if err != nil || !reflect.DeepEqual(a, b) {
		t.Errorf("two runs differ (%v):\n%+v\n%+v", err, a, b)
	}
	best := map[string]int{}
	for _, x := range a.Rows {
		if x.Best {
			best[x.Method]++
			if !(0 < x.Mean && x.Mean < a.Guess) {
				t.Errorf("%s by %s: %v, the even map %v", x.Method, x.Reading, x.Mean, a.Guess)
			}
		}
	}
	for _, m := range Methods() {
		if best[m] != 1 {
			t.Errorf("%s has %d best readings", m, best[m])
		}
	}
}

// TestLattice: a grid is known by its distances, and other places are not.
func TestLattice(t *testing.T) {
	by := func(k int, d func(i, j int) float64) *cost.Dense {
		c := &cost.Dense{K: k, Kv: k}
		for i := range k {
			for j := range k {
				c.Data = append(c.Data, d(i, j))
			}
		}
		return c
	}
	grid := func(wide int, high float64) func(i, j int) float64 {
		return func(i, j int) float64 { return 7 * math.Hypot(high*float64(i/wide-j/wide), float64(i%wide-j%wide)) }
	}
	for _, tt := range []struct {
		name       string
		d          *cost.Dense
		high, wide int
	}{
		{"square", by(25, grid(5, 1)), 5, 5}, {"3 x 4", by(12, grid(4, 1)), 3, 4}, {"4 x 3", by(12, grid(3, 1)), 4, 3},
		{"nearly square cells", by(12, grid(4, 1.005)), 3, 4}, {"long cells", by(12, grid(4, 1.1)), 0, 0},
		{"a line", by(12, grid(12, 1)), 0, 0}, {"a cell missing", by(11, grid(4, 1)), 0, 0},
		{"one point", by(12, func(i, j int) float64 { return 0 }), 0, 0},
		{"steps", by(12, func(i, j int) float64 {
			return math.Abs(float64(i/4-j/4)) + math.Abs(float64(i%4-j%4))
		}), 0, 0},
		{"column by column", by(12, func(i, j int) float64 { return grid(4, 1)(i%3*4+i/3, j%3*4+j/3) }), 4, 3},
		{"in disorder", by(12, func(i, j int) float64 { return grid(4, 1)(i*5%12, j*5%12) }), 0, 0},
	} {
		if high, wide := lattice(tt.d); high != tt.high || wide != tt.wide {
			t.Errorf("%s: %d x %d, want %d x %d", tt.name, high, wide, tt.high, tt.wide)
		}
	}
}

func TestConfig(t *testing.T) {
	for name, cfg := range map[string]Config{
		"runs": {Runs: -1}, "devices": {Devices: maxDevices + 1}, "side": {Side: 3}, "unknown": {Methods: []string{"x"}},
		"a report of a world": {Out: t.TempDir(), World: &World{Distance: &cost.Dense{K: 2, Kv: 2, Data: []float64{0, 1, 1, 0}},
			People: []Person{{[]int{0}, []float64{1}}}}},
		"nobody": {World: &World{Distance: &cost.Dense{K: 2, Kv: 2, Data: []float64{0, 1, 1, 0}}}},
		"twice":  {Methods: []string{"dam", "dam"}}, "eps": {Epsilons: []string{"x"}}, "large eps": {Epsilons: []string{"13"}},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Run(context.Background(), cfg); !errors.Is(err, ErrConfig) {
				t.Errorf("%v, want ErrConfig", err)
			}
		})
	}
}
