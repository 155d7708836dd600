package gowalla

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/city"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/mincostflow"
)

// tieTol is for sums of some hundred roundings of numbers below 1, and costs that tieStep moves, in cell widths.
const tieTol = 1e-8

func newStudy(t *testing.T, p city.Population, cfg Config) (*study, *wpm.Mechanism) {
	t.Helper()
	cfg.Rows, cfg.Cols = p.Rows, p.Cols
	cfg, eps, err := cfg.resolve()
	if err != nil {
		t.Fatal(err)
	}
	g, err := cost.NewGrid(p.Rows, p.Cols, 1)
	if err != nil {
		t.Fatal(err)
	}
	s := &study{ctx: context.Background(), cfg: cfg, pop: p, unit: float64(p.Cols), truth: p.Truth(),
		progress: func(int, int, string) {}}
	if s.cost, err = cost.Materialize(context.Background(), g); err != nil {
		t.Fatal(err)
	}
	d, err := s.design(eps[0])
	if err != nil {
		t.Fatal(err)
	}
	return s, d.mech
}

// TestTiesAreExact: a projection chosen among those that cost the same is in the box and costs what the solver's costs.
func TestTiesAreExact(t *testing.T) {
	s, mech := newStudy(t, village(t, 12, 6, 6), Config{Epsilons: []string{"2"}})
	lo, hi := mech.Polytope().Bounds()
	differ, random := false, false
	for _, src := range append(s.tied(WPM), s.tied(Mixture)...) {
		want, err := mech.ProjectSparse(s.ctx, src.support, src.weight)
		if err != nil {
			t.Fatal(err)
		}
		q, gap, err := s.randomTies(mech.Polytope(), src, 3)
		if err != nil {
			t.Fatal(err)
		}
		mu := make([]float64, s.cost.K)
		for n, i := range src.support {
			mu[i] = src.weight[n]
		}
		moved, err := mincostflow.Transport(s.ctx, s.cost, mu, q)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(moved.Objective-want.Objective()) > tieTol || !(gap >= tieStep && gap < 2*tieStep) {
			t.Errorf("costs %v, gap %v; the optimum is %v", moved.Objective, gap, want.Objective())
		}
		for j, x := range q {
			const rounding = 1e-15 // of a mean of eight
			if !(x >= lo[j]-rounding && x <= hi[j]+rounding) {
				t.Errorf("q[%d] = %v is not in [%v, %v]", j, x, lo[j], hi[j])
			}
			differ = differ || math.Abs(x-want.Q()[j]) > tieTol
		}
		other, _, err := s.randomTies(mech.Polytope(), src, 4)
		if err != nil {
			t.Fatal(err)
		}
		random = random || !slices.Equal(q, other)
	}
	if !differ || !random {
		t.Errorf("other than the solver's: %v, with the user: %v; want both", differ, random)
	}
}

// TestTieRangeOnThreeCells: two users on three cells in a row, one of them in the middle, who can be sent left or
// right. The range is known.
func TestTieRangeOnThreeCells(t *testing.T) {
	p := city.Population{Rows: 1, Cols: 3,
		Users: []city.User{{ID: 1, Cells: []int{0}, Counts: []int{10}}, {ID: 2, Cells: []int{1}, Counts: []int{10}}}}
	s, _ := newStudy(t, p, Config{Epsilons: []string{"1"}})
	eps, err := ldp.ParseEpsilon("1")
	if err != nil {
		t.Fatal(err)
	}
	const mass = 0.9 // what the middle cannot hold fits on one side of it
	box, err := ldp.NewPolytope(eps, []float64{mass / 3, mass / 3, mass / 3}, 62)
	if err != nil {
		t.Fatal(err)
	}
	a, b := box.Bounds()
	lo, hi := a[0], b[0]
	rest := 1 - hi - 2*lo
	if rest <= 0 || rest > hi-lo {
		t.Fatalf("lo %v, hi %v: not the case meant", lo, hi)
	}
	// Distribution functions: the first user releases (hi, lo+rest, lo), the second (lo+x, hi, lo+rest-x), 0 <= x <= rest;
	// the truth is (1/2, 1/2, 0).
	w := func(x float64) float64 { return math.Abs((hi+lo+x)/2-0.5) + (lo+lo+rest-x)/2 }
	want := []float64{w(0), w(rest)}
	slices.Sort(want)
	for _, x := range []float64{0, rest / 3, rest} {
		q := []float64{(hi + lo + x) / 2, (lo + rest + hi) / 2, (lo + lo + rest - x) / 2}
		low, high, err := s.tieRange(box, s.tied(WPM), q, "test")
		if err != nil || math.Abs(low-want[0]) > tieTol || math.Abs(high-want[1]) > tieTol {
			t.Errorf("from x = %v: %v to %v, %v; want %v", x, low, high, err, want)
		}
	}
}

// TestTieRange: the range holds every choice, whatever is chosen the unique mechanisms have none, and the seed moves
// neither.
func TestTieRange(t *testing.T) {
	p := village(t, 30, 6, 6)
	cfg := Config{Epsilons: []string{"3"}, Runs: 1, SkipEstimates: true}
	random := compared(t, p, cfg)
	cfg.Seed = 9
	seeded := compared(t, p, cfg)
	cfg.Ties = TiesSolver
	solver := compared(t, p, cfg)
	cfg.SkipTieRange = true
	skipped := compared(t, p, cfg)
	for _, m := range Methods() {
		r, _ := random.Row(m, "3")
		again, _ := seeded.Row(m, "3")
		v, _ := solver.Row(m, "3")
		none, _ := skipped.Row(m, "3")
		if r.Expected != again.Expected || r.TieLow != again.TieLow || r.TieHigh != again.TieHigh {
			t.Errorf("%s: the seed moves what is not drawn", m)
		}
		if v.Expected != none.Expected || none.TieLow != none.Expected || none.TieHigh != none.Expected {
			t.Errorf("%s without a range: %+v", m, none)
		}
		if m != WPM && m != Mixture {
			if r.TieLow != r.Expected || r.TieHigh != r.Expected {
				t.Errorf("%s is unique, and has the range %v to %v", m, r.TieLow, r.TieHigh)
			}
			continue
		}
		if !(r.TieLow < r.TieHigh) || !(r.TieLow <= v.Expected+tieTol && v.Expected <= r.TieHigh+tieTol) ||
			r.Expected == v.Expected {
			t.Errorf("%s: %v by random ties, %v by the solver's, range %v to %v", m, r.Expected, v.Expected, r.TieLow, r.TieHigh)
		}
		const search = 5e-3 // the search stops at kinks, of which so small a city has many
		if math.Abs(r.TieLow-v.TieLow) > search {
			t.Errorf("%s: the least is %v from one start and %v from another", m, r.TieLow, v.TieLow)
		}
	}
	if _, err := Compare(context.Background(), p, Config{Ties: "left"}); !errors.Is(err, ErrConfig) {
		t.Errorf("Ties left: %v", err)
	}
	cfg = Config{Epsilons: []string{"3"}, Runs: 1, SkipEstimates: true, Solver: "entropic", Methods: []Method{WPM}}
	a := compared(t, p, cfg)
	cfg.Ties = TiesSolver
	if b := compared(t, p, cfg); !reflect.DeepEqual(a.Rows, b.Rows) {
		t.Error("Ties has an effect on the entropic solver")
	}
}
