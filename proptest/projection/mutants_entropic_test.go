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

// Tests of the laws of the entropic projection, of Hilbert's metric and of the mirror descent.

func TestKLLaws(t *testing.T) {
	// with projects another vector.
	with := func(f func(x float64) float64) KLProjector {
		return func(logS, lo, hi []float64) ([]float64, float64, error) {
			x := make([]float64, len(logS))
			for j, v := range logS {
				x[j] = f(v)
			}
			return bisectKL(x, lo, hi)
		}
	}
	planted.Laws(t, KLLaws(), bisectKL, []planted.Error[KLProjector]{
		{Name: "cuts s and divides by the sum", Impl: func(logS, lo, hi []float64) ([]float64, float64, error) {
			q := make([]float64, len(logS))
			for j := range q {
				q[j] = min(max(math.Exp(logS[j]), lo[j]), hi[j])
			}
			return proptest.Normalise(q, 1), 0, nil
		}, Killed: []string{"KLClosedForm"}},
		{Name: "gives what is missing to the first column with room",
			Impl: func(logS, lo, hi []float64) ([]float64, float64, error) {
				q := proptest.Clone(lo)
				rest := 1.0
				for _, v := range lo {
					rest -= v
				}
				for j := range q {
					up := min(max(rest, 0), hi[j]-lo[j])
					q[j] += up
					rest -= up
				}
				return q, 0, nil
			}, Killed: []string{"KLClosedForm", "KLMinimal"}},
		{Name: "stops the bisection early", Impl: func(logS, lo, hi []float64) ([]float64, float64, error) {
			q, theta, err := bisectKL(logS, lo, hi)
			for j := range q {
				q[j] = min(max(math.Exp(theta+1e-6+logS[j]), lo[j]), hi[j])
			}
			return q, theta, err
		}, Killed: []string{"KLClosedForm"}},
		{Name: "swaps alpha and beta",
			Impl:   func(logS, lo, hi []float64) ([]float64, float64, error) { return bisectKL(logS, hi, lo) },
			Killed: []string{"KLClosedForm"}},
		{Name: "bisects twenty times", Impl: func(logS, lo, hi []float64) ([]float64, float64, error) {
			q, theta, err := bisectKL(logS, lo, hi)
			step := math.Ldexp(2000, -20)
			theta = math.Round(theta/step) * step
			for j := range q {
				q[j] = min(max(math.Exp(theta+logS[j]), lo[j]), hi[j])
			}
			return q, theta, err
		}, Killed: []string{"KLClosedForm"}},
		{Name: "forgets the common factor", Impl: func(logS, lo, hi []float64) ([]float64, float64, error) {
			q := make([]float64, len(logS))
			for j := range q {
				q[j] = min(max(math.Exp(logS[j]), lo[j]), hi[j])
			}
			return q, 0, nil
		}, Killed: []string{"KLClosedForm"}},
		{Name: "projects in the Euclidean norm", Impl: func(logS, lo, hi []float64) ([]float64, float64, error) {
			q := make([]float64, len(logS))
			low, high := -math.Exp(slices.Max(logS))-1, 2.
			for range 200 {
				at, sum := (low+high)/2, 0.0
				for j := range q {
					q[j] = min(max(math.Exp(logS[j])+at, lo[j]), hi[j])
					sum += q[j]
				}
				if sum < 1 {
					low = at
				} else {
					high = at
				}
			}
			return q, 0, nil
		}, Killed: []string{"KLClosedForm", "ProjectionLipschitz"}},
		{Name: "projects s squared", Impl: with(func(x float64) float64 { return 2 * x }),
			Killed: []string{"KLClosedForm", "KLMinimal", "ProjectionLipschitz"}},
		{Name: "projects 1/s", Impl: with(func(x float64) float64 { return -x }),
			Killed: []string{"KLMinimal", "RatioNonexpansive"}},
		{Name: "projects KL(s || q)", Impl: func(logS, lo, hi []float64) ([]float64, float64, error) {
			// The same minimiser where both are finite, but with s normalised first and its small entries lost.
			top := slices.Max(logS)
			x := make([]float64, len(logS))
			for j, v := range logS {
				x[j] = max(v, top-20)
			}
			return bisectKL(x, lo, hi)
		}, Killed: []string{"KLClosedForm"}},
	})
}

// spoiltHilbert is the reference with one function replaced.
type spoiltHilbert struct {
	refHilbert
	distance func(x, y []float64) (float64, error)
	diameter func(a [][]float64) (float64, error)
	contract func(d float64) (float64, float64)
}

func (h spoiltHilbert) Distance(x, y []float64) (float64, error) {
	if h.distance != nil {
		return h.distance(x, y)
	}
	return h.refHilbert.Distance(x, y)
}

func (h spoiltHilbert) Diameter(a [][]float64) (float64, error) {
	if h.diameter != nil {
		return h.diameter(a)
	}
	return h.refHilbert.Diameter(a)
}

func (h spoiltHilbert) Contraction(d float64) (float64, float64) {
	if h.contract != nil {
		return h.contract(d)
	}
	return h.refHilbert.Contraction(d)
}

func TestHilbertLaws(t *testing.T) {
	distance := func(f func(r []*big.Rat) float64) Hilbert {
		return spoiltHilbert{distance: func(x, y []float64) (float64, error) {
			for i := range x {
				if x[i] == 0 || y[i] == 0 {
					return refHilbert{}.Distance(x, y)
				}
			}
			return f(ratios(exact.Rats(x), exact.Rats(y))), nil
		}}
	}
	planted.Laws(t, HilbertLaws(), Hilbert(refHilbert{}), []planted.Error[Hilbert]{
		{Name: "is Thompson's metric", Impl: distance(func(r []*big.Rat) float64 {
			d := 0.0
			for _, v := range r {
				d = max(d, math.Abs(logRat(v)))
			}
			return d
		}), Killed: []string{"HilbertMetric"}},
		{Name: "forgets the minimum", Impl: distance(func(r []*big.Rat) float64 {
			top := r[0]
			for _, v := range r {
				top = exact.Max(top, v)
			}
			return max(0, logRat(top))
		}), Killed: []string{"HilbertMetric"}},
		{Name: "says NaN for zeros", Impl: spoiltHilbert{distance: func(x, y []float64) (float64, error) {
			lo, hi := math.Inf(1), math.Inf(-1)
			for i := range x {
				lo, hi = min(lo, x[i]/y[i]), max(hi, x[i]/y[i])
			}
			return math.Log(hi / lo), nil
		}}, Killed: []string{"HilbertMetric"}},
		{Name: "looks at neighbouring rows only", Impl: spoiltHilbert{diameter: func(a [][]float64) (float64, error) {
			d := 0.0
			for i := range a[1:] {
				d = max(d, exactDiameter(a[i:i+2]))
			}
			return d, nil
		}}, Killed: []string{"BirkhoffDiameter", "BirkhoffContraction"}},
		{Name: "takes the ratio of the largest entry to the smallest",
			Impl: spoiltHilbert{diameter: func(a [][]float64) (float64, error) {
				lo, hi := a[0][0], a[0][0]
				for _, row := range a {
					lo, hi = min(lo, slices.Min(row)), max(hi, slices.Max(row))
				}
				return math.Log(hi) - math.Log(lo), nil
			}}, Killed: []string{"BirkhoffDiameter"}},
		{Name: "has ratios of 32 bits", Impl: distance(func(r []*big.Rat) float64 {
			low, top := float32(math.Inf(1)), float32(0)
			for _, v := range r {
				x, _ := v.Float32()
				low, top = min(low, x), max(top, x)
			}
			return math.Log(float64(top)) - math.Log(float64(low))
		}), Killed: []string{"HilbertMetric"}},
		{Name: "is half of it", Impl: distance(func(r []*big.Rat) float64 { return spreadOf(r) / 2 }),
			Killed: []string{"HilbertMetric"}},
		{Name: "compares with the first row only", Impl: spoiltHilbert{diameter: func(a [][]float64) (float64, error) {
			d := 0.0
			for _, row := range a[1:] {
				d = max(d, exactDiameter([][]float64{a[0], row}))
			}
			return d, nil
		}}, Killed: []string{"BirkhoffDiameter"}},
		{Name: "tanh of an eighth",
			Impl: spoiltHilbert{contract: func(d float64) (float64, float64) {
				return math.Tanh(d / 8),
					2 / (math.Exp(d/4) + 1)
			}},
			Killed: []string{"BirkhoffContraction"}},
		{Name: "1 - tau by subtraction",
			Impl:   spoiltHilbert{contract: func(d float64) (float64, float64) { return math.Tanh(d / 4), 1 - math.Tanh(d/4) }},
			Killed: []string{"BirkhoffContraction"}},
	})
}

// noCorrection alternates the two projections of Lemma kl-projection: it projects the column sums of the plan, in which
// the old v still is, and multiplies v by the ratio.
func noCorrection(p proptest.Problem, reg float64, logV []float64) (next, q []float64, err error) {
	_, logC := parts(p, reg, logV)
	q, _, err = bisectKL(logC, p.Lo, p.Hi)
	for j, x := range logsOf(q) {
		next = append(next, logV[j]+x-logC[j])
	}
	return next, q, err
}

// absorbed keeps v in the kernel, as stabilised Sinkhorn does, and projects the s of that kernel.
func absorbed(p proptest.Problem, reg float64, logV []float64) (next, q []float64, err error) {
	logS, logC := parts(p, reg, logV)
	q, _, err = bisectKL(logC, p.Lo, p.Hi)
	return minus(logsOf(q), logS), q, err
}

// changed is the step with another v, q or problem.
func changed(in func(p *proptest.Problem, reg *float64), out func(logV, next, q []float64)) CompositeMap {
	return func(p proptest.Problem, reg float64, logV []float64) (next, q []float64, err error) {
		if in != nil {
			p = p.Clone()
			in(&p, &reg)
		}
		next, q, err = plainStep(p, reg, logV)
		if out != nil {
			out(logV, next, q)
		}
		return next, q, err
	}
}

// relaxed goes w times as far as the step.
func relaxed(w float64) CompositeMap {
	return func(p proptest.Problem, reg float64, logV []float64) (next, q []float64, err error) {
		next, q, err = plainStep(p, reg, logV)
		for j := range next {
			if !math.IsInf(logV[j], -1) { // a column that is shut stays shut
				next[j] = logV[j] + w*(next[j]-logV[j])
			}
		}
		return next, q, err
	}
}

func TestCompositeLaws(t *testing.T) {
	planted.Laws(t, CompositeLaws(), Composite(CompositeMap(plainStep)), []planted.Error[Composite]{
		{Name: "projects without Dykstra's correction", Impl: CompositeMap(noCorrection),
			Killed: []string{"StepLimit", "StepConverges", "StepConvergesKL"}},
		{Name: "projects the s of the absorbed kernel", Impl: CompositeMap(absorbed),
			Killed: []string{"StepLimit", "StepConverges", "StepConvergesKL"}},
		{Name: "goes half the way", Impl: relaxed(0.5),
			Killed: []string{"StepContracts", "StepConverges", "StepConvergesKL", "StepHomogeneous"}},
		{Name: "goes half as far again", Impl: relaxed(1.5),
			Killed: []string{"StepContracts", "StepConverges", "StepConvergesKL", "StepHomogeneous"}},
		{Name: "scales v to largest entry 1", Impl: changed(nil, func(_, next, _ []float64) {
			top := slices.Max(next)
			for j := range next {
				next[j] -= top
			}
		}), Killed: []string{"StepHomogeneous"}},
		{Name: "returns the column sums for q",
			Impl: CompositeMap(func(p proptest.Problem, reg float64, logV []float64) (next, q []float64, err error) {
				next, _, err = plainStep(p, reg, logV)
				_, logC := parts(p, reg, logV)
				for _, x := range logC {
					q = append(q, math.Exp(x))
				}
				return next, q, err
			}), Killed: []string{"StepInBox"}},
		{Name: "does not divide by s",
			Impl: CompositeMap(func(p proptest.Problem, reg float64, logV []float64) (next, q []float64, err error) {
				_, q, err = plainStep(p, reg, logV)
				return logsOf(q), q, err
			}), Killed: []string{"StepHomogeneous", "StepLimit"}},
		{Name: "drops rows with a mass below e^-29", Impl: changed(func(p *proptest.Problem, _ *float64) {
			for i, m := range p.Mu {
				if m < math.Exp(-29) {
					p.Mu[i] = 0
				}
			}
		}, nil), Killed: []string{"StepHomogeneous"}},
		{Name: "forgets mu", Impl: changed(func(p *proptest.Problem, _ *float64) {
			for i := range p.Mu {
				p.Mu[i] = 1 / float64(len(p.Mu))
			}
		}, nil), Killed: []string{"StepLimit"}},
		{Name: "takes half of reg", Impl: changed(func(_ *proptest.Problem, reg *float64) { *reg /= 2 }, nil),
			Killed: []string{"StepLimit", "StepHomogeneous"}},
		{Name: "swaps alpha and beta", Impl: changed(func(p *proptest.Problem, _ *float64) { p.Lo, p.Hi = p.Hi, p.Lo }, nil),
			Killed: []string{"StepInBox"}},
	})
}

func TestEntropicLaws(t *testing.T) {
	other := func(in func(p *proptest.Problem, reg *float64)) Entropic {
		return EntropicFunc(func(p proptest.Problem, reg float64) (EntropicProjection, error) {
			p = p.Clone()
			in(&p, &reg)
			return refEntropic(p, reg)
		})
	}
	errors := []planted.Error[Entropic]{
		{Name: "projects without Dykstra's correction", Impl: iterate(noCorrection, 5000),
			Killed: []string{"EntropicVector", "EntropicOptimum"}},
		{Name: "projects the s of the absorbed kernel", Impl: iterate(absorbed, 50),
			Killed: []string{"EntropicVector", "EntropicOptimum"}},
		{Name: "gives up", Impl: EntropicFunc(func(proptest.Problem, float64) (EntropicProjection, error) {
			return EntropicProjection{}, ErrNoAnswer
		}), Killed: []string{"EntropicInBox", "EntropicOptimum", "EntropicVector", "EntropicPoint", "EntropicGap"}},
		{Name: "starts from the v of the last call", Impl: func() Entropic {
			var v []float64
			return EntropicFunc(func(p proptest.Problem, reg float64) (EntropicProjection, error) {
				warm := func(p proptest.Problem, reg float64, logV []float64) (next, q []float64, err error) {
					if len(v) == len(logV) { // once
						logV, v = v, nil
					}
					return plainStep(p, reg, logV)
				}
				r, err := iterate(warm, 20000)(p, reg)
				v = slices.Clone(r.LogV)
				return r, err
			})
		}(), Killed: []string{"EntropicAgain"}},
		{Name: "keeps the answer to the last costs", Impl: func() Entropic {
			var c [][]float64
			var last EntropicProjection
			return EntropicFunc(func(p proptest.Problem, reg float64) (r EntropicProjection, err error) {
				if slices.EqualFunc(c, p.C, slices.Equal[[]float64]) {
					return last, nil
				}
				c = p.Clone().C
				last, err = refEntropic(p, reg)
				return last, err
			})
		}(), Killed: []string{"EntropicAgain"}},
		{Name: "stops after two iterations", Impl: iterate(plainStep, 2), Killed: []string{"EntropicOptimum"}},
		{Name: "stops after a dozen iterations", Impl: iterate(plainStep, 12), Killed: []string{"EntropicOptimum"}},
		{Name: "stops after 100 iterations", Impl: iterate(plainStep, 100), Killed: []string{"EntropicOptimum"}},
		{Name: "stops after 1000 iterations", Impl: iterate(plainStep, 1000), Killed: []string{"EntropicOptimum"}},
		{Name: "stops at a residual of 1e-9", Impl: stopping(plainStep, 20000, 1e-9), Killed: []string{"EntropicOptimum"}},
		{Name: "goes half the way", Impl: iterate(relaxed(0.5), 20000),
			Equivalent: "a damped iteration has the same limit; CompositeLaws speak of the steps"},
		{Name: "has costs of 32 bits", Impl: other(func(p *proptest.Problem, _ *float64) {
			for _, row := range p.C {
				for j := range row {
					row[j] = float64(float32(row[j]))
				}
			}
		}), Killed: []string{"EntropicOptimum"}},
		{Name: "leaves the box by 1e-9",
			Impl: EntropicFunc(func(p proptest.Problem, reg float64) (EntropicProjection, error) {
				r, err := refEntropic(p, reg)
				for j, v := range r.Q {
					if v == p.Hi[j] {
						r.Q[j] += 1e-9
					}
				}
				return r, err
			}), Killed: []string{"EntropicInBox"}},
		{Name: "takes a tenth of reg", Impl: other(func(_ *proptest.Problem, reg *float64) { *reg /= 10 }),
			Killed: []string{"EntropicOptimum"}},
		{Name: "takes ten times reg", Impl: other(func(_ *proptest.Problem, reg *float64) { *reg *= 10 }),
			Killed: []string{"EntropicOptimum", "EntropicGap"}},
		{Name: "takes half of reg", Impl: other(func(_ *proptest.Problem, reg *float64) { *reg /= 2 }),
			Killed: []string{"EntropicOptimum"}},
		{Name: "is one part in a million off in reg",
			Impl: other(func(_ *proptest.Problem, reg *float64) { *reg *= 1 + 1e-6 }), Killed: []string{"EntropicOptimum"}},
		{Name: "takes reg for reg/2", Impl: other(func(_ *proptest.Problem, reg *float64) { *reg *= 2 }),
			Killed: []string{"EntropicOptimum", "EntropicPoint", "EntropicGap"}},
		{Name: "swaps alpha and beta", Impl: other(func(p *proptest.Problem, _ *float64) { p.Lo, p.Hi = p.Hi, p.Lo }),
			Killed: []string{"EntropicInBox"}},
		{Name: "forgets the upper bounds", Impl: other(func(p *proptest.Problem, _ *float64) {
			for j, v := range p.Hi {
				if v > 0 {
					p.Hi[j] = 1
				}
			}
		}), Killed: []string{"EntropicInBox", "EntropicVector"}},
		{Name: "divides q by its sum", Impl: EntropicFunc(func(p proptest.Problem, reg float64) (EntropicProjection, error) {
			r, err := refEntropic(p, reg)
			s := 0.0
			for _, v := range r.Q {
				s += v
			}
			for j := range r.Q {
				r.Q[j] *= (1 + 1e-13) / s
			}
			return r, err
		}), Killed: []string{"EntropicInBox"}},
		{Name: "is the exact projection",
			Impl: EntropicFunc(func(p proptest.Problem, reg float64) (EntropicProjection, error) {
				r, err := refProject(p)
				return EntropicProjection{Q: r.Q, LogV: make([]float64, len(r.Q))}, err
			}), Killed: []string{"EntropicGap", "EntropicPoint", "EntropicOptimum"}},
		{Name: "is the projection of the Gibbs law of the mean cost",
			Impl: EntropicFunc(func(p proptest.Problem, reg float64) (EntropicProjection, error) {
				logS := make([]float64, len(p.Lo))
				for j := range logS {
					for i, m := range p.Mu {
						logS[j] -= m * p.C[i][j] / reg
					}
				}
				q, _, err := bisectKL(logS, p.Lo, p.Hi)
				return EntropicProjection{Q: q, LogV: make([]float64, len(q))}, err
			}), Killed: []string{"EntropicOptimum"}},
	}
	for n := range errors {
		errors[n].Impl = narrow(errors[n].Impl)
	}
	planted.Laws(t, EntropicLaws(), narrow(EntropicFunc(refEntropic)), errors)
}

// narrow has the domain of the reference, which takes some exp(spread/reg) iterations.
func narrow(e Entropic) Entropic { return EntropicOn{Entropic: e, Reg: 0.1} }

// TestAsPrinted: Algorithm 1 in logarithms, with C/reg as the paper prints it, keeps the laws. Where costs are much
// larger than their differences it does not keep those of a solver that works with differences.
func TestAsPrinted(t *testing.T) {
	printed := func(p proptest.Problem, reg float64, logV []float64) (next, q []float64, err error) {
		logS, _ := partsFrom(p, reg, logV, func([]float64) float64 { return 0 })
		q, _, err = bisectKL(logS, p.Lo, p.Hi)
		return minus(logsOf(q), logS), q, err
	}
	proptest.Run(t, CompositeLaws(), Composite(CompositeMap(printed)))
	proptest.Run(t, EntropicLaws(),
		Entropic(EntropicOn{Entropic: honest(iterate(printed, 20000)), Spread: DefaultSpread, Reg: 0.1}))
	differences := CompositeOn{Composite: CompositeMap(printed)}
	for _, l := range CompositeLaws() {
		if l.Name == "StepHomogeneous" && !planted.Rejects(t, func(t *rapid.T) { l.Check(t, differences) }) {
			t.Errorf("%s does not see C/reg rounded", l.Name)
		}
	}
}

// TestEntropicOn: what the laws draw lies in the domain asked for, wide or narrow, and reaches its ends.
func TestEntropicOn(t *testing.T) {
	var reg, spread float64 // the least drawn
	seen := EntropicFunc(func(p proptest.Problem, r float64) (EntropicProjection, error) {
		if s := proptest.RowRange(p.C); s > 0 {
			reg, spread = min(reg, r/s), min(spread, s/proptest.MaxCost(p.C))
		}
		q, _, err := bisectKL(make([]float64, len(p.Lo)), p.Lo, p.Hi)
		return EntropicProjection{Q: q}, err
	})
	for _, tt := range []struct {
		e           Entropic
		spread, reg float64 // the domain
	}{
		{seen, 1e-9, 1e-4},
		{EntropicOn{Entropic: seen, Spread: 0.1, Reg: 0.1}, 0.1, 0.1},
		{EntropicOn{Entropic: seen, Spread: 1e-3}, 1e-3, 1e-4},
		{EntropicOn{Entropic: seen, Reg: 1e-7}, 0, 1e-7},
	} {
		reg, spread = math.Inf(1), math.Inf(1)
		rapid.Check(t, func(t *rapid.T) {
			for range 10 {
				EntropicInBox(t, tt.e)
			}
		})
		const rounding = 1e-12 // of exp, log and the product with the spread
		if !(reg >= tt.reg*(1-rounding) && reg <= 2*tt.reg) {
			t.Errorf("domain %v, %v: the least reg is %v spreads", tt.spread, tt.reg, reg)
		}
		if !(spread >= tt.spread) || tt.spread == 0 && !(spread < 1e-12) { // near ties are an ulp apart
			t.Errorf("domain %v, %v: the least spread is %v max C", tt.spread, tt.reg, spread)
		}
	}
}

func TestEntropicBoundLaws(t *testing.T) {
	// Where reg is small the iteration would take for ever, and bounds must hold anyway.
	few := EntropicFunc(func(p proptest.Problem, reg float64) (EntropicProjection, error) {
		if reg < 0.09*proptest.RowRange(p.C) {
			return iterate(plainStep, 100)(p, reg)
		}
		return refEntropic(p, reg)
	})
	claimed := func(change func(p proptest.Problem, reg float64, r *EntropicProjection)) Entropic {
		return EntropicFunc(func(p proptest.Problem, reg float64) (EntropicProjection, error) {
			r, err := few(p, reg)
			if err == nil {
				change(p, reg, &r)
			}
			return r, err
		})
	}
	errors := []planted.Error[Entropic]{
		{Name: "takes 2 reg log k for the gap", Impl: claimed(func(p proptest.Problem, reg float64, r *EntropicProjection) {
			r.Lower = max(0, r.Upper-2*reg*math.Log(float64(len(p.Mu))))
		}), Killed: []string{"EntropicBounds"}},
		{Name: "takes the entropic value for an upper bound",
			Impl: claimed(func(_ proptest.Problem, _ float64, r *EntropicProjection) {
				r.Upper = max(r.Lower, min(r.Upper, r.Objective))
			}), Killed: []string{"EntropicBounds"}},
		{Name: "takes the cost of an unfinished plan for an upper bound",
			Impl: EntropicFunc(func(p proptest.Problem, reg float64) (EntropicProjection, error) {
				r, err := iterate(plainStep, 1)(p, reg)
				if err == nil { // the plan of v = 1: every row moves by its own Gibbs law
					v := 0.0
					for i, row := range p.C {
						x, z := 0.0, 0.0
						for j, c := range row {
							if p.Hi[j] > 0 {
								w := math.Exp((slices.Min(row) - c) / reg)
								x, z = x+c*w, z+w
							}
						}
						if z > 0 {
							v += p.Mu[i] * x / z
						}
					}
					r.Upper = v
				}
				return r, err
			}), Killed: []string{"EntropicBounds"}},
		{Name: "has a log v of something else", Impl: claimed(func(_ proptest.Problem, _ float64, r *EntropicProjection) {
			for j := range r.LogV {
				r.LogV[j] = 30 * float64(j)
			}
		}), Killed: []string{"EntropicSandwich"}},
		{Name: "counts the mass in the entropy",
			Impl:   claimed(func(_ proptest.Problem, reg float64, r *EntropicProjection) { r.Objective -= reg }),
			Killed: []string{"EntropicSandwich"}},
		{Name: "takes the divergence from the product of the marginals",
			Impl: claimed(func(p proptest.Problem, reg float64, r *EntropicProjection) {
				for _, x := range [][]float64{p.Mu, r.Q} {
					for _, v := range x {
						if v > 0 {
							r.Objective -= reg * v * math.Log(v)
						}
					}
				}
			}), Killed: []string{"EntropicSandwich"}},
		{Name: "reports the cost of the plan alone",
			Impl:   claimed(func(_ proptest.Problem, _ float64, r *EntropicProjection) { r.Objective = r.Upper }),
			Killed: []string{"EntropicSandwich"}},
	}
	for n := range errors {
		errors[n].Impl = narrow(errors[n].Impl)
	}
	planted.Laws(t, EntropicBoundLaws(), narrow(few), errors)
	t.Run("no claim", func(t *testing.T) {
		proptest.Run(t, EntropicBoundLaws(), narrow(claimed(func(_ proptest.Problem, _ float64, r *EntropicProjection) {
			r.Lower, r.Upper = math.Inf(-1), math.Inf(1)
		})))
	})
	potentials := func(f func(r *EntropicProjection)) Entropic {
		return claimed(func(_ proptest.Problem, _ float64, r *EntropicProjection) { f(r) })
	}
	planted.Laws(t, EntropicCertificateLaws(), Entropic(few), []planted.Error[Entropic]{
		{Name: "has no potentials", Impl: potentials(func(r *EntropicProjection) { r.G = nil }),
			Killed: []string{"EntropicCertificate"}},
		{Name: "has potentials of zero", Impl: potentials(func(r *EntropicProjection) { clear(r.G) }),
			Killed: []string{"EntropicCertificate"}},
		{Name: "claims the objective", Impl: potentials(func(r *EntropicProjection) { r.Lower = r.Upper }),
			Killed: []string{"EntropicCertificate"}},
		{Name: "rounds Lower up", Impl: potentials(func(r *EntropicProjection) {
			r.Lower = math.Nextafter(r.Lower,
				math.Inf(1))
		}),
			Killed: []string{"EntropicCertificate"}},
		{Name: "says NaN", Impl: potentials(func(r *EntropicProjection) { r.Lower = math.NaN() }),
			Killed: []string{"EntropicCertificate"}},
	})
}
