package mincostflow

import (
	"math"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/mincostflow/internal/simplex"
	"github.com/wpm-go/wpm/projection"
)

// lostMass bounds the error of a mass over the total where that is below nearlySubnormal.
const lostMass = projection.LostMass

// instance is a validated problem in the form that the solvers work on. Its slices are reused by the next.
type instance struct {
	projection.Instance
	net    simplex.Problem // the same in units
	source []float64       // as given, and only for plain transport
}

// level is +1 if the lower bounds fill everything but for a rounding, -1 if the upper ones do, and else 0.
func (in *instance) level() int {
	if in.Point == nil {
		return 0
	}
	return in.Full
}

// set validates p.
func (in *instance) set(p projection.Problem) error {
	if err := in.setCost(p.Cost); err != nil {
		return err
	}
	if err := in.setSource(p.Source, p.Support); err != nil {
		return err
	}
	return in.setBox(p.Lo, p.Hi)
}

// setCost checks the shape of the cost.
func (in *instance) setCost(c cost.Matrix) (err error) {
	in.net.Cost = c
	in.K, in.Kv, err = simplex.Dims(c)
	return err
}

// setSource checks the source.
func (in *instance) setSource(source []float64, support []int) error {
	if err := in.Source.Set(in.K, source, support); err != nil {
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
func (in *instance) setBox(lo, hi []float64) error {
	if err := in.Box.Set(in.Kv, lo, hi); err != nil {
		return err
	}
	in.measure()
	return nil
}

// measure writes the box in units.
func (in *instance) measure() {
	in.net.Low, in.net.Room = num.Grow(in.net.Low, in.Kv), num.Grow(in.net.Room, in.Kv)
	boxUnits(in.Lo, in.Hi, in.net.Low, in.net.Room)
}

// writeSource writes the source in units.
func (in *instance) writeSource() {
	in.net.Rows, in.net.Supply, in.net.Rounded = in.Rows, num.Grow(in.net.Supply, len(in.Rows)), in.Point != nil
	sourceUnits(in.Mass, in.net.Supply)
}

// hub returns the node of the tree after those of the rows with mass and of the columns.
func (in *instance) hub() int32 { return int32(len(in.Rows) + len(in.Lo)) }

// live reports whether column j takes part, that is, whether it may take anything.
func (in *instance) live(j int) bool { return in.net.Low[j] > 0 || in.net.Room[j] > 0 }
