package start

import (
	"math"

	"github.com/wpm-go/wpm/internal/num"
)

// extend finds prices g of the columns from those of the rows of the smaller problem.
func (w *work) extend() bool {
	w.clearParts()
	ok := w.p.Costs.Share(len(w.rows.middle), extends{w})
	w.g = w.unpriced(w.g)
	for n := range w.parts {
		if p := &w.parts[n]; p.used {
			for j, x := range p.g {
				w.g[j] = min(w.g[j], x)
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
	p.g = w.unpriced(p.g)
	for r := from; r < to; r++ {
		row, ok := own.Row(int(w.rows.middle[r]))
		if !ok {
			return false
		}
		price, g := w.middle[r], p.g[:len(row)]
		for j, c := range row {
			g[j] = min(g[j], c-price)
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

// unpriced returns prices of columns, above all others, and below for those that take no part.
func (w *work) unpriced(g []float64) []float64 {
	g = num.Grow(g, len(w.p.Low))
	for j := range g {
		g[j] = math.Inf(-1)
	}
	for _, j := range w.cols.item {
		g[j] = math.Inf(1)
	}
	return g
}

// list finds the prices f of the rows, and the arcs with their reduced costs. It does not matter which part a row is in: of equal arcs, those of
// earlier rows and columns come first in every part, and when parts are joined.
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
	p.column = num.Grow(p.column, len(w.g))
	for j := range p.column {
		p.column[j].n, p.column[j].limit = 0, math.Inf(-1)
	}
	for _, j := range w.cols.item {
		p.column[j].limit = math.Inf(1)
	}
	p.best.n = 0
	each := min(rowArcs, len(w.cols.item))
	for _, i := range w.rows.item[from:to] { // neighbours have nearly the same arcs
		row, ok := own.Row(int(i))
		if !ok {
			return false
		}
		from, to := int(i)*each, int(i+1)*each
		w.f[i] = p.list(i, row, w.g, w.into.Arcs[from:to], w.reduced[from:to])
	}
	return true
}

// list fills in the arcs of row i, offers it to the columns, and returns its price.
func (p *part) list(i int32, row, g []float64, arcs []Arc, reduced []float64) (f float64) {
	b := &p.best
	b.gather(row, g)
	f = b.price[0]
	for m := range arcs {
		arcs[m], reduced[m] = Arc{i, b.col[m], b.cost[m]}, b.price[m]-f
	}
	columns := p.column[:len(row)]
	for j, c := range row {
		if x := c - f; x < columns[j].limit {
			columns[j].insert(x, c, i)
		}
	}
	return f
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
					first[j].insert(x, c.cost[m], c.row[m])
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
		for m, i := range c.row[:c.n] {
			for _, a := range f.Arcs[int(i)*each : (int(i)+1)*each] {
				if a.J == j {
					continue arcs
				}
			}
			f.Arcs = append(f.Arcs, Arc{i, j, c.cost[m]})
			w.reduced = append(w.reduced, max(c.price[m]-w.g[j], 0))
		}
	}
}
