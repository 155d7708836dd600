package sinkhorn

import "math"

// Newton's method on the dual. With A the columns whose q is at a bound and the others at one common
// level, the residual of the columns in A is to vanish: c_A(y) = q_A, y = log v. The derivative of c is
//
//	J = diag(c) - P' diag(1/mu) P,
//
// a weighted graph Laplacian on the columns, positive semidefinite. J_AA d = q_A - c_A - J_AF d_F, with d_F what
// takes the free columns to their level, is solved by conjugate gradients.
//
// At a small Reg a row of P reaches few columns. What is so small that rounding hides it is then dropped, unless the
// kernel is in compressed rows already (sparseKernel). What is dropped here concerns the direction of a step alone.
type newton struct {
	act        []int // A
	cd, diag   []float64
	d, r, z, p []float64
	row        []float64 // u / a: P' diag(1/mu) P = diag(v) M' diag(row) M diag(v)
	x, y, jx   []float64
	delta      []float64
	save, alg  []float64
	side       []int8
	packed     csr
	signs      bool // prices keep their signs
}

const (
	// An entry is kept if it is more than this, over the longer side of the matrix, of its row or of its column. The
	// entries dropped then change J, relative to its diagonal part, by at most twice this, which is
	// what cg adds to the diagonal anyway.
	dropped = 1e-12
	// Compressed rows pay when they hold at most one cell in sparseFill, in matrices of at least sparseCells cells. An
	// entry costs 1.5 ns for both products, a cell of the full form 0.1 to 0.4.
	sparseFill  = 12
	sparseCells = 1 << 15
	// One row in sparseSample is counted beforehand.
	sparseSample = 17
)

// merit returns the dual objective over reg, up to a constant that stays while the kernel does, and a bound on
// its rounding error.
func (s *fast) merit() (value, noise float64) {
	var e, size float64
	for i, u := range s.u {
		x := s.in.mass[i] * math.Log(u)
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
// Algorithm 1 from the better of the two. It reports whether Newton's was better.
func (s *fast) newtonStep() bool {
	w := &s.newt
	w.act = w.act[:0]
	for j, side := range s.side {
		if side != 0 && s.q[j] > 0 {
			w.act = append(w.act, j)
		}
	}
	if len(w.act) == 0 {
		s.v, s.next = s.next, s.v
		return false
	}
	s.target()
	entries := s.compress()
	s.diagonal(entries)
	if s.c.cut() {
		return false
	}
	s.cg(entries, math.Max(s.damp, math.Min(1e-3, 1e-2*s.res)), math.Min(0.1, math.Sqrt(s.res)))
	if s.search() {
		s.r.Stats.Newton++
		if s.damp /= 4; s.damp < 1e-12 {
			s.damp = 0
		}
		s.v, s.next = s.next, s.v
		return true
	}
	s.damp = math.Max(4*s.damp, 1e-8)
	return false
}

// target makes the system: delta takes the free columns to their level, and r is the right side.
func (s *fast) target() {
	w, n := &s.newt, s.c.n
	w.delta, w.x, w.jx = grow(w.delta, n), grow(w.x, n), grow(w.jx, n)
	w.row, w.y = grow(w.row, s.c.k), grow(w.y, s.c.k)
	for i, u := range s.u {
		w.row[i] = u / s.a[i]
	}
	var off float64
	for j, v := range s.v {
		w.delta[j] = 0
		if s.side[j] == 0 || s.q[j] == 0 {
			w.delta[j] = math.Log(s.x * s.w[j] / v)
			off = math.Max(off, math.Abs(w.delta[j]))
		}
		w.x[j] = w.delta[j] * v
	}
	w.r, w.cd = grow(w.r, len(w.act)), grow(w.cd, len(w.act))
	for m, j := range w.act {
		w.cd[m] = s.v[j] * s.s[j]
		w.r[m] = s.q[j] - w.cd[m]
	}
	if off <= 1e-14 {
		return
	}
	// r -= J_AF delta = + P' diag(1/mu) P delta on A.
	var kept *csr
	if s.k.sparse != nil {
		kept = &s.k.sparse.csr
	}
	s.k.curvature(kept, w.x, w.y, w.row, w.jx)
	s.r.Stats.CG++
	for m, j := range w.act {
		w.r[m] += s.v[j] * w.jx[j]
	}
}

// compress returns the entries of the kernel that count for a step, or nil if they are not worth while.
func (s *fast) compress() *csr {
	w := &s.newt
	switch {
	case s.k.sparse != nil:
		return &s.k.sparse.csr
	case s.c.k*s.c.n >= sparseCells && s.keep(&w.packed, dropped, sparseFill):
		return &w.packed
	}
	return nil
}

// diagonal sets diag to that of J.
func (s *fast) diagonal(entries *csr) {
	w := &s.newt
	w.diag = grow(w.diag, len(w.act))
	s.k.squares(entries, w.row, w.jx)
	for m, j := range w.act {
		w.diag[m] = w.cd[m] - s.v[j]*s.v[j]*w.jx[j]
	}
}

// image sets out = (J + shift diag(c)) p.
func (s *fast) image(entries *csr, shift float64, p, out []float64) {
	w := &s.newt
	clear(w.x)
	for m, j := range w.act {
		w.x[j] = s.v[j] * p[m]
	}
	s.k.curvature(entries, w.x, w.y, w.row, w.jx)
	for m, j := range w.act {
		out[m] = (1+shift)*w.cd[m]*p[m] - s.v[j]*w.jx[j]
	}
}

// search takes the step d, or a part of it, if the dual or the residual then says that it is a good one. It leaves the
// scalings where the plain step of Algorithm 1 leads if not.
func (s *fast) search() bool {
	w := &s.newt
	before, noise := s.merit()
	res, x := s.res, s.x
	w.save, w.alg, w.side = append(w.save[:0], s.v...), append(w.alg[:0], s.next...), append(w.side[:0], s.side...)
	for step := 1.0; step > 1e-2; step /= 4 {
		for j, v := range w.save {
			s.v[j] = v * math.Exp(step*w.delta[j])
		}
		for m, j := range w.act {
			s.v[j] = s.signed(j, w.save[j]*math.Exp(math.Max(-100, math.Min(step*w.d[m], 100))), x)
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
		copy(s.side, w.side)
	}
	copy(s.v, w.alg)
	s.x = x
	return false
}

// cg solves (J + shift diag(c)) d = r approximately.
func (s *fast) cg(entries *csr, shift, tol float64) {
	w := &s.newt
	na := len(w.act)
	w.d, w.z, w.p = grow(w.d, na), grow(w.z, na), grow(w.p, na)
	jp := make([]float64, na)
	clear(w.d)
	var rz, first float64
	for m := range w.d {
		w.diag[m] = math.Max(w.diag[m], 0) + (shift+1e-12)*w.cd[m]
		w.z[m] = w.r[m] / w.diag[m]
		w.p[m] = w.z[m]
		rz += w.r[m] * w.z[m]
	}
	first = rz
	for it := 0; it < 400 && rz > tol*tol*first && !s.c.cut(); it++ {
		s.r.Stats.CG++
		s.image(entries, shift, w.p, jp)
		pj := ge.Ddot(na, w.p, 1, jp, 1)
		if !(pj > 0) {
			return
		}
		alpha, old := rz/pj, rz
		rz = 0
		for m := range w.d {
			w.d[m] += alpha * w.p[m]
			w.r[m] -= alpha * jp[m]
			w.z[m] = w.r[m] / w.diag[m]
			rz += w.r[m] * w.z[m]
		}
		beta := rz / old
		for m := range w.p {
			w.p[m] = w.z[m] + beta*w.p[m]
		}
	}
}

// signed returns y or, where Newton's method gets nowhere, the v nearest to it at which the price of column j, at a
// bound, keeps its sign: the column then leaves the bound, and the system is another one.
func (s *fast) signed(j int, y, x float64) float64 {
	switch {
	case !s.newt.signs || s.in.level != 0 || s.lo[j] == s.hi[j]:
		return y
	case s.newt.side[j] > 0:
		return min(y, x*s.w[j])
	}
	return max(y, x*s.w[j])
}
