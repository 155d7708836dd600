package months

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// TestRun: a small study has every cell, says the same twice, and finds slots better than a split budget.
func TestRun(t *testing.T) {
	cfg := Config{Epochs: 3, Devices: 3000, Moving: []float64{0, 0.5}, Cities: 1, Runs: 1, Seed: 1, Out: filepath.Join(t.TempDir(), "out")}
	res, err := Run(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Cells) != 2 || len(res.Summaries()) != 2 {
		t.Fatalf("%d cells", len(res.Cells))
	}
	for _, c := range res.Cells {
		if !(c.Guess > c.Split && c.Split > c.Slots && c.Slots > 0 && c.Row > 0 && c.Stated > 0) || len(c.OfSlots) != 1 {
			t.Errorf("%+v", c)
		}
	}
	if still := res.Cells[0]; !(still.Once < still.Slots) { // nobody moves, and everybody has reported
		t.Errorf("%+v", still)
	}
	if fast := res.Cells[1]; !(fast.Once > fast.Slots) {
		t.Errorf("%+v", fast)
	}
	if _, err := os.Stat(filepath.Join(cfg.Out, "index.html")); err != nil {
		t.Error(err)
	}
	cfg.Out = ""
	again, err := Run(context.Background(), cfg)
	if err != nil || !reflect.DeepEqual(again.Cells, res.Cells) {
		t.Errorf("%v, %+v, want %+v", err, again.Cells, res.Cells)
	}
}

// TestConfig: what makes no study is refused.
func TestConfig(t *testing.T) {
	for _, c := range []Config{{Epsilon: "x"}, {Epochs: 1}, {Devices: 3}, {Moving: []float64{2}}, {Runs: -1}, {Cities: -1}} {
		if _, err := Run(context.Background(), c); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
