// Package ctransform finds the largest potentials of one side of a transport problem that those of the other side leave
// valid: f_i is the least C_ij - g_j. Row and Lower give floats that are never above the exact number, and Exact gives
// that number itself.
package ctransform

import (
	"math"
	"math/big"

	"github.com/wpm-go/wpm/internal/num"
)

// Row returns the largest float64 f with f + g[j] <= row[j] for all j, exactly, capped at
// the largest finite one. Entries of g may be -Inf.
//
// Rounding is monotone: the least of the rounded differences is the least difference, rounded,
// and only the differences that round to it can lie below it.
func Row(row, g []float64) float64 {
	m, below := math.MaxFloat64, false
	g = g[:len(row)]
	for j, c := range row {
		if h := g[j]; c-h <= m {
			m, below = Lower(m, below, c, h)
		}
	}
	if below {
		return math.Nextafter(m, math.Inf(-1))
	}
	return m
}

// Lower updates a rounded minimum with c - g; below says that the exact one is less.
func Lower(m float64, below bool, c, g float64) (float64, bool) {
	x, e := num.TwoSum(c, -g)
	if x < m {
		return x, e < 0
	}
	return m, below || x == m && e < 0
}

// Exact returns the least of row[j] - g[j], given floats near g.
func Exact(row []float64, g []*big.Rat, near []float64) (f *big.Rat) {
	// Differences that may be the least, up to the rounding of near and of the subtraction.
	bound := math.Inf(1)
	for j, c := range row {
		bound = math.Min(bound, c-near[j]+Doubt(c, near[j], 0))
	}
	for j, c := range row {
		if c-near[j]-Doubt(c, near[j], 0) > bound {
			continue
		}
		x := new(big.Rat).SetFloat64(c)
		if x.Sub(x, g[j]); f == nil || x.Cmp(f) < 0 {
			f = x
		}
	}
	return f
}

// Doubt bounds the error of a + b + c in floats, if these numbers are known to 2^-52 of themselves, or to the
// smallest float.
func Doubt(a, b, c float64) float64 {
	return 0x1p-49*(math.Abs(a)+math.Abs(b)+math.Abs(c)) + 4*math.SmallestNonzeroFloat64
}

// Fill gives the missing potentials of one side the largest that is valid, since costs are not negative, for
// any cost: the least of zero and all -x for x on the other side.
func Fill(potentials, other []*big.Rat) {
	least := new(big.Rat)
	for _, x := range other {
		if y := new(big.Rat).Neg(x); y.Cmp(least) < 0 {
			least = y
		}
	}
	for n, x := range potentials {
		if x == nil {
			potentials[n] = least
		}
	}
}
