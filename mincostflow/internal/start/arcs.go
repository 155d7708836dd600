package start

import (
	"math"

	"github.com/wpm-go/wpm/internal/num"
)

const (
	// rowArcs arcs of least reduced cost are listed for every row, and columnArcs for every column.
	rowArcs    = 5
	columnArcs = 4
)

// extend finds prices of the columns from those of the rows of the smaller problem.
func (w *work) extend() bool {
	w.clearParts()
	ok := w.p.Costs.Share(len(w.rows.middle), extends{w})
	w.pi = w.unpriced(w.pi)
	for n := range w.parts {
		if p := &w.parts[n]; p.used {
			for j, x := range p.pi {
				w.pi[j] = max(w.pi[j], x)
			}
		}
	}
	return ok
}

// extends is the task of extend: what rows in the middle of groups offer.
type extends struct{ *work }

func (w extends) Do(n, from, to int, own Costs) bool {
	p := &w.parts[n]
	p.used = true
	p.pi = w.unpriced(p.pi)
	for r := from; r < to; r++ {
		row, ok := own.Row(int(w.rows.middle[r]))
		if !ok {
			return false
		}
		price, pi := w.middle[r], p.pi[:len(row)]
		for j, c := range row {
			pi[j] = max(pi[j], price-c)
		}
	}
	return true
}

// clearParts makes all parts unused.
func (w *work) clearParts() {
	for n := range w.parts {
		w.parts[n].used = false
	}
}

// unpriced returns prices of columns, below all others, and above for those that take no part.
func (w *work) unpriced(pi []float64) []float64 {
	pi = num.Grow(pi, len(w.p.Low))
	for j := range pi {
		pi[j] = math.Inf(1)
	}
	for _, j := range w.cols.item {
		pi[j] = math.Inf(-1)
	}
	return pi
}

// list finds the prices f of the rows, and the arcs with their reduced costs. It does not matter which part a row is in:
// of equal arcs, those of earlier rows and columns come first in every part, and when parts are joined.
func (w *work) list() bool {
	f := w.into
	k := len(w.p.Supply)
	w.f = num.Grow(w.f, k)
	each := min(rowArcs, len(w.cols.item))
	f.Arcs, w.reduced = num.Grow(f.Arcs, k*each), num.Grow(w.reduced, k*each)
	w.clearParts()
	if !w.p.Costs.Share(k, lists{w}) {
		return false
	}
	w.listColumns(w.joinColumns())
	return true
}

// lists is the task of list: the arcs of rows, and those that they offer to columns.
type lists struct{ *work }

func (w lists) Do(n, from, to int, own Costs) bool {
	p := &w.parts[n]
	p.used = true
	p.column = num.Grow(p.column, len(w.pi))
	for j := range p.column {
		p.column[j].n, p.column[j].limit = 0, math.Inf(-1)
	}
	for _, j := range w.cols.item {
		p.column[j].limit = math.Inf(1)
	}
	var last []Arc
	each := min(rowArcs, len(w.cols.item))
	for _, i := range w.rows.item[from:to] { // neighbours have nearly the same arcs
		row, ok := own.Row(int(i))
		if !ok {
			return false
		}
		from, to := int(i)*each, int(i+1)*each
		arcs, reduced := w.into.Arcs[from:to], w.reduced[from:to]
		Gather(arcs, reduced, i, row, w.pi, bound(last, row, w.pi))
		last = arcs
		f := reduced[0]
		for m := range reduced {
			reduced[m] -= f
		}
		w.f[i] = f
		columns := p.column[:len(row)]
		for j, c := range row {
			if x := c - f; x < columns[j].limit {
				columns[j].insert(x, Arc{i, int32(j), c})
			}
		}
	}
	return true
}

// bound returns what the prices of the best arcs of a row are below, given those of another row. Few others are then
// worth a try.
func bound(other []Arc, row, pi []float64) float64 {
	if len(other) == 0 {
		return math.Inf(1)
	}
	limit := math.Inf(-1)
	for _, a := range other {
		limit = max(limit, row[a.J]+pi[a.J])
	}
	return math.Nextafter(limit, math.Inf(1))
}

// joinColumns adds what the other parts have found for the columns to the first.
func (w *work) joinColumns() []columnBest {
	first := w.parts[0].column
	for n := 1; n < Parts; n++ {
		if !w.parts[n].used {
			continue
		}
		for _, j := range w.cols.item {
			c := &w.parts[n].column[j]
			for m := range c.n {
				if x := c.price[m]; x < first[j].limit {
					first[j].insert(x, c.arcs[m])
				}
			}
		}
	}
	return first
}

// listColumns adds the arcs of the columns that are not those of a row.
func (w *work) listColumns(column []columnBest) {
	f := w.into
	each := min(rowArcs, len(w.cols.item))
	for _, j := range w.cols.item {
		c := &column[j]
	arcs:
		for m, arc := range c.arcs[:c.n] {
			for _, a := range f.Arcs[int(arc.I)*each : (int(arc.I)+1)*each] {
				if a.J == j {
					continue arcs
				}
			}
			f.Arcs = append(f.Arcs, arc)
			w.reduced = append(w.reduced, max(c.price[m]+w.pi[j], 0))
		}
	}
}
