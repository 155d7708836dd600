package policy

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy/ledger"
)

// garbage writes one of many kinds of solver's answer into buf, which has room, and says which kind.
func garbage(r *rand.Rand, buf []float64, kv int) (q []float64, kind int) {
	q, sum := buf[:kv], 0.0
	for j := range q {
		q[j] = r.Float64()
		sum += q[j]
	}
	for j := range q { // a distribution, mostly outside the box
		q[j] /= sum
	}
	at := r.IntN(kv)
	kind = r.IntN(kinds)
	switch kind {
	case 0:
		return nil, kind
	case 1: // a wrong length
		return buf[:(kv+1+r.IntN(kv+1))%(2*kv)], kind
	case 2:
		q[at] = math.NaN()
	case 3:
		q[at] = math.Inf(1)
	case 4:
		q[at], q[(at+1)%kv] = math.Inf(-1), math.Inf(1)
	case 5:
		q[at] = -q[at]
	case 6: // huge; the sum may overflow
		q[at] = math.MaxFloat64
		q[(at+1)%kv] = math.MaxFloat64 * r.Float64()
	case 7: // subnormal, alone or beside a mass of 1
		clear(q)
		q[at] = math.Float64frombits(r.Uint64N(1 << 52))
		q[(at+1)%kv] += float64(r.IntN(2))
	case 8: // the sum off by about as much as is still taken
		q[at] += math.Ldexp(r.Float64()-0.5, -18)
	case 9: // the sum off by much
		q[at] += r.Float64() * 3
	case 10: // any bits
		for j := range q {
			q[j] = math.Float64frombits(r.Uint64())
		}
	case 11:
		clear(q)
	case 12:
		clear(q)
		q[at] = 1
	case 13: // minus zero, and one ulp too much
		q[at] = math.Copysign(0, -1)
		q[(at+1)%kv] = math.Nextafter(1, 2)
	}
	return q, kind
}

const kinds = 15 // 14 is the distribution as it is

// garbagePolicies are of the three shapes of a projection policy: with rows, without, and with the most bits.
func garbagePolicies(t testing.TB, limit time.Duration) []Policy {
	t.Helper()
	box, err := ldp.NewPolytope(mustEpsilon(t, "2.5"), []float64{0.2, 0, 0.4, 0.1, 0.2, 0.1}, 62)
	if err != nil {
		t.Fatal(err)
	}
	rows, bare := projectionConfig(t, true), projectionConfig(t, false)
	wide := Config{Polytope: box, Mode: Projection, Inputs: 3, InputLabels: []string{"home", "b", "c"}, Provenance: clean}
	var all []Policy
	for _, cfg := range []Config{rows, bare, wide} {
		cfg.WorkLimit = limit
		all = append(all, mustNew(t, cfg))
	}
	return all
}

// Many answers that no solver should give: the law of each release is a point of the box, and what it releases has a
// positive upper bound. All kinds come up, and some of them are taken as distributions, others not.
func TestGarbageSolvers(t *testing.T) {
	vectors := 200_000
	if !numtest.Full() {
		vectors = 10_000
	}
	const whole = 16 // one in 16 goes through Release, crypto/rand and all, the others through its law
	policies := garbagePolicies(t, maxWorkLimit)
	var wg sync.WaitGroup
	for worker := range 2 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(7, uint64(worker)))
			buf, private := make([]float64, 16), []byte("home,1\n")
			var q []float64
			project := ProjectFunc(func(context.Context, []float64) ([]float64, error) { return q, nil })
			var seen [kinds]int
			taken := 0
			word := bytes.NewReader(nil)
			for n := range vectors / 2 {
				p := policies[n%len(policies)]
				kv, kind := p.Outputs(), 0
				q, kind = garbage(r, buf, kv)
				seen[kind]++
				if isDistribution(q, kv) {
					taken++
				}
				if n%whole == 0 {
					report, err := Release(context.Background(), p, ledger.UnaccountedForTesting(), private, project)
					if err == nil {
						err = p.Belongs(report)
					}
					if err != nil {
						t.Errorf("%v: %v", q, err)
						return
					}
					continue
				}
				w := p.c.law(context.Background(), private, project, r.Uint64())
				if err := inBox(p, w); err != nil {
					t.Errorf("%v: %v", q, err)
					return
				}
				word.Reset(binary.LittleEndian.AppendUint64(nil, r.Uint64()))
				j, err := w.Sample(word)
				if err != nil || p.Polytope().Hi(j) == 0 || w.At(j) == 0 {
					t.Errorf("%v: output %d of weight %d, %v", q, j, w.At(j), err)
					return
				}
			}
			if slices.Min(seen[:]) == 0 || taken < vectors/20 || taken > vectors/3 {
				t.Errorf("kinds %v, %d taken: the garbage is one-sided", seen, taken)
			}
		})
	}
	wg.Wait()
}

// hostile are solvers that do not come back, or not as a solver should.
func hostile(end <-chan struct{}) map[string]ProjectFunc {
	return map[string]ProjectFunc{
		"panics":             func(context.Context, []float64) ([]float64, error) { panic("solver") },
		"panics with nil":    func(context.Context, []float64) ([]float64, error) { panic(nil) },
		"panics when late":   func(ctx context.Context, _ []float64) ([]float64, error) { <-ctx.Done(); panic(ctx.Err()) },
		"ends its goroutine": func(context.Context, []float64) ([]float64, error) { runtime.Goexit(); return nil, nil },
		"ends it with a panic pending": func(context.Context, []float64) ([]float64, error) {
			defer runtime.Goexit()
			panic("solver")
		},
		"panics in a deferred call": func(context.Context, []float64) ([]float64, error) {
			defer func() { panic("second") }()
			panic("first")
		},
		"overwrites mu and fails": func(_ context.Context, mu []float64) ([]float64, error) {
			for i := range mu {
				mu[i] = math.NaN()
			}
			return mu, errors.New("no")
		},
		"never returns": func(context.Context, []float64) ([]float64, error) { <-end; return []float64{1, 0, 0, 0}, nil },
		"never returns, and holds a lock that it takes again": func(context.Context, []float64) ([]float64, error) {
			held := make(chan struct{}, 1)
			held <- struct{}{}
			select {
			case held <- struct{}{}:
			case <-end:
			}
			return nil, nil
		},
	}
}

// A hundred solvers of each hostile sort at once, under a work limit of 5 ms: every release is there, and in the box.
// (A deadlock would be the end of the test by go test's own limit.)
func TestHostileSolvers(t *testing.T) {
	const solvers, limit = 100, 5 * time.Millisecond
	end := make(chan struct{})
	defer close(end)
	policies := garbagePolicies(t, limit)
	for name, project := range hostile(end) {
		var wg sync.WaitGroup
		for n := range solvers {
			wg.Go(func() {
				p := policies[n%len(policies)]
				r, err := Release(context.Background(), p, ledger.UnaccountedForTesting(), []byte("home,1\n"), project)
				if err == nil {
					err = p.Belongs(r)
				}
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				w, want := p.c.law(context.Background(), []byte("home,1\n"), project, 0), p.Fallback()
				if p.HasRows() {
					want, _ = p.Row(0)
				}
				if err := inBox(p, w); err != nil || !slices.Equal(weights(w), weights(want)) {
					t.Errorf("%s: law %v, want %v: %v", name, weights(w), weights(want), err)
				}
			})
		}
		wg.Wait()
	}
}

// The same under one ledger: a solver that never returns holds up the others for its work limit, not for ever, and pays
// once.
func TestHostileSolversShareALedger(t *testing.T) {
	const solvers = 20
	end := make(chan struct{})
	defer close(end)
	l := openLedger(t, "e", "1000")
	sorts := hostile(end)
	names := make([]string, 0, len(sorts))
	for name := range sorts {
		names = append(names, name)
	}
	slices.Sort(names)
	var wg sync.WaitGroup
	for n := range solvers {
		cfg := projectionConfig(t, n%2 == 0)
		cfg.WorkLimit = 5 * time.Millisecond
		cfg.Provenance.Note = strconv.Itoa(n)
		p := mustNew(t, cfg)
		wg.Go(func() {
			r, err := Release(context.Background(), p, l, []byte("home,1\n"), sorts[names[n%len(names)]])
			if err == nil {
				err = p.Belongs(r)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	wantSpent(t, l, "30") // 20 times 3/2
}

// From here on: checks that take the implementation as an argument, the named tests that give them the real one, and
// TestPlantedBugs, which gives them wrong ones.

// released is release with a function in place of a Projector.
func released(ctx context.Context, p Policy, l ledger.Ledger, private []byte, project ProjectFunc, random io.Reader) (Report,
	error) {
	return release(ctx, p, l, private, project, random)
}

type releaser func(ctx context.Context, p Policy, l ledger.Ledger, private []byte, project ProjectFunc,
	random io.Reader) (Report, error)

// checkReleaseLaw runs releases over every word of the sampler, three draws of the mixture and several clients, two
// releases from one source, and compares the frequencies with the published rows, the fallback, or the rounded answer
// of the solver.
func checkReleaseLaw(t testing.TB, rel releaser) error {
	t.Helper()
	// Unlike in smallConfig, hardly a cumulative weight is even: the last bit of a word matters.
	cfg := smallConfig(t)
	box, err := ldp.NewPolytopeFromBounds(mustEpsilon(t, "3/2"), []uint64{31, 19, 41, 0}, []uint64{131, 79, 160, 0},
		smallBits)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Polytope, cfg.Fallback = box, mustRow(t, box, []uint64{101, 48, 107, 0})
	cfg.Rows = []Row{mustRow(t, box, []uint64{131, 78, 47, 0}), mustRow(t, box, []uint64{31, 65, 160, 0}),
		mustRow(t, box, []uint64{131, 19, 106, 0})}
	mixture := mustNew(t, cfg)
	cfg.Mode, cfg.Rows = Projection, nil
	bare := mustNew(t, cfg)
	corner := []float64{0.7, 0.1, 0.2, 0}
	good := func(context.Context, []float64) ([]float64, error) { return corner, nil }
	bad := func(context.Context, []float64) ([]float64, error) { return []float64{math.NaN(), 1, 0, 0}, nil }
	broken := func(context.Context, []float64) ([]float64, error) { panic("solver") }
	row := func(i int) ldp.Weights {
		w, err := mixture.Row(i)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	type client struct {
		name, private string
		p             Policy
		project       ProjectFunc
		picks         []uint64
		want          []ldp.Weights // for each pick
	}
	all := []uint64{0, 1 << 63, math.MaxUint64}
	same := func(w ldp.Weights) []ldp.Weights { return []ldp.Weights{w, w, w} }
	for _, c := range []client{
		{"first input", "home,1", mixture, nil, all, same(row(0))},
		{"second input", "\"say \"\"hi\"\", x\\y\",2", mixture, nil, all, same(row(1))},
		{"last input", "køb 🚲,2", mixture, nil, all, same(row(2))},
		{"two inputs", "home,1\nkøb 🚲,1", mixture, nil, all, []ldp.Weights{row(0), row(2), row(2)}},
		{"no data", "", mixture, nil, all, same(mixture.Fallback())},
		{"bad data", "home,1\nx", mixture, nil, all, same(mixture.Fallback())},
		{"projection", "home,1", bare, good, all, same(bare.Polytope().Round(corner))},
		{"projection, no data", "", bare, good, all, same(bare.Fallback())},
		{"garbage", "home,1", bare, bad, all, same(bare.Fallback())},
		{"panic", "home,1", bare, broken, all, same(bare.Fallback())},
	} {
		for i, pick := range c.picks {
			counts := make([]uint64, c.p.Outputs())
			for x := range uint64(1) << (smallBits - 1) {
				var bytesOfBoth []byte // two releases from one source: the second must not repeat the first word
				for _, word := range []uint64{x, x + 1<<(smallBits-1)} {
					bytesOfBoth = append(binary.LittleEndian.AppendUint64(bytesOfBoth, pick), byte(word))
				}
				source := bytes.NewReader(bytesOfBoth)
				for range 2 {
					r, err := rel(context.Background(), c.p, ledger.UnaccountedForTesting(), []byte(c.private), c.project, source)
					if err == nil {
						err = c.p.Belongs(r)
					}
					if err != nil {
						return fmt.Errorf("%s, word %d: %w", c.name, x, err)
					}
					counts[r.Index()]++
				}
				if source.Len() > 0 {
					return fmt.Errorf("%s: %d random bytes unused", c.name, source.Len())
				}
			}
			if want := weights(c.want[i]); !slices.Equal(counts, want) {
				return fmt.Errorf("%s, draw %#x: outputs %v, want %v", c.name, pick, counts, want)
			}
		}
	}
	return nil
}

func TestReleaseLaw(t *testing.T) {
	if err := checkReleaseLaw(t, released); err != nil {
		t.Error(err)
	}
}

// checkTellsNothing asks for one length of report, and for one error text under each fault of the source, over all
// kinds of private bytes.
func checkTellsNothing(t testing.TB, rel releaser, marshal func(Report) ([]byte, error)) error {
	t.Helper()
	project := func(_ context.Context, mu []float64) ([]float64, error) { return append(slices.Clone(mu), 0), nil }
	for _, cfg := range []Config{smallConfig(t), projectionConfig(t, true), projectionConfig(t, false)} {
		p := mustNew(t, cfg)
		for n := range 10 { // bytes of the source; 9 are enough
			length, text := map[int]string{}, map[string]string{}
			for _, c := range given.PrivateCases() {
				for _, last := range []byte{0, 100, 255} { // and several outputs
					source := io.MultiReader(bytes.NewReader(append(make([]byte, 8), last)[:min(n, 9)]), errReader{})
					r, err := rel(context.Background(), p, ledger.UnaccountedForTesting(), []byte(c.Data), project, source)
					b, _ := marshal(r)
					length[len(b)], text[fmt.Sprint(err)] = c.Name, c.Name
				}
			}
			if len(length) != 1 || len(text) != 1 {
				return fmt.Errorf("%v, %d random bytes: lengths %v, errors %v", p, n, length, text)
			}
		}
	}
	return nil
}

func TestReleaseTellsNothing(t *testing.T) {
	if err := checkTellsNothing(t, released, Report.MarshalBinary); err != nil {
		t.Error(err)
	}
}

// checkBelongs asks that reports of another policy, of an output out of range and of an output of weight 0 are refused,
// and others not.
func checkBelongs(t testing.TB, belongs func(p Policy, r Report) error) error {
	t.Helper()
	cfg := smallConfig(t)
	p := mustNew(t, cfg)
	cfg.Provenance.Note += "."
	next := mustNew(t, cfg) // the policy's successor: the same box under another ID
	for _, c := range []struct {
		name string
		r    Report
		ok   bool
	}{
		{"its own", Report{p.ID(), 2}, true}, {"its first", Report{p.ID(), 0}, true}, {"stale", Report{next.ID(), 2}, false},
		{"weight 0", Report{p.ID(), 3}, false}, {"out of range", Report{p.ID(), 4}, false}, {"none", Report{}, false},
	} {
		if err := belongs(p, c.r); (err == nil) != c.ok {
			return fmt.Errorf("%s: %v", c.name, err)
		}
	}
	return nil
}

func TestReportsAreOfTheirPolicy(t *testing.T) {
	if err := checkBelongs(t, Policy.Belongs); err != nil {
		t.Error(err)
	}
}

// tamperings are files of testdata with edits that break the box, a row or the form, each as old and new text.
func tamperings() []struct {
	file  string
	edits [][2]string
} {
	return []struct {
		file  string
		edits [][2]string
	}{
		{"small.json", [][2]string{
			{`["130"`, `["135"`},                    // floor(30 e^1.5) = 134
			{`["30"`, `["29"`},                      // 130 > 29 e^1.5
			{`"160","0"]`, `"160","1"]`},            // an upper bound without a lower one
			{`"epsilon":"1.5"`, `"epsilon":"1.45"`}, // 130 > 30 e^1.45
			{`"epsilon":"1.5"`, `"epsilon":"3/2"`},  // the same, in another spelling
			{`"epsilon":"1.5"`, `"epsilon":"3/0"`},  //
			{`"epsilon":"1.5"`, `"epsilon":"65"`},   // every box would pass
			{`"bits":8`, `"bits":9`},                // sum hi < 2^9
			{`"bits":8`, `"bits":6`},                // sum lo > 2^6
			{`"bits":8`, `"bits":true`},             //
			{`[2,"6"]`, `[2,"7"]`},                  // a row that sums to 257
			{`[2,"6"]`, `[2,"5"]`},                  // a row that sums to 255
			{`"full":[0,1]`, `"full":[0]`},          // a row that lost a column
			{`"full":[0,1]`, `"full":[1,0]`},        // out of order
			{`"full":[0,1]`, `"full":[0,0]`},        // a column twice
			// the first column, for who counts from the end
			{`"full":[0,1]`, `"full":[-4,1]`},
			{`"full":[0,1]`, `"full":[0,1,3]`},                                          // a column that cannot be raised
			{`"full":[0,1]`, `"full":[0,1,4]`},                                          // a column that is not there
			{`"full":[0,1],"extra":[[2,"6"]]`, `"full":[0,1],"extra":[[1,"6"]]`},        // raised twice
			{`"full":[0,1],"extra":[[2,"6"]]`, `"full":[0],"extra":[[1,"60"],[2,"6"]]`}, // up to hi, in another spelling
			{`"full":[2],"extra":[[1,"46"]]`, `"full":[2],"extra":[[0,"0"],[1,"46"]]`},  // by nothing
			{`[[0,"70"],[1,"30"],`, `[[1,"30"],[0,"70"],`},                              // out of order
			{`[0,"70"],`, ``}, // a fallback that lost a column
			{`[0,"70"],[1,"30"],[2,"66"]`, `[0,"90"],[1,"70"],[2,"6"]`},          // 70 more than lo is outside, the sum is right
			{`"full":[2],"extra":[[1,"46"]]`, `"full":[0,2],"extra":[]`},         // too much at once
			{"\"bits\":8,\n", "\"bits\":8,\n\"bits\":8,\n"},                      // a member twice
			{"\"bits\":8,\n", "\"bits\":8,\n\"delta\":0,\n"},                     // a member that is none
			{`"geometry":"public",`, `"geometry":"public","geometry":"public",`}, // twice, further in
			{`{"a":"",`, `{"a":"","a":"",`},                                      //
			{`"bits":8`, `"bits": 8`},
			{`["30"`, `["030"`},
			{`["30"`, `[30`},
			{`["30"`, `[["30"]`},
			{`"n":4`, `"n": 4`},
			{`{"full":[2],"extra":[[1,"46"]]}`, `{"extra":[[1,"46"]],"full":[2]}`},
			{`{"full":[2],"extra":[[1,"46"]]}`, `{"full":[2],"extra":[[1,"46",0]]}`},
			{`"lo":["30","20","40","0"]`, `"lo":["130","80","160","0"]`}, // alpha for beta
			{"{\"full\":[0],\"extra\":[[2,\"66\"]]}\n",
				"{\"full\":[0],\"extra\":[[2,\"66\"]]},\n{\"full\":[0],\"extra\":[[2,\"66\"]]}\n"},
		}},
		{"ring.json", [][2]string{ // one unit in 2^60, which no float can see
			{`"hi":["1078971667508474614"`, `"hi":["1078971667508474615"`},
			{`"lo":["197110346573503636"`, `"lo":["197110346573503635"`},
			{`"725226857111973996"`, `"725226857111973997"`},
			{`"571503989831061228"`, `"571503989831061227"`},
		}},
	}
}

// tampered calls f with each file of testdata that has tamperings, and with each of these.
func tampered(t testing.TB, f func(text, how string, good bool)) {
	t.Helper()
	for _, c := range tamperings() {
		data, err := os.ReadFile(filepath.Join("testdata", c.file))
		if err != nil {
			t.Fatal(err)
		}
		f(string(data), c.file, true)
		for _, e := range c.edits {
			bad := strings.Replace(string(data), e[0], e[1], 1)
			if bad == string(data) {
				t.Fatalf("%s has no %s", c.file, e[0])
			}
			f(bad, fmt.Sprintf("%s with %q for %q", c.file, e[1], e[0]), false)
		}
	}
}

// checkTampering asks that a decoder takes the files of testdata, and none of their tamperings.
func checkTampering(t testing.TB, decode func([]byte) error) (first error) {
	t.Helper()
	tampered(t, func(text, how string, good bool) {
		if err := decode([]byte(text)); first == nil && good != (err == nil) {
			first = fmt.Errorf("%s: accepted %v, %v", how, err == nil, err)
		}
	})
	return first
}

func decodes(data []byte) error {
	p, err := Decode(data)
	if err != nil {
		return err
	}
	return Verify(p)
}

func TestTamperingIsRefused(t *testing.T) {
	if err := checkTampering(t, decodes); err != nil {
		t.Error(err)
	}
}

// A planted bug is one mistake, and the named test whose check refuses it.
type planted struct {
	bug, caughtBy string
	check         func(t testing.TB) error
}

func plantedBugs() []planted {
	var all []planted
	law := func(bug string, f releaser) {
		all = append(all, planted{bug, "TestReleaseLaw", func(t testing.TB) error { return checkReleaseLaw(t, f) }})
	}
	// with releases by the real thing after a change of its arguments.
	type arguments struct {
		p       Policy
		private []byte
		project ProjectFunc
		random  io.Reader
	}
	with := func(change func(*arguments)) releaser {
		return func(ctx context.Context, p Policy, l ledger.Ledger, private []byte, project ProjectFunc, random io.Reader) (Report,
			error) {
			a := arguments{p, private, project, random}
			change(&a)
			r, err := release(ctx, a.p, l, a.private, a.project, a.random)
			if err == nil {
				r.id = p.c.id
			}
			return r, err
		}
	}
	usable := func(a *arguments) bool { _, err := ParsePrivate(a.p, a.private); return err == nil }
	law("fallback row lost: the first input's row instead", with(func(a *arguments) {
		if !usable(a) {
			a.private = []byte("home,1")
		}
	}))
	law("fallback row lost: an error instead",
		func(ctx context.Context, p Policy, l ledger.Ledger, private []byte, project ProjectFunc, random io.Reader) (Report, error) {
			if _, err := ParsePrivate(p, private); err != nil {
				return Report{}, err
			}
			return release(ctx, p, l, private, project, random)
		})
	law("random word reused: the mixture's word is the sampler's", with(func(a *arguments) {
		b := make([]byte, 9)
		_, _ = io.ReadFull(a.random, b)
		b[8] = b[7]
		a.random = bytes.NewReader(b)
	}))
	var first []byte
	law("random word reused across releases", with(func(a *arguments) {
		b := make([]byte, 9)
		_, _ = io.ReadFull(a.random, b)
		if first == nil {
			first = b
		}
		a.random = bytes.NewReader(first)
	}))
	law("last bit unprotected", with(func(a *arguments) {
		b := make([]byte, 9)
		_, _ = io.ReadFull(a.random, b)
		b[8] &^= 1
		a.random = bytes.NewReader(b)
	}))
	law("the mixture always draws the likeliest input", with(func(a *arguments) {
		b := make([]byte, 9)
		_, _ = io.ReadFull(a.random, b)
		clear(b[:8])
		a.random = bytes.NewReader(b)
	}))
	law("rows of a stale policy", with(func(a *arguments) {
		c := *a.p.c
		if c.Rows != nil {
			c.Rows = slices.Concat(c.Rows[1:], c.Rows[:1])
		}
		a.p = Policy{&c}
	}))
	law("dropped last column",
		func(ctx context.Context, p Policy, l ledger.Ledger, private []byte, project ProjectFunc, random io.Reader) (Report, error) {
			r, err := release(ctx, p, l, private, project, random)
			r.index = min(r.index, 1)
			return r, err
		})
	law("solver's floats renormalised and sampled as they are",
		func(ctx context.Context, p Policy, l ledger.Ledger, private []byte, project ProjectFunc, random io.Reader) (Report, error) {
			if p.Mode() == Mixture || !usable(&arguments{p: p, private: private}) {
				return release(ctx, p, l, private, project, random)
			}
			var q []float64
			func() {
				defer func() { _ = recover() }()
				q, _ = project(ctx, nil)
			}()
			b := make([]byte, 9)
			if _, err := io.ReadFull(random, b); err != nil {
				return Report{}, err
			}
			c, j := 0.0, 0
			for j = range q {
				if c += q[j]; float64(b[8])/256 < c {
					break
				}
			}
			return Report{p.c.id, uint32(j)}, nil
		})
	law("a solver's panic is an error",
		func(ctx context.Context, p Policy, l ledger.Ledger, private []byte, project ProjectFunc, random io.Reader) (r Report,
			err error) {
			if project != nil {
				defer func() {
					if e := recover(); e != nil {
						err = fmt.Errorf("%v", e)
					}
				}()
				if _, err := project(ctx, []float64{1, 0, 0}); err != nil {
					return Report{}, err
				}
			}
			return release(ctx, p, l, private, project, random)
		})

	tells := func(bug string, rel releaser, marshal func(Report) ([]byte, error)) {
		all = append(all, planted{bug, "TestReleaseTellsNothing",
			func(t testing.TB) error { return checkTellsNothing(t, rel, marshal) }})
	}
	tells("length of a report depends on the output", released, func(r Report) ([]byte, error) {
		return binary.AppendUvarint(r.id[:], uint64(r.index)<<6), nil
	})
	tells("error for private data that do not parse",
		func(ctx context.Context, p Policy, l ledger.Ledger, private []byte, project ProjectFunc, random io.Reader) (Report, error) {
			if _, err := ParsePrivate(p, private); err != nil {
				return Report{}, err
			}
			return release(ctx, p, l, private, project, random)
		}, Report.MarshalBinary)
	tells("random bytes read only as the data need them",
		func(ctx context.Context, p Policy, l ledger.Ledger, private []byte, project ProjectFunc, random io.Reader) (Report, error) {
			if _, err := ParsePrivate(p, private); err != nil { // the fallback needs no word for the mixture
				j, err := p.Fallback().Sample(random)
				return Report{p.c.id, uint32(max(j, 0))}, err
			}
			return release(ctx, p, l, private, project, random)
		}, Report.MarshalBinary)

	stale := func(bug string, f func(p Policy, r Report) error) {
		all = append(all, planted{bug, "TestReportsAreOfTheirPolicy", func(t testing.TB) error { return checkBelongs(t, f) }})
	}
	stale("stale policy: a report of another one accepted",
		func(p Policy, r Report) error { r.id = p.c.id; return p.Belongs(r) })
	stale("stale policy: half of the ID compared", func(p Policy, r Report) error {
		if bytes.Equal(r.id[32:], p.c.id[32:]) {
			r.id = p.c.id
		}
		return p.Belongs(r)
	})
	stale("outputs that are never released accepted", func(p Policy, r Report) error {
		if r.id != p.c.id || r.Index() >= p.Outputs() {
			return ErrReport
		}
		return nil
	})

	for bug, fill := range plantedFills() {
		if bug != "" {
			all = append(all, planted{bug, "TestThresholdRows", func(t testing.TB) error { return checkFill(t, fill) }})
		}
	}

	lenient := func(bug string, ignores func(err error, data []byte) bool) {
		all = append(all, planted{bug, "TestTamperingIsRefused", func(t testing.TB) error {
			return checkTampering(t, func(data []byte) error {
				if err := decodes(data); err == nil || ignores(err, data) {
					return nil
				} else {
					return err
				}
			})
		}})
	}
	lenient("box not verified when a policy is read", func(err error, _ []byte) bool { return errors.Is(err, ldp.ErrBox) })
	lenient("rows not verified when a policy is read", func(err error, _ []byte) bool { return errors.Is(err, ErrRow) })
	lenient("fallback not verified when a policy is read", func(err error, _ []byte) bool {
		return errors.Is(err, ErrRow) && strings.Contains(err.Error(), "fallback")
	})
	lenient("form not verified when a policy is read", func(err error, _ []byte) bool { return errors.Is(err, ErrFormat) })
	lenient("duplicate members taken", func(err error, data []byte) bool {
		var at *FormatError
		if !errors.As(err, &at) || at.Line < 3 {
			return false
		}
		lines := strings.Split(string(data), "\n")[at.Line-2 : at.Line]
		first, _, _ := strings.Cut(lines[0], ":")
		second, _, _ := strings.Cut(lines[1], ":")
		return first == second
	})
	lenient("number of rows not verified", func(err error, _ []byte) bool { return errors.Is(err, ErrShape) })
	lenient("box verified with floats", func(err error, data []byte) bool {
		var at *ldp.BoxError
		_, text, _ := strings.Cut(string(data), `"epsilon":"`)
		text, _, _ = strings.Cut(text, `"`)
		eps, _ := strconv.ParseFloat(text, 64)
		const slack = 1e-12 // what such code allows for its roundings
		return errors.As(err, &at) && strings.Contains(at.Reason, "e^") &&
			float64(at.Hi) <= math.Exp(eps)*float64(at.Lo)*(1+slack)
	})
	return all
}

// Every planted bug is refused by the check of the test that is named beside it.
func TestPlantedBugs(t *testing.T) {
	if err := checkFill(t, plantedFills()[""]); err != nil {
		t.Errorf("the fill without a bug: %v", err)
	}
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var text []byte
	for _, file := range files {
		more, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, more...)
	}
	for _, b := range plantedBugs() {
		if err := b.check(t); err == nil {
			t.Errorf("%s: not caught by %s", b.bug, b.caughtBy)
		} else {
			t.Logf("%s: %s: %v", b.bug, b.caughtBy, err)
		}
		if !bytes.Contains(text, []byte("\nfunc "+b.caughtBy+"(t *testing.T) {\n")) {
			t.Errorf("%s: there is no %s", b.bug, b.caughtBy)
		}
	}
}
