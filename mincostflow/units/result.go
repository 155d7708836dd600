package units

import (
	"math/big"

	"github.com/wpm-go/wpm/internal/num"
)

// Status says why Project stopped.
type Status int

const (
	// Unknown is the Status of a call that failed and has no result.
	Unknown Status = iota
	// Optimal: no arc improves the plan at exact prices.
	Optimal
	// Cancelled: the context ended.
	Cancelled
)

// String returns the name of the status.
func (s Status) String() string {
	return num.Name(int(s), "unknown", "optimal", "cancelled")
}

// Entry is one positive entry of a plan: so many units from row I to column J.
type Entry struct {
	I, J  int
	Units int64
}

// Potentials are dual variables as exact numbers: F[i] + G[j] <= C_ij for every i and j.
type Potentials struct {
	F, G []*big.Rat
}

// Stats counts the work done.
type Stats struct {
	Pivots     int // simplex pivots
	Degenerate int // pivots that moved no unit
	Sweeps     int // full pricing sweeps over the rows with units
	Rescales   int // changes of the cost grid or of the artificial cost after the start
	Repairs    int // pivots at exact prices
}

// Result is an answer together with its evidence. Costs are those of the distribution, that is, the cost of the units
// divided by N.
type Result struct {
	// Q is the projection: whole units in the box, N in all.
	Q []int64
	// Plan moves the source to Q, with exactly these row and column sums; rows ascending, then columns. When Status is
	// Cancelled, it may move a part of the source only.
	Plan []Entry
	// Potentials prove Lower.
	Potentials Potentials
	// Upper is the cost of Plan, plus the units that it leaves at the largest cost, and Lower is the dual value of
	// Potentials. Both are exact. If Status is Optimal, they are equal, and are the optimum. Upper is the largest float64
	// if the context ended before the costs were read.
	Upper, Lower *big.Rat
	// Objective is Upper, rounded to nearest.
	Objective float64
	// Status says why Project stopped.
	Status Status
	// Stats counts the work.
	Stats Stats
}
