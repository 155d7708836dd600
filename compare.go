package wpm

import (
	"context"
	"fmt"

	"github.com/wpm-go/wpm/baseline"
	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/ldp"
)

// Levels are the eps at which mechanisms of one cost are compared, in any order.
type Levels struct {
	Epsilons []ldp.Epsilon
	// Step, if not nil, is called before and after each eps.
	Step func(done, total int, what string)
}

// each sorts the cost once, and does something at every eps.
func (l Levels) each(ctx context.Context, c cost.Matrix, what string, o Objective,
	do func(sorted cost.Matrix, eps ldp.Epsilon) error) error {
	sorted, _, err := prepare(ctx, c, o)
	if err != nil {
		return err
	}
	if l.Step == nil {
		l.Step = func(int, int, string) {}
	}
	for n, eps := range l.Epsilons {
		l.Step(n, len(l.Epsilons), what)
		if err := do(sorted, eps); err != nil {
			return fmt.Errorf("eps %v: %w", eps, err)
		}
		l.Step(n+1, len(l.Epsilons), what)
	}
	return nil
}

// Designs are the outcomes at one eps.
type Designs struct {
	Epsilon  ldp.Epsilon
	KPM      Outcome   // of the base measure of baseline.KPMMeasure
	Outcomes []Outcome // of the objectives, in their order
}

// CompareDesigns is Compare at several eps, with the base measure of KPM beside the designs. weights are those of the
// mean of KPM, as in Objective. Errors: those of Compare and of Evaluate.
func CompareDesigns(ctx context.Context, c cost.Matrix, levels Levels, weights []float64, objectives ...Objective) (
	[]Designs, error) {
	var out []Designs
	err := levels.each(ctx, c, "designs", Objective{Weights: weights}, func(sorted cost.Matrix, eps ldp.Epsilon) error {
		_, kv := sorted.Dims()
		m, err := baseline.KPMMeasure(kv, eps.Float64())
		if err != nil {
			return err
		}
		d := Designs{Epsilon: eps}
		if d.KPM, err = Evaluate(ctx, sorted, eps, m, weights); err != nil {
			return err
		}
		d.Outcomes, err = Compare(ctx, sorted, eps, objectives...)
		out = append(out, d)
		return err
	})
	return out, err
}

// WorstCases are costs of the worst private distribution at one eps, each of another mechanism. Those of Uniform and
// Response are over all distributions: both are at most linear in them, so point masses attain the worst. KPM and
// Exponential are of the worst point mass, which is a lower bound on their worst case. Rivals that move mass only
// between inputs are nil where the outputs are other points.
type WorstCases struct {
	Epsilon     ldp.Epsilon
	Lower       float64 // no eps-LDP mechanism has a smaller worst case
	Uniform     float64 // of the uniform base measure
	KPM         *float64
	Exponential *float64
	Response    *float64 // randomised response
}

// CompareRivals returns the worst cases of wpm and of its rivals at several eps. same says that the outputs are the
// inputs, one by one. Errors: those of Compare for Uniform, and of the baselines.
func CompareRivals(ctx context.Context, c cost.Matrix, levels Levels, same bool) ([]WorstCases, error) {
	var out []WorstCases
	err := levels.each(ctx, c, "table of worst cases", Objective{}, func(sorted cost.Matrix, eps ldp.Epsilon) error {
		base, err := basemeasure.Uniform(ctx, sorted, eps.Float64(), basemeasure.Settings{})
		if err != nil {
			return err
		}
		w := WorstCases{Epsilon: eps, Lower: base.Lower, Uniform: base.F}
		if same {
			if w.KPM, w.Exponential, err = rivals(ctx, sorted, eps.Float64()); err != nil {
				return err
			}
			w.Response = w.KPM // at a point mass the two are the same
		}
		out = append(out, w)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range out { // a bound at a larger eps holds at a smaller one
		for _, other := range out {
			if other.Epsilon.Cmp(out[i].Epsilon) > 0 {
				out[i].Lower = max(out[i].Lower, other.Lower)
			}
		}
	}
	return out, nil
}

// rivals returns the worst cost over point masses of what the paper compares with.
func rivals(ctx context.Context, c cost.Matrix, eps float64) (kpm, exponential *float64, err error) {
	k, _ := c.Dims()
	worst := func(rows [][]float64, err error) (*float64, error) {
		if err != nil {
			return nil, err
		}
		w, _, err := baseline.WorstCase(ctx, c, rows)
		return &w, err
	}
	if kpm, err = worst(baseline.KPMChannel(k, eps)); err != nil {
		return nil, nil, err
	}
	e, err := baseline.NewExponential(ctx, c, eps)
	if err != nil {
		return nil, nil, err
	}
	exponential, err = worst(e.Channel(ctx))
	return kpm, exponential, err
}
