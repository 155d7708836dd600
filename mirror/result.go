package mirror

// Report is the state of a descent after some steps.
type Report struct {
	// Step is the number of iterates so far, T if the descent ended here.
	Step int
	// F is f at the current iterate, Average at the average of the iterates so far, Best the least f of all of
	// them.
	F, Average, Best float64
	// Bound is proved: Average - f* <= Bound. It may be far larger than F, and may be +Inf.
	Bound float64
	// PaperBound is the bound of the paper's proposition for the same number of steps of its own size, whatever the rule
	// of this descent. It can be false if there are more outputs than inputs.
	PaperBound float64
	// Lower is the best certified lower bound on f* so far, as in a Result; it never falls. It is proved, while F, Average
	// and Best are computed in floats, so it can exceed them by their rounding errors.
	Lower float64
}

// Result is a base measure with its evidence. M, F, Upper, Lower, Weights and Thresholds mean what they mean in a
// basemeasure.Result, and basemeasure.Verify checks them.
type Result struct {
	// M is the better of the two candidates, Average and Best.
	M []float64
	// F is f(M), the worst case over all inputs in units of C, to within rounding.
	F float64
	// Upper >= f(M), and Lower <= the worst case of every eps-LDP mechanism.
	Upper, Lower float64
	// Weights and Thresholds, one per input, prove Lower. Weights are >= 0 and count relative to their sum.
	// Where a weight is zero the threshold is zero and has no meaning.
	Weights, Thresholds []float64

	// Average is the weighted average of the iterates, the paper's answer, and FAverage is its f.
	Average  []float64
	FAverage float64
	// Best is the iterate with the least f, the first of them if there are several, BestStep its number,
	// from 1, and FBest its f.
	Best     []float64
	FBest    float64
	BestStep int

	// Bound is proved for the steps taken: FAverage - f* <= Bound. PaperBound is what the paper states. See
	// Report.
	Bound, PaperBound float64

	// Steps is the number of iterates evaluated: Settings.Steps unless the context ended.
	Steps int
	// History has the reports in order. The last one is about the last step.
	History []Report
	// Settings are the settings used, defaults filled in.
	Settings Settings
}

// Gap is Upper - Lower: M is worse than the best eps-LDP mechanism by at most this much.
func (r Result) Gap() float64 { return r.Upper - r.Lower }
