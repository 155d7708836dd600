package newton

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
	damping     = 0.2 // shift of the matrix, times the mean of its diagonal (Levenberg)
)

// climb finds prices f near the best, and reports whether it could. all says that the cells are all columns that take
// part.
func (w *work) climb(all bool) bool {
	k, stride := len(w.f), 1
	for len(w.at) >= 2*coarsePerRow*k*stride {
		stride *= 2
	}
	w.thin(stride)
	w.whole, w.width = false, 0
	if spread := w.guess(); w.gap == 0 { // most columns have two rows that cost the same
		w.gap = spread / float64(k)
	}
	if !(w.gap > 0 && w.gap <= math.MaxFloat64) {
		return true
	}
	return w.refine(stride, all)
}

// refine climbs on finer and finer samples, and then with narrower and narrower kinks.
func (w *work) refine(stride int, all bool) bool {
	k := len(w.f)
	seen := k
	for round := 0; ; {
		h := float64(w.gap * width * math.Sqrt(float64(k)/float64(seen)))
		for range round {
			h *= narrower
		}
		steps := newtonSteps
		if seen == k {
			steps = firstSteps
		}
		if !w.ascend(h, steps) {
			return false
		}
		seen = len(w.samples)
		if stride > 1 {
			stride = max(stride/finer, 1)
			w.thin(stride)
		} else if round++; round == rounds || w.unserved() < w.enough {
			if w.whole = all; w.stale && w.whole {
				w.measure(h)
			}
			return true
		}
	}
}

// ascend takes Newton steps for kinks of width h, at most steps, and reports whether prices are finite and the context
// goes on.
func (w *work) ascend(h float64, steps int) bool {
	w.width, w.stale = h, false
	value := w.measure(h)
	most := longest * h
	for range steps {
		if w.unserved() < w.enough {
			return true
		}
		if !w.p.Costs.Going() {
			return false
		}
		size := w.newtonStep(most)
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
func (w *work) search(h, value float64) (by, better float64) {
	copy(w.old, w.f)
	for by = 1; by > 0.2; by /= 2 { // a power of two: its products are exact
		for i, d := range w.step {
			w.f[i] = w.old[i] + by*d
		}
		if better = w.measure(h); better > value {
			return by, better
		}
	}
	copy(w.f, w.old)
	w.stale = true
	return 0, value
}

// unserved is how much the rows have too much or too little.
func (w *work) unserved() float64 {
	x := 0.0
	for _, l := range w.left {
		x += math.Abs(l)
	}
	return x
}

// guess sets prices from which the first sample is climbed: a row reaches from its least cost towards its mean
// cost, as far as its share of all room. It returns the mean of the distances.
func (w *work) guess() float64 {
	room, spread := 0.0, 0.0
	for c := range w.samples {
		room += w.samples[c].low + w.samples[c].room
	}
	k := len(w.f)
	for i := range w.f {
		least, sum := int64(math.MaxInt64), 0.0
		for c := range w.samples {
			x := w.cells[int(w.samples[c].at)*k+i]
			least = min(least, x)
			sum += float64(x)
		}
		low := float64(least) * w.grain / rowBits
		reach := sum*w.grain/rowBits/float64(len(w.samples)) - low
		if most := 16 * float64(k) * w.gap; w.gap > 0 {
			reach = min(reach, most) // the mean may be that of a few costs
		}
		w.f[i] = low + float64(min(2*w.mass[i]/room, 1)*reach)
		spread += reach
	}
	return spread / float64(len(w.f))
}

// thin cuts the columns into runs with stride cells each (the last may have fewer). The cell in the
// middle of a run stands for all its columns, also for those without cells.
func (w *work) thin(stride int) {
	w.samples = append(w.samples[:0], sample{})
	o, n := &w.samples[0], 0
	for j, l := range w.p.Low {
		if c := w.cell[j]; c >= 0 {
			if n == stride {
				w.samples = append(w.samples, sample{})
				o, n = &w.samples[len(w.samples)-1], 0
			}
			if n == 0 || n == stride/2 {
				o.at = c
			}
			n++
		}
		o.low += float64(l)
		o.room += float64(w.p.Room[j])
	}
	total := float64(w.total)
	for c := range w.samples {
		o := &w.samples[c]
		o.low, o.room = o.low/total, min(o.room/total, 1)
	}
}

// sampled yields some columns: 16 to 31, if there are as many.
func (w *work) sampled() iter.Seq[int] {
	return func(yield func(int) bool) {
		for c := 0; c < len(w.at) && yield(c); c += max(1, len(w.at)/16) {
		}
	}
}

// typicalGap returns the median of the gaps between the two least costs of a column, over some columns.
func (w *work) typicalGap() float64 {
	clear(w.f)
	w.setKeys()
	w.sorted = w.sorted[:0]
	for c := range w.sampled() {
		if m1, m2 := w.best(c); m2>>rowShift > m1>>rowShift {
			w.sorted = append(w.sorted, float64(m2>>rowShift-m1>>rowShift)*w.grain)
		}
	}
	if len(w.sorted) == 0 {
		return 0
	}
	slices.Sort(w.sorted)
	return w.sorted[len(w.sorted)/2]
}

// measure computes the smoothed dual value at f, and its first and second derivatives. Both minima are
// Huber-smoothed. With the two least values m1 <= m2 of a column and half a width w,
//
//	near  = max(w - (m2 - m1), 0)      p2 = near / 2w: the share of the second row
//	m     = m1 - near p2 / 2           the smoothed minimum
//	below = clamp(w - m, 0, 2w)        up = below / 2w: the share of the room that is taken
//
// and derivatives 1/2w where 0 < near, and where 0 < below < 2w. Factors of 0 or 1, min(..., 1), drop them elsewhere:
// the loop has no branches, which would be mispredicted at every other column.
func (w *work) measure(h float64) float64 {
	f, left, slope := w.f, w.left, w.slope
	k := len(f)
	w.setKeys()
	clear(slope)
	copy(left, w.mass)
	for c := range w.samples {
		o := &w.samples[c]
		o.best, o.other = w.best(int(o.at))
	}
	halfWidth := max(int64(h/w.grain), 1)
	inv := 0.5 / float64(halfWidth)
	steep := inv / w.grain
	value := 0.0 // in units
	for c := range w.samples {
		o := &w.samples[c]
		b1, b2 := int(o.best&(rowBits-1)), int(o.other&(rowBits-1))
		m := o.best >> rowShift
		// The parts of the two best rows.
		near := max(halfWidth-(o.other>>rowShift-m), 0)
		p2 := float64(float64(near) * inv)
		p1 := 1 - p2
		m -= int64(float64(near) * p2 * 0.5)
		// The part of the room that is taken.
		below := min(max(halfWidth-m, 0), 2*halfWidth)
		up := float64(float64(below) * inv)
		q := o.low + float64(o.room*up)
		value += float64(o.low*float64(m)) + float64(o.room*(float64(min(m+halfWidth, 0))-float64(float64(below)*up*0.5)))
		left[b1] -= float64(q * p1)
		left[b2] -= float64(q * p2)
		x := float64(q*steep) * float64(min(near, 1))
		y := float64(o.room*steep) * float64(min(below, 2*halfWidth-below, 1))
		d1, d2, d3 := &slope[b1*k+b1], &slope[b2*k+b2], &slope[b1*k+b2]
		*d1 += x + float64(y*p1*p1)
		*d2 += x + float64(y*p2*p2)
		*d3 += float64(y*p1*p2) - x
	}
	value = float64(value * w.grain)
	for i, m := range w.mass {
		value += float64(m * f[i])
	}
	return value
}

// best returns the two least values of C_ij - f_i in a column, as integers with the row in the last bits. There are no
// branches, which would be mispredicted some five times a column.
func (w *work) best(c int) (m1, m2 int64) {
	k := len(w.keys)
	m1, m2 = math.MaxInt64/2, math.MaxInt64/2
	cells := w.cells[c*k : c*k+k]
	keys := w.keys[:len(cells)]
	for i, c := range cells {
		x := c - keys[i]
		m2 = min(m2, max(m1, x))
		m1 = min(m1, x)
	}
	return m1, m2
}

// setKeys fills in keys, and keeps the prices themselves within their range: they go on to assign, where what the keys
// have found must be true of them.
func (w *work) setKeys() {
	most := math.Ldexp(1, costBits+1)
	by := 1 / w.grain
	for i, f := range w.f {
		f = min(max(f*by, -most), most)
		w.f[i], w.keys[i] = f*w.grain, int64(f)*rowBits-int64(i)
	}
}

// newtonStep solves (slope + shift) * step = left by Cholesky's method, in place, and returns the largest entry, at
// most most. gonum's Dpotrf and Dpbtrf give other bits on other processors: sums in assembly, or fused in plain Go.
func (w *work) newtonStep(most float64) float64 {
	k := len(w.f)
	a, x := w.slope, w.step
	copy(x, w.left)
	trace := 0.0
	for i := range k {
		trace += a[i*k+i]
	}
	// Without a kink in sight the matrix is zero: then a step of a hundred times most, which is cut.
	ridge := float64(damping*trace)/float64(k) + float64(0.01*w.unserved())/most + math.SmallestNonzeroFloat64
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
