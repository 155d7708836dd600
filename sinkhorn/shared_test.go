package sinkhorn

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/wpmerr"
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

// projector is NewProjector for p.
func projector(t testing.TB, p Problem, s Settings) *Projector {
	t.Helper()
	pr, err := NewProjector(context.Background(), p.Cost, p.Lo, p.Hi, p.Reg, s)
	if err != nil {
		t.Fatal(err)
	}
	return pr
}

// onShared reports whether a distribution is solved on the shared kernel.
func onShared(t testing.TB, pr *Projector, source []float64, support []int) bool {
	t.Helper()
	in := pr.box
	if err := in.Source.Set(in.K, source, support); err != nil {
		t.Fatal(err)
	}
	in.weigh()
	s := pr.start(context.Background(), &in)
	return s != nil && s.probe()
}

// costSum is how far the cost of a plan and what follows from it may be from Project's, which adds it up in another
// order: some ulps of each row, the largest cost being 3.
const costSum = 1e-14

// asProject reports whether a result on a shared kernel is that of Project.
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

// TestSharedCompany: a result on a shared kernel has the same bits whatever came before and the number of threads, with
// several calls at once; it is Project's, and Verify proves its bounds.
func TestSharedCompany(t *testing.T) {
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
		p := Problem{Problem: projection.Problem{Cost: c, Lo: lo, Hi: hi}, Reg: tt.reg}
		n := 12
		u := crowd(g, n, tt.k)
		if tt.k > 110 && tt.reg > 0.002 && !numtest.Full() { // elsewhere few of them are in stacks
			u.source, u.support = slices.Delete(u.source, 5, n-1), slices.Delete(u.support, 5, n-1)
			n = 6
		}
		want, errs := make([]Result, n), make([]error, n)
		shared, general := 0, 0
		for i := range want {
			pr := projector(t, p, tt.set)
			errs[i] = pr.Project(context.Background(), u.source[i], u.support[i], &want[i])
			if i == n-1 {
				if !errors.Is(errs[i], wpmerr.ErrNotFinite) {
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
			if onShared(t, pr, u.source[i], u.support[i]) {
				shared++
			} else {
				general++
			}
		}
		if tt.far {
			if shared > 0 {
				t.Errorf("%+v: %d with a column out of reach", tt, shared)
			}
		} else if shared < 3 && tt.reg > 0.002 || tt.reg == 0.002 && (shared == 0 || general < 3) {
			t.Errorf("%+v: %d on the shared kernel, %d in the general way", tt, shared, general)
		}
		counts := []int{1, 2, 5}
		if !numtest.Full() {
			counts = counts[2:]
		}
		for _, threads := range counts {
			old := runtime.GOMAXPROCS(threads)
			pr := projector(t, p, tt.set)
			got, gotErrs := make([]Result, n), make([]error, n)
			var group sync.WaitGroup
			for i := range got {
				group.Go(func() {
					gotErrs[i] = pr.Project(context.Background(), u.source[i], u.support[i], &got[i])
				})
			}
			group.Wait()
			runtime.GOMAXPROCS(old)
			for i, r := range got {
				if i == n-1 {
					if !errors.Is(gotErrs[i], wpmerr.ErrNotFinite) || len(r.Q) != 0 {
						t.Errorf("%+v: the bad one: %v", tt, gotErrs[i])
					}
				} else if !reflect.DeepEqual(r, want[i]) || fmt.Sprint(gotErrs[i]) != fmt.Sprint(errs[i]) {
					t.Errorf("%+v: %d threads: distribution %d depends on the company: %v, %v", tt, threads, i, gotErrs[i], errs[i])
				}
			}
		}
	}
}

// TestSharedLaws: on random problems the bounds enclose the optimum, and the bits do not depend on what came before.
func TestSharedLaws(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := newGenerator(rapid.Uint64().Draw(rt, "seed"))
		k := rapid.IntRange(fewRows+2, fewRows+20).Draw(rt, "k")
		p := g.problem(k, rapid.IntRange(1, 30).Draw(rt, "kv"),
			math.Pow(10, -rapid.Float64Range(0.5, 2.5).Draw(rt, "digits")))
		set := Settings{Tolerance: 1e-9, MaxIterations: 2000}
		n := rapid.IntRange(1, 8).Draw(rt, "n")
		u := crowd(g, n+1, k)
		pr, err := NewProjector(context.Background(), p.Cost, p.Lo, p.Hi, p.Reg, set)
		if err != nil {
			rt.Fatal(err)
		}
		for i := range n {
			q := Problem{Problem: projection.Problem{Cost: p.Cost, Source: u.source[i], Support: u.support[i], Lo: p.Lo,
				Hi: p.Hi}, Reg: p.Reg}
			var r, alone Result
			err := pr.Project(context.Background(), q.Source, q.Support, &r)
			fresh, err2 := NewProjector(context.Background(), p.Cost, p.Lo, p.Hi, p.Reg, set)
			if err2 != nil {
				rt.Fatal(err2)
			}
			err2 = fresh.Project(context.Background(), q.Source, q.Support, &alone)
			if !reflect.DeepEqual(r, alone) || fmt.Sprint(err) != fmt.Sprint(err2) {
				rt.Errorf("distribution %d depends on the company", i)
			}
			x, err := mincostflow.Project(context.Background(),
				projection.Problem{Cost: p.Cost, Source: q.Source, Support: q.Support, Lo: p.Lo, Hi: p.Hi},
				mincostflow.Settings{})
			if err != nil {
				rt.Fatal(err)
			}
			if !(r.Lower <= x.Upper && x.Lower <= r.Upper) {
				rt.Errorf("distribution %d: [%v, %v], exact [%v, %v]", i, r.Lower, r.Upper, x.Lower, x.Upper)
			}
			if _, _, err := Verify(context.Background(), q, r); err != nil {
				rt.Errorf("distribution %d: %v", i, err)
			}
		}
	})
}

// TestSharedPoint: a box that is a point up to rounding leaves nothing to choose.
func TestSharedPoint(t *testing.T) {
	g := newGenerator(22)
	c, lo, _ := unitSquare(t, g, 80, 1, 0)
	for j := range lo {
		lo[j] *= 1 + 5e-13
	}
	p := Problem{Problem: projection.Problem{Cost: c, Lo: lo, Hi: lo}, Reg: 0.05}
	pr := projector(t, p, Settings{Tolerance: 1e-9})
	p.Source = skewed(g, 80)
	want := mustProject(t, p, Settings{Tolerance: 1e-9})
	var r Result
	if err := pr.Project(context.Background(), p.Source, nil, &r); err != nil || !asProject(r, want) {
		t.Errorf("differs from Project: %v", err)
	}
	checkResult(t, p, r)
}

// TestSharedRounding: where the gap is all rounding, bounds come from a step in logarithms, and a relative gap, which
// nothing has at an optimum of 0, is met all the same.
func TestSharedRounding(t *testing.T) {
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
	p := Problem{Problem: projection.Problem{Cost: c, Source: mu, Lo: lo, Hi: hi}, Reg: 0.002}
	set := Settings{Gap: 0.01}
	var r Result
	if err := projector(t, p, set).Project(context.Background(), mu, nil, &r); err != nil || r.Lower != 0 {
		t.Errorf("%v, [%v, %v]", err, r.Lower, r.Upper)
	}
	if want := mustProject(t, p, set); !asProject(r, want) {
		t.Error("differs from Project")
	}
	checkResult(t, p, r)
}

// TestSharedCancelled: a context that ends on the way leaves feasible results with valid bounds.
func TestSharedCancelled(t *testing.T) {
	g := newGenerator(24)
	c, lo, hi := unitSquare(t, g, 140, 2, 3)
	p := Problem{Problem: projection.Problem{Cost: c, Lo: lo, Hi: hi}, Reg: 0.01}
	p.Source = skewed(g, 140)
	pr := projector(t, p, Settings{})
	last := math.Inf(1)
	var r Result
	if err := pr.Project(context.Background(), p.Source, nil, &r); err != nil { // makes the kernel
		t.Fatal(err)
	}
	for _, at := range []int{0, 1, 2, 5, 10} {
		err := pr.Project(&numtest.Asked{Context: context.Background(), Most: at}, p.Source, nil, &r)
		if !errors.Is(err, wpmerr.ErrNotConverged) || r.Status != Cancelled || !(r.Residual < last) {
			t.Errorf("after %d: %v, status %v, residual %v", at, err, r.Status, r.Residual)
		}
		last = r.Residual
		checkResult(t, p, r)
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
			p := Problem{Problem: projection.Problem{Cost: c, Source: mu, Lo: lo, Hi: hi}, Reg: reg}
			for _, m := range methods {
				r, err := Project(context.Background(), p, Settings{Method: m, Gap: 0.01})
				checkResult(t, p, r)
				if far := reg == 0.2 && k > 1; (err != nil) != far { // the entropic plan moves e^(-1/Reg) of the mass
					t.Errorf("k = %d, Reg = %v, %v: [%v, %v], %v", k, reg, m, r.Lower, r.Upper, err)
				}
			}
			var r Result
			err := projector(t, p, Settings{Gap: 0.01}).Project(context.Background(), mu, nil, &r)
			if far := reg == 0.2 && k > 1; (err != nil) != far {
				t.Errorf("k = %d, Reg = %v, by a Projector: [%v, %v], %v", k, reg, r.Lower, r.Upper, err)
			}
			checkResult(t, p, r)
		}
	}
}
