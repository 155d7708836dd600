package gowalla

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/city"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/lab/report"
	"github.com/wpm-go/wpm/ldp"
)

// village is a population small enough for every test.
func village(t testing.TB, users, rows, cols int) city.Population {
	t.Helper()
	p, err := city.Generate(7, users, rows, cols)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// quick leaves the estimates to TestEstimates.
var quick = Config{Epsilons: []string{"0.5", "2", "4"}, Runs: 2, Seed: 3, SkipEstimates: true}

func compared(t testing.TB, p city.Population, cfg Config) Result {
	t.Helper()
	res, err := Compare(context.Background(), p, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestCompare(t *testing.T) {
	p := village(t, 40, 6, 6)
	res := compared(t, p, quick)
	if len(res.Rows) != 8*3 || len(res.Designs) != 3 || len(res.Maps) != 8 || res.Users != 40 ||
		res.Checkins != p.Checkins() {
		t.Fatalf("%d rows, %d designs, %d maps, %d users, %d check-ins", len(res.Rows), len(res.Designs), len(res.Maps),
			res.Users, res.Checkins)
	}
	i := 0
	for _, m := range Methods() {
		for _, e := range quick.Epsilons {
			r := res.Rows[i]
			i++
			if r.Method != m || r.Epsilon != e || len(r.Sampled) != 2 {
				t.Fatalf("row %d is %s at %s with %d runs, want %s at %s", i-1, r.Method, r.Epsilon, len(r.Sampled), m, e)
			}
			checkRow(t, r)
		}
	}
	for _, e := range quick.Epsilons {
		w, _ := res.Row(WPM, e)
		for _, m := range []Method{KPM, Exponential, Response} {
			if o, ok := res.Row(m, e); !ok || !(w.Expected < o.Expected) {
				t.Errorf("eps %s: WPM %v, %s %v: want WPM smaller", e, w.Expected, m, o.Expected)
			}
		}
	}
	for n, d := range res.Designs {
		if d.Epsilon != quick.Epsilons[n] || !(0 < d.Lower && d.Lower <= d.Worst && d.Worst < 6) || !(d.Mass > 0) {
			t.Errorf("design %+v", d)
		}
	}
	if !(res.TransportGap >= 0 && res.TransportGap <= maxGap) {
		t.Errorf("transport gap %v", res.TransportGap)
	}
	if _, ok := res.Row("none", "1"); ok {
		t.Error("Row finds what is not there")
	}
}

// checkRow has what holds of every row of two runs.
func checkRow(t *testing.T, r Row) {
	t.Helper()
	for _, v := range append([]float64{r.Expected, r.Mean, r.SD, r.Loss, r.Gap}, r.Sampled...) {
		if !(v >= 0 && v < 100) {
			t.Errorf("%s at %s: %v among %+v", r.Method, r.Epsilon, v, r)
		}
	}
	// Loss is a float of an exact ratio that CheckRows decided; a few roundings of numbers near eps.
	const tol = 1e-14
	if r.Loss > r.Eps*(1+tol) || r.Loss < r.Eps/10 {
		t.Errorf("%s at %s: loss %v", r.Method, r.Epsilon, r.Loss)
	}
	if r.Sampled[0] == r.Sampled[1] { // 40 draws that agree by chance: never in practice, and the seed is fixed
		t.Errorf("%s at %s: both runs drew the same", r.Method, r.Epsilon)
	}
}

// On a single row of cells W_1 has a closed form, the L1 distance of the distribution functions: a second opinion on
// every number at MapEps.
func TestExpectedOnALine(t *testing.T) {
	p := village(t, 25, 1, 12)
	res := compared(t, p, Config{Epsilons: []string{"1.5"}, Runs: 3, SkipEstimates: true})
	truth := p.Truth()
	for _, m := range res.Maps {
		want, f := 0.0, 0.0
		for j := range truth {
			f += m.Data[j] - truth[j]
			want += math.Abs(f)
		}
		row, _ := res.Row(m.Method, "1.5")
		// The transport is exact up to its certified gap, the sums here have a dozen terms below 1.
		const tol = maxGap + 1e-13
		if !(math.Abs(row.Expected-want) <= tol) {
			t.Errorf("%s: expected W_1 %v, by distribution functions %v", m.Method, row.Expected, want)
		}
	}
}

// Every mechanism's mean map, recomputed in the dumbest way there is.
func TestMaps(t *testing.T) {
	p := village(t, 15, 4, 4)
	const eps = 1.5
	k, e := float64(p.Cells()), math.Exp(eps)
	res := compared(t, p, Config{Epsilons: []string{"1.5"}, Runs: 1, Ties: TiesSolver, SkipEstimates: true})
	truth := p.Truth()
	grid, err := cost.NewGrid(4, 4, 1)
	if err != nil {
		t.Fatal(err)
	}
	epsilon, err := ldp.ParseEpsilon("1.5")
	if err != nil {
		t.Fatal(err)
	}
	design, err := wpm.NewDesign(context.Background(), grid, epsilon, wpm.Objective{})
	if err != nil {
		t.Fatal(err)
	}
	mech := design.Mechanism()
	ch, err := mech.Channel(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	mix, err := ch.Mix(truth)
	if err != nil {
		t.Fatal(err)
	}
	want := map[Method][]float64{Mixture: mix}
	for _, m := range []Method{WPM, KPM, Exponential, Response} {
		want[m] = make([]float64, p.Cells())
	}
	delta := 0.0
	cols := make([][]float64, p.Cells()) // the grid's cost is symmetric: row = column
	for j := range cols {
		cols[j] = grid.Row(j, nil)
		delta = max(delta, slices.Max(cols[j])-slices.Min(cols[j]))
	}
	for _, u := range p.Users {
		support, weight := u.Distribution()
		pr, err := mech.ProjectSparse(context.Background(), support, weight)
		if err != nil {
			t.Fatal(err)
		}
		mu := make([]float64, p.Cells())
		for n, j := range support {
			mu[j] = weight[n]
		}
		kpm := func(r float64) (sum float64) {
			for _, v := range mu {
				sum += max(v/r, 1/(e+k-1))
			}
			return sum
		}
		lo, hi := 0.0, 100.0 // the sum falls with r
		for range 200 {
			if mid := (lo + hi) / 2; kpm(mid) > 1 {
				lo = mid
			} else {
				hi = mid
			}
		}
		score, total := make([]float64, p.Cells()), 0.0
		for j := range score {
			for i, v := range mu {
				score[j] += v * cols[j][i]
			}
			score[j] = math.Exp(-eps * score[j] / (2 * delta))
			total += score[j]
		}
		n := float64(len(p.Users))
		for j, v := range mu {
			want[WPM][j] += float64(pr.Weights().At(j)) / (1 << 62) / n
			want[KPM][j] += max(v/hi, 1/(e+k-1)) / n
			want[Exponential][j] += score[j] / total / n
			want[Response][j] += (1 + (e-1)*v) / (e + k - 1) / n
		}
	}
	for _, m := range res.Maps {
		if want[m.Method] == nil {
			continue // TestRivals has these
		}
		for j, v := range m.Data {
			const tol = 1e-13 // sums of a few hundred roundings of numbers below 1
			if !(math.Abs(v-want[m.Method][j]) <= tol) {
				t.Errorf("%s: mean mass of cell %d is %v, want %v", m.Method, j, v, want[m.Method][j])
			}
		}
	}
}

func TestDeterministic(t *testing.T) {
	p := village(t, 20, 4, 5)
	var first Result
	var reports [2]report.Report
	for i, procs := range []int{1, 8} {
		old := runtime.GOMAXPROCS(procs)
		res := compared(t, p, quick)
		runtime.GOMAXPROCS(old)
		if i == 0 {
			first = res
		} else if !reflect.DeepEqual(res, first) {
			t.Errorf("GOMAXPROCS %d gives another result", procs)
		}
		reports[i] = res.Report()
	}
	if !reflect.DeepEqual(reports[0], reports[1]) { // package report makes files of them
		t.Error("equal results give other reports")
	}

	// A study of fewer methods and eps has the same numbers.
	part := compared(t, p, Config{Epsilons: []string{"2.0"}, Runs: 2, Seed: 3, SkipEstimates: true,
		Methods: []Method{KPM, WPM}})
	for _, m := range []Method{KPM, WPM} {
		got, _ := part.Row(m, "2")
		want, _ := first.Row(m, "2")
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s alone: %+v, among others: %+v", m, got, want)
		}
	}
	other := quick
	other.Seed = 4
	if reflect.DeepEqual(compared(t, p, other).Rows, first.Rows) {
		t.Error("another seed draws the same")
	}
	if !reflect.DeepEqual(p, village(t, 20, 4, 5)) {
		t.Error("Compare changed the population")
	}
}

func TestCompareOneCellOneUser(t *testing.T) {
	for _, p := range []city.Population{village(t, 1, 1, 1), village(t, 1, 3, 2), village(t, 3, 1, 2)} {
		res := compared(t, p, Config{Epsilons: []string{"0.001", "30"}, Runs: 1})
		if p.Cells() == 2 && !numtest.Full() {
			continue // pictures of one cell, and of two to a row, will do
		}
		if _, err := report.Encode(res.Report()); err != nil {
			t.Errorf("%d users, %d x %d: report: %v", len(p.Users), p.Rows, p.Cols, err)
		}
	}
}

func TestConfigErrors(t *testing.T) {
	for _, tt := range []struct {
		cfg  Config
		says string
	}{
		{Config{Runs: -1}, "Runs is -1"},
		{Config{Runs: maxRuns + 1}, "Runs"},
		{Config{Bits: 63}, "Bits is 63"},
		{Config{MinCheckins: -2}, "MinCheckins"},
		{Config{Users: -1}, "Users is -1"},
		{Config{Users: 3, AllUsers: true}, "AllUsers"},
		{Config{Epsilons: []string{}}, "Epsilons"},
		{Config{Epsilons: []string{"x"}}, `"x"`},
		{Config{Epsilons: []string{"0"}}, "Epsilons[0]"},
		{Config{Epsilons: []string{"1", "1.0"}}, "ascending"},
		{Config{Epsilons: []string{"2", "1"}}, "ascending"},
		{Config{MapEps: "7"}, "MapEps is 7"},
		{Config{MapEps: "x"}, "MapEps"},
		{Config{Methods: []Method{}}, "Methods"},
		{Config{Methods: []Method{"laplace"}}, "laplace"},
		{Config{Methods: []Method{WPM, WPM}}, "twice"},
		{Config{Area: Box{South: 1, North: 1, West: 2, East: 3}}, "Area"},
		{Config{Area: Box{South: math.NaN(), North: 1, West: 2, East: 3}}, "Area"},
		{Config{Area: Box{South: -91, North: 1, West: 2, East: 3}}, "Area"},
	} {
		if _, err := Compare(context.Background(), village(t, 2, 2, 2), tt.cfg); !errors.Is(err, ErrConfig) ||
			!strings.Contains(err.Error(), tt.says) {
			t.Errorf("Compare(%+v) = %v, want ErrConfig saying %q", tt.cfg, err, tt.says)
		}
	}
	if _, err := Compare(context.Background(), city.Population{}, Config{}); !errors.Is(err, city.ErrSize) {
		t.Errorf("no population: %v", err)
	}
	if _, err := Compare(context.Background(), village(t, 1, maxSide+1, 1), Config{}); !errors.Is(err, ErrConfig) {
		t.Errorf("too many rows: %v", err)
	}
	c, _, err := Config{Epsilons: []string{"1/2", "4.00"}}.resolve()
	if err != nil || !reflect.DeepEqual(c.Epsilons, []string{"0.5", "4"}) || c.MapEps != "4" || c.Users != 500 ||
		c.Runs != 20 || c.Bits != 62 || c.Rows != 20 || c.MinCheckins != 10 {
		t.Errorf("resolved: %+v, %v", c, err)
	}
	again, _, err := c.resolve()
	if err != nil || !reflect.DeepEqual(c, again) {
		t.Errorf("resolving twice changes: %+v, %v", again, err)
	}
}

func TestRun(t *testing.T) {
	p := village(t, 12, 20, 20)
	var text strings.Builder
	text.WriteString(cellsHeader + "\n")
	for _, u := range p.Users {
		for n, j := range u.Cells {
			fmt.Fprintf(&text, "%d\t%d\t%d\t%d\n", u.ID, j/20, j%20, u.Counts[n])
		}
	}
	out := filepath.Join(t.TempDir(), "out")
	calls := map[string]int{}
	cfg := Config{
		Data: files(t, map[string]string{"austin_city_user_cell.tsv.gz": text.String()}), Out: out, Users: 12,
		Epsilons: []string{"1", "4"}, Runs: 2, Methods: []Method{WPM, KPM}, SkipEstimates: true,
		SkipTieRange: !numtest.Full(),
		Progress: func(done, total int, what string) {
			if done < calls[what] || done > total {
				t.Errorf("Progress(%d, %d, %q) after %d", done, total, what, calls[what])
			}
			calls[what] = done
		},
	}
	res, err := Run(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := json.Marshal(res); err != nil {
		t.Errorf("the result has no JSON form: %v", err)
	}
	if res.Source.Format != FormatCells || res.Source.Kept != 12 {
		t.Errorf("source %+v", res.Source)
	}
	if calls["measuring distances"] != 2*2*3 || calls["WPM at eps 4"] != 12 {
		t.Errorf("progress %v", calls)
	}
	cfg.Progress = nil // its checks are for one study
	want := compared(t, p, cfg)
	if !reflect.DeepEqual(res.Rows, want.Rows) {
		t.Error("Run and Compare differ on the same population")
	}
	checkFolder(t, out, cfg.Data)
}

// checkFolder has what holds of the folder that TestRun writes: its tables, its pictures, and a page that names the
// file of the data and not its folder.
func checkFolder(t *testing.T, out, data string) {
	t.Helper()
	f, err := os.ReadFile(filepath.Join(out, "table.csv"))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(f)).ReadAll()
	if err != nil || len(rows) != 5 || rows[0][0] != "method" || rows[1][0] != "wpm" || rows[4][1] != "4" {
		t.Errorf("table.csv: %q, %v", rows, err)
	}
	var doc any
	if f, err = os.ReadFile(filepath.Join(out, "table.json")); err != nil || json.Unmarshal(f, &doc) != nil {
		t.Errorf("table.json does not parse (%v)", err)
	}
	for _, name := range []string{"index.html", "w1-eps.svg", "w1-eps.png", "w1-eps-all.svg", "maps.png", "designs.csv",
		"runs.csv"} {
		if st, err := os.Stat(filepath.Join(out, name)); err != nil || st.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	html, err := os.ReadFile(filepath.Join(out, "index.html"))
	if err != nil || bytes.Contains(html, []byte(data)) ||
		!bytes.Contains(html, []byte("austin_city_user_cell.tsv.gz (cells)")) {
		t.Errorf("the page names the folder of the data, or not the file (%v)", err)
	}
}

func TestCancel(t *testing.T) {
	p := village(t, 30, 5, 5)
	ctx, cancel := context.WithCancel(context.Background())
	cfg := quick
	cfg.Progress = func(done, total int, what string) {
		if what == "measuring distances" && done == 3 {
			cancel()
		}
	}
	if res, err := Compare(ctx, p, cfg); !errors.Is(err, context.Canceled) || res.Rows != nil {
		t.Errorf("cancelled while measuring: %d rows, %v", len(res.Rows), err)
	}
	if _, err := Compare(ctx, p, quick); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before: %v", err)
	}
}

// TestSynthetic: without data the study runs on a city of its own, and says so.
func TestSynthetic(t *testing.T) {
	cfg := Config{Rows: 4, Cols: 4, Users: 8, Runs: 1, Epsilons: []string{"2"}, SkipEstimates: true,
		Out: filepath.Join(t.TempDir(), "out")}
	r, err := Run(context.Background(), cfg)
	if err != nil || r.Source.Format != FormatSynthetic || r.Users != 8 || r.Source.Kept != 8 {
		t.Fatalf("%+v, %v", r.Source, err)
	}
	page, err := os.ReadFile(filepath.Join(cfg.Out, "index.html"))
	if err != nil || !strings.Contains(string(page), "nobody lives in it") ||
		strings.Contains(string(page), "Location data of people") {
		t.Errorf("the page does not say that the city is made up: %v", err)
	}
	if _, err := Run(context.Background(), Config{AllUsers: true}); !errors.Is(err, ErrConfig) {
		t.Errorf("all users of a synthetic city: %v", err)
	}
}

func TestMean(t *testing.T) {
	eps, err := ldp.ParseEpsilon("3")
	if err != nil {
		t.Fatal(err)
	}
	box, err := ldp.NewPolytope(eps, []float64{0.3, 0.3, 0.3}, 62)
	if err != nil {
		t.Fatal(err)
	}
	rows := make([]ldp.Weights, 9)
	for i := range rows {
		rows[i] = box.Round([]float64{float64(i) / 10, 0.1, 0.9 - float64(i)/10})
	}
	q := mean(rows)
	sum := 0.0
	for j, v := range q {
		sum += v
		want := 0.0
		for _, w := range rows {
			want += float64(w.At(j)) / (1 << 62) / 9
		}
		const tol = 1e-15 // nine roundings of numbers below 0.1
		if !(math.Abs(v-want) <= tol) {
			t.Errorf("mean[%d] = %v, want %v", j, v, want)
		}
	}
	if math.Abs(sum-1) > 1e-15 {
		t.Errorf("the mean sums to %v", sum)
	}
	m, sd := meanSD([]float64{1, 2, 3, 4})
	if m != 2.5 || math.Abs(sd-math.Sqrt(5.0/3)) > 1e-15 {
		t.Errorf("meanSD = %v, %v", m, sd)
	}
	if m, sd := meanSD([]float64{2}); m != 2 || sd != 0 {
		t.Errorf("meanSD of one = %v, %v", m, sd)
	}
}

func BenchmarkCompare(b *testing.B) {
	p := village(b, 100, 10, 10)
	for b.Loop() {
		if _, err := Compare(context.Background(), p, Config{Epsilons: []string{"4"}, Runs: 1}); err != nil {
			b.Fatal(err)
		}
	}
}

// The minimax base measure guarantees at least as much as the uniform one, and what does not use it stays as it is.
func TestObjective(t *testing.T) {
	cfg := quick
	cfg.Epsilons, cfg.MapEps, cfg.Methods, cfg.SkipTieRange = []string{"1"}, "1", []Method{WPM, KPM}, true
	p := village(t, 12, 5, 5)
	uniform := compared(t, p, cfg)
	cfg.Objective = "minimax"
	minimax := compared(t, p, cfg)
	if a, b := uniform.Designs[0].Worst, minimax.Designs[0].Worst; !(b < a) {
		t.Errorf("worst case %v with the minimax measure, %v with the uniform one", b, a)
	}
	if a, b := uniform.Rows[1].Expected, minimax.Rows[1].Expected; a != b {
		t.Errorf("KPM: %v and %v", a, b)
	}
	cfg.Objective = "best"
	if _, err := Compare(t.Context(), p, cfg); !errors.Is(err, ErrConfig) {
		t.Errorf("objective %q: %v", cfg.Objective, err)
	}
}
