package basemeasure

// exchange replaces the leaving variable by the entering one.
func (s *simplex) exchange(e *entry, l leaving) {
	if l.kind == leaveKey {
		bound := l.at
		if l.at = s.largest(bound); l.at < 0 { // the bound has no other column: the entering one takes its place
			s.drop(s.keys[bound])
			s.keys[bound] = e.col
			return
		}
		s.swapKey(l.at)
	}
	switch {
	case l.kind == leaveSlack && e.col == nil:
		s.exchangeRows(e, l.at)
	case l.kind == leaveSlack:
		s.border(e, l.at)
	case e.col == nil:
		s.shrink(e, l.at)
	default:
		s.replace(e, l.at)
	}
}

// largest returns the nonkey column of a bound with the largest value; -1 if there is none.
func (s *simplex) largest(bound int) int {
	best := -1
	for c, col := range s.nonkey {
		if col.bound == bound && (best < 0 || col.value > s.nonkey[best].value) {
			best = c
		}
	}
	return best
}

// swapKey makes nonkey column c the key of its bound: every column of S in that bound loses S_c, and S_c changes its
// sign.
func (s *simplex) swapKey(c int) {
	col := s.nonkey[c]
	bound := col.bound
	var others []int
	for d, other := range s.nonkey {
		if d != c && other.bound == bound {
			others = append(others, d)
		}
	}
	s.inv.negate(c, others)
	s.w[c], s.w[s.n+bound] = s.w[s.n+bound], s.w[c]
	key := s.keys[bound]
	for j, x := range key.g {
		key.g[j], col.g[j] = col.g[j], x
	}
	key.g, col.g = col.g, key.g
	s.nonkey[c], s.keys[bound] = key, col
}

// replace puts the entering column in place c of the nonkey columns.
func (s *simplex) replace(e *entry, c int) {
	n := s.n
	pivot := s.rhs[:n]
	s.inv.row(c, pivot)
	scale := 1 / s.w[c]
	for r := range pivot {
		pivot[r] *= scale
	}
	by := s.spreads[:n]
	for d, w := range s.w[:n] {
		by[d] = -w
	}
	by[c] = 0
	s.inv.change(by, pivot)
	s.inv.setRow(c, pivot)
	axpy(-e.gain, pivot, s.m)
	s.put(c, e.col)
}

// border makes the entering column nonkey and takes the output at position p into J.
func (s *simplex) border(e *entry, p int) {
	n := s.n
	pivot := s.dy[p]
	rho := s.across(p)
	s.swap(p, n)
	scale := 1 / pivot
	by := s.spreads[:n]
	for d, w := range s.w[:n] {
		by[d] = w * scale
	}
	s.inv.change(by, rho)
	for d := range by {
		by[d] = -by[d]
	}
	row := s.rhs[:n+1]
	for r, x := range rho {
		row[r] = -x * scale
	}
	row[n] = scale
	s.inv.extend(by, row)
	s.m = append(s.m, 0)
	s.n++
	axpy(-e.gain, row, s.m)
	s.join(e.col)
}

// across returns the row of S at position p beyond J times the inverse.
func (s *simplex) across(p int) []float64 {
	row, rho := s.tmp[:s.n], s.rhs[:s.n]
	for c, col := range s.nonkey {
		row[c] = s.reduced(col, p)
	}
	s.inv.left(row, rho)
	return rho
}

// shrink takes the output at position r out of J, and nonkey column c with it.
func (s *simplex) shrink(e *entry, c int) {
	n, r := s.n, e.at
	pivot, by := s.rhs[:n], s.spreads[:n]
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
	s.part(c)
	s.n = last
	s.swap(r, last)
	s.y[last] = e.slack
}

// exchangeRows takes the output at position e.at out of J and the one at position p into it.
func (s *simplex) exchangeRows(e *entry, p int) {
	n, r := s.n, e.at
	rho := s.across(p)
	pivot := rho[r]
	rho[r] = 0
	column, by := s.tmp[:n], s.spreads[:n]
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
	s.y[p] = e.slack
}

// join appends a column to those that are not keys. Their numbers are the rows of a matrix, s.cols.
func (s *simplex) join(col *column) {
	n := len(s.nonkey)
	if (n+1)*s.kv > len(s.cols) {
		old := s.cols
		s.cols = make([]float64, min(2*n+16, s.kv)*s.kv)
		copy(s.cols, old)
		for c, other := range s.nonkey {
			other.g = s.row(c)
		}
	}
	row := s.row(n)
	copy(row, col.g)
	s.drop(&column{g: col.g})
	col.g = row
	s.nonkey = append(s.nonkey, col)
}

// put puts a column in place c of those that are not keys.
func (s *simplex) put(c int, col *column) {
	old := s.nonkey[c]
	copy(old.g, col.g)
	old.g, col.g = col.g, old.g
	s.drop(old)
	s.nonkey[c] = col
}

// part takes out column c of those that are not keys; the last one takes its place.
func (s *simplex) part(c int) {
	last := len(s.nonkey) - 1
	col := s.nonkey[last]
	s.nonkey[c] = col
	copy(s.row(c), col.g)
	col.g = s.row(c)
	s.nonkey = s.nonkey[:last]
}

// row is a row of s.cols.
func (s *simplex) row(c int) []float64 { return s.cols[c*s.kv:][:s.kv:s.kv] }
