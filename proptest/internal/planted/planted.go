// Package planted tests laws: every law must accept a reference implementation and reject at least one planted error,
// and every planted error names the laws that must reject it.
package planted

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"math/big"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/proptest"
	"github.com/wpm-go/wpm/proptest/exact"
	"pgregory.net/rapid"
)

// recorder is the testing.TB that a law fails on when it should.
type recorder struct{ failed bool }

func (r *recorder) Helper()               {}
func (r *recorder) Name() string          { return "planted" }
func (r *recorder) Logf(string, ...any)   {}
func (r *recorder) Log(...any)            {}
func (r *recorder) Skipf(string, ...any)  { r.SkipNow() }
func (r *recorder) Skip(...any)           { r.SkipNow() }
func (r *recorder) SkipNow()              { runtime.Goexit() }
func (r *recorder) Errorf(string, ...any) { r.failed = true }
func (r *recorder) Error(...any)          { r.failed = true }
func (r *recorder) Fatalf(string, ...any) { r.FailNow() }
func (r *recorder) Fatal(...any)          { r.FailNow() }
func (r *recorder) FailNow()              { r.failed = true; runtime.Goexit() }
func (r *recorder) Fail()                 { r.failed = true }
func (r *recorder) Failed() bool          { return r.failed }

// mutantChecks is how many cases a law has to find a planted error: those of a normal run. The seed is fixed. At other
// seeds some take nearly as many.
const mutantChecks = 100

// Rejects runs a law without shrinking, fail files and random seeds.
func Rejects(t *testing.T, check func(*rapid.T)) bool {
	t.Helper()
	_, ok := casesOf(t, nil, check)
	return ok
}

// casesOf returns the number of the drawn case at which a law finds an error, 0 if one of its first instances does, and
// whether it finds it at all.
func casesOf(t *testing.T, firsts []func(proptest.TB), check func(*rapid.T)) (cases int, ok bool) {
	t.Helper()
	for _, law := range firsts {
		if failed(func(r *recorder) { law(r) }) {
			return 0, true
		}
	}
	first := 0
	checks := mutantChecks
	if testing.Short() {
		checks *= 5 // rapid divides by 5
	}
	for name, value := range map[string]string{
		"rapid.checks": big.NewInt(int64(checks)).String(), "rapid.nofailfile": "true", "rapid.shrinktime": "0s",
		"rapid.seed": "1",
	} {
		old := flag.Lookup(name).Value.String()
		if err := flag.Set(name, value); err != nil {
			t.Fatal(err)
		}
		defer flag.Set(name, old)
	}
	ok = failed(func(r *recorder) {
		rapid.Check(r, func(t *rapid.T) {
			cases++
			defer func() {
				x := recover()
				if t.Failed() || x != nil && fmt.Sprintf("%T", x) != "rapid.invalidData" { // which Skip panics with
					first = cmp.Or(first, cases) // rapid runs a failure again
				}
				if x != nil {
					panic(x)
				}
			}()
			check(t)
		})
	})
	if first == 0 { // no case failed, but too few were instances
		first = mutantChecks
	}
	return first, ok
}

// failed runs a law and reports whether it failed.
func failed(law func(*recorder)) bool {
	r := new(recorder)
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if x := recover(); x != nil { // a panic fails, too
				r.failed = true
			}
		}()
		law(r)
	}()
	<-done
	return r.failed
}

// An Error is an implementation with one planted error.
type Error[I any] struct {
	Name   string
	Impl   I
	Killed []string // the laws that must reject it

	// Equivalent, if not empty, says why the error breaks no statement. Every law must accept it.
	Equivalent string
}

// dear are laws with large instances. Planted errors need one drawn case of them, or only the fixed instances.
var dear = []string{"BaseCertificateLarge", "WeakDualityLarge", "IntervalNarrows"}

// Run is proptest.Run. If fewer cases are drawn than rapid's own number, only a third of those are of the dear laws.
func Run[I any](t *testing.T, laws []proptest.Law[I], impl I) {
	t.Helper()
	checks := flag.Lookup("rapid.checks")
	usual := checks.Value.String()
	few := usual
	if n, err := strconv.Atoi(usual); err == nil && n < 100 {
		few = strconv.Itoa((n + 2) / 3)
	}
	for n, l := range laws {
		drawn := usual
		if slices.Contains(dear, l.Name) {
			drawn = few
		}
		if err := checks.Value.Set(drawn); err != nil {
			t.Fatal(err)
		}
		proptest.Run(t, laws[n:n+1], impl)
	}
	if err := checks.Value.Set(usual); err != nil {
		t.Fatal(err)
	}
}

// Laws runs the laws on good and on the planted errors.
func Laws[I any](t *testing.T, laws []proptest.Law[I], good I, errors []Error[I]) {
	t.Run("reference", func(t *testing.T) { Run(t, laws, good) })
	kills := map[string]bool{}
	suite := strings.TrimSuffix(strings.TrimPrefix(t.Name(), "Test"), "Laws")
	for _, m := range errors {
		if (m.Equivalent == "") == (len(m.Killed) == 0) {
			t.Errorf("%s: either laws that reject it, or why none does", m.Name)
		}
		for _, name := range m.Killed {
			kills[name] = true
		}
		t.Run("mutant/"+m.Name, func(t *testing.T) {
			if m.Equivalent != "" {
				Run(t, laws, m.Impl)
				t.Logf("equivalent | %s | %s | %s", suite, m.Name, m.Equivalent)
			}
			for _, name := range m.Killed {
				at := slices.IndexFunc(laws, func(l proptest.Law[I]) bool { return l.Name == name })
				if at < 0 {
					t.Fatalf("no law %q", name)
				}
				var firsts []func(proptest.TB)
				for _, law := range laws[at].First {
					firsts = append(firsts, func(t proptest.TB) { law(t, m.Impl) })
				}
				cases, ok := casesOf(t, firsts, func(t *rapid.T) { laws[at].Check(t, m.Impl) })
				if !ok {
					t.Errorf("%s accepts a planted error: %s", name, m.Name)
				}
				t.Logf("power | %s | %s | %s | %d", suite, name, m.Name, cases)
			}
		})
	}
	for _, l := range laws { // counted apart from the subtests, which -run may leave out
		if !kills[l.Name] {
			t.Errorf("no planted error for %s", l.Name)
		}
	}
}

// Down returns r rounded down to a float.
func Down(r *big.Rat) float64 {
	f := exact.Float(r)
	if exact.Rat(f).Cmp(r) > 0 {
		f = math.Nextafter(f, math.Inf(-1))
	}
	return f
}

// Up returns r rounded up to a float.
func Up(r *big.Rat) float64 {
	f := exact.Float(r)
	if exact.Rat(f).Cmp(r) < 0 {
		f = math.Nextafter(f, math.Inf(1))
	}
	return f
}
