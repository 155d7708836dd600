package sphere

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/sphere"
)

// small is a study of a second or less.
func small(out string) Config {
	return Config{Out: out, Dims: []int{3, 63}, Epsilons: []float64{1, 4, 8, 16}, AtomDims: []int{2}, Atoms: []int{5},
		AtomEpsilons: []string{"1", "4"}, Points: 300, Instances: 2, Seed: 3}
}

// TestMSERatio holds the ratios that were measured when the rules were first studied, to the digits given then; and
// that no rule beats the optimum or spends more than eps.
func TestMSERatio(t *testing.T) {
	tol := numtest.Tol{Abs: 0.005, Why: "two decimals were noted"}
	for _, c := range []struct {
		d                 int
		eps, grid, search float64
	}{
		{63, 1, 1.03, 1.03}, {63, 4, 1.41, 1.41}, {63, 8, 1.20, 1.19}, {63, 16, 1.09, 1.09}, {4095, 4, 1.41, 1.41},
	} {
		m, err := meanRow(c.d, c.eps)
		if err != nil {
			t.Fatal(err)
		}
		numtest.Near(t, "grid rule", m.Grid.Ratio, c.grid, tol)
		numtest.Near(t, "search rule", m.Search.Ratio, c.search, tol)
	}
	m, err := meanRow(63, 4)
	if err != nil {
		t.Fatal(err)
	}
	numtest.Near(t, "privacy spent", m.Search.Spent, 3.57, tol)
	for _, d := range []int{2, 3, 10, 63, 1023, 100_000} {
		for _, eps := range []float64{0.1, 0.5, 1, 2, 4, 6, 8, 12, 16, 30} {
			m, err := meanRow(d, eps)
			if err != nil {
				t.Fatal(err)
			}
			for name, r := range map[string]Rule{"grid": m.Grid, "search": m.Search} {
				// Rounding: the incomplete beta function is good to 1e-9 at d = 1e5.
				if !(r.Ratio >= 1-1e-8 && r.Spent <= eps+1e-8 && r.Spent > 0 && r.Coin > 0.5 && r.Coin < 1 && r.Offset > 0 &&
					r.Offset < 1) {
					t.Errorf("d=%d eps=%v, %s rule: %+v", d, eps, name, r)
				}
			}
			// The optimum really is the optimum: PrivUnit with t* and the probability of its cap has the mean t*.
			opt, err := sphere.Solve(d, 2, eps)
			if err != nil {
				t.Fatal(err)
			}
			numtest.Near(t, "mean of the optimal cap", mean(d, opt.T, opt.Pin), opt.T,
				numtest.Tol{Rel: 1e-6, Why: "lgamma and the incomplete beta function at d = 1e5"})
		}
	}
}

// TestConditions: the offsets of the grid rule satisfy (16a) or (16b), the larger of those tried.
func TestConditions(t *testing.T) {
	for _, d := range []int{3, 63, 1023} {
		for _, budget := range []float64{0.1, 1, 3, 8} {
			o := largest(d, budget)
			n := float64(d + 1)
			a := o <= math.Tanh(budget/2)*math.Sqrt(math.Pi/(2*float64(d)))*(1+1e-12)
			b := o >= math.Sqrt(2/n) && condition(d, o) <= budget
			if !a && !b {
				t.Errorf("d=%d budget %v: offset %v satisfies neither condition", d, budget, o)
			}
		}
	}
}

// TestRun: the margins against a random atom, the report's files, and the same result at any GOMAXPROCS.
func TestRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	calls := 0
	cfg := small(dir)
	cfg.Progress = func(done, total int, what string) {
		calls++
		if done < 1 || done > total || what == "" {
			t.Errorf("progress %d of %d %q", done, total, what)
		}
	}
	res, err := Run(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if calls != 8+4 {
		t.Errorf("%d calls of Progress", calls)
	}
	for _, a := range res.Rows {
		if !(a.Projection < a.RandomAtom && a.RandomAtom < a.Uniform && a.Wins == 2 && a.Loss > 0.9*a.Eps &&
			a.Loss <= a.Eps) {
			t.Errorf("%+v", a)
		}
		if !(a.Gap >= 0 && a.Gap <= 1e-12) { // of W_2^2, in units of the squared diameter
			t.Errorf("certified gap %v", a.Gap)
		}
		if !(a.Projection <= a.Worst) {
			t.Errorf("W_2 = %v, above the worst case %v", a.Projection, a.Worst)
		}
	}
	if r, ok := res.Row(2, 5, "4"); !ok || r.Ratio > 0.85 {
		t.Errorf("row %+v, %v", r, ok)
	}
	for _, name := range []string{"index.html", "table.csv", "table.json", "atoms.csv", "mse-ratio.svg", "mse-ratio.png",
		"atoms-2.svg", "atoms-2.png"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if b, err := os.ReadFile(filepath.Join(dir, "table.csv")); err != nil || strings.Count(string(b), "\n") != 1+8 {
		t.Errorf("table.csv: %s, %v", b, err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "table.json")); err != nil || !json.Valid(b) {
		t.Errorf("table.json: %v", err)
	}
	old := runtime.GOMAXPROCS(1)
	again, err := Run(context.Background(), small(""))
	runtime.GOMAXPROCS(old)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(again.Rows, res.Rows) || !reflect.DeepEqual(again.Means, res.Means) {
		t.Error("another result at GOMAXPROCS = 1")
	}
	if _, ok := res.Mean(5, 1); ok {
		t.Error("a row that was not asked for")
	}
}

func TestConfigErrors(t *testing.T) {
	nan := math.NaN()
	for name, change := range map[string]func(c *Config){
		"dimension":            func(c *Config) { c.Dims = []int{1} },
		"no dimension":         func(c *Config) { c.Dims = []int{} },
		"eps zero":             func(c *Config) { c.Epsilons = []float64{0} },
		"eps NaN":              func(c *Config) { c.Epsilons = []float64{nan} },
		"eps above":            func(c *Config) { c.Epsilons = []float64{100} },
		"eps descending":       func(c *Config) { c.Epsilons = []float64{2, 1} },
		"atoms":                func(c *Config) { c.Atoms = []int{1} },
		"atom dimension":       func(c *Config) { c.AtomDims = []int{0} },
		"atom eps":             func(c *Config) { c.AtomEpsilons = []string{"x"} },
		"atom eps descending":  func(c *Config) { c.AtomEpsilons = []string{"2", "1"} },
		"atom eps very small":  func(c *Config) { c.AtomEpsilons = []string{"1e-15"} },
		"points":               func(c *Config) { c.Points = 1 << 20 },
		"negative points":      func(c *Config) { c.Points = -1 },
		"instances":            func(c *Config) { c.Instances = -1 },
		"more than fits":       func(c *Config) { c.Instances = maxInstances + 1 },
		"too many of one list": func(c *Config) { c.Atoms = make([]int, maxList+1) },
	} {
		c := small("")
		change(&c)
		if _, err := Run(context.Background(), c); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
	c, eps, err := Config{}.resolve()
	if err != nil || len(eps) != 3 || c.Points != 1024 || c.Instances != 5 {
		t.Errorf("defaults: %+v, %v", c, err)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Run(ctx, small("")); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// The mass of the optimal base measure is what its box allows, and the largest cap belongs to the largest power: far
// outputs cost so much then that more of the sphere must be near.
func TestScales(t *testing.T) {
	all, err := scales([]int{2, 63})
	if err != nil || len(all) != 6*len(scaleExponents) {
		t.Fatalf("%d scales, %v", len(all), err)
	}
	for i, m := range all {
		if !(m.Alpha > math.Exp(-m.Eps/2) && m.Alpha < math.Exp(m.Eps/2) && m.S > 0 && m.S < 1) {
			t.Errorf("d = %d, eps = %v, p = %v: mass %v, share %v", m.Dim, m.Eps, m.P, m.Alpha, m.S)
		}
		if i%len(scaleExponents) > 0 && !(m.S > all[i-1].S) {
			t.Errorf("d = %d, eps = %v: share %v at p = %v, before it %v", m.Dim, m.Eps, m.S, m.P, all[i-1].S)
		}
	}
}

func TestMeanSE(t *testing.T) {
	// squares 4, 1, 0, 9
	if mean, se := meanSE([]float64{1, 2, 3, 6}); mean != 3 || !(math.Abs(se-math.Sqrt(14./12)) <= 1e-15) {
		t.Errorf("meanSE = %v, %v", mean, se)
	}
	if mean, se := meanSE([]float64{2}); mean != 2 || se != 0 {
		t.Errorf("meanSE of one value = %v, %v", mean, se)
	}
}
