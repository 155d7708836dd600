package sinkhorn

import (
	"context"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/projection"
)

const (
	// heldCells is the number of entries up to which GapProjector holds a cost that is not in memory: half a gigabyte.
	heldCells = 1 << 26
	// fewPoints is the number of points up to which a distribution on a large grid is solved without its structure.
	fewPoints = 64
	// fewReg is the least Reg for those. Fewer levels of annealing are a third of the time on 256 x 256 cells; the
	// projections of few points are far apart, and this Reg is a thousandth of their cost.
	fewReg = 1e-5
)

// GapProjector projects one distribution after the other with the same cost and box, and chooses Reg. It is for callers
// who need a gap (Settings.Gap) on the problem without entropy. A result depends on nothing but the distribution.
// Project may be called from several goroutines at once.
type GapProjector struct {
	problem  Problem // without a source
	settings Settings
	many     *Projector // nil if the cost is too large to hold
}

// NewGapProjector takes Reg as rho times the range of the cost (RelativeReg; 1 if all costs are zero) and keeps a
// Projector. A cost too large to hold is read anew for every distribution. On a grid of that size with squared
// distances, Reg is (h/2)^2 for cells h wide, since the range would take a sweep over all pairs. The bounds are kept,
// not copied.
//
// Errors are those of NewProjector and RelativeReg.
func NewGapProjector(c cost.Matrix, lo, hi []float64, rho float64, s Settings) (*GapProjector, error) {
	k, kv, err := projection.Dims(c)
	if err != nil {
		return nil, err
	}
	a := &GapProjector{problem: Problem{Cost: c, Lo: lo, Hi: hi}, settings: s}
	_, held := c.(*cost.Dense)
	held = held || kv <= heldCells/k
	if grid, ok := c.(*cost.Grid); ok && !held && grid.P() == 2 {
		rows, cols := grid.Size()
		h := 1 / float64(max(rows, cols))
		a.problem.Reg = h * h / 4
		return a, nil
	}
	a.problem.Reg, err = RelativeReg(c, rho)
	if !held {
		return a, err
	}
	if err != nil && cost.Validate(c) == nil && cost.Max(c) == 0 {
		a.problem.Reg, err = 1, nil
	}
	if err != nil {
		return nil, err
	}
	a.many, err = NewProjector(c, lo, hi, a.problem.Reg, s)
	return a, err
}

// Project is Projector.Project. r.Reg holds the Reg that was chosen.
func (a *GapProjector) Project(ctx context.Context, source []float64, support []int, r *Result) error {
	if a.many != nil {
		return a.many.Project(ctx, source, support, r)
	}
	p := a.problem
	p.Source, p.Support = source, support
	points := 0
	for _, x := range source {
		if x > 0 {
			points++
		}
	}
	if points <= fewPoints {
		p.Reg = max(p.Reg, fewReg)
	}
	var err error
	*r, err = Project(ctx, p, a.settings)
	return err
}
