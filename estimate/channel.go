package estimate

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

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
	smooth    bool  // no high entry is above maxRatio times the low one: differences of sums are accurate

	findTops sync.Once
	tops     [][]top // the entries above the low values, by column and in order of i; nil if there are too many pairs
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
func (c *Channel) forward(theta, q []float64) { c.mix(theta, q, 0, c.smooth) }

// mix is forward for any theta: no sum over the runs is less than least, as rounding may make it. With differences, a sum
// over a run is one of two sums over all before; else the terms are added one by one.
func (c *Channel) mix(theta, q []float64, least float64, differences bool) {
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
			c.spread(i, t, high, differences)
		}
	}
	sum := 0.0
	for n, v := range high {
		if differences {
			sum += v
			v = max(sum, least)
		}
		q[c.output(n)] = c.low[n]*all + c.step[n]*v
	}
	for _, o := range c.odd {
		q[o.j] += theta[o.i] * o.extra
	}
}

// spread adds t to q, or to the differences of q, in the order of the runs, in those of row i.
func (c *Channel) spread(i int, t float64, q []float64, differences bool) {
	for _, r := range c.runsOf(i) {
		if differences {
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
func (c *Channel) back(v, g []float64) { c.collect(v, g, c.smooth) }

// collect is back with sums as in mix.
func (c *Channel) collect(v, g []float64, differences bool) {
	if c.rows != nil {
		for i := range g {
			g[i] = dot(c.row(i), v)
		}
		return
	}
	all, sums := c.before(v, differences)
	for i := range g {
		g[i] = c.scale[i] * c.above(i, all, sums, differences)
	}
	for _, o := range c.odd {
		g[o.i] += o.extra * v[o.j]
	}
}

// backOf sets g_l to the product of row of_l with v.
func (c *Channel) backOf(of []int, v, g []float64) {
	if c.rows != nil {
		for l, i := range of {
			g[l] = dot(c.row(i), v)
		}
		return
	}
	all, sums := c.before(v, c.smooth)
	for l, i := range of {
		g[l] = c.scale[i] * c.above(i, all, sums, c.smooth)
		for _, o := range c.oddOf(i) {
			g[l] += o.extra * v[o.j]
		}
	}
}

// before returns the sum of low_n v_n, and of step_n v_n before each n; or these terms themselves, without differences.
func (c *Channel) before(v []float64, differences bool) (all float64, sums []float64) {
	sums = make([]float64, c.kv+1)
	for n, low := range c.low {
		x := v[c.output(n)]
		all += low * x
		sums[n+1] = c.step[n] * x
		if differences {
			sums[n+1] += sums[n]
		}
	}
	return all, sums
}

// above adds what the runs of row i have of the sums of before.
func (c *Channel) above(i int, s float64, sums []float64, differences bool) float64 {
	for _, r := range c.runsOf(i) {
		if differences {
			s += sums[r.to] - sums[r.from]
			continue
		}
		for _, x := range sums[r.from+1 : r.to+1] {
			s += x
		}
	}
	return s
}

// scatter adds (P - 1 q') diag(v) (P - 1 q')' to the lower triangle of the k x k matrix out, row-major, or returns false
// for rows whose low values differ, and for a table of which findLow has found none. It takes k^2/2 times the runs of a
// row, or the squares of the numbers of high entries in the columns, whichever is less. Every term is of the size of the
// result or less, unless a column is high in nearly all rows.
func (c *Channel) scatter(q, v, out []float64) bool {
	scale := 1.0
	switch {
	case c.rows == nil && c.even:
		scale = c.scale[0]
		c.findTops.Do(c.setTops)
	case c.tops == nil:
		return false
	}
	all, each := 0.0, make([]float64, c.k)
	low, weight := make([]float64, c.kv), make([]float64, c.kv) // of P - 1 q', and v, by column
	for n, l := range c.low {
		j := c.output(n)
		low[n], weight[n] = scale*l-q[j], v[j]
		all += v[j] * low[n] * low[n]
	}
	if c.tops != nil {
		c.scatterColumns(low, weight, each, out)
	} else {
		c.scatterRows(low, weight, each, out)
	}
	for i, e := range each {
		row := out[i*c.k:][:i+1]
		for h := range row {
			row[h] += all + e + each[h]
		}
	}
	return true
}

// top is an entry above the low value, by over.
type top struct {
	i    int32
	over float64
}

// setTops sets tops where the sum of the squares of their numbers is small beside the runs: a pair of entries takes a
// third of what a run of a row takes with another row.
func (c *Channel) setTops() {
	counts, column := make([]int, c.kv+1), c.columns()
	for _, r := range c.runs {
		counts[r.from]++
		counts[r.to]--
	}
	for n := range c.kv {
		counts[n+1] += counts[n]
	}
	for _, o := range c.odd {
		counts[column[o.j]]++
	}
	pairs := 0
	for _, n := range counts {
		pairs += n * n
	}
	if pairs > c.k*len(c.runs)/2 {
		return
	}
	tops, all := make([][]top, c.kv), make([]top, c.entries+len(c.odd))
	for n := range tops {
		tops[n], all = all[:0:counts[n]], all[counts[n]:]
	}
	for i := range c.k {
		for _, r := range c.runsOf(i) {
			for n := r.from; n < r.to; n++ {
				tops[n] = append(tops[n], top{int32(i), c.scale[i] * c.step[n]})
			}
		}
		for _, o := range c.oddOf(i) {
			tops[column[o.j]] = append(tops[column[o.j]], top{int32(i), o.extra})
		}
	}
	c.tops = tops
}

// likeLow is how far above the least of its column, relative, an entry of means of rows may be for rounding.
const likeLow = 1e-12

// dense is the part of all pairs of entries of a column that are both above its least value where lists of those take as
// long as a product of all rows: half of the entries are above it then. See BenchmarkScatterOfGroups.
const dense = 0.25

// findLow sets low and tops of a table if most entries are the least of their columns.
func (c *Channel) findLow() { c.listTops(dense) }

// listTops is findLow for the part of pairs that lists may have at most.
func (c *Channel) listTops(most float64) {
	low := slices.Clone(c.row(0))
	for i := range c.k {
		for j, v := range c.row(i) {
			low[j] = min(low[j], v)
		}
	}
	counts := make([]int, c.kv)
	entries, pairs := 0, 0
	for i := range c.k {
		for j, v := range c.row(i) {
			if v > low[j]*(1+likeLow) {
				pairs += 2*counts[j] + 1
				counts[j]++
				entries++
			}
		}
	}
	if float64(pairs) > most*float64(c.k)*float64(c.k)*float64(c.kv) {
		return
	}
	tops, all := make([][]top, c.kv), make([]top, entries)
	for j, n := range counts {
		tops[j], all = all[:0:n], all[n:]
	}
	for i := range c.k {
		for j, v := range c.row(i) {
			if v > low[j]*(1+likeLow) {
				tops[j] = append(tops[j], top{int32(i), v - low[j]})
			}
		}
	}
	c.low, c.tops = low, tops
}

// columns returns the column of each output.
func (c *Channel) columns() []int {
	column := make([]int, c.kv)
	for n := range c.low {
		column[c.output(n)] = n
	}
	return column
}

// scatterColumns is scatter from the entries of the columns. each is what an entry has with the low values.
func (c *Channel) scatterColumns(low, weight, each, out []float64) {
	for n, column := range c.tops {
		for a, x := range column {
			t := weight[n] * x.over
			each[x.i] += t * low[n]
			row := out[int(x.i)*c.k:][:x.i+1]
			for _, y := range column[:a+1] {
				row[y.i] += t * y.over
			}
		}
	}
}

// scatterRows is scatter from the runs, for four rows at once: part has their entries over low, times v; and sums has
// what high entries of another row take of them, up to each column, or in each if sums of sums would not be accurate.
func (c *Channel) scatterRows(low, weight, each, out []float64) {
	column := c.columns()
	part, sums := make([][4]float64, c.kv), make([][4]float64, c.kv+1)
	for i := 0; i < c.k; i += len(part[0]) {
		to := min(i+len(part[0]), c.k)
		clear(part)
		for x := i; x < to; x++ {
			for _, r := range c.runsOf(x) {
				for n := r.from; n < r.to; n++ {
					part[n][x-i] = c.scale[x] * c.step[n]
				}
			}
			for _, o := range c.oddOf(x) {
				part[column[o.j]][x-i] += o.extra
			}
		}
		var sum, mean [4]float64
		for n := range part {
			p, w, step := &part[n], weight[n], c.step[n]
			for b := range p {
				p[b] *= w
				mean[b] += p[b] * low[n]
				if !c.smooth {
					sum[b] = 0
				}
				sum[b] += p[b] * step
			}
			sums[n+1] = sum
		}
		copy(each[i:to], mean[:])
		odds := c.odd
		for h := range to {
			s := c.highs(h, sums)
			for b := range s {
				s[b] *= c.scale[h]
			}
			for ; len(odds) > 0 && int(odds[0].i) == h; odds = odds[1:] {
				for b, p := range part[column[odds[0].j]] {
					s[b] += odds[0].extra * p
				}
			}
			for x := max(i, h); x < to; x++ {
				out[x*c.k+h] += s[x-i]
			}
		}
	}
}

// highs adds up the sums of scatter over the runs of row h.
func (c *Channel) highs(h int, sums [][4]float64) (s [4]float64) {
	s0, s1, s2, s3 := 0.0, 0.0, 0.0, 0.0
	for _, r := range c.runsOf(h) {
		if c.smooth {
			a, b := &sums[r.to], &sums[r.from]
			s0, s1, s2, s3 = s0+a[0]-b[0], s1+a[1]-b[1], s2+a[2]-b[2], s3+a[3]-b[3]
			continue
		}
		for n := range sums[r.from+1 : r.to+1] {
			a := &sums[int(r.from)+1+n]
			s0, s1, s2, s3 = s0+a[0], s1+a[1], s2+a[2], s3+a[3]
		}
	}
	return [4]float64{s0, s1, s2, s3}
}
