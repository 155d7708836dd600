package ranking

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/wpm-go/wpm/internal/discs"
	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/wpmerr"
)

// thresholdBlock is how many inputs a goroutine takes at a time.
const thresholdBlock = 256

// narrower is how much less the distance of a threshold is tried to differ than it may.
const narrower = 4

// Thresholds returns the thresholds of all inputs, as policy.Config has them, on all cores. It needs the Geometry alone.
// Those of a ring or a grid are found by counting; see lattice. For points:
//
// Let r be the distance of the threshold of one input, and d that to another input. The outputs within r of the one are
// within r + d of the other, and the same the other way round, so the threshold of the other is at a distance from r -
// d to r + d. Inputs are taken in the order of a tree, in which neighbours are near: a tree of the outputs has the sum of
// the widths of those that are nearer than that, and only those in between are ranked. What rounding might spoil, it
// notices, and ranks them all.
func (r *Ranking) Thresholds(ctx context.Context, box *ldp.Polytope) ([]int32, error) {
	ctx = wpmerr.Context(ctx)
	switch r.Geometry.Kind {
	case policy.Ring:
		return ringThresholds(ctx, box)
	case policy.Grid:
		return gridThresholds(ctx, r.Geometry.Rows, r.Geometry.Cols, box)
	}
	in, out, axes := r.Geometry.InputPoints, r.Geometry.OutputPoints, r.Geometry.Axes
	if in == nil {
		in = out
	}
	k, kv := len(in)/axes, len(out)/axes
	t := &thresholder{tree: discs.NewTree(out, axes), need: box.Total(), box: box}
	for j := range kv {
		t.need -= box.Lo(j)
	}
	t.sums = t.tree.Sums(t.width)
	inputs := t.tree.Order()
	if r.Geometry.InputPoints != nil {
		inputs = discs.NewTree(in, axes).Order()
	}
	blocks := (k + thresholdBlock - 1) / thresholdBlock
	found, first := make([]int32, k), make([]near, blocks)
	var s scratch
	var last near
	for n := range first {
		i := inputs[n*thresholdBlock]
		last = t.beside(in[int(i)*axes:][:axes], last, &s)
		first[n] = last
		if ctx.Err() != nil {
			return nil, wpmerr.Ended(ctx)
		}
	}
	err := parallel.Each(ctx, blocks, func(n int) error {
		var s scratch
		last := first[n]
		for _, i := range inputs[n*thresholdBlock : min((n+1)*thresholdBlock, k)] {
			last = t.beside(in[int(i)*axes:][:axes], last, &s)
			found[i] = last.col
		}
		return nil
	}, nil)
	return found, err
}

// squared is the squared distance of two vectors; package policy checks that no key reaches 2^63.
func squared(x, y []int32) (sum uint64) {
	for a, v := range x {
		d := int64(v) - int64(y[a])
		sum += uint64(d) * uint64(d)
	}
	return sum
}

type thresholder struct {
	tree *discs.Tree
	box  *ldp.Polytope
	sums discs.Sums // of the widths
	need uint64     // what the widths up to and with the threshold sum to at least
}

// width is how much more than the least an output may have.
func (t *thresholder) width(j int) uint64 { return t.box.Hi(j) - t.box.Lo(j) }

// scratch is kept from one input to the next.
type scratch struct {
	spans []int32
	some  []candidate
}

// candidate is a column with its key and width.
type candidate struct {
	key, width uint64
	col        int32
}

func (a candidate) compare(b candidate) int {
	return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.col, b.col))
}

// near is an input whose threshold is known, at a distance. The zero value is none.
type near struct {
	x      []int32
	col    int32
	radius float64
}

// beside finds the threshold of an input near another.
func (t *thresholder) beside(x []int32, last near, s *scratch) near {
	var best candidate
	ok := false
	if last.x != nil {
		d := math.Sqrt(float64(squared(x, last.x)))
		for _, change := range []float64{d / narrower, d} { // as a rule, the radius differs by little
			if !ok {
				low, high := max(last.radius-change, 0), last.radius+change
				best, ok = t.find(x, uint64(low*low*(1-1e-12)), uint64(min(high*high*(1+1e-12)+1, 1<<63)), s)
			}
		}
	}
	if !ok {
		best, _ = t.find(x, 0, math.MaxUint64, s)
	}
	return near{x, best.col, math.Sqrt(float64(best.key))}
}

// find returns the threshold of an input if its key is from least to most.
func (t *thresholder) find(x []int32, least, most uint64, s *scratch) (best candidate, ok bool) {
	s.spans, s.some = s.spans[:0], s.some[:0]
	cols := t.tree.Order()
	t.tree.Between(x, least, most, func(from, to int32) { s.spans = append(s.spans, from, to) }, func(p int32, key uint64) {
		s.some = append(s.some, candidate{key, t.width(int(cols[p])), cols[p]})
	})
	sum, ok := t.sums.Of(s.spans)
	if !ok || sum >= t.need && least > 0 {
		return best, false
	}
	return pick(s.some, t.need-sum)
}

// pick returns the first of the candidates, in order, up to and with which the widths sum to need. It selects as
// Hoare's quickselect does (1961), and leaves them in another order. ok is false if all of them are too little. Pivots are
// from scattered places, as keys along a line fall and rise, so that those at the ends and in the middle are bad ones.
func pick(some []candidate, need uint64) (_ candidate, ok bool) {
	for at := uint64(1); len(some) > 16; {
		some, need, at = narrow(some, need, at)
	}
	slices.SortFunc(some, candidate.compare)
	for _, c := range some {
		if c.width >= need {
			return c, true
		}
		need -= c.width
	}
	return candidate{}, false
}

// narrow is a round of pick: the part of the candidates that has the one, and what it needs there. at is the state of
// the generator of the pivots.
func narrow(some []candidate, need, at uint64) (part []candidate, left, next uint64) {
	var list [3]candidate
	for n := range list {
		at = at*6364136223846793005 + 1442695040888963407 // Knuth's generator
		list[n] = some[(at>>32)%uint64(len(some))]
	}
	slices.SortFunc(list[:], candidate.compare)
	pivot := list[1]
	m, sum := 0, uint64(0)
	for n, c := range some {
		if c.key < pivot.key || c.key == pivot.key && c.col < pivot.col {
			some[n], some[m] = some[m], c
			m++
			if sum < need {
				sum += c.width
			}
		}
	}
	if sum >= need && m > 0 {
		return some[:m], need, at
	}
	return some[m:], need - sum, at
}
