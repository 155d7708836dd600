package mapping

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/estimate"
)

// TestRunForecasts: a small study has its cases, the shares are those of the maps, the report is written, and another
// number of threads changes nothing.
func TestRunForecasts(t *testing.T) {
	cfg := Config{Maps: []string{"ring"}, Epsilons: []string{"4"}, Devices: []int{2000}, Runs: 4, Cases: 2, Seed: 3,
		Out: t.TempDir()}
	got, err := RunForecasts(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	below, least := 0.0, 1.0
	for _, c := range got.Cases {
		within := 0.0
		for _, d := range c.Real {
			if !(d > 0 && d < 100*c.Mean) {
				t.Errorf("%+v", c)
			}
			if d <= c.Line {
				within += 0.25
			}
		}
		if !(0 < c.Mean && c.Mean < c.Line) {
			t.Errorf("%+v", c)
		}
		below, least = below+within/2, min(least, within)
	}
	if len(got.Cases) != 2 || math.Abs(got.Below-below) > 1e-12 || got.Least != least {
		t.Errorf("%d cases, %v and %v, want %v and %v", len(got.Cases), got.Below, got.Least, below, least)
	}
	if _, err := os.Stat(filepath.Join(cfg.Out, "index.html")); err != nil {
		t.Error(err)
	}
	cfg.Out = ""
	old := runtime.GOMAXPROCS(1)
	again, err := RunForecasts(context.Background(), cfg)
	runtime.GOMAXPROCS(old)
	if err != nil || !reflect.DeepEqual(again.Cases, got.Cases) {
		t.Errorf("other cases on one thread: %v", err)
	}
	cfg.Cases = -1
	if _, err := RunForecasts(context.Background(), cfg); !errors.Is(err, ErrConfig) {
		t.Errorf("-1 cases: %v", err)
	}
}

// TestElsewhere: a truth is the prior, or has 10 to 30 % of it elsewhere.
func TestElsewhere(t *testing.T) {
	ring, err := cost.NewRing(40, 1)
	if err != nil {
		t.Fatal(err)
	}
	g, err := estimate.NewGeometry(context.Background(), ring, 1)
	if err != nil {
		t.Fatal(err)
	}
	prior := make([]float64, 40)
	prior[7], prior[8] = 0.25, 0.75
	for run := range 50 {
		moved, sum := 0.0, 0.0
		for i, v := range elsewhere(g, prior, 1, run) {
			moved += max(0, v-prior[i])
			sum += v
		}
		// 40 roundings of numbers below 1.
		if math.Abs(sum-1) > 40*0x1p-53 || run%2 == 1 && moved != 0 || moved > 0.3 || run%2 == 0 && moved == 0 {
			t.Errorf("run %d: %v moved, sum %v", run, moved, sum)
		}
	}
}
