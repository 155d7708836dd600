package certificate

import (
	"bytes"
	"context"
	"fmt"
	"math/big"
	"strconv"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/mincostflow/network"
)

// What a network is about is not known here: its supplies may be somebody's distribution.
var flowKind = kindSpec{
	kind: Flow, private: true, cost: false,
	bounds: "the least cost of a flow in the network",
	empty:  func() body { return new(flow) },
}

type flow struct {
	Problem  flowProblem
	Evidence optimalEvidence
}

type flowProblem struct {
	Supply wholes `json:"supply"`
	Arcs   arcs   `json:"arcs"`
}

// optimalEvidence proves the upper bound by the flow, the lower one by the potentials, which leave no cheaper one.
type optimalEvidence struct {
	Flow       wholes `json:"flow"`
	Potentials wholes `json:"potentials"`
}

// arcs is a list of [from, to, lower, upper, cost], a bound that is none written as null.
type arcs []network.Arc

func (as arcs) MarshalJSON() ([]byte, error) {
	b := append(make([]byte, 0, 2+32*len(as)), '[')
	for n, a := range as {
		if n > 0 {
			b = append(b, ',')
		}
		b = append(b, '[')
		b = strconv.AppendInt(b, int64(a.From), 10)
		b = append(b, ',')
		b = strconv.AppendInt(b, int64(a.To), 10)
		b = append(b, ',')
		b = appendBound(b, a.Lower)
		b = append(b, ',')
		b = appendBound(b, a.Upper)
		b = append(b, ',')
		b = strconv.AppendInt(b, a.Cost, 10)
		b = append(b, ']')
	}
	return append(b, ']'), nil
}

func appendBound(b []byte, x int64) []byte {
	if x <= -network.Unlimited || x == network.Unlimited {
		return append(b, "null"...)
	}
	return strconv.AppendInt(b, x, 10)
}

// UnmarshalJSON reads the canonical form alone, as plan does.
func (as *arcs) UnmarshalJSON(data []byte) error {
	if string(data) == "[]" {
		*as = arcs{}
		return nil
	}
	out := make(arcs, 0, max(0, bytes.Count(data, []byte("["))-1))
	rest := bytes.TrimPrefix(data, []byte("["))
	for len(out) == 0 || len(rest) > 0 && rest[0] == ',' {
		text, tail, ok := bytes.Cut(bytes.TrimPrefix(rest, []byte(",")), []byte("]"))
		text, open := bytes.CutPrefix(text, []byte("["))
		parts := bytes.SplitN(text, []byte(","), 6)
		if !ok || !open || len(parts) != 5 {
			return fmt.Errorf("arc %d is not [from,to,lower,upper,cost]", len(out))
		}
		var x [5]int64
		for i, part := range parts {
			var err error
			switch {
			case i == 2 && string(part) == "null":
				x[i] = -network.Unlimited
			case i == 3 && string(part) == "null":
				x[i] = network.Unlimited
			default:
				x[i], err = strconv.ParseInt(string(part), 10, 64)
			}
			if err != nil || i < 2 && int64(int(x[i])) != x[i] {
				return fmt.Errorf("arc %d is not [from,to,lower,upper,cost]", len(out))
			}
		}
		out = append(out, network.Arc{From: int(x[0]), To: int(x[1]), Lower: x[2], Upper: x[3], Cost: x[4]})
		rest = tail
	}
	if string(rest) != "]" {
		return fmt.Errorf("the arcs do not end after number %d", len(out)-1)
	}
	*as = out
	return nil
}

// NewFlow returns the certificate of r, an optimal flow in g that passes network.Verify. The two bounds are equal. The
// certificate counts as private, since g may contain private data.
//
// Errors: ErrStatus if r is not optimal, ErrEvidence with the error of network.Verify, ErrLimit.
func NewFlow(g *network.Problem, r network.Result) (Certificate, error) {
	if err := network.Verify(g, r); err != nil {
		return Certificate{}, fmt.Errorf("%w: %w", ErrEvidence, err)
	}
	if r.Status != network.Optimal {
		return Certificate{}, fmt.Errorf("%w: %v", ErrStatus, r.Status)
	}
	b := &flow{
		Problem:  flowProblem{Supply: g.Supply, Arcs: g.Arcs},
		Evidence: optimalEvidence{Flow: r.Flow, Potentials: r.Potentials},
	}
	value := new(big.Rat).SetInt(r.Objective)
	return build(context.Background(), &flowKind, b, nil, value, value)
}

func (b *flow) problem() any      { return &b.Problem }
func (b *flow) evidence() any     { return &b.Evidence }
func (b *flow) dims() (k, kv int) { return 0, 0 }
func (b *flow) costHash() *digest { return nil }

func (b *flow) check() error {
	if n, m := len(b.Evidence.Flow), len(b.Problem.Arcs); n != m {
		return fmt.Errorf("%w: flow on %d arcs, want %d", ErrShape, n, m)
	}
	if n, m := len(b.Evidence.Potentials), len(b.Problem.Supply); n != m {
		return fmt.Errorf("%w: %d potentials, want %d", ErrShape, n, m)
	}
	return nil
}

func (b *flow) bounds(context.Context, cost.Matrix) (lower, upper *big.Rat, err error) {
	value, x := new(big.Int), new(big.Int)
	for n, a := range b.Problem.Arcs {
		value.Add(value, x.Mul(big.NewInt(b.Evidence.Flow[n]), big.NewInt(a.Cost)))
	}
	r := network.Result{Status: network.Optimal, Flow: b.Evidence.Flow, Objective: value,
		Potentials: b.Evidence.Potentials}
	if err := network.Verify(&network.Problem{Supply: b.Problem.Supply, Arcs: b.Problem.Arcs}, r); err != nil {
		return nil, nil, err
	}
	return new(big.Rat).SetInt(value), new(big.Rat).SetInt(value), nil
}
