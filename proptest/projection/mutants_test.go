package projection

import (
	"cmp"
	"context"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/mincostflow"
	instance "github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/proptest"
	"github.com/wpm-go/wpm/proptest/exact"
	"github.com/wpm-go/wpm/proptest/internal/planted"
	"pgregory.net/rapid"
)

// before changes the problem before the reference solves it; after changes the answer.
func before(change func(p *proptest.Problem)) Projector {
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
func say(r *Projection, v float64) { r.Objective, r.Lower, r.Upper = v, v, v }

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

// anyPoint is a point of the box that looks at no cost.
func anyPoint(p proptest.Problem) []float64 {
	r, err := refProject(proptest.Problem{C: [][]float64{make([]float64, len(p.Lo))}, Mu: []float64{1}, Lo: p.Lo,
		Hi: p.Hi})
	if err != nil {
		return nil
	}
	return r.Q
}

// rowByRow is what a plan to q costs that fills rows in order, each in the order of the columns that rank gives it.
func rowByRow(p proptest.Problem, q []float64, rank func(row []float64) []int) float64 {
	mu, q := proptest.Clone(p.Mu), proptest.Clone(q)
	v := 0.0
	for i, row := range p.C {
		for _, j := range rank(row) {
			d := min(mu[i], q[j])
			v += d * row[j]
			mu[i] -= d
			q[j] -= d
		}
	}
	return v
}

func asTheyCome(row []float64) []int { return proptest.Indices(len(row)) }

func cheapestFirst(row []float64) []int {
	order := proptest.Indices(len(row))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(row[a], row[b]) })
	return order
}

// blindWhere takes all costs of a row for its first one, where the condition holds.
func blindWhere(at func(p *proptest.Problem) bool) Projector {
	return before(func(p *proptest.Problem) {
		if at(p) {
			for _, row := range p.C {
				for j := range row {
					row[j] = row[0]
				}
			}
		}
	})
}

// wide says that a column has hi > e^eps lo > 0.
func wide(eps float64) func(p *proptest.Problem) bool {
	return func(p *proptest.Problem) bool {
		for j, lo := range p.Lo {
			if lo > 0 && p.Hi[j] > math.Exp(eps)*lo {
				return true
			}
		}
		return false
	}
}

// nearlyRight are errors of some problems only, or of little.
func nearlyRight() []planted.Error[Projector] {
	return []planted.Error[Projector]{
		{Name: "drops rows of little mass", Impl: before(func(p *proptest.Problem) {
			for i, m := range p.Mu {
				if m < 1e-3 {
					p.Mu[i] = 0
				}
			}
			proptest.Normalise(p.Mu, 1)
		}), Killed: []string{"FlowEquivalence", "ProjectShift"}},
		{Name: "fills rows in order, the cheapest columns first", Impl: after(func(p proptest.Problem, r *Projection) {
			say(r, rowByRow(p, r.Q, cheapestFirst))
		}), Killed: []string{"FlowEquivalence"}},
		{Name: "takes any point of the box", Impl: after(func(p proptest.Problem, r *Projection) { r.Q = anyPoint(p) }),
			Killed: []string{"FlowEquivalence"}},
		{Name: "is off by 1e-9 of the largest cost",
			Impl:   after(func(p proptest.Problem, r *Projection) { say(r, r.Objective+1e-9*proptest.MaxCost(p.C)) }),
			Killed: []string{"FlowEquivalence"}},
		{Name: "misses mass by 1e-9", Impl: after(func(_ proptest.Problem, r *Projection) {
			for j := range r.Q {
				r.Q[j] *= 1 - 1e-9
			}
		}), Killed: []string{"ProjectInBox"}},
		{Name: "leaves the box by one part in 10^12", Impl: after(func(p proptest.Problem, r *Projection) {
			for j, v := range r.Q {
				if v == p.Hi[j] {
					r.Q[j] *= 1 + 1e-12
				}
			}
		}), Killed: []string{"ProjectInBox"}},
		{Name: "reads the transpose of a square cost", Impl: before(func(p *proptest.Problem) {
			if len(p.C) == len(p.C[0]) {
				for i, row := range p.C {
					for j := range i {
						row[j], p.C[j][i] = p.C[j][i], row[j]
					}
				}
			}
		}), Killed: []string{"FlowEquivalence", "UniformOptimality"}},
		{Name: "is blind unless k = kv", Impl: blindWhere(func(p *proptest.Problem) bool { return len(p.Mu) != len(p.Lo) }),
			Killed: []string{"FlowEquivalence"}},
		{Name: "is blind to costs above 1e9",
			Impl:   blindWhere(func(p *proptest.Problem) bool { return proptest.MaxCost(p.C) > 1e9 }),
			Killed: []string{"FlowEquivalence"}},
		{Name: "is blind above an eps of 20", Impl: blindWhere(wide(20)), Killed: []string{"FlowEquivalence"}},
		{Name: "is blind above an eps of 30", Impl: blindWhere(wide(30)), Killed: []string{"FlowEquivalence"}},
		{Name: "raises the second of two equal costs", Impl: before(func(p *proptest.Problem) {
			for _, row := range p.C {
				for j := range row[1:] {
					if row[j+1] == row[j] {
						row[j+1] *= 1.5
					}
				}
			}
		}), Killed: []string{"FlowEquivalence"}},
		{Name: "has costs of 32 bits", Impl: before(func(p *proptest.Problem) {
			for _, row := range p.C {
				for j := range row {
					row[j] = float64(float32(row[j]))
				}
			}
		}), Killed: []string{"FlowEquivalence"}},
		{Name: "divides mu by its sum first", Impl: before(func(p *proptest.Problem) { proptest.Normalise(p.Mu, 1) }),
			Equivalent: "mu counts relative to its sum, and what the division rounds is far inside ValueTol"},
	}
}

func TestProjectorLaws(t *testing.T) {
	planted.Laws(t, ProjectorLaws(), Projector(ProjectorFunc(refProject)),
		append(nearlyRight(), []planted.Error[Projector]{
			{Name: "forgets the lower bounds", Impl: before(func(p *proptest.Problem) { clear(p.Lo) }),
				Killed: []string{"ProjectInBox", "FlowEquivalence", "DiracReduction"}},
			{Name: "forgets the upper bounds", Impl: before(func(p *proptest.Problem) {
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
			{Name: "is the mixture, not the projection",
				Impl:   after(func(p proptest.Problem, r *Projection) { say(r, mixture(p)) }),
				Killed: []string{"FlowEquivalence", "UniformOptimality", "DiracReduction"}},
			{Name: "takes the first plan that fits", Impl: after(func(p proptest.Problem, r *Projection) {
				say(r, rowByRow(p, anyPoint(p), asTheyCome))
			}),
				Killed: []string{"FlowEquivalence", "ProjectPermutation", "ProjectMonotone", "UniformOptimality", "DiracReduction",
					"DiracMSE"}},
			{Name: "does not normalise mu", Impl: after(func(p proptest.Problem, r *Projection) {
				s := 0.0
				for _, m := range p.Mu {
					s += m
				}
				say(r, r.Objective*s)
			}), Killed: []string{"FlowEquivalence"}},
			{Name: "takes near ties for ties", Impl: before(func(p *proptest.Problem) {
				for _, row := range p.C {
					for j := range row {
						row[j] = math.Round(row[j]*1e6) / 1e6
					}
				}
			}), Killed: []string{"FlowEquivalence", "ProjectScale"}},
			{Name: "reduces rows and does not add back", Impl: before(func(p *proptest.Problem) {
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
			{Name: "shrinks a wide box", Impl: before(func(p *proptest.Problem) {
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
			{Name: "prefers the first column", Impl: before(func(p *proptest.Problem) {
				for _, row := range p.C {
					row[0] *= 0.999
				}
			}), Killed: []string{"ProjectPermutation", "DiracMSE"}},
			{Name: "keeps the answer to the last mu", Impl: func() Projector {
				var mu []float64
				var last Projection
				return ProjectorFunc(func(p proptest.Problem) (r Projection, err error) {
					if slices.Equal(mu, p.Mu) && len(last.Q) == len(p.Lo) {
						return last, nil
					}
					mu = slices.Clone(p.Mu)
					last, err = refProject(p)
					return last, err
				})
			}(), Killed: []string{"ProjectAgain"}},
			{Name: "breaks ties by the number of calls", Impl: func() Projector {
				calls := 0
				return after(func(p proptest.Problem, r *Projection) {
					if calls++; calls%3 == 0 {
						r.Objective = math.Nextafter(r.Objective, math.Inf(1))
					}
				})
			}(), Killed: []string{"ProjectAgain"}},
			{Name: "reports W_2 for W_2^2",
				Impl:   after(func(p proptest.Problem, r *Projection) { say(r, math.Sqrt(r.Objective)) }),
				Killed: []string{"DiracMSE", "ProjectScale"}},
			{Name: "projects a point mass onto its nearest point", Impl: after(func(p proptest.Problem, r *Projection) {
				for i, m := range p.Mu {
					if m == 1 {
						say(r, slices.Min(p.C[i]))
					}
				}
			}), Killed: []string{"DiracReduction", "DiracMSE"}},
		}...))
}

func TestProjectorBoundLaws(t *testing.T) {
	planted.Laws(t, ProjectorBoundLaws(), Projector(ProjectorFunc(refProject)), []planted.Error[Projector]{
		{Name: "claims too much", Impl: after(func(p proptest.Problem, r *Projection) {
			r.Lower = r.Objective * (1 + 1e-9)
			r.Upper = r.Lower
		}), Killed: []string{"ProjectBounds"}},
		{Name: "rounds Lower to nearest",
			Impl:   after(func(p proptest.Problem, r *Projection) { r.Lower = math.Nextafter(r.Objective, 2*r.Objective) }),
			Killed: []string{"ProjectBounds"}},
		{Name: "rounds Upper down",
			Impl:   after(func(p proptest.Problem, r *Projection) { r.Upper = math.Nextafter(r.Objective, 0) }),
			Killed: []string{"ProjectBounds"}},
		{Name: "says NaN", Impl: after(func(p proptest.Problem, r *Projection) { r.Upper = math.NaN() }),
			Killed: []string{"ProjectBounds"}},
		{Name: "is the mixture, not the projection",
			Impl:   after(func(p proptest.Problem, r *Projection) { say(r, mixture(p)) }),
			Killed: []string{"ProjectBounds"}},
		{Name: "is sure to a millionth", Impl: after(func(p proptest.Problem, r *Projection) {
			d := 1e-6 * proptest.MaxCost(p.C)
			r.Lower, r.Upper = r.Lower-d, r.Upper+d
		}), Killed: []string{"ProjectBounds"}},
	})
	t.Run("no claim", func(t *testing.T) {
		proptest.Run(t, ProjectorBoundLaws(),
			after(func(p proptest.Problem, r *Projection) { r.Lower, r.Upper = math.Inf(-1), math.Inf(1) }))
		proptest.Run(t, ProjectorLaws(), after(func(p proptest.Problem, r *Projection) {
			r.Lower, r.Upper, r.Certificate = math.Inf(-1), math.Inf(1), Certificate{}
		}))
	})
}

// network is the solver of this module, which is fast enough for large instances, with a change to the costs that it
// sees and one to its answer.
func network(change func(p *proptest.Problem), last func(p proptest.Problem, r *Projection)) Projector {
	return ProjectorFunc(func(p proptest.Problem) (Projection, error) {
		q := p.Clone()
		if change != nil {
			change(&q)
		}
		s, err := mincostflow.Project(context.Background(),
			instance.Problem{Cost: q.Cost(), Source: q.Mu, Lo: q.Lo, Hi: q.Hi}, mincostflow.Settings{})
		r := Projection{Q: s.Q, Objective: s.Objective, Lower: s.Lower, Upper: s.Upper,
			Certificate: Certificate{G: s.Potentials.G}}
		for _, e := range s.Plan {
			r.Certificate.Plan = append(r.Certificate.Plan, Arc(e))
		}
		if last != nil {
			last(p, &r)
		}
		return r, err
	})
}

func TestProjectorCertificateLaws(t *testing.T) {
	both := []string{"WeakDuality", "WeakDualityLarge"}
	from := func(first int) Projector { // columns from this one on look as dear as the first
		return network(func(p *proptest.Problem) {
			for _, row := range p.C {
				for j := first; j < len(row); j++ {
					row[j] = row[0]
				}
			}
		}, nil)
	}
	planted.Laws(t, ProjectorCertificateLaws(), network(nil, nil), []planted.Error[Projector]{
		{Name: "has two numbers and no proof", Impl: network(nil, func(_ proptest.Problem, r *Projection) {
			r.Certificate = Certificate{G: make([]float64, len(r.Q))}
		}), Killed: both},
		{Name: "has a plan and no potentials",
			Impl: network(nil, func(_ proptest.Problem, r *Projection) { r.Certificate.G = nil }), Killed: both},
		{Name: "has potentials and no plan",
			Impl: network(nil, func(_ proptest.Problem, r *Projection) { r.Certificate.Plan = nil }), Killed: both},
		{Name: "has potentials of another sign", Impl: network(nil, func(_ proptest.Problem, r *Projection) {
			for j := range r.Certificate.G {
				r.Certificate.G[j] *= -1
			}
		}), Killed: both},
		{Name: "has a plan with an arc twice", Impl: network(nil, func(_ proptest.Problem, r *Projection) {
			r.Certificate.Plan = append(r.Certificate.Plan, r.Certificate.Plan[0])
		}), Killed: both},
		{Name: "has a plan that takes mass back", Impl: network(nil, func(_ proptest.Problem, r *Projection) {
			for n := range r.Certificate.Plan {
				r.Certificate.Plan[n].Mass *= -1
			}
		}), Killed: both},
		{Name: "has a plan of twice the mass", Impl: network(nil, func(_ proptest.Problem, r *Projection) {
			for n := range r.Certificate.Plan {
				r.Certificate.Plan[n].Mass /= 2
			}
			r.Objective /= 2
		}), Killed: both},
		{Name: "claims more than it proves",
			Impl:   network(nil, func(_ proptest.Problem, r *Projection) { r.Lower = math.Nextafter(r.Upper, math.Inf(1)) }),
			Killed: both},
		{Name: "names Upper below its plan",
			Impl:   network(nil, func(_ proptest.Problem, r *Projection) { r.Upper = r.Lower * (1 - 1e-9) }),
			Killed: both},
		{Name: "forgets the lower bounds", Impl: network(func(p *proptest.Problem) { clear(p.Lo) }, nil), Killed: both},
		{Name: "is wrong above five columns", Impl: from(5), Killed: []string{"WeakDualityLarge"}},
		{Name: "leaves out the tail after blocks of 8", Impl: network(func(p *proptest.Problem) {
			for _, row := range p.C {
				for j := len(row) &^ 7; j < len(row) && j > 0; j++ {
					row[j] = row[0]
				}
			}
		}, nil), Killed: []string{"WeakDualityLarge"}},
		{Name: "counts columns in a byte", Impl: from(256), Killed: []string{"WeakDualityLarge"}},
		{Name: "counts rows in a byte", Impl: network(func(p *proptest.Problem) {
			for i := 256; i < len(p.C); i++ {
				p.C[i] = p.C[i-256]
			}
		}, nil), Killed: []string{"WeakDualityLarge"}},
	})
}

func TestZeroEpsilonLaw(t *testing.T) {
	t.Run("reference", rapid.MakeCheck(func(t *rapid.T) { ZeroEpsilon(t, ProjectorFunc(refProject), refTransport) }))
	for name, law := range map[string]func(*rapid.T){
		"projection forgets the box": func(t *rapid.T) {
			ZeroEpsilon(t, before(func(p *proptest.Problem) {
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
		t.Run(name, func(t *testing.T) {
			if !planted.Rejects(t, law) {
				t.Errorf("ZeroEpsilon accepts a planted error: %s", name)
			}
		})
	}
}
