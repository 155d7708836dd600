package certificate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/mincostflow/units"
	"github.com/wpm-go/wpm/wpmerr"
)

var unitsKind = kindSpec{
	kind: Units, private: true, cost: true,
	bounds: "the cost W_p^p of the best point of the box in whole units; upper also that of q",
	empty:  func() body { return new(whole) },
}

type whole struct {
	Problem  unitsProblem
	Evidence unitsEvidence
}

type unitsProblem struct {
	Inputs  int    `json:"inputs"`
	Outputs int    `json:"outputs"`
	Cost    digest `json:"cost_sha256"`
	Source  counts `json:"source"`
	Lo      wholes `json:"lo"`
	Hi      wholes `json:"hi"`
}

// unitsEvidence proves the upper bound by q and the plan, the lower one by the potentials.
type unitsEvidence struct {
	Q    wholes    `json:"q"`
	Plan unitPlan  `json:"plan"`
	F    fractions `json:"f"`
	G    fractions `json:"g"`
}

// counts is a distribution of units: the indices that have some, ascending, and how many.
type counts struct {
	Index indices `json:"index"`
	Units wholes  `json:"units"`
}

// wholes is a list of integers, [] if empty.
type wholes []int64

func (xs wholes) MarshalJSON() ([]byte, error) {
	b := append(make([]byte, 0, 2+12*len(xs)), '[')
	for i, x := range xs {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, x, 10)
	}
	return append(b, ']'), nil
}

// unitPlan is a list of [row, column, units].
type unitPlan []units.Entry

func (p unitPlan) MarshalJSON() ([]byte, error) {
	b := append(make([]byte, 0, 2+24*len(p)), '[')
	for n, e := range p {
		if n > 0 {
			b = append(b, ',')
		}
		b = append(b, '[')
		b = strconv.AppendInt(b, int64(e.I), 10)
		b = append(b, ',')
		b = strconv.AppendInt(b, int64(e.J), 10)
		b = append(b, ',')
		b = strconv.AppendInt(b, e.Units, 10)
		b = append(b, ']')
	}
	return append(b, ']'), nil
}

// UnmarshalJSON reads the canonical form alone, as plan does.
func (p *unitPlan) UnmarshalJSON(data []byte) error {
	if string(data) == "[]" {
		*p = unitPlan{}
		return nil
	}
	out := make(unitPlan, 0, max(0, bytes.Count(data, []byte("["))-1))
	rest := bytes.TrimPrefix(data, []byte("["))
	for len(out) == 0 || len(rest) > 0 && rest[0] == ',' {
		body, tail, ok := bytes.Cut(bytes.TrimPrefix(rest, []byte(",")), []byte("]"))
		body, open := bytes.CutPrefix(body, []byte("["))
		row, body, ok1 := bytes.Cut(body, []byte(","))
		column, count, ok2 := bytes.Cut(body, []byte(","))
		i, err1 := strconv.Atoi(string(row))
		j, err2 := strconv.Atoi(string(column))
		x, err3 := strconv.ParseInt(string(count), 10, 64)
		if !ok || !open || !ok1 || !ok2 || err1 != nil || err2 != nil || err3 != nil {
			return fmt.Errorf("entry %d of the plan is not [row,column,units]", len(out))
		}
		out = append(out, units.Entry{I: i, J: j, Units: x})
		rest = tail
	}
	if string(rest) != "]" {
		return fmt.Errorf("the plan does not end after entry %d", len(out)-1)
	}
	*p = out
	return nil
}

// fractions is a list of rationals.
type fractions []fraction

func newFractions(xs []*big.Rat) fractions {
	out := make(fractions, len(xs))
	for i, x := range xs {
		out[i] = fraction{x}
	}
	return out
}

// Potentials of a solver are sums of fewer than 2^28 costs: multiples of 2^-1074 below 2^1052. Others may have any
// denominators, as long as sums of them stay short: a text must not cost minutes.
const (
	maxNumerator   = 4096 // bits
	maxDenominator = 2048 // bits of the least common one of a list
)

func (xs fractions) check(name string, n int) error {
	if len(xs) != n {
		return fmt.Errorf("%w: %d entries of %s, want %d", ErrShape, len(xs), name, n)
	}
	common, rest, last := big.NewInt(1), new(big.Int), big.NewInt(1)
	for i, x := range xs {
		if x.Rat == nil {
			return fmt.Errorf("%w: entry %d of %s is missing", ErrShape, i, name)
		}
		if x.Num().BitLen() > maxNumerator || x.Denom().BitLen() > maxDenominator {
			return fmt.Errorf("%w: entry %d of %s is %d bits over %d, at most %d over %d", ErrLimit, i, name,
				x.Num().BitLen(), x.Denom().BitLen(), maxNumerator, maxDenominator)
		}
		if x.Denom().Cmp(last) == 0 {
			continue
		}
		last = x.Denom()
		rest.GCD(nil, nil, common, last)
		common.Mul(common, rest.Quo(last, rest))
		if common.BitLen() > maxDenominator {
			return fmt.Errorf("%w: the least common denominator of %s has %d bits up to entry %d, at most %d", ErrLimit, name,
				common.BitLen(), i, maxDenominator)
		}
	}
	return nil
}

func (xs fractions) rats() []*big.Rat {
	out := make([]*big.Rat, len(xs))
	for i, x := range xs {
		out[i] = x.Rat
	}
	return out
}

// NewUnits returns the certificate of r, which must pass units.Verify for p. If the solver was not stopped
// early, the two bounds are equal, and are the optimum. The certificate is as private as p.Source.
//
// Errors: ErrEvidence with the error of units.Verify, ErrCost, ErrLimit; wpmerr.ErrNotConverged if ctx ends.
func NewUnits(ctx context.Context, p units.Problem, r units.Result) (Certificate, error) {
	upper, lower, err := units.Verify(ctx, p, r)
	if errors.Is(err, wpmerr.ErrNotConverged) {
		return Certificate{}, err
	}
	if err != nil {
		return Certificate{}, fmt.Errorf("%w: %w", ErrEvidence, err)
	}
	k, kv := p.Cost.Dims()
	var source counts
	for n, u := range p.Source {
		if u == 0 {
			continue
		}
		i := n
		if p.Support != nil {
			i = p.Support[n]
		}
		source.Index, source.Units = append(source.Index, i), append(source.Units, u)
	}
	b := &whole{
		Problem:  unitsProblem{Inputs: k, Outputs: kv, Source: source, Lo: p.Lo, Hi: p.Hi},
		Evidence: unitsEvidence{Q: r.Q, Plan: r.Plan, F: newFractions(r.Potentials.F), G: newFractions(r.Potentials.G)},
	}
	return build(ctx, &unitsKind, b, p.Cost, lower, upper)
}

func (b *whole) problem() any      { return &b.Problem }
func (b *whole) evidence() any     { return &b.Evidence }
func (b *whole) dims() (k, kv int) { return b.Problem.Inputs, b.Problem.Outputs }
func (b *whole) costHash() *digest { return &b.Problem.Cost }

func (b *whole) check() error {
	p, e := &b.Problem, &b.Evidence
	if err := checkSizes(p.Inputs, p.Outputs); err != nil {
		return err
	}
	s := p.Source
	if len(s.Index) != len(s.Units) || len(s.Index) == 0 {
		return fmt.Errorf("%w: source has %d indices and %d counts", ErrShape, len(s.Index), len(s.Units))
	}
	last := -1
	for n, i := range s.Index {
		if i <= last || i >= p.Inputs {
			return fmt.Errorf("%w: index %d of source is out of order or out of range", ErrShape, n)
		}
		last = i
		if s.Units[n] < 1 {
			return fmt.Errorf("%w: count %d of source is not positive", ErrShape, n)
		}
	}
	for _, list := range []struct {
		name string
		xs   wholes
	}{{"lo", p.Lo}, {"hi", p.Hi}, {"q", e.Q}} {
		if len(list.xs) != p.Outputs {
			return fmt.Errorf("%w: %d entries of %s, want %d", ErrShape, len(list.xs), list.name, p.Outputs)
		}
	}
	if err := e.F.check("f", p.Inputs); err != nil {
		return err
	}
	return e.G.check("g", p.Outputs)
}

func (b *whole) bounds(ctx context.Context, c cost.Matrix) (lower, upper *big.Rat, err error) {
	p, e := &b.Problem, &b.Evidence
	upper, lower, err = units.Verify(ctx,
		units.Problem{Cost: c, Source: p.Source.Units, Support: p.Source.Index, Lo: p.Lo, Hi: p.Hi},
		units.Result{
			Q: e.Q, Plan: e.Plan, Potentials: units.Potentials{F: e.F.rats(), G: e.G.rats()},
			Lower: new(big.Rat), Upper: new(big.Rat).SetFloat64(math.MaxFloat64),
		})

	return lower, upper, err
}
