package projection

import (
	"math"
	"math/big"

	"github.com/wpm-go/wpm/proptest"
	"github.com/wpm-go/wpm/proptest/exact"
	"github.com/wpm-go/wpm/proptest/internal/planted"
)

// Slow implementations of the interfaces, made from package exact. They must pass every law; the planted errors of
// mutants_test.go are changes of them.

// refProject solves a projection by the exact flow.
func refProject(p proptest.Problem) (Projection, error) {
	mu, err := exact.Distribution(p.Mu)
	if err != nil {
		return Projection{}, err
	}
	l, h, err := exact.Box(p.Lo, p.Hi)
	if err != nil {
		return Projection{}, err
	}
	v, err := exact.Solve(proptest.ExactCost(p.C), mu, l, h)
	if err != nil {
		return Projection{}, err
	}
	r := Projection{Objective: exact.Float(v.Value)}
	r.Q = exact.Floats(v.Q) // rounding is monotone: q stays between two floats it is between
	r.Certificate.G = exact.Floats(v.G)
	for i, row := range v.Plan {
		for j, m := range row {
			if m.Sign() > 0 {
				r.Certificate.Plan = append(r.Certificate.Plan, Arc{i, j, exact.Float(m)})
			}
		}
	}
	return r, r.bound(p)
}

// bound sets the bounds to what the certificate proves.
func (r *Projection) bound(p proptest.Problem) error {
	lower, err := Lower(p, r.Certificate.G)
	if err != nil {
		return err
	}
	upper, err := Upper(p, r.Q, r.Certificate.Plan)
	r.Lower, r.Upper = planted.Down(lower), planted.Up(upper)
	return err
}

func refTransport(c [][]float64, a, b []float64) (float64, error) {
	v, err := proptest.Problem{C: c, Mu: a, Lo: b, Hi: b}.Optimum()
	if err != nil {
		return 0, err
	}
	return exact.Float(v), nil
}

// iterate runs steps until the residual is small or the patience is at an end, and adds the exact bounds.
func iterate(f CompositeMap, most int) EntropicFunc { return stopping(f, most, 1e-13) }

// stopping is iterate with a given residual.
func stopping(f CompositeMap, most int, residual float64) EntropicFunc {
	return func(p proptest.Problem, reg float64) (EntropicProjection, error) {
		r := EntropicProjection{LogV: make([]float64, len(p.Lo))}
		for j, v := range p.Hi {
			if v == 0 {
				r.LogV[j] = math.Inf(-1)
			}
		}
		for range most {
			next, q, err := f(p, reg, r.LogV)
			if err != nil {
				return r, err
			}
			r.Q = q
			off := 0.0
			_, logC := parts(p, reg, r.LogV)
			for j := range q {
				off += math.Abs(q[j] - math.Exp(logC[j]))
			}
			if off <= residual {
				break
			}
			r.LogV = next
		}
		mu, err := exact.Distribution(p.Mu)
		if err != nil {
			return r, err
		}
		l, h, err := exact.Box(p.Lo, p.Hi)
		if err != nil {
			return r, err
		}
		best, err := exact.Solve(proptest.ExactCost(p.C), mu, l, h)
		if err != nil {
			return r, err
		}
		r.G = exact.Floats(best.G)
		v, err := Lower(p, r.G)
		if err != nil {
			return r, err
		}
		w, err := proptest.TransportTo(proptest.ExactCost(p.C), mu, r.Q)
		if err != nil {
			return r, err
		}
		w = exact.Max(best.Value, w) // q is rounded, and may have left the box by that
		r.Lower, r.Upper = planted.Down(v), planted.Up(w)
		_, r.Objective = columnSums(p, reg, r.LogV)
		return r, nil
	}
}

// honest is e where it has converged, and no answer where its steps were too few: with a box that binds by 1e-8, the
// residual may fall by less than a thousandth in a step.
func honest(e EntropicFunc) EntropicFunc {
	return func(p proptest.Problem, reg float64) (EntropicProjection, error) {
		r, err := e(p, reg)
		if err != nil {
			return r, err
		}
		c, _ := columnSums(p, reg, r.LogV)
		off := 0.0
		for j, q := range r.Q {
			off += math.Abs(c[j] - q)
		}
		if off > EntropicTol {
			return r, ErrNoAnswer
		}
		return r, nil
	}
}

func refEntropic(p proptest.Problem, reg float64) (EntropicProjection, error) {
	return honest(iterate(plainStep, 20000))(p, reg)
}

// refHilbert works with exact ratios.
type refHilbert struct{}

func (refHilbert) Distance(x, y []float64) (float64, error) {
	var a, b []*big.Rat
	for i := range x {
		switch {
		case x[i] == 0 && y[i] == 0:
		case x[i] == 0 || y[i] == 0:
			return math.Inf(1), nil
		default:
			a, b = append(a, exact.Rat(x[i])), append(b, exact.Rat(y[i]))
		}
	}
	if len(a) == 0 {
		return 0, nil
	}
	return spreadOf(ratios(a, b)), nil
}

func (refHilbert) Diameter(a [][]float64) (float64, error) { return exactDiameter(a), nil }

func (refHilbert) Contraction(d float64) (tau, oneMinusTau float64) {
	return math.Tanh(d / 4), 2 / (math.Exp(d/2) + 1)
}
