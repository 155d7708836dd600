package sinkhorn

import (
	"math"
	"slices"
)

// system is the one of a step of Newton's method on the dual. With A the columns whose q is at a bound and the others at
// one common level, the residual of the columns in A is to vanish: c_A(y) = q_A, y = log v. The derivative of c is
//
//	J = diag(c) - P' diag(1/mu) P,
//
// a weighted graph Laplacian on the columns, positive semidefinite. J_AA d = q_A - c_A - J_AF d_F, with d_F what
// takes the free columns to their level, is solved by conjugate gradients.
type system struct {
	k         *kernel
	entries   *sparse   // of the kernel, that count for the step; nil: all
	v         []float64 // scalings
	act       []int     // A
	cd        []float64 // c_A
	row       []float64 // u / a: P' diag(1/mu) P = diag(v) M' diag(row) M diag(v)
	x, y, out []float64 // scratch: columns, rows, columns
}

// newSystem makes the system of the columns act, on the whole kernel.
func (s *fast) newSystem(act []int) *system {
	w := &system{k: s.k, v: s.v, act: act, cd: make([]float64, len(act)), row: make([]float64, s.c.k),
		x: make([]float64, s.c.n), y: make([]float64, s.c.k), out: make([]float64, s.c.n)}
	for i, u := range s.u {
		w.row[i] = u / s.a[i]
	}
	for m, j := range act {
		w.cd[m] = s.v[j] * s.s[j]
	}
	return w
}

// merit returns the dual objective over reg, up to a constant that stays while the kernel does, and a bound on
// its rounding error.
func (s *fast) merit() (value, noise float64) {
	var e, size float64
	for i, u := range s.u {
		x := s.c.mass[i] * math.Log(u)
		e += x
		size += math.Abs(x)
	}
	reg := s.k.reg
	for j, q := range s.q {
		if q > 0 {
			x := q * (math.Log(s.next[j]) + s.k.g[j]/reg)
			e += x
			size += math.Abs(x)
		}
	}
	return e, size * 0x1p-48
}

// newtonStep tries one Newton step from the present iterate, whose pass is done, and then takes a step of
// Algorithm 1 from the better of the two. It reports whether Newton's was better. With signs, prices keep theirs.
func (s *fast) newtonStep(signs bool) bool {
	act := s.activeColumns()
	if len(act) == 0 {
		s.v, s.next = s.next, s.v
		return false
	}
	w := s.newSystem(act)
	delta, r := s.target(w)
	w.entries = s.compress()
	diag := w.diagonal()
	if s.c.cut() {
		return false
	}
	d, n := w.solve(r, diag, math.Max(s.damp, math.Min(1e-3, 1e-2*s.res)), math.Min(0.1, math.Sqrt(s.res)))
	s.stats.CG += n
	for m, j := range act {
		delta[j] = d[m]
	}
	if s.search(delta, signs) {
		s.stats.Newton++
		if s.damp /= 4; s.damp < 1e-12 {
			s.damp = 0
		}
		s.v, s.next = s.next, s.v
		return true
	}
	s.damp = math.Max(4*s.damp, 1e-8)
	return false
}

// target returns what takes the free columns to their level, 0 elsewhere, and the right side of the system.
func (s *fast) target(w *system) (delta, r []float64) {
	delta, r = make([]float64, s.c.n), make([]float64, len(w.act))
	var off float64
	for j, v := range s.v {
		if !s.active(j) {
			delta[j] = math.Log(s.x * s.w[j] / v)
			off = math.Max(off, math.Abs(delta[j]))
		}
		w.x[j] = delta[j] * v
	}
	for m, j := range w.act {
		r[m] = s.q[j] - w.cd[m]
	}
	if off <= 1e-14 {
		return delta, r
	}
	// r -= J_AF delta = + P' diag(1/mu) P delta on A.
	s.k.curvature(s.k.few(), w.x, w.y, w.row, w.out)
	s.stats.CG++
	for m, j := range w.act {
		r[m] += s.v[j] * w.out[j]
	}
	return delta, r
}

// diagonal returns that of J_AA.
func (w *system) diagonal() []float64 {
	diag := make([]float64, len(w.act))
	w.k.squares(w.entries, w.row, w.out)
	for m, j := range w.act {
		diag[m] = w.cd[m] - w.v[j]*w.v[j]*w.out[j]
	}
	return diag
}

// image sets out = (J + shift diag(c)) p.
func (w *system) image(shift float64, p, out []float64) {
	clear(w.x)
	for m, j := range w.act {
		w.x[j] = w.v[j] * p[m]
	}
	w.k.curvature(w.entries, w.x, w.y, w.row, w.out)
	for m, j := range w.act {
		out[m] = (1+shift)*w.cd[m]*p[m] - w.v[j]*w.out[j]
	}
}

// solve solves (J + shift diag(c)) d = r approximately, by conjugate gradients, and returns d and the number of steps.
// diag is the diagonal of J. r and diag are changed.
func (w *system) solve(r, diag []float64, shift, tol float64) (_ []float64, steps int) {
	na := len(w.act)
	d, p, jp := make([]float64, na), make([]float64, na), make([]float64, na)
	var rz float64
	for m := range d {
		diag[m] = math.Max(diag[m], 0) + (shift+1e-12)*w.cd[m]
		p[m] = r[m] / diag[m]
		rz += r[m] * p[m]
	}
	for first := rz; steps < 400 && rz > tol*tol*first && !w.k.c.cut(); {
		steps++
		w.image(shift, p, jp)
		pj := ge.Ddot(na, p, 1, jp, 1)
		if !(pj > 0) {
			break
		}
		alpha, old := rz/pj, rz
		rz = 0
		for m := range d {
			d[m] += alpha * p[m]
			r[m] -= alpha * jp[m]
			rz += r[m] * (r[m] / diag[m])
		}
		beta := rz / old
		for m := range p {
			p[m] = r[m]/diag[m] + beta*p[m]
		}
	}
	return d, steps
}

// search changes log v by delta, or a part of it, if the dual or the residual then says that it is a good step. It
// leaves the scalings where the plain step of Algorithm 1 leads if not. With signs, prices keep theirs.
func (s *fast) search(delta []float64, signs bool) bool {
	before, noise := s.merit()
	res := s.res
	n := len(s.v)
	saved := slices.Concat(s.v, s.q, s.next)
	from, plain := scalings{lo: s.lo, hi: s.hi, w: s.w, x: s.x, v: saved[:n], q: saved[n : 2*n]}, saved[2*n:]
	for step := 1.0; step > 1e-2; step /= 4 {
		for j, v := range from.v {
			d := step * delta[j]
			if !from.active(j) {
				s.v[j] = v * math.Exp(d)
				continue
			}
			s.v[j] = v * math.Exp(math.Max(-100, math.Min(d, 100)))
			if signs && !s.c.fixed {
				s.v[j] = from.signed(j, s.v[j])
			}
		}
		if s.pass() {
			after, noise2 := s.merit()
			if s.res <= 0.5*res || after > before+noise+noise2 && s.res < 4*res {
				return true
			}
		}
		if s.limitReached() {
			break
		}
	}
	copy(s.v, plain)
	s.x = from.x
	return false
}

// signed returns the v nearest to y at which the price of column j, at a bound, keeps its sign: where Newton's method
// gets nowhere, the column then leaves the bound, and the system is another one.
func (s *scalings) signed(j int, y float64) float64 {
	switch {
	case s.lo[j] == s.hi[j]:
		return y
	case s.q[j] >= s.hi[j]:
		return min(y, s.x*s.w[j])
	}
	return max(y, s.x*s.w[j])
}
