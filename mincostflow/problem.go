package mincostflow

import (
	"fmt"
	"math"

	"github.com/wpm-go/wpm/cost"
)

// Problem is one projection: the distribution Source, to be moved at least cost into the box
// Lo <= q <= Hi, sum q = 1. Nothing in it is modified or retained.
type Problem struct {
	// Cost is the k x kv matrix C, finite and >= 0.
	Cost cost.Matrix
	// Source is the distribution mu on the rows. It is taken as the exact rationals
	// Source / sum Source, and its sum must be within 1e-9 of 1.
	Source []float64
	// Support lists the rows that the entries of Source belong to: sorted, distinct, as many as
	// Source. Nil means that Source lists all k rows. Zero masses are allowed either way.
	Support []int
	// Lo and Hi bound the columns: 0 <= Lo <= Hi, finite, kv entries each. Hi may exceed 1.
	Lo, Hi []float64
}

const (
	// massTol is how far a distribution may be from total mass 1 and still be normalised.
	massTol = 1e-9
	// boxTol is how far the bounds may miss total mass 1 (their sum of Lo above it, or their sum
	// of Hi below it) and still be taken as the one point that they describe after scaling.
	boxTol = 1e-12
)

// instance is a validated problem in the form that the solvers work on.
type instance struct {
	matrix cost.Matrix
	k, kv  int
	rows   []int     // rows with mass, ascending
	mass   []dd      // their masses over the total
	lo, hi []float64 // the box, or the point rounded to floats when it is one
	// When the box is one point by rounding, point holds the bounds that describe it: the point
	// is point / pointSum exactly, and lo = hi = that, rounded.
	point    []float64
	pointSum dd
	// level is then +1 if the lower bounds fill everything and -1 if the upper ones do, else 0.
	level int
}

// newInstance validates p. Costs are checked when they are read.
func newInstance(p Problem) (*instance, error) {
	in, err := newSource(p.Cost, p.Source, p.Support)
	if err != nil {
		return nil, err
	}
	if err := in.box(p.Lo, p.Hi); err != nil {
		return nil, err
	}
	return in, nil
}

// newSource checks the shape of the cost and the source.
func newSource(c cost.Matrix, source []float64, support []int) (*instance, error) {
	k, kv, err := dims(c)
	if err != nil {
		return nil, err
	}
	if int64(k)+int64(kv) >= math.MaxInt32 {
		return nil, fmt.Errorf("%w: %d + %d nodes, at most 2^31 - 2", ErrShape, k, kv)
	}
	want := k
	if support != nil {
		want = len(support)
	}
	if len(source) != want {
		return nil, fmt.Errorf("%w: Source has %d entries, want %d", ErrShape, len(source), want)
	}
	last := -1
	for n, i := range support {
		if i <= last || i >= k {
			return nil, fmt.Errorf("%w: Support[%d] = %d, want above %d and below %d", ErrSupport, n, i, last, k)
		}
		last = i
	}
	sum, err := checkMass("Source", source)
	if err != nil {
		return nil, err
	}
	in := &instance{matrix: c, k: k, kv: kv}
	live := 0
	for _, m := range source {
		if m > 0 {
			live++
		}
	}
	in.rows = make([]int, 0, live)
	in.mass = make([]dd, 0, live)
	for n, m := range source {
		if m > 0 {
			i := n
			if support != nil {
				i = support[n]
			}
			in.rows = append(in.rows, i)
			in.mass = append(in.mass, dd{hi: m}.over(sum))
		}
	}
	return in, nil
}

// dims returns the dimensions of c and refuses what cannot be read without a panic.
func dims(c cost.Matrix) (k, kv int, err error) {
	missing := c == nil
	switch c := c.(type) {
	case *cost.Dense:
		missing = c == nil
	case *cost.Ring:
		missing = c == nil
	case *cost.Grid:
		missing = c == nil
	case *cost.Points:
		missing = c == nil
	case *cost.Cosine:
		missing = c == nil
	case *cost.GreatCircle:
		missing = c == nil
	}
	if missing {
		return 0, 0, fmt.Errorf("%w: Cost is nil", ErrShape)
	}
	k, kv = c.Dims()
	if k < 1 || kv < 1 {
		return 0, 0, fmt.Errorf("%w: Cost is %d x %d, need at least 1 x 1", ErrShape, k, kv)
	}
	// Division, because k*kv can overflow.
	if d, ok := c.(*cost.Dense); ok && (len(d.Data)/kv != k || len(d.Data)%kv != 0) {
		return 0, 0, fmt.Errorf("%w: Cost has %d numbers for %d x %d", ErrShape, len(d.Data), k, kv)
	}
	return k, kv, nil
}

// checkMass checks the entries of a distribution and returns its total.
func checkMass(name string, xs []float64) (dd, error) {
	if err := checkEntries(name, xs); err != nil {
		return dd{}, err
	}
	// Capping at 2 avoids overflow and cannot hide an excess.
	if compareTotal(xs, 2, 1, massTol) > 0 || compareTotal(xs, 2, 1, -massTol) < 0 {
		return dd{}, fmt.Errorf("%w: %s sums to %v", ErrMass, name, total(xs, math.MaxFloat64/float64(len(xs)+1)).hi)
	}
	return total(xs, 2), nil
}

// checkEntries refuses what is not finite and >= 0.
func checkEntries(name string, xs []float64) error {
	for n, x := range xs {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("%w: %s[%d] = %v", ErrNotFinite, name, n, x)
		}
		if x < 0 {
			return fmt.Errorf("%w: %s[%d] = %v", ErrNegative, name, n, x)
		}
	}
	return nil
}

// box checks the bounds and decides, exactly, whether they leave a box, one point or nothing.
func (in *instance) box(lo, hi []float64) error {
	if len(lo) != in.kv || len(hi) != in.kv {
		return fmt.Errorf("%w: Lo has %d entries and Hi %d, want %d", ErrShape, len(lo), len(hi), in.kv)
	}
	if err := checkEntries("Lo", lo); err != nil {
		return err
	}
	if err := checkEntries("Hi", hi); err != nil {
		return err
	}
	for j := range lo {
		if lo[j] > hi[j] {
			return fmt.Errorf("%w: Lo[%d] = %v, Hi[%d] = %v", ErrBox, j, lo[j], j, hi[j])
		}
	}
	in.lo, in.hi = lo, hi
	// Entries above 2 count as 2: that settles the comparison either way, and nothing overflows.
	if compareTotal(lo, 2, 1, 0) > 0 {
		if compareTotal(lo, 2, 1, boxTol) > 0 {
			return fmt.Errorf("%w: Lo sums to more than 1, by %v", ErrInfeasible, total(lo, 2).plusFloat(-1).hi)
		}
		in.setPoint(lo)
		in.level = 1
	} else if compareTotal(hi, 2, 1, 0) < 0 {
		if compareTotal(hi, 2, 1, -boxTol) < 0 {
			return fmt.Errorf("%w: Hi sums to less than 1, by %v", ErrInfeasible, -total(hi, 2).plusFloat(-1).hi)
		}
		in.setPoint(hi)
		in.level = -1
	}
	return nil
}

// setPoint makes the box the one point b / sum b.
func (in *instance) setPoint(b []float64) {
	in.point, in.pointSum = b, total(b, 2)
	q := make([]float64, len(b))
	for j, x := range b {
		q[j] = dd{hi: x}.over(in.pointSum).value()
	}
	in.lo, in.hi = q, q
}

// badCost is the error for an entry that is not a cost.
func badCost(i int, row []float64) error {
	for j, c := range row {
		if math.IsNaN(c) || math.IsInf(c, 0) {
			return fmt.Errorf("%w: %w", ErrNotFinite, &cost.EntryError{I: i, J: j, Value: c, Err: cost.ErrNotFinite})
		}
		if c < 0 {
			return fmt.Errorf("%w: %w", ErrNegative, &cost.EntryError{I: i, J: j, Value: c, Err: cost.ErrNegative})
		}
	}
	return nil
}
