package sphere

import (
	"errors"
	"math"
	"math/big"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/wpmerr"
)

// vector is a row of the golden files.
type vector struct {
	D      int `json:"d"`
	P, Eps float64
	V      [8]string `json:"v"`
}

type vectors struct {
	What, How string
	Rows      []vector
}

// promise is the relative accuracy that Solve promises.
const promise = 1e-13

// usual is what it keeps on the golden rows: a few roundings. A step back from it is worth knowing long before the
// promise breaks.
const usual = 6e-15

var goldenFiles = []string{"testdata/golden.json", "testdata/reference.json"}

func (m Measure) fields() [8]float64 {
	return [8]float64{m.T, m.Omt, m.Alpha, m.S, m.J, m.W, m.Pin, m.Pout}
}

// scale is the unit of the error of T.
func scale(t float64, d int, p float64) float64 {
	return max(math.Abs(t), 1/math.Sqrt(float64(d)+p))
}

// errorsOf returns the relative errors of m against the vector, t on its own scale.
func (v vector) errorsOf(t testing.TB, m Measure) [8]float64 {
	t.Helper()
	var out [8]float64
	for i, got := range m.fields() {
		want := numtest.ParseRat(t, v.V[i])
		unit, _ := want.Float64()
		if i == 0 {
			unit = scale(unit, v.D, v.P)
		}
		g := new(big.Rat).SetFloat64(got)
		if g == nil {
			out[i] = math.Inf(1)
			continue
		}
		d, _ := g.Sub(g, want).Float64()
		out[i] = math.Abs(d / unit)
	}
	return out
}

// TestGolden compares with 442 vectors of 20 and 40 digits.
func TestGolden(t *testing.T) {
	for _, path := range goldenFiles {
		var g vectors
		numtest.LoadJSON(t, path, &g)
		var worst [8]float64
		steps := map[int]int{}
		for _, v := range g.Rows {
			pr := newProblem(v.D, v.P, v.Eps)
			m, n, err := pr.solve()
			if err != nil {
				t.Errorf("d=%d p=%v eps=%v: %v", v.D, v.P, v.Eps, err)
				continue
			}
			if n > 5 {
				t.Errorf("d=%d p=%v eps=%v: %d evaluations, more than the package comment says", v.D, v.P, v.Eps, n)
			}
			steps[n]++
			for i, e := range v.errorsOf(t, m) {
				worst[i] = max(worst[i], e)
				if !(e <= usual) {
					t.Errorf("d=%d p=%v eps=%v: field %d: relative error %.3g, promised %v, usually %v", v.D, v.P, v.Eps, i, e,
						promise, usual)
				}
			}
		}
		t.Logf("%s: %d rows, worst %.2g, evaluations %v", path, len(g.Rows), worst, steps)
	}
}

// TestAudit holds the 18-digit values that the audit of the paper lists: t, alpha, W.
func TestAudit(t *testing.T) {
	tol := numtest.Tol{Rel: 1e-15 * 4, Why: "four roundings"}
	for _, c := range []struct {
		d                int
		p, eps, t, al, w float64
	}{
		{1, 1, 1, 0.504072899479340149, 1.05001732756692059, 0.995918772310934855},
		{1, 2, 1, 0.308287129904806492, 0.976885465951441573, 1.17619120052412695},
		{2, 1, 1, 0.363939435557536482, 1.06612213827033489, 1.127883473096812},
		{2, 2, 5, 0.848283639957512898, 1, 0.550847274736813239},
		{3, 2, 2, 0.399605555160524798, 1.04008047811104907, 1.09580513307747852},
		{10, 2, 2, 0.238970390669977379, 1.10871232852340609, 1.23371764138316724},
		{127, 2, 4, 0.13362312195679046, 1.63689239898329423, 1.31634104854570994},
		{1000, 2, 5, 0.058457839111980634, 2.12115998333131289, 1.37225519557261605},
	} {
		m, err := Solve(c.d, c.p, c.eps)
		if err != nil {
			t.Fatal(err)
		}
		numtest.Near(t, "t", m.T, c.t, tol)
		numtest.Near(t, "alpha", m.Alpha, c.al, tol)
		numtest.Near(t, "W", m.W, c.w, tol)
	}
}

func TestErrors(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		name   string
		d      int
		p, eps float64
		want   error
	}{
		{"d = 0: the paper's C_0 is 0", 0, 2, 1, ErrDimension},
		{"negative d", -3, 2, 1, ErrDimension},
		{"d above", MaxDimension + 1, 2, 1, ErrDimension},
		{"largest int", math.MaxInt, 2, 1, ErrDimension},
		{"p below", 3, math.Nextafter(MinExponent, 0), 1, ErrExponent},
		{"p above", 3, math.Nextafter(MaxExponent, 13), 1, ErrExponent},
		{"p NaN", 3, nan, 1, ErrExponent},
		{"p Inf", 3, inf, 1, ErrExponent},
		{"eps 0", 3, 2, 0, wpmerr.ErrEpsilon},
		{"eps below", 3, 2, math.Nextafter(MinEpsilon, 0), wpmerr.ErrEpsilon},
		{"eps above", 3, 2, math.Nextafter(MaxEpsilon, 701), wpmerr.ErrEpsilon},
		{"eps negative", 3, 2, -1, wpmerr.ErrEpsilon},
		{"eps NaN", 3, 2, nan, wpmerr.ErrEpsilon},
		{"eps Inf", 3, 2, inf, wpmerr.ErrEpsilon},
		{"1-t = 5e-405", 1, 0.5, 700, ErrUnderflow}, // mpmath
	} {
		t.Run(c.name, func(t *testing.T) {
			if m, err := Solve(c.d, c.p, c.eps); !errors.Is(err, c.want) || m != (Measure{}) {
				t.Errorf("%s: Solve = %v, %v, want %v", c.name, m, err, c.want)
			}
			if _, err := Paper(c.d, c.p, c.eps); !errors.Is(err, c.want) && c.want != ErrUnderflow {
				t.Errorf("%s: Paper: %v, want %v", c.name, err, c.want)
			}
			if _, err := Enclose(c.d, c.p, c.eps, 0); !errors.Is(err, c.want) {
				t.Errorf("%s: Enclose: %v, want %v", c.name, err, c.want)
			}
		})
	}
}

// TestUnderflow walks up to the end of the domain at d = 1, p = 0.5: an answer as long as 1-t is a normal number, then
// ErrUnderflow.
func TestUnderflow(t *testing.T) {
	seen := false
	for eps := 525.0; eps < 540; eps += 0.25 {
		m, err := Solve(1, 0.5, eps)
		switch {
		case err == nil && seen:
			t.Fatalf("eps = %v: an answer after an underflow", eps)
		case err == nil && !(m.Omt >= 0x1p-1022):
			t.Fatalf("eps = %v: 1-t = %v", eps, m.Omt)
		case err != nil && !errors.Is(err, ErrUnderflow):
			t.Fatalf("eps = %v: %v", eps, err)
		case err != nil && !seen:
			seen = true
			if last, err := Solve(1, 0.5, eps-0.25); err != nil || last.Omt > 0x1p-1020 {
				t.Errorf("the underflow comes early: 1-t = %v just before it", last.Omt)
			}
		}
	}
	if !seen {
		t.Error("no underflow up to eps = 540")
	}
}

// TestRandom solves 100 000 random problems (5 000 with -short): finite fields in their ranges that agree with each
// other, and a residual of the equation, on another rule of 64 nodes from gonum, of the size of rounding.
func TestRandom(t *testing.T) {
	cases := 100_000
	if !numtest.Full() {
		cases = 5000
	}
	other := gonumRule(64)
	g := numtest.NewSplitMix64(7)
	// residualTol: the integrals of the other rule, the rounding of t (1e-16 of t, times d log(E K)/d log t, up to a t^2 =
	// 700), and Solve's own error.
	const residualTol = 1e-12
	underflows, most := 0, 0
	worst := 0.0
	for range cases {
		d := int(math.Pow(10, 7*g.Float64()))
		p := MinExponent + (MaxExponent-MinExponent)*g.Float64()
		if g.Intn(3) == 0 {
			p = float64(1 + g.Intn(12))
		}
		eps := MaxEpsilon * g.Float64()
		if g.Intn(2) == 0 {
			eps = math.Pow(10, -12+14.8*g.Float64())
		}
		pr := newProblem(d, p, eps)
		m, n, err := pr.solve()
		if errors.Is(err, ErrUnderflow) {
			underflows++
			if !(eps > 250*(float64(d)+p)) {
				t.Errorf("d=%d p=%v eps=%v: %v", d, p, eps, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("d=%d p=%v eps=%v: %v", d, p, eps, err)
		}
		most = max(most, n)
		for i, v := range m.fields() {
			if math.IsNaN(v) || math.IsInf(v, 0) || i > 0 && !(v > 0) {
				t.Fatalf("d=%d p=%v eps=%v: field %d = %v", d, p, eps, i, v)
			}
		}
		if !(m.T > -1 && m.T <= 1 && m.S < 1 && m.Pin <= 1 && m.Pout <= 1 && m.W < 2) {
			t.Fatalf("d=%d p=%v eps=%v: %+v", d, p, eps, m)
		}
		pt := pr.at(zeta(m.T, m.Omt), other)
		ep := pr.e * pt.pre
		residual := math.Abs(ep*pt.k*pt.v-pt.r) / (pr.q * (pt.v + pt.v*ep*pt.s)) // the error of lambda
		residual *= 1 + ep*pt.f/(1+ep*pt.s)                                      // in units of its scale
		worst = max(worst, residual)
		if !(residual <= residualTol) {
			t.Errorf("d=%d p=%v eps=%v: residual %.3g", d, p, eps, residual)
		}
	}
	t.Logf("%d problems, %d underflows, at most %d evaluations, largest residual %.2g", cases, underflows, most, worst)
	if most > 5 {
		t.Errorf("%d evaluations, more than the package comment says", most)
	}
}

func gonumRule(n int) rule {
	x, w := make([]float64, n), make([]float64, n)
	quad.Legendre{}.FixedLocations(x, w, 0, 1)
	r := make(rule, n)
	for i := range r {
		r[n-1-i].x, r[n-1-i].w = x[i], w[i]
	}
	return r
}

// TestNodes holds the tables of nodes against gonum's, and against the integrals of x^k, which a rule of n nodes has
// exactly for k < 2n.
func TestNodes(t *testing.T) {
	nodeTol := numtest.Tol{Abs: 2e-16, Rel: 4e-15, Why: "gonum's weights are good to some ulps"}
	powerTol := numtest.Tol{Rel: 1e-14, Why: "the k-th power of a rounded node, k < 80"}
	for _, r := range []rule{coarse, fine} {
		for i, want := range gonumRule(len(r)) {
			numtest.Near(t, "node", r[i].x, want.x, nodeTol)
			numtest.Near(t, "weight", r[i].w, want.w, nodeTol)
		}
		for k := range 2 * len(r) {
			sum := 0.0
			for _, nd := range r {
				sum += nd.w * math.Pow(nd.x, float64(k))
			}
			numtest.Near(t, "integral of a power", sum, 1/float64(k+1), powerTol)
		}
	}
}

// TestConstants compares the Gamma quotients with mpmath at 30 digits.
func TestConstants(t *testing.T) {
	tol := numtest.Tol{Rel: 2e-15, Why: "a dozen roundings"}
	for _, c := range []struct {
		d               int
		q               float64
		moment, density string
	}{
		{1, 0.25, "-0.09292066220585092114953595", "0.3183098861837906715377675"},
		{1, 0.5, "-0.09968368384289393044480081", "0.3183098861837906715377675"},
		{1, 1.0, "0.0", "0.3183098861837906715377675"},
		{1, 1.375, "0.1414978283906258003230558", "0.3183098861837906715377675"},
		{1, 2.0, "0.5", "0.3183098861837906715377675"},
		{1, 3.5, "2.292585384803130768659014", "0.3183098861837906715377675"},
		{1, 6.0, "13.4375", "0.3183098861837906715377675"},
		{2, 0.25, "-0.04863430799782314662600002", "0.5"},
		{2, 0.5, "-0.05719095841793663413220752", "0.5"},
		{2, 1.0, "0.0", "0.5"},
		{2, 1.375, "0.09207541444295550815474031", "0.5"},
		{2, 2.0, "0.3333333333333333333333333", "0.5"},
		{2, 3.5, "1.514157444218835642314113", "0.5"},
		{2, 6.0, "8.142857142857142857142857", "0.5"},
		{3, 0.25, "-0.03244870635290764922617168", "0.6366197723675813430755351"},
		{3, 0.5, "-0.03966259609908685914112086", "0.6366197723675813430755351"},
		{3, 1.0, "0.0", "0.6366197723675813430755351"},
		{3, 1.375, "0.0680681435233925617057832", "0.6366197723675813430755351"},
		{3, 2.0, "0.25", "0.6366197723675813430755351"},
		{3, 3.5, "1.128540046741417870648252", "0.6366197723675813430755351"},
		{3, 6.0, "5.703125", "0.6366197723675813430755351"},
		{7, 0.25, "-0.01371060890128070234240704", "1.018591635788130148920856"},
		{7, 0.5, "-0.01759690150396098277773003", "1.018591635788130148920856"},
		{7, 1.0, "0.0", "1.018591635788130148920856"},
		{7, 1.375, "0.03319194364302599180814073", "1.018591635788130148920856"},
		{7, 2.0, "0.125", "1.018591635788130148920856"},
		{7, 3.5, "0.5572457784209658725009357", "1.018591635788130148920856"},
		{7, 6.0, "2.453125", "1.018591635788130148920856"},
		{63, 0.25, "-0.001492801886652082287534144", "3.153966107509388868559433"},
		{63, 0.5, "-0.00198201443712553663735002", "3.153966107509388868559433"},
		{63, 1.0, "0.0", "3.153966107509388868559433"},
		{63, 1.375, "0.004044197049576488721175948", "3.153966107509388868559433"},
		{63, 2.0, "0.015625", "3.153966107509388868559433"},
		{63, 3.5, "0.0685539405414029823712466", "3.153966107509388868559433"},
		{63, 6.0, "0.2450806316844919786096257", "3.153966107509388868559433"},
		{1023, 0.25, "-0.00009166040395687858940940922", "12.75680009908625255010871"},
		{1023, 0.5, "-0.0001221821394189244613648596", "12.75680009908625255010871"},
		{1023, 1.0, "0.0", "12.75680009908625255010871"},
		{1023, 1.375, "0.0002518324219831444687724619", "12.75680009908625255010871"},
		{1023, 2.0, "0.0009765625", "12.75680009908625255010871"},
		{1023, 3.5, "0.004273241818531029705402323", "12.75680009908625255010871"},
		{1023, 6.0, "0.01469128307695206726283933", "12.75680009908625255010871"},
		{65535, 0.25, "-0.00000143053773665709089224675", "102.1280550013530111446984"},
		{65535, 0.5, "-0.000001907375917913761585119661", "102.1280550013530111446984"},
		{65535, 1.0, "0.0", "102.1280550013530111446984"},
		{65535, 1.375, "0.000003933921796221167092352465", "102.1280550013530111446984"},
		{65535, 2.0, "0.0000152587890625", "102.1280550013530111446984"},
		{65535, 3.5, "0.00006675739313686064396644015", "102.1280550013530111446984"},
		{65535, 6.0, "0.0002288923130500157771826566", "102.1280550013530111446984"},
		{10000000, 0.25, "-9.37500019042966493224932e-9", "1261.56622947092389311108"},
		{10000000, 0.5, "-1.249999992187496386718795e-8", "1261.56622947092389311108"},
		{10000000, 1.0, "0.0", "1261.56622947092389311108"},
		{10000000, 1.375, "2.578124807647715056872332e-8", "1261.56622947092389311108"},
		{10000000, 2.0, "9.99999900000009999999e-8", "1261.56622947092389311108"},
		{10000000, 3.5, "0.0000004374999644531261962896103", "1261.56622947092389311108"},
		{10000000, 6.0, "0.0000015000002999998500000435", "1261.56622947092389311108"},
	} {
		want, _ := numtest.ParseRat(t, c.moment).Float64()
		momentTol := numtest.Tol{Abs: 4e-15 * (1 + want), Why: "a product of at most 16 rounded factors"}
		if c.d >= 32 { // no factors: every part is of the size of q^2/d
			momentTol = numtest.Tol{Abs: 1e-15 * c.q * c.q / float64(c.d), Why: "a few roundings of numbers of this size"}
		}
		numtest.Near(t, "moment", moment(c.d, c.q), want, momentTol)
		want, _ = numtest.ParseRat(t, c.density).Float64()
		numtest.Near(t, "density", density(float64(c.d)/2), want, tol)
	}
}

// TestPower compares with exact integer powers and square roots, where math.Pow loses digits.
func TestPower(t *testing.T) {
	for _, x := range []float64{0x1p-1022, 1e-300, 3e-150, 0.1, 1, 1.75, 2, 3.999} {
		for q := 0.5; q <= 6; q += 0.5 {
			got := power(x, q)
			f := new(big.Float).SetPrec(200).SetFloat64(x)
			want := big.NewFloat(1).SetPrec(200)
			for range int(q) {
				want.Mul(want, f)
			}
			if q != math.Trunc(q) {
				want.Mul(want, new(big.Float).SetPrec(200).Sqrt(f))
			}
			w, _ := want.Float64()
			if w < 0x1p-1022 {
				continue // the result is subnormal: fewer digits exist
			}
			numtest.Near(t, "power", got, w, numtest.Tol{Rel: 2e-15, Why: "one exp of a number below 6"})
		}
	}
}

// TestSameBits: no state, no goroutine; the same bits at any GOMAXPROCS.
func TestSameBits(t *testing.T) {
	for _, eps := range []float64{1e-9, 1, 40, 600} {
		one, err := Solve(1023, 2.5, eps)
		if err != nil {
			t.Fatal(err)
		}
		old := runtime.GOMAXPROCS(1)
		two, err := Solve(1023, 2.5, eps)
		runtime.GOMAXPROCS(old)
		if err != nil {
			t.Fatal(err)
		}
		a, b := one.fields(), two.fields()
		numtest.SameBits(t, "fields", a[:], b[:])
	}
}

func TestNoAllocation(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() {
		if _, err := Solve(63, 2.5, 4); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestPaperRange holds the range of validity that Paper states, on a grid.
func TestPaperRange(t *testing.T) {
	for _, c := range []struct {
		dims   []int
		maxEps float64
		w, s   numtest.Tol
	}{
		{[]int{1}, 16, numtest.Tol{Rel: 1e-2, Why: "stated"}, numtest.Tol{Rel: 1e-2, Why: "stated"}},
		{[]int{2, 3}, 32, numtest.Tol{Rel: 1e-6, Why: "stated"}, numtest.Tol{Rel: 1e-6, Why: "stated"}},
		{[]int{4, 5, 6, 7, 12, 63, 255, MaxPaperDimension}, 32, numtest.Tol{Rel: 1e-11, Why: "stated"},
			numtest.Tol{Rel: 1e-10, Why: "stated"}},
	} {
		for n, d := range c.dims {
			if n%2 == 0 && n > 0 && !numtest.Full() {
				continue
			}
			for _, p := range []float64{1, 2, 3.5, 12} {
				for _, eps := range []float64{1e-6, 1, 16, 32, 0.1, 4}[:numtest.Cases(4, 6)] {
					if eps > c.maxEps {
						continue
					}
					want, err := Solve(d, p, eps)
					if err != nil {
						t.Fatal(err)
					}
					got, err := Paper(d, p, eps)
					if err != nil {
						t.Fatalf("d=%d p=%v eps=%v: %v", d, p, eps, err)
					}
					numtest.Near(t, "W", got.W, want.W, c.w)
					numtest.Near(t, "alpha", got.Alpha, want.Alpha, c.s)
					numtest.Near(t, "S", got.S, want.S, c.s)
				}
			}
		}
	}
	if _, err := Paper(MaxPaperDimension+1, 2, 1); !errors.Is(err, ErrDimension) {
		t.Errorf("above MaxPaperDimension: %v", err)
	}
	if _, err := Paper(3, 0.75, 1); !errors.Is(err, ErrExponent) {
		t.Errorf("p < 1: %v", err)
	}
}
