package mincostflow

import (
	"context"
	"math"

	"github.com/wpm-go/wpm/internal/parallel"
)

// pass prices every arc once, in one stage or in several. It reports whether it could before it had to stop.
func (p *pricer) pass() bool {
	p.next = 0
	for range p.blocks {
		if _, ok := p.stage(); !ok {
			return false
		}
	}
	return p.blocks > 1 || p.drain()
}

// stage pivots on listed arcs and prices the next block of rows. If the block is all rows, it is priced when no listed
// arc improves the plan any more. Else a round of pivots is made meanwhile, and the block is priced as if there were
// none. stage reports whether there were none and no arc of the block improves the plan, and whether it came to the end
// before it had to stop.
func (p *pricer) stage() (optimal, ok bool) {
	t := p.tree
	if p.blocks == 1 {
		if !p.drain() {
			return false, false
		}
		found, ok := p.sweep()
		return !found, ok
	}
	pivots := t.pivots
	p.freeze()
	from, end := p.next*t.k/p.blocks, (p.next+1)*t.k/p.blocks
	var priced bool
	if p.rows.shared(t.k) {
		ok, priced = p.together(from, end)
	} else {
		ok, priced = p.round(), p.price(from, end)
	}
	if p.watch.over = p.watch.over || !priced; !ok || !priced {
		return false, false
	}
	return !p.take(from, end) && t.pivots == pivots, true
}

// together makes a round and prices a block at the same time, and returns what each of them reports.
func (p *pricer) together(from, end int) (ok, priced bool) {
	_ = parallel.For(context.Background(), 2, func(task int) {
		if task == 0 {
			ok = p.round()
		} else {
			priced = p.price(from, end)
		}
	})
	return ok, priced
}

// sweep prices every arc and adds the best arcs of every row that improve the plan to its list. It reports whether
// there was one, and whether it came to the end before it had to stop.
func (p *pricer) sweep() (found, ok bool) {
	p.freeze()
	ok = p.price(0, p.tree.k)
	p.watch.over = p.watch.over || !ok
	return ok && p.take(0, p.tree.k), ok
}

// freeze copies what pivots change and price reads.
func (p *pricer) freeze() {
	p.found.pi = append(p.found.pi[:0], p.tree.pi...)
	p.found.watch = watch{ctx: p.watch.ctx, over: p.watch.over}
}

// price finds the best arcs of the rows of a block that improve the plan at the prices found.pi. It reports whether it
// came to the end before it had to stop.
func (p *pricer) price(from, end int) bool {
	f, n := &p.found, p.tree.n
	f.best, f.length, f.f = grow(f.best, end-from), grow(f.length, end-from), grow(f.f, p.tree.k)
	if p.rows.shared(end - from) {
		return p.rows.share(&f.watch, end-from, func(own *rows, r int) { p.priceRow(own.at(from+r), from+r, r) })
	}
	for r := range end - from {
		if !f.watch.row(n) {
			return false
		}
		p.priceRow(p.rows.at(from+r), from+r, r)
	}
	return true
}

// priceRow is price for row i, the r-th of its block. It changes nothing but what belongs to that row.
func (p *pricer) priceRow(row []float64, i, r int) {
	f, t := &p.found, p.tree
	l := &f.best[r]
	// Below -grid/2 the reduced cost is negative after rounding, too.
	n := l.gather(row, f.pi[t.k:t.k+t.n], f.pi[i]-t.grid/2)
	if f.f[i] = f.pi[i]; n > 0 {
		f.f[i] = l.price[0]
	}
	f.length[r] = int8(n)
}

// take adds what price has found to the lists of the rows of a block, as far as it still improves the plan, and reports
// whether it does.
func (p *pricer) take(from, end int) (some bool) {
	f, t := &p.found, p.tree
	for i := from; i < end; i++ {
		for _, c := range f.best[i-from].best[:f.length[i-from]] {
			if (t.round(c.cost)-t.pi[i])+t.pi[t.k+int(c.col)] < 0 {
				p.remember(i, c)
				some = true
			}
		}
	}
	g := f.pi[t.k : t.k+t.n]
	if p.next == 0 {
		f.g = append(f.g[:0], g...)
	}
	for j, x := range g { // of several prices the largest are right for all rows
		f.g[j] = max(f.g[j], x)
	}
	if p.next++; p.next == p.blocks {
		p.next = 0
		p.sweeps++
		p.seen.f, f.f = f.f, p.seen.f
		p.seen.g, f.g = f.g, p.seen.g
		p.seen.grid = t.grid
	}
	return some
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
