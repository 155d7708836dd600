package basemeasure

import (
	"context"
	"math"

	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/knapsack"
)

// cuts is one candidate for the lower bound: for each input a weight in the maximum and a threshold.
type cuts struct{ weights, thresholds []float64 }

// prove fills Lower, Weights and Thresholds with the best candidate. If ctx ends it keeps what it has and
// returns the reason.
func (r *ray) prove(ctx context.Context, res *Result, exponent int) error {
	d := newDual(r.table, r.priv.e.Up, r.aim, exponent)
	d.take(res, d.farthest())
	for _, c := range r.candidates() {
		if res.Upper-res.Lower <= closedGap*res.Upper {
			break
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		d.take(res, d.shift(ctx, c))
	}
	return nil
}

// take keeps the certificate if it is better than what res has.
func (d *dual) take(res *Result, p proof) {
	if p.lower > res.Lower {
		res.Lower = p.lower
		copy(res.Weights, p.weights)
		copy(res.Thresholds, p.thresholds)
	}
}

// unscale gives the bounds of res their true scale, 2^exponent times that of the table they were computed with.
func (res *Result) unscale(a aim, exponent int) {
	for i, w := range res.Weights {
		if w == 0 && (a.floor == nil || a.floor[i] == 0) {
			res.Thresholds[i] = 0
		}
	}
	// A mean of the largest floats, rounded up, is not infinite.
	res.F = min(math.Ldexp(res.F, exponent), math.MaxFloat64)
	res.WorstCase = math.Ldexp(res.WorstCase, exponent)
	res.Mean = min(math.Ldexp(res.Mean, exponent), math.MaxFloat64)
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
	res.Lower = min(max(res.Lower, 0), res.F)
	res.Upper = max(res.Upper, res.F)
}

// closedGap is the relative gap at which no further candidate is tried: what rounding leaves open.
const closedGap = 1e-13

// proof is a certificate with the lower bound that it proves.
type proof struct {
	cuts
	lower float64
}

// farthest is the bound from the distances of the inputs to their nearest outputs: nothing can be released closer.
// It is never negative, so neither is Lower.
func (d *dual) farthest() proof {
	k, _ := d.table.Dims()
	c := cuts{make([]float64, k), make([]float64, k)}
	far, at := -1.0, 0
	for i := range k {
		low := d.table.Row(i, nil)[d.table.Order(i)[0]]
		if d.exponent != 0 && low > 0 && low < minNormal {
			low -= math.SmallestNonzeroFloat64 // the scaled entry was rounded, by half a step at most
		}
		low = representable(low, d.exponent)
		if d.aim.floor != nil && d.aim.floor[i] > 0 {
			c.thresholds[i] = low
		}
		if d.aim.counts(i) && low > far {
			far, at = low, i
		}
	}
	if d.aim.share > 0 {
		c.weights[at] = 1
		c.thresholds[at] = far
	}
	if d.aim.floor == nil {
		return proof{c, far}
	}
	// No threshold is above a cost of its row: every b_j is non-negative, whatever the rounding.
	copy(d.thresholds, c.thresholds)
	return proof{c, max(0, d.value(d.effective(c.weights), 0))}
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
func (r *ray) candidates() []cuts {
	k := len(r.phi)
	worst, _ := r.aim.worst(r.phi)
	equal := func(take func(i int) bool, thresholds []float64) cuts {
		c := cuts{make([]float64, k), thresholds}
		if r.aim.share == 0 {
			return c
		}
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
	isActive := func(i int) bool { return r.aim.counts(i) && r.phi[i] >= worst-worst*activeTol }
	counted, active := 0, 0
	for i := range k {
		if r.aim.counts(i) {
			counted++
		}
		if isActive(i) {
			active++
		}
	}
	// At the kink of an input's own cost any threshold between two of its costs is optimal; the one that
	// belongs to a vanishing slope is the value of phi itself. On a transitive space it closes the gap.
	list := []cuts{equal(r.aim.counts, r.phi), equal(r.aim.counts, r.tau)}
	if active < counted && (active > 1 || r.aim.floor != nil) {
		list = append(list, equal(isActive, r.phi), equal(isActive, r.tau))
	}
	if r.kink && r.right.slope-r.left.slope > 0 {
		onLeft := r.right.slope / (r.right.slope - r.left.slope)
		onRight := -r.left.slope / (r.right.slope - r.left.slope)
		list = append(list, r.meeting(onLeft, onRight))
	}
	return list
}

// meeting is the mean of the cuts of the two lines, with the given weights. Cuts of one input merge into their
// mean: never worse, by concavity.
func (r *ray) meeting(onLeft, onRight float64) cuts {
	k := len(r.phi)
	c := cuts{make([]float64, k), make([]float64, k)}
	if r.aim.share > 0 {
		c.weights[r.left.row] += onLeft
		c.weights[r.right.row] += onRight
	}
	for i := range k {
		l, u := 0.0, 0.0
		if r.aim.share > 0 && i == r.left.row {
			l = r.aim.share * onLeft
		}
		if r.aim.share > 0 && i == r.right.row {
			u = r.aim.share * onRight
		}
		if r.aim.floor != nil {
			l += r.aim.floor[i] * onLeft
			u += r.aim.floor[i] * onRight
		}
		if l+u > 0 {
			c.thresholds[i] = l/(l+u)*r.left.tauOf(i) + u/(l+u)*r.right.tauOf(i)
		}
	}
	return c
}

// activeTol is the relative distance from the worst case at which an input counts as attaining it.
const activeTol = 1e-9

// dual evaluates the lower bound of cuts.
type dual struct {
	table        *knapsack.Table
	e            float64 // at least e^eps
	aim          aim
	exponent     int
	above, below []float64 // per column: twice sum_i w_i (C_ij - eta_i)_+ and twice sum_i w_i (eta_i - C_ij)_+
	thresholds   []float64 // scratch: the shifted thresholds
	weights      []float64 // scratch: effective weights
}

func newDual(table *knapsack.Table, e float64, a aim, exponent int) *dual {
	k, kv := table.Dims()
	return &dual{
		table: table, e: e, aim: a, exponent: exponent,
		above: make([]float64, kv), below: make([]float64, kv),
		thresholds: make([]float64, k), weights: make([]float64, k),
	}
}

// effective returns the weight of each input in the whole objective. For the worst case alone they count relative to
// their sum; otherwise they sum to one, with an error of aimError in each.
func (d *dual) effective(weights []float64) []float64 {
	if d.aim.floor == nil {
		return weights
	}
	copy(d.weights, d.aim.floor)
	if d.aim.share > 0 {
		sum := num.Sum(weights)
		for i, w := range weights {
			if w > 0 {
				d.weights[i] += d.aim.share * (w / sum)
			}
		}
	}
	return d.weights
}

// slop is the relative error of the effective weights.
func (d *dual) slop() float64 {
	if d.aim.floor == nil {
		return 0
	}
	return aimError
}

// maxShifts bounds the Newton steps of one shift; two to six are usual.
const maxShifts = 30

// shift moves all thresholds of c by one number to where min_j b_j is just not negative, and returns the
// best cuts it saw with their bound. The minimum is a concave decreasing function of the shift, so Newton's
// step lands on the far side of the root, or on it, and then descends to it.
func (d *dual) shift(ctx context.Context, c cuts) proof {
	best := proof{cuts{weights: c.weights}, math.Inf(-1)}
	weights := d.effective(c.weights)
	by := 0.0
	for step := range maxShifts {
		if step > 0 && ctx.Err() != nil {
			break
		}
		scale := 0.0
		for i, t := range c.thresholds {
			d.thresholds[i] = representable(t+by, d.exponent)
			if weights[i] > 0 {
				scale = max(scale, math.Abs(d.thresholds[i]))
			}
		}
		least, column := d.least(weights)
		if value := d.value(weights, least); value > best.lower {
			best.lower = value
			best.thresholds = append(best.thresholds[:0], d.thresholds...)
		}
		slope := d.slope(weights, column, least > 0)
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
	return best
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
	off := sumError + d.slop()
	for j, above := range d.above {
		b := above/2*(1-off) - d.e*(d.below[j]/2)*(1+off)
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
	total := 1.0
	if d.aim.floor == nil {
		total = num.Sum(weights)
	}
	const sixRoundings, secondOrder = 0x1.8p-51, 0x1p-80
	v := (sum + least) / total
	off := (sixRoundings*(math.Abs(sum)+math.Abs(least)) + (secondOrder+d.slop())*size) / total
	return v - off - float64(3*len(weights))*math.SmallestNonzeroFloat64 // num.Dot's, for products that underflow
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
	sum := func(b int) { d.columnRange(weights, b*columnBlock, min((b+1)*columnBlock, kv)) }
	if k*kv < 1<<15 {
		for b := range blocks {
			sum(b)
		}
		return
	}
	_ = parallel.For(context.Background(), blocks, sum)
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
