package assignment

import "github.com/wpm-go/wpm/mincostflow/internal/start"

const (
	// passes of free rows come before auctions, and before paths.
	passes = 2
	// Auctions are held when more than a warPart-th of the rows is free. In the first, prices fall by the mean cost over
	// firstFall more than they have to, and in every other by less. Each ends with an idlePart-th of the rows free.
	auctions, warPart, idlePart = 4, 4, 12
	firstFall, less             = 4, 4
	// mostLooks at every cell are made: the simplex from elsewhere is cheaper then.
	mostLooks = 40
	// never is above all costs and prices: these are below 2^costBits times the number of looks at a row.
	never = 1 << 62
)

// solve assigns every row, and reports whether it did before there was no more time or too much work.
func (w *work) solve(costs start.Costs) bool {
	w.minima()
	w.claim()
	if len(w.free)*warPart > w.n {
		w.auction()
		w.claim()
	}
	for _, i := range w.free {
		if w.looks < 0 || !costs.Going() {
			return false
		}
		w.augment(i)
	}
	return true
}

// minima makes the least cost of a column its price.
func (w *work) minima() {
	v := w.v
	copy(v, w.of(0))
	for i := 1; i < w.n; i++ {
		for j, c := range w.of(int32(i))[:len(v)] {
			if c < v[j] {
				v[j] = c
			}
		}
	}
}

// vacate makes all rows free.
func (w *work) vacate() {
	w.free = w.free[:0]
	for i := w.n - 1; i >= 0; i-- {
		w.col[i], w.row[i] = -1, -1
		w.free = append(w.free, int32(i))
	}
}

// claim assigns rows to their best columns at the prices that there are.
func (w *work) claim() {
	w.vacate()
	for range passes {
		w.pass()
	}
}

// pass lets every free row take its best column, at a price at which the second best is as good, or that one if it is
// so already. Rows that had them are then free.
func (w *work) pass() {
	free := w.free
	w.free = free[:0]
	for _, i := range free {
		u1, u2, j, second := w.best(i)
		if u1 == u2 && w.row[j] >= 0 {
			j = second
		}
		w.v[j] -= u2 - u1
		if other := w.assign(i, j); other >= 0 {
			w.free = append(w.free, other)
		}
	}
}

// auction lowers prices in auctions. It leaves no assignment.
func (w *work) auction() {
	mean := int64(0)
	for _, c := range w.cells {
		mean += c / int64(len(w.cells))
	}
	fall := mean/firstFall + 1 // not zero, or the same two rows could outbid each other for ever
	for range auctions {
		w.vacate()
		for len(w.free)*idlePart > w.n && w.looks >= 0 {
			last := len(w.free) - 1
			i := w.free[last]
			w.free = w.free[:last]
			u1, u2, j, _ := w.best(i)
			w.v[j] -= u2 - u1 + fall
			if other := w.assign(i, j); other >= 0 {
				w.free = append(w.free, other)
			}
		}
		fall = fall/less + 1
	}
}

// best returns what row i pays at its best column and at the second best, and which they are.
func (w *work) best(i int32) (u1, u2 int64, j1, j2 int32) {
	row := w.of(i)
	w.looks -= len(row)
	v := w.v[:len(row)]
	u1, u2 = never, never
	for j, c := range row {
		if x := c - v[j]; x < u2 {
			if x < u1 {
				u1, u2, j1, j2 = x, u1, int32(j), j1
			} else {
				u2, j2 = x, int32(j)
			}
		}
	}
	return u1, u2, j1, j2
}

// assign assigns row i to column j, and returns the row that had it, or -1.
func (w *work) assign(i, j int32) (other int32) {
	if other = w.row[j]; other >= 0 {
		w.col[other] = -1
	}
	w.row[j], w.col[i] = i, j
	return other
}

// augment assigns a free row, along a shortest path to a free column.
func (w *work) augment(i int32) {
	j, settled, least := w.search(i)
	for _, j := range w.list[:settled] {
		w.v[j] += w.dist[j] - least
	}
	for at := int32(-1); at != i; {
		at = w.from[j]
		w.row[j] = at
		j, w.col[at] = w.col[at], j
	}
}

// search finds shortest paths from a row to the columns, in the order of their lengths, up to the first free column. It
// returns that column, or -1; how many of list are settled, which are nearer; and its distance.
func (w *work) search(i int32) (end int32, settled int, least int64) {
	v, dist, from, list := w.v, w.dist, w.from, w.list
	least = never
	at := 0 // of the nearest column on list
	for j, c := range w.of(i) {
		x := c - v[j]
		dist[j], from[j], list[j] = x, i, int32(j)
		if x < least {
			least, at = x, j
		}
	}
	for n := range list {
		j := list[at]
		i := w.row[j]
		if i < 0 {
			return j, n, least
		}
		list[n], list[at] = j, list[n]
		row := w.of(i)[:len(dist)]
		v, from := v[:len(dist)], from[:len(dist)]
		by := row[j] - v[j] - least
		least = never
		left := list[n+1:]
		w.looks -= len(left)
		for k, j := range left {
			x := dist[j]
			if d := row[j] - v[j] - by; d < x {
				dist[j], from[j], x = d, i, d
			}
			if x < least {
				least, at = x, n+1+k
			}
		}
	}
	return -1, len(list), least
}
