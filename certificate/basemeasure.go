package certificate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/wpmerr"
)

var baseMeasureKind = kindSpec{
	kind: BaseMeasure, private: false, cost: true,
	bounds: "lower: the worst case W_p^p of every eps-LDP mechanism; upper: that of the mechanism with base measure m",
	empty:  func() body { return new(baseMeasure) },
}

type baseMeasure struct {
	Problem  baseMeasureProblem
	Evidence baseMeasureEvidence
}

type baseMeasureProblem struct {
	Inputs  int    `json:"inputs"`
	Outputs int    `json:"outputs"`
	Cost    digest `json:"cost_sha256"`
	Epsilon number `json:"eps"` // the rational that the float is
}

// baseMeasureEvidence proves the upper bound by m and the lower one by weights and thresholds.
type baseMeasureEvidence struct {
	M, Weights, Thresholds numbers
	short                  *shortEvidence // in their place
}

// longEvidence is the text that lists everything.
type longEvidence struct {
	M          numbers `json:"m"`
	Weights    numbers `json:"weights"`
	Thresholds numbers `json:"thresholds"`
}

// shortEvidence is the text for many places: every output has mass m, and thresholds are those of the inputs with a
// weight.
type shortEvidence struct {
	M          number  `json:"m"`
	Weights    masses  `json:"weights"`
	Thresholds numbers `json:"thresholds"`
}

// shortFrom is the number of pairs above which NewBaseMeasure writes evidence short if it can.
const shortFrom = 1 << 20

// shorten returns the short form of the evidence of so many pairs, nil if it has none.
func (e *baseMeasureEvidence) shorten() *shortEvidence {
	if int64(len(e.M))*int64(len(e.Weights)) <= shortFrom ||
		slices.ContainsFunc(e.M, func(x float64) bool { return x != e.M[0] }) {
		return nil
	}
	short := &shortEvidence{M: number(e.M[0]), Weights: newMasses(e.Weights, nil)}
	for _, i := range short.Weights.Index {
		short.Thresholds = append(short.Thresholds, e.Thresholds[i])
	}
	return short
}

// lists returns the evidence for k inputs and kv outputs. check has passed.
func (e *baseMeasureEvidence) lists(k, kv int) (m, weights, thresholds []float64) {
	short := e.short
	if short == nil {
		return e.M, e.Weights, e.Thresholds
	}
	thresholds = make([]float64, k)
	for n, i := range short.Weights.Index {
		thresholds[i] = short.Thresholds[n]
	}
	return slices.Repeat([]float64{float64(short.M)}, kv), short.Weights.dense(k), thresholds
}

func (e *baseMeasureEvidence) MarshalJSON() ([]byte, error) {
	if e.short != nil {
		return json.Marshal(e.short)
	}
	return json.Marshal(longEvidence{e.M, e.Weights, e.Thresholds})
}

// UnmarshalJSON reads either form.
func (e *baseMeasureEvidence) UnmarshalJSON(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if head := []byte(`{"m":`); bytes.HasPrefix(data, head) && !bytes.HasPrefix(data[len(head):], []byte("[")) {
		e.short = new(shortEvidence)
		return dec.Decode(e.short)
	}
	var long longEvidence
	err := dec.Decode(&long)
	e.M, e.Weights, e.Thresholds = long.M, long.Weights, long.Thresholds
	return err
}

// NewBaseMeasure returns the certificate of the evidence in r: M, Weights and Thresholds, which must pass
// basemeasure.Verify for c and eps. It states the exact bounds that this evidence proves. The claims of r are not used,
// so r may have been made for an eps that differs by a rounding. The certificate is public if c and eps are public.
//
// The bounds are about the worst case over all inputs, also if r was made for another objective or with excluded
// inputs. Evidence that proves no lower bound on this worst case, such as that for an average, is refused.
//
// Above 2^20 pairs of an input and an output, evidence with one mass for all outputs is written in the short form.
//
// Errors: ErrEvidence with the error of basemeasure.Verify, ErrCost, ErrLimit; wpmerr.ErrNotConverged if ctx ends first.
func NewBaseMeasure(ctx context.Context, c cost.Matrix, eps float64, r basemeasure.Result) (Certificate, error) {
	ctx = wpmerr.Context(ctx)
	b := &baseMeasure{
		Problem:  baseMeasureProblem{Epsilon: number(eps)},
		Evidence: baseMeasureEvidence{M: r.M, Weights: r.Weights, Thresholds: r.Thresholds},
	}
	lower, upper, err := b.bounds(ctx, c)
	if ctx.Err() != nil {
		return Certificate{}, wpmerr.Ended(ctx)
	}
	if err != nil {
		return Certificate{}, fmt.Errorf("%w: %w", ErrEvidence, err)
	}
	b.Problem.Inputs, b.Problem.Outputs = c.Dims()
	b.Evidence.short = b.Evidence.shorten()
	return build(ctx, &baseMeasureKind, b, c, lower, upper)
}

func (b *baseMeasure) problem() any      { return &b.Problem }
func (b *baseMeasure) evidence() any     { return &b.Evidence }
func (b *baseMeasure) dims() (k, kv int) { return b.Problem.Inputs, b.Problem.Outputs }
func (b *baseMeasure) costHash() *digest { return &b.Problem.Cost }
func (b *baseMeasure) epsilon() float64  { return float64(b.Problem.Epsilon) }

func (b *baseMeasure) check() error {
	p, e := &b.Problem, &b.Evidence
	switch k, kv := p.Inputs, p.Outputs; {
	case k < 1 || kv < 1:
		return fmt.Errorf("%w: %d x %d problem", ErrShape, k, kv)
	case k > cost.MaxPoints || kv > cost.MaxPoints || int64(k) > maxPairs/int64(kv):
		return fmt.Errorf("%w: %d x %d problem, at most %d pairs", ErrLimit, k, kv, maxPairs)
	}
	if e.short != nil {
		if err := e.short.Weights.check("weights", p.Inputs); err != nil {
			return err
		}
		return checkLength("thresholds", e.short.Thresholds, len(e.short.Weights.Index))
	}
	if err := checkLength("m", e.M, p.Outputs); err != nil {
		return err
	}
	if err := checkLength("weights", e.Weights, p.Inputs); err != nil {
		return err
	}
	return checkLength("thresholds", e.Thresholds, p.Inputs)
}

// maxPairs bounds the pairs of an input and an output. Few of them are looked at where the cost has places and weights
// are few; where all are, a million million take a day.
const maxPairs int64 = 1 << 40

func (b *baseMeasure) bounds(ctx context.Context, c cost.Matrix) (lower, upper *big.Rat, err error) {
	// claims nothing: the claims are compared here
	r := basemeasure.Result{Lower: -math.MaxFloat64, Upper: math.MaxFloat64}
	r.M, r.Weights, r.Thresholds = b.Evidence.lists(c.Dims())
	upper, lower, err = basemeasure.Verify(ctx, c, b.epsilon(), r)
	return lower, upper, err
}
