package projection

import (
	"fmt"
	"math"
	"math/big"

	"github.com/wpm-go/wpm/proptest"
	"github.com/wpm-go/wpm/proptest/exact"
	"pgregory.net/rapid"
)

// A Composite does one iteration of Algorithm 1 from v = exp(logV): Step returns the logarithm of T(v) = Π(s)/s and q =
// Π(s), with s = K'(mu/Kv) and K_ij = exp(-C_ij/reg), up to a factor of every row of K.
type Composite interface {
	Step(p proptest.Problem, reg float64, logV []float64) (next, q []float64, err error)
}

// CompositeMap is a function as a Composite.
type CompositeMap func(p proptest.Problem, reg float64, logV []float64) (next, q []float64, err error)

// Step calls f.
func (f CompositeMap) Step(p proptest.Problem, reg float64, logV []float64) (next, q []float64, err error) {
	return f(p, reg, logV)
}

// CompositeOn is a Composite with a domain of its own: see EntropicOn.
type CompositeOn struct {
	Composite
	Spread float64
}

// CompositeLaws returns the laws of the iteration.
func CompositeLaws() []proptest.Law[Composite] {
	return []proptest.Law[Composite]{
		{Name: "StepInBox", Statement: "alg:projection: every iterate is a point of the box", Check: StepInBox},
		{Name: "StepHomogeneous", Check: StepHomogeneous,
			// a column that only a row of mass e^-30 reaches
			First: []func(proptest.TB, Composite){func(t proptest.TB, f Composite) {
				in := proptest.Problem{C: [][]float64{{0, 40}, {40, 0}}, Mu: []float64{1, math.Exp(-30)},
					Lo: []float64{0.25, 0.25}, Hi: []float64{0.75, 0.75}}
				stepHomogeneous(t, f, stepProblem{Problem: in, reg: 1, slack: quotients(spreadOfComposite(f), in, 1)},
					[]float64{0, 0}, 3)
			}},
			Statement: "thm:convergence: T is homogeneous, so its projective fixed point is a fixed point"},
		{Name: "StepContracts", Statement: "lem:map-contraction", Check: StepContracts},
		{Name: "StepConverges", Statement: "thm:convergence, in Hilbert's metric", Check: StepConverges},
		{Name: "StepConvergesKL", Check: StepConvergesKL,
			Statement: "thm:convergence, in divergence, the paper's bound and the sharp ones"},
		{Name: "StepLimit", Statement: "thm:convergence: the limit is the optimum", Check: StepLimit},
	}
}

// A stepProblem is a problem as the theorem has it, all masses and bounds positive, with a reg of the size of the
// spread: Birkhoff's coefficient rate is then below 1 by more than rounding. The slack is what quotients returns.
type stepProblem struct {
	proptest.Problem
	reg, rate, slack float64
}

func (p stepProblem) String() string { return fmt.Sprintf("reg %v, %#v", p.reg, p.Problem) }

func spreadOfComposite(f Composite) float64 {
	if on, ok := f.(CompositeOn); ok {
		return on.Spread
	}
	return DefaultSpread
}

func drawStep(t *rapid.T, f Composite) stepProblem {
	spread := spreadOfComposite(f)
	k, kv := proptest.Size(maxEntropic).Draw(t, "k"), proptest.Size(maxEntropic).Draw(t, "kv")
	b := softBox(kv, true).Draw(t, "box")
	p := stepProblem{Problem: proptest.Problem{C: costsOf(k, kv, spread).Draw(t, "C"), Mu: proptest.Mass(k).Draw(t, "mu"),
		Lo: b.Lo, Hi: b.Hi}}
	for i := range p.Mu {
		p.Mu[i] = max(p.Mu[i], 1e-3)
	}
	proptest.Normalise(p.Mu, 1)
	p.reg = rapid.SampledFrom([]float64{0.25, 0.5, 1, 2, 4}).Draw(t, "reg")
	if r := proptest.RowRange(p.C); r > 0 {
		p.reg *= r
	}
	tau := math.Tanh(gibbsDiameter(p.C, p.reg) / 4)
	p.rate, p.slack = tau*tau, quotients(spread, p.Problem, p.reg)
	return p
}

// gibbsDiameter is Birkhoff's diameter of exp(-C/reg), by its definition: the largest (x_j - y_j) - (x_l - y_l) of two
// rows, over reg. It is exact up to the last rounding, because in floats a row of equal costs beside a row of tiny ones
// cancels to 0.
func gibbsDiameter(c [][]float64, reg float64) float64 {
	d := new(big.Rat)
	rows := proptest.ExactCost(c)
	for a, x := range rows {
		for _, y := range rows[:a] {
			low := exact.Sub(x[0], y[0])
			top := low
			for j := range x {
				v := exact.Sub(x[j], y[j])
				low, top = exact.Min(low, v), exact.Max(top, v)
			}
			d = exact.Max(d, exact.Sub(top, low))
		}
	}
	return exact.Float(exact.Quo(d, exact.Rat(reg)))
}

func step(t proptest.TB, f Composite, in stepProblem, logV []float64) (next, q []float64) {
	t.Helper()
	work, v := in.Clone(), proptest.Clone(logV)
	next, q, err := f.Step(work, in.reg, v)
	if err != nil {
		t.Fatalf("Step: %v\nlog v %v, %v", err, logV, in)
	}
	proptest.SameProblem(t, work, in.Problem)
	proptest.SameFloats(t, "logV", v, logV)
	proptest.Length(t, "next", next, len(logV))
	proptest.Length(t, "q", q, len(logV))
	proptest.Finite(t, "next", next...)
	proptest.Finite(t, "q", q...)
	return next, q
}

func drawStart(t *rapid.T, n int, what string) []float64 {
	return rapid.SliceOfN(rapid.Float64Range(-3, 3), n, n).Draw(t, what)
}

// StepInBox: every iterate is a point of the box, so an early stop is as private as the limit.
func StepInBox(t *rapid.T, f Composite) {
	in := drawStep(t, f)
	v := drawStart(t, len(in.Lo), "log v")
	for range 3 {
		var q []float64
		v, q = step(t, f, in, v)
		inBox(t, q, in.Lo, in.Hi)
	}
}

// StepHomogeneous: T(a v) = a T(v), and <v, s> = <T(v), s> = 1 for s = K'(mu/Kv). So T(v) = κ v forces κ = 1.
func StepHomogeneous(t *rapid.T, f Composite) {
	in := drawStep(t, f)
	v := drawStart(t, len(in.Lo), "log v")
	stepHomogeneous(t, f, in, v, rapid.Float64Range(-20, 20).Draw(t, "log a"))
}

func stepHomogeneous(t proptest.TB, f Composite, in stepProblem, v []float64, a float64) {
	t.Helper()
	w := proptest.Clone(v)
	for j := range w {
		w[j] += a
	}
	next, q := step(t, f, in, v)
	other, _ := step(t, f, in, w)
	tol := 10*LogTol*maxLog(next, other, v, w) + 2*in.slack
	for j := range next {
		if !(math.Abs(other[j]-next[j]-a) <= tol) {
			t.Fatalf("log T(a v) - log T(v) = %v, want %v\nlog v %v, %v", minus(other, next), a, v, in)
		}
	}
	c, _ := columnSums(in.Problem, in.reg, v) // v s
	sum := 0.0
	for j := range c {
		sum += c[j] * math.Exp(next[j]-v[j])
		if got := next[j] - v[j]; !(math.Abs(got-math.Log(q[j]/c[j])) <= tol) {
			t.Fatalf("log T(v)/v = %v, q/(v s) has %v\nlog v %v, %v", got, math.Log(q[j]/c[j]), v, in)
		}
	}
	if !(math.Abs(sum-1) <= tol) {
		t.Fatalf("<T(v), s> = %v\nlog v %v, %v", sum, v, in)
	}
}

// StepContracts: d_H(T(v), T(w)) <= τ(K') τ(K) d_H(v, w).
func StepContracts(t *rapid.T, f Composite) {
	in := drawStep(t, f)
	v, w := drawStart(t, len(in.Lo), "log v"), drawStart(t, len(in.Lo), "log w")
	x, _ := step(t, f, in, v)
	y, _ := step(t, f, in, w)
	got, want := hilbertLogs(x, y), hilbertLogs(v, w)
	if !(got <= in.rate*want+10*LogTol*maxLog(x, y, v, w)+2*in.slack) {
		t.Fatalf("d_H(T(v), T(w)) = %.17g > c d_H(v, w) = %.17g * %.17g\nlog v %v, log w %v, %v",
			got, in.rate, want, v, w, in)
	}
}

// trajectory iterates until v stands still, and returns all iterates; the last is the fixed point.
func trajectory(t *rapid.T, f Composite, in stepProblem) (v, q [][]float64) {
	t.Helper()
	at := drawStart(t, len(in.Lo), "log v")
	for range 2000 { // contraction below 0.93 for the reg of drawStep: 500 would do
		next, out := step(t, f, in, at)
		v, q = append(v, at), append(q, out)
		if hilbertLogs(next, at) <= 0.1*LogTol*maxLog(at)+in.slack {
			return v, q
		}
		at = next
	}
	t.Fatalf("no fixed point after %d steps: log v %v\n%v", len(v), at, in)
	return nil, nil
}

// fixedTol is how far the end of a trajectory may be from the fixed point: a step of LogTol/10 over 1 - c >= 0.07. So
// is a step of the slack.
const fixedTol = 20 * LogTol

func (p stepProblem) atEnd(x ...[]float64) float64 { return fixedTol*maxLog(x...) + 20*p.slack }

// StepConverges: d_H(v^(t), v*) <= c^t d_H(v^(0), v*), with the v* of another implementation.
func StepConverges(t *rapid.T, f Composite) {
	in := drawStep(t, f)
	v, _ := trajectory(t, f, in)
	end, _ := fixedPoint(t, in)
	bound := hilbertLogs(v[0], end)
	for n, x := range v {
		if d := hilbertLogs(x, end); !(d <= bound+in.atEnd(x, end)) {
			t.Fatalf("d_H(v^(%d), v*) = %.17g > %.17g\n%v", n, d, bound, in)
		}
		bound *= in.rate
	}
}

// StepConvergesKL: KL(q^(t) || q*) <= 2 c^(t+1) d, d = d_H(v^(0), v*), as the paper says, and sharper: <= c^(t+1) d,
// because Π is non-expansive, and <= c^(2t+2) d^2/8, because KL(q || q') <= d_H(q, q')^2/8. v* and q* are those of
// another implementation.
func StepConvergesKL(t *rapid.T, f Composite) {
	in := drawStep(t, f)
	v, q := trajectory(t, f, in)
	vEnd, end := fixedPoint(t, in)
	d := hilbertLogs(v[0], vEnd)
	for n, x := range q {
		d *= in.rate
		kl := 0.0
		for j := range x { // terms x log(x/y) - x + y, which are not negative
			r := (x[j] - end[j]) / end[j]
			kl += end[j] * ((1+r)*math.Log1p(r) - r)
		}
		tol := 10 * in.atEnd(v[n])
		for what, bound := range map[string]float64{"2 c^(t+1) d": 2 * d, "c^(t+1) d": d, "c^(2t+2) d^2/8": d * d / 8} {
			if !(kl <= bound+tol) {
				t.Fatalf("KL(q^(%d) || q*) = %.17g > %s = %.17g\n%v", n, kl, what, bound, in)
			}
		}
	}
}

// StepLimit: the fixed point is the scaling of the optimal plan, and q* the optimum.
func StepLimit(t *rapid.T, f Composite) {
	in := drawStep(t, f)
	v, q := trajectory(t, f, in)
	optimal(t, in.Problem, in.reg, 20*in.slack, EntropicProjection{Q: q[len(q)-1], LogV: v[len(v)-1]})
}
