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
	w.G = grow(w.G, len(w.p.Low))
	for j := range w.G {
		w.G[j] = math.Inf(-1) // takes no part
	}
	for _, j := range w.cols.item {
		w.G[j] = math.Inf(1)
	}
	for r, i := range w.rows.middle {
		row, ok := w.p.Costs.Row(int(i))
		if !ok {
			return false
		}
		price := f[r]
		g := w.G[:len(row)]
		for j, c := range row {
			g[j] = min(g[j], c-price)
		}
	}
	return true
}

// list finds the prices F of the rows, and the arcs.
func (w *Work) list() bool {
	k, n := len(w.p.Supply), len(w.p.Low)
	w.F = grow(w.F, k)
	w.column = grow(w.column, n)
	for j := range w.column {
		w.column[j].n, w.column[j].limit = 0, math.Inf(-1)
	}
	for _, j := range w.cols.item {
		w.column[j].limit = math.Inf(1)
	}
	b, each := &w.best, min(rowArcs, len(w.cols.item))
	w.Arcs = grow(w.Arcs, k*each)
	b.n = 0
	for _, i := range w.rows.item { // neighbours have nearly the same arcs
		row, ok := w.p.Costs.Row(int(i))
		if !ok {
			return false
		}
		b.gather(row, w.G)
		w.F[i] = b.price[0]
		arcs := w.Arcs[int(i)*each : (int(i)+1)*each]
		for m := range arcs {
			arcs[m] = Arc{i, b.col[m], b.cost[m], b.price[m] - w.F[i]}
		}
		f := w.F[i]
		columns := w.column[:len(row)]
		for j, c := range row {
			if x := c - f; x < columns[j].limit {
				columns[j].insert(x, c, i)
			}
		}
	}
	w.listColumns()
	return true
}

// listColumns adds the arcs of the columns that are not those of a row.
func (w *Work) listColumns() {
	each := min(rowArcs, len(w.cols.item))
	for _, j := range w.cols.item {
		c := &w.column[j]
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
