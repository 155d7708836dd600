package mirror

import (
	"context"
	"fmt"
	"math"

	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/knapsack"
	"github.com/wpm-go/wpm/wpmerr"
)

// MaxEpsilon is the largest eps that solvers accept: e^MaxEpsilon is well inside float64.
const MaxEpsilon = num.MaxEpsilon

// Descend runs Settings.Steps steps of mirror descent for the costs of table.
//
// Errors: ErrShape, ErrEpsilon, ErrSettings; ErrNotConverged, with the Result of the steps so far (at least one), if ctx
// ends; and ErrCertificate, without a Result, if rounding has made the bounds contradict each other, which no input is
// known to do.
func Descend(ctx context.Context, table *knapsack.Table, eps float64, settings Settings) (Result, error) {
	settings, err := settings.resolve()
	if err != nil {
		return Result{}, err
	}
	if k, _ := table.Dims(); k == 0 {
		return Result{}, fmt.Errorf("%w: nil or empty", wpmerr.ErrShape)
	}
	if !(eps >= 0 && eps <= MaxEpsilon) {
		return Result{}, fmt.Errorf("%w: eps = %v, want 0 <= eps <= %d", wpmerr.ErrEpsilon, eps, MaxEpsilon)
	}
	ctx = wpmerr.Context(ctx)
	d, p := newDescent(table, eps, settings), newProver(table, eps)
	history := make([]Report, 0, settings.reports())
	var stop error
	for t := 1; ; t++ {
		d.evaluate(t)
		d.step() // one more than the iterates need: the bound is about every subgradient
		if t < settings.Steps && ctx.Err() != nil {
			stop = wpmerr.Ended(ctx)
		}
		if stop != nil || settings.due(t) {
			r := d.report()
			r.Lower = p.improve(&d.cuts)
			if history = append(history, r); settings.Report != nil {
				settings.Report(r)
			}
		}
		if stop != nil || t == settings.Steps {
			break
		}
	}
	res, err := d.finish(history, p)
	if err != nil {
		return Result{}, err
	}
	res.Settings = settings
	if stop != nil {
		return res, fmt.Errorf("%w after step %d of %d", stop, res.Steps, settings.Steps)
	}
	return res, nil
}

// descent is the state between two steps. Masses are those of base measures (the paper's m), and change by
// factors, so their logarithms are kept: what has become too small for a float64 can come back.
type descent struct {
	table *knapsack.Table
	eps   float64
	alpha float64 // e^(-eps/2), and beta its inverse, to nearest
	beta  float64
	rule  rule

	t      int
	m      []float64 // the iterate
	log    []float64 // its logarithm
	g      []float64 // the subgradient at m in units of beta*R: the h_j of type rule
	lo, hi []float64
	phi    []float64
	tau    []float64
	f      float64 // max phi
	worst  int

	weight     float64   // sum of the weights of the iterates so far
	sum, carry []float64 // their weighted sum, compensated
	average    []float64 // scratch
	best       []float64
	bestF      float64
	bestStep   int
	cuts       cuts
}

func newDescent(table *knapsack.Table, eps float64, settings Settings) *descent {
	k, kv := table.Dims()
	floats := func(n int) []float64 { return make([]float64, n) }
	d := &descent{
		table: table, eps: eps, alpha: math.Exp(-eps / 2), beta: math.Exp(eps / 2),
		rule: newRule(table, eps, settings),
		m:    floats(kv), log: floats(kv), g: floats(kv), lo: floats(kv), hi: floats(kv),
		phi: floats(k), tau: floats(k),
		sum: floats(kv), carry: floats(kv), average: floats(kv),
		best: floats(kv), bestF: math.Inf(1),
		cuts: cuts{weights: floats(k), thresholds: floats(k)},
	}
	start := d.rule.start(eps)
	mass := math.Exp(start)
	for j := range d.m {
		d.m[j] = mass / float64(kv)
		d.log[j] = start - math.Log(float64(kv))
	}
	d.rule.arrived(d.log, mass)
	return d
}

// value returns f at m and the worst row; d.tau has the thresholds.
func (d *descent) value(m []float64) (f float64, worst int) {
	for j, x := range m {
		d.lo[j], d.hi[j] = d.alpha*x, d.beta*x
	}
	if err := d.table.All(d.lo, d.hi, d.phi, d.tau); err != nil {
		return math.Inf(1), 0 // the mass was clipped: this cannot be, and finish would refuse it
	}
	for i, phi := range d.phi {
		if phi > d.phi[worst] {
			worst = i
		}
	}
	return d.phi[worst], worst
}

// evaluate takes iterate t into account: its value, its cut, its part of the average.
func (d *descent) evaluate(t int) {
	d.t = t
	d.f, d.worst = d.value(d.m)
	if d.f < d.bestF {
		d.bestF, d.bestStep = d.f, t
		copy(d.best, d.m)
	}
	weight := d.rule.weight(t)
	d.weight += weight
	d.cuts.add(d.worst, d.tau[d.worst], weight)
	for j, x := range d.m {
		s, e := num.TwoSum(d.sum[j], weight*x)
		d.sum[j] = s
		d.carry[j] += e
	}
}

// step moves to the next iterate: m_j e^(-y_j) with y_j = rate*h_j, and its mass clipped.
func (d *descent) step() {
	r := &d.rule
	d.table.Subgradient(d.worst, d.tau[d.worst], r.far, r.near, d.g)
	var norm, largest float64 // sum_j m_j h_j^2, max_j |h_j|
	for j, g := range d.g {
		h := g * r.unit
		d.g[j] = h
		norm += d.m[j] * (h * h)
		largest = max(largest, math.Abs(h))
	}
	rate := r.rate(norm, largest)
	top := math.Inf(-1)
	for j, g := range d.g {
		d.log[j] -= rate * g
		top = max(top, d.log[j])
	}
	// sum_j m_j e^(-y_j) = e^top * total, without overflow.
	var total, spent float64
	scale := min(math.Exp(top), math.MaxFloat64)
	for j, g := range d.g {
		x := math.Exp(d.log[j] - top)
		total += x
		y := rate * g
		spent += y * y / 2 * max(d.m[j], scale*x) // at least m' - m + y*m, m' = m e^(-y), which would cancel
		d.m[j] = x
	}
	row, order := d.table.Row(d.worst, nil), d.table.Order(d.worst)
	still := row[order[0]] == row[order[len(order)-1]]
	r.moved(d.t, rate, spent, still)
	mass := top + math.Log(total)
	clipped := min(max(mass, -d.eps/2), d.eps/2)
	switch {
	case mass > clipped:
		d.shift(clipped-mass, d.beta/num.Sum(d.m))
	case mass < clipped:
		d.shift(clipped-mass, d.alpha/num.Sum(d.m))
	default:
		d.shift(0, scale)
	}
	r.arrived(d.log, math.Exp(clipped))
}

// shift multiplies the masses by a factor, and adds to their logarithms.
func (d *descent) shift(by, factor float64) {
	for j := range d.m {
		d.m[j] *= factor
		d.log[j] += by
	}
}

// report evaluates the average of the iterates so far.
func (d *descent) report() Report {
	d.mean()
	average, _ := d.value(d.average)
	return Report{
		Step: d.t, F: d.f, Average: average, Best: d.bestF, Bound: d.rule.bound(d.t), PaperBound: d.rule.paperBound(d.t),
	}
}

func (d *descent) mean() {
	for j := range d.average {
		d.average[j] = (d.sum[j] + d.carry[j]) / d.weight
	}
}

// finish makes the Result after the last report.
func (d *descent) finish(history []Report, p *prover) (Result, error) {
	last := history[len(history)-1]
	res := Result{
		Average: d.average, FAverage: last.Average, Best: d.best, FBest: d.bestF, BestStep: d.bestStep,
		Weights: p.best.weights, Thresholds: p.best.thresholds, Lower: p.lower,
		Bound: last.Bound, PaperBound: last.PaperBound, Steps: d.t, History: history,
	}
	res.M, res.F = d.best, d.bestF
	if last.Average < d.bestF {
		res.M, res.F = d.average, last.Average
	}
	res.M = append([]float64(nil), res.M...)
	res.Lower = min(res.Lower, res.F)
	res.Upper = min(max(p.upper(res.M), res.F), d.table.MaxCost())
	if !(0 <= res.Lower && res.Lower <= res.F && res.F <= res.Upper) {
		return Result{}, fmt.Errorf("%w: lower, f, upper = %v, %v, %v contradict each other", wpmerr.ErrCertificate, res.Lower,
			res.F, res.Upper)
	}
	return res, nil
}
