package basemeasure

import (
	"cmp"
	"slices"
)

// mixedStrategy is a mixed strategy of the adversary: a weight of each input in the maximum, which sum to one or are all
// zero, and a threshold for each input, in units of the game.
type mixedStrategy struct{ weights, thresholds []float64 }

// takesPart reports whether input i is in the game at all.
func (g *game) takesPart(i int) bool {
	return g.floorOf(i) > 0 || (g.share > 0 && g.counts(i))
}

// start builds a feasible basis from a strategy. Where the strategy is feasible itself (the sum over inputs of lam g_j is
// not negative for any output j) its objective is at least that of the strategy: columns with a value are taken
// into the basis one by one, each moved in the direction that gains until something blocks. If not, maxMass is taken in
// as well. It reports false if rounding got in the way.
func (s *simplex) start(p mixedStrategy) bool {
	s.clear()
	s.load(p)
	s.settleKeys() // which gives the keys their values
	s.settleSlacks(0, s.kv)
	return s.cover() && s.push()
}

// load makes a column of the cut of every input that takes part: the heaviest is the key of the shared bound, those with
// a floor and no weight in the maximum are keys of their own, and the others are held.
func (s *simplex) load(p mixedStrategy) {
	weight := func(i int) float64 {
		if s.share > 0 && s.counts(i) {
			return s.share * p.weights[i]
		}
		return 0
	}
	top := -1
	for i := range s.k {
		if s.share > 0 && s.counts(i) && (top < 0 || p.weights[i] > p.weights[top]) {
			top = i
		}
	}
	for i := range s.k {
		if !s.takesPart(i) {
			continue
		}
		floor, weight := s.floorOf(i), weight(i)
		switch {
		case i == top:
			s.shared = s.newColumn(i, p.thresholds[i])
		case floor > 0 && weight == 0:
			s.keys[i] = s.newColumn(i, p.thresholds[i])
		case weight > 0:
			c := s.newColumn(i, p.thresholds[i])
			c.value = weight + floor
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
	c := s.newColumn(maxMass, 0)
	c.value, c.position = -s.y[lowest], 0
	s.nonkey = append(s.nonkey, c)
	s.swap(0, lowest)
	s.n = 1
	s.inv = append(s.inv, []float64{1})
	s.m = append(s.m, 0)
	return s.recompute()
}

// clear forgets the basis.
func (s *simplex) clear() {
	s.eachKey(s.drop)
	for _, c := range s.nonkey {
		s.drop(c)
	}
	for _, c := range s.held {
		s.drop(c)
	}
	s.shared, s.nonkey, s.held, s.cands = nil, nil, nil, s.cands[:0]
	clear(s.keys)
	s.inv, s.m, s.n = nil, s.m[:0], 0
	s.fresh = s.pivots
}

// push takes the columns that are held into the basis, heaviest first.
func (s *simplex) push() bool {
	slices.SortStableFunc(s.held, func(a, b *column) int { return cmp.Compare(a.value, b.value) })
	for len(s.held) > 0 {
		last := len(s.held) - 1
		c := s.held[last]
		s.held = s.held[:last]
		for attempt := 0; ; attempt++ {
			e := entry{kind: enterColumn, col: c, value: c.value, dir: 1}
			e.gain = c.t + dot(s.m, c.g[:s.n]) - s.model(c.input)
			if e.gain < 0 {
				e.dir, e.limit = -1, c.value
			}
			out := s.enter(&e)
			if out == pivoted || out == exhausted {
				if out == exhausted {
					s.drop(c)
				}
				break
			}
			if out != retry || attempt > 1 {
				return false
			}
		}
	}
	return true
}
