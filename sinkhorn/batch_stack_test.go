package sinkhorn

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/mincostflow"
	"pgregory.net/rapid"
)

// crowd draws n distributions on most of k points, some of them on all and one on a few; the last one is bad.
func crowd(g *generator, n, k int) users {
	var u users
	for x := range n - 1 {
		one := newUsers(g, 1, k-max(0, x-4)*k/4/n, k)
		if x == 2 {
			one = newUsers(g, 1, 5, k)
		}
		m := one.source[0]
		var sum float64
		for a := range m { // most of it on few of the points, but for the first ones
			m[a] = math.Pow(m[a]*float64(k), float64(1+5*(x%5)))
			sum += m[a]
		}
		for a := range m {
			m[a] /= sum
		}
		u.source, u.support = append(u.source, m), append(u.support, one.support[0])
	}
	bad := slices.Repeat([]float64{1 / float64(k)}, k)
	bad[k/2] = math.NaN()
	u.source, u.support = append(u.source, bad), append(u.support, nil)
	return u
}

// projector is NewProjector with stacks of the given size.
func projector(t testing.TB, p Problem, s Settings, size int) *Projector {
	t.Helper()
	pr, err := NewProjector(p.Cost, p.Lo, p.Hi, p.Reg, s)
	if err != nil {
		t.Fatal(err)
	}
	pr.stacked = size
	return pr
}

// costSum is how far the cost of a plan and what follows from it may be from Project's, which adds it up in another
// order: some ulps of each row, the largest cost being 3.
const costSum = 1e-14

// asProject reports whether a result from a stack is that of Project.
func asProject(r, want Result) bool {
	for _, x := range []struct{ at, want *float64 }{
		{&r.Transport, &want.Transport}, {&r.Objective, &want.Objective}, {&r.Upper, &want.Upper},
		{&r.Posterior, &want.Posterior},
	} {
		if !(math.Abs(*x.at-*x.want) <= costSum) {
			return false
		}
		*x.at = *x.want
	}
	return reflect.DeepEqual(r, want)
}

// TestStackCompany: a result has the same bits alone and in stacks, whatever their size, the order, the neighbours and
// the number of threads; it is Project's, and Verify proves its bounds.
func TestStackCompany(t *testing.T) {
	g := newGenerator(21)
	for _, tt := range []struct {
		k    int
		reg  float64
		dead int  // columns without room
		far  bool // one column is far from all rows
		set  Settings
	}{
		{k: 110, reg: 0.02, set: Settings{Tolerance: 1e-9}}, // few rows: plain steps
		{k: 140, reg: 0.05, dead: 9, set: Settings{Tolerance: 1e-9}},
		{k: 140, reg: 0.002, set: Settings{Tolerance: 1e-9}}, // where a start at Reg is not always the way
		{k: 140, reg: 0.0022, far: true, set: Settings{Tolerance: 1e-9}},
		{k: 140, reg: 0.02, set: Settings{Tolerance: 1e-5}}, // plans are repaired
		{k: 140, reg: 0.02, set: Settings{Gap: 0.5}},
		{k: 140, reg: 0.02, set: Settings{Tolerance: 1e-6, Gap: 1e-9}}, // the first goal met is enough
		{k: 140, reg: 0.02, set: Settings{MaxIterations: 3}},
		{k: 140, reg: 0.02, set: Settings{MaxIterations: 1}},
		{k: 530, reg: 0.05, dead: 5, set: Settings{Tolerance: 1e-9}}, // several chunks of rows
	} {
		c, lo, hi := unitSquare(t, g, tt.k, 2, 1)
		if tt.far {
			for i := range tt.k {
				c.Data[i*tt.k] = 3 // exp(-3/Reg) is nothing
			}
		}
		for j := range tt.dead {
			lo[7*j], hi[7*j] = 0, 0
		}
		p := Problem{Cost: c, Lo: lo, Hi: hi, Reg: tt.reg}
		n := 12
		u := crowd(g, n, tt.k)
		if tt.k > 110 && tt.reg > 0.002 && !numtest.Full() { // elsewhere few of them are in stacks
			u.source, u.support = slices.Delete(u.source, 5, n-1), slices.Delete(u.support, 5, n-1)
			n = 6
		}
		want, errs := make([]Result, n), make([]error, n)
		stacked, general := 0, 0
		for i := range want {
			pr := projector(t, p, tt.set, 1)
			errs[i] = pr.Project(context.Background(), u.source[i], u.support[i], &want[i])
			if i == n-1 {
				if !errors.Is(errs[i], ErrNotFinite) {
					t.Fatalf("%+v: the bad one: %v", tt, errs[i])
				}
				continue
			}
			p.Source, p.Support = u.source[i], u.support[i]
			if i < 2 || numtest.Full() {
				checkResult(t, p, want[i])
			}
			r, err := Project(context.Background(), p, tt.set)
			if len(u.source[i]) < tt.k {
				// Rows without mass take part: other sums, the same distribution and the same bounds.
				if d := distance1(r.Q, want[i].Q); r.Status == Converged && tt.set.Tolerance < 1e-8 && tt.set.Tolerance > 0 &&
					!(d <= sameQ) {
					t.Errorf("%+v: distribution %d: %v from Project", tt, i, d)
				}
			} else if !asProject(want[i], r) || (err == nil) != (errs[i] == nil) {
				t.Errorf("%+v: distribution %d differs from Project: %v, %v", tt, i, errs[i], err)
			}
			if !(want[i].Lower <= r.Upper && r.Lower <= want[i].Upper) {
				t.Errorf("%+v: distribution %d: [%v, %v], Project [%v, %v]", tt, i, want[i].Lower, want[i].Upper, r.Lower, r.Upper)
			}
			if m := pr.free[0].member; m != nil && m.outcome == finished {
				stacked++
			} else {
				general++
			}
		}
		if tt.far {
			if stacked > 0 {
				t.Errorf("%+v: %d with a column out of reach", tt, stacked)
			}
		} else if stacked < 3 && tt.reg > 0.002 || tt.reg == 0.002 && (stacked == 0 || general < 3) {
			t.Errorf("%+v: %d in stacks, %d in the general way", tt, stacked, general)
		}
		sizes, counts := []int{2, 3, 8}, []int{1, 2, 5}
		if !numtest.Full() {
			sizes, counts = sizes[1:2], counts[2:]
		}
		for _, size := range sizes {
			for _, threads := range counts {
				old := runtime.GOMAXPROCS(threads)
				pr := projector(t, p, tt.set, size)
				order := make([]int, 2*n)
				for x := range order {
					order[x] = (x*(2*size+1) + threads) % n
				}
				err := pr.All(context.Background(), len(order), func(x int) ([]float64, []int) { return u.get(order[x]) },
					func(x int, r *Result, err error) error {
						i := order[x]
						if i == n-1 {
							if !errors.Is(err, ErrNotFinite) || len(r.Q) != 0 {
								t.Errorf("%+v: the bad one: %v", tt, err)
							}
						} else if !reflect.DeepEqual(*r, want[i]) || fmt.Sprint(err) != fmt.Sprint(errs[i]) {
							t.Errorf("%+v: stacks of %d, %d threads: distribution %d depends on the company: %v, %v", tt, size, threads, i,
								err, errs[i])
						}
						return nil
					})
				runtime.GOMAXPROCS(old)
				var failed *BatchError
				want := 0
				for _, i := range order {
					if errs[i] != nil {
						want++
					}
				}
				if !errors.As(err, &failed) || failed.Failed != want {
					t.Errorf("%+v: All = %v, want %d failures", tt, err, want)
				}
			}
		}
	}
}

// TestStackLaws: on random problems, any company, the bounds enclose the optimum and the bits are those of a
// distribution alone.
func TestStackLaws(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := newGenerator(rapid.Uint64().Draw(rt, "seed"))
		k := rapid.IntRange(fewRows+2, fewRows+20).Draw(rt, "k")
		p := g.problem(k, rapid.IntRange(1, 30).Draw(rt, "kv"),
			math.Pow(10, -rapid.Float64Range(0.5, 2.5).Draw(rt, "digits")))
		set := Settings{Tolerance: 1e-9, MaxIterations: 2000}
		size := rapid.IntRange(2, 5).Draw(rt, "size")
		n := rapid.IntRange(1, 8).Draw(rt, "n")
		u := crowd(g, n+1, k)
		pr, err := NewProjector(p.Cost, p.Lo, p.Hi, p.Reg, set)
		if err != nil {
			rt.Fatal(err)
		}
		pr.stacked = size
		err = pr.All(context.Background(), n, u.get, func(i int, r *Result, err error) error {
			var alone Result
			err2 := pr.Project(context.Background(), u.source[i], u.support[i], &alone)
			if !reflect.DeepEqual(*r, alone) || fmt.Sprint(err) != fmt.Sprint(err2) {
				rt.Errorf("distribution %d depends on the company", i)
			}
			x, err := mincostflow.Project(context.Background(),
				mincostflow.Problem{Cost: p.Cost, Source: u.source[i], Support: u.support[i], Lo: p.Lo, Hi: p.Hi},
				mincostflow.Settings{})
			if err != nil {
				rt.Fatal(err)
			}
			if !(r.Lower <= x.Upper && x.Lower <= r.Upper) {
				rt.Errorf("distribution %d: [%v, %v], exact [%v, %v]", i, r.Lower, r.Upper, x.Lower, x.Upper)
			}
			q := Problem{Cost: p.Cost, Source: u.source[i], Support: u.support[i], Lo: p.Lo, Hi: p.Hi, Reg: p.Reg}
			if _, _, err := Verify(q, *r); err != nil {
				rt.Errorf("distribution %d: %v", i, err)
			}
			return nil
		})
		if err != nil {
			rt.Fatal(err)
		}
	})
}

// TestStackPoint: a box that is a point up to rounding leaves nothing to choose.
func TestStackPoint(t *testing.T) {
	g := newGenerator(22)
	c, lo, _ := unitSquare(t, g, 80, 1, 0)
	for j := range lo {
		lo[j] *= 1 + 5e-13
	}
	p := Problem{Cost: c, Lo: lo, Hi: lo, Reg: 0.05}
	pr := projector(t, p, Settings{Tolerance: 1e-9}, 2)
	p.Source = skewed(g, 80)
	want := mustProject(t, p, Settings{Tolerance: 1e-9})
	var r Result
	if err := pr.Project(context.Background(), p.Source, nil, &r); err != nil || !asProject(r, want) {
		t.Errorf("differs from Project: %v", err)
	}
	checkResult(t, p, r)
}

// TestStackRounding: where the gap is all rounding, bounds come from a step in logarithms, and a relative gap, which
// nothing has at an optimum of 0, is met all the same.
func TestStackRounding(t *testing.T) {
	const k = 80
	g := newGenerator(23)
	c, lo, hi := unitSquare(t, g, k, 1, 1)
	mu := make([]float64, k)
	for i := range mu {
		mu[i] = (1 + 0.3*float64(1-2*(i%2))) / k // in the box
		for j := range k {
			if i != j {
				c.Data[i*k+j]++
			}
		}
	}
	p := Problem{Cost: c, Source: mu, Lo: lo, Hi: hi, Reg: 0.002}
	set := Settings{Gap: 0.01}
	var r Result
	if err := projector(t, p, set, 1).Project(context.Background(), mu, nil, &r); err != nil || r.Lower != 0 {
		t.Errorf("%v, [%v, %v]", err, r.Lower, r.Upper)
	}
	if want := mustProject(t, p, set); !asProject(r, want) {
		t.Error("differs from Project")
	}
	checkResult(t, p, r)
}

// fading is a context that ends when it has been asked so many times.
type fading struct {
	context.Context
	asked *atomic.Int64
	at    int64
}

func (f fading) Err() error {
	if f.asked.Add(1) > f.at {
		return context.Canceled
	}
	return nil
}

// TestStackCancelled: a context that ends on the way leaves feasible results with valid bounds.
func TestStackCancelled(t *testing.T) {
	g := newGenerator(24)
	c, lo, hi := unitSquare(t, g, 140, 2, 3)
	p := Problem{Cost: c, Lo: lo, Hi: hi, Reg: 0.01}
	p.Source = skewed(g, 140)
	pr := projector(t, p, Settings{}, 2)
	last := math.Inf(1)
	var r Result
	if err := pr.Project(context.Background(), p.Source, nil, &r); err != nil { // makes the kernel
		t.Fatal(err)
	}
	for _, at := range []int64{0, 1, 2, 5, 10} {
		err := pr.Project(fading{context.Background(), new(atomic.Int64), at}, p.Source, nil, &r)
		if !errors.Is(err, ErrNotConverged) || r.Status != Cancelled || !(r.Residual < last) {
			t.Errorf("after %d: %v, status %v, residual %v", at, err, r.Status, r.Residual)
		}
		last = r.Residual
		checkResult(t, p, r)
	}
	ctx, cancel := context.WithCancel(context.Background())
	u := crowd(g, 30, 140)
	seen := 0
	err := pr.All(ctx, 30, u.get, func(i int, r *Result, err error) error {
		if seen++; i == 3 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, ErrNotConverged) || !errors.Is(err, context.Canceled) || seen != 4 {
		t.Errorf("All = %v after %d", err, seen)
	}
	stop := errors.New("enough")
	if err := pr.All(context.Background(), 30, u.get, func(i int, _ *Result, _ error) error {
		if i == 5 {
			return stop
		}
		return nil
	}); err != stop {
		t.Errorf("All = %v, want the error of emit", err)
	}
}

// TestStackAllocations: in the long run, one distribution after the other and stacks of them allocate what it takes to
// start loops, and nothing of the size of a row, with and without plans to repair.
func TestStackAllocations(t *testing.T) {
	const k, size = 140, 3
	g := newGenerator(25)
	c, lo, hi := unitSquare(t, g, k, 2, 3)
	lo[3], hi[3] = 0, 0
	for _, set := range []Settings{{Tolerance: 1e-9}, {Tolerance: 1e-4}, {Gap: 1}} {
		p := Problem{Cost: c, Lo: lo, Hi: hi, Reg: 0.05}
		pr := projector(t, p, set, size)
		var u users
		for range 2 * size {
			u.source, u.support = append(u.source, skewed(g, k)), append(u.support, nil)
		}
		var r Result
		alone := func() {
			for i := range u.source {
				if err := pr.Project(context.Background(), u.source[i], nil, &r); err != nil {
					t.Fatal(err)
				}
			}
		}
		alone()
		const loops = 60 // for each distribution: some ten loops, with a few words for each goroutine
		if n := testing.AllocsPerRun(2, alone); n > float64(loops*len(u.source)) {
			t.Errorf("%+v: %v allocations for %d distributions, one after the other", set, n, len(u.source))
		}
		s, st := pr.take(), pr.newStack(size)
		members := make([]*member, len(u.source))
		results := make([]Result, len(u.source))
		for i := range members {
			members[i] = new(member)
		}
		stack := func() {
			for i, m := range members {
				if err := s.in.setSource(u.source[i], nil); err != nil {
					t.Fatal(err)
				}
				m.load(context.Background(), pr, &s.in)
				m.out = &results[i]
			}
			for left := members; len(left)+len(st.work)+len(st.done) > 0; st.step() {
				for len(left) > 0 && len(st.work) < size {
					st.work, left = append(st.work, left[0]), left[1:]
				}
			}
		}
		stack()
		if n := testing.AllocsPerRun(2, stack); n > float64(loops*len(u.source)) {
			t.Errorf("%+v: %v allocations for stacks", set, n)
		}
		// A stream costs what starting it costs, and loops.
		stream := func(n int) func() {
			return func() {
				if err := pr.All(context.Background(), n, func(i int) ([]float64, []int) { return u.source[i%len(u.source)], nil },
					func(_ int, _ *Result, err error) error { return err }); err != nil {
					t.Fatal(err)
				}
			}
		}
		const short, long = 20, 60
		stream(long)()
		if less, more := testing.AllocsPerRun(2, stream(short)),
			testing.AllocsPerRun(2, stream(long)); !(more <= less+loops*(long-short)) {
			t.Errorf("%+v: %v allocations for a stream of %d, %v for %d", set, less, short, more, long)
		}
		for i := range results {
			if members[i].err != nil || results[i].Status != Converged {
				t.Errorf("%+v: %v", set, members[i].err)
			}
		}
	}
}

func TestMet(t *testing.T) {
	for _, tt := range []struct {
		gap, upper, margin, largest float64
		want                        bool
	}{
		{0.1, 1, 0, 1, true},
		{0.1000001, 1, 0, 1, false},
		{1e-15, 1e-15, 0, 1, true},
		{2e-15, 2e-15, 0, 1, false},
		{2e-15, 2e-15, 0, 2, true},
		{3e-15, 3e-15, 2e-15, 1, true},
		{3.1e-15, 3.1e-15, 2e-15, 1, false},
	} {
		if got := (Settings{Gap: 0.1}).met(tt.gap, tt.upper, tt.margin, tt.largest); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}

// TestGapAtZero: an optimum of 0 counts as reached when nothing but rounding is left of the gap, and not before.
func TestGapAtZero(t *testing.T) {
	g := newGenerator(27)
	for _, k := range []int{1, 4, 30} {
		c, lo, hi := unitSquare(t, g, k, 1, 1)
		mu := make([]float64, k)
		for i := range mu {
			mu[i] = 1 / float64(k)
			for j := range k {
				if i != j {
					c.Data[i*k+j]++
				}
			}
		}
		for _, reg := range []float64{0.2, 0.02, 1e-5} {
			p := Problem{Cost: c, Source: mu, Lo: lo, Hi: hi, Reg: reg}
			for _, m := range methods {
				r, err := Project(context.Background(), p, Settings{Method: m, Gap: 0.01})
				checkResult(t, p, r)
				if far := reg == 0.2 && k > 1; (err != nil) != far { // the entropic plan moves e^(-1/Reg) of the mass
					t.Errorf("k = %d, Reg = %v, %v: [%v, %v], %v", k, reg, m, r.Lower, r.Upper, err)
				}
			}
			var r Result
			err := projector(t, p, Settings{Gap: 0.01}, 1).Project(context.Background(), mu, nil, &r)
			if far := reg == 0.2 && k > 1; (err != nil) != far {
				t.Errorf("k = %d, Reg = %v, by a Projector: [%v, %v], %v", k, reg, r.Lower, r.Upper, err)
			}
			checkResult(t, p, r)
		}
	}
}
