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

	"github.com/wpm-go/wpm/estimate/atlas"
	"github.com/wpm-go/wpm/internal/numtest"
)

// TestRunErrors: a small study has its cases, the summary is that of the cases, the report is written, and another
// number of threads changes nothing.
func TestRunErrors(t *testing.T) {
	if !numtest.Full() {
		t.Skip("some seconds")
	}
	cfg := Config{Maps: []string{"ring"}, Epsilons: []string{"1", "4"}, Devices: []int{300, 2000}, Runs: 2, Cases: 3, Seed: 3,
		Out: t.TempDir()}
	got, err := RunErrors(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Cases) != 3 || len(got.Calibration) != 4 || got.Calibration[3].Cases != 3 {
		t.Fatalf("%d cases, %+v", len(got.Cases), got.Calibration)
	}
	below, logs := 0, 0.0
	for _, c := range got.Cases {
		for n, d := range c.Real {
			if !(d > 0 && c.Expected[n] > 0 && c.Within90[n] >= c.Expected[n]/2) {
				t.Errorf("%+v", c)
			}
			if d <= c.Within90[n] {
				below++
			}
		}
		logs += math.Log(c.Ratio())
	}
	if all := got.Calibration[3]; math.Abs(all.Below-float64(below)/6) > 1e-12 || math.Abs(math.Log(all.Ratio)-logs/3) > 1e-12 {
		t.Errorf("%+v of %d below, logs %v", all, below, logs)
	}
	if _, err := os.Stat(filepath.Join(cfg.Out, "index.html")); err != nil {
		t.Error(err)
	}
	cfg.Out = ""
	old := runtime.GOMAXPROCS(1)
	again, err := RunErrors(context.Background(), cfg)
	runtime.GOMAXPROCS(old)
	if err != nil || !reflect.DeepEqual(again.Cases, got.Cases) {
		t.Errorf("other cases on one thread: %v", err)
	}
	cfg.Cases, cfg.Estimator = 1, atlas.ByRaw
	raw, err := RunErrors(context.Background(), cfg)
	if err != nil || reflect.DeepEqual(raw.Cases[0].Real, got.Cases[0].Real) || !(raw.Cases[0].Expected[0] > 0) {
		t.Errorf("raw maps: %+v, %v", raw.Cases, err)
	}
	for _, cfg := range []Config{{Estimator: "best"}, {Cases: -1}, {Cases: maxCases + 1}, {Maps: []string{"nowhere"}}, {Runs: -1}} {
		if _, err := RunErrors(context.Background(), cfg); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
}
