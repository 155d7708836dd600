package ldp

import (
	"errors"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/internal/numtest"
)

// smallBoxes is a family of valid boxes over small and large B, supports with and without zeros, and both
// ends of the mass.
func smallBoxes(t testing.TB) []*Polytope {
	t.Helper()
	var boxes []*Polytope
	s := newStream(10)
	all := []string{"1/3", "5", "1e-6", "0.05", "1", "2.5", "20", "43", "64"}
	if !numtest.Full() {
		all = all[:2]
	}
	for _, eps := range all {
		e, _ := refExp(epsilon(t, eps).Rat()).Float64()
		for _, bits := range []int{1, 2, 3, 5, 8, 12, 16, 31, 32, 33, 61, 62} {
			for _, kv := range []int{1, 2, 3, 7} {
				for _, mass := range []float64{1 / sqrt(e), 1, sqrt(e)} {
					m := randomBase(s, kv)
					for j := range m {
						m[j] *= mass
					}
					p, err := NewPolytope(epsilon(t, eps), m, bits)
					if errors.Is(err, ErrBits) && kv > 1<<bits {
						continue
					}
					if err != nil {
						t.Fatalf("NewPolytope(%s, %v, %d): %v", eps, m, bits, err)
					}
					boxes = append(boxes, p)
				}
			}
		}
	}
	return boxes
}

// Verify against the truth, by another implementation, for every box of the family and every change of
// one bound by one unit, of B by one, and of eps to a neighbour; and for some larger changes.
func TestVerifyTampering(t *testing.T) {
	rejected, accepted := 0, 0
	check := func(p *Polytope, e *big.Float) {
		t.Helper()
		want := refBox(t, e, p.lo, p.hi, p.bits)
		err := p.Verify()
		if (err == nil) != want {
			t.Fatalf("Verify(eps %v, bits %d, lo %v, hi %v) = %v, truth %v", p.eps, p.bits, p.lo, p.hi, err, want)
		}
		q, err2 := NewPolytopeFromBounds(p.eps, p.lo, p.hi, p.bits)
		if (err2 == nil) != want || (q != nil) != want {
			t.Fatalf("NewPolytopeFromBounds: %v, Verify: %v", err2, err)
		}
		if want {
			accepted++
			return
		}
		rejected++
		var be *BoxError
		if !errors.Is(err, ErrBox) || !errors.As(err, &be) || be.Reason == "" {
			t.Fatalf("Verify = %v, not a BoxError", err)
		}
		if j := be.Index; j >= 0 && (be.Lo != p.lo[j] || be.Hi != p.hi[j]) {
			t.Fatalf("%v: column %d is [%d, %d]", err, j, p.lo[j], p.hi[j])
		}
	}
	for _, p := range smallBoxes(t) {
		e := refExp(p.eps.Rat())
		check(p, e)
		for j := range p.lo {
			for _, d := range []uint64{1, ^uint64(0), 2, ^uint64(1), p.lo[j], p.hi[j], p.Total(), 1 << 62, 1 << 63} {
				for _, v := range [][]uint64{p.lo, p.hi} {
					old := v[j]
					v[j] += d // wraps around: anything may come out of a file
					check(p, e)
					v[j] = old
				}
			}
		}
		for _, b := range []int{p.bits - 1, p.bits + 1} {
			if b < 1 || b > maxBits {
				continue
			}
			q := *p
			q.bits = b
			check(&q, e)
		}
		// The same box under an eps that is less by a tenth: its truth may differ.
		q := *p
		q.eps = epsilon(t, new(big.Rat).Mul(p.eps.Rat(), big.NewRat(9, 10)).RatString())
		check(&q, refExp(q.eps.Rat()))
	}
	if rejected < 1000 || accepted < 1000 {
		t.Errorf("%d rejected, %d accepted: the family is one-sided", rejected, accepted)
	}
}

// All boxes of two columns at B = 2, 3 and bounds up to 2^B + 1.
func TestVerifyExhaustive(t *testing.T) {
	all := []string{"0.6931", "0.6932", "1e-6", "0.4", "1", "1.5", "64"}
	if !numtest.Full() {
		all = all[:2]
	}
	for _, eps := range all {
		x := epsilon(t, eps)
		e := refExp(x.Rat())
		for bits := 2; bits <= 3; bits++ {
			top := uint64(1)<<bits + 1
			lo, hi := make([]uint64, 2), make([]uint64, 2)
			for lo[0] = 0; lo[0] <= top; lo[0]++ {
				for lo[1] = 0; lo[1] <= top; lo[1]++ {
					for hi[0] = 0; hi[0] <= top; hi[0]++ {
						for hi[1] = 0; hi[1] <= top; hi[1]++ {
							p := &Polytope{x, bits, lo, hi}
							if got, want := p.Verify() == nil, refBox(t, e, lo, hi, bits); got != want {
								t.Fatalf("Verify(eps %s, %d, %v, %v) = %v, truth %v", eps, bits, lo, hi, got, want)
							}
						}
					}
				}
			}
		}
	}
}

// Quotients that only a refined enclosure can decide.
func TestVerifyHard(t *testing.T) {
	for _, c := range hard {
		lo, hi := []uint64{c.lo, 1 << 60, 1 << 60}, []uint64{c.hi, 1 << 60, 1 << 60}
		p := &Polytope{epsilon(t, c.eps), 61, lo, hi}
		if c.hi > 1<<61 {
			p.bits = 62
			p.lo, p.hi = lo[:2], hi[:2]
		} else {
			p.lo, p.hi = append(lo, 1<<60-20), append(hi, 1<<60)
			p.lo[1], p.lo[2] = 1<<59, 1<<59
			p.hi[1], p.hi[2] = 1<<59, 1<<59
			p.hi[3] = 1<<60 - 1
			p.lo[3] = 1<<60 - 5
		}
		err := p.Verify()
		var be *BoxError
		if (err == nil) != c.within || err != nil && (!errors.As(err, &be) || be.Index != 0) {
			t.Errorf("eps %s, hi %d, lo %d: Verify = %v, want within = %v", c.eps, c.hi, c.lo, err, c.within)
		}
	}
}

// Sums above 2^64 are not sums modulo 2^64.
func TestVerifySums(t *testing.T) {
	eps := epsilon(t, "1")
	full := func(v uint64) []uint64 { return []uint64{v, v, v, v, v} }
	for _, c := range []struct {
		name   string
		lo, hi []uint64
		bits   int
		index  int // -2: valid
	}{
		// 4 * 2^62 = 2^64 = 0 modulo 2^64
		{"lo wraps", []uint64{1 << 62, 1 << 62, 1 << 62, 1 << 62}, []uint64{1 << 62, 1 << 62, 1 << 62, 1 << 62}, 62, -1},
		{"lo wraps to 2^62", full(1 << 62), full(1 << 62), 62, -1},
		{"hi above 2^64", full(1 << 59), full(1 << 60), 62, -2},
		{"hi wraps", []uint64{1 << 61, 1 << 61, 0, 0}, []uint64{1 << 62, 1 << 62, 0, 0}, 62, -2},
		{"lo one too many", []uint64{2, 3}, []uint64{3, 3}, 2, -1},
		{"hi one too few", []uint64{1, 1}, []uint64{1, 2}, 2, -1},
		{"a point", []uint64{1, 3}, []uint64{1, 3}, 2, -2},
		{"the lowest column at fault", []uint64{1, 1, 1}, []uint64{2, 3, 3}, 2, 1},
		{"upper without lower", []uint64{0, 4}, []uint64{1, 4}, 2, 0},
		{"unused column", []uint64{0, 4}, []uint64{0, 4}, 2, -2},
		{"all unused", []uint64{0, 0}, []uint64{0, 0}, 2, -1},
		{"above total", []uint64{3, 0}, []uint64{5, 0}, 2, 0},
		{"crossed", []uint64{3, 1}, []uint64{2, 2}, 2, 0},
		{"no column", nil, nil, 2, -1},
		{"missing bound", []uint64{1, 3}, []uint64{1}, 2, -1},
	} {
		_, err := NewPolytopeFromBounds(eps, c.lo, c.hi, c.bits)
		var be *BoxError
		if c.index == -2 {
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		} else if !errors.As(err, &be) || be.Index != c.index || !errors.Is(err, ErrBox) ||
			!strings.HasPrefix(err.Error(), "ldp: ") {
			t.Errorf("%s: %v, want a BoxError at %d", c.name, err, c.index)
		}
	}
	// eight columns of 2^61: sum lo = 2^64, which is 0 modulo 2^64
	v := slices.Repeat([]uint64{1 << 61}, 8)
	if _, err := NewPolytopeFromBounds(eps, v, v, 62); !errors.Is(err, ErrBox) {
		t.Errorf("sum lo = 2^64 accepted: %v", err)
	}
	for _, bits := range []int{math.MinInt, -1, 0, 63, 64, math.MaxInt} {
		if _, err := NewPolytopeFromBounds(eps, []uint64{1}, []uint64{1}, bits); !errors.Is(err, ErrBits) {
			t.Errorf("%d bits: %v, want ErrBits", bits, err)
		}
	}
	if _, err := NewPolytopeFromBounds(Epsilon{}, []uint64{2}, []uint64{2}, 1); !errors.Is(err, ErrEpsilon) {
		t.Errorf("zero Epsilon: %v, want ErrEpsilon", err)
	}
}

func TestNewPolytopeErrors(t *testing.T) {
	one, inf, nan := epsilon(t, "1"), math.Inf(1), math.NaN()
	for _, c := range []struct {
		name string
		eps  Epsilon
		m    []float64
		bits int
		want error
	}{
		{"zero eps", Epsilon{}, []float64{1}, 8, ErrEpsilon},
		{"0 bits", one, []float64{1}, 0, ErrBits},
		{"63 bits", one, []float64{1}, 63, ErrBits},
		{"negative bits", one, []float64{1}, math.MinInt, ErrBits},
		{"no m", one, nil, 8, ErrBase},
		{"empty m", one, []float64{}, 8, ErrBase},
		{"NaN", one, []float64{1, nan}, 8, ErrBase},
		{"Inf", one, []float64{inf}, 8, ErrBase},
		{"-Inf", one, []float64{1, -inf}, 8, ErrBase},
		{"negative", one, []float64{1, -5e-324}, 8, ErrBase},
		{"all zero", one, []float64{0, 0}, 8, ErrInfeasible},
		{"negative zero is zero", one, []float64{math.Copysign(0, -1), 1}, 8, nil},
		{"subnormal", one, []float64{5e-324, 1}, 8, nil},
		{"only subnormal", one, []float64{5e-324}, 8, ErrInfeasible},
		{"huge", one, []float64{math.MaxFloat64, math.MaxFloat64}, 8, ErrInfeasible},
		{"too little", one, []float64{0.6}, 8, ErrInfeasible},
		{"too much", one, []float64{1.7}, 8, ErrInfeasible},
		{"support fits", one, []float64{0.5, 0.5, 0}, 1, nil},
		{"support too large", one, []float64{0.5, 0.4, 0.1}, 1, ErrBits},
		{"support too large for 3 bits", one, uniform(9, 1), 3, ErrBits},
		{"support just fits 3 bits", one, uniform(8, 1), 3, nil},
	} {
		p, err := NewPolytope(c.eps, c.m, c.bits)
		if c.want == nil && (err != nil || p.Verify() != nil) || !errors.Is(err, c.want) || (p == nil) != (err != nil) {
			t.Errorf("%s: NewPolytope = %v, want %v", c.name, err, c.want)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "ldp: ") {
			t.Errorf("%s: error %q has no prefix", c.name, err)
		}
	}
	if _, err := NewPolytope(one, []float64{1, 0.5, nan}, 8); !strings.Contains(err.Error(), "m[2] = NaN") {
		t.Errorf("error %q does not say where", err)
	}
	if _, err := NewPolytope(one, []float64{0.5}, 8); !strings.Contains(err.Error(), "mass 0.5 is outside [0.60653065") ||
		!strings.Contains(err.Error(), ", 1.64872127") { // e^(-1/2), e^(1/2)
		t.Errorf("error %q does not say how much", err)
	}
}

// At both ends of the mass: accepted within 1e-9, refused beyond.
func TestNewPolytopeMassEnds(t *testing.T) {
	for _, eps := range []string{"1e-6", "0.1", "1", "5", "40", "64"} {
		x := epsilon(t, eps)
		e, _ := refExp(new(big.Rat).Quo(x.Rat(), big.NewRat(2, 1))).Float64()
		for _, kv := range []int{1, 3, 10} {
			for _, bits := range []int{4, 16, 40, 62} {
				for _, c := range []struct {
					scale float64
					ok    bool
				}{{e, true}, {1 / e, true}, {e * (1 + 0.99e-9), true}, {1 / e * (1 - 0.99e-9), true},
					{e * (1 + 1.01e-9), false}, {1 / e * (1 - 1.01e-9), false}} {
					m := randomBase(newStream(uint64(kv)), kv)
					for j := range m {
						m[j] *= c.scale
					}
					p, err := NewPolytope(x, m, bits)
					if c.ok != (err == nil) || err != nil && !errors.Is(err, ErrInfeasible) {
						t.Errorf("eps %s, mass %v, %d bits: %v, want ok = %v", eps, c.scale, bits, err, c.ok)
					}
					if err == nil && !refBox(t, refExp(x.Rat()), p.lo, p.hi, bits) {
						t.Errorf("eps %s, mass %v, %d bits: a broken box", eps, c.scale, bits)
					}
				}
			}
		}
	}
}

// The box is the ceil rule in exact arithmetic, unless its sums are off; then the lower bounds are cut to a
// level unit by unit, or one column is raised just enough.
func TestNewPolytopeCeilRule(t *testing.T) {
	exact, lowered, raised := 0, 0, 0
	check := func(t rapid.TB, eps Epsilon, m []float64, bits int) {
		support := 0
		for _, v := range m {
			if v > 0 {
				support++
			}
		}
		if bits < 32 && support > 1<<bits {
			return // refused: see TestNewPolytopeErrors
		}
		p, err := NewPolytope(eps, m, bits)
		if err != nil {
			t.Fatalf("NewPolytope(%v, %v, %d): %v", eps, m, bits, err)
		}
		total := new(big.Int).Lsh(big.NewInt(1), uint(bits))
		e, root := refExp(eps.Rat()), refExp(new(big.Rat).Quo(eps.Rat(), big.NewRat(2, 1)))
		floorE := func(lo *big.Int) *big.Int {
			v := new(big.Float).SetPrec(refPrec).SetInt(lo)
			hi, _ := v.Mul(v, e).Int(nil)
			if hi.Cmp(total) > 0 {
				hi.Set(total)
			}
			return hi
		}
		ceil := func(f *big.Float) *big.Int {
			i, acc := f.Int(nil)
			if acc == big.Below {
				i.Add(i, big.NewInt(1))
			}
			return i
		}
		lo, hi := make([]*big.Int, len(m)), make([]*big.Int, len(m))
		slo, shi := new(big.Int), new(big.Int)
		for j, v := range m {
			h := new(big.Float).SetPrec(refPrec).SetInt(total)
			h.Mul(h, root).Mul(h, big.NewFloat(v))
			h.SetInt(ceil(h))
			lo[j] = ceil(h.Quo(h, e))
			slo.Add(slo, lo[j])
		}
		if slo.Cmp(total) > 0 { // unit by unit, but not 2^62 times
			lowered++
			if d := new(big.Int).Sub(slo, total); d.Cmp(big.NewInt(20000)) > 0 {
				lo = nil
			} else {
				for ; d.Sign() > 0; d.Sub(d, big.NewInt(1)) {
					top := 0
					for j := range lo { // the last of the largest: the first ones keep the odd units
						if lo[j].Cmp(lo[top]) >= 0 {
							top = j
						}
					}
					lo[top].Sub(lo[top], big.NewInt(1))
				}
			}
		}
		if lo == nil {
			if s := sum(p.lo); s != total.Uint64() {
				t.Fatalf("sum lo is %d after lowering", s)
			}
			return
		}
		for j := range lo {
			hi[j] = floorE(lo[j])
			shi.Add(shi, hi[j])
		}
		short := shi.Cmp(total) < 0
		changed := 0
		for j := range lo {
			same := lo[j].Cmp(new(big.Int).SetUint64(p.lo[j])) == 0 && hi[j].Cmp(new(big.Int).SetUint64(p.hi[j])) == 0
			if same {
				continue
			}
			changed++
			if !short || p.lo[j] < lo[j].Uint64() {
				t.Fatalf("eps %v, m %v, %d bits: column %d is [%d, %d], ceil rule [%v, %v]", eps, m, bits, j, p.lo[j], p.hi[j],
					lo[j], hi[j])
			}
			// One unit less would not do.
			if less := floorE(new(big.Int).SetUint64(p.lo[j] - 1)); less.Add(less, shi).Sub(less, hi[j]).Cmp(total) >= 0 {
				t.Fatalf("eps %v, m %v: column %d raised too far", eps, m, j)
			}
			for i := range lo {
				if lo[i].Cmp(lo[j]) > 0 {
					t.Fatalf("eps %v, m %v: column %d raised, %d was larger", eps, m, j, i)
				}
			}
		}
		if short && changed == 1 {
			raised++
		} else if changed > 0 {
			t.Fatalf("eps %v, m %v, %d bits: %d columns changed", eps, m, bits, changed)
		} else {
			exact++
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		eps := anyEpsilon().Draw(t, "eps")
		check(t, eps, anyBase(eps, 8).Draw(t, "m"), rapid.IntRange(1, 62).Draw(t, "bits"))
	})
	exact, lowered, raised = 0, 0, 0
	for _, eps := range []string{"1e-6", "0.1", "1", "5", "40", "64"} { // the same at every run
		x := epsilon(t, eps)
		end, _ := refExp(new(big.Rat).Quo(x.Rat(), big.NewRat(2, 1))).Float64()
		for i, mass := range []float64{end, 1 / end, 1 / end * (1 - 0.9e-9), 1} {
			for _, bits := range []int{3, 10, 30, 62} {
				m := randomBase(newStream(uint64(i)), 8)
				for j := range m {
					m[j] *= mass
				}
				check(t, x, m, bits)
			}
		}
	}
	if exact == 0 || lowered == 0 || raised == 0 {
		t.Errorf("%d exact, %d lowered, %d raised: one kind was not met", exact, lowered, raised)
	}
}

// lowerTo against one unit at a time.
func TestLowerTo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lo := rapid.SliceOfN(rapid.Uint64Range(0, 40), 1, 8).Draw(t, "lo")
		support, s := uint64(0), uint64(0)
		for _, v := range lo {
			s += v
			if v > 0 {
				support++
			}
		}
		total := rapid.Uint64Range(support, 330).Draw(t, "total")
		want := slices.Clone(lo)
		for ; s > total; s-- {
			top := 0
			for j := range want {
				if want[j] >= want[top] {
					top = j
				}
			}
			want[top]--
		}
		lowerTo(lo, total)
		if !slices.Equal(lo, want) {
			t.Fatalf("lowerTo(%d) = %v, want %v", total, lo, want)
		}
	})
	// Sums that pass 2^64.
	big5 := slices.Repeat([]uint64{1<<63 - 1}, 5)
	lowerTo(big5, 1<<62)
	if sum(big5) != 1<<62 || big5[0]-big5[4] != 1 {
		t.Errorf("five columns of 2^63 - 1 lowered to %v", big5)
	}
	big4 := slices.Repeat([]uint64{1 << 62}, 4) // 2^64, that is 0 modulo 2^64
	lowerTo(big4, 1<<62)
	if big4[0] != 1<<60 || big4[3] != 1<<60 {
		t.Errorf("four columns of 2^62 lowered to %v", big4)
	}
}

// Extreme sizes: still a box, and as documented.
func TestNewPolytopeExtremes(t *testing.T) {
	// eps = 1e-6 at 62 bits: lo and hi differ by one part in a million.
	p := polytope(t, "1e-6", uniform(1000, 1), 62)
	if d := float64(p.Hi(0)-p.Lo(0)) / float64(p.Lo(0)); !(d > 0.999e-6 && d < 1.001e-6) {
		t.Errorf("eps 1e-6: hi/lo - 1 = %v", d)
	}
	// the smallest eps: no room to move, but a point
	p = polytope(t, "1e-18", []float64{0.5, 0.25, 0.25}, 62)
	if err := p.Verify(); err != nil || p.Lo(0) > 1<<61 || p.Hi(0) < 1<<61 {
		t.Errorf("eps 1e-18: [%d, %d], %v", p.Lo(0), p.Hi(0), err)
	}
	// eps = 40 at 62 bits, at 8 bits; eps = 64: lower bounds of one unit
	p = polytope(t, "40", uniform(30, 1), 62)
	if p.Lo(0) != 316846445 || p.Hi(0) != 1<<62 { // ceil(2^62 e^-20 / 30), and 2^62 e^20 / 30 is above 2^62
		t.Errorf("eps 40: [%d, %d]", p.Lo(0), p.Hi(0))
	}
	p = polytope(t, "40", uniform(30, 1), 8)
	if p.Lo(0) != 1 || p.Hi(0) != 256 {
		t.Errorf("eps 40, 8 bits: [%d, %d]", p.Lo(0), p.Hi(0))
	}
	p = polytope(t, "64", uniform(3, 1), 62)
	if p.Lo(0) != 19468 || p.Hi(0) != 1<<62 {
		t.Errorf("eps 64: [%d, %d]", p.Lo(0), p.Hi(0))
	}
	// One column, one bit: the only law there is.
	for _, eps := range []string{"1e-6", "1", "64"} {
		for _, bits := range []int{1, 62} {
			p = polytope(t, eps, []float64{1}, bits)
			if w := p.Round(nil); w.At(0) != p.Total() {
				t.Errorf("one column: weight %d of %d", w.At(0), p.Total())
			}
		}
	}
	p = polytope(t, "1", []float64{0.5, 0.5}, 1)
	if p.Lo(0) != 1 || p.Lo(1) != 1 {
		t.Errorf("one bit: lo %v", p.lo)
	}
	// 1e5 columns, and all but one of no mass
	for _, bits := range []int{17, 40, 62} {
		if err := polytope(t, "0.5", uniform(100_000, 1), bits).Verify(); err != nil {
			t.Error(err)
		}
	}
	m := make([]float64, 100_000)
	m[77_777] = 1
	if p = polytope(t, "0.5", m, 62); p.Round(m).At(77_777) != 1<<62 {
		t.Error("a single column must carry all")
	}
	// As many columns as units.
	p = polytope(t, "3", uniform(1<<16, 1), 16)
	for j := range 1 << 16 {
		if p.Lo(j) != 1 {
			t.Fatalf("lo[%d] = %d", j, p.Lo(j))
		}
	}
	if !numtest.Full() {
		return
	}
	// The largest size that policies allow.
	if err := polytope(t, "2", uniform(1<<20, 1), 62).Verify(); err != nil {
		t.Error(err)
	}
}

// The box does not depend on the caller's slices, before or after.
func TestPolytopeAliases(t *testing.T) {
	m := []float64{0.2, 0.3, 0.5}
	p := polytope(t, "1", m, 20)
	if !slices.Equal(m, []float64{0.2, 0.3, 0.5}) {
		t.Error("NewPolytope changed m")
	}
	lo, hi := slices.Clone(p.lo), slices.Clone(p.hi)
	q, err := NewPolytopeFromBounds(p.Epsilon(), lo, hi, 20)
	if err != nil {
		t.Fatal(err)
	}
	lo[0], hi[0] = 0, 1<<20
	flo, fhi := q.Bounds()
	flo[0], fhi[0] = -1, 5
	n := []uint64{q.Lo(0), q.Lo(1), q.Total() - q.Lo(0) - q.Lo(1)}
	if n[2] > q.Hi(2) {
		n[1] += n[2] - q.Hi(2)
		n[2] = q.Hi(2)
	}
	w, err := q.Weights(n)
	if err != nil {
		t.Fatal(err)
	}
	was := w.At(0)
	n[0] = 999999
	if err := q.Verify(); err != nil || q.Lo(0) != p.Lo(0) || q.Hi(0) != p.Hi(0) || w.At(0) != was {
		t.Errorf("a caller changed a box or a row: %v", err)
	}
}

func TestPolytopeAccessors(t *testing.T) {
	p := polytope(t, "1", []float64{0.25, 0, 0.75}, 10)
	if p.Len() != 3 || p.Bits() != 10 || p.Total() != 1024 || p.Epsilon() != epsilon(t, "1") {
		t.Errorf("Len %d, Bits %d, Total %d, Epsilon %v", p.Len(), p.Bits(), p.Total(), p.Epsilon())
	}
	if p.Lo(1) != 0 || p.Hi(1) != 0 || p.Lo(0) == 0 || p.Hi(2) == 0 {
		t.Errorf("bounds %v, %v", p.lo, p.hi)
	}
	lo, hi := p.Bounds()
	for j := range 3 {
		if lo[j] != float64(p.Lo(j))/1024 || hi[j] != float64(p.Hi(j))/1024 { // exact: small integers
			t.Errorf("Bounds()[%d] = %v, %v", j, lo[j], hi[j])
		}
	}
	wide, err := NewPolytopeFromBounds(epsilon(t, "1"), []uint64{1<<61 - 1, 1 << 60}, []uint64{1<<62 - 1, 1 << 61}, 62)
	if err != nil {
		t.Fatal(err)
	}
	lo, hi = wide.Bounds() // 2^62 - 1 is not a float64; the nearest is 2^62
	if lo[0] != 0.5 || hi[0] != 1 || lo[1] != 0.25 || hi[1] != 0.5 {
		t.Errorf("Bounds() = %v, %v", lo, hi)
	}
	var none *Polytope
	for _, z := range []*Polytope{none, {}} {
		lo, hi := z.Bounds()
		if z.Len() != 0 || z.Bits() != 0 || z.Total() != 0 || !z.Epsilon().IsZero() || z.Lo(0) != 0 || z.Hi(0) != 0 ||
			len(lo) != 0 || len(hi) != 0 || z.Round([]float64{1}).Len() != 0 {
			t.Error("the zero Polytope is not empty")
		}
		if err := z.Verify(); !errors.Is(err, ErrBox) {
			t.Errorf("zero Polytope: Verify = %v", err)
		}
		for _, n := range [][]uint64{nil, {}, {1}} {
			if w, err := z.Weights(n); !errors.Is(err, ErrBox) || w.Len() != 0 {
				t.Errorf("zero Polytope: Weights(%v) = %v", n, err)
			}
		}
	}
	for _, j := range []int{-1, 3, math.MinInt, math.MaxInt} {
		if p.Lo(j) != 0 || p.Hi(j) != 0 {
			t.Errorf("column %d exists", j)
		}
	}
}

// Weights accepts exactly the integer points of the box with sum 2^B.
func TestPolytopeWeights(t *testing.T) {
	eps := epsilon(t, "1.2")
	p, err := NewPolytopeFromBounds(eps, []uint64{1, 2, 0, 3}, []uint64{3, 6, 0, 9}, 4)
	if err != nil {
		t.Fatal(err)
	}
	accepted, points := 0, 0
	n := make([]uint64, 4)
	for n[0] = 0; n[0] < 5; n[0]++ {
		for n[1] = 0; n[1] < 9; n[1]++ {
			for n[2] = 0; n[2] < 2; n[2]++ {
				for n[3] = 0; n[3] < 18; n[3]++ {
					in := n[0] >= 1 && n[0] <= 3 && n[1] >= 2 && n[1] <= 6 && n[2] == 0 && n[3] >= 3 && n[3] <= 9 &&
						n[0]+n[1]+n[3] == 16
					if in {
						points++
					}
					w, err := p.Weights(n)
					if err == nil {
						accepted++
						for j := range n {
							if w.At(j) != n[j] {
								t.Fatalf("Weights(%v) has %d at %d", n, w.At(j), j)
							}
						}
						if w.Len() != 4 || w.Bits() != 4 || w.At(-1) != 0 || w.At(4) != 0 {
							t.Fatalf("Weights(%v): Len %d, Bits %d", n, w.Len(), w.Bits())
						}
					} else if !errors.Is(err, ErrBox) || w.Len() != 0 {
						t.Fatalf("Weights(%v) = %v", n, err)
					}
					if in != (err == nil) {
						t.Fatalf("Weights(%v) = %v, want in = %v", n, err, in)
					}
				}
			}
		}
	}
	if points == 0 || accepted != points {
		t.Errorf("%d accepted of %d points", accepted, points)
	}
	var be *BoxError
	for _, bad := range [][]uint64{nil, {}, {3, 4, 0}, {3, 4, 0, 9, 0}, {3, 4, 0, 8}} { // the last has the wrong sum
		if _, err := p.Weights(bad); !errors.As(err, &be) || be.Index != -1 {
			t.Errorf("Weights(%v) = %v, want a BoxError for the whole row", bad, err)
		}
	}
	if _, err := p.Weights([]uint64{3, 7, 0, 6}); !errors.As(err, &be) || be.Index != 1 || be.Lo != 2 || be.Hi != 6 {
		t.Errorf("Weights: %v, want column 1", err)
	}
	// sum 2^64 + 2^62, which is 2^62 modulo 2^64
	v := slices.Repeat([]uint64{1 << 60}, 4)
	w, err := NewPolytopeFromBounds(eps, v, slices.Repeat([]uint64{3 << 60}, 4), 62)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Weights([]uint64{3 << 60, 3 << 60, 3 << 60, 3 << 60}); !errors.Is(err, ErrBox) {
		t.Errorf("sum 3 * 2^62 accepted: %v", err)
	}
	five := slices.Repeat([]uint64{1 << 59}, 20)
	w, err = NewPolytopeFromBounds(epsilon(t, "3"), five[:5], slices.Repeat([]uint64{1 << 62}, 20)[:5], 62)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Weights(slices.Repeat([]uint64{1 << 62}, 5)); !errors.Is(err, ErrBox) {
		t.Errorf("sum 5 * 2^62 = 2^62 modulo 2^64 accepted: %v", err)
	}
}

// TestBoxErrorFirstColumn: the first column is a column like the others.
func TestBoxErrorFirstColumn(t *testing.T) {
	if text := (&BoxError{Index: 0, Lo: 1, Hi: 2}).Error(); !strings.Contains(text, "column 0 [1, 2]") {
		t.Errorf("it says %q", text)
	}
}

// TestNewPolytopeRaisesTheFirst: a mass below e^(-1/2) by 5e-10 of itself is taken, and the first of the largest columns
// is raised to make up for it.
func TestNewPolytopeRaisesTheFirst(t *testing.T) {
	const mass = 0.6065306594093681
	if p := polytope(t, "1", uniform(3, mass), 62); p.lo[0] <= p.lo[1] || p.lo[1] != p.lo[2] {
		t.Errorf("lo %v", p.lo)
	}
}

// TestNewPolytopeOneColumn: where all mass is in one column, its upper bound is 2^B, just enough, and nothing is raised,
// which would lower to a wider box: ceil(ceil(256 e) / e^2) = ceil(696 / 7.389).
func TestNewPolytopeOneColumn(t *testing.T) {
	if p := polytope(t, "2", []float64{0, 1}, 8); p.lo[1] != 95 || p.hi[1] != 256 {
		t.Errorf("[%d, %d], want [95, 256]", p.lo[1], p.hi[1])
	}
}
