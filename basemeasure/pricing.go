package basemeasure

import "math"

// candidate is a cut that may enter, with its slopes on J, which every pivot keeps up to date.
type candidate struct {
	input int
	eta   float64
	g     []float64
	gone  bool
}

// consider adds a cut to those that may enter.
func (s *simplex) consider(input int, eta float64) {
	n := len(s.cands)
	if s.cands = s.cands[: n+1 : cap(s.cands)]; s.cands[n] == nil {
		s.cands[n] = new(candidate)
	}
	c := s.cands[n] // of an earlier round, with its memory
	if cap(c.g) < s.n {
		c.g = make([]float64, s.room(s.n))
	}
	*c = candidate{input: input, eta: eta, g: c.g[:s.n]}
	s.slopes(input, eta, c.g)
}

// slope is the candidate's g at a position.
func (s *simplex) slope(c *candidate, p int) float64 {
	x := s.scale(s.table.Row(c.input, nil)[s.perm[p]]) - c.eta
	if x < 0 {
		return x * s.beta
	}
	return x * s.alpha
}

// pricing is what may enter in a round: a candidate list (multiple pricing), priced by the rule of Dantzig.
type pricing struct {
	s                *simplex
	rows             [][]float64  // scratch of best
	values           []float64    // scratch of best
	mu               []violation  // inputs that may join the shared bound
	slacks           []slackState // by output
	maxMass, minMass bool         // may enter
	cuts             []violation  // scratch of list
}

// slackState says whether the slack of an output may enter.
type slackState int8

const (
	slackIdle slackState = iota // only if more is asked for
	slackMay
	slackRefused
)

// choice is an entry and where it was found.
type choice struct {
	entry
	input int // of a new column
	eta   float64
	cand  *candidate
	mu    int
}

// offer lists the cuts and the mu that the measure just evaluated, and the slacks that the prices recommend.
func (a *attempt) offer() *pricing {
	v, s := a.v, a.s
	t := &a.list
	if t.s == nil {
		*t = pricing{s: s, slacks: make([]slackState, s.kv), values: make([]float64, candidates), cuts: make([]violation, 0, s.k)}
	}
	clear(t.slacks)
	t.mu, t.maxMass, t.minMass = t.mu[:0], true, true
	negative := false
	for r, x := range s.m {
		if x < -gainTol {
			t.slacks[s.perm[r]] = slackMay
			negative = true
		}
	}
	cuts := t.cuts[:0]
	shared := s.sharedPrice()
	for i, phi := range v.phi {
		if !s.takesPart(i) {
			continue
		}
		price := shared
		if s.keys[i] != nil {
			price = s.model(i)
			if s.share > 0 && s.counts(i) && price > shared+gainTol {
				t.mu = append(t.mu, violation{i, price - shared})
			}
		}
		// With a negative price the measure evaluated is not that of the basis, and any cut may be of use.
		if d := s.scale(phi) - price; d > gainTol || negative {
			cuts = append(cuts, violation{i, d})
		}
	}
	s.cands = s.cands[:0]
	most := min(candidates, max(fewCandidates, s.k/2))
	cuts = worstFirst(cuts)
	for _, c := range cuts[:min(len(cuts), most)] {
		s.consider(c.input, s.scale(v.tau[c.input]))
	}
	t.mu = worstFirst(t.mu)
	t.mu = t.mu[:min(len(t.mu), most)]
	return t
}

// sharedPrice is the price of the inputs in the shared bound.
func (s *simplex) sharedPrice() float64 {
	if s.shared == nil {
		return math.Inf(1)
	}
	return s.shared.t + dot(s.m, s.shared.g[:s.n])
}

// best returns the entry with the largest reduced cost at the current prices. Slacks that were not negative when
// the round began count only if more is set: letting them in finds a better measure for the next evaluation, at
// the price of more pivots.
func (t *pricing) best(more bool) (choice, bool) {
	c := choice{entry: entry{gain: gainTol, dir: 1}}
	found := t.bestCut(&c)
	found = t.bestMu(&c) || found
	found = t.bestSlack(&c, more) || found
	return c, found
}

// bestCut looks for a cut that gains more than c, and puts it there.
func (t *pricing) bestCut(c *choice) (found bool) {
	s := t.s
	shared := s.sharedPrice()
	t.rows = t.rows[:0]
	for _, cand := range s.cands {
		t.rows = append(t.rows, cand.g)
	}
	dots(t.rows, s.m, t.values)
	for n, cand := range s.cands {
		if cand.gone {
			continue
		}
		price := shared
		if s.keys[cand.input] != nil {
			price = s.model(cand.input)
		}
		if d := cand.eta + t.values[n] - price; d > c.gain {
			found = true
			c.kind, c.gain, c.input, c.eta, c.cand = enterColumn, d, cand.input, cand.eta, cand
		}
	}
	return found
}

// bestMu is bestCut for the inputs that may join the shared bound.
func (t *pricing) bestMu(c *choice) (found bool) {
	s := t.s
	shared := s.sharedPrice()
	for n, m := range t.mu {
		if m.input < 0 || s.keys[m.input] == nil {
			continue
		}
		if d := s.model(m.input) - shared; d > c.gain {
			found = true
			c.kind, c.gain, c.at, c.mu, c.cand = enterMu, d, m.input, n, nil
		}
	}
	return found
}

// bestSlack is bestCut for the slacks and for the columns that bound the mass.
func (t *pricing) bestSlack(c *choice, more bool) (found bool) {
	s := t.s
	mass := 0.0
	for r, x := range s.m {
		mass += x
		if -x > c.gain {
			if state := t.slacks[s.perm[r]]; state == slackMay || (more && state == slackIdle) {
				found = true
				c.kind, c.gain, c.at, c.cand = enterSlack, -x, r, nil
			}
		}
	}
	bound := func(input int, d float64, may bool) {
		if d > c.gain && may {
			found = true
			c.kind, c.gain, c.input, c.cand = enterColumn, d, input, nil
		}
	}
	bound(maxMass, mass-1/s.alpha, t.maxMass)
	bound(minMass, 1/s.beta-mass, t.minMass)
	return found
}

// done takes a cut off the list.
func (t *pricing) done(c choice) {
	if c.cand != nil {
		c.cand.gone = true
	}
}

// reject takes an entry off the list that found no pivot.
func (t *pricing) reject(c choice) {
	switch {
	case c.kind == enterMu:
		t.mu[c.mu].input = -1
	case c.kind == enterSlack:
		t.slacks[t.s.perm[c.at]] = slackRefused
	case c.cand == nil && c.input == maxMass:
		t.maxMass = false
	case c.cand == nil:
		t.minMass = false
	}
}
