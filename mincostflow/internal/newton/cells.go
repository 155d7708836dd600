package newton

import (
	"math"
	"slices"

	"github.com/wpm-go/wpm/internal/num"
)

const (
	// mostCells are held, 8 MB. Of more, one column in every group has cells.
	mostCells = 1 << 20
	// Units of costs are those for a largest cost of 2^leastExp at least: there is an inverse then.
	leastExp = -900
)

// measureCosts fills in the cells and the typical gap, and reports whether cells hold all columns, and as they are: a
// few costs that dwarf the others are cut. ok says whether there was time.
func (w *work) measureCosts() (all, ok bool) {
	top := w.p.Top
	group := w.hold()
	if !w.fillCells(top) {
		return false, false
	}
	if w.gap = w.typicalGap(); w.gap < 0x1p-30*top {
		size, ok := w.usual()
		if !ok {
			return false, false
		}
		if size < top {
			ok := w.fillCells(size)
			w.gap = w.typicalGap()
			return false, ok
		}
	}
	return group == 1, true
}

// hold chooses the columns that have cells, at and cell: all columns that take anything, or one of them in every group.
func (w *work) hold() (group int) {
	n := len(w.p.Low)
	most := mostCells / len(w.heavy)
	group = (n + most - 1) / most
	w.at = w.at[:0]
	w.cell = num.Grow(w.cell, n)
	for from := 0; from < n; from += group {
		held := false
		for j := from; j < min(from+group, n); j++ {
			w.cell[j] = -1
			if !held && w.live(j) {
				held, w.cell[j] = true, int32(len(w.at))
				w.at = append(w.at, int32(j))
			}
		}
	}
	return group
}

// live reports whether column j takes anything.
func (w *work) live(j int) bool { return w.p.Low[j] > 0 || w.p.Room[j] > 0 }

// fillCells fills in the cells, in units for costs of size, and reports whether there was time.
func (w *work) fillCells(size float64) bool {
	k := len(w.heavy)
	_, e := math.Frexp(size)
	w.grain = math.Ldexp(1, max(e, leastExp)-costBits)
	by := 1 / w.grain
	w.cells = num.Grow(w.cells, k*len(w.at))
	for n, i := range w.heavy {
		row, ok := w.p.Costs.Row(int(i))
		if !ok {
			return false
		}
		at := n
		for _, j := range w.at {
			w.cells[at] = int64(min(row[j]*by, 1<<costBits)) * rowBits
			at += k
		}
	}
	return true
}

// usual returns the median, over some columns, of their largest costs, and whether there was time.
func (w *work) usual() (float64, bool) {
	w.sorted = w.sorted[:0]
	for range w.sampled() {
		w.sorted = append(w.sorted, 0)
	}
	for _, i := range w.heavy {
		row, ok := w.p.Costs.Row(int(i))
		if !ok {
			return 0, false
		}
		n := 0
		for c := range w.sampled() {
			w.sorted[n] = max(w.sorted[n], row[w.at[c]])
			n++
		}
	}
	slices.Sort(w.sorted)
	return w.sorted[len(w.sorted)/2], true
}
