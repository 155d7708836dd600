package basemeasure

import "fmt"

// Settings controls the search for the best scale. The zero value is the default.
type Settings struct {
	// MaxEvaluations bounds the evaluations of f; 0 means DefaultMaxEvaluations.
	MaxEvaluations int
}

// DefaultMaxEvaluations is far above the 4 to 16 evaluations that a search takes: it stops a search that
// rounding has sent astray.
const DefaultMaxEvaluations = 200

func (s Settings) resolve() (Settings, error) {
	if s.MaxEvaluations < 0 {
		return s, fmt.Errorf("%w: MaxEvaluations = %d", ErrSettings, s.MaxEvaluations)
	}
	if s.MaxEvaluations == 0 {
		s.MaxEvaluations = DefaultMaxEvaluations
	}
	return s, nil
}

// Result is a base measure with its evidence.
type Result struct {
	// M is the base measure, one mass per output; its box is [e^(-eps/2) M, e^(eps/2) M]. Minimisers are not
	// unique: compare F, never M.
	M []float64
	// F is f(M), the worst case over all inputs in units of C, to within rounding.
	F float64
	// Worst is the lowest input that attains F, and Mean is the mean of the cost over all inputs.
	Worst int
	Mean  float64
	// Upper >= f(M), and Lower <= the worst case of every eps-LDP mechanism.
	Upper, Lower float64
	// Weights and Thresholds, one per input, prove Lower (see the package comment). Weights are >= 0 and
	// count relative to their sum. Where a weight is zero the threshold is zero and has no meaning.
	Weights, Thresholds []float64
	// Mass is the sum of M, and Support the number of its entries that are not zero: the other outputs are
	// never released.
	Mass    float64
	Support int
	// Evaluations counts the evaluations of f.
	Evaluations int
	// Settings are the settings used, defaults filled in.
	Settings Settings
}

// Gap is Upper - Lower: at most this much worse than the best eps-LDP mechanism.
func (r Result) Gap() float64 { return r.Upper - r.Lower }
