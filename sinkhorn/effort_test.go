package sinkhorn

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/wpmerr"
)

// efforts holds how much work fixed instances take: passes (iterations of method Paper and of that for grids), Newton
// steps, steps of conjugate gradients and kernels. They are the same numbers in 32 bits.
const efforts = "testdata/efforts.json"

// effort compares counts with those on file, which they must not exceed by more than a tenth, for sums rounded
// otherwise may tell. What only saves work shows nowhere else. Run with -update after a change that is meant to change
// them.
type effort struct {
	t    *testing.T
	want map[string][4]int
	got  map[string][4]int
}

func newEffort(t *testing.T) *effort {
	e := &effort{t: t, got: map[string][4]int{}}
	numtest.LoadJSON(t, efforts, &e.want)
	return e
}

func (e *effort) stats(what string, s Stats) {
	e.counts(what, [4]int{s.Passes, s.Newton, s.CG, s.Rebuilds})
}

func (e *effort) counts(what string, got [4]int) {
	e.t.Helper()
	what = e.t.Name()[len("TestEffort"):] + ": " + what
	e.got[what] = got
	want := e.want[what]
	for n, x := range got {
		if x > want[n]+want[n]/10 {
			e.t.Errorf("%s: %v, and %v on file", what, got, want)
			return
		}
	}
}

// update writes the file if asked to.
func (e *effort) update() {
	if f := flag.Lookup("update"); f == nil || f.Value.String() != "true" {
		return
	}
	for what, x := range e.got {
		e.want[what] = x
	}
	var text strings.Builder
	sep := "{\n"
	for _, what := range slices.Sorted(maps.Keys(e.want)) {
		x := e.want[what]
		fmt.Fprintf(&text, "%s%q: [%d, %d, %d, %d]", sep, what, x[0], x[1], x[2], x[3])
		sep = ",\n"
	}
	text.WriteString("\n}\n")
	if err := os.WriteFile(efforts, []byte(text.String()), 0o644); err != nil {
		e.t.Fatal(err)
	}
}

// solvedOrStopped is Project for a goal that may be out of reach.
func solvedOrStopped(t *testing.T, p Problem, s Settings) Result {
	t.Helper()
	r, err := Project(context.Background(), p, s)
	if err != nil && !is(err, wpmerr.ErrNotConverged) {
		t.Fatal(err)
	}
	return r
}

// TestEffortFast: boxes are narrow and wide, Reg is large and small, and the goal a residual or a gap or both.
func TestEffortFast(t *testing.T) {
	e := newEffort(t)
	shapes := []func(rel float64) Problem{
		func(rel float64) Problem { return scattered(t, 40, rel) },
		func(rel float64) Problem { return square(50, rel) },
		func(rel float64) Problem { return square(140, rel) },
		func(rel float64) Problem { // more columns than rows
			p := newGenerator(3).problem(9, 31, rel)
			p.Source = newGenerator(4).mass(9)
			return p
		},
	}
	for shape, make := range shapes {
		for _, eps := range []float64{0.2, 1, 5} {
			for _, rel := range []float64{0.3, 0.03, 0.01, 0.003, 0.0006} {
				p := make(rel)
				_, kv := p.Cost.Dims()
				p.Lo, p.Hi = box(newGenerator(uint64(kv)).mass(kv), eps)
				for _, s := range []Settings{{Tolerance: 1e-9}, {Gap: 0.2}, {Gap: 0.02, Tolerance: 1e-4}} {
					r := solvedOrStopped(t, p, s)
					e.stats(fmt.Sprintf("shape %d, eps %v, Reg %v, tolerance %v, gap %v", shape, eps, rel, s.Tolerance, s.Gap),
						r.Stats)
				}
			}
		}
	}
	for seed := range uint64(60) {
		g := newGenerator(500 + seed)
		rel := []float64{0.2, 0.02, 0.002}[seed%3]
		p := g.problem(2+g.intn(9), 2+g.intn(12), rel)
		s := Settings{Tolerance: 1e-10}
		r := solvedOrStopped(t, p, s)
		e.stats(fmt.Sprintf("seed %d", seed), r.Stats)
		_, kv := p.Cost.Dims()
		s.Initial = make([]float64, kv)
		for j := range s.Initial {
			s.Initial[j] = 20 * (g.float() - 0.5)
		}
		r = solvedOrStopped(t, p, s)
		e.stats(fmt.Sprintf("seed %d, from elsewhere", seed), r.Stats)
	}
	// At a tiny Reg scalings leave their range, and schedules are tried in turn. These are instances whose counts do not
	// hang on rounding.
	for seed := range uint64(40) {
		if seed%7 == 0 || seed == 32 { // some of these take a thousand passes, which may
			continue
		}
		g := newGenerator(700 + seed)
		p := g.problem(2+g.intn(7), 2+g.intn(9), []float64{1e-4, 1e-5, 1e-6, 1e-7}[seed%4])
		r := solvedOrStopped(t, p, Settings{Tolerance: 1e-9, MaxIterations: 1500})
		e.stats(fmt.Sprintf("tiny Reg, seed %d", seed), r.Stats)
	}
	e.update()
}

// TestEffortPaper counts iterations of Algorithm 1.
func TestEffortPaper(t *testing.T) {
	e := newEffort(t)
	for _, eps := range []float64{0.5, 3} {
		for _, rel := range []float64{0.5, 0.1, 0.04} {
			p := square(20, rel)
			p.Lo, p.Hi = box(newGenerator(6).mass(20), eps)
			for _, s := range []Settings{{Tolerance: 1e-6}, {Tolerance: 1e-3, Gap: 0.01}, {Gap: 0.3}, {Gap: 0.05}, {Gap: 1e-6}} {
				s.Method, s.MaxIterations = Paper, 1000
				r := solvedOrStopped(t, p, s)
				e.stats(fmt.Sprintf("eps %v, Reg %v, tolerance %v, gap %v", eps, rel, s.Tolerance, s.Gap), r.Stats)
			}
		}
	}
	e.update()
}

// TestEffortGrid counts iterations on all levels of a grid.
func TestEffortGrid(t *testing.T) {
	e := newEffort(t)
	for _, size := range [][2]int{{12, 18}, {33, 20}, {1, 50}, {40, 1}, {17, 40}} {
		for n, eps := range []float64{0.5, 2} {
			for at, s := range []Settings{{Gap: 0.1}, {Gap: 0.01}, {Tolerance: 1e-3}} {
				for x, reg := range []float64{0.02, 0.002} {
					if (n+at+x)%3 != 0 && !numtest.Full() && !numtest.Update() {
						continue
					}
					s.MaxIterations = 250
					r, err := onGrid(t, context.Background(), gridProblem(t, size[0], size[1], eps, reg), s)
					if err != nil && !is(err, wpmerr.ErrNotConverged) {
						t.Fatal(err)
					}
					e.stats(fmt.Sprintf("%d x %d cells, eps %v, Reg %v, tolerance %v, gap %v", size[0], size[1], eps, reg, s.Tolerance,
						s.Gap), r.Stats)
				}
			}
		}
	}
	e.update()
}

// TestEffortShared counts passes for distributions that share a kernel, or do not because a start at Reg itself does
// not suit them.
func TestEffortShared(t *testing.T) {
	e := newEffort(t)
	for _, k := range []int{90, 150} {
		for _, rel := range []float64{0.3, 0.05, 0.02, 0.01, 0.003} {
			for _, s := range []Settings{{Tolerance: 1e-9}, {Gap: 0.3}} {
				q := square(k, rel)
				p, err := NewProjector(context.Background(), q.Cost.(*cost.Dense), q.Lo, q.Hi, q.Reg, s)
				if err != nil {
					t.Fatal(err)
				}
				g := newGenerator(uint64(k))
				var r Result
				for n := range 3 {
					if err := p.Project(context.Background(), skewed(g, k), nil, &r); err != nil && !is(err, wpmerr.ErrNotConverged) {
						t.Fatal(err)
					}
					e.stats(fmt.Sprintf("%d rows, Reg %v, tolerance %v, gap %v, number %d", k, rel, s.Tolerance, s.Gap, n), r.Stats)
				}
			}
		}
	}
	e.update()
}
