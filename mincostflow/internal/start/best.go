package start

// Gather fills in the arcs of row i with the least cost + pi, ascending and with these sums as their prices: as many as
// there are places, of those below limit. It returns how many there are.
func Gather(arcs []Arc, prices []float64, i int32, row, pi []float64, limit float64) (n int) {
	pi = pi[:len(row)]
	j := 0
	for ; j+4 <= len(row); j += 4 {
		c, g := row[j:j+4:j+4], pi[j:j+4:j+4]
		x0, x1, x2, x3 := c[0]+g[0], c[1]+g[1], c[2]+g[2], c[3]+g[3]
		if x0 < limit || x1 < limit || x2 < limit || x3 < limit {
			for d, x := range [4]float64{x0, x1, x2, x3} {
				if x < limit {
					n, limit = insert(arcs, prices, n, limit, x, Arc{i, int32(j + d), c[d]})
				}
			}
		}
	}
	for ; j < len(row); j++ {
		if x := row[j] + pi[j]; x < limit {
			n, limit = insert(arcs, prices, n, limit, x, Arc{i, int32(j), row[j]})
		}
	}
	return n
}

// insert puts a at its place among the n arcs of least price, and returns their new number and what the price of the
// next must be below.
func insert(arcs []Arc, prices []float64, n int, limit, price float64, a Arc) (int, float64) {
	if n < len(arcs) {
		n++
	}
	at := n - 1
	for at > 0 && prices[at-1] > price {
		prices[at], arcs[at] = prices[at-1], arcs[at-1]
		at--
	}
	prices[at], arcs[at] = price, a
	if n == len(arcs) {
		limit = prices[n-1]
	}
	return n, limit
}

// columnBest are the arcs of a column with the least cost less price of the row, ascending. The next must be below limit.
type columnBest struct {
	limit float64
	n     int
	price [columnArcs]float64
	arcs  [columnArcs]Arc
}

// insert puts an arc at its place.
func (c *columnBest) insert(price float64, a Arc) {
	c.n, c.limit = insert(c.arcs[:], c.price[:], c.n, c.limit, price, a)
}
