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
	row := s.inv[c][:s.n]
	for j := range row {
		row[j] = -row[j]
	}
	for d, other := range s.nonkey {
		if d != c && other.bound == bound {
			axpy(-1, s.inv[d], row)
		}
	}
	s.w[c], s.w[s.n+bound] = s.w[s.n+bound], s.w[c]
	s.nonkey[c], s.keys[bound] = s.keys[bound], col
}

// replace puts the entering column in place c of the nonkey columns.
func (s *simplex) replace(e *entry, c int) {
	n := s.n
	pivot := s.inv[c][:n]
	scale := 1 / s.w[c]
	for r := range pivot {
		pivot[r] *= scale
	}
	by := s.spreads[:n]
	for d, w := range s.w[:n] {
		by[d] = -w
	}
	by[c] = 0
	spreadAll(by, pivot, s.inv)
	axpy(-e.gain, pivot, s.m)
	s.drop(s.nonkey[c])
	s.nonkey[c] = e.col
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
		s.inv[d] = append(s.inv[d], -by[d])
	}
	spreadAll(by, rho, s.inv)
	row := make([]float64, n+1, min(2*n+64, s.kv))
	for r, x := range rho {
		row[r] = -x * scale
	}
	row[n] = scale
	s.inv = append(s.inv, row)
	s.m = append(s.m, 0)
	s.n++
	axpy(-e.gain, row, s.m)
	s.nonkey = append(s.nonkey, e.col)
}

// across returns the row of S at position p beyond J times the inverse.
func (s *simplex) across(p int) []float64 {
	rho := s.rhs[:s.n]
	clear(rho)
	s.terms = s.terms[:0]
	for c, col := range s.nonkey {
		if x := s.reduced(col, p); x != 0 {
			s.terms = append(s.terms, term{x, s.inv[c]})
		}
	}
	s.combine(rho, 0)
	return rho
}

// shrink takes the output at position r out of J, and nonkey column c with it.
func (s *simplex) shrink(e *entry, c int) {
	n, r := s.n, e.at
	pivot := s.inv[c][:n]
	scale := 1 / pivot[r]
	by := s.spreads[:n]
	for d, row := range s.inv {
		by[d] = -row[r] * scale
	}
	by[c] = 0
	spreadAll(by, pivot, s.inv)
	axpy(-s.m[r]*scale, pivot, s.m)
	last := n - 1
	for d := range s.inv {
		s.inv[d][r] = s.inv[d][last]
		s.inv[d] = s.inv[d][:last]
	}
	s.m[r] = s.m[last]
	s.m = s.m[:last]
	s.drop(s.nonkey[c])
	if c != last {
		s.inv[c], s.nonkey[c] = s.inv[last], s.nonkey[last]
	}
	s.inv, s.nonkey = s.inv[:last], s.nonkey[:last]
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
	by := s.spreads[:n]
	for d, row := range s.inv {
		row[r] /= pivot
		by[d] = -row[r]
	}
	spreadAll(by, rho, s.inv) // rho[r] is zero
	x := s.m[r] / pivot
	s.m[r] = 0
	axpy(-x, rho, s.m)
	s.m[r] = x
	s.swap(r, p)
	s.y[p] = e.slack
}
