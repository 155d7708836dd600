package baseline_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/baseline"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/wpmerr"
)

// tb is what testing.T and rapid.T have in common.
type tb interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

func near(t tb, what string, got, want float64, tol numtest.Tol) {
	t.Helper()
	if !tol.Close(got, want) {
		t.Errorf("%s = %v, want %v, tolerance %v", what, got, want, tol)
	}
}

func nearRat(t tb, what string, got float64, want *big.Rat, tol numtest.Tol) {
	t.Helper()
	w, _ := want.Float64()
	d, _ := new(big.Rat).Sub(num.Rat(got), want).Float64()
	if !(math.Abs(d) <= tol.Abs+tol.Rel*math.Abs(w)) {
		t.Errorf("%s = %v, want %v, tolerance %v", what, got, w, tol)
	}
}

// expRat is e^x to an absolute 2^-500 or so: a plain Taylor series in integers.
func expRat(x float64) *big.Rat {
	const places = 512
	y := num.Rat(x)
	one := new(big.Int).Lsh(big.NewInt(1), places)
	sum, term := new(big.Int).Set(one), new(big.Int).Set(one)
	for n := int64(1); term.Sign() > 0; n++ {
		term.Mul(term, y.Num())
		term.Quo(term, new(big.Int).Mul(y.Denom(), big.NewInt(n)))
		sum.Add(sum, term)
	}
	return new(big.Rat).SetFrac(sum, one)
}

// kpm is the rule in rational arithmetic, by trying every n.
func kpm(t tb, mu []float64, eps float64) (q []*big.Rat, r *big.Rat) {
	t.Helper()
	k, total := len(mu), new(big.Rat)
	for _, x := range mu {
		total.Add(total, num.Rat(x))
	}
	sorted := slices.Clone(mu)
	slices.Sort(sorted)
	slices.Reverse(sorted)
	a := expRat(eps)
	a.Add(a, big.NewRat(int64(k)-1, 1)).Inv(a)
	top := new(big.Rat)
	for n := 1; n <= k; n++ {
		top.Add(top, new(big.Rat).Quo(num.Rat(sorted[n-1]), total))
		r := new(big.Rat).Mul(a, big.NewRat(int64(n-k), 1))
		r.Add(r, big.NewRat(1, 1))
		if r.Sign() <= 0 {
			continue
		}
		r.Quo(top, r)
		sum := new(big.Rat)
		q = q[:0]
		for _, x := range mu {
			v := num.Rat(x)
			v.Quo(v, total).Quo(v, r)
			if v.Cmp(a) < 0 {
				v = new(big.Rat).Set(a)
			}
			q = append(q, v)
			sum.Add(sum, v)
		}
		if d := sum.Sub(sum, big.NewRat(1, 1)); d.Abs(d).Cmp(big.NewRat(1, 1<<62)) < 0 {
			return q, r
		}
	}
	t.Fatalf("no n gives a distribution for mu = %v, eps = %v", mu, eps)
	return nil, nil
}

// rounded is the accuracy that the package promises for each entry.
var rounded = numtest.Tol{Rel: 0x1p-50, Why: "a few roundings"}

// checkSum holds q to the mass that the package promises.
func checkSum(t tb, q []float64) {
	t.Helper()
	sum := new(big.Rat)
	for _, x := range q {
		if !(x >= 0 && x <= 1) {
			t.Fatalf("q = %v", q)
		}
		sum.Add(sum, num.Rat(x))
	}
	d := sum.Sub(sum, big.NewRat(1, 1))
	if d.Abs(d).Cmp(big.NewRat(int64(len(q)), 1<<52)) > 0 {
		f, _ := d.Float64()
		t.Errorf("sum q is %v away from 1, want at most %d * 2^-52", f, len(q))
	}
}

func checkKPM(t tb, mu []float64, eps float64) {
	t.Helper()
	before := slices.Clone(mu)
	q, r, err := baseline.KPM(mu, eps)
	if err != nil {
		t.Fatalf("KPM(%v, %v): %v", mu, eps, err)
	}
	if !slices.Equal(mu, before) {
		t.Errorf("mu was changed")
	}
	checkSum(t, q)
	if !(r >= 1) {
		t.Errorf("r = %v", r)
	}
	if err := baseline.KPMVerify(mu, eps, q, r); err != nil {
		t.Errorf("KPMVerify: %v", err)
	}
	if eps == 0 {
		for _, x := range q {
			if x != 1/float64(len(mu)) {
				t.Errorf("q = %v at eps = 0", q)
			}
		}
		return
	}
	want, wantR := kpm(t, mu, eps)
	nearRat(t, "r", r, wantR, rounded)
	a := expRat(eps)
	a.Add(a, big.NewRat(int64(len(mu))-1, 1)).Inv(a)
	for j := range q {
		nearRat(t, fmt.Sprintf("q[%d]", j), q[j], want[j], rounded)
		if num.Rat(q[j]).Cmp(a) < 0 {
			t.Errorf("q[%d] = %v is below 1/(e^eps + k - 1)", j, q[j])
		}
	}
}

func TestKPM(t *testing.T) {
	inputs := map[string][]float64{
		"one point":      {1},
		"dirac":          {0, 1, 0, 0},
		"uniform":        {0.25, 0.25, 0.25, 0.25},
		"two of four":    {0.5, 0, 0.5, 0},
		"ties":           {0.3, 0.3, 0.2, 0.2},
		"three levels":   {0.9, 0.09, 0.01},
		"near a tie":     {0.5, 0.25, 0.25 + 0x1p-40, 0.25 * (1 - 0x1p-38)},
		"subnormal mass": {1, 5e-324, 1e-310},
		"minus zero":     {1, math.Copysign(0, -1)},
		"inexact mass":   {0.5, 0.5 + 9e-10},
		"geometric":      {0.5, 0.25, 0.125, 0.0625, 0.0625},
	}
	// The near tie sums to a little less than 1.25: bring it to 1.
	for j := range inputs["near a tie"] {
		inputs["near a tie"][j] /= 1.25
	}
	for name, mu := range inputs {
		for _, eps := range []float64{0, 5e-324, 1e-300, 1e-16, 1e-9, 0.1, math.Ln2, 1, 5, 40, 700} {
			t.Run(fmt.Sprintf("%s/eps=%v", name, eps), func(t *testing.T) { checkKPM(t, mu, eps) })
		}
	}
}

func TestKPMByHand(t *testing.T) {
	// E = 3, k = 3: a = 1/5. mu = (0.8, 0.2, 0): n = 1 gives r = 0.8/(1 - 2/5) = 4/3, and 0.2/r = 0.15 < a.
	q, r, err := baseline.KPM([]float64{0.8, 0.2, 0}, math.Log(3))
	if err != nil {
		t.Fatal(err)
	}
	numtest.Near(t, "r", r, 4.0/3, rounded)
	numtest.NearSlice(t, "q", q, []float64{0.6, 0.2, 0.2}, rounded)
	// mu = (0.6, 0.4, 0): n = 2, r = 1/(1 - 1/5).
	q, r, err = baseline.KPM([]float64{0.6, 0.4, 0}, math.Log(3))
	if err != nil {
		t.Fatal(err)
	}
	numtest.Near(t, "r", r, 1.25, rounded)
	numtest.NearSlice(t, "q", q, []float64{0.48, 0.32, 0.2}, rounded)
	// eps = 0: the convention for r is k max mu.
	if _, r, err = baseline.KPM([]float64{0.6, 0.4, 0}, 0); err != nil {
		t.Fatal(err)
	}
	numtest.Near(t, "r at eps = 0", r, 1.8, rounded)
	if m := baseline.KPMBase(3, math.Log(9)); !rounded.Close(m, 3.0/11) {
		t.Errorf("KPMBase = %v, want 3/11", m)
	}
}

func TestKPMVerify(t *testing.T) {
	mu := []float64{0.5, 0.3, 0.15, 0.05}
	const eps = 1
	good, r, err := baseline.KPM(mu, eps)
	if err != nil {
		t.Fatal(err)
	}
	change := func(f func(q []float64)) []float64 {
		q := slices.Clone(good)
		f(q)
		return q
	}
	for name, q := range map[string][]float64{
		"short":          good[:3],
		"NaN":            change(func(q []float64) { q[0] = math.NaN() }),
		"infinity":       change(func(q []float64) { q[0] = math.Inf(1) }),
		"swapped":        change(func(q []float64) { q[0], q[1] = q[1], q[0] }),
		"sum":            change(func(q []float64) { q[0] += 1e-14 }),
		"moved":          change(func(q []float64) { q[0] += 1e-14; q[1] -= 1e-14 }),
		"below floor":    change(func(q []float64) { q[3] *= 1 - 0x1p-51 }),
		"mu itself":      mu,
		"uniform output": {0.25, 0.25, 0.25, 0.25},
	} {
		t.Run(name, func(t *testing.T) {
			if err := baseline.KPMVerify(mu, eps, q, r); !errors.Is(err, wpmerr.ErrCertificate) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	for _, bad := range []float64{0, r * (1 + 1e-14), math.NaN(), math.Inf(1), -r} {
		if err := baseline.KPMVerify(mu, eps, good, bad); !errors.Is(err, wpmerr.ErrCertificate) {
			t.Errorf("r = %v: %v", bad, err)
		}
	}
	if err := baseline.KPMVerify(mu, eps+1e-12, good, r); !errors.Is(err, wpmerr.ErrCertificate) {
		t.Errorf("another eps: %v", err)
	}
	if err := baseline.KPMVerify([]float64{0.5}, eps, good, r); !errors.Is(err, wpmerr.ErrMass) {
		t.Errorf("bad mu: %v", err)
	}
	if err := baseline.KPMVerify(mu, -1, good, r); !errors.Is(err, wpmerr.ErrEpsilon) {
		t.Errorf("bad eps: %v", err)
	}
}

func TestKPMScaled(t *testing.T) {
	mu := []float64{0.5, 0.3, 0.2, 0}
	eps := math.Log(4) // alpha = 1/2, beta = 2
	for _, test := range []struct {
		name string
		mu   []float64
		mass float64
		q    []float64
	}{
		// Box [1/8, 1/2]: 1/8 for the last, 7/8 of the rest in proportion.
		{"mass 1", mu, 1, []float64{0.4375, 0.2625, 0.175, 0.125}},
		{"largest mass: a point", mu, 2, []float64{0.25, 0.25, 0.25, 0.25}},
		{"smallest mass: a point", mu, 0.5, []float64{0.25, 0.25, 0.25, 0.25}},
		{"mass out of range by rounding", mu, 2 * (1 + 1e-13), []float64{0.25, 0.25, 0.25, 0.25}},
		// Box [0.075, 0.3]: the dirac is full and cannot give its neighbours their order.
		{"more than the points of mu take", []float64{0, 1, 0, 0}, 0.6, []float64{0.7 / 3, 0.3, 0.7 / 3, 0.7 / 3}},
		{"the smallest mass comes before none", []float64{5e-324, 1, 0, 0}, 0.6, []float64{0.3, 0.3, 0.2, 0.2}},
		// Box [0.1, 0.4]: 0.4 and 0.1 are clamped, 0.3 and 0.2 are free.
		{"both ends", []float64{0.9, 0.06, 0.04, 0}, 0.8, []float64{0.4, 0.3, 0.2, 0.1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			q, err := baseline.KPMScaled(test.mu, eps, test.mass)
			if err != nil {
				t.Fatal(err)
			}
			checkSum(t, q)
			numtest.NearSlice(t, "q", q, test.q, rounded)
		})
	}
	for _, mass := range []float64{0, -1, 0.49, 2.01} {
		if _, err := baseline.KPMScaled(mu, eps, mass); !errors.Is(err, wpmerr.ErrInfeasible) {
			t.Errorf("mass %v: %v", mass, err)
		}
	}
	for _, mass := range []float64{math.NaN(), math.Inf(1)} {
		if _, err := baseline.KPMScaled(mu, eps, mass); !errors.Is(err, wpmerr.ErrNotFinite) {
			t.Errorf("mass %v: %v", mass, err)
		}
	}
}

// exponential is the law of the exponential mechanism for one user.
func exponential(c cost.Matrix, mu []float64, eps float64) ([]float64, error) {
	e, err := baseline.NewExponential(context.Background(), c, eps)
	if err != nil {
		return nil, err
	}
	return e.Law(mu, nil)
}

func TestExponential(t *testing.T) {
	c := &cost.Dense{K: 2, Kv: 3, Data: []float64{0, 1, 2, 2, 1, 0}} // Delta = 2
	mu := []float64{0.75, 0.25}                                      // u = (0.5, 1, 1.5)
	q, err := exponential(c, mu, 4*math.Ln2)                         // weights 2^(-u)
	if err != nil {
		t.Fatal(err)
	}
	h := math.Sqrt2 / 2
	numtest.NearSlice(t, "q", q, []float64{h / (h + 0.5 + h/2), 0.5 / (h + 0.5 + h/2), h / 2 / (h + 0.5 + h/2)}, rounded)
	checkSum(t, q)

	// An offset of the whole cost, or of a row, changes nothing.
	shifted := &cost.Dense{K: 2, Kv: 3, Data: []float64{1e6, 1e6 + 1, 1e6 + 2, 1e6 + 2, 1e6 + 1, 1e6}}
	q2, err := exponential(shifted, mu, 4*math.Ln2)
	if err != nil {
		t.Fatal(err)
	}
	numtest.NearSlice(t, "shifted", q2, q, rounded)
	odd := []float64{0.7, 0.3} // whose products with the offset round
	plain, err := exponential(c, odd, 40)
	if err != nil {
		t.Fatal(err)
	}
	if q2, err = exponential(shifted, odd, 40); err != nil {
		t.Fatal(err)
	}
	numtest.NearSlice(t, "shifted", q2, plain, numtest.Tol{Rel: 1e-14, Why: "exp of up to 40"})

	third := []float64{1.0 / 3, 1.0 / 3, 1.0 / 3}
	for name, test := range map[string]struct {
		c   *cost.Dense
		eps float64
	}{
		"eps = 0":               {c, 0},
		"Delta = 0":             {&cost.Dense{K: 2, Kv: 3, Data: []float64{1, 5, 2, 1, 5, 2}}, 1},
		"overflow, but eps = 0": {&cost.Dense{K: 2, Kv: 3, Data: []float64{0, 1e308, 0, 1e-9, 1e308, 0}}, 0},
		// and the exponents below 1e-15
		"half of eps is 0": {&cost.Dense{K: 2, Kv: 3, Data: []float64{0, 1e306, 0, 1e-2, 1e306, 0}}, 5e-324},
	} {
		t.Run(name, func(t *testing.T) {
			q, err := exponential(test.c, mu, test.eps)
			if err != nil {
				t.Fatal(err)
			}
			numtest.NearSlice(t, name, q, third, rounded)
		})
	}
	// A tiny eps against a tiny Delta: 1e-320 * 1 / (2e-320).
	q, err = exponential(&cost.Dense{K: 2, Kv: 2, Data: []float64{0, 1, 1e-320, 1}}, []float64{1, 0}, 1e-320)
	if err != nil {
		t.Fatal(err)
	}
	numtest.NearSlice(t, "tiny", q, []float64{1 / (1 + math.Exp(-0.5)), 1 / (1 + math.Exp(0.5))}, rounded)
	// The largest cost beside the smallest Delta.
	q, err = exponential(&cost.Dense{K: 2, Kv: 2, Data: []float64{math.MaxFloat64, 5e-324, math.MaxFloat64, 0}},
		[]float64{1, 0}, 1.5)
	if err != nil {
		t.Fatal(err)
	}
	numtest.NearSlice(t, "wide", q, []float64{0, 1}, rounded)
	// Far outputs that cannot be reached in float64 get 0, not NaN.
	q, err = exponential(&cost.Dense{K: 2, Kv: 2, Data: []float64{0, 1e308, 1e-9, 1e308}}, mu, 700)
	if err != nil {
		t.Fatal(err)
	}
	numtest.NearSlice(t, "far", q, []float64{1, 0}, rounded)
}

func TestRandomizedResponse(t *testing.T) {
	q, err := baseline.RandomizedResponse([]float64{0.5, 0.5, 0}, math.Log(3))
	if err != nil {
		t.Fatal(err)
	}
	numtest.NearSlice(t, "q", q, []float64{0.4, 0.4, 0.2}, rounded)
}

// TestInexactMass: mu counts relative to its sum.
func TestInexactMass(t *testing.T) {
	c := &cost.Dense{K: 3, Kv: 3, Data: []float64{0, 1, 2, 1, 0, 1, 2, 1, 0}}
	mu := []float64{0.5, 0.3, 0.2}
	off := []float64{0.5 * (1 - 9e-10), 0.3 * (1 - 9e-10), 0.2 * (1 - 9e-10)}
	for name, rule := range map[string]func(mu []float64) ([]float64, error){
		"KPM":                func(mu []float64) ([]float64, error) { q, _, err := baseline.KPM(mu, 1); return q, err },
		"KPMScaled":          func(mu []float64) ([]float64, error) { return baseline.KPMScaled(mu, 1, 1) },
		"RandomizedResponse": func(mu []float64) ([]float64, error) { return baseline.RandomizedResponse(mu, 1) },
		"Exponential":        func(mu []float64) ([]float64, error) { return exponential(c, mu, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			want, err := rule(mu)
			if err != nil {
				t.Fatal(err)
			}
			q, err := rule(off)
			if err != nil {
				t.Fatal(err)
			}
			checkSum(t, q)
			numtest.NearSlice(t, name, q, want, numtest.Tol{Rel: 1e-14, Why: "the inputs are proportional up to rounding"})
		})
	}
}

// TestChannels checks the rules on Diracs entry by entry, and their worst cases.
func TestChannels(t *testing.T) {
	const k = 5
	ring, err := cost.NewRing(k, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, eps := range []float64{0, 0.5, 3, 700} {
		kpm, err := baseline.KPMChannel(k, eps)
		if err != nil {
			t.Fatal(err)
		}
		rr, err := baseline.RandomizedResponseChannel(k, eps)
		if err != nil {
			t.Fatal(err)
		}
		e, err := baseline.NewExponential(context.Background(), ring, eps)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := e.Channel(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		for i := range k {
			mu := make([]float64, k)
			mu[i] = 1
			q, _, err := baseline.KPM(mu, eps)
			if err != nil {
				t.Fatal(err)
			}
			numtest.SameBits(t, "KPM row", kpm[i], q)
			if q, err = baseline.RandomizedResponse(mu, eps); err != nil {
				t.Fatal(err)
			}
			numtest.SameBits(t, "randomised response row", rr[i], q)
			if q, err = e.Law(mu, nil); err != nil {
				t.Fatal(err)
			}
			numtest.SameBits(t, "exponential row", rows[i], q)
			checkSum(t, kpm[i])
		}
		f, _, err := baseline.WorstCase(context.Background(), ring, kpm)
		if err != nil {
			t.Fatal(err)
		}
		// Distances 0, 1, 1, 2, 2.
		numtest.Near(t, "worst case", f, 6/(math.Exp(eps)+k-1), numtest.Tol{Rel: 1e-14, Why: "a few roundings and math.Exp"})
	}
	f, i, err := baseline.WorstCase(context.Background(), &cost.Dense{K: 2, Kv: 2, Data: []float64{0, 1, 1, 0}},
		[][]float64{{1, 0}, {0.25, 0.75}})

	if err != nil || f != 0.25 || i != 1 {
		t.Errorf("WorstCase = %v, %d, %v", f, i, err)
	}
}

func TestGroups(t *testing.T) {
	g, err := baseline.NewGroups(4, [][]int{{0, 1}, {1, 2, 3}, {}})
	if err != nil {
		t.Fatal(err)
	}
	y, err := g.Collect([]float64{0.1, 0.4, 0.2, 0.3})
	if err != nil {
		t.Fatal(err)
	}
	numtest.NearSlice(t, "Collect", y, []float64{0.3, 0.7, 0}, rounded)
	x, err := g.Spread([]float64{0.4, 0.6, 0})
	if err != nil {
		t.Fatal(err)
	}
	numtest.NearSlice(t, "Spread", x, []float64{0.2, 0.4, 0.2, 0.2}, rounded)
	if g.Len() != 3 || (*baseline.Groups)(nil).Len() != 0 {
		t.Errorf("Len = %d", g.Len())
	}

	for name, err := range map[string]error{
		"empty group with mass": second(g.Spread([]float64{0, 0.5, 0.5})),
		"nil spread":            second((*baseline.Groups)(nil).Spread([]float64{1})),
		"nil collect":           second((*baseline.Groups)(nil).Collect([]float64{1})),
		"out of range":          second(baseline.NewGroups(2, [][]int{{0, 2}})),
		"negative":              second(baseline.NewGroups(2, [][]int{{-1}})),
		"twice":                 second(baseline.NewGroups(2, [][]int{{1, 0, 1}})),
	} {
		t.Run(name, func(t *testing.T) {
			if !errors.Is(err, baseline.ErrGroup) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	lonely, err := baseline.NewGroups(2, [][]int{{0}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lonely.Collect([]float64{0.5, 0.5}); !errors.Is(err, baseline.ErrGroup) {
		t.Errorf("item without a group: %v", err)
	}
	if _, err := lonely.Collect([]float64{1, 0}); err != nil {
		t.Errorf("item without a group or mass: %v", err)
	}
	if _, err := g.Collect([]float64{1}); !errors.Is(err, wpmerr.ErrShape) {
		t.Errorf("short: %v", err)
	}
	if _, err := g.Spread([]float64{1, math.NaN(), 0}); !errors.Is(err, wpmerr.ErrNotFinite) {
		t.Errorf("NaN: %v", err)
	}
	if _, err := baseline.NewGroups(0, nil); !errors.Is(err, wpmerr.ErrShape) {
		t.Errorf("no items: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

// TestInputs runs every rule on every bad input.
func TestInputs(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	c := &cost.Dense{K: 2, Kv: 2, Data: []float64{0, 1, 1, 0}}
	rules := map[string]func(mu []float64, eps float64) error{
		"KPM":                func(mu []float64, eps float64) error { _, _, err := baseline.KPM(mu, eps); return err },
		"KPMScaled":          func(mu []float64, eps float64) error { return second(baseline.KPMScaled(mu, eps, 1)) },
		"RandomizedResponse": func(mu []float64, eps float64) error { return second(baseline.RandomizedResponse(mu, eps)) },
		"Exponential":        func(mu []float64, eps float64) error { return second(exponential(c, mu, eps)) },
	}
	for _, test := range []struct {
		name string
		mu   []float64
		eps  float64
		want error
	}{
		{"nil", nil, 1, wpmerr.ErrShape},
		{"NaN", []float64{1, nan}, 1, wpmerr.ErrNotFinite},
		{"infinity", []float64{inf, 0}, 1, wpmerr.ErrNotFinite},
		{"negative", []float64{1.5, -0.5}, 1, wpmerr.ErrNegative},
		{"heavy", []float64{0.5, 0.5 + 2e-9}, 1, wpmerr.ErrMass},
		{"light", []float64{0.5, 0.5 - 2e-9}, 1, wpmerr.ErrMass},
		{"zero", []float64{0, 0}, 1, wpmerr.ErrMass},
		{"overflow", []float64{math.MaxFloat64, math.MaxFloat64}, 1, wpmerr.ErrMass},
		{"NaN eps", []float64{1, 0}, nan, wpmerr.ErrEpsilon},
		{"infinite eps", []float64{1, 0}, inf, wpmerr.ErrEpsilon},
		{"negative eps", []float64{1, 0}, -1e-300, wpmerr.ErrEpsilon},
		{"large eps", []float64{1, 0}, 701, wpmerr.ErrEpsilon},
	} {
		t.Run(test.name, func(t *testing.T) {
			for name, rule := range rules {
				if err := rule(test.mu, test.eps); !errors.Is(err, test.want) {
					t.Errorf("%s, %s: %v, want %v", name, test.name, err, test.want)
				}
			}
		})
	}
	if _, err := exponential(c, []float64{1}, 1); !errors.Is(err, wpmerr.ErrShape) {
		t.Errorf("Exponential, short mu: %v", err)
	}
	badCosts := map[cost.Matrix]error{
		nil:           wpmerr.ErrShape,
		&cost.Dense{}: wpmerr.ErrShape,
		&cost.Dense{K: 1, Kv: 1, Data: []float64{nan}}: wpmerr.ErrNotFinite,
		&cost.Dense{K: 1, Kv: 1, Data: []float64{-1}}:  wpmerr.ErrNegative,
	}
	for bad, want := range badCosts {
		for name, err := range map[string]error{
			"NewExponential": second(baseline.NewExponential(context.Background(), bad, 1)),
			"WorstCase":      func() error { _, _, err := baseline.WorstCase(context.Background(), bad, [][]float64{{1}}); return err }(),
		} {
			if !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", name, err, want)
			}
		}
	}
	for name, f := range map[string]func(k int, eps float64) error{
		"KPMMeasure": func(k int, eps float64) error { return second(baseline.KPMMeasure(k, eps)) },
		"KPMChannel": func(k int, eps float64) error { return second(baseline.KPMChannel(k, eps)) },
		"RandomizedResponseMeasure": func(k int, eps float64) error {
			return second(baseline.RandomizedResponseMeasure(k, eps))
		},
		"RandomizedResponseChannel": func(k int, eps float64) error {
			return second(baseline.RandomizedResponseChannel(k, eps))
		},
	} {
		t.Run(name, func(t *testing.T) {
			if err := f(0, 1); !errors.Is(err, wpmerr.ErrShape) {
				t.Errorf("%s(0, 1): %v", name, err)
			}
			if err := f(3, nan); !errors.Is(err, wpmerr.ErrEpsilon) {
				t.Errorf("%s(3, NaN): %v", name, err)
			}
		})
	}
	if _, err := baseline.NewExponential(context.Background(), c, -1); !errors.Is(err, wpmerr.ErrEpsilon) {
		t.Errorf("exponential: %v", err)
	}
	if !math.IsNaN(baseline.KPMBase(0, 1)) || !math.IsNaN(baseline.KPMBase(3, nan)) ||
		!math.IsNaN(baseline.KPMBase(3, 701)) {
		t.Error("KPMBase of bad input is not NaN")
	}
	if _, _, err := baseline.WorstCase(context.Background(), c, [][]float64{{1, 0}}); !errors.Is(err, wpmerr.ErrShape) {
		t.Errorf("WorstCase, one row: %v", err)
	}
	if _, _, err := baseline.WorstCase(context.Background(), c, [][]float64{{1, 0}, {1, 1}}); !errors.Is(err, wpmerr.ErrMass) {
		t.Errorf("WorstCase, heavy row: %v", err)
	}
}

// TestExponentialOverflow has costs whose compensated sum once overflowed into a NaN (found in review).
func TestExponentialOverflow(t *testing.T) {
	const huge = math.MaxFloat64
	c, err := cost.FromRows([][]float64{{0, huge, 0}, {0, huge, 1}})
	if err != nil {
		t.Fatal(err)
	}
	q, err := exponential(c, []float64{5.708329444203621e-17, 1}, 37)
	if err != nil {
		t.Fatal(err)
	}
	// Delta is 1: outputs 0 and 2 have mean costs 0 and 1 (up to 6e-17), output 1 has none to speak of.
	want := math.Exp(-37.0 / 2)
	if !(math.Abs(q[2]/q[0]-want) <= 1e-12*want) || q[1] != 0 {
		t.Errorf("q = %v", q)
	}
}
