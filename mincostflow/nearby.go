package mincostflow

import (
	"cmp"
	"slices"
)

const (
	// nearbyRows are read to tell how near two columns are.
	nearbyRows = 16
	// nearbyColumns is how many columns may be put in order: that takes some 40 milliseconds.
	nearbyColumns = 1 << 14
)

// nearby returns the columns in an order in which near ones follow each other: by halves, down to single columns. Two
// columns are near if their costs are, in some of the rows. A sample of every so many columns of this order stands
// for all of them far better than one of another order. The largest cost of a column that may take anything is top. It takes
// O(kv log^2 kv) steps.
func nearby(r *rows, k, kv int, top float64) []int32 {
	columns := make([]int32, kv)
	for j := range columns {
		columns[j] = int32(j)
	}
	if k < 2 || kv < newtonColumns || kv > nearbyColumns || top == 0 {
		return columns
	}
	n := min(nearbyRows, k)
	b := bisection{n: n, at: make([]float64, n*kv), key: make([]float64, kv)}
	for i := range n {
		for j, c := range r.raw(int(int64(i) * int64(k) / int64(n))) {
			b.at[j*n+i] = min(c/top, 1) // dead columns may cost more
		}
	}
	b.split(columns)
	return columns
}

// bisection has the places of all columns, as points with n coordinates.
type bisection struct {
	n   int
	at  []float64
	key []float64
}

// split sorts columns so that those nearer one of two distant columns come first, and so on in both halves. The first half is a
// power of two: so the 2^e columns from any multiple of 2^e on are one part.
func (b *bisection) split(columns []int32) {
	for len(columns) > 2 {
		one := b.furthest(columns, columns[0])
		other := b.furthest(columns, one)
		for _, j := range columns {
			b.key[j] = b.distance(j, one) - b.distance(j, other)
		}
		slices.SortFunc(columns, func(x, y int32) int {
			return cmp.Or(cmp.Compare(b.key[x], b.key[y]), cmp.Compare(x, y))
		})
		half := 1
		for 2*half < len(columns) {
			half *= 2
		}
		b.split(columns[:half])
		columns = columns[half:]
	}
}

// furthest returns the column furthest from j, the first of several.
func (b *bisection) furthest(columns []int32, j int32) int32 {
	most, at := -1.0, j
	for _, i := range columns {
		if d := b.distance(i, j); d > most {
			most, at = d, i
		}
	}
	return at
}

// distance returns the square of the distance.
func (b *bisection) distance(i, j int32) float64 {
	sum := 0.0
	x, y := b.at[int(i)*b.n:][:b.n], b.at[int(j)*b.n:][:b.n]
	for l, c := range x {
		d := c - y[l]
		sum += float64(d * d)
	}
	return sum
}
