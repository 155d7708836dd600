package mincostflow

import (
	"math"
	"sync/atomic"

	"github.com/wpm-go/wpm/mincostflow/internal/start"
)

const (
	// listLen candidate columns are kept for every row (twice as many when rows are few), and a sweep adds up to
	// gatherLen to them.
	listLen   = 16
	gatherLen = 8
	// rowBlock rows compete for each pivot; after it slackBlock slack arcs are tried. When rows are few, a pivot moves
	// many columns, and a good slack arc is worth a longer look.
	rowBlock, slackBlock       = 4, 32
	fewRows                    = 64
	fewRowBlock, fewSlackBlock = 2, 128
	// pollEvery steps the context is asked.
	pollEvery = 64
)

// candidate is an arc worth pricing often: its column and unrounded cost.
type candidate struct {
	cost float64
	col  int32
}

// pricer finds the arcs that enter the tree. Full sweeps over the rows of the cost fill a short
// list of promising columns for every row; pivots come from the lists until none of their arcs
// improves the plan. A sweep that finds nothing proves the tree optimal, so the lists cost
// nothing in certainty. They take O(k) memory.
type pricer struct {
	tree   *basis
	rows   *rows
	watch  *watch
	list   []candidate // each for every row
	each   int
	length []int32 // used
	least  least
	next   []float64 // seen.f of the sweep in progress
	seen   seen
	sweeps int
	most   int // pivots, if a test limits them
	polls  int
}

// seen is what the last complete sweep says about prices: with g as the prices pi of the columns, f_i is the least of
// C_ij + g_j and the price of row i, up to a grid. (Both |C_ij + g_j| and prices are below 2^52 grids, or C_ij + g_j
// is above all prices; so its rounding is half a grid at most, and gather compares with half a grid less than the
// price.)
type seen struct {
	f, g []float64
	grid float64
}

// going reports whether the search may go on.
func (p *pricer) going() bool { return !p.limited() && p.watch.look() }

// limited reports whether a test lets it pivot no more.
func (p *pricer) limited() bool { return p.most > 0 && p.tree.pivots >= p.most }

// run pivots until the tree is optimal for the costs rounded to the grid, or a potential leaves the
// range in which arithmetic is exact (tree.outOfRange). It reports whether it could before it had to stop.
func (p *pricer) run() bool {
	// Lists that are not empty are worth a look before the first sweep.
	if !p.going() || !p.drain() {
		return false
	}
	for t := p.tree; !t.outOfRange; {
		before := t.pivots
		found, ok := p.sweep()
		if !ok || !p.drain() {
			return false
		}
		if !found && t.pivots == before {
			break
		}
	}
	return true
}

// seed lists the second best arcs of columns that are less than far from the best. They are likely to be wanted when
// the tree is nearly right.
func (p *pricer) seed(w *newton, far float64) {
	for j := range w.served {
		v := &w.served[j]
		if v.second < 0 || !(v.gap < far) || !p.tree.live(j) {
			continue
		}
		if i := int(w.heavy[v.second]); int(p.length[i]) < p.each {
			p.list[i*p.each+int(p.length[i])].col = int32(j)
			p.length[i]++
		}
	}
	for i, n := range p.length { // costs row by row, each of which may have to be computed
		if n == 0 {
			continue
		}
		if !p.watch.row(p.tree.n) {
			clear(p.length)
			return
		}
		row := p.rows.at(i)
		list := p.list[i*p.each : i*p.each+int(n)]
		for c := range list {
			list[c].cost = row[list[c].col]
		}
	}
}

// seedArcs lists arcs, as far as the lists of their rows have place.
func (p *pricer) seedArcs(arcs []start.Arc) {
	for _, a := range arcs {
		if n := int(p.length[a.I]); n < p.each {
			p.list[int(a.I)*p.each+n] = candidate{a.Cost, a.J}
			p.length[a.I]++
		}
	}
}

// reset empties the lists.
func (p *pricer) reset() {
	if p.each = listLen; p.tree.k < fewRows {
		p.each = 2 * listLen
	}
	p.list = grow(p.list, p.tree.k*p.each)
	p.length = grow(p.length, p.tree.k)
	clear(p.length)
	p.seen.f = p.seen.f[:0]
}

// drain pivots on listed and slack arcs until none improves the plan. It reports whether it could before it had to
// stop.
func (p *pricer) drain() bool {
	t := p.tree
	rows, columns := cursor{n: t.k, block: rowBlock}, cursor{n: t.n, block: slackBlock}
	if t.k < fewRows {
		rows.block, columns.block = fewRowBlock, fewSlackBlock
	}
	for (rows.more() || columns.more()) && !t.outOfRange {
		if p.polls++; (p.polls%pollEvery == 0 || p.limited()) && !p.going() {
			return false
		}
		if rows.more() && p.enterListed(rows.next()) {
			rows.seen, columns.seen = 0, 0
		}
		if columns.more() && !t.outOfRange && t.enterSlack(columns.next()) {
			rows.seen, columns.seen = 0, 0
		}
	}
	return true
}

// cursor goes round and round through blocks of n rows or columns. What has been seen since the last pivot need not be
// seen again.
type cursor struct{ at, seen, n, block int }

// more reports whether there is anything to be seen.
func (c *cursor) more() bool { return c.seen < c.n }

// next returns the next block, from its first to before end.
func (c *cursor) next() (from, end int) {
	if c.at == c.n {
		c.at = 0
	}
	from, c.at = c.at, min(c.at+c.block, c.n)
	c.seen += c.at - from
	return from, c.at
}

// enterListed brings the listed arc of rows from to end - 1 with the least reduced cost into the tree, if that is
// negative, and reports whether it was.
func (p *pricer) enterListed(from, end int) bool {
	var best *candidate
	row, least := 0, 0.0
	for i := from; i < end; i++ {
		if c, rc := p.bestListed(i); rc < least {
			best, row, least = c, i, rc
		}
	}
	return best != nil && p.tree.enterReal(int32(row), best.col, best.cost)
}

// bestListed returns the listed arc of row i with the least reduced cost, if that is negative.
func (p *pricer) bestListed(i int) (best *candidate, least float64) {
	t := p.tree
	list := p.list[i*p.each : i*p.each+int(p.length[i])]
	pi := t.pi[t.k : t.k+t.n]
	magic := t.magic
	m := t.pi[i]
	for c := range list {
		if x := ((list[c].cost + magic) - magic) + pi[list[c].col]; x < m {
			m = x
			best = &list[c]
		}
	}
	return best, m - t.pi[i]
}

// sweep prices every arc and adds the best arcs of every row that improve the plan to its list.
// It reports whether there was one, and whether it came to the end before it had to stop.
func (p *pricer) sweep() (found, ok bool) {
	t := p.tree
	p.sweeps++
	p.next = grow(p.next, t.k)
	if p.rows.shared(t.k) {
		var any atomic.Bool
		ok = p.rows.share(p.watch, t.k, func(own *rows, i int) {
			if p.sweepRow(i, own.at(i), new(least)) {
				any.Store(true)
			}
		})
		found = any.Load()
	} else {
		for i := range t.k {
			if !p.watch.row(t.n) {
				return found, false
			}
			found = p.sweepRow(i, p.rows.at(i), &p.least) || found
		}
		ok = true
	}
	if ok {
		p.seen.f, p.next = p.next, p.seen.f
		p.seen.g = append(p.seen.g[:0], t.pi[t.k:t.k+t.n]...)
		p.seen.grid = t.grid
	}
	return found, ok
}

// sweepRow is sweep for row i, with l to work in. It changes nothing but what belongs to that row.
func (p *pricer) sweepRow(i int, row []float64, l *least) (found bool) {
	t := p.tree
	pi := t.pi[t.k : t.k+t.n]
	// Below -grid/2 the reduced cost is negative after rounding, too.
	n := l.gather(row, pi, t.pi[i]-t.grid/2)
	p.next[i] = t.pi[i]
	if n > 0 {
		p.next[i] = l.price[0]
	}
	for c := range l.best[:n] {
		b := &l.best[c]
		if (t.round(b.cost)-t.pi[i])+pi[b.col] < 0 {
			p.remember(i, *b)
			found = true
		}
	}
	return found
}

// least are the columns of a row with the least cost + pi, ascending.
type least struct {
	best  [gatherLen]candidate
	price [gatherLen]float64 // of best: cost + pi
}

// gather collects the columns of least cost + pi below limit, at most gatherLen.
func (l *least) gather(row, pi []float64, limit float64) int {
	pi = pi[:len(row)]
	n := 0
	j := 0
	for ; j+4 <= len(row); j += 4 {
		c := row[j : j+4 : j+4]
		g := pi[j : j+4 : j+4]
		x0, x1, x2, x3 := c[0]+g[0], c[1]+g[1], c[2]+g[2], c[3]+g[3]
		if x0 < limit || x1 < limit || x2 < limit || x3 < limit {
			for d, x := range [4]float64{x0, x1, x2, x3} {
				if x < limit {
					n, limit = l.insert(n, limit, x, candidate{c[d], int32(j + d)})
				}
			}
		}
	}
	for ; j < len(row); j++ {
		if x := row[j] + pi[j]; x < limit {
			n, limit = l.insert(n, limit, x, candidate{row[j], int32(j)})
		}
	}
	return n
}

// insert puts c at its place among the n best and returns their new number and limit.
func (l *least) insert(n int, limit, x float64, c candidate) (int, float64) {
	if n < gatherLen {
		n++
	}
	at := n - 1
	for at > 0 && l.price[at-1] > x {
		l.price[at], l.best[at] = l.price[at-1], l.best[at-1]
		at--
	}
	l.price[at], l.best[at] = x, c
	if n == gatherLen {
		limit = l.price[gatherLen-1]
	}
	return n, limit
}

// remember puts c on the list of row i, in place of the least promising arc when it is full.
func (p *pricer) remember(i int, c candidate) {
	if n := p.length[i]; int(n) < p.each {
		p.list[i*p.each+int(n)] = c
		p.length[i]++
		return
	}
	pi := p.tree.pi[p.tree.k:]
	list := p.list[i*p.each : (i+1)*p.each]
	worst, at := math.Inf(-1), 0
	for n := range list {
		if x := list[n].cost + pi[list[n].col]; x > worst {
			worst, at = x, n
		}
	}
	list[at] = c
}
