package basemeasure_test

import (
	"context"
	"errors"
	"math"
	"math/big"
	"slices"
	"sort"
	"testing"

	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/wpmerr"
)

// expRat returns rationals below and above e^x, 0 <= x, within 2^-200 of it: a plain Taylor series.
func expRat(x *big.Rat) (down, up *big.Rat) {
	sum, term := big.NewRat(1, 1), big.NewRat(1, 1)
	tiny := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 200))
	for n := int64(1); ; n++ {
		term.Mul(term, x)
		term.Quo(term, new(big.Rat).SetInt64(n))
		// The rest is at most twice the first term left out once n+2 > 2x.
		if term.Cmp(tiny) < 0 && new(big.Rat).SetInt64(n).Cmp(new(big.Rat).Mul(x, big.NewRat(2, 1))) > 0 {
			return sum, new(big.Rat).Add(sum, term.Mul(term, big.NewRat(2, 1)))
		}
		sum.Add(sum, term)
	}
}

// slowVerify is Verify written down without thought for speed, as a second opinion.
func slowVerify(c *cost.Dense, eps float64, r basemeasure.Result) (upper, lower *big.Rat) {
	half := new(big.Rat).Quo(num.Rat(eps), big.NewRat(2, 1))
	down, up := expRat(half)
	one := big.NewRat(1, 1)

	total := new(big.Rat)
	for _, m := range r.M {
		total.Add(total, num.Rat(m))
	}
	low, high := new(big.Rat).Quo(total, down), new(big.Rat).Mul(total, down)
	point := low.Cmp(one) >= 0 || high.Cmp(one) <= 0
	upper = new(big.Rat)
	for i := range c.K {
		row := c.Row(i, nil)
		phi := new(big.Rat)
		if point {
			for j, m := range r.M {
				phi.Add(phi, new(big.Rat).Mul(num.Rat(row[j]), new(big.Rat).Quo(num.Rat(m), total)))
			}
		} else {
			order := make([]int, c.Kv)
			for j := range order {
				order[j] = j
			}
			sort.SliceStable(order, func(a, b int) bool { return row[order[a]] < row[order[b]] })
			rest := new(big.Rat).Sub(one, low)
			for _, j := range order {
				lo, hi := new(big.Rat).Quo(num.Rat(r.M[j]), down), new(big.Rat).Mul(num.Rat(r.M[j]), down)
				give := hi.Sub(hi, lo)
				if give.Cmp(rest) > 0 {
					give.Set(rest)
				}
				rest.Sub(rest, give)
				phi.Add(phi, lo.Add(lo, give).Mul(lo, num.Rat(row[j])))
			}
		}
		if phi.Cmp(upper) > 0 {
			upper = phi
		}
	}

	e := new(big.Rat).Mul(up, up)
	weight, mean := new(big.Rat), new(big.Rat)
	for i, w := range r.Weights {
		weight.Add(weight, num.Rat(w))
		mean.Add(mean, new(big.Rat).Mul(num.Rat(w), num.Rat(r.Thresholds[i])))
	}
	var least *big.Rat
	for j := range c.Kv {
		b := new(big.Rat)
		for i, w := range r.Weights {
			d := new(big.Rat).Sub(num.Rat(c.Row(i, nil)[j]), num.Rat(r.Thresholds[i]))
			if d.Sign() < 0 {
				d.Mul(d, e)
			}
			b.Add(b, d.Mul(d, num.Rat(w)))
		}
		if b.Sign() > 0 {
			b.Quo(b, e)
		}
		if least == nil || b.Cmp(least) < 0 {
			least = b
		}
	}
	return upper, least.Add(least, mean).Quo(least, weight)
}

// verifierTol is the difference that two enclosures of e^eps of 200 and 256 binary places can make.
var verifierTol = new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 180))

func closeRat(a, b *big.Rat) bool {
	scale := new(big.Rat).Add(new(big.Rat).Abs(a), big.NewRat(1, 1))
	d := new(big.Rat).Sub(a, b)
	return d.Abs(d).Cmp(scale.Mul(scale, verifierTol)) <= 0
}

func TestVerifyAgrees(t *testing.T) {
	costs := []*cost.Dense{
		matrix(1, 1, discrete),
		matrix(4, 3, func(i, j int) float64 { return math.Abs(float64(i)/3 - float64(j)/2) }),
		matrix(6, 6, star),
		matrix(5, 7, func(i, j int) float64 { return 1e-9 * float64((i*j+i)%5) }),
		matrix(3, 8, func(i, j int) float64 { return math.Exp(float64(i*j%7) * 3) }),
	}
	for _, c := range costs {
		for _, eps := range []float64{0, 0.1, 1, 3.7} {
			r := solve(t, c, eps)
			upper, lower, err := basemeasure.Verify(context.Background(), c, eps, r)
			if err != nil {
				t.Fatal(err)
			}
			wantUpper, wantLower := slowVerify(c, eps, r)
			if !closeRat(upper, wantUpper) {
				t.Errorf("eps %v: upper = %v, want %v", eps, upper.FloatString(30), wantUpper.FloatString(30))
			}
			if !closeRat(lower, wantLower) {
				t.Errorf("eps %v: lower = %v, want %v", eps, lower.FloatString(30), wantLower.FloatString(30))
			}
			if lower.Cmp(upper) > 0 {
				t.Errorf("eps %v: lower %v > upper %v", eps, lower, upper)
			}
		}
	}
}

// TestVerifyRefuses tampers with a good result in every way that matters.
func TestVerifyRefuses(t *testing.T) {
	c := matrix(6, 6, func(i, j int) float64 { return math.Abs(float64(i - j)) })
	const eps = 2
	good := solve(t, c, eps)
	nan, inf := math.NaN(), math.Inf(1)
	tests := []struct {
		name   string
		tamper func(r *basemeasure.Result)
	}{
		{"upper claims too much", func(r *basemeasure.Result) { r.Upper *= 1 - 1e-13 }},
		{"lower claims too much", func(r *basemeasure.Result) { r.Lower *= 1 + 1e-13 }},
		{"NaN upper", func(r *basemeasure.Result) { r.Upper = nan }},
		{"infinite upper", func(r *basemeasure.Result) { r.Upper = inf }},
		{"NaN lower", func(r *basemeasure.Result) { r.Lower = nan }},
		{"minus infinite lower", func(r *basemeasure.Result) { r.Lower = -inf }},
		{"no M", func(r *basemeasure.Result) { r.M = nil }},
		{"zero M", func(r *basemeasure.Result) { r.M = make([]float64, 6) }},
		{"NaN in M", func(r *basemeasure.Result) { r.M[3] = nan }},
		{"infinity in M", func(r *basemeasure.Result) { r.M[3] = inf }},
		{"negative M", func(r *basemeasure.Result) { r.M[3] = -r.M[3] }},
		{"M too maxMass", func(r *basemeasure.Result) { r.M[0] += 3 }},
		{"M too minMass", func(r *basemeasure.Result) { r.M = slices.Repeat([]float64{0.05}, 6) }},
		{"another M", func(r *basemeasure.Result) { r.M[0], r.M[2] = r.M[0]*1.5, r.M[2]*0.5 }},
		{"short weights", func(r *basemeasure.Result) { r.Weights = r.Weights[:5] }},
		{"zero weights", func(r *basemeasure.Result) { r.Weights = make([]float64, 6) }},
		{"negative weight", func(r *basemeasure.Result) { r.Weights[1] = -1 }},
		{"NaN weight", func(r *basemeasure.Result) { r.Weights[1] = nan }},
		{"long thresholds", func(r *basemeasure.Result) { r.Thresholds = append(r.Thresholds, 0) }},
		{"NaN threshold", func(r *basemeasure.Result) { r.Thresholds[1] = nan }},
		{"infinite threshold", func(r *basemeasure.Result) { r.Thresholds[1] = inf }},
		{"higher thresholds", func(r *basemeasure.Result) {
			for i := range r.Thresholds {
				r.Thresholds[i] *= 1.01
			}
		}},
		{"lower thresholds", func(r *basemeasure.Result) {
			for i := range r.Thresholds {
				r.Thresholds[i] *= 0.99
			}
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := good
			r.M, r.Weights, r.Thresholds = slices.Clone(good.M), slices.Clone(good.Weights), slices.Clone(good.Thresholds)
			test.tamper(&r)
			if _, _, err := basemeasure.Verify(context.Background(), c, eps, r); !errors.Is(err, wpmerr.ErrCertificate) {
				t.Errorf("Verify: %v", err)
			}
		})
	}

	if _, _, err := basemeasure.Verify(context.Background(), c, 1.9, good); !errors.Is(err, wpmerr.ErrCertificate) {
		t.Errorf("other eps: %v", err)
	}
	if _, _, err := basemeasure.Verify(context.Background(), matrix(5, 6, star), eps, good); !errors.Is(err, wpmerr.ErrCertificate) {
		t.Errorf("other shape: %v", err)
	}
	for _, bad := range []float64{nan, -1, inf, 701} {
		if _, _, err := basemeasure.Verify(context.Background(), c, bad, good); !errors.Is(err, wpmerr.ErrEpsilon) {
			t.Errorf("eps = %v: %v", bad, err)
		}
	}
	if _, _, err := basemeasure.Verify(context.Background(), nil, eps, good); !errors.Is(err, wpmerr.ErrShape) {
		t.Errorf("nil cost: %v", err)
	}
	if _, _, err := basemeasure.Verify(context.Background(), matrix(6, 6, func(i, j int) float64 { return nan }), eps, good); !errors.Is(err,
		wpmerr.ErrNotFinite) {
		t.Errorf("NaN cost: %v", err)
	}
	if _, _, err := basemeasure.Verify(context.Background(), c, eps, basemeasure.Result{}); !errors.Is(err, wpmerr.ErrCertificate) {
		t.Errorf("zero result: %v", err)
	}
}

// TestVerifyWeightsAreRelative checks that a common factor of the weights does not matter.
func TestVerifyWeightsAreRelative(t *testing.T) {
	c := matrix(6, 6, star)
	r := solve(t, c, 1)
	_, want, err := basemeasure.Verify(context.Background(), c, 1, r)
	if err != nil {
		t.Fatal(err)
	}
	r.Weights = slices.Clone(r.Weights)
	for i := range r.Weights {
		r.Weights[i] *= 1 << 20
	}
	if _, got, err := basemeasure.Verify(context.Background(), c, 1, r); err != nil || got.Cmp(want) != 0 {
		t.Errorf("lower = %v, want %v (%v)", got, want, err)
	}
}

// byRow is a cost without a matrix in memory, whose rows share the caller's buffer.
type byRow struct{ c *cost.Dense }

func (m byRow) Dims() (k, kv int)                  { return m.c.Dims() }
func (m byRow) Row(i int, buf []float64) []float64 { return append(buf[:0], m.c.Row(i, nil)...) }

// view is a cost that returns views of its own memory, whatever buffer it is given.
type view struct{ c *cost.Dense }

func (m view) Dims() (k, kv int)                { return m.c.Dims() }
func (m view) Row(i int, _ []float64) []float64 { return m.c.Row(i, nil) }

func TestForeignMatrix(t *testing.T) {
	c := matrix(7, 5, func(i, j int) float64 { return math.Abs(float64(i) - 1.5*float64(j)) })
	before := slices.Clone(c.Data)
	want := solve(t, c, 1)
	for _, m := range []cost.Matrix{byRow{c}, view{c}} {
		got := solve(t, m, 1)
		if got.F != want.F || got.Lower != want.Lower || !slices.Equal(c.Data, before) {
			t.Errorf("%T: %v, %v, want %v, %v", m, got.F, got.Lower, want.F, want.Lower)
		}
	}
}

// viewing is a matrix that mixes views and fills, as cost.Matrix allows.
type viewing struct{ stored []float64 }

func (viewing) Dims() (k, kv int) { return 2, 2 }

func (v viewing) Row(i int, buf []float64) []float64 {
	if i == 0 {
		return v.stored
	}
	if len(buf) < 2 {
		buf = make([]float64, 2)
	}
	buf[0], buf[1] = 1, 1
	return buf[:2]
}

// TestVerifyLeavesViews holds that a row which Row returned is never handed back as a buffer: Verify once wrote
// over the matrix, and then accepted a false upper bound (found in review).
func TestVerifyLeavesViews(t *testing.T) {
	c := viewing{[]float64{100, 100}}
	_, _, err := basemeasure.Verify(context.Background(), c, 1,
		basemeasure.Result{M: []float64{0.5, 0.5}, Upper: 1, Weights: []float64{0, 1}, Thresholds: []float64{0, 1}})
	if !errors.Is(err, wpmerr.ErrCertificate) {
		t.Errorf("a false upper bound gives %v", err)
	}
	if c.stored[0] != 100 || c.stored[1] != 100 {
		t.Errorf("the matrix became %v", c.stored)
	}
}
