package start

import "github.com/wpm-go/wpm/internal/num"

// sample makes the smaller problem, and reports whether there was time, and whether the blur of rows and of columns is
// at most most. (Rows come first: where they are blurred, nothing is done for columns.)
func (w *work) sample(most float64) bool {
	p := &w.p
	w.rows.item, w.cols.item = w.rows.item[:0], w.cols.item[:0]
	for i := range p.Supply {
		w.rows.item = append(w.rows.item, int32(i))
	}
	for j, l := range p.Low {
		if l > 0 || p.Room[j] > 0 {
			w.cols.item = append(w.cols.item, int32(j))
		}
	}
	size := groupSize(len(w.rows.item), len(w.cols.item))
	w.rows.units = append(w.rows.units[:0], p.Supply...)
	if !w.lookAtRows() {
		return false
	}
	if w.rows.cut(size); w.rows.blur() > most {
		return false
	}
	w.cols.units = num.Grow(w.cols.units, len(p.Low))
	for j, l := range p.Low {
		w.cols.units[j] = l + p.Room[j]
	}
	if !w.lookAtColumns() {
		return false
	}
	if w.cols.cut(size); w.cols.blur() > most {
		return false
	}
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

// lookAtRows reads what rows look like, and reports whether there was time.
func (w *work) lookAtRows() bool {
	k := len(w.rows.item)
	w.rows.look = num.Grow(w.rows.look, k*landmarks)
	return w.p.Costs.Share(k, looks{w})
}

// lookAtColumns is lookAtRows for columns.
func (w *work) lookAtColumns() bool {
	k := len(w.rows.item)
	w.cols.look = num.Grow(w.cols.look, len(w.p.Low)*landmarks)
	for l := range landmarks {
		row, ok := w.p.Costs.Row((2*l + 1) * k / (2 * landmarks))
		if !ok {
			return false
		}
		for _, j := range w.cols.item {
			w.cols.of(j)[l] = row[j]
		}
	}
	return true
}

// looks is the task of lookAtRows.
type looks struct{ *work }

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
func (w *work) collect() bool {
	k, n := w.rows.len(), w.cols.len()
	s := &w.small
	s.Supply, s.Low, s.Room = num.Grow(s.Supply, k), num.Grow(s.Low, n), num.Grow(s.Room, n)
	s.Costs = num.Grow(s.Costs, k*n)
	for c := range n {
		s.Low[c], s.Room[c] = w.cols.sum(c, w.p.Low), w.cols.sum(c, w.p.Room)
	}
	return w.p.Costs.Share(k, collects{w})
}

// collects is the task of collect: rows of the smaller problem.
type collects struct{ *work }

func (w collects) Do(_, from, to int, own Costs) bool {
	for r := from; r < to; r++ {
		w.small.Supply[r] = w.rows.sum(r, w.p.Supply)
		row, ok := own.Row(int(w.rows.middle[r]))
		if !ok {
			return false
		}
		costs := w.small.Row(r)
		for c, j := range w.cols.middle {
			costs[c] = row[j]
		}
	}
	return true
}
