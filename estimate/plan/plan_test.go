package plan_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"testing"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/estimate/patch"
	"github.com/wpm-go/wpm/estimate/plan"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/wpmerr"
)

func planner(t testing.TB, p plan.Problem) *plan.Planner {
	t.Helper()
	l, err := plan.New(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// rowsOf are those of the default design.
func rowsOf(t testing.TB, c cost.Matrix, eps string) func(i int) ldp.Weights {
	t.Helper()
	e, err := ldp.ParseEpsilon(eps)
	if err != nil {
		t.Fatal(err)
	}
	d, err := wpm.NewDesign(context.Background(), c, e, wpm.Objective{})
	if err != nil {
		t.Fatal(err)
	}
	return d.Channel().Row
}

func predict(t *testing.T, l *plan.Planner, c cost.Matrix, eps string, devices int) plan.Prediction {
	t.Helper()
	m, err := l.Mechanism(rowsOf(t, c, eps))
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Predict(context.Background(), devices, estimate.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func grid(t testing.TB, rows, cols int, p float64) *cost.Grid {
	t.Helper()
	g, err := cost.NewGrid(rows, cols, p)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// town is a truth on side x side cells.
func town(side int) []float64 {
	t := make([]float64, side*side)
	for i := range t {
		x, y := float64(i%side)-2, float64(i/side)-float64(side-3)
		t[i] = 0.02 + math.Exp(-(x*x+y*y)/3)
	}
	return t
}

// TestMoreIsBetter: more devices, and a larger eps, make a better map, and never a wider interval. The maps of one
// world differ from draw to draw by a tenth of the guess at most in these cases, their mean over ten by a third of
// that: the slack is that of three standard deviations. The releases as they are do not improve beyond their bias.
func TestMoreIsBetter(t *testing.T) {
	side := numtest.Cases(6, 8)
	c := grid(t, side, side, 1)
	for name, prior := range map[string][]float64{"prior": town(side), "none": nil} {
		l := planner(t, plan.Problem{Cost: c, Prior: prior})
		var last plan.Prediction
		all := []int{100, 100_000}
		if numtest.Full() {
			all = []int{100, 3000, 100_000}
		}
		for n, devices := range all {
			p := predict(t, l, c, "2", devices)
			if n > 0 && (p.Map.Mean > last.Map.Mean+0.1*p.Guess.Mean || p.HalfWidth > last.HalfWidth ||
				p.Raw.Mean < 0.5*last.Raw.Mean) {
				t.Errorf("%s: %d devices: %+v, fewer: %+v", name, devices, p, last)
			}
			if !(p.Map.Low <= p.Map.Mean && p.Map.Mean <= p.Map.High*2 && p.Disc > 0 && p.Disc < 0.5 && p.Devices == devices) {
				t.Errorf("%s: %+v", name, p)
			}
			last = p
		}
		if last.Signal != estimate.GoodSignal || !(last.Map.Mean < 0.3*last.Guess.Mean) || !(last.Ratio.Mean < 0.3) {
			t.Errorf("%s: 100,000 devices at eps 2: %+v", name, last)
		}
		none := predict(t, l, c, "1/100", 100)
		if none.Signal != estimate.NoSignal {
			t.Errorf("%s: no signal to be had: %+v", name, none)
		}
		if !numtest.Full() && name == "none" {
			continue
		}
		little, much := predict(t, l, c, "1/2", 3000), predict(t, l, c, "6", 3000)
		if !(much.Map.Mean < 0.7*little.Map.Mean && much.Raw.Mean < little.Raw.Mean && much.HalfWidth < little.HalfWidth &&
			much.Disc < little.Disc) {
			t.Errorf("%s: eps 1/2: %+v; eps 6: %+v", name, little, much)
		}
	}
}

// TestRealised simulates reports one by one, by the sampler that devices have, for the prior as the truth: predictions
// within a factor 2, as promised, for the map and the releases as they are; for a town, a map that is nearly even, and
// one place.
func TestRealised(t *testing.T) {
	const runs, devices = 10, 2000
	ctx := context.Background()
	c := grid(t, 8, 8, 2)
	slope, spike := make([]float64, 64), make([]float64, 64)
	for i := range slope {
		slope[i] = 1 + 0.02*float64(i%8)
	}
	spike[19] = 1
	geometry, err := estimate.NewGeometry(ctx, c, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name  string
		eps   string
		truth []float64
	}{{"town", "3", town(8)}, {"nearly even", "1", slope}, {"one place", "3", spike}} {
		t.Run(test.name, func(t *testing.T) {
			if !numtest.Full() && test.name != "nearly even" {
				t.Skip("some seconds")
			}
			truth, row := test.truth, rowsOf(t, c, test.eps)
			channel, err := estimate.NewChannel(64, 64, func(i int, dst []float64) {
				for j := range dst {
					dst[j] = float64(row(i).At(j))
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			sum := 0.0
			for _, v := range truth {
				sum += v
			}
			p := predict(t, planner(t, plan.Problem{Cost: c, P: 2, Prior: truth}), c, test.eps, devices)
			bits := rand.NewChaCha8([32]byte{1})
			uniform := rand.New(bits)
			raw, theta := 0.0, 0.0
			w2 := func(a []float64) float64 {
				d, err := mincostflow.Transport(ctx, c, truth, a)
				if err != nil {
					t.Fatal(err)
				}
				return math.Sqrt(d.Objective)
			}
			for range runs {
				counts := make([]uint64, 64)
				for range devices {
					u, i := uniform.Float64()*sum, 0
					for i < 63 && u >= truth[i] {
						u -= truth[i]
						i++
					}
					j, err := row(i).Sample(bits)
					if err != nil {
						t.Fatal(err)
					}
					counts[j]++
				}
				shares, err := estimate.Raw(counts)
				if err != nil {
					t.Fatal(err)
				}
				found, err := estimate.Map(ctx, estimate.Problem{Counts: counts, Channel: channel, Geometry: geometry},
					estimate.Settings{})
				if err != nil {
					t.Fatal(err)
				}
				raw, theta = raw+w2(shares)/runs, theta+w2(found.Theta)/runs
			}
			if a, b := p.Map.Mean/theta, p.Raw.Mean/raw; !(a > 0.5 && a < 2 && b > 0.5 && b < 2) {
				t.Errorf("map predicted at %v, is at %v; raw at %v, is at %v", p.Map.Mean, theta, p.Raw.Mean, raw)
			}
		})
	}
}

// TestSame: the same bits at any GOMAXPROCS, and every time; inputs are as they were.
func TestSame(t *testing.T) {
	c := grid(t, 5, 6, 1)
	prior := make([]float64, 30)
	prior[3], prior[29] = 1e300, 3e300
	var first plan.Prediction
	for n, threads := range []int{1, 8, 8} {
		old := runtime.GOMAXPROCS(threads)
		p := predict(t, planner(t, plan.Problem{Cost: c, Prior: prior}), c, "1", 500)
		runtime.GOMAXPROCS(old)
		if n == 0 {
			first = p
		}
		if !reflect.DeepEqual(p, first) {
			t.Errorf("%d threads: %+v, want %+v", threads, p, first)
		}
	}
	if prior[3] != 1e300 || prior[0] != 0 {
		t.Error("the prior was changed")
	}
}

// TestKinds: costs of every kind, of few places, outputs elsewhere, extreme numbers of devices; everything is finite.
func TestKinds(t *testing.T) {
	one := grid(t, 1, 1, 1)
	ring, err := cost.NewRing(5, 2)
	if err != nil {
		t.Fatal(err)
	}
	earth, err := cost.NewGreatCircle([][2]float64{{48.2, 16.4}, {52.5, 13.4}, {48.9, 2.4}},
		[][2]float64{{50, 14}, {45, 4}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	angle, err := cost.NewCosine([][]float64{{1, 0}, {1, 1}, {0, 1}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	same := &cost.Dense{K: 2, Kv: 2, Data: make([]float64, 4)}
	for name, c := range map[string]cost.Matrix{"one place": one, "ring": ring, "Earth": earth, "angle": angle,
		"one point": same} {
		l := planner(t, plan.Problem{Cost: c, P: 2})
		for _, eps := range []string{"1/1000", "1", "30"} {
			for _, devices := range []int{1, 1000, plan.MaxDevices} {
				p := predict(t, l, c, eps, devices)
				for _, d := range []plan.Distance{p.Guess, *p.Raw, p.Map, p.Ratio, {p.Disc, p.HalfWidth, 0, 0}} {
					for _, v := range []float64{d.Mean, d.Low, d.High} {
						if !(v >= 0 && v <= 1e5) {
							t.Errorf("%s, eps %s, %d devices: %+v", name, eps, devices, p)
						}
					}
				}
			}
		}
	}
}

func TestErrors(t *testing.T) {
	ctx := context.Background()
	c := grid(t, 2, 2, 1)
	large := grid(t, 60, 60, 1)
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	for name, test := range map[string]struct {
		ctx  context.Context
		p    plan.Problem
		want error
	}{
		"no cost":       {ctx, plan.Problem{}, wpmerr.ErrShape},
		"too large":     {ctx, plan.Problem{Cost: grid(t, 400, 400, 1)}, plan.ErrLimit},
		"many outputs":  {ctx, plan.Problem{Cost: &cost.Dense{K: 1, Kv: 1 << 18, Data: make([]float64, 1<<18)}}, plan.ErrLimit},
		"not square":    {ctx, plan.Problem{Cost: &cost.Dense{K: 1, Kv: 2, Data: make([]float64, 2)}}, estimate.ErrNoGeometry},
		"power":         {ctx, plan.Problem{Cost: c, P: -1}, cost.ErrExponent},
		"NaN power":     {ctx, plan.Problem{Cost: c, P: math.NaN()}, cost.ErrExponent},
		"short prior":   {ctx, plan.Problem{Cost: c, Prior: make([]float64, 3)}, wpmerr.ErrShape},
		"empty prior":   {ctx, plan.Problem{Cost: c, Prior: make([]float64, 4)}, wpmerr.ErrMass},
		"NaN prior":     {ctx, plan.Problem{Cost: c, Prior: []float64{1, math.NaN(), 1, 1}}, wpmerr.ErrNotFinite},
		"less than no":  {ctx, plan.Problem{Cost: c, Prior: []float64{1, -1, 1, 1}}, wpmerr.ErrNegative},
		"stopped":       {stopped, plan.Problem{Cost: c}, context.Canceled},
		"stopped, many": {stopped, plan.Problem{Cost: large}, context.Canceled},
	} {
		if _, err := plan.New(test.ctx, test.p); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
	}
	l := planner(t, plan.Problem{Cost: c})
	short := rowsOf(t, grid(t, 1, 3, 1), "1")
	if _, err := l.Mechanism(func(int) ldp.Weights { return short(0) }); !errors.Is(err, wpmerr.ErrShape) {
		t.Errorf("short rows: %v", err)
	}
	if _, err := l.Mechanism(func(int) ldp.Weights { return ldp.Weights{} }); !errors.Is(err, wpmerr.ErrShape) {
		t.Errorf("no rows: %v", err)
	}
	if _, err := l.Mechanism(nil); !errors.Is(err, wpmerr.ErrShape) {
		t.Errorf("nil rows: %v", err)
	}
	if _, err := l.Channel(nil, 1); !errors.Is(err, wpmerr.ErrShape) {
		t.Errorf("a nil channel: %v", err)
	}
	m, err := l.Mechanism(rowsOf(t, c, "1"))
	if err != nil {
		t.Fatal(err)
	}
	for _, devices := range []int{0, -1, plan.MaxDevices + 1} {
		if _, err := m.Predict(ctx, devices, estimate.Settings{}); !errors.Is(err, wpmerr.ErrSettings) {
			t.Errorf("%d devices: %v", devices, err)
		}
	}
	if _, err := m.Predict(stopped, 10, estimate.Settings{}); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
	var seen []int
	if _, err := m.Predict(ctx, 10,
		estimate.Settings{Progress: func(done, total int) { seen = append(seen, done, total) }}); err != nil ||
		len(seen) != 2*plan.Worlds || seen[2*plan.Worlds-2] != seen[1] {
		t.Errorf("progress %v, %v", seen, err)
	}
}

// TestMoreDevices: one chance stands behind the forecasts for all numbers of devices, so that a fifth more make a better
// map, and the least number for a target is no matter of luck.
func TestMoreDevices(t *testing.T) {
	c := grid(t, 5, 5, 1)
	l := planner(t, plan.Problem{Cost: c, Prior: town(5)})
	last := math.Inf(1)
	for _, n := range []int{100, 120, 150, 200, 250, 300, 350, 400, 500, 600} {
		p := predict(t, l, c, "4", n)
		if !(p.Map.Mean < last) || !(p.Map.StandardError > 0 && p.Map.StandardError < p.Map.Mean/4) {
			t.Errorf("%d devices: %+v, after %v", n, p.Map, last)
		}
		last = p.Map.Mean
	}
}

func TestLeast(t *testing.T) {
	ctx := context.Background()
	errorsOf := []float64{9, 5, 4, 2, 2, 1}
	asked := 0
	at := func(i int) (plan.Prediction, error) {
		asked++
		return plan.Prediction{Devices: i, Map: plan.Distance{Mean: errorsOf[i]}}, nil
	}
	for _, c := range []struct {
		target float64
		want   int
	}{{10, 0}, {9, 0}, {8, 1}, {4, 2}, {3.9, 3}, {2, 3}, {1.5, 5}, {1, 5}} {
		asked = 0
		i, p, err := plan.Least(ctx, len(errorsOf), c.target, at)
		if err != nil || i != c.want || p.Devices != i || asked > 3 {
			t.Errorf("target %v: %d, %+v, %v after %d; want %d", c.target, i, p, err, asked, c.want)
		}
	}
	if i, p, err := plan.Least(ctx, len(errorsOf), 0.5, at); !errors.Is(err, plan.ErrTarget) || i != 5 || p.Map.Mean != 1 {
		t.Errorf("out of reach: %d, %+v, %v", i, p, err)
	}
	for _, target := range []float64{0, -1, math.NaN()} {
		if _, _, err := plan.Least(ctx, 6, target, at); !errors.Is(err, wpmerr.ErrSettings) {
			t.Errorf("target %v: %v", target, err)
		}
	}
	if _, _, err := plan.Least(ctx, 0, 1, at); !errors.Is(err, wpmerr.ErrSettings) {
		t.Errorf("no choice: %v", err)
	}
	broken := errors.New("broken")
	if _, _, err := plan.Least(ctx, 6, 4, func(i int) (plan.Prediction, error) {
		if i != 3 {
			return plan.Prediction{}, broken
		}
		return at(i)
	}); !errors.Is(err, broken) {
		t.Errorf("at fails: %v", err)
	}
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	if _, _, err := plan.Least(stopped, 6, 4, at); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
}

// Example asks what 2,000 devices tell about 36 cells at two levels.
func Example() {
	ctx := context.Background()
	places, err := cost.NewGrid(6, 6, 1)
	if err != nil {
		panic(err)
	}
	prior := make([]float64, 36)
	for i := range prior {
		prior[i] = 1 / float64(1+i)
	}
	planner, err := plan.New(ctx, plan.Problem{Cost: places, Prior: prior})
	if err != nil {
		panic(err)
	}
	for _, level := range []string{"1/10", "4"} {
		eps, err := ldp.ParseEpsilon(level)
		if err != nil {
			panic(err)
		}
		design, err := wpm.NewDesign(ctx, places, eps, wpm.Objective{})
		if err != nil {
			panic(err)
		}
		mechanism, err := planner.Mechanism(design.Channel().Row)
		if err != nil {
			panic(err)
		}
		p, err := mechanism.Predict(ctx, 2000, estimate.Settings{})
		if err != nil {
			panic(err)
		}
		fmt.Printf("eps %s: guess %.1f, map %.1f sides of the square; signal %v\n", level, p.Guess.Mean, p.Map.Mean, p.Signal)
	}
	// Output:
	// eps 1/10: guess 0.2, map 0.2 sides of the square; signal weak
	// eps 4: guess 0.2, map 0.0 sides of the square; signal ok
}

// TestEndedCause: whatever a context ends says so by wpmerr.ErrNotConverged, the error of the context, and its cause.
func TestEndedCause(t *testing.T) {
	why := errors.New("the user went home")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(why)
	c := grid(t, 2, 2, 1)
	l := planner(t, plan.Problem{Cost: c})
	m, err := l.Mechanism(rowsOf(t, c, "1"))
	if err != nil {
		t.Fatal(err)
	}
	rows := rowsOf(t, c, "1")
	channel, err := estimate.NewChannel(4, 4, func(i int, dst []float64) {
		for j := range dst {
			dst[j] = float64(rows(i).At(j))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	counts := estimate.Problem{Counts: []uint64{40, 30, 20, 10}, Channel: channel}
	for name, do := range map[string]func() error{
		"New":     func() error { _, err := plan.New(ctx, plan.Problem{Cost: c}); return err },
		"Predict": func() error { _, err := m.Predict(ctx, 100, estimate.Settings{}); return err },
		"Own":     func() error { _, err := l.Own(ctx, 100); return err },
		"Least": func() error {
			_, _, err := plan.Least(ctx, 3, 1, func(int) (plan.Prediction, error) { return plan.Prediction{}, nil })
			return err
		},
		"patch.Find":        func() error { _, err := patch.Find(ctx, channel, nil, 100); return err },
		"estimate.Interval": func() error { _, err := estimate.Interval(ctx, counts, []float64{1, 0, 0, 0}, 0); return err },
		"estimate.Intervals": func() error {
			_, err := estimate.Intervals(ctx, counts, [][]float64{{1, 0, 0, 0}, {0, 1, 0, 0}}, 0)
			return err
		},
		"estimate.MLE": func() error { _, err := estimate.MLE(ctx, counts, 0); return err },
	} {
		for _, want := range []error{wpmerr.ErrNotConverged, context.Canceled, why} {
			if err := do(); !errors.Is(err, want) {
				t.Errorf("%s: %v does not wrap %v", name, err, want)
			}
		}
	}
}
