package mirror

import (
	"math"

	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/knapsack"
)

// cuts is the average of the cuts of a descent, merged by input: how often an input was the worst one, and the
// mean of its thresholds then. Merging never lowers the bound, because a cut is concave in its threshold.
type cuts struct{ weights, thresholds []float64 }

func (c *cuts) add(i int, tau, weight float64) {
	c.weights[i] += weight
	c.thresholds[i] += (tau - c.thresholds[i]) * (weight / c.weights[i])
}

// prover turns cuts into lower bounds that are rounded down, and keeps the best. For weights w of sum 1 and any
// thresholds eta, every eps-LDP mechanism has an input of cost at least
//
//	sum_i w_i eta_i + min( E b, b ),  b = min_j b_j,  b_j = sum_i w_i [ (C_ij - eta_i)_+ / E - (eta_i - C_ij)_+ ]
//
// (package basemeasure, with b_j divided by E so that nothing overflows).
type prover struct {
	table *knapsack.Table
	e     float64 // at least e^eps
	inv   float64 // at most e^-eps
	alpha float64 // at least e^(-eps/2)
	beta  float64 // at most e^(eps/2)
	lower float64 // the best bound so far
	best  cuts    // its evidence

	low          []float64 // the least cost of each row
	weights, eta []float64 // scratch, by row
	above, below []float64 // by column: sum_i w_i (C_ij - eta_i)_+ and sum_i w_i (eta_i - C_ij)_+
	lo, hi       []float64
}

func newProver(table *knapsack.Table, eps float64) *prover {
	k, kv := table.Dims()
	floats := func(n int) []float64 { return make([]float64, n) }
	p := &prover{
		table: table, best: cuts{floats(k), floats(k)}, low: floats(k), weights: floats(k), eta: floats(k),
		above: floats(kv), below: floats(kv), lo: floats(kv), hi: floats(kv),
	}
	_, p.e = num.ExpBounds(eps)
	p.inv, _ = num.ExpBounds(-eps)
	// Halving is exact but for a subnormal eps, where both are 1 to 2^-1000.
	_, p.alpha = num.ExpBounds(-eps / 2)
	p.beta, _ = num.ExpBounds(eps / 2)
	// Nothing can be released closer to an input than its nearest output.
	at := 0
	p.lower = -1
	for i := range k {
		p.low[i] = table.Row(i, nil)[table.Order(i)[0]]
		if p.low[i] > p.lower {
			p.lower, at = p.low[i], i
		}
	}
	p.best.weights[at], p.best.thresholds[at] = 1, p.lower
	return p
}

// maxShifts bounds the Newton steps of one shift; two to six are usual.
const maxShifts = 40

// improve shifts all thresholds of c by one number to where min_j b_j is just not negative, which is where the
// bound is best, and keeps the best bound it saw. A threshold does not go below the least cost of its row,
// where its cut would only fall. The minimum is concave and decreasing in the shift: Newton's step lands on the
// far side of the root, or on it, and then descends to it.
func (p *prover) improve(c *cuts) {
	total := num.Sum(c.weights)
	first, largest := math.Inf(1), p.table.MaxCost()
	for i, w := range c.weights {
		p.weights[i] = w / total
		if w > 0 {
			first = min(first, c.thresholds[i])
		}
	}
	by, most := 0.0, largest-first // at this shift and beyond every b_j is at most 0
	back := 0x1p-52
	for range maxShifts {
		size := 0.0
		for i, w := range p.weights {
			if w > 0 {
				p.eta[i] = min(max(c.thresholds[i]+by, p.low[i]), largest)
				size = max(size, p.eta[i])
			}
		}
		least, column := p.least()
		if lower := p.value(least); lower > p.lower {
			p.lower = lower
			for i, w := range p.weights {
				p.best.weights[i], p.best.thresholds[i] = w, 0
				if w > 0 {
					p.best.thresholds[i] = p.eta[i]
				}
			}
		}
		move := least / p.slope(column, least > 0)
		if least >= 0 && move <= shiftTol*size {
			return
		}
		if least < 0 {
			move -= back * size // a step that rounding cannot undo, larger each time
			back *= 2
		}
		next := min(by+move, most)
		if next == by || math.IsNaN(next) {
			return
		}
		by = next
	}
}

// shiftTol is the relative step at which a shift from the safe side is not worth another pass.
const shiftTol = 0x1p-45

// least returns a lower bound on min_j b_j for the thresholds eta, and its column.
func (p *prover) least() (least float64, column int) {
	clear(p.above)
	clear(p.below)
	terms := 0
	for i, w := range p.weights {
		if w == 0 {
			continue
		}
		terms++
		eta := p.eta[i]
		row := p.table.Row(i, nil)
		above, below := p.above[:len(row)], p.below[:len(row)]
		for j, c := range row {
			above[j] += float64(w * max(c-eta, 0))
			below[j] += float64(w * max(eta-c, 0))
		}
	}
	// Plain sums of non-negative terms: two roundings a term, one for each addition, and four below; products
	// below the normal range lose half of the smallest float each.
	relative := float64(terms+8) * 0x1p-53
	absolute := float64(terms+2) * math.SmallestNonzeroFloat64
	least = math.Inf(1)
	for j, above := range p.above {
		b := p.inv*above*(1-relative) - p.below[j]*(1+relative)
		if b < least {
			least, column = b, j
		}
	}
	return least - 2*absolute, column
}

// value is the bound that eta proves, rounded down; least is at most min_j b_j.
func (p *prover) value(least float64) float64 {
	if least < 0 {
		least *= p.e
	}
	sum, size := num.Dot(p.weights, p.eta), 0.0
	for i, w := range p.weights {
		size += w * math.Abs(p.eta[i])
	}
	total := num.Sum(p.weights)
	v := (sum + least) / total
	// num.Dot and num.Sum are rounded once, up to second order; three operations follow, and one before.
	const roundings, secondOrder = 8 * 0x1p-53, 0x1p-80
	return v - (roundings*(math.Abs(sum)+math.Abs(least)) + secondOrder*size + float64(len(p.eta))*math.SmallestNonzeroFloat64)
}

// slope is the derivative, with its sign changed, of b_j in the shift: to the right if right is set.
func (p *prover) slope(column int, right bool) float64 {
	slope := 0.0
	for i, w := range p.weights {
		if w == 0 {
			continue
		}
		c := p.table.Row(i, nil)[column]
		switch eta := p.eta[i]; {
		case eta == p.low[i] && !right: // held there
		case c > eta || (c == eta && !right):
			slope += w * p.inv
		default:
			slope += w
		}
	}
	return slope
}

// upper returns an upper bound on f(m): the value over a box inside the real one, which contains m itself, plus
// the error of computing it (a quarter more, for the two operations that add it).
func (p *prover) upper(m []float64) float64 {
	for j, x := range m {
		p.lo[j] = min(math.Nextafter(p.alpha*x, math.Inf(1)), x)
		p.hi[j] = max(math.Nextafter(p.beta*x, math.Inf(-1)), x)
	}
	f, worst := p.table.Max(p.lo, p.hi)
	if worst < 0 {
		return math.Inf(1)
	}
	return f + f*(1.25*knapsack.PhiError) + float64(len(m))*math.SmallestNonzeroFloat64
}
