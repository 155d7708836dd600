package fuzz

import (
	"context"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"math"
	"math/big"
	"testing"

	"github.com/wpm-go/wpm/baseline"
	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/knapsack"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/proptest"
	"github.com/wpm-go/wpm/proptest/exact"
	"github.com/wpm-go/wpm/wpmerr"
)

// Tolerances, in units of the largest cost. The reasons are those of package proptest.
const (
	phiTol = 0x1p-46
	// gapTol bounds the certified gap of an exact solver: it promises 1e-15, and the certificate is charged for
	// the rounding of at most a few dozen masses.
	gapTol = 1e-13
	// underflow is far above what a few dozen products below 2^-1022 lose, half of 2^-1074 each: costs may be
	// subnormal, and then no relative tolerance makes sense.
	underflow = 0x1p-1060
)

// within fails the test unless |x - y| <= tol * scale, or underflow.
func within(t *testing.T, what string, x, y *big.Rat, tol, scale float64) {
	t.Helper()
	d := new(big.Rat).Sub(x, y)
	limit := new(big.Rat).Mul(num.Rat(tol), num.Rat(scale))
	if d.Abs(d).Cmp(limit.Add(limit, num.Rat(underflow))) > 0 {
		a, _ := x.Float64()
		b, _ := y.Float64()
		e, _ := d.Float64()
		t.Fatalf("%s: %.17g against %.17g, apart by %.3g, more than %.3g * %.3g", what, a, b, e, tol, scale)
	}
}

// readCost builds the fuzzed matrix; nil if it is refused, as it must be for a reason.
func readCost(t *testing.T, rows [][]float64) *cost.Dense {
	t.Helper()
	bad := false
	for _, r := range rows {
		for _, v := range r {
			bad = bad || !(v >= 0 && v <= math.MaxFloat64)
		}
	}
	d, err := cost.FromRows(rows)
	if bad != (err != nil) {
		t.Fatalf("FromRows(%v): %v", rows, err)
	}
	if err != nil {
		typed(t, err, wpmerr.ErrNotFinite, wpmerr.ErrNegative)
		return nil
	}
	return d
}

// box returns lo and hi: in most cases a box that holds a distribution, if only up to rounding.
func (f *feed) box(n int) (lo, hi []float64) {
	style := f.byte()
	below := float64(f.byte()) / 255
	switch style % 8 {
	case 7:
		return f.floats(n), f.floats(n)
	case 6: // one point
		lo = f.mass(n, 1)
		return lo, clone(lo)
	case 5: // full at the high end
		hi = f.mass(n, 1)
		lo = make([]float64, n)
		for j := range lo {
			lo[j] = below * hi[j]
		}
		return lo, hi
	case 4: // full at the low end
		below = 1
	}
	lo = f.mass(n, below)
	hi = f.mass(n, 1)
	for j := range hi {
		hi[j] += lo[j]
	}
	return lo, hi
}

// FuzzKnapsack: φ and the cut at τ are those of an exact greedy fill; f is their maximum; the projection is in the
// box and costs φ.
func FuzzKnapsack(f *testing.F) {
	f.Add([]byte{1, 2, 0, 8, 16, 24, 0, 8, 0, 128, 0, 8, 8, 8, 0, 8, 8, 8})
	f.Add([]byte{0, 5, 0, 5, 13, 21, 29, 37, 45, 6, 0, 0, 8, 8, 8, 8, 8, 8})
	f.Add([]byte{2, 3, 0, 4, 252, 4, 252, 0, 0, 0, 0, 7, 7, 7, 7, 5, 200, 0, 8, 0, 8, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		in := &feed{data}
		k, kv := in.size(3), in.size(8)
		rows := in.rows(k, kv)
		c := readCost(t, rows)
		if c == nil {
			return
		}
		table, err := knapsack.New(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		lo, hi := in.box(kv)
		keptLo, keptHi := clone(lo), clone(hi)
		phi, tau := make([]float64, k), make([]float64, k)
		err = table.All(lo, hi, phi, tau)
		sameBits(t, "lo", lo, keptLo)
		sameBits(t, "hi", hi, keptHi)
		if check := table.Check(lo, hi); (check == nil) != (err == nil) {
			t.Fatalf("Check %v, All %v", check, err)
		}
		if err != nil {
			typed(t, err, wpmerr.ErrNotFinite, wpmerr.ErrNegative, wpmerr.ErrBox, wpmerr.ErrInfeasible)
			if v, at := table.Max(lo, hi); !math.IsNaN(v) || at != -1 {
				t.Fatalf("Max of a bad box = %v, %d", v, at)
			}
			return
		}
		best, first := math.Inf(-1), -1
		for i, row := range rows {
			want, err := proptest.Dirac(row, lo, hi)
			if err != nil {
				t.Fatalf("All accepts a box that %v\nlo %v, hi %v", err, lo, hi)
			}
			finite(t, "phi, tau", phi[i], tau[i])
			scale := 0.0
			for _, v := range row {
				scale = max(scale, v)
			}
			within(t, "phi", num.Rat(phi[i]), want, phiTol, scale)
			if p, at := table.Phi(i, lo, hi); p != phi[i] || at != tau[i] {
				t.Fatalf("Phi(%d) = %v, %v; All says %v, %v", i, p, at, phi[i], tau[i])
			}
			cut := table.Cut(i, tau[i], lo, hi)
			finite(t, "cut", cut)
			within(t, "cut at tau", num.Rat(cut), want, 2*phiTol, scale)
			q := make([]float64, kv)
			if err := table.Project(i, lo, hi, q); err != nil {
				t.Fatal(err)
			}
			got, sum := new(big.Rat), new(big.Rat)
			for j, v := range q {
				finite(t, "q", v)
				got.Add(got, new(big.Rat).Mul(num.Rat(v), num.Rat(row[j])))
				sum.Add(sum, num.Rat(v))
			}
			within(t, "sum q", sum, big.NewRat(1, 1), 0x1p-52, float64(kv))
			within(t, "<C, q>", got, want, phiTol, scale)
			if phi[i] > best {
				best, first = phi[i], i
			}
		}
		if v, at := table.Max(lo, hi); v != best || at != first {
			t.Fatalf("Max = %v, %d, want %v, %d", v, at, best, first)
		}
	})
}

var flowSentinels = []error{
	wpmerr.ErrShape, wpmerr.ErrNotFinite, wpmerr.ErrNegative, wpmerr.ErrMass, wpmerr.ErrSupport,
	wpmerr.ErrBox,
	wpmerr.ErrInfeasible,
}

// checkFlow holds an answer against its certificate, and tiny ones against the exact value; none without a problem.
func checkFlow(t *testing.T, r mincostflow.Result, upper, lower *big.Rat, scale float64, exact proptest.Problem) {
	t.Helper()
	finite(t, "q", r.Q...)
	finite(t, "objective and bounds", r.Objective, r.Upper, r.Lower)
	if lower.Cmp(upper) > 0 || num.Rat(r.Lower).Cmp(lower) > 0 || num.Rat(r.Upper).Cmp(upper) < 0 {
		t.Fatalf("bounds [%v, %v], certified [%v, %v]", r.Lower, r.Upper, lower, upper)
	}
	within(t, "certified gap", upper, lower, gapTol, scale)
	within(t, "objective against the bound", num.Rat(r.Objective), lower, gapTol, scale)
	if n := len(exact.C) * len(exact.Lo); n > 0 && n <= 6 {
		want, err := exact.Optimum()
		if err != nil {
			t.Fatalf("the solver accepts what the oracle refuses: %v", err)
		}
		if lower.Cmp(want) > 0 || upper.Cmp(want) < 0 {
			v, _ := want.Float64()
			t.Fatalf("certified [%v, %v] misses %v on %#v", r.Lower, r.Upper, v, exact)
		}
	}
}

// FuzzProject: the answer is in the box and certified to 1e-13 max C, or the error is typed. Never "not converged":
// the instances are tiny.
func FuzzProject(f *testing.F) {
	f.Add([]byte{2, 2, 0, 0, 8, 16, 24, 8, 0, 8, 8, 16, 0, 0, 8, 8, 8, 0, 128, 0, 8, 8, 8, 0, 8, 8, 8})
	f.Add([]byte{5, 5, 0, 5, 13, 21, 29, 37, 45, 5, 13, 21, 29, 37, 45})
	f.Add([]byte{0, 4, 4, 8, 16, 24, 32, 40, 0, 8, 6, 0, 0, 8, 8, 8, 8})
	f.Fuzz(func(t *testing.T, data []byte) {
		in := &feed{data}
		k, kv := in.size(8), in.size(8)
		style := in.byte()
		rows := in.rows(k, kv)
		c := readCost(t, rows)
		if c == nil {
			return
		}
		p := projection.Problem{Cost: c, Source: in.mass(k, 1)}
		p.Lo, p.Hi = in.box(kv)
		var settings mincostflow.Settings
		dense := proptest.Problem{C: rows, Mu: p.Source, Lo: p.Lo, Hi: p.Hi}
		if style%8 >= 6 { // sparse: every other row
			p.Support = []int{}
			var kept []float64
			dense.Mu = make([]float64, k)
			for i := 0; i < k; i += 2 {
				p.Support, kept = append(p.Support, i), append(kept, p.Source[i])
			}
			s := 0.0
			for _, v := range kept {
				s += v
			}
			for n := range kept {
				if s > 0 {
					kept[n] /= s
				}
				dense.Mu[p.Support[n]] = kept[n]
			}
			p.Source = kept
			settings.AllRows = style%16 < 8
		}
		kept := dense.Clone()
		r, err := mincostflow.Project(context.Background(), p, settings)
		sameBits(t, "C", c.Data, flat(kept.C))
		sameBits(t, "lo", p.Lo, kept.Lo)
		sameBits(t, "hi", p.Hi, kept.Hi)
		if err != nil {
			typed(t, err, flowSentinels...)
			return
		}
		upper, lower, err := mincostflow.Verify(context.Background(), p, r)
		if err != nil {
			t.Fatalf("Verify refuses the answer: %v\n%#v", err, dense)
		}
		sum := new(big.Rat)
		for j, v := range r.Q {
			finite(t, "q", v)
			sum.Add(sum, num.Rat(v))
			if !(v >= 0) {
				t.Fatalf("q[%d] = %v", j, v)
			}
		}
		within(t, "sum q", sum, big.NewRat(1, 1), 0x1p-52, float64(kv))
		checkFlow(t, r, upper, lower, given.Max(c), dense)
	})
}

func flat(rows [][]float64) []float64 {
	var x []float64
	for _, r := range rows {
		x = append(x, r...)
	}
	return x
}

// FuzzTransport: plain transport between two masses.
func FuzzTransport(f *testing.F) {
	f.Add([]byte{2, 2, 0, 8, 16, 24, 8, 0, 8, 8, 16, 0, 0, 8, 8, 8, 0, 8, 8, 8})
	f.Add([]byte{7, 0, 0, 8, 8, 8, 8, 8, 8, 8, 8})
	f.Fuzz(func(t *testing.T, data []byte) {
		in := &feed{data}
		k, kv := in.size(8), in.size(8)
		rows := in.rows(k, kv)
		c := readCost(t, rows)
		if c == nil {
			return
		}
		a, b := in.mass(k, 1), in.mass(kv, 1)
		keptA, keptB := clone(a), clone(b)
		r, err := mincostflow.Transport(context.Background(), c, a, b)
		sameBits(t, "a", a, keptA)
		sameBits(t, "b", b, keptB)
		if err != nil {
			typed(t, err, flowSentinels...)
			return
		}
		upper, lower, err := mincostflow.VerifyTransport(context.Background(), c, a, b, r)
		if err != nil {
			t.Fatalf("VerifyTransport refuses the answer: %v", err)
		}
		dense := proptest.Problem{C: rows, Mu: a, Lo: b, Hi: b}
		if !(num.Sum(a) < 2) || !(num.Sum(b) < 2) { // the feed's sum cancelled: the oracle wants a sum of 1
			dense = proptest.Problem{}
		}
		checkFlow(t, r, upper, lower, given.Max(c), dense)
	})
}

// FuzzKPM: the closed form, recomputed in rationals with proved bounds on e^eps; and the package's own check.
func FuzzKPM(f *testing.F) {
	f.Add([]byte{3, 3, 0, 8, 16, 24, 32})
	f.Add([]byte{0, 6, 255, 0, 8})
	f.Add([]byte{11, 5, 63, 0, 7, 15, 23})
	f.Fuzz(func(t *testing.T, data []byte) {
		in := &feed{data}
		k := in.size(12)
		eps := in.epsilon()
		mu := in.mass(k, 1)
		kept := clone(mu)
		q, r, err := baseline.KPM(mu, eps)
		sameBits(t, "mu", mu, kept)
		if err != nil {
			typed(t, err, wpmerr.ErrNotFinite, wpmerr.ErrNegative, wpmerr.ErrMass, wpmerr.ErrEpsilon)
			return
		}
		finite(t, "q", q...)
		finite(t, "r", r)
		if err := baseline.KPMVerify(mu, eps, q, r); err != nil {
			t.Fatalf("KPM(%v, %v) = %v, %v: %v", mu, eps, q, r, err)
		}
		if eps > 60 {
			return // the series for e^eps gets slow
		}
		lower, upper := exact.ExpBounds(num.Rat(eps), 120)
		floor := new(big.Rat).Add(upper, big.NewRat(int64(k-1), 1))
		floor.Inv(floor)
		total := new(big.Rat)
		for _, v := range mu {
			total.Add(total, num.Rat(v))
		}
		sum := new(big.Rat)
		for j, v := range q {
			x := num.Rat(v)
			sum.Add(sum, x)
			share := new(big.Rat).Quo(num.Rat(mu[j]), total)
			share.Quo(share, num.Rat(r))
			want := floor
			if share.Cmp(floor) > 0 && eps > 0 {
				want = share
			}
			w, _ := want.Float64()
			within(t, "q", x, want, 1e-13, w)
			if top, _ := lower.Float64(); v*(1-1e-13) > top*(1+1e-13)*w && want == floor {
				t.Fatalf("q[%d] = %v is above e^eps times the floor", j, v)
			}
		}
		within(t, "sum q", sum, big.NewRat(1, 1), 0x1p-52, float64(k))
	})
}

// FuzzBaseMeasure: the certificate holds in rationals and encloses f, which the exact greedy fill confirms.
func FuzzBaseMeasure(f *testing.F) {
	f.Add([]byte{2, 2, 3, 0, 8, 16, 24, 8, 0, 8, 16, 8, 0})
	f.Add([]byte{5, 4, 6, 255, 0, 8, 16, 24, 8, 0, 8, 16, 8, 0, 4, 252})
	f.Add([]byte{0, 0, 5, 40, 0, 8})
	f.Fuzz(func(t *testing.T, data []byte) {
		in := &feed{data}
		k, kv := in.size(6), in.size(6)
		eps := in.epsilon()
		rows := in.rows(k, kv)
		c := readCost(t, rows)
		if c == nil {
			return
		}
		kept := clone(c.Data)
		r, err := basemeasure.Uniform(context.Background(), c, eps, basemeasure.Settings{})
		sameBits(t, "C", c.Data, kept)
		if err != nil {
			typed(t, err, wpmerr.ErrEpsilon)
			if eps >= 0 && eps <= 700 {
				t.Fatalf("Uniform(%v, %v): %v", rows, eps, err)
			}
			return
		}
		finite(t, "F, bounds", r.F, r.Upper, r.Lower)
		finite(t, "M", r.M...)
		upper, lower, err := basemeasure.Verify(context.Background(), c, eps, r)
		if err != nil {
			t.Fatalf("Verify refuses Uniform(%v, %v): %v", rows, eps, err)
		}
		scale := given.Max(c)
		if lower.Cmp(upper) > 0 || num.Rat(r.Lower).Cmp(lower) > 0 || num.Rat(r.Upper).Cmp(upper) < 0 {
			t.Fatalf("bounds [%v, %v], certified [%v, %v] on %v, eps %v", r.Lower, r.Upper, lower, upper, rows, eps)
		}
		within(t, "F against the upper bound", num.Rat(r.F), upper, phiTol, scale)
		if eps > 100 {
			return // the float box below is too coarse
		}
		b := proptest.BoxOf(r.M, eps)
		worst := new(big.Rat)
		for _, row := range rows {
			v, err := proptest.Dirac(row, b.Lo, b.Hi)
			if err != nil {
				t.Fatalf("Uniform(%v, %v) = %v: %v", rows, eps, r.M, err)
			}
			if v.Cmp(worst) > 0 {
				worst = v
			}
		}
		within(t, "F against the greedy fill", num.Rat(r.F), worst, 1e-12, scale)
	})
}
