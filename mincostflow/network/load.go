package network

import (
	"fmt"
	"math"
	"math/big"

	"github.com/wpm-go/wpm/wpmerr"
)

// loaded is a network in the form of the simplex: every arc has a flow from zero to a capacity.
//
//	x = Lower + y    where there is a lower bound,
//	x = Upper - y    where there is only an upper bound: the arc is turned round,
//	x = y - y'       where there is none: two arcs, one in each direction.
//
// Arcs whose bounds are equal and arcs from a node to itself are settled beforehand and left out.
type loaded struct {
	simplex
	net    *Problem
	supply []int64 // what the settled flows and the bounds leave of it
	origin []int32 // of each arc: twice its index in the network, plus one if it was turned round
	greedy bool    // arcs start at the bound that is cheaper, if there is one, else at the lower one
	loop   int     // an arc from a node to itself that makes the network unbounded, or -1
	buf    [2]part
}

// part is an arc of the simplex, its capacity, which is endless if it is infinite or too large for the simplex, and its
// origin.
type part struct {
	residualArc
	room   int64
	origin int32
}

// turned returns p turned round.
func (p part) turned() part {
	return part{residualArc{-p.cost, p.to, p.from}, p.room, p.origin + 1}
}

// parts returns the arcs of the simplex that arc e becomes, none if it is settled, and the flow that y = 0 stands for.
// They are valid until the next call.
func (l *loaded) parts(e int) (parts []part, start int64) {
	a := &l.net.Arcs[e]
	switch {
	case a.From == a.To:
		return nil, a.loopFlow()
	case a.Lower == a.Upper:
		return nil, a.Lower
	}
	lower, upper := a.hasLower(), a.hasUpper()
	p := part{residualArc{a.Cost, int32(a.From), int32(a.To)}, endless, 2 * int32(e)}
	if lower && upper { // as unsigned numbers the difference is always right
		p.room = int64(min(uint64(a.Upper)-uint64(a.Lower), endless))
	}
	switch {
	case !lower && !upper:
		l.buf = [2]part{p, p.turned()}
		return l.buf[:], 0
	case upper && (!lower || l.greedy && a.Cost < 0):
		l.buf[0] = p.turned()
		return l.buf[:1], a.Upper
	}
	l.buf[0] = p
	return l.buf[:1], a.Lower
}

// endless is more than any capacity in the simplex.
const endless = math.MaxInt64

// loopFlow is the best flow from a node to itself, or a feasible one if there is no best.
func (a *Arc) loopFlow() int64 {
	switch {
	case a.hasUpper() && (a.Cost < 0 || !a.hasLower()):
		return a.Upper
	case a.hasLower():
		return a.Lower
	}
	return 0
}

// loopRay reports whether more flow from a node to itself is always cheaper.
func (a *Arc) loopRay() bool {
	return a.From == a.To && (a.Cost < 0 && !a.hasUpper() || a.Cost > 0 && !a.hasLower())
}

// maxPath bounds the sum over all nodes of the dearest arc at each, and with it the cost of any path
// and any cycle. Potentials and reduced costs are less than eight times that.
const maxPath = math.MaxInt64 / 8

// maxTreeFlow bounds the flow in any tree of a network that may be unbounded: what is more
// belongs to an infinite capacity.
const maxTreeFlow = 1<<62 - 1

// load brings the network to the form of the simplex, or refuses it if numbers might not fit:
//
//   - Flows on arcs with capacities fit by themselves. So do those on artificial arcs: no pivot
//     adds to their sum, since their price exceeds the cost of any cycle.
//   - An optimal flow consists of paths from supplies to demands and of cycles of negative cost. If
//     all arcs of negative cost have capacities, the flow on any arc is therefore at most the sum
//     of the supplies and of those capacities. One more than that may replace an infinite capacity:
//     some optimal flow does not reach it, so it has no price in any optimal dual solution; and
//     likewise for the flow that is closest to feasible.
//   - Otherwise, the flow on an arc in a tree is at most the sum of the supplies and of all finite
//     capacities. When that is at most maxTreeFlow, a cycle that could take more has infinite capacity.
func (g *Problem) load() (*loaded, error) {
	l, err := g.loadFrom(true)
	if err != nil {
		l, err = g.loadFrom(false) // sometimes fits where the other does not
	}
	return l, err
}

func (g *Problem) loadFrom(greedy bool) (*loaded, error) {
	l := &loaded{net: g, supply: make([]int64, len(g.Supply)), loop: -1, greedy: greedy}
	if err := l.choosePrice(); err != nil {
		return nil, err
	}
	t := l.count()
	positive, err := l.shift(t.shift)
	if err != nil {
		return nil, err
	}
	clip, err := l.limit(t, positive)
	if err != nil {
		return nil, err
	}
	l.fill(t.arcs, clip)
	l.star(l.supply)
	return l, nil
}

// tally is what load has to know of all arcs before it writes them.
type tally struct {
	arcs             int       // of the simplex
	finite, negative big.Int   // sums of capacities: of the finite ones, and of those with negative cost
	unlimited, ray   bool      // there are infinite capacities, and some with negative cost
	offset           int64     // the largest bound of an arc that has not the other one, towards that
	shift            []big.Int // what y = 0 brings to each node, nil for nothing
}

func (l *loaded) count() *tally {
	t := new(tally)
	for e := range l.net.Arcs {
		a := &l.net.Arcs[e]
		if l.loop < 0 && a.loopRay() {
			l.loop = e
		}
		parts, start := l.parts(e)
		if start != 0 {
			if t.shift == nil {
				t.shift = make([]big.Int, len(l.supply))
			}
			sub(&t.shift[a.From], start)
			add(&t.shift[a.To], start)
		}
		t.arcs += len(parts)
		for i := range parts {
			t.add(&parts[i], start, a.hasLower() && a.hasUpper())
		}
	}
	return t
}

// add adds an arc of the simplex that starts at so much flow, given whether both bounds are finite.
func (t *tally) add(p *part, start int64, finite bool) {
	t.unlimited = t.unlimited || p.room == endless
	if finite {
		add(&t.finite, p.room)
		if p.cost < 0 {
			add(&t.negative, p.room)
		}
		return
	}
	if p.origin&1 == 1 {
		start = -start
	}
	t.offset = max(t.offset, start)
	t.ray = t.ray || p.cost < 0
}

// shift adds what y = 0 brings to the supplies, and returns the sum of those that are positive.
func (l *loaded) shift(by []big.Int) (positive *big.Int, err error) {
	positive = new(big.Int)
	for v, b := range l.net.Supply {
		if by != nil {
			s := &by[v]
			if add(s, b); !s.IsInt64() {
				return nil, fmt.Errorf("%w: Supply[%d] = %d, less the bounds of the arcs there, is %v", wpmerr.ErrOverflow, v, b, s)
			}
			b = s.Int64()
		}
		l.supply[v] = b
		if b > 0 {
			add(positive, b)
		}
	}
	return positive, nil
}

// limit returns what stands for infinite capacities, by the argument of load.
func (l *loaded) limit(t *tally, total *big.Int) (clip int64, err error) {
	what, most := "the supplies", int64(math.MaxInt64-2)
	l.infinite = endless
	switch {
	case t.ray:
		total.Add(total, &t.finite)
		what += " and finite capacities"
		most, l.infinite = maxTreeFlow, maxTreeFlow+1
	case t.unlimited:
		total.Add(total, &t.negative)
		what += " and the capacities of arcs with negative cost"
	}
	if total.Cmp(big.NewInt(most)) > 0 {
		return 0, fmt.Errorf("%w: %s sum to %v, above %d", wpmerr.ErrOverflow, what, total, most)
	}
	sum := total.Int64()
	if t.unlimited && t.offset > math.MaxInt64-2-sum {
		return 0, fmt.Errorf("%w: an arc has a bound %d from zero, no other, and %s sum to %d", wpmerr.ErrOverflow, t.offset, what,
			sum)
	}
	if t.unlimited && !t.ray {
		return sum + 1, nil
	}
	return endless, nil
}

// choosePrice chooses the price of artificial arcs.
func (l *loaded) choosePrice() error {
	dearest := make([]uint64, len(l.net.Supply))
	for e := range l.net.Arcs {
		a := &l.net.Arcs[e]
		if a.From != a.To && a.Lower != a.Upper {
			c := uint64(a.Cost)
			if a.Cost < 0 {
				c = -c
			}
			dearest[a.From], dearest[a.To] = max(dearest[a.From], c), max(dearest[a.To], c)
		}
	}
	var sum uint64
	for v, c := range dearest {
		if sum += c; sum > maxPath { // c is 2^63 at most
			return fmt.Errorf("%w: the costs of the dearest arcs at nodes 0 to %d sum to more than %d", wpmerr.ErrOverflow, v,
				int64(maxPath))
		}
	}
	l.big = int64(sum) + 1
	return nil
}

// apart is how far arcs are apart in the input that follow each other in pricing: no multiple of the small numbers of
// arcs that nodes have in regular networks.
const apart = 29

// fill writes the arcs. Those that follow each other are apart in the input, so that the arcs of a node, which often
// stand together there, come into different blocks.
func (l *loaded) fill(arcs int, clip int64) {
	l.arcs = make([]residualArc, arcs)
	l.room = make([]int64, arcs)
	l.turned = make([]bool, arcs)
	l.origin = make([]int32, arcs)
	stride := max(arcs/apart, 1)
	at, first := 0, 0
	for e := range l.net.Arcs {
		parts, _ := l.parts(e)
		for i := range parts {
			p := &parts[i]
			l.arcs[at], l.room[at], l.origin[at] = p.residualArc, min(p.room, clip), p.origin
			if at += stride; at >= arcs {
				first++
				at = first
			}
		}
	}
	l.pricing.start(arcs)
}
