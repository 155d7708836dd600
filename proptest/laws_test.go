package proptest_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/baseline"
	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/mirror"
	"github.com/wpm-go/wpm/proptest"
	"github.com/wpm-go/wpm/proptest/design"
	estimators "github.com/wpm-go/wpm/proptest/estimate"
	"github.com/wpm-go/wpm/proptest/exact"
	"github.com/wpm-go/wpm/proptest/internal/planted"
	"github.com/wpm-go/wpm/proptest/privacy"
	"github.com/wpm-go/wpm/proptest/projection"
	"github.com/wpm-go/wpm/sinkhorn"
	"github.com/wpm-go/wpm/sinkhorn/kl"
	"github.com/wpm-go/wpm/sphere"
	"github.com/wpm-go/wpm/wpmerr"
	"pgregory.net/rapid"
)

// The packages of this module keep every law.

func TestLDPVerify(t *testing.T) { proptest.Run(t, privacy.VerifyLaws(), verifyBox) }

func TestLDPBox(t *testing.T) { proptest.Run(t, privacy.BoxLaws(), newBox) }

func TestLDPSample(t *testing.T) { proptest.Run(t, privacy.SamplerLaws(), newSampler) }

func TestKnapsack(t *testing.T) { proptest.Run(t, design.KnapsackLaws(), newKnapsack) }

func TestEstimateMLE(t *testing.T) { proptest.Run(t, estimators.LikeliestLaws(), likeliest) }

func TestEstimateInterval(t *testing.T) { planted.Run(t, estimators.IntervalLaws(), shareInterval) }

func TestEstimateRaw(t *testing.T) { proptest.Run(t, estimators.RawLaws(), estimate.Raw) }

func TestBaseMeasureUniform(t *testing.T) { measures(t, uniform) }

func TestBaseMeasureShape(t *testing.T) { measures(t, tilted) }

// measures runs all laws of a base measure that comes with a proof.
func measures(t *testing.T, b design.BaseMeasurer) {
	t.Helper()
	proptest.Run(t, design.BaseLaws(), b)
	proven(t, b)
}

// proven runs those of the bounds.
func proven(t *testing.T, b design.BaseMeasurer) {
	t.Helper()
	proptest.Run(t, design.BaseBoundLaws(), b)
	planted.Run(t, design.BaseCertificateLaws(), b)
}

// TestBaseMeasureMinimax: on transitive costs the uniform measure is optimal among all mechanisms.
func TestBaseMeasureMinimax(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		design.MinimaxOptimality(t, uniform, proptest.TransitiveCosts(8).Draw(t, "C"))
	})
}

// anyMeasure are the laws of a measure that need not be the best of a family: not BaseMonotone, because forty steps at
// one eps may find less than forty at another.
func anyMeasure() (laws []proptest.Law[design.BaseMeasurer]) {
	for _, l := range design.BaseLaws() {
		if l.Name != "BaseMonotone" {
			laws = append(laws, l)
		}
	}
	return laws
}

// TestBaseMeasureSolve: where costs span many orders of magnitude the solver may stop far from the best, and says so: in
// one case of ten thousand at most. Chance brings more than four in 5000 cases, at that rate, once in 6000 runs.
func TestBaseMeasureSolve(t *testing.T) {
	calls, none := 0, 0
	t.Cleanup(func() {
		if none > 4+calls/10_000 {
			t.Errorf("no answer to %d problems of %d", none, calls)
		}
	})
	measures(t, func(c [][]float64, eps float64) (design.Base, error) {
		b, err := bestEffort(c, eps)
		if calls++; errors.Is(err, design.ErrNoAnswer) {
			none++
		}
		return b, err
	})
}

// TestBaseMeasureSolveMinimax: on any cost no mechanism beats the optimal measure, and its lower bound proves it, up to
// the default gap or ValueTol of the largest cost. Where costs span many orders of magnitude the solver may stop at
// rounding, and says so: in one case of two hundred at most.
func TestBaseMeasureSolveMinimax(t *testing.T) {
	calls, stopped := 0, 0
	t.Cleanup(func() {
		if stopped > 5+calls/200 {
			t.Errorf("%d problems of %d were stopped", stopped, calls)
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		c := proptest.Costs(proptest.Size(6).Draw(t, "k"), proptest.Size(6).Draw(t, "kv")).Draw(t, "C")
		best := func(c [][]float64, eps float64) (design.Base, error) {
			return measure(c, eps, func(d *cost.Dense) (basemeasure.Result, error) {
				r, err := basemeasure.Solve(context.Background(), d, eps, basemeasure.Settings{})
				if calls++; errors.Is(err, wpmerr.ErrNotConverged) {
					stopped++
					t.Skip(err)
				}
				return r, err
			})
		}
		design.MinimaxWithin(t, best, c, basemeasure.DefaultGap)
	})
}

func TestMirror(t *testing.T) { proptest.Run(t, design.DescenderLaws(), paperDescent) }

// TestMirrorMeasure: what a descent returns is a base measure with a proof, whatever the rule.
func TestMirrorMeasure(t *testing.T) {
	for _, rule := range []mirror.Rule{mirror.Paper, mirror.Repaired, mirror.Sharp, mirror.Adaptive} {
		t.Run(rule.String(), func(t *testing.T) {
			proptest.Run(t, anyMeasure(), descended(rule))
			if rule == mirror.Adaptive || numtest.Full() { // package mirror has those of all rules
				proven(t, descended(rule))
			}
		})
	}
}

// TestPaperGKL: the closed form that the paper states is the projection.
func TestPaperGKL(t *testing.T) { proptest.Run(t, design.GKLLaws(), paperGKL) }

// paperGKL is the three cases of the appendix.
func paperGKL(v []float64, eps float64) ([]float64, error) {
	s, low, high := 0.0, math.Exp(-eps/2), math.Exp(eps/2)
	for _, x := range v {
		s += x
	}
	m := append([]float64(nil), v...)
	for j := range m {
		switch {
		case s < low:
			m[j] *= low / s
		case s > high:
			m[j] *= high / s
		}
	}
	return m, nil
}

// TestOwnGKL: nothing of the closed form is needed to be held to the laws. Here the multiplier of the mass is found by
// bisection.
func TestOwnGKL(t *testing.T) {
	proptest.Run(t, design.GKLLaws(), func(v []float64, eps float64) ([]float64, error) {
		m := slices.Clone(v)
		mass := func(theta float64) (sum float64) { // of m_j = v_j e^theta, where the derivative of the Lagrangian vanishes
			for j := range m {
				m[j] = v[j] * math.Exp(theta)
				sum += m[j]
			}
			return sum
		}
		want := min(max(mass(0), math.Exp(-eps/2)), math.Exp(eps/2))
		low, high := -100.0, 100.0
		for range 100 {
			if theta := (low + high) / 2; mass(theta) < want {
				low = theta
			} else {
				high = theta
			}
		}
		return m, nil
	})
}

// TestListing: package paper keeps the laws where C_ij/lambda is small enough for its rounding and for its rate.
func TestListing(t *testing.T) {
	e := projection.EntropicOn{Entropic: projection.EntropicFunc(listing), Spread: 0.1, Reg: 0.1}
	proptest.Run(t, projection.EntropicLaws(), projection.Entropic(e))
}

// anySpread: package sinkhorn works with differences of costs. It finds no answer to one instance in fifty at most.
func anySpread(t *testing.T, e projection.Entropic) projection.Entropic {
	calls, none := 0, 0
	t.Cleanup(func() {
		if none > 5+calls/50 {
			t.Errorf("no answer to %d problems of %d", none, calls)
		}
	})
	return projection.EntropicOn{
		Entropic: projection.EntropicFunc(func(p proptest.Problem, reg float64) (projection.EntropicProjection, error) {
			r, err := e.Project(p, reg)
			if calls++; errors.Is(err, projection.ErrNoAnswer) {
				none++
			}
			return r, err
		}),
	}
}

// TestSinkhornPaper: without the limit one instance in hundreds takes seconds, where the kernel hardly contracts.
func TestSinkhornPaper(t *testing.T) {
	proptest.Run(t, projection.EntropicLaws(), anySpread(t, hurried{Method: sinkhorn.Paper, MaxIterations: 100_000}))
}

func TestSinkhornFast(t *testing.T) {
	proptest.Run(t, projection.EntropicLaws(), anySpread(t, sink{Method: sinkhorn.Fast}))
}

// TestSinkhornFastBounds: what is claimed beside q.
func TestSinkhornFastBounds(t *testing.T) {
	proptest.Run(t, projection.EntropicBoundLaws(), projection.Entropic(sink{}))
	proptest.Run(t, projection.EntropicCertificateLaws(), projection.Entropic(sink{}))
}

// TestSinkhornPaperBounds: the same of Algorithm 1, with a limit, because at the least reg it would need for ever.
func TestSinkhornPaperBounds(t *testing.T) {
	paper := projection.Entropic(sink{Method: sinkhorn.Paper, MaxIterations: 20000})
	proptest.Run(t, projection.EntropicBoundLaws(), paper)
	proptest.Run(t, projection.EntropicCertificateLaws(), paper)
}

// TestSinkhornProjector: a Projector keeps the laws of an entropic projection, and agrees with Project by either
// method, whichever goal it is given.
func TestSinkhornProjector(t *testing.T) {
	proptest.Run(t, projection.EntropicLaws(), anySpread(t, stream{}))
	proptest.Run(t, projection.EntropicBoundLaws(), projection.Entropic(stream{}))
	proptest.Run(t, projection.EntropicCertificateLaws(), projection.Entropic(stream{}))
	for name, other := range map[string]sink{"fast": {}, "paper": {Method: sinkhorn.Paper}} {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) { projection.EntropicAgreement(t, stream{}, other) }))
	}
	// A gap that every distribution has: the goal is met where Project meets it.
	t.Run("gap", rapid.MakeCheck(func(t *rapid.T) {
		s := sinkhorn.Settings{Tolerance: 1e-12, Gap: 1e-12}
		projection.EntropicAgreement(t, stream(s), sink(s))
	}))
}

// TestSinkhornStream: one Projector and one Result for several distributions.
func TestSinkhornStream(t *testing.T) {
	proptest.Run(t, projection.EntropicLaws(), anySpread(t, streams()))
}

// TestSinkhornStopped: q is a point of the box and the bounds hold at every stop, after one iteration or some.
func TestSinkhornStopped(t *testing.T) {
	for _, method := range []sinkhorn.Method{sinkhorn.Paper, sinkhorn.Fast} {
		for _, limit := range []int{1, 2, 7} {
			t.Run(fmt.Sprint(method, limit), func(t *testing.T) {
				e := projection.Entropic(sink{Method: method, MaxIterations: limit})
				t.Run("EntropicInBox", rapid.MakeCheck(func(t *rapid.T) { projection.EntropicInBox(t, e) }))
				t.Run("EntropicBounds", rapid.MakeCheck(func(t *rapid.T) { projection.EntropicBounds(t, e) }))
				t.Run("EntropicCertificate", rapid.MakeCheck(func(t *rapid.T) { projection.EntropicCertificate(t, e) }))
			})
		}
	}
}

// TestSinkhornStep: an iteration on differences of costs.
func TestSinkhornStep(t *testing.T) {
	f := projection.CompositeOn{Composite: projection.CompositeMap(paperStep)}
	proptest.Run(t, projection.CompositeLaws(), projection.Composite(f))
}

func TestSinkhornKL(t *testing.T) {
	proptest.Run(t, projection.KLLaws(), projection.KLProjector(kl.Project))
}

func TestHilbert(t *testing.T) {
	proptest.Run(t, projection.HilbertLaws(), projection.Hilbert(metric{}))
}

// TestHilbertLogs runs the functions that take logarithms and costs.
func TestHilbertLogs(t *testing.T) {
	proptest.Run(t, projection.HilbertLaws(), projection.Hilbert(gibbs{}))
}

// TestOwnSinkhorn: the solver of the example, which somebody could have written on a Sunday, keeps the laws.
func TestOwnSinkhorn(t *testing.T) {
	proptest.Run(t, projection.EntropicLaws(),
		projection.Entropic(projection.EntropicOn{Entropic: projection.EntropicFunc(ownSinkhorn), Reg: 0.1}))
}

// exactly runs all laws of a projector that proves what it says.
func exactly(t *testing.T, p projection.Projector) {
	t.Helper()
	proptest.Run(t, projection.ProjectorLaws(), p)
	proptest.Run(t, projection.ProjectorBoundLaws(), p)
	planted.Run(t, projection.ProjectorCertificateLaws(), p)
}

func TestMinCostFlow(t *testing.T) { exactly(t, flow{}) }

// TestMinCostFlowSparse gives rows with mass alone, read or unread otherwise.
func TestMinCostFlowSparse(t *testing.T) {
	t.Run("all", func(t *testing.T) { exactly(t, sparse{AllRows: true}) })
	t.Run("only", func(t *testing.T) { exactly(t, sparse{}) })
}

// TestMinCostFlowWide: the certificate holds where an index of 16 bits ends, with mass on both sides of the end, in
// rows and in columns.
func TestMinCostFlowWide(t *testing.T) {
	if !numtest.Full() {
		t.Skip("five seconds")
	}
	const size = 1<<16 + 1
	narrow := []float64{1, 2}
	wide := slices.Repeat([]float64{1}, size)
	wide[1<<16-1], wide[1<<16] = size, size
	cost := func(i, j int) float64 { return float64((i*7919 + j*104729) % 1009) }
	for _, tt := range []struct{ mu, q []float64 }{{narrow, wide}, {wide, narrow}} {
		in := proptest.Problem{Mu: tt.mu, C: make([][]float64, len(tt.mu))}
		total := 0.0
		for _, v := range tt.q {
			total += v
		}
		for _, v := range tt.q { // room at both ends
			in.Lo, in.Hi = append(in.Lo, v/total/2), append(in.Hi, 2*v/total)
		}
		for i := range in.C {
			for j := range in.Lo {
				in.C[i] = append(in.C[i], cost(i, j))
			}
		}
		r, err := flow{}.Project(in)
		if err != nil {
			t.Fatal(err)
		}
		lower, err := projection.Lower(in, r.Certificate.G)
		if err != nil {
			t.Fatal(err)
		}
		upper, err := projection.Upper(in, r.Q, r.Certificate.Plan)
		if err != nil {
			t.Fatal(err)
		}
		proptest.Near(t, "plan against potentials", upper, lower, proptest.ValueTol, proptest.MaxCost(in.C))
		proptest.Near(t, "Objective against the plan", exact.Rat(r.Objective), upper, proptest.ValueTol,
			proptest.MaxCost(in.C))
	}
}

func TestMinCostFlowZeroEpsilon(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { projection.ZeroEpsilon(t, flow{}, transport) })
}

func TestBaselineLocal(t *testing.T) { proptest.Run(t, privacy.LocalLaws(), localMinimax) }

func TestBaselineLinear(t *testing.T) { proptest.Run(t, privacy.LinearLaws(), linearSampler) }

func TestBaselineDisk(t *testing.T) { proptest.Run(t, privacy.DiskLaws(), diskReports) }

func TestBaselineUnary(t *testing.T) {
	proptest.Run(t, privacy.OracleLaws(), oracleOf(baseline.NewUnary))
}

func TestBaselineSubset(t *testing.T) {
	proptest.Run(t, privacy.OracleLaws(), oracleOf(baseline.NewSubset))
}

func TestBaselineKPM(t *testing.T) { proptest.Run(t, privacy.KPMLaws(), baseline.KPM) }

// TestBaselineChannels: the rows of every baseline are distributions, and lie in the box that it states, so that
// package ldp can round and certify them.
func TestBaselineChannels(t *testing.T) {
	// The exponentials, sums and quotients of a row of at most ten entries.
	const tol = 1e-12
	rapid.Check(t, func(t *rapid.T) {
		k, kv := proptest.Size(10).Draw(t, "k"), proptest.Size(10).Draw(t, "kv")
		eps := proptest.Epsilon().Draw(t, "eps")
		c := rapid.SliceOfN(rapid.SliceOfN(rapid.Float64Range(0, 10), kv, kv), k, k).Draw(t, "C")
		d, err := cost.FromRows(c)
		if err != nil {
			t.Fatal(err)
		}
		exponential, err := baseline.NewExponential(context.Background(), d, eps)
		if err != nil {
			t.Fatal(err)
		}
		for name, rule := range map[string]struct {
			box  func() ([]float64, error)
			rows func() ([][]float64, error)
		}{
			"KPM": {func() ([]float64, error) { return baseline.KPMMeasure(k, eps) },
				func() ([][]float64, error) { return baseline.KPMChannel(k, eps) }},
			"response": {func() ([]float64, error) { return baseline.RandomizedResponseMeasure(k, eps) },
				func() ([][]float64, error) { return baseline.RandomizedResponseChannel(k, eps) }},
			"exponential": {func() ([]float64, error) { return exponential.Measure(), nil },
				func() ([][]float64, error) { return exponential.Channel(context.Background()) }},
		} {
			m, err := rule.box()
			if err != nil {
				t.Fatalf("%s: box: %v", name, err)
			}
			rows, err := rule.rows()
			if err != nil || len(rows) != k {
				t.Fatalf("%s: %d rows for %d inputs: %v", name, len(rows), k, err)
			}
			b := proptest.BoxOf(m, eps)
			for i, row := range rows {
				sum := 0.0
				for j, q := range row {
					sum += q
					if !(q >= b.Lo[j]*(1-tol) && q <= b.Hi[j]*(1+tol)) {
						t.Fatalf("%s: row %d, entry %d: %v is outside [%v, %v]", name, i, j, q, b.Lo[j], b.Hi[j])
					}
				}
				if !(sum > 1-tol && sum < 1+tol) {
					t.Fatalf("%s: row %d sums to %v", name, i, sum)
				}
			}
		}
	})
}

// TestWPMProjection: the mechanism in projection mode, from base measure to integer weights.
func TestWPMProjection(t *testing.T) { proptest.Run(t, privacy.MechanismLaws(), newMechanism) }

// TestWPMMixture: the published rows of the mixture mode.
func TestWPMMixture(t *testing.T) { proptest.Run(t, privacy.ChannelLaws(), newChannel) }

// TestSphere: the solver of this module keeps the laws.
func TestSphere(t *testing.T) {
	proptest.Run(t, design.SphereLaws(), func(d int, p, eps float64) (design.SphereMeasure, error) {
		m, err := sphere.Solve(d, p, eps)
		return design.SphereMeasure(m), err
	})
}

func TestBaselineHash(t *testing.T) {
	proptest.Run(t, privacy.OracleLaws(), oracleOf(baseline.NewHash))
}
