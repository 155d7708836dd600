package sinkhorn

import "math"

const (
	// A start at the final Reg is tried when it is above the range of the cost over probeRange, and given up when it
	// promises more than probeSteps further steps to the goal, or after probeMost. With fewer than probeRows rows, the
	// logarithms of an extrapolation cost more than passes: steps are then plain, at most probePlain of them, and only
	// where annealing would not start at the final Reg, too.
	probeRange = 1500
	probeSteps = 100
	probeMost  = 64
	probeRows  = 128
	probePlain = 12
)

// probe runs Algorithm 1 at the final Reg from the start. Often no bound is active, or hardly
// any, and a few steps are all, the fewer as they are extrapolated. It reports whether the run is over.
func (s *fast) probe() bool {
	reg := s.c.reg
	if !probes(s.c.rowsWithMass(), reg, s.c.rng) {
		return false
	}
	copy(s.k.f, s.c.min)
	clear(s.k.g)
	s.level = newLevel(s.set.residual(), true)
	var x extrapolation
	for n := 0; n == 0 && s.open(reg) || n > 0 && s.pass(); n++ {
		if s.res <= s.goal {
			s.stop = Converged
			if s.set.Gap > 0 && !s.certified() && s.set.Tolerance == 0 {
				s.stop = s.gapStatus()
			}
			return true
		}
		if s.limitReached() {
			return true
		}
		if !x.turn(s, n) {
			return false
		}
	}
	return false
}

// probes reports whether a start at the final Reg is tried, with so many rows and costs of that range.
func probes(rows int, reg, rng float64) bool {
	return reg*probeRange >= rng && (rows >= probeRows || reg*annealStart < rng)
}

// turn makes the next start of the n-th step of a probe, and reports whether one is worth while.
func (x *extrapolation) turn(s *fast, n int) bool {
	few := s.c.rowsWithMass() < probeRows
	limit, most := float64(probeSteps), probeMost
	if few {
		limit, most = probePlain, probePlain
	}
	x.record(s.res)
	if x.rateKnown() && !(steps(s.res, s.goal, x.rate()) <= limit) || n > most {
		return false
	}
	if !few {
		x.apply(s.v, s.next)
	}
	s.v, s.next = s.next, s.v
	return true
}

// extrapolation speeds up linear convergence. Near a fixed point where the columns at a bound stay the same, a step
// of Algorithm 1 is log v -> G log v + const, with G of real eigenvalues between 0 and rho < 1. The second-order
// iteration
//
//	x+ = omega (gamma (G x + c) + (1 - gamma) x - x-) + x-
//
// with gamma = 2/(2-rho), sigma = rho/(2-rho), omega = 2/(1+sqrt(1-sigma^2)) then converges at a rate of about a
// third of rho or less. An eigenvalue mu leads to the rates lambda with lambda^2 - omega (gamma mu + 1 - gamma)
// lambda + omega - 1 = 0; so a rate that is observed corrects a rho that was too small.
type extrapolation struct {
	omega, gamma float64   // omega 0: plain steps so far
	res          []float64 // residuals since the last change
	old          []float64 // log v before the present one
}

// window is how many residuals make a rate.
const window = 3

func (x *extrapolation) record(res float64) { x.res = append(x.res, res) }

// rateKnown reports whether rate says something.
func (x *extrapolation) rateKnown() bool {
	return len(x.res) > window || x.omega == 0 && len(x.res) > 1
}

// rate is the present rate of the residual.
func (x *extrapolation) rate() float64 {
	n := len(x.res)
	w := min(window, n-1)
	if w < 1 {
		return x.omega - 1
	}
	return math.Pow(x.res[n-1]/x.res[n-1-w], 1/float64(w))
}

// apply changes next, the result of a plain step from v.
func (x *extrapolation) apply(v, next []float64) {
	n := len(x.res)
	switch r := x.rate(); {
	case n <= window:
	case x.omega == 0:
		x.tune(r)
	case r > 1:
		x.omega, x.res = 0, x.res[:0] // plain steps again
	case r > 1.1*math.Sqrt(x.omega-1):
		x.tune(((r*r+x.omega-1)/(x.omega*r) - 1 + x.gamma) / x.gamma)
	}
	if x.old == nil {
		x.old = make([]float64, len(v))
	}
	for j, y := range v {
		a := math.Log(y)
		if x.omega > 0 && next[j] > 0 {
			b := math.Log(next[j])
			next[j] = math.Exp(x.omega*(x.gamma*b+(1-x.gamma)*a-x.old[j]) + x.old[j])
		}
		x.old[j] = a
	}
}

func (x *extrapolation) tune(rho float64) {
	rho = min(max(rho, 0.1), 0.999)
	sigma := rho / (2 - rho)
	x.omega, x.gamma = 2/(1+math.Sqrt(1-sigma*sigma)), 2/(2-rho)
	x.res = x.res[:0]
}
