package mincostflow

import (
	"cmp"
	"math"
	"slices"

	"github.com/wpm-go/wpm/mincostflow/internal/ascent"
)

// A few rows against many columns (the usual source, with a handful of atoms) starts from row
// prices that are nearly right. With prices f, every column is served by the row of least C_ij - f_i
// and stands at its upper bound if that is below zero, at its lower bound if not; the dual value of
// f,
//
//	sum_i mu_i f_i + sum_j min over lo_j <= q <= hi_j of q * min_i (C_ij - f_i),
//
// is concave, and its slope in f_i is what row i has left. Kinks are smoothed over a width h (a
// column whose two best rows are within h of each other is shared between them, and one within h
// of zero stands between its bounds), and Newton steps with a line search climb the rest. Then h is
// made smaller. Wide kinks need only a sample of the columns.
//
// This is the damped Newton method of semi-discrete transport (Kitagawa, Mérigot and Thibert 2019), stopped early: the
// simplex does the rest. Starts change the work, never the answer's certificate. But other bits here may mean another
// of several optima there, so no product may be fused with a sum. docs/algorithms/newton-start.md has the derivation
// and the table of the constants.
const (
	// The start needs a few columns for every row, and its steps take k^3 operations.
	newtonColumns = 60
	newtonRatio   = 3
	newtonRows    = 128
	// Where rows are more, those with most mass take part, one for lightRatio columns, if the others have lightShare of
	// the mass at most; up to lightRows rows in all, or lightMost if the start from a smaller problem does not pay.
	lightRatio = 8
	lightShare = 0.4
	lightRows  = 320
	lightMost  = 512

	enough     = 0.9 // columns for each row that it may have too much or too little: the simplex is cheaper then
	seedWidths = 3   // lists start with second best arcs less than so many widths from the best
)

// worthNewton reports whether a start by Newton steps pays.
func worthNewton(k, n int) bool {
	return k > 1 && k <= newtonRows && n >= newtonColumns && n >= newtonRatio*k
}

// newton finds row prices, and from them a first tree. bind says for which problem.
type newton struct {
	tree  *basis
	rows  *rows
	watch *watch
	units []uint64 // of all rows
	sum   uint64   // of units
	heavy []int32  // the rows it works on, ascending; the others have little mass

	ascent.Work // their prices

	// The tree: the two best heavy rows of every column, the columns of every row as lists, and what it sends.
	served           []service
	first, next      []int32
	sent             []uint64
	onColumn, beside []int32 // the light rows of every column, as lists
}

// bind makes w start t, for rows with the given units, all of them heavy.
func (w *newton) bind(t *basis, r *rows, watch *watch, units []uint64, sum uint64) {
	w.tree, w.rows, w.watch, w.units, w.sum = t, r, watch, units, sum
	w.heavy = w.heavy[:0]
	for i := range t.k {
		w.heavy = append(w.heavy, int32(i))
	}
}

// choose leaves the rows with most mass heavy, as many as the columns allow, and reports whether the others have little
// enough to be light.
func (w *newton) choose() bool {
	k := w.tree.n / lightRatio
	if w.tree.n < newtonColumns || k >= len(w.heavy) {
		return false
	}
	slices.SortFunc(w.heavy, func(a,
		b int32) int {
		return cmp.Or(cmp.Compare(w.units[b], w.units[a]), cmp.Compare(a, b))
	})
	w.heavy = w.heavy[:min(k, newtonRows)]
	slices.Sort(w.heavy)
	return float64(w.sum-w.heaviest()) <= lightShare*float64(w.sum)
}

// heaviest returns what the heavy rows have.
func (w *newton) heaviest() (sum uint64) {
	for _, i := range w.heavy {
		sum += w.units[i]
	}
	return sum
}

// prices finds row prices close to the best, in w.F, and reports whether it could.
func (w *newton) prices() bool {
	t, k, n := w.tree, len(w.heavy), w.tree.n
	w.Reset(k, float64(w.sum), w.watch)
	sum := float64(w.heaviest())
	for n, i := range w.heavy {
		w.Mass[n] = float64(w.units[i]) / sum
	}
	all := w.measureCosts()
	if w.watch.over {
		return false
	}
	full := 0.0
	for j, l := range t.low {
		full += min(float64(l)+float64(t.room[j]), w.Total)
	}
	w.Enough = enough * float64(k) * full / w.Total / float64(n)
	return w.Climb(t.low, t.room, all)
}

// measureCosts fills in the cells and the typical gap, and reports whether cells hold all columns, and as they are: a
// few costs that dwarf the others are cut.
func (w *newton) measureCosts() (all bool) {
	top := w.rows.top()
	group := w.hold()
	w.fillCells(top, top)
	if w.watch.over {
		return false
	}
	if w.Gap = w.Scale(); w.Gap < 0x1p-30*top {
		if size := w.usual(); size < top {
			w.fillCells(size, top)
			if w.watch.over {
				return false
			}
			w.Gap = w.Scale()
			return false
		}
	}
	return group == 1
}

// service is what prices say about a column: the two best rows, C_ij - f_i of the best, and how far the other is
// from it. A second of -1 is unknown.
type service struct {
	least, gap float64
	by, second int32
}

// serve finds the service of every column for the prices f.
func (w *newton) serve() []service {
	t := w.tree
	w.served = grow(w.served, t.n)
	if w.Whole { // all columns that take anything were measured at these prices
		for c := range w.Samples {
			o := &w.Samples[c]
			m := o.Best >> ascent.RowShift
			w.served[w.At[o.At]] = service{
				least: float64(m) * w.Grain, gap: float64(o.Other>>ascent.RowShift-m) * w.Grain,
				by: int32(o.Best & (ascent.RowBits - 1)), second: int32(o.Other & (ascent.RowBits - 1)),
			}
		}
		return w.served
	}
	for j := range w.served {
		w.served[j] = service{least: math.Inf(1), second: -1}
	}
	for i, f := range w.F {
		if !w.watch.row(t.n) {
			break
		}
		row := w.rows.at(int(w.heavy[i]))
		served := w.served[:len(row)]
		for j, c := range row {
			if x := c - f; x < served[j].least {
				served[j].least, served[j].by = x, int32(i)
			}
		}
	}
	return w.served
}

// usual returns the median, over some columns, of their largest costs.
func (w *newton) usual() float64 {
	t := w.tree
	w.Sorted = w.Sorted[:0]
	for range w.Sampled() {
		w.Sorted = append(w.Sorted, 0)
	}
	for i := range w.heavy {
		if !w.watch.row(t.n) {
			break
		}
		row, n := w.rows.at(int(w.heavy[i])), 0
		for c := range w.Sampled() {
			w.Sorted[n] = max(w.Sorted[n], row[w.At[c]])
			n++
		}
	}
	slices.Sort(w.Sorted)
	return w.Sorted[len(w.Sorted)/2]
}

// hold chooses the columns that have cells, at and cell: all columns that take anything, or one of them in every group.
func (w *newton) hold() (group int) {
	t := w.tree
	most := mostCells / len(w.heavy)
	group = (t.n + most - 1) / most
	w.At = w.At[:0]
	w.Cell = grow(w.Cell, t.n)
	for from := 0; from < t.n; from += group {
		held := false
		for j := from; j < min(from+group, t.n); j++ {
			w.Cell[j] = -1
			if !held && t.live(j) {
				held, w.Cell[j] = true, int32(len(w.At))
				w.At = append(w.At, int32(j))
			}
		}
	}
	return group
}

// fillCells fills in the cells, in units for costs of size; the largest is top.
func (w *newton) fillCells(size, top float64) {
	r, k := w.rows, len(w.heavy)
	_, e := math.Frexp(size)
	w.Grain = math.Ldexp(1, max(e, minExp)-ascent.CostBits)
	by := 1 / w.Grain
	w.Cells = grow(w.Cells, k*len(w.At))
	i := 0
	inPlace := 0
	if size == top {
		inPlace, _ = slices.BinarySearch(w.heavy, int32(r.inPlace()))
	}
	for ; i+4 <= inPlace; i += 4 { // four rows at a time, which saves half
		p := w.heavy[i : i+4 : i+4]
		r0, r1, r2, r3 := r.at(int(p[0])), r.at(int(p[1])), r.at(int(p[2])), r.at(int(p[3]))
		at := i
		for _, j := range w.At {
			cell := w.Cells[at : at+4 : at+4]
			cell[0] = int64(r0[j]*by) * ascent.RowBits
			cell[1] = int64(r1[j]*by) * ascent.RowBits
			cell[2] = int64(r2[j]*by) * ascent.RowBits
			cell[3] = int64(r3[j]*by) * ascent.RowBits
			at += k
		}
	}
	for ; i < k; i++ {
		if !w.watch.row(r.kv) {
			break
		}
		row := r.at(int(w.heavy[i]))
		at := i
		for _, j := range w.At {
			w.Cells[at] = int64(min(row[j]*by, 1<<ascent.CostBits)) * ascent.RowBits
			at += k
		}
	}
}
