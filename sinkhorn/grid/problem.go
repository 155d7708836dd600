package grid

import "github.com/wpm-go/wpm/cost"

// Problem is an entropic projection on a grid, as package sinkhorn has checked it.
type Problem struct {
	Grid   *cost.Grid // at squared distance
	Mu     []float64  // of all cells, sum 1
	Lo, Hi []float64
	Reg    float64
}

// Settings are those of package sinkhorn, with their defaults filled in.
type Settings struct {
	Tolerance, Gap float64
	MaxIterations  int
	Initial        []float64
	Choose         bool // Gap chooses Reg, and Problem.Reg is the least
}

// Status says why a run has ended.
type Status int

// The numbers are those of sinkhorn.Status.
const (
	Unknown Status = iota
	Converged
	IterationLimit
	Cancelled
	Stalled
	RegLimit
)

// Result is the answer and its evidence: see sinkhorn.Result.
type Result struct {
	Q, LogV              []float64
	F, G                 []float64 // potentials of the exact problem
	Flow                 *Flow
	Reg                  float64
	Transport, Objective float64
	Lower, Upper         float64
	Posterior, Residual  float64
	Largest              float64 // a bound on the largest cost
	Iterations           int
	Status               Status
}

// leastGap is the gap, over the largest cost, that counts as none.
const leastGap = 1e-15
