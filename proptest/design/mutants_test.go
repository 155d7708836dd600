package design

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	_ "github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/proptest"
	"github.com/wpm-go/wpm/proptest/exact"
	"github.com/wpm-go/wpm/proptest/internal/planted"
	"pgregory.net/rapid"
)

func TestGKLLaws(t *testing.T) {
	both := []string{"GKLProjection", "GKLThreePoint"}
	planted.Laws(t, GKLLaws(), paperProject, []planted.Error[GKLProjector]{
		{Name: "divides by the sum",
			Impl:   func(v []float64, _ float64) ([]float64, error) { return proptest.Normalise(proptest.Clone(v), 1), nil },
			Killed: both},
		{Name: "swaps alpha and beta", Impl: func(v []float64, eps float64) ([]float64, error) {
			sum := 0.0
			for _, x := range v {
				sum += x
			}
			return proptest.Normalise(proptest.Clone(v), max(min(sum, math.Exp(-eps/2)), math.Exp(eps/2))), nil
		}, Killed: both},
		{Name: "projects in the Euclidean norm", Impl: func(v []float64, eps float64) ([]float64, error) {
			sum := 0.0
			for _, x := range v {
				sum += x
			}
			m := proptest.Clone(v)
			for j := range m {
				m[j] = max(0, m[j]+(min(max(sum, math.Exp(-eps/2)), math.Exp(eps/2))-sum)/float64(len(m)))
			}
			return m, nil
		}, Killed: both},
		{Name: "cuts each entry", Impl: func(v []float64, eps float64) ([]float64, error) {
			m := proptest.Clone(v)
			for j := range m {
				m[j] = min(max(m[j], math.Exp(-eps/2)/float64(len(v))), math.Exp(eps/2)/float64(len(v)))
			}
			return m, nil
		}, Killed: both},
		{Name: "forgets the least mass", Impl: func(v []float64, eps float64) ([]float64, error) {
			m, err := paperProject(v, eps)
			for j := range m {
				m[j] = min(m[j], v[j])
			}
			return m, err
		}, Killed: []string{"GKLProjection"}},
		{Name: "projects in the other direction of the divergence, and adds what is missing evenly",
			Impl: func(v []float64, eps float64) ([]float64, error) {
				m, err := paperProject(v, eps)
				sum, want := 0.0, 0.0
				for j := range m {
					sum, want = sum+v[j], want+m[j]
				}
				for j := range m {
					m[j] = v[j]
					if want > sum {
						m[j] += (want - sum) / float64(len(m))
					} else {
						m[j] *= want / sum
					}
				}
				return m, err
			}, Killed: both},
	})
}

func TestDescenderLaws(t *testing.T) {
	// claims changes what is said about the reference's average.
	claims := func(change func(c [][]float64, eps float64, steps int, d *Descent)) Descender {
		return func(c [][]float64, eps float64, steps int) (Descent, error) {
			d, err := refDescend(c, eps, steps)
			if err == nil {
				change(c, eps, steps, &d)
			}
			return d, err
		}
	}
	// strides are as long as by says; bounds are by times the one of the reference.
	type factor = func(c [][]float64, eps float64, steps int) float64
	strides := func(by factor) Descender {
		return func(c [][]float64, eps float64, steps int) (Descent, error) {
			return descentWith(func(eta float64) float64 { return eta * by(c, eps, steps) }, nil)(c, eps, steps)
		}
	}
	bounds := func(by factor) Descender {
		return claims(func(c [][]float64, eps float64, steps int, d *Descent) { d.Bound *= by(c, eps, steps) })
	}
	bound := func(c [][]float64, eps float64, steps int) float64 { // the proposition as stated
		return math.Exp(eps) * proptest.MaxCost(c) * math.Sqrt(2*(1+math.Log(float64(len(c))))/float64(steps))
	}
	planted.Laws(t, DescenderLaws(), refDescend, []planted.Error[Descender]{
		{Name: "log k for log kv",
			Impl:   claims(func(c [][]float64, eps float64, steps int, d *Descent) { d.Bound = bound(c, eps, steps) }),
			Killed: []string{"MirrorClaimedBound"}},
		{Name: "the same in its reports", Impl: claims(func(c [][]float64, eps float64, steps int, d *Descent) {
			d.History[0].Bound = bound(c, eps, steps)
		}), Killed: []string{"MirrorHistory"}},
		{Name: "claims to be optimal", Impl: claims(func(_ [][]float64, _ float64, _ int, d *Descent) {
			d.Bound = 0
			d.History[0].Lower = d.History[0].Average
		}), Killed: []string{"MirrorClaimedBound", "MirrorHistory"}},
		{Name: "reports another average",
			Impl:   claims(func(_ [][]float64, _ float64, _ int, d *Descent) { d.History[0].Average *= 0.999 }),
			Killed: []string{"MirrorHistory"}},
		{Name: "stays at the start", Impl: descentWith(func(float64) float64 { return 0 }, nil),
			Killed: []string{"MirrorIterates", "MirrorRepairedBound"}},
		{Name: "steps uphill", Impl: descentWith(func(eta float64) float64 { return -eta }, nil),
			Killed: []string{"MirrorIterates", "MirrorRepairedBound"}},
		{Name: "forgets the square root of T", Impl: descentWith(func(eta float64) float64 { return eta * eta }, nil),
			Killed: []string{"MirrorIterates", "MirrorRepairedBound"}},
		{Name: "steps for log kv, not log k", Impl: strides(func(c [][]float64, _ float64, _ int) float64 {
			return math.Sqrt((1 + math.Log(float64(len(c[0])))) / (1 + math.Log(float64(len(c)))))
		}), Killed: []string{"MirrorIterates"}},
		{Name: "steps without beta",
			Impl:   strides(func(_ [][]float64, eps float64, _ int) float64 { return math.Exp(eps / 2) }),
			Killed: []string{"MirrorIterates"}},
		{Name: "steps without the 2", Impl: strides(func([][]float64, float64, int) float64 { return math.Sqrt(0.5) }),
			Killed: []string{"MirrorIterates"}},
		{Name: "steps for T+1 iterations", Impl: strides(func(_ [][]float64, _ float64, steps int) float64 {
			return math.Sqrt(float64(steps) / float64(steps+1))
		}), Killed: []string{"MirrorIterates"}},
		{Name: "steps for the spread, not the largest cost", Impl: strides(func(c [][]float64, _ float64, _ int) float64 {
			if r := proptest.RowRange(c); r > 0 {
				return proptest.MaxCost(c) / r
			}
			return 1
		}), Killed: []string{"MirrorIterates"}},
		{Name: "returns the last iterate", Impl: func(c [][]float64, eps float64, steps int) (Descent, error) {
			var last []float64
			d, err := descentWith(nil, func(v []float64, eps float64) ([]float64, error) {
				m, err := paperProject(v, eps)
				last = m
				return m, err
			})(c, eps, steps)
			if last != nil {
				d.Average = last
			}
			return d, err
		}, Killed: []string{"MirrorIterates"}},
		{Name: "divides its bound by beta",
			Impl:   bounds(func(_ [][]float64, eps float64, _ int) float64 { return math.Exp(-eps / 2) }),
			Killed: []string{"MirrorClaimedBound"}},
		{Name: "has a bound for T^2 iterations", Impl: bounds(func(_ [][]float64, _ float64, steps int) float64 {
			return 1 / math.Sqrt(float64(steps))
		}), Killed: []string{"MirrorClaimedBound"}},
		{Name: "has no bound", Impl: claims(func(_ [][]float64, _ float64, _ int, d *Descent) { d.Bound = math.Inf(1) }),
			Equivalent: "+Inf claims nothing"},
		{Name: "divides by the sum",
			Impl: descentWith(nil, func(v []float64, _ float64) ([]float64,
				error) {
				return proptest.Normalise(proptest.Clone(v), 1), nil
			}), Killed: []string{"MirrorIterates"}},
		{Name: "swaps alpha and beta in the projection",
			Impl: descentWith(nil, func(v []float64, eps float64) ([]float64, error) {
				return proptest.Normalise(proptest.Clone(v), math.Exp(-eps/2)), nil
			}), Killed: []string{"MirrorIterates"}},
		{Name: "averages the best costs, not the measures",
			Impl: func(c [][]float64, eps float64, steps int) (Descent, error) {
				d, err := refDescend(c, eps, steps)
				kv := len(d.Average)
				for j := range d.Average {
					d.Average[j] = (d.Average[j] + 1/float64(kv)) / 2
				}
				return d, err
			}, Killed: []string{"MirrorIterates"}},
	})
}

// knap is the reference with a changed φ, f or subgradient.
type knap struct {
	refKnapsack
	phi  func(k refKnapsack, i int, lo, hi []float64) (phi, tau float64)
	max  func(k refKnapsack, lo, hi []float64) (float64, int)
	grad func(k refKnapsack, i int, tau, a, b float64, dst []float64)
}

func (k knap) Phi(i int, lo, hi []float64) (float64, float64) {
	if k.phi != nil {
		return k.phi(k.refKnapsack, i, lo, hi)
	}
	return k.refKnapsack.Phi(i, lo, hi)
}

func (k knap) Max(lo, hi []float64) (float64, int) {
	if k.max != nil {
		return k.max(k.refKnapsack, lo, hi)
	}
	f, at := 0.0, -1
	for i := range k.c {
		if v, _ := k.Phi(i, lo, hi); at < 0 || v > f {
			f, at = v, i
		}
	}
	return f, at
}

func (k knap) Subgradient(i int, tau, a, b float64, dst []float64) {
	if k.grad != nil {
		k.grad(k.refKnapsack, i, tau, a, b, dst)
		return
	}
	k.refKnapsack.Subgradient(i, tau, a, b, dst)
}

func (k knap) new() NewKnapsack {
	return func(c [][]float64) (KnapsackOracle, error) {
		k.refKnapsack = refKnapsack{c}
		return k, nil
	}
}

func TestKnapsackLaws(t *testing.T) {
	ref := func(k refKnapsack, i int, lo, hi []float64) (float64, float64) { return k.Phi(i, lo, hi) }
	planted.Laws(t, KnapsackLaws(), newRefKnapsack, []planted.Error[NewKnapsack]{
		{Name: "swaps lo and hi in the fill",
			Impl: knap{phi: func(k refKnapsack, i int, lo, hi []float64) (float64, float64) {
				// q = hi on the dear columns: the dearest first
				minus := refKnapsack{[][]float64{proptest.Clone(k.c[i])}}
				top := slices.Max(k.c[i])
				for j := range minus.c[0] {
					minus.c[0][j] = top - k.c[i][j]
				}
				v, tau := minus.Phi(0, lo, hi)
				return top - v, top - tau
			}}.new(), Killed: []string{"PhiClosedForm", "PhiConvex", "PhiMonotone", "PhiSubgradient"}},
		{Name: "forgets the lower bounds", Impl: knap{phi: func(k refKnapsack, i int, lo, hi []float64) (float64, float64) {
			return k.Phi(i, make([]float64, len(lo)), hi)
		}}.new(), Killed: []string{"PhiClosedForm"}},
		{Name: "tau one column too far", Impl: knap{phi: func(k refKnapsack, i int, lo, hi []float64) (float64, float64) {
			v, tau := k.Phi(i, lo, hi)
			next := math.Inf(1)
			for _, c := range k.c[i] {
				if c > tau {
					next = min(next, c)
				}
			}
			if !math.IsInf(next, 1) {
				tau = next
			}
			return v, tau
		}}.new(), Killed: []string{"PhiClosedForm", "PhiSubgradient"}},
		{Name: "tau out of range", Impl: knap{phi: func(k refKnapsack, i int, lo, hi []float64) (float64, float64) {
			v, tau := k.Phi(i, lo, hi)
			return v, tau - 10*proptest.MaxCost(k.c)
		}}.new(), Killed: []string{"PhiClosedForm", "PhiSubgradient"}},
		{Name: "tau of the first cost that is not below",
			Impl: knap{phi: func(k refKnapsack, i int, lo, hi []float64) (float64, float64) {
				v, tau := k.Phi(i, lo, hi)
				for _, c := range k.c[i] {
					if c < tau {
						return v, c
					}
				}
				return v, tau
			}}.new(), Killed: []string{"PhiClosedForm"}},
		{Name: "ties within 1e-6 are one column",
			Impl: knap{phi: func(k refKnapsack, i int, lo, hi []float64) (float64, float64) {
				r := refKnapsack{[][]float64{proptest.Clone(k.c[i])}}
				for j := range r.c[0] {
					r.c[0][j] = math.Floor(r.c[0][j]*1e6) / 1e6
				}
				return r.Phi(0, lo, hi)
			}}.new(), Killed: []string{"PhiClosedForm"}},
		{Name: "caps hi at one half", Impl: knap{phi: func(k refKnapsack, i int, lo, hi []float64) (float64, float64) {
			h := proptest.Clone(hi)
			for j := range h {
				h[j] = min(h[j], max(lo[j], 0.5))
			}
			if exact.Sum(exact.Rats(h)).Cmp(big.NewRat(1, 1)) < 0 {
				h = hi
			}
			return k.Phi(i, lo, h)
		}}.new(), Killed: []string{"PhiClosedForm", "PhiConvex", "PhiMonotone"}},
		{Name: "jumps by the parity of the fill",
			Impl: knap{phi: func(k refKnapsack, i int, lo, hi []float64) (float64, float64) {
				v, tau := k.Phi(i, lo, hi)
				if lo[0] > 0.1 {
					v += proptest.MaxCost(k.c[i : i+1])
				}
				return v, tau
			}}.new(), Killed: []string{"PhiLipschitz", "PhiConvex"}},
		{Name: "a step in m", Impl: knap{phi: func(k refKnapsack, i int, lo, hi []float64) (float64, float64) {
			v, tau := k.Phi(i, lo, hi)
			if slices.Max(lo) > 0.3 {
				v *= 1.5
			}
			return v, tau
		}}.new(), Killed: []string{"PhiLipschitz"}},
		{Name: "fills the columns as they come",
			Impl: knap{phi: func(k refKnapsack, i int, lo, hi []float64) (float64, float64) {
				_, tau := k.Phi(i, lo, hi)
				v, rest := 0.0, 1.0
				for j, l := range lo {
					v, rest = v+l*k.c[i][j], rest-l
				}
				for j, h := range hi {
					up := max(0, min(rest, h-lo[j]))
					v, rest = v+up*k.c[i][j], rest-up
				}
				return v, tau
			}}.new(), Killed: []string{"PhiClosedForm"}},
		{Name: "fills the last column to its end",
			Impl: knap{phi: func(k refKnapsack, i int, lo, hi []float64) (float64, float64) {
				v, tau := k.Phi(i, lo, hi)
				rest := 1.0
				for j, c := range k.c[i] {
					if c <= tau {
						rest -= hi[j]
					} else {
						rest -= lo[j]
					}
				}
				return v - min(rest, 0)*tau, tau
			}}.new(), Killed: []string{"PhiClosedForm"}},
		{Name: "tau at the other end of its interval",
			Impl: knap{phi: func(k refKnapsack, i int, lo, hi []float64) (float64, float64) {
				v, tau := k.Phi(i, lo, hi)
				c, l, h := exact.Rats(k.c[i]), exact.Rats(lo), exact.Rats(hi)
				best := exact.Cut(exact.Rat(tau), c, l, h)
				for j, x := range c {
					if exact.Cut(x, c, l, h).Cmp(best) == 0 {
						tau = max(tau, k.c[i][j])
					}
				}
				return v, tau
			}}.new(), Equivalent: "any threshold whose cut supports the value will do"},
		{Name: "argmax of min", Impl: knap{max: func(k refKnapsack, lo, hi []float64) (float64, int) {
			f, at := math.Inf(1), -1
			for i := range k.c {
				if v, _ := k.Phi(i, lo, hi); v < f {
					f, at = v, i
				}
			}
			return f, at
		}}.new(), Killed: []string{"PhiMax"}},
		{Name: "last of equal maxima", Impl: knap{max: func(k refKnapsack, lo, hi []float64) (float64, int) {
			f, at := math.Inf(-1), -1
			for i := range k.c {
				if v, _ := k.Phi(i, lo, hi); v >= f {
					f, at = v, i
				}
			}
			return f, at
		}}.new(), Killed: []string{"PhiMax"}},
		{Name: "swaps a and b", Impl: knap{grad: func(k refKnapsack, i int, tau, a, b float64, dst []float64) {
			k.Subgradient(i, tau, b, a, dst)
		}}.new(), Killed: []string{"PhiSubgradient"}},
		{Name: "adds to dst", Impl: knap{grad: func(k refKnapsack, i int, tau, a, b float64, dst []float64) {
			g := make([]float64, len(dst))
			k.Subgradient(i, tau, a, b, g)
			for j := range dst {
				dst[j] += g[j]
			}
		}}.new(), Killed: []string{"PhiSubgradient"}},
		{Name: "no alpha", Impl: knap{grad: func(k refKnapsack, i int, tau, _, b float64, dst []float64) {
			k.Subgradient(i, tau, 1, b, dst)
		}}.new(), Killed: []string{"PhiSubgradient"}},
		{Name: "no beta", Impl: knap{grad: func(k refKnapsack, i int, tau, a, _ float64, dst []float64) {
			k.Subgradient(i, tau, a, 1, dst)
		}}.new(), Killed: []string{"PhiSubgradient"}},
		{Name: "sign of the near side", Impl: knap{grad: func(k refKnapsack, i int, tau, a, b float64, dst []float64) {
			k.Subgradient(i, tau, a, -b, dst)
		}}.new(), Killed: []string{"PhiSubgradient"}},
		{Name: "no slope where m is zero", Impl: knap{
			grad: func(k refKnapsack, i int, tau, a, b float64, dst []float64) {
				k.Subgradient(i, tau, a, b, dst)
				for j := range dst {
					if dst[j] < 0 {
						dst[j] = 0
					}
				}
			},
			phi: ref,
		}.new(), Killed: []string{"PhiSubgradient"}},
	})
}

func TestBaseLaws(t *testing.T) {
	edit := func(change func(c [][]float64, eps float64, b *Base)) BaseMeasurer {
		return func(c [][]float64, eps float64) (Base, error) {
			b, err := refBase(c, eps)
			if err == nil {
				change(c, eps, &b)
			}
			return b, err
		}
	}
	// lower replaces the lower bound.
	lower := func(f func(c [][]float64, eps float64, w, eta []*big.Rat) *big.Rat) BaseMeasurer {
		return edit(func(c [][]float64, eps float64, b *Base) {
			w, err := exact.Distribution(b.Weights)
			if err != nil {
				panic(err)
			}
			b.Lower = planted.Down(f(c, eps, w, exact.Rats(b.Thresholds)))
		})
	}
	bounds := []planted.Error[BaseMeasurer]{
		{Name: "claims that its value is optimal", Impl: edit(func(_ [][]float64, _ float64, b *Base) { b.Lower = b.F }),
			Killed: []string{"BaseLowerBound"}},
		{Name: "wrong sign rule for the mass", Impl: lower(func(c [][]float64, eps float64, w, eta []*big.Rat) *big.Rat {
			e, _ := exact.ExpBounds(exact.Rat(eps), 120)
			a := new(big.Rat)
			for i := range c {
				a.Add(a, exact.Mul(w[i], eta[i]))
			}
			least := exact.Sub(dual(c, eps, w, eta), a) // min(b, b/E)
			if least.Sign() < 0 {
				return exact.Add(a, exact.Quo(least, e))
			}
			return exact.Add(a, exact.Mul(least, e))
		}), Killed: []string{"BaseLowerBound"}},
		{Name: "forgets e^eps below the threshold", Impl: lower(func(c [][]float64, eps float64, w, eta []*big.Rat) *big.Rat {
			return dual(c, 0, w, eta)
		}), Killed: []string{"BaseLowerBound"}},
		{Name: "weights that do not sum to one", Impl: lower(func(c [][]float64, eps float64, w, eta []*big.Rat) *big.Rat {
			twice := slices.Clone(w)
			for i := range twice {
				twice[i] = exact.Mul(twice[i], big.NewRat(2, 1))
			}
			return dual(c, eps, twice, eta)
		}), Killed: []string{"BaseLowerBound"}},
		{Name: "best column instead of the worst", Impl: lower(func(c [][]float64, eps float64, w, eta []*big.Rat) *big.Rat {
			best := new(big.Rat)
			for j := range c[0] {
				one := make([][]float64, len(c))
				for i := range c {
					one[i] = c[i][j : j+1]
				}
				best = exact.Max(best, dual(one, eps, w, eta))
			}
			return best
		}), Killed: []string{"BaseLowerBound"}},
		{Name: "upper bound rounded down", Impl: edit(func(c [][]float64, _ float64, b *Base) {
			b.Upper = math.Nextafter(b.Upper, 0)
			b.Upper = math.Nextafter(b.Upper, 0)
		}), Killed: []string{"BaseUpperBound"}},
		{Name: "an upper bound of no use",
			Impl:   edit(func(c [][]float64, _ float64, b *Base) { b.Upper += 1e-6 * proptest.MaxCost(c) }),
			Killed: []string{"BaseUpperBound"}},
		{Name: "a bound that is NaN", Impl: edit(func(_ [][]float64, _ float64, b *Base) { b.Lower = math.NaN() }),
			Killed: []string{"BaseUpperBound"}},
	}
	planted.Laws(t, BaseBoundLaws(), refBase, bounds)
	planted.Laws(t, BaseCertificateLaws()[:1], refBase, []planted.Error[BaseMeasurer]{
		{Name: "has no proof", Impl: edit(func(_ [][]float64, _ float64, b *Base) { b.Weights, b.Thresholds = nil, nil }),
			Killed: []string{"BaseCertificate"}},
		{Name: "claims that its value is optimal", Impl: edit(func(_ [][]float64, _ float64, b *Base) { b.Lower = b.F }),
			Killed: []string{"BaseCertificate"}},
		{Name: "rounds Lower up", Impl: edit(func(_ [][]float64, _ float64,
			b *Base) {
			b.Lower = math.Nextafter(b.Lower, math.Inf(1))
		}),
			Killed: []string{"BaseCertificate"}},
		{Name: "has a negative weight", Impl: edit(func(_ [][]float64, _ float64, b *Base) { b.Weights[0] = -1 }),
			Killed: []string{"BaseCertificate"}},
		{Name: "has thresholds of the other rows",
			Impl:   edit(func(_ [][]float64, _ float64, b *Base) { slices.Reverse(b.Thresholds) }),
			Killed: []string{"BaseCertificate"}},
		{Name: "claims the objective of forgotten e^eps",
			Impl: lower(func(c [][]float64, eps float64, w, eta []*big.Rat) *big.Rat {
				return dual(c, 0, w, eta)
			}), Killed: []string{"BaseCertificate"}},
	})
	// known is the reference, which most errors ask for the same large costs: each is solved once.
	bases := map[string]Base{}
	known := func(c [][]float64, eps float64) (Base, error) {
		key := fmt.Sprint(eps, c)
		b, ok := bases[key]
		if !ok {
			var err error
			if b, err = refBase(c, eps); err != nil {
				return b, err
			}
			bases[key] = b
		}
		b.M, b.Weights, b.Thresholds = slices.Clone(b.M), slices.Clone(b.Weights), slices.Clone(b.Thresholds)
		return b, nil
	}
	// first is the reference on so many rows and columns, with what it claims taken for the whole.
	first := func(rows, cols int) BaseMeasurer {
		return func(c [][]float64, eps float64) (Base, error) {
			b, err := known(c, eps)
			part := make([][]float64, min(rows, len(c)))
			for i := range part {
				part[i] = c[i][:min(cols, len(c[i]))]
			}
			if p, e := known(part, eps); e == nil && err == nil {
				b.F, b.Upper, b.Lower = p.F, p.Upper, p.Lower
			}
			return b, err
		}
	}
	planted.Laws(t, BaseCertificateLaws()[1:], known, []planted.Error[BaseMeasurer]{
		{Name: "stops at 16 rows", Impl: first(16, 1<<20), Killed: []string{"BaseCertificateLarge"}},
		{Name: "stops at 32 columns", Impl: first(1<<20, 32), Killed: []string{"BaseCertificateLarge"}},
		{Name: "leaves out the rows after blocks of 8", Impl: func(c [][]float64, eps float64) (Base, error) {
			return first(max(1, len(c)&^7), 1<<20)(c, eps)
		}, Killed: []string{"BaseCertificateLarge"}},
		{Name: "thresholds of other rows above five", Impl: func(c [][]float64, eps float64) (Base, error) {
			b, err := known(c, eps)
			if len(c) > 5 {
				slices.Reverse(b.Thresholds)
			}
			return b, err
		}, Killed: []string{"BaseCertificateLarge"}},
	})
	t.Run("no claim", func(t *testing.T) {
		none := edit(func(_ [][]float64, _ float64, b *Base) { b.Lower, b.Upper = math.Inf(-1), math.Inf(1) })
		proptest.Run(t, BaseLaws(), none)
		proptest.Run(t, BaseBoundLaws(), none)
	})
	planted.Laws(t, BaseLaws(), refBase, []planted.Error[BaseMeasurer]{
		{Name: "swaps alpha and beta", Impl: func(c [][]float64, eps float64) (Base, error) {
			b, err := refBase(c, eps)
			if err != nil {
				return b, err
			}
			box := proptest.BoxOf(b.M, eps)
			top := 0.0
			for i := range c { // the dearest columns first
				s := 0.0
				for j := range c[i] {
					s = max(s, c[i][j])
				}
				v, _ := refKnapsack{[][]float64{reflect(c[i], s)}}.Phi(0, box.Lo, box.Hi)
				top = max(top, s-v)
			}
			b.F, b.Upper = top, top
			return b, nil
		}, Killed: []string{"BaseValue"}},
		{Name: "mass out of range", Impl: edit(func(_ [][]float64, eps float64, b *Base) {
			for j := range b.M {
				b.M[j] *= 2 * math.Exp(eps/2)
			}
		}), Killed: []string{"BaseValue"}},
		{Name: "a negative entry", Impl: edit(func(_ [][]float64, _ float64, b *Base) {
			if len(b.M) > 1 {
				b.M[0], b.M[1] = -b.M[0], b.M[1]+2*b.M[0]
			}
		}), Killed: []string{"BaseValue"}},
		{Name: "absolute rounding", Impl: edit(func(_ [][]float64, _ float64, b *Base) {
			b.F = math.Round(b.F*1e6) / 1e6
		}), Killed: []string{"BaseScale", "BaseValue"}},
		{Name: "always the low end of the mass", Impl: func(c [][]float64, eps float64) (Base, error) {
			kv := len(c[0])
			m := slices.Repeat([]float64{1 / float64(kv)}, kv)
			if eps > 1 {
				m = slices.Repeat([]float64{math.Exp(eps/2) / float64(kv)}, kv) // the constant mechanism
			}
			return claim(c, eps, m)
		}, Killed: []string{"BaseMonotone"}},
	})
}

// reflect returns s - c, so that the cheapest becomes the dearest.
func reflect(c []float64, s float64) []float64 {
	d := make([]float64, len(c))
	for j := range c {
		d[j] = s - c[j]
	}
	return d
}

func TestMinimaxOptimalityLaw(t *testing.T) {
	law := func(b BaseMeasurer) func(*rapid.T) {
		return func(t *rapid.T) { MinimaxOptimality(t, b, proptest.TransitiveCosts(6).Draw(t, "C")) }
	}
	t.Run("reference", rapid.MakeCheck(law(refTransitive)))
	for name, b := range map[string]BaseMeasurer{
		"uniform of mass one": refBase,
		"scale off by one part in a thousand": func(c [][]float64, eps float64) (Base, error) {
			b, err := refTransitive(c, eps)
			if err != nil {
				return b, err
			}
			m := proptest.Clone(b.M)
			for j := range m {
				m[j] *= 1.001
			}
			if w, err := claim(c, eps, m); err == nil {
				w.Lower = b.Lower
				return w, nil
			}
			return b, nil
		},
		"a bound that is not tight": func(c [][]float64, eps float64) (Base, error) {
			b, err := refTransitive(c, eps)
			b.Lower *= 1 - 1e-6
			return b, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			if !planted.Rejects(t, law(b)) {
				t.Errorf("MinimaxOptimality accepts a planted error: %s", name)
			}
		})
	}
}
