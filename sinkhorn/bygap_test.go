package sinkhorn

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/wpmerr"
	"pgregory.net/rapid"
)

// TestRegByGapRefusals: Reg = 0 means something beside a gap only, and for the default method without other goals.
func TestRegByGapRefusals(t *testing.T) {
	p := newGenerator(3).problem(6, 7, 0.1)
	for _, tt := range []struct {
		reg  float64
		s    Settings
		want error
	}{
		{0, Settings{}, wpmerr.ErrReg},
		{0, Settings{Tolerance: 1e-9}, wpmerr.ErrReg},
		{-1, Settings{Gap: 0.1}, wpmerr.ErrReg},
		{math.NaN(), Settings{Gap: 0.1}, wpmerr.ErrReg},
		{math.Inf(1), Settings{Gap: 0.1}, wpmerr.ErrReg},
		{0, Settings{Gap: -0.1}, wpmerr.ErrReg},
		{0, Settings{Gap: math.NaN()}, wpmerr.ErrReg},
		{0, Settings{Gap: math.Inf(1)}, wpmerr.ErrSettings},
		{0, Settings{Gap: 0.1, Method: Paper}, wpmerr.ErrSettings},
		{0, Settings{Gap: 0.1, Tolerance: 1e-9}, wpmerr.ErrSettings},
		{0, Settings{Gap: 0.1, Initial: make([]float64, 7)}, wpmerr.ErrSettings},
	} {
		p.Reg = tt.reg
		if r, err := Project(context.Background(), p, tt.s); !errors.Is(err, tt.want) || r.Q != nil {
			t.Errorf("Reg %v, %+v: %v, want %v", tt.reg, tt.s, err, tt.want)
		}
	}
	p.Reg = 0
	r := mustProject(t, p, Settings{Gap: 0.1})
	r.Settings = Settings{}
	if _, _, err := Verify(context.Background(), p, r); !errors.Is(err, wpmerr.ErrReg) {
		t.Errorf("Verify of Reg = 0 without a gap: %v", err)
	}
}

// TestRegByGap: what is called converged has the gap, is what Verify proves, and encloses the optimum of another
// solver. Small problems of every kind converge, or stall at a gap that the least mass
// or the least Reg can make.
func TestRegByGap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k, kv := rapid.IntRange(1, 9).Draw(t, "k"), rapid.IntRange(1, 9).Draw(t, "kv")
		scale := rapid.SampledFrom([]float64{1, 1e-200, 1e200, 1e-3, 7, 1e-300, 1e300}).Draw(t, "scale")
		steps := rapid.SampledFrom([]float64{3, 1000}).Draw(t, "steps") // ties, and none
		offset := rapid.SampledFrom([]float64{0, 0, 1e4}).Draw(t, "offset")
		c := &cost.Dense{K: k, Kv: kv, Data: make([]float64, k*kv)}
		for x := range c.Data {
			c.Data[x] = scale * (offset + math.Floor(steps*rapid.Float64Range(0, 1).Draw(t, "cost"))/steps)
		}
		p := Problem{Problem: projection.Problem{Cost: c, Source: make([]float64, k), Lo: make([]float64, kv),
			Hi: make([]float64, kv)}}
		for i := range p.Source {
			p.Source[i] = rapid.SampledFrom([]float64{0, 1, 2, 1e-9, 1e-300}).Draw(t, "mass")
		}
		p.Source[0] = 1
		point := rapid.SampledFrom([]bool{false, false, true}).Draw(t, "point")
		for j := range p.Lo {
			p.Lo[j] = rapid.SampledFrom([]float64{0, 0.3, 0.9}).Draw(t, "lo") / float64(kv)
			p.Hi[j] = rapid.SampledFrom([]float64{1.05, 1.5, 4}).Draw(t, "hi") / float64(kv)
			if point {
				p.Lo[j], p.Hi[j] = 1/float64(kv), 1/float64(kv)
			}
		}
		gap := rapid.SampledFrom([]float64{0.5, 0.05, 1e-3, 1e-6}).Draw(t, "gap")
		r, err := Project(context.Background(), p, Settings{Gap: gap})
		most := scale * (1 + offset)
		// Beside an optimum of 0, the row of 1e-9 of the mass may be all of the upper bound. At the least Reg there is,
		// exponents of up to three costs over Reg are off by 2^-48 of that, and the bounds keep four times as much in hand.
		limit := 1e-9 * most
		if r.Reg <= leastReg(scale) {
			limit = max(limit, 12*0x1p-48*scale/r.Reg*most)
		}
		if errors.Is(err, wpmerr.ErrNotConverged) && r.Status == Stalled && r.Gap() <= limit {
			err = nil
		} else if err == nil && !(r.Gap() <= gap*r.Upper+1e-13*most) { // what is kept for sums over nine points
			t.Fatalf("converged at [%v, %v]", r.Lower, r.Upper)
		}
		if err != nil {
			t.Fatalf("%v: %v", describe(p), err)
		}
		if !(r.Reg > 0) {
			t.Fatalf("Reg %v", r.Reg)
		}
		if _, _, err := Verify(context.Background(), p, r); err != nil {
			t.Fatal(err)
		}
		x, err := mincostflow.Project(context.Background(), p.Problem, mincostflow.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if !(r.Lower <= x.Upper && x.Lower <= r.Upper) {
			t.Fatalf("[%v, %v], exact [%v, %v]", r.Lower, r.Upper, x.Lower, x.Upper)
		}
	})
}

// TestRegByGapHard: small problems that have ended without the gap. A row of 1e-9 of the mass has to find its column
// where all others are full to 1e-9, and costs of 1e4 that all but agree.
func TestRegByGapHard(t *testing.T) {
	flat := func(n int, off map[int]float64) []float64 {
		c := slices.Repeat([]float64{1}, n)
		for x, d := range off {
			c[x] -= d
		}
		return c
	}
	hill := flat(54, map[int]float64{13: 1, 14: 1, 15: 1, 52: 2. / 3})
	for x := range hill {
		hill[x] += 1e4
	}
	for name, tt := range map[string]struct {
		p   Problem
		gap float64
	}{
		"what is kept in hand for noise is most of the gap": {Problem{
			Problem: projection.Problem{Cost: &cost.Dense{K: 5, Kv: 9, Data: flat(45, map[int]float64{0: 1, 8: 1, 22: 1, 43: 1})},
				Source: []float64{1, 0, 1, 1e-9, 1},
				Lo:     make([]float64, 9),
				Hi:     []float64{1. / 6, 1.05 / 9, 1.05 / 9, 1.05 / 9, 4. / 9, 1.05 / 9, 1.05 / 9, 1.05 / 9, 1. / 6}},
		}, 1e-6},
		"prices of 0 are best, and costs are reduced": {Problem{
			Problem: projection.Problem{Cost: &cost.Dense{K: 6, Kv: 9, Data: hill}, Source: []float64{1, 1, 0, 0, 0, 1},
				Lo: []float64{8: 0.1}, Hi: []float64{1.05 / 9, 1.05 / 9, 1.05 / 9, 1.05 / 9, 1.05 / 9, 1.05 / 9, 1.05 / 9, 4. / 9,
					1.05 / 9}},
		}, 1e-6},
		"columns have to leave their bounds": {Problem{
			Problem: projection.Problem{Cost: &cost.Dense{K: 3, Kv: 3, Data: []float64{0, 1, 1, 1, 1, 0.125, 0.25, 0, 1}},
				Source: []float64{1, 1e-9, 1},
				Lo:     make([]float64, 3), Hi: []float64{0.5, 0.5, 0.35}},
		}, 0.5},
	} {
		r, err := Project(context.Background(), tt.p, Settings{Gap: tt.gap})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		checkResult(t, tt.p, r)
	}
}

// TestRegByGapScale: a power of two in the costs, up to the ends of the range of floats, leaves an answer as it is, and
// Reg comes down as far beside costs of 1e-300 as beside those of 1.
func TestRegByGapScale(t *testing.T) {
	for _, gap := range []float64{0.1, 1e-2, 1e-4} {
		p := newGenerator(14).problem(30, 25, 0)
		want := mustProject(t, p, Settings{Gap: gap})
		for _, e := range []int{-1000, -996, 996, 1020} { // 1e-301, 1e-300, 1e300, 1e307
			q := p
			data := slices.Clone(p.Cost.(*cost.Dense).Data)
			for x := range data {
				data[x] = math.Ldexp(data[x], e)
			}
			q.Cost = &cost.Dense{K: 30, Kv: 25, Data: data}
			got := mustProject(t, q, Settings{Gap: gap})
			if got.Reg != math.Ldexp(want.Reg, e) || !slices.Equal(got.Q, want.Q) {
				t.Errorf("gap %v, costs times 2^%d: Reg = %v, want %v times that", gap, e, got.Reg, want.Reg)
			}
		}
	}
}

// TestRegByGapFlat: costs without a range, and an optimum of 0.
func TestRegByGapFlat(t *testing.T) {
	for name, data := range map[string][]float64{
		"zero": make([]float64, 9), "equal": slices.Repeat([]float64{3}, 9), "small": {0, 1e-280, 0, 1e-281, 0, 0, 0, 0, 0},
		"nothing to move": {0, 1, 2, 1, 0, 1, 2, 1, 0},
	} {
		p := Problem{
			Problem: projection.Problem{Cost: &cost.Dense{K: 3, Kv: 3, Data: data}, Source: []float64{1, 1, 1},
				Lo: slices.Repeat([]float64{0.2}, 3), Hi: slices.Repeat([]float64{0.5}, 3)},
		}
		r, err := Project(context.Background(), p, Settings{Gap: 1e-3})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !(r.Gap() <= max(1e-3*r.Upper, 1e-13*slices.Max(data))+4*math.SmallestNonzeroFloat64) {
			t.Errorf("%s: [%v, %v]", name, r.Lower, r.Upper)
		}
	}
}

// TestRegByGapOnGrid: the method for grids, at gaps from loose to fine.
func TestRegByGapOnGrid(t *testing.T) {
	for _, size := range [][2]int{{40, 19}, {1, 300}, {70, 33}, {48, 48}}[:numtest.Cases(2, 4)] {
		for _, gap := range []float64{0.3, 0.03, 3e-3}[:numtest.Cases(2, 3)] {
			p := gridProblem(t, size[0], size[1], 1, 0)
			r, err := byGapOnGrid(t, context.Background(), p, Settings{Gap: gap})
			if err != nil {
				t.Errorf("%v, gap %v: %v", size, gap, err)
				continue
			}
			if !(r.Gap() <= gap*r.Upper) || !(r.Reg > 0) {
				t.Errorf("%v, gap %v: [%v, %v] at Reg %v", size, gap, r.Lower, r.Upper, r.Reg)
			}
			p.Reg = r.Reg
			checkResult(t, p, r)
		}
	}
}

// byGapOnGrid is onGrid where Gap chooses Reg.
func byGapOnGrid(t testing.TB, ctx context.Context, p Problem, s Settings) (Result, error) {
	t.Helper()
	p.Reg = 1
	in, err := newInstance(p)
	if err != nil {
		t.Fatal(err)
	}
	in.choose = true
	set, err := s.resolve(in)
	if err != nil {
		t.Fatal(err)
	}
	return in.grid(ctx, p.Cost.(*cost.Grid), set)
}

// TestRegByGapStops: a context that ends and a limit on iterations leave an answer whose bounds hold, at every point.
func TestRegByGapStops(t *testing.T) {
	small := newGenerator(12).problem(30, 25, 0)
	grid := gridProblem(t, numtest.Cases(12, 24), numtest.Cases(15, 30), 1, 0)
	for name, run := range map[string]func(ctx context.Context, s Settings) (Problem, Result, error){
		"dense": func(ctx context.Context, s Settings) (Problem, Result, error) {
			r, err := Project(ctx, small, s)
			return small, r, err
		},
		"grid": func(ctx context.Context, s Settings) (Problem, Result, error) {
			r, err := byGapOnGrid(t, ctx, grid, s)
			return grid, r, err
		},
	} {
		stopped := 0
		for n := 0; n < 12; n += numtest.Cases(3, 1) {
			for want, with := range map[Status]func() (Problem, Result, error){
				Cancelled: func() (Problem, Result, error) {
					return run(&numtest.Asked{Context: context.Background(), Most: n * n}, Settings{Gap: 1e-9})
				},
				IterationLimit: func() (Problem, Result, error) {
					return run(context.Background(), Settings{Gap: 1e-9, MaxIterations: 1 + n*n})
				},
			} {
				p, r, err := with()
				if errors.Is(err, wpmerr.ErrNotConverged) && r.Status == want {
					stopped++
				} else if err != nil {
					t.Errorf("%s, %d: %v, %v", name, n, r.Status, err)
				}
				if _, _, err := Verify(context.Background(), p, r); err != nil {
					t.Errorf("%s, %d: %v", name, n, err)
				}
			}
		}
		if stopped < numtest.Cases(4, 12) {
			t.Errorf("%s: stopped %d times of %d", name, stopped, numtest.Cases(8, 24))
		}
	}
}

// TestRegByGapWorkers holds that the bits do not depend on the number of threads.
func TestRegByGapWorkers(t *testing.T) {
	dense := square(150, 0)
	grid := gridProblem(t, 40, 56, 1, 0)
	var first [2]Result
	for n, workers := range []int{1, 3, 2, 8}[:numtest.Cases(2, 4)] {
		old := runtime.GOMAXPROCS(workers)
		a := mustProject(t, dense, Settings{Gap: 0.02})
		b, err := byGapOnGrid(t, context.Background(), grid, Settings{Gap: 0.02})
		runtime.GOMAXPROCS(old)
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			first = [2]Result{a, b}
		} else if !reflect.DeepEqual([2]Result{a, b}, first) {
			t.Errorf("%d workers give another result than 1", workers)
		}
	}
}

// TestRegTooLarge: a gap that the entropy of Reg rules out is refused before the run at the final Reg is over, and one
// that it allows is not.
func TestRegTooLarge(t *testing.T) {
	ctx := context.Background()
	for _, side := range []int{18, 24, 40, 64}[:numtest.Cases(1, 4)] {
		for _, rel := range []float64{1e-1, 1e-2, 1e-3}[:numtest.Cases(2, 3)] {
			t.Run(fmt.Sprint(side, rel), func(t *testing.T) {
				p := gridProblem(t, side, side, 1, rel)
				r, err := onGrid(t, ctx, p, Settings{Gap: 1e-3})
				if !errors.Is(err, wpmerr.ErrNotConverged) || r.Status != RegLimit {
					t.Fatalf("%v, %v", r.Status, err)
				}
				checkResult(t, p, r)
				full, err := onGrid(t, ctx, p, Settings{Tolerance: 1e-9})
				if err != nil {
					t.Fatal(err)
				}
				if !(full.Gap() > 1e-3*full.Upper) {
					t.Errorf("the gap is %v of %v when solved to the end", full.Gap(), full.Upper)
				}
				if !(r.Iterations < full.Iterations) {
					t.Errorf("%d iterations, %d to the end", r.Iterations, full.Iterations)
				}
				// Half as much again as it has when solved to the end: not ruled out.
				if r, err := onGrid(t, ctx, p, Settings{Gap: min(1, 1.5*full.Gap()/full.Upper)}); err != nil {
					t.Errorf("a gap of %v: %v, %v", 1.5*full.Gap()/full.Upper, r.Status, err)
				}
			})
		}
	}
}
