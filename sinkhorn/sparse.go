package sinkhorn

import "slices"

// sparse holds the entries of a kernel that count, in compressed rows: row i has val[ptr[i]:ptr[i+1]] in columns idx. At
// a small Reg the plan of a row reaches few columns (truncation: Schmitzer 2019).
//
// Entries are left out by their share of the plan at hand, and concern the direction of a Newton step alone. Passes, and
// whatever leaves the solver, are of the full kernel.
type sparse struct {
	ptr []int
	idx []int32
	val []float64
}

const (
	// An entry of the kernel is kept if it is more than this, over the longer side of the matrix, of its row of the plan
	// or of its column. The entries dropped then change J, relative to its diagonal part, by at most twice this, which is
	// what cg adds to the diagonal anyway.
	dropped = 1e-12
	// A compressed kernel serves when it holds at most one cell in sparseFill, in matrices of at least sparseCells cells:
	// an entry costs 1.5 ns for both products, a cell of the full form 0.1 to 0.4.
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
	w.ptr, w.idx, w.val = append(w.ptr[:0], 0), w.idx[:0], w.val[:0]
}

// compress returns the entries of the kernel that count for a Newton step, or nil if they are not worth while.
func (s *fast) compress() *sparse {
	if s.c.k*s.c.n >= sparseCells && s.keep() {
		return &s.k.kept
	}
	return nil
}

// keep finds the entries that count. It reports false, after a few rows, if they are more than one cell in sparseFill.
func (s *fast) keep() bool {
	k, n, w := s.c.k, s.c.n, &s.k.kept
	share := dropped / float64(max(k, n))
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
	if len(w.idx)*sparseFill > (len(w.ptr)-1)*n {
		return false
	}
	w.begin()
	for i := range k {
		if i%lookRows == 0 && s.c.ended() || len(w.idx)*sparseFill > 2*k*n {
			return false
		}
		add(i)
	}
	return true
}
