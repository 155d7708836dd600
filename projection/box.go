package projection

import (
	"fmt"
	"math"
	"slices"

	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/wpmerr"
)

// BoxTol is how far the bounds may miss total mass 1 (sum Lo above 1, or sum Hi below 1) and still be taken as the one
// point that they describe after scaling.
const BoxTol = 1e-12

// Box is what the columns may hold, checked: a box with room, or one point.
type Box struct {
	// Lo and Hi are the bounds or, if there is a Point, both are that in floats.
	Lo, Hi []float64
	// Full is +1 if the lower bounds sum to 1, and -1 if the upper bounds do, in each case up to the tolerance: the box is
	// then a single point. Otherwise it is 0.
	Full int
	// Point, if not nil, are bounds that describe a single point up to their scale: it is Point / Sum exactly.
	Point []float64
	Sum   num.Twofold
}

// Set checks the bounds of kv columns and decides, exactly, whether they leave a box, one point or nothing. It keeps lo
// and hi and does not change them. Errors: those of CheckBounds, and ErrInfeasible.
func (b *Box) Set(kv int, lo, hi []float64) error {
	if err := CheckBounds(kv, lo, hi); err != nil {
		return err
	}
	*b = Box{Lo: lo, Hi: hi}
	// Entries above 2 count as 2: that settles the comparison either way, and nothing overflows.
	if sum := num.CappedSum(lo, 2); sum.CompareSum(lo, 2, 1, 0) >= 0 {
		if sum.CompareSum(lo, 2, 1, BoxTol) > 0 {
			return infeasible("Lo sums to more than 1, by %v", sum.PlusFloat(-1).Hi)
		}
		b.fill(1, lo, sum)
	} else if sum := num.CappedSum(hi, 2); sum.CompareSum(hi, 2, 1, 0) <= 0 {
		if sum.CompareSum(hi, 2, 1, -BoxTol) < 0 {
			return infeasible("Hi sums to less than 1, by %v", -sum.PlusFloat(-1).Hi)
		}
		b.fill(-1, hi, sum)
	}
	return nil
}

func infeasible(format string, by float64) error {
	return fmt.Errorf("%w: no distribution in the box: "+format, wpmerr.ErrInfeasible, by)
}

// SetTarget makes the box the point target / sum target on kv columns, for a target in any unit. Errors: ErrShape,
// ErrNotFinite, ErrNegative, ErrMass.
func (b *Box) SetTarget(kv int, target []float64) error {
	if len(target) != kv {
		return fmt.Errorf("%w: Target has %d entries, want %d", wpmerr.ErrShape, len(target), kv)
	}
	scaled, sum, err := scale("Target", target, 0, nil)
	if err != nil {
		return err
	}
	b.Full = 0
	for j, x := range target {
		if x > 0 {
			scaled[j] = max(scaled[j], math.SmallestNonzeroFloat64)
		}
	}
	b.scaled(scaled, sum)
	return nil
}

// fill says that the bounds x fill everything. They sum to sum, which is 1 up to the tolerance.
func (b *Box) fill(full int, x []float64, sum num.Twofold) {
	b.Full = full
	if sum.CompareSum(x, 2, 1, 0) != 0 {
		b.scaled(x, sum)
	}
}

// scaled makes the box the point x / sum. Where x is positive, so is the point in floats.
func (b *Box) scaled(x []float64, sum num.Twofold) {
	q := slices.Clone(x)
	for j, m := range x {
		if m > 0 {
			q[j] = max(num.Twofold{Hi: m}.Over(sum).Float(), math.SmallestNonzeroFloat64)
		}
	}
	*b = Box{q, q, b.Full, x, sum}
}
