package sinkhorn

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/internal/rowcache"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/sinkhorn/internal/loops"
	"github.com/wpm-go/wpm/wpmerr"
)

// core is what the solvers work on: the instance on the rows with mass and the columns with room, in their units.
type core struct {
	*watch
	k, n   int
	mass   []float64   // of the rows
	lo, hi []float64   // of the columns
	fixed  bool        // the box is a point
	tiny   int         // columns left out that may hold next to nothing
	choose bool        // reg is the least one that may be; see instance
	full   [][]float64 // the rows as they are given
	row    [][]float64 // and those that the solver sees: live columns, in its units
	min    []float64   // of each row
	max    float64     // of all
	most   float64     // also of columns with hi > 0 that do not take part: no mass moves for more
	rng    float64     // largest range of a row
	// base, if not nil, was taken out of every row (see reduce), and offset is its cost sum mu_i base_i.
	base   []float64
	offset float64
	top    float64 // most, in the cost's own units, base included
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
func load(ctx context.Context, in *instance) (*core, error) {
	c := &core{watch: newWatch(ctx), k: len(in.Rows), n: in.live(), mass: in.mass, lo: in.compact(in.Lo),
		hi: in.compact(in.Hi), fixed: in.Full != 0, tiny: len(in.tiny), choose: in.choose, reg: in.reg}
	if c.ended() {
		return c, nil
	}
	if c.k > cost.MaxEntries/c.n {
		return nil, fmt.Errorf("%w: %d x %d entries, at most %d", wpmerr.ErrShape, c.k, c.n, cost.MaxEntries)
	}
	c.full = make([][]float64, c.k)
	c.row, c.min = c.full, make([]float64, c.k)
	high, tiny := make([]float64, c.k), make([]float64, c.k)
	var data []float64
	if in.cols != nil {
		c.row, data = make([][]float64, c.k), make([]float64, c.k*c.n)
	}
	held := c.full
	if _, dense := in.matrix.(*cost.Dense); dense {
		held = nil // rows are in memory
	}
	err := rowcache.Read(ctx, in.matrix, in.Rows, held, func(r int, row []float64) error {
		lo, hi, ok := loops.Extent(row)
		if !ok || len(row) != in.Kv {
			return projection.CheckRow(in.Rows[r], row, in.Kv)
		}
		if held == nil {
			c.full[r] = row
		}
		if in.cols != nil {
			dst := data[r*c.n : (r+1)*c.n : (r+1)*c.n]
			for n, j := range in.cols {
				dst[n] = row[j]
			}
			for _, j := range in.tiny {
				tiny[r] = max(tiny[r], row[j])
			}
			c.row[r] = dst
			lo, hi, _ = loops.Extent(dst)
		}
		c.min[r], high[r] = lo, hi
		return nil
	})
	if err != nil && err == ctx.Err() {
		c.interrupted.Store(true)
		return c, nil
	}
	if err != nil {
		return nil, err
	}
	return c, c.scale(in, high, slices.Max(tiny))
}

// rowsWithMass counts them: on a shared kernel, not all rows have mass.
func (c *core) rowsWithMass() (n int) {
	for _, m := range c.mass {
		if m > 0 {
			n++
		}
	}
	return n
}

// scale finds the sizes of the costs, given the largest of each row and of the columns that take next to nothing, and
// brings them into range.
func (c *core) scale(in *instance, high []float64, tiny float64) error {
	for r, hi := range high {
		c.max = max(c.max, hi)
		if c.mass[r] > 0 {
			c.rng = max(c.rng, hi-c.min[r])
		}
	}
	c.most = max(c.max, tiny)
	if in.choose {
		in.reg = leastReg(c.rng)
		c.reg = in.reg
	}
	if in.reg < minRelReg*c.rng {
		return fmt.Errorf("%w: Reg = %v is below %v of the range %v of the cost", wpmerr.ErrReg, in.reg, minRelReg, c.rng)
	}
	c.top = c.most
	if c.max > 64*c.rng {
		c.reduce()
	}
	if c.max > safeMax || c.max < safeMin && c.max > 0 || in.reg < safeMin || in.reg > safeMax {
		c.rescale()
	}
	c.patient(c.k * c.n)
	return nil
}

// change sets the rows to copies of them, with f of every entry.
func (c *core) change(f func(r int, x float64) float64) {
	rows, data := make([][]float64, c.k), make([]float64, c.k*c.n)
	for r, row := range c.row {
		rows[r] = data[r*c.n : (r+1)*c.n : (r+1)*c.n]
		for j, x := range row {
			rows[r][j] = f(r, x)
		}
	}
	c.row = rows
}

// reduce takes the least cost out of every row: when all ranges are far below the costs, potentials
// of the size of the costs would have no digits left for what matters. The differences are exact
// unless the least cost is below half of the other, and then off by 2^-52 of the range at most.
func (c *core) reduce() {
	c.base, c.min = c.min, make([]float64, c.k)
	c.change(func(r int, x float64) float64 { return x - c.base[r] })
	c.offset = math.Min(num.Dot(c.mass, c.base), math.MaxFloat64)
	c.max, c.most = c.rng, c.rng
}

// rescale multiplies the rows by a power of two.
func (c *core) rescale() {
	size := c.max
	if size == 0 {
		size = c.reg
	}
	_, e := math.Frexp(size)
	c.exp = -e
	c.change(func(_ int, x float64) float64 { return math.Ldexp(x, c.exp) })
	for r, x := range c.min {
		c.min[r] = math.Ldexp(x, c.exp)
	}
	c.max = math.Ldexp(c.max, c.exp)
	c.most = math.Min(math.Ldexp(c.most, c.exp), math.MaxFloat64)
	c.rng = math.Ldexp(c.rng, c.exp)
	// A Reg beyond the range of floats after scaling is as good as infinite: the plan is then
	// uniform in every row to the last bit.
	// Logarithms of v times it must stay finite.
	c.reg = math.Min(math.Ldexp(c.reg, c.exp), 0x1p900)
}
