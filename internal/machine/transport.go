package machine

import (
	"context"
	"github.com/wpm-go/wpm/projection"
	"math"
	"math/big"
	"strconv"

	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/mincostflow/units"
)

type transportAnswer struct {
	Objective  number     `json:"objective"`
	Distance   *number    `json:"distance,omitempty"` // W_p, where p is known
	Upper      number     `json:"upper"`
	Lower      number     `json:"lower"`
	UpperExact string     `json:"upper_exact"`
	LowerExact string     `json:"lower_exact"`
	Potentials potentials `json:"potentials"`
	Plan       []entry    `json:"plan"`
	evidence
}

// solveTransport is the distance between two distributions.
func solveTransport(ctx context.Context, in *object, clock *stopwatch) (any, error) {
	c, stated, err := readCost(ctx, in)
	if err != nil {
		return nil, err
	}
	from, to := "source", "target"
	if in.has("a") || in.has("b") {
		from, to = "a", "b"
	}
	source, err := readMass[float64](in, from, c.K)
	if err != nil {
		return nil, err
	}
	target, err := readMass[float64](in, to, c.Kv)
	if err != nil {
		return nil, err
	}
	if err := in.finish(); err != nil {
		return nil, err
	}
	a, b := source.dense(c.K), target.dense(c.Kv)
	var res mincostflow.Result
	err = clock.run(func() (err error) {
		res, err = mincostflow.Transport(ctx, c, a, b)
		return err
	})
	if err != nil {
		return nil, err
	}
	upper, lower := new(big.Rat), new(big.Rat)
	if in.wants("upper", "lower", "upper_exact", "lower_exact") {
		if upper, lower, err = mincostflow.VerifyTransport(context.Background(), c, a, b, res); err != nil {
			return nil, err
		}
	}
	return transportAnswer{
		Objective: number(res.Objective), Distance: distance(stated, res.Objective),
		Upper: number(num.Up(upper)), Lower: number(num.Down(lower)), UpperExact: upper.String(), LowerExact: lower.String(),
		Potentials: potentials{F: res.Potentials.F, G: res.Potentials.G}, Plan: entries(res.Plan),
		evidence: func() (certificate.Certificate, error) {
			return certificate.NewTransport(context.Background(), stated, a, b, res)
		},
	}, nil
}

// distance is W_p for a cost W_p^p, where p is known.
func distance(c cost.Matrix, objective float64) *number {
	p, known := cost.Exponent(c)
	if !known || !(p > 0) {
		return nil
	}
	w := number(math.Pow(math.Max(objective, 0), 1/p))
	return &w
}

func entries(plan []projection.Entry) []entry {
	out := make([]entry, len(plan))
	for n, e := range plan {
		out[n] = entry(e)
	}
	return out
}

type unitsAnswer struct {
	Q          []int64     `json:"q"`
	Objective  number      `json:"objective"`
	Distance   *number     `json:"distance,omitempty"`
	UpperExact string      `json:"upper_exact"`
	LowerExact string      `json:"lower_exact"`
	F          []string    `json:"f"`
	G          []string    `json:"g"`
	Plan       []unitEntry `json:"plan"`
	evidence
}

// unitEntry is one arc of a plan of whole units, printed as [i, j, units].
type unitEntry units.Entry

func (e unitEntry) MarshalJSON() ([]byte, error) {
	b := strconv.AppendInt([]byte{'['}, int64(e.I), 10)
	b = strconv.AppendInt(append(b, ','), int64(e.J), 10)
	b = strconv.AppendInt(append(b, ','), e.Units, 10)
	return append(b, ']'), nil
}

// solveUnits is a projection in whole units.
func solveUnits(ctx context.Context, in *object, clock *stopwatch) (any, error) {
	c, stated, err := readCost(ctx, in)
	if err != nil {
		return nil, err
	}
	source, err := readMass[int64](in, "source", c.K)
	if err != nil {
		return nil, err
	}
	b, err := readUnitBox(in)
	if err != nil {
		return nil, err
	}
	if err := in.finish(); err != nil {
		return nil, err
	}
	prob := units.Problem{Cost: c, Source: source.weight, Support: source.support, Lo: b.lo, Hi: b.hi}
	var res units.Result
	err = clock.run(func() (err error) {
		res, err = units.Project(ctx, prob, units.Settings{})
		return err
	})
	if err != nil {
		return nil, err
	}
	upper, lower := new(big.Rat), new(big.Rat)
	if in.wants("upper_exact", "lower_exact") {
		if upper, lower, err = units.Verify(context.Background(), prob, res); err != nil {
			return nil, err
		}
	}
	ans := unitsAnswer{
		Q: res.Q, Objective: number(res.Objective), Distance: distance(stated, res.Objective),
		UpperExact: upper.String(), LowerExact: lower.String(), F: fractions(res.Potentials.F),
		G:    fractions(res.Potentials.G),
		Plan: make([]unitEntry, len(res.Plan)),
		evidence: func() (certificate.Certificate, error) {
			prob.Cost = stated
			return certificate.NewUnits(context.Background(), prob, res)
		},
	}
	for n, e := range res.Plan {
		ans.Plan[n] = unitEntry(e)
	}
	return ans, nil
}

func fractions(xs []*big.Rat) []string {
	out := make([]string, len(xs))
	for n, x := range xs {
		out[n] = x.String()
	}
	return out
}
