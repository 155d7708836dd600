package mirror

import (
	"context"
	"math"

	"github.com/wpm-go/wpm/internal/cutbound"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/knapsack"
)

// cuts is the average of the cuts of a descent, merged by input. An iterate leaves the cut (i, tau), a lower bound on f
// that is affine in m, and the weighted average of cuts bounds f* from below. weights and thresholds say how often an
// input was the worst one, and the mean of its thresholds then. Merging never lowers the bound, because a cut
// is concave in its threshold.
type cuts struct{ weights, thresholds []float64 }

func (c *cuts) add(i int, tau, weight float64) {
	c.weights[i] += weight
	c.thresholds[i] += (tau - c.thresholds[i]) * (weight / c.weights[i])
}

// prover turns cuts into lower bounds, and keeps the best.
type prover struct {
	dual  *cutbound.Dual
	alpha float64 // at least e^(-eps/2)
	beta  float64 // at most e^(eps/2)
	lower float64 // the best bound so far
	best  cuts    // its evidence

	weights []float64 // scratch, by row
	lo, hi  []float64
}

func newProver(table *knapsack.Table, eps float64) *prover {
	k, kv := table.Dims()
	floats := func(n int) []float64 { return make([]float64, n) }
	p := &prover{
		dual: cutbound.New(table, num.Exp(eps)), best: cuts{floats(k), floats(k)}, weights: floats(k), lo: floats(kv),
		hi: floats(kv),
	}
	// Halving is exact but for a subnormal eps, where both are 1 to 2^-1000.
	_, p.alpha = num.ExpBounds(-eps / 2)
	p.beta, _ = num.ExpBounds(eps / 2)
	// Nothing can be released closer to an input than its nearest output. A threshold does not go below that cost, where
	// its cut would only fall.
	low, at := floats(k), 0
	p.lower = -1
	for i := range k {
		low[i] = table.Row(i, nil)[table.Order(i)[0]]
		if low[i] > p.lower {
			p.lower, at = low[i], i
		}
	}
	p.dual.Low = low
	p.best.weights[at], p.best.thresholds[at] = 1, p.lower
	return p
}

// improve keeps the best bound that one shift of all thresholds of c proves, rounded down, and returns the best of all
// so far.
func (p *prover) improve(c *cuts) float64 {
	total := num.Sum(c.weights)
	for i, w := range c.weights {
		p.weights[i] = w / total
	}
	lower, thresholds := p.dual.Shift(context.Background(), p.weights, c.thresholds)
	if !(lower > p.lower) {
		return p.lower
	}
	p.lower = lower
	for i, w := range p.weights {
		p.best.weights[i], p.best.thresholds[i] = w, 0
		if w > 0 {
			p.best.thresholds[i] = thresholds[i]
		}
	}
	return p.lower
}

// upper returns an upper bound on f(m): the value over a box inside the real one, which contains m itself, plus
// the error of computing it (a quarter more, for the two operations that add it).
func (p *prover) upper(m []float64) float64 {
	for j, x := range m {
		p.lo[j] = min(math.Nextafter(p.alpha*x, math.Inf(1)), x)
		p.hi[j] = max(math.Nextafter(p.beta*x, math.Inf(-1)), x)
	}
	f, worst := p.dual.Table.Max(p.lo, p.hi)
	if worst < 0 {
		return math.Inf(1)
	}
	return f + f*(1.25*knapsack.PhiError) + float64(len(m))*math.SmallestNonzeroFloat64
}
