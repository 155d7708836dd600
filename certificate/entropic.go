package certificate

import (
	"context"
	"encoding/json"
	"fmt"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/sinkhorn/grid"
	"math"
	"math/big"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/sinkhorn"
	"github.com/wpm-go/wpm/wpmerr"
)

var entropicKind = kindSpec{
	kind: Entropic, private: true, cost: true,
	bounds: "the cost W_p^p of the best point of the box, without entropy; upper also that of q",
	empty:  func() body { return new(entropic) },
}

// entropic has the problem of a projection: the certificate is about the exact one, and the regularisation belongs to
// how it was solved.
type entropic struct {
	Problem  projectionProblem
	Evidence entropicEvidence
}

// entropicEvidence proves the lower bound by the potentials, and the upper one by q and the plan that reg and log_v
// describe, moved on by the flow if there is one. NewEntropic writes no plan; where a certificate has one, it takes the
// place of log_v and flow.
type entropicEvidence struct {
	Reg       number  `json:"reg"`
	Q         numbers `json:"q"`
	LogV      logs    `json:"log_v"`
	Transport number  `json:"transport"` // cost of that plan, rounded
	Residual  number  `json:"residual"`  // |q - its column sums|_1, rounded
	AtMost    number  `json:"at_most"`   // the upper bound
	F         numbers `json:"f"`
	G         numbers `json:"g"`
	Flow      *steps  `json:"flow"`
	Plan      *plan   `json:"plan"`
}

// steps is a flow between neighbouring cells of a grid.
type steps struct {
	Right numbers `json:"right"`
	Down  numbers `json:"down"`
	Steps int     `json:"steps"`
	Mix   bool    `json:"mix,omitempty"`
}

// logs is a list of logarithms, that of 0 written as null.
type logs []float64

func (xs logs) MarshalJSON() ([]byte, error) {
	b := append(make([]byte, 0, 2+20*len(xs)), '[')
	for i, x := range xs {
		if math.IsNaN(x) || math.IsInf(x, 1) {
			return nil, fmt.Errorf("entry %d is %v", i, x)
		}
		if i > 0 {
			b = append(b, ',')
		}
		if math.IsInf(x, -1) {
			b = append(b, "null"...)
		} else {
			b = appendFloat(b, x)
		}
	}
	return append(b, ']'), nil
}

func (xs *logs) UnmarshalJSON(data []byte) error {
	var list []*float64
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	*xs = make(logs, len(list))
	for i, x := range list {
		if (*xs)[i] = math.Inf(-1); x != nil {
			(*xs)[i] = *x
		}
	}
	return nil
}

// expSlack is, over the largest cost and for each row and column, how far the cost of the plan of log_v may differ from
// one machine to another: the last bits of exponentials, and of the sums of k and kv of them, do.
const expSlack = 0x1p-49

// NewEntropic returns the certificate of r, which must pass sinkhorn.Verify for p. Its bounds are on the exact problem,
// without entropy, so its problem is that of the projection certificate of the same source and box. The lower bound is
// the one that Verify proves. The upper bound is r.Upper, or the bound that Verify proves plus (16+k+kv) 2^-49 of the
// largest cost if that is more: the plan is made of exponentials, whose last bits depend on the machine. The
// certificate is as private as p.Source.
//
// Errors: ErrEvidence with the error of sinkhorn.Verify, ErrCost, ErrLimit; wpmerr.ErrNotConverged if ctx ends first.
func NewEntropic(ctx context.Context, p sinkhorn.Problem, r sinkhorn.Result) (Certificate, error) {
	ctx = wpmerr.Context(ctx)
	upper, lower, err := sinkhorn.Verify(ctx, p, r)
	if ctx.Err() != nil {
		return Certificate{}, wpmerr.Ended(ctx)
	}
	if err != nil {
		return Certificate{}, fmt.Errorf("%w: %w", ErrEvidence, err)
	}
	k, kv := p.Cost.Dims()
	largest, _, err := cost.Extent(ctx, p.Cost)
	if err != nil {
		return Certificate{}, err
	}
	slack := num.Rat(largest)
	slack.Mul(slack, num.Rat(float64(16+k+kv)*expSlack))
	most := max(r.Upper, num.Up(slack.Add(slack, upper)))
	b := &entropic{
		Problem: projectionProblem{Inputs: k, Outputs: kv, Mu: newMasses(p.Source, p.Support), Lo: p.Lo, Hi: p.Hi},
		Evidence: entropicEvidence{
			Reg: number(r.Reg), Q: r.Q, LogV: r.LogV, Transport: number(r.Transport), Residual: number(r.Residual),
			AtMost: number(most),
			F:      r.Potentials.F, G: r.Potentials.G,
		},
	}
	if f := r.Flow; f != nil {
		b.Evidence.Flow = &steps{Right: f.Right, Down: f.Down, Steps: f.Steps, Mix: f.Mix}
	}
	return build(ctx, &entropicKind, b, p.Cost, lower, num.Rat(most))
}

func (b *entropic) problem() any      { return &b.Problem }
func (b *entropic) evidence() any     { return &b.Evidence }
func (b *entropic) dims() (k, kv int) { return b.Problem.Inputs, b.Problem.Outputs }
func (b *entropic) costHash() *digest { return &b.Problem.Cost }

func (b *entropic) check() error {
	p, e := &b.Problem, &b.Evidence
	if err := p.check(); err != nil {
		return err
	}
	for _, list := range []struct {
		name string
		xs   []float64
		n    int
	}{{"q", e.Q, p.Outputs}, {"log_v", e.LogV, p.Outputs}, {"f", e.F, p.Inputs}, {"g", e.G, p.Outputs}} {
		if err := checkLength(list.name, list.xs, list.n); err != nil {
			return err
		}
	}
	if e.Flow == nil {
		return nil
	}
	if err := checkLength("right", e.Flow.Right, p.Outputs); err != nil {
		return err
	}
	return checkLength("down", e.Flow.Down, p.Outputs)
}

func (b *entropic) bounds(ctx context.Context, c cost.Matrix) (lower, upper *big.Rat, err error) {
	e := &b.Evidence
	if e.Plan != nil {
		return b.planBounds(ctx, c)
	}
	mu := b.Problem.Mu
	exact := projection.Problem{Cost: c, Source: mu.Weight, Support: mu.Index, Lo: b.Problem.Lo, Hi: b.Problem.Hi}
	r := sinkhorn.Result{
		Q: e.Q, LogV: e.LogV, Reg: float64(e.Reg), Transport: float64(e.Transport), Residual: float64(e.Residual),
		// Verify refuses an Upper that it does not prove
		Potentials: projection.Potentials{F: e.F, G: e.G}, Lower: 0, Upper: float64(e.AtMost),
	}
	if f := e.Flow; f != nil {
		r.Flow = &grid.Flow{Right: f.Right, Down: f.Down, Steps: f.Steps, Mix: f.Mix}
	}
	if _, lower, err = sinkhorn.Verify(ctx, sinkhorn.Problem{Problem: exact, Reg: float64(e.Reg)}, r); err != nil {
		return nil, nil, err
	}
	return lower, num.Rat(r.Upper), nil
}

// planBounds is bounds where the evidence has a plan: it is then that of a projection, and at_most the upper bound.
func (b *entropic) planBounds(ctx context.Context, c cost.Matrix) (lower, upper *big.Rat, err error) {
	e := &b.Evidence
	entries := *e.Plan
	var carried num.Acc
	var row, buf []float64
	for n, x := range entries {
		if x.I < 0 || x.I >= b.Problem.Inputs || x.J < 0 || x.J >= b.Problem.Outputs {
			break // Verify refuses it
		}
		if buf == nil {
			buf = make([]float64, b.Problem.Outputs)
		}
		if n == 0 || x.I != entries[n-1].I {
			row = c.Row(x.I, buf)
		}
		carried.AddMul(row[x.J], x.Mass)
	}
	p := projection.Problem{Cost: c, Source: b.Problem.Mu.Weight, Support: b.Problem.Mu.Index, Lo: b.Problem.Lo,
		Hi: b.Problem.Hi}
	f := flowEvidence{Objective: number(carried.Float64()), Q: e.Q, Plan: entries, F: e.F, G: e.G}
	upper, lower, err = mincostflow.Verify(ctx, p, f.result())
	if err != nil {
		return nil, nil, err
	}
	most := num.Rat(float64(e.AtMost))
	if most.Cmp(upper) < 0 {
		return nil, nil, fmt.Errorf("at_most = %v, but only %v is proved", e.AtMost, num.Up(upper))
	}
	return lower, most, nil
}
