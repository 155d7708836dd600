package binomial

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
	"gonum.org/v1/gonum/mathext"
	"pgregory.net/rapid"
)

// upperTail returns P[X >= x] of a binomial, exactly.
func upperTail(x, n int64, p *big.Rat) *big.Rat {
	q := new(big.Rat).Sub(big.NewRat(1, 1), p)
	sum := new(big.Rat)
	for k := x; k <= n; k++ {
		term := new(big.Rat).SetInt(new(big.Int).Binomial(n, k))
		for range k {
			term.Mul(term, p)
		}
		for range n - k {
			term.Mul(term, q)
		}
		sum.Add(sum, term)
	}
	return sum
}

func lowerTail(x, n int64, p *big.Rat) *big.Rat {
	return upperTail(n-x, n, new(big.Rat).Sub(big.NewRat(1, 1), p))
}

func exactly(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }

// nearly is how far above the exact bound an outward rounded one may be, relatively: a hundred times tailSlack.
const nearly = 1e-9

// TestIntervalExact: for every count of small n, the bounds are on the safe side of the exact Clopper-Pearson
// bounds, and no farther than their slack: both decided by binomial sums in rationals.
func TestIntervalExact(t *testing.T) {
	for n := int64(1); n <= 12; n++ {
		for _, level := range []float64{0.25, 0.05, 1e-3, 1e-9} {
			want := exactly(level)
			for x := range n + 1 {
				l, u, err := Interval(x, n, level)
				if err != nil || !(0 <= l && l < u && u <= 1) {
					t.Fatalf("Interval(%d, %d, %v) = %v, %v, %v", x, n, level, l, u, err)
				}
				if x == 0 && l != 0 || x == n && u != 1 {
					t.Errorf("Interval(%d, %d, %v) = %v, %v at the ends", x, n, level, l, u)
				}
				if x > 0 && (upperTail(x, n, exactly(l)).Cmp(want) > 0 || upperTail(x, n, exactly(l*(1+nearly))).Cmp(want) <= 0) {
					t.Errorf("Interval(%d, %d, %v): lower = %v is not the bound", x, n, level, l)
				}
				// Just inside the upper bound, which may be close to 1.
				inside := min(u*(1-nearly), 1-(1-u)*(1+nearly))
				if x < n && (lowerTail(x, n, exactly(u)).Cmp(want) > 0 || lowerTail(x, n, exactly(inside)).Cmp(want) < 0) {
					t.Errorf("Interval(%d, %d, %v): upper = %v is not the bound", x, n, level, u)
				}
			}
		}
	}
}

// TestIntervalCoverage: the probability that a bound is wrong, summed in rationals over all counts, is at most
// the level.
func TestIntervalCoverage(t *testing.T) {
	const n = 18
	for _, level := range []float64{0.2, 0.01} {
		lower, upper := make([]float64, n+1), make([]float64, n+1)
		for x := range lower {
			lower[x], upper[x], _ = Interval(int64(x), n, level)
		}
		for step := int64(0); step <= 24; step++ {
			p := big.NewRat(step, 24)
			low, high := new(big.Rat), new(big.Rat)
			for x := range lower {
				pmf := new(big.Rat).Sub(upperTail(int64(x), n, p), upperTail(int64(x)+1, n, p))
				if exactly(lower[x]).Cmp(p) > 0 {
					low.Add(low, pmf)
				}
				if exactly(upper[x]).Cmp(p) < 0 {
					high.Add(high, pmf)
				}
			}
			if low.Cmp(exactly(level)) > 0 || high.Cmp(exactly(level)) > 0 {
				t.Errorf("p = %v, level %v: lower bound wrong with probability %s, upper with %s", p, level, low.FloatString(6),
					high.FloatString(6))
			}
		}
	}
}

// TestIntervalReferences compares with 25 digits from elsewhere, up to n = 1e12 and level 1e-14.
func TestIntervalReferences(t *testing.T) {
	var ref struct {
		Origin string
		Bounds []struct {
			X, N         int64
			Level        float64
			Lower, Upper string
		}
	}
	numtest.LoadJSON(t, "testdata/clopper-pearson.json", &ref)
	tol := numtest.Tol{Rel: tailSlack + 1e-12, Why: "the slack, and the logarithm of a tail to 1e-12"}
	for _, r := range ref.Bounds {
		l, u, err := Interval(r.X, r.N, r.Level)
		if err != nil {
			t.Fatal(err)
		}
		wantL, wantU := numtest.ParseRat(t, r.Lower), numtest.ParseRat(t, r.Upper)
		numtest.NearRat(t, "lower", l, wantL, tol)
		numtest.NearRat(t, "upper", u, wantU, tol)
		if exactly(l).Cmp(wantL) > 0 || exactly(u).Cmp(wantU) < 0 && u < 1 {
			t.Errorf("Interval(%d, %d, %v) = [%v, %v] is inside [%s, %s]", r.X, r.N, r.Level, l, u, r.Lower, r.Upper)
		}
	}
}

// TestIntervalGonum: a second opinion, where gonum's quantile of the beta distribution is good.
func TestIntervalGonum(t *testing.T) {
	tol := numtest.Tol{Rel: 1e-8, Why: "the accuracy of gonum's quantile for counts from 20 to n - 20 and n up to 1e6"}
	for _, n := range []int64{100, 10_000, 1_000_000} {
		for _, x := range []int64{20, n / 7, n / 2, n - 20} {
			l, u, err := Interval(x, n, 1e-4)
			if err != nil {
				t.Fatal(err)
			}
			numtest.Near(t, "lower", l, mathext.InvRegIncBeta(float64(x), float64(n-x+1), 1e-4), tol)
			numtest.Near(t, "1 - upper", 1-u, mathext.InvRegIncBeta(float64(n-x), float64(x+1), 1e-4),
				numtest.Tol{Rel: tol.Rel, Abs: tailSlack * 10, Why: tol.Why})
		}
	}
}

// TestIntervalLaws: bounds rise with the count, widen as the level falls, narrow with n, and mirror.
func TestIntervalLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.Int64Range(1, 20), rapid.Int64Range(1, 1e6), rapid.Int64Range(1, 1e11)).Draw(t, "n")
		x := rapid.OneOf(rapid.Int64Range(0, n), rapid.Int64Range(0, min(n, 5)), rapid.Int64Range(max(0, n-5), n)).Draw(t,
			"x")
		level := math.Pow(10, -rapid.Float64Range(0.7, 14).Draw(t, "-log level"))
		l, u, err := Interval(x, n, level)
		if err != nil {
			t.Fatal(err)
		}
		f := float64(x) / float64(n)
		if !(0 <= l && l <= f && f <= u && u <= 1) {
			t.Fatalf("Interval(%d, %d, %v) = [%v, %v], the frequency is %v", x, n, level, l, u, f)
		}
		if x < n {
			l2, u2, _ := Interval(x+1, n, level)
			if !(l2 > l && u2 >= u) {
				t.Fatalf("Interval(%d, %d, %v) = [%v, %v] and one more gives [%v, %v]", x, n, level, l, u, l2, u2)
			}
		}
		l3, u3, _ := Interval(x, n, level/2)
		if !(l3 <= l && u3 >= u) {
			t.Fatalf("Interval(%d, %d) at half the level %v: [%v, %v] in [%v, %v]", x, n, level, l3, u3, l, u)
		}
		l4, _, _ := Interval(n-x, n, level)
		if d := math.Abs((1 - u) - l4); !(d <= 4*tailSlack) {
			t.Fatalf("Interval(%d, %d, %v): 1 - upper = %v, mirrored %v", x, n, level, 1-u, l4)
		}
	})
}

func TestIntervalErrors(t *testing.T) {
	for _, c := range []struct {
		x, n  int64
		level float64
	}{
		{0, 0, 0.1}, {-1, 5, 0.1}, {6, 5, 0.1}, {1, -5, 0.1}, {1, MaxTrials + 1, 0.1}, {1, math.MaxInt64, 0.1},
		{1, 5, 0}, {1, 5, -1}, {1, 5, 0.3}, {1, 5, math.NaN()}, {1, 5, math.Inf(1)},
	} {
		if l, u, err := Interval(c.x, c.n, c.level); !errors.Is(err, ErrRange) || l != 0 || u != 1 {
			t.Errorf("Interval(%d, %d, %v) = %v, %v, %v", c.x, c.n, c.level, l, u, err)
		}
	}
}

// TestLogSide: the tail on the side of the count, in rationals for small n, at the ends and beyond.
func TestLogSide(t *testing.T) {
	tol := numtest.Tol{Abs: 1e-13, Rel: 1e-13, Why: "some dozen roundings of logarithms of size up to 100"}
	for n := int64(1); n <= 10; n++ {
		for x := range n + 1 {
			for step := int64(0); step <= 8; step++ {
				p := big.NewRat(step, 8)
				fp, _ := p.Float64()
				want := lowerTail(x, n, p)
				if float64(x) > float64(n)*fp {
					want = upperTail(x, n, p)
				}
				f, _ := want.Float64()
				got := LogTail(x, n, fp, 1-fp)
				if f == 0 {
					if !math.IsInf(got, -1) {
						t.Errorf("LogTail(%d, %d, %v) = %v, want -Inf", x, n, fp, got)
					}
					continue
				}
				numtest.Near(t, "logSide", got, math.Log(f), tol)
			}
		}
	}
}

// TestBeyond: the two ways to sum a tail agree where both are good.
func TestBeyond(t *testing.T) {
	tol := numtest.Tol{Rel: 1e-9, Why: "the continued fraction loses digits as failures get rarer; the sum does not"}
	for _, n := range []int64{20, 1000, 1_000_000} {
		for _, failures := range []int64{1, n / 50, n / 5} {
			for _, odds := range []float64{1.5, 3, 10} { // of failures, against their frequency
				q := min(0.45, odds*float64(max(1, failures))/float64(n))
				x := n - max(1, failures)
				numtest.Near(t, "sum and fraction", sumBeyond(x, n, 1-q, q), fractionBeyond(x, n, 1-q, q), tol)
			}
		}
	}
}
