package ldp

import (
	"math"
	"math/big"
	"strconv"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
)

// ExpBounds against the continued fraction: strictly around e^eps, and as narrow as promised.
func TestExpBounds(t *testing.T) {
	check := func(e Epsilon, bits int) {
		t.Helper()
		lower, upper := e.ExpBounds(bits)
		promised := max(bits, 1)
		fl, fu := fractionExp(e.Rat(), uint(promised)+64)
		if lower.Cmp(fl) >= 0 || upper.Cmp(fu) <= 0 {
			t.Fatalf("%v.ExpBounds(%d) = %v, %v does not enclose e^eps", e, bits, lower, upper)
		}
		w := new(big.Rat).Sub(upper, lower)
		w.Mul(w, new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(promised))))
		if w.Cmp(lower) > 0 {
			t.Fatalf("%v.ExpBounds(%d) is too wide", e, bits)
		}
	}
	for _, s := range []string{"1e-18", "1e-6", "0.1", "1/3", "0.5", "1", "5", "40", "63.999", "64",
		"340282366920938463463374607431768211454/340282366920938463463374607431768211455"} {
		for _, bits := range []int{math.MinInt, -1, 0, 1, 2, 31, 32, 62, 64, 128, 200, 1000} {
			check(epsilon(t, s), bits)
		}
	}
	n := 4000
	if !numtest.Full() {
		n = 300
	}
	s := newStream(1)
	for range n { // eps in [1e-6, 40], most digits random, on a log scale
		e := epsilon(t, strconv.FormatFloat(math.Exp(math.Log(1e-6)+s.float()*math.Log(4e7)), 'g', int(1+s.next()%17), 64))
		check(e, 200)
	}
	if numtest.Full() {
		// Beyond the limit the bits are those of the limit.
		e := epsilon(t, "0.7")
		l1, u1 := e.ExpBounds(maxExpBits)
		l2, u2 := e.ExpBounds(math.MaxInt)
		if l1.Cmp(l2) != 0 || u1.Cmp(u2) != 0 {
			t.Error("ExpBounds(MaxInt) differs from ExpBounds(65536)")
		}
	}
}

// The two reference implementations agree with each other, so that either can be the judge.
func TestReferences(t *testing.T) {
	s := newStream(2)
	for range numtest.Cases(25, 100) {
		e := epsilon(t, strconv.FormatFloat(64*s.float()+1e-9, 'g', 17, 64))
		lower, upper := fractionExp(e.Rat(), 700)
		f := refExp(e.Rat())
		r, _ := f.Rat(nil)
		d := new(big.Rat).Sub(upper, r)
		d.Quo(d.Abs(d), lower)
		// refExp's error, see refMargin
		if d.Cmp(new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 600))) > 0 {
			t.Fatalf("e^%v: the references differ", e)
		}
	}
}

// hard is a list of eps whose e^eps is within 2^-c of a quotient hi/lo (convergents of log(hi/lo)), with
// the side it is on: cases that floats, and enclosures of 128 or 256 bits, cannot decide.
var hard = []struct {
	eps    string
	lo, hi uint64
	within bool // hi <= e^eps lo
}{
	{"18695831399896629401/46109593713571066869", 2, 3, false},                                    // 2^-132
	{"65774962311046698888/162221017285413774271", 2, 3, true},                                    // 2^-137
	{"8947639430618428499622453462707681827/22067594107830114006276874171519759124", 2, 3, false}, // 2^-249
	{"24942243647088880284597506564851849267/61515141866251862496500126770406093641", 2, 3, true}, // 2^-254
	{"144810387827017744735/74417818262225143083", 1, 7, true},
	{"502250146350751237668/258105517664615751187", 1, 7, false},
	{"67589046231689323636701386435181586154/34733898820817587962396228455871153769", 1, 7, false},
	{"75358468294388778571956950287008134649/38726591940009807090167292929491773520", 1, 7, true},
	{"2056193774734002587/2966460561915503886", 1<<61 + 5, 1<<62 - 1, false},
	{"7936047991064704469/11449297080965869759", 1<<61 + 5, 1<<62 - 1, true},
	{"395519786319153030578262244976578894/570614434296104553104358316844285749", 1<<61 + 5, 1<<62 - 1, false},
	{"2155509012365786620499443252024278603/3109742162731587670021809869407931909", 1<<61 + 5, 1<<62 - 1, true},
}

func TestFactorHard(t *testing.T) {
	refined := 0
	for _, c := range hard {
		eps := epsilon(t, c.eps)
		if got := refWithin(t, refExp(eps.Rat()), c.lo, c.hi); got != c.within {
			t.Fatalf("table: %d <= e^%s * %d is %v", c.hi, c.eps, c.lo, got)
		}
		f := newFactor(eps.Rat())
		want := c.hi
		if !c.within {
			want--
		}
		for range 2 { // the second time with the refined enclosure
			if got := f.floor(c.lo); got != want {
				t.Errorf("floor(e^%s * %d) = %d, want %d", c.eps, c.lo, got, want)
			}
		}
		if f.w > factorBits {
			refined++
		}
	}
	if refined < 2 {
		t.Errorf("%d cases went beyond the first precision; the table should have more", refined)
	}
}

// floor against big.Float, for every kind of eps and n, the cap included.
func TestFactorFloor(t *testing.T) {
	s := newStream(3)
	for _, x := range []string{"1e-18", "3e-18", "1e-9", "1e-6", "0.1", "1/3", "0.5", "1", "2", "5", "20", "42.9", "43",
		"43.5",
		"43.66", "43.67", "43.7", "44.3", "44.4", "50", "64"} {
		eps := epsilon(t, x)
		f, e := newFactor(eps.Rat()), refExp(eps.Rat())
		ns := []uint64{0, 1, 2, 3, 1<<32 - 1, 1 << 32, 1<<61 - 1, 1 << 61, maxUnits - 1, maxUnits, maxUnits + 1, 1 << 63,
			math.MaxUint64}
		for i := range 300 {
			ns = append(ns, s.next()>>(i%64))
		}
		for _, n := range ns {
			v := new(big.Float).SetPrec(refPrec).SetUint64(n)
			want, _ := v.Mul(v, e).Int(nil)
			if limit := big.NewInt(maxUnits); want.Cmp(limit) > 0 {
				want = limit
			}
			if got := f.floor(n); got != want.Uint64() {
				t.Errorf("floor(e^%s * %d) = %d, want %d", x, n, got, want)
			}
			if got := f.slow(n); got != want.Uint64() {
				t.Errorf("slow(e^%s * %d) = %d, want %d", x, n, got, want)
			}
			down, up := f.under.mul(n), f.over.mul(n)
			if want.Uint64() < down || want.Uint64() > up {
				t.Errorf("e^%s * %d: fast path [%d, %d] leaves out %d", x, n, down, up, want)
			}
		}
	}
}

// The fast path encloses e^eps capped at 2^63, on the right sides, within 2^-127.
func TestFixed(t *testing.T) {
	unit := new(big.Int).Lsh(big.NewInt(1), 128)
	value := func(y fixed) *big.Rat {
		v := new(big.Int).SetUint64(y.i)
		v.Lsh(v, 64).Add(v, new(big.Int).SetUint64(y.f1))
		v.Lsh(v, 64).Add(v, new(big.Int).SetUint64(y.f0))
		return new(big.Rat).SetFrac(v, unit)
	}
	all := []string{"1e-18", "0.1", "1", "5", "30", "43.66", "43.67", "43.668", "43.6682723752765", "44", "64"}
	for _, c := range hard { // e^eps a hair beside 3/2 or 7: an end that was rounded once too little shows
		all = append(all, c.eps)
	}
	for _, x := range all {
		eps := epsilon(t, x)
		f := newFactor(eps.Rat())
		under, over := value(f.under), value(f.over)
		lower, upper := fractionExp(eps.Rat(), 400)
		if limit := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 63)); upper.Cmp(limit) > 0 {
			if under.Cmp(limit) != 0 || over.Cmp(limit) != 0 {
				t.Errorf("eps %s: %v, %v, want 2^63", x, under, over)
			}
			continue
		}
		d := new(big.Rat).Sub(over, under)
		if under.Cmp(lower) > 0 || over.Cmp(upper) < 0 || d.Cmp(new(big.Rat).SetFrac(big.NewInt(2), unit)) > 0 {
			t.Errorf("eps %s: fast path [%v, %v] is wrong", x, under, over)
		}
	}
}

// mul against big.Int, for words of every size and at each carry.
func TestFixedMul(t *testing.T) {
	s := newStream(4)
	word := func() uint64 {
		switch s.next() % 4 {
		case 0:
			return ^uint64(0) - s.next()%4
		case 1:
			return s.next() % 4
		default:
			return s.next() >> (s.next() % 64)
		}
	}
	check := func(y fixed, n uint64) {
		t.Helper()
		v := new(big.Int).SetUint64(y.i)
		v.Lsh(v, 64).Add(v, new(big.Int).SetUint64(y.f1))
		v.Lsh(v, 64).Add(v, new(big.Int).SetUint64(y.f0))
		v.Mul(v, new(big.Int).SetUint64(n)).Rsh(v, 128)
		if limit := big.NewInt(maxUnits); v.Cmp(limit) > 0 {
			v = limit
		}
		if got := y.mul(n); got != v.Uint64() {
			t.Fatalf("%x * %d = %d, want %v", y, n, got, v)
		}
	}
	for range 20_000 {
		check(fixed{min(word(), 1<<63), word(), word()}, word())
	}
	// n i = 2^65 - 2 = 1:(2^64 - 2), and the fraction adds 4: the carry must not hide the 1.
	i := uint64(0x6666666666666666) // (2^65 - 2) / 5
	check(fixed{i, ^uint64(0), ^uint64(0)}, 5)
	check(fixed{i, 0, 0}, 5)
	// n i = 0:(2^64 - 1), and the fraction adds one.
	check(fixed{0x3333333333333333, 0x4000000000000000, 0}, 5)
	// The carry out of the second word: n f1 = 0:(2^64 - 1), n f0 = 1:0.
	check(fixed{0, 0x5555555555555555, 0x5555555555555556}, 3)
	check(fixed{0, 0x5555555555555555, 0x5555555555555555}, 3)
}

// inverse is on its stated side: 2^w e^-eps < d <= 2^w, and close.
func TestInverse(t *testing.T) {
	all := []string{"1e-18", "1e-6", "0.1", "1/3", "1", "5", "20", "43", "60", "63.9", "64"}
	for _, c := range hard {
		all = append(all, c.eps)
	}
	one := new(big.Int).Lsh(big.NewInt(1), factorBits)
	close := new(big.Rat).SetFrac(new(big.Int).Add(new(big.Int).Lsh(big.NewInt(1), 100), big.NewInt(1)),
		new(big.Int).Lsh(big.NewInt(1), 100))
	for _, x := range all {
		eps := epsilon(t, x)
		d := newFactor(eps.Rat()).inverse()
		lower, upper := fractionExp(eps.Rat(), 500)
		r := new(big.Rat).SetFrac(d, one)
		// r e^eps is in (1, 1 + 2^-100]
		if new(big.Rat).Mul(r, lower).Cmp(big.NewRat(1, 1)) <= 0 || new(big.Rat).Mul(r, upper).Cmp(close) > 0 ||
			d.Cmp(one) > 0 {
			t.Errorf("eps %s: inverse %v / 2^%d", x, d, factorBits)
		}
	}
}

// Where Taylor's terms are whole numbers of units, nothing is rounded up, and the upper bound rests on what it adds for
// the tail: so it is at e^(2^-s) in units of 2^-s, where the second term is one unit, and the sum ends.
func TestExpIntervalTail(t *testing.T) {
	for w := uint(2); w <= 16; w++ {
		for s := uint(0); s <= w; s++ {
			for _, c := range []int64{1, 2, 3} {
				x := new(big.Rat).SetFrac(big.NewInt(c), new(big.Int).Lsh(big.NewInt(1), s))
				below, above := expInterval(x, w)
				sum, term := big.NewRat(1, 1), big.NewRat(1, 1)
				for n := int64(1); n <= 40; n++ {
					term.Mul(term, x).Quo(term, big.NewRat(n, 1))
					sum.Add(sum, term)
				}
				// From n = 6 on the terms at least halve: those left out are less than the last one.
				one := new(big.Int).Lsh(big.NewInt(1), w)
				if new(big.Rat).SetFrac(above, one).Cmp(sum.Add(sum, term)) < 0 {
					t.Errorf("expInterval(%v, %d): 2^w e^x may be above %v", x, w, above)
				}
				if new(big.Rat).SetFrac(below, one).Cmp(sum.Sub(sum, term)) > 0 {
					t.Errorf("expInterval(%v, %d): 2^w e^x may be below %v", x, w, below)
				}
			}
		}
	}
	for s, bits := range map[uint]int{33: 1, 34: 2, 40: 8, 59: 27} { // ExpBounds works in units of 2^-(bits+32)
		e := epsilon(t, "1/"+new(big.Int).Lsh(big.NewInt(1), s).String())
		x := e.Rat()
		least := new(big.Rat).Mul(x, x) // 1 + x + x^2/2 < e^x
		least.Quo(least, big.NewRat(2, 1)).Add(least, x).Add(least, big.NewRat(1, 1))
		if lower, upper := e.ExpBounds(bits); upper.Cmp(least) <= 0 || lower.Cmp(least) > 0 {
			t.Errorf("%v, %d bits: %v, %v does not enclose e^eps", e, bits, lower, upper)
		}
	}
}
