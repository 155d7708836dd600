package sinkhorn

import (
	"context"
	"math"
	"slices"

	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/sinkhorn/kl"
)

// stack projects distributions on many rows with the shared kernel, several at a time: each block of the kernel is read once
// and, while it is in cache, used for all of them, and so is each row in their certificates. Everything else is every member's own: its scalings, its
// stop, its bounds. A member that is done leaves for the certificate, and another one takes its place.
//
// What is computed for a member is, to the last bit, the same in any company and in any place, and, but for the order in which what the plan
// costs is added up, what Project computes.
type stack struct {
	watch
	p     *Projector
	size  int
	work  []*member   // at work
	done  []*member   // waiting for a certificate
	group []*member   // getting it
	part  [][]float64 // for every place, sums or minima of the columns in each chunk of rows
	rows  []float64   // for every chunk, scratch space of a sweep
}

// member is a distribution in a stack.
type member struct {
	in   instance // all rows
	s    fast
	k    kernel
	x    extrapolation
	n    int // steps
	fate verdict
	mass []float64
	bare int // rows without mass

	// Of the certificate.
	g, logV, cols  []float64
	f, b           []float64
	carried, moved []float64 // by row: the cost of the plan, and of its repaired form
	t, d           []float64 // what scales the columns of the plan, and what they lack
	left           float64   // the sum of d
	repair, swept  bool
	order          []int32

	ctx     context.Context
	source  []float64
	support []int
	out     *Result
	err     error
	slot    *batchSlot // nil for a call of Project
}

// verdict is what becomes of a member after a step.
type verdict int

const (
	onward    verdict = iota
	arrived           // or stopped: what is left is the certificate
	elsewhere         // a start at the final Reg is not the way
)

const (
	// stackSize is how many members a stack holds: at 4000 x 4000, 16 are hardly faster and 4 a sixth slower.
	stackSize = 8
	// stackCells is the size from which on All makes stacks. Smaller kernels, up to 8 MB, stay in a cache: stacks of them then take as much time of
	// the processors, and more until they are full.
	stackCells = 1 << 20
)

// newStack returns a stack for size members. The kernel must be there.
func (p *Projector) newStack(size int) *stack {
	k := p.common.k
	t := &stack{p: p, size: size, part: make([][]float64, size), rows: make([]float64, k.ch*(sweepRows+1)*k.c.n)}
	for x := range t.part {
		t.part[x] = make([]float64, k.ch*k.c.n)
	}
	return t
}

// load makes m the distribution in, with room for its scalings.
func (m *member) load(ctx context.Context, p *Projector, in *instance) {
	k := p.common.k
	c := k.c
	if m.mass == nil {
		m.mass = make([]float64, c.k)
		for _, v := range []*[]float64{&m.g, &m.logV, &m.cols, &m.b, &m.t, &m.d} {
			*v = make([]float64, c.n)
		}
		for _, v := range []*[]float64{&m.f, &m.carried, &m.moved} {
			*v = make([]float64, c.k)
		}
		m.order = make([]int32, c.n)
		m.in, m.k = p.box, *k
		m.in.matrix = p.c
		m.in.rows, m.in.mass = p.common.rows, m.mass
		m.s = *newFast(ctx, &m.in, c, p.settings, &m.k)
		m.s.first = p.common.w
	}
	clear(m.mass)
	for a, i := range in.rows {
		m.mass[i] = in.mass[a]
	}
	m.bare, m.s.rows = c.k-len(in.rows), len(in.rows)
	m.ctx, m.err, m.n, m.fate = ctx, nil, 0, onward
	m.x = extrapolation{res: m.x.res[:0], old: m.x.old}
	s := &m.s
	*s.r = Result{Settings: p.settings, Reg: p.reg}
	s.ctx, s.stop, s.x, s.last, s.found, s.foundI = ctx, Converged, 1, true, nil, nil
	if s.goal = p.settings.Tolerance; s.goal == 0 {
		s.goal = DefaultTolerance
	}
	s.start(c.reg)
}

// step takes all members at work one step further.
func (t *stack) step() {
	for x, m := range t.work {
		m.k.part = t.part[x]
	}
	t.loop(t.p.common.k.ch, t.product)
	t.loop(len(t.work), func(x int) { t.work[x].advance(t.part[x]) })
	if t.cut() {
		t.abandon()
		return
	}
	work := t.work
	t.work = t.work[:0]
	for _, m := range work {
		switch m.fate {
		case onward:
			t.work = append(t.work, m)
		case arrived:
			t.done = append(t.done, m)
		case elsewhere:
			m.err = t.p.general(m.ctx, m.source, m.support, m.out)
			t.leave(m)
		}
	}
	for len(t.done) >= t.size || len(t.work) == 0 && len(t.done) > 0 {
		t.group = t.done[:min(t.size, len(t.done))]
		if t.certify(); t.cut() {
			return
		}
		t.done = t.done[:copy(t.done, t.done[len(t.group):])]
	}
}

// abandon sends all members off with what the last step has left: the context has ended.
func (t *stack) abandon() {
	for _, m := range append(t.work, t.done...) {
		var q []float64
		if m.n > 0 {
			q = m.s.q
		}
		*m.out = *m.in.unfinished(m.s.r, m.s.c.top, q)
		m.err = m.out.err(m.ctx)
		t.leave(m)
	}
	t.work, t.done = t.work[:0], t.done[:0]
}

// product does the products of an iteration of Algorithm 1, as normalise does them, for chunk ch of the rows. At the start v = 1, and row sums are known.
func (t *stack) product(ch int) {
	k := t.p.common.k
	n := k.c.n
	for _, m := range t.work {
		clear(m.k.partial(ch, m.s.s))
	}
	block := max(1, blockCells/n)
	from, to := chunkRows(k.c.k, k.ch, ch)
	for i := from; i < to; i += block {
		if t.ended() {
			return
		}
		b := min(block, to-i)
		rows := k.m[i*n : (i+b)*n]
		for _, m := range t.work {
			s := &m.s
			a, u := s.a[i:i+b], s.u[i:i+b]
			if m.n == 0 {
				copy(a, t.p.common.a[i:i+b])
			} else {
				timesRows(rows, n, s.v, a)
			}
			for r, y := range a {
				u[r] = m.mass[i+r] / y
			}
			addColumns(rows, n, u, m.k.partial(ch, s.s))
		}
	}
}

// advance does what follows the products: it is a turn of probe.
func (m *member) advance(part []float64) {
	s := &m.s
	if n := s.c.n; m.k.ch > 1 {
		copy(s.s, part[:n])
		for ch := 1; ch < m.k.ch; ch++ {
			ge.Daxpy(n, 1, part[ch*n:(ch+1)*n], 1, s.s, 1)
		}
	}
	switch s.sound = s.balance(); {
	case !s.sound:
		m.fate = elsewhere
	case s.res <= s.goal, s.over():
		m.fate = arrived
	case !m.x.turn(s, m.n):
		m.fate = elsewhere
	}
	m.n++
}

// certify finds the bounds of a group, in one sweep over kernel and cost, and sends it off. See instance.certify, which this is for
// several plans at a time.
func (t *stack) certify() {
	t.loop(len(t.group), func(x int) { t.group[x].open(t.part[x]) })
	if slices.ContainsFunc(t.group, func(m *member) bool { return !m.swept }) {
		t.loop(t.p.common.k.ch, t.sweep)
	}
	t.loop(len(t.group), func(x int) { t.group[x].close(t.p, t.part[x]) })
	if t.cut() {
		t.abandon()
		return
	}
	for _, m := range t.group {
		t.leave(m)
	}
}

// open is what comes before the sweep: the potentials of the columns, and what a repair has to do.
func (m *member) open(part []float64) {
	s := &m.s
	theta := math.Log(s.x)
	s.res = 0
	var left num.Running
	for j, v := range s.v {
		m.g[j] = s.k.reg * (math.Log(v) - theta)
		m.logV[j] = m.g[j] / s.k.reg
		m.cols[j] = v * s.s[j]
		d := s.q[j] - m.cols[j]
		s.res += math.Abs(d)
		m.t[j], m.d[j] = 1, max(0, d)
		if d < 0 {
			m.t[j] = s.q[j] / m.cols[j]
		}
		left.Add(m.d[j])
	}
	m.left = left.Value()
	m.repair = !(s.res <= coarse)
	if m.swept = m.n == 1 && !m.repair && m.bare == 0; m.swept {
		for i, u := range s.u {
			m.carried[i] = u * s.first.carried[i]
		}
		copy(m.f, s.c.min)
		copy(part, s.first.low)
		return
	}
	for l := range part {
		part[l] = math.Inf(1)
	}
}

// sweep is that of the rows of chunk ch, a few at a time. What plans cost is, where they need no repair, u times a product of v with the matrix
// M_ij C_ij, whose rows are made for all members at once.
func (t *stack) sweep(ch int) {
	k := t.p.common.k
	n := k.c.n
	mc := t.rows[ch*(sweepRows+1)*n:][:sweepRows*n]
	p := t.rows[(ch+1)*(sweepRows+1)*n-n:][:n]
	from, to := chunkRows(k.c.k, k.ch, ch)
	for i := from; i < to; i += sweepRows {
		if (i-from)%lookRows == 0 && t.ended() {
			return
		}
		b := min(sweepRows, to-i)
		rows := k.c.row[i : i+b]
		for r, row := range rows {
			for j, x := range k.m[(i+r)*n : (i+r+1)*n] {
				mc[r*n+j] = x * row[j]
			}
		}
		for x, m := range t.group {
			if m.swept {
				continue
			}
			s := &m.s
			u, f, carried := s.u[i:i+b], m.f[i:i+b], m.carried[i:i+b]
			low := t.part[x][ch*n : (ch+1)*n]
			minDiffRows(rows, m.g, f)
			if m.bare == 0 {
				minIntoRows(low, rows, f)
			} else { // a row without mass would only make the bound worse
				for r, row := range rows {
					if m.mass[i+r] > 0 {
						minInto(low, row, f[r])
					}
				}
			}
			if !m.repair {
				timesRows(mc[:b*n], n, s.v, carried)
				for r, y := range u {
					carried[r] *= y
				}
				continue
			}
			for r, row := range rows {
				y, kernel := u[r], k.m[(i+r)*n:(i+r+1)*n]
				for j, v := range s.v {
					p[j] = float64(y*kernel[j]) * v
				}
				carried[r] = ge.Ddot(n, p, 1, row, 1)
				for j, y := range m.t {
					p[j] *= y
				}
				rest := max(0, m.mass[i+r]-num.Sum(p))
				m.moved[i+r] = ge.Ddot(n, p, 1, row, 1)
				if m.left > 0 {
					m.moved[i+r] += rest / m.left * ge.Ddot(n, m.d, 1, row, 1)
				}
			}
		}
	}
}

// sweepRows is how many rows a sweep takes at a time: what is read and written for each column is then shared by them.
const sweepRows = 4

// minDiffRows is minDiff for several rows: f_i = min_j (c_ij - g_j).
func minDiffRows(c [][]float64, g, f []float64) {
	if len(c) != sweepRows {
		for i, row := range c {
			f[i] = minDiff(row, g)
		}
		return
	}
	n := len(g)
	c0, c1, c2, c3 := c[0][:n], c[1][:n], c[2][:n], c[3][:n]
	w, x, y, z := math.Inf(1), math.Inf(1), math.Inf(1), math.Inf(1)
	for j, h := range g {
		if d := c0[j] - h; d < w {
			w = d
		}
		if d := c1[j] - h; d < x {
			x = d
		}
		if d := c2[j] - h; d < y {
			y = d
		}
		if d := c3[j] - h; d < z {
			z = d
		}
	}
	f[0], f[1], f[2], f[3] = w, x, y, z
}

// minIntoRows is minInto for several rows: it lowers b_j to the least c_ij - f_i.
func minIntoRows(b []float64, c [][]float64, f []float64) {
	if len(c) != sweepRows {
		for i, row := range c {
			minInto(b, row, f[i])
		}
		return
	}
	n := len(b)
	c0, c1, c2, c3 := c[0][:n], c[1][:n], c[2][:n], c[3][:n]
	f0, f1, f2, f3 := f[0], f[1], f[2], f[3]
	for j, x := range b {
		if d := c0[j] - f0; d < x {
			x, b[j] = d, d
		}
		if d := c1[j] - f1; d < x {
			x, b[j] = d, d
		}
		if d := c2[j] - f2; d < x {
			x, b[j] = d, d
		}
		if d := c3[j] - f3; d < x {
			x, b[j] = d, d
		}
	}
}

// close is what comes after the sweep: the bounds, and the Result.
func (m *member) close(p *Projector, part []float64) {
	s, mass := &m.s, m.mass
	c, n := s.c, s.c.n
	copy(m.b, part[:n])
	for ch := 1; ch < m.k.ch; ch++ {
		for j, x := range part[ch*n : (ch+1)*n] {
			if x < m.b[j] {
				m.b[j] = x
			}
		}
	}
	down := math.Inf(-1)
	var top float64
	for j, x := range m.b {
		m.b[j] = math.Nextafter(x, down)
		top = max(top, math.Abs(m.g[j]))
	}
	plain := num.Dot(mass, m.f)
	if !m.swept {
		plain += num.Dot(m.cols, m.g)
	}
	lower := m.shift(&p.common)
	transport := num.Sum(m.carried)
	upper := transport + c.most*m.left
	if m.repair {
		upper = min(upper, num.Sum(m.moved))
	}
	noise := 0x1p-48 * (c.rng + 2*top) / c.reg
	slack := float64(c.k+n+64)*0x1p-52 + float64(c.k)*float64(n)*0x1p-62 + 4*noise
	bounds := bounds{upper: min(upper+c.most*slack, c.most), lower: lower, slack: slack, sums: slack - 4*noise}
	if set := p.settings; s.stop == Converged && set.Gap > 0 && set.Tolerance == 0 && !bounds.small(set.Gap, c) {
		s.stop = Stalled
	}
	s.r.Status, s.r.Residual = s.stop, s.res
	if c.max*noise > 1e-3*(bounds.upper-lower) {
		if r, b, it := s.finishCarefully(); m.in.complete(m.ctx, c, r, b, it) == nil {
			*m.out = *r
			m.err = r.err(m.ctx)
			return
		}
	}
	kl.Repair(s.q, s.lo, s.hi)
	var objective float64
	for i, x := range mass {
		objective += x * c.min[i]
		if u := s.u[i]; u > 0 {
			objective += x * c.reg * math.Log(u)
		}
	}
	theta := math.Log(s.x)
	for j, x := range m.cols {
		if x > 0 {
			objective += x * (m.g[j] + c.reg*theta)
		}
	}
	r := m.out
	q, logV, f, g := grow(r.Q, m.in.kv), grow(r.LogV, m.in.kv), grow(r.Potentials.F, m.in.k), grow(r.Potentials.G, m.in.kv)
	clear(q) // columns that take no part hold nothing
	copy(f, m.f)
	for j := range g {
		logV[j], g[j] = down, math.MaxFloat64
	}
	for l, x := range m.b {
		j := m.in.col(l)
		q[j], logV[j], g[j] = max(s.q[l], m.in.lo[j]), m.logV[l], x
	}
	m.extend(p, f, g)
	*r = Result{
		Q: q, Potentials: Potentials{F: f, G: g}, LogV: logV, Reg: p.reg,
		Transport: transport, Objective: transport + float64(p.reg*((objective-transport)/c.reg)),
		Lower: lower, Upper: bounds.upper, Posterior: max(0, transport-plain), Prior: c.reg * lambertW0(float64(n-1)/math.E),
		Residual: s.res, Iterations: s.r.Iterations, Status: s.stop, Stats: s.r.Stats, Settings: p.settings,
	}
	m.err = r.err(m.ctx)
}

// shift is that of instance.
func (m *member) shift(s *common) float64 {
	down := math.Inf(-1)
	if t := bestShift(m.b, s.lo, s.hi, m.order); t != 0 {
		for i, x := range m.f {
			m.f[i] = math.Nextafter(x+t, down)
		}
		for j, x := range m.b {
			m.b[j] = math.Nextafter(x-t, down)
		}
	}
	var size float64
	for j, x := range m.b {
		y := float64(s.lo[j] * x)
		if x < 0 {
			y = float64(s.hi[j] * x)
		}
		m.d[j] = y
		size += math.Abs(y)
	}
	for i, x := range m.f {
		size += m.mass[i] * math.Abs(x)
	}
	value := num.Dot(m.mass, m.f) + num.Sum(m.d)
	return max(0, value-size*0x1p-50-0x1p-1000)
}

// extend sets g in columns that take no part, and then f in rows without mass, to the largest potentials that will do, as
// instance.potentials does.
func (m *member) extend(p *Projector, f, g []float64) {
	if m.in.cols != nil {
		m.spread(p, f, g)
	}
	if m.bare == 0 {
		return
	}
	kv := p.c.Kv
	top := max(0, slices.Max(g))
	for i, x := range m.mass {
		switch {
		case x > 0:
		case p.settings.SupportOnly:
			f[i] = -top
		default:
			f[i] = max(math.Nextafter(minDiff(p.c.Data[i*kv:(i+1)*kv], g), math.Inf(-1)), -math.MaxFloat64)
		}
	}
}

// spread sets g in columns that take no part.
func (m *member) spread(p *Projector, f, g []float64) {
	for i, x := range f {
		if m.mass[i] == 0 {
			continue
		}
		row := p.c.Data[i*p.c.Kv:]
		l := 0
		for j := range g {
			if l < len(p.box.cols) && p.box.cols[l] == j {
				l++
			} else if d := row[j] - x; d < g[j] {
				g[j] = d
			}
		}
	}
	l := 0
	for j, x := range g {
		if l < len(p.box.cols) && p.box.cols[l] == j {
			l++
		} else {
			g[j] = math.Nextafter(x, math.Inf(-1))
		}
	}
}

// leave sends a member off.
func (t *stack) leave(m *member) {
	m.ctx, m.s.ctx, m.source, m.support, m.out = nil, nil, nil, nil, nil
	at := m.slot
	if at == nil {
		return
	}
	m.slot = nil
	at.err = m.err
	t.p.mu.Lock()
	t.p.members = append(t.p.members, m)
	t.p.mu.Unlock()
	at.ready <- struct{}{}
}

// serve projects first and then takes in members from the queue whenever there is a place, until it is closed and empty.
func (t *stack) serve(ctx context.Context, first *member, queue <-chan *member) {
	t.begin(ctx)
	t.work = append(t.work, first)
	for {
		for len(t.work) < t.size {
			var m *member
			if len(t.work)+len(t.done) == 0 {
				if m = <-queue; m == nil {
					return
				}
			} else {
				select {
				case m = <-queue:
				default:
				}
			}
			if m == nil {
				break
			}
			t.work = append(t.work, m)
		}
		t.step()
	}
}

// begin makes ctx the context of all members to come.
func (t *stack) begin(ctx context.Context) {
	t.ctx = ctx
	t.over.Store(false)
	t.patient(t.p.common.k.c.k * t.p.common.k.c.n)
}

// alone projects one distribution.
func (t *stack) alone(ctx context.Context, s *workspace, source []float64, support []int, r *Result) error {
	m := s.member
	m.load(ctx, t.p, &s.in)
	m.source, m.support, m.out = source, support, r
	t.begin(ctx)
	t.work = append(t.work, m)
	for len(t.work)+len(t.done) > 0 {
		t.step()
	}
	return m.err
}
