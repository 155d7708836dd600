package estimate

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
)

// fitOf begins the models of a length on a grid.
func fitOf(t *testing.T, rows, cols, length int, eps, share float64, n int) *fit {
	t.Helper()
	m, err := cost.NewGrid(rows, cols, 1)
	if err != nil {
		t.Fatal(err)
	}
	g, dist := geometryOf(t, m)
	channel := channelOf(t, discs(dist, eps, share))
	r := rand.New(rand.NewPCG(uint64(n), 5))
	f, err := newFit(Problem{Counts: drawCounts(r, channel, someTheta(r, g.K()), n), Channel: channel, Geometry: g})
	if err != nil {
		t.Fatal(err)
	}
	c, err := g.kernel(length)
	if err != nil {
		t.Fatal(err)
	}
	f.begin(c, nil)
	return f
}

// TestInformation holds S of both forms of a channel, the factor of M, and that of W, against the definition: the determinant of
// 1 + tau^2 S K, and (1 + tau^2 S K)^-1 x.
func TestInformation(t *testing.T) {
	for _, c := range []struct {
		length   int
		eps, tau float64
		n        int
	}{{2, .5, .6, 300}, {2, 1, .6, 100}, {0, 1, 1.2, 5000}, {3, 1, 1.2, 5000}, {5, 1, 1.2, 5000}, {2, 4, 4, 1e6}} {
		f := fitOf(t, 6, 7, c.length, c.eps, .2, c.n)
		f.tau = c.tau
		f.inform()
		k, _ := f.channel.Dims()
		rows := make([][]float64, k)
		for i := range rows {
			rows[i] = f.channel.row(i)
		}
		s := mat.NewDense(k, k, nil) // 1 + tau^2 S K, entry by entry
		for a, u := range f.at.theta {
			for b, v := range f.at.theta {
				info := 0.0
				for j, q := range f.at.q {
					info += u * v * (rows[a][j] - q) * (rows[b][j] - q) * f.n / q
				}
				for d := range k {
					s.Set(a, d, s.At(a, d)+c.tau*c.tau*info*f.cov[b*k+d])
				}
			}
			s.Set(a, a, s.At(a, a)+1)
		}
		want, _ := mat.LogDet(s)
		x, solved := make([]float64, k), mat.NewVecDense(k, nil)
		for i := range x { // of sum 0
			x[i] = math.Sin(float64(i))
			x[0] -= x[i] * float64(min(i, 1))
		}
		if err := solved.SolveVec(s, mat.NewVecDense(k, append([]float64(nil), x...))); err != nil {
			t.Fatal(err)
		}
		check := func(how string) {
			f.decompose()
			// Rounding is some k of 2^-52 relative to the entries of K^-1, which are 1/indefinite at most.
			const slack = 1e-6
			if d := f.logdet - want; !(math.Abs(d) <= slack) {
				t.Errorf("%+v, %s: log det %v, want %v", c, how, f.logdet, want)
			}
			got := append([]float64(nil), x...)
			add(-1, f.informed(f.covered(x)), got)
			far, size := 0.0, 0.0
			for i, v := range got {
				far, size = far+(v-solved.AtVec(i))*(v-solved.AtVec(i)), size+x[i]*x[i]
			}
			if !(math.Sqrt(far/size) <= slack) {
				t.Errorf("%+v, %s: a solution is off by %v", c, how, math.Sqrt(far/size))
			}
		}
		check("by runs")
		clear(f.s)
		f.product()
		check("by a product")
		f.split()
		check("by outputs")
	}
}

// TestStart holds that a start at a map is that map, where the kernel has it, and not worse than the guess.
func TestStart(t *testing.T) {
	const n = 100_000 // a rough map is worth its price, to the longest kernel too
	f := fitOf(t, 5, 5, 1, 2, .2, n)
	if _, err := f.mode(context.Background(), 1.2, math.Inf(-1)); err != nil {
		t.Fatal(err)
	}
	at := f.at
	for length := range kernels {
		if kernels[length].smooth { // no other map is one of its own
			continue
		}
		g := fitOf(t, 5, 5, length, 2, .2, n)
		m, err := cost.NewGrid(5, 5, 1)
		if err != nil {
			t.Fatal(err)
		}
		geometry, _ := geometryOf(t, m)
		c, err := geometry.kernel(length)
		if err != nil {
			t.Fatal(err)
		}
		g.begin(c, at.f)
		if g.at.value < 0 {
			t.Errorf("length %d: a start of value %v, and the guess has 0", length, g.at.value)
		}
		for i, v := range g.at.theta {
			// The kernel has indefinite added to eigenvalues of 0.01 and more.
			if !(math.Abs(v-at.theta[i]) <= 1e-6) {
				t.Errorf("length %d, place %d: share %v, want %v", length, i, v, at.theta[i])
			}
		}
	}
}

// TestKernelIndefinite holds Map on symmetric tables that are the distances of nothing: the kernel is the nearest one
// that is a covariance, and answers are distributions.
func TestKernelIndefinite(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	none := 0
	for range numtest.Cases(5, 20) {
		const k = 9
		m := &cost.Dense{K: k, Kv: k, Data: make([]float64, k*k)}
		for i := range k {
			for j := range i {
				d := math.Exp(3 * r.NormFloat64())
				m.Data[i*k+j], m.Data[j*k+i] = d, d
			}
		}
		g, dist := geometryOf(t, m)
		channel := channelOf(t, discs(dist, 3, .3))
		for n := range kernels {
			c, err := g.kernel(n)
			if err != nil {
				t.Fatal(err)
			}
			least := func(a []float64) float64 {
				var eigen mat.EigenSym
				if !eigen.Factorize(mat.NewSymDense(k, append([]float64(nil), a...)), false) {
					t.Fatal("no eigenvalues")
				}
				return eigen.Values(nil)[0]
			}
			if v := least(c.cov); !(v >= -k*indefinite) {
				t.Errorf("length %d: an eigenvalue of %v", n, v)
			}
			if !kernels[n].smooth && least(g.exponential(kernels[n].length, kernels[n].alone, g.table, k)) < -indefinite {
				none++
			}
		}
		for _, n := range []int{3, 1000, 1e6} {
			counts := drawCounts(r, channel, someTheta(r, k), min(n, 1000))
			for j := range counts {
				counts[j] *= uint64(max(n/1000, 1))
			}
			p := Problem{Counts: counts, Channel: channel, Geometry: g}
			res, err := Map(context.Background(), p, Settings{})
			if err != nil {
				t.Fatal(err)
			}
			checkDistribution(t, res.Theta, k)
		}
	}
	if none == 0 {
		t.Error("all tables were distances of points")
	}
}
