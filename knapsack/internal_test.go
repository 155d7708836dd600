package knapsack

import (
	"cmp"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/internal/numtest"
)

// TestSortRow compares the sorts with a stable sort of the standard library, at lengths on either side
// of the switches, on rows with ties, zeros of both signs and the whole range of exponents.
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
		for _, n := range []int{1, 2, 7, evenMin - 1, evenMin, radixMin - 1, radixMin, radixMin + 1, 1000, 300} {
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
			exact.Add(exact, new(big.Rat).Mul(num.Rat(a[j]), num.Rat(b[j])))
		}
		d := dot(a, b)
		got := new(big.Rat).Add(num.Rat(d.Hi), num.Rat(d.Lo))
		diff := new(big.Rat).Sub(got, exact)
		if diff.Abs(diff).Cmp(new(big.Rat).Mul(exact, num.Rat(bound))) > 0 {
			t.Errorf("dot of %d terms: error %v, bound %v of %v", n, diff.FloatString(30), bound, exact.FloatString(6))
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
		r := num.Rat(x)
		if unit < 0 {
			r.Mul(r, new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(-unit))))
		} else {
			r.Quo(r, new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(unit))))
		}
		return new(big.Int).Quo(r.Num(), r.Denom())
	}
	rnd := rand.New(rand.NewPCG(7, 8))
	for range numtest.Cases(3000, 10000) {
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
		got := new(big.Rat).Add(num.Rat(d.Hi), num.Rat(d.Lo))
		want := new(big.Rat).SetInt(value(n))
		diff := new(big.Rat).Sub(want, got)
		if limit := new(big.Rat).Mul(want, num.Rat(0x1p-105)); diff.Abs(diff).Cmp(limit) > 0 {
			t.Fatalf("%v as a double: %v + %v", value(n), d.Hi, d.Lo)
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
				want.Sub(want, num.Rat(hi[j]))
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
				cost.Add(cost, new(big.Rat).Mul(num.Rat(row[j]), new(big.Rat).Sub(num.Rat(hi[j]), num.Rat(lo[j]))))
			}
			diff := new(big.Rat).Sub(num.Rat(rest.Hi), want)
			diff.Add(diff, num.Rat(rest.Lo))
			// kv rooms, three units of 2^-122 each, and 106 bits of a number near 1/2.
			if limit := num.Rat(0x1p-104); got != end || diff.Abs(diff).Cmp(limit) > 0 {
				t.Fatalf("ends at %d, want %d, with %v, want %v", got, end, rest, want.FloatString(40))
			}
			diff.Sub(num.Rat(fill.Float()), cost)
			if limit := new(big.Rat).Mul(cost, num.Rat(12*0x1p-53)); diff.Abs(diff).Cmp(limit) > 0 {
				t.Fatalf("fill of %d columns costs %v, want %v", end, fill.Float(), cost.FloatString(20))
			}
		}
	}
}

// TestQuickScan holds the scans in 64 bits to the exact one: where they claim to know, they end at the same column with
// the same rest, to what finishRow allows them; and they do claim to know where the fill does not end on an edge.
func TestQuickScan(t *testing.T) {
	rnd := rand.New(rand.NewPCG(11, 12))
	quick, refined, ties := 0, 0, 0
	draws := numtest.Cases(1200, 4000)
	for range draws {
		n := 1 + rnd.IntN(300)
		row, order := make([]float64, n), make([]int32, n)
		lo, hi := make([]float64, n), make([]float64, n)
		m, total := make([]float64, n), 0.0
		kind := rnd.IntN(4)
		for j := range row {
			row[j] = rnd.Float64()
			switch kind {
			case 0: // even: ends on an edge where the numbers of columns allow it
				m[j] = 1
			case 1:
				m[j] = 0.2 + rnd.Float64()
			case 2: // sparse
				m[j] = rnd.Float64() * float64(1-min(1, rnd.IntN(4)))
			case 3:
				m[j] = math.Ldexp(rnd.Float64(), -rnd.IntN(90))
			}
			total += m[j]
		}
		if total == 0 {
			continue
		}
		beta := []float64{1.25, 2, 3, 100, 1e9}[rnd.IntN(5)]
		for j := range m {
			lo[j], hi[j] = m[j]/total/beta, m[j]/total*beta
		}
		new(sorter).sortRow(row, order)
		var b box
		if err := b.check(n, lo, hi); err != nil {
			t.Fatal(err)
		}
		if b.kind != inside || !b.short {
			t.Fatalf("kind %v, short %v", b.kind, b.short)
		}
		end, rest, _ := scan(row, order, &b)
		exact := new(big.Rat).Add(num.Rat(rest.Hi), num.Rat(rest.Lo))
		grain := num.Rat(b.grain)
		at, left, _ := quickScan(row, order, &b)
		if at > end {
			t.Fatalf("quickScan ends at %d, scan at %d", at, end)
		}
		if at < len(order) && b.up[order[at]] > left+uint64(at)+3 {
			quick++
			low := new(big.Rat).Mul(new(big.Rat).SetInt(new(big.Int).SetUint64(left)), grain)
			high := new(big.Rat).Add(low, new(big.Rat).Mul(num.Rat(float64(at+2)), grain))
			if at != end || exact.Cmp(low) < 0 || exact.Cmp(high) > 0 {
				t.Fatalf("quickScan ends at %d of %d with [%v, %v], scan at %d with %v", at, n, low.FloatString(25),
					high.FloatString(25), end, exact.FloatString(25))
			}
		}
		to, grains, _, ok := refine(row, order, &b, at, left, double{})
		if !ok {
			ties++
			continue
		}
		refined++
		diff := new(big.Rat).Sub(new(big.Rat).Mul(num.Rat(grains), grain), exact)
		limit := new(big.Rat).Add(new(big.Rat).Mul(exact, num.Rat(0x1p-52)), new(big.Rat).Mul(num.Rat(refineError), grain))
		if to != end || diff.Abs(diff).Cmp(limit) > 0 {
			t.Fatalf("refine ends at %d with %v, scan at %d with %v", to, grains*b.grain, end, rest.Float())
		}
	}
	// A few draws are empty, and an even one may end on an edge.
	if quick < draws*7/8 || refined < draws*7/8 || ties > draws/10 {
		t.Errorf("%d settled at once, %d refined, %d ties", quick, refined, ties)
	}
	t.Logf("%d settled at once, %d refined, %d ties", quick, refined, ties)
}

// TestManyColumns compares a row so long that quickScan alone is not exact enough with the exact scan.
func TestManyColumns(t *testing.T) {
	const n = 60000
	rnd := rand.New(rand.NewPCG(17, 18))
	row, order := make([]float64, n), make([]int32, n)
	lo, hi := make([]float64, n), make([]float64, n)
	for j := range row {
		row[j] = rnd.Float64()
		lo[j], hi[j] = rnd.Float64()/(8*n), 1.4*(1+rnd.Float64())/n
	}
	new(sorter).sortRow(row, order)
	var b box
	if err := b.check(n, lo, hi); err != nil {
		t.Fatal(err)
	}
	for _, cheap := range []bool{false, true} {
		if cheap { // what is filled costs nothing, and so all depends on what is left
			for _, j := range order[:n/2] {
				row[j] = 0
			}
		}
		sum := dot(row, lo)
		phi, tau := finishRow(row, order, &b, sum)
		b.short = false
		want, at := finishRow(row, order, &b, sum)
		b.short = true
		if tau != at || !(math.Abs(phi-want) <= PhiError*want) {
			t.Errorf("phi = %v, tau = %v, exact scan: %v, %v", phi, tau, want, at)
		}
	}
}

// TestLongFill: the error of the cost of what is filled does not grow with the number of columns. They are all the
// same, so that the roundings of a plain sum would go one way.
func TestLongFill(t *testing.T) {
	const n, bound = 40000, 12.0 / (1 << 53)
	row, order := make([]float64, n), make([]int32, n)
	lo, hi := make([]float64, n), make([]float64, n)
	for j := range row {
		row[j], order[j], hi[j] = 1.0/3, int32(j), 1.1/n
	}
	var b box
	if err := b.check(n, lo, hi); err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]func() (int, double){
		"quickScan": func() (int, double) { end, _, fill := quickScan(row, order, &b); return end, fill },
		"scan":      func() (int, double) { end, _, fill := scan(row, order, &b); return end, fill },
	} {
		end, fill := f()
		exact := new(big.Rat).Mul(num.Rat(row[0]), num.Rat(hi[0]))
		exact.Mul(exact, new(big.Rat).SetInt64(int64(end)))
		diff := new(big.Rat).Sub(new(big.Rat).Add(num.Rat(fill.Hi), num.Rat(fill.Lo)), exact)
		if diff.Abs(diff).Cmp(new(big.Rat).Mul(exact, num.Rat(bound))) > 0 {
			t.Errorf("%s: fill of %d columns costs %v, error %v", name, end, fill.Float(), diff.FloatString(25))
		}
	}
}

// TestCeil checks ceil against exact arithmetic.
func TestCeil(t *testing.T) {
	const slack = 0x1p-42
	rnd := rand.New(rand.NewPCG(13, 14))
	for range numtest.Cases(6000, 20000) {
		x := math.Ldexp(rnd.Float64(), rnd.IntN(80)-16)
		if rnd.IntN(10) == 0 {
			x = math.Floor(x)
		}
		e := x * 0x1p-53 * (2*rnd.Float64() - 1)
		n, over := ceil(x, e)
		want := new(big.Rat).Add(num.Rat(x), num.Rat(e))
		above := new(big.Rat).Sub(new(big.Rat).SetInt(new(big.Int).SetUint64(n)), want)
		if above.Cmp(num.Rat(-slack)) < 0 || above.Cmp(num.Rat(1+slack)) > 0 {
			t.Fatalf("ceil(%v, %v) = %d", x, e, n)
		}
		if above.Sub(above, num.Rat(over)); above.Abs(above).Cmp(num.Rat(slack)) > 0 {
			t.Fatalf("ceil(%v, %v) = %d, above by %v", x, e, n, over)
		}
	}
}

// TestDot4 holds dot4 to the bits of dot.
func TestDot4(t *testing.T) {
	rnd := rand.New(rand.NewPCG(15, 16))
	for _, n := range []int{1, 2, 15, 16, 17, 31, 32, 33, 47, 100, 1000} {
		var x [5][]float64
		for r := range x {
			x[r] = make([]float64, n)
			for j := range x[r] {
				x[r][j] = math.Ldexp(rnd.Float64(), rnd.IntN(60)-30)
			}
		}
		var got [4]double
		got[0], got[1], got[2], got[3] = dot4(x[0], x[1], x[2], x[3], x[4])
		for r, s := range got {
			if want := dot(x[r], x[4]); s != want {
				t.Errorf("%d columns, row %d: dot4 = %v, dot = %v", n, r, s, want)
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
	if end != 0 || rest.Float() != 0x1p-40 {
		t.Errorf("end = %d, rest = %v, want 0, 2^-40", end, rest)
	}
	row[n-1] = 2 * n // now the last in order
	new(sorter).sortRow(row, order)
	end, rest, _ = scan(row, order, &b)
	if end != 255 || rest.Float() != 0x1p-48 {
		t.Errorf("end = %d, rest = %v, want 255, 2^-48", end, rest)
	}
}
