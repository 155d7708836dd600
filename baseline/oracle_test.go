package baseline_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/baseline"
	"github.com/wpm-go/wpm/wpmerr"
)

var oracles = map[string]func(k int, eps float64) (baseline.Oracle, error){
	"OUE": baseline.NewUnary, "subset selection": baseline.NewSubset, "OLH": baseline.NewHash,
}

// TestOracleReports draws the reports of three items, all 8 sets of them, and compares their shares with the protocol's
// definition: e^eps to 1 for sets of one size, or product laws.
func TestOracleReports(t *testing.T) {
	const (
		k, n = 3, 200_000
		eps  = 1.0
		// A share of n draws is within 5 standard deviations of its probability, at most sqrt(1/4n) each, but for 6 in 10^7.
		tol = 5 * 0.5 / 447.2
	)
	e := math.Exp(eps)
	want := map[string]func(set int, x int) float64{
		"OUE": func(set, x int) float64 {
			p := 1.0
			for j := range k {
				q := 1 / (e + 1)
				if j == x {
					q = 0.5
				}
				if set>>j&1 == 0 {
					q = 1 - q
				}
				p *= q
			}
			return p
		},
		"subset selection": func(set, x int) float64 { // d = round(3/(e+1)) = 1: sets of one item
			switch {
			case set == 1<<x:
				return e / (e + 2)
			case set == 1 || set == 2 || set == 4:
				return 1 / (e + 2)
			}
			return 0
		},
		"OLH": func(set, x int) float64 { // g = 4 values: the other items are in the set with probability 1/4 each
			p := 1.0
			for j := range k {
				q := 0.25
				if j == x {
					q = e / (e + 3)
				}
				if set>>j&1 == 0 {
					q = 1 - q
				}
				p *= q
			}
			return p
		},
	}
	for name, make := range oracles {
		o, err := make(k, eps)
		if err != nil {
			t.Fatal(err)
		}
		var p [k][1 << k]float64
		for x := range k {
			r := rand.New(rand.NewPCG(3, uint64(x)))
			for range n {
				var counts [k]uint64
				o.Draw(counts[:], x, r)
				set := 0
				for j, c := range counts {
					set |= int(c) << j
				}
				p[x][set] += 1. / n
			}
			for set, got := range p[x] {
				if w := want[name](set, x); !(math.Abs(got-w) <= tol) {
					t.Errorf("%s: P(set %03b | %d) = %v, want %v", name, set, x, got, w)
				}
			}
		}
		for x := range k { // the definition itself is eps-LDP
			for y := range k {
				for set := range 1 << k {
					if a, b := want[name](set, x), want[name](set, y); !(a <= e*b*(1+1e-14)) { // a few roundings
						t.Errorf("%s: P(set %03b | %d) = %v, P(.| %d) = %v", name, set, x, a, y, b)
					}
				}
			}
		}
	}
}

// TestOracleSupport: shares of drawn reports are Support's, for sets of several items.
func TestOracleSupport(t *testing.T) {
	const k, n, eps = 11, 40_000, 0.4
	const tol = 5 * 0.5 / 200 // as above
	for name, make := range oracles {
		o, err := make(k, eps)
		if err != nil {
			t.Fatal(err)
		}
		own, other := o.Support()
		var counts [k]uint64
		r := rand.New(rand.NewPCG(5, 6))
		for range n {
			o.Draw(counts[:], 7, r)
		}
		for j, c := range counts {
			w := other
			if j == 7 {
				w = own
			}
			if got := float64(c) / n; !(math.Abs(got-w) <= tol) {
				t.Errorf("%s: item %d is in %v of the reports, want %v", name, j, got, w)
			}
		}
	}
}

// TestSimplex: the nearest distribution is one, and no exchange of mass between two entries comes nearer.
func TestSimplex(t *testing.T) {
	const tol = 1e-12 // entries are below 2, and have a few roundings
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Float64Range(-2, 2), 1, 9).Draw(t, "x")
		q, err := baseline.Simplex(x)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for _, v := range q {
			sum += v
			if v < 0 {
				t.Fatalf("Simplex(%v) = %v", x, q)
			}
		}
		if !(math.Abs(sum-1) <= tol) {
			t.Fatalf("Simplex(%v) = %v, of mass %v", x, q, sum)
		}
		for i := range q {
			for j := range q { // the slope of moving mass from i to j
				if q[i] > 0 && (q[j]-x[j])-(q[i]-x[i]) < -tol {
					t.Fatalf("Simplex(%v) = %v: better from %d to %d", x, q, i, j)
				}
			}
		}
	})
}

func TestOracleErrors(t *testing.T) {
	for name, make := range oracles {
		for _, eps := range []float64{0, -1, math.Inf(1), math.NaN()} {
			if _, err := make(3, eps); !errors.Is(err, wpmerr.ErrEpsilon) {
				t.Errorf("%s at eps %v: %v", name, eps, err)
			}
		}
		if _, err := make(0, 1); !errors.Is(err, wpmerr.ErrShape) {
			t.Errorf("%s of no items: %v", name, err)
		}
		o, err := make(2, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, bad := range []error{
			o.Estimate([]float64{0}, []uint64{1, 1}, 2), o.Estimate([]float64{0, 0}, []uint64{1, 3}, 2),
			o.Estimate([]float64{0, 0}, []uint64{0, 0}, 0),
		} {
			if !errors.Is(bad, wpmerr.ErrShape) {
				t.Errorf("%s: %v", name, bad)
			}
		}
	}
	if _, err := baseline.Simplex([]float64{1, math.NaN()}); !errors.Is(err, wpmerr.ErrNotFinite) {
		t.Error(err)
	}
	if _, err := baseline.Simplex(nil); !errors.Is(err, wpmerr.ErrShape) {
		t.Error(err)
	}
}
