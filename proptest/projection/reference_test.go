package projection

import (
	"math"
	"math/big"
	"slices"

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

// refKL is the projection in divergence by bisection, twice: the second time around the first theta, where it has more
// digits.
func refKL(logS, lo, hi []float64) ([]float64, float64, error) {
	x, theta, width := proptest.Clone(logS), 0.0, 1000+maxLog(logS)
	var q []float64
	for range 2 {
		at := func(theta float64) (sum float64) {
			q = q[:0]
			for j := range x {
				q = append(q, min(max(math.Exp(theta+x[j]), lo[j]), hi[j]))
				sum += q[j]
			}
			return sum
		}
		a, b := -width, width
		for range 80 {
			if at((a+b)/2) < 1 {
				a = (a + b) / 2
			} else {
				b = (a + b) / 2
			}
		}
		at(b)
		for j := range x {
			x[j] += b
		}
		theta, width = theta+b, 1
	}
	return q, theta, nil
}

// parts are the quantities of one iteration of Algorithm 1, in logarithms: log s, and log of the column sums v s.
func parts(p proptest.Problem, reg float64, logV []float64) (logS, logC []float64) {
	return partsFrom(p, reg, logV, slices.Min[[]float64])
}

// partsFrom is parts with something else subtracted from each row.
func partsFrom(p proptest.Problem, reg float64, logV []float64, origin func([]float64) float64) (logS, logC []float64) {
	rows, kv := make([][]float64, 0, len(p.C)), len(logV)
	for i, row := range p.C {
		if p.Mu[i] == 0 {
			continue
		}
		least := origin(row)
		x := make([]float64, kv)
		for j := range row {
			x[j] = logV[j] - (row[j]-least)/reg
		}
		u := math.Log(p.Mu[i]) - logSum(x)
		for j := range row {
			x[j] = u - (row[j]-least)/reg
		}
		rows = append(rows, x)
	}
	for j := range kv {
		var x []float64
		for _, row := range rows {
			x = append(x, row[j])
		}
		s := logSum(x)
		logS, logC = append(logS, s), append(logC, s+logV[j])
	}
	return logS, logC
}

func logSum(x []float64) float64 {
	top := slices.Max(x)
	if math.IsInf(top, -1) {
		return top
	}
	s := 0.0
	for _, v := range x {
		s += math.Exp(v - top)
	}
	return top + math.Log(s)
}

func refStep(p proptest.Problem, reg float64, logV []float64) (next, q []float64, err error) {
	logS, _ := parts(p, reg, logV)
	q, _, err = refKL(logS, p.Lo, p.Hi)
	return minus(logsOf(q), logS), q, err
}

// iterate runs steps until the residual is small or the patience is at an end, and adds the exact bounds.
func iterate(f CompositeMap, most int) EntropicFunc {
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
			if off <= 1e-13 {
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

func refEntropic(p proptest.Problem, reg float64) (EntropicProjection, error) {
	return iterate(refStep, 20000)(p, reg)
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
