package basemeasure

import (
	"math"

	"github.com/wpm-go/wpm/internal/num"
)

// Status says why a search ended.
type Status int

const (
	// Unknown is the Status of a call that failed and has no Result.
	Unknown Status = iota
	// Converged: Solve proved the requested gap; Uniform and Shape found the best scale.
	Converged
	// Stalled: rounding errors stopped Solve. The answer is feasible and its bounds hold.
	Stalled
	// Limited: MaxEvaluations or MaxPivots was reached.
	Limited
	// Cancelled: the context ended.
	Cancelled
)

// String returns the name of the status.
func (s Status) String() string {
	return num.Name(int(s), "unknown", "converged", "stalled", "limited", "cancelled")
}

// Stats counts the work done.
type Stats struct {
	Evaluations int // of all phi_i at one measure
	Pivots      int // of the simplex, those of its start included
	Refactors   int // inverses computed from scratch
	Recomputes  int // values and prices computed from the inverse
	Rejected    int // entering variables without an acceptable pivot
	Restarts    int // new attempts, in units of the value
	Shifts      int // certificates computed
	Steps       int // of the interior phase
}

// Result is a base measure with its evidence.
type Result struct {
	// M is the base measure, one mass per output; its box is [e^(-eps/2) M, e^(eps/2) M]. Minimisers are not
	// unique: compare F, never M.
	M []float64
	// F is the objective at M, in units of C, to within rounding; for the worst case it is f(M).
	F float64
	// Upper is at least the objective at M, and Lower at most the objective of every eps-LDP mechanism.
	Upper, Lower float64
	// WorstCase is the largest cost of an input that is not excluded, and Worst is the lowest input that attains it. Mean
	// is the mean cost over all inputs, with the weights Settings.InputWeights if there are any. All are accurate to
	// within rounding.
	WorstCase float64
	Worst     int
	Mean      float64
	// Weights and Thresholds, one per input, prove Lower (see the package comment). Weights are the adversary's
	// in the maximum: >= 0, counted relative to their sum, all zero for the objective Average. Where an input has
	// no weight at all the threshold is zero and has no meaning.
	Weights, Thresholds []float64
	// Mass is the sum of M, Nonzeros the number of its entries that are not zero (the other outputs are never
	// released), and Peak its largest entry over the mean entry Mass/kv.
	Mass     float64
	Nonzeros int
	Peak     float64
	// Status says why the search ended.
	Status Status
	// Stats counts the work.
	Stats Stats
	// Settings are the settings used, defaults filled in.
	Settings Settings
}

// Gap is Upper - Lower: M is worse than the best eps-LDP mechanism by at most this much.
func (r Result) Gap() float64 { return r.Upper - r.Lower }

// describe fills in Mass, Nonzeros and Peak.
func (r *Result) describe() {
	r.Mass = num.Sum(r.M)
	peak := 0.0
	for _, x := range r.M {
		if x > 0 {
			r.Nonzeros++
		}
		peak = max(peak, x)
	}
	r.Peak = peak / r.Mass * float64(len(r.M))
}

// unscale gives the bounds of res their true scale, 2^exponent times that of the table they were computed with.
func (res *Result) unscale(c criterion, exponent int) {
	for i, w := range res.Weights {
		if w == 0 && c.floor[i] == 0 {
			res.Thresholds[i] = 0
		}
	}
	// A mean of the largest floats, rounded up, is not infinite.
	res.F = min(math.Ldexp(res.F, exponent), math.MaxFloat64)
	res.WorstCase = math.Ldexp(res.WorstCase, exponent)
	res.Mean = min(math.Ldexp(res.Mean, exponent), math.MaxFloat64)
	res.Upper = math.Ldexp(res.Upper, exponent)
	if exponent != 0 {
		// Entries and results below the smallest normal float were rounded; each is off by one step at most.
		res.Upper = math.Nextafter(res.Upper+math.Ldexp(math.SmallestNonzeroFloat64, exponent), math.Inf(1))
	}
	for i, t := range res.Thresholds {
		res.Thresholds[i] = math.Ldexp(t, exponent)
	}
	res.Lower = math.Ldexp(res.Lower, exponent)
	if exponent != 0 {
		res.Lower = max(0, math.Nextafter(res.Lower, math.Inf(-1)))
	}
	res.Lower = min(max(res.Lower, 0), res.F)
	res.Upper = max(res.Upper, res.F)
}
