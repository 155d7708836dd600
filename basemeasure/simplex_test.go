package basemeasure

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
)

// state is what a pivot updates, and what recompute finds from scratch.
type state struct {
	bound, defect float64
	m, y          []float64 // by output
}

func (s *simplex) state() state {
	st := state{bound: s.bound(), m: make([]float64, s.kv), y: make([]float64, s.kv)}
	for p, j := range s.perm {
		if p < s.n {
			st.m[j] = s.m[p]
		} else {
			st.y[j] = s.y[p]
		}
	}
	inv := s.inv.dense()
	for r := range s.n {
		for c := range s.n {
			sum := 0.0
			for d, col := range s.nonkey {
				sum += s.reduced(col, r) * inv[d][c]
			}
			if r == c {
				sum--
			}
			st.defect = max(st.defect, math.Abs(sum))
		}
	}
	return st
}

func far(a, b []float64) float64 {
	worst := 0.0
	for i := range a {
		worst = max(worst, math.Abs(a[i]-b[i]))
	}
	return worst
}

// TestExchange checks every pivot of whole runs: the inverse is one, and values and prices agree with those computed
// from scratch, for every kind of entering and leaving variable.
func TestExchange(t *testing.T) {
	// What pivots on small matrices of ordinary condition lose.
	const tol = 1e-7
	seen := map[[2]any]int{} // by whether a slack enters, and what leaves
	observe = func(s *simplex, e *entry, l leaving) {
		coming := s.coming
		s.coming = nil // it is basic now
		defer func() { s.coming = coming }()
		entering := [2]any{e.col == nil, l.kind}
		seen[entering]++
		before := s.state()
		if !s.recompute() {
			t.Fatal("recompute fails")
		}
		after := s.state()
		scale := 1 + after.defect*1e6
		if before.defect > tol || far(before.m, after.m) > tol*scale || far(before.y, after.y) > tol ||
			math.Abs(before.bound-after.bound) > tol {
			t.Fatalf("a slack enters: %v, leaving %v: inverse off by %.2g, m by %.2g, y by %.2g, bound by %.2g", entering[0],
				l.kind,
				before.defect, far(before.m, after.m), far(before.y, after.y), before.bound-after.bound)
		}
		for bound, key := range s.keys {
			if key.bound != bound {
				t.Fatalf("the key of bound %d is in bound %d", bound, key.bound)
			}
		}
		outputs := slices.Clone(s.perm)
		slices.Sort(outputs)
		for j, at := range outputs {
			if at != j {
				t.Fatalf("positions %v", s.perm)
			}
		}
		if s.n != len(s.nonkey) || s.n != len(s.m) || s.n != s.inv.n {
			t.Fatalf("sizes %d, %d, %d, %d", s.n, len(s.nonkey), len(s.m), s.inv.n)
		}
		fresh := make([]float64, s.kv)
		s.each(func(col *column) {
			if col.input < 0 {
				return
			}
			if s.slopes(col.input, col.eta, fresh); far(fresh, col.g) != 0 {
				t.Fatal("the slopes of a column are out of order")
			}
		})
	}
	defer func() { observe = nil }()
	rnd := numtest.NewSplitMix64(7)
	for _, k := range []int{3, 8, 20, 40}[:numtest.Cases(3, 4)] {
		x, y := make([]float64, k), make([]float64, k)
		weights := make([]float64, k)
		for i := range x {
			x[i], y[i], weights[i] = rnd.Float64(), rnd.Float64(), float64(rnd.Intn(4))
		}
		weights[0] = 1
		square := &cost.Dense{K: k, Kv: k}
		classes := &cost.Dense{K: k, Kv: k}
		for i := range k {
			for j := range k {
				square.Data = append(square.Data, math.Hypot(x[i]-x[j], y[i]-y[j]))
				classes.Data = append(classes.Data, math.Floor(3*rnd.Float64()))
			}
		}
		for _, c := range []*cost.Dense{square, classes} {
			for _, eps := range []float64{0, 0.5, 2, 5} {
				for _, s := range []Settings{
					{}, {Objective: Average}, {Objective: Average, InputWeights: weights},
					{Objective: Mixed, Mix: 0.5}, {Objective: Mixed, Mix: 0.05, InputWeights: weights, Exclude: []int{1}},
				} {
					old, err := Solve(context.Background(), c, eps, s)
					if err != nil {
						t.Fatal(err)
					}
					s.Initial = &old // from a strategy with many columns, to run the start
					if _, err := Solve(context.Background(), c, eps*1.2+0.1, s); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
	for _, slack := range []bool{false, true} {
		for _, l := range []leavingKind{leaveNonkey, leaveKey, leaveSlack} {
			if seen[[2]any{slack, l}] == 0 {
				t.Errorf("no pivot with leaving %v among %v (slack enters: %v)", l, seen, slack)
			}
		}
	}
}

func TestInvert(t *testing.T) {
	rnd := numtest.NewSplitMix64(1)
	for _, n := range []int{0, 1, 2, 5, 17, 60} {
		a, b, inv := square(n), square(n), square(n)
		for i := range a {
			for j := range a {
				a[i][j] = rnd.Float64() - 0.5
				b[i][j] = a[i][j]
			}
		}
		if n == 5 { // a zero where the first pivot would be
			a[0][0], b[0][0] = 0, 0
		}
		flat := slices.Concat(b...)
		ok := invert(flat, n, max(n, 1))
		for i := range inv {
			copy(inv[i], flat[i*n:])
		}
		if !ok {
			t.Fatalf("n = %d: singular", n)
		}
		worst := 0.0
		for i := range a {
			for j := range a {
				sum := 0.0
				for p := range a {
					sum += a[i][p] * inv[p][j]
				}
				if i == j {
					sum--
				}
				worst = max(worst, math.Abs(sum))
			}
		}
		const tol = 1e-11 // random matrices of this size have a condition of a few thousand
		if !(worst <= tol) {
			t.Errorf("n = %d: A * inverse is off by %.3g", n, worst)
		}
	}
	singular := [][]float64{{1, 2}, {2, 4}}
	if invert(slices.Concat(singular...), 2, 2) {
		t.Error("a singular matrix was inverted")
	}
	if invert([]float64{math.NaN()}, 1, 1) {
		t.Error("NaN was inverted")
	}
}

func square(n int) [][]float64 {
	a := make([][]float64, n)
	for i := range a {
		a[i] = make([]float64, n)
	}
	return a
}

// TestKernels compares the loops with the plain ones, at lengths around their block sizes.
func TestKernels(t *testing.T) {
	rnd := numtest.NewSplitMix64(2)
	tol := numtest.Tol{Abs: 1e-14, Why: "sums of at most 40 products below one in another order"}
	vector := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = rnd.Float64() - 0.5
		}
		return x
	}
	for n := range 12 {
		for rows := range 10 {
			a := vector(n)
			var list [][]float64
			var terms []term
			want, sum := make([]float64, rows), vector(n)
			got := append([]float64(nil), sum...)
			for r := range rows {
				list = append(list, vector(n+r%2)) // rows may be longer
				terms = append(terms, term{rnd.Float64(), list[r]})
				for j, x := range a {
					want[r] += x * list[r][j]
					sum[j] += terms[r].weight * list[r][j]
				}
			}
			out := make([]float64, rows)
			for r, row := range list {
				out[r] = dot(a, row)
			}
			numtest.NearSlice(t, "dot", out, want, tol)
			combine(terms, 0, got)
			numtest.NearSlice(t, "combine", got, sum, tol)
		}
	}
}

// TestBrokenInverse spoils the inverse again and again: the checks of the pivots notice, and the answer is none the
// worse.
func TestBrokenInverse(t *testing.T) {
	k := 12
	c := &cost.Dense{K: k, Kv: k}
	for i := range k {
		for j := range k {
			c.Data = append(c.Data, math.Abs(float64(i*i-j*j)))
		}
	}
	pivots := 0
	observe = func(s *simplex, _ *entry, _ leaving) {
		if pivots++; pivots%7 == 0 && s.n > 1 { // spoil the inverse
			row := s.inv.dense()[0]
			for r := range row {
				row[r] *= 1.5
			}
			s.inv.setRow(0, row)
		}
	}
	defer func() { observe = nil }()
	for _, s := range []Settings{{}, {Objective: Mixed, Mix: 0.5}} {
		r, err := Solve(context.Background(), c, 3, s)
		if err != nil {
			t.Logf("%v: gap %.3g", err, r.Gap()/r.Upper)
		}
		if _, _, err := Verify(context.Background(), c, 3, r); err != nil {
			t.Error(err)
		}
		if r.Stats.Refactors == 0 {
			t.Error("nobody noticed")
		}
		if r.Gap() > 1e-6*r.Upper {
			t.Errorf("gap %v of %v", r.Gap(), r.Upper)
		}
	}
}
