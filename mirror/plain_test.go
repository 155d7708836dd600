package mirror

import (
	"context"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"math"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/knapsack"
)

// TestPlainDescent compares a descent with the formulas of the package comment, written down without care for range or
// rounding: iterates, their mean, the bounds of every rule, and the best.
func TestPlainDescent(t *testing.T) {
	// Forty steps, each some roundings of numbers of ordinary size; the iterates depend on them smoothly but for ties, of
	// which there are none.
	const tol = 1e-9
	near := func(what string, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) <= tol*(1+math.Abs(want))) {
			t.Fatalf("%s: %v, want %v", what, got, want)
		}
	}
	g := numtest.NewSplitMix64(92)
	for n := range 40 {
		k, kv := 1+g.Intn(6), 2+g.Intn(6)
		c := &cost.Dense{K: k, Kv: kv}
		for range k * kv {
			c.Data = append(c.Data, 3*g.Float64())
		}
		table, err := knapsack.New(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		eps := 3 * g.Float64()
		settings, err := Settings{Rule: Rule(n % 4), Steps: 40, Factor: 0.5 + g.Float64()}.resolve()
		if err != nil {
			t.Fatal(err)
		}
		e, beta := math.Exp(eps), math.Exp(eps/2)
		r := 0.0 // the largest range of a row
		for i := range k {
			low, high := math.Inf(1), 0.0
			for _, x := range c.Data[i*kv : (i+1)*kv] {
				low, high = min(low, x), max(high, x)
			}
			r = max(r, high-low)
		}
		steps := float64(settings.Steps)
		l, logK := max(1, math.Log(float64(kv))), 1+math.Log(float64(k))
		curvature := (math.E-2)*e + 0.5
		rate, mass := 0.0, beta
		switch settings.Rule {
		case Paper:
			rate = settings.Factor * math.Sqrt(2*logK/steps) * r / given.Max(c)
		case Repaired:
			rate = settings.Factor * math.Sqrt(2*l/steps)
		case Sharp:
			rate = min(1, settings.Factor*e*math.Sqrt(l/steps/curvature))
		case Adaptive:
			mass = 1
		}
		m, mean := make([]float64, kv), make([]float64, kv)
		for j := range m {
			m[j] = mass / float64(kv)
		}
		far := func(u float64) float64 { // how far a measure of mass u can be from m
			least, sum := math.Inf(1), 0.0
			for _, x := range m {
				least, sum = min(least, x), sum+x
			}
			return u*math.Log(u/least) - u + sum
		}
		divergence := max(far(beta), far(1/beta))
		var weights, norms, largest, ratio, regret float64
		best := math.Inf(1)

		d := newDescent(table, eps, settings)
		for step := 1; step <= settings.Steps; step++ {
			d.evaluate(step)
			lo, hi := make([]float64, kv), make([]float64, kv)
			for j, x := range m {
				near("iterate", d.m[j], x)
				lo[j], hi[j] = x/beta, x*beta
			}
			f, worst, tau := math.Inf(-1), 0, 0.0
			for i := range k {
				if phi, at := table.Phi(i, lo, hi); phi > f {
					f, worst, tau = phi, i, at
				}
			}
			near("value", d.f, f)
			if worst != d.worst {
				t.Fatalf("step %d: input %d is the worst, want %d", step, d.worst, worst)
			}
			best = min(best, f)
			weight := 1.0
			if settings.Rule == Adaptive {
				weight = float64(step)
			}
			for j, x := range m {
				mean[j] += (x - mean[j]) * weight / (weights + weight)
			}
			weights += weight

			h := make([]float64, kv)
			for j := range h {
				x := c.Data[worst*kv+j] - tau
				h[j] = (max(x, 0)/e - max(-x, 0)) / r
				norms += m[j] * h[j] * h[j]
				largest = max(largest, math.Abs(h[j]))
			}
			if settings.Rule == Adaptive {
				rate = min(settings.Factor*adaptiveConstant*math.Sqrt((1+math.Log(float64(kv)))/norms), 1/largest)
			}
			total, spent := 0.0, 0.0
			for j, x := range m {
				y := rate * h[j]
				m[j] = x * math.Exp(-y)
				total += m[j]
				spent += y * y / 2 * max(x, m[j])
			}
			regret += (weight/rate-ratio)*divergence + weight/rate*spent
			ratio = weight / rate
			divergence += spent
			for j := range m {
				m[j] *= min(max(total, 1/beta), beta) / total
			}
			divergence = min(divergence, max(far(beta), far(1/beta)))

			d.step()
			report := d.report()
			for j, x := range mean {
				near("mean", d.average[j], x)
			}
			near("best", report.Best, best)
			at := float64(step)
			near("the paper's bound", report.PaperBound, e*given.Max(c)*math.Sqrt(2*logK/at))
			want := r * e * (l/(rate*at) + rate/2)
			switch settings.Rule {
			case Sharp:
				want = r * (l*e/(rate*at) + rate*curvature/e)
			case Adaptive:
				want = beta * r * regret / weights
			}
			near("bound", report.Bound, want)
		}
	}
}
