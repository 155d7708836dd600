package mincostflow

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/wpm-go/wpm/internal/rowcache"
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
	net  basis
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
	source rows
	whole  [][]float64 // all rows of the cost, if a Projector holds them
	places []int
	tops   []float64 // largest costs, by row with mass
	watch  watch

	// Tree values in twofold precision, by node.
	price, carried []dd

	// The answer, and what it takes to make it a Result.
	q, g, f    []float64
	plan, sort []entry
	counts     []int
	idle       []int
	without    []int // rows without mass
	order      []int32
	below      []bool
	rest       []dd
}

func newSolver() *solver { return &solver{own: instance{limits: new(limits)}} }

// forget drops what belongs to the caller.
func (s *solver) forget() {
	s.in, s.rows, s.pr.rows, s.pr.ctx, s.pr.index, s.live = nil, nil, nil, nil, nil, nil
	s.source.matrix, s.source.data, s.watch.ctx = nil, nil, nil
	cells := 0
	for _, row := range s.source.held {
		cells += cap(row)
	}
	if cells > mostCells {
		s.source.held = nil
	}
	s.own.matrix = nil
	*s.own.limits = limits{low: s.own.low, room: s.own.room}
}

// load reads and checks the rows with mass, holds copies of those that fit into memory bytes, and finds the scale of their
// costs. It returns errUnread if the context ends before; up to fewLoaded rows are read whatever it says.
func (s *solver) load(ctx context.Context, in *instance, memory int64) error {
	s.in = in
	s.source.reset(in.matrix, in.kv)
	s.tops = grow(s.tops, len(in.rows))
	if len(in.rows) <= fewLoaded {
		ctx = context.Background()
	}
	held := s.hold(memory)
	err := rowcache.Read(ctx, in.matrix, in.rows, s.source.held[:held], func(n int, row []float64) (err error) {
		s.tops[n], err = checkRow(in.rows[n], row, in.kv, in.mask)
		return err
	})
	switch {
	case err == nil:
	case err == ctx.Err():
		return errUnread
	default:
		return err
	}
	s.most = slices.Max(s.tops)
	s.source.setScale(s.most)
	return nil
}

// errUnread: the context has ended before the costs were read.
var errUnread = errors.New("mincostflow: costs not read")

// fewLoaded rows are read even when the context has ended: a result for them costs next to nothing.
const fewLoaded = 32

// loadKnown is load, by one worker, for costs that have been checked, with the largest of every row in most.
func (s *solver) loadKnown(in *instance, most []float64, memory int64) error {
	s.in = in
	s.source.reset(in.matrix, in.kv)
	held := s.hold(memory)
	s.most = 0
	few := len(in.rows) <= fewLoaded
	for n, i := range in.rows {
		if n < held {
			if !few && !s.watch.row(in.kv) {
				return errUnread
			}
			s.source.held[n] = grow(s.source.held[n], in.kv)
			copy(s.source.held[n], s.source.matrix.Row(i, s.source.buf))
		}
		s.most = max(s.most, most[i])
	}
	s.source.setScale(s.most)
	return nil
}

// hold fills in where rows are read from, and returns how many rows with mass, from the first, are to be copied to
// s.source.held: those that fit into memory bytes, if rows are computed anew for every reader and none are held yet.
func (s *solver) hold(memory int64) (held int) {
	in := s.in
	s.rows, s.live = &s.source, in.rows
	if s.source.data != nil {
		return 0
	}
	s.places = append(s.places[:0], in.rows...)
	s.live = s.places
	if s.whole != nil {
		s.source.held = s.whole
		for n, i := range in.rows {
			s.places[n] = ^i
		}
		return 0
	}
	held = rowcache.Fit(memory, len(in.rows), in.kv)
	for n := range held {
		s.places[n] = ^n
	}
	if more := held - len(s.source.held); more > 0 {
		s.source.held = append(s.source.held, make([][]float64, more)...)
	}
	return held
}

// watch looks at a context now and then; at none if ctx is nil.
type watch struct {
	ctx         context.Context
	rows, cells int
	over        bool // it has ended
}

// pollRows rows or pollCells cells are read between two looks at the context.
const (
	pollRows  = 16
	pollCells = 1 << 16
)

// row reports whether another row may be read, of so many cells: not when the context has ended.
func (w *watch) row(cells int) bool {
	w.rows++
	w.cells += cells
	if w.rows >= pollRows || w.cells >= pollCells {
		w.rows, w.cells = 0, 0
		w.over = w.over || w.ctx != nil && w.ctx.Err() != nil
	}
	return !w.over
}

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
		if s.watch.over {
			return s.interrupted(Cancelled)
		}
		if a.excess <= refineTol*a.objective.hi { // the dearest arc in use costs no less than the mean
			return a
		}
		// Of arcs with units of flow, not with mass: the plan leaves out what rounding has put there, and a price far below
		// that of an arc in the tree coarsens the grid until nothing of the price is left.
		dearest := s.dearest()
		if !(a.excess > refineTol*dearest) {
			return a
		}
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
