package simplex

import (
	"fmt"
	"math"
	"slices"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/wpmerr"
)

// MaxUnits bounds the units of a problem, N.
//
// Lemma. If N <= 2^62, every flow stays below 2^64.
//
// The flow on an arc of a tree is what its subtree has or lacks: at most N, or what the columns hold. The columns hold
// what rows bring, at most N, and what artificial arcs bring. How much that is depends on the prices of these arcs.
//
//   - One price. At the start, artificial arcs carry at most 2.125 N and real arcs at most 1.125 N. No pivot makes the
//     plan dearer, and an artificial arc costs 1.5 times what real arcs cost at most. So artificial arcs never carry
//     more than 2.125 N + 1.125 N/1.5 = 2.875 N, and columns never hold more than 3.875 N < 2^64. If the price is
//     lowered later, the plan is optimal at the higher one, and artificial arcs carry nothing.
//   - Many prices, and artificial arcs from the hub to rows. Then columns take at most mostRaised = 2^63 in all, and
//     no arc carries more than 2^63 + N (TestHeavyStartFlows).
//   - A forest to start from. Its columns get at most 1.125 N, so what a subtree has or lacks is below 2^63.
const MaxUnits = 1 << 62

// unbounded is a capacity that no flow reaches.
const unbounded = math.MaxUint64

// Problem is a transport problem. A plan exists: sum Low <= sum Supply <= sum (Low + Room). Slices must not change
// while a Solver is at work; they are not modified.
type Problem struct {
	Cost   cost.Matrix // finite and >= 0, which Load checks
	Rows   []int       // the rows that take part, ascending
	Supply []uint64    // units on each of them, at most MaxUnits in all
	Low    []uint64    // columns take so many units at least
	Room   []uint64    // and so many more at most; those with neither take no part
	// Rounded says that Supply and Low are masses rounded to units, and that a column without room may as well get some
	// hundred units more or less.
	Rounded bool
}

// Dims returns the shape of a cost. ErrShape: it has no entries, or too many rows and columns for a tree.
func Dims(c cost.Matrix) (k, kv int, err error) {
	if k, kv, err = projection.Dims(c); err != nil {
		return 0, 0, err
	}
	if int64(k)+int64(kv) >= math.MaxInt32 {
		return 0, 0, fmt.Errorf("%w: %d + %d nodes, at most 2^31 - 2", wpmerr.ErrShape, k, kv)
	}
	return k, kv, nil
}

// Fill gives the columns, which have so much, the spare units: up to the lower bounds first, and then in order.
func (p *Problem) Fill(has []uint64, spare uint64) {
	for j, low := range p.Low {
		more := low - min(has[j], low)
		has[j] += more
		spare -= more
	}
	for j, low := range p.Low {
		more := min(spare, p.Room[j]-(has[j]-low))
		has[j] += more
		spare -= more
	}
}

// columns says which columns take part, or returns nil if all do.
func columns(low, room []uint64) (mask []bool) {
	for j, l := range low {
		if l > 0 || room[j] > 0 {
			continue
		}
		if mask == nil {
			mask = slices.Repeat([]bool{true}, len(low))
		}
		mask[j] = false
	}
	return mask
}
