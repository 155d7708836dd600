package proptest

import (
	"math"
	"math/big"
	"slices"
	"testing"
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
			return refKL(x, lo, hi)
		}
	}
	testLaws(t, KLLaws(), refKL, []mutant[KLProjector]{
		{"cuts s and divides by the sum", func(logS, lo, hi []float64) ([]float64, float64, error) {
			q := make([]float64, len(logS))
			for j := range q {
				q[j] = min(max(math.Exp(logS[j]), lo[j]), hi[j])
			}
			return normalise(q, 1), 0, nil
		}, []string{"KLClosedForm"}},
		{"gives what is missing to the first column with room", func(logS, lo, hi []float64) ([]float64, float64, error) {
			q := clone(lo)
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
		}, []string{"KLClosedForm", "KLMinimal"}},
		{"stops the bisection early", func(logS, lo, hi []float64) ([]float64, float64, error) {
			q, theta, err := refKL(logS, lo, hi)
			for j := range q {
				q[j] = min(max(math.Exp(theta+1e-6+logS[j]), lo[j]), hi[j])
			}
			return q, theta, err
		}, []string{"KLClosedForm"}},
		{"swaps alpha and beta", func(logS, lo, hi []float64) ([]float64, float64, error) { return refKL(logS, hi, lo) },
			[]string{"KLClosedForm"}},
		{"projects s squared", with(func(x float64) float64 { return 2 * x }), []string{"KLClosedForm", "KLMinimal", "ProjectionLipschitz"}},
		{"projects 1/s", with(func(x float64) float64 { return -x }), []string{"KLMinimal", "RatioNonexpansive"}},
		{"projects KL(s || q)", func(logS, lo, hi []float64) ([]float64, float64, error) {
			// The same minimiser where both are finite, but with s normalised first and its small entries lost.
			top := slices.Max(logS)
			x := make([]float64, len(logS))
			for j, v := range logS {
				x[j] = max(v, top-20)
			}
			return refKL(x, lo, hi)
		}, []string{"KLClosedForm"}},
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
			return f(ratios(ratsOf(x), ratsOf(y))), nil
		}}
	}
	testLaws(t, HilbertLaws(), Hilbert(refHilbert{}), []mutant[Hilbert]{
		{"is Thompson's metric", distance(func(r []*big.Rat) float64 {
			d := 0.0
			for _, v := range r {
				d = max(d, math.Abs(logRat(v)))
			}
			return d
		}), []string{"HilbertMetric"}},
		{"forgets the minimum", distance(func(r []*big.Rat) float64 {
			top := r[0]
			for _, v := range r {
				top = maxRat(top, v)
			}
			return max(0, logRat(top))
		}), []string{"HilbertMetric"}},
		{"says NaN for zeros", spoiltHilbert{distance: func(x, y []float64) (float64, error) {
			lo, hi := math.Inf(1), math.Inf(-1)
			for i := range x {
				lo, hi = min(lo, x[i]/y[i]), max(hi, x[i]/y[i])
			}
			return math.Log(hi / lo), nil
		}}, []string{"HilbertMetric"}},
		{"looks at neighbouring rows only", spoiltHilbert{diameter: func(a [][]float64) (float64, error) {
			d := 0.0
			for i := range a[1:] {
				d = max(d, exactDiameter(a[i:i+2]))
			}
			return d, nil
		}}, []string{"BirkhoffDiameter", "BirkhoffContraction"}},
		{"takes the ratio of the largest entry to the smallest", spoiltHilbert{diameter: func(a [][]float64) (float64, error) {
			lo, hi := a[0][0], a[0][0]
			for _, row := range a {
				lo, hi = min(lo, slices.Min(row)), max(hi, slices.Max(row))
			}
			return math.Log(hi) - math.Log(lo), nil
		}}, []string{"BirkhoffDiameter"}},
		{"tanh of an eighth", spoiltHilbert{contract: func(d float64) (float64, float64) { return math.Tanh(d / 8), 2 / (math.Exp(d/4) + 1) }},
			[]string{"BirkhoffContraction"}},
		{"1 - tau by subtraction", spoiltHilbert{contract: func(d float64) (float64, float64) { return math.Tanh(d / 4), 1 - math.Tanh(d/4) }},
			[]string{"BirkhoffContraction"}},
	})
}

// noCorrection alternates the two projections of Lemma kl-projection: it projects the column sums of the plan, in which the
// old v still is, and multiplies v by the ratio.
func noCorrection(p Problem, reg float64, logV []float64) (next, q []float64, err error) {
	_, logC := parts(p, reg, logV)
	q, _, err = refKL(logC, p.Lo, p.Hi)
	for j, x := range logsOf(q) {
		next = append(next, logV[j]+x-logC[j])
	}
	return next, q, err
}

// absorbed keeps v in the kernel, as stabilised Sinkhorn does, and projects the s of that kernel.
func absorbed(p Problem, reg float64, logV []float64) (next, q []float64, err error) {
	logS, logC := parts(p, reg, logV)
	q, _, err = refKL(logC, p.Lo, p.Hi)
	return minus(logsOf(q), logS), q, err
}

// changed is the step with another v, q or problem.
func changed(in func(p *Problem, reg *float64), out func(logV, next, q []float64)) CompositeMap {
	return func(p Problem, reg float64, logV []float64) (next, q []float64, err error) {
		if in != nil {
			p = p.Clone()
			in(&p, &reg)
		}
		next, q, err = refStep(p, reg, logV)
		if out != nil {
			out(logV, next, q)
		}
		return next, q, err
	}
}

func TestCompositeLaws(t *testing.T) {
	relaxed := func(w float64) CompositeMap {
		return changed(nil, func(logV, next, q []float64) {
			for j := range next {
				next[j] = logV[j] + w*(next[j]-logV[j])
			}
		})
	}
	testLaws(t, CompositeLaws(), refStep, []mutant[CompositeMap]{
		{"projects without Dykstra's correction", noCorrection, []string{"StepLimit"}},
		{"projects the s of the absorbed kernel", absorbed, []string{"StepLimit"}},
		{"goes half the way", relaxed(0.5), []string{"StepContracts", "StepConverges", "StepConvergesKL", "StepHomogeneous"}},
		{"goes half as far again", relaxed(1.5), []string{"StepContracts", "StepConverges", "StepConvergesKL", "StepHomogeneous"}},
		{"scales v to largest entry 1", changed(nil, func(_, next, _ []float64) {
			top := slices.Max(next)
			for j := range next {
				next[j] -= top
			}
		}), []string{"StepHomogeneous"}},
		{"returns the column sums for q", func(p Problem, reg float64, logV []float64) (next, q []float64, err error) {
			next, _, err = refStep(p, reg, logV)
			_, logC := parts(p, reg, logV)
			for _, x := range logC {
				q = append(q, math.Exp(x))
			}
			return next, q, err
		}, []string{"StepInBox"}},
		{"forgets mu", changed(func(p *Problem, _ *float64) {
			for i := range p.Mu {
				p.Mu[i] = 1 / float64(len(p.Mu))
			}
		}, nil), []string{"StepLimit"}},
		{"takes half of reg", changed(func(_ *Problem, reg *float64) { *reg /= 2 }, nil), []string{"StepLimit", "StepHomogeneous"}},
		{"swaps alpha and beta", changed(func(p *Problem, _ *float64) { p.Lo, p.Hi = p.Hi, p.Lo }, nil), []string{"StepInBox"}},
	})
}

func TestEntropicLaws(t *testing.T) {
	other := func(in func(p *Problem, reg *float64)) Entropic {
		return EntropicFunc(func(p Problem, reg float64) (EntropicProjection, error) {
			p = p.Clone()
			in(&p, &reg)
			return refEntropic(p, reg)
		})
	}
	testLaws(t, EntropicLaws(), Entropic(EntropicFunc(refEntropic)), []mutant[Entropic]{
		{"projects without Dykstra's correction", iterate(noCorrection, 5000), []string{"EntropicVector", "EntropicOptimum"}},
		{"projects the s of the absorbed kernel", iterate(absorbed, 50), []string{"EntropicVector", "EntropicOptimum"}},
		{"stops after two iterations", iterate(refStep, 2), []string{"EntropicOptimum"}},
		{"stops after a given number of iterations", iterate(refStep, 12), []string{"EntropicOptimum"}},
		{"takes reg for reg/2", other(func(_ *Problem, reg *float64) { *reg *= 2 }), []string{"EntropicOptimum", "EntropicPoint", "EntropicGap"}},
		{"swaps alpha and beta", other(func(p *Problem, _ *float64) { p.Lo, p.Hi = p.Hi, p.Lo }), []string{"EntropicInBox"}},
		{"forgets the upper bounds", other(func(p *Problem, _ *float64) {
			for j, v := range p.Hi {
				if v > 0 {
					p.Hi[j] = 1
				}
			}
		}), []string{"EntropicInBox", "EntropicVector"}},
		{"divides q by its sum", EntropicFunc(func(p Problem, reg float64) (EntropicProjection, error) {
			r, err := refEntropic(p, reg)
			s := 0.0
			for _, v := range r.Q {
				s += v
			}
			for j := range r.Q {
				r.Q[j] *= (1 + 1e-13) / s
			}
			return r, err
		}), []string{"EntropicInBox"}},
		{"is the exact projection", EntropicFunc(func(p Problem, reg float64) (EntropicProjection, error) {
			r, err := refProject(p)
			return EntropicProjection{Q: r.Q, LogV: make([]float64, len(r.Q))}, err
		}), []string{"EntropicGap", "EntropicPoint", "EntropicOptimum"}},
		{"is the projection of the Gibbs law of the mean cost", EntropicFunc(func(p Problem, reg float64) (EntropicProjection, error) {
			logS := make([]float64, len(p.Lo))
			for j := range logS {
				for i, m := range p.Mu {
					logS[j] -= m * p.C[i][j] / reg
				}
			}
			q, _, err := refKL(logS, p.Lo, p.Hi)
			return EntropicProjection{Q: q, LogV: make([]float64, len(q))}, err
		}), []string{"EntropicOptimum"}},
	})
}

func TestEntropicBoundLaws(t *testing.T) {
	// Where reg is small the iteration would take for ever, and bounds must hold anyway.
	few := EntropicFunc(func(p Problem, reg float64) (EntropicProjection, error) {
		if reg < 0.09*rowRange(p.C) {
			return iterate(refStep, 100)(p, reg)
		}
		return refEntropic(p, reg)
	})
	// claimed changes the claims, in the floats and in the certificate.
	claimed := func(change func(p Problem, reg float64, r *EntropicProjection)) Entropic {
		return EntropicFunc(func(p Problem, reg float64) (EntropicProjection, error) {
			r, err := few(p, reg)
			if err == nil {
				change(p, reg, &r)
				upper, lower := rat(r.Upper), rat(r.Lower)
				r.Verify = func() (u, l *big.Rat, err error) { return upper, lower, nil }
			}
			return r, err
		})
	}
	testLaws(t, EntropicBoundLaws(), Entropic(few), []mutant[Entropic]{
		{"takes 2 reg log k for the gap", claimed(func(p Problem, reg float64, r *EntropicProjection) {
			r.Lower = max(0, r.Upper-2*reg*math.Log(float64(len(p.Mu))))
		}), []string{"EntropicBounds", "EntropicCertificate"}},
		{"takes the entropic value for an upper bound", claimed(func(_ Problem, _ float64, r *EntropicProjection) {
			r.Upper = max(r.Lower, min(r.Upper, r.Objective))
		}), []string{"EntropicBounds"}},
		{"takes the cost of an unfinished plan for an upper bound", EntropicFunc(func(p Problem, reg float64) (EntropicProjection, error) {
			r, err := iterate(refStep, 1)(p, reg)
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
		}), []string{"EntropicBounds"}},
		{"certifies less than it claims", EntropicFunc(func(p Problem, reg float64) (EntropicProjection, error) {
			r, err := few(p, reg)
			if err == nil {
				upper, lower := rat(2*r.Upper), rat(0)
				r.Verify = func() (u, l *big.Rat, err error) { return upper, lower, nil }
			}
			return r, err
		}), []string{"EntropicCertificate"}},
		{"counts the mass in the entropy", claimed(func(_ Problem, reg float64, r *EntropicProjection) { r.Objective -= reg }),
			[]string{"EntropicSandwich"}},
		{"takes the divergence from the product of the marginals", claimed(func(p Problem, reg float64, r *EntropicProjection) {
			for _, x := range [][]float64{p.Mu, r.Q} {
				for _, v := range x {
					if v > 0 {
						r.Objective -= reg * v * math.Log(v)
					}
				}
			}
		}), []string{"EntropicSandwich"}},
		{"reports the cost of the plan alone", claimed(func(_ Problem, _ float64, r *EntropicProjection) { r.Objective = r.Upper }),
			[]string{"EntropicSandwich"}},
	})
}

func TestGKLLaws(t *testing.T) {
	both := []string{"GKLProjection", "GKLThreePoint"}
	testLaws(t, GKLLaws(), paperProject, []mutant[GKLProjector]{
		{"divides by the sum", func(v []float64, _ float64) ([]float64, error) { return normalise(clone(v), 1), nil }, both},
		{"swaps alpha and beta", func(v []float64, eps float64) ([]float64, error) {
			sum := 0.0
			for _, x := range v {
				sum += x
			}
			return normalise(clone(v), max(min(sum, math.Exp(-eps/2)), math.Exp(eps/2))), nil
		}, both},
		{"projects in the Euclidean norm", func(v []float64, eps float64) ([]float64, error) {
			sum := 0.0
			for _, x := range v {
				sum += x
			}
			m := clone(v)
			for j := range m {
				m[j] = max(0, m[j]+(min(max(sum, math.Exp(-eps/2)), math.Exp(eps/2))-sum)/float64(len(m)))
			}
			return m, nil
		}, both},
		{"cuts each entry", func(v []float64, eps float64) ([]float64, error) {
			m := clone(v)
			for j := range m {
				m[j] = min(max(m[j], math.Exp(-eps/2)/float64(len(v))), math.Exp(eps/2)/float64(len(v)))
			}
			return m, nil
		}, both},
		{"forgets the least mass", func(v []float64, eps float64) ([]float64, error) {
			m, err := paperProject(v, eps)
			for j := range m {
				m[j] = min(m[j], v[j])
			}
			return m, err
		}, []string{"GKLProjection"}},
		{"projects in the other direction of the divergence, and adds what is missing evenly", func(v []float64, eps float64) ([]float64, error) {
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
		}, both},
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
	bound := func(c [][]float64, eps float64, steps int) float64 { // the proposition as stated
		return math.Exp(eps) * maxCost(c) * math.Sqrt(2*(1+math.Log(float64(len(c))))/float64(steps))
	}
	testLaws(t, DescenderLaws(), refDescend, []mutant[Descender]{
		{"log k for log kv", claims(func(c [][]float64, eps float64, steps int, d *Descent) { d.Bound = bound(c, eps, steps) }),
			[]string{"MirrorClaimedBound"}},
		{"the same in its reports", claims(func(c [][]float64, eps float64, steps int, d *Descent) {
			d.History[0].Bound = bound(c, eps, steps)
		}), []string{"MirrorHistory"}},
		{"claims to be optimal", claims(func(_ [][]float64, _ float64, _ int, d *Descent) {
			d.Bound = 0
			d.History[0].Lower = d.History[0].Average
		}), []string{"MirrorClaimedBound", "MirrorHistory"}},
		{"reports another average", claims(func(_ [][]float64, _ float64, _ int, d *Descent) { d.History[0].Average *= 0.999 }), []string{"MirrorHistory"}},
		{"stays at the start", descentWith(func(float64) float64 { return 0 }, nil), []string{"MirrorIterates", "MirrorRepairedBound"}},
		{"steps uphill", descentWith(func(eta float64) float64 { return -eta }, nil), []string{"MirrorIterates", "MirrorRepairedBound"}},
		{"forgets the square root of T", descentWith(func(eta float64) float64 { return eta * eta }, nil), []string{"MirrorIterates", "MirrorRepairedBound"}},
		{"divides by the sum", descentWith(nil, func(v []float64, _ float64) ([]float64, error) { return normalise(clone(v), 1), nil }), []string{"MirrorIterates"}},
		{"swaps alpha and beta in the projection", descentWith(nil, func(v []float64, eps float64) ([]float64, error) {
			return normalise(clone(v), math.Exp(-eps/2)), nil
		}), []string{"MirrorIterates"}},
		{"averages the best costs, not the measures", func(c [][]float64, eps float64, steps int) (Descent, error) {
			d, err := refDescend(c, eps, steps)
			kv := len(d.Average)
			for j := range d.Average {
				d.Average[j] = (d.Average[j] + 1/float64(kv)) / 2
			}
			return d, err
		}, []string{"MirrorIterates"}},
	})
}
