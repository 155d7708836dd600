package mincostflow

import (
	"cmp"
	"iter"
	"math"
	"slices"
)

// A few rows against many columns (the usual source, with a handful of atoms) starts from row
// prices that are nearly right. With prices f, every column is served by the row of least C_ij - f_i
// and stands at its upper bound if that is below zero, at its lower bound if not; the dual value of
// f,
//
//	sum_i mu_i f_i + sum_j min over lo_j <= q <= hi_j of q * min_i (C_ij - f_i),
//
// is concave, and its slope in f_i is what row i has left. Kinks are smoothed over a width h (a
// column whose two best rows are within h of each other is shared between them, and one within h
// of zero stands between its bounds), and Newton steps with a line search climb the rest. Then h is
// made smaller. Wide kinks need only a sample of the columns.
//
// This is the damped Newton method of semi-discrete transport (Kitagawa, Mérigot and Thibert 2019), stopped early: the
// simplex does the rest. Starts change the work, never the answer's certificate. But other bits here may mean another
// of several optima there, so no product may be fused with a sum. docs/algorithms/newton-start.md has the derivation
// and the table of the constants.
const (
	// The start needs a few columns for every row, and its steps take k^3 operations.
	newtonColumns = 60
	newtonRatio   = 3
	newtonRows    = 128
	// Where rows are more, those with most mass take part, one for lightRatio columns, if the others have lightShare of
	// the mass at most; up to lightRows rows in all, or lightMost if the start from a smaller problem does not pay.
	lightRatio = 8
	lightShare = 0.4
	lightRows  = 320
	lightMost  = 512

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

	enough     = 0.9 // columns for each row that it may have too much or too little: the simplex is cheaper then
	seedWidths = 3   // lists start with second best arcs less than so many widths from the best
)

// worthNewton reports whether a start by Newton steps pays.
func worthNewton(k, n int) bool {
	return k > 1 && k <= newtonRows && n >= newtonColumns && n >= newtonRatio*k
}

// newton finds row prices, and from them a first tree. bind says for which problem.
type newton struct {
	tree  *basis
	rows  *rows
	watch *watch
	units []uint64 // of all rows
	sum   uint64   // of units
	heavy []int32  // the rows it works on, ascending; the others have little mass

	// The costs of column at[c] as integers, in units of about 2^-53 of the largest (of the usual ones, where a few
	// dwarf the others; those are cut) and times rowBits, are cells[c*k : (c+1)*k]. Columns that take nothing are
	// left out; if there are very many cells, at is a sample.
	cells []int64
	at    []int32
	cell  []int32 // c for every column, or -1
	grain float64 // a unit
	keys  []int64 // the prices likewise, less the number of the row

	cols   []sample
	sorted []float64

	gap    float64   // typical, between the two least costs of a column
	h      float64   // the last width
	stale  bool      // f has changed since it was measured
	whole  bool      // cols is every column that takes anything, and not stale
	total  float64   // mass
	enough float64   // what the rows may have too much or too little, over total
	mass   []float64 // of the rows, over total
	f      []float64 // their prices
	old    []float64
	left   []float64 // what they keep, smoothed
	step   []float64
	slope  []float64 // k x k, minus the Hessian of the smoothed dual value; off the diagonal, two entries add up to one

	// The tree: the two best heavy rows of every column, the columns of every row as lists, and what it sends.
	served           []service
	first, next      []int32
	sent             []uint64
	onColumn, beside []int32 // the light rows of every column, as lists
}

// sample stands for some columns.
type sample struct {
	low, room   float64
	best, other int64 // the two least of cell - key, as measure has found them
	at          int32 // its cells
}

// bind makes w start t, for rows with the given units, all of them heavy.
func (w *newton) bind(t *basis, r *rows, watch *watch, units []uint64, sum uint64) {
	w.tree, w.rows, w.watch, w.units, w.sum = t, r, watch, units, sum
	w.heavy = w.heavy[:0]
	for i := range t.k {
		w.heavy = append(w.heavy, int32(i))
	}
}

// choose leaves the rows with most mass heavy, as many as the columns allow, and reports whether the others have little
// enough to be light.
func (w *newton) choose() bool {
	k := w.tree.n / lightRatio
	if w.tree.n < newtonColumns || k >= len(w.heavy) {
		return false
	}
	slices.SortFunc(w.heavy, func(a, b int32) int { return cmp.Or(cmp.Compare(w.units[b], w.units[a]), cmp.Compare(a, b)) })
	w.heavy = w.heavy[:min(k, newtonRows)]
	slices.Sort(w.heavy)
	return float64(w.sum-w.heaviest()) <= lightShare*float64(w.sum)
}

// heaviest returns what the heavy rows have.
func (w *newton) heaviest() (sum uint64) {
	for _, i := range w.heavy {
		sum += w.units[i]
	}
	return sum
}

// prices finds row prices close to the best, in w.f, and reports whether it could.
func (w *newton) prices() bool {
	t, k, n := w.tree, len(w.heavy), w.tree.n
	w.mass, w.f, w.keys = grow(w.mass, k), grow(w.f, k), grow(w.keys, k)
	w.old, w.left, w.step = grow(w.old, k), grow(w.left, k), grow(w.step, k)
	w.slope = grow(w.slope, k*k)
	w.total = float64(w.sum)
	sum := float64(w.heaviest())
	for n, i := range w.heavy {
		w.mass[n] = float64(w.units[i]) / sum
	}
	all := w.measureCosts()
	if w.watch.over {
		return false
	}
	full := 0.0
	for j, l := range t.low {
		full += min(float64(l)+float64(t.room[j]), w.total)
	}
	w.enough = enough * float64(k) * full / w.total / float64(n)
	stride := 1
	for len(w.at) >= 2*coarsePerRow*k*stride {
		stride *= 2
	}
	w.thin(stride)
	w.whole, w.h = false, 0
	if spread := w.guess(); w.gap == 0 { // most columns have two rows that cost the same
		w.gap = spread / float64(k)
	}
	if !(w.gap > 0 && w.gap <= math.MaxFloat64) {
		return true
	}
	return w.refine(stride, all)
}

// measureCosts fills in the cells and the typical gap, and reports whether cells hold all columns, and as they are: a
// few costs that dwarf the others are cut.
func (w *newton) measureCosts() (all bool) {
	top := w.rows.top()
	group := w.hold()
	w.fillCells(top, top)
	if w.watch.over {
		return false
	}
	if w.gap = w.scale(); w.gap < 0x1p-30*top {
		if size := w.usual(); size < top {
			w.fillCells(size, top)
			if w.watch.over {
				return false
			}
			w.gap = w.scale()
			return false
		}
	}
	return group == 1
}

// refine climbs on finer and finer samples, and then with narrower and narrower kinks.
func (w *newton) refine(stride int, all bool) bool {
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
		if !w.climb(h, steps) {
			return false
		}
		seen = len(w.cols)
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

// climb takes Newton steps for kinks of width h, at most steps, and reports whether prices are finite and the context
// goes on.
func (w *newton) climb(h float64, steps int) bool {
	w.h, w.stale = h, false
	value := w.measure(h)
	most := longest * h
	for range steps {
		if w.unserved() < w.enough {
			return true
		}
		if !w.watch.look() {
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
func (w *newton) search(h, value float64) (by, better float64) {
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

// service is what prices say about a column: the two best rows, C_ij - f_i of the best, and how far the other is
// from it. A second of -1 is unknown.
type service struct {
	least, gap float64
	by, second int32
}

// serve finds the service of every column for the prices f.
func (w *newton) serve() []service {
	t := w.tree
	w.served = grow(w.served, t.n)
	if w.whole { // all columns that take anything were measured at these prices
		for c := range w.cols {
			o := &w.cols[c]
			m := o.best >> rowShift
			w.served[w.at[o.at]] = service{
				least: float64(m) * w.grain, gap: float64(o.other>>rowShift-m) * w.grain,
				by: int32(o.best & (rowBits - 1)), second: int32(o.other & (rowBits - 1)),
			}
		}
		return w.served
	}
	for j := range w.served {
		w.served[j] = service{least: math.Inf(1), second: -1}
	}
	for i, f := range w.f {
		if !w.watch.row(t.n) {
			break
		}
		row := w.rows.at(int(w.heavy[i]))
		served := w.served[:len(row)]
		for j, c := range row {
			if x := c - f; x < served[j].least {
				served[j].least, served[j].by = x, int32(i)
			}
		}
	}
	return w.served
}

// unserved is how much the rows have too much or too little.
func (w *newton) unserved() float64 {
	x := 0.0
	for _, l := range w.left {
		x += math.Abs(l)
	}
	return x
}

// guess sets prices from which the first sample is climbed: a row reaches from its least cost towards its mean
// cost, as far as its share of all room. It returns the mean of the distances.
func (w *newton) guess() float64 {
	room, spread := 0.0, 0.0
	for c := range w.cols {
		room += w.cols[c].low + w.cols[c].room
	}
	k := len(w.f)
	for i := range w.f {
		least, sum := int64(math.MaxInt64), 0.0
		for c := range w.cols {
			x := w.cells[int(w.cols[c].at)*k+i]
			least = min(least, x)
			sum += float64(x)
		}
		low := float64(least) * w.grain / rowBits
		reach := sum*w.grain/rowBits/float64(len(w.cols)) - low
		if most := 16 * float64(k) * w.gap; w.gap > 0 {
			reach = min(reach, most) // the mean may be that of a few costs
		}
		w.f[i] = low + float64(min(2*w.mass[i]/room, 1)*reach)
		spread += reach
	}
	return spread / float64(len(w.f))
}

// usual returns the median, over some columns, of their largest costs.
func (w *newton) usual() float64 {
	t := w.tree
	w.sorted = w.sorted[:0]
	for range w.sampled() {
		w.sorted = append(w.sorted, 0)
	}
	for i := range w.heavy {
		if !w.watch.row(t.n) {
			break
		}
		row, n := w.rows.at(int(w.heavy[i])), 0
		for c := range w.sampled() {
			w.sorted[n] = max(w.sorted[n], row[w.at[c]])
			n++
		}
	}
	slices.Sort(w.sorted)
	return w.sorted[len(w.sorted)/2]
}

// hold chooses the columns that have cells, at and cell: all columns that take anything, or one of them in every group.
func (w *newton) hold() (group int) {
	t := w.tree
	most := mostCells / len(w.heavy)
	group = (t.n + most - 1) / most
	w.at = w.at[:0]
	w.cell = grow(w.cell, t.n)
	for from := 0; from < t.n; from += group {
		held := false
		for j := from; j < min(from+group, t.n); j++ {
			w.cell[j] = -1
			if !held && t.live(j) {
				held, w.cell[j] = true, int32(len(w.at))
				w.at = append(w.at, int32(j))
			}
		}
	}
	return group
}

// fillCells fills in the cells, in units for costs of size; the largest is top.
func (w *newton) fillCells(size, top float64) {
	r, k := w.rows, len(w.heavy)
	_, e := math.Frexp(size)
	w.grain = math.Ldexp(1, max(e, minExp)-costBits)
	by := 1 / w.grain
	w.cells = grow(w.cells, k*len(w.at))
	i := 0
	inPlace := 0
	if size == top {
		inPlace, _ = slices.BinarySearch(w.heavy, int32(r.inPlace()))
	}
	for ; i+4 <= inPlace; i += 4 { // four rows at a time, which saves half
		p := w.heavy[i : i+4 : i+4]
		r0, r1, r2, r3 := r.at(int(p[0])), r.at(int(p[1])), r.at(int(p[2])), r.at(int(p[3]))
		at := i
		for _, j := range w.at {
			cell := w.cells[at : at+4 : at+4]
			cell[0] = int64(r0[j]*by) * rowBits
			cell[1] = int64(r1[j]*by) * rowBits
			cell[2] = int64(r2[j]*by) * rowBits
			cell[3] = int64(r3[j]*by) * rowBits
			at += k
		}
	}
	for ; i < k; i++ {
		if !w.watch.row(r.kv) {
			break
		}
		row := r.at(int(w.heavy[i]))
		at := i
		for _, j := range w.at {
			w.cells[at] = int64(min(row[j]*by, 1<<costBits)) * rowBits
			at += k
		}
	}
}

// thin cuts the columns into runs with stride cells each (the last may have fewer). The cell in the
// middle of a run stands for all its columns, also for those without cells.
func (w *newton) thin(stride int) {
	t := w.tree
	w.cols = append(w.cols[:0], sample{})
	o, n := &w.cols[0], 0
	for j, l := range t.low {
		if c := w.cell[j]; c >= 0 {
			if n == stride {
				w.cols = append(w.cols, sample{})
				o, n = &w.cols[len(w.cols)-1], 0
			}
			if n == 0 || n == stride/2 {
				o.at = c
			}
			n++
		}
		o.low += float64(l)
		o.room += float64(t.room[j])
	}
	for c := range w.cols {
		o := &w.cols[c]
		o.low, o.room = o.low/w.total, min(o.room/w.total, 1)
	}
}

// sampled yields some columns: 16 to 31, if there are as many.
func (w *newton) sampled() iter.Seq[int] {
	return func(yield func(int) bool) {
		for c := 0; c < len(w.at) && yield(c); c += max(1, len(w.at)/16) {
		}
	}
}

// scale returns the median of the gaps between the two least costs of a column, over some columns.
func (w *newton) scale() float64 {
	clear(w.f)
	w.price()
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
func (w *newton) measure(h float64) float64 {
	f, left, slope := w.f, w.left, w.slope
	k := len(f)
	w.price()
	clear(slope)
	copy(left, w.mass)
	for c := range w.cols {
		o := &w.cols[c]
		o.best, o.other = w.best(int(o.at))
	}
	halfWidth := max(int64(h/w.grain), 1)
	inv := 0.5 / float64(halfWidth)
	steep := inv / w.grain
	value := 0.0 // in units
	for c := range w.cols {
		o := &w.cols[c]
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
func (w *newton) best(c int) (m1, m2 int64) {
	k := len(w.keys)
	m1, m2 = math.MaxInt64/2, math.MaxInt64/2
	cells := w.cells[c*k : c*k+k]
	keys := w.keys[:len(cells)]
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
	// rowBits is above all row numbers: a power of two.
	rowBits  = 1 << rowShift
	rowShift = 7
	// Costs are below 2^costBits units, and prices are kept below twice that.
	costBits = 53
	// mostCells are held, 8 MB.
	mostCells = 1 << 20
)

// price fills in keys, and keeps the prices themselves within their range: they go on to assign, where what the keys
// have found must be true of them.
func (w *newton) price() {
	most := math.Ldexp(1, costBits+1)
	by := 1 / w.grain
	for i, f := range w.f {
		f = min(max(f*by, -most), most)
		w.f[i], w.keys[i] = f*w.grain, int64(f)*rowBits-int64(i)
	}
}

// newtonStep solves (slope + shift) * step = left by Cholesky's method, in place, and returns the largest entry, at
// most most. gonum's Dpotrf and Dpbtrf give other bits on other processors: sums in assembly, or fused in plain Go.
func (w *newton) newtonStep(most float64) float64 {
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
