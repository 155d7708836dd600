package mapping

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
)

// small is a study of some seconds: two maps, one run.
func small(out string) Config {
	return Config{Out: out, Maps: []string{"coast", "films"}, Epsilons: []string{"2"}, Devices: []int{300}, Runs: 2,
		Seed: 1}
}

// TestRun holds what must be so whatever the numbers are, the report, and the same bits on any number of threads.
func TestRun(t *testing.T) {
	if !numtest.Full() {
		t.Skip("some seconds")
	}
	out := t.TempDir()
	r, err := Run(context.Background(), small(out))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Rows) != 2 || len(r.Summary) != len(known) {
		t.Fatalf("%d rows, %d lines of summary", len(r.Rows), len(r.Summary))
	}
	for _, row := range r.Rows {
		least := row.Guess
		if len(row.By) != len(known) {
			t.Fatalf("%+v", row)
		}
		for _, o := range row.By {
			least = min(least, o.Mean)
			if !(o.Mean > 0 && o.SD >= 0 && o.ToBest >= 1 && o.Median > 0 && o.Within90 >= o.Median) ||
				math.Abs(o.ToGuess-o.Mean/row.Guess) > 1e-15 {
				t.Errorf("%+v", row)
			}
		}
		if row.Best == "guess" != (least == row.Guess) || row.Measured {
			t.Errorf("%+v", row)
		}
	}
	for n, s := range r.Summary {
		worst := 0.0
		for _, row := range r.Rows {
			worst = max(worst, row.By[n].ToGuess)
		}
		if s.WorstGuess != worst || !(s.GeoBest >= 1 && s.GeoBest <= s.WorstBest) {
			t.Errorf("%+v", s)
		}
	}
	var table map[string]any
	data, err := os.ReadFile(filepath.Join(out, "table.json"))
	if err == nil {
		err = json.Unmarshal(data, &table)
	}
	if err != nil {
		t.Error(err)
	}
	old := runtime.GOMAXPROCS(1)
	again, err := Run(context.Background(), small(""))
	runtime.GOMAXPROCS(old)
	if err != nil || !reflect.DeepEqual(again.Rows, r.Rows) {
		t.Errorf("another run differs: %v", err)
	}
}

// TestPlanned holds that predictions are of the rows, in their units, and that the table says how they compare.
func TestPlanned(t *testing.T) {
	if !numtest.Full() {
		t.Skip("some seconds")
	}
	c := small(t.TempDir())
	c.Maps, c.Plan, c.Devices = []string{"films"}, true, []int{200, 300}
	r, err := Run(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	row, p := r.Rows[0], r.Plan
	if len(r.Rows) != 1 || row.Devices != 300 || len(row.By) != column+1 || len(r.Summary) != column+1 ||
		r.Summary[column].Estimator != "map" {
		t.Fatalf("%+v", r)
	}
	ratio := row.Planned / row.By[column].Mean
	if p.Cases != 1 || math.Abs(p.GeoMean-ratio) > 1e-12 || p.SD != 0 || p.WithinTwo != 1 ||
		(p.Within25 == 1) != (math.Abs(ratio-1) <= 0.25) {
		t.Errorf("%+v of %+v", p, row)
	}
	// 30 % of the mass is elsewhere, so guesses differ by that share of the largest distance, 1, at most.
	if math.Abs(row.PlannedGuess-row.Guess) > 0.3 {
		t.Errorf("%+v", row)
	}
	if !(0 < row.PlannedRange[0] && row.PlannedRange[0] < row.PlannedRange[1]) {
		t.Errorf("%+v", row)
	}
}

// TestPlanning: by hand.
func TestPlanning(t *testing.T) {
	at := func(planned, real float64) Row {
		return Row{Planned: planned, By: []Outcome{{}, {Mean: real, ToGuess: real / 4}},
			PlannedRange: &[2]float64{0.25, 0.9}}
	}
	p := planning([]Row{at(1, 1), at(5, 4), at(2, 1), at(1, 4)})
	// The logarithms are 0, log 5/4, log 2 and -log 4; two are at the low end of the range, two above it.
	if p.Cases != 4 || p.Within25 != 0.5 || p.WithinTwo != 0.75 || math.Abs(p.GeoMean-math.Pow(5./8, 1./4)) > 1e-12 ||
		p.InRange != 0.5 || p.AboveRange != 0.5 {
		t.Errorf("%+v", p)
	}
}

// TestWorlds holds that the maps are distributions of their places, with names of their own.
func TestWorlds(t *testing.T) {
	for name, made := range map[string]struct {
		of    func(uint64) ([]world, error)
		count int
	}{"worlds": {worlds, 9}, "panel": {panel, 14}} {
		for seed := range uint64(30) {
			all, err := made.of(seed)
			if err != nil || len(all) != made.count {
				t.Fatalf("%s: %d maps, %v", name, len(all), err)
			}
			names := map[string]bool{}
			for _, w := range all {
				k, _ := w.cost.Dims()
				sum := 0.0
				for _, v := range w.truth {
					if !(v >= 0) {
						t.Errorf("%s: %v", w.name, v)
					}
					sum += v
				}
				if len(w.truth) != k || !(math.Abs(sum-1) <= 1e-12) || names[w.name] {
					t.Errorf("%s: %d shares of %d places, sum %v", w.name, len(w.truth), k, sum)
				}
				names[w.name] = true
			}
		}
	}
}

func TestErrors(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"an unknown map":  func(c *Config) { c.Maps = []string{"moon"} },
		"eps":             func(c *Config) { c.Epsilons = []string{"x"} },
		"eps not rising":  func(c *Config) { c.Epsilons = []string{"1", "1.0"} },
		"no eps":          func(c *Config) { c.Epsilons = []string{} },
		"no devices":      func(c *Config) { c.Devices = []int{0} },
		"runs":            func(c *Config) { c.Runs = -1 },
		"too many":        func(c *Config) { c.Large = 1 << 30 },
		"too many runs":   func(c *Config) { c.Runs = maxRuns + 1 },
		"no large number": func(c *Config) { c.Large = -1 },
	} {
		c := small("")
		change(&c)
		if _, err := Run(context.Background(), c); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Run(ctx, small("")); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	c := small("")
	c.Data = filepath.Join(t.TempDir(), "none")
	if _, err := Run(context.Background(), c); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no data: %v", err)
	}
}
