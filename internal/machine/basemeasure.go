package machine

import (
	"context"
	"errors"
	"fmt"

	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/knapsack"
	"github.com/wpm-go/wpm/mirror"
	"github.com/wpm-go/wpm/wpmerr"
)

type baseAnswer struct {
	M     numbers `json:"m"`
	F     number  `json:"f"`
	Upper number  `json:"upper"`
	Lower number  `json:"lower"`
	// The certificate of the lower bound: weights of the inputs and their thresholds.
	Weights    numbers `json:"weights"`
	Thresholds numbers `json:"thresholds"`
	Status     string  `json:"status"`
	// Of the methods solve and uniform.
	Worst    *number `json:"worst_case,omitempty"`
	Mean     *number `json:"mean,omitempty"`
	Mass     *number `json:"mass,omitempty"`
	Nonzeros *int    `json:"nonzeros,omitempty"`
	Pivots   *int    `json:"pivots,omitempty"`
	// Of the method mirror.
	Steps    *int     `json:"steps,omitempty"`
	FAverage *number  `json:"f_average,omitempty"`
	FBest    *number  `json:"f_best,omitempty"`
	Average  *numbers `json:"average,omitempty"`
	Bound    *number  `json:"bound,omitempty"`
	Paper    *number  `json:"paper_bound,omitempty"`
	evidence
}

// mirrorRules are the values of the field rule.
var mirrorRules = map[string]mirror.Rule{"paper": mirror.Paper, "repaired": mirror.Repaired, "sharp": mirror.Sharp,
	"adaptive": mirror.Adaptive}

// objectives are the values of the field objective.
var objectives = map[string]basemeasure.Objective{"worst": basemeasure.WorstCase, "average": basemeasure.Average,
	"mixed": basemeasure.Mixed}

func solveBaseMeasure(ctx context.Context, in *object, clock *stopwatch) (any, error) {
	c, stated, err := readCost(ctx, in)
	if err != nil {
		return nil, err
	}
	eps, err := readEpsilon(in)
	if err != nil {
		return nil, err
	}
	method, err := readOr(in, "method", "solve")
	if err != nil {
		return nil, err
	}
	switch method {
	case "solve", "uniform":
		return solveDesign(ctx, in, clock, c, stated, eps, method)
	case "mirror":
		return solveMirror(ctx, in, clock, c, stated, eps)
	}
	return nil, fmt.Errorf("field %q: %q is not solve, mirror or uniform", "method", method)
}

// solveDesign is the certified solver, or the scale of the uniform measure, for any objective.
func solveDesign(ctx context.Context, in *object, clock *stopwatch, c *cost.Dense, stated cost.Matrix, eps float64,
	method string) (any, error) {
	gap, err := readOr(in, "gap", 0.0)
	if err != nil {
		return nil, err
	}
	if !(gap >= 0) {
		return nil, fmt.Errorf("field %q: %v is negative", "gap", gap)
	}
	name, err := readOr(in, "objective", "worst")
	if err != nil {
		return nil, err
	}
	objective, ok := objectives[name]
	if !ok {
		return nil, fmt.Errorf("field %q: %q is not worst, average or mixed", "objective", name)
	}
	s := basemeasure.Settings{Objective: objective, Gap: gap}
	if s.Mix, err = readOr(in, "t", 0.0); err != nil {
		return nil, err
	}
	if s.InputWeights, err = readOr[[]float64](in, "input_weights", nil); err != nil {
		return nil, err
	}
	if s.Exclude, err = readOr[[]int](in, "exclude", nil); err != nil {
		return nil, err
	}
	if err := in.finish(); err != nil {
		return nil, err
	}
	find := basemeasure.Solve
	if method == "uniform" {
		find = basemeasure.Uniform
	}
	var r basemeasure.Result
	err = clock.run(func() (err error) {
		r, err = find(ctx, c, eps, s)
		return err
	})
	// An early stop is an answer, if there is one: m is feasible and the bounds hold.
	if err != nil && (r.M == nil || !errors.Is(err, wpmerr.ErrNotConverged)) {
		return nil, err
	}
	worst, mean, mass := number(r.WorstCase), number(r.Mean), number(r.Mass)
	return baseAnswer{
		M: r.M, F: number(r.F), Upper: number(r.Upper), Lower: number(r.Lower), Weights: r.Weights, Thresholds: r.Thresholds,
		Status: r.Status.String(),
		Worst:  &worst, Mean: &mean, Mass: &mass, Nonzeros: &r.Nonzeros, Pivots: &r.Stats.Pivots,
		evidence: func() (certificate.Certificate, error) {
			return certificate.NewBaseMeasure(context.Background(), stated, eps, r)
		},
	}, nil
}

// maxSteps bounds the field T: the error falls like 1/sqrt(T), so more is a slip, and so many already take minutes on
// the smallest of costs.
const maxSteps = 100_000_000

// solveMirror is the paper's descent. m is the better of the average and the best iterate.
func solveMirror(ctx context.Context, in *object, clock *stopwatch, c *cost.Dense, stated cost.Matrix,
	eps float64) (any, error) {
	steps, err := readOr(in, "T", mirror.DefaultSteps)
	if err != nil {
		return nil, err
	}
	if steps < 1 || steps > maxSteps {
		return nil, fmt.Errorf("field %q: %d is not between 1 and %d", "T", steps, maxSteps)
	}
	name, err := readOr(in, "rule", "paper")
	if err != nil {
		return nil, err
	}
	rule, ok := mirrorRules[name]
	if !ok {
		return nil, fmt.Errorf("field %q: %q is not paper, repaired, sharp or adaptive", "rule", name)
	}
	if err := in.finish(); err != nil {
		return nil, err
	}
	var r mirror.Result
	err = clock.run(func() error {
		table, err := knapsack.New(ctx, c)
		if err != nil {
			return err
		}
		r, err = mirror.Descend(ctx, table, eps, mirror.Settings{Steps: steps, Rule: rule})
		return err
	})
	if err != nil && (r.M == nil || !errors.Is(err, wpmerr.ErrNotConverged)) {
		return nil, err
	}
	status := "steps"
	if err != nil {
		status = "cancelled"
	}
	average, best, bound, paper, all := number(r.FAverage), number(r.FBest), number(r.Bound), number(r.PaperBound),
		numbers(r.Average)
	return baseAnswer{
		M: r.M, F: number(r.F), Upper: number(r.Upper), Lower: number(r.Lower), Weights: r.Weights, Thresholds: r.Thresholds,
		Status: status,
		Steps:  &r.Steps, FAverage: &average, FBest: &best, Average: &all, Bound: &bound, Paper: &paper,
		evidence: func() (certificate.Certificate, error) {
			return certificate.NewBaseMeasure(context.Background(), stated, eps,
				basemeasure.Result{M: r.M, Weights: r.Weights, Thresholds: r.Thresholds})

		},
	}, nil
}
