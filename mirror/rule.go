package mirror

import (
	"math"

	"github.com/wpm-go/wpm/knapsack"
)

// rule computes steps, weights and bounds. Everything is in units of R = max_i (max_j C_ij - min_j C_ij): with
// h_j = ((C_ij - tau)_+ / E - (tau - C_ij)_+) / R, a number in [-1, 1/E], the subgradient in m is beta*R*h, and
// a step multiplies m_j by e^(-r h_j) with a number r that has no unit.
type rule struct {
	kind   Rule
	factor float64
	e      float64 // e^eps
	beta   float64
	r, dp  float64 // R, and D_p, the largest cost
	l      float64 // max(1, log kv): the divergence of any measure from the start is at most L/alpha
	logK   float64 // 1 + log k, where the paper has it
	logKv  float64 // 1 + log kv

	// What Subgradient is called with, and the factor from its answer to h. A power of two on the way keeps both
	// far and the answer in range, whatever R and E are.
	near, far, unit float64

	constant float64 // r of the constant rules

	// Rule Adaptive; see bound.
	largest    float64 // max |h_j| so far
	norms      float64 // sum over the steps of sum_j m_j h_j^2
	ratio      float64 // weight/r of the last step
	divergence float64 // at least the divergence of an optimum from the current iterate
	regret     float64
	weights    float64 // sum of the weights
}

func newRule(table *knapsack.Table, eps float64, s Settings) rule {
	k, kv := table.Dims()
	r := rule{
		kind: s.Rule, factor: s.Factor, e: math.Exp(eps), beta: math.Exp(eps / 2),
		r: table.Range(), dp: table.MaxCost(),
		l: max(1, math.Log(float64(kv))), logK: 1 + math.Log(float64(k)), logKv: 1 + math.Log(float64(kv)),
	}
	if r.r > 0 {
		_, exp := math.Frexp(r.r)
		exp = min(1021-exp, 1000)
		r.near = math.Ldexp(1, exp)
		r.far = math.Exp(-eps) * r.near
		r.unit = 1 / math.Ldexp(r.r, exp)
	}
	steps := float64(s.Steps)
	switch s.Rule {
	case Paper:
		if r.dp > 0 {
			r.constant = math.Sqrt(2*r.logK/steps) * (r.r / r.dp)
		}
	case Repaired:
		r.constant = math.Sqrt(2 * r.l / steps)
	case Sharp:
		r.constant = math.Sqrt(r.l / steps * (r.e / r.curvature()) * r.e)
	}
	r.divergence = math.Inf(1)
	r.constant *= r.factor
	r.constant = min(r.constant, math.MaxFloat64)
	if s.Rule == Sharp {
		r.constant = min(r.constant, 1) // the bound needs r <= 1
	}
	return r
}

// curvature is (e-2)E + 1/2: E R^2 times it bounds the second-order term of Rule Sharp.
func (r *rule) curvature() float64 { return (math.E-2)*r.e + 0.5 }

// start returns the logarithm of the mass of the first iterate, which is uniform: the largest there is, as the paper
// prescribes, or 1.
func (r *rule) start(eps float64) float64 {
	if r.kind == Adaptive {
		return 0
	}
	return eps / 2
}

// weight returns the weight of iterate t in the average.
func (r *rule) weight(t int) float64 {
	if r.kind == Adaptive {
		return float64(t)
	}
	return 1
}

// rate returns r for the next step; norm is sum_j m_j h_j^2 and largest is max_j |h_j|. The adaptive rule never
// multiplies a mass by more than e: its first steps could otherwise throw masses out of reach.
func (r *rule) rate(norm, largest float64) float64 {
	if r.kind != Adaptive {
		return r.constant
	}
	r.norms += norm
	r.largest = max(r.largest, largest)
	switch {
	case r.largest == 0:
		return 0
	case r.norms == 0:
		return min(1/r.largest, math.MaxFloat64) // and not infinite for a subnormal
	}
	return min(adaptiveConstant*r.factor*math.Sqrt(r.logKv/r.norms), 1/r.largest, math.MaxFloat64)
}

// adaptiveConstant is the better end of the range 1/2 to 1 that was tried.
const adaptiveConstant = 0.5

// moved takes the step from iterate t at that rate into account. With y = eta g, a step adds at most
// v = sum_j m_j (e^(-y_j) - 1 + y_j) to the divergence from an optimum. So that divergence at iterate t is at most B_t:
// the divergence at the start plus the v of all steps so far, or the bound of arrived. With weights w_t then
//
//	f(average) - f* <= sum_t [ (w_t/eta_t - w_(t-1)/eta_(t-1)) B_t + (w_t/eta_t) v_t ] / sum_t w_t.
//
// spent is at least the divergence of the iterate from where the step led, before clipping; still says that the
// subgradient is zero.
func (r *rule) moved(t int, rate, spent float64, still bool) {
	if r.kind != Adaptive {
		return
	}
	weight := r.weight(t)
	r.weights += weight
	switch {
	case still: // the iterate is optimal
	case rate == 0: // every h_j is below the range of float64: nothing is known
		r.regret = math.Inf(1)
	default:
		ratio := weight / rate
		r.regret += (ratio-r.ratio)*r.divergence + ratio*spent
		r.divergence += spent
		r.ratio = ratio
	}
}

// arrived is told the logarithms of an iterate m, and its mass. Whatever the way to it, no u in M is further from it
// than U log(U / min m) - U + sum m, U being the mass of u; this is convex in U, so one end of [alpha, beta] is worst.
func (r *rule) arrived(log []float64, mass float64) {
	if r.kind != Adaptive {
		return
	}
	least := math.Inf(1)
	for _, l := range log {
		least = min(least, l)
	}
	far := func(u float64) float64 { return u*(math.Log(u)-least-1) + mass }
	r.divergence = min(r.divergence, max(far(1/r.beta), far(r.beta)))
}

// bound returns the bound on f(average) - f* after t steps.
//
// With eta the step in x = alpha*m (eta = r/(E R)) and D the divergence, each step satisfies
// eta <g, x_t - u> <= D(u, x_t) - D(u, x_{t+1}) + D(x_t, x~), where x~ is the point before clipping. Summed up,
// D(u, x_1) <= L remains of the first two terms. For the last one: strong convexity gives eta^2 (E R)^2/2; and
// e^-y <= 1 - y + (e-2) y^2 for y >= -1 with E sum x_j <= 1 over the columns cheaper than tau gives
// eta^2 R^2 ((e-2)E + 1/2), if eta E R <= 1.
//
// The step of Sharp rests on that last sum: on the columns cheaper than tau, where the subgradient is E times larger,
// there is little mass.
//
// A decreasing step needs D(u, x_t) at every t. For u optimal, <g, x_t - u> >= 0, so it is at most L plus the
// last terms so far, which are known; and it is at most what arrived says.
func (r *rule) bound(t int) float64 {
	if r.r == 0 {
		return 0 // f is constant
	}
	switch r.kind {
	case Adaptive:
		if r.regret == 0 {
			return 0
		}
		return r.beta * r.r * (r.regret / r.weights)
	case Sharp:
		return r.r * (r.l/(r.constant*float64(t))*r.e + r.constant*(r.curvature()/r.e))
	}
	return r.r * r.e * (r.l/(r.constant*float64(t)) + r.constant/2)
}

// paperBound returns the right-hand side of the paper's proposition for T = t.
func (r *rule) paperBound(t int) float64 {
	return r.e * r.dp * math.Sqrt(2*r.logK/float64(t))
}
