package certificate

import (
	"fmt"
	"math"
	"math/big"

	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/cost"
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
	M          numbers `json:"m"`
	Weights    numbers `json:"weights"`
	Thresholds numbers `json:"thresholds"`
}

// NewBaseMeasure returns the certificate of the evidence in r: M, Weights and Thresholds, which must pass
// basemeasure.Verify for c and eps. It states the exact bounds that these prove; what r claims does not count, so that r
// may have been made for an eps that differs by a rounding. It is public if c and eps are.
//
// What it states is about the worst case over all inputs, also if r was made for another objective or with inputs left
// out. Evidence that proves no lower bound of that, as that of an average does not, is refused.
//
// Errors: ErrEvidence with the error of basemeasure.Verify, ErrCost, ErrLimit.
func NewBaseMeasure(c cost.Matrix, eps float64, r basemeasure.Result) (Certificate, error) {
	b := &baseMeasure{
		Problem:  baseMeasureProblem{Epsilon: number(eps)},
		Evidence: baseMeasureEvidence{M: r.M, Weights: r.Weights, Thresholds: r.Thresholds},
	}
	lower, upper, err := b.bounds(c)
	if err != nil {
		return Certificate{}, fmt.Errorf("%w: %w", ErrEvidence, err)
	}
	b.Problem.Inputs, b.Problem.Outputs = c.Dims()
	return build(&baseMeasureKind, b, c, lower, upper)
}

func (b *baseMeasure) problem() any      { return &b.Problem }
func (b *baseMeasure) evidence() any     { return &b.Evidence }
func (b *baseMeasure) dims() (k, kv int) { return b.Problem.Inputs, b.Problem.Outputs }
func (b *baseMeasure) costHash() *digest { return &b.Problem.Cost }
func (b *baseMeasure) epsilon() float64  { return float64(b.Problem.Epsilon) }

func (b *baseMeasure) check() error {
	p, e := &b.Problem, &b.Evidence
	if err := checkSizes(p.Inputs, p.Outputs); err != nil {
		return err
	}
	if err := checkLength("m", e.M, p.Outputs); err != nil {
		return err
	}
	if err := checkLength("weights", e.Weights, p.Inputs); err != nil {
		return err
	}
	return checkLength("thresholds", e.Thresholds, p.Inputs)
}

func (b *baseMeasure) bounds(c cost.Matrix) (lower, upper *big.Rat, err error) {
	e := &b.Evidence
	upper, lower, err = basemeasure.Verify(c, b.epsilon(), basemeasure.Result{
		M: e.M, Weights: e.Weights, Thresholds: e.Thresholds,
		Lower: -math.MaxFloat64, Upper: math.MaxFloat64, // claims nothing: the claims are compared here
	})
	return lower, upper, err
}
