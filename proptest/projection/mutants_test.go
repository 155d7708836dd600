package projection

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/proptest"
	"github.com/wpm-go/wpm/proptest/exact"
	"github.com/wpm-go/wpm/proptest/internal/planted"
	"pgregory.net/rapid"
)

// on changes the problem before the reference solves it; after changes the answer.
func on(change func(p *proptest.Problem)) Projector {
	return ProjectorFunc(func(p proptest.Problem) (Projection, error) {
		q := p.Clone()
		change(&q)
		return refProject(q)
	})
}

func after(change func(p proptest.Problem, r *Projection)) Projector {
	return ProjectorFunc(func(p proptest.Problem) (Projection, error) {
		r, err := refProject(p)
		if err == nil {
			change(p, &r)
		}
		return r, err
	})
}

// say makes every number of the answer v.
func say(r *Projection, v float64) {
	r.Objective, r.Lower, r.Upper = v, v, v
	r.Verify = func() (upper, lower *big.Rat, err error) { return exact.Rat(v), exact.Rat(v), nil }
}

// mixture is q_mix = sum mu_i ν_i and what its plan costs.
func mixture(p proptest.Problem) float64 {
	mu, err1 := exact.Distribution(p.Mu)
	l, h, err2 := exact.Box(p.Lo, p.Hi)
	if err1 != nil || err2 != nil {
		return math.NaN()
	}
	v := new(big.Rat)
	for i := range mu {
		phi, _ := exact.Greedy(exact.Rats(p.C[i]), l, h)
		v.Add(v, exact.Mul(mu[i], phi))
	}
	return exact.Float(v)
}

// northWest is a feasible plan that looks at no cost: rows in order, columns in order.
func northWest(p proptest.Problem) float64 {
	r, err := refProject(proptest.Problem{C: [][]float64{make([]float64, len(p.Lo))}, Mu: []float64{1}, Lo: p.Lo, Hi: p.Hi})
	if err != nil {
		return math.NaN()
	}
	mu, q := proptest.Clone(p.Mu), proptest.Clone(r.Q)
	v := 0.0
	for i, j := 0, 0; i < len(mu) && j < len(q); {
		d := min(mu[i], q[j])
		v += d * p.C[i][j]
		mu[i] -= d
		q[j] -= d
		if mu[i] <= q[j] {
			i++
		} else {
			j++
		}
	}
	return v
}

func TestProjectorLaws(t *testing.T) {
	planted.Laws(t, ProjectorLaws(), Projector(ProjectorFunc(refProject)), []planted.Error[Projector]{
		{Name: "forgets the lower bounds", Impl: on(func(p *proptest.Problem) { clear(p.Lo) }),
			Killed: []string{"ProjectInBox", "FlowEquivalence", "WeakDuality", "DiracReduction"}},
		{Name: "forgets the upper bounds", Impl: on(func(p *proptest.Problem) {
			for j := range p.Hi {
				p.Hi[j] = 1
			}
		}), Killed: []string{"ProjectInBox", "FlowEquivalence"}},
		{Name: "renormalises by dividing by the sum", Impl: after(func(p proptest.Problem, r *Projection) {
			sum := 0.0
			for _, v := range r.Q {
				sum += v
			}
			for j := range r.Q {
				r.Q[j] *= 1 / sum
			}
		}), Killed: []string{"ProjectInBox"}},
		{Name: "clamps and leaves the mass", Impl: after(func(p proptest.Problem, r *Projection) {
			for j := range r.Q {
				r.Q[j] = min(r.Q[j], p.Lo[j])
			}
		}), Killed: []string{"ProjectInBox"}},
		{Name: "moves q by an ulp", Impl: after(func(p proptest.Problem, r *Projection) {
			for j := range r.Q {
				r.Q[j] = math.Nextafter(r.Q[j], 2)
			}
		}), Killed: []string{"ProjectInBox"}},
		{Name: "says NaN", Impl: after(func(p proptest.Problem, r *Projection) {
			if len(p.Mu) == 3 {
				r.Objective = math.NaN()
			}
		}), Killed: []string{"FlowEquivalence"}},
		{Name: "sorts its input", Impl: ProjectorFunc(func(p proptest.Problem) (Projection, error) {
			r, err := refProject(p)
			slices.Sort(p.Mu)
			return r, err
		}), Killed: []string{"ProjectInBox", "ProjectMonotone"}},
		{Name: "is the mixture, not the projection", Impl: after(func(p proptest.Problem, r *Projection) { say(r, mixture(p)) }),
			Killed: []string{"FlowEquivalence", "WeakDuality", "UniformOptimality", "DiracReduction"}},
		{Name: "takes the first plan that fits", Impl: after(func(p proptest.Problem, r *Projection) { say(r, northWest(p)) }),
			Killed: []string{"FlowEquivalence", "WeakDuality", "ProjectPermutation", "ProjectMonotone", "UniformOptimality", "DiracReduction", "DiracMSE"}},
		{Name: "does not normalise mu", Impl: after(func(p proptest.Problem, r *Projection) {
			s := 0.0
			for _, m := range p.Mu {
				s += m
			}
			say(r, r.Objective*s)
		}), Killed: []string{"FlowEquivalence"}},
		{Name: "drops rows of little mass", Impl: on(func(p *proptest.Problem) {
			for i, m := range p.Mu {
				if m < 1e-3 {
					p.Mu[i] = 0
				}
			}
			proptest.Normalise(p.Mu, 1)
		}), Killed: []string{"FlowEquivalence", "ProjectShift"}},
		{Name: "takes near ties for ties", Impl: on(func(p *proptest.Problem) {
			for _, row := range p.C {
				for j := range row {
					row[j] = math.Round(row[j]*1e6) / 1e6
				}
			}
		}), Killed: []string{"FlowEquivalence", "ProjectScale"}},
		{Name: "reduces rows and does not add back", Impl: on(func(p *proptest.Problem) {
			for _, row := range p.C {
				least := slices.Min(row)
				for j := range row {
					row[j] -= least
				}
			}
		}), Killed: []string{"ProjectShift", "FlowEquivalence"}},
		{Name: "stops at an absolute gap", Impl: after(func(p proptest.Problem, r *Projection) {
			v := math.Round(r.Objective*1e9) / 1e9
			say(r, v)
		}), Killed: []string{"ProjectScale", "FlowEquivalence"}},
		{Name: "shrinks a wide box", Impl: on(func(p *proptest.Problem) {
			for j := range p.Hi {
				if p.Lo[j] == 0 && p.Hi[j] > 0.3 && len(p.Hi) > 2 {
					p.Hi[j] = 1 / float64(len(p.Hi))
				}
			}
			if s := exact.Sum(exact.Rats(p.Hi)); s.Cmp(big.NewRat(1, 1)) < 0 {
				proptest.Normalise(p.Hi, 1)
			}
			for j := range p.Lo {
				p.Lo[j] = min(p.Lo[j], p.Hi[j])
			}
		}), Killed: []string{"ProjectMonotone"}},
		{Name: "prefers the first column", Impl: on(func(p *proptest.Problem) {
			for _, row := range p.C {
				row[0] *= 0.999
			}
		}), Killed: []string{"ProjectPermutation", "DiracMSE"}},
		{Name: "certifies too much", Impl: after(func(p proptest.Problem, r *Projection) {
			r.Lower = r.Objective * (1 + 1e-9)
			r.Upper = r.Lower
		}), Killed: []string{"FlowEquivalence", "WeakDuality"}},
		{Name: "has a certificate of something else", Impl: after(func(p proptest.Problem, r *Projection) {
			v := exact.Rat(proptest.MaxCost(p.C))
			r.Verify = func() (upper, lower *big.Rat, err error) { return v, v, nil }
		}), Killed: []string{"WeakDuality"}},
		{Name: "reports W_2 for W_2^2", Impl: after(func(p proptest.Problem, r *Projection) { say(r, math.Sqrt(r.Objective)) }),
			Killed: []string{"DiracMSE", "ProjectScale"}},
		{Name: "projects a point mass onto its nearest point", Impl: after(func(p proptest.Problem, r *Projection) {
			for i, m := range p.Mu {
				if m == 1 {
					say(r, slices.Min(p.C[i]))
				}
			}
		}), Killed: []string{"DiracReduction", "DiracMSE"}},
	})
}

func TestZeroEpsilonLaw(t *testing.T) {
	t.Run("reference", rapid.MakeCheck(func(t *rapid.T) { ZeroEpsilon(t, ProjectorFunc(refProject), refTransport) }))
	for name, law := range map[string]func(*rapid.T){
		"projection forgets the box": func(t *rapid.T) {
			ZeroEpsilon(t, on(func(p *proptest.Problem) {
				for j := range p.Lo {
					p.Lo[j], p.Hi[j] = 0, 1
				}
			}), refTransport)
		},
		"projection is the mixture": func(t *rapid.T) {
			ZeroEpsilon(t, after(func(p proptest.Problem, r *Projection) { say(r, mixture(p)) }), refTransport)
		},
		"transport swaps its marginals": func(t *rapid.T) {
			ZeroEpsilon(t, ProjectorFunc(refProject), func(c [][]float64, a, b []float64) (float64, error) {
				if len(a) == len(b) {
					a, b = b, a
				}
				return refTransport(c, a, b)
			})
		},
		"transport normalises b in place": func(t *rapid.T) {
			ZeroEpsilon(t, ProjectorFunc(refProject), func(c [][]float64, a, b []float64) (float64, error) {
				proptest.Normalise(b, 1+1e-15)
				return refTransport(c, a, b)
			})
		},
	} {
		if !planted.Rejects(t, law) {
			t.Errorf("ZeroEpsilon accepts a planted error: %s", name)
		}
	}
}
