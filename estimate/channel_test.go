package estimate

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	_ "github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/wpmerr"
	"pgregory.net/rapid"
)

// drawTable draws rows, often of two values a column but for a few, in units of their own.
func drawTable(t *rapid.T) [][]float64 {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	k, kv := 1+r.IntN(12), 1+r.IntN(20)
	ratio := math.Exp([]float64{0, 1, 5, 30}[r.IntN(4)])
	low := make([]float64, kv)
	for j := range low {
		low[j] = 1
		if r.IntN(2) == 0 {
			low[j] = 1 + r.Float64()
		}
	}
	odd, units := r.IntN(4), r.IntN(3) == 0
	rows := make([][]float64, k)
	for i := range rows {
		rows[i] = make([]float64, kv)
		from := r.IntN(kv + 1)
		to := from + r.IntN(kv+1-from)
		unit := 1.0
		if units {
			unit = math.Exp(300 * (2*r.Float64() - 1))
		}
		for j := range kv {
			v := low[j]
			if j >= from && j < to {
				v *= ratio
			}
			if odd > 0 && r.IntN(kv) < odd-1 {
				v = low[j] * (1 + r.Float64()*(ratio-1))
			}
			rows[i][j] = v * unit
		}
	}
	return rows
}

// TestChannelProducts holds both forms of a channel against sums written out.
func TestChannelProducts(t *testing.T) {
	forms := map[bool]int{}
	rapid.Check(t, func(t *rapid.T) {
		rows := drawTable(t)
		k, kv := len(rows), len(rows[0])
		c, err := NewChannel(k, kv, func(i int, dst []float64) { copy(dst, rows[i]) })
		if err != nil {
			t.Fatal(err)
		}
		forms[c.rows == nil]++
		checkProducts(t, c, rows)
	})
	if forms[true] == 0 || forms[false] == 0 {
		t.Errorf("runs %d times, plain rows %d times", forms[true], forms[false])
	}
}

// checkProducts holds what a channel computes against its rows.
func checkProducts(t *rapid.T, c *Channel, rows [][]float64) {
	k, kv := c.Dims()
	p := normal(rows)
	r := rand.New(rand.NewPCG(1, uint64(k)))
	theta, v := someTheta(r, k), make([]float64, kv)
	for j := range v {
		v[j] = r.ExpFloat64()
	}
	q, g := make([]float64, kv), make([]float64, k)
	q[0], g[0] = math.NaN(), math.NaN() // what is there before does not matter
	c.forward(theta, q)
	c.back(v, g)
	some := []int{r.IntN(k), r.IntN(k)}
	of := make([]float64, len(some))
	c.backOf(some, v, of)
	for l, i := range some {
		if of[l] != g[i] {
			t.Fatalf("backOf: input %d: %v, back has %v", i, of[l], g[i])
		}
	}
	// Twice the bound at maxRatio, which is for 10 000 outputs.
	const tol = 1e-8
	for j := range kv {
		want := 0.0
		for i := range k {
			want += theta[i] * p[i][j]
		}
		if !(math.Abs(q[j]-want) <= tol*want) {
			t.Fatalf("forward: output %d: %v, want %v", j, q[j], want)
		}
	}
	for i := range k {
		want := 0.0
		for j, x := range c.row(i) {
			want += p[i][j] * v[j]
			if !(math.Abs(x-p[i][j]) <= 1e-14*p[i][j]) {
				t.Fatalf("row %d, output %d: %v, want %v", i, j, x, p[i][j])
			}
		}
		if !(math.Abs(g[i]-want) <= tol*want) {
			t.Fatalf("back: input %d: %v, want %v", i, g[i], want)
		}
	}
}

// TestChannelRuns holds that the rows of a policy, and powers of two times them, are runs.
func TestChannelRuns(t *testing.T) {
	rows := discRows(8, 2, .2)
	for i, row := range rows {
		for j := range row {
			row[j] = math.Ldexp(row[j], 40-i)
		}
	}
	c := channelOf(t, rows)
	if c.rows != nil || len(c.odd) != 0 || len(c.runs) > 8*len(rows) {
		t.Errorf("%d runs, %d odd entries, plain: %v", len(c.runs), len(c.odd), c.rows != nil)
	}
}

func TestChannelErrors(t *testing.T) {
	fill := func(v ...float64) func(int, []float64) { return func(_ int, dst []float64) { copy(dst, v) } }
	for name, c := range map[string]struct {
		k, kv int
		row   func(int, []float64)
		want  error
	}{
		"no inputs":         {0, 2, fill(1, 1), wpmerr.ErrShape},
		"no outputs":        {2, 0, fill(), wpmerr.ErrShape},
		"product overflows": {math.MaxInt32, math.MaxInt32, fill(), wpmerr.ErrShape},
		"negative":          {2, 2, fill(1, -1), ErrChannel},
		"NaN":               {2, 2, fill(math.NaN(), 1), ErrChannel},
		"infinite":          {2, 2, fill(math.Inf(1), 1), ErrChannel},
		"all zero":          {2, 2, fill(0, 0), ErrChannel},
	} {
		if _, err := NewChannel(c.k, c.kv, c.row); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	for _, v := range []float64{math.MaxFloat64, math.SmallestNonzeroFloat64} { // the largest and the smallest units
		c, err := NewChannel(2, 3, fill(v, v, v))
		if err != nil {
			t.Fatal(err)
		}
		if got := c.row(1)[2]; math.Abs(got-1./3) > 1e-15 {
			t.Errorf("rows of %v: %v, want 1/3", v, got)
		}
	}
}

// TestJoin: the law of a joined channel is the laws of its parts, by weight, and whole counts are the same as weighted
// ones.
func TestJoin(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	random := func(k, kv int) *Channel {
		rows := make([]float64, k*kv)
		for i := range rows {
			rows[i] = r.Float64() + 0.1
		}
		c, err := NewChannel(k, kv, func(i int, dst []float64) { copy(dst, rows[i*kv:]) })
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	a, b := random(5, 4), random(5, 7)
	joined, err := Join([]*Channel{a, b}, []float64{1, 3})
	if err != nil {
		t.Fatal(err)
	}
	theta := []float64{0.1, 0.2, 0.3, 0.1, 0.3}
	law, err := joined.Law(theta)
	if err != nil {
		t.Fatal(err)
	}
	for n, c := range []*Channel{a, b} {
		want, err := c.Law(theta)
		if err != nil {
			t.Fatal(err)
		}
		for j, v := range want {
			if got := law[4*n+j]; math.Abs(got-v*[]float64{0.25, 0.75}[n]) > 1e-15 { // some roundings
				t.Errorf("part %d, output %d: %v, want %v by weight", n, j, got, v)
			}
		}
	}
	for name, bad := range map[string]func() error{
		"nothing":         func() error { _, err := Join(nil, nil); return err },
		"a weight short":  func() error { _, err := Join([]*Channel{a, b}, []float64{1}); return err },
		"other inputs":    func() error { _, err := Join([]*Channel{a, random(4, 4)}, []float64{1, 1}); return err },
		"a weight of 0":   func() error { _, err := Join([]*Channel{a, b}, []float64{0, 1}); return err },
		"a weight of NaN": func() error { _, err := Join([]*Channel{a, b}, []float64{math.NaN(), 1}); return err },
	} {
		if err := bad(); !errors.Is(err, wpmerr.ErrShape) && !errors.Is(err, ErrChannel) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// drawMixture draws rows of equal sum in integers, as of a policy: parts in each of which a row raises some outputs, and
// often one more by less.
func drawMixture(t *rapid.T) [][]float64 {
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
	rows := make([][]float64, 1+r.IntN(12))
	for range 1 + r.IntN(4) {
		n := 4 + r.IntN(30)
		low, step := float64(1+r.IntN(1000)), float64(r.IntN(1_000_000))
		full, rest := 1+r.IntN(n/4), step*float64(r.IntN(3))/4
		for i := range rows {
			part := make([]float64, n)
			for a, j := range r.Perm(n) {
				switch part[j] = low; {
				case a < full:
					part[j] += step
				case a == full:
					part[j] += rest
				}
			}
			rows[i] = append(rows[i], part...)
		}
	}
	return rows
}

// TestScatter holds the scatter of the rows against sums written out, also where rows have entries that are neither high nor
// low. Rows that differ in their sums are multiples of others, and have low values of their own: they are left out.
func TestScatter(t *testing.T) {
	forms := map[bool]int{}
	withOdd, few := 0, map[bool]int{}
	rapid.Check(t, func(t *rapid.T) {
		rows := drawMixture(t)
		if rapid.Bool().Draw(t, "any") {
			rows = drawTable(t)
		}
		k, kv := len(rows), len(rows[0])
		c, err := NewChannel(k, kv, func(i int, dst []float64) { copy(dst, rows[i]) })
		if err != nil {
			t.Fatal(err)
		}
		done := checkScatter(t, c)
		if forms[done]++; done {
			withOdd += min(len(c.odd), 1)
			few[c.tops != nil]++
		}
	})
	if min(forms[true], forms[false], few[true], withOdd) == 0 || few[false] == 0 && !testing.Short() {
		t.Errorf("the cases are too weak: %v, %v with few pairs, %d with odd entries", forms, few, withOdd)
	}
}

// TestScatterOfGroups is TestScatter for means of rows of groups, most of whose entries are the least of their columns.
func TestScatterOfGroups(t *testing.T) {
	scattered := map[bool]int{}
	rapid.Check(t, func(t *rapid.T) {
		rows := drawMixture(t)
		k, n := len(rows), rapid.IntRange(1, len(rows)).Draw(t, "groups")
		c, err := NewChannel(k, len(rows[0]), func(i int, dst []float64) { copy(dst, rows[i]) })
		if err != nil {
			t.Fatal(err)
		}
		of := make([]int, k)
		for i := range of {
			if of[i] = i; i >= n {
				of[i] = rapid.IntRange(0, n-1).Draw(t, "group")
			}
		}
		merged, err := c.Merge(of, n, nil)
		if err != nil {
			t.Fatal(err)
		}
		// Above a part of none, every list is too long.
		merged.listTops(rapid.SampledFrom([]float64{dense, dense, 0}).Draw(t, "most"))
		scattered[checkScatter(t, merged)]++
	})
	if min(scattered[true], scattered[false]) == 0 {
		t.Errorf("the cases are too weak: %v", scattered)
	}
}

// checkScatter reports whether a channel has a scatter, which is then right.
func checkScatter(t *rapid.T, c *Channel) bool {
	k, kv := c.Dims()
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "weights"), 2))
	theta, q, v := make([]float64, k), make([]float64, kv), make([]float64, kv)
	for i := range theta {
		theta[i] = 1 / float64(k)
	}
	c.forward(theta, q)
	for j := range v {
		v[j] = r.Float64() / q[j]
	}
	out := make([]float64, k*k)
	if !c.scatter(q, v, out) {
		return false
	}
	// The low value of a row is off by evenScales, as is the product of two entries; rounding is far less.
	tol := 0.0
	for j := range v {
		high := 0.0
		for i := range k {
			high = max(high, c.row(i)[j])
		}
		tol += 4 * evenScales * v[j] * high * high
	}
	for i := range k {
		for h := range k {
			want := 0.0
			if h <= i {
				for j := range v {
					want += v[j] * (c.row(i)[j] - q[j]) * (c.row(h)[j] - q[j])
				}
			}
			if got := out[i*k+h]; !(math.Abs(got-want) <= tol) {
				t.Fatalf("%d, %d: %v, want %v within %v", i, h, got, want, tol)
			}
		}
	}
	return true
}
