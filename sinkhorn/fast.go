package sinkhorn

import (
	"context"
	"math"

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
	in  *instance
	c   *costs
	ctx context.Context
	set Settings
	r   *Result
	k   *kernel
	scalings
	newt newton
	damp float64 // Levenberg shift

	rows   int    // with mass: on a shared kernel, not all are
	sound  bool   // the last pass was in range
	opened *sweep // of open, or of the kernel that is shared

	// Of the level in hand.
	plan  schedule
	try   int     // index of plan
	goal  float64 // residual to reach
	last  bool    // it is the final one
	tries int     // how often entries of the kernel were left out
	check float64 // residual at which the gap is looked at next
	gap   float64 // that of the last look at this level
	bias  float64 // the posterior bound over the gap asked for, at that look

	stop   Status
	found  *bounds // of the certificate that met the gap
	foundI *iterate
}

// scalings are the vectors of an iteration of Algorithm 1 on the kernel at hand.
type scalings struct {
	lo, hi []float64
	v      []float64 // of the present iterate
	a, u   []float64 // M v and mu / M v
	s      []float64 // M' u
	w      []float64 // exp(-g/reg), bounded
	t      []float64 // w s: the original s
	q      []float64 // projection of t
	x      float64   // e^theta: q = clip(x t, lo, hi)
	side   []int8    // -1 where q is lo, +1 where hi, 0 where x t
	next   []float64 // v of the next iterate, q/s
	res    float64   // |q - v s|_1
	exact  kl.Workspace
}

// schedule says how Reg comes down: each level has the one before over rate, and is left when the
// residual is at most tol and every column within a factor exp(log) of the mass that it must hold.
type schedule struct{ rate, tol, log float64 }

// schedules are tried in turn. Levels that are left early cost least, and serve nearly always. What can
// go wrong at a tiny Reg is that the levels before left a small mass unsettled: the column that should
// hold it is then many Reg away, on a plateau where neither Newton nor Algorithm 1 gets on.
// Levels solved to the end exclude that.
var schedules = []schedule{{3, 1e-2, 0.3}, {3, 1e-7, 0.1}}

const (
	// The first level is at least the range of the cost over annealStart.
	annealStart = 25
	// patience is how many passes in a row may bring no progress, and how many times scalings may
	// have to be rescued, before the next schedule is tried.
	patience = 400
	rescues  = 40
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
func newFast(ctx context.Context, in *instance, c *costs, set Settings, k *kernel) *fast {
	s := &fast{in: in, c: c, ctx: ctx, set: set, r: &Result{Settings: set, Reg: in.reg}, k: k, rows: c.k}
	s.x = 1
	s.lo, s.hi = append([]float64(nil), in.compact(in.lo)...), in.compact(in.hi)
	for j, x := range s.lo {
		if x <= tinyMass {
			s.lo[j] = 0
		}
	}
	for _, p := range []*[]float64{&s.v, &s.s, &s.w, &s.t, &s.q, &s.next} {
		*p = make([]float64, c.n)
	}
	s.a, s.u = make([]float64, c.k), make([]float64, c.k)
	s.side = make([]int8, c.n)
	return s
}

// fast runs method Fast.
func (in *instance) fast(ctx context.Context, c *costs, set Settings) (*Result, *bounds, *iterate) {
	s := newFast(ctx, in, c, set, newKernel(c))
	defer s.k.free()
	s.run()
	r, b, it := s.finish()
	if c.cut() {
		it = &iterate{q: s.q}
	}
	return r, b, it
}

// run tries schedule after schedule; s.stop says why it ended.
func (s *fast) run() {
	start := s.set.Initial
	if start == nil && !s.in.choose && s.probe() {
		return
	}
	for s.try = range schedules {
		s.plan = schedules[s.try]
		if s.descend(start) {
			return
		}
		start = nil
	}
}

// descend solves level after level. It reports false when another schedule should be tried.
func (s *fast) descend(start []float64) bool {
	reg := s.c.reg
	level := reg
	s.x, s.damp = 1, 0
	clear(s.k.g)
	copy(s.k.f, s.c.min)
	if start != nil {
		for j, y := range tameLogs(append([]float64(nil), s.in.compact(start)...)) {
			s.k.g[j] = y * reg
		}
		s.logStep(reg)
	} else {
		for level*annealStart < s.c.rng {
			level *= s.plan.rate
		}
		level = math.Max(reg, math.Min(level, s.c.rng/annealStart))
	}
	for {
		s.last = level <= reg
		s.goal = s.plan.tol
		if s.last {
			level = reg
			if s.goal = s.set.residual(); s.in.choose {
				s.goal = leastGap // for an optimum of 0, which only a plan without a defect proves
			}
		}
		s.check, s.gap = math.Inf(1), math.Inf(1)
		switch s.level(level) {
		case stopped:
			return true
		case noProgress:
			return false
		}
		if s.last && level <= s.c.reg {
			return true
		}
		if s.set.Gap > 0 && s.certified() || s.limitReached() {
			return true
		}
		s.absorb()
		reg = s.c.reg
		if s.in.choose && !s.last && s.biasSmall() {
			reg = level // solved to the end, it leaves a gap of the posterior bound at most
		}
		level = math.Max(reg, level/s.plan.rate)
	}
}

// reach raises the potentials of columns that must hold mass and that no row reaches within depth.
func (s *fast) reach(depth float64) {
	b := make([]float64, s.c.n)
	s.c.columnMinima(s.k.f, b)
	for j, x := range b {
		if s.lo[j] > 0 && x-s.k.g[j] > depth {
			s.k.g[j] = x
		}
	}
}

// build makes the kernel for the potentials in s.k and v = 1.
func (s *fast) build(reg float64) {
	s.k.sparse = nil
	s.k.build(reg)
	s.start(reg)
}

// open is build and pass for g = 0 and the least potentials f.
func (s *fast) open(reg float64) bool {
	s.start(reg)
	if s.opened == nil {
		s.opened = s.k.open(reg, s.in.mass, s.a, s.u, s.s)
	} else {
		s.k.reopen(s.opened, s.in.mass, s.a, s.u, s.s)
	}
	s.sound = !s.c.cut() && s.balance()
	return s.sound
}

// start sets v = 1.
func (s *fast) start(reg float64) {
	s.r.Stats.Rebuilds++
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
	// Potentials on a coarse grid: f - C and the like then lose less.
	_, e := math.Frexp(math.Max(s.c.max, reg))
	grid := math.Ldexp(1, e-44)
	for i, u := range s.u {
		s.k.f[i] = round(s.k.f[i]+reg*(math.Log(u/s.in.mass[i])+theta), grid)
	}
	for j, v := range s.v {
		s.k.g[j] = round(s.k.g[j]+reg*(math.Log(v)-theta), grid)
	}
	s.x = 1
}

func round(x, grid float64) float64 { return math.RoundToEven(x/grid) * grid }

// pass is products, and remembers whether they were in range.
func (s *fast) pass() bool {
	s.sound = s.products()
	return s.sound
}

// products does those of one iteration of Algorithm 1 for v, and the projection. It reports
// false if the scalings have left the range in which floats serve.
func (s *fast) products() bool {
	if s.k.sparse == nil || !s.k.sparse.normalise(s.k, s.in.mass, s.v, s.a, s.u, s.s) {
		s.k.sparse = nil
		s.k.normalise(nil, s.in.mass, s.v, s.a, s.u, s.s)
	}
	return !s.c.cut() && s.balance()
}

// balance does the projection after the products.
func (s *fast) balance() bool {
	s.r.Iterations++
	s.r.Stats.Passes++
	if !s.inRange() {
		return false
	}
	s.project(s.in.level != 0)
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

// project sets q, x, side, next and res from s and v. q is lo where the box is a point.
func (s *scalings) project(point bool) {
	n := len(s.s)
	t, w, lo, hi, q := s.t[:n], s.w[:n], s.lo[:n], s.hi[:n], s.q[:n]
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
	side, next, v := s.side[:n], s.next[:n], s.v[:n]
	for j, x := range q {
		side[j] = 0
		if x <= lo[j] {
			side[j] = -1
		} else if x >= hi[j] {
			side[j] = 1
		}
		if side[j] == 0 || x == 0 {
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
	logS, theta := newLogPlan(s.c, s.in.mass, reg, tameLogs(logV)).project(s.lo, s.hi, q)
	for j, x := range logS {
		// log v - theta, with v = q/s = clip(e^theta, lo/s, hi/s)
		s.k.g[j] = reg * math.Min(math.Max(0, num.Log(s.lo[j])-x-theta), num.Log(s.hi[j])-x-theta)
	}
	s.c.rowMinima(s.k.g, s.k.f)
	s.reach(30 * reg)
	s.x = 1
}

// iterate describes the present iterate in potentials of the original problem. Free columns are at 0.
func (s *fast) iterate() *iterate {
	n := s.c.n
	it := &iterate{g: make([]float64, n), logV: make([]float64, n), cols: make([]float64, n), q: s.q, reg: s.k.reg,
		m: s.k.m, u: s.u, v: s.v}
	theta := math.Log(s.x)
	var top float64
	for j, v := range s.v {
		it.g[j] = s.k.g[j] + s.k.reg*(math.Log(v)-theta)
		it.logV[j] = it.g[j] / s.k.reg
		it.cols[j] = v * s.s[j]
		top = math.Max(top, math.Abs(it.g[j]))
	}
	if s.r.Stats.Passes == 1 {
		it.first = s.opened
	}
	// Exponents are sums of three numbers of this size at most, here and in Verify.
	it.noise = 0x1p-48 * (s.c.rng + 2*top) / s.k.reg
	return it
}

// certified computes bounds for the present iterate and reports whether they prove the gap.
func (s *fast) certified() bool {
	it := s.iterate()
	b := s.in.certify(s.c, it)
	s.found, s.foundI = b, it
	upper, lower := b.original(s.c)
	gap := upper - lower
	met := func(gap float64) bool { return s.set.met(gap, upper, s.c.top*b.roundoff, s.c.top) }
	small := met(gap)
	if !small && met(gap-s.c.top*(b.slack-b.roundoff)) {
		// What is kept in hand for noise stands in the way: the plan without it may be as good as that.
		s.found, s.foundI = s.careful()
		small = s.found.small(s.set.Gap, s.c)
	}
	if small {
		s.stop = Converged
		return true
	}
	s.found, s.foundI = nil, nil
	s.gap, s.bias = b.upper-b.lower, b.bias(s.set.Gap, s.c)
	return false
}

// finish makes the Result of the present iterate.
func (s *fast) finish() (*Result, *bounds, *iterate) {
	if s.k.sparse != nil {
		s.k.sparse = nil
		s.pass()
	}
	s.r.Status = s.stop
	s.r.Residual = s.res
	s.r.Reg = unscale(s.k.reg, s.c.exp, 0)
	if s.k.reg == s.c.reg {
		s.r.Reg = s.in.reg
	}
	b, it := s.found, s.foundI
	if it == nil && s.sound {
		it = s.iterate()
		b = s.in.certify(s.c, it)
	}
	// Where scalings are out of range, or where the rounding of absorbed potentials is most of the gap, one
	// step of Algorithm 1 in the log domain says the same without.
	switch {
	case it != nil && it.m == nil: // that is the case
		s.r.Residual = b.residual
		return s.r, b, it
	case it == nil || s.c.max*it.noise > 1e-3*(b.upper-b.lower):
		return s.finishCarefully()
	}
	kl.Repair(s.q, s.lo, s.hi)
	var obj float64
	for i, m := range s.in.mass {
		obj += m * s.k.f[i]
		if s.u[i] > 0 { // else m is below 1e-300, and so is what it adds
			obj += m * s.k.reg * math.Log(s.u[i])
		}
	}
	theta := math.Log(s.x)
	for j, x := range it.cols {
		if x > 0 {
			obj += x * (it.g[j] + s.k.reg*theta)
		}
	}
	b.objective = obj
	return s.r, b, it
}

// finishCarefully is finish by careful.
func (s *fast) finishCarefully() (*Result, *bounds, *iterate) {
	b, it := s.careful()
	s.r.Residual = b.residual
	// Where the bounds decide, these do, and not those of the plan before.
	if set := s.set; set.Gap > 0 && set.Tolerance == 0 {
		switch small := b.small(set.Gap, s.c); {
		case small && (s.r.Status == Stalled || s.r.Status == RegLimit):
			s.r.Status = Converged
		case !small && s.r.Status == Converged:
			s.r.Status = Stalled
		}
	}
	return s.r, b, it
}

// careful makes the plan by one step of Algorithm 1 in the log domain.
func (s *fast) careful() (*bounds, *iterate) {
	logV, q := make([]float64, s.c.n), make([]float64, s.c.n)
	for j, g := range s.k.g {
		logV[j] = g / s.k.reg
		if x := math.Log(s.v[j]); s.sound {
			logV[j] += x
		}
	}
	plan := newLogPlan(s.c, s.in.mass, s.k.reg, logV)
	_, theta := plan.project(s.in.compact(s.in.lo), s.hi, q)
	it := plan.iterate(theta, q)
	b := s.in.certify(s.c, it)
	b.objective = plan.objective()
	return b, it
}
