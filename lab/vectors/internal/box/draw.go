package box

import (
	"math"
	"math/big"
	"slices"

	"github.com/wpm-go/wpm/lab/vectors/internal/values"
	"github.com/wpm-go/wpm/proptest/exact"
)

// First returns the first j with n_0 + .. + n_j > x.
func First(n []uint64, x *big.Int) int {
	c := new(big.Int)
	for j, v := range n {
		if c.Add(c, values.Int(v)).Cmp(x) > 0 {
			return j
		}
	}
	panic("a word beyond the total")
}

// LittleEndian returns the lowest bits of the number that b writes, lowest byte first.
func LittleEndian(b []byte, bits int) *big.Int {
	b = slices.Clone(b)
	slices.Reverse(b)
	mask := new(big.Int).Lsh(big.NewInt(1), uint(bits))
	return new(big.Int).And(new(big.Int).SetBytes(b), mask.Sub(mask, big.NewInt(1)))
}

// Round returns the weights that stand for q: the rounding rule in rationals.
func Round(b Box, q []float64) []uint64 {
	kv := len(b.Lo)
	n, fraction := make([]*big.Int, kv), make([]*big.Rat, kv)
	rest := values.Int(b.Total())
	for j := range n {
		lo, hi := values.Int(b.Lo[j]), values.Int(b.Hi[j])
		n[j], fraction[j] = lo, new(big.Rat)
		switch {
		case j >= len(q) || math.IsNaN(q[j]) || math.IsInf(q[j], -1):
		case math.IsInf(q[j], 1):
			n[j] = hi
		default:
			x := exact.Mul(exact.Rat(q[j]), values.Power(b.Bits))
			whole := values.Floor(x)
			switch {
			case whole.Cmp(lo) < 0:
			case whole.Cmp(hi) >= 0:
				n[j] = hi
			default:
				n[j], fraction[j] = whole, exact.Sub(x, new(big.Rat).SetInt(whole))
			}
		}
		n[j] = new(big.Int).Set(n[j])
		rest.Sub(rest, n[j])
	}
	// Too much: the first columns give back, down to lo.
	for j := range n {
		if rest.Sign() < 0 {
			give := new(big.Int).Sub(n[j], values.Int(b.Lo[j]))
			if over := new(big.Int).Neg(rest); give.Cmp(over) > 0 {
				give = over
			}
			n[j].Sub(n[j], give)
			rest.Add(rest, give)
			if rest.Sign() == 0 {
				break
			}
		}
	}
	// Too little: a unit to the largest fractions, the first of equals, then to the first columns, up to hi.
	order := make([]int, kv)
	for j := range order {
		order[j] = j
	}
	slices.SortStableFunc(order, func(i, j int) int { return fraction[j].Cmp(fraction[i]) })
	given := make([]bool, kv)
	for _, j := range order {
		if rest.Sign() > 0 && fraction[j].Sign() > 0 {
			n[j].Add(n[j], big.NewInt(1))
			rest.Sub(rest, big.NewInt(1))
			given[j] = true
		}
	}
	for j := range n {
		add := new(big.Int).Sub(values.Int(b.Hi[j]), n[j])
		if add.Cmp(rest) > 0 {
			add.Set(rest)
		}
		n[j].Add(n[j], add)
		rest.Sub(rest, add)
	}
	values.Must(rest.Sign() == 0, "a rounding that does not fill")
	out := make([]uint64, kv)
	for j, v := range n {
		out[j] = v.Uint64()
	}
	return out
}
