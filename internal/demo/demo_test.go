package demo

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/wpm-go/wpm/policy"
)

var small = Config{Users: 30, Rows: 6, Cols: 5, Epsilons: []string{"1", "2"}, Epsilon: "2", Seed: 5}

func TestRun(t *testing.T) {
	cfg := small
	cfg.Out = t.TempDir()
	cfg.Page = func(Result) []byte { return nil } // no page is no error
	cfg.Progress = func(done, total int, what string) {
		if done < 0 || done > total || what == "" {
			t.Errorf("Progress(%d, %d, %q)", done, total, what)
		}
	}
	res, err := Run(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := json.Marshal(res); err != nil {
		t.Errorf("the result has no JSON form: %v", err)
	}
	if !(0 < res.Lower && res.Lower <= res.Worst && res.Worst < 6) || !(res.Mass > 0) {
		t.Errorf("worst %v, lower %v, mass %v", res.Worst, res.Lower, res.Mass)
	}
	if res.ReportBytes != policy.ReportSize || res.Spent != "2" {
		t.Errorf("report of %d bytes, %s spent", res.ReportBytes, res.Spent)
	}
	// The chances of a person's report are a distribution, within the factor e^2, since the base measure is uniform.
	low, high, sum := math.Inf(1), 0.0, 0.0
	for _, v := range res.Person.Law {
		low, high, sum = min(low, v), max(high, v), sum+v
	}
	const tol = 1e-12 // 30 cells of 30 places
	if !(math.Abs(sum-1) <= tol && low > 0 && high > low && high <= math.Exp(2)*low) || !(res.Person.Law[res.Person.Report] > 0) {
		t.Errorf("a person's report has chances from %v to %v, of sum %v", low, high, sum)
	}
	if len(res.Modes) != 2 {
		t.Fatalf("%d modes", len(res.Modes))
	}
	for _, m := range res.Modes {
		sum := 0.0
		for _, v := range m.Histogram {
			sum += v
		}
		const tol = 1e-12 // 30 cells
		if !(m.W1 > 0 && m.W1 < 6) || !(math.Abs(sum-1) <= tol) {
			t.Errorf("%s: W1 %v, histogram sums to %v", m.Mode, m.W1, sum)
		}
	}
	// The Wasserstein projection bends the truth least, in both modes, and every mean is a distribution.
	if len(res.Comparison) != 5 {
		t.Fatalf("%d mechanisms", len(res.Comparison))
	}
	for i, m := range res.Comparison {
		if len(m.W1) != 2 || len(m.Mean) != 30 {
			t.Fatalf("%s: %d distances, %d cells", m.Name, len(m.W1), len(m.Mean))
		}
		sum := 0.0
		for _, v := range m.Mean {
			sum += v
		}
		const tol = 1e-12 // 30 cells of 30 users
		if !(math.Abs(sum-1) <= tol) || !(m.W1[1] < m.W1[0]) || i > 1 && !(res.Comparison[1].W1[1] < m.W1[1]) {
			t.Errorf("%s: the mean sums to %v, W1 %v", m.Name, sum, m.W1)
		}
	}
	if p, x := res.Comparison[0], res.Comparison[1]; !(p.W1[0] <= x.W1[0] && p.W1[1] <= x.W1[1]) {
		t.Errorf("projection %v, mixture %v", p.W1, x.W1)
	}
	for _, p := range res.Policies {
		data, err := os.ReadFile(filepath.Join(cfg.Out, p.Name))
		if err != nil || len(data) != p.Bytes {
			t.Fatalf("%s: %d bytes, want %d, %v", p.Name, len(data), p.Bytes, err)
		}
		pol, err := policy.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		if err := policy.Verify(pol); err != nil {
			t.Fatal(err)
		}
		if id := pol.ID(); hex.EncodeToString(id[:]) != p.ID || pol.Mode() != p.Mode || pol.Epsilon().String() != "2" {
			t.Errorf("%s on disk is %v, want %+v", p.Name, pol, p)
		}
	}
	if len(res.Files) == 0 || filepath.Base(res.Files[0]) != "index.html" {
		t.Fatalf("files %q", res.Files)
	}
	checkPage(t, res, cfg.Out)
	checkMaps(t, res, cfg.Out)
	text := res.String()
	if !strings.HasPrefix(text, "From 30 reports at the privacy level ε = 2, the map is ") {
		t.Errorf("the summary does not lead with the answer:\n%s", text)
	}
	for _, s := range []string{"30 synthetic users", "6 x 5 cells", "ε = 2", "policy.json", "KPM", "randomised response",
		"simulation", "mixture mode", "index.html"} {
		if !strings.Contains(text, s) {
			t.Errorf("the summary lacks %q:\n%s", s, text)
		}
	}
}

// checkPage: the report leads with the sentence and the picture, opens no paragraph and no name with a symbol, spells
// out every short name, and links the page that Config.Page made, if there is one.
func checkPage(t *testing.T, res Result, dir string) {
	t.Helper()
	data, err := os.ReadFile(res.Files[0])
	if err != nil {
		t.Fatal(err)
	}
	html := string(data)
	last := -1
	for _, part := range []string{"<h1>", res.Sentence(), "One person", "<svg", "the chance of its report", "up to ",
		"at most 88 % sure", "What 30 reports at ε = 2 say",
		fmt.Sprintf("map, the estimate <span class=\"note\">%.2f cell widths from the truth", res.Learned.Map), "OUE at ε = 2",
		"share of the population in a place", "very many such people", "certified"} {
		at := strings.Index(html, part)
		if at <= last {
			t.Errorf("the report has %q at %d, want it after %d", part, at, last)
		}
		last = at
	}
	for _, tag := range []string{"<p>", `<p class="headline">`, "<h1>", "<h2>"} {
		for _, text := range strings.Split(html, tag)[1:] {
			first, _ := utf8.DecodeRuneInString(text)
			if !unicode.IsUpper(first) && !strings.HasPrefix(text, "wpm demo:") && !strings.HasPrefix(text, "<") {
				t.Errorf("the report opens with %.20q after %s", text, tag)
			}
		}
	}
	for _, name := range []string{"Wasserstein projection mechanism", "Kullback-Leibler projection",
		"optimized unary encoding (OUE)", "proportional to e^(-t d)", "KPM has the base measure of its authors",
		"One city is one draw", "the map is about", fmt.Sprintf("%.4f sides of the square", res.Worst/5)} { // 5 columns
		if !strings.Contains(html, name) {
			t.Errorf("the report does not say %s", name)
		}
	}
	if n := strings.Count(html, "<figcaption>truth"); n != 1 {
		t.Errorf("the truth is drawn %d times", n)
	}
	_, err = os.Stat(filepath.Join(dir, "playground.html"))
	if linked := strings.Contains(html, `href="playground.html"`); linked || err == nil {
		t.Errorf("a page that nobody made: linked %v, %v", linked, err)
	}
}

// checkMaps: every picture is a file of its own, XML with a panel for each map, and maps.csv has their numbers.
func checkMaps(t *testing.T, res Result, dir string) {
	t.Helper()
	for name, panels := range map[string]int{"person": 3, "map": 4, "mechanisms": 3} {
		data, err := os.ReadFile(filepath.Join(dir, name+".svg"))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(data), `<svg class="map"`); n != panels {
			t.Errorf("%s.svg has %d panels, want %d", name, n, panels)
		}
	}
	data, err := os.ReadFile(filepath.Join(dir, "maps.csv"))
	if err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil || len(lines) != 31 || len(lines[0]) != 2+3+4+3 {
		t.Fatalf("maps.csv has %d lines: %v", len(lines), err)
	}
	for j, name := range lines[0][2:] {
		sum := 0.0
		for _, line := range lines[1:] {
			v, err := strconv.ParseFloat(line[2+j], 64)
			if err != nil {
				t.Fatal(err)
			}
			sum += v
		}
		const tol = 1e-12 // 30 cells
		if !(math.Abs(sum-1) <= tol) {
			t.Errorf("%s sums to %v", name, sum)
		}
	}
}

// TestDeterministic: two runs of one seed write the same. Their page is written and linked, and its maker sees the
// result. TestRun makes none.
func TestDeterministic(t *testing.T) {
	read := func(dir string) map[string]string {
		t.Helper()
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]string{}
		for _, e := range entries {
			data, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			out[e.Name()] = string(data)
		}
		return out
	}
	var results []Result
	var folders []map[string]string
	for _, procs := range []int{1, 8} {
		old := runtime.GOMAXPROCS(procs)
		cfg := small
		cfg.Out, cfg.Epsilons = t.TempDir(), []string{"2"}
		var seen Result
		cfg.Page = func(r Result) []byte { seen = r; return []byte("a page") }
		res, err := Run(context.Background(), cfg)
		runtime.GOMAXPROCS(old)
		if err != nil {
			t.Fatal(err)
		}
		files := read(cfg.Out)
		if files["playground.html"] != "a page" || seen.Sentence() != res.Sentence() || len(seen.Comparison) == 0 {
			t.Errorf("page %q; seen %v", files["playground.html"], seen)
		}
		if !strings.Contains(files[filepath.Base(res.Files[0])], `href="playground.html"`) {
			t.Error("the report does not link the page")
		}
		folders = append(folders, files)
		res.Config.Page = nil // no two functions are equal
		res.Config.Out, res.Files = "", nil
		results = append(results, res)
	}
	if !reflect.DeepEqual(results[0], results[1]) {
		t.Error("two runs of one seed differ")
	}
	if !reflect.DeepEqual(folders[0], folders[1]) {
		t.Error("two runs of one seed write different files")
	}
	cfg := small
	cfg.Epsilons = []string{"2"}
	cfg.Seed++
	if res, err := Run(context.Background(), cfg); err != nil || reflect.DeepEqual(res.Modes, results[0].Modes) {
		t.Errorf("another seed gives the same releases (err %v)", err)
	}
}

func TestErrors(t *testing.T) {
	ctx := context.Background()
	for _, tt := range []struct {
		cfg  Config
		says string
	}{
		{Config{Users: -1}, "Users is -1"}, {Config{Rows: 41}, "Rows"}, {Config{Cols: -5}, "Cols"},
		{Config{Epsilon: "0"}, "Epsilon"}, {Config{Epsilon: "four"}, "four"},
		{Config{Epsilons: []string{"1", "x"}}, "Epsilons[1]"},
	} {
		if _, err := Run(ctx, tt.cfg); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("Run(%+v) = %v, want ErrConfig saying %q", tt.cfg, err, tt.says)
		}
	}
	c, eps, err := Config{Epsilon: "2.5", Epsilons: []string{"3", "1"}}.resolve()
	if err != nil || eps.String() != "2.5" || !reflect.DeepEqual(c.Epsilons, []string{"1", "2.5", "3"}) {
		t.Errorf("resolved %+v, %v", c, err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := Run(cancelled, small); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	cfg := small
	cfg.Out = filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(cfg.Out, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(ctx, cfg); err == nil {
		t.Error("a file in place of the folder: no error")
	}
}
