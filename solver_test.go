package wpm_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/sinkhorn"
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
		m, err := wpm.FromPolytope(c, exact.Polytope(), wpm.Options{Solver: wpm.Entropic})
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
			if len(b.Result().Q) != 0 || len(a.Entropic().Q) != 0 {
				t.Errorf("%s, %s: a solver answers for the other", name, kind)
			}
			lo, hi := m.Polytope().Bounds()
			p := sinkhorn.Problem{Cost: c, Source: mu, Lo: lo, Hi: hi, Reg: b.Entropic().Reg}
			if _, _, err := sinkhorn.Verify(p, b.Entropic()); err != nil {
				t.Errorf("%s, %s: Verify: %v", name, kind, err)
			}
			if reg, err := sinkhorn.RelativeReg(c, wpm.EntropicReg); err == nil { // Entropic means entropic, on few points too
				p.Reg = reg
				want, _ := sinkhorn.Project(context.Background(), p, sinkhorn.Settings{Gap: wpm.EntropicGap, SupportOnly: true})
				got := b.Entropic()
				if !slices.Equal(b.Q(), want.Q) || got.Status != want.Status || got.Lower != want.Lower || got.Upper != want.Upper {
					t.Errorf("%s, %s: %v, [%v, %v], Project: %v, [%v, %v]", name, kind, got.Status, got.Lower, got.Upper, want.Status, want.Lower, want.Upper)
				}
			}
			counts := slices.Clone(mu)
			for i := range counts {
				counts[i] *= 1 << 20
			}
			if r, err := m.Project(context.Background(), counts); err != nil || !slices.Equal(r.Q(), b.Q()) {
				t.Errorf("%s, %s: masses that sum to 2^20 have another projection: %v", name, kind, err)
			}
			if s := fmt.Sprintf("%v %+v %#v", b, b, b); strings.Contains(s, fmt.Sprint(b.Upper())) || !strings.Contains(s, "redacted") {
				t.Errorf("%s, %s: prints as %s", name, kind, s)
			}
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		pr, err := m.Project(ctx, dense)
		if name == "grid" && (!wpm.Unfinished(err) || !errors.Is(err, sinkhorn.ErrNotConverged)) {
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
	if wpm.Unfinished(nil) || !wpm.Unfinished(fmt.Errorf("x: %w", mincostflow.ErrNotConverged)) {
		t.Error("Unfinished")
	}
}

// TestEntropicLargeGrid runs a grid whose matrix would take 8 GB.
func TestEntropicLargeGrid(t *testing.T) {
	side := 181
	if testing.Short() {
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
	mech, err := wpm.New(grid, m, epsilon(t, "1"), wpm.Options{Solver: wpm.Entropic})
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
