package start

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
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

// Problem is what the simplex has to solve. No slice of it is modified.
type Problem struct {
	Supply    []uint64 // units of the rows, all positive
	Low, Room []uint64 // columns take Low to Low + Room units; those with neither take no part, and one does
	Costs     Costs
}

// Costs are read row by row.
type Costs interface {
	// Row returns row i, finite numbers, valid until the next call; or false when there is no more time.
	Row(i int) ([]float64, bool)
	// Share cuts 0 to n - 1 into at most Parts parts, in order, and does the task for each of them with costs of its own:
	// from several goroutines, if the rows are worth it. It reports whether there was time.
	Share(n int, t Task) bool
}

// Task is work on rows from to to - 1 of something. It reports whether there was time. (A function in its place would
// be allocated for every call.)
type Task interface {
	Do(part, from, to int, own Costs) bool
}

// Parts is how many goroutines may work on one problem.
const Parts = 4

// part is what one goroutine finds.
type part struct {
	used   bool
	g      []float64
	column []columnBest
	best   best
}

// Work is a workspace. After Sample it holds the smaller problem, and after Plant the forest.
type Work struct {
	Smaller
	Forest

	p          Problem
	rows, cols groups
	parts      [Parts]part
	middle     []float64 // prices of the rows of the smaller problem
	order      []uint64
}

// Smaller is a problem of groups. Costs are row-major.
type Smaller struct {
	Supply    []uint64
	Low, Room []uint64
	Costs     []float64
}

// Row returns a row of the costs.
func (s *Smaller) Row(i int) []float64 {
	n := len(s.Low)
	return s.Costs[i*n : (i+1)*n]
}

// Forget drops what belongs to the caller, and the costs if they are many.
func (w *Work) Forget(cells int) {
	w.p, w.middle = Problem{}, nil
	if cap(w.Costs) > cells {
		w.Costs = nil
	}
}

// Sample makes the smaller problem of p, and reports whether there was time.
func (w *Work) Sample(p Problem) bool {
	w.p = p
	w.rows.item, w.cols.item = w.rows.item[:0], w.cols.item[:0]
	for i := range p.Supply {
		w.rows.item = append(w.rows.item, int32(i))
	}
	for j, l := range p.Low {
		if l > 0 || p.Room[j] > 0 {
			w.cols.item = append(w.cols.item, int32(j))
		}
	}
	if !w.look() {
		return false
	}
	w.rows.units = append(w.rows.units[:0], p.Supply...)
	w.cols.units = grow(w.cols.units, len(p.Low))
	for j, l := range p.Low {
		w.cols.units[j] = l + p.Room[j]
	}
	size := groupSize(len(w.rows.item), len(w.cols.item))
	w.order = w.rows.cut(size, w.order)
	w.order = w.cols.cut(size, w.order)
	return w.collect()
}

// groupSize returns the size of groups of k rows and n columns.
func groupSize(k, n int) int {
	size := every
	for (k+size-1)/size > mostCells/((n+size-1)/size) {
		size++
	}
	return size
}

// look reads what rows and columns look like.
func (w *Work) look() bool {
	k, live := len(w.rows.item), w.cols.item
	w.rows.look = grow(w.rows.look, k*landmarks)
	w.cols.look = grow(w.cols.look, len(w.p.Low)*landmarks)
	if !w.p.Costs.Share(k, looks{w}) {
		return false
	}
	for l := range landmarks {
		row, ok := w.p.Costs.Row((2*l + 1) * k / (2 * landmarks))
		if !ok {
			return false
		}
		for _, j := range live {
			w.cols.of(j)[l] = row[j]
		}
	}
	return true
}

// looks is the task of look: what rows look like.
type looks struct{ *Work }

func (w looks) Do(_, from, to int, own Costs) bool {
	live := w.cols.item
	for i := from; i < to; i++ {
		row, ok := own.Row(i)
		if !ok {
			return false
		}
		look := w.rows.of(int32(i))
		for l := range look {
			look[l] = row[live[(2*l+1)*len(live)/(2*landmarks)]]
		}
	}
	return true
}

// collect fills in the smaller problem.
func (w *Work) collect() bool {
	k, n := w.rows.len(), w.cols.len()
	w.Supply, w.Low, w.Room = grow(w.Supply, k), grow(w.Low, n), grow(w.Room, n)
	w.Costs = grow(w.Costs, k*n)
	for c := range n {
		w.Low[c], w.Room[c] = w.cols.sum(c, w.p.Low), w.cols.sum(c, w.p.Room)
	}
	return w.p.Costs.Share(k, collects{w})
}

// collects is the task of collect: rows of the smaller problem.
type collects struct{ *Work }

func (w collects) Do(_, from, to int, own Costs) bool {
	for r := from; r < to; r++ {
		w.Supply[r] = w.rows.sum(r, w.p.Supply)
		row, ok := own.Row(int(w.rows.middle[r]))
		if !ok {
			return false
		}
		costs := w.Row(r)
		for c, j := range w.cols.middle {
			costs[c] = row[j]
		}
	}
	return true
}

// Blur is how far rows and columns are from the middles of their groups, as a part of how far they are from those of
// others; as seen from the landmarks. It is some 0.05 for points of a plane, and 0.3 in 50 dimensions.
func (w *Work) Blur() float64 { return max(w.rows.blur(), w.cols.blur()) }

// groups cuts items into groups that look alike.
type groups struct {
	item   []int32  // group after group
	units  []uint64 // of every item: what a row has, or what a column takes at most
	alone  int      // so many groups, the first ones, are one item each
	size   int      // of the other groups; the last may be smaller
	middle []int32  // the item of every group that stands for it
	look   []float64
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

// cut makes groups of so many items, and of one heavy item each. It returns spare, which it has used.
func (g *groups) cut(size int, spare []uint64) []uint64 {
	g.size, g.alone = size, 0
	total := 0.0
	spare = spare[:0]
	for _, i := range g.item {
		total += float64(g.units[i])
		spare = append(spare, g.units[i])
	}
	slices.Sort(spare)
	n := len(g.item)
	least := max(heavy*total/float64(n), float64(spare[n-1-n/oneAlone]))
	for at, i := range g.item {
		if float64(g.units[i]) > least {
			g.item[at], g.item[g.alone] = g.item[g.alone], i
			g.alone++
		}
	}
	g.split(g.item[g.alone:])
	g.middle = grow(g.middle, g.len())
	for n := range g.middle {
		g.middle[n] = g.nearest(g.group(n))
	}
	return spare
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

// blur is Blur for rows or for columns.
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

// grow returns a slice of length n, reusing s when it is large enough. The contents are left over.
func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
