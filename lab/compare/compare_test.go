package compare

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/baseline"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/cost/costio"
	"github.com/wpm-go/wpm/internal/city"
	_ "github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/lab/report"
	"github.com/wpm-go/wpm/lab/ring"
	"github.com/wpm-go/wpm/lab/rivals"
	"github.com/wpm-go/wpm/mincostflow"
)

// line is three points of the line at 0, 1 and 3, and users of all kinds.
func line(users ...[]float64) Data {
	d := &cost.Dense{K: 3, Kv: 3, Data: []float64{0, 1, 3, 1, 0, 2, 3, 2, 0}}
	data := Data{Distance: d, P: 1, Same: true, Unit: "steps", Source: "a test"}
	for u, mu := range users {
		data.Users = append(data.Users, User{ID: "user " + strconv.Itoa(u), Mu: mu})
	}
	return data
}

func lineUsers() Data {
	return line([]float64{3, 1, 0}, []float64{0, 0, 7}, []float64{1, 1, 1}, []float64{0, math.MaxFloat64, math.MaxFloat64})
}

func run(t testing.TB, d Data, c Config) Result {
	t.Helper()
	r, err := Run(t.Context(), d, c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The comparison has the same numbers as the study of the ring, which computes them by other ways.
func TestRing(t *testing.T) {
	const points, inputs, seed = 12, 20, 5
	study, err := ring.Run(t.Context(), ring.Config{
		Points: points, Inputs: inputs, Seed: seed, Epsilon: "2", Epsilons: []string{"0.5", "2"}, Lambdas: []float64{1},
		Iterations: []int{1, 7},
	})
	if err != nil {
		t.Fatal(err)
	}
	d, err := cost.NewRing(points, 1)
	if err != nil {
		t.Fatal(err)
	}
	dense, err := cost.Materialize(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	data := Data{Distance: dense, P: 2, Same: true}
	for _, mu := range ring.Inputs(inputs, points, 0.1, seed) {
		data.Users = append(data.Users, User{Mu: mu})
	}
	res := run(t, data, Config{
		Epsilons: []string{"0.5", "2"}, Methods: []Method{WPM, KPM, Algorithm1}, Metrics: []string{"w2"}, Lambda: 1,
		Rounds: 7, Seeds: 1,
	})
	// Both are exact optima of the same 2^-62 integers or of the floats they were rounded from.
	const tol = 1e-9
	near := func(what string, got, want float64) {
		if !(math.Abs(got-want) <= tol) {
			t.Errorf("%s: %v here, %v there", what, got, want)
		}
	}
	for i, row := range study.Rows {
		near("WPM at "+row.Epsilon, res.of(WPM, "w2")[i].Mean, row.WPM.Mean)
		near("its standard error", res.of(WPM, "w2")[i].SE, row.WPM.SE)
		near("KPM at "+row.Epsilon, res.of(KPM, "w2")[i].Mean, row.KPM.Mean)
		near("worst case", res.Designs[i].Worst, row.Worst)
		near("lower bound", res.Designs[i].Lower, row.Lower)
	}
	near("Algorithm 1", res.of(Algorithm1, "w2")[1].Mean, study.Curves[0].W[1].Mean)
}

// What the definitions say, by hand: a law that ignores the user, and what is known of all laws.
func TestScores(t *testing.T) {
	all := Methods()
	res := run(t, lineUsers(),
		Config{Epsilons: []string{"1/3", "2"}, Methods: all, Metrics: []string{"w1", "w2", "tv", "kl", "hit@1", "hit@2"},
			Seeds: 3})
	want := map[string][]float64{ // of the uniform law against the four users
		// 3/4, 1/4, 0 against thirds: 1/3 goes from 0 and 1 to 3: 1/4-1/3 < 0 so 5/12 leave 0, 1/12 stays at 1, 1/3 walks 2
		// on.
		"w1":    {5./12 + 2./3, 5. / 3, 0, 1./3 + 1./6*2},
		"tv":    {5. / 12, 2. / 3, 0, 1. / 3},
		"kl":    {math.Log(3) - 0.75*math.Log(4./3) - 0.25*math.Log(4), math.Log(3), 0, math.Log(1.5)},
		"hit@1": {1. / 3, 1. / 3, 1. / 3, 1. / 3},
		"hit@2": {2. / 3, 1. / 3, 2. / 3, 2. / 3}, // the second user has one place
	}
	for metric, values := range want {
		for _, row := range res.of(NoData, metric) {
			for u, v := range values {
				if !(math.Abs(row.Users[u]-v) <= 1e-12) { // a few operations on numbers of order one
					t.Errorf("%s of user %d: %v, want %v", metric, u, row.Users[u], v)
				}
			}
		}
	}
	for _, row := range res.Rows {
		if len(row.Users) != 4 || row.Loss > row.Eps+1e-15 || row.Loss < 0 {
			t.Errorf("%s at %s: %d users, loss %v", row.Method, row.Epsilon, len(row.Users), row.Loss)
		}
		if maps := row.Metric != "kl" && row.Metric[0] != 'h'; maps != (len(row.Sampled) == 3) {
			t.Errorf("%s of maps: %v", row.Metric, row.Sampled)
		}
	}
	// The projection is nearest of all laws in its own box, so it is never behind the mixture or Algorithm 1; and no law
	// of WPM is beyond the certified worst case.
	for i, w := range res.of(WPM, "w1") {
		for u, v := range w.Users {
			for _, m := range []Method{Mixture, Algorithm1} {
				if other := res.of(m, "w1")[i].Users[u]; v > other+1e-12 {
					t.Errorf("user %d: projection %v, %s %v", u, v, m, other)
				}
			}
			if v > res.Designs[i].Worst*(1+1e-12) {
				t.Errorf("user %d: %v, worst case %v", u, v, res.Designs[i].Worst)
			}
		}
	}
	// The closed formula has one of the masses that lie between those of the sweep.
	for i, row := range res.of(KPMTuned, "w1") {
		if plain := res.of(KPM, "w1")[i].Mean; row.Mean > plain*1.2 {
			t.Errorf("tuned %v, closed formula %v", row.Mean, plain)
		}
	}
}

// Hit rates by hand, and their law: the order of the places says nothing.
func TestHit(t *testing.T) {
	q := []float64{0.5, 0.25, 0.125, 0.125}
	for _, tt := range []struct {
		mu   []float64
		n    int
		want float64
	}{
		{[]float64{1, 2, 3, 4}, 1, 0.125},
		{[]float64{1, 2, 3, 4}, 3, 0.5},
		{[]float64{1, 2, 3, 4}, 4, 1},
		{[]float64{0, 1, 0, 0}, 3, 0.25},                    // one place: no other counts
		{[]float64{1, 1, 0, 0}, 1, 0.375},                   // half of each
		{[]float64{1, 1, 0, 0}, 2, 0.75},                    // both
		{[]float64{1, 1, 0, 0}, 3, 0.75},                    // both, and no third
		{[]float64{1, 1, 1, 3}, 2, 0.125 + (0.875 / 3)},     // the first, and a third of each of the others
		{[]float64{1, 1, 1, 3}, 3, 0.125 + (0.875 * 2 / 3)}, // and two thirds of each
	} {
		if got := hit(q, tt.mu, tt.n); !(math.Abs(got-tt.want) <= 1e-15) {
			t.Errorf("hit@%d of %v: %v, want %v", tt.n, tt.mu, got, tt.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		const k = 6
		mu := rapid.SliceOfN(rapid.SampledFrom([]float64{0, 0, 1, 1, 2, 3}), k, k).Draw(t, "mu")
		mu[rapid.IntRange(0, k-1).Draw(t, "at")]++
		law := rapid.SliceOfN(rapid.Float64Range(0, 1), k, k).Draw(t, "law")
		order := rapid.Permutation([]int{0, 1, 2, 3, 4, 5}).Draw(t, "order")
		n := rapid.IntRange(1, k).Draw(t, "n")
		mu2, law2 := make([]float64, k), make([]float64, k)
		for i, j := range order {
			mu2[j], law2[j] = mu[i], law[i]
		}
		if a, b := hit(law, mu, n), hit(law2, mu2, n); !(math.Abs(a-b) <= 1e-14) { // sums of six numbers below 1
			t.Fatalf("hit@%d: %v, and %v in another order", n, a, b)
		}
	})
}

// A mechanism of the caller is scored as one that is here already, in all files, by its own name. One whose laws leave
// its own box is refused: its scores would be those of the box.
func TestOwn(t *testing.T) {
	response := func(eps float64) (baseline.Sampler, error) { return baseline.NewRandomizedResponse(3, eps) }
	cfg := Config{Epsilons: []string{"1/3", "2"}, Metrics: []string{"hit@1", "kl"}, Seeds: 1, NPY: true, Out: t.TempDir(),
		Own: []Own{{"mine", response}, {"other-1", response}}}
	res := run(t, lineUsers(), cfg)
	if !slices.Equal(res.Config.Methods, []Method{WPM, Mixture, KPM, Exponential, Response, "mine", "other-1"}) {
		t.Errorf("methods %v", res.Config.Methods)
	}
	for _, metric := range res.Config.Metrics {
		for i, row := range res.of(Response, metric) {
			if mine := res.of("mine", metric)[i]; !slices.Equal(mine.Users, row.Users) || mine.Loss != row.Loss {
				t.Errorf("%s at eps %s: %v, and %v of the same mechanism", metric, row.Epsilon, mine.Users, row.Users)
			}
		}
	}
	for _, name := range []string{"laws-%s-1-3.npy", "channel-%s-2.npy"} {
		a, err1 := os.ReadFile(filepath.Join(cfg.Out, fmt.Sprintf(name, "other-1")))
		b, err2 := os.ReadFile(filepath.Join(cfg.Out, fmt.Sprintf(name, "response")))
		if err := errors.Join(err1, err2); err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s differs (%v)", name, err)
		}
	}
	if a, b, c := res.look("mine"), res.look("other-1"), res.look(Response); a == b || b == c || a == c || a == 0 {
		t.Errorf("looks %d, %d and %d", a, b, c)
	}
	cfg.Methods, cfg.Out = []Method{"other-1"}, ""
	if res := run(t, lineUsers(), cfg); !slices.Equal(res.Config.Methods, cfg.Methods) {
		t.Errorf("methods %v", res.Config.Methods)
	}

	share := slices.Repeat([]float64{1. / 3}, 3)
	law := func(q ...float64) func(float64) (baseline.Sampler, error) {
		return func(float64) (baseline.Sampler, error) {
			return sampler{3, share, func(dst, _ []float64) error { copy(dst, q); return nil }}, nil
		}
	}
	fault := errors.New("a fault")
	for _, tt := range []struct {
		name string
		own  Own
		want error
	}{
		{"a law in its box", Own{"x", law(0.4, 0.3, 0.3)}, nil},
		{"a law outside of it", Own{"x", law(1, 0, 0)}, ErrConfig},
		{"half a law", Own{"x", law(0.2, 0.2, 0.2)}, ErrConfig},
		{"not a number", Own{"x", law(math.NaN(), 0.5, 0.5)}, ErrConfig},
		{"other outputs", Own{"x", func(eps float64) (baseline.Sampler, error) {
			return baseline.NewRandomizedResponse(4, eps)
		}}, ErrConfig},
		{"a measure of others", Own{"x", func(float64) (baseline.Sampler, error) {
			return short{sampler{3, share, nil}}, nil
		}}, ErrConfig},
		{"an error of its own", Own{"x", func(float64) (baseline.Sampler, error) { return nil, fault }}, fault},
		{"no name", Own{"", response}, ErrConfig},
		{"a taken name", Own{KPM, response}, ErrConfig},
		{"a path", Own{"../x", response}, ErrConfig},
		{"no function", Own{"x", nil}, ErrConfig},
	} {
		_, err := Run(t.Context(), lineUsers(), Config{Epsilons: []string{"1"}, Metrics: []string{"w1"}, Seeds: 1,
			Own: []Own{tt.own}})
		if !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
	}
	if _, err := Run(t.Context(), lineUsers(), Config{Own: []Own{{"x", response}, {"x", response}}}); !errors.Is(err,
		ErrConfig) {
		t.Errorf("one name twice: %v", err)
	}
}

// TestChannel: randomised response as a matrix scores as it does as a rule, and what is no private matrix is refused.
func TestChannel(t *testing.T) {
	const eps = 2.0
	low := 1 / (math.Exp(eps) + 2)
	high := 1 - 2*low
	matrix := func(rows ...float64) *cost.Dense { return &cost.Dense{K: 3, Kv: 3, Data: rows} }
	good := matrix(high, low, low, low, high, low, low, low, high)
	cfg := Config{Epsilons: []string{"2"}, Metrics: []string{"w1", "hit@1"}, Methods: []Method{Response, "mine"}, Seeds: 1,
		Own: []Own{Channel("mine", good)}}
	res := run(t, lineUsers(), cfg)
	for _, metric := range cfg.Metrics {
		a, b := res.of(Response, metric)[0], res.of("mine", metric)[0]
		for u := range a.Users {
			if !(math.Abs(a.Users[u]-b.Users[u]) <= 1e-9) { // both are rounded to integers, by maxMoved at most
				t.Errorf("%s of user %d: %v, and %v as a matrix", metric, u, a.Users[u], b.Users[u])
			}
		}
	}
	for name, m := range map[string]*cost.Dense{
		"too far apart": matrix(high+low/2, low/2, low, low, high, low, low, low, high),
		"never at one":  matrix(1-low, 0, low, low, high, low, low, low, high),
		"half a row":    matrix(high/2, low/2, low/2, low, high, low, low, low, high),
		"other places":  {K: 2, Kv: 2, Data: []float64{0.5, 0.5, 0.5, 0.5}},
	} {
		cfg.Own = []Own{Channel("mine", m)}
		if _, err := Run(t.Context(), lineUsers(), cfg); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A place that nobody ever reports is private.
	cfg.Own = []Own{Channel("mine", matrix(0.5, 0, 0.5, 0.5, 0, 0.5, 0.5, 0, 0.5))}
	run(t, lineUsers(), cfg)
}

// short has a measure of one number.
type short struct{ sampler }

func (short) Measure() []float64 { return []float64{1} }

// The maps of a city are those of package rivals, which makes the same city by itself, and the even map is as far from
// the truth of the scores of users as both say.
func TestMaps(t *testing.T) {
	const side, users, seed = 6, 80, 3
	c, err := city.Generate(seed, users, side, side)
	if err != nil {
		t.Fatal(err)
	}
	d := &cost.Dense{K: side * side, Kv: side * side}
	for i := range d.K {
		for j := range d.K {
			d.Data = append(d.Data, math.Hypot(float64(i/side-j/side), float64(i%side-j%side)))
		}
	}
	data := Data{Distance: d, P: 1, Same: true}
	for _, u := range c.Users {
		mu := make([]float64, d.K)
		for n, i := range u.Cells {
			mu[i] = float64(u.Counts[n])
		}
		data.Users = append(data.Users, User{Mu: mu})
	}
	res := run(t, data, Config{Epsilons: []string{"1", "4"}, Methods: []Method{GeoInd, Response}, Maps: MapMethods(), Seeds: 1,
		Seed: seed, Metrics: []string{"w1"}})
	want, err := rivals.Run(t.Context(), rivals.Config{Epsilons: []string{"1", "4"}, Devices: users, Side: side, Runs: 1, Seed: seed,
		Methods: res.Maps.Config.Methods})
	if err != nil {
		t.Fatal(err)
	}
	// Distances differ by roundings, which the estimators may enlarge.
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-6 }
	if len(res.Maps.Rows) != len(want.Rows) || len(want.Rows) < 2*(3+7*2) || !near(res.Maps.Guess, want.Guess) {
		t.Fatalf("%d rows, the even map %v; there %d, %v", len(res.Maps.Rows), res.Maps.Guess, len(want.Rows), want.Guess)
	}
	for n, a := range res.Maps.Rows {
		b := want.Rows[n]
		if a.Method != b.Method || a.Reading != b.Reading || a.Epsilon != b.Epsilon || !near(a.Mean, b.Mean) || !near(a.Q90, b.Q90) {
			t.Errorf("%+v, and there %+v", a, b)
		}
	}
	even, err := mincostflow.Transport(t.Context(), d, slices.Repeat([]float64{1. / side / side}, d.K), res.Truth)
	if err != nil || !near(even.Objective, res.Maps.Guess) {
		t.Errorf("the even map is %v off (%v), and %v of the maps", even.Objective, err, res.Maps.Guess)
	}
}

// Users in another order, and in other units, have the same scores.
func TestUsersPermute(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mu := rapid.SliceOfN(rapid.SliceOfN(rapid.SampledFrom([]float64{1, 0, 2, 0.5, 1e-3}), 3, 3), 2, 4).Draw(t, "mu")
		for _, m := range mu {
			m[rapid.IntRange(0, 2).Draw(t, "at")]++
		}
		cfg := Config{Epsilons: []string{"1"}, Metrics: []string{"w1", "tv"}, Seeds: 1}
		a, err := Run(context.Background(), line(mu...), cfg)
		if err != nil {
			t.Fatal(err)
		}
		slices.Reverse(mu)
		for _, m := range mu {
			for i := range m {
				m[i] *= 8 // a power of two, so that shares have the same bits
			}
		}
		b, err := Run(context.Background(), line(mu...), cfg)
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range a.Rows {
			slices.Reverse(row.Users)
			if !slices.Equal(row.Users, b.Rows[i].Users) {
				t.Fatalf("%s, %s: %v, and %v", row.Method, row.Metric, row.Users, b.Rows[i].Users)
			}
		}
	})
}

// The folder: every number of long.csv is one of the result, laws read back are distributions in rows, and equal runs
// write equal bytes on one core and on several.
func TestReport(t *testing.T) {
	cfg := Config{Epsilons: []string{"1/3", "3"}, Seeds: 2, Seed: 7, NPY: true, Metrics: []string{"w1"}, Maps: MapMethods()[1:],
		Out: filepath.Join(t.TempDir(), "a")}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	res := run(t, lineUsers(), cfg)
	runtime.GOMAXPROCS(3)
	other := cfg
	other.Out = filepath.Join(t.TempDir(), "b")
	run(t, lineUsers(), other)
	files, err := os.ReadDir(cfg.Out)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		a, err1 := os.ReadFile(filepath.Join(cfg.Out, f.Name()))
		b, err2 := os.ReadFile(filepath.Join(other.Out, f.Name()))
		if err := errors.Join(err1, err2); err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s differs (%v)", f.Name(), err)
		}
	}
	if !report.Finished(cfg.Out, 7, nil) {
		t.Error("the report does not know its seed")
	}
	f, err := os.Open(filepath.Join(cfg.Out, "long.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := 0
	for _, row := range res.Rows {
		want += len(row.Users) + len(row.Sampled)
		if row.Sampled != nil {
			want++
		}
	}
	if len(lines) != want+1 {
		t.Errorf("long.csv has %d lines, want %d", len(lines), want+1)
	}
	for _, name := range []string{"laws-wpm-1-3.npy", "channel-kpm-3.npy"} {
		m, err := costio.ReadFile(filepath.Join(cfg.Out, name))
		if err != nil {
			t.Fatal(err)
		}
		if rows := map[bool]int{true: 4, false: 3}[name[0] == 'l']; m.K != rows || m.Kv != 3 {
			t.Errorf("%s is %d x %d", name, m.K, m.Kv)
		}
		for i := range m.K {
			sum := 0.0
			for _, v := range m.Row(i, nil) {
				sum += v
			}
			if !(math.Abs(sum-1) <= 1e-15) {
				t.Errorf("%s: row %d sums to %v", name, i, sum)
			}
		}
	}
}

// Outputs that are not the inputs: mechanisms and scores that need them are refused or left out.
func TestOtherOutputs(t *testing.T) {
	data := Data{Distance: &cost.Dense{K: 2, Kv: 3, Data: []float64{0, 1, 2, 2, 1, 0}}, P: 2,
		Users: []User{{"a", []float64{1, 0}}, {"b", []float64{1, 1}}}}
	res := run(t, data, Config{Epsilons: []string{"1"}, Seeds: 2})
	if !slices.Equal(res.Config.Methods, []Method{WPM, Mixture, Exponential}) ||
		!slices.Equal(res.Config.Metrics, []string{"w1"}) {
		t.Errorf("methods %v, metrics %v", res.Config.Methods, res.Config.Metrics)
	}
	for _, c := range []Config{{Methods: []Method{KPM}}, {Metrics: []string{"tv"}}, {Metrics: []string{"hit@1"}}} {
		if _, err := Run(t.Context(), data, c); !errors.Is(err, ErrConfig) {
			t.Errorf("%v: %v", c, err)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, tt := range []struct {
		name string
		data func(*Data)
		cfg  Config
		want error
	}{
		{"no distances", func(d *Data) { d.Distance = nil }, Config{}, ErrData},
		{"negative distance", func(d *Data) { d.Distance.Data[1] = -1 }, Config{}, ErrData},
		{"p", func(d *Data) { d.P = math.NaN() }, Config{}, ErrData},
		{"one user", func(d *Data) { d.Users = d.Users[:1] }, Config{}, ErrData},
		{"no mass", func(d *Data) { d.Users[1].Mu = []float64{0, 0, 0} }, Config{}, ErrData},
		{"negative share", func(d *Data) { d.Users[1].Mu = []float64{0, -1, 2} }, Config{}, ErrData},
		{"infinite share", func(d *Data) { d.Users[1].Mu = []float64{0, math.Inf(1), 2} }, Config{}, ErrData},
		{"shares", func(d *Data) { d.Users[1].Mu = []float64{1} }, Config{}, ErrData},
		{"power overflows", func(d *Data) { d.Distance.Data[2] = 1e200 }, Config{Metrics: []string{"w2"}}, ErrData},
		{"eps", nil, Config{Epsilons: []string{"x"}}, ErrConfig},
		{"descending", nil, Config{Epsilons: []string{"2", "1"}}, ErrConfig},
		{"no eps", nil, Config{Epsilons: []string{}}, ErrConfig},
		{"method", nil, Config{Methods: []Method{"best"}}, ErrConfig},
		{"method twice", nil, Config{Methods: []Method{WPM, WPM}}, ErrConfig},
		{"metric", nil, Config{Metrics: []string{"w"}}, ErrConfig},
		{"w0", nil, Config{Metrics: []string{"w0"}}, ErrConfig},
		{"w01", nil, Config{Metrics: []string{"w01"}}, ErrConfig},
		{"metric twice", nil, Config{Metrics: []string{"tv", "tv"}}, ErrConfig},
		{"hit beyond all", nil, Config{Metrics: []string{"hit@4"}}, ErrConfig},
		{"objective", nil, Config{Objective: "map"}, ErrConfig},
		{"seeds", nil, Config{Seeds: -1}, ErrConfig},
		{"rounds", nil, Config{Rounds: -1}, ErrConfig},
		{"lambda", nil, Config{Lambda: math.NaN()}, ErrConfig},
		{"gamma", nil, Config{Gamma: 0.5}, ErrConfig},
		{"public", nil, Config{Public: []float64{1}}, ErrConfig},
		{"map of none", nil, Config{Maps: []string{"wpm"}}, ErrConfig},
		{"map of a method", nil, Config{Methods: []Method{"oue"}}, ErrConfig},
		{"nothing at all", nil, Config{Methods: []Method{}}, ErrConfig},
		{"map by a disk", nil, Config{Maps: []string{"dam"}}, ErrConfig},
		{"map of large eps", nil, Config{Maps: []string{"oue"}, Epsilons: []string{"13"}}, ErrConfig},
		{"map, one way", func(d *Data) { d.Distance.Data[1] = 2 }, Config{Maps: []string{"oue"}}, ErrConfig},
		{"map of other outputs", func(d *Data) { d.Same = false }, Config{Methods: []Method{WPM}, Metrics: []string{"w1"},
			Maps: []string{"oue"}}, ErrConfig},
		{"map of many places", func(d *Data) {
			const k = 1601
			d.Distance = &cost.Dense{K: k, Kv: k, Data: make([]float64, k*k)}
			for u := range d.Users {
				d.Users[u].Mu = slices.Repeat([]float64{1}, k)
			}
		}, Config{Maps: []string{"oue"}}, ErrConfig},
		{"public of nothing", nil, Config{Public: []float64{0, 0, 0}}, ErrConfig},
	} {
		d := lineUsers()
		if tt.data != nil {
			tt.data(&d)
		}
		if _, err := Run(t.Context(), d, tt.cfg); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
	}
	if d := divergence([]float64{0, 1}, []float64{1, 0}); !math.IsInf(d, 1) {
		t.Errorf("divergence from a law without the user's place: %v", d)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, lineUsers(), Config{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := FromCost(lineUsers().Distance, 0); !errors.Is(err, ErrData) {
		t.Errorf("FromCost with p = 0: %v", err)
	}
}

// The matrix of costs is the power of the distances that it is turned into.
func TestFromCost(t *testing.T) {
	c := &cost.Dense{K: 1, Kv: 3, Data: []float64{0, 9, 2}}
	d, err := FromCost(c, 2)
	if err != nil || d.P != 2 || !slices.Equal(d.Distance.Data, []float64{0, 3, math.Sqrt2}) {
		t.Errorf("%v, %v", d.Distance, err)
	}
}
