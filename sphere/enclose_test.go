package sphere

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/internal/numtest"
)

// TestEncloseGolden: bounds of 120 bits, from this package's interval arithmetic, hold w* as mpmath has it to 40
// digits.
func TestEncloseGolden(t *testing.T) {
	var g vectors
	numtest.LoadJSON(t, "testdata/golden.json", &g)
	const digits = "5e-40" // the 40th digit of 1-t is rounded
	slack := numtest.ParseRat(t, digits)
	step, most := 4, 20_000
	if !numtest.Full() {
		step, most = 23, 500
	}
	count := 0
	for i := 0; i < len(g.Rows); i += step {
		v := g.Rows[i]
		if v.D > most {
			continue
		}
		count++
		b, err := Enclose(v.D, v.P, v.Eps, 120)
		if err != nil {
			t.Errorf("d=%d p=%v eps=%v: %v", v.D, v.P, v.Eps, err)
			continue
		}
		if err := b.Verify(v.D, v.P, v.Eps); err != nil {
			t.Error(err)
		}
		w := numtest.ParseRat(t, v.V[1])
		w.Mul(w, big.NewRat(1, 2))
		s := new(big.Rat).Mul(w, slack)
		if low := new(big.Rat).Sub(b.Lower, s); low.Cmp(w) >= 0 {
			t.Errorf("d=%d p=%v eps=%v: lower bound above the reference", v.D, v.P, v.Eps)
		}
		if high := new(big.Rat).Add(b.Upper, s); high.Cmp(w) <= 0 {
			t.Errorf("d=%d p=%v eps=%v: upper bound below the reference", v.D, v.P, v.Eps)
		}
		width := new(big.Rat).Sub(b.Upper, b.Lower)
		if width.Mul(width, new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 120))).Cmp(w) > 0 {
			t.Errorf("d=%d p=%v eps=%v: bounds wider than 2^-120", v.D, v.P, v.Eps)
		}
		want, _ := numtest.ParseRat(t, v.V[5]).Float64()
		if low, high := b.W(); !(low <= want && want <= high && high-low <= 1e-15*want) {
			t.Errorf("d=%d p=%v eps=%v: W in [%v, %v], want %v", v.D, v.P, v.Eps, low, high, want)
		}
	}
	t.Logf("%d rows", count)
}

// TestEncloseLarge: a case of many terms.
func TestEncloseLarge(t *testing.T) {
	d := 1_000_000
	if !numtest.Full() {
		d = 10_001
	}
	for _, p := range []float64{2, 2.75} {
		m, err := Solve(d, p, 16)
		if err != nil {
			t.Fatal(err)
		}
		b, err := Enclose(d, p, 16, 0)
		if err != nil {
			t.Fatal(err)
		}
		if low, high := b.W(); !(low <= m.W && m.W <= high) {
			t.Errorf("d=%d p=%v: W = %v outside [%v, %v]", d, p, m.W, low, high)
		}
	}
}

// TestPolynomialAgainstSeries: where both apply they enclose the same number, on both sides of the root.
func TestPolynomialAgainstSeries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := 2 * rapid.IntRange(1, 20).Draw(t, "d/2")
		p := float64(2 * rapid.IntRange(1, 6).Draw(t, "p/2"))
		if d == 2 {
			p = float64(rapid.IntRange(1, 12).Draw(t, "p"))
		}
		eps := rapid.Float64Range(1e-3, 50).Draw(t, "eps")
		w := new(big.Rat).SetFloat64(rapid.Float64Range(1e-6, 0.8).Draw(t, "w"))
		e := newEquation(d, p, eps)
		ar := arith{200}
		x, y := e.polynomial(ar, w), e.series(ar, w)
		y = interval{y.lo, y.hi}
		wq := ar.pow(ar.rat(w), e.q) // series is over w^q
		y.lo = ar.down().Mul(y.lo, pick(y.lo, wq))
		y.hi = ar.up().Mul(y.hi, pick(ar.up().Neg(y.hi), wq))
		if x.lo.Cmp(y.hi) > 0 || y.lo.Cmp(x.hi) > 0 {
			t.Fatalf("d=%d p=%v eps=%v w=%v: [%v, %v] and [%v, %v] are apart", d, p, eps, w, x.lo, x.hi, y.lo, y.hi)
		}
		for _, v := range []interval{x, y} {
			if width := new(big.Float).Sub(v.hi, v.lo); width.Cmp(big.NewFloat(1e-25)) > 0 {
				t.Fatalf("d=%d p=%v eps=%v w=%v: width %v at 200 bits", d, p, eps, w, width)
			}
		}
	})
}

// pick returns the factor that moves a bound outwards: the smaller one for a positive lower bound, else the larger one.
func pick(bound *big.Float, f interval) *big.Float {
	if bound.Sign() > 0 {
		return f.lo
	}
	return f.hi
}

// TestVerifyRefuses: what is not proved is refused, at the width of a few units of a float64.
func TestVerifyRefuses(t *testing.T) {
	for _, c := range []struct {
		d      int
		p, eps float64
	}{{2, 2, 3}, {2, 1, 1}, {2, 2.5, 1}, {4, 4, 2}, {1, 2, 1}, {7, 1.3, 20}, {63, 2, 4}} {
		good, err := Enclose(c.d, c.p, c.eps, 48)
		if err != nil {
			t.Fatal(err)
		}
		if err := good.Verify(c.d, c.p, c.eps); err != nil {
			t.Fatal(err)
		}
		shift := func(r *big.Rat, by float64) *big.Rat {
			return new(big.Rat).Mul(r, new(big.Rat).SetFloat64(1+by))
		}
		const little = 0x1p-45 // eight times the width
		one, zero := big.NewRat(1, 1), new(big.Rat)
		for name, b := range map[string]Bounds{
			"above":          {shift(good.Lower, little), shift(good.Upper, little)},
			"below":          {shift(good.Lower, -little), shift(good.Upper, -little)},
			"swapped":        {good.Upper, good.Lower},
			"a point":        {good.Lower, good.Lower},
			"zero":           {zero, good.Upper},
			"negative":       {big.NewRat(-1, 2), good.Upper},
			"one":            {good.Lower, one},
			"nil":            {nil, good.Upper},
			"nothing at all": {},
		} {
			if err := b.Verify(c.d, c.p, c.eps); !errors.Is(err, ErrBounds) {
				t.Errorf("d=%d p=%v eps=%v, %s: %v", c.d, c.p, c.eps, name, err)
			}
		}
		if err := good.Verify(c.d+1, c.p, c.eps); !errors.Is(err, ErrBounds) {
			t.Errorf("other d: %v", err)
		}
		if err := good.Verify(c.d, c.p+0.01, c.eps); !errors.Is(err, ErrBounds) {
			t.Errorf("other p: %v", err)
		}
		if err := good.Verify(c.d, c.p, c.eps*(1+1e-9)); !errors.Is(err, ErrBounds) {
			t.Errorf("other eps: %v", err)
		}
		if err := good.Verify(0, c.p, c.eps); !errors.Is(err, ErrDimension) {
			t.Errorf("d = 0: %v", err)
		}
	}
	for _, bits := range []int{-1, MaxBits + 1} {
		if _, err := Enclose(2, 2, 1, bits); !errors.Is(err, ErrPrecision) {
			t.Errorf("%d bits: %v", bits, err)
		}
	}
	if low, high := (Bounds{}).W(); !math.IsNaN(low) || !math.IsNaN(high) {
		t.Errorf("W of nothing is [%v, %v]", low, high)
	}
}

// TestEncloseManyBits: on S^2 with p = 2 the answer is 1/(e^(eps/2)+1); 1000 bits of it, from a big.Float of 1200 bits.
func TestEncloseManyBits(t *testing.T) {
	b, err := Enclose(2, 2, 3, 1000)
	if err != nil {
		t.Fatal(err)
	}
	sum, term := big.NewFloat(1).SetPrec(1200), big.NewFloat(1).SetPrec(1200)
	for n := int64(1); n < 400; n++ { // e^1.5: 1.5^400/400! < 2^-2600
		term.Mul(term, big.NewFloat(1.5))
		term.Quo(term, new(big.Float).SetInt64(n))
		sum.Add(sum, term)
	}
	w := new(big.Float).SetPrec(1200).Quo(big.NewFloat(1), sum.Add(sum, big.NewFloat(1)))
	r, _ := w.Rat(nil)
	if b.Lower.Cmp(r) >= 0 || b.Upper.Cmp(r) <= 0 {
		t.Error("the closed form is outside")
	}
	width, _ := new(big.Rat).Sub(b.Upper, b.Lower).Float64()
	if !(width <= math.Ldexp(1, -1001)) { // 2^-1000 w*, w* < 1/2
		t.Errorf("width %v", width)
	}
}

// TestArith: intervals hold what they should, and are narrow.
func TestArith(t *testing.T) {
	ar := arith{128}
	holds := func(what string, v interval, want string) {
		t.Helper()
		r := numtest.ParseRat(t, want)
		slack := new(big.Rat).Mul(r, numtest.ParseRat(t, "1e-44")) // the references have 45 digits
		low, _ := v.lo.Rat(nil)
		high, _ := v.hi.Rat(nil)
		if low.Cmp(new(big.Rat).Add(r, slack)) > 0 || high.Cmp(new(big.Rat).Sub(r, slack)) < 0 {
			t.Errorf("%s: [%v, %v] does not hold %s", what, v.lo, v.hi, want)
		}
		if width := new(big.Rat).Sub(high, low); width.Cmp(new(big.Rat).Mul(r, numtest.ParseRat(t, "1e-34"))) > 0 {
			t.Errorf("%s: [%v, %v] is wide", what, v.lo, v.hi)
		}
	}
	// mpmath 1.3 at 70 digits: expm1, power, hyp2f1(1, num, den, x).
	holds("expm1", ar.expm1(new(big.Rat).SetFloat64(1e-12)), "0.0000000000010000000000004999798866477959021686815904224")
	holds("expm1", ar.expm1(new(big.Rat).SetFloat64(0.001)), "0.0010005001667083416888932627983028887294045542")
	holds("expm1", ar.expm1(new(big.Rat).SetFloat64(1)), "1.71828182845904523536028747135266249775724709")
	holds("expm1", ar.expm1(new(big.Rat).SetFloat64(700)), "1.01423205473500450945532959523126761520467957e+304")
	holds("pow", ar.pow(ar.rat(new(big.Rat).SetFloat64(0.1)), new(big.Rat).SetFloat64(5.0)),
		"0.0000100000000000000027755575615628916592078702722")
	holds("pow", ar.pow(ar.rat(new(big.Rat).SetFloat64(0.3)), new(big.Rat).SetFloat64(0.3)),
		"0.696845301935948931720178170928950936742520786")
	holds("pow", ar.pow(ar.rat(new(big.Rat).SetFloat64(1.7)), new(big.Rat).SetFloat64(1000.125)),
		"3.00419067299736116624337025788667997877830206e+230")
	holds("pow", ar.pow(ar.rat(new(big.Rat).SetFloat64(1e-09)), new(big.Rat).SetFloat64(9.5367431640625e-07)),
		"0.999980236948910912355771270383295235637622555")
	holds("series", ar.series(new(big.Rat).SetFloat64(1), new(big.Rat).SetFloat64(2),
		ar.rat(new(big.Rat).SetFloat64(0.5))), "1.38629436111989061883446424291635313615100027")
	holds("series", ar.series(new(big.Rat).SetFloat64(127), new(big.Rat).SetFloat64(64.5),
		ar.rat(new(big.Rat).SetFloat64(0.375))), "3.64156073565995345822033828196774423204537442")
	holds("series", ar.series(new(big.Rat).SetFloat64(1.0), new(big.Rat).SetFloat64(1.5),
		ar.rat(new(big.Rat).SetFloat64(0.75))), "2.418399152312290467458771010189540976378755")
	holds("series", ar.series(new(big.Rat).SetFloat64(20.25), new(big.Rat).SetFloat64(3.5),
		ar.rat(new(big.Rat).SetFloat64(0.6))), "93842.0134969014975060884922100894160169573825")
	// With num = den and x = 1/2 every term is exact and the sum is 2: only the tail can reach it. x = 3/4 rounds as well.
	for _, bits := range []uint{24, 53, 200} {
		for _, x := range []*big.Rat{big.NewRat(1, 2), big.NewRat(3, 4)} {
			v := arith{bits}.series(big.NewRat(3, 1), big.NewRat(3, 1), arith{bits}.rat(x))
			want := new(big.Rat).Inv(new(big.Rat).Sub(big.NewRat(1, 1), x))
			low, _ := v.lo.Rat(nil)
			high, _ := v.hi.Rat(nil)
			if low.Cmp(want) > 0 || high.Cmp(want) < 0 {
				t.Errorf("geometric series of %v at %d bits: [%v, %v]", x, bits, v.lo, v.hi)
			}
		}
	}
	// A bound that Sqrt rounds to the wrong side would be moved: the square of each must lie outside.
	for n := int64(2); n < 2000; n++ {
		x := ar.ratio(n, 7)
		v := ar.sqrt(x)
		low, _ := v.lo.Rat(nil)
		high, _ := v.hi.Rat(nil)
		r := big.NewRat(n, 7)
		if low.Mul(low, low).Cmp(r) > 0 || high.Mul(high, high).Cmp(r) < 0 {
			t.Fatalf("sqrt(%d/7)", n)
		}
	}
}

// TestVerifyFarBounds: a bound near 1 is decided at once, whichever end it is, though no series at it would end in our
// lifetime.
func TestVerifyFarBounds(t *testing.T) {
	near := new(big.Rat).Sub(big.NewRat(1, 1), new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 90)))
	for _, d := range []int{1, 3, 10, 1001} {
		b, err := Enclose(d, 1.5, 2, 30)
		if err != nil {
			t.Fatal(err)
		}
		if err := (Bounds{b.Lower, near}).Verify(d, 1.5, 2); err != nil {
			t.Errorf("d = %d: a true upper bound near 1: %v", d, err)
		}
		nearer := new(big.Rat).Add(near, new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 91)))
		if err := (Bounds{near, nearer}).Verify(d, 1.5, 2); !errors.Is(err, ErrBounds) {
			t.Errorf("d = %d: a lower bound near 1: %v", d, err)
		}
	}
}
