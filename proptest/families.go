package proptest

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/wpm-go/wpm/proptest/exact"
	"pgregory.net/rapid"
)

// A Family is a finite eps-LDP mechanism: each row holds the integer weights, of sum 2^Bits, of the law
// of one input.
type Family struct {
	Epsilon *big.Rat
	Bits    int
	Rows    [][]uint64
}

// GoString prints eps as a fraction.
func (f Family) GoString() string {
	return fmt.Sprintf("proptest.Family{Epsilon: %v, Bits: %d, Rows: %v}", f.Epsilon, f.Bits, f.Rows)
}

// Span returns the smallest and the largest weight of each column.
func (f Family) Span() (lo, hi []uint64) {
	lo, hi = slices.Clone(f.Rows[0]), slices.Clone(f.Rows[0])
	for _, row := range f.Rows[1:] {
		for j, n := range row {
			lo[j], hi[j] = min(lo[j], n), max(hi[j], n)
		}
	}
	return lo, hi
}

// Families returns mechanisms that were not made from a box: randomised response and its
// post-processing by a random channel, or rows without any structure. Their eps is the smallest
// multiple of 10^-6 (within the range of ExactEpsilon) for which they are eps-LDP.
func Families(rows, kv int) *rapid.Generator[Family] {
	return rapid.Custom(func(t *rapid.T) Family {
		f := Family{Rows: make([][]uint64, rows)}
		switch rapid.SampledFrom([]string{"free", "response", "processed"}).Draw(t, "family style") {
		case "free":
			f.Bits = rapid.IntRange(8, 40).Draw(t, "bits")
			used := make([]bool, kv)
			for j := range used {
				used[j] = rapid.IntRange(0, 4).Draw(t, "used") > 0
			}
			used[rapid.IntRange(0, kv-1).Draw(t, "surely used")] = true
			for i := range f.Rows {
				f.Rows[i] = Composition(t, uint64(1)<<f.Bits, used)
			}
		case "response":
			f.Bits, f.Rows = response(t, rows, kv)
		case "processed": // rows of the response, then a stochastic matrix with entries in units of 2^-8
			bits, first := response(t, rows, rows+1)
			channel := make([][]uint64, rows+1)
			all := slices.Repeat([]bool{true}, kv)
			for i := range channel {
				channel[i] = Composition(t, 1<<8, all)
			}
			f.Bits = bits + 8
			for i := range f.Rows {
				f.Rows[i] = make([]uint64, kv)
				for l, n := range first[i] {
					for j := range kv {
						f.Rows[i][j] += n * channel[l][j]
					}
				}
			}
		}
		f.Epsilon = smallestEpsilon(f)
		return f
	})
}

// Composition splits total over the columns in use, at least one unit each: evenly, or by draws, which favour small
// numbers.
func Composition(t *rapid.T, total uint64, used []bool) []uint64 {
	row := make([]uint64, len(used))
	last, left := -1, uint64(0)
	for j, u := range used {
		if u {
			row[j], last = 1, j
			total--
			left++
		}
	}
	even := rapid.Bool().Draw(t, "even")
	for j, u := range used {
		if !u || j == last {
			continue
		}
		n := total / left
		if !even {
			n = rapid.Uint64Range(0, total).Draw(t, "weight")
		} else if n > 2 {
			n -= rapid.Uint64Range(0, n/2).Draw(t, "uneven")
		}
		row[j] += n
		total -= n
		left--
	}
	row[last] += total
	return row
}

// response is randomised response on kv answers: one of them gets more than the others.
func response(t *rapid.T, rows, kv int) (bits int, out [][]uint64) {
	bits = rapid.IntRange(8, 24).Draw(t, "bits")
	total := uint64(1) << bits
	small := rapid.Uint64Range(1, total/uint64(kv)).Draw(t, "small")
	for i := range rows {
		row := slices.Repeat([]uint64{small}, kv)
		row[i%kv] = total - uint64(kv-1)*small
		out = append(out, row)
	}
	return bits, out
}

// smallestEpsilon returns the smallest multiple of 10^-6, at least one, for which f is eps-LDP.
func smallestEpsilon(f Family) *big.Rat {
	lo, hi := f.Span()
	ok := func(micro int64) bool {
		e := exact.NewExpo(big.NewRat(micro, 1e6))
		for j := range lo {
			if !e.Holds(hi[j], lo[j]) {
				return false
			}
		}
		return true
	}
	worst := 1.0
	for j := range lo {
		if lo[j] > 0 {
			worst = max(worst, float64(hi[j])/float64(lo[j]))
		}
	}
	micro := max(1, int64(math.Floor(1e6*math.Log(worst))))
	for !ok(micro) {
		micro++
	}
	for micro > 1 && ok(micro-1) {
		micro--
	}
	return big.NewRat(micro, 1e6)
}

// FamiliesAt returns mechanisms for a given eps and a given cost, one row for each of its rows. They are of the kinds
// that matter for a lower bound: the best rows of a box (the Dirac projections of a random base measure, or of one near
// the given m, which may be nil), random rows in a box, constant rows, and randomised response.
func FamiliesAt(eps *big.Rat, c [][]float64, m []float64) *rapid.Generator[Family] {
	const bits = 40
	k, kv := len(c), len(c[0])
	return rapid.Custom(func(t *rapid.T) Family {
		f := Family{Epsilon: eps, Bits: bits, Rows: make([][]uint64, k)}
		e := exact.NewExpo(eps)
		total := uint64(1) << bits
		style := rapid.SampledFrom([]string{"near m", "projections", "random", "constant", "response"}).Draw(t,
			"family style")
		if style == "constant" {
			row := Composition(t, total, slices.Repeat([]bool{true}, kv))
			for i := range f.Rows {
				f.Rows[i] = row
			}
			return f
		}
		if style == "response" {
			// b <= E a and a (kv-1) + b = total, with the good answer the cheapest one.
			a := exact.CeilQuo(exact.Integer(total), exact.Add(e.Lower, big.NewRat(int64(kv-1), 1))).Uint64()
			a = max(1, min(a, total/uint64(kv)))
			b := total - uint64(kv-1)*a
			for !e.Holds(b, a) {
				a++
				b = total - uint64(kv-1)*a
			}
			for i := range f.Rows {
				best := 0
				for j := range kv {
					if c[i][j] < c[i][best] {
						best = j
					}
				}
				f.Rows[i] = slices.Repeat([]uint64{a}, kv)
				f.Rows[i][best] = b
			}
			return f
		}
		// x = e^(-eps/2) m in units, hi = floor(e^eps lo).
		x := make([]float64, kv)
		if style == "near m" && m != nil {
			s := rapid.SampledFrom([]float64{0, 1e-3, 0.1, 1}).Draw(t, "noise")
			for j := range x {
				x[j] = m[j] * math.Exp(-exact.Float(eps)/2) * math.Exp(s*rapid.Float64Range(-1, 1).Draw(t, "step"))
			}
		} else {
			x = BaseMeasure(kv, exact.Float(eps)).Draw(t, "m")
			for j := range x {
				x[j] *= math.Exp(-exact.Float(eps) / 2)
			}
		}
		lo, hi := make([]uint64, kv), make([]uint64, kv)
		for j := range lo {
			lo[j] = min(uint64(math.Max(0, x[j]*float64(total))), total)
			hi[j] = e.Floor(lo[j], total)
		}
		e.Fit(lo, hi, total)
		for i := range f.Rows {
			key := func(j int) float64 { return c[i][j] }
			if style == "random" {
				perm := rapid.Permutation(Indices(kv)).Draw(t, "order")
				key = func(j int) float64 { return float64(perm[j]) }
			}
			f.Rows[i] = Fill(lo, hi, total, key)
		}
		return f
	})
}

func Indices(n int) []int {
	x := make([]int, n)
	for i := range x {
		x[i] = i
	}
	return x
}

// Fill starts at lo and goes up to hi in the order of the key (ties: lowest index) until the total is
// reached.
func Fill(lo, hi []uint64, total uint64, key func(int) float64) []uint64 {
	n := slices.Clone(lo)
	rest := total
	for _, v := range lo {
		rest -= v
	}
	order := Indices(len(lo))
	slices.SortStableFunc(order, func(a, b int) int {
		switch x, y := key(a), key(b); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	for _, j := range order {
		step := min(rest, hi[j]-lo[j])
		n[j] += step
		rest -= step
	}
	return n
}
func Pick(x []float64, order []int) []float64 {
	y := make([]float64, len(order))
	for i, n := range order {
		y[i] = x[n]
	}
	return y
}
