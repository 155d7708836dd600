package machine

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/sinkhorn"
	"github.com/wpm-go/wpm/wpmerr"
)

type entropicAnswer struct {
	Reg        number  `json:"reg,omitempty"` // chosen by the gap
	Q          numbers `json:"q"`
	Transport  number  `json:"transport"`
	Objective  number  `json:"objective"`
	Upper      number  `json:"upper"`
	Lower      number  `json:"lower"`
	Iterations int     `json:"iterations"`
	Status     string  `json:"status"`
	Residual   number  `json:"residual"`
	// Bound is the a-posteriori bound on what the entropy costs; meaningful when converged.
	Bound      number     `json:"bound"`
	Potentials potentials `json:"potentials"`
	LogV       numbers    `json:"log_v"`
	evidence
}

// entropicMethods are the values of the field method.
var entropicMethods = map[string]sinkhorn.Method{"paper": sinkhorn.Paper, "fast": sinkhorn.Fast}

// readGoals reads the fields tol and gap. Without a gap, tol has a default; with one, it is 0 unless given.
func readGoals(in *object) (tol, gap float64, err error) {
	if gap, err = readOr(in, "gap", 0.0); err != nil {
		return 0, 0, err
	}
	if !(gap >= 0) {
		return 0, 0, fmt.Errorf("field %q: %v is below 0", "gap", gap)
	}
	fallback := sinkhorn.DefaultTolerance
	if gap > 0 {
		fallback = math.Inf(1)
	}
	if tol, err = readOr(in, "tol", fallback); err != nil {
		return 0, 0, err
	}
	if !(tol > 0) {
		return 0, 0, fmt.Errorf("field %q: %v is not above 0", "tol", tol)
	}
	if math.IsInf(tol, 1) {
		tol = 0
	}
	return tol, gap, nil
}

func solveEntropic(ctx context.Context, in *object, clock *stopwatch) (any, error) {
	c, stated, err := readCost(ctx, in)
	if err != nil {
		return nil, err
	}
	mu, err := readMass[float64](in, "mu", c.K)
	if err != nil {
		return nil, err
	}
	b, err := readBox(in, c.Kv)
	if err != nil {
		return nil, err
	}
	reg, err := read[float64](in, "reg")
	if err != nil {
		return nil, err
	}
	name, err := readOr(in, "method", "fast")
	if err != nil {
		return nil, err
	}
	method, ok := entropicMethods[name]
	if !ok {
		return nil, fmt.Errorf("field %q: %q is neither paper nor fast", "method", name)
	}
	tol, gap, err := readGoals(in)
	if err != nil {
		return nil, err
	}
	most, err := readOr(in, "iterations", 0)
	if err != nil {
		return nil, err
	}
	if err := in.finish(); err != nil {
		return nil, err
	}
	prob := sinkhorn.Problem{Problem: projection.Problem{Cost: c, Source: mu.weight, Support: mu.support, Lo: b.lo,
		Hi: b.hi}, Reg: reg}
	var res sinkhorn.Result
	err = clock.run(func() (err error) {
		res, err = sinkhorn.Project(ctx, prob,
			sinkhorn.Settings{Method: method, Tolerance: tol, Gap: gap, MaxIterations: most, AllRows: true})
		return err
	})
	if ctx.Err() != nil { // nobody waits for the answer
		return nil, ctx.Err()
	}
	// An early stop is an answer: q is feasible and the bounds hold.
	if err != nil && !errors.Is(err, wpmerr.ErrNotConverged) {
		return nil, err
	}
	upper, lower, err := sinkhorn.Verify(ctx, prob, res)
	if err != nil {
		return nil, err
	}
	if b.m != nil {
		widen(upper, lower, c, b, res.Potentials.G)
	}
	status := res.Status.String()
	if res.Status == sinkhorn.Stalled {
		status = sinkhorn.IterationLimit.String() // more of them would not help
	}
	chosen := number(0)
	if reg == 0 {
		chosen = number(res.Reg)
		prob.Reg = res.Reg
	}
	return entropicAnswer{
		Reg: chosen, Q: res.Q, Transport: number(res.Transport), Objective: number(res.Objective),
		Upper: number(math.Max(num.Up(upper), 0)), Lower: number(num.Down(lower)),
		Iterations: res.Iterations, Status: status, Residual: number(res.Residual), Bound: number(res.Posterior),
		Potentials: potentials{F: res.Potentials.F, G: res.Potentials.G}, LogV: res.LogV,
		evidence: func() (certificate.Certificate, error) {
			prob.Cost = stated
			return certificate.NewEntropic(context.Background(), prob, res)
		},
	}, nil
}
