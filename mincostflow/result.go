package mincostflow

import (
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/projection"
)

// Status says why a solver stopped.
type Status int

const (
	// Unknown is the Status of a call that failed and has no result.
	Unknown Status = iota
	// Optimal: an exact sweep over all arcs found none that improves the plan.
	Optimal
	// Cancelled: the context ended.
	Cancelled
)

// String returns the name of the status.
func (s Status) String() string {
	return num.Name(int(s), "unknown", "optimal", "cancelled")
}

// Stats counts the work done.
type Stats struct {
	Pivots     int // simplex pivots
	Degenerate int // pivots on the full problem that moved no mass
	Sweeps     int // full pricing sweeps over the rows with mass
	Rescales   int // changes of the cost grid or of the artificial cost after the start
}

// Result is an answer together with its evidence; Verify recomputes the evidence from it.
type Result struct {
	// Q is the projected distribution: Lo <= Q <= Hi without any tolerance, and its exact sum differs from 1 by at most
	// kv * 2^-52. (If the box is a single point because the bounds sum to 1 only up to rounding, Q is this point rounded
	// to float64, to within a relative 2^-52 or four times the smallest float64.)
	Q []float64
	// Plan moves the source to Q at the cost Objective. Entries are positive, rows ascending, then columns; I counts rows
	// of the cost, also for a sparse source. Row and column sums hold up to rounding, and Upper includes a charge for
	// missing mass. If Status is Cancelled, Plan may move only a part of the source: no row has more than its mass.
	Plan []projection.Entry
	// Potentials prove Lower.
	Potentials projection.Potentials
	// Objective is the cost of Plan, correct except for the last bit.
	Objective float64
	// Lower and Upper enclose the optimum, and Upper also the cost of moving the source to Q:
	// Lower <= optimum <= W(Q, source) <= Upper, rounding included. Upper is the largest float64 if the context ended
	// before the costs were read.
	Lower, Upper float64
	// Status says why the solver stopped.
	Status Status
	// Stats counts the work.
	Stats Stats
}

// empty clears r and keeps its slices for the next.
func (r *Result) empty() {
	*r = Result{Q: r.Q[:0], Plan: r.Plan[:0], Potentials: projection.Potentials{F: r.Potentials.F[:0], G: r.Potentials.G[:0]}}
}

// Gap returns Upper - Lower, the proven distance from the optimum, in units of the objective.
func (r Result) Gap() float64 { return r.Upper - r.Lower }
