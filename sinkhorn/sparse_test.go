package sinkhorn

import (
	"context"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"math"
	"runtime"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/wpmerr"
)

// scattered is k random points in the unit square, distances, mu very uneven: at a small Reg few entries of the
// kernel count, and Newton's method has work to do.
func scattered(t testing.TB, k int, rel float64) Problem {
	t.Helper()
	p := square(k, rel)
	d := p.Cost.(*cost.Dense)
	for i, x := range d.Data {
		d.Data[i] = math.Sqrt(x)
	}
	p.Reg = rel * given.Max(d)
	var sum float64
	for i, x := range p.Source {
		p.Source[i] = x * x * x
		sum += p.Source[i]
	}
	for i := range p.Source {
		p.Source[i] /= sum
	}
	return p
}

// run returns the workspace after the whole method, and its bounds.
func run(t testing.TB, p Problem) (*fast, *certificate) {
	t.Helper()
	_, c := loaded(t, p)
	s := newFast(c, Settings{Method: Fast, Tolerance: 1e-10, MaxIterations: 100_000},
		newKernel(c))
	s.run(nil)
	if s.stop != Converged || s.stats.Newton == 0 {
		t.Fatalf("%v after %d Newton steps", s.stop, s.stats.Newton)
	}
	_, b := s.finish()
	return s, b
}

// byLogarithms checks the answer of a run that leaves entries out: one step of Algorithm 1 on the whole kernel, in
// logarithms, leads from its potentials to the same q, as it does from the solution alone, and their bounds agree.
func byLogarithms(t *testing.T, s *fast, b *certificate) {
	t.Helper()
	const same = 1e-9 // q at residuals of 1e-10
	b2 := s.careful()
	if d := distance1(s.q, b2.q); !(d <= same) || !(b2.residual <= same) {
		t.Errorf("q differs by %g, a residual of %g", d, b2.residual)
	}
	if !(b.lower <= b2.upper && b2.lower <= b.upper) {
		t.Errorf("bounds %v %v and %v %v exclude each other", b.lower, b.upper, b2.lower, b2.upper)
	}
}

// TestSparse solves with compressed rows. The answer is that of the whole kernel, and Verify has nothing to object to.
func TestSparse(t *testing.T) {
	for _, rel := range []float64{0.001, 0.0003} {
		p := scattered(t, 300, rel)
		short, b := run(t, p)
		if short.k.kept.val == nil {
			t.Fatalf("Reg = %v: not compressed", rel)
		}
		byLogarithms(t, short, b)
		// What is reported is of the full kernel: one more pass over it says the same.
		res := short.res
		short.pass()
		if math.Abs(short.res-res) > 1e-14 {
			t.Errorf("Reg = %v: residual %g, of the full kernel %g", rel, res, short.res)
		}
		if numtest.Full() {
			mustProject(t, p, Settings{})
		}
		short.k.free()
	}
}

// TestFew solves with passes over the entries that count, where the kernel is large enough for them. The last pass is
// full, also when the limit on iterations ends the method at any time before.
func TestFew(t *testing.T) {
	p := scattered(t, 740, 0.001)
	// In the first, an entry that was left out comes to count, again and again; in the second, short passes go on to the
	// end.
	for _, instance := range []Problem{p, newGenerator(0).problem(730, 730, 1e-4)} {
		short, b := run(t, instance)
		if short.k.kept.v0 == nil {
			t.Fatal("no entries were left out")
		}
		if short.k.few() != nil {
			t.Error("the last pass was not full")
		}
		byLogarithms(t, short, b)
		sums := append([]float64(nil), short.s...)
		short.pass()
		numtest.SameBits(t, "column sums", short.s, sums)
		short.k.free()
	}
	if !numtest.Full() {
		return
	}
	old := runtime.GOMAXPROCS(1)
	one, _ := Project(context.Background(), p, Settings{Tolerance: 1e-10})
	runtime.GOMAXPROCS(3)
	three, _ := Project(context.Background(), p, Settings{Tolerance: 1e-10})
	runtime.GOMAXPROCS(old)
	numtest.SameBits(t, "Q", three.Q, one.Q)
	numtest.SameBits(t, "LogV", three.LogV, one.LogV)
	for n := 60; n < 160; n += 7 {
		r, err := Project(context.Background(), p, Settings{Tolerance: 1e-10, MaxIterations: n})
		if err != nil && !is(err, wpmerr.ErrNotConverged) {
			t.Fatal(err)
		}
		checkResult(t, p, r)
	}
}

// TestImage compares the products of the compressed and of the full kernel.
func TestImage(t *testing.T) {
	const dropping = 3e-12
	s, _ := run(t, scattered(t, 300, 0.001))
	s.pass()
	w := s.newSystem(s.activeColumns())
	g := newGenerator(3)
	x := make([]float64, len(w.act))
	for m := range x {
		x[m] = g.float()
	}
	var out, diag [2][]float64
	packed := s.compress()
	if packed == nil {
		t.Fatal("not compressed")
	}
	for f, entries := range []*sparse{packed, nil} {
		w.entries = entries
		out[f], diag[f] = make([]float64, len(w.act)), w.diagonal()
		w.image(0, x, out[f])
	}
	for m, c := range w.cd {
		tol := numtest.Tol{Abs: dropping * c, Why: "what is dropped changes less than the 1e-12 that cg adds"}
		numtest.Near(t, "J x", out[0][m], out[1][m], tol)
		numtest.Near(t, "diagonal", diag[0][m], diag[1][m], tol)
	}
	s.k.free()
}
