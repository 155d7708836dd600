package start

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"github.com/wpm-go/wpm/internal/num"
)

const (
	// landmarks are how many columns a row is seen from, and how many rows a column.
	landmarks = 8
	// every is how many rows or columns form a group, unless the smaller problem would have more than mostCells.
	every     = 4
	mostCells = 1 << 24
	// An item with more than heavy times the mean of the units is a group of its own, one in oneAlone of all at most:
	// where masses have heavy tails, few items decide what the others cost.
	heavy    = 2
	oneAlone = 16
)

// groups cuts items into groups that look alike.
type groups struct {
	item   []int32  // group after group
	units  []uint64 // of every item: what a row has, or what a column takes at most
	alone  int      // so many groups, the first ones, are one item each
	size   int      // of the other groups; the last may be smaller
	middle []int32  // the item of every group that stands for it
	look   []float64
	sorted []uint64 // units of the items
}

// of returns what item i looks like.
func (g *groups) of(i int32) []float64 { return g.look[int(i)*landmarks:][:landmarks] }

// len returns the number of groups.
func (g *groups) len() int { return g.alone + (len(g.item)-g.alone+g.size-1)/g.size }

// group returns the items of group n.
func (g *groups) group(n int) []int32 {
	if n < g.alone {
		return g.item[n : n+1]
	}
	from := g.alone + (n-g.alone)*g.size
	return g.item[from:min(from+g.size, len(g.item))]
}

// sum adds up the units of group n.
func (g *groups) sum(n int, units []uint64) (sum uint64) {
	for _, i := range g.group(n) {
		sum += units[i]
	}
	return sum
}

// cut makes groups of so many items, and of one heavy item each.
func (g *groups) cut(size int) {
	g.size, g.alone = size, 0
	n, total := len(g.item), 0.0
	g.sorted = g.sorted[:0]
	for _, i := range g.item {
		total += float64(g.units[i])
		g.sorted = append(g.sorted, g.units[i])
	}
	slices.Sort(g.sorted)
	least := max(heavy*total/float64(n), float64(g.sorted[n-1-n/oneAlone]))
	for at, i := range g.item {
		if float64(g.units[i]) > least {
			g.item[at], g.item[g.alone] = g.item[g.alone], i
			g.alone++
		}
	}
	g.split(g.item[g.alone:])
	g.middle = num.Grow(g.middle, g.len())
	for n := range g.middle {
		g.middle[n] = g.nearest(g.group(n))
	}
}

// split orders items so that runs of g.size are alike: it halves them by the landmark that tells most of them apart,
// again and again.
func (g *groups) split(items []int32) {
	for len(items) > g.size {
		half := (len(items) + g.size - 1) / g.size / 2 * g.size
		g.halve(items, half, g.widest(items))
		g.split(items[:half])
		items = items[half:]
	}
}

// widest returns the landmark from which items have the widest range.
func (g *groups) widest(items []int32) (landmark int) {
	lo, hi := [landmarks]float64(g.of(items[0])), [landmarks]float64(g.of(items[0]))
	for _, i := range items[1:] {
		for l, x := range g.of(i) {
			if x < lo[l] {
				lo[l] = x
			} else if x > hi[l] {
				hi[l] = x
			}
		}
	}
	for l := range landmarks {
		if hi[l]-lo[l] > hi[landmark]-lo[landmark] {
			landmark = l
		}
	}
	return landmark
}

// halve puts the half items that are nearest to a landmark before the others: by quickselect, or, where its pivots are
// bad, by sorting.
func (g *groups) halve(items []int32, half, landmark int) {
	for rounds := 2 * bits.Len(uint(len(items))); len(items) > 1; rounds-- {
		if rounds == 0 {
			slices.SortFunc(items, func(a, b int32) int { return cmp.Compare(g.of(a)[landmark], g.of(b)[landmark]) })
			return
		}
		pivot := g.of(items[len(items)/2])[landmark]
		i, j := 0, len(items)-1
		for i <= j {
			for g.of(items[i])[landmark] < pivot {
				i++
			}
			for g.of(items[j])[landmark] > pivot {
				j--
			}
			if i <= j {
				items[i], items[j] = items[j], items[i]
				i++
				j--
			}
		}
		switch { // items up to j are at most the pivot, those from i at least
		case half <= j:
			items = items[:j+1]
		case half > i:
			items, half = items[i:], half-i
		default:
			return
		}
	}
}

// nearest returns the item from which the units of the others are the least way off, in all. The number of items alone
// would not do: one may have nearly all units, and then its costs are those that count.
func (g *groups) nearest(items []int32) int32 {
	at, least := items[0], math.Inf(1)
	for _, i := range items {
		sum := 0.0
		for _, o := range items {
			sum += float64(float64(g.units[o]) * g.distance(i, o))
		}
		if sum < least {
			at, least = i, sum
		}
	}
	return at
}

// distance is how different two items look.
func (g *groups) distance(i, o int32) float64 {
	sum, y := 0.0, g.of(o)
	for l, x := range g.of(i) {
		sum += math.Abs(x - y[l])
	}
	return sum
}

// blur is how far rows, or columns, are from the middles of their groups, as a part of how far they are from those of
// others; as seen from the landmarks. It is some 0.05 for points of a plane, and 0.3 in 50 dimensions.
func (g *groups) blur() float64 {
	near, far := 0.0, math.SmallestNonzeroFloat64
	for n, m := range g.middle {
		other := g.middle[(n+len(g.middle)/2)%len(g.middle)]
		for _, i := range g.group(n) {
			near += g.distance(i, m) / float64(len(g.item))
			far += g.distance(i, other) / float64(len(g.item))
		}
	}
	return near / far
}
