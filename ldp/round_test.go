package ldp

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/internal/numtest"
)

var odd = []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, math.Copysign(0, -1), 0, 5e-324, 1e-300, 1e-12, 0.03,
	0.1, 1. / 8, 0.25,
	1. / 3, 0.5, 0.7, 0.9, math.Nextafter(1, 0), 1, math.Nextafter(1, 2), 1.5, math.Nextafter(2, 0), 2, 3, 1e9, 1 << 62,
	1 << 63, 1 << 64, 1e300, math.MaxFloat64}

// inBox fails the test unless w is a point of the box of p, by sums in big.Int.
func inBox(t testing.TB, p *Polytope, w Weights, q []float64) {
	t.Helper()
	s := new(big.Int)
	if w.Len() != p.Len() || w.Bits() != p.Bits() {
		t.Fatalf("Round(%v) has %d columns of %d bits", q, w.Len(), w.Bits())
	}
	for j := range w.Len() {
		s.Add(s, new(big.Int).SetUint64(w.At(j)))
		if w.At(j) < p.Lo(j) || w.At(j) > p.Hi(j) {
			t.Fatalf("Round(%v)[%d] = %d, outside [%d, %d]", q, j, w.At(j), p.Lo(j), p.Hi(j))
		}
	}
	if s.Cmp(new(big.Int).Lsh(big.NewInt(1), uint(p.Bits()))) != 0 {
		t.Fatalf("Round(%v) has sum %v, want 2^%d", q, s, p.Bits())
	}
}

// target is 2^B q_j as Round is documented to see it: a NaN or a missing entry is lo_j, infinities are far out.
func target(p *Polytope, q []float64, j int) *big.Rat {
	total := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(p.Bits())))
	far := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 1100))
	switch {
	case j >= len(q) || math.IsNaN(q[j]):
		return new(big.Rat).SetInt(new(big.Int).SetUint64(p.Lo(j)))
	case math.IsInf(q[j], 1):
		return far
	case math.IsInf(q[j], -1):
		return far.Neg(far)
	}
	return total.Mul(total, new(big.Rat).SetFloat64(q[j]))
}

func distance(n uint64, x *big.Rat) *big.Rat {
	d := new(big.Rat).SetInt(new(big.Int).SetUint64(n))
	return d.Abs(d.Sub(d, x))
}

// dumbRound is the algorithm of Round one unit at a time, in rationals. Its result is the same, ties included.
func dumbRound(p *Polytope, q []float64) []uint64 {
	n, x := make([]uint64, p.Len()), make([]*big.Rat, p.Len())
	s := uint64(0)
	for j := range n {
		x[j] = target(p, q, j)
		f := new(big.Int).Div(x[j].Num(), x[j].Denom()) // floor
		lo, hi := new(big.Int).SetUint64(p.Lo(j)), new(big.Int).SetUint64(p.Hi(j))
		if f.Cmp(lo) < 0 {
			f = lo
		}
		if f.Cmp(hi) > 0 {
			f = hi
		}
		n[j] = f.Uint64()
		s += n[j]
	}
	for ; s > p.Total(); s-- {
		j := 0
		for n[j] == p.Lo(j) {
			j++
		}
		n[j]--
	}
	for ; s < p.Total(); s++ {
		best, cost := -1, new(big.Rat)
		for j := range n {
			if n[j] == p.Hi(j) {
				continue
			}
			c := new(big.Rat).Sub(distance(n[j]+1, x[j]), distance(n[j], x[j]))
			if best < 0 || c.Cmp(cost) < 0 {
				best, cost = j, c
			}
		}
		n[best]++
	}
	return n
}

// points calls f with every point of the box.
func points(p *Polytope, f func(n []uint64)) {
	n := make([]uint64, p.Len())
	var walk func(j int, left uint64)
	walk = func(j int, left uint64) {
		if j == len(n) {
			if left == 0 {
				f(n)
			}
			return
		}
		for v := p.Lo(j); v <= p.Hi(j) && v <= left; v++ {
			n[j] = v
			walk(j+1, left-v)
		}
	}
	walk(0, p.Total())
}

// tinyBoxes is a family of boxes of at most four columns and few units.
func tinyBoxes(t testing.TB) (boxes []*Polytope) {
	s := newStream(20)
	for _, eps := range []string{"0.1", "0.5", "1", "2", "5"} {
		for bits := 1; bits <= 4; bits++ {
			for kv := 1; kv <= min(4, 1<<bits); kv++ {
				boxes = append(boxes, polytope(t, eps, uniform(kv, 1), bits), polytope(t, eps, randomBase(s, kv), bits))
			}
		}
	}
	return boxes
}

// Round is nearest in l1 among all points of the box, by trying them all, and is the dumb version's point; for
// a grid of q of every length, with all the odd values.
func TestRoundOptimal(t *testing.T) {
	s := newStream(21)
	tries := 60
	if !numtest.Full() {
		tries = 8
	}
	for _, p := range tinyBoxes(t) {
		for range tries {
			q := make([]float64, s.next()%uint64(p.Len()+3))
			for j := range q {
				switch s.next() % 3 {
				case 0:
					q[j] = odd[s.next()%uint64(len(odd))]
				case 1: // halves, thirds and eighths of a unit: ties
					q[j] = float64(s.next()%65) / 48 / float64(p.Total()) * 3
				default:
					q[j] = s.float()
				}
			}
			was := slices.Clone(q)
			w := p.Round(q)
			inBox(t, p, w, q)
			if fmt.Sprint(was) != fmt.Sprint(q) {
				t.Fatalf("Round changed %v to %v", was, q)
			}
			if want := dumbRound(p, q); !slices.Equal(w.n, want) {
				t.Fatalf("lo %v, hi %v: Round(%v) = %v, want %v", p.lo, p.hi, q, w.n, want)
			}
			x := make([]*big.Rat, p.Len())
			l1 := func(n []uint64) *big.Rat {
				d := new(big.Rat)
				for j := range n {
					d.Add(d, distance(n[j], x[j]))
				}
				return d
			}
			for j := range x {
				x[j] = target(p, q, j)
			}
			got, some := l1(w.n), false
			points(p, func(n []uint64) {
				some = true
				if l1(n).Cmp(got) < 0 {
					t.Fatalf("lo %v, hi %v: Round(%v) = %v, but %v is nearer", p.lo, p.hi, q, w.n, n)
				}
			})
			if !some {
				t.Fatal("a box without points")
			}
		}
	}
}

// Every q over the odd values, up to two columns and one entry too many.
func TestRoundOddGrid(t *testing.T) {
	for _, p := range []*Polytope{
		polytope(t, "1", []float64{0.4, 0.6}, 3),
		polytope(t, "0.1", []float64{0.4, 0.6}, 62),
		polytope(t, "64", []float64{0.4, 0.6}, 62),
		polytope(t, "2", []float64{1, 0}, 16),
		polytope(t, "2", []float64{1}, 1),
	} {
		inBox(t, p, p.Round(nil), nil)
		inBox(t, p, p.Round([]float64{}), nil)
		for _, a := range odd {
			inBox(t, p, p.Round([]float64{a}), []float64{a})
			for _, b := range odd {
				q := []float64{a, b}
				w := p.Round(q)
				inBox(t, p, w, q)
				for _, c := range odd[:4] {
					if v := p.Round([]float64{a, b, c}); p.Len() == 2 && !slices.Equal(v.n, w.n) {
						t.Fatalf("Round(%v) depends on an entry too many", q)
					}
				}
			}
		}
	}
}

// The documented tie rule and the documented reading of odd entries, by hand.
func TestRoundTable(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	p, err := NewPolytopeFromBounds(epsilon(t, "2"), []uint64{2, 2, 2, 2}, []uint64{8, 8, 8, 8}, 4)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		q    []float64 // in units of 1/16
		want []uint64
	}{
		{[]float64{4, 4, 4, 4}, []uint64{4, 4, 4, 4}},
		{[]float64{3.5, 3.5, 4.5, 4.5}, []uint64{4, 4, 4, 4}}, // equal fractions: the first two
		{[]float64{4.5, 3.5, 3.5, 4.5}, []uint64{5, 4, 3, 4}}, //
		// two units; the largest fraction first, then the first of equals
		{[]float64{4.25, 3.5, 3.75, 4.5}, []uint64{4, 4, 4, 4}},
		{[]float64{4.25, 3.5, 3.75, 4.25}, []uint64{4, 4, 4, 4}},                //
		{[]float64{4.5, 4.5, 4.5, 4.5}, []uint64{4, 4, 4, 4}},                   // floors suffice
		{[]float64{5, 5, 4, 4}, []uint64{3, 5, 4, 4}},                           // too much: the first column loses
		{[]float64{5.9, 5.9, 5.9, 5.9}, []uint64{2, 4, 5, 5}},                   // ... down to its bound, then the next
		{[]float64{3, 3, 3, 3}, []uint64{7, 3, 3, 3}},                           // too little: the first column gains
		{[]float64{2, 2, 2, 2}, []uint64{8, 4, 2, 2}},                           // ... up to its bound, then the next
		{[]float64{2, 2.5, 2, 2}, []uint64{8, 4, 2, 2}},                         // a fraction comes first, but then so do all
		{[]float64{7.5, 2.5, 2.5, 2.5}, []uint64{8, 3, 3, 2}},                   //
		{[]float64{8.5, 2.5, 2.5, 2.5}, []uint64{8, 3, 3, 2}},                   // no fraction at the upper bound
		{[]float64{1.75, 4.5, 4.5, 4.5}, []uint64{2, 5, 5, 4}},                  // none below the lower bound
		{[]float64{nan, nan, nan, nan}, []uint64{8, 4, 2, 2}},                   // all lo
		{nil, []uint64{8, 4, 2, 2}},                                             //
		{[]float64{nan, 6, 6, nan}, []uint64{2, 6, 6, 2}},                       //
		{[]float64{4, 4}, []uint64{8, 4, 2, 2}},                                 // missing: lo
		{[]float64{6, 6}, []uint64{6, 6, 2, 2}},                                 //
		{[]float64{inf, -inf, 4, 2}, []uint64{8, 2, 4, 2}},                      //
		{[]float64{inf, inf, inf, inf}, []uint64{2, 2, 4, 8}},                   //
		{[]float64{-inf, -inf, -inf, -inf}, []uint64{8, 4, 2, 2}},               //
		{[]float64{1e300, -1e300, 4, 2}, []uint64{8, 2, 4, 2}},                  //
		{[]float64{4, 4, 4, 4, 1e300, nan}, []uint64{4, 4, 4, 4}},               // too many: ignored
		{[]float64{3 + 1e-15, 3 + 2e-15, 5, 4}, []uint64{3, 4, 5, 4}},           // fractions of the last bits
		{[]float64{0x1p-1074, 0x1p-1073, 8, 6}, []uint64{2, 2, 6, 6}},           // below lo: no fraction, but too much
		{[]float64{32 - 0x1p-48, 4, 2, 2}, []uint64{8, 4, 2, 2}},                // just below q = 2
		{[]float64{3.5, 3.5 - 0x1p-50, 3.5 + 0x1p-50, 5}, []uint64{4, 3, 4, 5}}, // one bit decides
	} {
		q := slices.Clone(c.q)
		for j := range q {
			q[j] /= 16
		}
		w := p.Round(q)
		inBox(t, p, w, c.q)
		if !slices.Equal(w.n, c.want) {
			t.Errorf("Round(%v / 16) = %v, want %v", c.q, w.n, c.want)
		}
	}
}

// A column whose lower bound is one unit has fractions of every size; their keys order as they do.
func TestFloorUnits(t *testing.T) {
	type part struct {
		frac *big.Rat
		key  uint64
	}
	s := newStream(22)
	for _, b := range []int{1, 2, 8, 31, 52, 53, 61, 62} {
		qs := slices.Clone(odd)
		for range 400 {
			qs = append(qs, math.Ldexp(1+s.float(), -int(s.next()%1080)), s.float()*2, math.Ldexp(s.float(), -b))
		}
		var parts []part
		for _, q := range qs {
			units, key := floorUnits(q, b)
			switch {
			case !(q > 0):
				if units != 0 || key != 0 {
					t.Fatalf("floorUnits(%v, %d) = %d, %d", q, b, units, key)
				}
			case q >= 2:
				if units != 1<<63 || key != 0 {
					t.Fatalf("floorUnits(%v, %d) = %d, %d", q, b, units, key)
				}
			default:
				x := new(big.Rat).SetFloat64(q)
				x.Mul(x, new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(b))))
				f := new(big.Int).Div(x.Num(), x.Denom())
				x.Sub(x, new(big.Rat).SetInt(f))
				if units != f.Uint64() || (key > 0) != (x.Sign() > 0) || key >= 1<<63 {
					t.Fatalf("floorUnits(%v, %d) = %d, %d, want %v and %v", q, b, units, key, f, x)
				}
				parts = append(parts, part{x, key})
			}
		}
		slices.SortFunc(parts, func(x, y part) int { return x.frac.Cmp(y.frac) })
		for i := 1; i < len(parts); i++ {
			x, y := parts[i-1], parts[i]
			if (x.frac.Cmp(y.frac) == 0) != (x.key == y.key) || x.key > y.key {
				t.Fatalf("%d bits: fractions %v, %v have keys %d, %d", b, x.frac, y.frac, x.key, y.key)
			}
		}
	}
}

// Any floats, any box: a point of the box, the same twice, and kept when it is fed back where floats are exact.
func TestRoundTotal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		eps := anyEpsilon().Draw(t, "eps")
		bits := rapid.IntRange(6, 62).Draw(t, "bits")
		p, err := NewPolytope(eps, anyBase(eps, 40).Draw(t, "m"), bits)
		if err != nil {
			t.Fatal(err)
		}
		value := rapid.OneOf(rapid.Float64(), rapid.SampledFrom(odd), rapid.Float64Range(0, 0.2))
		q := rapid.SliceOfN(value, 0, 45).Draw(t, "q")
		w := p.Round(q)
		s := uint64(0)
		for j := range w.Len() {
			s += w.At(j) // each at most 2^62 and p.Len() <= 40: a wrong sum cannot wrap to 2^bits unseen, for
			if w.At(j) < p.Lo(j) || w.At(j) > p.Hi(j) || w.At(j) > p.Total()-(s-w.At(j)) {
				t.Fatalf("Round(%v)[%d] = %d, outside [%d, %d] or past the total", q, j, w.At(j), p.Lo(j), p.Hi(j))
			}
		}
		if w.Len() != p.Len() || s != p.Total() {
			t.Fatalf("Round(%v) = %v, sum %d", q, w.n, s)
		}
		if v := p.Round(q); !slices.Equal(v.n, w.n) {
			t.Fatalf("Round(%v) = %v, then %v", q, w.n, v.n)
		}
		if v, err := p.Weights(w.n); err != nil || !slices.Equal(v.n, w.n) {
			t.Fatalf("Weights(Round(%v)) = %v", q, err)
		}
		back := make([]float64, w.Len())
		exact := true
		for j := range back {
			back[j] = math.Ldexp(float64(w.At(j)), -bits)
			exact = exact && uint64(math.Ldexp(back[j], bits)) == w.At(j)
		}
		if v := p.Round(back); exact && !slices.Equal(v.n, w.n) {
			t.Fatalf("Round moved its own point %v to %v", w.n, v.n)
		}
	})
}

// For q in the box up to float rounding, the move is within the documented bound.
func TestRoundUtility(t *testing.T) {
	s := newStream(23)
	for _, bits := range []int{12, 20, 32, 53, 62} {
		for _, kv := range []int{2, 10, 200} {
			p := polytope(t, "1.5", uniform(kv, 1), bits)
			lo, hi := p.Bounds()
			for range 20 {
				q, sum, total := make([]float64, kv), new(big.Rat), new(big.Rat).SetInt64(1)
				for j := range q { // lo + a share, then scaled into the sum, inside the box for these boxes
					q[j] = lo[j] + s.float()*(hi[j]-lo[j])*0.2
				}
				f := 0.0
				for _, v := range q {
					f += v
				}
				for j := range q {
					q[j] = min(max(q[j]/f, lo[j]), hi[j])
					sum.Add(sum, new(big.Rat).SetFloat64(q[j]))
				}
				w := p.Round(q)
				inBox(t, p, w, q)
				moved := new(big.Rat)
				for j := range q {
					moved.Add(moved, distance(w.At(j), target(p, q, j)))
				}
				// 2 * 2^B * TV <= kv/2 + |2^B - 2^B sum q|; Bounds may be off a unit's fraction at 62 bits
				limit := new(big.Rat).Sub(total, sum)
				limit.Abs(limit).Mul(limit, new(big.Rat).SetInt(new(big.Int).SetUint64(p.Total())))
				limit.Add(limit, big.NewRat(int64(kv), 2))
				if bits > 53 {
					limit.Add(limit, big.NewRat(int64(kv)<<9, 1)) // 2^62 * 2^-53, at each bound
				}
				if moved.Cmp(limit) > 0 {
					f, _ := moved.Float64()
					g, _ := limit.Float64()
					t.Fatalf("%d bits, %d columns: moved %v units, bound %v", bits, kv, f, g)
				}
			}
		}
	}
}

// Sums of clamped weights beyond 2^64 do no harm.
func TestRoundWide(t *testing.T) {
	p := polytope(t, "64", uniform(1000, 1), 62) // hi = 2^62 in every column
	q := make([]float64, 1000)
	for j := range q {
		q[j] = 1e9
	}
	w := p.Round(q)
	inBox(t, p, w, q)
	if w.At(0) != p.Lo(0) || w.At(999) < 1<<61 {
		t.Errorf("the first columns lose first: %d, .., %d", w.At(0), w.At(999))
	}
}

// roundUp against sorting, for any keys: Round itself makes only even ones.
func TestRoundUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		top := rapid.SampledFrom([]uint64{3, 1 << 20, 1<<63 - 1}).Draw(t, "top")
		frac := rapid.SliceOfN(rapid.OneOf(rapid.Uint64Range(0, top), rapid.Uint64Range(top-3, top)), 1, 12).Draw(t, "frac")
		var order []int
		for j, f := range frac {
			if f > 0 {
				order = append(order, j)
			}
		}
		if len(order) == 0 {
			return
		}
		slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(frac[j], frac[i]) })
		count := rapid.IntRange(1, len(order)).Draw(t, "count")
		got, want := make([]uint64, len(frac)), make([]uint64, len(frac))
		for _, j := range order[:count] {
			want[j]++
		}
		roundUp(got, frac, uint64(count))
		if !slices.Equal(got, want) {
			t.Fatalf("roundUp(%v, %d) = %v, want %v", frac, count, got, want)
		}
	})
}
