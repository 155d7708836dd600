package ring

import (
	"context"
	"encoding/json"
	"errors"
	"github.com/wpm-go/wpm/projection"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/sinkhorn"
	"github.com/wpm-go/wpm/wpmerr"
)

// small is a study of a second or less.
func small() Config {
	return Config{Inputs: 12, Epsilons: []string{"1", "5"}, Lambdas: []float64{1, 10}, Iterations: []int{1, 2, 3, 10, 40}}
}

// ran is the small study, on eight threads, run once for all tests.
var ran = sync.OnceValues(func() (Result, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	return Run(context.Background(), small())
})

// TestScale: the base measure of the paper's setting, known independently to ten digits.
func TestScale(t *testing.T) {
	const scale, worst, tol = 0.0158819413, 2.2048931, 1e-7
	r, err := ran()
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(r.Example.Scale-scale) > tol*scale || math.Abs(r.Rows[1].Worst-worst) > tol*worst {
		t.Errorf("scale %v, worst case %v; want %v, %v", r.Example.Scale, r.Rows[1].Worst, scale, worst)
	}
	for _, row := range r.Rows {
		if !(row.WPM.Mean < row.KPM.Mean && row.WPM.Mean <= row.Worst) || row.Better != 12 {
			t.Errorf("%+v", row)
		}
	}
	for _, x := range r.Worst {
		if !(x.Dirac <= x.Search) || x.Upper > 0 && !(x.Search <= x.Upper*(1+tol)) {
			t.Errorf("worst case %+v", x)
		}
	}
	if len(r.Worst) != 5 || math.Abs(r.Worst[0].Dirac-worst) > tol*worst || math.Abs(r.Worst[1].Dirac-worst) > tol*worst ||
		r.Worst[1].Upper != r.Worst[0].Upper || r.Worst[2].Dirac <= r.Worst[0].Dirac || r.Worst[4].Upper != r.Worst[4].Dirac {
		t.Errorf("worst cases %+v", r.Worst)
	}
	if r.Exact != r.Rows[1].WPM || r.KPM != r.Rows[1].KPM {
		t.Errorf("at eps 5: %+v and %+v, in the table %+v", r.Exact, r.KPM, r.Rows[1])
	}
}

// TestIterates: the curve made in pieces is that of single runs of so many iterations.
func TestIterates(t *testing.T) {
	cfg := small()
	r, err := ran()
	if err != nil {
		t.Fatal(err)
	}
	cfg, eps, _, err := cfg.resolve()
	if err != nil {
		t.Fatal(err)
	}
	s := &study{ctx: context.Background(), cfg: cfg, inputs: Inputs(cfg.Inputs, cfg.Points, cfg.Alpha, cfg.Seed)}
	if s.cost, err = costOf(cfg); err != nil {
		t.Fatal(err)
	}
	lo, hi, _, err := s.box(eps)
	if err != nil {
		t.Fatal(err)
	}
	const tol = 1e-9 // of iterates that differ in the order of roundings
	for n, l := range cfg.Lambdas {
		for i, steps := range cfg.Iterations {
			var mean float64
			for _, mu := range s.inputs {
				p, err := sinkhorn.Project(s.ctx, sinkhorn.Problem{Problem: projection.Problem{Cost: s.cost, Source: mu, Lo: lo,
					Hi: hi}, Reg: l},
					sinkhorn.Settings{Method: sinkhorn.Paper, MaxIterations: steps})
				if err != nil && !errors.Is(err, wpmerr.ErrNotConverged) {
					t.Fatal(err)
				}
				tr, err := mincostflow.Transport(s.ctx, s.cost, mu, p.Q)
				if err != nil {
					t.Fatal(err)
				}
				mean += s.root(tr.Objective) / float64(len(s.inputs))
			}
			if got := r.Curves[n].W[i].Mean; math.Abs(got-mean) > tol {
				t.Errorf("lambda %v, %d iterations: %v, want %v", l, steps, got, mean)
			}
		}
	}
}

// TestDirichlet: of the right sums, and with the mean and variance of a Dirichlet distribution. Fixed seed; the
// tolerances are five standard errors (of the variance, of a variable that is nearly 0 or 1: 1.6 %).
func TestDirichlet(t *testing.T) {
	const n, k, alpha = 20_000, 5, 0.1
	mean, square := make([]float64, k), make([]float64, k)
	for _, mu := range Inputs(n, k, alpha, 3) {
		var sum float64
		for i, x := range mu {
			sum += x
			mean[i] += x / n
			square[i] += x * x / n
		}
		if math.Abs(sum-1) > 1e-15*k {
			t.Fatalf("sum 1%+g", sum-1)
		}
	}
	const wantVar = (1. / k) * (1 - 1./k) / (k*alpha + 1)
	for i := range mean {
		if v := square[i] - mean[i]*mean[i]; math.Abs(mean[i]-1./k) > 5*math.Sqrt(wantVar/n) ||
			math.Abs(v-wantVar) > 0.08*wantVar {
			t.Errorf("component %d: mean %v, variance %v; want %v, %v", i, mean[i], v, 1./k, wantVar)
		}
	}
}

func TestSameBits(t *testing.T) {
	old := runtime.GOMAXPROCS(1)
	one, err := Run(context.Background(), small())
	runtime.GOMAXPROCS(old)
	eight, eightErr := ran()
	if err := errors.Join(err, eightErr); err != nil {
		t.Fatal(err)
	}
	a, err := json.Marshal(one)
	b, berr := json.Marshal(eight)
	if err := errors.Join(err, berr); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(a, b) {
		t.Error("the result depends on GOMAXPROCS")
	}
}

func TestReport(t *testing.T) {
	cfg := small()
	cfg.Out = filepath.Join(t.TempDir(), "ring")
	calls := 0
	cfg.Progress = func(done, total int, what string) { calls++ }
	if _, err := Run(context.Background(), cfg); err != nil || calls == 0 {
		t.Fatal(calls, err)
	}
	for _, name := range []string{"index.html", "table.csv", "table.json", "iterations.csv", "distribution.svg",
		"iterations.png", "w-eps.svg"} {
		if info, err := os.Stat(filepath.Join(cfg.Out, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []Config{
		{Points: 1}, {P: math.NaN()}, {Alpha: -1}, {Inputs: 1}, {Epsilon: "x"}, {Epsilons: []string{"2", "1"}},
		{Epsilons: []string{"0"}}, {Epsilons: []string{}},
		{Lambdas: []float64{0}}, {Lambdas: []float64{math.Inf(1)}}, {Iterations: []int{0}}, {Iterations: []int{5, 5}},
	} {
		if _, err := Run(context.Background(), c); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Run(ctx, small()); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	s := &study{cfg: Config{P: 1}}
	s.cost, _ = costOf(Config{Points: 3, P: 1})
	if err := s.note(math.NaN()); !errors.Is(err, ErrGap) {
		t.Errorf("a NaN gap passes: %v", err)
	}
}

// By hand: 0.2 stays, 0.3 goes one step over the end of the ring of six, 0.5 to the other side.
func TestMoved(t *testing.T) {
	got := moved([]projection.Entry{{I: 1, J: 1, Mass: 0.2}, {I: 0, J: 5, Mass: 0.25}, {I: 5, J: 0, Mass: 0.05},
		{I: 1, J: 4, Mass: 0.5}}, 6)
	want := []float64{1, 0.8, 0.5, 0.5}
	for d, v := range want {
		if len(got) != len(want) || !(math.Abs(got[d]-v) <= 1e-15) { // two or three additions
			t.Fatalf("moved = %v, want %v", got, want)
		}
	}
}
