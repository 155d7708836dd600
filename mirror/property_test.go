package mirror_test

import (
	"context"
	"math"
	"slices"
	"sort"
	"testing"

	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"github.com/wpm-go/wpm/mirror"
	"github.com/wpm-go/wpm/proptest"
	"github.com/wpm-go/wpm/proptest/design"
)

func drawSettings(t *rapid.T) mirror.Settings {
	return mirror.Settings{
		Rule:   rapid.SampledFrom(allRules).Draw(t, "rule"),
		Steps:  rapid.SampledFrom([]int{1, 2, 3, 10, 60, 300}).Draw(t, "steps"),
		Factor: rapid.SampledFrom([]float64{0, 0.1, 10, 1000}).Draw(t, "factor"),
		Every:  rapid.SampledFrom([]int{0, 1, 7}).Draw(t, "every"),
	}
}

// TestLaws: the evidence holds whatever the settings (check), and scaling the costs by a power of two scales the
// values by it and changes no measure, bit for bit.
func TestLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := given.Cost(t, 8, 0x1p1000, 0x1p-1000)
		eps := rapid.SampledFrom(given.Levels()).Draw(t, "eps")
		s := drawSettings(t)
		kept := slices.Clone(c.Data)
		r := descend(t, c, eps, s)
		if !slices.Equal(c.Data, kept) {
			t.Fatal("the costs were changed")
		}
		again := descend(t, c, eps, s)
		if !slices.Equal(r.Average, again.Average) || r.Lower != again.Lower || r.Bound != again.Bound {
			t.Fatal("the same descent gives another result")
		}
		if largest := given.Max(c); largest > 1e20 || largest < 1e-20 {
			return // products at the ends of the range of float64 are not scaled exactly
		}
		const scale = 0x1p40
		d := descend(t, matrix(c.K, c.Kv, func(i, j int) float64 { return c.Data[i*c.Kv+j] * scale }), eps, s)
		if !slices.Equal(d.Average, r.Average) || !slices.Equal(d.Best, r.Best) {
			t.Fatalf("scaled: average %v, best %v; want %v, %v", d.Average, d.Best, r.Average, r.Best)
		}
		if d.F != r.F*scale {
			t.Fatalf("scaled: f = %v, want %v", d.F, r.F*scale)
		}
		if eps <= 300 && (d.Bound != r.Bound*scale || d.PaperBound != r.PaperBound*scale) { // beyond, a bound may overflow
			t.Fatalf("scaled: bounds %v, %v; want %v, %v", d.Bound, d.PaperBound, r.Bound*scale, r.PaperBound*scale)
		}
	})
}

// TestMirrorOptimum compares every bound with the optimum over all base measures.
func TestMirrorOptimum(t *testing.T) {
	given.BaseOptimum(t, 6, func(t *rapid.T, c *cost.Dense, eps, best float64) {
		r := descend(t, c, eps, drawSettings(t))
		for _, h := range r.History {
			if !(h.Lower <= best+given.SimplexTol && best <= min(h.Average, h.Best)+given.SimplexTol &&
				h.Average-h.Bound <= best+given.SimplexTol) {
				t.Fatalf("optimum %v against %+v", best, h)
			}
		}
	})
}

// TestMirrorLiteral is the appendix word for word, in m, with a sort in every evaluation: the average after a few dozen
// steps must agree. The costs are random, so that no two rows compete within rounding.
func TestMirrorLiteral(t *testing.T) {
	// Every step rounds each mass a few times and multiplies it by at most e^4.
	tol := numtest.Tol{Rel: 1e-11, Why: "sixty steps of a few roundings each, which later steps amplify a little"}
	for seed := range uint64(12) {
		rnd := numtest.NewSplitMix64(seed)
		k, kv := 2+rnd.Intn(8), 2+rnd.Intn(8)
		c := random(k, kv, 100+seed)
		eps := 0.2 + 3*rnd.Float64()
		for _, steps := range []int{1, 2, 7, 60} {
			r := descend(t, c, eps, mirror.Settings{Steps: steps})
			average, best := literal(c, eps, steps)
			numtest.NearSlice(t, "average", r.Average, average, tol)
			numtest.Near(t, "best", r.FBest, best, tol)
			numtest.Near(t, "f(average)", r.FAverage, worst(c, average, eps), tol)
		}
	}
}

// literal is the paper's descent.
func literal(c *cost.Dense, eps float64, steps int) (average []float64, best float64) {
	alpha, beta := math.Exp(-eps/2), math.Exp(eps/2)
	rate := math.Sqrt(2*(1+math.Log(float64(c.K)))) / (beta * slices.Max(c.Data) * math.Sqrt(float64(steps)))
	m, average := make([]float64, c.Kv), make([]float64, c.Kv)
	for j := range m {
		m[j] = 1 / (alpha * float64(c.Kv))
	}
	best = math.Inf(1)
	for range steps {
		value, row, tau := -1.0, 0, 0.0
		for i := range c.K {
			if p, at := phi(c.Row(i, nil), m, alpha, beta); p > value {
				value, row, tau = p, i, at
			}
		}
		best = min(best, value)
		sum := 0.0
		for j := range m {
			average[j] += m[j] / float64(steps)
			d := c.Data[row*c.Kv+j] - tau
			g := alpha*max(d, 0) - beta*max(-d, 0)
			m[j] *= math.Exp(-rate * g)
			sum += m[j]
		}
		for j := range m {
			m[j] *= min(max(sum, 1/beta), 1/alpha) / sum
		}
	}
	return average, best
}

// TestMirrorAdaptive is the adaptive rule word for word, in m, and its bound.
func TestMirrorAdaptive(t *testing.T) {
	tol := numtest.Tol{Rel: 1e-10, Why: "forty steps of a few roundings each, which later steps amplify a little"}
	for seed := range uint64(12) {
		rnd := numtest.NewSplitMix64(seed)
		k, kv := 2+rnd.Intn(8), 2+rnd.Intn(8)
		c := random(k, kv, 200+seed)
		eps := 0.2 + 3*rnd.Float64()
		for _, steps := range []int{1, 2, 7, 40} {
			factor := 1 + float64(rnd.Intn(2)*4)
			r := descend(t, c, eps, mirror.Settings{Steps: steps, Rule: mirror.Adaptive, Factor: factor})
			average, bound := literalAdaptive(c, eps, steps, 0.5*factor)
			numtest.NearSlice(t, "average", r.Average, average, tol)
			numtest.Near(t, "bound", r.Bound, bound, tol)
		}
	}
}

func literalAdaptive(c *cost.Dense, eps float64, steps int, constant float64) (average []float64, bound float64) {
	alpha, beta := math.Exp(-eps/2), math.Exp(eps/2)
	kv := float64(c.Kv)
	m, average := make([]float64, c.Kv), make([]float64, c.Kv)
	for j := range m {
		m[j] = 1 / kv
	}
	// The furthest measure of mass u has all of it where m is least.
	far := func(u, least, total float64) float64 { return u*math.Log(u/least) - u + total }
	furthest := func(least, total float64) float64 { return max(far(1/beta, least, total), far(1/alpha, least, total)) }
	norms, largest, weights, last, distance := 0.0, 0.0, 0.0, 0.0, furthest(1/kv, 1)
	for t := 1; t <= steps; t++ {
		value, row, tau := -1.0, 0, 0.0
		for i := range c.K {
			if p, at := phi(c.Row(i, nil), m, alpha, beta); p > value {
				value, row, tau = p, i, at
			}
		}
		g := make([]float64, c.Kv)
		for j := range g {
			d := c.Data[row*c.Kv+j] - tau
			g[j] = alpha*max(d, 0) - beta*max(-d, 0)
			norms += m[j] * g[j] * g[j]
			largest = max(largest, math.Abs(g[j]))
		}
		eta := min(constant*math.Sqrt((1+math.Log(kv))/norms), 1/largest)
		w := float64(t)
		weights += w
		spent, sum, total := 0.0, 0.0, 0.0
		for j := range m {
			average[j] += w * m[j]
			y := eta * g[j]
			to := m[j] * math.Exp(-y)
			spent += y * y / 2 * max(m[j], to)
			m[j] = to
			sum += to
		}
		bound += (w/eta-last)*distance + w/eta*spent
		last = w / eta
		distance += spent
		least := math.Inf(1)
		for j := range m {
			m[j] *= min(max(sum, 1/beta), 1/alpha) / sum
			least = min(least, m[j])
			total += m[j]
		}
		distance = min(distance, furthest(least, total))
	}
	for j := range average {
		average[j] /= weights
	}
	return average, bound / weights
}

// phi is the greedy fill and its threshold, with the least cost at the full end.
func phi(row, m []float64, alpha, beta float64) (value, tau float64) {
	order := make([]int, len(row))
	rest := 1.0
	for j := range order {
		order[j] = j
		rest -= alpha * m[j]
		value += alpha * m[j] * row[j]
	}
	sort.Slice(order, func(a, b int) bool { return row[order[a]] < row[order[b]] })
	if rest < 1e-14 { // the start, up to rounding
		return value, row[order[0]]
	}
	for _, j := range order {
		give := min((beta-alpha)*m[j], rest)
		value += give * row[j]
		tau = row[j]
		if rest -= give; rest <= 0 {
			break
		}
	}
	return value, tau
}

func worst(c *cost.Dense, m []float64, eps float64) float64 {
	f := 0.0
	for i := range c.K {
		p, _ := phi(c.Row(i, nil), m, math.Exp(-eps/2), math.Exp(eps/2))
		f = max(f, p)
	}
	return f
}

// TestMirrorBaseLaws runs the module's laws of base measures: those that hold for one that need not be the best of any
// family (so not BaseMonotone).
func TestMirrorBaseLaws(t *testing.T) {
	for _, rule := range allRules {
		t.Run(rule.String(), func(t *testing.T) {
			var laws []proptest.Law[design.BaseMeasurer]
			for _, l := range design.BaseLaws() {
				if l.Name != "BaseMonotone" {
					laws = append(laws, l)
				}
			}
			descend := func(rows [][]float64, eps float64) (design.Base, error) {
				c, err := cost.FromRows(rows)
				if err != nil {
					return design.Base{}, err
				}
				r, err := mirror.Descend(background, newTable(t, c), eps, mirror.Settings{Steps: numtest.Cases(12, 40), Rule: rule})
				if err != nil {
					return design.Base{}, err
				}
				_, _, err = basemeasure.Verify(context.Background(), c, eps, certificate(r))
				return design.Base{M: r.M, F: r.F, Upper: r.Upper, Lower: r.Lower, Weights: r.Weights, Thresholds: r.Thresholds},
					err
			}
			proptest.Run(t, laws, descend)
			proptest.Run(t, design.BaseBoundLaws(), descend)
			proptest.Run(t, design.BaseCertificateLaws(), descend)
		})
	}
}
