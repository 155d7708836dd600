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
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/internal/plane"
)

// TestRunPriors: a small study has its cases, the prior that is the truth is at the truth, the report is written, and
// another number of threads changes nothing.
func TestRunPriors(t *testing.T) {
	if !numtest.Full() {
		t.Skip("some seconds")
	}
	cfg := Config{Maps: []string{"ring"}, Epsilons: []string{"4"}, Devices: []int{500}, Runs: 2, Cases: 2, Seed: 3,
		Out: t.TempDir()}
	got, err := RunPriors(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Cases) != 2 || len(got.Summary) != 2*(len(priors)-1) {
		t.Fatalf("%d cases, %d lines of the summary", len(got.Cases), len(got.Summary))
	}
	for _, c := range got.Cases {
		for n, by := range c.By {
			// 200 points are at most 100 steps apart, and sums of 200 roundings.
			if exact := by.Prior == Truth; exact != (by.Guess < 100*200*0x1p-52) {
				t.Errorf("the guess of %s is %v from the truth", by.Prior, by.Guess)
			}
			if by.Prior != priors[n] || len(by.Real) != 2 || !(by.Real[0] >= 0 && by.Real[0] < 100) {
				t.Errorf("%+v", by)
			}
		}
		if !(c.ratio(0) == 1 && c.ratio(1) < 1) {
			t.Errorf("the right prior makes the map worse by %v", c.ratio(1))
		}
	}
	if _, err := os.Stat(filepath.Join(cfg.Out, "index.html")); err != nil {
		t.Error(err)
	}
	cfg.Out = ""
	old := runtime.GOMAXPROCS(1)
	again, err := RunPriors(context.Background(), cfg)
	runtime.GOMAXPROCS(old)
	if err != nil || !reflect.DeepEqual(again.Cases, got.Cases) {
		t.Errorf("other cases on one thread: %v", err)
	}
	cfg.Cases = -1
	if _, err := RunPriors(context.Background(), cfg); !errors.Is(err, ErrConfig) {
		t.Errorf("-1 cases: %v", err)
	}
}

// TestWrong: of every kind, wrong priors are distributions other than the truth; a ring is turned by a quarter.
func TestWrong(t *testing.T) {
	all, err := panel(5)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range all {
		shifted, another, err := wrong(context.Background(), w, 5)
		if err != nil {
			t.Fatal(err)
		}
		for what, prior := range map[string][]float64{"shifted": shifted, "another": another} {
			sum, apart := 0.0, 0.0
			for i, v := range prior {
				sum += v
				apart += math.Abs(v-w.truth[i]) / 2
				if !(v >= 0) {
					t.Errorf("%s, %s: a share of %v", w.name, what, v)
				}
			}
			if !(math.Abs(sum-1) <= 1e-12 && apart > 0.01) { // 400 places of some roundings each
				t.Errorf("%s, %s: sum %v, %v from the truth", w.name, what, sum, apart)
			}
		}
	}
	ring, err := cost.NewRing(40, 1)
	if err != nil {
		t.Fatal(err)
	}
	w := world{name: "ring", cost: ring, truth: make([]float64, 40)}
	w.truth[3], w.truth[38] = 0.25, 0.75
	shifted, _, err := wrong(context.Background(), w, 5)
	if err != nil || shifted[13] != 0.25 || shifted[8] != 0.75 {
		t.Errorf("a ring is turned to %v, %v", shifted, err)
	}
}

// TestLay: the same places keep their masses, places in the middle share one, and none gets lost.
func TestLay(t *testing.T) {
	at := func(x ...float64) (list []plane.Point) {
		for _, v := range x {
			list = append(list, plane.Point{X: v})
		}
		return list
	}
	for name, c := range map[string]struct {
		mass     []float64
		from, to []plane.Point
		want     []float64
	}{
		"the same": {[]float64{1, 2, 3}, at(0, 0.5, 1), at(0, 0.5, 1), []float64{1, 2, 3}},
		"finer":    {[]float64{1, 3}, at(0, 1), at(0, 0.1, 0.9, 1), []float64{0.5, 0.5, 1.5, 1.5}},
		"coarser":  {[]float64{1, 2, 3, 4}, at(0, 0.3, 0.7, 1), at(0, 1), []float64{3, 7}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := lay(c.mass, c.from, c.to); !reflect.DeepEqual(got, c.want) {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

// TestSummarizePriors: by hand, two cases with signal and one without.
func TestSummarizePriors(t *testing.T) {
	at := func(ok int, none, guess, with float64) PriorCase {
		c := PriorCase{OK: ok}
		for _, p := range priors {
			c.By = append(c.By, Guided{Prior: p, Guess: guess, Real: []float64{with, with}})
		}
		c.By[0].Real = []float64{none, none}
		return c
	}
	got := summarizePriors([]PriorCase{at(2, 1, 0.5, 0.5), at(2, 1, 2, 2), at(1, 4, 1, 5.1)})
	// Of the first case all is kept; the prior of the second is no gain. The third loses 1.1/4 where 3/4 could be gained.
	want := map[Prior][2]PriorSummary{
		Truth:   {{"ok", Truth, 2, 1, 2, 1, 1, 1}, {"elsewhere", Truth, 1, 1.275, 1.275, 1, -0.275 / 0.75, 1}},
		Shifted: {{"ok", Shifted, 2, 1, 2, 1, 0, 0}, {"elsewhere", Shifted, 1, 1.275, 1.275, 1, 0, 0}},
	}
	for _, s := range got {
		both, ok := want[s.Prior]
		if !ok {
			continue
		}
		w := both[0]
		if s.Signal == "elsewhere" {
			w = both[1]
		}
		if math.Abs(s.Geo-w.Geo) > 1e-12 || math.Abs(s.Worst-w.Worst) > 1e-12 || math.Abs(s.Kept-w.Kept) > 1e-12 {
			t.Errorf("%+v, want %+v", s, w)
		}
		if s.Geo, s.Worst, s.Kept, w.Geo, w.Worst, w.Kept = 0, 0, 0, 0, 0, 0; s != w {
			t.Errorf("%+v, want %+v", s, w)
		}
	}
}
