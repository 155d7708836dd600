package aggregate

import (
	"context"
	"fmt"
	"math"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/wpmerr"
)

// Evaluation is how far a distribution over the kv outputs is from a truth over the k inputs.
type Evaluation struct {
	Objective float64 // W_p^p, by exact transport
	Lower     float64 // proved: Lower <= W_p^p <= Upper
	Upper     float64
	// TotalVariation is half the L1 distance; NaN unless inputs and outputs are as many (and then they must be the same
	// points).
	TotalVariation float64
}

// Distance is W_p, the p-th root of the objective.
func (e Evaluation) Distance(p float64) float64 { return Bias(e.Objective, p) }

// Evaluate compares histogram (over the outputs, any positive sum) with truth (over the inputs, any positive sum) under
// the cost C = d^p. Errors: ErrShape, ErrNotFinite, ErrNegative, ErrEmpty (a sum of zero), those of mincostflow. Cost:
// one transport.
func Evaluate(ctx context.Context, c cost.Matrix, truth, histogram []float64) (Evaluation, error) {
	a, err := normalised("truth", truth)
	if err != nil {
		return Evaluation{}, err
	}
	b, err := normalised("histogram", histogram)
	if err != nil {
		return Evaluation{}, err
	}
	r, err := mincostflow.Transport(ctx, c, truth, histogram)
	if err != nil {
		return Evaluation{}, err
	}
	e := Evaluation{Objective: r.Objective, Lower: r.Lower, Upper: r.Upper, TotalVariation: math.NaN()}
	if len(a) == len(b) {
		e.TotalVariation = 0
		for i := range a {
			e.TotalVariation += math.Abs(a[i]-b[i]) / 2
		}
	}
	return e, nil
}

// normalised returns x / sum x, for sums of any size.
func normalised(what string, x []float64) ([]float64, error) {
	if len(x) == 0 {
		return nil, fmt.Errorf("%w: %s has no entries", ErrShape, what)
	}
	var top float64
	if err := wpmerr.Masses(what, x); err != nil {
		return nil, err
	}
	for _, v := range x {
		top = max(top, v)
	}
	if top == 0 {
		return nil, fmt.Errorf("%w: %s is all zero", ErrEmpty, what)
	}
	y := make([]float64, len(x))
	var sum float64
	for i, v := range x {
		y[i] = v / top
		sum += y[i]
	}
	for i := range y {
		y[i] /= sum
	}
	return y, nil
}
