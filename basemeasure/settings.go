package basemeasure

import (
	"fmt"
	"math"
	"slices"

	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/wpmerr"
)

// Objective says what a base measure minimises. phi_i is the cost of a client whose whole mass is at input i.
type Objective int

const (
	// WorstCase is max_i phi_i, over the inputs that are not excluded: the objective of the paper.
	WorstCase Objective = iota
	// Average is sum_i w_i phi_i with the weights Settings.InputWeights.
	Average
	// Mixed is t * worst case + (1 - t) * average with t = Settings.Mix.
	Mixed
)

// String returns the name of the objective.
func (o Objective) String() string {
	switch o {
	case WorstCase:
		return "worst case"
	case Average:
		return "average"
	case Mixed:
		return "mixed"
	}
	return fmt.Sprintf("Objective(%d)", int(o))
}

// Settings controls the search. The zero value asks for the worst case over all inputs, to DefaultGap.
type Settings struct {
	// Objective is what is minimised, over all measures by Solve, over the scale by Uniform and Shape.
	Objective Objective
	// Mix is the share t of the worst case in the objective Mixed, from 0 to 1. Zero otherwise.
	Mix float64
	// InputWeights are the weights of the inputs in Average and Mixed, in any unit; nil means equal weights. They
	// must be public. Nil with WorstCase. A weight that is not zero must be at least 2^-600 times the largest.
	InputWeights []float64
	// Exclude lists inputs that are left out of the maximum: a far input without clients would otherwise dictate the
	// design. The mechanism is as private for these inputs as for all others; only their cost is ignored. Any order is
	// allowed, and at least one input must remain.
	Exclude []int

	// Gap is the relative gap (Upper - Lower) / Upper at which Solve stops; 0 means DefaultGap. A gap of 1e-15 of the
	// largest cost is always enough. Uniform and Shape ignore Gap: they find the best scale.
	Gap float64
	// MaxEvaluations bounds the evaluations of all phi_i; 0 means DefaultMaxEvaluations for Uniform and Shape, and no
	// bound for Solve.
	MaxEvaluations int
	// MaxPivots bounds the pivots of Solve; 0 means 200 (k + kv) + 10000, ten times the largest number observed.
	MaxPivots int
}

const (
	// DefaultMaxEvaluations is far above the 4 to 16 evaluations that the search for a scale takes: it stops a search that
	// rounding errors have led astray.
	DefaultMaxEvaluations = 200
	// DefaultGap is the relative gap of Solve.
	DefaultGap = 1e-9
)

// resolve checks the settings for a k x kv cost and fills in defaults.
func (s Settings) resolve(k, kv int, solve bool) (Settings, error) {
	if err := s.check(k); err != nil {
		return s, err
	}
	if s.MaxEvaluations == 0 {
		s.MaxEvaluations = DefaultMaxEvaluations
		if solve {
			s.MaxEvaluations = math.MaxInt
		}
	}
	if s.MaxPivots == 0 && solve {
		s.MaxPivots = 200*(k+kv) + 10000
	}
	if s.Gap == 0 {
		s.Gap = DefaultGap
	}
	return s, nil
}

// check has the rules, in the order in which they are reported.
func (s Settings) check(k int) error {
	for _, rule := range []struct {
		bad  bool
		what string
		args []any
	}{
		{s.MaxEvaluations < 0, "MaxEvaluations = %d", []any{s.MaxEvaluations}},
		{s.MaxPivots < 0, "MaxPivots = %d", []any{s.MaxPivots}},
		{!(s.Gap >= 0 && s.Gap <= 1), "Gap = %v, want 0 to 1", []any{s.Gap}},
		{s.Objective < WorstCase || s.Objective > Mixed, "Objective = %d", []any{int(s.Objective)}},
		{!(s.Mix >= 0 && s.Mix <= 1) || (s.Mix != 0 && s.Objective != Mixed), "Mix = %v with objective %v",
			[]any{s.Mix, s.Objective}},
		{s.InputWeights != nil && s.Objective == WorstCase, "InputWeights with objective %v", []any{s.Objective}},
	} {
		if rule.bad {
			return fmt.Errorf("%w: %s", wpmerr.ErrSettings, fmt.Sprintf(rule.what, rule.args...))
		}
	}
	if err := s.checkWeights(k); err != nil {
		return err
	}
	_, err := s.included(k)
	return err
}

// checkWeights accepts weights of ordinary size beside the largest.
func (s Settings) checkWeights(k int) error {
	if s.InputWeights == nil {
		return nil
	}
	if err := checkMeasure("InputWeights", s.InputWeights, k); err != nil {
		return fmt.Errorf("%w: %w", wpmerr.ErrSettings, err)
	}
	largest := slices.Max(s.InputWeights)
	for i, w := range s.InputWeights {
		if w > 0 && w/largest < leastWeight {
			return fmt.Errorf("%w: InputWeights[%d] = %v beside %v", wpmerr.ErrSettings, i, w, largest)
		}
	}
	return nil
}

// leastWeight is the least weight of an input, relative to the largest, that is not zero: all weights must be normal
// floats once they are normalised, for error bounds are relative.
const leastWeight = 0x1p-600

// included returns which inputs count in the maximum.
func (s Settings) included(k int) ([]bool, error) {
	in := make([]bool, k)
	for i := range in {
		in[i] = true
	}
	for _, i := range s.Exclude {
		if i < 0 || i >= k {
			return nil, fmt.Errorf("%w: Exclude has input %d of %d", wpmerr.ErrSettings, i, k)
		}
		if !in[i] {
			return nil, fmt.Errorf("%w: Exclude has input %d twice", wpmerr.ErrSettings, i)
		}
		in[i] = false
	}
	if len(s.Exclude) == k {
		return nil, fmt.Errorf("%w: Exclude leaves no input", wpmerr.ErrSettings)
	}
	return in, nil
}

// criterion is an objective, ready for use. Its numbers are those of the settings with a relative error of a few
// roundings (weightError).
type criterion struct {
	share float64   // weight of the maximum
	floor []float64 // weight of each input in the average, summing to 1 - share
	inMax []bool    // inputs that count in the maximum
}

// weightError bounds the relative error of share*weight/sum + floor: two roundings in 1 - share times w, those of the
// sum and the quotient, and the same again for the other part.
const weightError = 8 * 0x1p-53

func (s Settings) criterion(k int) criterion {
	c := criterion{share: 1, floor: slices.Repeat([]float64{1 / float64(k)}, k)}
	switch s.Objective {
	case Average:
		c.share = 0
	case Mixed:
		c.share = s.Mix
	}
	c.inMax, _ = s.included(k)
	if s.InputWeights != nil {
		c.floor = normalise(s.InputWeights)
	}
	for i := range c.floor {
		c.floor[i] *= 1 - c.share
	}
	return c
}

// worst is the largest phi that counts, and its lowest input.
func (c criterion) worst(phi []float64) (float64, int) {
	at := -1
	for i, x := range phi {
		if c.inMax[i] && (at < 0 || x > phi[at]) {
			at = i
		}
	}
	return phi[at], at
}

// value is the objective.
func (c criterion) value(phi []float64) float64 {
	worst, _ := c.worst(phi)
	if c.share == 1 {
		return worst
	}
	return num.Dot(c.floor, phi) + c.share*worst
}

// normalise returns shape / sum shape without overflow.
func normalise(shape []float64) []float64 {
	largest := 0.0
	for _, x := range shape {
		largest = max(largest, x)
	}
	_, exp := math.Frexp(largest)
	w := make([]float64, len(shape))
	for j, x := range shape {
		w[j] = math.Ldexp(x, -exp)
	}
	sum := num.Sum(w)
	for j := range w {
		w[j] /= sum
	}
	return w
}

func fill(x []float64, v float64) {
	for i := range x {
		x[i] = v
	}
}
