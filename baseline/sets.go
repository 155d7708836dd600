package baseline

import (
	"fmt"
	"math"
	"slices"

	"github.com/wpm-go/wpm/wpmerr"
)

// Reports are sets of items that users reported by subset selection, unary encoding, local hashing or a hierarchy, as
// a likelihood. In all of them a report S is e^eps times as likely from an item in S as from an item outside, so that
// for shares theta of the users
//
//	P(S) = (1 + (e^eps - 1) theta(S)) times what does not depend on theta.
//
// An estimator that takes this likelihood loses nothing of the reports. Counts of items do: the reports of one user are
// no longer together. Dims, Row and Counts are the channel and the counts that package estimate takes.
type Reports struct {
	k     int
	odds  float64 // e^eps
	sets  [][]int32
	scale float64 // of all rows: the largest has no rest
}

// NewReports keeps the sets, which are not copied: items below k in ascending order. Errors: ErrShape, also for a set
// with other items; ErrEpsilon.
func NewReports(k int, eps float64, sets [][]int32) (*Reports, error) {
	if err := checkOracle(k, eps); err != nil {
		return nil, err
	}
	in := make([]float64, k)
	for n, set := range sets {
		last := int32(-1)
		for _, j := range set {
			if j <= last || int(j) >= k {
				return nil, fmt.Errorf("%w: set %d has item %d after item %d, of %d items", wpmerr.ErrShape, n, j, last, k)
			}
			last = j
			in[j]++
		}
	}
	r := &Reports{k: k, odds: math.Exp(eps), sets: sets}
	most := 0.0
	for _, n := range in {
		most = max(most, n)
	}
	if n := float64(len(sets)); n > 0 {
		r.scale = 1 / (n + math.Expm1(eps)*most)
	}
	return r, nil
}

// Dims returns the number of items, and of outputs: one for each report, and a rest that nobody reported.
func (r *Reports) Dims() (k, kv int) { return r.k, len(r.sets) + 1 }

// Row writes the likelihood of each report from item i to dst, up to a factor that all items share, and as the last
// entry what is missing to 1. Cost: the size of all sets. It panics if i or the length is out of range.
func (r *Reports) Row(i int, dst []float64) {
	if i < 0 || i >= r.k || len(dst) != len(r.sets)+1 {
		panic(fmt.Sprintf("baseline: row %d of %d, len(dst) = %d, want %d", i, r.k, len(dst), len(r.sets)+1))
	}
	rest := 1.0
	for n, set := range r.sets {
		dst[n] = r.scale
		if _, in := slices.BinarySearch(set, int32(i)); in {
			dst[n] *= r.odds
		}
		rest -= dst[n]
	}
	dst[len(r.sets)] = max(rest, 0)
}

// Counts returns how often each output of the channel was seen: each report once, and the rest never.
func (r *Reports) Counts() []uint64 {
	counts := make([]uint64, len(r.sets)+1)
	for n := range r.sets {
		counts[n] = 1
	}
	return counts
}

// NewHash returns Optimal Local Hashing (OLH) of Wang, Blocki, Li and Jha (2017): a user draws a public function from
// the items to g = round(e^eps) + 1 values, and sends it with the value of the own item by randomised response over the
// g values. The report is the set of items with the value sent. Functions are uniform: each item has a value of its own
// draw, where programs take a pair of seeds. Cost: k words a report. Errors: ErrShape, ErrEpsilon, also for eps = 0.
func NewHash(k int, eps float64) (Oracle, error) {
	if err := checkOracle(k, eps); err != nil {
		return nil, err
	}
	g := math.Round(math.Exp(min(eps, 40))) + 1 // beyond 2^53 values no two items collide
	o := &oracle{k: k, own: 1 / (1 + (g-1)*math.Exp(-eps)), other: 1 / g}
	o.gain = o.own - o.other
	o.report = func(set []int32, x int, random Source) []int32 {
		with := chance(o.own, random)
		for j := range k {
			// Given the report, every other item has the value sent with probability 1/g.
			if in := chance(o.other, random); j == x && with || j != x && in {
				set = append(set, int32(j))
			}
		}
		return set
	}
	return o, nil
}

// Hierarchy is subset selection on the blocks of a level: each user draws a level, uniformly, and reports blocks of it.
// Blocks of many sizes serve maps as they serve ranges of numbers (Cormode, Kulkarni and Srivastava, Answering Range
// Queries Under Local Differential Privacy, 2019). It is no Oracle, for the chance of an item depends on its blocks.
type Hierarchy struct {
	blocks [][]int32 // by level: the block of each item
	by     []Oracle
}

// NewHierarchy takes, for each level, the block of each item: numbers from 0 without a gap, at least two of them.
// Errors: ErrShape, ErrEpsilon, also for eps = 0.
func NewHierarchy(levels [][]int32, eps float64) (*Hierarchy, error) {
	h := &Hierarchy{blocks: levels}
	if len(levels) == 0 {
		return nil, fmt.Errorf("%w: no levels", wpmerr.ErrShape)
	}
	for n, level := range levels {
		if len(level) != len(levels[0]) || len(level) == 0 {
			return nil, fmt.Errorf("%w: level %d has %d items, level 0 has %d", wpmerr.ErrShape, n, len(level), len(levels[0]))
		}
		seen := make([]bool, len(level))
		for j, b := range level {
			if b < 0 || int(b) >= len(level) {
				return nil, fmt.Errorf("%w: level %d: item %d is in block %d of at most %d", wpmerr.ErrShape, n, j, b, len(level))
			}
			seen[b] = true
		}
		most := int(slices.Max(level)) + 1
		if gap := slices.Index(seen[:most], false); gap >= 0 || most < 2 {
			return nil, fmt.Errorf("%w: level %d has %d blocks; one of them is empty, or it is the only one", wpmerr.ErrShape, n, most)
		}
		o, err := NewSubset(most, eps)
		if err != nil {
			return nil, err
		}
		h.by = append(h.by, o)
	}
	return h, nil
}

// Report appends the items of the blocks that a user with item x reports to set, in ascending order. It panics if x is
// not an item.
func (h *Hierarchy) Report(set []int32, x int, random Source) []int32 {
	level := int(random.Uint64() % uint64(len(h.by)))
	blocks := h.by[level].Report(nil, int(h.blocks[level][x]), random)
	for j, b := range h.blocks[level] {
		if _, in := slices.BinarySearch(blocks, b); in {
			set = append(set, int32(j))
		}
	}
	return set
}
