package network

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"github.com/wpm-go/wpm/wpmerr"
)

// plainLoad says by the comment of load, in big integers, whether a network fits with the given choice of where arcs
// start, and what then stands for an infinite capacity.
func plainLoad(g *Problem, greedy bool) (price *big.Int, clip, infinite int64, fits bool) {
	n := len(g.Supply)
	limit := big.NewInt(math.MaxInt64)
	big0 := func(x int64) *big.Int { return big.NewInt(x) }
	dearest, supply := make([]*big.Int, n), make([]*big.Int, n)
	for v := range n {
		dearest[v], supply[v] = new(big.Int), big0(g.Supply[v])
	}
	finite, negative, offset := new(big.Int), new(big.Int), new(big.Int)
	unlimited, ray := false, false
	for _, a := range g.Arcs {
		lower, upper := a.Lower > -Unlimited, a.Upper < Unlimited
		if a.From == a.To {
			continue
		}
		if a.Lower != a.Upper {
			c := new(big.Int).Abs(big0(a.Cost))
			for _, v := range []int{a.From, a.To} {
				if c.Cmp(dearest[v]) > 0 {
					dearest[v] = c
				}
			}
		}
		start, cost := a.Lower, []int64{a.Cost} // costs of y, of which there are two if there are no bounds
		out := big0(a.Lower)
		switch {
		case a.Lower == a.Upper:
			cost = nil
		case !lower && !upper:
			start, cost, out = 0, []int64{a.Cost, -a.Cost}, new(big.Int)
		case !lower, upper && greedy && a.Cost < 0:
			start, cost, out = a.Upper, []int64{-a.Cost}, new(big.Int).Neg(big0(a.Upper))
			if a.Cost == math.MinInt64 {
				return nil, 0, 0, false
			}
		}
		supply[a.From].Sub(supply[a.From], big0(start))
		supply[a.To].Add(supply[a.To], big0(start))
		if cost == nil {
			continue
		}
		if lower && upper {
			room := new(big.Int).Sub(big0(a.Upper), big0(a.Lower))
			if room.Cmp(limit) >= 0 {
				room.Set(limit)
				unlimited = true
			}
			finite.Add(finite, room)
			if cost[0] < 0 {
				negative.Add(negative, room)
			}
			continue
		}
		unlimited = true
		if out.Cmp(offset) > 0 {
			offset = out
		}
		for _, c := range cost {
			ray = ray || c < 0
		}
	}
	sum := new(big.Int)
	for _, c := range dearest {
		sum.Add(sum, c)
	}
	if sum.Cmp(big0(math.MaxInt64/8)) > 0 {
		return nil, 0, 0, false
	}
	total := new(big.Int)
	for _, b := range supply {
		if !b.IsInt64() {
			return nil, 0, 0, false
		}
		if b.Sign() > 0 {
			total.Add(total, b)
		}
	}
	most, infinite := big0(math.MaxInt64-2), int64(math.MaxInt64)
	switch {
	case ray:
		total.Add(total, finite)
		most, infinite = big0(1<<62-1), 1<<62
	case unlimited:
		total.Add(total, negative)
	}
	if total.Cmp(most) > 0 || unlimited && new(big.Int).Add(total, offset).Cmp(big0(math.MaxInt64-2)) > 0 {
		return nil, 0, 0, false
	}
	clip = math.MaxInt64
	if unlimited && !ray {
		clip = total.Int64() + 1
	}
	return sum.Add(sum, big0(1)), clip, infinite, true
}

// TestLoadLimits compares what load refuses, and the numbers that it works with, with plainLoad, on networks whose
// numbers are about the limits.
func TestLoadLimits(t *testing.T) {
	fit, refused, rays := 0, 0, 0
	for seed := range 6000 {
		d := newDraw(uint64(seed) + 79e6)
		n := 2 + d.Intn(3)
		g := &Problem{Supply: make([]int64, n)}
		shift := d.Intn(6) // how large numbers are, some bits below the limit
		about := func() int64 {
			x := int64(1)<<(62-shift) + int64(d.between(-2, 2))
			return x >> (d.Intn(3) * d.Intn(20))
		}
		for range 1 + d.Intn(3) {
			u, v, b := d.Intn(n), d.Intn(n), about()
			if u != v && g.Supply[u] == 0 && g.Supply[v] == 0 {
				g.Supply[u], g.Supply[v] = b, -b
			}
		}
		for range 1 + d.Intn(4) {
			a := Arc{From: d.Intn(n), To: d.Intn(n), Upper: about(), Cost: int64(d.between(-2, 2))}
			if d.Intn(3) == 0 {
				a.Upper = Unlimited
			}
			switch d.Intn(4) {
			case 0:
				a.Lower = -Unlimited
			case 1:
				a.Lower = -about()
			case 2:
				a.Lower = min(about(), a.Upper)
			}
			if a.Lower == Unlimited {
				a.Lower = 0
			}
			if d.Intn(3) == 0 {
				a.Cost = (math.MaxInt64/8)>>d.Intn(4) + int64(d.between(-2, 2))
				if d.Intn(2) == 0 {
					a.Cost = -a.Cost
				}
			}
			g.Arcs = append(g.Arcs, a)
		}
		if g.check() != nil {
			continue
		}
		for _, greedy := range []bool{true, false} {
			l, err := g.loadFrom(greedy)
			price, clip, infinite, fits := plainLoad(g, greedy)
			if (err == nil) != fits || err != nil && !errors.Is(err, wpmerr.ErrOverflow) {
				t.Fatalf("%+v, greedy %v: %v, want to fit: %v", *g, greedy, err, fits)
			}
			if err != nil {
				refused++
				continue
			}
			fit++
			if infinite < math.MaxInt64 {
				rays++
			}
			if l.big != price.Int64() || l.infinite != infinite {
				t.Fatalf("%+v: price %d, infinite from %d; want %v, %d", *g, l.big, l.infinite, price, infinite)
			}
			// Every arc is there, once for each direction in which it can go.
			next := make([]int, 2*len(g.Arcs))
			for e, o := range l.origin {
				a := g.Arcs[o>>1]
				next[o]++
				room := new(big.Int).Sub(big.NewInt(a.Upper), big.NewInt(a.Lower))
				if a.Lower <= -Unlimited || a.Upper == Unlimited || !room.IsInt64() {
					room.SetInt64(math.MaxInt64)
				}
				want := residualArc{a.Cost, int32(a.From), int32(a.To)}
				if o&1 == 1 {
					want = residualArc{-a.Cost, int32(a.To), int32(a.From)}
				}
				if l.arcs[e] != want || l.room[e] != min(room.Int64(), clip) {
					t.Fatalf("%+v: arc %d is %+v with room %d, want %+v with %v, %d at most", *g, o, l.arcs[e], l.room[e], want, room,
						clip)
				}
			}
			for e, a := range g.Arcs {
				want := 1
				switch {
				case a.From == a.To || a.Lower == a.Upper:
					want = 0
				case a.Lower <= -Unlimited && a.Upper == Unlimited:
					want = 2
				}
				if next[2*e]+next[2*e+1] != want || next[2*e] > 1 || next[2*e+1] > 1 {
					t.Fatalf("%+v: arc %d is there %d and %d times", *g, e, next[2*e], next[2*e+1])
				}
			}
		}
	}
	if fit < 500 || refused < 500 || rays < 100 {
		t.Errorf("%d fit, %d of them with rays, and %d do not: the test tests little", fit, rays, refused)
	}
}

// TestPriceFindsBest: of the first block with an arc of negative reduced cost the least is taken, blocks go round,
// and all are looked at before there is none.
func TestPriceFindsBest(t *testing.T) {
	for seed := range 300 {
		d := newDraw(uint64(seed) + 80e6)
		nodes, arcs := 2+d.Intn(5), 1+d.Intn(40)
		s := &simplex{pi: make([]int64, nodes)}
		for v := range s.pi {
			s.pi[v] = int64(d.Intn(9))
		}
		negative := d.Intn(3)
		for range arcs {
			s.arcs = append(s.arcs, residualArc{int64(8 + d.Intn(4) - 6*negative), int32(d.Intn(nodes)), int32(d.Intn(nodes))})
		}
		s.start(arcs)
		for range 10 {
			at, block := s.cursor, s.block
			want, least, looked := -1, int64(0), 0
			for looked < arcs && want < 0 {
				end := min(at+block, arcs)
				for e := at; e < end; e++ {
					a := s.arcs[e]
					if rc := a.cost + s.pi[a.from] - s.pi[a.to]; rc < least {
						want, least = e, rc
					}
				}
				looked += end - at
				at = end % arcs
			}
			e, rc, seen := s.price()
			if int(e) != want || rc != least || seen != looked || want >= 0 && s.cursor != at {
				t.Fatalf("%d: arc %d (%d) after %d, want %d (%d) after %d", seed, e, rc, seen, want, least, looked)
			}
			s.adapt(d.Intn(5 * arcs))
		}
	}
}

// TestAdapt: the size of a block follows the mean work of the last pivots, between one and eight square roots of the
// number of arcs.
func TestAdapt(t *testing.T) {
	for _, arcs := range []int{1, 16, 17, 100, 10000} {
		unit := max(4, int(math.Sqrt(float64(arcs))))
		for _, work := range []int{0, 1, 3, 50, 1 << 20} {
			var p pricing
			p.start(arcs)
			for round := range 3 {
				for n := range window {
					if want := min(unit+work, 8*unit); n > 0 && round > 0 && p.block != want || round == 0 && p.block != unit {
						t.Fatalf("%d arcs, work %d: blocks of %d, want %d", arcs, work, p.block, want)
					}
					p.adapt(work)
				}
			}
		}
	}
}
