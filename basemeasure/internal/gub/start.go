package gub

import (
	"cmp"
	"slices"
)

// Start builds a feasible basis from the columns that are offered, with the values that the caller has given them: at
// least one column in each bound. In each bound the column with the largest value becomes the key, and takes what the
// others leave of the right-hand side. Where these values violate no row, the objective of the basis is at least theirs:
// the other columns with a value are taken into the basis one by one, each moved in the direction that gains until
// something blocks. Where they violate a row, raise is taken in as well, a column in no bound with positive
// coefficients. At the end nothing is offered. Start reports false if rounding got in the way.
func (s *Simplex) Start(raise *Column) bool {
	s.withdraw(raise)
	s.chooseKeys()
	s.computeKeys()
	s.computeSlacks(0, len(s.rows))
	return s.lift(raise) && s.push()
}

// chooseKeys takes the column with the largest value of each bound as its key.
func (s *Simplex) chooseKeys() {
	for _, c := range s.offered {
		if c.Bound != NoBound {
			if key := s.keys[c.Bound]; key == nil || c.Value > key.Value {
				s.keys[c.Bound] = c
			}
		}
	}
	s.offered = slices.DeleteFunc(s.offered, func(c *Column) bool { return c.Bound != NoBound && s.keys[c.Bound] == c })
}

// lift takes raise into the basis if a slack is negative, with the value at which none is.
func (s *Simplex) lift(raise *Column) bool {
	at := 0
	for p, y := range s.y {
		if p == 0 || -y/raise.a[p] > raise.Value {
			at, raise.Value = p, -y/raise.a[p]
		}
	}
	if !(raise.Value > 0) {
		return true
	}
	pivot := raise.a[at]
	s.join(raise)
	s.swap(0, at)
	s.inv.extend(nil, []float64{1 / pivot})
	s.m = append(s.m, 0)
	return s.recompute()
}

// push takes the columns with a value into the basis, heaviest first.
func (s *Simplex) push() bool {
	slices.SortStableFunc(s.offered, func(a, b *Column) int { return cmp.Compare(a.Value, b.Value) })
	for len(s.offered) > 0 {
		c := s.offered[len(s.offered)-1]
		if c.Value <= 0 {
			break
		}
		for attempt := 0; ; attempt++ {
			e := Entry{Column: c, Reduced: c.Objective + dot(s.m, c.a[:len(s.m)]) - s.BoundPrice(c.Bound), sign: 1}
			if e.Reduced < 0 {
				e.sign, e.limit = -1, c.Value
			}
			out := s.Enter(e)
			if out == Pivoted || out == exhausted {
				break
			}
			if out != Retry || attempt > 1 {
				return false
			}
		}
	}
	s.Withdraw()
	return true
}
