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
// At a small Reg a row of P reaches few columns. What is so small that rounding hides it is then dropped, and B kept
// in compressed rows: made from those of the kernel where there are any (sparseKernel). What is dropped here concerns
// the direction of a step alone.
type newton struct {
	act        []int     // A
	b          []float64 // k x |A|: P_ij / sqrt(mu_i)
	y          []float64 // k
	diag, cd   []float64
	d, r, z, p []float64
	jp         []float64
	sq         []float64
	delta      []float64
	part       []float64
	save       []float64
	sparse     bool // packed takes the place of b, where that is shorter
	packed     csr
	dense      bool // for tests: never compress
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

func (w *newton) free() {
	release(w.b)
	w.b = nil
}

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
	n, k := s.c.n, s.c.k
	w.act = w.act[:0]
	for j, side := range s.side {
		if side != 0 && s.q[j] > 0 {
			w.act = append(w.act, j)
		}
	}
	na := len(w.act)
	if na == 0 {
		s.v, s.next = s.next, s.v
		return false
	}
	w.delta = grow(w.delta, n)
	var off float64
	for j := range w.delta {
		w.delta[j] = 0
		if s.side[j] == 0 || s.q[j] == 0 {
			w.delta[j] = math.Log(s.x * s.w[j] / s.v[j])
			off = math.Max(off, math.Abs(w.delta[j]))
		}
	}
	w.r, w.cd = grow(w.r, na), grow(w.cd, na)
	for m, j := range w.act {
		w.cd[m] = s.v[j] * s.s[j]
		w.r[m] = s.q[j] - w.cd[m]
	}
	w.sq = grow(w.sq, k)
	for i, u := range s.u {
		w.sq[i] = math.Sqrt(u / s.a[i])
	}
	if off > 1e-14 {
		// rhs -= J_AF delta = + P' D^-1 P delta on A.
		w.y, w.part = grow(w.y, k), grow(w.part, n)
		for j := range w.part {
			w.part[j] = w.delta[j] * s.v[j]
		}
		jd := make([]float64, n)
		s.k.curvature(w.part, w.y, w.sq, jd)
		s.r.Stats.CG++
		for m, j := range w.act {
			w.r[m] += s.v[j] * jd[j]
		}
	}
	s.pack()
	if s.c.cut() {
		return false
	}
	before, noise := s.merit()
	res := s.res
	shift := math.Max(s.damp, math.Min(1e-3, 1e-2*res))
	s.cg(shift, math.Min(0.1, math.Sqrt(res)))

	w.save = append(w.save[:0], s.v...)
	alg := append([]float64(nil), s.next...)
	x := s.x
	step := 1.0
	for range 4 {
		for j := range s.v {
			if w.delta[j] != 0 || s.side[j] == 0 {
				s.v[j] = w.save[j] * math.Exp(step*w.delta[j])
			} else {
				s.v[j] = w.save[j]
			}
		}
		for m, j := range w.act {
			s.v[j] = w.save[j] * math.Exp(math.Max(-100, math.Min(step*w.d[m], 100)))
		}
		side := append([]int8(nil), s.side...)
		if s.pass() {
			after, noise2 := s.merit()
			if s.res <= 0.5*res || after > before+noise+noise2 && s.res < 4*res {
				s.r.Stats.Newton++
				s.damp /= 4
				if s.damp < 1e-12 {
					s.damp = 0
				}
				s.v, s.next = s.next, s.v
				return true
			}
		}
		if s.over() {
			break
		}
		copy(s.side, side)
		step /= 4
	}
	s.damp = math.Max(4*s.damp, 1e-8)
	copy(s.v, alg)
	s.x = x
	return false
}

// curvature sets out = M' diag(sq^2) M x.
func (k *kernel) curvature(x, y, sq, out []float64) {
	if k.sparse != nil {
		k.sparse.curvature(k, x, y, sq, out)
		return
	}
	n := k.c.n
	block := max(1, blockCells/n)
	k.c.loop(k.ch, func(ch int) {
		from, to := chunkRows(k.c.k, k.ch, ch)
		part := k.partial(ch, out)
		clear(part)
		for i := from; i < to; i += block {
			if k.c.ended() {
				return
			}
			b := min(block, to-i)
			m := k.m[i*n : (i+b)*n]
			timesRows(m, n, x, y[i:i+b])
			for r := i; r < i+b; r++ {
				y[r] *= sq[r] * sq[r]
			}
			addColumns(m, n, y[i:i+b], part)
		}
	})
	k.join(out)
}

// pack writes B = P / sqrt(mu) on the columns A, and diag = c - diag(B'B).
func (s *fast) pack() {
	w := &s.newt
	n, k, na := s.c.n, s.c.k, len(w.act)
	w.diag = grow(w.diag, na)
	va := make([]float64, na)
	for m, j := range w.act {
		va[m] = s.v[j]
	}
	if w.sparse = !w.dense && s.compress(va); w.sparse {
		return
	}
	copy(w.diag, w.cd)
	if cap(w.b) < k*na {
		w.free()
		w.b = lease(k * n)
	}
	w.b = w.b[:k*na]
	for i := range k {
		if i%lookRows == 0 && s.c.ended() {
			return
		}
		row, dst, q := s.k.m[i*n:(i+1)*n], w.b[i*na:(i+1)*na], w.sq[i]
		if na == n {
			for m, v := range va {
				x := q * row[m] * v
				dst[m] = x
				w.diag[m] -= x * x
			}
			continue
		}
		for m, j := range w.act {
			x := q * row[j] * va[m]
			dst[m] = x
			w.diag[m] -= x * x
		}
	}
}

// compress is pack into compressed rows: of the kernel's entries, where it is compressed already, or of those that
// count. It reports false, after a few rows, if they are not worth while.
func (s *fast) compress(va []float64) bool {
	w := &s.newt
	from := &w.packed
	if s.k.sparse != nil {
		from = &s.k.sparse.csr
	} else if s.c.k*len(w.act) < sparseCells || !s.keep(from, w.act, dropped, sparseFill) {
		return false
	}
	at := s.places()
	copy(w.diag, w.cd)
	// In place, where it is from packed: no entry moves to the right.
	to := csr{make([]int, 1, s.c.k+1), w.packed.idx[:0], w.packed.val[:0]}
	for i, q := range w.sq {
		idx, val := from.row(i)
		for l, j := range idx {
			if m := at[j]; m >= 0 {
				x := val[l] * (q * va[m])
				to.idx = append(to.idx, m)
				to.val = append(to.val, x)
				w.diag[m] -= float64(x * x)
			}
		}
		to.ptr = append(to.ptr, len(to.idx))
	}
	w.packed = to
	return true
}

// places returns where a column is in A, -1 for those that are not.
func (s *fast) places() []int32 {
	at := make([]int32, s.c.n)
	for j := range at {
		at[j] = -1
	}
	for m, j := range s.newt.act {
		at[j] = int32(m)
	}
	return at
}

// gram sets out = B'B p.
func (w *newton) gram(c *costs, p, out []float64) {
	k := c.k
	clear(out)
	if c.ended() {
		return
	}
	if w.sparse {
		for i := range k {
			idx, val := w.packed.row(i)
			addRow(idx, val, dotRow(idx, val, p), out)
		}
		return
	}
	na := len(p)
	block := max(1, blockCells/na)
	for i := 0; i < k; i += block {
		if c.ended() {
			return
		}
		b := min(block, k-i)
		a := w.b[i*na : (i+b)*na]
		timesRows(a, na, p, w.y[i:i+b])
		addColumns(a, na, w.y[i:i+b], out)
	}
}

// cg solves (J + shift diag(c)) d = r approximately.
func (s *fast) cg(shift, tol float64) {
	w := &s.newt
	na, k := len(w.act), s.c.k
	w.d, w.z, w.p, w.jp = grow(w.d, na), grow(w.z, na), grow(w.p, na), grow(w.jp, na)
	w.y = grow(w.y, k)
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
		w.gram(s.c, w.p, w.jp)
		for m, x := range w.jp {
			w.jp[m] = (1+shift)*w.cd[m]*w.p[m] - x
		}
		pj := ge.Ddot(na, w.p, 1, w.jp, 1)
		if !(pj > 0) {
			return
		}
		alpha := rz / pj
		old := rz
		rz = 0
		for m := range w.d {
			w.d[m] += alpha * w.p[m]
			w.r[m] -= alpha * w.jp[m]
			w.z[m] = w.r[m] / w.diag[m]
			rz += w.r[m] * w.z[m]
		}
		beta := rz / old
		for m := range w.p {
			w.p[m] = w.z[m] + beta*w.p[m]
		}
	}
}
