package gub

import "gonum.org/v1/gonum/blas"

// inverse is a square matrix that changes by ranks of one: a + u v. The changes of the last exchanges, u and v, are
// kept apart. Products with them cost little, and one pass over a applies them all: delayed updates, see
// docs/algorithms/base-measure.md.
type inverse struct {
	n       int
	most    int       // the largest n
	stride  int       // of a and v
	a       []float64 // n rows
	u       []float64 // n rows of blockMost, of which pending columns count
	v       []float64 // blockMost rows, of which pending count
	pending int
	tmp     [blockMost]float64
}

const (
	blockMost  = 32 // changes kept apart, at most
	blockShare = 12 // and at most n over this, so that products with them stay cheap
)

// solve writes the product with x to y.
func (b *inverse) solve(x, y []float64) {
	times(b.a, b.stride, x, 0, y)
	if b.pending > 0 {
		c := b.tmp[:b.pending]
		times(b.v, b.stride, x, 0, c)
		times(b.u, blockMost, c, 1, y)
	}
}

// left writes the product of x with the matrix to y.
func (b *inverse) left(x, y []float64) {
	clear(y)
	addTimes(1, x, b.a, b.stride, y)
	if b.pending > 0 {
		c := b.tmp[:b.pending]
		clear(c)
		addTimes(1, x, b.u, blockMost, c)
		addTimes(1, c, b.v, b.stride, y)
	}
}

// row writes a row to dst.
func (b *inverse) row(c int, dst []float64) {
	copy(dst, b.a[c*b.stride:])
	addTimes(1, b.u[c*blockMost:][:b.pending], b.v, b.stride, dst)
}

// column writes a column to dst.
func (b *inverse) column(r int, dst []float64) {
	for d := range dst {
		dst[d] = b.a[d*b.stride+r]
	}
	if b.pending > 0 {
		c := b.tmp[:b.pending]
		for t := range c {
			c[t] = b.v[t*b.stride+r]
		}
		times(b.u, blockMost, c, 1, dst)
	}
}

// setRow replaces a row.
func (b *inverse) setRow(c int, src []float64) {
	copy(b.a[c*b.stride:][:b.n], src)
	clear(b.u[c*blockMost:][:blockMost])
}

// setColumn replaces a column.
func (b *inverse) setColumn(r int, src []float64) {
	for d, x := range src {
		b.a[d*b.stride+r] = x
	}
	for t := range b.pending {
		b.v[t*b.stride+r] = 0
	}
}

// change adds the product of a column and a row.
func (b *inverse) change(column, row []float64) {
	n := b.n
	if n == 0 {
		return
	}
	limit := min(blockMost, n/blockShare)
	if limit <= 1 && b.pending == 0 {
		share(n, n*n, func(from, to int) {
			ge.Dger(to-from, n, 1, column[from:], 1, row, 1, b.a[from*b.stride:], b.stride)
		})
		return
	}
	t := b.pending
	for d, x := range column {
		b.u[d*blockMost+t] = x
	}
	copy(b.v[t*b.stride:], row)
	if b.pending++; b.pending >= limit {
		b.flush()
	}
}

// flush applies the pending changes.
func (b *inverse) flush() {
	n, k := b.n, b.pending
	if k == 0 {
		return
	}
	b.pending = 0
	share(n, n*n*k, func(from, to int) {
		for d := from; d < to; d++ {
			ge.Dgemv(blas.Trans, k, n, 1, b.v, b.stride, b.u[d*blockMost:], 1, 1, b.a[d*b.stride:], 1)
		}
	})
}

// extend adds a last column, whose last entry is that of the row, and a last row.
func (b *inverse) extend(column, row []float64) {
	if b.n == b.stride {
		b.grow()
	}
	b.n++
	b.setRow(b.n-1, row)
	b.setColumn(b.n-1, column)
}

// grow makes room.
func (b *inverse) grow() {
	b.flush()
	old, from := b.a, b.stride
	b.stride = min(2*b.n+64, b.most)
	b.a = make([]float64, b.stride*b.stride)
	for d := range b.n {
		copy(b.a[d*b.stride:], old[d*from:][:b.n])
	}
	b.u, b.v = make([]float64, b.stride*blockMost), make([]float64, b.stride*blockMost)
}

// remove takes out row c and column r; the last ones take their places.
func (b *inverse) remove(c, r int) {
	last := b.n - 1
	for d := range b.n {
		b.a[d*b.stride+r] = b.a[d*b.stride+last]
	}
	for t := range b.pending {
		b.v[t*b.stride+r] = b.v[t*b.stride+last]
	}
	copy(b.a[c*b.stride:][:b.n], b.a[last*b.stride:])
	copy(b.u[c*blockMost:][:blockMost], b.u[last*blockMost:])
	b.n = last
}

// negate changes the sign of row c, and then subtracts each of the others from it.
func (b *inverse) negate(c int, others []int) {
	negate := func(rows []float64, stride, n int) {
		row := rows[c*stride:][:n]
		for j := range row {
			row[j] = -row[j]
		}
		for _, d := range others {
			axpy(-1, rows[d*stride:], row)
		}
	}
	negate(b.a, b.stride, b.n)
	negate(b.u, blockMost, b.pending)
}
