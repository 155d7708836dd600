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
	// Source is the distribution mu on the rows, in any unit: finite, >= 0, not all zero. It is taken as
	// the exact rationals Source / sum Source.
	Source []float64
	// Support lists the rows that the entries of Source belong to: sorted, distinct, as many as
	// Source. Nil means that Source lists all k rows. Zero masses are allowed either way.
	Support []int
	// Lo and Hi bound the columns: 0 <= Lo <= Hi, finite, kv entries each. Hi may exceed 1.
	Lo, Hi []float64
}

// boxTol is how far the bounds may miss total mass 1 (their sum of Lo above it, or their sum
// of Hi below it) and still be taken as the one point that they describe after scaling.
const boxTol = 1e-12

// instance is a validated problem in the form that the solvers work on. Its slices are reused by
// the next.
type instance struct {
	matrix cost.Matrix
	k, kv  int
	rows   []int // rows with mass, ascending
	mass   []dd  // their masses over the total
	scaled []float64
	*limits
}

// limits is what the columns may hold.
type limits struct {
	lo, hi []float64 // the box, or the point rounded to floats when it is one
	// When the box is one point by rounding, point holds the bounds that describe it: the point
	// is point / pointSum exactly, and lo = hi = that, rounded.
	point    []float64
	pointSum dd
	level    int // then +1 if the lower bounds fill everything and -1 if the upper ones do, else 0

	low, room []uint64 // the box in units
	mask      []bool   // columns that can take mass; nil when all can
}

// newInstance validates p. Costs are checked when they are read.
func newInstance(p Problem) (*instance, error) {
	in := &instance{limits: new(limits)}
	return in, in.set(p)
}

// set validates p.
func (in *instance) set(p Problem) error {
	if err := in.setMatrix(p.Cost); err != nil {
		return err
	}
	if err := in.setSource(p.Source, p.Support); err != nil {
		return err
	}
	return in.setBox(in.kv, p.Lo, p.Hi)
}

// setMatrix checks the shape of the cost.
func (in *instance) setMatrix(c cost.Matrix) error {
	k, kv, err := dims(c)
	if err != nil {
		return err
	}
	if int64(k)+int64(kv) >= math.MaxInt32 {
		return fmt.Errorf("%w: %d + %d nodes, at most 2^31 - 2", ErrShape, k, kv)
	}
	in.matrix, in.k, in.kv = c, k, kv
	return nil
}

// setSource checks the source.
func (in *instance) setSource(source []float64, support []int) error {
	if err := checkSupport(in.k, len(source), support); err != nil {
		return err
	}
	scaled, sum, err := normalised("Source", source, in.scaled)
	if err != nil {
		return err
	}
	in.scaled = scaled
	in.rows, in.mass = in.rows[:0], in.mass[:0]
	for n, m := range scaled {
		if source[n] > 0 {
			i := n
			if support != nil {
				i = support[n]
			}
			in.rows = append(in.rows, i)
			in.mass = append(in.mass, dd{hi: m}.over(sum))
		}
	}
	return nil
}

// checkSupport checks the rows that the n entries of a source belong to.
func checkSupport(k, n int, support []int) error {
	want := k
	if support != nil {
		want = len(support)
	}
	if n != want {
		return fmt.Errorf("%w: Source has %d entries, want %d", ErrShape, n, want)
	}
	last := -1
	for n, i := range support {
		if i <= last || i >= k {
			return fmt.Errorf("%w: Support[%d] = %d, want above %d and below %d", ErrSupport, n, i, last, k)
		}
		last = i
	}
	return nil
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

// normalised checks the entries of a distribution and returns them times a power of two, in dst, such that the largest is
// between 1/2 and 1, and their sum, which is at least 1/2: nothing can overflow. Entries that fall below the normal range in
// this way, and their parts of the whole, are off by less than lostMass.
func normalised(name string, xs, dst []float64) (scaled []float64, sum dd, err error) {
	if err := checkEntries(name, xs); err != nil {
		return nil, dd{}, err
	}
	most := 0.0
	for _, x := range xs {
		most = max(most, x)
	}
	if most == 0 {
		return nil, dd{}, fmt.Errorf("%w: the %d entries of %s sum to 0", ErrMass, len(xs), name)
	}
	_, e := math.Frexp(most)
	scaled = grow(dst, len(xs))
	for n, x := range xs {
		if scaled[n] = shifted(x, -e); x > 0 {
			scaled[n] = max(scaled[n], math.SmallestNonzeroFloat64) // it counts among those with mass
		}
	}
	return scaled, total(scaled, 1), nil
}

// lostMass bounds the error of a mass over the total where that is below nearlySubnormal: it is scaled, divided by
// a sum of at least 1/2 with one correction, and rounded, each of which is off by two steps of 2^-1074 at most.
const lostMass = 0x1p-1070

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

// setBox checks the bounds and decides, exactly, whether they leave a box, one point or nothing.
func (x *limits) setBox(kv int, lo, hi []float64) error {
	if len(lo) != kv || len(hi) != kv {
		return fmt.Errorf("%w: Lo has %d entries and Hi %d, want %d", ErrShape, len(lo), len(hi), kv)
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
	// Entries above 2 count as 2: that settles the comparison either way, and nothing overflows.
	switch sumLo, sumHi := total(lo, 2), total(hi, 2); {
	case sumLo.compare(lo, 2, 1, 0) > 0:
		if sumLo.compare(lo, 2, 1, boxTol) > 0 {
			return fmt.Errorf("%w: no distribution in the box: Lo sums to more than 1, by %v", ErrInfeasible, sumLo.plusFloat(-1).hi)
		}
		x.setPoint(lo, total(lo, 2))
		x.level = 1
	case sumHi.compare(hi, 2, 1, 0) < 0:
		if sumHi.compare(hi, 2, 1, -boxTol) < 0 {
			return fmt.Errorf("%w: no distribution in the box: Hi sums to less than 1, by %v", ErrInfeasible, -sumHi.plusFloat(-1).hi)
		}
		x.setPoint(hi, total(hi, 2))
		x.level = -1
	default:
		x.lo, x.hi, x.point, x.level = lo, hi, nil, 0
		x.prepare()
	}
	return nil
}

// setPoint makes the box the one point b / sum. Where b is positive, so is the point in floats.
func (x *limits) setPoint(b []float64, sum dd) {
	x.point, x.pointSum, x.level = b, sum, 0
	q := make([]float64, len(b))
	for j, m := range b {
		if q[j] = (dd{hi: m}.over(x.pointSum).value()); m > 0 {
			q[j] = max(q[j], math.SmallestNonzeroFloat64)
		}
	}
	x.lo, x.hi = q, q
	x.prepare()
}

// prepare fills in the rest.
func (x *limits) prepare() {
	x.low, x.room = grow(x.low, len(x.lo)), grow(x.room, len(x.lo))
	boxUnits(x.lo, x.hi, x.low, x.room)
	x.mask = nil
	for _, h := range x.hi {
		if h == 0 {
			x.mask = make([]bool, len(x.hi))
			for j, h := range x.hi {
				x.mask[j] = h > 0
			}
			break
		}
	}
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
