package plan

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/mincostflow"
)

var (
	// ErrLimit: too many places.
	ErrLimit = errors.New("plan: too large")
	// ErrTarget: no choice reaches the target.
	ErrTarget = errors.New("plan: out of reach")
)

const (
	// Worlds is the number of simulations of each prediction: nine of ten worlds to come are below the 28th of them.
	Worlds = 30
	// few worlds are enough for what differs little between them: the floor, and the width of an interval.
	few = 10
	// MaxPairs is the largest number of pairs of an input and an output, or of two inputs: transport reads all of them, 20
	// times for each prediction. The error of a map hardly depends on the resolution of places below that error, so fewer
	// places, or coarser cells, give the same prediction.
	MaxPairs = 1 << 22
	// MaxDevices is the largest number of devices.
	MaxDevices = 1_000_000_000
)

// Problem is what is known before a release.
type Problem struct {
	// Cost is what a release at an output costs a device at an input: k x kv, as of the mechanism. Inputs need
	// distances, as estimate.NewGeometry has them.
	Cost cost.Matrix
	// P is the power of the distance that costs are; distances to the truth are then costs to the power of 1/P. 0 is 1.
	P float64
	// Prior is a public distribution over the inputs in any unit: finite, not negative, with a positive sum. Nil stands
	// for none.
	Prior []float64
}

// Planner predicts. It is immutable and safe for concurrent use.
type Planner struct {
	power    float64
	toOutput *cost.Dense // inputs x outputs
	toInput  *cost.Dense // inputs x inputs
	geometry *estimate.Geometry
	prior    []float64 // nil: none
	worlds   [][]float64
	guess    []float64 // distance of the even map, by world
	region   []float64 // a quarter of the places
}

// New makes the worlds. Errors: ErrShape, cost.ErrExponent, ErrLimit, those of estimate.Guess for the prior and of estimate.NewGeometry
// (ErrNoGeometry above all), and that of ctx.
func New(ctx context.Context, p Problem) (*Planner, error) {
	if err := cost.Validate(ctx, p.Cost); err != nil {
		return nil, err
	}
	k, kv := p.Cost.Dims()
	if max(k, kv) > MaxPairs/k {
		return nil, fmt.Errorf("%w: %d inputs and %d outputs, at most %d pairs: merge places, or use a coarser grid",
			ErrLimit, k, kv, MaxPairs)
	}
	if p.P == 0 {
		p.P = 1
	}
	if !(p.P > 0 && p.P <= math.MaxFloat64) {
		return nil, fmt.Errorf("%w: power %v", cost.ErrExponent, p.P)
	}
	l := &Planner{power: p.P, prior: slices.Clone(p.Prior)}
	var err error
	if l.geometry, err = estimate.NewGeometry(ctx, p.Cost, p.P); err != nil {
		return nil, err
	}
	if l.toOutput, err = cost.Materialize(ctx, p.Cost); err != nil {
		return nil, err
	}
	if l.toInput, err = between(ctx, p.Cost, l.toOutput); err != nil {
		return nil, err
	}
	if p.Prior == nil {
		l.worlds = generic(l.geometry)
	} else if l.worlds, err = around(l.geometry, p.Prior); err != nil {
		return nil, err
	}
	l.region = quarter(l.geometry)
	even := make([]float64, k)
	for i := range even {
		even[i] = 1 / float64(k)
	}
	for _, w := range l.worlds {
		d, err := l.distance(ctx, l.toInput, w, even)
		if err != nil {
			return nil, err
		}
		l.guess = append(l.guess, d)
	}
	return l, nil
}

// between is the cost of moving mass from inputs to inputs.
func between(ctx context.Context, c cost.Matrix, all *cost.Dense) (*cost.Dense, error) {
	m, ok := c.(cost.Metric)
	if !ok || m.Space().Same {
		return all, nil
	}
	inputs, err := m.Between()
	if err != nil {
		return nil, err
	}
	return cost.Materialize(ctx, inputs)
}

// distance is W_p.
func (l *Planner) distance(ctx context.Context, c *cost.Dense, a, b []float64) (float64, error) {
	t, err := mincostflow.Transport(ctx, c, a, b)
	if err != nil {
		return 0, err
	}
	if l.power == 1 {
		return t.Objective, nil
	}
	return math.Pow(t.Objective, 1/l.power), nil
}
