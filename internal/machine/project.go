package machine

import (
	"context"
	"fmt"
	"github.com/wpm-go/wpm/projection"
	"math"
	"math/big"
	"slices"

	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/mincostflow"
)

type projectAnswer struct {
	Q          numbers    `json:"q"`
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

type potentials struct {
	F numbers `json:"f"`
	G numbers `json:"g"`
}

// entry is one arc of a plan, printed as [i, j, mass].
type entry projection.Entry

func (e entry) MarshalJSON() ([]byte, error) {
	return append(appendNumber(fmt.Appendf(nil, "[%d,%d,", e.I, e.J), e.Mass), ']'), nil
}

func solveProject(ctx context.Context, in *object, clock *stopwatch) (any, error) {
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
	if err := in.finish(); err != nil {
		return nil, err
	}
	prob := projection.Problem{Cost: c, Source: mu.weight, Support: mu.support, Lo: b.lo, Hi: b.hi}
	proved := in.wants("upper", "lower", "upper_exact", "lower_exact")
	settings := mincostflow.Settings{AllRows: proved || in.wants("potentials")}
	stream, err := in.shared.projector(ctx, in, c, b, settings.AllRows)
	if err != nil {
		return nil, err
	}
	var res mincostflow.Result
	err = clock.run(func() (err error) {
		if stream != nil {
			return stream.Project(ctx, mu.weight, mu.support, &res)
		}
		res, err = mincostflow.Project(ctx, prob, settings)
		return err
	})
	if err != nil {
		return nil, err
	}
	upper, lower := new(big.Rat), new(big.Rat)
	if proved {
		if upper, lower, err = mincostflow.Verify(context.Background(), prob, res); err != nil {
			return nil, err
		}
		if b.m != nil {
			widen(upper, lower, c, b, res.Potentials.G)
		}
	}
	return projectAnswer{
		Q: res.Q, Objective: number(res.Objective), Distance: distance(stated, res.Objective),
		Upper: number(num.Up(upper)), Lower: number(num.Down(lower)),
		UpperExact: upper.String(), LowerExact: lower.String(),
		Potentials: potentials{F: res.Potentials.F, G: res.Potentials.G},
		Plan:       entries(res.Plan),
		evidence: func() (certificate.Certificate, error) {
			prob.Cost = stated
			return certificate.NewProjection(context.Background(), prob, res)
		},
	}, nil
}

// boxRelErr bounds the relative error of a box made from m and eps: exp is good to one unit in the last
// place (2^-52) and the product to half of one.
const boxRelErr = 0x1p-51

// widen moves bounds on the optimum over the float box outward until they hold for the real box
// [e^(-eps/2) m, e^(eps/2) m], whose sides differ from the floats by a relative d <= boxRelErr (plus
// what the rule for inexact masses moved).
//
// Lower: with the same potentials the dual value moves by at most d sum_j |g_j| (lo_j if g_j > 0, hi_j if
// g_j < 0). Upper: take optimal potentials of the real problem with |g| <= max C (they exist: the level
// of the slack node is 0 and a shortest path in the residual graph uses costs of at most max C); then
// by complementary slackness the same sum is at most sum_j q_j |g_j| <= max C. The factor 2 covers
// terms of second order.
func widen(upper, lower *big.Rat, c *cost.Dense, b box, g []float64) {
	d := boxRelErr
	d += math.Max(0, num.Sum(b.lo)-1) + math.Max(0, 1-num.Sum(b.hi))
	side := make([]float64, 0, len(g))
	for j, y := range g {
		if y > 0 {
			side = append(side, b.lo[j]*y)
		} else if y < 0 {
			side = append(side, -b.hi[j]*y)
		}
	}
	upper.Add(upper, num.Rat(2*d*slices.Max(c.Data)))
	lower.Sub(lower, num.Rat(2*d*num.Sum(side)))
	if lower.Sign() < 0 {
		lower.SetInt64(0) // costs are non-negative
	}
}
