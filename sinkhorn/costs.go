package sinkhorn

import (
	"context"
	"fmt"
	"math"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/projection"
)

// costs is the cost matrix on the rows with mass and the columns with room.
type costs struct {
	watch
	k, n int
	row  [][]float64
	min  []float64 // of each row
	max  float64   // of all
	most float64   // also of columns with hi > 0 that do not take part: no mass moves for more
	rng  float64   // largest range of a row
	// rest holds, for costs that are computed, those of the columns that take no part, row by row.
	rest []float64
	// base, if not nil, was taken out of every row (see reduce), offset is its cost sum mu_i base_i,
	// and shift that times 2^exp.
	base          []float64
	offset, shift float64
	top           float64 // most, in the cost's own units, base included
	// exp is not 0 when costs near the ends of the float64 range were multiplied by 2^exp; reg is
	// the regularisation times 2^exp.
	exp int
	reg float64
}

// Costs are rescaled when the largest is outside [2^-800, 2^800], or Reg so small that 1/Reg is not
// a number of normal size.
const (
	safeMax = 0x1p800
	safeMin = 0x1p-800
)

// load reads and checks the rows with mass. If the context ends on the way, the costs are cut, and nothing else of
// them counts.
func load(ctx context.Context, in *instance) (*costs, error) {
	c := &costs{k: len(in.rows), n: in.live(), reg: in.reg}
	c.ctx = ctx
	if c.ended() {
		return c, nil
	}
	c.row = make([][]float64, c.k)
	c.min = make([]float64, c.k)
	high := make([]float64, c.k)
	most := make([]float64, c.k)
	d, dense := in.matrix.(*cost.Dense)
	m := chunks(c.k, in.kv)
	errs := make([]error, m)
	var data []float64
	if !dense || in.cols != nil {
		if c.k > cost.MaxEntries/c.n {
			return nil, fmt.Errorf("%w: %d x %d entries, at most %d", ErrShape, c.k, c.n, cost.MaxEntries)
		}
		data = make([]float64, c.k*c.n)
		if !dense {
			c.rest = make([]float64, c.k*(in.kv-c.n))
		}
	}
	c.loop(m, func(ch int) {
		from, to := chunkRows(c.k, m, ch)
		var buf []float64
		if !dense {
			buf = make([]float64, in.kv)
		}
		for r := from; r < to; r++ {
			if (r-from)%lookRows == 0 && c.ended() {
				return
			}
			i := in.rows[r]
			var row []float64
			if dense {
				row = d.Data[i*in.kv : (i+1)*in.kv : (i+1)*in.kv]
			} else if row = in.matrix.Row(i, buf); len(row) != in.kv {
				errs[ch] = fmt.Errorf("%w: row %d of the cost has %d entries, want %d", ErrShape, i, len(row), in.kv)
				return
			}
			lo, hi, ok := extent(row)
			if !ok {
				errs[ch] = projection.CheckRow(i, row, in.kv)
				return
			}
			if data != nil {
				dst := data[r*c.n : (r+1)*c.n : (r+1)*c.n]
				if in.cols == nil {
					copy(dst, row)
				} else {
					for n, j := range in.cols {
						dst[n] = row[j]
					}
					if !dense {
						in.others(row, c.rest[r*(in.kv-c.n):])
					}
					for _, j := range in.tiny {
						most[r] = math.Max(most[r], row[j])
					}
					lo, hi, _ = extent(dst)
				}
				row = dst
			}
			c.row[r], c.min[r], high[r] = row, lo, hi
		}
	})
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	if c.cut() {
		return c, nil
	}
	for r, hi := range high {
		c.max = math.Max(c.max, hi)
		c.most = max(c.most, hi, most[r])
		c.rng = math.Max(c.rng, hi-c.min[r])
	}
	if in.reg < minRelReg*c.rng {
		return nil, fmt.Errorf("%w: Reg = %v is below %v of the range %v of the cost", ErrReg, in.reg, minRelReg, c.rng)
	}
	c.top = c.most
	if c.max > 64*c.rng {
		c.reduce(in, high)
	}
	if c.max > safeMax || c.max < safeMin && c.max > 0 || in.reg < safeMin || in.reg > safeMax {
		c.rescale(high)
	}
	c.patient(c.k * c.n)
	return c, nil
}

// reduce takes the least cost out of every row: when all ranges are far below the costs, potentials
// of the size of the costs would have no digits left for what matters. The differences are exact
// unless the least cost is below half of the other, and then off by 2^-52 of the range at most.
func (c *costs) reduce(in *instance, high []float64) {
	c.base = c.min
	c.min = make([]float64, c.k)
	data := make([]float64, c.k*c.n)
	for r, row := range c.row {
		dst := data[r*c.n : (r+1)*c.n : (r+1)*c.n]
		for j, x := range row {
			dst[j] = x - c.base[r]
		}
		c.row[r] = dst
		high[r] -= c.base[r]
	}
	c.offset = math.Min(num.Dot(in.mass, c.base), math.MaxFloat64)
	c.shift = c.offset
	c.max, c.most = c.rng, c.rng
}

// rescale multiplies copies of the rows by a power of two.
func (c *costs) rescale(high []float64) {
	size := c.max
	if size == 0 {
		size = c.reg
	}
	_, e := math.Frexp(size)
	c.exp = -e
	data := make([]float64, c.k*c.n)
	for r, row := range c.row {
		dst := data[r*c.n : (r+1)*c.n : (r+1)*c.n]
		for j, x := range row {
			dst[j] = math.Ldexp(x, c.exp)
		}
		c.row[r] = dst
		c.min[r] = math.Ldexp(c.min[r], c.exp)
		high[r] = math.Ldexp(high[r], c.exp)
	}
	c.max = math.Ldexp(c.max, c.exp)
	c.most = math.Min(math.Ldexp(c.most, c.exp), math.MaxFloat64)
	c.rng = math.Ldexp(c.rng, c.exp)
	c.shift = math.Ldexp(c.shift, c.exp)
	// A Reg beyond the range of floats after scaling is as good as infinite: the plan is then
	// uniform in every row to the last bit.
	// Logarithms of v times it must stay finite.
	c.reg = math.Min(math.Ldexp(c.reg, c.exp), 0x1p900)
}
