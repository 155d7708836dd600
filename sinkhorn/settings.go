package sinkhorn

import (
	"cmp"
	"fmt"
	"math"

	"github.com/wpm-go/wpm/wpmerr"
)

// Method chooses how Project solves.
type Method int

const (
	// Fast, the default, finds the answer of Algorithm 1 by annealing, absorbed potentials and Newton steps.
	Fast Method = iota
	// Paper is Algorithm 1 of the paper, step for step, in the log domain.
	Paper
)

// String returns the name of the method.
func (m Method) String() string {
	switch m {
	case Paper:
		return "paper"
	case Fast:
		return "fast"
	}
	return "unknown"
}

// Settings tunes Project. The zero value is the documented default: method Fast, stop at a
// residual of 1e-12.
type Settings struct {
	// Method selects the algorithm. Default Fast.
	Method Method
	// Tolerance > 0 stops when the residual |q - c|_1 is at most this, c being the column sums of
	// the plan. Default (0): DefaultTolerance, unless Gap is set.
	Tolerance float64
	// Gap > 0 stops when the certified gap on the exact problem is proved small: Upper - Lower <= Gap * Upper. So that an
	// optimum of 0 can be proved, a gap of 1e-15 of the largest cost, beyond the margin of the bounds for rounding, is
	// also enough. Reg limits the gap that can be reached. If the entropy alone keeps the gap too large, Project returns
	// ErrNotConverged with status RegLimit, early if this can be seen early. If the residual cannot fall further, the
	// status is Stalled. With both Tolerance and Gap, the solver stops at the first goal met.
	//
	// With Problem.Reg = 0, Gap chooses Reg. Reg falls from a share of the range of the cost, every level starts from the
	// potentials of the level before, and the first level whose certified gap is small enough gives the answer. This
	// requires method Fast, without Tolerance and Initial.
	Gap float64
	// MaxIterations ends the solver with ErrNotConverged. Iterations are those of Algorithm 1 for
	// Paper and passes over the kernel for Fast. Default (0): DefaultMaxIterations.
	MaxIterations int
	// Initial is the start: log v for every column, any finite numbers (-Inf allowed where Hi is 0). It affects the time,
	// but not the answer. Nil: v = 1 for Paper, an annealed start for Fast.
	Initial []float64
	// History records every iterate of method Paper in Result.History: one more pass over the cost for each, to find its
	// bounds.
	History bool
	// AllRows reads the rows without mass, too, which gives them the largest valid potentials. By default these rows are
	// not read, and errors in their costs are not detected. Their potential is then -max(0, max_j g_j), which is valid
	// because costs are not negative.
	AllRows bool
}

const (
	// DefaultTolerance is the residual at which Project stops unless told otherwise. Sums of
	// float64 masses are off by less than 1e-13 up to a million entries, so this is still above
	// the rounding noise.
	DefaultTolerance = 1e-12
	// DefaultMaxIterations is the limit on iterations unless told otherwise: a safety net far
	// above what converging instances need, not a stopping rule.
	DefaultMaxIterations = 10_000_000
)

// residual is the one at which there is nothing left to gain.
func (s Settings) residual() float64 { return cmp.Or(s.Tolerance, DefaultTolerance) }

// leastGap is the gap, over the largest cost, that counts as none.
const leastGap = 1e-15

// met reports whether a gap between bounds is what Gap asks for: small relative to the upper one or, since nothing is
// small relative to 0, up to the margin that the bounds leave for rounding.
func (s Settings) met(gap, upper, margin, largest float64) bool {
	return gap <= max(s.Gap*upper, leastGap*largest+margin)
}

// resolve checks the settings and fills in defaults for kv columns.
func (s Settings) resolve(in *instance) (Settings, error) {
	for n, x := range []float64{s.Tolerance, s.Gap} {
		if !(x >= 0) || math.IsInf(x, 0) {
			return s, fmt.Errorf("%w: %s = %v, want a finite number >= 0", wpmerr.ErrSettings, [2]string{"Tolerance", "Gap"}[n], x)
		}
	}
	switch {
	case s.Method < Fast || s.Method > Paper:
		return s, fmt.Errorf("%w: Method = %d", wpmerr.ErrSettings, int(s.Method))
	case s.MaxIterations < 0:
		return s, fmt.Errorf("%w: MaxIterations = %d is negative", wpmerr.ErrSettings, s.MaxIterations)
	case s.History && s.Method != Paper:
		return s, fmt.Errorf("%w: History is for method Paper", wpmerr.ErrSettings)
	case in.choose && (s.Method == Paper || s.Tolerance > 0 || s.Initial != nil):
		return s, fmt.Errorf("%w: Reg = 0 chosen by Gap is for method Fast, without Tolerance and Initial", wpmerr.ErrSettings)
	case s.Initial != nil && len(s.Initial) != in.Kv:
		return s, fmt.Errorf("%w: Initial has %d entries, want %d", wpmerr.ErrShape, len(s.Initial), in.Kv)
	}
	for j, x := range s.Initial {
		if math.IsNaN(x) || math.IsInf(x, 0) && !(x < 0 && in.Hi[j] == 0) {
			return s, fmt.Errorf("%w: Initial[%d] = %v", wpmerr.ErrNotFinite, j, x)
		}
	}
	if s.Tolerance == 0 && s.Gap == 0 {
		s.Tolerance = DefaultTolerance
	}
	if s.MaxIterations == 0 {
		s.MaxIterations = DefaultMaxIterations
	}
	return s, nil
}
