package sinkhorn

import (
	"context"
	"errors"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/internal/numtest"
	"math"
	"reflect"
	"runtime"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/wpmerr"
)

// gridProblem is a projection on a rows x cols grid with a smooth source (the bump of a Gauss curve on a floor) and a
// uniform box of mass 1.
func gridProblem(t testing.TB, rows, cols int, eps, reg float64) Problem {
	t.Helper()
	c, err := cost.NewGrid(rows, cols, 2)
	if err != nil {
		t.Fatal(err)
	}
	n := rows * cols
	mu, m := make([]float64, n), make([]float64, n)
	var sum float64
	for i := range mu {
		x, y := (float64(i%cols)+0.5)/float64(cols)-0.4, (float64(i/cols)+0.5)/float64(rows)-0.55
		mu[i] = math.Exp(-(x*x+y*y)/(2*0.15*0.15)) + 1e-3
		sum += mu[i]
		m[i] = 1 / float64(n)
	}
	for i := range mu {
		mu[i] /= sum
	}
	lo, hi := box(m, eps)
	return Problem{Problem: projection.Problem{Cost: c, Source: mu, Lo: lo, Hi: hi}, Reg: reg}
}

// onGrid runs the method for grids, whatever the size.
func onGrid(t testing.TB, ctx context.Context, p Problem, s Settings) (Result, error) {
	t.Helper()
	in, err := newInstance(p)
	if err != nil {
		t.Fatal(err)
	}
	set, err := s.resolve(in)
	if err != nil {
		t.Fatal(err)
	}
	return in.grid(ctx, p.Cost.(*cost.Grid), set)
}

// agreement of two converged methods: residuals of 1e-12 leave differences of some 1e-12 times the
// condition of the problem.
const gridAgreement = 1e-9

func TestGridAgreesWithDense(t *testing.T) {
	for _, size := range [][2]int{{12, 12}, {7, 20}, {1, 40}, {40, 1}, {2, 3}, {1, 2}, {33, 17}} {
		for _, eps := range []float64{0, 0.3, 1, 3} {
			if (size[0]*size[1] > 500 && eps != 1 || eps == 0.3) && !numtest.Full() {
				continue
			}
			p := gridProblem(t, size[0], size[1], eps, 0.02)
			g, err := onGrid(t, context.Background(), p, Settings{Tolerance: 1e-12})
			if err != nil {
				t.Fatalf("%v, eps %v: %v", size, eps, err)
			}
			checkResult(t, p, g)
			d, err := Project(context.Background(), p, Settings{Tolerance: 1e-12})
			if err != nil {
				t.Fatalf("%v, eps %v: dense: %v", size, eps, err)
			}
			for j := range g.Q {
				if !(math.Abs(g.Q[j]-d.Q[j]) <= gridAgreement/float64(len(g.Q))) {
					t.Fatalf("%v, eps %v: Q[%d] = %v, dense %v", size, eps, j, g.Q[j], d.Q[j])
				}
			}
			for _, x := range [][3]float64{{g.Transport, d.Transport, 0}, {g.Objective, d.Objective, 0},
				{g.Posterior, d.Posterior, 0}} {
				if !(math.Abs(x[0]-x[1]) <= gridAgreement) {
					t.Errorf("%v, eps %v: transport %v, %v; objective %v, %v; posterior %v, %v", size, eps, g.Transport, d.Transport,
						g.Objective, d.Objective, g.Posterior, d.Posterior)
				}
			}
		}
	}
}

func TestGridEnclosesOptimum(t *testing.T) {
	for _, size := range [][2]int{{10, 10}, {5, 24}, {1, 30}} {
		for _, eps := range []float64{0, 1, 4} {
			p := gridProblem(t, size[0], size[1], eps, 0)
			x, err := mincostflow.Project(context.Background(),
				projection.Problem{Cost: p.Cost, Source: p.Source, Lo: p.Lo, Hi: p.Hi}, mincostflow.Settings{})
			if err != nil {
				t.Fatal(err)
			}
			for _, reg := range []float64{0.1, 1e-3, 1e-5} {
				p := gridProblem(t, size[0], size[1], eps, reg)
				r, err := onGrid(t, context.Background(), p, Settings{Gap: 1e-9, MaxIterations: 400})
				if err != nil && !errors.Is(err, wpmerr.ErrNotConverged) {
					t.Fatal(err)
				}
				checkResult(t, p, r)
				if !(r.Lower <= x.Upper && x.Lower <= r.Upper) {
					t.Errorf("%v, eps %v, reg %v: [%v, %v], exact [%v, %v]", size, eps, reg, r.Lower, r.Upper, x.Lower, x.Upper)
				}
			}
		}
	}
}

func TestGridCancelled(t *testing.T) {
	p := gridProblem(t, 14, 17, 1, 1e-4)
	for looks := 0; looks < 12; looks += numtest.Cases(3, 1) {
		ctx := &numtest.Asked{Context: context.Background(), Most: looks * looks * 2}
		r, err := onGrid(t, ctx, p, Settings{Gap: 1e-9, Tolerance: 1e-300})
		if !errors.Is(err, wpmerr.ErrNotConverged) || r.Status != Cancelled {
			t.Fatalf("after %d looks: status %v, error %v", looks*looks*2, r.Status, err)
		}
		checkResult(t, p, r)
	}
	for _, most := range []int{1, 5, 50, 200} {
		r, err := onGrid(t, context.Background(), p, Settings{Gap: 1e-9, Tolerance: 1e-300, MaxIterations: most})
		if !errors.Is(err, wpmerr.ErrNotConverged) || r.Status != IterationLimit {
			t.Fatalf("MaxIterations %d: status %v, error %v", most, r.Status, err)
		}
		if r.Iterations > most {
			t.Errorf("%d iterations of %d", r.Iterations, most)
		}
		checkResult(t, p, r)
	}
}

// TestGridEdges runs what grids can be asked for and is not smooth: Diracs, no room at all, columns that take
// nothing, a few atoms, boxes from a random base measure.
func TestGridEdges(t *testing.T) {
	g := newGenerator(5)
	base := gridProblem(t, numtest.Cases(8, 20), 18, 1, 1e-3)
	n := len(base.Source)
	dirac := make([]float64, n)
	dirac[7] = 1
	atoms := make([]float64, n)
	for range 5 {
		atoms[g.intn(n)] = 0.2
	}
	var sum float64
	for _, x := range atoms {
		sum += x
	}
	for i := range atoms {
		atoms[i] /= sum
	}
	holes := g.mass(n)
	for j := range holes {
		if j%18 > 5 && j%18 < 9 {
			holes[j] = 0
		}
	}
	total := 0.0
	for _, x := range holes {
		total += x
	}
	for j := range holes {
		holes[j] /= total
	}
	for name, source := range map[string][]float64{"dirac": dirac, "atoms": atoms, "random": g.mass(n),
		"smooth": base.Source} {
		for _, m := range [][]float64{holes, g.mass(n)} {
			levels := []float64{0, 0.2, 2, 30}
			if !numtest.Full() {
				levels = levels[1:2]
			}
			for _, eps := range levels {
				p := base
				p.Source = source
				p.Lo, p.Hi = box(m, eps)
				for _, s := range []Settings{{Gap: 0.05, MaxIterations: 300}, {Tolerance: 1e-6, MaxIterations: 300}} {
					r, err := onGrid(t, context.Background(), p, s)
					if err != nil && !errors.Is(err, wpmerr.ErrNotConverged) {
						t.Fatalf("%s, eps %v: %v", name, eps, err)
					}
					checkResult(t, p, r)
				}
			}
		}
	}
}

func TestGridVerifyInFloats(t *testing.T) {
	p := gridProblem(t, 30, 26, 1, 1e-3)
	r, err := onGrid(t, context.Background(), p, Settings{Gap: 0.03})
	if err != nil {
		t.Fatal(err)
	}
	v := verifierOf(t, p, r.Q)
	exact, err := v.lower(r.Potentials)
	if err != nil {
		t.Fatal(err)
	}
	upper, err := v.plan(r, false)
	if err != nil {
		t.Fatal(err)
	}
	floats, err := v.plan(r, true)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := upper.Float64()
	b, _ := floats.Float64()
	const slack = 1e-8 // what its slack allows here, and defects that both charge, by different means
	if !(math.Abs(a-b) <= slack) {
		t.Errorf("upper bound exactly %v, in floats %v", a, b)
	}
	if r.Upper < b {
		t.Errorf("Upper = %v, but in floats only %v is proved", r.Upper, b)
	}
	if exact.Sign() <= 0 {
		t.Error("no lower bound")
	}
}

// TestGridLarge goes through the front door with more pairs than are looked at one by one, with all cells and with a
// few, and then through Verify, which must refuse what is not so.
func TestGridLarge(t *testing.T) {
	side := 104 // 1.17e8 pairs
	p := gridProblem(t, side, side, 1, 0.3/float64(side*side))
	few := p
	few.Source, few.Support = []float64{0.25, 0.25, 0.5}, []int{100, 5000, 9000}
	few.Reg = 1e-4
	for name, p := range map[string]Problem{"all": p, "few": few} {
		if name == "all" && !numtest.Full() {
			continue
		}
		s := Settings{Gap: 1e-2}
		r, err := Project(context.Background(), p, s)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !(r.Gap() <= 1e-2*r.Upper) {
			t.Errorf("%s: [%v, %v]", name, r.Lower, r.Upper)
		}
		if (r.Flow != nil) != (name == "all") {
			t.Errorf("%s: flow %v", name, r.Flow != nil)
		}
		checkResult(t, p, r)
		if name == "few" {
			continue
		}
		for what, spoil := range map[string]func(r *Result){
			"upper":     func(r *Result) { r.Upper -= 1e-7 },
			"lower":     func(r *Result) { r.Lower += 1e-7 },
			"f":         func(r *Result) { r.Potentials.F = shifted(r.Potentials.F, 77, 1e-9) },
			"g":         func(r *Result) { r.Potentials.G = shifted(r.Potentials.G, 4321, 1e-9) },
			"g NaN":     func(r *Result) { r.Potentials.G = shifted(r.Potentials.G, 4321, math.NaN()) },
			"f NaN":     func(r *Result) { r.Potentials.F = shifted(r.Potentials.F, 4321, math.NaN()) },
			"no flow":   func(r *Result) { r.Flow = nil },
			"log v":     func(r *Result) { r.LogV = shifted(r.LogV, 60*104+50, 1) },
			"log v NaN": func(r *Result) { r.LogV = shifted(r.LogV, 60*104+50, math.NaN()) },
			"flow out":  func(r *Result) { f := *r.Flow; f.Right = shifted(f.Right, 103, 1e-9); r.Flow = &f },
			"flow NaN":  func(r *Result) { f := *r.Flow; f.Down = shifted(f.Down, 5, math.NaN()); r.Flow = &f },
			"flow short": func(r *Result) {
				f := *r.Flow
				f.Down = f.Down[1:]
				r.Flow = &f
			},
			"no steps":  func(r *Result) { f := *r.Flow; f.Steps = 0; r.Flow = &f },
			"transport": func(r *Result) { r.Transport *= 1.1 },
			"residual":  func(r *Result) { r.Residual += 0.1 },
		} {
			bad := r
			spoil(&bad)
			if _, _, err := Verify(context.Background(), p, bad); !errors.Is(err, wpmerr.ErrCertificate) {
				t.Errorf("Verify with a spoilt %s: %v", what, err)
			}
		}
	}
}

// shifted returns a copy of x with entry i moved by d.
func shifted(x []float64, i int, d float64) []float64 {
	y := append([]float64(nil), x...)
	y[i] += d
	return y
}

// TestGridWorkers holds that the bits do not depend on the number of threads.
func TestGridWorkers(t *testing.T) {
	p := gridProblem(t, 40, 56, 1, 2e-4)
	var first Result
	for n, workers := range []int{1, 3, 2, 8}[:numtest.Cases(2, 4)] {
		old := runtime.GOMAXPROCS(workers)
		r, err := onGrid(t, context.Background(), p, Settings{Gap: 0.02})
		runtime.GOMAXPROCS(old)
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			first = r
		} else if !reflect.DeepEqual(r, first) {
			t.Errorf("%d workers give another result than 1", workers)
		}
	}
}

// TestGridWarmStart starts from an answer, and from nonsense.
func TestGridWarmStart(t *testing.T) {
	p := gridProblem(t, 16, 16, 1, 0.01)
	want, err := onGrid(t, context.Background(), p, Settings{Tolerance: 1e-11})
	if err != nil {
		t.Fatal(err)
	}
	for _, start := range [][]float64{want.LogV, make([]float64, 16*16), shifted(want.LogV, 100, 50)} {
		r, err := onGrid(t, context.Background(), p, Settings{Tolerance: 1e-11, Initial: start})
		if err != nil {
			t.Fatal(err)
		}
		if d := distance1(r.Q, want.Q); !(d <= gridAgreement) {
			t.Errorf("another start leads %v away", d)
		}
	}
}

// TestGridVacuum: between narrow blobs there are cells without mass, through which no flow can go. The gap is reached
// all the same, and both ways to verify it agree.
func TestGridVacuum(t *testing.T) {
	for _, size := range [][2]int{{20, 30}, {24, 46}, {36, 70}, {48, 48}}[:numtest.Cases(1, 4)] {
		rows, cols := size[0], size[1]
		g := newGenerator(61)
		blobs := func(n int) []float64 {
			x := make([]float64, rows*cols)
			for range n {
				a, b := 0.1+0.8*g.float(), 0.1+0.8*g.float()
				for i := range x {
					dx, dy := (float64(i%cols)+0.5)/float64(cols)-a, (float64(i/cols)+0.5)/float64(rows)-b
					x[i] += math.Exp(-(dx*dx + dy*dy) / (2 * 0.03 * 0.03))
				}
			}
			s := num.Sum(x)
			for i := range x {
				x[i] /= s
			}
			return x
		}
		c, err := cost.NewGrid(rows, cols, 2)
		if err != nil {
			t.Fatal(err)
		}
		p := Problem{Problem: projection.Problem{Cost: c, Source: blobs(5)}}
		for _, x := range blobs(5) {
			p.Lo, p.Hi = append(p.Lo, math.Exp(-1)*x), append(p.Hi, math.Exp(1)*x)
		}
		r, err := byGapOnGrid(t, context.Background(), p, Settings{Gap: 0.03})
		if err != nil {
			t.Errorf("%v: %v", size, err)
		}
		if !r.Flow.Mix {
			t.Errorf("%v: no cells are mixed", size)
		}
		p.Reg = r.Reg
		exact, _ := checkResult(t, p, r)
		floats, err := verifierOf(t, p, r.Q).plan(r, true)
		if err != nil {
			t.Fatal(err)
		}
		a, _ := exact.Float64()
		b, _ := floats.Float64()
		if !(a <= b && b <= r.Upper) {
			t.Errorf("%v: %v exactly, %v in floats, Upper = %v", size, a, b, r.Upper)
		}
	}
}
