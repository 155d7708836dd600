package given

import (
	"context"
	"math"
	"slices"
	"sync/atomic"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
)

// Hard draws transport problems that lean to trouble: ties, tiny and huge numbers, tight boxes.
type Hard struct{ *numtest.SplitMix64 }

// NewHard returns a seeded generator.
func NewHard(seed uint64) Hard { return Hard{numtest.NewSplitMix64(seed * 7919)} }

// Costs draws k x kv costs of one of several kinds.
func (d Hard) Costs(k, kv int) *cost.Dense {
	data := make([]float64, k*kv)
	kind := d.Intn(14)
	for x := range data {
		i, j := float64(x/kv), float64(x%kv)
		switch kind {
		case 0: // generic
			data[x] = d.Float64()
		case 1: // ties
			data[x] = float64(d.Intn(3))
		case 2: // an offset that hides the differences
			data[x] = 1e6 + float64(d.Intn(3))
		case 3: // wide spread
			data[x] = math.Exp(40 * (d.Float64() - 0.5))
		case 4: // nothing to choose
		case 5:
			data[x] = 3.7
		case 6: // squared distance on a line
			data[x] = (i - j) * (i - j)
		case 7: // sums of two would overflow
			data[x] = math.MaxFloat64 * d.Float64()
		case 8: // a few quanta
			data[x] = float64(d.Intn(5)) * math.SmallestNonzeroFloat64
		case 9:
			data[x] = math.Abs(i-j) * 1e-9
		case 10: // forbidden arcs, as users write them
			data[x] = d.Float64()
			if d.Intn(4) == 0 {
				data[x] = 1e32
			}
		case 11: // around the smallest normal number
			data[x] = math.Ldexp(d.Float64(), -1060+d.Intn(60))
		case 12: // decimals, whose ties are off by an ulp
			data[x] = 0.1 * float64(d.Intn(10))
		case 13: // everything at once
			data[x] = math.Ldexp(d.Float64(), d.Intn(2000)-1000)
		}
	}
	return &cost.Dense{K: k, Kv: kv, Data: data}
}

// Counts draws n counts that sum to total, of one of several kinds.
func (d Hard) Counts(n int, total int64) []int64 {
	x := make([]int64, n)
	left := total
	kind := d.Intn(4)
	for left > 0 {
		u := min(left, 1+total/int64(3*n))
		switch kind {
		case 1: // anything
			u = min(left, 1+int64(d.Float64()*float64(left)))
		case 2: // all in one place
			u = left
		}
		x[d.Intn(n)] += u
		left -= u
	}
	return x
}

// Units is the projection of whole units, a row of which Source counts, onto the box from Lo to Hi.
type Units struct {
	Cost           *cost.Dense
	Source, Lo, Hi []int64
}

// Units draws a problem with at most most rows and columns, and up to 2^62 units.
func (d Hard) Units(most int) Units {
	k, kv := 1+d.Intn(most), 1+d.Intn(most)
	p := Units{Cost: d.Costs(k, kv)}
	n := int64(1)
	switch d.Intn(5) {
	case 0:
		n += int64(d.Intn(10))
	case 1:
		n = 1 << 62
	case 2:
		n = 1<<62 - int64(d.Intn(3))
	default:
		n += int64(math.Ldexp(d.Float64(), 1+d.Intn(61)))
	}
	p.Source = d.Counts(k, n)
	p.Lo, p.Hi = make([]int64, kv), make([]int64, kv)
	switch d.Intn(5) {
	case 0: // a point
		p.Lo = d.Counts(kv, n)
		p.Hi = slices.Clone(p.Lo)
	case 1: // no lower bounds, and room without end here and there
		p.Hi = d.Counts(kv, n)
		p.Hi[d.Intn(kv)] = math.MaxInt64
	case 2: // full at the lower end
		p.Lo = d.Counts(kv, n)
		for j, l := range p.Lo {
			p.Hi[j] = l + int64(d.Intn(3))*(min(l, math.MaxInt64-l)/2)
		}
	default:
		p.Lo = d.Counts(kv, n/3)
		p.Hi = d.Counts(kv, n)
		for j, l := range p.Lo {
			p.Hi[j] += l
		}
	}
	return p
}

// Counting is a matrix that is computed row by row, counts the rows that are read, and calls Cancel when that is At.
type Counting struct {
	cost.Matrix
	Rows   *atomic.Int64
	At     int64
	Cancel func()
}

// Row is that of cost.Matrix.
func (c Counting) Row(i int, buf []float64) []float64 {
	_, kv := c.Dims()
	if len(buf) < kv {
		buf = make([]float64, kv)
	}
	if c.Rows.Add(1) == c.At {
		c.Cancel()
	}
	return buf[:copy(buf, c.Matrix.Row(i, nil))]
}

// Max returns the largest entry of a cost, and Range its range, as cost.Extent has them.
func Max(c cost.Matrix) float64 {
	largest, _, _ := cost.Extent(context.Background(), c)
	return largest
}

func Range(c cost.Matrix) float64 {
	_, widest, _ := cost.Extent(context.Background(), c)
	return widest
}
