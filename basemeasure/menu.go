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

// menu is what may enter in a round.
type menu struct {
	s            *simplex
	rows         [][]float64  // scratch of best
	values       []float64    // scratch of best
	mu           []violation  // inputs that may join the pool
	slacks       []slackState // by output
	heavy, light bool         // may enter
	cuts         []violation  // scratch of list
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

// menu lists the cuts and the mu that the measure just evaluated, and the slacks that the prices recommend.
func (a *attempt) menu() *menu {
	v, s := a.v, a.s
	t := &a.list
	if t.s == nil {
		*t = menu{s: s, slacks: make([]slackState, s.kv), values: make([]float64, candidates), cuts: make([]violation, 0, s.k)}
	}
	clear(t.slacks)
	t.mu, t.heavy, t.light = t.mu[:0], true, true
	negative := false
	for r, x := range s.m {
		if x < -gainTol {
			t.slacks[s.perm[r]] = slackMay
			negative = true
		}
	}
	cuts := t.cuts[:0]
	pool := s.poolModel()
	for i, phi := range v.phi {
		if !s.plays(i) {
			continue
		}
		price := pool
		if s.own[i] != nil {
			price = s.model(i)
			if s.share > 0 && s.counts(i) && price > pool+gainTol {
				t.mu = append(t.mu, violation{i, price - pool})
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

// poolModel is the price of the inputs in the pool.
func (s *simplex) poolModel() float64 {
	if s.pool == nil {
		return math.Inf(1)
	}
	return s.pool.t + dot(s.m, s.pool.g[:s.n])
}

// best returns the entry with the largest reduced cost at the current prices. Slacks that were not negative when
// the round began count only if more is set: letting them in finds a better measure for the next evaluation, at
// the price of more pivots.
func (t *menu) best(more bool) (choice, bool) {
	s := t.s
	gain := float64(gainTol)
	var kind entryKind
	var cand *candidate
	at, side := -1, 0 // what of that kind; heavy or light
	pool := s.poolModel()
	t.rows = t.rows[:0]
	for _, c := range s.cands {
		t.rows = append(t.rows, c.g)
	}
	dots(t.rows, s.m, t.values)
	for n, c := range s.cands {
		if c.gone {
			continue
		}
		price := pool
		if s.own[c.input] != nil {
			price = s.model(c.input)
		}
		if d := c.eta + t.values[n] - price; d > gain {
			gain, kind, cand = d, enterColumn, c
		}
	}
	for n, m := range t.mu {
		if m.input < 0 || s.own[m.input] == nil {
			continue
		}
		if d := s.model(m.input) - pool; d > gain {
			gain, kind, at = d, enterMu, n
		}
	}
	mass := 0.0
	for r, x := range s.m {
		mass += x
		if -x > gain {
			if state := t.slacks[s.perm[r]]; state == slackMay || (more && state == slackIdle) {
				gain, kind, at = -x, enterSlack, r
			}
		}
	}
	if d := mass - 1/s.alpha; d > gain && t.heavy {
		gain, kind, side = d, enterColumn, heavy
	}
	if d := 1/s.beta - mass; d > gain && t.light {
		gain, kind, side = d, enterColumn, light
	}
	c := choice{entry: entry{kind: kind, gain: gain, dir: 1}}
	switch {
	case kind == enterMu:
		c.at, c.mu = t.mu[at].input, at
	case kind == enterSlack:
		c.at = at
	case side != 0:
		c.input = side
	case cand != nil:
		c.input, c.eta, c.cand = cand.input, cand.eta, cand
	default:
		return c, false
	}
	return c, true
}

// done takes a cut off the menu.
func (t *menu) done(c choice) {
	if c.cand != nil {
		c.cand.gone = true
	}
}

// reject takes an entry off the menu that found no pivot.
func (t *menu) reject(c choice) {
	switch {
	case c.kind == enterMu:
		t.mu[c.mu].input = -1
	case c.kind == enterSlack:
		t.slacks[t.s.perm[c.at]] = slackRefused
	case c.cand == nil && c.input == heavy:
		t.heavy = false
	case c.cand == nil:
		t.light = false
	}
}
