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

// Uniform returns the uniform base measure of the best mass: the t that minimises f(t, ..., t).
//
// eps = 0 gives the uniform distribution. A cost that does not distinguish outputs gives mass 1. Pass a
// *knapsack.Table as c to sort the cost only once for several calls. Errors: ErrShape, ErrNotFinite,
// ErrNegative, ErrEpsilon, ErrSettings; ErrNotConverged, with the best Result so far and valid bounds,
// if ctx ends or MaxEvaluations is reached, and without a Result if ctx ends before more than 48 rows of costs are
// sorted.
func Uniform(ctx context.Context, c cost.Matrix, eps float64, settings Settings) (Result, error) {
	table, err := sorted(ctx, c)
	if err != nil {
		return Result{}, err
	}
	_, kv := table.Dims()
	shape := make([]float64, kv)
	for j := range shape {
		shape[j] = 1
	}
	return Shape(ctx, table, shape, eps, settings)
}

// Shape returns the best multiple of the given measure, which may have zeros and any positive total: the
// multiple s that minimises f(s*shape). Errors as Uniform, and ErrMass for a shape that is zero.
func Shape(ctx context.Context, c cost.Matrix, shape []float64, eps float64, settings Settings) (Result, error) {
	ctx = wpmerr.Context(ctx)
	p, err := newProblem(ctx, c, eps, settings, false)
	if err != nil {
		return Result{}, err
	}
	if err := checkMeasure("shape", shape, p.kv); err != nil {
		return Result{}, err
	}
	r := p.ray(shape)
	res := p.result()
	stop := r.search(ctx)
	r.choose(&res)
	if err := r.prove(ctx, &res, p.exponent); err != nil && stop == nil {
		stop = err
	}
	res.Stats.Evaluations = r.count
	return p.finish(res, stop)
}

// problem is a checked problem, ready to be solved.
type problem struct {
	settings Settings
	k, kv    int
	priv     privacy
	table    *knapsack.Table // costs times 2^-exponent
	exponent int
	maxCost  float64 // of the costs as given
	aim      aim
}

// fewRows are sorted even when the context has ended, so that there is a Result for them.
const fewRows = 48

// sorted returns the table of c. If ctx ends before it is complete, the error is that of ctx.
func sorted(ctx context.Context, c cost.Matrix) (*knapsack.Table, error) {
	table, err := knapsack.NewContext(ctx, c)
	if ctx != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		if k, _ := c.Dims(); k > fewRows {
			return nil, fmt.Errorf("no Result: %w", err)
		}
		table, err = knapsack.New(c)
	}
	if err != nil {
		return nil, err
	}
	return table, nil
}

func newProblem(ctx context.Context, c cost.Matrix, eps float64, settings Settings, solve bool) (*problem, error) {
	if err := checkEps(eps); err != nil {
		return nil, err
	}
	table, err := sorted(ctx, c)
	if err != nil {
		return nil, err
	}
	p := &problem{priv: newPrivacy(eps), maxCost: table.MaxCost()}
	p.k, p.kv = table.Dims()
	if p.settings, err = settings.resolve(p.k, p.kv, solve); err != nil {
		return nil, err
	}
	p.aim = p.settings.aim(p.k)
	if p.table, p.exponent, err = rescale(ctx, table, p.priv); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *problem) result() Result {
	settings := p.settings
	settings.Initial = nil
	settings.InputWeights = slices.Clone(settings.InputWeights)
	settings.Exclude = slices.Clone(settings.Exclude)
	return Result{
		Settings: settings, M: make([]float64, p.kv), Weights: make([]float64, p.k), Thresholds: make([]float64, p.k),
		Upper: math.Inf(1), Lower: math.Inf(-1),
	}
}

// ray is the search along the multiples of shape.
func (p *problem) ray(shape []float64) *ray {
	return &ray{
		table: p.table, priv: p.priv, aim: p.aim, shape: normalise(shape), limit: p.settings.MaxEvaluations,
		m: make([]float64, p.kv), lo: make([]float64, p.kv), hi: make([]float64, p.kv), g: make([]float64, p.kv),
		phi: make([]float64, p.k), tau: make([]float64, p.k),
	}
}

// finish brings the result back to the scale of the costs as given; stop is why the search ended early.
func (p *problem) finish(res Result, stop error) (Result, error) {
	res.unscale(p.aim, p.exponent)
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

// ray evaluates f along t*shape and finds its minimum.
type ray struct {
	table        *knapsack.Table
	priv         privacy
	aim          aim
	shape        []float64 // sums to 1
	count, limit int

	left, right line // lines that bracket the minimum, once search has ended without an error
	kink        bool // left and right are set
	best        float64
	bestF       float64
	last        float64 // where the last two lines met

	m, lo, hi, g, phi, tau []float64 // scratch
}

// line is a cut of the objective: tau + t*slope <= F(t*shape), with equality at t = at. The search is Kelley's
// cutting-plane method in one dimension. For the worst case it is the cut of one input at its threshold; otherwise the
// combination of the cuts of all inputs with the weights of the objective.
type line struct {
	at, tau, slope float64
	row            int
	taus           []float64 // thresholds of all inputs, nil for the worst case
}

// same reports whether two evaluations gave the same line.
func (l line) same(m line) bool {
	return l.row == m.row && l.tau == m.tau && (l.taus == nil || l.slope == m.slope)
}

// tauOf is the threshold of an input that has a weight in the line.
func (l line) tauOf(i int) float64 {
	if l.taus == nil {
		return l.tau
	}
	return l.taus[i]
}

// measure writes t*shape to r.m and its box to r.lo, r.hi.
func (r *ray) measure(t float64) {
	for j, w := range r.shape {
		m := t * w
		r.m[j] = m
		r.lo[j], r.hi[j] = r.priv.alpha.Near*m, r.priv.beta.Near*m
	}
}

// eval evaluates f at t and returns its line there.
func (r *ray) eval(t float64) (line, float64) {
	r.count++
	r.measure(t)
	l, f := r.touch(t)
	if r.count == 1 || f < r.bestF {
		r.best, r.bestF = t, f
	}
	return l, f
}

// touch returns the objective at r.m and its line there.
func (r *ray) touch(t float64) (line, float64) {
	slope := func(i int, tau float64) float64 {
		r.table.Subgradient(i, tau, r.priv.alpha.Near, r.priv.beta.Near, r.g)
		return num.Dot(r.shape, r.g)
	}
	if r.aim.plain {
		f, row := r.table.Max(r.lo, r.hi)
		_, tau := r.table.Phi(row, r.lo, r.hi)
		return line{at: t, tau: tau, slope: slope(row, tau), row: row}, f
	}
	if err := r.table.All(r.lo, r.hi, r.phi, r.tau); err != nil {
		return line{at: t}, math.NaN() // cannot happen: the scale is in the range
	}
	_, row := r.aim.worst(r.phi)
	l := line{at: t, row: row}
	if r.aim.share > 0 {
		l.tau, l.slope = r.aim.share*r.tau[row], r.aim.share*slope(row, r.tau[row])
	}
	if r.aim.share < 1 {
		l.taus = slices.Clone(r.tau)
		l.tau += num.Dot(r.aim.floor, r.tau)
		for i, w := range r.aim.floor {
			if w > 0 {
				l.slope += w * slope(i, r.tau[i])
			}
		}
	}
	return l, r.aim.value(r.phi)
}

// closedTol is the relative difference between f and the meeting point of two lines at which the search is
// over. Both are sums of non-negative terms with relative errors below 2^-48.
const closedTol = 0x1p-47

// search finds the minimum of f over the feasible scales. It returns nil, or why it stopped early.
func (r *ray) search(ctx context.Context) error {
	// Mass 1 is inside the range whatever eps is, and the natural answer where f is constant.
	middle, _ := r.eval(1)
	if middle.slope == 0 || r.priv.alpha.Near == r.priv.beta.Near {
		return nil
	}
	if err := r.interrupted(ctx); err != nil {
		return err
	}
	// At an end of the range the box is a point and f the cost of a constant mechanism. By convention the
	// thresholds there are the extreme ones of the row, so the slopes point inwards or f is constant.
	var end line
	if middle.slope < 0 {
		end, _ = r.eval(r.priv.beta.Near)
		r.left, r.right = middle, end
	} else {
		end, _ = r.eval(r.priv.alpha.Near)
		r.left, r.right = end, middle
	}
	if end.slope == 0 {
		return nil // that input costs the same whatever is released, and no input costs more
	}
	r.kink = true
	for round := 1; ; round++ {
		if err := r.interrupted(ctx); err != nil {
			return err
		}
		t, closed, flat := r.meet(round%bisectEvery == 0)
		if flat {
			return nil
		}
		if !closed {
			continue
		}
		if more, err := r.beyond(ctx, t); !more {
			return err
		}
	}
}

// meet evaluates f where the two lines meet (or, to bisect, in the middle of the bracket) and replaces one of
// them. closed says that the bracket is down to rounding, flat that f is constant.
func (r *ray) meet(bisect bool) (t float64, closed, flat bool) {
	t = (r.left.tau - r.right.tau) / (r.right.slope - r.left.slope)
	if bisect {
		t = math.Sqrt(r.left.at) * math.Sqrt(r.right.at)
	}
	if !(t > r.left.at && t < r.right.at) {
		return t, true, false
	}
	meet, f := r.eval(t)
	// On the right line nothing cancels: all three numbers are non-negative.
	value := r.right.tau + t*r.right.slope
	closed = !bisect && (f <= value+closedTol*value || meet.same(r.left) || meet.same(r.right))
	switch {
	case meet.slope == 0:
		return t, closed, true
	case meet.slope < 0:
		r.left = meet
	default:
		r.right = meet
	}
	return t, closed, false
}

// beyond looks a few roundings to the right of t, where f can still be falling steeply: the left line cancels, so it is
// good to a rounding of its threshold, which may be many times f. It reports whether the search goes on.
func (r *ray) beyond(ctx context.Context, t float64) (more bool, err error) {
	r.last = min(max(t, r.left.at), r.right.at)
	t = r.last * (1 + nudges[len(nudges)-1])
	if !(t < r.right.at) {
		return false, nil
	}
	if err := r.interrupted(ctx); err != nil {
		return false, err
	}
	before := r.bestF
	line, f := r.eval(t)
	if !(line.slope < 0 && f < before-closedTol*before) {
		return false, nil
	}
	r.left = line
	return true, nil
}

// bisectEvery: every so many rounds the bracket is halved (in the logarithm) instead. Tangents alone are
// slow where many lines crowd on one side and the range covers hundreds of orders of magnitude.
const bisectEvery = 5

// interrupted reports why the search must not go on.
func (r *ray) interrupted(ctx context.Context) error {
	if ctx.Err() != nil {
		return wpmerr.Ended(ctx)
	}
	if r.count >= r.limit {
		return fmt.Errorf("limit of %d evaluations", r.limit)
	}
	return nil
}

// nudges are steps to the right, relative to the scale, that rounding cannot undo: the meeting point of two
// lines is good to about five units of 2^-53, each entry of M to one, and each bound of the certified box to
// five. f rises by at most the relative step to the right of the minimum (there t*slope = f - tau <= f), but
// may rise to any multiple of f on the left.
var nudges = [...]float64{0, 0x1p-50, 0x1p-49, 0x1p-48}

// choose fills M, F, Upper, Worst and Mean with the scale whose certified worst case is smallest: where the
// last lines meet, or the best value seen, each as it is or nudged to the right.
func (r *ray) choose(res *Result) {
	tried := []float64{r.best}
	if r.kink && r.last != r.best && r.last > 0 {
		tried = append(tried, r.last)
	}
	res.Upper = math.Inf(1)
	for _, t := range tried {
		for _, nudge := range nudges {
			r.measure(min(t*(1+nudge), max(t, r.priv.beta.Near)))
			if upper := r.certified(); upper < res.Upper {
				res.Upper = upper
				copy(res.M, r.m)
			}
		}
	}
	copy(r.m, res.M)
	r.appraise(res)
}

// appraise fills in F, WorstCase, Worst and Mean for the measure r.m, which must be inside the range.
func (r *ray) appraise(res *Result) {
	for j, m := range r.m {
		r.lo[j], r.hi[j] = r.priv.alpha.Near*m, r.priv.beta.Near*m
	}
	if err := r.table.All(r.lo, r.hi, r.phi, r.tau); err != nil {
		res.F = math.NaN() // cannot happen: the same box was evaluated before
		return
	}
	res.WorstCase, res.Worst = r.aim.worst(r.phi)
	res.F = r.aim.value(r.phi)
	res.Mean = mean(res.Settings.InputWeights, r.phi)
	res.Upper = max(res.Upper, res.F)
}

// mean is the weighted mean of phi.
func mean(weights, phi []float64) float64 {
	if weights == nil {
		return num.Sum(phi) / float64(len(phi))
	}
	return num.Dot(normalise(weights), phi)
}

// certified returns an upper bound on the objective at r.m: the value over a box inside [alpha m, beta m], plus
// the error of computing it (a quarter more, for the two operations that add it). m itself is always inside.
func (r *ray) certified() float64 {
	for j, m := range r.m {
		r.lo[j] = min(math.Nextafter(r.priv.alpha.Up*m, math.Inf(1)), m)
		r.hi[j] = max(math.Nextafter(r.priv.beta.Down*m, math.Inf(-1)), m)
	}
	var f, off float64
	if r.aim.plain {
		var row int
		if f, row = r.table.Max(r.lo, r.hi); row < 0 {
			return math.Inf(1)
		}
	} else {
		if err := r.table.All(r.lo, r.hi, r.phi, nil); err != nil {
			return math.Inf(1)
		}
		f = r.aim.value(r.phi)
		off = 2*aimError + float64(len(r.phi))*0x1p-90
	}
	return f + f*(1.25*knapsack.PhiError+off) + float64(len(r.m)+len(r.phi))*math.SmallestNonzeroFloat64
}
