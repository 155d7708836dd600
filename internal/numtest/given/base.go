package given

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"
	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/cost"
)

// What follows is for solvers that find a base measure: basemeasure and mirror.

// Levels are privacy levels from none to where e^eps is near the end of the floats.
func Levels() []float64 { return []float64{0, 1e-16, 1e-9, 0.001, 0.5, 1, 2, 5, 12, 50, 300, 700} }

// Cost draws a small cost, of at most so many inputs and outputs, that leans to ties, duplicates, offsets and several
// scales: those given, 1, 1e-9 and 1e9.
func Cost(t *rapid.T, most int, scales ...float64) *cost.Dense {
	k := rapid.IntRange(1, most).Draw(t, "k")
	kv := rapid.IntRange(1, most).Draw(t, "kv")
	scale := rapid.SampledFrom(append([]float64{1, 1e-9, 1e9}, scales...)).Draw(t, "scale")
	offset := rapid.SampledFrom([]float64{0, 0, 3, 1e6}).Draw(t, "offset")
	entry := rapid.SampledFrom([]*rapid.Generator[float64]{
		rapid.Map(rapid.IntRange(0, 3), func(n int) float64 { return float64(n) }),
		rapid.Map(rapid.IntRange(0, 1<<20), func(n int) float64 { return float64(n) / (1 << 20) }),
		rapid.Map(rapid.IntRange(-30, 3), func(n int) float64 { return math.Exp(float64(n)) }),
	}).Draw(t, "entries")
	c := &cost.Dense{K: k, Kv: kv}
	for range k * kv {
		c.Data = append(c.Data, (entry.Draw(t, "c")+offset)*scale)
	}
	return c
}

// SimplexTol is how far the optimum of BaseOptimum may be off: a tolerance of its simplex, at costs of at most 3.
const SimplexTol = 1e-8

// BaseOptimum draws costs of up to 4 inputs and so many outputs, and hands each to check with the least worst case of all
// base measures.
func BaseOptimum(t *testing.T, outputs int, check func(t *rapid.T, c *cost.Dense, eps, best float64)) {
	t.Helper()
	solved := 0
	rapid.Check(t, func(t *rapid.T) {
		c := &cost.Dense{K: rapid.IntRange(1, 4).Draw(t, "k"), Kv: rapid.IntRange(1, outputs).Draw(t, "kv")}
		for range c.K * c.Kv {
			c.Data = append(c.Data, float64(rapid.IntRange(0, 3).Draw(t, "c")))
		}
		eps := rapid.SampledFrom([]float64{0.1, 0.5, 1, 2, 4}).Draw(t, "eps")
		if best, ok := leastWorstCase(c, eps); ok {
			solved++
			check(t, c, eps, best)
		}
	})
	if solved < 20 {
		t.Errorf("the simplex answered only %d times", solved)
	}
}

// leastWorstCase is the optimum over all base measures, from a general linear program by gonum's simplex: minimise z
// over x >= 0, 1/E <= sum x <= 1, z >= C_il + sum_j x_j h(C_ij - C_il) for all i, l. ok is false if it gave up.
func leastWorstCase(c *cost.Dense, eps float64) (f float64, ok bool) {
	e := math.Exp(eps)
	cuts := c.K * c.Kv
	// Variables: x (kv), z >= 0 (costs are), a slack per cut, two slacks for the mass.
	a := mat.NewDense(cuts+2, c.Kv+1+cuts+2, nil)
	b, obj := make([]float64, cuts+2), make([]float64, c.Kv+1+cuts+2)
	obj[c.Kv] = 1
	for i := range c.K {
		for l := range c.Kv {
			at, eta := i*c.Kv+l, c.Data[i*c.Kv+l]
			for j := range c.Kv {
				h := c.Data[i*c.Kv+j] - eta
				if h < 0 {
					h *= e
				}
				a.Set(at, j, h)
			}
			a.Set(at, c.Kv, -1)
			a.Set(at, c.Kv+1+at, 1)
			b[at] = -eta
		}
	}
	for j := range c.Kv {
		a.Set(cuts, j, 1)
		a.Set(cuts+1, j, 1)
	}
	a.Set(cuts, c.Kv+1+cuts, 1)
	b[cuts] = 1
	a.Set(cuts+1, c.Kv+1+cuts+1, -1)
	b[cuts+1] = 1 / e
	f, _, err := lp.Simplex(obj, a, b, 1e-10, nil)
	return f, err == nil
}
