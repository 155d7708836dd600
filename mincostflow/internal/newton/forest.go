package newton

import (
	"math"

	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/mincostflow/internal/start"
)

// forest makes the forest of the prices: every column hangs from the heavy row that serves it at least cost, at its
// upper bound if that cost is below zero, and at its lower bound if not. A column that gets nothing hangs from the hub,
// as all heavy rows do. Light rows hang from columns. Any prices give a strongly feasible forest. The arcs are the
// second best ones. forest reports whether there was time.
func (w *work) forest(f *start.Forest) bool {
	f.Reset(len(w.p.Supply), w.p.Low)
	if !w.serve() {
		return false
	}
	w.hangColumns(f)
	return w.hangLight(f) && w.readCosts(f)
}

// serve finds the service of every column, and reports whether there was time.
func (w *work) serve() bool {
	w.served = num.Grow(w.served, len(w.p.Low))
	if w.whole { // all columns that take anything were measured at these prices
		for c := range w.samples {
			o := &w.samples[c]
			m := o.best >> rowShift
			w.served[w.at[o.at]] = service{
				least: float64(m) * w.grain, gap: float64(o.other>>rowShift-m) * w.grain,
				by: int32(o.best & (rowBits - 1)), second: int32(o.other & (rowBits - 1)),
			}
		}
		return true
	}
	for j := range w.served {
		w.served[j] = service{least: math.Inf(1), second: -1}
	}
	for n, i := range w.heavy {
		row, ok := w.p.Costs.Row(int(i))
		if !ok {
			return false
		}
		f, served := w.f[n], w.served[:len(row)]
		for j, c := range row {
			if x := c - f; x < served[j].least {
				served[j].least, served[j].by = x, int32(n)
			}
		}
	}
	return true
}

// hangColumns hangs columns from the rows that serve them. Columns are filled while there is mass for them, or all of
// them if they take at most 9/8 of the mass.
func (w *work) hangColumns(f *start.Forest) {
	p, k := &w.p, len(w.p.Supply)
	spare, wanted := w.total, uint64(0)
	for j, l := range p.Low {
		spare -= l
		if w.live(j) && w.served[j].least < 0 {
			wanted += min(p.Room[j], 2*w.total-wanted) // 2 total is too much, and columns without bound want it
		}
	}
	if wanted <= spare+w.total/8 {
		spare = wanted
	}
	for j := len(p.Low) - 1; j >= 0; j-- {
		if !w.live(j) {
			continue
		}
		if room := p.Room[j]; w.served[j].least < 0 && room > 0 && room <= spare {
			f.Need[j] += room
			spare -= room
		}
		if f.Need[j] > 0 {
			f.Parent[k+j] = w.heavy[w.served[j].by]
		}
	}
}

// hangLight hangs the light rows from the columns that serve them at least cost, as far as these get more than that
// from heavy ones. Rows at the hub get their prices. It reports whether there was time.
func (w *work) hangLight(f *start.Forest) bool {
	for n, i := range w.heavy {
		f.Cost[i] = w.f[n]
	}
	k := len(w.p.Supply)
	if len(w.heavy) == k {
		return true
	}
	w.spare = append(w.spare[:0], f.Need...)
	for j := range w.spare {
		if f.Parent[k+j] < 0 {
			w.served[j].least = math.Inf(-1) // nothing hangs from it
		}
	}
	heavy := w.heavy
	for i, units := range w.p.Supply {
		if len(heavy) > 0 && int(heavy[0]) == i {
			heavy = heavy[1:]
			continue
		}
		row, ok := w.p.Costs.Row(i)
		if !ok {
			return false
		}
		at, least := w.cheapest(row)
		if at < 0 {
			continue
		}
		if f.Cost[i] = least; units < w.spare[at] {
			w.spare[at] -= units
			f.Parent[i], f.Cost[i] = int32(k+at), row[at]
		}
	}
	return true
}

// cheapest returns the column of least cost less price in a row, and that price of the row; or -1 if there is none.
func (w *work) cheapest(row []float64) (at int, least float64) {
	at, least = -1, math.Inf(1)
	served := w.served[:len(row)]
	for j, c := range row {
		if x := c - served[j].least; x < least {
			at, least = j, x
		}
	}
	return at, least
}

// readCosts fills in the costs of the arcs that columns hang from, and lists the second best ones that are close: row by
// row, each of which may have to be computed. It reports whether there was time.
func (w *work) readCosts(f *start.Forest) bool {
	k, far := len(w.p.Supply), float64(seedWidths*w.width)
	// Column j is 2j on the list of the row that it hangs from, and 2j + 1 on that of the second best.
	w.first, w.next = num.Grow(w.first, len(w.heavy)), num.Grow(w.next, 2*len(w.p.Low))
	for n := range w.first {
		w.first[n] = -1
	}
	list := func(n int32, e int) { w.next[e], w.first[n] = w.first[n], e }
	for j := len(w.p.Low) - 1; j >= 0; j-- {
		v := &w.served[j]
		if w.live(j) && v.second >= 0 && v.gap < far {
			list(v.second, 2*j+1)
		}
		if f.Parent[k+j] >= 0 {
			list(v.by, 2*j)
		}
	}
	for n, i := range w.heavy {
		if w.first[n] < 0 {
			continue
		}
		row, ok := w.p.Costs.Row(int(i))
		if !ok {
			return false
		}
		for e := w.first[n]; e >= 0; e = w.next[e] {
			if j := e / 2; e%2 == 0 {
				f.Cost[k+j] = row[j]
			} else {
				f.Arcs = append(f.Arcs, start.Arc{I: i, J: int32(j), Cost: row[j]})
			}
		}
	}
	return true
}
