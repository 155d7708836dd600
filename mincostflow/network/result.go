package network

import "math/big"

// Status says why Solve stopped.
type Status int

const (
	// Unknown is the Status of a call that failed and has no result.
	Unknown Status = iota
	// Optimal: no flow is cheaper. Result.Potentials prove it.
	Optimal
	// Infeasible: no flow meets all supplies and bounds. Result.Cut proves it.
	Infeasible
	// Unbounded: there are flows of any cost below that of Result.Flow. Result.Cycle proves it.
	Unbounded
	// PivotLimit: Settings.MaxPivots was reached.
	PivotLimit
	// Cancelled: the context ended.
	Cancelled
)

// String returns the name of the status.
func (s Status) String() string {
	names := [...]string{"unknown", "optimal", "infeasible", "unbounded", "pivot limit", "cancelled"}
	if s < 0 || int(s) >= len(names) {
		s = Unknown
	}
	return names[s]
}

// Settings tunes Solve. The zero value is the documented default.
type Settings struct {
	// MaxPivots ends the simplex after this number of pivots with ErrNotConverged. 0, the default, means no limit: the
	// number of pivots is finite, and in practice there are about 2 to 50 for every node.
	MaxPivots int
}

// Result is the answer to a Problem together with its proof; Verify checks the proof.
//
//	Status                 Flow, Objective      proof
//	Optimal                an optimal flow      Potentials
//	Infeasible             nil                  Cut          (beside ErrInfeasible)
//	Unbounded              a feasible flow      Cycle        (beside ErrUnbounded)
//	PivotLimit, Cancelled  a feasible flow,     none
//	                       or nil if none was
//	                       found before the stop
type Result struct {
	Status Status
	// Flow is the flow on every arc.
	Flow []int64
	// Objective is the cost of Flow, exactly; nil if there is no Flow.
	Objective *big.Int
	// Potentials, one for every node, prove that Flow is optimal. The reduced cost of an arc is Cost + Potentials[From] -
	// Potentials[To]. The flow is at the lower bound where the reduced cost is positive, and at the upper bound where it
	// is negative.
	Potentials []int64
	// Cut is a set of nodes, ascending, whose supplies sum to more than the upper bounds of the
	// arcs out of the set less the lower bounds of the arcs into it.
	Cut []int
	// Cycle is a closed walk of negative cost along which flow can be sent without end.
	Cycle []Step
	// Stats counts the work.
	Stats Stats
}

// Step is one arc of a cycle, taken from its From to its To, or Backward if the flow on it falls.
type Step struct {
	Arc      int
	Backward bool
}

// Stats counts the work done.
type Stats struct {
	Pivots     int // simplex pivots
	Degenerate int // those that moved no flow
}
