package estimate

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// Same returns for each input the first one that has the same row.
func (c *Channel) Same() []int {
	out, seen := make([]int, c.k), map[uint64][]int{}
	for i := range out {
		h := c.hash(i)
		at := slices.IndexFunc(seen[h], func(j int) bool { return c.same(i, j) })
		if at < 0 {
			out[i], seen[h] = i, append(seen[h], i)
			continue
		}
		out[i] = seen[h][at]
	}
	return out
}

// same is right where it says so: rows that are equal but for rounding are called different.
func (c *Channel) same(i, j int) bool {
	if c.rows != nil {
		return slices.Equal(c.row(i), c.row(j))
	}
	return (c.even || c.scale[i] == c.scale[j]) && slices.Equal(c.runsOf(i), c.runsOf(j)) &&
		slices.EqualFunc(c.oddOf(i), c.oddOf(j), func(a, b odd) bool { return a.j == b.j && a.extra == b.extra })
}

func (c *Channel) hash(i int) (h uint64) {
	mix := func(x uint64) { h = bits.RotateLeft64((h^x)*0x9e3779b97f4a7c15, 29) }
	if c.rows != nil {
		for _, v := range c.row(i) {
			mix(math.Float64bits(v))
		}
		return h
	}
	for _, r := range c.runsOf(i) {
		mix(uint64(r.from)<<32 | uint64(r.to))
	}
	for _, o := range c.oddOf(i) {
		mix(uint64(o.j))
		mix(math.Float64bits(o.extra))
	}
	return h
}

// Blocks returns sums of each row over at most m blocks of outputs, k x blocks, and the block of each output. Blocks are
// of neighbours in the order in which the channel keeps its outputs. A sum errs by at most 2^-40 n^2 of itself, with n
// outputs in the largest block.
func (c *Channel) Blocks(m int) (sums []float64, of []int) {
	size := (c.kv + m - 1) / m
	m = (c.kv + size - 1) / size
	of = make([]int, c.kv)
	for n := range of {
		of[c.output(n)] = n / size
	}
	sums = make([]float64, c.k*m)
	low, before, step := make([]float64, m), make([]float64, c.kv), make([]float64, m)
	for n, v := range c.low {
		b := n / size
		low[b], before[n] = low[b]+v, step[b] // the sum of step before n, in its block
		step[b] += c.step[n]
	}
	for i := range c.k {
		law := sums[i*m:][:m]
		if c.rows != nil || !c.smooth { // where steps are large, differences of their sums are not accurate
			c.sum(i, of, low, law)
			continue
		}
		for _, r := range c.runsOf(i) {
			a, z := int(r.from)/size, int(r.to-1)/size
			law[a] -= before[r.from]
			for b := a; b < z; b++ {
				law[b] += step[b]
			}
			if int(r.to) < min((z+1)*size, c.kv) {
				law[z] += before[r.to]
			} else {
				law[z] += step[z]
			}
		}
		for b, v := range low {
			law[b] = c.scale[i] * (law[b] + v)
		}
		for _, o := range c.oddOf(i) {
			law[of[o.j]] += o.extra
		}
	}
	return sums, of
}

// Contrast returns the function that sums w_y (P_iy - P_jy)^2 over the outputs, for w >= 0. It may stop once the sum is
// above most, and says how many numbers it has read. It can be called for several pairs at once, and gives the same sum
// for both orders of a pair.
func (c *Channel) Contrast(w []float64) func(i, j int, most float64) (sum float64, read int) {
	if c.rows != nil || !c.even {
		return func(i, j int, most float64) (float64, int) { return contrast(c.row(i), c.row(j), w, most) }
	}
	t := &contrasts{Channel: c, w: w, column: make([]int32, c.kv), each: make([]float64, c.kv), odds: make([]int32, c.k+1)}
	for _, o := range c.odd {
		t.odds[o.i+1]++
	}
	for i := range c.k {
		t.odds[i+1] += t.odds[i]
	}
	for n, v := range c.step {
		j, d := c.output(n), c.scale[0]*v
		t.column[j], t.each[n] = int32(n), d*d*w[j]
	}
	return t.sum
}

// maxWords is the largest number of words of a row.
const maxWords = 64

// maxAdditions take a second.
const maxAdditions = 1 << 29

// Words returns m words of each row, k x m, such that two rows for which the sum of Contrast is at most most have a word
// in common, at the same place among the m. Few others have. It returns nil where rows are not kept as runs, or m would
// be above 64, or the work above 2^29 additions.
//
// The outputs are in m groups, and a word is a sum of random numbers, one for each high entry of the row in a group. Let
// an output be high in one of two rows, low in the other, and odd in neither. It adds at least the least weighted square
// of a step to the sum. So rows differ in fewer than m of these, and in some group they do not. Outputs with a small
// square do not count; at least half must.
func (c *Channel) Words(w []float64, most float64) (words []uint64, m int) {
	if c.rows != nil || !c.even {
		return nil, 0
	}
	odds := 0 // the largest number of a row
	for from, n := 0, 0; n < len(c.odd); n++ {
		if c.odd[n].i != c.odd[from].i {
			from = n
		}
		odds = max(odds, n+1-from)
	}
	most *= 1 + sumSlack
	least, number, counting := math.Inf(1), make([]uint64, c.kv), 0
	for n, v := range c.step {
		j := c.output(n)
		if d := c.scale[0] * v; d*d*w[j]*float64(maxWords-2*odds-1) > most {
			least, number[n], counting = min(least, d*d*w[j]), random(uint64(n)), counting+1
		}
	}
	if counting < c.kv/2 || counting == 0 {
		return nil, 0
	}
	if m = int(most/least) + 2*odds + 1; m > maxWords || len(c.runs) > maxAdditions/m {
		return nil, 0
	}
	before := make([]uint64, c.kv+m) // the sum of the numbers of the columns n-m, n-2m, ..., which are a group
	for n, v := range number {
		before[n+m] = before[n] + v
	}
	words = make([]uint64, c.k*m)
	for i := range c.k {
		row := words[i*m:][:m]
		for _, r := range c.runsOf(i) {
			for e, end := range []int32{r.from, r.to} {
				sign := uint64(2*e) - 1
				part := before[end:][:m]
				first := int(end) % m
				for g, v := range part[:m-first] {
					row[first+g] += sign * v
				}
				for g, v := range part[m-first:] {
					row[g] += sign * v
				}
			}
		}
	}
	return words, m
}

// random is the n-th number of a fixed sequence (Steele, Lea and Flood 2014).
func random(n uint64) uint64 {
	n = (n + 1) * 0x9e3779b97f4a7c15
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>27) * 0x94d049bb133111eb
	return n ^ n>>31
}

func contrast(a, b, w []float64, most float64) (sum float64, y int) {
	for y < len(w) && !(sum > most) {
		for end := min(y+16, len(w)); y < end; y++ {
			d := a[y] - b[y]
			sum += d * d * w[y]
		}
	}
	return sum, y
}

// contrasts are those of rows of runs, of which only the ends of runs are read.
type contrasts struct {
	*Channel
	w      []float64
	column []int32   // of each output
	each   []float64 // of a column that is high in one row alone
	odds   []int32   // of row i: from odds[i] to odds[i+1]
}

func (c *contrasts) sum(i, j int, most float64) (sum float64, read int) {
	a, b := c.odd[c.odds[i]:c.odds[i+1]], c.odd[c.odds[j]:c.odds[j+1]]
	for len(a)+len(b) > 0 {
		d, y := 0.0, int32(0)
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].j < b[0].j:
			d, y, a = a[0].extra, a[0].j, a[1:]
		case len(a) == 0 || b[0].j < a[0].j:
			d, y, b = -b[0].extra, b[0].j, b[1:]
		default:
			d, y, a, b = a[0].extra-b[0].extra, a[0].j, a[1:], b[1:]
		}
		n := c.column[y]
		s := c.scale[0] * c.step[n]
		switch x, z := c.top(i, n), c.top(j, n); {
		case x == z:
			s = 0
		case x:
			d += s
		default:
			d -= s
		}
		sum += d*d*c.w[y] - s*s*c.w[y] // the last is added below
		read += 16
	}
	// Between the ends of the runs of both rows, taken together, every second stretch is high in one row alone.
	p, r := ends{runs: c.runsOf(i)}, ends{runs: c.runsOf(j)}
	for !(sum > most) {
		from := nextEnd(&p, &r)
		if from == none {
			break
		}
		to := nextEnd(&p, &r)
		for _, v := range c.each[from:to] {
			sum += v
		}
		read += 2 + int(to-from)
	}
	return max(sum, 0), read
}

// ends are those of runs, one after the other: the next is that of the first run, its to if from is passed.
type ends struct {
	runs   []run
	passed bool
}

const none = math.MaxInt32

func (e *ends) first() int32 {
	switch {
	case len(e.runs) == 0:
		return none
	case e.passed:
		return e.runs[0].to
	}
	return e.runs[0].from
}

func (e *ends) pass() {
	if e.passed {
		e.runs = e.runs[1:]
	}
	e.passed = !e.passed
}

// nextEnd takes the next end of both.
func nextEnd(p, r *ends) int32 {
	x, z := p.first(), r.first()
	switch {
	case x == none && z == none:
	case x <= z:
		p.pass()
	default:
		r.pass()
	}
	return min(x, z)
}

// top reports whether column n is in a run of row i.
func (c *contrasts) top(i int, n int32) bool {
	runs := c.runsOf(i)
	at, found := slices.BinarySearchFunc(runs, n, func(r run, n int32) int { return cmp.Compare(r.from, n) })
	return found || at > 0 && n < runs[at-1].to
}
