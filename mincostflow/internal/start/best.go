package start

import "math"

const (
	// rowArcs arcs of least reduced cost are listed for every row, and columnArcs for every column.
	rowArcs    = 5
	columnArcs = 4
)

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
