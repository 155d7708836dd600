package sinkhorn

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/rowcache"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/wpmerr"
)

// Problem is one entropic projection: the distribution Source, to be moved into the box
// Lo <= q <= Hi, sum q = 1, at least <C, P> + Reg sum P log P. The fields but Reg are those of projection.Problem.
// Nothing in it is modified or retained.
type Problem struct {
	// Cost is the k x kv matrix C, finite and >= 0.
	Cost cost.Matrix
	// Source is the distribution mu on the rows. It is taken as the exact rationals
	// Source / sum Source: any finite masses >= 0 with a positive sum, such as counts.
	Source []float64
	// Support lists the rows that the entries of Source belong to: sorted, distinct, as many as
	// Source. Nil means that Source lists all k rows. Zero masses are allowed either way.
	Support []int
	// Lo and Hi bound the columns: 0 <= Lo <= Hi, finite, kv entries each. Hi may exceed 1.
	Lo, Hi []float64
	// Reg is the entropic weight, in units of C: finite and > 0. RelativeReg computes suitable values. With Settings.Gap,
	// Reg = 0 stands for the first weight of the annealing whose certified gap is small enough; see Result.Reg.
	Reg float64
}

// Exact returns the problem without the entropy.
func (p Problem) Exact() projection.Problem {
	return projection.Problem{Cost: p.Cost, Source: p.Source, Support: p.Support, Lo: p.Lo, Hi: p.Hi}
}

const (
	// tinyMass is an upper bound of a column up to which the column takes no part: it gets its lower
	// bound and nothing else. (Scalings of such columns would leave the range of float64.) So does a
	// lower bound up to this for method Fast.
	tinyMass = 1e-200
	// minRelReg is the least Reg over the range of the cost: below, the exponents C/Reg keep no
	// digit after the point that matters.
	minRelReg = 1e-9
)

// instance is a validated problem in the form that the solvers work on: its Rows are those that take part, and mass
// has their masses. If the lower bounds fill everything, or the upper ones do, Lo and Hi are both the point that is left.
type instance struct {
	projection.Instance
	matrix cost.Matrix
	mass   []float64 // over the total
	faint  []int     // rows whose mass is below the least float: they take no part
	// cols lists the columns that take part, Hi > tinyMass, ascending; nil when all do. tiny lists
	// those with 0 < Hi <= tinyMass.
	cols, tiny []int
	reg        float64
	// choose says that Reg is chosen by Settings.Gap. Then reg is the least one that may be: 1 until the costs are known.
	choose bool
}

// leastReg is the least Reg that may be chosen for costs of that range: below, exponents keep no digit that matters, or
// Reg is subnormal and loses digits itself.
func leastReg(rng float64) float64 { return max(minRelReg*rng, 0x1p-1022) }

// live returns the number of columns that take part.
func (in *instance) live() int {
	if in.cols == nil {
		return in.Kv
	}
	return len(in.cols)
}

// compact returns the entries of the live columns.
func (in *instance) compact(x []float64) []float64 {
	if in.cols == nil {
		return x
	}
	y := make([]float64, len(in.cols))
	for n, j := range in.cols {
		y[n] = x[j]
	}
	return y
}

// newInstance validates p. Costs are checked when they are read, and Reg against their range then.
func newInstance(p Problem) (*instance, error) {
	in := &instance{matrix: p.Cost, reg: p.Reg}
	if err := in.Set(p.Exact()); err != nil {
		return nil, err
	}
	in.weigh()
	in.chooseColumns()
	return in, checkReg("Reg", p.Reg)
}

// checkReg checks a regularisation, or one relative to the cost.
func checkReg(name string, x float64) error {
	if !(x > 0) || math.IsInf(x, 0) {
		return fmt.Errorf("%w: %s = %v, want a finite number > 0", wpmerr.ErrReg, name, x)
	}
	return nil
}

// weigh finds the masses of the rows, and takes out those that are too small.
func (in *instance) weigh() {
	rows := in.Rows
	in.Rows, in.mass, in.faint = rows[:0], in.mass[:0], in.faint[:0]
	for n, i := range rows {
		if m := in.Mass[n].Float(); m > 0 {
			in.Rows = append(in.Rows, i)
			in.mass = append(in.mass, m)
		} else {
			in.faint = append(in.faint, i)
		}
	}
}

// faintRows is what the rows whose mass is below the least float add to an upper bound.
type faintRows struct {
	cost float64 // what they can cost, at most; 0 if there are none
	top  float64 // their largest cost
}

// readFaint reads the rows whose mass is below the least float, unless the context ends: then the error is its own.
func (in *instance) readFaint(ctx context.Context) (l faintRows, err error) {
	top := make([]float64, len(in.faint))
	err = rowcache.Read(ctx, in.matrix, in.faint, nil, func(n int, row []float64) error {
		if err := projection.CheckRow(in.faint[n], row, in.Kv); err != nil {
			return err
		}
		top[n] = slices.Max(row)
		return nil
	})
	for _, x := range top {
		l.top = max(l.top, x)
		l.cost += max(x*projection.LostMass, math.SmallestNonzeroFloat64)
	}
	return l, err
}

// add returns an upper bound for all rows, given one for those that take part, the share of the mass that Verify
// charges at the largest cost, and the largest cost of the others.
func (l faintRows) add(upper, charged, most float64) float64 {
	if l.cost == 0 {
		return upper
	}
	if l.top > most {
		upper = math.Nextafter(upper+l.top*charged*(1+0x1p-51), math.Inf(1))
	}
	return min(math.Nextafter(upper+l.cost, math.Inf(1)), max(most, l.top))
}

// chooseColumns finds the columns that take part.
func (in *instance) chooseColumns() {
	switch in.Full { // one point is left
	case 1:
		in.Hi = in.Lo
	case -1:
		in.Lo = in.Hi
	}
	cols := make([]int, 0, in.Kv)
	for j, h := range in.Hi {
		if h > tinyMass {
			cols = append(cols, j)
		} else if h > 0 {
			in.tiny = append(in.tiny, j)
		}
	}
	if len(cols) < in.Kv {
		in.cols = cols
	}
}

// RelativeReg returns rho * R, R = max_i (max_j C_ij - min_j C_ij) being the range of the cost, or
// rho * max C when R = 0: the natural unit of Reg. Values of rho from 1e-3 to 1e-2 are a good
// compromise. It reads the whole cost once; the errors are ErrShape, ErrNotFinite, ErrNegative, ErrReg
// (rho not a finite number > 0, or a product that is not) and ErrNotConverged, if the context ends.
func RelativeReg(ctx context.Context, c cost.Matrix, rho float64) (float64, error) {
	if _, _, err := projection.Dims(c); err != nil {
		return 0, err
	}
	if err := checkReg("rho", rho); err != nil {
		return 0, err
	}
	largest, r, err := cost.Extent(ctx, c)
	if err != nil {
		return 0, err
	}
	if r == 0 {
		r = largest
	}
	if reg := rho * r; reg > 0 && !math.IsInf(reg, 0) {
		return reg, nil
	}
	return 0, fmt.Errorf("%w: %v times the range %v of the cost is not a positive float64", wpmerr.ErrReg, rho, r)
}
