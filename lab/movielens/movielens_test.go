package movielens

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/sinkhorn"
	"github.com/wpm-go/wpm/wpmerr"
)

// synthetic writes two files of made-up ratings: users and films have a taste, a kind from 0 to 3: users see films of
// their kind, and like them.
func synthetic(t *testing.T, dir string, zip bool) (ratings, films string) {
	t.Helper()
	const users, movies = 40, 120
	r := rand.New(rand.NewPCG(1, 2))
	var data, items bytes.Buffer
	for f := 1; f <= movies; f++ {
		flags := strings.Split(strings.Repeat("0", Genres), "")
		flags[f%4+1] = "1"
		flags[r.IntN(8)+1] = "1"
		fmt.Fprintf(&items, "%d|Film %d (1999)|01-Jan-1999||http://example.org|%s\n", f, f, strings.Join(flags, "|"))
	}
	for u := users; u >= 1; u-- { // not in order
		for n, f := range r.Perm(movies / 4) { // of the user's kind, and some of another
			film, stars := 4*f+u%4+1, 4+r.IntN(2)
			if n >= 24 {
				film, stars = 4*f+(u+1)%4+1, 1+r.IntN(2)
			}
			fmt.Fprintf(&data, "%d\t%d\t%d\t88125%d\n", u, film, stars, f)
		}
	}
	write := func(name string, b []byte) string {
		if zip {
			var z bytes.Buffer
			w := gzip.NewWriter(&z)
			if _, err := w.Write(b); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			b = z.Bytes()
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return write("u.data", data.Bytes()), write("u.item", items.Bytes())
}

func small(t *testing.T) Config {
	ratings, films := synthetic(t, t.TempDir(), false)
	return Config{Ratings: ratings, Films: films, Splits: 2, Scales: 5, Dimension: 8, Candidates: 12,
		Epsilons: []string{"1", "5"}, Lambda: 0.05}
}

// TestCutGzip: a file that ends in the middle is said to do so, and not to hold a bad line.
func TestCutGzip(t *testing.T) {
	ratings, films := synthetic(t, t.TempDir(), true)
	b, err := os.ReadFile(ratings)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(ratings, b[:len(b)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(ratings, films); !errors.Is(err, ErrData) || !errors.Is(err, io.ErrUnexpectedEOF) ||
		!strings.Contains(err.Error(), ratings+":") {
		t.Errorf("half a file: %v", err)
	}
	if err := os.WriteFile(films, bytes.Repeat([]byte{'1'}, 2*maxLine), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(ratings, films); !errors.Is(err, ErrData) ||
		!strings.Contains(err.Error(), films+":1: line of more than") {
		t.Errorf("a long line: %v", err)
	}
}

func TestStudy(t *testing.T) {
	cfg := small(t)
	cfg.Out = filepath.Join(t.TempDir(), "out")
	r, err := Run(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if r.Users != 40 || r.Films != 120 || r.Ratings != 1200 || len(r.Rows) != 8 {
		t.Fatalf("%d users, %d films, %d ratings, %d rows", r.Users, r.Films, r.Ratings, len(r.Rows))
	}
	rate := map[Method]float64{}
	for _, row := range r.Rows {
		if !(row.HitRate >= 0 && row.HitRate <= 1) || !(row.SE >= 0) || len(row.Splits) != 2 {
			t.Errorf("%+v", row)
		}
		if row.Epsilon == "5" {
			rate[row.Method] = row.HitRate
		}
		// The sweep is within the masses that have a box.
		for _, m := range row.Masses {
			if e := math.Exp(row.Eps / 2); !(m >= 1/e*(1-1e-15) && m <= e*(1+1e-15)) {
				t.Errorf("%s at eps %s chose mass %v", row.Method, row.Epsilon, m)
			}
		}
	}
	// With so clear a taste, knowing the film space helps.
	if !(rate[WPM] > rate[Uniform] && rate[Exponential] > rate[Uniform]) {
		t.Errorf("hit rates at eps 5: %v", rate)
	}
	for _, name := range []string{"index.html", "table.csv", "table.json", "splits.csv", "hitrate-eps.svg",
		"hitrate-eps.png"} {
		if info, err := os.Stat(filepath.Join(cfg.Out, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	page, err := os.ReadFile(filepath.Join(cfg.Out, "index.html"))
	if err != nil || !strings.Contains(string(page), "tuning on users") {
		t.Errorf("the page does not say that tuning is outside the guarantee: %v", err)
	}
}

// TestCeilings: the most popular film is what a count of likes says, and WPM at eps = infinity is the limit of WPM.
func TestCeilings(t *testing.T) {
	cfg, _, err := small(t).resolve()
	if err != nil {
		t.Fatal(err)
	}
	d, err := Load(cfg.Ratings, cfg.Films)
	if err != nil {
		t.Fatal(err)
	}
	p := drawn(d, 1)
	s, err := newSplit(d, cfg, p)
	if err != nil {
		t.Fatal(err)
	}
	likes := map[int]int{}
	for _, u := range s.validation {
		for _, j := range u.hits {
			likes[j]++
		}
	}
	for j, n := range likes {
		if n > likes[s.popular] || n == likes[s.popular] && j < s.popular {
			t.Errorf("candidate %d has %d likes, the most popular %d has %d", j, n, s.popular, likes[s.popular])
		}
	}
	// At eps = 40 and mass 1 the box is [2e-9, 1], so q differs from the limit by 12 such floors, and by what 40 rounds
	// do.
	const tol = 1e-6
	limit, err := newProjector(s.cost, cfg, 0).unbounded()(s.test[0])
	if err != nil {
		t.Fatal(err)
	}
	near, err := newProjector(s.cost, cfg, 40).withMass(1)
	if err != nil {
		t.Fatal(err)
	}
	q, err := near(s.test[0])
	if err != nil {
		t.Fatal(err)
	}
	for j, x := range q {
		if !(math.Abs(x-limit[j]) <= tol) {
			t.Errorf("q[%d] = %v at eps 40, %v at infinity", j, x, limit[j])
		}
	}
}

// TestDifferences: the paired differences of two splits, by hand. The quantile 0.975 of t with one degree of freedom is
// tan(0.475 pi).
func TestDifferences(t *testing.T) {
	const tol = 1e-12 // a few roundings, and the quantile's
	rows := []Row{{Method: WPM, Splits: []float64{0.5, 0.7}}, {Method: KPM, Epsilon: "1", Splits: []float64{0.4, 0.2}}}
	got := differences(rows, 1)
	if len(got) != 1 || got[0].Method != KPM || got[0].Epsilon != "1" {
		t.Fatalf("%+v", got)
	}
	half := 0.2 * math.Tan(0.475*math.Pi) // the standard error of 0.1 and 0.5 is 0.2
	for what, x := range map[string][2]float64{
		"mean": {got[0].Mean, 0.3}, "se": {got[0].SE, 0.2}, "low": {got[0].Low, 0.3 - half},
		"high": {got[0].High, 0.3 + half},
	} {
		if !(math.Abs(x[0]-x[1]) <= tol) {
			t.Errorf("%s = %v, want %v", what, x[0], x[1])
		}
	}
}

// TestSplitFile: splits from a file give what the same splits give when they are drawn, in any order of its lines, and
// no other result; faults are told with their line.
func TestSplitFile(t *testing.T) {
	cfg := small(t)
	want, err := Run(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	d, err := Load(cfg.Ratings, cfg.Films)
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{"split,kind,id"}
	for n := range 3 {
		p := drawn(d, uint64(n))
		for _, f := range p.testFilms {
			lines = append(lines, fmt.Sprintf("%d,film,%d", 10*n, d.Films[f]))
		}
		for _, u := range p.testedUsers {
			lines = append(lines, fmt.Sprintf("%d,user,%d", 10*n, d.Users[u]))
		}
	}
	slices.Reverse(lines[1:])
	path := filepath.Join(t.TempDir(), "splits.csv")
	write := func(lines ...string) {
		if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(lines...)
	cfg.SplitFile = path
	got, err := Run(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if got.Config.Splits != 2 ||
		fmt.Sprint(got.Rows, got.Ceilings, got.Differences) != fmt.Sprint(want.Rows, want.Ceilings, want.Differences) {
		t.Errorf("from the file: %+v\ndrawn: %+v", got.Rows, want.Rows)
	}
	cfg.Splits = 0
	if got, err = Run(context.Background(), cfg); err != nil || got.Config.Splits != 3 || len(got.Rows[0].Splits) != 3 {
		t.Errorf("all splits of the file: %d, %v", got.Config.Splits, err)
	}
	cfg.Splits = 4
	if _, err := Run(context.Background(), cfg); !errors.Is(err, ErrConfig) {
		t.Errorf("more splits than there are: %v", err)
	}
	cfg.Splits = 0
	good := "1,film,1\n1,user,1\n2,film,1\n2,user,1"
	for _, bad := range []string{
		"split,item,id\n" + good, "split,kind,id\n1,film,1\n1,user,1", "split,kind,id\n1,film,1\n" + good,
		"split,kind,id\n1,film,999\n" + good, "split,kind,id\n-1,film,1\n" + good, "split,kind,id\n3,film,1\n" + good,
		"split,kind,id\n1,song,1\n" + good, "split,kind,id\n1,film\n" + good, "split,kind,id\n1,film,x\n" + good, "",
	} {
		write(bad)
		if _, err := Run(context.Background(), cfg); !errors.Is(err, ErrData) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestPeak: the search finds the maximum of everything with one peak, also with a plateau or at an end, looks at no
// point twice, and tells an error.
func TestPeak(t *testing.T) {
	for count := 1; count <= 30; count++ {
		for top := range count {
			for _, slope := range []float64{-1, 0} { // beyond the top it falls, or stays
				calls := map[int]int{}
				got, err := peak(count, func(n int) (float64, error) {
					calls[n]++
					if n > top {
						return slope * float64(n-top), nil
					}
					return float64(n - top), nil
				})
				if err != nil || got != top {
					t.Fatalf("the peak of %d at %d with slope %v: %d, %v", count, top, slope, got, err)
				}
				for n, c := range calls {
					if c > 1 || n < 0 || n >= count {
						t.Fatalf("%d calls for %d of %d", c, n, count)
					}
				}
				if most := (count+stride-2)/stride + 1 + 4; len(calls) > most {
					t.Fatalf("%d calls of %d, want %d at most", len(calls), count, most)
				}
			}
		}
	}
	bad := errors.New("bad")
	if _, err := peak(9, func(n int) (float64, error) {
		if n == 2 {
			return 0, bad
		}
		return -float64(n), nil
	}); !errors.Is(err, bad) {
		t.Errorf("an error at 2: %v", err)
	}
}

// TestProjectorIsAlgorithmOne compares with the log-domain reference, round by round.
func TestProjectorIsAlgorithmOne(t *testing.T) {
	const tol = 1e-9 // of forty rounds, each with some hundred roundings, in a contraction
	r := rand.New(rand.NewPCG(5, 6))
	draw := func(n int) [][]float64 {
		x := make([][]float64, n)
		for i := range x {
			x[i] = make([]float64, 6)
			for d := range x[i] {
				x[i][d] = r.NormFloat64()
			}
		}
		return x
	}
	m, err := cost.NewCosine(draw(20), draw(15))
	if err != nil {
		t.Fatal(err)
	}
	c, err := cost.Materialize(context.Background(), m)
	if err != nil {
		t.Fatal(err)
	}
	for _, rounds := range []int{1, 2, 40} {
		for _, eps := range []float64{0.5, 3} {
			for _, mass := range []float64{0.9, 1, 1.2} {
				p := newProjector(c, Config{Lambda: 0.01, Rounds: rounds}, eps)
				rule, err := p.withMass(mass)
				if err != nil {
					t.Fatal(err)
				}
				u := user{support: []int{1, 4, 7, 19}, source: []float64{0.5, 0.25, 0.125, 0.125}}
				got, err := rule(u)
				if err != nil {
					t.Fatal(err)
				}
				lo, hi := make([]float64, c.Kv), make([]float64, c.Kv)
				for j := range lo {
					lo[j], hi[j] = math.Exp(-eps/2)*mass/float64(c.Kv), math.Exp(eps/2)*mass/float64(c.Kv)
				}
				want, err := sinkhorn.Project(context.Background(),
					sinkhorn.Problem{Problem: projection.Problem{Cost: c, Support: u.support, Source: u.source, Lo: lo, Hi: hi},
						Reg: 0.01},
					sinkhorn.Settings{Method: sinkhorn.Paper, MaxIterations: rounds})
				if err != nil && !errors.Is(err, wpmerr.ErrNotConverged) {
					t.Fatal(err)
				}
				if want.Iterations == rounds || err == nil {
					for j := range got {
						if math.Abs(got[j]-want.Q[j]) > tol {
							t.Errorf("%d rounds, eps %v, mass %v: q[%d] = %v, want %v", rounds, eps, mass, j, got[j], want.Q[j])
							break
						}
					}
				}
			}
		}
	}
}

// TestClip holds the projection against bisection.
func TestClip(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 300 {
		n := 2 + r.IntN(20)
		s, q := make([]float64, n), make([]float64, n)
		for j := range s {
			s[j] = math.Exp(30 * r.NormFloat64())
		}
		lo, hi := 0.9*r.Float64()/float64(n), (1.1+3*r.Float64())/float64(n)
		clip(s, lo, hi, r.Float64(), q)
		a, b := lo/slices.Max(s), hi/slices.Min(s)
		for range 3000 {
			t := math.Sqrt(a) * math.Sqrt(b)
			var sum float64
			for _, x := range s {
				sum += min(max(t*x, lo), hi)
			}
			if sum < 1 {
				a = t
			} else {
				b = t
			}
		}
		const tol = 1e-12
		for j, x := range s {
			if want := min(max(b*x, lo), hi); math.Abs(q[j]-want) > tol {
				t.Fatalf("s %v, box [%v, %v]: q[%d] = %v, want %v", s, lo, hi, j, q[j], want)
			}
		}
	}
}

func TestSameBits(t *testing.T) {
	cfg := small(t)
	var out [2][]byte
	for n, procs := range []int{1, 8} {
		old := runtime.GOMAXPROCS(procs)
		r, err := Run(context.Background(), cfg)
		runtime.GOMAXPROCS(old)
		if err != nil {
			t.Fatal(err)
		}
		if out[n], err = json.Marshal(r); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(out[0], out[1]) {
		t.Error("the result depends on GOMAXPROCS")
	}
}

// TestLoad: both forms of the files, in any order of lines.
func TestLoad(t *testing.T) {
	a, b := synthetic(t, t.TempDir(), false)
	plain, err := Load(a, b)
	if err != nil {
		t.Fatal(err)
	}
	a, b = synthetic(t, t.TempDir(), true)
	zipped, err := Load(a, b)
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(plain) != fmt.Sprint(zipped) {
		t.Error("the compressed files read differently")
	}
	if !slices.IsSorted(plain.Users) || !slices.IsSorted(plain.Films) || len(plain.Ratings) != 1200 {
		t.Errorf("%d ratings", len(plain.Ratings))
	}
}

func TestLoadErrors(t *testing.T) {
	dir := t.TempDir()
	flags := strings.TrimSuffix(strings.Repeat("0|", Genres), "|")
	film := func(id int) string { return fmt.Sprintf("%d|T|%s\n", id, flags) }
	for name, c := range map[string]struct{ data, items, want string }{
		"no films":        {"1\t1\t5\t0\n", "", "no films"},
		"no ratings":      {"", film(1), "no ratings"},
		"fields":          {"1\t1\t5\n", film(1), "u.data:1: 3 fields"},
		"user":            {"1\t1\t5\t0\nx\t1\t5\t0\n", film(1), `u.data:2: user "x"`},
		"rating":          {"1\t1\t6\t0\n", film(1), "u.data:1: rating 6"},
		"unknown film":    {"1\t2\t5\t0\n", film(1), "u.data:1: item 2"},
		"rated twice":     {"1\t1\t5\t0\n1\t1\t4\t0\n", film(1), "twice"},
		"film twice":      {"1\t1\t5\t0\n", film(1) + film(1), "twice"},
		"few flags":       {"1\t1\t5\t0\n", "1|T|0|1\n", "u.item:1: 4 fields"},
		"flag":            {"1\t1\t5\t0\n", strings.Replace(film(1), "|0\n", "|2\n", 1), `"2"`},
		"film id":         {"1\t1\t5\t0\n", strings.Replace(film(1), "1|T", "-1|T", 1), `item "-1"`},
		"truncated gzip":  {"\x1f\x8b\x08", film(1), "u.data"},
		"line too long":   {strings.Repeat("9", 1<<17), film(1), "u.data:1"},
		"negative rating": {"1\t1\t-5\t0\n", film(1), `rating "-5"`},
	} {
		a, b := filepath.Join(dir, "u.data"), filepath.Join(dir, "u.item")
		if err := errors.Join(os.WriteFile(a, []byte(c.data), 0o600), os.WriteFile(b, []byte(c.items), 0o600)); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(a, b); !errors.Is(err, ErrData) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if _, err := Load("u.data", filepath.Join(dir, "nothing")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []Config{
		{Splits: 1}, {Dimension: -1}, {Candidates: -1}, {Scales: -1}, {Rounds: -1}, {Like: 6}, {Lambda: math.NaN()},
		{Lambda: -1}, {Embedding: "moon"},
		{Epsilons: []string{}}, {Epsilons: []string{"2", "1"}}, {Epsilons: []string{"0"}},
	} {
		if _, err := Run(context.Background(), c); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	cfg := small(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Run(ctx, cfg); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	cfg.Candidates = 100
	if _, err := Run(context.Background(), cfg); !errors.Is(err, ErrTooFew) {
		t.Errorf("more candidates than test films: %v", err)
	}
	cfg.Candidates, cfg.Lambda = 12, 1e-6
	if _, err := Run(context.Background(), cfg); err == nil {
		t.Error("a kernel without entries went unnoticed")
	}
}

// TestResume: a run that was stopped after a split goes on there, with the same result; other settings start anew.
func TestResume(t *testing.T) {
	cfg := small(t)
	want, err := Run(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Out = filepath.Join(t.TempDir(), "out")
	ctx, cancel := context.WithCancel(context.Background())
	starts := 0
	cfg.Progress = func(done, total int, what string) {
		if what == "split 2" {
			cancel()
		}
	}
	if _, err := Run(ctx, cfg); !errors.Is(err, context.Canceled) {
		t.Fatalf("the run was not stopped: %v", err)
	}
	kept := filepath.Join(cfg.Out, checkpointName)
	if _, err := os.Stat(kept); err != nil {
		t.Fatal(err)
	}
	other := cfg
	other.Progress = func(done, total int, what string) {
		if what == "split 1" && done == 0 {
			starts++
		}
	}
	before, err := os.ReadFile(kept)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Run(context.Background(), other)
	if err != nil || starts != 0 {
		t.Errorf("split 1 was made %d times again, %v", starts, err)
	}
	want.Config.Out, got.Config.Out = "", ""
	if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		t.Errorf("resumed: %+v, want %+v", got, want)
	}
	if _, err := os.Stat(kept); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the kept splits are still there: %v", err)
	}
	for name, content := range map[string][]byte{"another protocol": before, "garbage": []byte("{")} {
		if err := os.WriteFile(kept, content, 0o600); err != nil {
			t.Fatal(err)
		}
		starts, other.Seed = 0, 9
		if _, err := Run(context.Background(), other); err != nil || starts != 1 {
			t.Errorf("%s: split 1 was made %d times, %v", name, starts, err)
		}
	}
}
