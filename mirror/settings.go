package mirror

import (
	"fmt"
	"math/bits"

	"github.com/wpm-go/wpm/wpmerr"
)

// Rule chooses the steps, and with them the weights of the average and the bound (see the package comment).
type Rule int

const (
	// Paper is the constant step of the paper's proposition, from log k and the largest cost.
	Paper Rule = iota
	// Repaired is the same step with the constants that its proof needs: log kv and the range of the costs.
	Repaired
	// Sharp is a longer constant step, from a sharper bound on the local norm of the subgradients.
	Sharp
	// Adaptive is a decreasing step from the local norms seen so far, with the constant c = 1/2; iterate t has
	// weight t in the average.
	Adaptive
)

var ruleNames = [...]string{"paper", "repaired", "sharp", "adaptive"}

// String returns the name of the rule in lower case.
func (r Rule) String() string {
	if r < 0 || int(r) >= len(ruleNames) {
		return fmt.Sprintf("Rule(%d)", int(r))
	}
	return ruleNames[r]
}

// Settings controls a descent. The zero value is the paper's algorithm.
type Settings struct {
	// Steps is T, the number of iterates; 0 means DefaultSteps.
	Steps int
	// Rule chooses the steps.
	Rule Rule
	// Factor multiplies the step of the rule, by 1e-6 to 1e6; 0 means 1. The bounds account for it. Sharp and Adaptive
	// keep their limits on a step.
	Factor float64
	// Every is the number of steps between reports; 0 means reports after 1, 2, 4, 8, ... steps. There is always a report
	// after the last step. A report takes an evaluation of f and two to six passes over the rows that were the worst at some
	// step.
	Every int
	// Report, if not nil, is called with each report as it is made, by the goroutine that called Descend.
	Report func(Report)
}

// DefaultSteps is enough to see where a descent is heading, but not to reach the optimum.
const DefaultSteps = 10_000

// Factors outside are no step sizes, and not worth the care that infinite bounds would need.
const minFactor, maxFactor = 1e-6, 1e6

func (s Settings) resolve() (Settings, error) {
	if s.Steps < 0 {
		return s, fmt.Errorf("%w: Steps = %d", wpmerr.ErrSettings, s.Steps)
	}
	if s.Steps == 0 {
		s.Steps = DefaultSteps
	}
	if s.Rule < 0 || int(s.Rule) >= len(ruleNames) {
		return s, fmt.Errorf("%w: Rule = %d", wpmerr.ErrSettings, int(s.Rule))
	}
	if s.Factor == 0 {
		s.Factor = 1
	}
	if !(s.Factor >= minFactor && s.Factor <= maxFactor) {
		return s, fmt.Errorf("%w: Factor = %v, want %g <= Factor <= %g", wpmerr.ErrSettings, s.Factor, minFactor, maxFactor)
	}
	if s.Every < 0 {
		return s, fmt.Errorf("%w: Every = %d", wpmerr.ErrSettings, s.Every)
	}
	return s, nil
}

// due reports whether there is a report after step t.
func (s Settings) due(t int) bool {
	if t == s.Steps {
		return true
	}
	if s.Every > 0 {
		return t%s.Every == 0
	}
	return t&(t-1) == 0
}

// reports returns the number of reports, or a good part of it.
func (s Settings) reports() int {
	if s.Every > 0 {
		return min(s.Steps/s.Every+1, 1024)
	}
	return bits.Len(uint(s.Steps)) + 1
}
