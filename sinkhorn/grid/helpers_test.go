package grid

import (
	"math"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
)

// box returns e^(-eps/2) m and e^(eps/2) m.
func box(m []float64, eps float64) (lo, hi []float64) {
	lo, hi = make([]float64, len(m)), make([]float64, len(m))
	for j, x := range m {
		lo[j], hi[j] = math.Exp(-eps/2)*x, math.Exp(eps/2)*x
	}
	return lo, hi
}

// generator makes random instances from a seed.
type generator struct{ *numtest.SplitMix64 }

func newGenerator(seed uint64) *generator { return &generator{numtest.NewSplitMix64(seed)} }

func (g *generator) float() float64 { return g.Float64() }

func (g *generator) intn(n int) int { return int(g.Uint64() % uint64(n)) }

// mass returns a distribution on n points, skewed, with zeros at times.
func (g *generator) mass(n int) []float64 {
	m := make([]float64, n)
	zeros, power := g.float() < 0.3, 1+g.float()*6
	var sum float64
	for i := range m {
		if zeros && i > 0 && g.float() < 0.5 {
			continue
		}
		m[i] = math.Pow(g.float(), power) + 1e-12
		sum += m[i]
	}
	for i := range m {
		m[i] /= sum
	}
	return m
}

// logSumExp is log sum_i exp(x_i), short and plain.
func logSumExp(x []float64) float64 {
	top, sum := slices.Max(x), 0.0
	for _, y := range x {
		sum += math.Exp(y - top)
	}
	return top + math.Log(sum)
}

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
	return Problem{Grid: c, Mu: mu, Lo: lo, Hi: hi, Reg: reg}
}
