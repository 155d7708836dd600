package exact_test

import (
	"errors"
	"math"
	"math/big"
	"testing"

	_ "github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/proptest"
	"github.com/wpm-go/wpm/proptest/exact"
	"pgregory.net/rapid"
)

// The oracles are tested against each other and against values known in closed form: a law is only as
// good as its second opinion.

func TestExpBounds(t *testing.T) {
	// 60 digits of e, and of e^50, from any table.
	for x, digits := range map[int64]string{
		1:  "2.71828182845904523536028747135266249775724709369995957496697",
		2:  "7.38905609893065022723042746057500781318031557055184732408713",
		50: "5184705528587072464087.45332293348538482746910058384640190405",
	} {
		lower, upper := exact.ExpBounds(big.NewRat(x, 1), 150)
		want, _ := new(big.Rat).SetString(digits)
		slack := exact.Mul(want, exact.Rat(0x1p-140))
		if lower.Cmp(exact.Add(want, slack)) > 0 || upper.Cmp(exact.Sub(want, slack)) < 0 ||
			exact.Sub(upper, lower).Cmp(slack) > 0 {
			t.Errorf("ExpBounds(%d) = [%s, %s], want around %s", x, lower.FloatString(50), upper.FloatString(50), digits)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		x := proptest.ExactEpsilon().Draw(t, "x")
		y := proptest.ExactEpsilon().Draw(t, "y")
		lx, ux := exact.ExpBounds(x, 100)
		ly, uy := exact.ExpBounds(y, 100)
		ls, us := exact.ExpBounds(exact.Add(x, y), 100)
		if lx.Cmp(ux) > 0 || exact.Mul(lx, ly).Cmp(us) > 0 || exact.Mul(ux, uy).Cmp(ls) < 0 {
			t.Fatalf("e^%v e^%v = e^(%v) is impossible", x, y, exact.Add(x, y))
		}
		if exact.Sub(ux, lx).Cmp(exact.Mul(lx, exact.Rat(0x1p-98))) > 0 {
			t.Fatalf("ExpBounds(%v, 100) is too wide", x)
		}
		// Independent of the series: the library's float.
		if f := math.Exp(exact.Float(x)); math.Abs(exact.Float(lx)-f) > 1e-13*f {
			t.Fatalf("ExpBounds(%v) = %v, math.Exp says %v", x, exact.Float(lx), f)
		}
	})
}

func TestExpo(t *testing.T) {
	e := exact.NewExpo(big.NewRat(1, 1))
	for _, c := range []struct {
		hi, lo uint64
		want   bool
	}{
		{0, 0, true}, {1, 0, false}, {2, 1, true}, {3, 1, false}, {271, 100, true}, {272, 100, false},
		// The convergents of e: 25946/9545 is below it, 49171/18089 above.
		{25946, 9545, true}, {49171, 18089, false},
		{1 << 62, 1 << 61, true}, {math.MaxUint64, 1 << 62, false}, {math.MaxUint64, 1 << 63, true},
	} {
		if got := e.Holds(c.hi, c.lo); got != c.want {
			t.Errorf("%d <= e %d: got %v, want %v", c.hi, c.lo, got, c.want)
		}
	}
	if got := e.Floor(9545, 1<<62); got != 25946 {
		t.Errorf("floor(e 9545) = %d, want 25946", got)
	}
	// So near to e^x that 96 bits do not decide: x = 1e-18, hi = lo + 1 at lo = 10^18 is just above.
	tiny := exact.NewExpo(big.NewRat(1, 1e18))
	if !tiny.Holds(1e18+1, 1e18) || tiny.Holds(1e18, 1e18-1) {
		t.Error("comparisons at eps = 1e-18 are wrong")
	}
}

// TestGreedyIsTheLP holds that the greedy fill is the value of the linear program: its dual, the largest cut,
// is the same number exactly.
func TestGreedyIsTheLP(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kv := proptest.Size(6).Draw(t, "kv")
		c := exact.Rats(proptest.Costs(1, kv).Draw(t, "C")[0])
		b := proptest.Boxes(kv).Draw(t, "box")
		l, h, err := exact.Box(b.Lo, b.Hi)
		if err != nil {
			t.Fatal(err)
		}
		v, q := exact.Greedy(c, l, h)
		if exact.Sum(q).Cmp(big.NewRat(1, 1)) != 0 {
			t.Fatalf("sum q = %v", exact.Sum(q))
		}
		for j := range q {
			if q[j].Cmp(l[j]) < 0 || q[j].Cmp(h[j]) > 0 {
				t.Fatalf("q[%d] leaves the box", j)
			}
		}
		var best *big.Rat
		for _, eta := range c {
			if d := exact.Cut(eta, c, l, h); best == nil || d.Cmp(best) > 0 {
				best = d
			}
		}
		if best.Cmp(v) != 0 {
			t.Fatalf("primal %v, dual %v", v, best)
		}
	})
}

// TestFlowAgainstGreedy: with one input the flow is the knapsack. (That every flow value is optimal needs no
// test: flowValue returns none without a dual proof.)
func TestFlowAgainstGreedy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := proptest.Problems(1, 5).Draw(t, "problem")
		got, err := p.Optimum()
		if err != nil {
			t.Fatal(err)
		}
		l, h, err := exact.Box(p.Lo, p.Hi)
		if err != nil {
			t.Fatal(err)
		}
		if want, _ := exact.Greedy(exact.Rats(p.C[0]), l, h); got.Cmp(want) != 0 {
			t.Fatalf("flow %v, knapsack %v", got, want)
		}
	})
}

// TestFlowAgainstEnumeration: integral instances so small that all integral plans can be listed.
func TestFlowAgainstEnumeration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const units = 4
		k, kv := rapid.IntRange(1, 2).Draw(t, "k"), rapid.IntRange(1, 3).Draw(t, "kv")
		c := proptest.Costs(k, kv).Draw(t, "C")
		supply := make([]int, k)
		for n := range units {
			supply[rapid.IntRange(0, k-1).Draw(t, "unit")]++
			_ = n
		}
		p := proptest.Problem{C: c, Mu: make([]float64, k), Lo: make([]float64, kv), Hi: make([]float64, kv)}
		for i, s := range supply {
			p.Mu[i] = float64(s) / units
		}
		rest := units
		for j := range kv {
			n := rapid.IntRange(0, rest).Draw(t, "lo")
			rest -= n
			p.Lo[j] = float64(n) / units
			p.Hi[j] = float64(n+rapid.IntRange(0, units).Draw(t, "width")) / units
		}
		p.Hi[0] += float64(rest) / units
		var best *big.Rat
		plan := make([]int, k*kv)
		var visit func(at, left int)
		visit = func(at, left int) {
			if at == len(plan) {
				value := new(big.Rat)
				for j := range kv {
					col := 0
					for i := range k {
						col += plan[i*kv+j]
						value.Add(value, exact.Mul(exact.Rat(c[i][j]), big.NewRat(int64(plan[i*kv+j]), units)))
					}
					if q := float64(col) / units; q < p.Lo[j] || q > p.Hi[j] {
						return
					}
				}
				if best == nil || value.Cmp(best) < 0 {
					best = value
				}
				return
			}
			i, j := at/kv, at%kv
			if j == 0 {
				left = supply[i]
			}
			from := 0
			if j == kv-1 {
				from = left
			}
			for n := from; n <= left; n++ {
				plan[at] = n
				visit(at+1, left-n)
			}
		}
		visit(0, 0)
		got, err := p.Optimum()
		if err != nil || got.Cmp(best) != 0 {
			t.Fatalf("Optimum = %v, %v; the best integral plan costs %v", got, err, best)
		}
	})
}

func TestOptimumRefuses(t *testing.T) {
	ok := proptest.Problem{C: [][]float64{{0, 1}}, Mu: []float64{1}, Lo: []float64{0, 0}, Hi: []float64{1, 1}}
	if v, err := ok.Optimum(); err != nil || v.Sign() != 0 {
		t.Errorf("Optimum = %v, %v, want 0", v, err)
	}
	for name, p := range map[string]proptest.Problem{
		"mass":  {C: ok.C, Mu: []float64{0}, Lo: ok.Lo, Hi: ok.Hi},
		"lower": {C: ok.C, Mu: ok.Mu, Lo: []float64{0.6, 0.6}, Hi: ok.Hi},
		"upper": {C: ok.C, Mu: ok.Mu, Lo: ok.Lo, Hi: []float64{0.4, 0.4}},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := p.Optimum(); !errors.Is(err, exact.ErrInfeasible) {
				t.Errorf("%s: error %v, want ErrInfeasible", name, err)
			}
		})
	}
	// One ulp beyond is the point lo / sum lo.
	p := proptest.Problem{C: [][]float64{{0, 1}}, Mu: []float64{1}, Lo: []float64{0.5, math.Nextafter(0.5, 1)},
		Hi: []float64{1, 1}}
	if v, err := p.Optimum(); err != nil || math.Abs(exact.Float(v)-0.5) > 1e-15 {
		t.Errorf("Optimum = %v, %v, want 0.5", v, err)
	}
}
