package gub

// inverse is a square matrix that changes by ranks of one.
type inverse struct {
	n      int
	most   int       // the largest n
	stride int       // of a
	a      []float64 // n rows
}

// solve writes the product with x to y.
func (b *inverse) solve(x, y []float64) { times(b.a, b.stride, x, y) }

// left writes the product of x with the matrix to y.
func (b *inverse) left(x, y []float64) {
	clear(y)
	addTimes(1, x, b.a, b.stride, y)
}

// row writes a row to dst.
func (b *inverse) row(c int, dst []float64) { copy(dst, b.a[c*b.stride:]) }

// column writes a column to dst.
func (b *inverse) column(r int, dst []float64) {
	for d := range dst {
		dst[d] = b.a[d*b.stride+r]
	}
}

// setRow replaces a row.
func (b *inverse) setRow(c int, src []float64) { copy(b.a[c*b.stride:][:b.n], src) }

// setColumn replaces a column.
func (b *inverse) setColumn(r int, src []float64) {
	for d, x := range src {
		b.a[d*b.stride+r] = x
	}
}

// change adds the product of a column and a row.
func (b *inverse) change(column, row []float64) {
	if b.n > 0 {
		ge.Dger(b.n, b.n, 1, column, 1, row, 1, b.a, b.stride)
	}
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
	old, from := b.a, b.stride
	b.stride = min(2*b.n+64, b.most)
	b.a = make([]float64, b.stride*b.stride)
	for d := range b.n {
		copy(b.a[d*b.stride:], old[d*from:][:b.n])
	}
}

// remove takes out row c and column r; the last ones take their places.
func (b *inverse) remove(c, r int) {
	last := b.n - 1
	for d := range b.n {
		b.a[d*b.stride+r] = b.a[d*b.stride+last]
	}
	copy(b.a[c*b.stride:][:b.n], b.a[last*b.stride:])
	b.n = last
}

// negate changes the sign of row c, and then subtracts each of the others from it.
func (b *inverse) negate(c int, others []int) {
	row := b.a[c*b.stride:][:b.n]
	for j := range row {
		row[j] = -row[j]
	}
	for _, d := range others {
		axpy(-1, b.a[d*b.stride:], row)
	}
}
