package assignment

import (
	"math"
	"sync"

	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/mincostflow/internal/start"
)

const (
	// The start pays between fewest and most rows.
	fewest = 8
	most   = 128
	// Costs are rounded to integers below 2^costBits. The simplex rounds them to as many bits.
	costBits = 48
	// rounding is above what the rounding of a distribution to floats and units makes of n masses, in all.
	rounding = 1 << 9
)

// Start makes the forest of an optimal assignment, for rows of one mass and as many columns of one mass. It reports
// whether it did: not for other problems, not when there is no more time, and not when it takes too long. Columns may
// get some units more or less than they are to: that is the rounding of a distribution, and of no use where units
// count.
func Start(p start.Problem, f *start.Forest) bool {
	n := len(p.Supply)
	if n < fewest || n > most || len(p.Low) != n || !equal(p.Supply) || !equal(p.Low) {
		return false
	}
	for _, r := range p.Room {
		if r > 0 {
			return false
		}
	}
	w := works.Get().(*work)
	defer works.Put(w)
	return w.read(p) && w.solve(p.Costs) && w.forest(p, f)
}

// equal reports whether the units are those of equal masses: the first makes up for the rounding of all.
func equal(units []uint64) bool {
	u := units[1]
	for _, x := range units[1:] {
		if x != u {
			return false
		}
	}
	return u > 2*rounding && units[0] <= u+rounding && units[0] >= u-rounding
}

// read takes over the costs, and reports whether there was time.
func (w *work) read(p start.Problem) bool {
	w.resize(len(p.Supply))
	_, e := math.Frexp(p.Top)
	by := math.Ldexp(1, costBits-e)
	for i := range w.n {
		row, ok := p.Costs.Row(i)
		if !ok {
			return false
		}
		cells := w.of(int32(i))
		for j, c := range row {
			cells[j] = int64(math.RoundToEven(c * by))
		}
	}
	return true
}

// forest makes the forest of the assignment, and reports whether there was time. Every column hangs from the row that
// reaches it, and its row from the column. A column needs a unit more than its row has, and that of row 0 as much less
// as that is in all: so no flow is zero.
func (w *work) forest(p start.Problem, f *start.Forest) bool {
	w.search(0)
	f.Reset(w.n, p.Low)
	for j, i := range w.row {
		v := w.n + j
		own, ok := p.Costs.Row(int(i))
		if !ok {
			return false
		}
		f.Parent[i], f.Cost[i], f.Need[j] = int32(v), own[j], p.Supply[i]+1
		above, ok := p.Costs.Row(int(w.from[j]))
		if !ok {
			return false
		}
		f.Parent[v], f.Cost[v] = w.from[j], above[j]
	}
	f.Parent[0], f.Cost[0] = -1, 0
	f.Need[w.col[0]] -= uint64(w.n)
	return true
}

// work is a workspace.
type work struct {
	n     int
	cells []int64 // costs, row by row
	looks int     // at cells, that may still be made
	v     []int64 // prices of columns: a row pays cost - v
	col   []int32 // of a row, -1 if that is free
	row   []int32 // of a column, -1 if that is free
	free  []int32 // rows
	from  []int32 // the row from which a column is reached
	dist  []int64 // how far that is from the row where the search began
	list  []int32 // columns that are settled, those at the least distance, and the others
}

// works keeps workspaces.
var works = sync.Pool{New: func() any { return new(work) }}

// resize makes place for n rows.
func (w *work) resize(n int) {
	w.n, w.looks = n, mostLooks*n*n
	w.cells, w.v, w.dist = num.Grow(w.cells, n*n), num.Grow(w.v, n), num.Grow(w.dist, n)
	w.col, w.row, w.from = num.Grow(w.col, n), num.Grow(w.row, n), num.Grow(w.from, n)
	w.list, w.free = num.Grow(w.list, n), num.Grow(w.free, n)
}

// of returns the costs of row i.
func (w *work) of(i int32) []int64 { return w.cells[int(i)*w.n : (int(i)+1)*w.n] }
