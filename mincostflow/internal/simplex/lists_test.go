package simplex

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest/given"
	"github.com/wpm-go/wpm/mincostflow/internal/start"
)

// pricerAt returns a pricer of a tree with a few ties among its potentials, on a grid that costs are multiples of or
// not.
func pricerAt(d given.Hard, k, n int) *pricer {
	t := &basis{k: k, n: n, root: int32(k + n)}
	t.grid = 0.25
	t.low, t.room = make([]uint64, n), make([]uint64, n)
	for range k + n + 1 {
		t.pi = append(t.pi, 0.25*float64(d.Intn(40)-20))
	}
	for j := range n {
		if t.room[j] = 1; d.Intn(5) == 0 { // takes nothing
			t.room[j], t.pi[k+j] = 0, math.Inf(1)
		}
	}
	p := &pricer{tree: t, costs: &costs{rows: &rows{p: Problem{Low: t.low}}}}
	for i := range k {
		p.rows.p.Rows = append(p.rows.p.Rows, k-1-i)
		row := make([]float64, n)
		for j := range row {
			row[j] = float64(d.Intn(60)) / 7 // never in the middle between two of the grid
		}
		p.rows.held = append(p.rows.held, row)
	}
	p.reset(oneHeavy(k))
	return p
}

// oneHeavy are units of k rows, the first of which has nearly all.
func oneHeavy(k int) []uint64 {
	units := slices.Repeat([]uint64{1}, k)
	units[0] = 1000
	return units
}

// TestGather compares the columns that a sweep collects with those of a sort.
func TestGather(t *testing.T) {
	for seed := range 400 {
		d := given.NewHard(uint64(seed) + 70e6)
		n := 1 + d.Intn(40)
		p := pricerAt(d, 1, n)
		row, pi := p.rows.at(0), p.tree.pi[1:]
		limit := []float64{-5, 0, 3, 1e9}[d.Intn(4)]
		var want []start.Arc
		for j, c := range row {
			if c+pi[j] < limit {
				want = append(want, start.Arc{J: int32(j), Cost: c})
			}
		}
		at := func(c start.Arc) float64 { return c.Cost + pi[c.J] }
		slices.SortStableFunc(want, func(a, b start.Arc) int { return cmp.Compare(at(a), at(b)) })
		want = want[:min(len(want), gatherLen)]
		arcs, prices := make([]start.Arc, gatherLen), make([]float64, gatherLen)
		got := arcs[:start.Gather(arcs, prices, 0, row, pi[:n], limit)]
		if !slices.Equal(got, want) {
			t.Fatalf("%d: %v, want %v", seed, got, want)
		}
		for i, c := range got {
			if prices[i] != at(c) {
				t.Fatalf("%d: price %v of %v, want %v", seed, prices[i], c, at(c))
			}
		}
	}
}

// TestListed: the best listed arc is the first of least rounded reduced cost, if that is negative.
func TestListed(t *testing.T) {
	found := 0
	for seed := range 300 {
		d := given.NewHard(uint64(seed) + 71e6)
		k, n := 1+d.Intn(5), 1+d.Intn(30)
		p := pricerAt(d, k, n)
		for i := range k {
			p.length[i] = int32(d.Intn(p.places(i) + 1))
			for c := range int(p.length[i]) {
				p.list[p.starts[i]+c] = start.Arc{I: int32(i), Cost: float64(d.Intn(400)) / 16, J: int32(d.Intn(n))}
			}
		}
		for i := range k {
			var want *start.Arc
			least := 0.0
			for c := range int(p.length[i]) {
				x := &p.list[p.starts[i]+c]
				if rc := p.tree.round(x.Cost) - p.tree.pi[i] + p.tree.pi[k+int(x.J)]; rc < least {
					want, least = x, rc
				}
			}
			got, rc := p.bestListed(i)
			if got != want || rc != least {
				t.Fatalf("%d, row %d: %v (%v), want %v (%v)", seed, i, got, rc, want, least)
			}
			if got != nil {
				found++
			}
		}
	}
	if found < 200 {
		t.Errorf("%d arcs found: the test tests little", found)
	}
}

// TestRemember: a full list loses its least promising arc, and no other list changes.
func TestRemember(t *testing.T) {
	for _, k := range []int{2, 64} {
		d := given.NewHard(uint64(k) + 72e6)
		const n = 50
		p := pricerAt(d, k, n)
		lists := make([][]start.Arc, k)
		for range 40 * k {
			i := d.Intn(k)
			c := start.Arc{I: int32(i), Cost: d.Float64(), J: int32(d.Intn(n))}
			if l := lists[i]; len(l) < p.places(i) {
				lists[i] = append(l, c)
			} else {
				worst := 0
				for x := range l {
					if l[x].Cost+p.tree.pi[k+int(l[x].J)] > l[worst].Cost+p.tree.pi[k+int(l[worst].J)] {
						worst = x
					}
				}
				l[worst] = c
			}
			p.remember(c)
			if got := p.listOf(i); !slices.Equal(got, lists[i]) {
				t.Fatalf("%d rows, row %d: %v, want %v", k, i, got, lists[i])
			}
		}
		for i := range k {
			if got := p.listOf(i); !slices.Equal(got, lists[i]) {
				t.Errorf("%d rows, row %d at the end: %v, want %v", k, i, got, lists[i])
			}
		}
		p.reset(oneHeavy(k))
		if slices.Max(p.length) != 0 {
			t.Error("reset leaves arcs on the lists")
		}
	}
}

// TestSweepFinds: a sweep lists arcs of negative rounded reduced cost alone, of every row the best, and none exactly
// when there is none.
func TestSweepFinds(t *testing.T) {
	none := 0
	for seed := range 300 {
		d := given.NewHard(uint64(seed) + 74e6)
		k, n := 1+d.Intn(5), 1+d.Intn(30)
		p := pricerAt(d, k, n)
		p.watch = &watch{ctx: t.Context()}
		if d.Intn(2) == 0 {
			for i := range k { // few arcs improve, or none
				p.tree.pi[i] = -5 + 0.25*float64(d.Intn(3))
			}
		}
		found, ok := p.sweep()
		if !ok || p.sweeps != 1 {
			t.Fatalf("%d: %v after %d sweeps", seed, ok, p.sweeps)
		}
		some := false
		for i := range k {
			reduced := func(c start.Arc) float64 { return p.tree.round(c.Cost) - p.tree.pi[i] + p.tree.pi[k+int(c.J)] }
			negative, least := 0, 0.0
			for j, c := range p.rows.held[i] {
				if x := reduced(start.Arc{J: int32(j), Cost: c}); x < 0 {
					negative++
					least = min(least, x)
				}
			}
			list := p.listOf(i)
			if len(list) != min(negative, gatherLen) {
				t.Fatalf("%d, row %d: %d arcs listed of %d that improve", seed, i, len(list), negative)
			}
			for c, x := range list {
				if c == 0 && reduced(x) > least+p.tree.grid { // the order is that of costs that are not rounded
					t.Fatalf("%d, row %d: %v is first, of %v there are some", seed, i, reduced(x), least)
				}
				if !(reduced(x) < 0) {
					t.Fatalf("%d, row %d: listed with %v", seed, i, reduced(x))
				}
			}
			some = some || negative > 0
		}
		if found != some {
			t.Fatalf("%d: found %v, there are %v", seed, found, some)
		}
		if !found {
			none++
		}
	}
	if none < 5 {
		t.Errorf("%d sweeps without a find: the test tests little", none)
	}
}

// TestEnterSlack compares with the obvious search: the slack arc that enters is the first of those that improve the
// plan most.
func TestEnterSlack(t *testing.T) {
	for seed := range 400 {
		d := given.NewHard(uint64(seed) + 84e6)
		n := d.Intn(11)
		from := d.Intn(3)
		var star basis
		mass := []uint64{1 << 61}
		star.low, star.room = make([]uint64, from+n), make([]uint64, from+n)
		for j := range star.low {
			star.low[j], star.room[j] = uint64(d.Intn(2)), uint64(1+d.Intn(5))
			if d.Intn(6) == 0 {
				star.low[j], star.room[j] = 0, 0 // dead: its potential is infinite
			}
		}
		plantStar(&star, mass)
		star.setPrices(-40, 1)
		best, at := 0.0, -1
		for j := range from + n {
			if !star.live(j) {
				continue
			}
			star.pi[1+j] = float64(d.Intn(5) - 2)
			if star.slack[j] != InTree && d.Intn(2) == 0 {
				star.setSlack(j, AtUpper)
			}
			x := star.pi[1+j]
			switch {
			case star.slack[j] == InTree:
				x = 0
			case star.slack[j] == AtUpper:
				x = -x
			}
			if j >= from && x > best {
				best, at = x, j
			}
		}
		states := slices.Clone(star.slack)
		if got := star.enterSlack(from, from+n); got != (at >= 0) {
			t.Fatalf("seed %d: an arc enters: %v, want %v", seed, got, at >= 0)
		}
		for j := range star.slack {
			if (star.slack[j] != states[j]) != (j == at) {
				t.Fatalf("seed %d: states %v, then %v; column %d is best", seed, states, star.slack, at)
			}
		}
	}
}

// TestBlocksCover: blocks are all rows, one after the other, at numbers of rows whose square is above 2^32, too.
func TestBlocksCover(t *testing.T) {
	for _, k := range []int{1, 7, 300, 2304, 760_000, 1 << 22} {
		for _, blocks := range []int{1, sweepBlocks, max(sweepBlocks, k/sweepRows), mostBlocks} {
			p := &pricer{tree: &basis{k: k}, blocks: blocks}
			if p.first(0) != 0 || p.first(blocks) != k {
				t.Fatalf("%d rows in %d blocks: from %d to %d", k, blocks, p.first(0), p.first(blocks))
			}
			for b := range blocks {
				if rows := p.first(b+1) - p.first(b); rows < k/blocks || rows > k/blocks+1 {
					t.Fatalf("%d rows in %d blocks: %d in block %d", k, blocks, rows, b)
				}
			}
		}
	}
}
