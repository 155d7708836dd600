package basemeasure

import (
	"cmp"
	"slices"
)

// mixedStrategy is a mixed strategy of the adversary: a weight of each input in the maximum, which sum to one or are
// all zero, and a threshold for each input, in units of the game.
type mixedStrategy struct{ weights, thresholds []float64 }

// start builds a feasible basis from a strategy. Where the strategy is feasible itself (the sum over inputs of lam g_j
// is not negative for any output j) its objective is at least that of the strategy: columns with a value are taken
// into the basis one by one, each moved in the direction that gains until something blocks. If not, maxMass is taken in
// as well. It reports false if rounding got in the way.
func (s *simplex) start(p mixedStrategy) bool {
	s.load(p)
	s.settleKeys() // which gives the keys their values
	s.settleSlacks(0, s.kv)
	return s.cover() && s.push()
}

// load makes the cut of every input with a bound of its own the key of that. In the shared bound the heaviest cut is
// the key, and the others are held.
func (s *simplex) load(p mixedStrategy) {
	for i, own := range s.own {
		if own != noBound {
			s.keys[own] = s.newColumn(i, own, p.thresholds[i])
		}
	}
	if s.shared == noBound {
		return
	}
	top := -1
	for i, w := range p.weights {
		if s.aim.inMax[i] && (top < 0 || w > p.weights[top]) {
			top = i
		}
	}
	for i, w := range p.weights {
		switch {
		case i == top:
			s.keys[s.shared] = s.newColumn(i, s.shared, p.thresholds[i])
		case s.aim.inMax[i] && w > 0:
			c := s.newColumn(i, s.shared, p.thresholds[i])
			c.value = s.aim.share * w
			s.held = append(s.held, c)
		}
	}
}

// cover takes the bound on the mass into the basis if a slack is negative: it raises all of them.
func (s *simplex) cover() bool {
	lowest := 0
	for j, y := range s.y {
		if y < s.y[lowest] {
			lowest = j
		}
	}
	if !(s.y[lowest] < 0) {
		return true
	}
	c := s.newColumn(maxMass, noBound, 0)
	c.value = -s.y[lowest]
	s.join(c)
	s.swap(0, lowest)
	s.n = 1
	s.inv.extend(nil, []float64{1})
	s.m = append(s.m, 0)
	return s.recompute()
}

// push takes the columns that are held into the basis, heaviest first.
func (s *simplex) push() bool {
	slices.SortStableFunc(s.held, func(a, b *column) int { return cmp.Compare(a.value, b.value) })
	for len(s.held) > 0 {
		last := len(s.held) - 1
		c := s.held[last]
		s.held = s.held[:last]
		for attempt := 0; ; attempt++ {
			e := entry{col: c, gain: c.t + dot(s.m, c.g[:s.n]) - s.price(c.bound), dir: 1}
			if e.gain < 0 {
				e.dir, e.limit = -1, c.value
			}
			out := s.enter(&e)
			if out == exhausted {
				s.drop(c)
			}
			if out == pivoted || out == exhausted {
				break
			}
			if out != retry || attempt > 1 {
				return false
			}
		}
	}
	return true
}
