package sinkhorn

import (
	"context"

	"github.com/wpm-go/wpm/sinkhorn/internal/loops"
)

// stack projects distributions on many rows with the shared kernel, several at a time: each block of the kernel is
// read once and, while it is in cache, used for all of them, and so is each row in their certificates. Everything
// else is every member's own: its scalings, its stop, its bounds. A member that is done leaves for the certificate,
// and another one takes its place.
//
// Results do not depend on the size of the stack or the place in it. They equal Project's but for the order in which
// sums are taken.
type stack struct {
	watch
	p      *Projector
	size   int
	work   []*member   // at work
	done   []*member   // waiting for a certificate
	group  []*member   // getting it
	part   [][]float64 // for every place, sums or minima of the columns in each chunk of rows
	proofs []*proof
}

// member is a distribution in a stack.
type member struct {
	in      instance // all rows
	s       fast
	k       kernel
	x       extrapolation
	n       int // steps
	outcome outcome
	mass    []float64

	it    iterate
	proof proof

	ctx     context.Context
	source  []float64
	support []int
	out     *Result
	err     error
	slot    *slot // nil for a call of Project
}

// outcome is what becomes of a member after a step.
type outcome int

const (
	underway outcome = iota
	finished         // or stopped: what is left is the certificate
	fallback         // a start at the final Reg is not the way
)

const (
	// stackSize is how many members a stack holds: at 4000 x 4000, 16 are hardly faster and 4 a sixth slower.
	stackSize = 8
	// stackCells is the size from which on All makes stacks. Smaller kernels, up to 8 MB, stay in a cache: stacks of
	// them then take as much time of the processors, and more until they are full.
	stackCells = 1 << 20
)

// newStack returns a stack for size members. The kernel must be there.
func (p *Projector) newStack(size int) *stack {
	k := p.common.k
	t := &stack{p: p, size: size, part: make([][]float64, size)}
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
		m.in, m.k = p.box, *k
		m.in.matrix = p.c
		m.in.rows, m.in.mass = p.common.rows, m.mass
		m.s = *newFast(ctx, &m.in, c, p.settings, &m.k)
		m.s.first = p.common.w
		m.proof = proof{in: &m.in, lo: p.common.lo, hi: p.common.hi}
	}
	clear(m.mass)
	for a, i := range in.rows {
		m.mass[i] = in.mass[a]
	}
	m.s.rows = len(in.rows)
	m.ctx, m.err, m.n, m.outcome = ctx, nil, 0, underway
	m.x = extrapolation{res: m.x.res[:0], old: m.x.old}
	s := &m.s
	*s.r = Result{Settings: p.settings, Reg: p.reg}
	s.ctx, s.stop, s.x, s.last, s.found, s.foundI = ctx, Converged, 1, true, nil, nil
	s.goal = p.settings.residual()
	s.start(c.reg)
}

// step takes all members at work one step further.
func (t *stack) step() {
	for x, m := range t.work {
		m.k.part = t.part[x]
	}
	t.loop(t.p.common.k.ch, t.product)
	t.loop(len(t.work), func(x int) { t.work[x].advance() })
	if t.cut() {
		t.abandon()
		return
	}
	work := t.work
	t.work = t.work[:0]
	for _, m := range work {
		switch m.outcome {
		case underway:
			t.work = append(t.work, m)
		case finished:
			t.done = append(t.done, m)
		case fallback:
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

// product does the products of an iteration of Algorithm 1, as normalise does them, for chunk ch of the rows. At the
// start v = 1, and row sums are known.
func (t *stack) product(ch int) {
	k := t.p.common.k
	n := k.c.n
	for _, m := range t.work {
		clear(m.k.partial(ch, m.s.s))
	}
	block := max(1, blockCells/n)
	from, to := loops.ChunkRows(k.c.k, k.ch, ch)
	for i := from; i < to; i += block {
		if t.ended() {
			return
		}
		b := min(block, to-i)
		for _, m := range t.work {
			s := &m.s
			if m.n == 0 {
				copy(s.a[i:i+b], t.p.common.a[i:i+b])
			} else {
				k.times(nil, i, i+b, s.v, s.a)
			}
			for r := i; r < i+b; r++ {
				s.u[r] = m.mass[r] / s.a[r]
			}
			k.add(nil, i, i+b, s.u, m.k.partial(ch, s.s))
		}
	}
}

// advance does what follows the products: it is a turn of probe.
func (m *member) advance() {
	s := &m.s
	m.k.join(s.s)
	switch s.sound = s.balance(); {
	case !s.sound:
		m.outcome = fallback
	case s.res <= s.goal, s.over():
		m.outcome = finished
	case !m.x.turn(s, m.n):
		m.outcome = fallback
	}
	m.n++
}

// certify finds the bounds of a group in one sweep over kernel and cost, and sends it off.
func (t *stack) certify() {
	t.proofs = t.proofs[:0]
	for _, m := range t.group {
		m.it = *m.s.iterate(&m.it)
		m.proof.it = &m.it
		t.proofs = append(t.proofs, &m.proof)
	}
	certify(&t.watch, t.p.common.k.c, t.proofs)
	if !t.cut() {
		t.loop(len(t.group), func(x int) { t.group[x].finish(t.p.settings) })
	}
	if t.cut() {
		t.abandon()
		return
	}
	for _, m := range t.group {
		t.leave(m)
	}
}

// finish makes the Result.
func (m *member) finish(set Settings) {
	s, b := &m.s, &m.proof.b
	s.res = b.residual
	if s.stop == Converged && set.Gap > 0 && set.Tolerance == 0 && !b.small(set.Gap, s.c) {
		s.blur = b.blur(set.Gap, s.c)
		s.stop = s.unmet()
	}
	s.found, s.foundI = b, &m.it
	s.r.Q, s.r.LogV, s.r.Potentials = m.out.Q, m.out.LogV, m.out.Potentials
	r, b, it := s.finish()
	if m.err = m.in.complete(m.ctx, s.c, r, b, it); m.err == nil {
		m.err = r.err(m.ctx)
	}
	*m.out = *r
}

// leave sends a member off.
func (t *stack) leave(m *member) {
	m.ctx, m.s.ctx, m.source, m.support, m.out = nil, nil, nil, nil, nil
	at := m.slot
	if at == nil {
		return
	}
	m.slot = nil
	at.Err = m.err
	t.p.mu.Lock()
	t.p.members = append(t.p.members, m)
	t.p.mu.Unlock()
	at.Done()
}

// serve projects first and then takes in members from the queue whenever there is a place, until it is closed and
// empty.
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
