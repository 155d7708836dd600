package simplex

import (
	"math"

	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/mincostflow/internal/start"
)

const (
	// listLen candidate columns are kept for every row (twice as many when rows are few), and a sweep adds up to
	// gatherLen to them.
	listLen   = 16
	gatherLen = 8
	// A row with heavyRow times the mean mass has twice as many places as the columns that it serves if all take as much,
	// and a sweep fills half of them. (With listLen, it would take a sweep for every gatherLen of them.)
	heavyRow = 2 * listLen
	// rowBlock rows compete for each pivot; after it slackBlock slack arcs are tried. When rows are few, a pivot moves
	// many columns, and a good slack arc is worth a longer look.
	rowBlock, slackBlock       = 4, 32
	fewRows                    = 64
	fewRowBlock, fewSlackBlock = 2, 128
	// sweepBlocks blocks of rows, or up to mostBlocks of sweepRows or more each, are priced one after the other where
	// pivots go on meanwhile.
	sweepBlocks = 8
	mostBlocks  = 32
	sweepRows   = 256
	tallest     = 8 // rows for a column: above, pivots take far longer than pricing
	// Sweeps with less than a pivot for every fewPivots rows end with drained lists.
	fewPivots = 16
)

// pricer finds the arcs that enter the tree. Full sweeps over the rows of the cost fill a short
// list of promising columns for every row; pivots come from the lists until none of their arcs
// improves the plan. A sweep that finds nothing proves the tree optimal, so the lists cost
// nothing in certainty. They take O(k) memory.
//
// Sweeps over many rows that have begun with a good tree go on in blocks of rows, and pivots between them: one
// processor can price a block while another one pivots.
type pricer struct {
	tree *basis
	*costs
	list   []start.Arc // of all rows, one after the other; the same arc may be listed twice
	starts []int       // of row i: its list has places starts[i] to starts[i+1] - 1
	length []int32     // places in use, by row
	blocks int         // of rows, into which sweeps are cut
	next   int         // the block that comes next
	before int         // pivots before the first of them
	work   pricing
	proved proved
	sweeps int // complete ones

	position position // of rounds
}

// pricing is what price reads and changes while pivots may go on.
type pricing struct {
	pi     []float64   // the prices of the tree when the block was begun
	best   []start.Arc // arcs to list: half as many places for every row as its list has
	price  []float64   // cost + pi of each of them
	length []int32     // how many, by row
	f, g   []float64   // become those of proved when the sweep is complete
}

// proved is a dual solution that the last complete sweep proves: f_i <= C_ij + g_j + grid for all i and j. g are the
// prices pi of the columns, and f_i is also at most the price of row i, up to a grid. Proved returns it.
//
// If the blocks of a sweep saw different prices of a column, g_j is the largest: the inequality stays true when g_j
// grows. The grid is for roundings. |C_ij + g_j| and all prices are below 2^53 grids, or else C_ij + g_j is above all
// prices and does not matter. So C_ij + g_j is wrong by half a grid at most, and gather compares it with half a grid
// less than the price of the row.
type proved struct {
	f, g []float64
	grid float64
}

// run pivots until no arc improves the plan by more than half a grid for a unit of mass, or a potential leaves the
// range in which arithmetic is exact (tree.outOfRange). It reports whether it could before it had to stop.
func (p *pricer) run() bool {
	if !p.watch.look() {
		return false
	}
	p.next = 0
	// As many clean stages in a row as there are blocks have priced every arc, at prices that did not change. It does not
	// matter what the lists hold: they only say where to look first.
	for streak := 0; streak < p.blocks && !p.tree.outOfRange; {
		clean, ok := p.stage()
		if !ok {
			return false
		}
		if streak++; !clean {
			streak = 0
		}
	}
	return true
}

// listOf returns the list of row i.
func (p *pricer) listOf(i int) []start.Arc { return p.list[p.starts[i]:][:p.length[i]] }

// places returns how long that list may be.
func (p *pricer) places(i int) int { return p.starts[i+1] - p.starts[i] }

// append puts an arc on the list of its row, and reports whether there was place.
func (p *pricer) append(a start.Arc) bool {
	n := int(p.length[a.I])
	if n == p.places(int(a.I)) {
		return false
	}
	p.list[p.starts[a.I]+n] = a
	p.length[a.I]++
	return true
}

// reset makes empty lists, for rows with the given units.
func (p *pricer) reset(units []uint64) {
	k := p.tree.k
	total := 0.0
	for _, u := range units {
		total += float64(u)
	}
	p.starts = append(num.Grow(p.starts, k+1)[:0], 0)
	for i, u := range units {
		p.starts = append(p.starts, p.starts[i]+listPlaces(float64(u)/total, k, p.tree.n))
	}
	p.list = num.Grow(p.list, p.starts[k])
	p.length = num.Grow(p.length, k)
	clear(p.length)
	p.proved.f = p.proved.f[:0]
	p.position, p.blocks = position{}, 1
}

// listPlaces returns how many places the list of a row has that has this share of the mass.
func listPlaces(share float64, k, n int) int {
	places := listLen
	if k < fewRows {
		places = 2 * listLen
	}
	if share*float64(k) >= heavyRow {
		places = max(places, min(2*int(share*float64(n)), n))
	}
	return places
}

// drain pivots on listed and slack arcs until none improves the plan. It reports whether it could before it had to
// stop.
func (p *pricer) drain() bool { return p.search(new(position), math.MaxInt64, true) }

// round looks once at every slack arc, and at lists until all have been seen or the effort is spent, from where the
// last round ended. It reports whether it could before it had to stop.
func (p *pricer) round(effort int64) bool { return p.search(&p.position, effort, false) }

// search pivots on listed and slack arcs, block by block from a position, and leaves the position where it ends. When
// the effort is spent, it looks at no more lists. With again, it starts anew after every pivot and ends when none of
// the arcs improves the plan. Without, it sees every arc once, a few perhaps twice.
func (p *pricer) search(at *position, effort int64, again bool) (ok bool) {
	t := p.tree
	rows := cursor{at: at.row, n: t.k, block: rowBlock}
	columns := cursor{at: at.column, n: t.slackColumns(), block: slackBlock}
	if t.k < fewRows {
		rows.block, columns.block = fewRowBlock, fewSlackBlock
	}
	before := t.effort
	for ok = true; !t.outOfRange; {
		lists := rows.more() && t.effort-before <= effort
		if !lists && !columns.more() {
			break
		}
		if ok = p.watch.look(); !ok {
			break
		}
		if lists {
			from, end := rows.next()
			t.effort += int64(p.starts[end] - p.starts[from])
			if p.enterListed(from, end) && again {
				rows.seen, columns.seen = 0, 0
			}
		}
		if columns.more() && !t.outOfRange && t.enterSlack(columns.next()) && again {
			rows.seen, columns.seen = 0, 0
		}
	}
	*at = position{rows.at, columns.at}
	return ok
}

// position is the row and the column that come next.
type position struct{ row, column int }

// cursor goes round and round through blocks of n rows or columns, until all have been seen.
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
	var best *start.Arc
	least := 0.0
	for i := from; i < end; i++ {
		if a, rc := p.bestListed(i); rc < least {
			best, least = a, rc
		}
	}
	return best != nil && p.tree.enterReal(best.I, best.J, best.Cost)
}

// bestListed returns the listed arc of row i with the least reduced cost, if that is negative.
func (p *pricer) bestListed(i int) (best *start.Arc, least float64) {
	t := p.tree
	list := p.listOf(i)
	pi := t.pi[t.k : t.k+t.n]
	magic := t.magic()
	m := t.pi[i]
	for c := range list {
		x := ((list[c].Cost + magic) - magic) + pi[list[c].J]
		if x >= m {
			continue
		}
		m, best = x, &list[c]
	}
	return best, m - t.pi[i]
}
