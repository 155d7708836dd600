package sinkhorn

import (
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/sinkhorn/grid"
)

// Status says why a solver stopped.
type Status int

const (
	// Unknown is the status of a Result that no solver has filled, as beside an error.
	Unknown Status = iota
	// Converged: the goal of the settings was met.
	Converged
	// IterationLimit: Settings.MaxIterations was reached.
	IterationLimit
	// Cancelled: the context ended.
	Cancelled
	// Stalled: the goal was not met, and rounding errors allow no further progress; or, on a grid, the gap did not fall
	// over several doublings of the number of iterations.
	Stalled
	// RegLimit: the entropy at Problem.Reg makes Settings.Gap unreachable. A smaller Reg may reach the gap; Reg = 0
	// searches for one.
	RegLimit
)

// String returns the name of the status.
func (s Status) String() string {
	return num.Name(int(s), "unknown", "converged", "iterations", "cancelled", "stalled", "reg")
}

// Iterate is one step of the history.
type Iterate struct {
	// Step is d_H(v, v+), Hilbert's metric between this iterate and the next.
	Step float64
	// Residual is |q - c|_1, with c the column sums of the plan of this iterate.
	Residual float64
	// KL is KL(q || q-), the divergence of this q from the one before (0 for the first).
	KL float64
	// Upper and Lower are bounds on the exact problem from this iterate alone, as in Result.
	Upper, Lower float64
}

// Stats counts the work done.
type Stats struct {
	Passes   int // passes over the kernel by steps of Algorithm 1 and evaluations of trial points
	Newton   int // Newton steps taken
	CG       int // conjugate-gradient steps, one pass over (part of) the kernel each
	Rebuilds int // kernels exponentiated
}

// Result is an answer together with its evidence; Verify recomputes the evidence from it.
type Result struct {
	// Q is the projected distribution: Lo <= Q <= Hi without any tolerance, and its exact sum
	// differs from 1 by at most kv * 2^-52. (When the box is a single point, because the bounds
	// sum to 1 only up to rounding, Q is that point rounded to the nearest float64s.)
	Q []float64
	// Potentials prove Lower. They are potentials of the exact problem, made from LogV.
	Potentials projection.Potentials
	// LogV is log v, -Inf in columns with Hi = 0 (or at most 1e-200): a start for another call, and, with Reg, the plan
	//
	//	P_ij = mu_i v_j exp(-C_ij/Reg) / sum_j' v_j' exp(-C_ij'/Reg),
	//
	// whose row sums are mu and whose column sums are Q up to Residual. It is -Inf throughout if the context ended before
	// there was a plan; it then stands for the plan of zeros.
	LogV []float64
	// Reg is the regularisation that LogV belongs to. It is Problem.Reg; a larger value if Fast stopped early while
	// annealing; or the chosen value if Problem.Reg is 0.
	Reg float64
	// Transport is <C, P>, and Objective is <C, P> + Reg sum P log P.
	Transport, Objective float64
	// Lower and Upper enclose the optimum of the exact problem (Reg = 0), and Upper also the cost
	// of moving the source to Q: Lower <= optimum <= W(Q, source) <= Upper, rounding included.
	Lower, Upper float64
	// Posterior bounds W(Q, source) - optimum once the residual is negligible:
	//
	//	Posterior = Reg sum_i mu_i (H(P_i) + log max_j P_ij)  <=  Reg W0((n-1)/e),
	//
	// with P_i = row i of P over mu_i, n the number of columns with Hi > 0, and W0 Lambert's
	// function. Upper - Lower is the proven gap and usually smaller.
	Posterior float64
	// Residual is |Q - c|_1, with c the column sums of the plan.
	Residual float64
	// Iterations counts iterations of Algorithm 1 (Paper) or passes over the kernel (Fast).
	Iterations int
	// Status says why the solver stopped.
	Status Status
	// History has an entry for every iterate if Settings.History is set. Package hilbert has the linear rate that the
	// theorem promises for Iterate.Step.
	History []Iterate
	// Stats counts the work.
	Stats Stats
	// Settings are the settings used, with defaults filled in.
	Settings Settings
	// Flow, if not nil, repairs the plan of LogV on a grid.
	Flow *grid.Flow
}

// Gap returns Upper - Lower, the proven distance from the optimum of the exact problem, in units of
// the cost.
func (r Result) Gap() float64 { return r.Upper - r.Lower }
