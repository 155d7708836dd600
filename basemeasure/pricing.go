package basemeasure

import (
	"cmp"
	"slices"
)

// pricing is what may enter in a round: a candidate list (multiple pricing), priced by the rule of Dantzig.
type pricing struct {
	s      *simplex
	slacks []slackState // by output
	list   []violation  // scratch
}

// slackState says whether the slack of an output may enter.
type slackState int8

const (
	slackIdle slackState = iota // only if more is asked for
	slackMay
	slackRefused
)

// violation is a cut that the model has wrong, and by how much.
type violation struct {
	input, bound int
	by           float64
}

// offer lists the cuts that the measure just evaluated calls for, and the slacks that the prices recommend.
func (a *attempt) offer() *pricing {
	v, s := a.v, a.s
	t := &a.list
	if t.s == nil {
		*t = pricing{s: s, slacks: make([]slackState, s.kv)}
	}
	clear(t.slacks)
	negative := false
	for r, x := range s.m {
		if x < -gainTol {
			t.slacks[s.perm[r]] = slackMay
			negative = true
		}
	}
	t.list = t.list[:0]
	consider := func(i, bound int, price float64) {
		// With a negative price the measure evaluated is not that of the basis, and any cut may be of use.
		if by := s.scale(v.phi[i]) - price; by > gainTol || negative {
			t.list = append(t.list, violation{i, bound, by})
		}
	}
	shared := 0.0
	if s.shared != noBound {
		shared = s.price(s.shared)
	}
	for i, own := range s.own {
		counts := s.shared != noBound && s.aim.inMax[i]
		if own != noBound {
			price := s.price(own)
			consider(i, own, price)
			if counts && price-shared > gainTol { // the key of the one bound is a cut of the other
				s.cands = append(s.cands, s.newColumn(i, s.shared, s.keys[own].eta))
			}
		}
		if counts {
			consider(i, s.shared, shared)
		}
	}
	slices.SortFunc(t.list, func(a, b violation) int {
		return cmp.Or(cmp.Compare(b.by, a.by), a.bound-b.bound, a.input-b.input)
	})
	most := min(candidates, max(fewCandidates, s.k/2))
	for _, c := range t.list[:min(len(t.list), most)] {
		s.cands = append(s.cands, s.newColumn(c.input, c.bound, s.scale(v.tau[c.input])))
	}
	s.cands = append(s.cands, s.newColumn(maxMass, noBound, 0), s.newColumn(minMass, noBound, 0))
	return t
}

// withdraw ends a round.
func (s *simplex) withdraw() {
	s.spare = append(s.spare, s.cands...)
	s.cands = s.cands[:0]
}

// best returns the entry with the largest reduced cost at the current prices, and takes its column off the list. Slacks
// that were not negative when the round began count only if more is set: letting them in finds a better measure for the
// next evaluation, at the price of more pivots.
func (t *pricing) best(more bool) (e entry, found bool) {
	s := t.s
	e = entry{gain: gainTol, dir: 1}
	shared := 0.0
	if s.shared != noBound {
		shared = s.price(s.shared)
	}
	at := -1
	for n, c := range s.cands {
		price := shared
		if c.bound != s.shared || c.bound == noBound {
			price = s.price(c.bound)
		}
		if gain := c.t + dot(s.m, c.g) - price; gain > e.gain {
			at, e.gain, e.col = n, gain, c
		}
	}
	for r, x := range s.m {
		if -x > e.gain {
			if state := t.slacks[s.perm[r]]; state == slackMay || (more && state == slackIdle) {
				at, e.gain, e.col, e.at = -1, -x, nil, r
			}
		}
	}
	if at >= 0 {
		s.cands = slices.Delete(s.cands, at, at+1)
	}
	return e, e.gain > gainTol
}

// refuse keeps a slack that found no pivot off the list.
func (t *pricing) refuse(e *entry) {
	if e.col == nil {
		t.slacks[t.s.perm[e.at]] = slackRefused
	}
}
