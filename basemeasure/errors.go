package basemeasure

import (
	"fmt"
	"slices"

	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/wpmerr"
)

// MaxEpsilon is the largest eps that solvers accept: e^MaxEpsilon is well inside float64.
const MaxEpsilon = num.MaxEpsilon

func checkEps(eps float64) error {
	if !(eps >= 0 && eps <= MaxEpsilon) {
		return fmt.Errorf("%w: eps = %v, want 0 <= eps <= %d", wpmerr.ErrEpsilon, eps, MaxEpsilon)
	}
	return nil
}

// checkMeasure is the rule for shapes and base measures: kv finite non-negative numbers, not all zero.
func checkMeasure(what string, m []float64, kv int) error {
	if len(m) != kv {
		return fmt.Errorf("%w: len(%s) = %d, want %d", wpmerr.ErrShape, what, len(m), kv)
	}
	if err := projection.CheckMasses(what, m); err != nil {
		return err
	}
	if slices.Max(m) == 0 {
		return fmt.Errorf("%w: %s is zero", wpmerr.ErrMass, what)
	}
	return nil
}
