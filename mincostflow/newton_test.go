package mincostflow

import (
	"context"
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/mincostflow/internal/ascent"
	"github.com/wpm-go/wpm/wpmerr"
)

// wideProblem draws a problem with few rows and enough columns to be merged, more than once for
// most.
func (d draw) wideProblem() Problem {
	k, kv := 1+d.Intn(6), newtonColumns+d.Intn(900)
	p := Problem{Cost: d.costs(k, kv), Source: d.masses(k)}
	m := d.masses(kv)
	switch d.Intn(5) {
	case 0: // tight at the top, with columns that take nothing when m has zeros
		p.Lo, p.Hi = make([]float64, kv), m
	case 1:
		p.Lo, p.Hi = m, m
	case 2: // far more room than there is mass
		p.Lo, p.Hi = make([]float64, kv), repeat(0.9, kv)
	case 3:
		p.Lo, p.Hi = scaled(m, 0.25), repeat(1e12, kv)
	default:
		p.Lo, p.Hi = scaled(m, 0.5), scaled(m, 2)
	}
	return p
}

func TestNewtonStart(t *testing.T) {
	n := numtest.Cases(15, 300)
	for seed := range n {
		d := newDraw(uint64(seed) + 24e6)
		p := d.wideProblem()
		r := mustProject(t, p, Settings{noKnapsack: true})
		// Stopped anywhere.
		limit := 1 + d.Intn(r.Stats.Pivots+1)
		s, err := Project(context.Background(), p, Settings{noKnapsack: true, maxPivots: limit})
		if err != nil && !errors.Is(err, wpmerr.ErrNotConverged) {
			t.Fatal(err)
		}
		checkResult(t, p, s)
		if s.Lower > r.Upper || s.Upper < r.Lower {
			t.Fatalf("%d pivots: [%v, %v], optimum in [%v, %v]", limit, s.Lower, s.Upper, r.Lower, r.Upper)
		}
	}
}

// TestAssignAnyPrices: whatever prices the columns are assigned by, the tree is strongly feasible,
// and the simplex ends at the optimum.
func TestAssignAnyPrices(t *testing.T) {
	for seed := range numtest.Cases(120, 300) {
		d := newDraw(uint64(seed) + 25e6)
		var p Problem
		if seed%2 == 0 {
			p = d.problem(8)
		} else {
			p = d.wideProblem()
		}
		s, in, settings := solverOf(t, p)
		want, err := s.result(s.simplex(context.Background(), settings), settings)
		if err != nil {
			t.Fatal(err)
		}

		s.nw.bind(&s.sx.tree, &s.rows, &s.watch, s.units, s.total)
		if seed%3 == 0 && len(s.nw.heavy) > 1 { // some rows are light, and no leaves apart, as where many columns meet few
			first := d.Intn(len(s.nw.heavy))
			s.nw.heavy = s.nw.heavy[first : first+1+d.Intn(len(s.nw.heavy)-first)]
			s.sx.tree.leaves.never = true
		}
		prices := make([]float64, len(s.nw.heavy))
		for i := range prices {
			prices[i] = s.sx.full * (2*d.Float64() - 1) * float64(d.Intn(3))
		}
		s.sx.tree.reset(len(in.rows), in.kv, s.units)
		s.nw.F, s.nw.Whole = prices, false
		s.nw.assign()
		level(&s.sx.tree)
		s.sx.setGrid(s.sx.exp, s.sx.full)
		checkTree(t, &s.sx.tree, s.units)
		if !s.sx.pr.run() {
			t.Fatalf("%v: stopped", describe(p))
		}
		checkTree(t, &s.sx.tree, s.units)
		if s.sx.tree.outOfRange || s.sx.artificialFlow() {
			continue // for the caller to deal with
		}
		r, err := s.result(s.optimum(), settings)
		if err != nil {
			t.Fatal(err)
		}
		if r.Lower > want.Upper || r.Upper < want.Lower {
			t.Fatalf("%v: [%v, %v], want [%v, %v]", describe(p), r.Lower, r.Upper, want.Lower, want.Upper)
		}
	}
}

// heavyProblem draws a problem whose mass is mostly on a few of many rows.
func (d draw) heavyProblem() Problem {
	k, kv := 10+d.Intn(60), newtonColumns+d.Intn(200)
	p := Problem{Cost: d.costs(k, kv), Source: make([]float64, k)}
	for i := range p.Source {
		p.Source[i] = math.Ldexp(1+d.Float64(), -60+d.Intn(60)) // a few ties
		if d.Intn(8) == 0 {
			p.Source[i] = 1 + d.Float64()
		}
	}
	m := d.masses(kv)
	switch d.Intn(4) {
	case 0:
		p.Lo, p.Hi = m, m
	case 1: // too much room for prices of artificial arcs
		p.Lo, p.Hi = scaled(m, 0.25), repeat(1e12, kv)
	default:
		p.Lo, p.Hi = scaled(m, 0.5), scaled(m, 2)
	}
	return p
}

// TestHeavyStart: results keep all promises also where Newton's method sees heavy rows only, wherever they are stopped.
func TestHeavyStart(t *testing.T) {
	n, used, raised := 200, 0, 0
	if !numtest.Full() {
		n = 30
	}
	for seed := range n {
		d := newDraw(uint64(seed) + 27e6)
		p := d.heavyProblem()
		in, err := newInstance(p)
		if err != nil {
			t.Fatal(err)
		}
		s := newSolver()
		if err := s.load(context.Background(), in, 0); err != nil {
			t.Fatal(err)
		}
		r, err := s.result(s.simplex(context.Background(), Settings{}), Settings{})
		if err != nil || r.Status != Optimal {
			t.Fatalf("seed %d: %v, %v", seed, r.Status, err)
		}
		if w := &s.nw; len(w.heavy) < len(s.units) && len(w.F) == len(w.heavy) {
			used++
			if s.sx.tree.within(mostRaised) {
				raised++
			}
		}
		checkTree(t, &s.sx.tree, s.units)
		checkResult(t, p, r)
		checkGap(t, p, r)
		checkSlackness(t, p, r)
		stopped, err := Project(context.Background(), p, Settings{maxPivots: 1 + d.Intn(r.Stats.Pivots+1)})
		if err != nil && !errors.Is(err, wpmerr.ErrNotConverged) {
			t.Fatal(err)
		}
		checkResult(t, p, stopped)
		if stopped.Lower > r.Upper || r.Lower > stopped.Upper {
			t.Fatalf("seed %d, %v: [%v, %v], and when stopped [%v, %v]", seed, describe(p), r.Lower, r.Upper, stopped.Lower,
				stopped.Upper)
		}
	}
	if used < n/4 || raised < n/8 || raised == used {
		t.Errorf("%d starts from heavy rows, %d of them with prices of their own", used, raised)
	}
}

// TestHeavyStartFlows: columns with all the room there is, and artificial arcs with prices that would send flow round
// and round, leave flows below 2^64.
func TestHeavyStartFlows(t *testing.T) {
	x := basis{low: []uint64{1, 2}, room: []uint64{math.MaxUint64, 0}}
	for _, tt := range []struct {
		room uint64
		want bool
	}{{mostRaised - 3, true}, {mostRaised - 2, false}, {math.MaxUint64, false}} {
		if x.room[0] = tt.room; x.within(mostRaised) != tt.want {
			t.Errorf("room %d: %v", tt.room, !tt.want)
		}
	}
}

// TestNewtonSavesWork: the point of it.
func TestNewtonSavesWork(t *testing.T) {
	p, err := instanceNamed("sq1000p1:sp20:2")
	if err != nil {
		t.Fatal(err)
	}
	r := mustProject(t, p, Settings{})
	if _, kv := p.Cost.Dims(); r.Stats.Pivots > kv/2 {
		t.Errorf("%d pivots for %d columns", r.Stats.Pivots, kv)
	}
	if !worthNewton(len(p.Support), 1000) || worthNewton(1000, 1000) || worthNewton(1, 100) || worthNewton(5, 50) {
		t.Error("worthNewton does not choose as documented")
	}
}

// TestNewtonIgnoresIdleColumns: columns that take nothing may cost anything, also in the middle of
// the groups.
func TestNewtonIgnoresIdleColumns(t *testing.T) {
	const n = 160
	d := newDraw(26e6)
	p := Problem{Source: uniform(3), Lo: make([]float64, n), Hi: repeat(4./n, n)}
	rows := make([][]float64, 3)
	for i := range rows {
		rows[i] = make([]float64, n)
		for j := range rows[i] {
			rows[i][j] = math.Ldexp(1+d.Float64(), -1000)
			if j%8 > 1 {
				rows[i][j], p.Hi[j] = math.MaxFloat64, 0
			}
		}
	}
	for j := range n {
		if p.Hi[j] > 0 {
			p.Hi[j] *= 2
		}
	}
	p.Cost = dense(t, rows...)
	r := mustProject(t, p, Settings{})
	if top := math.Ldexp(2, -1000); !(r.Gap() <= gapTol*top) || r.Objective > top {
		t.Errorf("objective %g, gap %g, costs at most %g", r.Objective, r.Gap(), top)
	}
}

// TestNewtonOddCosts: costs of -0, and gaps that vanish beside the prices, must not lead the comparison by bits astray.
func TestNewtonOddCosts(t *testing.T) {
	zero := math.Copysign(0, -1)
	for seed := range 60 {
		d := newDraw(uint64(seed) + 27e6)
		k, kv := 2+d.Intn(4), newtonColumns+d.Intn(80)
		c := d.costs(k, kv)
		for x := range c.Data {
			switch seed % 4 {
			case 0:
				c.Data[x] = zero
			case 1:
				if d.Intn(2) == 0 {
					c.Data[x] = zero
				}
			case 2:
				c.Data[x] = 1e300 + float64(d.Intn(2))*1e284
			case 3:
				if c.Data[x] = zero; x%kv == 0 {
					c.Data[x] = 5e-324
				}
			}
		}
		m := d.masses(kv)
		mustProject(t, Problem{Cost: c, Source: d.masses(k), Lo: scaled(m, 0.5), Hi: scaled(m, 2)},
			Settings{noKnapsack: true})
	}
}

// TestNewtonScale: a power of two in front of the costs changes nothing else, as in TestLawOfScale, whose
// problems are too small for this start.
func TestNewtonScale(t *testing.T) {
	for seed := range numtest.Cases(8, 20) {
		d := newDraw(uint64(seed) + 28e6)
		k, kv := 2+d.Intn(6), newtonColumns+d.Intn(300)
		c := &cost.Dense{K: k, Kv: kv, Data: make([]float64, k*kv)}
		for x := range c.Data {
			c.Data[x] = d.Float64()
		}
		p := Problem{Cost: c, Source: d.masses(k), Lo: repeat(0.5/float64(kv), kv), Hi: repeat(2/float64(kv), kv)}
		a := mustProject(t, p, Settings{})
		for _, s := range []int{-800, -30, 40, 900} {
			p.Cost = &cost.Dense{K: k, Kv: kv, Data: scaled(c.Data, math.Ldexp(1, s))}
			b := mustProject(t, p, Settings{})
			if !reflect.DeepEqual(a.Q, b.Q) || !reflect.DeepEqual(a.Plan, b.Plan) || a.Stats != b.Stats {
				t.Fatalf("scaled by 2^%d: %+v, want %+v", s, b.Stats, a.Stats)
			}
		}
	}
}

// newtonAt returns a start whose columns, every stride-th, are ready to be measured.
func (d draw) newtonAt(t *testing.T, stride int) *newton {
	t.Helper()
	k, kv := 2+d.Intn(12), newtonColumns+d.Intn(200)
	p := Problem{Cost: d.costs(k, kv), Source: uniform(k), Lo: repeat(0.5/float64(kv), kv), Hi: repeat(2/float64(kv), kv)}
	s, _, settings := solverOf(t, p)
	s.simplex(context.Background(), settings)
	w := &s.nw
	w.hold()
	w.fillCells(s.rows.top(), s.rows.top())
	w.Thin(w.tree.low, w.tree.room, stride)
	return w
}

// TestBest compares with the obvious search.
func TestBest(t *testing.T) {
	for seed := range 60 {
		d := newDraw(uint64(seed) + 29e6)
		w := d.newtonAt(t, 1)
		top := 0.0
		for i := range w.F {
			w.F[i] = (2*d.Float64() - 1) * w.Grain * (1 << ascent.CostBits)
			top = max(top, math.Abs(w.F[i]))
		}
		w.Price()
		k := len(w.F)
		// Costs and prices are rounded to a unit each.
		tol := 2 * w.Grain
		for c := range w.At {
			least, next := math.Inf(1), math.Inf(1)
			for i, f := range w.F {
				if x := float64(w.Cells[c*k+i]/ascent.RowBits)*w.Grain - f; x < least {
					least, next = x, least
				} else if x < next {
					next = x
				}
			}
			m1, m2 := w.Best(c)
			for _, x := range []struct {
				key  int64
				want float64
			}{{m1, least}, {m2, next}} {
				i := int(x.key & (ascent.RowBits - 1))
				if got := float64(x.key>>ascent.RowShift) * w.Grain; math.Abs(got-x.want) > tol {
					t.Fatalf("column %d: %v, want %v", c, got, x.want)
				}
				if got := float64(w.Cells[c*k+i]/ascent.RowBits)*w.Grain - w.F[i]; math.Abs(got-x.want) > tol {
					t.Fatalf("column %d: row %d has %v, want %v", c, i, got, x.want)
				}
			}
			if m1&(ascent.RowBits-1) == m2&(ascent.RowBits-1) {
				t.Fatalf("column %d: the same row twice", c)
			}
		}
	}
}

// TestMeasure compares the slopes of the smoothed dual value with its differences, and the matrix with those of the
// slopes.
func TestMeasure(t *testing.T) {
	for seed := range 40 {
		d := newDraw(uint64(seed) + 30e6)
		w := d.newtonAt(t, 1+d.Intn(3))
		k := len(w.F)
		scale := w.Grain * (1 << ascent.CostBits) // of the costs
		h := scale / 8
		for i := range w.F {
			w.F[i] = scale * d.Float64() / 4
		}
		// By Taylor with a margin: slopes are at most 2 in all and change by at most 2/h of a price's change; at a kink
		// of the matrix the second difference is off by its jump, no more than what moves through the window.
		step := h * 0x1p-12
		if v := w.Measure(w.Grain / 4); math.IsNaN(v) || math.IsNaN(w.Unserved()) {
			t.Fatalf("seed %d: kinks below a unit: value %v, unserved %v", seed, v, w.Unserved())
		}
		w.Measure(h)
		left := append([]float64(nil), w.Left...)
		slope := append([]float64(nil), w.Slope[:k*k]...)
		for i := range k {
			at := w.F[i]
			w.F[i] = at + step
			up := w.Measure(h)
			leftUp := append([]float64(nil), w.Left...)
			w.F[i] = at - step
			down := w.Measure(h)
			leftDown := append([]float64(nil), w.Left...)
			w.F[i] = at
			if got := (up - down) / (2 * step); math.Abs(got-left[i]) > 4*step/h+1e-9 {
				t.Fatalf("seed %d, row %d: slope %v, differences say %v", seed, i, left[i], got)
			}
			for j := range k {
				want := slope[i*k+j]
				if i != j {
					want += slope[j*k+i]
				}
				got := (leftDown[j] - leftUp[j]) / (2 * step)
				if math.Abs(got-want)*h > 0.05 {
					t.Fatalf("seed %d: second derivative %d, %d is %v, differences say %v (times %v)", seed, i, j, want, got, h)
				}
			}
		}
	}
}

// TestNewtonFarColumn: a column that is far dearer than all others does not spoil the start: with any, pivots are at
// most half as many again as with none.
func TestNewtonFarColumn(t *testing.T) {
	const k, kv = 20, 500
	var plain int
	for _, far := range []float64{0, 1e3, 1e6, 1e9, 1e12, 1e16, 1e300} {
		pivots := 0
		for seed := range 4 {
			d := newDraw(uint64(seed) + 32e6)
			c := &cost.Dense{K: k, Kv: kv, Data: make([]float64, k*kv)}
			for x := range c.Data {
				c.Data[x] = d.Float64()
				if x%kv == 0 {
					c.Data[x] += far
				}
			}
			e := math.Exp(0.5)
			r := mustProject(t, Problem{Cost: c, Source: uniform(k), Lo: repeat(1/e/kv, kv), Hi: repeat(e/kv, kv)},
				Settings{noKnapsack: true})
			pivots += r.Stats.Pivots
		}
		if far == 0 {
			plain = pivots
		}
		if pivots > plain+plain/2 {
			t.Errorf("%g: %d pivots, and %d without", far, pivots, plain)
		}
	}
}
