package gub

import "math"

// Entry is a variable that may enter.
type Entry struct {
	Column  *Column // nil for a slack
	Row     int     // of the slack
	Reduced float64 // its reduced cost

	at    int     // position of the row
	sign  float64 // 1 if it rises, -1 if it falls, which Start asks for,
	limit float64 // by at most so much
}

// checkedTail positions of J have their residual checked at every pivot.
const checkedTail = 8

// direction computes how basic variables change when e enters: basic values fall by w, slacks rise by dy.
// It returns the largest |w|, at least 1, and the largest residual among the positions checked.
func (s *Simplex) direction(e *Entry) (size, residual float64) {
	n := len(s.nonkey)
	total := n + len(s.keys)
	if cap(s.w) < total {
		s.w = make([]float64, total, 2*total+16)
	}
	s.w = s.w[:total]
	if e.Column == nil {
		s.inv.column(e.at, s.w[:n])
		for c := range n {
			s.w[c] = -s.w[c]
		}
	} else {
		rhs := s.scratch[0][:n]
		copy(rhs, e.Column.a)
		if bound := e.Column.Bound; bound != NoBound {
			axpy(-1, s.keys[bound].a[:n], rhs)
		}
		s.inv.solve(rhs, s.w[:n])
	}
	size = s.follow(e)
	for _, r := range s.dy[s.checkFrom():n] {
		residual = max(residual, math.Abs(r))
	}
	return size, residual
}

func (s *Simplex) checkFrom() int { return max(0, len(s.nonkey)-checkedTail) }

// follow computes the direction of the keys and the slacks from that of the nonkey columns: what a column gains, the
// key of its bound loses. dy begins with the last positions of J, where it is zero but for rounding. It returns the
// largest entry of the direction of the columns, at least 1.
func (s *Simplex) follow(e *Entry) float64 {
	n, from := len(s.nonkey), s.checkFrom()
	clear(s.w[n:])
	for c, col := range s.nonkey {
		if col.Bound != NoBound {
			s.w[n+col.Bound] -= s.w[c]
		}
	}
	clear(s.dy[from:])
	if e.Column == nil {
		if e.at >= from {
			s.dy[e.at] = -1
		}
	} else {
		copy(s.dy[from:], e.Column.a[from:])
		if e.Column.Bound != NoBound {
			s.w[n+e.Column.Bound]++
		}
	}
	size := 1.0
	for _, w := range s.w {
		size = max(size, math.Abs(w))
	}
	if n > 0 {
		addTimes(-1, s.w[:n], s.matrix[from:], len(s.rows), s.dy[from:])
	}
	for bound, w := range s.w[n:] {
		if w != 0 {
			axpy(-w, s.keys[bound].a[from:], s.dy[from:])
		}
	}
	return size
}
