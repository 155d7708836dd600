package sinkhorn

import (
	"context"
	"fmt"
	"math"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/wpmerr"
)

// Problem is one entropic projection: to move Source into the box at least <C, P> + Reg sum P log P. Nothing in it is
// modified or retained.
type Problem struct {
	projection.Problem // without the entropy
	// Reg is the entropic weight, in units of C: finite and > 0. RelativeReg computes suitable values. With Settings.Gap,
	// Reg = 0 stands for the first weight of the annealing whose certified gap is small enough; see Result.Reg.
	Reg float64
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

// instance is a validated problem in the form that the solvers work on. mass has the masses of its Rows: 0 where they are
// lost to underflow. If the lower bounds fill everything, or the upper ones do, Lo and Hi are both the point that is left.
type instance struct {
	projection.Instance
	matrix cost.Matrix
	mass   []float64 // over the total
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
	if err := in.Set(p.Problem); err != nil {
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

// weigh finds the masses of the rows.
func (in *instance) weigh() {
	in.mass = in.mass[:0]
	for _, m := range in.Mass {
		in.mass = append(in.mass, m.Float())
	}
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
