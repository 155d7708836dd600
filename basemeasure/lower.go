package basemeasure

import (
	"context"
	"math"
	"slices"

	"github.com/wpm-go/wpm/internal/cutbound"
	"github.com/wpm-go/wpm/internal/num"
)

// cuts is one candidate for the lower bound: for each input a weight in the maximum and a threshold.
type cuts struct{ weights, thresholds []float64 }

func newCuts(k int) cuts { return cuts{make([]float64, k), make([]float64, k)} }

// proof is a certificate with the lower bound that it proves.
type proof struct {
	cuts
	lower float64
}

// better returns the better one of two proofs.
func (p proof) better(q proof) proof {
	if q.lower > p.lower {
		return q
	}
	return p
}

// noProof is none: the zero cuts, and no bound.
func (p *problem) noProof() proof { return proof{newCuts(p.k), math.Inf(-1)} }

// dual evaluates the lower bound of cuts for an objective.
type dual struct {
	*cutbound.Dual
	criterion criterion
}

func (p *problem) dual() *dual {
	d := &dual{cutbound.New(p.table, p.priv.e), p.criterion}
	d.Exponent = p.exponent
	if p.criterion.share < 1 {
		d.Slop = weightError
	}
	return d
}

// effective returns the weight of each input in the whole objective. For the worst case alone they count relative to
// their sum; otherwise they sum to one, with an error of weightError in each.
func (d *dual) effective(weights []float64) []float64 {
	if d.criterion.share == 1 {
		return weights
	}
	all := slices.Clone(d.criterion.floor)
	if d.criterion.share > 0 {
		sum := num.Sum(weights)
		for i, w := range weights {
			if w > 0 {
				all[i] += d.criterion.share * (w / sum)
			}
		}
	}
	return all
}

// shift returns the best cuts that it sees when it moves all thresholds of c by one number, with their bound.
func (d *dual) shift(ctx context.Context, c cuts) proof {
	lower, thresholds := d.Shift(ctx, d.effective(c.weights), c.thresholds)
	return proof{cuts{c.weights, thresholds}, lower}
}

// farthest is the bound from the distances of the inputs to their nearest outputs: nothing can be released closer.
// It is never negative, so neither is Lower.
func (d *dual) farthest() proof {
	k, _ := d.Table.Dims()
	c := newCuts(k)
	far, at := -1.0, 0
	for i := range k {
		low := d.Table.Row(i, nil)[d.Table.Order(i)[0]]
		if d.Exponent != 0 && low > 0 && low < minNormal {
			low -= math.SmallestNonzeroFloat64 // the scaled entry was rounded, by half a step at most
		}
		low = cutbound.Representable(low, d.Exponent)
		if d.criterion.floor[i] > 0 {
			c.thresholds[i] = low
		}
		if d.criterion.inMax[i] && low > far {
			far, at = low, i
		}
	}
	if d.criterion.share > 0 {
		c.weights[at] = 1
		c.thresholds[at] = far
	}
	if d.criterion.share == 1 {
		return proof{c, far}
	}
	// No threshold is above a cost of its row: every b_j is non-negative, whatever the rounding.
	copy(d.Thresholds, c.thresholds)
	return proof{c, max(0, d.Value(d.effective(c.weights), 0))}
}

// minNormal is the smallest normal float64: numbers below it lose bits when they are scaled.
const minNormal = 0x1p-1022
