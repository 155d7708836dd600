package gub

import "math"

// leaving names the variable that leaves.
type leaving struct {
	kind  leavingKind
	at    int // index in nonkey or keys, or position
	pivot float64
	step  float64
}

type leavingKind int

const (
	leaveNone leavingKind = iota
	leaveNonkey
	leaveKey
	leaveSlack // a row joins J
	leaveSelf  // the entering variable itself
)

// ratioTest is the one of Harris (1973) in two passes: the longest step within a tolerance, then the largest pivot among
// those that block before its end.
type ratioTest struct {
	tol  float64 // entries below it do not block
	most float64 // the longest step
	best leaving
}

// relax shortens the step so that none of the values, which fall by sign*moves, ends below -slack.
func (h *ratioTest) relax(values, moves []float64, sign, slack float64) {
	moves = moves[:len(values)]
	for i, value := range values {
		if value < 0 {
			value = 0
		}
		// Compared as products: a quotient is only formed where the minimum changes, which is rare.
		if w := sign * moves[i]; value+slack < h.most*w && w > h.tol {
			h.most = (value + slack) / w
		}
	}
}

// block takes the variable that blocks with the largest pivot, if that is the largest so far; the first is number from.
func (h *ratioTest) block(kind leavingKind, from int, values, moves []float64, sign float64) {
	moves = moves[:len(values)]
	for i, value := range values {
		if w := sign * moves[i]; w > h.best.pivot && value <= h.most*w && w > h.tol {
			if r := max(value, 0) / w; r <= h.most {
				h.best = leaving{kind, from + i, w, r}
			}
		}
	}
}

// pivotTol is the entry of the direction, relative to the largest (at least 1), below which a variable does not block.
const pivotTol = 1e-9

// leaves finds the leaving variable.
func (s *Simplex) leaves(e *Entry, size float64) leaving {
	n := len(s.nonkey)
	h := ratioTest{tol: pivotTol * size, most: math.Inf(1)}
	values := s.scratch[0][:len(s.w)]
	for c := range values {
		values[c] = s.basic(c).Value
	}
	slacks, moves := s.y[n:], s.dy[n:]
	h.relax(values, s.w, e.sign, s.valueTol)
	h.relax(slacks, moves, -e.sign, s.slackTol)
	h.block(leaveNonkey, 0, values[:n], s.w, e.sign)
	h.block(leaveKey, 0, values[n:], s.w[n:], e.sign)
	h.block(leaveSlack, n, slacks, moves, -e.sign)
	if e.limit > 0 && (h.best.kind == leaveNone || e.limit <= h.best.step) {
		return leaving{leaveSelf, 0, 1, e.limit}
	}
	return h.best
}
