package kl

import (
	"math"
	"slices"

	"github.com/wpm-go/wpm/internal/num"
)

// slack is by how much the mass of all upper bounds may miss 1, and still be meant to reach it.
const slack = 1e-12

// A Workspace projects one vector after the other and keeps the memory between calls. The zero value is ready.
type Workspace struct {
	low, high []float64 // breakpoints log(lo/s), log(hi/s)
	from, to  float64   // from <= theta <= to: the mass is below 1 at from, and at least 1 at to
	breaks    []float64 // those between from and to that are finite, of columns that have a choice
	free      []int     // columns that are inside their bounds there
	fixed     num.Twofold
}

// Project sets q to the projection of exp(logS) and returns theta, finite or -Inf; see the package comment. The box
// is valid and holds a distribution. It reports false if none has a finite divergence: columns with logS = -Inf stay
// at lo; and if some logS is NaN.
//
// If every column is at a bound, every theta of an interval is a solution, and one of them is returned.
func (w *Workspace) Project(logS, lo, hi, q []float64) (theta float64, ok bool) {
	w.start(logS, lo, hi)
	w.from, w.to = math.Inf(-1), math.Inf(1)
	switch most := w.mass(w.to, logS, lo, hi); {
	case !(most >= 1-slack): // or no number
		return 0, false
	case most < 1 && len(w.breaks) > 0: // all upper bounds are needed, and rounding is all that is missing
		w.from, w.breaks = slices.Max(w.breaks), w.breaks[:0]
	}
	for len(w.breaks) > 0 {
		if t := ninther(w.breaks); w.mass(t, logS, lo, hi) < 1 {
			w.from = t
		} else {
			w.to = t
		}
		w.breaks = slices.DeleteFunc(w.breaks, func(x float64) bool { return x <= w.from || x >= w.to })
	}
	w.writeBounds(logS, lo, hi, q)
	return w.solve(logS, lo, hi, q), true
}

// start finds the breakpoints.
func (w *Workspace) start(logS, lo, hi []float64) {
	n := len(logS)
	w.low, w.high, w.breaks = num.Grow(w.low, n), num.Grow(w.high, n), w.breaks[:0]
	for j, l := range logS {
		w.low[j], w.high[j] = breakpoint(lo[j], l), breakpoint(hi[j], l)
		for _, x := range [2]float64{w.low[j], w.high[j]} {
			if lo[j] < hi[j] && !math.IsInf(x, 0) {
				w.breaks = append(w.breaks, x)
			}
		}
	}
}

// ninther is about the median (Tukey 1978): that of the medians of three threes.
func ninther(x []float64) float64 {
	n := len(x) - 1
	return median(median(x[0], x[n/8], x[n/4]), median(x[3*n/8], x[n/2], x[5*n/8]), median(x[3*n/4], x[7*n/8], x[n]))
}

func median(x, y, z float64) float64 { return max(min(x, y), min(max(x, y), z)) }

// mass is that of all columns at theta = t. Only positive numbers are added, so nothing cancels.
func (w *Workspace) mass(t float64, logS, lo, hi []float64) float64 {
	var sum num.Twofold
	for j, l := range logS {
		switch {
		case w.low[j] >= t || math.IsInf(l, -1):
			sum = sum.Add(lo[j])
		case w.high[j] <= t:
			sum = sum.Add(hi[j])
		default:
			sum = sum.Add(math.Exp(t + l))
		}
	}
	return sum.Float()
}

// writeBounds writes the columns at a bound to q, and lists the others.
func (w *Workspace) writeBounds(logS, lo, hi, q []float64) {
	w.fixed, w.free = num.Twofold{}, w.free[:0]
	for j, l := range logS {
		switch {
		case w.low[j] >= w.to || math.IsInf(l, -1) || lo[j] == hi[j]:
			q[j] = lo[j]
		case w.high[j] <= w.from:
			q[j] = hi[j]
		default:
			w.free = append(w.free, j)
			continue
		}
		w.fixed = w.fixed.Add(q[j])
	}
}

// solve gives the columns inside their bounds the mass that is left. If there are none, every theta of the bracket will
// do: its finite end, or the middle.
func (w *Workspace) solve(logS, lo, hi, q []float64) (theta float64) {
	left := (1 - w.fixed.Hi) - w.fixed.Lo
	if len(w.free) > 0 && left > 0 {
		top, sum := w.exponentials(logS, q)
		// theta + top and not theta: the sum of the free ones is then right whatever the size of logS.
		scale := left / sum
		for _, j := range w.free {
			q[j] = clip(scale*q[j], lo[j], hi[j])
		}
		Repair(q, lo, hi)
		return clip(math.Log(scale)-top, w.from, w.to)
	}
	for _, j := range w.free {
		q[j] = lo[j]
	}
	Repair(q, lo, hi)
	switch {
	case len(w.free) > 0, math.IsInf(w.to, 1) && !math.IsInf(w.from, -1):
		return w.from
	case math.IsInf(w.from, -1) && math.IsInf(w.to, 1): // lo = hi throughout
		return 0
	case math.IsInf(w.from, -1):
		return w.to
	}
	return w.from/2 + w.to/2 // their difference may be infinite
}

// exponentials writes s_j / e^top to q for the free columns, where e^top is the largest s_j, and returns their sum.
func (w *Workspace) exponentials(logS, q []float64) (top, sum float64) {
	top = math.Inf(-1)
	for _, j := range w.free {
		top = math.Max(top, logS[j])
	}
	for _, j := range w.free {
		q[j] = math.Exp(logS[j] - top)
		sum += q[j]
	}
	return top, sum
}

func clip(x, lo, hi float64) float64 { return math.Min(math.Max(x, lo), hi) }

// breakpoint returns log(x) - logS, where e^theta s = x.
func breakpoint(x, logS float64) float64 {
	if x == 0 {
		return math.Inf(-1)
	}
	return num.Log(x) - logS // +Inf for s = 0
}

// Scale solves sum_j clip(x s_j, lo_j, hi_j) = 1 for x by Newton's method from near. The mass is piecewise linear in x:
// where the columns at a bound stay the same, a step is exact, and the next one ends it. It reports false, with the
// last x, if it leaves its bracket, takes too many steps, or if no column is strictly between its bounds.
func Scale(s, lo, hi []float64, near float64) (x float64, ok bool) {
	x = near
	below, above := 0.0, math.Inf(1)
	for range 40 {
		fixed, free := piece(s, lo, hi, x)
		if !(free > 0) {
			return x, math.Abs(fixed-1) <= 0x1p-46
		}
		if fixed+x*free < 1 {
			below = math.Max(below, x)
		} else {
			above = math.Min(above, x)
		}
		next := (1 - fixed) / free
		if math.Abs(next-x) <= 0x1p-51*x {
			return next, true
		}
		if !(next > below && next < above) {
			return x, false
		}
		x = next
	}
	return x, false
}

// piece returns the linear piece of the mass at x: fixed + x free.
func piece(s, lo, hi []float64, x float64) (fixed, free float64) {
	lo, hi = lo[:len(s)], hi[:len(s)]
	for j, y := range s {
		z := x * y
		if z <= lo[j] {
			fixed += lo[j]
		} else if z >= hi[j] {
			fixed += hi[j]
		} else {
			free += y
		}
	}
	return fixed, free
}

// Repair moves the rounding error of sum q into columns with room, proportionally at first and then column by column,
// so that the exact sum is 1 up to len(q) * 2^-52. The box is never left. q is in the box, which holds a
// distribution.
func Repair(q, lo, hi []float64) {
	enough := float64(len(q)) * 0x1p-54
	stretched := true
	for turn := range 6 {
		d := 1 - num.Sum(q)
		if math.Abs(d) <= enough {
			return
		}
		if stretched = stretched && turn < 3 && stretch(q, lo, hi, d); !stretched {
			shift(q, lo, hi, d, enough)
		}
	}
}

// stretch moves the mass d into the columns strictly inside their bounds, in proportion to what they have. It reports
// false, and does nothing, if that is too little for d.
func stretch(q, lo, hi []float64, d float64) bool {
	var room float64
	for j, x := range q {
		if lo[j] < x && x < hi[j] {
			room += x
		}
	}
	if !(math.Abs(d) <= room/2) {
		return false
	}
	scale := d / room
	for j, x := range q {
		if lo[j] < x && x < hi[j] {
			q[j] = clip(x+float64(x*scale), lo[j], hi[j])
		}
	}
	return true
}

// shift moves the mass d into the first columns with room, until no more than enough is left.
func shift(q, lo, hi []float64, d, enough float64) {
	for j, x := range q {
		q[j] = clip(x+d, lo[j], hi[j])
		if d -= q[j] - x; math.Abs(d) <= enough {
			return
		}
	}
}
