package knapsack

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Rows are handed out in blocks of this many, to whichever goroutine is free: a row's value does not
// depend on who computes it.
const rowBlock = 16

// The numbers of matrix entries below which starting goroutines costs more than it saves: an entry takes
// half a nanosecond to evaluate, and about fifty to sort.
const (
	serialEntries     = 1 << 17
	serialSortEntries = 1 << 12
)

// goroutines returns how many goroutines should share so many rows.
func goroutines(rows int) int {
	return min(runtime.GOMAXPROCS(0), (rows+rowBlock-1)/rowBlock)
}

// scratch is what one evaluation needs besides its result. It is used again and again, and with it the func
// value that the goroutines run, so that an evaluation allocates nothing.
type scratch struct {
	box box
	phi []float64

	// The evaluation in progress.
	table  *Table
	toPhi  []float64
	toTau  []float64
	next   atomic.Int64
	group  sync.WaitGroup
	helper func()
}

func newScratch() *scratch {
	s := new(scratch)
	s.helper = func() {
		defer s.group.Done()
		s.work()
	}
	return s
}

// forget drops what belongs to the last caller.
func (s *scratch) forget() {
	s.box.lo, s.box.hi, s.box.point = nil, nil, nil
	s.table, s.toPhi, s.toTau = nil, nil, nil
}

// evalAll evaluates every row of t for the checked box; phi and tau may be nil.
func (s *scratch) evalAll(t *Table, phi, tau []float64) {
	s.table, s.toPhi, s.toTau = t, phi, tau
	s.next.Store(0)
	if t.k*t.kv >= serialEntries {
		helpers := goroutines(t.k) - 1
		s.group.Add(helpers)
		for range helpers {
			go s.helper()
		}
	}
	s.work()
	s.group.Wait()
}

// work evaluates blocks of rows until none is left.
func (s *scratch) work() {
	for {
		from := int(s.next.Add(1)-1) * rowBlock
		if from >= s.table.k {
			return
		}
		to := min(from+rowBlock, s.table.k)
		var phi, tau [4]float64
		for i := from; i < to; i += len(phi) {
			n := min(len(phi), to-i)
			if n == len(phi) {
				s.table.eval4(i, &s.box, &phi, &tau)
			} else {
				for r := range n {
					phi[r], tau[r] = s.table.eval(i+r, &s.box)
				}
			}
			if s.toPhi != nil {
				copy(s.toPhi[i:], phi[:n])
			}
			if s.toTau != nil {
				copy(s.toTau[i:], tau[:n])
			}
		}
	}
}

// sortAll fills the order of every row.
func (t *Table) sortAll() {
	var next atomic.Int64
	work := func() {
		s := new(sorter)
		for {
			i := int(next.Add(1) - 1)
			if i >= t.k {
				return
			}
			s.sortRow(t.Row(i, nil), t.Order(i))
		}
	}
	var group sync.WaitGroup
	if t.k*t.kv >= serialSortEntries {
		for range goroutines(t.k) - 1 {
			group.Go(work)
		}
	}
	work()
	group.Wait()
}
