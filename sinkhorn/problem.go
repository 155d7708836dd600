package sinkhorn

import (
	"errors"
	"fmt"
	"math"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/num"
)

// Problem is one entropic projection: the distribution Source, to be moved into the box
// Lo <= q <= Hi, sum q = 1, at least <C, P> + Reg sum P log P. Nothing in it is modified or retained.
type Problem struct {
	// Cost is the k x kv matrix C, finite and >= 0.
	Cost cost.Matrix
	// Source is the distribution mu on the rows. It is taken as the exact rationals
	// Source / sum Source: any finite masses >= 0 with a positive sum, such as counts.
	Source []float64
	// Support lists the rows that the entries of Source belong to: sorted, distinct, as many as
	// Source. Nil means that Source lists all k rows. Zero masses are allowed either way.
	Support []int
	// Lo and Hi bound the columns: 0 <= Lo <= Hi, finite, kv entries each. Hi may exceed 1.
	Lo, Hi []float64
	// Reg is the entropic weight, in units of C: finite and > 0. RelativeReg gives sensible ones.
	Reg float64
}

const (
	// boxTol is how far the bounds may miss total mass 1 (their sum of Lo above it, or their sum
	// of Hi below it) and still be taken as the one point that they describe after scaling.
	boxTol = 1e-12
	// tinyMass is an upper bound of a column up to which the column takes no part: it gets its lower
	// bound and nothing else. (Scalings of such columns would leave the range of float64.) So does a
	// lower bound up to this for method Fast.
	tinyMass = 1e-200
	// minRelReg is the least Reg over the range of the cost: below, the exponents C/Reg keep no
	// digit after the point that matters.
	minRelReg = 1e-9
)

// instance is a validated problem in the form that the solvers work on.
type instance struct {
	matrix cost.Matrix
	k, kv  int
	rows   []int     // rows with mass, ascending
	mass   []float64 // their masses over the total
	// lo, hi is the box, kv entries, or the point rounded to floats when it is one.
	lo, hi []float64
	// cols lists the columns that take part, hi > tinyMass, ascending; nil when all do. tiny lists
	// those with 0 < hi <= tinyMass.
	cols, tiny []int
	// level is +1 if the lower bounds fill everything and -1 if the upper ones do, else 0; then
	// q is fixed. point says that the box was scaled to be a point.
	level int
	point bool
	reg   float64
}

// live returns the number of columns that take part.
func (in *instance) live() int {
	if in.cols == nil {
		return in.kv
	}
	return len(in.cols)
}

// newInstance validates p. Costs are checked when they are read, and Reg against their range then.
func newInstance(p Problem) (*instance, error) {
	k, kv, err := dims(p.Cost)
	if err != nil {
		return nil, err
	}
	in := &instance{matrix: p.Cost, k: k, kv: kv, reg: p.Reg}
	if err := in.source(p.Source, p.Support); err != nil {
		return nil, err
	}
	if err := in.box(p.Lo, p.Hi); err != nil {
		return nil, err
	}
	if !(p.Reg > 0) || math.IsInf(p.Reg, 0) {
		return nil, fmt.Errorf("%w: Reg = %v, want a finite number > 0", ErrReg, p.Reg)
	}
	return in, nil
}

// source reads the rows with mass.
func (in *instance) source(source []float64, support []int) error {
	want := in.k
	if support != nil {
		want = len(support)
	}
	if len(source) != want {
		return fmt.Errorf("%w: Source has %d entries, want %d", ErrShape, len(source), want)
	}
	last := -1
	for n, i := range support {
		if i <= last || i >= in.k {
			return fmt.Errorf("%w: Support[%d] = %d, want above %d and below %d", ErrSupport, n, i, last, in.k)
		}
		last = i
	}
	if err := checkEntries("Source", source); err != nil {
		return err
	}
	sum, exp := num.Total(source)
	if sum == 0 {
		return fmt.Errorf("%w: the %d entries of Source sum to 0", ErrMass, len(source))
	}
	for n, m := range source {
		if exp != 0 {
			m = math.Ldexp(m, -exp)
		}
		if m /= sum; m > 0 { // not the least float over a sum above 1
			i := n
			if support != nil {
				i = support[n]
			}
			in.rows = append(in.rows, i)
			in.mass = append(in.mass, m)
		}
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

// checkEntries refuses what is not finite and >= 0.
func checkEntries(name string, xs []float64) error {
	for n, x := range xs {
		if x >= 0 && x <= math.MaxFloat64 {
			continue
		}
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("%w: %s[%d] = %v", ErrNotFinite, name, n, x)
		}
		return fmt.Errorf("%w: %s[%d] = %v", ErrNegative, name, n, x)
	}
	return nil
}

// compareTotal returns the sign of (sum of xs, each capped at most) - t - u, exactly. The xs are
// finite and >= 0, most is about 1, and so are t and u at most.
func compareTotal(xs []float64, most, t, u float64) int {
	// A plain sum is off by at most n*2^-53 times itself, and itself at most n*most.
	var s float64
	for _, x := range xs {
		s += min(x, most)
	}
	d := s - t - u
	if slack := float64(len(xs)+4) * 0x1p-52 * (s + 2); d > slack {
		return 1
	} else if d < -slack {
		return -1
	}
	var a num.Acc
	for _, x := range xs {
		a.Add(min(x, most))
	}
	a.Add(-t)
	a.Add(-u)
	return a.Rat().Sign()
}

// box checks the bounds and decides, exactly, whether they leave a box, one point or nothing.
func (in *instance) box(lo, hi []float64) error {
	if len(lo) != in.kv || len(hi) != in.kv {
		return fmt.Errorf("%w: Lo has %d entries and Hi %d, want %d", ErrShape, len(lo), len(hi), in.kv)
	}
	level, err := checkBox(lo, hi)
	if err != nil {
		return err
	}
	in.lo, in.hi = lo, hi
	switch level {
	case 1:
		in.level = 1
		if compareTotal(lo, 2, 1, 0) != 0 {
			in.setPoint(lo)
		} else {
			in.hi = lo
		}
	case -1:
		in.level = -1
		if compareTotal(hi, 2, 1, 0) != 0 {
			in.setPoint(hi)
		} else {
			in.lo = hi
		}
	}
	dead := 0
	for j, h := range in.hi {
		if h > tinyMass {
			continue
		}
		dead++
		if h > 0 {
			in.tiny = append(in.tiny, j)
		}
	}
	if dead > 0 {
		in.cols = make([]int, 0, in.kv-dead)
		for j, h := range in.hi {
			if h > tinyMass {
				in.cols = append(in.cols, j)
			}
		}
	}
	return nil
}

// checkBox checks the bounds themselves. level is 1 if the lower bounds fill a distribution (or
// exceed it by rounding), -1 if the upper ones do (or fall short by rounding), else 0.
func checkBox(lo, hi []float64) (level int, err error) {
	if err := checkEntries("Lo", lo); err != nil {
		return 0, err
	}
	if err := checkEntries("Hi", hi); err != nil {
		return 0, err
	}
	for j := range lo {
		if lo[j] > hi[j] {
			return 0, fmt.Errorf("%w: Lo[%d] = %v, Hi[%d] = %v", ErrBox, j, lo[j], j, hi[j])
		}
	}
	// Entries above 2 count as 2: that settles the comparison either way, and nothing overflows.
	if compareTotal(lo, 2, 1, 0) >= 0 {
		if compareTotal(lo, 2, 1, boxTol) > 0 {
			return 0, fmt.Errorf("%w: Lo sums to %v", ErrInfeasible, num.Sum(lo))
		}
		return 1, nil
	}
	if compareTotal(hi, 2, 1, 0) <= 0 {
		if compareTotal(hi, 2, 1, -boxTol) < 0 {
			return 0, fmt.Errorf("%w: Hi sums to %v", ErrInfeasible, num.Sum(hi))
		}
		return -1, nil
	}
	return 0, nil
}

// setPoint makes the box the one point b / sum b.
func (in *instance) setPoint(b []float64) {
	in.point = true
	sum := num.Sum(b)
	q := make([]float64, len(b))
	for j, x := range b {
		q[j] = x / sum
	}
	in.lo, in.hi = q, q
}

// badCost is the error for an entry that is not a cost, or nil.
func badCost(i int, row []float64) error {
	for j, c := range row {
		if c >= 0 && c <= math.MaxFloat64 {
			continue
		}
		if math.IsNaN(c) || math.IsInf(c, 0) {
			return fmt.Errorf("%w: %w", ErrNotFinite, &cost.EntryError{I: i, J: j, Value: c, Err: cost.ErrNotFinite})
		}
		return fmt.Errorf("%w: %w", ErrNegative, &cost.EntryError{I: i, J: j, Value: c, Err: cost.ErrNegative})
	}
	return nil
}

// RelativeReg returns rho * R, R = max_i (max_j C_ij - min_j C_ij) being the range of the cost, or
// rho * max C when R = 0: the natural unit of Reg. Values of rho from 1e-3 to 1e-2 are a good
// compromise. It reads the whole cost once; the errors are ErrShape, ErrNotFinite, ErrNegative and
// ErrReg (rho not a finite number > 0, or a product that is not).
func RelativeReg(c cost.Matrix, rho float64) (float64, error) {
	if _, _, err := dims(c); err != nil {
		return 0, err
	}
	if err := cost.Validate(c); err != nil {
		return 0, fmt.Errorf("%w: %w", class(err), err)
	}
	if !(rho > 0) || math.IsInf(rho, 0) {
		return 0, fmt.Errorf("%w: rho = %v, want a finite number > 0", ErrReg, rho)
	}
	r := cost.Range(c)
	if r == 0 {
		r = cost.Max(c)
	}
	if reg := rho * r; reg > 0 && !math.IsInf(reg, 0) {
		return reg, nil
	}
	return 0, fmt.Errorf("%w: %v times the range %v of the cost is not a positive float64", ErrReg, rho, r)
}

// class returns the error of this package for an error of package cost.
func class(err error) error {
	switch {
	case errors.Is(err, cost.ErrNotFinite):
		return ErrNotFinite
	case errors.Is(err, cost.ErrNegative):
		return ErrNegative
	}
	return ErrShape
}
