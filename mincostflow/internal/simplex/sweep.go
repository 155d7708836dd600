package simplex

import (
	"context"
	"math"

	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/mincostflow/internal/start"
)

// pass prices every arc once, block by block, with pivots before and between; if all rows are one block, pivots follow
// until no listed arc improves the plan. It reports whether it could before it had to stop.
func (p *pricer) pass() bool {
	p.next = 0
	for range p.blocks {
		if _, ok := p.stage(); !ok {
			return false
		}
	}
	return p.blocks > 1 || p.drain()
}

// cut cuts sweeps into blocks of rows, if they are worth it: not where columns have room.
func (p *pricer) cut() {
	if t := p.tree; p.rows.large(t.k) && t.k <= tallest*t.n && t.slackColumns() == 0 {
		p.blocks = min(max(sweepBlocks, t.k/sweepRows), mostBlocks)
	}
}

// stage pivots on listed and slack arcs, and prices the next block of rows. It reports whether the block is clean: no
// arc of it and no slack arc improves the plan. ok is false if it had to stop.
func (p *pricer) stage() (clean, ok bool) {
	if p.blocks == 1 {
		return p.drainAndSweep()
	}
	return p.roundBesideBlock()
}

// drainAndSweep is the stage of a search in one block: it pivots until no listed or slack arc improves the plan, and
// then prices all rows.
func (p *pricer) drainAndSweep() (clean, ok bool) {
	if !p.drain() {
		return false, false
	}
	found, ok := p.sweep()
	return !found, ok
}

// roundBesideBlock is the stage of a search in several blocks: it makes one round of pivots, and prices the next block
// at the prices before the round. After the last block of a sweep with few pivots it drains the lists. The block is
// clean only if there was no pivot, so that no slack arc improves the plan either.
func (p *pricer) roundBesideBlock() (clean, ok bool) {
	t := p.tree
	pivots := t.pivots
	if p.next == 0 {
		p.before = pivots
	}
	from, end := p.first(p.next), p.first(p.next+1)
	p.freeze(from, end)
	if ok, priced := p.roundAndPrice(from, end); !ok || !priced {
		return false, false
	}
	found := p.listFound(from, end)
	if p.next == 0 && t.pivots-p.before < t.k/fewPivots && !p.drain() {
		return false, false
	}
	return !found && t.pivots == pivots, true
}

// first returns the first row of a block.
func (p *pricer) first(block int) int { return int(int64(block) * int64(p.tree.k) / int64(p.blocks)) }

// roundAndPrice makes a round and prices a block, at the same time if the rows are worth it, and returns what each of
// them reports. Neither reads what the other changes: a round reads the lists, and changes the tree, watch and
// position; price reads the costs and the grid, and changes work and the buffers of rows. So the result does not depend
// on which is first. The lists change afterwards, in listFound.
func (p *pricer) roundAndPrice(from, end int) (ok, priced bool) {
	cells := int64(end-from) * int64(p.tree.n)
	if !p.rows.shared(p.tree.k) {
		ok, priced = p.round(cells), p.price(from, end)
	} else {
		_ = parallel.For(context.Background(), 2, func(task int) {
			if task == 0 {
				ok = p.round(cells)
			} else {
				priced = p.price(from, end)
			}
		})
	}
	p.watch.over = p.watch.over || !priced
	return ok, priced
}

// sweep prices every arc, in one block, and adds the best arcs of every row that improve the plan to its list. It
// reports whether there was one, and whether it came to the end before it had to stop.
func (p *pricer) sweep() (found, ok bool) {
	p.freeze(0, p.tree.k)
	ok = p.price(0, p.tree.k)
	p.watch.over = p.watch.over || !ok
	return ok && p.listFound(0, p.tree.k), ok
}

// freeze copies what pivots change and price reads for a block.
func (p *pricer) freeze(from, end int) {
	w, t := &p.work, p.tree
	w.pi = num.Grow(w.pi, t.k+t.n)
	copy(w.pi[from:end], t.pi[from:end])
	copy(w.pi[t.k:], t.pi[t.k:t.k+t.n])
}

// price finds the best arcs of the rows of a block that improve the plan at the prices work.pi. It reports whether it
// came to the end before it had to stop.
func (p *pricer) price(from, end int) bool {
	w := &p.work
	places := (p.starts[end]-p.starts[from])/2 + end - from
	w.best, w.price = num.Grow(w.best, places), num.Grow(w.price, places)
	w.length, w.f = num.Grow(w.length, end-from), num.Grow(w.f, p.tree.k)
	watch := watch{ctx: p.watch.ctx} // the other one belongs to pivots
	if p.rows.shared(end - from) {
		return p.rows.share(&watch, end-from, func(own *rows, r int) { p.priceRow(own.at(from+r), from+r, from) })
	}
	for r := range end - from {
		if !watch.look() {
			return false
		}
		p.priceRow(p.rows.at(from+r), from+r, from)
	}
	return true
}

// found is where price puts what it finds for row i of the block that begins with row from.
func (p *pricer) found(i, from int) (arcs []start.Arc, prices []float64) {
	at, many := (p.starts[i]-p.starts[from])/2+i-from, gatherLen
	if places := p.places(i); places > 2*listLen {
		many = places / 2
	}
	return p.work.best[at : at+many], p.work.price[at : at+many]
}

// priceRow is price for row i of the block that begins with row from. It changes nothing but what belongs to that row.
func (p *pricer) priceRow(row []float64, i, from int) {
	w, t := &p.work, p.tree
	arcs, prices := p.found(i, from)
	// Below -grid/2 the reduced cost is negative after rounding, too. At -grid/2 exactly it may round to -grid, and the
	// arc is not listed: it could gain half a grid for a unit of mass.
	n := start.Gather(arcs, prices, int32(i), row, w.pi[t.k:t.k+t.n], w.pi[i]-t.grid/2)
	w.length[i-from] = int32(n)
	w.f[i] = w.pi[i]
	if n > 0 {
		w.f[i] = prices[0]
	}
}

// listFound adds what price has found to the lists of the rows of a block, as far as it still improves the plan, and reports
// whether any of it does.
func (p *pricer) listFound(from, end int) (some bool) {
	w, t := &p.work, p.tree
	for i := from; i < end; i++ {
		arcs, _ := p.found(i, from)
		for _, a := range arcs[:w.length[i-from]] {
			if (t.round(a.Cost)-t.pi[i])+t.pi[t.k+int(a.J)] < 0 {
				p.remember(a)
				some = true
			}
		}
	}
	p.advance()
	return some
}

// advance goes on to the next block. After the last one, what the sweep proves is complete.
func (p *pricer) advance() {
	w, t := &p.work, p.tree
	g := w.pi[t.k : t.k+t.n]
	if p.next == 0 {
		w.g = append(w.g[:0], g...)
	}
	for j, x := range g { // f_i <= C_ij + g_j stays true when g_j grows
		w.g[j] = max(w.g[j], x)
	}
	if p.next++; p.next < p.blocks {
		return
	}
	p.next = 0
	p.sweeps++
	p.proved.f, w.f = w.f, p.proved.f
	p.proved.g, w.g = w.g, p.proved.g
	p.proved.grid = t.grid
}

// remember puts an arc on the list of its row, in place of the least promising arc when it is full.
func (p *pricer) remember(a start.Arc) {
	if p.append(a) {
		return
	}
	pi := p.tree.pi[p.tree.k:]
	list := p.listOf(int(a.I))
	worst, at := math.Inf(-1), 0
	for n := range list {
		if x := list[n].Cost + pi[list[n].J]; x > worst {
			worst, at = x, n
		}
	}
	list[at] = a
}
