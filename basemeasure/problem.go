package basemeasure

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/knapsack"
	"github.com/wpm-go/wpm/wpmerr"
)

// problem is a checked problem, ready to be solved.
type problem struct {
	k, kv     int
	priv      privacy
	table     *knapsack.Table // costs times 2^-exponent
	exponent  int
	maxCost   float64 // of the costs as given
	criterion criterion
}

// privacy encloses e^(-eps/2), e^(eps/2) and e^eps.
type privacy struct{ alpha, beta, e num.Enclosure }

// newPrivacy halves eps, which is exact but for a subnormal eps, where all three are 1 to 2^-1000.
func newPrivacy(eps float64) privacy {
	return privacy{alpha: num.Exp(-eps / 2), beta: num.Exp(eps / 2), e: num.Exp(eps)}
}

// inside returns bounds around x that lie in [alpha x, beta x].
func (p privacy) inside(x float64) (lo, hi float64) {
	return min(math.Nextafter(p.alpha.Up*x, math.Inf(1)), x), max(math.Nextafter(p.beta.Down*x, math.Inf(-1)), x)
}

// fewRows are sorted even when the context has ended, so that there is a Result for them.
const fewRows = 48

// sorted returns the table of c. If ctx ends before it is complete, the error is that of ctx.
func sorted(ctx context.Context, c cost.Matrix) (*knapsack.Table, error) {
	ctx = wpmerr.Context(ctx)
	table, err := knapsack.New(ctx, c)
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		if k, _ := c.Dims(); k > fewRows {
			return nil, fmt.Errorf("no Result: %w", err)
		}
		table, err = knapsack.New(context.Background(), c)
	}
	if err != nil {
		return nil, err
	}
	return table, nil
}

// newProblem checks a problem, and its settings, which it returns with the defaults filled in.
func newProblem(ctx context.Context, c cost.Matrix, eps float64, s Settings, solve bool) (*problem, Settings, error) {
	if err := checkEps(eps); err != nil {
		return nil, s, err
	}
	table, err := sorted(ctx, c)
	if err != nil {
		return nil, s, err
	}
	p := &problem{priv: newPrivacy(eps), maxCost: table.MaxCost()}
	p.k, p.kv = table.Dims()
	if s, err = s.resolve(p.k, p.kv, solve); err != nil {
		return nil, s, err
	}
	p.criterion = s.criterion(p.k)
	p.table, p.exponent, err = rescale(ctx, table, p.priv)
	return p, s, err
}

// rescale returns a table of C * 2^-exponent with entries of ordinary size, so that a cost times e^eps does
// not overflow and one divided by it does not underflow. Nearly always that is C itself, with exponent 0.
func rescale(ctx context.Context, table *knapsack.Table, p privacy) (*knapsack.Table, int, error) {
	_, exponent := math.Frexp(table.MaxCost())
	_, spread := math.Frexp(p.e.Up)
	if table.MaxCost() == 0 || (exponent+spread < 1000 && exponent-spread > -900 && exponent < 500) {
		return table, 0, nil
	}
	k, kv := table.Dims()
	scaled := &cost.Dense{K: k, Kv: kv, Data: make([]float64, 0, k*kv)}
	for i := range k {
		for _, c := range table.Row(i, nil) {
			scaled.Data = append(scaled.Data, math.Ldexp(c, -exponent))
		}
	}
	table, err := sorted(ctx, scaled)
	if err != nil {
		return nil, 0, err
	}
	return table, exponent, nil
}

// evaluate returns the cost of each input at a measure, and its threshold. It returns an error if no distribution is in
// the box.
func (p *problem) evaluate(m []float64) (phi, tau []float64, err error) {
	lo, hi := make([]float64, p.kv), make([]float64, p.kv)
	for j, x := range m {
		lo[j], hi[j] = p.priv.alpha.Near*x, p.priv.beta.Near*x
	}
	phi, tau = make([]float64, p.k), make([]float64, p.k)
	return phi, tau, p.table.All(lo, hi, phi, tau)
}

// certified returns an upper bound on the objective at m: the value over a box inside [alpha m, beta m], plus the error
// of computing it (a quarter more, for the two operations that add it). m itself is always inside.
func (p *problem) certified(m []float64) float64 {
	lo, hi := make([]float64, p.kv), make([]float64, p.kv)
	for j, x := range m {
		lo[j], hi[j] = p.priv.inside(x)
	}
	phi := make([]float64, p.k)
	if err := p.table.All(lo, hi, phi, nil); err != nil {
		return math.Inf(1)
	}
	f, off := p.criterion.value(phi), 0.0
	if p.criterion.share < 1 {
		off = 2*weightError + float64(p.k)*0x1p-90
	}
	return f + f*(1.25*knapsack.PhiError+off) + float64(p.kv+p.k)*math.SmallestNonzeroFloat64
}

// result returns the Result of a measure, with bounds and the proof of the lower one, in the scale of the costs as
// given.
func (p *problem) result(s Settings, m []float64, upper float64, lower proof) Result {
	s.InputWeights, s.Exclude = slices.Clone(s.InputWeights), slices.Clone(s.Exclude)
	res := Result{
		Settings: s, M: slices.Clone(m), Upper: upper, Lower: lower.lower,
		Weights: slices.Clone(lower.weights), Thresholds: slices.Clone(lower.thresholds),
	}
	if phi, _, err := p.evaluate(m); err != nil {
		res.F = math.NaN() // cannot happen: the same box was evaluated before
	} else {
		res.WorstCase, res.Worst = p.criterion.worst(phi)
		res.F = p.criterion.value(phi)
		res.Mean = mean(s.InputWeights, phi)
		res.Upper = max(res.Upper, res.F)
	}
	res.unscale(p.criterion, p.exponent)
	return res
}

// mean is the weighted mean of phi.
func mean(weights, phi []float64) float64 {
	if weights == nil {
		return num.Sum(phi) / float64(len(phi))
	}
	return num.Dot(normalise(weights), phi)
}

// finish completes a result; stop is why the search ended early.
func (p *problem) finish(res Result, stop error) (Result, error) {
	res.describe()
	res.Upper = max(res.F, min(res.Upper, p.maxCost)) // no mean of costs exceeds the largest one
	if !(0 <= res.Lower && res.Lower <= res.F && res.F <= res.Upper) {
		return Result{}, fmt.Errorf("%w: lower, f, upper = %v, %v, %v contradict each other", wpmerr.ErrCertificate, res.Lower,
			res.F, res.Upper)
	}
	if stop == nil {
		res.Status = Converged
		return res, nil
	}
	res.Status = Limited
	switch {
	case errors.Is(stop, context.Canceled), errors.Is(stop, context.DeadlineExceeded):
		res.Status = Cancelled
	case errors.Is(stop, errStalled):
		res.Status = Stalled
	}
	if !errors.Is(stop, wpmerr.ErrNotConverged) {
		stop = fmt.Errorf("%w: %w", wpmerr.ErrNotConverged, stop)
	}
	return res, fmt.Errorf("%w after %d evaluations", stop, res.Stats.Evaluations)
}

// errStalled is the reason to stop when rounding is in the way.
var errStalled = errors.New("no progress beyond rounding")
