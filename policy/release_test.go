package policy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy/ledger"
	"github.com/wpm-go/wpm/policy/private"
)

// frequencies runs a release over every sampler word, with one word for the mixture's draw, and counts
// the outputs.
func frequencies(t *testing.T, p Policy, private string, project ProjectFunc, pick uint64) []uint64 {
	t.Helper()
	n := make([]uint64, p.Outputs())
	for w := range uint64(1) << smallBits {
		r, err := release(t.Context(), p, ledger.UnaccountedForTesting(), []byte(private), project, words(pick, w))
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Belongs(r); err != nil {
			t.Fatal(err)
		}
		n[r.Index()]++
	}
	return n
}

func weights(w ldp.Weights) []uint64 {
	n := make([]uint64, w.Len())
	for j := range n {
		n[j] = w.At(j)
	}
	return n
}

// Mixture: over all words, each output comes exactly as often as the published row says.
func TestMixtureFrequencies(t *testing.T) {
	p := mustNew(t, smallConfig(t))
	for i := range p.Inputs() {
		row, err := p.Row(i)
		if err != nil {
			t.Fatal(err)
		}
		counts := make([]float64, p.Inputs())
		counts[i] = 3
		private, err := FormatPrivate(p, counts)
		if err != nil {
			t.Fatal(err)
		}
		for _, pick := range []uint64{0, 1 << 63, math.MaxUint64} {
			if got := frequencies(t, p, string(private), nil, pick); !slices.Equal(got, weights(row)) {
				t.Errorf("input %d: %v, want %v", i, got, weights(row))
			}
		}
	}
}

// Mixture of 1 : 2 : 5, over the eight words that represent the eighths of all words, is the mixture of the
// rows, exactly.
func TestMixtureOfRows(t *testing.T) {
	p := mustNew(t, smallConfig(t))
	private, err := FormatPrivate(p, []float64{1, 2, 5})
	if err != nil {
		t.Fatal(err)
	}
	got, want := make([]uint64, 4), make([]uint64, 4)
	for eighth := range uint64(8) {
		for j, n := range frequencies(t, p, string(private), nil, eighth<<61) {
			got[j] += n
		}
	}
	for i, times := range []uint64{1, 2, 5} {
		row, err := p.Row(i)
		if err != nil {
			t.Fatal(err)
		}
		for j, n := range weights(row) {
			want[j] += times * n
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Projection: the law is that of ldp.Round of the solver's answer.
func TestProjectionFrequencies(t *testing.T) {
	p := mustNew(t, projectionConfig(t, false))
	for _, q := range [][]float64{{0.5, 0.3, 0.2, 0}, {1, 0, 0, 0}, {0, 0, 0, 1}, {0.25, 0.25, 0.25, 0.25}} {
		project := func(_ context.Context, mu []float64) ([]float64, error) {
			if !slices.Equal(mu, []float64{0.25, 0.75, 0}) {
				t.Errorf("mu = %v", mu)
			}
			return q, nil
		}
		want := weights(p.Polytope().Round(q))
		if got := frequencies(t, p, "home,1\n\"say \"\"hi\"\", x\\y\",3\n", project, 0); !slices.Equal(got, want) {
			t.Errorf("%v: %v, want %v", q, got, want)
		}
	}
}

// The privacy statement itself, on the whole channel: over all private cases and solvers, every weight is at
// most e^ε times every other client's, decided in rationals.
func TestWholeChannel(t *testing.T) {
	for _, cfg := range []Config{smallConfig(t), projectionConfig(t, true), projectionConfig(t, false)} {
		p := mustNew(t, cfg)
		least, most := make([]uint64, 4), make([]uint64, 4)
		for j := range least {
			least[j] = math.MaxUint64
		}
		for _, tc := range given.PrivateCases() {
			for _, stub := range stubs() {
				if stub.late || cfg.Mode == Mixture && stub.name != "error" {
					continue
				}
				picks := []uint64{0, 1 << 62, math.MaxUint64}
				if cfg.Mode == Projection && (cfg.Rows == nil || len(tc.Data) > 4096) { // the pick is not used, or costs much
					picks = picks[:1]
				}
				for _, pick := range picks {
					w := p.c.law(t.Context(), []byte(tc.Data), stub.project(t), pick)
					for j, n := range weights(w) {
						least[j], most[j] = min(least[j], n), max(most[j], n)
					}
				}
			}
		}
		below, _ := p.Epsilon().ExpBounds(64)
		for j := range least {
			bound := new(big.Rat).Mul(below, new(big.Rat).SetInt(new(big.Int).SetUint64(least[j])))
			if bound.Cmp(new(big.Rat).SetInt(new(big.Int).SetUint64(most[j]))) < 0 {
				t.Errorf("%v: output %d has weights from %d to %d", p, j, least[j], most[j])
			}
		}
	}
}

// stub is a solver that may do anything.
type stub struct {
	name    string
	project func(testing.TB) ProjectFunc
	usable  bool // its answer is used
	late    bool // it comes after the work limit
}

func stubs() []stub {
	returns := func(q ...float64) func(testing.TB) ProjectFunc {
		return func(testing.TB) ProjectFunc {
			return func(context.Context, []float64) ([]float64, error) { return q, nil }
		}
	}
	does := func(f ProjectFunc) func(testing.TB) ProjectFunc { return func(testing.TB) ProjectFunc { return f } }
	nan, inf := math.NaN(), math.Inf(1)
	return []stub{
		{name: "a corner", project: returns(1, 0, 0, 0), usable: true},
		{name: "off the box", project: returns(0, 0, 0, 1), usable: true},
		{name: "minus zero", project: returns(0.5, 0.5, math.Copysign(0, -1), 0), usable: true},
		{name: "nil", project: returns()},
		{name: "short", project: returns(0.5, 0.5, 0)},
		{name: "long", project: returns(0.5, 0.5, 0, 0, 0)},
		{name: "NaN", project: returns(nan, 0.5, 0.5, 0)},
		{name: "all NaN", project: returns(nan, nan, nan, nan)},
		{name: "Inf", project: returns(inf, 0, 0, 0)},
		{name: "Inf - Inf", project: returns(inf, -inf, 1, 0)},
		{name: "negative", project: returns(1.5, -0.5, 0, 0)},
		{name: "zeros", project: returns(0, 0, 0, 0)},
		{name: "overflow", project: returns(math.MaxFloat64, math.MaxFloat64, 0, 0)},
		{name: "sum 2", project: returns(0.5, 0.5, 0.5, 0.5)},
		{name: "error", project: does(func(context.Context, []float64) ([]float64, error) { return nil, errors.New("no") })},
		{name: "error with an answer", project: does(func(context.Context, []float64) ([]float64, error) {
			return []float64{1, 0, 0, 0}, errors.New("no")
		})},
		{name: "panic", project: does(func(context.Context, []float64) ([]float64, error) { panic("solver") })},
		{name: "nil panic", project: does(func(context.Context, []float64) ([]float64, error) { panic(nil) })},
		{name: "nil map", project: does(func(context.Context, []float64) ([]float64, error) {
			var m map[int]int
			//lint:ignore SA5000 a panic of the runtime
			m[0] = 1
			return nil, nil
		})},
		{name: "index out of range",
			project: does(func(_ context.Context, mu []float64) ([]float64, error) { return mu[:1:1][:9], nil })},
		{name: "Goexit", project: does(func(context.Context, []float64) ([]float64, error) {
			runtime.Goexit()
			return nil,
				nil
		})},
		{name: "writes to mu", project: does(func(_ context.Context, mu []float64) ([]float64, error) {
			clear(mu)
			return nil,
				nil
		})},
		{name: "never returns", late: true, project: func(t testing.TB) ProjectFunc {
			end := make(chan struct{})
			t.Cleanup(func() { close(end) })
			return func(context.Context, []float64) ([]float64, error) { <-end; return []float64{1, 0, 0, 0}, nil }
		}},
	}
}

// Whatever the solver does, the release lies in the box, and comes from the first law that is there.
func TestSolverStubs(t *testing.T) {
	for _, withRows := range []bool{true, false} {
		cfg := projectionConfig(t, withRows)
		for _, s := range stubs() {
			t.Run(fmt.Sprintf("%s, rows %v", s.name, withRows), func(t *testing.T) {
				cfg.WorkLimit = time.Hour
				if s.late {
					cfg.WorkLimit = time.Millisecond
				}
				p := mustNew(t, cfg)
				project := s.project(t)
				w := p.c.law(t.Context(), []byte("home,1\n"), project, 0)
				if err := inBox(p, w); err != nil {
					t.Fatal(err)
				}
				want := p.Fallback()
				if withRows {
					want, _ = p.Row(0)
				}
				if s.usable {
					q, err := project(t.Context(), []float64{1, 0, 0})
					if err != nil {
						t.Fatal(err)
					}
					want = p.Polytope().Round(q)
				}
				if !slices.Equal(weights(w), weights(want)) {
					t.Errorf("law %v, want %v", weights(w), weights(want))
				}
				r, err := Release(t.Context(), p, ledger.UnaccountedForTesting(), []byte("home,1\n"), project)
				if err != nil {
					t.Fatal(err)
				}
				if err := p.Belongs(r); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

func ended() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// A solver that waits for its context to end is in time: that context ends before the work limit. On a busy
// machine it may still be late, so the limit grows until it is not; only a solver that is never waited for
// fails the test.
func TestSolverHasTimeToAnswer(t *testing.T) {
	project := func(ctx context.Context, _ []float64) ([]float64, error) {
		<-ctx.Done()
		return []float64{1, 0, 0, 0}, nil
	}
	for limit := 20 * time.Millisecond; limit < time.Minute; limit *= 10 {
		if q := attempt(t.Context(), limit, project, []float64{1, 0, 0}, 4); q != nil {
			return
		}
	}
	t.Error("the answer is never used")
}

// Any vector at all, of any length.
func TestSolverGarbage(t *testing.T) {
	p := mustNew(t, projectionConfig(t, true))
	rapid.Check(t, func(t *rapid.T) {
		entry := rapid.OneOf(rapid.Float64Range(0, 1), rapid.Float64(),
			rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 0, 1, 2, 1e300}))
		q := rapid.SliceOfN(entry, 0, 6).Draw(t, "q")
		project := func(context.Context, []float64) ([]float64, error) { return q, nil }
		if err := inBox(p, p.c.law(context.Background(), []byte("home,1\nkøb 🚲,2"), project,
			rapid.Uint64().Draw(t, "word"))); err != nil {
			t.Fatal(err)
		}
	})
}

// The solver's slice is copied at once: what it does to it later changes nothing (and -race agrees).
func TestSolverKeepsItsAnswer(t *testing.T) {
	p := mustNew(t, projectionConfig(t, false))
	q := []float64{0.5, 0.5, 0, 0}
	project := func(context.Context, []float64) ([]float64, error) { return q, nil }
	got := attempt(t.Context(), time.Hour, project, []float64{1, 0, 0}, p.Outputs())
	q[0] = math.NaN()
	if !slices.Equal(got, []float64{0.5, 0.5, 0, 0}) {
		t.Errorf("%v", got)
	}
}

// For any private bytes whatever: no error, a report of the one length, of this policy, in the box.
func TestReleaseIsTotal(t *testing.T) {
	var project ProjectFunc = func(_ context.Context, mu []float64) ([]float64, error) {
		return append(slices.Clone(mu), 0), nil
	}
	for _, cfg := range []Config{smallConfig(t), projectionConfig(t, true), projectionConfig(t, false)} {
		p := mustNew(t, cfg)
		cases := append(given.PrivateCases(), given.PrivateCase{Name: "nil"})
		if numtest.Full() && cfg.Mode == Mixture { // where such data cost work
			cases = append(cases, given.PrivateCase{Name: "above MaxBytes", Data: strings.Repeat("home,1\n", private.MaxBytes/7+1)})
		}
		for _, tc := range cases {
			r, err := Release(t.Context(), p, ledger.UnaccountedForTesting(), []byte(tc.Data), project)
			if err != nil {
				t.Fatalf("%s: %v", tc.Name, err)
			}
			b, err := r.MarshalBinary()
			if err != nil || len(b) != ReportSize {
				t.Errorf("%s: %d bytes, %v", tc.Name, len(b), err)
			}
			if err := p.Belongs(r); err != nil {
				t.Errorf("%s: %v", tc.Name, err)
			}
			if len(tc.Data) > private.MaxBytes {
				continue
			}
			// Unusable data go to the fallback, and only those.
			w := p.c.law(t.Context(), []byte(tc.Data), project, 0)
			if isFallback := slices.Equal(weights(w), weights(p.Fallback())); tc.Counts == nil && !isFallback {
				t.Errorf("%s: not the fallback", tc.Name)
			} else if tc.Counts != nil && isFallback && (cfg.Mode == Mixture || cfg.Rows != nil) {
				t.Errorf("%s: the fallback for usable data", tc.Name)
			}
		}
	}
}

// The random source breaks after every number of bytes that is too few: an error, no report, and the debit
// stands. One byte more is never read.
func TestRandomSourceFailure(t *testing.T) {
	for _, tc := range []struct{ bits, bytes int }{{1, 9}, {8, 9}, {9, 10}, {16, 10}, {53, 15}, {62, 16}} {
		box, err := ldp.NewPolytope(mustEpsilon(t, "1"), []float64{0.5, 0.5}, tc.bits)
		if err != nil {
			t.Fatal(err)
		}
		p := mustNew(t, Config{Polytope: box, Mode: Projection, Inputs: 2, Provenance: clean})
		project := identity
		l, spent := openLedger(t, "e", "1000"), new(big.Rat)
		for n := range tc.bytes {
			for name, source := range map[string]io.Reader{
				"failing": failAfter(n), "short": bytes.NewReader(make([]byte, n)),
			} {
				for _, private := range []string{"0,1", "0,x", ""} {
					r, err := release(t.Context(), p, l, []byte(private), project, source)
					if !errors.Is(err, ErrRandom) || !r.IsZero() {
						t.Fatalf("%d bits, %s after %d: %v, %v", tc.bits, name, n, r, err)
					}
					if name == "failing" && n == 0 && !errors.Is(err, errSource) && private == "0,1" {
						t.Errorf("%v does not wrap the source's error", err)
					}
					if spent.Add(spent, big.NewRat(1, 1)); l.Spent().Cmp(spent) != 0 {
						t.Fatalf("spent %v, want %v", l.Spent(), spent)
					}
				}
			}
		}
		for _, private := range []string{"0,1", "1,3", "0,x", ""} {
			source := bytes.NewReader(make([]byte, 100))
			if _, err := release(t.Context(), p, ledger.UnaccountedForTesting(), []byte(private), project, source); err != nil {
				t.Fatal(err)
			}
			if used := 100 - source.Len(); used != tc.bytes {
				t.Errorf("%d bits, %q: %d random bytes, want %d", tc.bits, private, used, tc.bytes)
			}
		}
	}
}

// Errors come before the ledger is touched, and from arguments alone.
func TestReleaseErrors(t *testing.T) {
	p, proj := mustNew(t, smallConfig(t)), mustNew(t, projectionConfig(t, true))
	for _, private := range []string{"home,1", "nonsense"} {
		for _, tc := range []struct {
			name   string
			ctx    context.Context
			p      Policy
			ledger bool
			want   error
		}{
			{"zero policy", t.Context(), Policy{}, true, ErrPolicy},
			{"nil ledger", t.Context(), p, false, ledger.ErrUnusable},
			{"no project", t.Context(), proj, true, ErrProject},
			{"ended context", ended(), p, true, context.Canceled},
		} {
			l := openLedger(t, "e", "10")
			var given ledger.Ledger
			if tc.ledger {
				given = l
			}
			if r, err := Release(tc.ctx, tc.p, given, []byte(private), nil); !errors.Is(err, tc.want) || !r.IsZero() {
				t.Errorf("%s: %v, %v, want %v", tc.name, r, err, tc.want)
			}
			if l.Spent().Sign() != 0 {
				t.Errorf("%s: spent %v", tc.name, l.Spent())
			}
		}
	}
	var none *ledger.Books
	for _, l := range []ledger.Ledger{none, &ledger.Books{}} {
		if _, err := Release(t.Context(), p, l, nil, nil); !errors.Is(err, ledger.ErrUnusable) {
			t.Errorf("%#v: %v", l, err)
		}
	}
	if _, err := Release(nil, p, ledger.UnaccountedForTesting(), nil, nil); err != nil { //nolint:staticcheck
		t.Errorf("nil context: %v", err)
	}
}

// A context that ends during the solver ends the solver, not the release: an error would tell that the
// solver was slow.
func TestContextEndsDuringSolver(t *testing.T) {
	cfg := projectionConfig(t, true)
	cfg.WorkLimit = time.Hour
	p := mustNew(t, cfg)
	ctx, cancel := context.WithCancel(t.Context())
	end := make(chan struct{})
	defer close(end)
	var project ProjectFunc = func(context.Context, []float64) ([]float64, error) {
		cancel()
		<-end
		return nil, nil
	}
	l := openLedger(t, "e", "10")
	r, err := Release(ctx, p, l, []byte("home,1"), project)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Belongs(r); err != nil {
		t.Error(err)
	}
}

// A bug in this package would be no oracle: a panic on the private path gives the fallback.
func TestPanicGivesFallback(t *testing.T) {
	p := mustNew(t, smallConfig(t))
	p.c.Rows[0].full = []int32{99} // breaks the invariant that keeps secretRow from panicking
	w := p.c.law(t.Context(), []byte("home,1"), nil, 0)
	if !slices.Equal(weights(w), weights(p.Fallback())) {
		t.Errorf("law %v", weights(w))
	}
}

// Inputs of a release are not modified.
func TestReleaseLeavesInputs(t *testing.T) {
	p := mustNew(t, smallConfig(t))
	before := mustEncode(t, p)
	private := []byte("\"home\",1\nkøb 🚲,2\r\n")
	keep := bytes.Clone(private)
	if _, err := Release(t.Context(), p, ledger.UnaccountedForTesting(), private, nil); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(private, keep) || !bytes.Equal(before, mustEncode(t, p)) {
		t.Error("inputs changed")
	}
}

// Many releases at once, of several policies in both modes: one debit for each policy, one report.
func TestConcurrentReleases(t *testing.T) {
	n := 4000
	if !numtest.Full() {
		n = 400
	}
	policies := []Policy{mustNew(t, smallConfig(t)), mustNew(t, projectionConfig(t, true)),
		mustNew(t, projectionConfig(t, false))}
	var project ProjectFunc = func(context.Context, []float64) ([]float64, error) {
		return []float64{0.4, 0.3, 0.3, 0}, nil
	}
	l := openLedger(t, "e", "100")
	got := make([]Report, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			r, err := Release(context.Background(), policies[i%3], l, []byte("home,1"), project)
			if err != nil {
				t.Error(err)
			}
			got[i] = r
			l.Remaining()
		})
	}
	wg.Wait()
	for i, r := range got {
		if r != got[i%3] {
			t.Fatalf("report %d: %v, want %v", i, r, got[i%3])
		}
	}
	if want := big.NewRat(9, 2); l.Spent().Cmp(want) != 0 {
		t.Errorf("spent %v, want %v", l.Spent(), want)
	}
}

// A context that ends between the debit and the draw leaves the law as it is: mixture mode has nothing to wait for, and
// projection mode goes on with the mixture.
func TestLawAfterTheContext(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	cfg := smallConfig(t)
	second := geometryConfigs(t)["points2.json"]
	for _, cfg := range []Config{cfg, second} {
		for _, mode := range []Mode{Mixture, Projection} {
			cfg.Mode = mode
			p := mustNew(t, cfg)
			private := onlyInput(t, p, 0)
			want, err := p.Row(0)
			if err != nil || slices.Equal(weights(want), weights(p.Fallback())) {
				t.Fatalf("row %v, %v is no test", want, err)
			}
			never := func(ctx context.Context, _ []float64) ([]float64, error) { <-ctx.Done(); return nil, ctx.Err() }
			if w := p.c.law(ended, private, never, 0); !slices.Equal(weights(w), weights(want)) {
				t.Errorf("%v: %v, want %v", p, weights(w), weights(want))
			}
		}
	}
}

// TestSolverDeadline: a solver is asked to stop after three quarters of the work limit. Two limits four hours apart tell,
// without a clock: what passes between the two calls is all that can be off.
func TestSolverDeadline(t *testing.T) {
	const between = time.Hour
	ends := make(map[time.Duration]time.Time)
	for _, limit := range []time.Duration{4 * time.Hour, 8 * time.Hour} {
		attempt(context.Background(), limit, func(ctx context.Context, _ []float64) ([]float64, error) {
			ends[limit], _ = ctx.Deadline()
			return nil, nil
		}, nil, 1)
	}
	if d := ends[8*time.Hour].Sub(ends[4*time.Hour]) - 3*time.Hour; d < 0 || d > between {
		t.Errorf("the ends of limits 4 hours apart are 3 hours and %v apart", d)
	}
}

// TestSumWithinSlack: a sum that is off by just the slack is worth rounding.
func TestSumWithinSlack(t *testing.T) {
	for off, want := range map[float64]bool{massSlack: true, -massSlack: true, 2 * massSlack: false,
		-2 * massSlack: false} {
		if isDistribution([]float64{0.5, 0.5 + off}, 2) != want {
			t.Errorf("a sum of 1 + %v: %v", off, !want)
		}
	}
}
