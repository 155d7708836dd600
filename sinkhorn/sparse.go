package sinkhorn

import "math"

// few holds the entries of a kernel that count, row by row, at a small Reg: the plan of a row then reaches few columns. Entries are
// left out by their share of the plan at hand, which says how far scalings may go before they would count; passes check that. Whatever leaves
// the solver is of the full kernel: the last pass, and what is proved.
type few struct {
	ptr    []int
	idx    []int32
	val    []float64
	u0, v0 []float64 // scalings for which entries were left out
}

const (
	// An entry of the kernel is kept if it is more than this, over the longer side of the matrix, of its row of the plan or of its column.
	fewShare = 1e-25
	// fewDrift is how much an entry left out may grow.
	fewDrift = 1e11
	// Compressed rows pay when they hold at most one cell in fewFill.
	fewFill  = 8
	fewCells = 1 << 19 // and in matrices of at least so many: smaller ones are in cache
	// fewTries is how often in a level they are made.
	fewTries = 4
)

// fewer looks for entries to leave out, after a pass of the full kernel.
func (s *fast) fewer() {
	if s.tries >= fewTries || s.newt.dense || s.set.Gap > 0 || s.set.History || s.c.k*s.c.n < fewCells || !s.sound {
		return
	}
	s.tries++
	k, n := s.c.k, s.c.n
	share := fewShare / float64(max(k, n))
	// P_ij > share mu_i or P_ij > share c_j, divided by u_i v_j.
	byRow := make([]float64, n)
	least, leastCol := math.Inf(1), math.Inf(1)
	byCol := make([]float64, n)
	for j, v := range s.v {
		byRow[j], byCol[j] = share/v, share*s.s[j]
		least, leastCol = math.Min(least, byRow[j]), math.Min(leastCol, byCol[j])
	}
	kept, rows := 0, 0
	for i := 0; i < k; i += sparseSample {
		if s.c.ended() {
			return
		}
		a, u := s.a[i], 1/s.u[i]
		rows++
		for j, x := range s.k.m[i*n : (i+1)*n] {
			if x > a*byRow[j] || x > u*byCol[j] {
				kept++
			}
		}
	}
	if kept*fewFill > rows*n {
		s.tries = fewTries // and will not be in this level
		return
	}
	w := &few{u0: append([]float64(nil), s.u...), v0: append([]float64(nil), s.v...)}
	if old := s.k.spare; old != nil {
		w.ptr, w.idx, w.val = old.ptr[:0], old.idx[:0], old.val[:0]
	}
	w.ptr = append(w.ptr, 0)
	for i := range k {
		if i%lookRows == 0 && s.c.ended() {
			return
		}
		row := s.k.m[i*n : (i+1)*n]
		a, u := s.a[i], 1/s.u[i]
		low := math.Min(a*least, u*leastCol)
		for j, x := range row {
			if x > low && (x > a*byRow[j] || x > u*byCol[j]) {
				w.idx = append(w.idx, int32(j))
				w.val = append(w.val, x)
			}
		}
		if len(w.idx)*fewFill > 2*k*n {
			return
		}
		w.ptr = append(w.ptr, len(w.idx))
	}
	s.k.few, s.k.spare = w, w
}

// normalise is that of kernel on the entries kept. It reports false if those left out may count by now.
func (w *few) normalise(k *kernel, mu, v, a, u, s []float64) bool {
	drift := 0.0
	for j, x := range v {
		drift = math.Max(drift, x/w.v0[j])
	}
	n := k.c.n
	k.c.loop(k.ch, func(ch int) {
		from, to := chunkRows(k.c.k, k.ch, ch)
		part := k.partial(ch, s)
		clear(part)
		v := v[:n]
		for i := from; i < to; i++ {
			idx, val := w.row(i)
			a[i] = dotRow(idx, val, v)
			u[i] = mu[i] / a[i]
			addRow(idx, val, u[i], part)
		}
	})
	k.join(s)
	up := 0.0
	for i, x := range u {
		up = math.Max(up, x/w.u0[i])
	}
	return up*drift <= fewDrift
}

func (w *few) row(i int) ([]int32, []float64) {
	from, to := w.ptr[i], w.ptr[i+1]
	idx := w.idx[from:to]
	return idx, w.val[from:to][:len(idx)]
}

// curvature is that of kernel.
func (w *few) curvature(k *kernel, x, y, sq, out []float64) {
	k.c.loop(k.ch, func(ch int) {
		from, to := chunkRows(k.c.k, k.ch, ch)
		part := k.partial(ch, out)
		clear(part)
		for i := from; i < to; i++ {
			idx, val := w.row(i)
			y[i] = dotRow(idx, val, x) * sq[i] * sq[i]
			addRow(idx, val, y[i], part)
		}
	})
	k.join(out)
}

func dotRow(idx []int32, val, v []float64) float64 {
	val = val[:len(idx)]
	var x, y float64
	m := 0
	for ; m+1 < len(idx); m += 2 {
		x += float64(val[m] * v[idx[m]])
		y += float64(val[m+1] * v[idx[m+1]])
	}
	if m < len(idx) {
		x += float64(val[m] * v[idx[m]])
	}
	return x + y
}

func addRow(idx []int32, val []float64, u float64, s []float64) {
	val = val[:len(idx)]
	for m, j := range idx {
		s[j] += float64(u * val[m])
	}
}
