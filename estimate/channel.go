package estimate

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas"

	"github.com/wpm-go/wpm/wpmerr"
)

// ErrChannel says that a channel has a row that is negative, not finite, or all zero, or that an output was released that
// no input releases.
var ErrChannel = errors.New("estimate: bad channel")

// Channel is a k x kv table of probabilities: row i is the law of a release of a device at input i. It is immutable.
//
// The rows of a policy have two values in each column, low and high, except for one entry in each row. Such a table is
// kept as runs of high entries, in some order of the columns; any other table is kept as it is.
type Channel struct {
	k, kv int
	rows  []float64 // row-major, each row of sum 1; nil if runs holds the table

	// P_ij = scale_i (low_n + step_n if n is in a run of row i) + what odd adds, with j output n in the order.
	order     []int32 // nil: that of the outputs
	scale     []float64
	low, step []float64
	runs      []run // of row i: from first[i] to first[i+1]
	first     []int32
	odd       []odd // in order of i; of outputs
	entries   int   // in all runs
	even      bool  // all scales are the same but for rounding, and so scale_i low_j is the low value of any row
	once      sync.Once
	byColumn  columns // once they are needed
	smooth    bool    // no high entry is above maxRatio times the low one: differences of sums are accurate
}

// run is a stretch of high entries in a row.
type run struct{ from, to int32 }

// odd is an entry that is neither high nor low: scale is in it.
type odd struct {
	i, j  int32
	extra float64 // over the low value
}

// maxRatio of high to low entries for which a sum over a run is a difference of two sums over all before. Those lose up
// to kv 2^-53 of the sum of all step_j v_j, which is below maxRatio times the sum of low_j v_j, a part of every result:
// for 10 000 outputs the relative error is below 10^4 2^12 2^-53 < 5e-9, at the worst.
const maxRatio = 1 << 12

// evenScales is how far apart, relative, the scales of rows of equal sum may be by the rounding of sums of up to 10,000
// entries: 10^4 2^-53 is above 10^-12.
const evenScales = 2e-12

// NewChannel makes a channel of k rows of kv entries. row fills dst with row i: entries are finite and not negative, in
// any unit, and are divided by their sum. row is called twice for each i, in order, and must write the same numbers
// both times. The rows of a policy, and other rows with two values in each column except for some entries, take 8 bytes
// for each run of high entries. Any other table takes 8 k kv bytes. The errors are ErrShape and ErrChannel.
func NewChannel(k, kv int, row func(i int, dst []float64)) (*Channel, error) {
	if k < 1 || kv < 1 || k > math.MaxInt32/kv {
		return nil, fmt.Errorf("%w: %d inputs, %d outputs", wpmerr.ErrShape, k, kv)
	}
	if row == nil {
		return nil, fmt.Errorf("%w: no rows", wpmerr.ErrShape)
	}
	c := &Channel{k: k, kv: kv, scale: make([]float64, k), low: make([]float64, kv), step: make([]float64, kv)}
	buf := make([]float64, kv)
	high := c.step
	for j := range c.low {
		c.low[j] = math.Inf(1)
	}
	for i := range k {
		row(i, buf)
		var err error
		if c.scale[i], err = normalize(buf); err != nil {
			return nil, fmt.Errorf("%w: row %d%w", ErrChannel, i, err)
		}
		for j, v := range buf {
			c.low[j], high[j] = min(c.low[j], v), max(high[j], v)
		}
	}
	for i := range k {
		row(i, buf)
		if _, err := normalize(buf); err != nil {
			return nil, fmt.Errorf("%w: row %d, asked for again%w", ErrChannel, i, err)
		}
		if !c.compact(i, buf, high) {
			return c.fill(row, buf)
		}
	}
	c.first = append(c.first, int32(len(c.runs)))
	c.even = slices.Max(c.scale)-slices.Min(c.scale) <= evenScales*slices.Min(c.scale)
	c.smooth = true
	for j, v := range c.low {
		c.smooth = c.smooth && high[j] <= maxRatio*v
		c.step[j] -= v
	}
	return c, nil
}

// normalize checks a row and divides it by a power of two near its sum. It returns the inverse of the sum that is left.
// Rows of equal sum, to rounding, are divided by the same number, and so keep the entries that they share.
func normalize(row []float64) (scale float64, err error) {
	largest := 0.0
	for j, v := range row {
		if !(v >= 0 && v <= math.MaxFloat64) {
			return 0, fmt.Errorf(", output %d: %v", j, v)
		}
		largest = max(largest, v)
	}
	if largest == 0 {
		return 0, fmt.Errorf(" is all zero")
	}
	_, e := math.Frexp(largest)
	a, b := math.Ldexp(1, -e/2), math.Ldexp(1, -(e-e/2))
	sum := 0.0
	for j, v := range row {
		row[j] = v * a * b
		sum += row[j]
	}
	// Sums are often powers of two: the cut between two exponents is put elsewhere.
	_, more := math.Frexp(1.5 * sum)
	c := math.Ldexp(1, -more)
	sum = 0
	for j := range row {
		row[j] *= c
		sum += row[j]
	}
	return 1 / sum, nil
}

// compact adds row i as runs, or returns false if that does not pay.
func (c *Channel) compact(i int, row, high []float64) bool {
	c.first = append(c.first, int32(len(c.runs)))
	begin := -1
	for j, v := range row {
		top := v == high[j] && v != c.low[j]
		if top {
			c.entries++
			if begin < 0 {
				begin = j
			}
		}
		if begin >= 0 && (!top || j == c.kv-1) {
			end := j
			if top {
				end++
			}
			c.runs = append(c.runs, run{int32(begin), int32(end)})
			begin = -1
		}
		if !top && v != c.low[j] {
			c.odd = append(c.odd, odd{int32(i), int32(j), c.scale[i] * (v - c.low[j])})
		}
	}
	// Half of the entries, as runs or one by one, is more work than a plain product of the same size.
	return len(c.runs)+len(c.odd) <= (i+1)*c.kv/4+c.kv
}

// fill keeps the rows as they are.
func (c *Channel) fill(row func(i int, dst []float64), buf []float64) (*Channel, error) {
	c = &Channel{k: c.k, kv: c.kv, rows: make([]float64, c.k*c.kv)}
	for i := range c.k {
		r := c.rows[i*c.kv:][:c.kv]
		row(i, buf)
		scale, err := normalize(buf)
		if err != nil {
			return nil, fmt.Errorf("%w: row %d, asked for again%w", ErrChannel, i, err)
		}
		for j, v := range buf {
			r[j] = scale * v
		}
	}
	return c, nil
}

// output returns the output of column n.
func (c *Channel) output(n int) int {
	if c.order == nil {
		return n
	}
	return int(c.order[n])
}

// Join returns the channel of a release that comes from one of several channels of the same inputs, with these weights,
// and says from which: its outputs are theirs, one after the other. So releases of several mechanisms are releases of one.
// The errors are ErrShape, and ErrChannel for weights that are not positive and finite.
func Join(channels []*Channel, weights []float64) (*Channel, error) {
	if len(channels) == 0 || len(channels) != len(weights) {
		return nil, fmt.Errorf("%w: %d channels and %d weights", wpmerr.ErrShape, len(channels), len(weights))
	}
	k, kv := 0, 0
	for n, c := range channels {
		if c == nil {
			return nil, fmt.Errorf("%w: channel %d is nil", wpmerr.ErrShape, n)
		}
		if k = max(k, c.k); c.k != channels[0].k {
			return nil, fmt.Errorf("%w: channel %d has %d inputs, and the first has %d", wpmerr.ErrShape, n, c.k, k)
		}
		if !(weights[n] > 0 && weights[n] <= math.MaxFloat64) {
			return nil, fmt.Errorf("%w: weight %d is %v", ErrChannel, n, weights[n])
		}
		kv += c.kv
	}
	return NewChannel(k, kv, func(i int, dst []float64) {
		for n, c := range channels {
			for j, v := range c.row(i) {
				dst[j] = weights[n] * v
			}
			dst = dst[c.kv:]
		}
	})
}

// Dims returns the numbers of inputs and outputs.
func (c *Channel) Dims() (k, kv int) { return c.k, c.kv }

// row returns row i, which must not be changed.
func (c *Channel) row(i int) []float64 {
	if c.rows != nil {
		return c.rows[i*c.kv:][:c.kv:c.kv]
	}
	out := make([]float64, c.kv)
	for n, v := range c.low {
		out[c.output(n)] = c.scale[i] * v
	}
	for _, r := range c.runsOf(i) {
		for n := int(r.from); n < int(r.to); n++ {
			out[c.output(n)] = c.scale[i] * (c.low[n] + c.step[n])
		}
	}
	for _, o := range c.oddOf(i) {
		out[o.j] += o.extra
	}
	return out
}

func (c *Channel) runsOf(i int) []run { return c.runs[c.first[i]:c.first[i+1]] }

// oddOf returns what is odd in row i.
func (c *Channel) oddOf(i int) []odd {
	before := func(o odd, i int) int { return cmp.Compare(int(o.i), i) }
	from, _ := slices.BinarySearchFunc(c.odd, i, before)
	to, _ := slices.BinarySearchFunc(c.odd, i+1, before)
	return c.odd[from:to]
}

// forward sets q = theta P, for theta >= 0.
func (c *Channel) forward(theta, q []float64) { c.mix(theta, q, 0) }

// mix is forward for any theta: no sum over the runs is less than least, as rounding may make it.
func (c *Channel) mix(theta, q []float64, least float64) {
	clear(q)
	if c.rows != nil {
		for i, t := range theta {
			if t == 0 {
				continue
			}
			add(t, c.row(i), q)
		}
		return
	}
	all, high := 0.0, q
	if c.order != nil {
		high = make([]float64, c.kv)
	}
	for i, t := range theta {
		if t *= c.scale[i]; t != 0 {
			all += t
			c.spread(i, t, high)
		}
	}
	sum := 0.0
	for n, v := range high {
		if c.smooth {
			sum += v
			v = max(sum, least)
		}
		q[c.output(n)] = c.low[n]*all + c.step[n]*v
	}
	for _, o := range c.odd {
		q[o.j] += theta[o.i] * o.extra
	}
}

// spread adds t to q, in the order of the runs, in those of row i; if smooth, to the differences of q.
func (c *Channel) spread(i int, t float64, q []float64) {
	for _, r := range c.runsOf(i) {
		if c.smooth {
			q[r.from] += t
			if int(r.to) < c.kv {
				q[r.to] -= t
			}
			continue
		}
		part := q[r.from:r.to]
		for j := range part {
			part[j] += t
		}
	}
}

// back sets g = P v.
func (c *Channel) back(v, g []float64) {
	if c.rows != nil {
		for i := range g {
			g[i] = dot(c.row(i), v)
		}
		return
	}
	all := 0.0
	sums := make([]float64, c.kv+1) // of step_n v_n before n; or the terms, if not smooth
	for n, low := range c.low {
		x := v[c.output(n)]
		all += low * x
		sums[n+1] = c.step[n] * x
		if c.smooth {
			sums[n+1] += sums[n]
		}
	}
	for i := range g {
		s := all
		for _, r := range c.runsOf(i) {
			if c.smooth {
				s += sums[r.to] - sums[r.from]
				continue
			}
			for _, x := range sums[r.from+1 : r.to+1] {
				s += x
			}
		}
		g[i] = c.scale[i] * s
	}
	for _, o := range c.odd {
		g[o.i] += o.extra * v[o.j]
	}
}

// columns are the entries that are not the low ones of their columns: those of column j from first[j] to first[j+1], in
// order of the inputs.
type columns struct {
	first []int32
	of    []int32   // inputs
	by    []float64 // how much more than low
}

// high visits all entries that are not the low ones of their columns, in order of the inputs.
func (c *Channel) high(visit func(i, j int32, d float64)) {
	odds := c.odd
	for i, scale := range c.scale {
		for _, r := range c.runsOf(i) {
			for n := int(r.from); n < int(r.to); n++ {
				visit(int32(i), int32(c.output(n)), scale*c.step[n])
			}
		}
		for ; len(odds) > 0 && int(odds[0].i) == i; odds = odds[1:] {
			visit(int32(i), odds[0].j, odds[0].extra)
		}
	}
}

// columns returns these entries. They are kept: a channel takes 12 bytes for each then.
func (c *Channel) columns() *columns {
	c.once.Do(func() {
		t := &c.byColumn
		t.first = make([]int32, c.kv+2) // of column j at j+2, and in the end at j+1
		c.high(func(_, j int32, _ float64) { t.first[j+2]++ })
		for j := range c.kv {
			t.first[j+2] += t.first[j+1]
		}
		n := t.first[c.kv+1]
		t.of, t.by = make([]int32, n), make([]float64, n)
		c.high(func(i, j int32, d float64) {
			n := t.first[j+1]
			t.of[n], t.by[n] = i, d
			t.first[j+1]++
		})
		t.first = t.first[:c.kv+1]
	})
	return &c.byColumn
}

// scatter adds (P - 1 q') diag(v) (P - 1 q')' to the lower triangle of the k x k matrix out, row-major, or returns false
// for rows that are kept as they are, or whose low values differ. A column takes the square of its high entries, which is
// little where a release favours few places. Every term is of the size of the result or less, unless a column is high in
// nearly all rows.
func (c *Channel) scatter(q, v, out []float64) bool {
	if c.rows != nil || !c.even {
		return false
	}
	t := c.columns()
	all, each := 0.0, make([]float64, c.k)
	for n, low := range c.low {
		j := c.output(n)
		e := c.scale[0]*low - q[j]
		all += v[j] * e * e
		of, by := t.of[t.first[j]:t.first[j+1]], t.by[t.first[j]:t.first[j+1]]
		for m, i := range of {
			w, row := v[j]*by[m], out[int(i)*c.k:][:i+1]
			each[i] += w * e
			by := by[:m+1]
			for n, h := range of[:m+1] {
				row[h] += w * by[n]
			}
		}
	}
	for i, a := range each {
		for h, b := range each[:i+1] {
			out[i*c.k+h] += all + a + b
		}
	}
	return true
}

// times sets out = P' M, for M with r columns: out is kv x r, row-major.
func (c *Channel) times(m []float64, r int, out []float64) {
	if c.rows != nil {
		blasOf.Dgemm(blas.Trans, blas.NoTrans, c.kv, r, c.k, 1, c.rows, c.kv, m, r, 0, out, r)
		return
	}
	all := make([]float64, r)
	addRows(c.scale, m, all)
	events, first, ends := c.events()
	for at := 0; at < r; at += panel { // the part of M that is read again and again stays in the cache
		wide := min(panel, r-at)
		high := make([]float64, wide)
		row := func(e event) []float64 { return m[int(e.row)*r+at:][:wide] }
		for n, step := range c.step {
			if !ends {
				clear(high)
			}
			here := events[first[n]:first[n+1]]
			for ; len(here) >= 4; here = here[4:] {
				add4(&[4]float64{here[0].scale, here[1].scale, here[2].scale, here[3].scale},
					row(here[0]), row(here[1]), row(here[2]), row(here[3]), high)
			}
			for _, e := range here {
				add(e.scale, row(e), high)
			}
			o, low := out[c.output(n)*r+at:][:wide], c.low[n]
			for b, v := range high {
				o[b] = low*all[at+b] + step*v
			}
		}
	}
	for _, o := range c.odd {
		add(o.extra, m[int(o.i)*r:][:r], out[int(o.j)*r:][:r])
	}
}

// panel columns are a kilobyte of each row.
const panel = 128

// event says that a column takes a row, times scale.
type event struct {
	row   int32
	scale float64
}

// events returns the rows that have column j in a run, from first[j] to first[j+1]. If ends, they are those whose runs
// begin or end there, with signs, to be added up from column to column: a run costs its two ends, not its length.
func (c *Channel) events() (all []event, first []int32, ends bool) {
	ends = c.smooth && 2*len(c.runs) < c.entries
	first = make([]int32, c.kv+2)
	each := func(see func(i, j int, scale float64)) {
		for i, s := range c.scale {
			for _, run := range c.runsOf(i) {
				if ends {
					see(i, int(run.from), s)
					if int(run.to) < c.kv {
						see(i, int(run.to), -s)
					}
					continue
				}
				for j := run.from; j < run.to; j++ {
					see(i, int(j), s)
				}
			}
		}
	}
	each(func(_, j int, _ float64) { first[j+2]++ })
	for j := range c.kv {
		first[j+2] += first[j+1]
	}
	all = make([]event, first[c.kv+1])
	each(func(i, j int, scale float64) {
		all[first[j+1]] = event{int32(i), scale}
		first[j+1]++
	})
	return all, first, ends
}
