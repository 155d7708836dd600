package wpm_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/sinkhorn"
	"github.com/wpm-go/wpm/wpmerr"
)

func TestParseSolver(t *testing.T) {
	for _, s := range []wpm.Solver{wpm.Auto, wpm.Exact, wpm.Entropic} {
		if got, err := wpm.ParseSolver(s.String()); got != s || err != nil {
			t.Errorf("ParseSolver(%q) = %v, %v", s, got, err)
		}
		if !strings.Contains(wpm.Solvers, s.String()) {
			t.Errorf("Solvers = %q lacks %v", wpm.Solvers, s)
		}
	}
	for _, name := range []string{"", "Exact", "sinkhorn", "Solver(3)"} {
		if s, err := wpm.ParseSolver(name); !errors.Is(err, wpm.ErrOption) {
			t.Errorf("ParseSolver(%q) = %v, %v", name, s, err)
		}
	}
}

// TestEntropicMechanism holds that the entropic solver proves what it says of the same box: its bounds and those of
// the exact solver overlap, for a few atoms, for all points, and for a grid without
// a matrix in memory.
func TestEntropicMechanism(t *testing.T) {
	grid, err := cost.NewGrid(9, 9, 1)
	if err != nil {
		t.Fatal(err)
	}
	zero, err := cost.FromRows([][]float64{{0, 0}, {0, 0}})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]cost.Matrix{"grid": grid, "zero": zero} {
		k, _ := c.Dims()
		exact := designOf(t, c, "1").Mechanism()
		m, err := wpm.FromPolytope(context.Background(), c, exact.Polytope(), wpm.Options{Solver: wpm.Entropic})
		if err != nil {
			t.Fatal(err)
		}
		if m.Options().Solver != wpm.Entropic {
			t.Errorf("%s: solver %v", name, m.Options().Solver)
		}
		dense, few := make([]float64, k), make([]float64, k)
		for i := range dense {
			dense[i] = float64(1+i%5) / 100
		}
		sum := 0.0
		for _, x := range dense {
			sum += x
		}
		for i := range dense {
			dense[i] /= sum
		}
		few[0], few[k-1] = 0.25, 0.75
		for kind, mu := range map[string][]float64{"dense": dense, "few": few} {
			a, err := exact.Project(context.Background(), mu)
			if err != nil {
				t.Fatal(err)
			}
			b, err := m.Project(context.Background(), mu)
			if err != nil {
				t.Fatalf("%s, %s: %v", name, kind, err)
			}
			if !(a.Lower() <= b.Upper() && b.Lower() <= a.Upper() && b.Lower() <= b.Upper()) {
				t.Errorf("%s, %s: exact [%v, %v], entropic [%v, %v]", name, kind, a.Lower(), a.Upper(), b.Lower(), b.Upper())
			}
			if kind == "few" && !(b.Upper()-b.Lower() <= wpm.EntropicGap*b.Upper()) {
				t.Errorf("%s, %s: [%v, %v] is a larger gap than %v", name, kind, b.Lower(), b.Upper(), wpm.EntropicGap)
			}
			if w := b.Weights(); w.Len() != len(b.Q()) {
				t.Errorf("%s, %s: %d weights for %d outputs", name, kind, w.Len(), len(b.Q()))
			}
			for solver, pr := range map[certificate.Kind]wpm.Projection{certificate.Projection: a, certificate.Entropic: b} {
				cert, err := pr.Certificate(context.Background())
				if err != nil || cert.Kind() != solver || !cert.Private() {
					t.Errorf("%s, %s: certificate %v, %v", name, kind, cert, err)
					continue
				}
				proved, err := certificate.Verify(context.Background(), cert)
				if err != nil {
					t.Errorf("%s, %s, %s: %v", name, kind, solver, err)
					continue
				}
				if lower, upper := proved.Floats(); !(pr.Lower() <= lower && upper <= pr.Upper()+1e-12) {
					t.Errorf("%s, %s, %s: bounds [%v, %v], proved [%v, %v]", name, kind, solver, pr.Lower(), pr.Upper(), lower, upper)
				}
			}
			if reg, err := sinkhorn.RelativeReg(context.Background(), c, wpm.EntropicReg); err == nil { // Entropic means entropic, on few points too
				lo, hi := m.Polytope().Bounds()
				p := sinkhorn.Problem{Problem: projection.Problem{Cost: c, Source: mu, Lo: lo, Hi: hi}, Reg: reg}
				want, _ := sinkhorn.Project(context.Background(), p, sinkhorn.Settings{Gap: wpm.EntropicGap})
				if !slices.Equal(b.Q(), want.Q) || b.Lower() != want.Lower || b.Upper() != want.Upper {
					t.Errorf("%s, %s: [%v, %v], Project: [%v, %v]", name, kind, b.Lower(), b.Upper(), want.Lower, want.Upper)
				}
			}
			counts := slices.Clone(mu)
			for i := range counts {
				counts[i] *= 1 << 20
			}
			if r, err := m.Project(context.Background(), counts); err != nil || !slices.Equal(r.Q(), b.Q()) {
				t.Errorf("%s, %s: masses that sum to 2^20 have another projection: %v", name, kind, err)
			}
			if s := fmt.Sprintf("%v %+v %#v", b, b, b); strings.Contains(s, fmt.Sprint(b.Upper())) ||
				!strings.Contains(s, "redacted") {
				t.Errorf("%s, %s: prints as %s", name, kind, s)
			}
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		pr, err := m.Project(ctx, dense)
		if name == "grid" && (!wpm.Unfinished(err) || !errors.Is(err, wpmerr.ErrNotConverged)) {
			t.Errorf("%s: cancelled: %v", name, err)
		}
		if len(pr.Q()) == 0 {
			t.Errorf("%s: cancelled without an answer", name)
		}
		if q, err := m.Projector()(ctx, dense); err != nil || len(q) == 0 {
			t.Errorf("%s: a stopped projection is still one: %v", name, err)
		}
		if _, err := m.Project(context.Background(), make([]float64, k)); err == nil || wpm.Unfinished(err) {
			t.Errorf("%s: no mass: %v", name, err)
		}
	}
	if wpm.Unfinished(nil) || !wpm.Unfinished(fmt.Errorf("x: %w", wpmerr.ErrNotConverged)) {
		t.Error("Unfinished")
	}
}

// TestEntropicLargeGrid runs a grid whose matrix would take 8 GB.
func TestEntropicLargeGrid(t *testing.T) {
	side := 181
	if !numtest.Full() {
		side = 91 // just above what is held
	}
	grid, err := cost.NewGrid(side, side, 2)
	if err != nil {
		t.Fatal(err)
	}
	m := make([]float64, side*side)
	mu := make([]float64, side*side)
	sum := 0.0
	for i := range m {
		m[i] = 1 / float64(len(m))
		x, y := float64(i%side)/float64(side)-0.4, float64(i/side)/float64(side)-0.6
		mu[i] = math.Exp(-(x*x + y*y) / 0.05)
		sum += mu[i]
	}
	for i := range mu {
		mu[i] /= sum
	}
	mech, err := wpm.New(context.Background(), grid, m, given.Epsilon(t, "1"), wpm.Options{Solver: wpm.Entropic})
	if err != nil {
		t.Fatal(err)
	}
	pr, err := mech.Project(context.Background(), mu)
	if err != nil {
		t.Fatal(err)
	}
	if !(pr.Upper()-pr.Lower() <= wpm.EntropicGap*pr.Upper() && pr.Lower() > 0) {
		t.Errorf("[%v, %v]", pr.Lower(), pr.Upper())
	}
}

// TestManyProjections holds that a projection depends on nothing but its distribution: not on how many came before,
// which decides whether the solver keeps what they share, nor on what runs at the same time.
func TestManyProjections(t *testing.T) {
	grid, err := cost.NewGrid(6, 7, 1)
	if err != nil {
		t.Fatal(err)
	}
	m := designOf(t, grid, "1").Mechanism()
	const users = 120
	answers := make([]wpm.Projection, users)
	support := func(u int) ([]int, []float64) { return []int{u % 20, 21 + u%21}, []float64{1, float64(1 + u%5)} }
	var group sync.WaitGroup
	for worker := range 3 {
		group.Go(func() {
			for u := worker; u < users; u += 3 {
				at, weight := support(u)
				pr, err := m.ProjectSparse(context.Background(), at, weight)
				if err != nil {
					t.Errorf("user %d: %v", u, err)
				}
				answers[u] = pr
			}
		})
	}
	group.Wait()
	for u, pr := range answers {
		alone, err := wpm.FromPolytope(context.Background(), grid, m.Polytope(), wpm.Options{})
		if err != nil {
			t.Fatal(err)
		}
		at, weight := support(u)
		want, err := alone.ProjectSparse(context.Background(), at, weight)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(pr.Q(), want.Q()) || pr.Lower() != want.Lower() || pr.Upper() != want.Upper() {
			t.Errorf("user %d: [%v, %v] among others, [%v, %v] alone", u, pr.Lower(), pr.Upper(), want.Lower(), want.Upper())
		}
		clear(weight) // the projection keeps its own
		if cert, err := pr.Certificate(context.Background()); err != nil || cert.Kind() != certificate.Projection {
			t.Errorf("user %d: %v, %v", u, cert, err)
		}
	}
	if _, err := (wpm.Projection{}).Certificate(context.Background()); !errors.Is(err, wpmerr.ErrMass) {
		t.Errorf("the zero Projection: %v", err)
	}
}

// BenchmarkProject is one user of twenty cells of 256, among many.
func BenchmarkProject(b *testing.B) {
	grid, err := cost.NewGrid(16, 16, 1)
	if err != nil {
		b.Fatal(err)
	}
	eps, err := ldp.ParseEpsilon("1")
	if err != nil {
		b.Fatal(err)
	}
	d, err := wpm.NewDesign(context.Background(), grid, eps, wpm.Objective{})
	if err != nil {
		b.Fatal(err)
	}
	mu := make([]float64, 256)
	for i := range 20 {
		mu[(i*37)%256] = float64(1 + i)
	}
	m := d.Mechanism()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Project(context.Background(), mu); err != nil {
			b.Fatal(err)
		}
	}
}
