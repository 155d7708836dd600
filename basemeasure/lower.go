package basemeasure

import (
	"context"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/knapsack"
)

// cuts is one candidate for the lower bound: a weight and a threshold per input.
type cuts struct{ weights, thresholds []float64 }

// prove fills Lower, Weights and Thresholds with the best candidate, and scales the bounds back by
// 2^exponent. If ctx ends it keeps what it has and returns the reason.
func (r *ray) prove(ctx context.Context, res *Result, exponent int) error {
	k, kv := r.table.Dims()
	d := &dual{
		table: r.table, e: r.priv.e.up, exponent: exponent,
		above: make([]float64, kv), below: make([]float64, kv),
		thresholds: make([]float64, k),
	}
	take := func(c cuts, lower float64) {
		if lower > res.Lower {
			res.Lower = lower
			copy(res.Weights, c.weights)
			copy(res.Thresholds, c.thresholds)
		}
	}
	res.Lower = math.Inf(-1)
	take(r.farthest(exponent))
	var stop error
	for _, c := range r.candidates(res.F) {
		if res.Upper-res.Lower <= closedGap*res.Upper {
			break
		}
		if stop = ctx.Err(); stop != nil {
			break
		}
		take(d.shift(ctx, c))
	}
	for i, w := range res.Weights {
		if w == 0 {
			res.Thresholds[i] = 0
		}
	}
	res.Upper = math.Ldexp(res.Upper, exponent)
	if exponent != 0 {
		// Entries and results below the smallest normal float were rounded; each is off by one step at most.
		res.Upper = math.Nextafter(res.Upper+math.Ldexp(math.SmallestNonzeroFloat64, exponent), math.Inf(1))
	}
	for i, t := range res.Thresholds {
		res.Thresholds[i] = math.Ldexp(t, exponent)
	}
	res.Lower = math.Ldexp(res.Lower, exponent)
	if exponent != 0 {
		res.Lower = max(0, math.Nextafter(res.Lower, math.Inf(-1)))
	}
	res.Lower = min(res.Lower, math.Ldexp(res.F, exponent))
	return stop
}

// closedGap is the relative gap at which no further candidate is tried: what rounding leaves open.
const closedGap = 1e-13

// farthest is the bound max_i min_j C_ij: nothing can be released closer to that input. It is never
// negative, so neither is Lower.
func (r *ray) farthest(exponent int) (cuts, float64) {
	k, _ := r.table.Dims()
	c := cuts{make([]float64, k), make([]float64, k)}
	far, at := -1.0, 0
	for i := range k {
		if low := r.table.Row(i, nil)[r.table.Order(i)[0]]; low > far {
			far, at = low, i
		}
	}
	if exponent != 0 && far > 0 && far < minNormal {
		far -= math.SmallestNonzeroFloat64 // the scaled entry was rounded, by half a step at most
	}
	c.weights[at] = 1
	c.thresholds[at] = representable(far, exponent)
	return c, c.thresholds[at]
}

// minNormal is the smallest normal float64: numbers below it lose bits when they are scaled.
const minNormal = 0x1p-1022

// representable rounds a threshold, if need be, so that scaling it by 2^exponent is exact.
func representable(x float64, exponent int) float64 {
	if exponent == 0 {
		return x
	}
	y := math.Ldexp(math.Ldexp(x, exponent), -exponent)
	if y > x {
		y = math.Ldexp(math.Nextafter(math.Ldexp(x, exponent), math.Inf(-1)), -exponent)
	}
	return y
}

// candidates returns the cuts worth shifting, the most promising first.
func (r *ray) candidates(f float64) []cuts {
	k := len(r.phi)
	equal := func(take func(i int) bool, thresholds []float64) cuts {
		c := cuts{make([]float64, k), thresholds}
		n := 0
		for i := range k {
			if take(i) {
				n++
			}
		}
		for i := range k {
			if take(i) {
				c.weights[i] = 1 / float64(n)
			}
		}
		return c
	}
	all := func(int) bool { return true }
	active := 0
	isActive := func(i int) bool { return r.phi[i] >= f-f*activeTol }
	for i := range k {
		if isActive(i) {
			active++
		}
	}
	// At the kink of an input's own cost any threshold between two of its costs is optimal; the one that
	// belongs to a vanishing slope is the value of phi itself. On a transitive space it closes the gap.
	list := []cuts{equal(all, r.phi), equal(all, r.tau)}
	if active < k && active > 1 {
		list = append(list, equal(isActive, r.phi), equal(isActive, r.tau))
	}
	if r.kink && r.right.slope-r.left.slope > 0 {
		c := cuts{make([]float64, k), make([]float64, k)}
		onLeft := r.right.slope / (r.right.slope - r.left.slope)
		onRight := -r.left.slope / (r.right.slope - r.left.slope)
		c.weights[r.left.row] += onLeft
		c.weights[r.right.row] += onRight
		c.thresholds[r.left.row] += onLeft * r.left.tau
		c.thresholds[r.right.row] += onRight * r.right.tau
		for i, w := range c.weights { // cuts of one input merge into their mean: never worse, by concavity
			if w > 0 {
				c.thresholds[i] /= w
			}
		}
		list = append(list, c)
	}
	return list
}

// activeTol is the relative distance from f at which an input counts as attaining it.
const activeTol = 1e-9

// dual evaluates the lower bound of cuts.
type dual struct {
	table        *knapsack.Table
	e            float64 // at least e^eps
	exponent     int
	above, below []float64 // per column: twice sum_i w_i (C_ij - eta_i)_+ and twice sum_i w_i (eta_i - C_ij)_+
	thresholds   []float64 // scratch: the shifted thresholds
}

// maxShifts bounds the Newton steps of one shift; two to six are usual.
const maxShifts = 30

// shift moves all thresholds of c by one number to where min_j b_j is just not negative, and returns the
// best cuts it saw with their bound. The minimum is a concave decreasing function of the shift, so Newton's
// step lands on the far side of the root, or on it, and then descends to it.
func (d *dual) shift(ctx context.Context, c cuts) (cuts, float64) {
	best := cuts{weights: c.weights}
	lower := math.Inf(-1)
	by := 0.0
	for step := range maxShifts {
		if step > 0 && ctx.Err() != nil {
			break
		}
		scale := 0.0
		for i, t := range c.thresholds {
			d.thresholds[i] = representable(t+by, d.exponent)
			if c.weights[i] > 0 {
				scale = max(scale, math.Abs(d.thresholds[i]))
			}
		}
		least, column := d.least(c.weights)
		if value := d.value(c.weights, least); value > lower {
			lower = value
			best.thresholds = append(best.thresholds[:0], d.thresholds...)
		}
		slope := d.slope(c.weights, column, least > 0)
		move := least / slope
		if least < 0 {
			move -= scale * 0x1p-52 // at least one step of the largest threshold
		}
		next := by + move
		if least >= 0 && move <= shiftTol*scale || next == by {
			break
		}
		by = next
	}
	return best, lower
}

// shiftTol is the relative step at which a shift from the safe side is not worth another pass.
const shiftTol = 0x1p-50

// sumError bounds the relative error of a column sum and of what least does with it: two roundings per term
// (difference, product), dualBlock - 1 plain additions, two for the compensated sum, four in least.
const (
	dualBlock = 4
	sumError  = (dualBlock + 7) * 0x1p-53
)

// least returns a lower bound on min_j b_j for the thresholds of d, and its column.
func (d *dual) least(weights []float64) (float64, int) {
	d.columns(weights)
	least, column := math.Inf(1), 0
	for j, above := range d.above {
		b := above/2*(1-sumError) - d.e*(d.below[j]/2)*(1+sumError)
		if b < least {
			least, column = b, j
		}
	}
	// Products below the normal range, and entries that were scaled there, are off by one step each.
	return least - (1+d.e)*float64(2*len(weights))*math.SmallestNonzeroFloat64, column
}

// value is the bound that the thresholds prove, rounded down; least is at most min_j b_j.
func (d *dual) value(weights []float64, least float64) float64 {
	if least > 0 {
		least = least / d.e * (1 - 0x1p-51)
	}
	// num.Dot and num.Sum are as good as rounded once, as long as the terms do not cancel.
	sum, size := num.Dot(weights, d.thresholds), 0.0
	for i, w := range weights {
		size += w * math.Abs(d.thresholds[i])
	}
	total := num.Sum(weights)
	const sixRoundings, secondOrder = 0x1.8p-51, 0x1p-80
	v := (sum + least) / total
	return v - (sixRoundings*(math.Abs(sum)+math.Abs(least))+secondOrder*size)/total
}

// slope is the derivative, with its sign changed, of b_j in the shift: to the right if right is set.
func (d *dual) slope(weights []float64, column int, right bool) float64 {
	slope := 0.0
	for i, w := range weights {
		if w == 0 {
			continue
		}
		if c := d.table.Row(i, nil)[column]; c > d.thresholds[i] || (c == d.thresholds[i] && !right) {
			slope += w
		} else {
			slope += w * d.e
		}
	}
	return slope
}

// columnBlock is the number of columns one goroutine sums at a time: its sums stay in the first-level cache.
const columnBlock = 256

// columns fills above and below. Columns are split between goroutines, and every column is summed over the
// rows in the same order: the bits do not depend on the split.
func (d *dual) columns(weights []float64) {
	k, kv := d.table.Dims()
	blocks := (kv + columnBlock - 1) / columnBlock
	workers := min(runtime.GOMAXPROCS(0), blocks)
	if workers <= 1 || k*kv < 1<<15 {
		for from := 0; from < kv; from += columnBlock {
			d.columnRange(weights, from, min(from+columnBlock, kv))
		}
		return
	}
	var next atomic.Int64
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for {
				from := int(next.Add(1)-1) * columnBlock
				if from >= kv {
					return
				}
				d.columnRange(weights, from, min(from+columnBlock, kv))
			}
		})
	}
	group.Wait()
}

func (d *dual) columnRange(weights []float64, from, to int) {
	var p, n, pe, ne, pSum, nSum [columnBlock]float64
	size := to - from
	inBlock := 0
	flush := func() {
		for j := range size {
			pSum[j], pe[j] = compensate(pSum[j], p[j], pe[j])
			nSum[j], ne[j] = compensate(nSum[j], n[j], ne[j])
			p[j], n[j] = 0, 0
		}
		inBlock = 0
	}
	for i, w := range weights {
		if w == 0 {
			continue
		}
		eta := d.thresholds[i]
		row := d.table.Row(i, nil)[from:to]
		pp, nn := p[:len(row)], n[:len(row)]
		for j, c := range row {
			// |x| + x and |x| - x are 2x or 0 without a rounding and without a branch.
			x := c - eta
			a := math.Abs(x)
			pp[j] += w * (a + x)
			nn[j] += w * (a - x)
		}
		if inBlock++; inBlock == dualBlock {
			flush()
		}
	}
	flush()
	for j := range size {
		d.above[from+j], d.below[from+j] = pSum[j]+pe[j], nSum[j]+ne[j]
	}
}

// compensate adds x to the sum s with the running error e.
func compensate(s, x, e float64) (sum, err float64) {
	t := s + x
	v := t - s
	return t, e + ((s - (t - v)) + (x - v))
}
