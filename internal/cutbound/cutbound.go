// Package cutbound evaluates lower bounds for base measures: packages basemeasure and mirror find cuts, this one says
// what they prove.
//
// For weights w >= 0 of sum 1 and thresholds eta, every eps-LDP mechanism costs, in the mean over inputs with weights
// w, at least
//
//	sum_i w_i eta_i + min( b, e^eps b ),  b = min_j b_j,  b_j = sum_i w_i [ e^-eps (C_ij - eta_i)_+ - (eta_i - C_ij)_+ ].
//
// It follows from the cut of input i at eta_i; see basemeasure.Verify. All results are rounded down.
package cutbound

import (
	"context"
	"math"

	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/knapsack"
)

// Dual evaluates the bound of cuts. One Dual serves one goroutine at a time.
type Dual struct {
	Table *knapsack.Table
	E     num.Enclosure // of e^eps
	// Exponent: the table holds the costs times 2^-Exponent, and thresholds must be exact when they are scaled back.
	Exponent int
	// Slop, if not zero, says that weights sum to one, with a relative error of at most Slop in each. Otherwise they are
	// relative to their sum.
	Slop float64
	// Low, if not nil, is a number for each input that Shift does not let its threshold go below.
	Low []float64

	// Thresholds are those that Least, Value and Slope are about.
	Thresholds []float64

	inv          float64   // at most e^-eps
	above, below []float64 // by column: sum_i w_i (C_ij - eta_i)_+ and sum_i w_i (eta_i - C_ij)_+
}

// New returns a Dual for e^eps.
func New(table *knapsack.Table, e num.Enclosure) *Dual {
	k, kv := table.Dims()
	inv := num.Rat(e.Up)
	return &Dual{
		Table: table, E: e, inv: num.Down(inv.Inv(inv)), Thresholds: make([]float64, k),
		above: make([]float64, kv), below: make([]float64, kv),
	}
}

const (
	// maxShifts bounds the Newton steps of one shift; two to six are usual.
	maxShifts = 40
	// shiftTol is the relative step at which a shift from the safe side is not worth another pass.
	shiftTol = 0x1p-50
	// far is how many times the largest threshold a shift is where it may be stuck for its own rounding.
	far = 1024
	// maxBack bounds the relative step back that is taken then.
	maxBack = 0x1p-48
)

// Shift moves all thresholds by one number to where min_j b_j is just not negative, which is where the bound is best.
// It returns the best bound it saw, with its thresholds. The minimum is a concave decreasing function of the shift, so
// Newton's step lands on the far side of the root, or on it, and then descends to it. It looks at ctx before each
// step but the first.
func (d *Dual) Shift(ctx context.Context, weights, thresholds []float64) (lower float64, best []float64) {
	lower = math.Inf(-1)
	by, back := 0.0, 0x1p-52
	for step := range maxShifts {
		if step > 0 && ctx.Err() != nil {
			break
		}
		scale := d.move(weights, thresholds, by)
		least, column := d.Least(weights)
		if value := d.Value(weights, least); value > lower {
			lower = value
			best = append(best[:0], d.Thresholds...)
		}
		slope := d.Slope(weights, column, least > 0)
		move := least / slope
		if least < 0 {
			move -= scale * 0x1p-52 // at least one step of the largest threshold
		}
		next := by + move
		if least < 0 && next == by && scale > 0 && math.Abs(by) > far*scale && back < maxBack {
			next -= back * math.Abs(by)
			back *= 2
		}
		if least >= 0 && move <= shiftTol*scale || next == by || !(slope > 0) {
			break
		}
		by = next
	}
	return lower, best
}

// move sets the thresholds and returns the largest that has a weight.
func (d *Dual) move(weights, thresholds []float64, by float64) (scale float64) {
	for i, t := range thresholds {
		t = Representable(t+by, d.Exponent)
		if d.Low != nil {
			t = max(t, d.Low[i])
		}
		d.Thresholds[i] = t
		if weights[i] > 0 {
			scale = max(scale, math.Abs(t))
		}
	}
	return scale
}

// Representable rounds a threshold down, if need be, so that scaling it by 2^exponent is exact.
func Representable(x float64, exponent int) float64 {
	if exponent == 0 {
		return x
	}
	y := math.Ldexp(math.Ldexp(x, exponent), -exponent)
	if y > x {
		y = math.Ldexp(math.Nextafter(math.Ldexp(x, exponent), math.Inf(-1)), -exponent)
	}
	return y
}

// sumError bounds the relative error of a column sum and of what Least does with it: two roundings per term
// (difference, product), sumBlock - 1 plain additions, two for the compensated sum, four in Least.
const (
	sumBlock = 4
	sumError = (sumBlock + 7) * 0x1p-53
)

// Least returns a lower bound on min_j b_j, and its column.
func (d *Dual) Least(weights []float64) (float64, int) {
	d.columns(weights)
	least, column := math.Inf(1), 0
	off := sumError + d.Slop
	for j, above := range d.above {
		b := d.inv*above*(1-off) - d.below[j]*(1+off)
		if b < least {
			least, column = b, j
		}
	}
	// Products below the normal range, and entries that were scaled there, are off by one step each.
	return least - float64(4*len(weights)+2)*math.SmallestNonzeroFloat64, column
}

// Value is the bound that the thresholds prove; least is at most min_j b_j.
func (d *Dual) Value(weights []float64, least float64) float64 {
	if least < 0 {
		least *= d.E.Up
	}
	// num.Dot and num.Sum are as good as rounded once, as long as the terms do not cancel.
	sum, size := num.Dot(weights, d.Thresholds), 0.0
	for i, w := range weights {
		size += w * math.Abs(d.Thresholds[i])
	}
	total := 1.0
	if d.Slop == 0 {
		total = num.Sum(weights)
	}
	const sixRoundings, secondOrder = 0x1.8p-51, 0x1p-80
	v := (sum + least) / total
	off := (sixRoundings*(math.Abs(sum)+math.Abs(least)) + (secondOrder+d.Slop)*size) / total
	return v - off - float64(3*len(weights))*math.SmallestNonzeroFloat64 // num.Dot's, for products that underflow
}

// Slope is the derivative, with its sign changed, of b_j in the shift: to the right if right is set.
func (d *Dual) Slope(weights []float64, column int, right bool) float64 {
	slope := 0.0
	for i, w := range weights {
		if w == 0 {
			continue
		}
		eta := d.Thresholds[i]
		switch c := d.Table.Row(i, nil)[column]; {
		case d.Low != nil && eta == d.Low[i] && !right: // held there
		case c > eta || (c == eta && !right):
			slope += w * d.inv
		default:
			slope += w
		}
	}
	return slope
}

// columnBlock is the number of columns one goroutine sums at a time: its sums stay in the first-level cache.
const columnBlock = 256

// columns fills above and below. Columns are split between goroutines, and every column is summed over the
// rows in the same order: the bits do not depend on the split.
func (d *Dual) columns(weights []float64) {
	_, kv := d.Table.Dims()
	blocks := (kv + columnBlock - 1) / columnBlock
	_ = parallel.For(context.Background(), blocks, func(b int) {
		d.columnRange(weights, b*columnBlock, min((b+1)*columnBlock, kv))
	})
}

func (d *Dual) columnRange(weights []float64, from, to int) {
	var p, n, pe, ne, pSum, nSum [columnBlock]float64
	size := to - from
	inBlock := 0
	flush := func() {
		for j := range size {
			var e float64
			pSum[j], e = num.TwoSum(pSum[j], p[j])
			pe[j] += e
			nSum[j], e = num.TwoSum(nSum[j], n[j])
			ne[j] += e
			p[j], n[j] = 0, 0
		}
		inBlock = 0
	}
	for i, w := range weights {
		if w == 0 {
			continue
		}
		half := d.Thresholds[i] / 2
		row := d.Table.Row(i, nil)[from:to]
		pp, nn := p[:len(row)], n[:len(row)]
		for j, c := range row {
			// |x| + x and |x| - x are 2x or 0: without a rounding, a branch or an overflow.
			x := c/2 - half
			a := math.Abs(x)
			pp[j] += w * (a + x)
			nn[j] += w * (a - x)
		}
		if inBlock++; inBlock == sumBlock {
			flush()
		}
	}
	flush()
	for j := range size {
		d.above[from+j], d.below[from+j] = pSum[j]+pe[j], nSum[j]+ne[j]
	}
}
