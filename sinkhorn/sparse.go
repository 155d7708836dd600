package sinkhorn

import "slices"

// sparse holds the entries of a kernel that count, in compressed rows: row i has val[ptr[i]:ptr[i+1]] in columns idx. At
// a small Reg the plan of a row reaches few columns (truncation: Schmitzer 2019).
//
// Entries are left out by their share of the plan at hand. Of what serves passes, that share says how far scalings may go
// before the others would count, and passes check it. What else is left out concerns the direction of a Newton step
// alone. Whatever leaves the solver is of the full kernel: the last pass, and what is proved.
type sparse struct {
	ptr    []int
	idx    []int32
	val    []float64
	passes bool      // they serve passes,
	u0, v0 []float64 // from these scalings on
}

const (
	// For passes, an entry of the kernel is kept if it is more than this, over the longer side of the matrix, of its row
	// of the plan or of its column.
	sparseShare = 1e-25
	// sparseDrift is how much an entry left out of passes may grow.
	sparseDrift = 1e11
	// A compressed kernel serves passes when it holds at most one cell in kernelFill.
	kernelFill  = 8
	kernelCells = 1 << 19 // and in matrices of at least so many: smaller ones are in cache
	// sparseTries is how often in a level one is made.
	sparseTries = 4

	// For Newton steps it is this share. The entries dropped then change J, relative to its diagonal part, by at most
	// twice this, which is what cg adds to the diagonal anyway.
	dropped = 1e-12
	// A compressed kernel serves them when it holds at most one cell in sparseFill, in matrices of at least sparseCells
	// cells: an entry costs 1.5 ns for both products, a cell of the full form 0.1 to 0.4.
	sparseFill  = 12
	sparseCells = 1 << 15

	// One row in sparseSample is counted beforehand.
	sparseSample = 17
)

// row returns the columns and entries of row i.
func (w *sparse) row(i int) ([]int32, []float64) {
	from, to := w.ptr[i], w.ptr[i+1]
	idx := w.idx[from:to]
	return idx, w.val[from:to][:len(idx)]
}

// begin empties w and keeps its memory.
func (w *sparse) begin() {
	w.ptr, w.idx, w.val, w.passes = append(w.ptr[:0], 0), w.idx[:0], w.val[:0], false
}

// normalise is that of kernel on the entries kept. It reports false if those left out may count by now.
func (w *sparse) normalise(k *kernel, mu, v, a, u, s []float64) bool {
	k.normalise(w, mu, v, a, u, s)
	return growth(v, w.v0)*growth(u, w.u0) <= sparseDrift
}

// growth returns the largest ratio of x over y.
func growth(x, y []float64) (most float64) {
	for i, z := range x {
		most = max(most, z/y[i])
	}
	return most
}

// trySparse looks for entries to leave out of passes, after one of the full kernel.
func (s *fast) trySparse() {
	if s.tries >= sparseTries || s.set.Gap > 0 || s.c.k*s.c.n < kernelCells || !s.sound {
		return
	}
	s.tries++
	if !s.keep(sparseShare, kernelFill) {
		s.tries = sparseTries // and will not be in this level
		return
	}
	w := &s.k.kept
	w.passes, w.u0, w.v0 = true, append(w.u0[:0], s.u...), append(w.v0[:0], s.v...)
}

// compress returns the entries of the kernel that count for a Newton step, or nil if they are not worth while.
func (s *fast) compress() *sparse {
	if s.k.kept.passes || s.c.k*s.c.n >= sparseCells && s.keep(dropped, sparseFill) {
		return &s.k.kept
	}
	return nil
}

// keep finds the entries of the kernel that are more than share, over the longer side, of their row of the plan or of
// their column. It reports false, after a few rows, if that is more than one cell in fill.
func (s *fast) keep(share float64, fill int) bool {
	k, n, w := s.c.k, s.c.n, &s.k.kept
	share /= float64(max(k, n))
	// P_ij > share mu_i or P_ij > share c_j, divided by u_i v_j. Most cells are below what any column asks for, and
	// nothing else of them is read.
	byRow, byCol := make([]float64, n), make([]float64, n)
	for j := range n {
		byRow[j], byCol[j] = share/s.v[j], share*s.s[j]
	}
	leastRow, leastCol := slices.Min(byRow), slices.Min(byCol)
	add := func(i int) {
		a, u := s.a[i], 1/s.u[i]
		low := min(a*leastRow, u*leastCol)
		for j, x := range s.k.m[i*n : (i+1)*n] {
			if x > low && (x > a*byRow[j] || x > u*byCol[j]) {
				w.idx = append(w.idx, int32(j))
				w.val = append(w.val, x)
			}
		}
		w.ptr = append(w.ptr, len(w.idx))
	}
	w.begin()
	for i := 0; i < k; i += sparseSample { // tells whether it pays
		if add(i); s.c.ended() {
			return false
		}
	}
	if len(w.idx)*fill > (len(w.ptr)-1)*n {
		return false
	}
	w.begin()
	for i := range k {
		if i%lookRows == 0 && s.c.ended() || len(w.idx)*fill > 2*k*n {
			return false
		}
		add(i)
	}
	return true
}
