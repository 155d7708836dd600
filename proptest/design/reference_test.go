package design

import (
	"math"
	"math/big"
	"slices"

	"github.com/wpm-go/wpm/proptest"
	"github.com/wpm-go/wpm/proptest/exact"
	"github.com/wpm-go/wpm/proptest/internal/planted"
)

// Slow implementations of the interfaces, made from package exact. They must pass every law; the planted errors of
// mutants_test.go are changes of them.

// refKnapsack evaluates by the greedy fill in rationals.
type refKnapsack struct{ c [][]float64 }

func newRefKnapsack(c [][]float64) (KnapsackOracle, error) { return refKnapsack{c}, nil }

func (k refKnapsack) Phi(i int, lo, hi []float64) (phi, tau float64) {
	l, h, err := exact.Box(lo, hi)
	if err != nil {
		return math.NaN(), math.NaN()
	}
	c := exact.Rats(k.c[i])
	v, _ := exact.Greedy(c, l, h)
	var best, at *big.Rat
	l, h = exact.Rats(lo), exact.Rats(hi) // as given: at either end of the mass this settles τ
	for _, eta := range c {
		if d := exact.Cut(eta, c, l, h); best == nil || d.Cmp(best) > 0 {
			best, at = d, eta
		}
	}
	return exact.Float(v), exact.Float(at)
}

func (k refKnapsack) Max(lo, hi []float64) (f float64, i int) {
	i = -1
	for n := range k.c {
		if v, _ := k.Phi(n, lo, hi); i < 0 || v > f {
			f, i = v, n
		}
	}
	return f, i
}

func (k refKnapsack) Subgradient(i int, tau, a, b float64, dst []float64) {
	for j, c := range k.c[i] {
		if c > tau {
			dst[j] = a * (c - tau)
		} else {
			dst[j] = -b * (tau - c)
		}
	}
}

// cuts returns equal weights and the thresholds of the measure m.
func cuts(c [][]float64, m []float64, eps float64) (w, eta []float64) {
	k := refKnapsack{c}
	b := proptest.BoxOf(m, eps)
	for i := range c {
		_, tau := k.Phi(i, b.Lo, b.Hi)
		w = append(w, 1)
		eta = append(eta, tau)
	}
	return w, eta
}

// refBase is the uniform measure of mass 1: not the best one, but with a valid bound.
func refBase(c [][]float64, eps float64) (Base, error) {
	kv := len(c[0])
	return claim(c, eps, slices.Repeat([]float64{1 / float64(kv)}, kv))
}

// claim states F, Upper and Lower of a measure.
func claim(c [][]float64, eps float64, m []float64) (Base, error) {
	l, h, err := realBox(m, eps)
	if err != nil {
		return Base{}, err
	}
	// The box is rounded outward by 2^-120: raise the value by more than that can hide.
	f := worst(proptest.ExactCost(c), l, h)
	f.Add(f, exact.Mul(exact.Rat(0x1p-100), exact.Rat(proptest.MaxCost(c))))
	b := Base{M: m, F: exact.Float(f), Upper: planted.Up(f)}
	b.Weights, b.Thresholds = cuts(c, m, eps)
	return b, b.bound(c, eps)
}

// bound sets Lower to what its certificate proves.
func (b *Base) bound(c [][]float64, eps float64) error {
	lower, err := LowerBound(c, eps, b.Weights, b.Thresholds)
	if err == nil {
		b.Lower = planted.Down(lower)
	}
	return err
}

// refTransitive is the uniform measure at the scale that is optimal on a transitive cost:
// the sorted row gives f* = min_n (κ (C_1+..+C_n) + C_1+..+C_k) / (κ n + k), κ = e^eps - 1, at α m = 1/(κ n + k).
func refTransitive(c [][]float64, eps float64) (Base, error) {
	k := len(c)
	kappa := math.Expm1(eps)
	row := slices.Sorted(slices.Values(c[0]))
	all, near, best, at := 0.0, 0.0, math.Inf(1), 0
	for _, v := range row {
		all += v
	}
	for n := 0; n <= k; n++ {
		if n > 0 {
			near += row[n-1]
		}
		if j := (kappa*near + all) / (kappa*float64(n) + float64(k)); j < best {
			best, at = j, n
		}
	}
	x := 1 / (kappa*float64(at) + float64(k))
	b, err := claim(c, eps, slices.Repeat([]float64{x * math.Exp(eps/2)}, k))
	if err != nil {
		return b, err
	}
	// One threshold for all, f* itself, makes all b_j zero. Just below it they are positive, where only b_j/E counts.
	for i := range b.Thresholds {
		b.Thresholds[i] = best * (1 - 1e-14)
	}
	return b, b.bound(c, eps)
}

// refDescend is the listing of the appendix. step may change the length of a step, from outside nil.
func refDescend(c [][]float64, eps float64, steps int) (Descent, error) {
	return descentWith(nil, nil)(c, eps, steps)
}

func descentWith(change func(eta float64) float64, project GKLProjector) Descender {
	if project == nil {
		project = paperProject
	}
	return func(c [][]float64, eps float64, steps int) (Descent, error) {
		k, kv := len(c), len(c[0])
		alpha, beta := math.Exp(-eps/2), math.Exp(eps/2)
		d, r := proptest.MaxCost(c), proptest.RowRange(c)
		m, mean := make([]float64, kv), make([]float64, kv)
		for j := range m {
			m[j] = 1 / (alpha * float64(kv))
		}
		eta := math.Sqrt(2*(1+math.Log(float64(k)))/float64(steps)) / beta // times 1/D
		if change != nil {
			eta = change(eta)
		}
		g := make([]float64, kv)
		unit := refKnapsack{[][]float64{make([]float64, kv)}}
		for range steps {
			for j := range m {
				mean[j] += m[j] / float64(steps)
			}
			at, tau, top := 0, 0.0, math.Inf(-1)
			for i := range c {
				if v, u, _ := fillFloats(c[i], m, eps); v > top {
					at, tau, top = i, u, v
				}
			}
			if d == 0 {
				continue
			}
			for j := range g {
				unit.c[0][j] = c[at][j] / d
			}
			unit.Subgradient(0, tau/d, alpha, beta, g)
			for j := range m {
				m[j] *= math.Exp(-eta * g[j])
			}
			var err error
			if m, err = project(m, eps); err != nil {
				return Descent{}, err
			}
		}
		out := Descent{Average: mean}
		if r > 0 {
			l := max(1, math.Log(float64(kv)))
			x := eta * beta * r / d
			out.Bound = beta / alpha * r * (l/(x*float64(steps)) + x/2)
		}
		l, h, err := realBox(mean, eps)
		if err != nil {
			return out, err
		}
		lower := 0.0
		for _, row := range c {
			lower = max(lower, slices.Min(row))
		}
		out.History = []DescentReport{{steps, exact.Float(worst(proptest.ExactCost(c), l, h)), out.Bound, lower}}
		return out, nil
	}
}
