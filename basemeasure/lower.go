package basemeasure

import (
	"context"
	"math"

	"github.com/wpm-go/wpm/internal/cutbound"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/knapsack"
	"github.com/wpm-go/wpm/wpmerr"
)

// cuts is one candidate for the lower bound: for each input a weight in the maximum and a threshold.
type cuts struct{ weights, thresholds []float64 }

// prove fills Lower, Weights and Thresholds with the best candidate. If ctx ends it keeps what it has and
// returns the reason.
func (r *ray) prove(ctx context.Context, res *Result, exponent int) error {
	d := newDual(r.table, r.priv.e, r.aim, exponent)
	d.take(res, d.farthest())
	for _, c := range r.candidates() {
		if res.Upper-res.Lower <= closedGap*res.Upper {
			break
		}
		if ctx.Err() != nil {
			return wpmerr.Ended(ctx)
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
		if w == 0 && a.floor[i] == 0 {
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
	k, _ := d.Table.Dims()
	c := cuts{make([]float64, k), make([]float64, k)}
	far, at := -1.0, 0
	for i := range k {
		low := d.Table.Row(i, nil)[d.Table.Order(i)[0]]
		if d.Exponent != 0 && low > 0 && low < minNormal {
			low -= math.SmallestNonzeroFloat64 // the scaled entry was rounded, by half a step at most
		}
		low = cutbound.Representable(low, d.Exponent)
		if d.aim.floor[i] > 0 {
			c.thresholds[i] = low
		}
		if d.aim.inMax[i] && low > far {
			far, at = low, i
		}
	}
	if d.aim.share > 0 {
		c.weights[at] = 1
		c.thresholds[at] = far
	}
	if d.aim.share == 1 {
		return proof{c, far}
	}
	// No threshold is above a cost of its row: every b_j is non-negative, whatever the rounding.
	copy(d.Thresholds, c.thresholds)
	return proof{c, max(0, d.Value(d.effective(c.weights), 0))}
}

// minNormal is the smallest normal float64: numbers below it lose bits when they are scaled.
const minNormal = 0x1p-1022

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
	counts := func(i int) bool { return r.aim.inMax[i] }
	isActive := func(i int) bool { return r.aim.inMax[i] && r.phi[i] >= worst-worst*activeTol }
	counted, active := 0, 0
	for i := range k {
		if r.aim.inMax[i] {
			counted++
		}
		if isActive(i) {
			active++
		}
	}
	// At the kink of an input's own cost any threshold between two of its costs is optimal; the one that
	// belongs to a vanishing slope is the value of phi itself. On a transitive space it closes the gap.
	list := []cuts{equal(counts, r.phi), equal(counts, r.tau)}
	if active < counted && (active > 1 || r.aim.share < 1) {
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
		l += r.aim.floor[i] * onLeft
		u += r.aim.floor[i] * onRight
		if l+u > 0 {
			c.thresholds[i] = l/(l+u)*r.left.tauOf(i) + u/(l+u)*r.right.tauOf(i)
		}
	}
	return c
}

// activeTol is the relative distance from the worst case at which an input counts as attaining it.
const activeTol = 1e-9

// dual evaluates the lower bound of cuts for an objective.
type dual struct {
	cutbound.Dual
	aim     aim
	weights []float64 // scratch: effective weights
}

func newDual(table *knapsack.Table, e num.Enclosure, a aim, exponent int) *dual {
	k, _ := table.Dims()
	d := &dual{Dual: *cutbound.New(table, e), aim: a, weights: make([]float64, k)}
	d.Exponent = exponent
	if a.share < 1 {
		d.Normal, d.Slop = true, aimError
	}
	return d
}

// effective returns the weight of each input in the whole objective. For the worst case alone they count relative to
// their sum; otherwise they sum to one, with an error of aimError in each.
func (d *dual) effective(weights []float64) []float64 {
	if d.aim.share == 1 {
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

// shift returns the best cuts that it sees when it moves all thresholds of c by one number, with their bound.
func (d *dual) shift(ctx context.Context, c cuts) proof {
	lower, thresholds := d.Shift(ctx, d.effective(c.weights), c.thresholds)
	return proof{cuts{c.weights, thresholds}, lower}
}
