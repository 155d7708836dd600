package sphere

import (
	"fmt"
	"math"

	"github.com/wpm-go/wpm/wpmerr"
)

// Solve returns the optimal base measure on the unit sphere S^d of R^(d+1) for the cost |x-y|^p and privacy eps.
//
// Omt, Alpha, S, J, W, Pin and Pout are accurate to a relative 1e-13, and T to 1e-13 max(|T|, 1/sqrt(d+p)), over the
// whole domain d = 1..MaxDimension, p in [MinExponent, MaxExponent] (any real number), eps in [MinEpsilon, MaxEpsilon].
// Solve takes some microseconds. Errors: ErrDimension, ErrExponent, ErrEpsilon outside this domain; ErrUnderflow if Omt
// is below 2^-1022.
func Solve(d int, p, eps float64) (Measure, error) {
	if err := check(d, p, eps); err != nil {
		return Measure{}, err
	}
	pr := newProblem(d, p, eps)
	m, _, err := pr.solve()
	if err != nil {
		return Measure{}, fmt.Errorf("%w: d = %d, p = %v, eps = %v", err, d, p, eps)
	}
	return m, nil
}

// problem is what stays the same while the cap is sought. See the package comment for the equation E K = R.
type problem struct {
	a, q   float64 // d/2, p/2
	eps, e float64 // eps, E = e^eps - 1
	logE   float64
	c, eta float64 // density constant; E[(1-u)^q] - 1
	shape  int     // 2q if that is 1, 2, 3 or 4: 1 - rho^q is algebraic
}

func newProblem(d int, p, eps float64) problem {
	pr := problem{a: float64(d) / 2, q: p / 2, eps: eps, e: math.Expm1(eps)}
	pr.logE = math.Log(pr.e)
	pr.c = density(pr.a)
	pr.eta = moment(d, pr.q)
	switch p {
	case 1, 2, 3, 4:
		pr.shape = int(p)
	}
	return pr
}

// A point is the equation at one threshold zeta, all that the steps need. omega = 1-t, lambda = log omega.
type point struct {
	t, omega, lambda float64
	v, r             float64 // omega^q; R = 1 + eta - v
	s, k             float64 // S = pre s, K = v pre k
	pre              float64 // C e^(-a zeta^2) times the length of the interval; may underflow far from the solution
	logPre           float64
	f                float64 // dS/dlambda / pre
	m                float64 // d log(dS/dlambda) / dlambda
}

const (
	// tail is where the integrals are cut: e^-40 = 4e-18 of the integrand's start.
	tail = 40
	// maxZeta is the largest zeta^2 tried: e^-708 / 2 is below 2^-1022, the smallest Omt returned.
	maxZeta = 708
	// margin is how far beyond the cap of measure e^-eps the upper end of the search lies, in exponents. There
	// E K <= E S v < e^-margin v, and R is at least 1e-4 v on the whole domain.
	margin = 20
	// maxSteps is far above the 5 evaluations that the hardest known input takes.
	maxSteps = 200
	// nearBy and close are goals of the coarse and the fine steps, for the size of a step in units of the equation's own
	// scale (see scale). Steps are of third order with the coarse rule and of fourth with the fine one: the errors they
	// leave are a few 1e-5 and 1e-17.
	nearBy = 0.03
	close  = 3e-5
)

// solve returns the measure and the number of evaluations of the integrals.
//
// Coarse steps on the 14-node rule lead to a few digits, one or two fine ones to the end. Every step that leaves the
// bracket [low, high] of the root is replaced by bisection.
func (pr *problem) solve() (Measure, int, error) {
	bottom := zetaOf(pr.easy())
	top := math.Sqrt(min((pr.eps+margin)/pr.a, maxZeta))
	low, high := bottom, top
	z := min(max(gaussian(pr.eps)/math.Sqrt(2*(pr.a+pr.q)), low), high)
	atEnd := false // top has been evaluated
	nodes := coarse
	for n := 1; n <= maxSteps; n++ {
		pt := pr.at(z, nodes)
		d, size := pr.step(&pt, len(nodes) == len(fine))
		if len(nodes) == len(fine) && size < close {
			m := pr.finish(&pt, d)
			if !(m.Omt >= 0x1p-1022) {
				return m, n, ErrUnderflow
			}
			return m, n, nil
		}
		if d < 0 { // a smaller omega: a larger zeta
			if z >= top && top*top >= maxZeta {
				return Measure{}, n, ErrUnderflow
			}
			low = max(low, z)
		} else {
			high = min(high, z)
			atEnd = true
		}
		if size < nearBy && len(nodes) < len(fine) {
			nodes = fine
			low, high, atEnd = bottom, top, true // the coarse rule may have been wrong about the side
		}
		t, omega := pt.t-pt.omega*math.Expm1(d), pt.omega*math.Exp(d)
		next := high
		if omega > 0 && omega < 2 {
			next = zeta(t, omega)
		}
		switch {
		case low <= next && next < high:
		case next >= high && !atEnd:
			next = high // the first look at the upper end decides whether the root is below it
		default:
			next = low + (high-low)/2
		}
		z = next
	}
	return Measure{}, maxSteps, wpmerr.ErrNotConverged
}

// easy returns the t where R = 0: the solution for eps = 0, and a lower bound on it for every eps.
func (pr *problem) easy() float64 { return -math.Expm1(math.Log1p(pr.eta) / pr.q) }

// at evaluates the integrals of the package comment at the threshold zeta = z with the given rule.
func (pr *problem) at(z float64, nodes rule) point {
	z2 := z * z
	out := math.Exp(-z2) // 1 - t^2
	t := math.Copysign(math.Sqrt(-math.Expm1(-z2)), z)
	omega := 1 - t
	if t > 0 {
		omega = out / (1 + t)
	}
	root := math.Sqrt(z2 + tail/pr.a) // the upper end of the integral
	length := root - z
	if z > 0 {
		length = tail / pr.a / (z + root)
	}
	var s, k float64
	if pr.q > 3*pr.a {
		// rho^q has its own, shorter scale: a panel for it. With x over the length as the variable, both integrands of a
		// panel are sums of e^(-c x), 0 <= c <= 160, for which 40 nodes have an error of about e^(-80^2 / c).
		const near = 1. / 8
		s, k = pr.integrate(nodes, z, t, omega, 0, near*length)
		s1, k1 := pr.integrate(nodes, z, t, omega, near*length, (1-near)*length)
		s, k = near*s+(1-near)*s1, near*k+(1-near)*k1
	} else {
		s, k = pr.integrate(nodes, z, t, omega, 0, length)
	}
	pt := point{t: t, omega: omega, s: s, k: k}
	// a z^2 may be 700: its own rounding error is brought back, for it would be one of S.
	az := pr.a * z2
	pt.pre = pr.c * length * math.Exp(-az) * (1 - math.FMA(pr.a, z2, -az))
	pt.logPre = math.Log(pr.c*length) - az
	if t < 0.5 {
		pt.lambda = math.Log1p(-t)
	} else {
		pt.lambda = math.Log(omega)
	}
	drop := math.Expm1(pr.q * pt.lambda) // v - 1
	if drop > -0.5 {
		pt.v, pt.r = 1+drop, pr.eta-drop
	} else {
		pt.v = power(omega, pr.q)
		pt.r = 1 + pr.eta - pt.v
	}
	// dS/dlambda = f(t) (1-t), and in zeta's terms f(t) = C e^(-a zeta^2) / (1-t^2).
	pt.f = omega / (out * length)
	pt.m = 1 + 2*(pr.a-1)*t/(1+t)
	return pt
}

// integrate returns the means over x in [from, from+length] of e^(-a y) zeta/u and of that times 1 - rho^q, where zeta
// = z + x.
//
// y is the distance from the threshold in zeta^2, so that the Gaussian factor is e^(-a y); em = 1 - e^-y. Differences
// that cancel are formed from it: u^2 - t^2 = (1-t^2) em.
func (pr *problem) integrate(nodes rule, z, t, omega, from, length float64) (s, k float64) {
	out := math.Exp(-z * z)
	t2, inverse := t*t, 1/omega
	for _, node := range nodes {
		x := from + length*node.x
		y := x * (2*z + x)
		em := share(y)
		var u, diff, ratio float64 // u, u - t, zeta/u
		if z >= 0 {
			u = math.Sqrt(t2 + out*em)
			diff = out * em / (u + t)
			ratio = (z + x) / u
		} else { // near zeta = 0 the sum above would cancel
			zz := z + x
			u = math.Copysign(math.Sqrt(-math.Expm1(-zz*zz)), zz)
			if diff = u - t; zz < 0 {
				diff = out * em / (u + t)
			}
			if ratio = 1; u != 0 {
				ratio = zz / u
			}
		}
		w := min(diff*inverse, 1) // 1 - rho, rho = (1-u)/(1-t)
		var g float64             // 1 - rho^q
		switch {
		case pr.shape == 2:
			g = w
		case pr.shape == 4:
			g = w * (2 - w)
		case pr.shape == 1:
			g = w / (1 + math.Sqrt(1-w))
		case pr.shape == 3:
			g = w + (1-w)*(w/(1+math.Sqrt(1-w)))
		case w < 0.5:
			g = share(-pr.q * math.Log1p(-w))
		default: // rho = e^-y (1+t)/(1+u), for 1-w has lost the digits of rho, which rho^q with a small q shows
			g = share(pr.q * (y + math.Log1p(diff/(1+t))))
		}
		weight := math.Exp(-pr.a*y) * node.w * ratio
		s += weight
		k += weight * g
	}
	return s, k
}

// share returns 1 - e^-x to two ulps for every x; above 1/2 by math.Exp, which is three times as fast.
func share(x float64) float64 {
	if x > 0.5 {
		return 1 - math.Exp(-x)
	}
	return -math.Expm1(-x)
}

// step returns a step in lambda towards the root of E K = R, and its size relative to the scale on which the equation
// bends. Far from the root it is Halley's step, in logarithms if E is large; near it (last) the series of the inverse
// function to third order.
//
// In lambda, with E S = es, D = 1 + es and E dS/dlambda = ef:
//
//	G = E K - R,  G' = q v D,  G'' = q v (q D + ef),  G''' = q v (q^2 D + (2q+m) ef).
func (pr *problem) step(pt *point, last bool) (d, size float64) {
	if !last && pr.e > 3 && pt.r > 0 {
		return pr.logStep(pt)
	}
	es := pr.e * pt.pre * pt.s
	ef := pr.e * pt.pre * pt.f
	ratio := ef / (1 + es)
	g2 := pr.q + ratio
	g3 := pr.q*pr.q + (2*pr.q+pt.m)*ratio
	// v es and v + v es, for v and es may be of opposite extremes.
	d = (pt.r - pt.v*(pr.e*pt.pre*pt.k)) / (pr.q * (pt.v + pt.v*es))
	size = math.Abs(d) * (g2 + math.Abs(pt.m))
	if last {
		return d * (1 - d*(g2/2-d*(g2*g2/2-g3/6))), size
	}
	return d / min(max(1+d*g2/2, 0.5), 2), size
}

// logStep is Halley's step for F = log(E K) - log R. Nothing in it underflows.
func (pr *problem) logStep(pt *point) (d, size float64) {
	sk := pt.s / pt.k // S v / K
	vr := pt.v / pt.r
	f := pr.logE + pt.logPre + math.Log(pt.k) + pr.q*pt.lambda - math.Log(pt.r)
	f1 := pr.q * (sk + vr)
	f2 := pr.q*f1 + pr.q*(pt.f/pt.k-pr.q*sk*sk+pr.q*vr*vr)
	d = -f / f1
	size = math.Abs(d) * (pr.q + pt.f/pt.s + math.Abs(pt.m))
	d /= min(max(1+d*f2/(2*f1), 0.5), 2)
	return min(d, 3), size
}

// finish applies the last step d to t, omega and S. dm is dm/dlambda.
func (pr *problem) finish(pt *point, d float64) Measure {
	dm := -2 * (pr.a - 1) * pt.omega / ((1 + pt.t) * (1 + pt.t))
	s := pt.pre * (pt.s + pt.f*d*(1+d*(pt.m/2+d*(pt.m*pt.m+dm)/6)))
	return measure(pt.t-pt.omega*math.Expm1(d), pt.omega*math.Exp(d), s, pr.q, pr.eps, pr.e)
}

// zetaOf returns the zeta with 1 - t^2 = e^(-zeta^2), of the sign of t, for |t| < 1.
func zetaOf(t float64) float64 {
	return math.Copysign(math.Sqrt(-math.Log1p(-t*t)), t)
}

// zeta is zetaOf for t near 1 as well, given omega = 1-t.
func zeta(t, omega float64) float64 {
	if t < 0.5 {
		return zetaOf(t)
	}
	return math.Sqrt(-math.Log(omega * (2 - omega)))
}

// gaussian returns a first guess of the limit of t sqrt(d) for large d, the solution of tau (1 + E Q(tau)) = E
// phi(tau): to one per cent for eps below 0.3, to three above 6, and between them not below a third of it, which costs
// a step or two.
func gaussian(eps float64) float64 {
	if eps < 3 {
		e := math.Expm1(eps)
		return e / (1 + e/2) / math.Sqrt(2*math.Pi)
	}
	// tau^2 = 2 (eps - log(2 pi)/2 - 3 log(tau)) from E phi = tau^3, roughly.
	half := eps - 0.92
	t2 := 2 * half
	for range 3 {
		t2 = max(2*(half-1.5*math.Log(t2)), 0.3)
	}
	return math.Sqrt(t2)
}
