package sinkhorn

import (
	"fmt"
	"math"
	"slices"

	"github.com/wpm-go/wpm/internal/num"
)

// KLProject returns the distribution q in the box that is closest to s = exp(logS) in the
// Kullback-Leibler divergence KL(q || s), and a multiplier theta with
//
//	q_j = min(max(e^theta s_j, lo_j), hi_j),  sum_j q_j = 1.
//
// s need not have mass 1, and only differences of logS matter for q. It is found exactly: theta is
// bracketed between two neighbours among the 2 kv numbers log(lo_j/s_j), log(hi_j/s_j), which
// settles the columns at a bound, and then solved for, with no tolerance and no iteration that could
// stop early. q is in the box to the last bit, and its exact sum is 1 up to kv * 2^-52.
//
// When every column is at a bound, any theta of an interval will do, and one of them is returned, finite
// unless the lower bounds leave no mass to a column with lo_j = 0 < s_j: then it is -Inf. Columns with s_j = 0 (logS = -Inf) stay at lo_j. Errors are ErrShape, ErrNotFinite (NaN or
// +Inf in logS, anything not finite in the bounds), ErrNegative, ErrBox, ErrInfeasible (no
// distribution in the box, or none with a finite divergence). Bounds that miss mass 1 by at most
// 1e-12 are taken as the point that they describe, scaled. The time is O(kv) on average.
func KLProject(logS, lo, hi []float64) (q []float64, theta float64, err error) {
	if len(lo) != len(logS) || len(hi) != len(logS) {
		return nil, 0, fmt.Errorf("%w: logS has %d entries, lo %d and hi %d", ErrShape, len(logS), len(lo), len(hi))
	}
	for j, x := range logS {
		if math.IsNaN(x) || math.IsInf(x, 1) {
			return nil, 0, fmt.Errorf("%w: logS[%d] = %v", ErrNotFinite, j, x)
		}
	}
	in := &instance{kv: len(logS)}
	if err := in.box(lo, hi); err != nil {
		return nil, 0, err
	}
	q = make([]float64, in.kv)
	if in.point {
		lo, hi = in.lo, in.hi
	}
	var w klWorkspace
	theta, ok := w.project(logS, lo, hi, in.level, q)
	if !ok {
		return nil, 0, fmt.Errorf("%w: the columns with logS > -Inf cannot hold the mass", ErrInfeasible)
	}
	return q, theta, nil
}

// klWorkspace holds the scratch space of KL projections.
type klWorkspace struct {
	low, high []float64 // breakpoints log(lo/s), log(hi/s)
	open      []int     // columns not settled yet
	cuts      []float64
}

// project is KLProject for a checked box with the given level. It reports false if there is no finite divergence.
func (w *klWorkspace) project(logS, lo, hi []float64, level int, q []float64) (theta float64, ok bool) {
	n := len(logS)
	w.low, w.high = grow(w.low, n), grow(w.high, n)
	for j, l := range logS {
		w.low[j], w.high[j] = breakpoint(lo[j], l), breakpoint(hi[j], l)
	}
	if level != 0 {
		bound := lo
		if level < 0 {
			bound = hi
		}
		copy(q, bound)
		return w.flat(logS, lo, hi, q), true
	}

	// Bracket the answer: a <= theta <= b, where the mass at a is below 1 and at b at least 1. Columns
	// whose breakpoints lie outside are settled; the sums hold them. Only positive numbers are
	// added, so nothing cancels.
	a, b := math.Inf(-1), math.Inf(1)
	var bounds num2 // mass of the columns at a bound, twofold
	w.open = w.open[:0]
	for j, l := range logS {
		if math.IsInf(l, -1) || lo[j] == hi[j] {
			bounds.add(lo[j])
			continue
		}
		w.open = append(w.open, j)
	}
	free := make([]int, 0, 8)
	reachable := bounds
	for _, j := range w.open {
		reachable.add(hi[j])
	}
	if reachable.value() < 1 {
		// All hi are needed, and rounding may be all that is missing.
		if reachable.value() < 1-boxTol {
			return 0, false
		}
		for j := range q {
			q[j] = hi[j]
			if math.IsInf(logS[j], -1) {
				q[j] = lo[j]
			}
		}
		repairMass(q, lo, hi)
		return w.flat(logS, lo, hi, q), true
	}
	for {
		// A breakpoint inside (a, b): the median of those that are left.
		w.cuts = w.cuts[:0]
		for _, j := range w.open {
			if x := w.low[j]; a < x && x < b {
				w.cuts = append(w.cuts, x)
			}
			if x := w.high[j]; a < x && x < b {
				w.cuts = append(w.cuts, x)
			}
		}
		if len(w.cuts) == 0 {
			break
		}
		t := quickSelect(w.cuts, len(w.cuts)/2)
		mass := bounds
		for _, j := range free {
			mass.add(math.Exp(t + logS[j]))
		}
		for _, j := range w.open {
			switch {
			case w.low[j] >= t:
				mass.add(lo[j])
			case w.high[j] <= t:
				mass.add(hi[j])
			default:
				mass.add(math.Exp(t + logS[j]))
			}
		}
		if mass.value() < 1 {
			a = t
		} else {
			b = t
		}
		// Settle columns.
		rest := w.open[:0]
		for _, j := range w.open {
			switch {
			case w.low[j] >= b:
				bounds.add(lo[j])
			case w.high[j] <= a:
				bounds.add(hi[j])
			case w.low[j] <= a && w.high[j] >= b:
				free = append(free, j)
			default:
				rest = append(rest, j)
			}
		}
		w.open = rest
	}
	// No breakpoint is inside (a, b) any more: all columns are settled.
	for j := range q {
		switch {
		case math.IsInf(logS[j], -1) || lo[j] == hi[j] || w.low[j] >= b:
			q[j] = lo[j]
		case w.high[j] <= a:
			q[j] = hi[j]
		}
	}
	target := bounds.lessFrom(1)
	if len(free) == 0 || !(target > 0) {
		for _, j := range free {
			q[j] = lo[j]
		}
		repairMass(q, lo, hi)
		return w.flat(logS, lo, hi, q), true
	}
	top := math.Inf(-1)
	for _, j := range free {
		top = math.Max(top, logS[j])
	}
	var sum float64
	for _, j := range free {
		q[j] = math.Exp(logS[j] - top)
		sum += q[j]
	}
	// theta + top and not theta: the sum of the free ones is then right whatever the size of logS.
	scale := target / sum
	for _, j := range free {
		q[j] = math.Min(math.Max(scale*q[j], lo[j]), hi[j])
	}
	repairMass(q, lo, hi)
	theta = math.Log(scale) - top
	return math.Min(math.Max(theta, a), b), true
}

// breakpoint returns log(x) - logS, where e^theta s = x.
func breakpoint(x, logS float64) float64 {
	if x == 0 {
		return math.Inf(-1)
	}
	return logarithm(x) - logS // +Inf for s = 0
}

// logarithm is math.Log, which some processors' versions get wrong for subnormal numbers.
func logarithm(x float64) float64 {
	if !(0 < x && x < 0x1p-1022) {
		return math.Log(x)
	}
	m, e := math.Frexp(x)
	return math.Log(m) + float64(e)*math.Ln2
}

// flat returns a multiplier, the middle or the finite end of the interval, when every q_j is at a bound (or s_j = 0).
func (w *klWorkspace) flat(logS, lo, hi, q []float64) float64 {
	a, b := math.Inf(-1), math.Inf(1)
	for j := range q {
		if math.IsInf(logS[j], -1) {
			continue
		}
		if q[j] > lo[j] {
			a = math.Max(a, w.high[j])
		}
		if q[j] < hi[j] {
			b = math.Min(b, w.low[j])
		}
	}
	switch {
	case math.IsInf(a, -1) && math.IsInf(b, 1):
		return w.anchor(logS, q)
	case math.IsInf(a, -1):
		return b
	case math.IsInf(b, 1), !(a < b): // the latter when rounding makes breakpoints of several columns one
		return a
	}
	return a/2 + b/2 // their difference may be infinite
}

// anchor is the multiplier when the box is a point in every column: the largest mass sets it.
func (w *klWorkspace) anchor(logS, q []float64) float64 {
	best := -1
	for j := range q {
		if q[j] > 0 && !math.IsInf(logS[j], -1) && (best < 0 || q[j] > q[best]) {
			best = j
		}
	}
	if best < 0 {
		return 0
	}
	return breakpoint(q[best], logS[best])
}

// repairMass moves the rounding error of sum q into columns with room, proportionally at first
// and then column by column, so that the exact sum is 1 up to len(q) * 2^-53. The box is never left. q is in the
// box, which holds a distribution.
func repairMass(q, lo, hi []float64) {
	enough := float64(len(q)) * 0x1p-54
	for range 3 {
		d := num.Sum(q)
		d = 1 - d
		if math.Abs(d) <= enough {
			return
		}
		var room float64 // of the columns strictly inside, relative changes
		for j, x := range q {
			if lo[j] < x && x < hi[j] {
				room += x
			}
		}
		if !(math.Abs(d) <= room/2) {
			break
		}
		scale := d / room
		for j, x := range q {
			if lo[j] < x && x < hi[j] {
				q[j] = math.Min(math.Max(x+float64(x*scale), lo[j]), hi[j])
			}
		}
	}
	for range 3 {
		d := 1 - num.Sum(q)
		if math.Abs(d) <= enough {
			return
		}
		for j, x := range q {
			y := math.Min(math.Max(x+d, lo[j]), hi[j])
			d -= y - x
			q[j] = y
			if math.Abs(d) <= enough {
				break
			}
		}
	}
}

// num2 is a compensated running sum of non-negative numbers.
type num2 struct{ s, c float64 }

func (n *num2) add(x float64) {
	t := n.s + x
	d := t - n.s
	n.c += (n.s - (t - d)) + (x - d)
	n.s = t
}

func (n *num2) value() float64 { return n.s + n.c }

// lessFrom returns x - n.
func (n *num2) lessFrom(x float64) float64 { return (x - n.s) - n.c }

// quickSelect returns the element of rank m of xs, which it reorders. Pivots are medians of three.
func quickSelect(xs []float64, m int) float64 {
	for len(xs) > 12 {
		p := median3(xs[0], xs[len(xs)/2], xs[len(xs)-1])
		i, j := 0, len(xs)-1
		for i <= j {
			for xs[i] < p {
				i++
			}
			for xs[j] > p {
				j--
			}
			if i <= j {
				xs[i], xs[j] = xs[j], xs[i]
				i++
				j--
			}
		}
		switch {
		case m <= j:
			xs = xs[:j+1]
		case m >= i:
			xs = xs[i:]
			m -= i
		default:
			return p
		}
	}
	slices.Sort(xs)
	return xs[m]
}

func median3(a, b, c float64) float64 {
	return math.Max(math.Min(a, b), math.Min(math.Max(a, b), c))
}

// grow returns a slice of length n, reusing s if it is large enough. Its content is arbitrary.
func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
