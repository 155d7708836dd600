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
	const bound = 13.0 / (1 << 53)
	rnd := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 1, 3, 4, 31, 32, 33, 64, 1000, 5000} {
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

// TestScanTinyRest puts the end of the fill among columns whose rooms are far below sureLeft, so that
// the careful branch of scan does the work.
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
