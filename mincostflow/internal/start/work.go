package start

import "sync"

// work is a workspace.
type work struct {
	p          Problem
	into       *Forest // what is to be found
	rows, cols groups
	small      Smaller   // problem of the groups
	middle     []float64 // prices of its rows

	f, pi   []float64 // prices of the rows and the columns: f_i <= C_ij + pi_j; +Inf for columns that take no part
	reduced []float64 // costs of the listed arcs: those of least reduced cost of every row, then those of columns
	parts   [Parts]part
	left    []uint64 // what nodes still have or need as arcs are filled
	order   []int32
}

// works keeps workspaces.
var works = sync.Pool{New: func() any { return new(work) }}

// release puts w back without anything of the caller's, and without the costs if they are many.
func (w *work) release() {
	w.p, w.into = Problem{}, nil
	if cap(w.small.Costs) > mostKept {
		w.small.Costs = nil
	}
	works.Put(w)
}

// mostKept costs are kept for the next problem, 8 MB.
const mostKept = 1 << 20

// part is what one goroutine finds.
type part struct {
	used   bool
	pi     []float64
	column []columnBest
}
