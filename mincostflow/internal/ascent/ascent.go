package ascent

import (
	"iter"
	"math"
	"slices"
)

const (
	coarsePerRow = 2 // the first sample has this to twice as many columns for every row
	finer        = 8 // the next ones are finer by this

	// Kinks are width times the typical gap between the costs of a column, times the root of rows over columns of the
	// last sample; with all columns in, narrower by narrower, at most rounds times.
	width    = 1.6
	narrower = 0.5
	rounds   = 3

	newtonSteps = 6   // for every width, at most
	firstSteps  = 24  // for the first sample, which starts from a guess
	longest     = 3   // of a first step, in widths
	Damping     = 0.2 // shift of the matrix, times the mean of its diagonal (Levenberg)
)

// Clock says whether there is time.
type Clock interface{ Going() bool }

// Work is a workspace, and what is known about prices.
type Work struct {
	Clock Clock

	// The costs of column At[c] as integers, in units of about 2^-53 of the largest (of the usual ones, where a few
	// dwarf the others; those are cut) and times RowBits, are Cells[c*k : (c+1)*k]. Columns that take nothing are
	// left out; if there are very many cells, At is a sample.
	Cells []int64
	At    []int32
	Cell  []int32 // c for every column, or -1
	Grain float64 // a unit
	Keys  []int64 // the prices likewise, less the number of the row

	Samples []Sample
	Sorted  []float64

	Gap    float64   // typical, between the two least costs of a column
	Width  float64   // the last width
	stale  bool      // F has changed since it was measured
	Whole  bool      // Samples is every column that takes anything, and not stale
	Total  float64   // mass
	Enough float64   // what the rows may have too much or too little, over total
	Mass   []float64 // of the rows, over total
	F      []float64 // their prices
	old    []float64
	Left   []float64 // what they keep, smoothed
	Step   []float64
	Slope  []float64 // k x k, minus the Hessian of the smoothed dual value; off the diagonal, two entries add up to one
}

// Reset makes w ready for k rows and so much mass. Cells, Grain, At, Cell, Mass and Enough are filled in by the caller.
func (w *Work) Reset(k int, total float64, clock Clock) {
	w.Clock, w.Total = clock, total
	w.Mass, w.F, w.Keys = grow(w.Mass, k), grow(w.F, k), grow(w.Keys, k)
	w.old, w.Left, w.Step = grow(w.old, k), grow(w.Left, k), grow(w.Step, k)
	w.Slope = grow(w.Slope, k*k)
}

// Climb finds prices F near the best for columns that take low to low + room units, and reports whether it could. all
// says that the cells are all columns that take part.
func (w *Work) Climb(low, room []uint64, all bool) bool {
	k, stride := len(w.F), 1
	for len(w.At) >= 2*coarsePerRow*k*stride {
		stride *= 2
	}
	w.Thin(low, room, stride)
	w.Whole, w.Width = false, 0
	if spread := w.Guess(); w.Gap == 0 { // most columns have two rows that cost the same
		w.Gap = spread / float64(k)
	}
	if !(w.Gap > 0 && w.Gap <= math.MaxFloat64) {
		return true
	}
	return w.refine(low, room, stride, all)
}

// Sample stands for some columns.
type Sample struct {
	Low, Room   float64
	Best, Other int64 // the two least of cell - key, as Measure has found them
	At          int32 // its cells
}

// refine climbs on finer and finer samples, and then with narrower and narrower kinks.
func (w *Work) refine(low, room []uint64, stride int, all bool) bool {
	k := len(w.F)
	seen := k
	for round := 0; ; {
		h := float64(w.Gap * width * math.Sqrt(float64(k)/float64(seen)))
		for range round {
			h *= narrower
		}
		steps := newtonSteps
		if seen == k {
			steps = firstSteps
		}
		if !w.climb(h, steps) {
			return false
		}
		seen = len(w.Samples)
		if stride > 1 {
			stride = max(stride/finer, 1)
			w.Thin(low, room, stride)
		} else if round++; round == rounds || w.Unserved() < w.Enough {
			if w.Whole = all; w.stale && w.Whole {
				w.Measure(h)
			}
			return true
		}
	}
}

// climb takes Newton steps for kinks of width h, at most steps, and reports whether prices are finite and the context
// goes on.
func (w *Work) climb(h float64, steps int) bool {
	w.Width, w.stale = h, false
	value := w.Measure(h)
	most := longest * h
	for range steps {
		if w.Unserved() < w.Enough {
			return true
		}
		if !w.Clock.Going() {
			return false
		}
		size := w.Newton(most)
		if !(size <= math.MaxFloat64) {
			return false
		}
		var by float64
		if by, value = w.search(h, value); by == 0 {
			return true
		}
		if by < 1 {
			most = by * size
		} else if size == most {
			most *= 2
		}
		if by*size < h {
			return true
		}
	}
	return true
}

// search adds the step to the prices, or half of it or a quarter, whichever first makes the dual value more than value.
// It returns how much of it and the new value, or 0 if nothing does.
func (w *Work) search(h, value float64) (by, better float64) {
	copy(w.old, w.F)
	for by = 1; by > 0.2; by /= 2 { // a power of two: its products are exact
		for i, d := range w.Step {
			w.F[i] = w.old[i] + by*d
		}
		if better = w.Measure(h); better > value {
			return by, better
		}
	}
	copy(w.F, w.old)
	w.stale = true
	return 0, value
}

// Unserved is how much the rows have too much or too little.
func (w *Work) Unserved() float64 {
	x := 0.0
	for _, l := range w.Left {
		x += math.Abs(l)
	}
	return x
}

// Guess sets prices from which the first sample is climbed: a row reaches from its least cost towards its mean
// cost, as far as its share of all room. It returns the mean of the distances.
func (w *Work) Guess() float64 {
	room, spread := 0.0, 0.0
	for c := range w.Samples {
		room += w.Samples[c].Low + w.Samples[c].Room
	}
	k := len(w.F)
	for i := range w.F {
		least, sum := int64(math.MaxInt64), 0.0
		for c := range w.Samples {
			x := w.Cells[int(w.Samples[c].At)*k+i]
			least = min(least, x)
			sum += float64(x)
		}
		low := float64(least) * w.Grain / RowBits
		reach := sum*w.Grain/RowBits/float64(len(w.Samples)) - low
		if most := 16 * float64(k) * w.Gap; w.Gap > 0 {
			reach = min(reach, most) // the mean may be that of a few costs
		}
		w.F[i] = low + float64(min(2*w.Mass[i]/room, 1)*reach)
		spread += reach
	}
	return spread / float64(len(w.F))
}

// Thin cuts the columns into runs with stride cells each (the last may have fewer). The cell in the
// middle of a run stands for all its columns, also for those without cells.
func (w *Work) Thin(low, room []uint64, stride int) {
	w.Samples = append(w.Samples[:0], Sample{})
	o, n := &w.Samples[0], 0
	for j, l := range low {
		if c := w.Cell[j]; c >= 0 {
			if n == stride {
				w.Samples = append(w.Samples, Sample{})
				o, n = &w.Samples[len(w.Samples)-1], 0
			}
			if n == 0 || n == stride/2 {
				o.At = c
			}
			n++
		}
		o.Low += float64(l)
		o.Room += float64(room[j])
	}
	for c := range w.Samples {
		o := &w.Samples[c]
		o.Low, o.Room = o.Low/w.Total, min(o.Room/w.Total, 1)
	}
}

// Sampled yields some columns: 16 to 31, if there are as many.
func (w *Work) Sampled() iter.Seq[int] {
	return func(yield func(int) bool) {
		for c := 0; c < len(w.At) && yield(c); c += max(1, len(w.At)/16) {
		}
	}
}

// Scale returns the median of the gaps between the two least costs of a column, over some columns.
func (w *Work) Scale() float64 {
	clear(w.F)
	w.Price()
	w.Sorted = w.Sorted[:0]
	for c := range w.Sampled() {
		if m1, m2 := w.Best(c); m2>>RowShift > m1>>RowShift {
			w.Sorted = append(w.Sorted, float64(m2>>RowShift-m1>>RowShift)*w.Grain)
		}
	}
	if len(w.Sorted) == 0 {
		return 0
	}
	slices.Sort(w.Sorted)
	return w.Sorted[len(w.Sorted)/2]
}

// Measure computes the smoothed dual value at f, and its first and second derivatives. Both minima are
// Huber-smoothed. With the two least values m1 <= m2 of a column and half a width w,
//
//	near  = max(w - (m2 - m1), 0)      p2 = near / 2w: the share of the second row
//	m     = m1 - near p2 / 2           the smoothed minimum
//	below = clamp(w - m, 0, 2w)        up = below / 2w: the share of the room that is taken
//
// and derivatives 1/2w where 0 < near, and where 0 < below < 2w. Factors of 0 or 1, min(..., 1), drop them elsewhere:
// the loop has no branches, which would be mispredicted at every other column.
func (w *Work) Measure(h float64) float64 {
	f, left, slope := w.F, w.Left, w.Slope
	k := len(f)
	w.Price()
	clear(slope)
	copy(left, w.Mass)
	for c := range w.Samples {
		o := &w.Samples[c]
		o.Best, o.Other = w.Best(int(o.At))
	}
	halfWidth := max(int64(h/w.Grain), 1)
	inv := 0.5 / float64(halfWidth)
	steep := inv / w.Grain
	value := 0.0 // in units
	for c := range w.Samples {
		o := &w.Samples[c]
		b1, b2 := int(o.Best&(RowBits-1)), int(o.Other&(RowBits-1))
		m := o.Best >> RowShift
		// The parts of the two best rows.
		near := max(halfWidth-(o.Other>>RowShift-m), 0)
		p2 := float64(float64(near) * inv)
		p1 := 1 - p2
		m -= int64(float64(near) * p2 * 0.5)
		// The part of the room that is taken.
		below := min(max(halfWidth-m, 0), 2*halfWidth)
		up := float64(float64(below) * inv)
		q := o.Low + float64(o.Room*up)
		value += float64(o.Low*float64(m)) + float64(o.Room*(float64(min(m+halfWidth, 0))-float64(float64(below)*up*0.5)))
		left[b1] -= float64(q * p1)
		left[b2] -= float64(q * p2)
		x := float64(q*steep) * float64(min(near, 1))
		y := float64(o.Room*steep) * float64(min(below, 2*halfWidth-below, 1))
		d1, d2, d3 := &slope[b1*k+b1], &slope[b2*k+b2], &slope[b1*k+b2]
		*d1 += x + float64(y*p1*p1)
		*d2 += x + float64(y*p2*p2)
		*d3 += float64(y*p1*p2) - x
	}
	value = float64(value * w.Grain)
	for i, m := range w.Mass {
		value += float64(m * f[i])
	}
	return value
}

// Best returns the two least values of C_ij - f_i in a column, as integers with the row in the last bits. There are no
// branches, which would be mispredicted some five times a column.
func (w *Work) Best(c int) (m1, m2 int64) {
	k := len(w.Keys)
	m1, m2 = math.MaxInt64/2, math.MaxInt64/2
	cells := w.Cells[c*k : c*k+k]
	keys := w.Keys[:len(cells)]
	i := 0
	for ; i+4 <= len(cells); i += 4 {
		c, y := cells[i:i+4:i+4], keys[i:i+4:i+4]
		x := c[0] - y[0]
		m2 = min(m2, max(m1, x))
		m1 = min(m1, x)
		x = c[1] - y[1]
		m2 = min(m2, max(m1, x))
		m1 = min(m1, x)
		x = c[2] - y[2]
		m2 = min(m2, max(m1, x))
		m1 = min(m1, x)
		x = c[3] - y[3]
		m2 = min(m2, max(m1, x))
		m1 = min(m1, x)
	}
	for ; i < len(cells); i++ {
		x := cells[i] - keys[i]
		m2 = min(m2, max(m1, x))
		m1 = min(m1, x)
	}
	return m1, m2
}

const (
	// RowBits is above all row numbers: a power of two.
	RowBits  = 1 << RowShift
	RowShift = 7
	// Costs are below 2^CostBits units, and prices are kept below twice that.
	CostBits = 53
)

// Price fills in Keys, and keeps the prices themselves within their range: they go on to assign, where what the keys
// have found must be true of them.
func (w *Work) Price() {
	most := math.Ldexp(1, CostBits+1)
	by := 1 / w.Grain
	for i, f := range w.F {
		f = min(max(f*by, -most), most)
		w.F[i], w.Keys[i] = f*w.Grain, int64(f)*RowBits-int64(i)
	}
}

// Newton solves (Slope + shift) * Step = Left by Cholesky's method, in place, and returns the largest entry, at
// most most. gonum's Dpotrf and Dpbtrf give other bits on other processors: sums in assembly, or fused in plain Go.
func (w *Work) Newton(most float64) float64 {
	k := len(w.F)
	a, x := w.Slope, w.Step
	copy(x, w.Left)
	trace := 0.0
	for i := range k {
		trace += a[i*k+i]
	}
	// Without a kink in sight the matrix is zero: then a step of a hundred times most, which is cut.
	ridge := float64(Damping*trace)/float64(k) + float64(0.01*w.Unserved())/most + math.SmallestNonzeroFloat64
	for i := range k {
		ri := a[i*k : i*k+i+1]
		for j := range i {
			rj := a[j*k : j*k+j+1]
			v := ri[j] + a[j*k+i]
			for l, y := range rj[:j] {
				v -= float64(ri[l] * y)
			}
			ri[j] = v * rj[j] // inverse of the pivot
		}
		v, y := ri[i]+ridge, x[i]
		for l, z := range ri[:i] {
			v -= float64(z * z)
			y -= float64(z * x[l])
		}
		v = 1 / math.Sqrt(max(v, ridge))
		ri[i], x[i] = v, y*v
	}
	size := 0.0
	for i := k - 1; i >= 0; i-- {
		ri := a[i*k : i*k+i+1]
		y := x[i] * ri[i]
		for l, z := range ri[:i] {
			x[l] -= float64(z * y)
		}
		x[i] = y
	}
	for i, y := range x {
		y = min(max(y, -most), most)
		x[i] = y
		size = max(size, math.Abs(y))
	}
	return size
}

// grow returns a slice of length n, reusing s when it is large enough. The contents are left over.
func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
