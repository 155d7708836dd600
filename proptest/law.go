package proptest

import (
	"flag"
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/wpm-go/wpm/proptest/exact"
	"pgregory.net/rapid"
)

// Nothing is written into the tree of whoever runs the laws: rapid's default would be a file for every failure, below
// testdata. A failure prints its seed, which repeats it. The flag -rapid.nofailfile=false asks for the files.
func init() {
	if err := flag.Set("rapid.nofailfile", "true"); err != nil {
		panic(err)
	}
}

// A Law is a statement of the paper, or of the module's conventions, that an implementation I must not
// break. Check draws an instance from t and fails t if the implementation breaks the law on it.
type Law[I any] struct {
	// Name is the name of the function, and of the subtest.
	Name string
	// Statement says where the law comes from: a label of the paper, or a convention.
	Statement string
	// First holds instances that find an error which hundreds of drawn instances may miss. Run checks them first.
	First []func(t TB, impl I)
	Check func(t *rapid.T, impl I)
}

// Run checks every law on impl, each as a subtest with the law's first instances and then rapid's number of drawn ones
// (flag -rapid.checks). Each first instance is a subtest of its own: if an implementation has no answer to one and
// skips it, the drawn instances still run.
func Run[I any](t *testing.T, laws []Law[I], impl I) {
	t.Helper()
	for _, l := range laws {
		t.Run(l.Name, func(t *testing.T) {
			for n, first := range l.First {
				t.Run(fmt.Sprintf("first/%d", n+1), func(t *testing.T) { first(t, impl) })
			}
			rapid.Check(t, func(t *rapid.T) { l.Check(t, impl) })
		})
	}
}

// The tolerances, each in units that make it a pure number. Comparisons are written so that NaN fails.
const (
	// ValueTol bounds the error of a value that an exact solver reports, in units of max C: the
	// module's solvers stop at a gap of 1e-15 max C, and the sums over at most a few dozen terms, the
	// rounding of the box and that of mu add a few dozen 2^-53. 1e-12 leaves a factor of a hundred.
	ValueTol = 1e-12

	// PhiTol bounds the error of φ_i and of the cut at τ_i, in units of the largest cost of the row:
	// the fill decides with sums of at most a dozen floats near 1, each good to 2^-53, so it may stop
	// a few ulps early or late, and every such ulp costs at most the spread of the row.
	PhiTol = 0x1p-46

	// MassTol is the promise on a projection: |sum q - 1| <= kv 2^-52.
	MassTol = 0x1p-52

	// KLTol bounds the rounding of a Kullback-Leibler divergence, relative to 1 + its value: a dozen terms
	// p log(p/q) with sum p = 1, each good to a few 2^-53 of |log p| + |log q|, which is below 800 even for
	// subnormal numbers and within a small factor of the divergence when it is large.
	KLTol = 1e-12
)

// TB is what a law fails on: a *rapid.T, or a *testing.T.
type TB = rapid.TB

// Finite fails the test unless every number is finite.
func Finite(t TB, what string, x ...float64) {
	t.Helper()
	for i, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			t.Fatalf("%s[%d] = %v, which is not finite", what, i, v)
		}
	}
}

// Length fails the test unless len(x) == n.
func Length(t TB, what string, x []float64, n int) {
	t.Helper()
	if len(x) != n {
		t.Fatalf("%s has %d entries, want %d", what, len(x), n)
	}
}

// AtMost fails the test unless x <= y + tol * scale, with x and y exact.
func AtMost(t TB, what string, x, y *big.Rat, tol, scale float64) {
	t.Helper()
	if d := exact.Sub(x, y); d.Cmp(exact.Mul(exact.Rat(tol), exact.Rat(scale))) > 0 {
		t.Fatalf("%s: %.17g > %.17g by %.3g, which is more than %.3g * %.3g",
			what, exact.Float(x), exact.Float(y), exact.Float(d), tol, scale)
	}
}

// Near fails the test unless |x - y| <= tol * scale, with x and y exact.
func Near(t TB, what string, x, y *big.Rat, tol, scale float64) {
	t.Helper()
	d := exact.Sub(x, y)
	if d.Abs(d).Cmp(exact.Mul(exact.Rat(tol), exact.Rat(scale))) > 0 {
		t.Fatalf("%s: %.17g against %.17g, apart by %.3g, which is more than %.3g * %.3g",
			what, exact.Float(x), exact.Float(y), exact.Float(d), tol, scale)
	}
}

// SameFloats fails the test if an input was modified.
func SameFloats(t TB, what string, got, want []float64) {
	t.Helper()
	Length(t, what, got, len(want))
	for i := range got {
		if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
			t.Fatalf("input %s[%d] was changed from %v to %v", what, i, want[i], got[i])
		}
	}
}

func SameProblem(t TB, got, want Problem) {
	t.Helper()
	for i := range want.C {
		SameFloats(t, "C", got.C[i], want.C[i])
	}
	SameFloats(t, "Mu", got.Mu, want.Mu)
	SameFloats(t, "Lo", got.Lo, want.Lo)
	SameFloats(t, "Hi", got.Hi, want.Hi)
}

// Relative fails the test unless |x - y| <= tol * |y|.
func Relative(t TB, what string, x, y, tol float64) {
	t.Helper()
	if !(math.Abs(x-y) <= tol*math.Abs(y)) {
		t.Fatalf("%s: %.17g against %.17g, apart by %.3g of it, more than %.3g", what, x, y, x/y-1, tol)
	}
}
