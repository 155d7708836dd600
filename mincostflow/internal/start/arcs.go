package start

import "math"

const (
	// rowArcs arcs of least reduced cost are listed for every row, and columnArcs for every column.
	rowArcs    = 5
	columnArcs = 4
)

// Arc is a listed arc: its row, its column, its cost and its reduced cost.
type Arc struct {
	I, J          int32
	Cost, Reduced float64
}

// extend finds prices G of the columns from prices f of the rows of the smaller problem.
func (w *Work) extend(f []float64) bool {
	w.clearParts()
	w.middle = f
	ok := w.p.Costs.Share(len(w.rows.middle), extends{w})
	w.G = w.unpriced(w.G)
	for n := range w.parts {
		if p := &w.parts[n]; p.used {
			for j, x := range p.g {
				w.G[j] = min(w.G[j], x)
			}
		}
	}
	return ok
}

// extends is the task of extend: what rows in the middle of groups offer.
type extends struct{ *Work }

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
func (w *Work) clearParts() {
	for n := range w.parts {
		w.parts[n].used = false
	}
}

// unpriced returns prices of columns, above all others, and below for those that take no part.
func (w *Work) unpriced(g []float64) []float64 {
	g = grow(g, len(w.p.Low))
	for j := range g {
		g[j] = math.Inf(-1)
	}
	for _, j := range w.cols.item {
		g[j] = math.Inf(1)
	}
	return g
}

// list finds the prices F of the rows, and the arcs. It does not matter which part a row is in: of equal arcs, those of
// earlier rows and columns come first in every part, and when parts are joined.
func (w *Work) list() bool {
	k := len(w.p.Supply)
	w.F = grow(w.F, k)
	each := min(rowArcs, len(w.cols.item))
	w.Arcs = grow(w.Arcs, k*each)
	w.clearParts()
	if !w.p.Costs.Share(k, lists{w}) {
		return false
	}
	w.listColumns(w.joinColumns())
	return true
}

// lists is the task of list: the arcs of rows, and those that they offer to columns.
type lists struct{ *Work }

func (w lists) Do(n, from, to int, own Costs) bool {
	p := &w.parts[n]
	p.used = true
	p.column = grow(p.column, len(w.G))
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
		w.F[i] = p.list(i, row, w.G, w.Arcs[int(i)*each:(int(i)+1)*each])
	}
	return true
}

// list fills in the arcs of row i, offers it to the columns, and returns its price.
func (p *part) list(i int32, row, g []float64, arcs []Arc) (f float64) {
	b := &p.best
	b.gather(row, g)
	f = b.price[0]
	for m := range arcs {
		arcs[m] = Arc{i, b.col[m], b.cost[m], b.price[m] - f}
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
func (w *Work) joinColumns() []columnBest {
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
func (w *Work) listColumns(column []columnBest) {
	each := min(rowArcs, len(w.cols.item))
	for _, j := range w.cols.item {
		c := &column[j]
	arcs:
		for m, i := range c.row[:c.n] {
			for _, a := range w.Arcs[int(i)*each : (int(i)+1)*each] {
				if a.J == j {
					continue arcs
				}
			}
			w.Arcs = append(w.Arcs, Arc{i, j, c.cost[m], max(c.price[m]-w.G[j], 0)})
		}
	}
}

// best are the columns of a row with the least cost less price, ascending.
type best struct {
	n     int
	price [rowArcs]float64
	cost  [rowArcs]float64
	col   [rowArcs]int32
}

// gather finds the best of row for prices g. Those of the row before bound them: few others are then worth a try.
func (b *best) gather(row, g []float64) {
	limit := math.Inf(1)
	g = g[:len(row)]
	if b.n == rowArcs {
		limit = math.Inf(-1)
		for _, j := range b.col {
			limit = max(limit, row[j]-g[j])
		}
		limit = math.Nextafter(limit, math.Inf(1))
	}
	b.n = 0
	j := 0
	for ; j+4 <= len(row); j += 4 {
		c, y := row[j:j+4:j+4], g[j:j+4:j+4]
		x0, x1, x2, x3 := c[0]-y[0], c[1]-y[1], c[2]-y[2], c[3]-y[3]
		if x0 < limit || x1 < limit || x2 < limit || x3 < limit {
			for d, x := range [4]float64{x0, x1, x2, x3} {
				if x < limit {
					limit = b.insert(limit, x, c[d], int32(j+d))
				}
			}
		}
	}
	for ; j < len(row); j++ {
		if x := row[j] - g[j]; x < limit {
			limit = b.insert(limit, x, row[j], int32(j))
		}
	}
}

// insert puts column j at its place, and returns the price that the next must be below instead of limit.
func (b *best) insert(limit, x, cost float64, j int32) float64 {
	if b.n < rowArcs {
		b.n++
	}
	at := b.n - 1
	for at > 0 && b.price[at-1] > x {
		b.price[at], b.cost[at], b.col[at] = b.price[at-1], b.cost[at-1], b.col[at-1]
		at--
	}
	b.price[at], b.cost[at], b.col[at] = x, cost, j
	if b.n < rowArcs {
		return limit
	}
	return b.price[rowArcs-1]
}

// columnBest are the rows of a column with the least cost less price, ascending. The next must be below limit.
type columnBest struct {
	limit float64
	n     int
	price [columnArcs]float64
	cost  [columnArcs]float64
	row   [columnArcs]int32
}

// insert puts row i at its place.
func (c *columnBest) insert(x, cost float64, i int32) {
	if c.n < columnArcs {
		c.n++
	}
	at := c.n - 1
	for at > 0 && c.price[at-1] > x {
		c.price[at], c.cost[at], c.row[at] = c.price[at-1], c.cost[at-1], c.row[at-1]
		at--
	}
	c.price[at], c.cost[at], c.row[at] = x, cost, i
	if c.n == columnArcs {
		c.limit = c.price[columnArcs-1]
	}
}
