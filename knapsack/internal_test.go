package knapsack

import (
	"cmp"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSortRow compares both sorts with a stable sort of the standard library, at lengths on either side
// of the switch, on rows with ties, zeros of both signs and the whole range of exponents.
func TestSortRow(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	rows := map[string]func() float64{
		"ties":     func() float64 { return float64(rnd.IntN(5)) },
		"constant": func() float64 { return 3 },
		"zeros":    func() float64 { return math.Copysign(0, float64(rnd.IntN(2))-0.5) },
		"uniform":  rnd.Float64,
		"spread":   func() float64 { return math.Ldexp(rnd.Float64(), rnd.IntN(2098)-1074) },
		"extremes": func() float64 {
			return []float64{0, math.SmallestNonzeroFloat64, 1, 1 + 0x1p-52, math.MaxFloat64}[rnd.IntN(5)]
		},
	}
	var s sorter // one for all: its scratch must not leak from row to row
	for name, draw := range rows {
		for _, n := range []int{1, 2, 7, radixMin - 1, radixMin, radixMin + 1, 1000, 300} {
			row := make([]float64, n)
			for j := range row {
				row[j] = draw()
			}
			got, want := make([]int32, n), make([]int32, n)
			for j := range want {
				want[j] = int32(j)
			}
			slices.SortStableFunc(want, func(a, b int32) int { return cmp.Compare(row[a], row[b]) })
			s.sortRow(row, got)
			if !slices.Equal(got, want) {
				t.Errorf("%s, %d columns: order %v, want %v", name, n, got, want)
			}
		}
	}
}

// TestDot checks the error bound stated at dot against exact arithmetic, on lengths around the block.
func TestDot(t *testing.T) {
	const bound = 12.0 / (1 << 53)
	rnd := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 1, 2, 3, 4, 5, 6, 7, 30, 31, 32, 33, 34, 35, 64, 1000, 5000} {
		a, b := make([]float64, n), make([]float64, n)
		exact := new(big.Rat)
		for j := range a {
			a[j] = math.Ldexp(rnd.Float64(), rnd.IntN(60)-30)
			b[j] = math.Ldexp(rnd.Float64(), rnd.IntN(60)-30)
			exact.Add(exact, new(big.Rat).Mul(rat(a[j]), rat(b[j])))
		}
		d := dot(a, b)
		got := new(big.Rat).Add(rat(d.hi), rat(d.lo))
		diff := new(big.Rat).Sub(got, exact)
		if diff.Abs(diff).Cmp(new(big.Rat).Mul(exact, rat(bound))) > 0 {
			t.Errorf("dot of %d terms: error %v, bound %v of %v", n, diff.FloatString(30), bound, exact.FloatString(6))
		}
	}
}

// TestDouble checks that the two error-free transformations are error-free.
func TestDouble(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for range 10000 {
		a := math.Ldexp(rnd.Float64()-0.5, rnd.IntN(120)-60)
		b := math.Ldexp(rnd.Float64()-0.5, rnd.IntN(120)-60)
		s, e := twoSum(a, b)
		if sum := new(big.Rat).Add(rat(a), rat(b)); sum.Cmp(new(big.Rat).Add(rat(s), rat(e))) != 0 {
			t.Fatalf("twoSum(%v, %v) = %v, %v", a, b, s, e)
		}
		s, e = twoDiff(a, b)
		if diff := new(big.Rat).Sub(rat(a), rat(b)); diff.Cmp(new(big.Rat).Add(rat(s), rat(e))) != 0 {
			t.Fatalf("twoDiff(%v, %v) = %v, %v", a, b, s, e)
		}
	}
}

// TestFixed checks the conversions and sums of fixed numbers against math/big.
func TestFixed(t *testing.T) {
	value := func(x fixed) *big.Int {
		n := new(big.Int).SetUint64(x.hi)
		return n.Lsh(n, 64).Add(n, new(big.Int).SetUint64(x.lo))
	}
	floor := func(x float64, unit int) *big.Int {
		r := rat(x)
		if unit < 0 {
			r.Mul(r, new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(-unit))))
		} else {
			r.Quo(r, new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(unit))))
		}
		return new(big.Int).Quo(r.Num(), r.Denom())
	}
	rnd := rand.New(rand.NewPCG(7, 8))
	for range 10000 {
		top := rnd.IntN(400) - 300 // numbers below 2^top
		unit := top - unitBits
		draw := func() float64 {
			switch rnd.IntN(8) {
			case 0:
				return 0
			case 1:
				return math.Ldexp(1, top-1)
			case 2:
				return math.SmallestNonzeroFloat64
			}
			return math.Ldexp(rnd.Float64(), top-rnd.IntN(250))
		}
		x, y := draw(), draw()
		a, b := toFixed(x, unit), toFixed(y, unit)
		if want := floor(x, unit); value(a).Cmp(want) != 0 {
			t.Fatalf("toFixed(%v, %d) = %v, want %v", x, unit, value(a), want)
		}
		if got, want := value(a.add(b)), new(big.Int).Add(value(a), value(b)); got.Cmp(want) != 0 {
			t.Fatalf("%v + %v = %v", value(a), value(b), got)
		}
		if got, want := a.less(b), value(a).Cmp(value(b)) < 0; got != want {
			t.Fatalf("%v < %v: %v", value(a), value(b), got)
		}
		if !a.less(b) {
			if got, want := value(a.sub(b)), new(big.Int).Sub(value(a), value(b)); got.Cmp(want) != 0 {
				t.Fatalf("%v - %v = %v", value(a), value(b), got)
			}
		}
		// 106 bits survive the way back, and x itself has no more than 53.
		n := fixed{rnd.Uint64() >> uint(rnd.IntN(64)), rnd.Uint64()}
		if rnd.IntN(4) == 0 {
			n.hi = 0
			n.lo >>= uint(rnd.IntN(64))
		}
		d := n.double(1)
		got := new(big.Rat).Add(rat(d.hi), rat(d.lo))
		want := new(big.Rat).SetInt(value(n))
		diff := new(big.Rat).Sub(want, got)
		if limit := new(big.Rat).Mul(want, rat(0x1p-105)); diff.Abs(diff).Cmp(limit) > 0 {
			t.Fatalf("%v as a double: %v + %v", value(n), d.hi, d.lo)
		}
	}
}

// TestScanBlocks compares scan with the definition in exact arithmetic where the fill ends at every place of a
// block, with rooms of very different sizes.
func TestScanBlocks(t *testing.T) {
	const n = 3*scanBlock + 3
	rnd := rand.New(rand.NewPCG(9, 10))
	row, order := make([]float64, n), make([]int32, n)
	for j := range row {
		row[j] = rnd.Float64()
	}
	new(sorter).sortRow(row, order)
	for end := range n {
		for _, spread := range []int{1, 20, 60, 120} {
			// The columns before order[end] take half of the mass, and that column all of it.
			lo, hi := make([]float64, n), make([]float64, n)
			want := big.NewRat(1, 1)
			total := 0.0
			for at := range end {
				hi[order[at]] = math.Ldexp(1+rnd.Float64(), -rnd.IntN(spread))
				total += hi[order[at]]
			}
			for at := range end {
				j := order[at]
				hi[j] /= 2 * total
				lo[j] = hi[j] * rnd.Float64() * float64(rnd.IntN(2))
				want.Sub(want, rat(hi[j]))
			}
			hi[order[end]] = 1
			for at := end + 1; at < n; at++ {
				hi[order[at]] = rnd.Float64()
			}
			var b box
			if err := b.check(n, lo, hi); err != nil {
				t.Fatal(err)
			}
			got, rest, fill := scan(row, order, &b)
			cost := new(big.Rat)
			for at := range end {
				j := order[at]
				cost.Add(cost, new(big.Rat).Mul(rat(row[j]), new(big.Rat).Sub(rat(hi[j]), rat(lo[j]))))
			}
			diff := new(big.Rat).Sub(rat(rest.hi), want)
			diff.Add(diff, rat(rest.lo))
			// kv rooms, three units of 2^-122 each, and 106 bits of a number near 1/2.
			if limit := rat(0x1p-104); got != end || diff.Abs(diff).Cmp(limit) > 0 {
				t.Fatalf("ends at %d, want %d, with %v, want %v", got, end, rest, want.FloatString(40))
			}
			diff.Sub(rat(fill.value()), cost)
			if limit := new(big.Rat).Mul(cost, rat(12*0x1p-53)); diff.Abs(diff).Cmp(limit) > 0 {
				t.Fatalf("fill of %d columns costs %v, want %v", end, fill.value(), cost.FloatString(20))
			}
		}
	}
}

// TestScanTinyRest puts the end of the fill among columns whose rooms are far below 1, so that
// a fixed unit would not do.
func TestScanTinyRest(t *testing.T) {
	const n = 500
	lo, hi, row := make([]float64, n), make([]float64, n), make([]float64, n)
	lo[n-1] = 1 - 0x1p-40
	hi[n-1] = 1
	for j := range n - 1 {
		row[j] = float64(n - j)
		hi[j] = 0x1p-48
	}
	// 2^8 columns of 2^-48 fill the rest 2^-40 exactly; the next cheaper column is not needed.
	order := make([]int32, n)
	new(sorter).sortRow(row, order)
	var b box
	if err := b.check(n, lo, hi); err != nil {
		t.Fatal(err)
	}
	end, rest, _ := scan(row, order, &b)
	// Column n-1 has cost 0 and room 2^-40: it is the first in order and takes everything.
	if end != 0 || rest.value() != 0x1p-40 {
		t.Errorf("end = %d, rest = %v, want 0, 2^-40", end, rest)
	}
	row[n-1] = 2 * n // now the last in order
	new(sorter).sortRow(row, order)
	end, rest, _ = scan(row, order, &b)
	if end != 255 || rest.value() != 0x1p-48 {
		t.Errorf("end = %d, rest = %v, want 255, 2^-48", end, rest)
	}
}

func rat(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }
