package simplex

import "math"

const (
	// gridBits is the fineness of the cost grid: costs below 2^e are rounded to multiples of 2^(e-gridBits). The optimum
	// of the rounded costs is within one grid for each unit of the true one; potentials may reach 2^(51-gridBits) times
	// 2^e without rounding error.
	gridBits = 48
	// coarser is by how many bits the grid grows when potentials outgrow that.
	coarser = 2
	// When the plan uses only arcs far cheaper than the dearest, the grid can be refined. That is done if it gains
	// refineBits. (There are at most 2100 bits to gain, so this ends.)
	refineBits = 6
)

// raise pivots at higher and higher prices of artificial arcs, of which price is the first, until they carry nothing or
// it has to stop. A price stays while an artificial arc carries as much as much and a pass makes many pivots: what a few
// heavy nodes have left takes long ways at higher prices, all of which must be undone.
func (s *Solver) raise(price float64, much uint64) {
	t := &s.tree
	for most := s.mostArtificial(); price < s.full && most > 0; {
		before := t.pivots
		s.setGrid(s.tried, price)
		if !s.pr.pass() {
			break
		}
		if most = s.mostArtificial(); most < much || t.pivots-before <= (t.k+t.n)/fewPasses {
			price *= dearer
		}
	}
	s.rescales = -1
}

// level gives all artificial arcs the same price.
func (s *Solver) level() {
	t := &s.tree
	for v := range t.root {
		if t.nodes[v].kind == Artificial {
			t.cost[v] = 0
		}
	}
}

// Run pivots until the tree is optimal for the costs rounded to the grid and artificial arcs carry nothing, and reports
// whether it could before it had to stop. The grid becomes coarser when potentials outgrow it, and artificial arcs
// dearer when they carry flow.
func (s *Solver) Run() bool {
	for t := &s.tree; s.pr.run(); {
		switch {
		case t.outOfRange:
			s.setGrid(s.exp+coarser, t.bigM)
		case !s.artificialFlow(), t.bigM >= t.round(s.full): // at the full price there is none
			return true
		default: // only after Refine
			big := min(max(t.bigM, t.grid)*(1<<8), s.full) // a price of zero would stay zero
			s.setGrid(max(s.gridFor(big), s.exp), big)
		}
	}
	return false
}

// Refine makes the grid of an optimal tree finer, if that gains anything, and reports whether it did. The tree is
// then to be run again.
func (s *Solver) Refine() bool {
	t := &s.tree
	// Four times the dearest arc in use is a guess at what rerouting costs; if it is too low,
	// artificial flow remains and the price goes up again.
	big := min(4*s.Dearest(), t.bigM)
	switch exp := s.gridFor(big); {
	case exp <= s.tried-refineBits:
		s.tried = exp
	case s.exp > s.tried && !s.retried: // potentials were out of range on the way
		s.retried = true
		big = t.bigM
	default:
		return false
	}
	s.cutDear(big)
	s.setGrid(s.tried, big)
	return true
}

// gridFor returns the exponent of the grid for costs of at most c. All floats are multiples of the
// smallest one.
func (s *Solver) gridFor(c float64) int {
	_, e := math.Frexp(c)
	return max(e-gridBits, -1074)
}

// setGrid changes the grid and the price of artificial arcs.
func (s *Solver) setGrid(exp int, big float64) {
	for s.exp = exp; ; s.exp += coarser {
		s.tree.setPrices(s.exp, big)
		s.rescales++
		if !s.tree.outOfRange {
			return
		}
	}
}

// artificialFlow reports whether an artificial arc carries flow.
func (s *Solver) artificialFlow() bool { return s.mostArtificial() > 0 }

// mostArtificial returns the largest flow on an artificial arc.
func (s *Solver) mostArtificial() (most uint64) {
	for v := range s.tree.nodes[:s.tree.root] {
		if p := &s.tree.nodes[v]; p.parent >= 0 && p.kind == Artificial {
			most = max(most, p.flow)
		}
	}
	return most
}

// Dearest returns the largest scaled cost of an arc that carries a unit or more.
func (s *Solver) Dearest() float64 {
	var c float64
	for v := range s.tree.nodes[:s.tree.root] {
		if p := &s.tree.nodes[v]; p.parent >= 0 && p.kind == Real && p.flow > 0 {
			c = max(c, s.tree.cost[v])
		}
	}
	return c
}

// cutDear hangs every row whose arc costs more than big from the hub instead. Those arcs carry
// nothing, and so do the new ones: the tree stays strongly feasible.
func (s *Solver) cutDear(big float64) {
	t := &s.tree
	for v := range int32(t.k) {
		if p := &t.nodes[v]; p.kind == Real && p.up && p.flow == 0 && t.cost[v] > big {
			t.graft(v, v, t.root, node{parent: t.root, kind: Artificial, up: true}, 0, 0)
		}
	}
}
