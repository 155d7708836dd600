package basemeasure

// exchange replaces the leaving variable by the entering one.
func (s *simplex) exchange(e *entry, l leaving) {
	// First represent the basis so that the leaving variable is a nonkey column, or a slack.
	switch l.kind {
	case leaveShared, leaveKey:
		key := s.shared
		if l.kind == leaveKey {
			key = s.keys[l.at]
		}
		c := s.another(key, -1)
		if c < 0 { // the row has no other column: the entering one takes its place
			s.takeKey(e, l)
			return
		}
		s.swapKey(c)
		l.kind, l.at = leaveNonkey, c
	case leaveMu:
		if s.shared.input == l.at {
			c := s.another(s.shared, l.at)
			if c < 0 { // the shared bound has no cuts of other inputs: the entering one becomes its key
				s.keys[l.at] = s.shared
				s.takeShared(e)
				return
			}
			s.swapKey(c)
		}
		c := s.largest(l.at)
		if c < 0 { // the entering column is the only cut of that input
			e.col.value = e.value
			s.keys[l.at] = e.col
			return
		}
		s.split(l.at, c, e)
		l.kind, l.at = leaveNonkey, c
	}
	switch {
	case l.kind == leaveSlack && e.kind == enterSlack:
		s.exchangeRows(e, l.at)
	case l.kind == leaveSlack:
		s.border(e, l.at)
	case e.kind == enterSlack:
		s.shrink(e, l.at)
	default:
		s.replace(e, l.at)
	}
}

// another returns the nonkey column with the largest value in the row of key, but none of input not; -1 if there is
// none.
func (s *simplex) another(key *column, not int) int {
	best := -1
	for c, col := range s.nonkey {
		if col.input >= 0 && col.input != not && s.key(col.input) == key && (best < 0 || col.value > s.nonkey[best].value) {
			best = c
		}
	}
	return best
}

// largest returns the nonkey column of input i with the largest value.
func (s *simplex) largest(i int) int {
	best := -1
	for c, col := range s.nonkey {
		if col.input == i && (best < 0 || col.value > s.nonkey[best].value) {
			best = c
		}
	}
	return best
}

// swapKey makes nonkey column c the key of its row: every column of S in that row loses S_c, and S_c changes its sign.
func (s *simplex) swapKey(c int) {
	col := s.nonkey[c]
	key := s.key(col.input)
	row := s.inv[c][:s.n]
	for j := range row {
		row[j] = -row[j]
	}
	for d, other := range s.nonkey {
		if d != c && other.input >= 0 && s.key(other.input) == key {
			axpy(-1, s.inv[d], row)
		}
	}
	if key == s.shared {
		s.w[c], s.wShared = s.wShared, s.w[c]
		s.shared = col
	} else {
		s.w[c], s.wKeys[col.input] = s.wKeys[col.input], s.w[c]
		s.keys[col.input] = col
	}
	col.position, key.position = -1, c
	s.nonkey[c] = key
}

// split gives input i a bound of its own, with nonkey column c, which is about to leave, as its key.
func (s *simplex) split(i, c int, e *entry) {
	row := s.inv[c][:s.n]
	for d, other := range s.nonkey {
		if d != c && other.input == i {
			axpy(1, s.inv[d], row)
			s.w[c] += s.w[d]
		}
	}
	if e.kind == enterColumn && e.col.input == i {
		s.w[c]--
	}
	s.keys[i] = s.nonkey[c]
	s.keys[i].position = -1
}

// takeKey lets the entering variable take the place of a key whose row has no other column.
func (s *simplex) takeKey(e *entry, l leaving) {
	if l.kind == leaveShared {
		s.drop(s.shared)
		s.takeShared(e)
		return
	}
	s.drop(s.keys[l.at])
	e.col.value = e.value
	s.keys[l.at] = e.col
}

// takeShared makes the entering variable the key of the shared bound, which has no columns.
func (s *simplex) takeShared(e *entry) {
	if e.kind == enterMu { // the input brings its own key
		s.shared = s.keys[e.at]
		s.keys[e.at] = nil
		s.mu[e.at] = e.value
		return
	}
	e.col.value = e.value
	s.shared = e.col
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
	for d, w := range s.w {
		by[d] = -w
	}
	by[c] = 0
	spreadAll(by, pivot, s.inv)
	axpy(-e.gain, pivot, s.m)
	if old := s.nonkey[c]; old.position == c { // after split the column is a key, and stays
		s.drop(old)
	}
	s.place(e, c)
}

// place writes the entering column into nonkey[c], whose row of the inverse is up to date.
func (s *simplex) place(e *entry, c int) {
	if e.kind == enterColumn {
		e.col.value, e.col.position = e.value, c
		s.nonkey[c] = e.col
		return
	}
	// An input joins the shared bound: its columns were relative to its own key and become relative to the shared one.
	i := e.at
	col := s.keys[i]
	s.keys[i] = nil
	s.mu[i] = e.value
	col.position = c
	s.nonkey[c] = col
	row := s.inv[c][:s.n]
	for d, other := range s.nonkey {
		if d != c && other.input == i {
			axpy(-1, s.inv[d], row)
		}
	}
}

// border makes the entering column nonkey and takes the output at position p into J.
func (s *simplex) border(e *entry, p int) {
	n := s.n
	pivot := s.dy[p]
	rho := s.across(p)
	s.swap(p, n)
	scale := 1 / pivot
	by := s.spreads[:n]
	for d, w := range s.w {
		by[d] = w * scale
		s.inv[d] = append(s.grow(s.inv[d][:n]), -by[d])
	}
	spreadAll(by, rho, s.inv)
	row := s.newRow(n + 1)
	for r, x := range rho {
		row[r] = -x * scale
	}
	row[n] = scale
	s.inv = append(s.inv, row)
	s.m = append(s.m, 0)
	s.n++
	axpy(-e.gain, row, s.m)
	for _, cand := range s.cands {
		cand.g = append(s.grow(cand.g), s.slope(cand, n))
	}
	s.nonkey = append(s.nonkey, nil)
	s.place(e, n)
}

// across returns the row of S at position p beyond J times the inverse.
func (s *simplex) across(p int) []float64 {
	rho := s.rhs[:s.n]
	clear(rho)
	s.terms = s.terms[:0]
	for c, col := range s.nonkey {
		x := col.g[p]
		if key := s.key(col.input); key != nil {
			x -= key.g[p]
		}
		if x != 0 {
			s.terms = append(s.terms, term{x, s.inv[c]})
		}
	}
	s.combine(rho, 0)
	return rho
}

func (s *simplex) newRow(n int) []float64 {
	if len(s.rows) > 0 {
		row := s.rows[len(s.rows)-1]
		s.rows = s.rows[:len(s.rows)-1]
		if cap(row) >= n {
			return row[:n]
		}
	}
	return make([]float64, n, s.room(n))
}

// room is the capacity to give to something with an entry for each output of J, of which there are n, so that it need
// not be moved for each output that joins.
func (s *simplex) room(n int) int { return min(2*n+64, s.kv+1) }

// grow returns row with room for one more entry.
func (s *simplex) grow(row []float64) []float64 {
	if len(row) < cap(row) {
		return row
	}
	longer := make([]float64, len(row), s.room(len(row)))
	copy(longer, row)
	return longer
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
	for _, cand := range s.cands {
		cand.g[r] = cand.g[last]
		cand.g = cand.g[:last]
	}
	if old := s.nonkey[c]; old.position == c { // after split the column is a key, and stays
		s.drop(old)
	}
	s.rows = append(s.rows, s.inv[c])
	if c != last {
		s.inv[c], s.nonkey[c] = s.inv[last], s.nonkey[last]
		s.nonkey[c].position = c
	}
	s.inv, s.nonkey = s.inv[:last], s.nonkey[:last]
	s.n = last
	s.swap(r, last)
	s.y[last] = e.value
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
	s.y[p] = e.value
	for _, cand := range s.cands {
		cand.g[r] = s.slope(cand, r)
	}
}
