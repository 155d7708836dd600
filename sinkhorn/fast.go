package sinkhorn

import (
	"math"
	"slices"

	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/sinkhorn/kl"
)

// fast is the workspace of method Fast. The plan at hand is
//
//	P_ij = u_i M_ij v_j,  M_ij = exp((f_i + g_j - C_ij) / reg),
//
// so that the potentials in force are f + reg log u and g + reg log v. An iteration of Algorithm 1 on M
// gives the same plans as one on the original kernel, but for the projection, which has to see
// the original s: that is s_j exp(-g_j/reg), up to a factor for all j.
type fast struct {
	c   *core
	k   *kernel
	set Settings
	scalings
	level
	damp   float64 // Levenberg shift
	opened *sweep  // of open, or of the kernel that is shared
	stats  Stats
	stop   Status
	found  *certificate // that met the gap
}

// scalings are the vectors of an iteration of Algorithm 1 on the kernel at hand.
type scalings struct {
	lo, hi []float64
	v      []float64 // of the present iterate
	a, u   []float64 // M v and mu / M v
	s      []float64 // M' u
	w      []float64 // exp(-g/reg), bounded: w s is the original s
	q      []float64 // projection of w s
	x      float64   // e^theta: q = clip(x w s, lo, hi)
	next   []float64 // v of the next iterate, q/s
	res    float64   // |q - v s|_1
	sound  bool      // the last pass was in range
	exact  kl.Workspace
}

// side returns -1 where q is lo, +1 where it is hi, and 0 where it is x w s.
func (s *scalings) side(j int) int {
	switch q := s.q[j]; {
	case q <= s.lo[j]:
		return -1
	case q >= s.hi[j]:
		return 1
	}
	return 0
}

// active reports whether column j holds mass and is at a bound.
func (s *scalings) active(j int) bool { return s.q[j] > 0 && s.side(j) != 0 }

// activeColumns lists them.
func (s *scalings) activeColumns() []int {
	list := make([]int, 0, len(s.q))
	for j := range s.q {
		if s.active(j) {
			list = append(list, j)
		}
	}
	return list
}

const (
	// The first level is at least the range of the cost over annealStart, and each further one at the Reg before over
	// annealRate.
	annealStart = 25
	annealRate  = 3
	// A level is left when the residual is at most levelTol, or the square of levelScale Reg over the range if that is
	// less, and every column within a factor exp(levelLog) of the mass that it must hold. Levels that are left early cost
	// least. But at a small Reg they leave a small mass where it is: the column that must hold it is then many Reg away at
	// the next level, on a plateau where neither Newton's method nor Algorithm 1 gets on.
	levelTol   = 1e-2
	levelScale = 100
	levelLog   = 0.3
	// patience is how many passes in a row may bring no progress before the next level is tried.
	patience = 400
	// rescues is how many times scalings of a level may have to be brought back into range.
	rescues = 4000
	// signPatience is how many passes in a row may bring no progress before prices have to keep their signs.
	signPatience = 100
	// stallPatience is how many passes in a row may bring no progress when there is none left.
	stallPatience = 5000
	// roundoffPatience is how many, at a residual of DefaultTolerance, when Reg is chosen and another one may come.
	roundoffPatience = 12
	// u/mu and v are absorbed into the potentials when they leave [1/wide, wide].
	wide = 1e60
	// w is kept in [1/far, far]; columns beyond are at a bound, and stay there.
	far = 1e250
)

// newFast returns a workspace with nothing in it. Its kernel has to be freed.
func newFast(c *core, set Settings, k *kernel) *fast {
	s := &fast{c: c, k: k, set: set}
	s.x = 1
	s.lo, s.hi = slices.Clone(c.lo), c.hi
	for j, x := range s.lo {
		if x <= tinyMass {
			s.lo[j] = 0
		}
	}
	for _, p := range []*[]float64{&s.v, &s.s, &s.w, &s.q, &s.next} {
		*p = make([]float64, c.n)
	}
	s.a, s.u = make([]float64, c.k), make([]float64, c.k)
	return s
}

// fast runs method Fast from a start, or a start of its own if that is nil.
func (c *core) fast(set Settings, start []float64) (Result, *certificate) {
	s := newFast(c, set, newKernel(c))
	defer s.k.free()
	s.run(start)
	return s.finish()
}

// run solves at the final Reg, or level after level; s.stop says why it ended.
func (s *fast) run(start []float64) {
	if start == nil && !s.c.choose && s.probe() {
		return
	}
	reg := s.c.reg
	level := reg
	s.x = 1
	clear(s.k.g)
	copy(s.k.f, s.c.min)
	if start != nil {
		for j, y := range tameLogs(slices.Clone(start)) {
			s.k.g[j] = y * reg
		}
		s.logStep(reg)
	} else {
		for level*annealStart < s.c.rng {
			level *= annealRate
		}
		level = math.Max(reg, math.Min(level, s.c.rng/annealStart))
	}
	for {
		rel := levelScale * level / s.c.rng
		s.level = newLevel(math.Min(levelTol, rel*rel), level <= reg)
		if s.last {
			level = reg
			if s.goal = s.set.residual(); s.c.choose {
				s.goal = leastGap // for an optimum of 0, which only a plan without a defect proves
			}
		}
		if s.solve(level) == stopped || s.last && level <= s.c.reg || s.set.Gap > 0 && s.certified() || s.limitReached() {
			return
		}
		s.absorb()
		reg = s.c.reg
		if s.c.choose && !s.last && s.biasSmall() {
			reg = level // solved to the end, it leaves a gap of the posterior bound at most
		}
		level = math.Max(reg, level/annealRate)
	}
}

// build makes the kernel for the potentials in s.k and v = 1.
func (s *fast) build(reg float64) {
	s.k.whole()
	s.k.build(reg)
	s.start(reg)
}

// open is build and pass for g = 0 and the least potentials f.
func (s *fast) open(reg float64) bool {
	s.start(reg)
	if s.opened == nil {
		s.opened = s.k.open(reg, s.c.mass, s.a, s.u, s.s)
	} else {
		s.k.reopen(s.opened, s.c.mass, s.a, s.u, s.s)
	}
	s.sound = !s.c.cut() && s.balance()
	return s.sound
}

// start sets v = 1.
func (s *fast) start(reg float64) {
	s.stats.Rebuilds++
	for j, g := range s.k.g {
		s.v[j] = 1
		s.w[j] = math.Max(1/far, math.Min(math.Exp(-g/reg), far))
	}
}

// absorb moves u and v into the potentials, such that rows of M v add up to 1, and shifts them so that
// free columns are at 0.
func (s *fast) absorb() {
	reg := s.k.reg
	theta := math.Log(s.x)
	if !(math.Abs(theta) < 1e6) {
		theta = 0
	}
	for i, u := range s.u {
		s.k.f[i] += reg * (math.Log(u/s.c.mass[i]) + theta)
	}
	for j, v := range s.v {
		s.k.g[j] += reg * (math.Log(v) - theta)
	}
	s.x = 1
}

// pass is products, and remembers whether they were in range.
func (s *fast) pass() bool {
	s.sound = s.products()
	return s.sound
}

// products does those of one iteration of Algorithm 1 for v, and the projection. It reports
// false if the scalings have left the range in which floats serve.
func (s *fast) products() bool {
	if few := s.k.few(); few == nil || !few.normalise(s.k, s.c.mass, s.v, s.a, s.u, s.s) {
		s.k.whole()
		s.k.normalise(nil, s.c.mass, s.v, s.a, s.u, s.s)
	}
	return !s.c.cut() && s.balance()
}

// balance does the projection after the products.
func (s *fast) balance() bool {
	s.stats.Passes++
	if !s.inRange() {
		return false
	}
	s.project(s.c.fixed)
	// A small v is harmless: it belongs to a column with little mass.
	for _, v := range s.next {
		if !(v < wide && v > 1/far) {
			return false
		}
	}
	return s.x < wide && s.x > 1/wide
}

// inRange reports whether the products are numbers to go on with.
func (s *scalings) inRange() bool {
	for _, a := range s.a {
		if !(a > 1/wide && a < wide) {
			return false
		}
	}
	for j, x := range s.s {
		// A column without mass below must be reached; others may be out of reach.
		if !(x < math.MaxFloat64) || s.lo[j] > 0 && !(x > 0x1p-900) {
			return false
		}
	}
	return true
}

// project sets q, x, next and res from s and v. q is lo where the box is a point.
func (s *scalings) project(point bool) {
	n := len(s.s)
	w, lo, hi, q, next := s.w[:n], s.lo[:n], s.hi[:n], s.q[:n], s.next[:n]
	t := next // the original s, until all of it is read
	for j, y := range s.s {
		t[j] = w[j] * y
	}
	switch x, ok := kl.Scale(t, lo, hi, s.x); {
	case point:
		copy(q, lo)
	case ok:
		s.x = x
		for j, y := range t {
			q[j] = min(max(x*y, lo[j]), hi[j])
		}
	default:
		logs := make([]float64, n)
		for j, y := range t {
			logs[j] = math.Log(y)
		}
		theta, ok := s.exact.Project(logs, lo, hi, q)
		if x := math.Exp(theta); ok && x > 0 && !math.IsInf(x, 0) {
			s.x = x
		}
	}
	var res float64
	v := s.v[:n]
	for j, x := range q {
		if x == 0 || x > lo[j] && x < hi[j] {
			next[j] = s.x * w[j]
		} else {
			next[j] = x / s.s[j]
		}
		res += math.Abs(x - v[j]*s.s[j])
	}
	s.res = res
}

// rescue brings scalings back into range by a step of Algorithm 1 in the log domain from the potentials at
// hand.
func (s *fast) rescue(reg float64) {
	for j, v := range s.v {
		if x := math.Log(v); v > 0 && !math.IsInf(x, 1) {
			s.k.g[j] += reg * x
		}
	}
	s.logStep(reg)
	s.build(reg)
}

// logStep takes a step of Algorithm 1 in the log domain from the potentials g, such that free columns
// are at 0, and makes rows and columns that must hold mass have an entry near 1 in the kernel.
func (s *fast) logStep(reg float64) {
	logV, q := make([]float64, s.c.n), make([]float64, s.c.n)
	for j, g := range s.k.g {
		logV[j] = g / reg
	}
	logS, theta := newLogPlan(s.c, reg, tameLogs(logV)).project(s.lo, s.hi, q)
	for j, x := range logS {
		// log v - theta, with v = q/s = clip(e^theta, lo/s, hi/s)
		s.k.g[j] = reg * math.Min(math.Max(0, num.Log(s.lo[j])-x-theta), num.Log(s.hi[j])-x-theta)
	}
	s.c.rowMinima(s.k.g, s.k.f)
	s.x = 1
}

// iterate describes the present iterate in potentials of the original problem. Free columns are at 0.
func (s *fast) iterate() *iterate {
	n := s.c.n
	it := &iterate{g: make([]float64, n), logU: make([]float64, s.c.k), logV: make([]float64, n),
		cols: make([]float64, n), q: s.q, reg: s.k.reg, m: s.k.m, u: s.u, v: s.v}
	theta := math.Log(s.x)
	for i, u := range s.u {
		it.logU[i] = s.k.f[i]/s.k.reg + math.Log(u) + theta
	}
	var top float64
	for j, v := range s.v {
		it.g[j] = s.k.g[j] + s.k.reg*(math.Log(v)-theta)
		it.logV[j] = it.g[j] / s.k.reg
		it.cols[j] = v * s.s[j]
		top = math.Max(top, math.Abs(it.g[j]))
	}
	if s.stats.Passes == 1 {
		it.first = s.opened
	}
	// Exponents are sums of three numbers of this size at most, here and in Verify.
	it.noise = 0x1p-48 * (s.c.rng + 2*top) / s.k.reg
	return it
}

// certified computes bounds for the present iterate and reports whether they prove the gap.
func (s *fast) certified() bool {
	b := s.c.certify(s.iterate())
	upper, lower := b.original(s.c)
	gap := upper - lower
	met := func(gap float64) bool { return s.set.met(gap, upper, s.c.top*b.roundoff, s.c.top) }
	found, small := b, met(gap)
	if !small && met(gap-s.c.top*(b.slack-b.roundoff)) {
		// What is kept in hand for noise stands in the way: the plan without it may be as good as that.
		found = s.careful()
		small = found.small(s.set.Gap, s.c)
	}
	if small {
		s.found, s.stop = found, Converged
		return true
	}
	s.gap, s.bias = b.upper-b.lower, b.bias(s.set.Gap, s.c)
	return false
}

// finish makes the Result of the present iterate, and what it proves.
func (s *fast) finish() (Result, *certificate) {
	if s.k.few() != nil {
		s.k.whole()
		s.pass()
	}
	r := Result{Settings: s.set, Status: s.stop, Residual: s.res, Iterations: s.stats.Passes, Stats: s.stats}
	b := s.found
	if b == nil && s.sound {
		b = s.c.certify(s.iterate())
	}
	// Where scalings are out of range, or where the rounding of absorbed potentials is most of the gap, one
	// step of Algorithm 1 in the log domain says the same without.
	if b == nil || b.m != nil && s.c.max*b.noise > 1e-3*(b.upper-b.lower) {
		b = s.careful()
	}
	if b.m == nil {
		r.Residual = b.residual
	} else {
		kl.Repair(s.q, s.lo, s.hi)
	}
	if s.c.cut() {
		b = unproved(s.q)
	}
	return r, b
}

// careful makes the plan by one step of Algorithm 1 in the log domain.
func (s *fast) careful() *certificate {
	logV, q := make([]float64, s.c.n), make([]float64, s.c.n)
	for j, g := range s.k.g {
		logV[j] = g / s.k.reg
		if x := math.Log(s.v[j]); s.sound {
			logV[j] += x
		}
	}
	plan := newLogPlan(s.c, s.k.reg, logV)
	_, theta := plan.project(s.c.lo, s.hi, q)
	return s.c.certify(plan.iterate(theta, q))
}
