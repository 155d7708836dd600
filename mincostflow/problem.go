package mincostflow

import (
	"math"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/mincostflow/internal/simplex"
	"github.com/wpm-go/wpm/projection"
)

// Problem is one projection: the distribution Source, to be moved at least cost into the box Lo <= q <= Hi, sum q = 1.
// Nothing in it is modified or retained.
type Problem = projection.Problem

// lostMass bounds the error of a mass over the total where that is below nearlySubnormal.
const lostMass = projection.LostMass

// instance is a validated problem in the form that the solvers work on. Its slices are reused by the next.
type instance struct {
	matrix            cost.Matrix
	projection.Source // its rows with mass
	*limits
}

// limits is what the columns may hold.
type limits struct {
	lo, hi []float64 // the box, or the point rounded to floats when it is one
	// When the box is one point by rounding, or a target, point holds the bounds that describe it: the point
	// is point / pointSum exactly, and lo = hi = that, rounded.
	point    []float64
	pointSum num.Twofold
	level    int // then +1 if the lower bounds fill everything and -1 if the upper ones do, else 0

	low, room []uint64 // the box in units
}

// set validates p.
func (in *instance) set(p Problem) error {
	k, kv, err := simplex.Dims(p.Cost)
	if err != nil {
		return err
	}
	in.matrix = p.Cost
	if err := in.setSource(k, p.Source, p.Support); err != nil {
		return err
	}
	return in.setBox(kv, p.Lo, p.Hi)
}

// setSource checks the source, for k rows.
func (in *instance) setSource(k int, source []float64, support []int) error {
	if err := in.Source.Set(k, source, support); err != nil {
		return err
	}
	for n, m := range in.Mass {
		if m.Hi == 0 { // its row counts among those with mass
			in.Mass[n].Hi = math.SmallestNonzeroFloat64
		}
	}
	return nil
}

// setBox checks the bounds.
func (x *limits) setBox(kv int, lo, hi []float64) error {
	var b projection.Box
	if err := b.Set(kv, lo, hi); err != nil {
		return err
	}
	x.take(b)
	return nil
}

// take makes b what the columns may hold.
func (x *limits) take(b projection.Box) {
	x.lo, x.hi, x.point, x.pointSum, x.level = b.Lo, b.Hi, b.Point, b.Sum, 0
	if b.Point != nil {
		x.level = b.Full
	}
	x.low, x.room = num.Grow(x.low, len(x.lo)), num.Grow(x.room, len(x.lo))
	boxUnits(x.lo, x.hi, x.low, x.room)
}

// live reports whether column j takes part, that is, whether it may take anything.
func (x *limits) live(j int) bool { return x.low[j] > 0 || x.room[j] > 0 }
