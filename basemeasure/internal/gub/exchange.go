package gub

// exchange replaces the leaving variable by the entering one.
func (s *Simplex) exchange(e *Entry, l leaving) {
	if l.kind == leaveKey {
		bound := l.at
		if l.at = s.largest(bound); l.at < 0 { // the bound has no other column: the entering one takes its place
			s.spare = append(s.spare, s.keys[bound])
			s.keys[bound] = e.Column
			return
		}
		s.swapKey(l.at)
	}
	switch {
	case l.kind == leaveSlack && e.Column == nil:
		s.exchangeRows(e, l.at, e.sign*l.step)
	case l.kind == leaveSlack:
		s.border(e, l.at)
	case e.Column == nil:
		s.shrink(e, l.at, e.sign*l.step)
	default:
		s.replace(e, l.at)
	}
}

// largest returns the nonkey column of a bound with the largest value; -1 if there is none.
func (s *Simplex) largest(bound int) int {
	best := -1
	for c, col := range s.nonkey {
		if col.Bound == bound && (best < 0 || col.Value > s.nonkey[best].Value) {
			best = c
		}
	}
	return best
}

// swapKey makes nonkey column c the key of its bound: every column of S in that bound loses S_c, and S_c changes its
// sign.
func (s *Simplex) swapKey(c int) {
	col := s.nonkey[c]
	bound := col.Bound
	var others []int
	for d, other := range s.nonkey {
		if d != c && other.Bound == bound {
			others = append(others, d)
		}
	}
	s.inv.negate(c, others)
	n := len(s.nonkey)
	s.w[c], s.w[n+bound] = s.w[n+bound], s.w[c]
	key := s.keys[bound]
	for j, x := range key.a {
		key.a[j], col.a[j] = col.a[j], x
	}
	key.a, col.a = col.a, key.a
	s.nonkey[c], s.keys[bound] = key, col
}

// replace puts the entering column in place c of the nonkey columns.
func (s *Simplex) replace(e *Entry, c int) {
	n := len(s.nonkey)
	pivot, by := s.scratch[0][:n], s.scratch[1][:n]
	s.inv.row(c, pivot)
	scale := 1 / s.w[c]
	for r := range pivot {
		pivot[r] *= scale
	}
	for d, w := range s.w[:n] {
		by[d] = -w
	}
	by[c] = 0
	s.inv.change(by, pivot)
	s.inv.setRow(c, pivot)
	axpy(-e.Reduced, pivot, s.m)
	s.put(c, e.Column)
}

// border makes the entering column nonkey and takes the row at position p into J.
func (s *Simplex) border(e *Entry, p int) {
	n := len(s.nonkey)
	pivot := s.dy[p]
	rho := s.across(p)
	s.swap(p, n)
	scale := 1 / pivot
	by := s.scratch[1][:n]
	for d, w := range s.w[:n] {
		by[d] = w * scale
	}
	s.inv.change(by, rho)
	for d := range by {
		by[d] = -by[d]
	}
	row := s.scratch[0][:n+1]
	for r, x := range rho {
		row[r] = -x * scale
	}
	row[n] = scale
	s.inv.extend(by, row)
	s.m = append(s.m, 0)
	axpy(-e.Reduced, row, s.m)
	s.join(e.Column)
}

// across returns the row of S at position p beyond J times the inverse.
func (s *Simplex) across(p int) []float64 {
	n := len(s.nonkey)
	row, rho := s.scratch[1][:n], s.scratch[0][:n]
	for c, col := range s.nonkey {
		row[c] = s.reduced(col, p)
	}
	s.inv.left(row, rho)
	return rho
}

// shrink takes the row at position e.at out of J, and nonkey column c with it; its slack gets the value.
func (s *Simplex) shrink(e *Entry, c int, value float64) {
	n, r := len(s.nonkey), e.at
	pivot, by := s.scratch[0][:n], s.scratch[1][:n]
	s.inv.row(c, pivot)
	scale := 1 / pivot[r]
	s.inv.column(r, by)
	for d := range by {
		by[d] *= -scale
	}
	by[c] = 0
	s.inv.change(by, pivot)
	s.inv.remove(c, r)
	axpy(-s.m[r]*scale, pivot, s.m)
	last := n - 1
	s.m[r] = s.m[last]
	s.m = s.m[:last]
	s.remove(c)
	s.swap(r, last)
	s.y[last] = value
}

// exchangeRows takes the row at position e.at out of J, whose slack gets the value, and the one at position p into it.
func (s *Simplex) exchangeRows(e *Entry, p int, value float64) {
	n, r := len(s.nonkey), e.at
	rho := s.across(p)
	pivot := rho[r]
	rho[r] = 0
	column, by := s.scratch[1][:n], s.scratch[2][:n]
	s.inv.column(r, column)
	for d := range column {
		column[d] /= pivot
		by[d] = -column[d]
	}
	s.inv.change(by, rho) // rho[r] is zero
	s.inv.setColumn(r, column)
	x := s.m[r] / pivot
	s.m[r] = 0
	axpy(-x, rho, s.m)
	s.m[r] = x
	s.swap(r, p)
	s.y[p] = value
}

// join appends a column to those that are not keys. Their coefficients are the rows of s.matrix.
func (s *Simplex) join(col *Column) {
	n, rows := len(s.nonkey), len(s.rows)
	if (n+1)*rows > len(s.matrix) {
		old := s.matrix
		s.matrix = make([]float64, min(2*n+16, rows)*rows)
		copy(s.matrix, old)
		for c, other := range s.nonkey {
			other.a = s.part(c)
		}
	}
	row := s.part(n)
	copy(row, col.a)
	s.spare = append(s.spare, &Column{a: col.a})
	col.a = row
	s.nonkey = append(s.nonkey, col)
}

// put puts a column in place c of those that are not keys.
func (s *Simplex) put(c int, col *Column) {
	old := s.nonkey[c]
	copy(old.a, col.a)
	old.a, col.a = col.a, old.a
	s.spare = append(s.spare, old)
	s.nonkey[c] = col
}

// remove takes out column c of those that are not keys; the last one takes its place.
func (s *Simplex) remove(c int) {
	last := len(s.nonkey) - 1
	col := s.nonkey[last]
	s.nonkey[c] = col
	copy(s.part(c), col.a)
	col.a = s.part(c)
	s.nonkey = s.nonkey[:last]
}

// part is the part of s.matrix that belongs to column c of those that are not keys.
func (s *Simplex) part(c int) []float64 {
	rows := len(s.rows)
	return s.matrix[c*rows:][:rows:rows]
}
