package proptest_test

import (
	"testing"

	"github.com/wpm-go/wpm/baseline"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/proptest"
	"pgregory.net/rapid"
)

// The packages of this module keep every law.

func TestLDPVerify(t *testing.T) { proptest.Run(t, proptest.VerifyLaws(), verifyBox) }

func TestLDPBox(t *testing.T) { proptest.Run(t, proptest.BoxLaws(), newBox) }

func TestLDPSample(t *testing.T) { proptest.Run(t, proptest.SamplerLaws(), newSampler) }

func TestKnapsack(t *testing.T) { proptest.Run(t, proptest.KnapsackLaws(), newKnapsack) }

func TestBaseMeasureUniform(t *testing.T) { proptest.Run(t, proptest.BaseLaws(), uniform) }

func TestBaseMeasureShape(t *testing.T) { proptest.Run(t, proptest.BaseLaws(), tilted) }

// TestBaseMeasureMinimax: on transitive costs the uniform measure is optimal among all mechanisms.
func TestBaseMeasureMinimax(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		proptest.MinimaxOptimality(t, uniform, proptest.TransitiveCosts(8).Draw(t, "C"))
	})
}

func TestMinCostFlow(t *testing.T) {
	proptest.Run(t, proptest.ProjectorLaws(), proptest.Projector(flow{}))
}

// TestMinCostFlowSimplex runs the network simplex where Auto has a shortcut.
func TestMinCostFlowSimplex(t *testing.T) {
	proptest.Run(t, proptest.ProjectorLaws(), proptest.Projector(flow{Method: mincostflow.Simplex}))
}

// TestMinCostFlowSparse gives rows with mass alone, read or unread otherwise.
func TestMinCostFlowSparse(t *testing.T) {
	t.Run("all", func(t *testing.T) { proptest.Run(t, proptest.ProjectorLaws(), proptest.Projector(sparse{})) })
	t.Run("only", func(t *testing.T) {
		proptest.Run(t, proptest.ProjectorLaws(), proptest.Projector(sparse{SupportOnly: true}))
	})
}

func TestMinCostFlowZeroEpsilon(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { proptest.ZeroEpsilon(t, flow{}, transport) })
}

func TestBaselineKPM(t *testing.T) { proptest.Run(t, proptest.KPMLaws(), baseline.KPM) }

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
		for name, rule := range map[string]struct {
			box  func() ([]float64, error)
			rows func() ([][]float64, error)
		}{
			"KPM": {func() ([]float64, error) { return baseline.KPMMeasure(k, eps) }, func() ([][]float64, error) { return baseline.KPMChannel(k, eps) }},
			"response": {func() ([]float64, error) { return baseline.RandomizedResponseMeasure(k, eps) },
				func() ([][]float64, error) { return baseline.RandomizedResponseChannel(k, eps) }},
			"exponential": {func() ([]float64, error) { return baseline.ExponentialMeasure(d, eps) },
				func() ([][]float64, error) { return baseline.ExponentialChannel(d, eps) }},
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
func TestWPMProjection(t *testing.T) { proptest.Run(t, proptest.MechanismLaws(), newMechanism) }

// TestWPMMixture: the published rows of the mixture mode.
func TestWPMMixture(t *testing.T) { proptest.Run(t, proptest.ChannelLaws(), newChannel) }
