package start

import (
	"math"

	"github.com/wpm-go/wpm/internal/num"
)

// Problem is what the simplex has to solve. No slice of it is modified.
type Problem struct {
	Supply    []uint64 // units of the rows, all positive
	Low, Room []uint64 // columns take Low to Low + Room units; those with neither take no part, and one does
	Top       float64  // no cost of a column that takes part is larger
	Costs     Costs
}

// Costs are read row by row.
type Costs interface {
	// Row returns row i, finite numbers, valid until the next call; or false when there is no more time.
	Row(i int) ([]float64, bool)
	// Going reports whether there is time.
	Going() bool
	// Share cuts 0 to n - 1 into at most Parts parts, in order, and does the task for each of them with costs of its own:
	// from several goroutines, if the rows are worth it. It reports whether there was time.
	Share(n int, t Task) bool
}

// Task is work on rows from to to - 1 of something. It reports whether there was time. (A function in its place would
// be allocated for every call.)
type Task interface {
	Do(part, from, to int, own Costs) bool
}

// Parts is how many goroutines may work on one problem.
const Parts = 4

// Forest is where a simplex may begin: which node hangs from which by a real arc, and what columns get. Nodes are the
// rows, numbered from 0, and then the columns. The flows follow: an arc carries what its subtree has or lacks. A forest
// is strongly feasible if all flows are positive, but for those of nodes that hang from the hub.
type Forest struct {
	Parent []int32   // -1 for the hub
	Cost   []float64 // of the arc to the parent; of a node that hangs from the hub, its price there
	Need   []uint64  // what a column gets: Low, or Low + Room
	Arcs   []Arc     // worth a look early
	// Above is how far above the prices of their nodes artificial arcs may begin, or +Inf if those prices say too little.
	Above float64
}

// Arc is a listed arc.
type Arc struct {
	I, J int32
	Cost float64
}

// Reset makes f the star of k rows and of columns that get low: all nodes hang from the hub, at the price zero.
func (f *Forest) Reset(k int, low []uint64) {
	f.Parent, f.Cost = num.Grow(f.Parent, k+len(low)), num.Grow(f.Cost, k+len(low))
	for v := range f.Parent {
		f.Parent[v], f.Cost[v] = -1, 0
	}
	f.Need, f.Arcs, f.Above = append(f.Need[:0], low...), f.Arcs[:0], math.Inf(1)
}

// Smaller is a problem of groups. Costs are row-major.
type Smaller struct {
	Supply    []uint64
	Low, Room []uint64
	Costs     []float64
}

// Row returns a row of the costs.
func (s *Smaller) Row(i int) []float64 {
	n := len(s.Low)
	return s.Costs[i*n : (i+1)*n]
}

// Solver solves smaller problems.
type Solver interface {
	// Solve fills in optimal prices of the rows, and reports whether there was time.
	Solve(s *Smaller, prices []float64) bool
}
