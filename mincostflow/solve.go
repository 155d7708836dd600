package mincostflow

import (
	"context"
	"math"
)

const (
	// gridBits is the fineness of the cost grid: costs below 2^e are rounded to multiples of
	// 2^(e-gridBits). The optimum of the rounded costs is within one grid of the true one, since
	// the mass is 1; potentials may reach 2^(51-gridBits) times 2^e without rounding error.
	gridBits = 48
	// coarser is by how many bits the grid grows when potentials outgrow that.
	coarser = 2
	// When the plan uses only arcs far cheaper than the dearest, the grid can be refined. That is
	// done if it gains refineBits and if the plan is further than refineTol times its dearest arc
	// from its bound. (There are at most 2100 bits to gain, so this ends.)
	refineBits = 6
	refineTol  = 0x1p-46
)

// solver is the workspace of one solve. Its slices are reused by the next.
type solver struct {
	own  instance // for whoever has none elsewhere
	in   *instance
	rows *rows
	live []int // the rows with mass, as rows knows them
	net  network
	pr   pricer
	most float64 // largest cost that can be paid (rows with mass, columns with room), unscaled

	mass     []uint64
	total    uint64  // of mass
	bits     int     // gridBits, unless a test sets it
	discount float64 // on the first price of artificial arcs, for tests
	exp      int     // the grid in force is 2^exp
	full     float64 // price of artificial arcs at which they carry nothing at an optimum
	rescales int
	widened  int // times that potentials outgrew the grid during pivots

	// The start.
	nw      newton
	columns []int32 // the columns in the order in which samples are taken
	serial  bool    // one worker only

	// What rows and live point to.
	source, held rows
	heldRows     []int

	// Tree values in twofold precision, by node.
	price, carried []dd

	// The answer, and what it takes to make it a Result.
	q, g, f    []float64
	plan, sort []entry
	counts     []int
	idle       []int
	order      []int32
	below      []bool
	rest       []dd
}

func newSolver() *solver { return &solver{own: instance{limits: new(limits)}} }

// forget drops what belongs to the caller.
func (s *solver) forget() {
	s.in, s.rows, s.pr.rows, s.pr.ctx, s.pr.index, s.live = nil, nil, nil, nil, nil, nil
	s.source.matrix, s.source.data = nil, nil
	s.own.matrix = nil
	*s.own.limits = limits{low: s.own.low, room: s.own.room}
}

// load reads and checks the rows with mass, and finds the scale of their costs.
func (s *solver) load(in *instance) error {
	s.in = in
	s.source.reset(in.matrix, in.kv)
	s.most = 0
	hold := s.hold()
	for n, i := range in.rows {
		row, m, err := s.source.checked(i, in.mask)
		if err != nil {
			return err
		}
		if hold {
			copy(s.held.data[n*in.kv:], row)
		}
		s.most = max(s.most, m)
	}
	s.rows.setScale(s.most)
	return nil
}

// loadKnown is load for costs that have been checked, with the largest of every row in most.
func (s *solver) loadKnown(in *instance, most []float64) {
	s.in = in
	s.source.reset(in.matrix, in.kv)
	s.most = 0
	hold := s.hold()
	for n, i := range in.rows {
		if hold {
			copy(s.held.data[n*in.kv:(n+1)*in.kv], s.source.raw(i))
		}
		s.most = max(s.most, most[i])
	}
	s.rows.setScale(s.most)
}

// hold decides where the rows with mass are read from, and whether copies of them are wanted: if they
// are few, and computed anew for every reader.
func (s *solver) hold() bool {
	in := s.in
	s.rows, s.live = &s.source, in.rows
	if s.source.data != nil || len(in.rows) > heldRows {
		return false
	}
	s.held.data = grow(s.held.data, len(in.rows)*in.kv)
	s.held.kv = in.kv
	s.heldRows = s.heldRows[:0]
	for n := range in.rows {
		s.heldRows = append(s.heldRows, n)
	}
	s.rows, s.live = &s.held, s.heldRows
	return true
}

// heldRows is how many rows of a cost without storage may be held in memory.
const heldRows = 32

// simplex solves the loaded instance.
func (s *solver) simplex(ctx context.Context, settings Settings) answer {
	in, t := s.in, &s.net
	s.mass = grow(s.mass, len(in.rows))
	sourceUnits(in.mass, s.mass)
	s.total = unit
	t.low, t.room = in.low, in.room
	top := math.Ldexp(s.most, s.rows.exp)
	s.start(ctx, s.rows, s.live, top, settings.MaxPivots)
	tried, retried := s.gridFor(top), false
	for {
		st := s.pr.run()
		switch {
		case st != Optimal:
			return s.interrupted(st)
		case t.wide:
			s.widened++
			s.setGrid(s.exp+coarser, t.big)
			continue
		case s.artificialFlow():
			// Only after a refinement that made artificial arcs too cheap. (At the full price this
			// cannot be; if it were, a feasible answer with its bounds would beat an endless loop.)
			if t.big >= t.round(s.full) {
				return s.interrupted(PivotLimit)
			}
			big := min(max(t.big, t.grid)*(1<<8), s.full) // a price of zero would stay zero
			s.setGrid(max(s.gridFor(big), s.exp), big)
			continue
		}
		a := s.optimum()
		if a.excess <= refineTol*a.objective.hi { // the dearest arc in use costs no less than the mean
			return a
		}
		// Of arcs with units of flow, not with mass: the plan leaves out what rounding has put there, and a price far below
		// that of an arc in the tree coarsens the grid until nothing of the price is left.
		dearest := s.dearest()
		if !(a.excess > refineTol*dearest) {
			return a
		}
		s.levelArtificial()
		// Four times the dearest arc in use is a guess at what rerouting costs; if it is too low,
		// artificial flow remains and the price goes up again.
		big := min(4*dearest, t.big)
		switch exp := s.gridFor(big); {
		case exp <= tried-refineBits:
			tried = exp
		case s.exp > tried && !retried: // potentials were out of range on the way
			retried = true
			big = t.big
		default:
			return a
		}
		s.cutDear(big)
		s.setGrid(tried, big)
	}
}

// gridFor returns the exponent of the grid for costs of at most c. All floats are multiples of the
// smallest one.
func (s *solver) gridFor(c float64) int {
	_, e := math.Frexp(c)
	return max(e-s.bits, -1074)
}

// setGrid changes the grid and the price of artificial arcs.
func (s *solver) setGrid(exp int, big float64) {
	s.exp = exp
	s.net.setPrices(exp, big)
	s.rescales++
	for s.net.wide {
		s.exp += coarser
		s.net.setPrices(s.exp, big)
		s.rescales++
	}
}

// levelArtificial makes all artificial arcs equally dear, which changes nothing while they carry nothing.
func (s *solver) levelArtificial() {
	for v := range s.net.nodes[:s.net.root] {
		if s.net.nodes[v].kind == artificial {
			s.net.cost[v] = 0
		}
	}
}

// artificialFlow reports whether an artificial arc carries flow.
func (s *solver) artificialFlow() bool {
	for v := range s.net.nodes[:s.net.root] {
		if p := &s.net.nodes[v]; p.parent >= 0 && p.kind == artificial && p.flow > 0 {
			return true
		}
	}
	return false
}

// dearest returns the largest cost of an arc with flow.
func (s *solver) dearest() float64 {
	var c float64
	for v := range s.net.nodes[:s.net.root] {
		if p := &s.net.nodes[v]; p.parent >= 0 && p.kind == realArc && p.flow > 0 {
			c = max(c, s.net.cost[v])
		}
	}
	return c
}

// cutDear hangs every row whose arc costs more than big from the hub instead. Those arcs carry
// nothing, and so do the new ones: the tree stays strongly feasible.
func (s *solver) cutDear(big float64) {
	t := &s.net
	for v := range int32(t.k) {
		if p := &t.nodes[v]; p.kind == realArc && p.up && p.flow == 0 && t.cost[v] > big {
			t.graft(v, v, node{parent: t.root, kind: artificial, up: true}, 0, 0)
		}
	}
}
