package ranking

import (
	"context"
	"math"
	"math/bits"
	"slices"
	"sort"

	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/ldp"
)

// lattice finds the thresholds of a ring or of a grid by counting cells, never over all pairs of an input and an
// output: the cells within a distance of another are an interval on each line, and the widths of an interval sum to a
// difference of two prefix sums. The lines of a grid are its rows, or its columns if these are fewer; a ring is one
// line.
type lattice struct {
	lines, length    int
	lineStep, atStep int     // cell number at of a line is column line*lineStep + at*atStep
	x, y             float64 // the key of cells so many lines and places apart is (x lines)^2 + (y places)^2
	box              *ldp.Polytope
	sums             []wide // of the widths of all cells before one, line by line
	need             uint64 // what the widths up to and with a threshold sum to at least
	even             bool   // all widths are the same
}

// newLattice returns the lattice of a grid for a box of rows*cols columns. The keys are those of package policy over a
// common factor.
func newLattice(rows, cols int, box *ldp.Polytope) *lattice {
	g := &lattice{lines: rows, length: cols, lineStep: cols, atStep: 1, box: box, need: box.Total(), even: true}
	if rows > cols {
		g.lines, g.length, g.lineStep, g.atStep = cols, rows, 1, cols
	}
	a, b := g.length, g.lines
	for b > 0 {
		a, b = b, a%b
	}
	g.x, g.y = float64(g.length/a), float64(g.lines/a)
	g.sums = make([]wide, 1, box.Len()+1)
	for n := range box.Len() {
		j := g.column(n/g.length, n%g.length)
		g.need -= box.Lo(j)
		g.even = g.even && g.width(j) == g.width(0)
		g.sums = append(g.sums, g.sums[n].add(wide{0, g.width(j)}))
	}
	return g
}

func (g *lattice) column(line, at int) int { return line*g.lineStep + at*g.atStep }
func (g *lattice) width(j int) uint64      { return g.box.Hi(j) - g.box.Lo(j) }

// wide is hi 2^64 + lo: the widths of all cells may sum to more than 2^64.
type wide struct{ hi, lo uint64 }

func (a wide) add(b wide) wide {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	return wide{a.hi + b.hi + carry, lo}
}

func (a wide) sub(b wide) wide {
	lo, borrow := bits.Sub64(a.lo, b.lo, 0)
	return wide{a.hi - b.hi - borrow, lo}
}

// reaches reports whether a >= need.
func (a wide) reaches(need uint64) bool { return a.hi > 0 || a.lo >= need }

// latticeBlock is how many cells of a line a goroutine takes at a time.
const latticeBlock = 1024

// ringThresholds returns the thresholds of a ring, in O(n log n).
func ringThresholds(ctx context.Context, box *ldp.Polytope) ([]int32, error) {
	n := box.Len()
	g := newLattice(1, n, box)
	for j := range n { // once more, for intervals beyond the end
		g.sums = append(g.sums, g.sums[n+j].add(wide{0, g.width(j)}))
	}
	within := func(i, d int) wide { // the widths up to d steps from i
		switch {
		case d < 0:
			return wide{}
		case 2*d+1 >= n:
			return g.sums[n]
		}
		from := (i - d + n) % n
		return g.sums[from+2*d+1].sub(g.sums[from])
	}
	found := make([]int32, n)
	err := parallel.For(ctx, (n+latticeBlock-1)/latticeBlock, func(block int) {
		for i := block * latticeBlock; i < min((block+1)*latticeBlock, n); i++ {
			d := sort.Search(n/2, func(d int) bool { return within(i, d).reaches(g.need) })
			one, other := (i-d+n)%n, (i+d)%n
			first := min(one, other)
			if !within(i, d-1).add(wide{0, g.width(first)}).reaches(g.need) {
				first = max(one, other)
			}
			found[i] = int32(first)
		}
	})
	return found, err
}

// gridThresholds returns the thresholds of a grid. The key of a threshold differs little from that of the cell before,
// so a few passes over the lines find it. If all widths are the same, one cell does for all its mirror images.
func gridThresholds(ctx context.Context, rows, cols int, box *ldp.Polytope) ([]int32, error) {
	g := newLattice(rows, cols, box)
	found := make([]int32, rows*cols)
	lines, places := g.lines, g.length
	if g.even {
		lines, places = (lines+1)/2, (places+1)/2
	}
	blocks := (places + latticeBlock - 1) / latticeBlock
	err := parallel.For(ctx, lines*blocks, func(task int) {
		w := walk{lattice: g}
		line, from := task/blocks, task%blocks*latticeBlock
		to := min(from+latticeBlock, places)
		if g.even && g.lines == g.length { // the diagonal is a mirror, too
			from = max(from, line)
		}
		for at := from; at < to; at++ {
			best := w.step(line, at)
			found[g.column(line, at)] = best.col
			if g.even {
				w.mirror(line, at, best, found)
			}
		}
	})
	return found, err
}

// walk goes along a line.
type walk struct {
	*lattice
	known    bool  // last is set
	last, by int64 // the key of the last threshold, and by how much that was more than the one before
	reach    int64 // how far around where it should be the next is looked for
	some     []candidate
	cols     []int32
}

const (
	// fewPasses is how often step looks around a guess, before it halves.
	fewPasses = 4
	// manyCandidates is how many are more than step wants to rank.
	manyCandidates = 64
)

// step returns the threshold of the next cell of a line, and leaves all candidates of its key in w.some.
func (w *walk) step(line, at int) candidate {
	x, y := int64(w.x)*int64(w.lines-1), int64(w.y)*int64(w.length-1)
	low, high := int64(-1), x*x+y*y // at high the widths reach need, at low they do not
	guess := w.last + w.by
	for pass := 0; pass < fewPasses && w.known; pass++ {
		from, to := max(guess-w.reach-1, low), min(guess+w.reach, high)
		if from >= to {
			break
		}
		best, beyond, ok := w.look(line, at, from, to)
		if ok {
			if len(w.some) > manyCandidates {
				w.reach /= 2
			}
			return w.keep(best)
		}
		w.reach = 2*w.reach + int64(w.x*w.y) // so much key holds three cells or so
		if beyond {
			low, guess = to, to+w.reach
		} else {
			high, guess = from, from-w.reach
		}
	}
	for high-low > 1 {
		middle := low + (high-low)/2
		if sum := w.around(line, at, middle, middle); sum.reaches(w.need) {
			high = middle
		} else {
			low = middle
		}
	}
	best, _, _ := w.look(line, at, low, high)
	return w.keep(best)
}

// keep remembers a threshold.
func (w *walk) keep(best candidate) candidate {
	k := int64(best.key)
	if w.by = k - w.last; !w.known {
		w.by = 0
	}
	w.last, w.known = k, true
	return best
}

// look returns the threshold if its key is above from and at most to. Otherwise beyond says on which side it is.
func (w *walk) look(line, at int, from, to int64) (best candidate, beyond, ok bool) {
	sum := w.around(line, at, from, to)
	if sum.reaches(w.need) && from >= 0 {
		return best, false, false
	}
	best, ok = pick(w.some, w.need-sum.lo)
	return best, true, ok
}

// around returns the sum of the widths of the cells with keys up to from, and leaves those with keys above it up to to
// in w.some.
//
// A key is below 2^42, and so are x and y squared times those of line and place. An integer n with (n y)^2 <= key has n
// y < sqrt(key + 1/2) (1 - 2^-45), and one with more has n y > sqrt(key + 1/2) (1 + 2^-45): floats tell them apart.
func (w *walk) around(line, at int, from, to int64) (sum wide) {
	w.some = w.some[:0]
	outer, inverse := float64(to)+0.5, 1/w.y
	for d := range max(line, w.lines-1-line) + 1 {
		dx := float64(d) * w.x
		dx *= dx
		if dx > outer {
			break
		}
		reach := int(math.Sqrt(outer-dx) * inverse)
		inner, left := reach, float64(from)-dx
		if dy := float64(reach) * w.y; left < 0 {
			inner = -1
		} else if dy*dy > left {
			inner = int(math.Sqrt(left+0.5) * inverse)
		}
		if l := line - d; l >= 0 {
			sum = w.line(l, at, inner, reach, dx, sum)
		}
		if l := line + d; d > 0 && l < w.lines {
			sum = w.line(l, at, inner, reach, dx, sum)
		}
	}
	return sum
}

// line adds the widths of the cells of line l at most inner places from at to sum, and lists those from there to reach.
// dx is what the line is worth in their keys.
func (w *walk) line(l, at, inner, reach int, dx float64, sum wide) wide {
	from, to := at, at-1
	if inner >= 0 {
		from, to = max(at-inner, 0), min(at+inner, w.length-1)
		sum = sum.add(w.sums[l*w.length+to+1].sub(w.sums[l*w.length+from]))
		if inner == reach {
			return sum
		}
	}
	list := func(a int) {
		dy, j := float64(a-at)*w.y, w.column(l, a)
		w.some = append(w.some, candidate{uint64(dx) + uint64(dy*dy), w.width(j), int32(j)})
	}
	for a := max(at-reach, 0); a < from; a++ {
		list(a)
	}
	for a := to + 1; a <= min(at+reach, w.length-1); a++ {
		list(a)
	}
	return sum
}

// mirror sets the thresholds of the mirror images of a cell. A mirror turns cells of one key into cells of one key, and
// puts them in another order; as many of them as before are up to and with the threshold.
func (w *walk) mirror(line, at int, best candidate, found []int32) {
	rank, ties := -1, w.some[:0]
	for _, c := range w.some {
		if c.key == best.key {
			ties = append(ties, c)
			if c.col <= best.col {
				rank++
			}
		}
	}
	for turn := 1; turn < 8; turn++ {
		if turn >= 4 && w.lines != w.length {
			break
		}
		image := func(l, a int) int32 {
			if turn&1 != 0 {
				l = w.lines - 1 - l
			}
			if turn&2 != 0 {
				a = w.length - 1 - a
			}
			if turn&4 != 0 {
				l, a = a, l
			}
			return int32(w.column(l, a))
		}
		w.cols = w.cols[:0]
		for _, c := range ties {
			j := int(c.col)
			if w.atStep == 1 {
				w.cols = append(w.cols, image(j/w.length, j%w.length))
			} else {
				w.cols = append(w.cols, image(j%w.lines, j/w.lines))
			}
		}
		slices.Sort(w.cols)
		found[image(line, at)] = w.cols[rank]
	}
}
