package sinkhorn

import (
	"context"
	"errors"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/wpmerr"
)

// users is a stream of distributions on some of k points.
type users struct {
	source  [][]float64
	support [][]int
}

// newUsers draws n distributions on m of k points.
func newUsers(g *generator, n, m, k int) users {
	var u users
	for range n {
		at := map[int]bool{}
		for len(at) < m {
			at[g.intn(k)] = true
		}
		var support []int
		for i := range at {
			support = append(support, i)
		}
		slices.Sort(support)
		mass := make([]float64, m)
		var sum float64
		for a := range mass {
			mass[a] = g.float() + 0.01
			sum += mass[a]
		}
		for a := range mass {
			mass[a] /= sum
		}
		u.source, u.support = append(u.source, mass), append(u.support, support)
	}
	return u
}

// unitSquare returns k points of the unit square as a cost to the power p, and a uniform box.
func unitSquare(t testing.TB, g *generator, k int, p, eps float64) (c *cost.Dense, lo, hi []float64) {
	t.Helper()
	x := make([][]float64, k)
	for i := range x {
		x[i] = []float64{g.float(), g.float()}
	}
	points, err := cost.NewPoints(x, nil, p)
	if err != nil {
		t.Fatal(err)
	}
	if c, err = cost.Materialize(context.Background(), points); err != nil {
		t.Fatal(err)
	}
	m := make([]float64, k)
	for j := range m {
		m[j] = 1 / float64(k)
	}
	lo, hi = box(m, eps)
	return c, lo, hi
}

// TestProjectorTinyColumn: a column that takes no part may still hold its lower bound, and what that can cost is in the
// bound.
func TestProjectorTinyColumn(t *testing.T) {
	const tiny = 1e-250
	p := Problem{Problem: projection.Problem{Cost: dense(t, []float64{1, 1, 1, 1, 3}), Source: []float64{1},
		Lo: []float64{0, 0, 0, 0, tiny},
		Hi: []float64{0.1, 0.2, 0.3, 0.7, tiny}}, Reg: 0.1}
	pr, err := NewProjector(context.Background(), p.Cost, p.Lo, p.Hi, p.Reg, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	var r Result
	if err := pr.Project(context.Background(), p.Source, nil, &r); err != nil {
		t.Fatal(err)
	}
	checkResult(t, p, r)
}

// TestProjectorRandom runs the generator's problems, with ties, columns that take nothing and rows without mass.
func TestProjectorRandom(t *testing.T) {
	g := newGenerator(11)
	n := 400
	if !numtest.Full() {
		n = 60
	}
	for range n {
		p := g.problem(1+g.intn(12), 1+g.intn(15), math.Pow(10, -4*g.float()))
		pr, err := NewProjector(context.Background(), p.Cost, p.Lo, p.Hi, p.Reg, Settings{Gap: 1e-9})
		if err != nil {
			t.Fatal(err)
		}
		var r Result
		err = pr.Project(context.Background(), p.Source, nil, &r)
		if err != nil && !errors.Is(err, wpmerr.ErrNotConverged) {
			t.Fatal(err)
		}
		checkResult(t, p, r)
		x, err := mincostflow.Project(context.Background(),
			projection.Problem{Cost: p.Cost, Source: p.Source, Lo: p.Lo, Hi: p.Hi}, mincostflow.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if !(r.Lower <= x.Upper && x.Lower <= r.Upper) {
			t.Errorf("%v: [%v, %v], exact [%v, %v]", describe(p), r.Lower, r.Upper, x.Lower, x.Upper)
		}
	}
}

// TestProjectorAgainstProject compares the goals that the general method serves.
func TestProjectorAgainstProject(t *testing.T) {
	g := newGenerator(4)
	c, lo, hi := unitSquare(t, g, 30, 1, 1)
	u := newUsers(g, 3, 5, 30)
	for _, s := range []Settings{{}, {Tolerance: 1e-6}, {Method: Paper, Gap: 0.2}} {
		pr, err := NewProjector(context.Background(), c, lo, hi, 0.05, s)
		if err != nil {
			t.Fatal(err)
		}
		for i := range u.source {
			var r Result
			err := pr.Project(context.Background(), u.source[i], u.support[i], &r)
			want, err2 := Project(context.Background(),
				Problem{Problem: projection.Problem{Cost: c, Source: u.source[i], Support: u.support[i], Lo: lo, Hi: hi},
					Reg: 0.05}, s)
			if !reflect.DeepEqual(r, want) || (err == nil) != (err2 == nil) {
				t.Errorf("%+v: Project of a Projector differs from Project: %v, %v", s, err, err2)
			}
		}
	}
}

// sameQ is how far two answers with residuals of 1e-10 may be apart: steps that contract by 0.999, the worst met, leave
// 1e-7.
const sameQ = 1e-7

// TestProjectorDense: distributions on all rows have, with a shared kernel, the results of Project, and those on most
// rows the same distribution.
func TestProjectorDense(t *testing.T) {
	g := newGenerator(12)
	const k = 150
	for _, p := range []float64{1, 2} {
		for _, reg := range []float64{0.3, 0.01, 0.001} {
			c, lo, hi := unitSquare(t, g, k, p, 1)
			pr, err := NewProjector(context.Background(), c, lo, hi, reg, Settings{Tolerance: 1e-10})
			if err != nil {
				t.Fatal(err)
			}
			for n := 0; n < 6; n += numtest.Cases(3, 1) {
				u := newUsers(g, 1, k-20*n, k)
				problem := Problem{Problem: projection.Problem{Cost: c, Source: u.source[0], Support: u.support[0], Lo: lo, Hi: hi},
					Reg: reg}
				want := mustProject(t, problem, Settings{Tolerance: 1e-10})
				var r Result
				if err := pr.Project(context.Background(), u.source[0], u.support[0], &r); err != nil {
					t.Fatal(err)
				}
				checkResult(t, problem, r)
				if want := reg*probeRange >= given.Range(c); (pr.shared != nil) != want {
					t.Fatalf("p %v, Reg %v: a shared kernel %v, want %v", p, reg, !want, want)
				}
				if n == 0 && !asProject(r, want) {
					t.Errorf("p %v, Reg %v: differs from Project: %v, %v", p, reg, r.Stats, want.Stats)
				}
				if d := distance1(r.Q, want.Q); !(d <= sameQ) {
					t.Errorf("p %v, Reg %v, %d rows: %v from Project", p, reg, k-20*n, d)
				}
			}
		}
	}
}

func TestProjectorCancelled(t *testing.T) {
	g := newGenerator(9)
	c, lo, hi := unitSquare(t, g, 40, 1, 1)
	u := newUsers(g, 1, 5, 40)
	pr, err := NewProjector(context.Background(), c, lo, hi, 0.01, Settings{Gap: 1e-9})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var r Result
	if err := pr.Project(ctx, u.source[0], u.support[0], &r); !errors.Is(err, wpmerr.ErrNotConverged) || r.Status != Cancelled {
		t.Fatalf("status %v, error %v", r.Status, err)
	}
	checkResult(t, Problem{Problem: projection.Problem{Cost: c, Source: u.source[0], Support: u.support[0], Lo: lo,
		Hi: hi}, Reg: 0.01}, r)
}

func TestNewProjectorErrors(t *testing.T) {
	g := newGenerator(2)
	c, lo, hi := unitSquare(t, g, 4, 1, 1)
	for _, test := range []struct {
		name   string
		c      cost.Matrix
		lo, hi []float64
		reg    float64
		s      Settings
		want   error
	}{
		{"no cost", nil, lo, hi, 1, Settings{}, wpmerr.ErrShape},
		{"short bounds", c, lo[:3], hi, 1, Settings{}, wpmerr.ErrShape},
		{"crossed bounds", c, hi, lo, 1, Settings{}, wpmerr.ErrBox},
		{"NaN", c, []float64{math.NaN(), 0, 0, 0}, hi, 1, Settings{}, wpmerr.ErrNotFinite},
		{"no room", c, []float64{0, 0, 0, 0}, []float64{0.1, 0.1, 0.1, 0.1}, 1, Settings{}, wpmerr.ErrInfeasible},
		{"Reg 0", c, lo, hi, 0, Settings{}, wpmerr.ErrReg},
		{"Gap NaN", c, lo, hi, 1, Settings{Gap: math.NaN()}, wpmerr.ErrSettings},
		{"History", c, lo, hi, 1, Settings{History: true}, wpmerr.ErrSettings},
		{"bad cost", &cost.Dense{K: 1, Kv: 4, Data: []float64{1, 2, math.Inf(1), 3}}, lo, hi, 1, Settings{}, wpmerr.ErrNotFinite},
		{"negative cost", &cost.Dense{K: 1, Kv: 4, Data: []float64{1, 2, -1, 3}}, lo, hi, 1, Settings{}, wpmerr.ErrNegative},
	} {
		if _, err := NewProjector(context.Background(), test.c, test.lo, test.hi, test.reg, test.s); !errors.Is(err, test.want) {
			t.Errorf("%s: NewProjector = %v, want %v", test.name, err, test.want)
		}
	}
	pr, err := NewProjector(context.Background(), c, lo, hi, 1e-12, Settings{Gap: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	var r Result
	for _, test := range []struct {
		name    string
		source  []float64
		support []int
		want    error
	}{
		{"tiny Reg", []float64{1}, []int{2}, wpmerr.ErrReg},
		{"mass", []float64{0}, []int{2}, wpmerr.ErrMass},
		{"support", []float64{1}, []int{4}, wpmerr.ErrSupport},
		{"length", []float64{1}, nil, wpmerr.ErrShape},
	} {
		if err := pr.Project(context.Background(), test.source, test.support, &r); !errors.Is(err, test.want) ||
			len(r.Q) != 0 || r.Status != Unknown {
			t.Errorf("%s: Project = %v with %d entries, want %v", test.name, err, len(r.Q), test.want)
		}
	}
	if err := pr.Project(context.Background(), []float64{1}, []int{2}, nil); !errors.Is(err, wpmerr.ErrShape) {
		t.Errorf("Project into nil = %v", err)
	}
}

// TestProjectorTinyMass: a mass that over the sum of its row is 0 made the objective -Inf.
func TestProjectorTinyMass(t *testing.T) {
	data := make([]float64, 16)
	for x := range data {
		data[x] = 6
	}
	data[0] = 1 << 40
	p := Problem{
		Problem: projection.Problem{Cost: &cost.Dense{K: 4, Kv: 4, Data: data}, Source: []float64{5e-324, 0.25, 0.25, 0.5},
			Lo: []float64{0.05, 0.05, 0.05, 0.05}, Hi: []float64{0.3, 0.3, 0.3, 0.3}}, Reg: 1 << 36,
	}
	o, err := NewProjector(context.Background(), p.Cost, p.Lo, p.Hi, p.Reg, Settings{Gap: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	var r Result
	if err := o.Project(context.Background(), p.Source, nil, &r); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Verify(context.Background(), p, r); err != nil || math.IsInf(r.Objective, 0) {
		t.Errorf("objective %v, %v", r.Objective, err)
	}
}
