package numtest

import (
	"fmt"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"testing"
)

// recorder is a test that remembers how it went.
type recorder struct {
	testing.TB
	errors []string
	fatal  bool
}

func (r *recorder) Helper()                   {}
func (r *recorder) Errorf(f string, a ...any) { r.errors = append(r.errors, fmt.Sprintf(f, a...)) }
func (r *recorder) Fatalf(f string, a ...any) { r.Errorf(f, a...); r.fatal = true; panic(r) }
func (r *recorder) Fatal(a ...any)            { r.Fatalf("%s", fmt.Sprint(a...)) }

// run reports whether f failed, and whether it stopped.
func run(f func(t testing.TB)) (failed, fatal bool) {
	r := new(recorder)
	func() {
		defer func() {
			if p := recover(); p != nil && p != any(r) {
				panic(p)
			}
		}()
		f(r)
	}()
	return len(r.errors) > 0, r.fatal
}

func TestComparisons(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	exact := Tol{Why: "exact"}
	third := ParseRat(t, "1/3")
	dir := t.TempDir()
	path := filepath.Join(dir, "a.json")
	if err := os.WriteFile(path, []byte("{\n  \"A\": 1\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	type A struct{ A int }
	type B struct{ B int }
	for _, c := range []struct {
		name          string
		f             func(t testing.TB)
		failed, fatal bool
	}{
		{"near equal", func(t testing.TB) { Near(t, "x", 1, 1, exact) }, false, false},
		{"near within", func(t testing.TB) { Near(t, "x", 1, 1.5, Tol{Abs: 0.5, Why: "w"}) }, false, false},
		{"near relative", func(t testing.TB) { Near(t, "x", 90, 100, Tol{Rel: 0.1, Why: "w"}) }, false, false},
		{"near outside", func(t testing.TB) { Near(t, "x", 1, 2, Tol{Abs: 0.5, Why: "w"}) }, true, false},
		{"near inf", func(t testing.TB) { Near(t, "x", inf, inf, exact) }, false, false},
		{"near inf and -inf", func(t testing.TB) { Near(t, "x", inf, -inf, Tol{Rel: 1, Why: "w"}) }, true, false},
		{"near finite and inf", func(t testing.TB) { Near(t, "x", 1, inf, Tol{Rel: 1, Why: "w"}) }, true, false},
		{"near nan", func(t testing.TB) { Near(t, "x", nan, nan, Tol{Abs: 1, Why: "w"}) }, true, false},
		{"no reason", func(t testing.TB) { Near(t, "x", 1, 1, Tol{Abs: 1}) }, true, true},
		{"nan tolerance", func(t testing.TB) { Near(t, "x", 1, 1, Tol{Abs: nan, Why: "w"}) }, true, true},
		{"slice", func(t testing.TB) { NearSlice(t, "x", []float64{1, 2}, []float64{1, 2}, exact) }, false, false},
		{"slice entry", func(t testing.TB) { NearSlice(t, "x", []float64{1, 2}, []float64{1, 3}, exact) }, true, false},
		{"slice length", func(t testing.TB) { NearSlice(t, "x", []float64{1}, nil, exact) }, true, false},
		{"rat", func(t testing.TB) { NearRat(t, "x", 1.0/3, third, Tol{Rel: 0x1p-53, Why: "rounding"}) }, false, false},
		{"rat is exact", func(t testing.TB) { NearRat(t, "x", 1.0/3, third, exact) }, true, false},
		{"rat nan", func(t testing.TB) { NearRat(t, "x", nan, third, Tol{Abs: 1, Why: "w"}) }, true, false},
		{"bits", func(t testing.TB) { SameBits(t, "x", []float64{nan, 0}, []float64{nan, 0}) }, false, false},
		{"bits of zeros", func(t testing.TB) { SameBits(t, "x", []float64{0}, []float64{math.Copysign(0, -1)}) }, true,
			false},
		{"equal", func(t testing.TB) { Equal(t, "x", A{1}, A{1}) }, false, false},
		{"not equal", func(t testing.TB) { Equal(t, "x", A{1}, A{2}) }, true, false},
		{"bad rat", func(t testing.TB) { ParseRat(t, "1.2.3") }, true, true},
		{"load", func(t testing.TB) { LoadJSON(t, path, new(A)) }, false, false},
		{"load with an unknown field", func(t testing.TB) { LoadJSON(t, path, new(B)) }, true, true},
		{"load nothing", func(t testing.TB) { LoadJSON(t, path+"x", new(A)) }, true, true},
		{"golden", func(t testing.TB) { Golden(t, path, A{1}) }, false, false},
		{"golden differs", func(t testing.TB) { Golden(t, path, A{2}) }, !*update, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if failed, fatal := run(c.f); failed != c.failed || fatal != c.fatal {
				t.Errorf("%s: failed %v, fatal %v, want %v, %v", c.name, failed, fatal, c.failed, c.fatal)
			}
		})
	}
}

func TestParseRat(t *testing.T) {
	if got := ParseRat(t, "-1.25e-3"); got.Cmp(big.NewRat(-1, 800)) != 0 {
		t.Errorf("ParseRat = %v, want -1/800", got)
	}
}

// The first outputs for seed 1234567, a vector published with the algorithm in many languages.
func TestSplitMix64(t *testing.T) {
	g := NewSplitMix64(1234567)
	for i, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431,
		16408922859458223821} {
		if got := g.Uint64(); got != want {
			t.Errorf("draw %d = %d, want %d", i, got, want)
		}
	}
	if x := NewSplitMix64(1).Float64(); !(x >= 0 && x < 1) {
		t.Errorf("Float64 = %v is not in [0, 1)", x)
	}
}
