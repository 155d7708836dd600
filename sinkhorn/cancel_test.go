package sinkhorn

import (
	"context"
	"errors"
	"fmt"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/wpmerr"
)

// counting counts the rows that are read, ends a context when it has given so many, and counts those that are asked for
// once it has ended: other threads may read any number while this one is on its way to end it.
type counting struct {
	cost.Matrix
	end         context.CancelFunc
	at          int64
	ended       atomic.Bool
	rows, later atomic.Int64
}

func (c *counting) Row(i int, buf []float64) []float64 {
	n := c.rows.Add(1)
	if c.ended.Load() {
		c.later.Add(1)
	}
	row := c.Matrix.Row(i, buf)
	if n == c.at {
		c.end()
		c.ended.Store(true)
	}
	return row
}

// checkCancelled checks what a call promises that its context has ended: a point of the box, bounds that Verify proves,
// and both errors.
func checkCancelled(t *testing.T, what string, p Problem, r Result, err error) {
	t.Helper()
	if !errors.Is(err, wpmerr.ErrNotConverged) || !errors.Is(err, context.Canceled) || r.Status != Cancelled {
		t.Errorf("%s: status %v, %v", what, r.Status, err)
		return
	}
	if _, _, err := Verify(context.Background(), p, r); err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

// TestCancelledReading: once the context has ended, at most 64 rows a thread are read, whether it ends before, in
// loading or when potentials of rows without mass are made.
func TestCancelledReading(t *testing.T) {
	const k, allowed = 400, 64
	ring, err := cost.NewRing(k, 1)
	if err != nil {
		t.Fatal(err)
	}
	lo, hi := box(slices.Repeat([]float64{1. / k}, k), 1)
	shut, shutHi := slices.Clone(lo), slices.Clone(hi)
	for j := range 36 { // columns without room
		shut[11*j], shutHi[11*j] = 0, 0
	}
	for j := range shutHi {
		shutHi[j] *= 1.2
	}
	even, some := slices.Repeat([]float64{1}, k), make([]int, 100)
	for n := range some {
		some[n] = 3 * n
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, threads := range []int{1, 3} {
		runtime.GOMAXPROCS(threads)
		for _, tt := range []struct {
			name string
			at   int64
			p    Problem
		}{
			{"before", 0, Problem{Problem: projection.Problem{Source: even, Lo: lo, Hi: hi}}},
			{"first row", 1, Problem{Problem: projection.Problem{Source: even, Lo: lo, Hi: hi}}},
			{"half of the rows", k / 2, Problem{Problem: projection.Problem{Source: even, Lo: lo, Hi: hi}}},
			{"rows without mass", 150, Problem{Problem: projection.Problem{Source: even[:100], Support: some, Lo: lo, Hi: hi}}},
			{"columns without room", 150, Problem{Problem: projection.Problem{Source: even[:100], Support: some, Lo: shut,
				Hi: shutHi}}},
			{"and then rows without mass", 300, Problem{Problem: projection.Problem{Source: even[:100], Support: some,
				Lo: shut, Hi: shutHi}}},
		} {
			for _, m := range methods {
				if m == Paper && threads > 1 && !numtest.Full() {
					continue
				}
				ctx, cancel := context.WithCancel(context.Background())
				c := &counting{Matrix: ring, end: cancel, at: tt.at}
				if tt.at == 0 {
					cancel()
					c.ended.Store(true)
				}
				p := tt.p
				p.Cost, p.Reg = c, 0.1*given.Max(ring)
				p.Source = slices.Clone(p.Source)
				for n := range p.Source {
					p.Source[n] /= float64(len(p.Source))
				}
				r, err := Project(ctx, p, Settings{Method: m, Tolerance: 1e-6, AllRows: true})
				cancel()
				what := fmt.Sprintf("%s, %v, %d threads", tt.name, m, threads)
				if n := c.later.Load(); n > int64(allowed*threads) || c.rows.Load() < tt.at {
					t.Errorf("%s: %d of %d rows were read after the end", what, n, c.rows.Load())
				}
				if threads > 1 && err == nil && c.rows.Load() == k {
					continue // other threads had read what was left before the context ended
				}
				p.Cost = ring
				checkCancelled(t, what, p, r, err)
			}
		}
	}
}

// TestCancelledVerify: once the context has ended, no row is read but the one that is on the way, wherever Verify is.
func TestCancelledVerify(t *testing.T) {
	const k = 60
	ring, err := cost.NewRing(k, 1)
	if err != nil {
		t.Fatal(err)
	}
	lo, hi := box(slices.Repeat([]float64{1. / k}, k), 1)
	p := Problem{Problem: projection.Problem{Cost: ring, Source: slices.Repeat([]float64{1}, k), Lo: lo, Hi: hi}, Reg: 0.1}
	r, err := Project(t.Context(), p, Settings{AllRows: true})
	if err != nil {
		t.Fatal(err)
	}
	whole := &counting{Matrix: ring, end: func() {}}
	p.Cost = whole
	if _, _, err := Verify(t.Context(), p, r); err != nil {
		t.Fatal(err)
	}
	rows := whole.rows.Load()
	if rows < 2*k {
		t.Fatalf("%d rows are read, want at least two passes", rows)
	}
	for at := range rows {
		ctx, cancel := context.WithCancel(context.Background())
		c := &counting{Matrix: ring, end: cancel, at: at}
		if at == 0 {
			cancel()
			c.ended.Store(true)
		}
		p.Cost = c
		_, _, err := Verify(ctx, p, r)
		cancel()
		if !errors.Is(err, context.Canceled) || c.later.Load() > 0 {
			t.Errorf("ended at row %d: %d rows later, %v", at, c.later.Load(), err)
		}
	}
}

// TestCancelledThinColumns: where a pass was cut short, all columns look thin, and none of them is summed again.
func TestCancelledThinColumns(t *testing.T) {
	const k = 50
	ctx, cancel := context.WithCancel(context.Background())
	c := &core{watch: newWatch(ctx), k: k, n: k, min: make([]float64, k), row: make([][]float64, k)}
	for i := range c.row {
		c.row[i] = slices.Repeat([]float64{1}, k)
	}
	c.mass = slices.Repeat([]float64{1. / k}, k)
	summed := func() (n int) {
		p := newLogPlan(c, 1, make([]float64, k))
		clear(p.cols)
		for _, x := range p.logS() {
			if x != 0 {
				n++
			}
		}
		return n
	}
	if n := summed(); n != k {
		t.Errorf("%d of %d thin columns are summed", n, k)
	}
	cancel()
	if n := summed(); n != 0 {
		t.Errorf("%d thin columns are summed after the end", n)
	}
}

// TestCancelledSweeps: a context that ends when it is looked at for the n-th time, wherever that is, leaves a valid
// result, also where sweeps are left on the way.
func TestCancelledSweeps(t *testing.T) {
	const k = 1030
	if k*k <= patientCells {
		t.Fatal("sweeps are not left")
	}
	g := newGenerator(41)
	x := make([][]float64, k)
	for i := range x {
		x[i] = []float64{g.float(), g.float()}
	}
	points, err := cost.NewPoints(x, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	lo, hi := box(g.mass(k), 1)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // the same looks every time
	for _, tt := range []struct {
		name  string
		reg   float64
		set   Settings
		atoms int
		many  bool // by a Projector
	}{
		{"annealing and Newton steps", 0.003, Settings{Tolerance: 1e-6}, k, false},
		{"a gap", 0.002, Settings{Gap: 0.5}, k, false},
		{"history", 0.3, Settings{Method: Paper, Tolerance: 1e-8, History: true}, k, false},
		{"paper", 0.3, Settings{Method: Paper, Tolerance: 1e-3}, k, false},
		{"shared kernel", 0.05, Settings{Tolerance: 1e-9}, k - 5, true},
	} {
		if !numtest.Full() && tt.name != "a gap" && tt.name != "paper" {
			continue
		}
		p := Problem{Problem: projection.Problem{Cost: points, Lo: lo, Hi: hi}, Reg: tt.reg}
		u := newUsers(g, 1, tt.atoms, k)
		p.Source, p.Support = u.source[0], u.support[0]
		//lint:ignore ST1008 the looks are counted whatever the error is
		run := func(limit int) (Result, error, int) {
			ctx := &numtest.Asked{Context: context.Background(), Most: limit}
			if !tt.many {
				r, err := Project(ctx, p, tt.set)
				return r, err, ctx.Times()
			}
			var r Result
			err := projector(t, p, tt.set).Project(ctx, p.Source, p.Support, &r)
			return r, err, ctx.Times()
		}
		whole, err, looks := run(-1)
		if err != nil || whole.Status != Converged {
			t.Fatalf("%s: %v", tt.name, err)
		}
		parts := 8
		if !numtest.Full() {
			parts = 1
		}
		for n := range parts {
			at := looks * (2*n + 1) / (2 * parts)
			r, err, asked := run(at)
			what := fmt.Sprintf("%s, at look %d of %d", tt.name, at, looks)
			checkCancelled(t, what, p, r, err)
			if asked > at+1000 { // two a chunk of rows or so, and few loops
				t.Errorf("%s: %d looks more", what, asked-at)
			}
			if !(r.Lower <= whole.Upper && whole.Lower <= r.Upper) {
				t.Errorf("%s: [%v, %v], optimum in [%v, %v]", what, r.Lower, r.Upper, whole.Lower, whole.Upper)
			}
		}
	}
}

// TestPanicsReachTheCaller: what a matrix throws on another goroutine comes out of the call.
func TestPanicsReachTheCaller(t *testing.T) {
	const k = 520 // several chunks
	ring, err := cost.NewRing(k, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	thrown := func(name string, f func()) {
		t.Helper()
		defer func() {
			t.Helper()
			if recover() == nil {
				t.Errorf("%s: no panic", name)
			}
		}()
		f()
	}
	uniform := slices.Repeat([]float64{1. / k}, k)
	lo, hi := box(uniform, 1)
	thrown("Row", func() {
		c := &counting{Matrix: ring, at: 300, end: func() { panic("row") }}
		_, _ = Project(context.Background(), Problem{Problem: projection.Problem{Cost: c, Source: uniform, Lo: lo, Hi: hi},
			Reg: 0.1}, Settings{})
	})
}

// TestCancelledGrid: so does the method for grids, on cells that are too many for bounds after the end.
func TestCancelledGrid(t *testing.T) {
	p := gridProblem(t, 65, 65, 1, 1e-3)
	if !numtest.Full() { // few rows have mass: enough for the method for grids, and less to verify
		rows := gridCells/len(p.Source) + 1
		total := num.Sum(p.Source[:rows])
		p.Source = slices.Clone(p.Source)
		for i := range p.Source {
			p.Source[i] /= total
		}
		clear(p.Source[rows:])
	}
	ctx := &numtest.Asked{Context: context.Background(), Most: -1}
	if _, err := Project(ctx, p, Settings{Gap: 0.1}); err != nil {
		t.Fatal(err)
	}
	looks := ctx.Times()
	for _, at := range []int{looks / 2, looks - 1, 0}[:numtest.Cases(1, 3)] {
		r, err := Project(&numtest.Asked{Context: context.Background(), Most: at}, p, Settings{Gap: 0.1})
		checkCancelled(t, fmt.Sprintf("at look %d of %d", at, looks), p, r, err)
	}
}

// TestRowsReadOnce: a call reads a row of a structured cost once: what it computes takes as long as to materialise the
// rows that it needs, and no longer.
func TestRowsReadOnce(t *testing.T) {
	const k = 60
	ring, err := cost.NewRing(k, 1)
	if err != nil {
		t.Fatal(err)
	}
	lo, hi := box(slices.Repeat([]float64{1. / k}, k), 2)
	lo[7], hi[7], lo[40], hi[40] = 0, 0, 0, 1e-300 // no part in it
	for _, m := range methods {
		for _, tt := range []struct {
			atoms int
			only  bool
			want  int64
		}{{k, false, k}, {k, true, k}, {10, false, k}, {10, true, 10}} {
			c := &counting{Matrix: ring, at: -1}
			p := Problem{Problem: projection.Problem{Cost: c, Lo: lo, Hi: hi, Source: slices.Repeat([]float64{1}, tt.atoms)},
				Reg: 3}
			for i := range tt.atoms {
				p.Support = append(p.Support, i*(k/tt.atoms))
			}
			set := Settings{Method: m, AllRows: !tt.only}
			r := mustProject(t, p, set)
			if n := c.rows.Load(); n < tt.want {
				t.Errorf("%v, %+v: %d rows were read", m, tt, n)
			}
			c.rows.Store(0)
			if _, err := Project(context.Background(), p, set); err != nil || c.rows.Load() != tt.want {
				t.Errorf("%v, %+v: %d rows were read, %v", m, tt, c.rows.Load(), err)
			}
			p.Cost, err = cost.Materialize(context.Background(), ring)
			if err != nil {
				t.Fatal(err)
			}
			if want := mustProject(t, p, set); !slices.Equal(r.Q, want.Q) || !slices.Equal(r.Potentials.F, want.Potentials.F) ||
				!slices.Equal(r.Potentials.G, want.Potentials.G) {
				t.Errorf("%v, %+v: another result with the matrix in memory", m, tt)
			}
		}
	}
}
