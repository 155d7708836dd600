package gub

import (
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
)

// dense returns the rows.
func (b *inverse) dense() [][]float64 {
	rows := make([][]float64, b.n)
	for c := range rows {
		rows[c] = make([]float64, b.n)
		b.row(c, rows[c])
	}
	return rows
}

// plainMatrix is the second opinion on an inverse: each change is applied entry by entry.
type plainMatrix [][]float64

func (p plainMatrix) change(column, row []float64) {
	for d := range p {
		for j := range p[d] {
			p[d][j] += column[d] * row[j]
		}
	}
}

func (p *plainMatrix) extend(column, row []float64) {
	for d, x := range column {
		(*p)[d] = append((*p)[d], x)
	}
	*p = append(*p, slices.Clone(row))
}

func (p *plainMatrix) remove(c, r int) {
	m, last := *p, len(*p)-1
	m[c] = m[last]
	for d := range m[:last] {
		m[d][r] = m[d][last]
		m[d] = m[d][:last]
	}
	*p = m[:last]
}

func (p plainMatrix) negate(c int, others []int) {
	for j := range p[c] {
		p[c][j] = -p[c][j]
		for _, d := range others {
			p[c][j] -= p[d][j]
		}
	}
}

// TestInverseChanges makes random changes of all kinds: rows, columns and both products agree after each, at sizes from
// 1 to some hundreds.
func TestInverseChanges(t *testing.T) {
	rnd := numtest.NewSplitMix64(91)
	vector := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = rnd.Float64() - 0.5
		}
		return x
	}
	for _, size := range []int{1, 3, 23, 63, 389} {
		const steps = 120
		b := &inverse{most: size + steps}
		var p plainMatrix
		for n := range size {
			column, row := vector(n), vector(n+1)
			b.extend(column, row)
			p.extend(column, row)
		}
		for range steps {
			n := b.n
			switch kind := rnd.Intn(10); {
			case kind == 0 || n == 0:
				column, row := vector(n), vector(n+1)
				b.extend(column, row)
				p.extend(column, row)
			case kind == 1:
				c, r := rnd.Intn(n), rnd.Intn(n)
				b.remove(c, r)
				p.remove(c, r)
			case kind == 2:
				c, row := rnd.Intn(n), vector(n)
				b.setRow(c, row)
				copy(p[c], row)
			case kind == 3:
				r, column := rnd.Intn(n), vector(n)
				b.setColumn(r, column)
				for d := range p {
					p[d][r] = column[d]
				}
			case kind == 4:
				c := rnd.Intn(n)
				var others []int
				for _, d := range []int{0, n / 2, n - 1} {
					if d != c && !slices.Contains(others, d) {
						others = append(others, d)
					}
				}
				b.negate(c, others)
				p.negate(c, others)
			default:
				column, row := vector(n), vector(n)
				b.change(column, row)
				p.change(column, row)
			}
			checkInverse(t, b, p, vector(b.n))
		}
	}
}

// checkInverse compares b with p.
func checkInverse(t *testing.T, b *inverse, p plainMatrix, x []float64) {
	t.Helper()
	// A row of p has grown by up to 120 changes of a quarter, and by sums of rows; a sum has at most 600 products. 1e-16
	// times 600 times the entries is 1e-11.
	const relative = 1e-11
	n := b.n
	if n != len(p) {
		t.Fatalf("size %d, want %d", n, len(p))
	}
	largest := 1.0
	for _, row := range p {
		for _, v := range row {
			largest = max(largest, math.Abs(v))
		}
	}
	near := func(what string, got, want float64) {
		if !(math.Abs(got-want) <= relative*largest) {
			t.Fatalf("n = %d: %s %v, want %v", n, what, got, want)
		}
	}
	right, left, column, row := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	b.solve(x, right)
	b.left(x, left)
	for c := range n {
		right0, left0 := 0.0, 0.0
		for j := range n {
			right0 += p[c][j] * x[j]
			left0 += p[j][c] * x[j]
		}
		near("solve", right[c], right0)
		near("left", left[c], left0)
	}
	for _, c := range []int{0, n / 2, n - 1} {
		if c < 0 || c >= n {
			continue
		}
		b.column(c, column)
		b.row(c, row)
		for j := range n {
			near("column", column[j], p[j][c])
			near("row", row[j], p[c][j])
		}
	}
}

// TestInverseBits: products and changes have the same bits on any number of cores.
func TestInverseBits(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	for _, n := range []int{401, 530} { // several ranges, with odd ends
		var want []float64
		for _, procs := range []int{1, 2, 3, 7} {
			runtime.GOMAXPROCS(procs)
			rnd := numtest.NewSplitMix64(92)
			vector := func(n int) []float64 {
				x := make([]float64, n)
				for i := range x {
					x[i] = rnd.Float64() - 0.5
				}
				return x
			}
			b := &inverse{most: n}
			for c := range n {
				b.extend(vector(c), vector(c+1))
			}
			for range 35 {
				b.change(vector(n), vector(n))
			}
			x, y := vector(n), make([]float64, 2*n)
			b.solve(x, y[:n])
			b.left(x, y[n:])
			got := slices.Concat(append(b.dense(), y)...)
			if want == nil {
				want = got
			}
			if !slices.Equal(got, want) {
				t.Fatalf("n = %d: other bits on %d cores", n, procs)
			}
		}
	}
}
