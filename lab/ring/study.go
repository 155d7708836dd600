package ring

import (
	"context"
	"errors"
	"fmt"
	"github.com/wpm-go/wpm/projection"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/wpm-go/wpm/baseline"
	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/folder"
	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/lab/report"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/sinkhorn"
	"github.com/wpm-go/wpm/wpmerr"
)

// Errors of this package; those of the solvers pass through.
var (
	// ErrConfig: a Config field out of range.
	ErrConfig = errors.New("ring: bad configuration")
	// ErrGap: a distance whose certified bounds are too far apart to report. It would be a bug.
	ErrGap = errors.New("ring: gap too large")
)

// Config is the protocol. Its zero value is the study of the paper; the fields say what zero means.
type Config struct {
	Out      string    `json:"out"`      // folder to write the report to; "": nothing is written
	Points   int       `json:"points"`   // 0: 30
	P        float64   `json:"p"`        // 0: 2
	Alpha    float64   `json:"alpha"`    // concentration of the Dirichlet distribution; 0: 0.1
	Epsilon  string    `json:"epsilon"`  // of the example and the iterations; "": 5
	Epsilons []string  `json:"epsilons"` // of the comparison, ascending; nil: 0.5, 1, 2, 3, 4, 5, 6
	Lambdas  []float64 `json:"lambdas"`  // in units of C; nil: 0.1, 0.3, 1, 3, 10
	// at which W_2 is measured, ascending; nil: 1, 2, 3, 5, 10, 20, 30, 50, 100, ..., 1000
	Iterations []int  `json:"iterations"`
	Inputs     int    `json:"inputs"` // 0: 500
	Seed       uint64 `json:"seed"`

	// Progress, if not nil, is told what is being done and how much of it is. Calls never overlap.
	Progress func(done, total int, what string) `json:"-"`
}

// Result is everything measured. Distances are W_p in units of the ring's spacing.
type Result struct {
	Config  Config  `json:"config"` // as resolved, without Progress
	Example Example `json:"example"`
	Rows    []Row   `json:"rows"`   // one per eps
	Curves  []Curve `json:"curves"` // one per lambda
	Worst   []Worst `json:"worst"`  // one per mechanism, at Config.Epsilon
	Exact   Mean    `json:"exact"`  // of the exact projection at Config.Epsilon
	KPM     Mean    `json:"kpm"`
	Gap     float64 `json:"gap"` // the largest certified gap of a W_p^p
}

// Example is one input and what becomes of it.
type Example struct {
	Mu    []float64 `json:"mu"`
	WPM   []float64 `json:"wpm"`
	KPM   []float64 `json:"kpm"`
	WWPM  float64   `json:"w_wpm"`
	WKPM  float64   `json:"w_kpm"`
	Scale float64   `json:"scale"` // of the uniform base measure, per point

	// The shares of mass that an optimal plan moves by 0, 1, ... steps or more. Where plans cost the same it is the one
	// that the solver ends at.
	MovedWPM []float64 `json:"moved_wpm"`
	MovedKPM []float64 `json:"moved_kpm"`
}

// moved sums up a plan by steps along the ring.
func moved(plan []projection.Entry, points int) []float64 {
	by := make([]float64, points/2+1)
	for _, e := range plan {
		d := max(e.I-e.J, e.J-e.I)
		by[min(d, points-d)] += e.Mass
	}
	for d := len(by) - 2; d >= 0; d-- {
		by[d] += by[d+1]
	}
	return by
}

// Mean is a mean over the inputs with its standard error.
type Mean struct {
	Mean float64 `json:"mean"`
	SE   float64 `json:"se"`
}

// Row compares the mechanisms at one eps.
type Row struct {
	Epsilon string  `json:"epsilon"`
	Eps     float64 `json:"eps"`
	WPM     Mean    `json:"wpm"`
	KPM     Mean    `json:"kpm"`
	Better  int     `json:"better"` // inputs on which WPM's distance is the smaller
	Worst   float64 `json:"worst"`  // certified: WPM's distance for any input is at most this
	Lower   float64 `json:"lower"`  // certified: no eps-LDP mechanism has a smaller worst case
}

// Worst is the worst case of one mechanism, in W_p.
type Worst struct {
	Mechanism string  `json:"mechanism"`
	Dirac     float64 `json:"dirac"`  // over point masses
	Search    float64 `json:"search"` // the worst mixture that a search met: a lower bound, and no more
	Upper     float64 `json:"upper"`  // certified over all inputs; 0 where nothing is known
}

// Curve is Algorithm 1 with one lambda.
type Curve struct {
	Lambda float64 `json:"lambda"`
	W      []Mean  `json:"w"` // after Config.Iterations
}

// withDefaults fills in what is zero.
func (c Config) withDefaults() Config {
	if c.Points == 0 {
		c.Points = 30
	}
	if c.P == 0 {
		c.P = 2
	}
	if c.Alpha == 0 {
		c.Alpha = 0.1
	}
	if c.Epsilon == "" {
		c.Epsilon = "5"
	}
	if c.Epsilons == nil {
		c.Epsilons = []string{"0.5", "1", "2", "3", "4", "5", "6"}
	}
	if c.Lambdas == nil {
		c.Lambdas = []float64{0.1, 0.3, 1, 3, 10}
	}
	if c.Iterations == nil {
		c.Iterations = []int{1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 300, 500, 1000}
	}
	if c.Inputs == 0 {
		c.Inputs = 500
	}
	return c
}

// check has the rules but those of privacy levels.
func (c Config) check() error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s", ErrConfig, fmt.Sprintf(format, args...))
	}
	switch { // a NaN fails these
	case c.Points < 2 || c.Points > 1000:
		return fail("Points is %d, want 2 to 1000", c.Points)
	case !(c.P >= 0.1 && c.P <= 10):
		return fail("P is %v, want 0.1 to 10", c.P)
	case !(c.Alpha >= 0.01 && c.Alpha <= 100):
		return fail("Alpha is %v, want 0.01 to 100", c.Alpha)
	case c.Inputs < 2 || c.Inputs > 100_000:
		return fail("Inputs is %d, want 2 to 100000", c.Inputs)
	case len(c.Epsilons) < 1 || len(c.Epsilons) > 64 || len(c.Lambdas) < 1 || len(c.Lambdas) > 10 ||
		len(c.Iterations) < 1 || len(c.Iterations) > 1000:
		return fail("%d Epsilons, %d Lambdas, %d Iterations", len(c.Epsilons), len(c.Lambdas), len(c.Iterations))
	}
	for i, l := range c.Lambdas {
		if !(l > 0 && l <= math.MaxFloat64) {
			return fail("Lambdas[%d] is %v", i, l)
		}
	}
	for i, n := range c.Iterations {
		if n < 1 || n > 1_000_000 || i > 0 && n <= c.Iterations[i-1] {
			return fail("Iterations[%d] is %d, want ascending numbers from 1 to 1000000", i, n)
		}
	}
	return nil
}

func (c Config) resolve() (Config, ldp.Epsilon, []ldp.Epsilon, error) {
	c = c.withDefaults()
	if err := c.check(); err != nil {
		return c, ldp.Epsilon{}, nil, err
	}
	fail := func(format string, args ...any) (Config, ldp.Epsilon, []ldp.Epsilon, error) {
		return c, ldp.Epsilon{}, nil, fmt.Errorf("%w: %s", ErrConfig, fmt.Sprintf(format, args...))
	}
	main, err := ldp.ParseEpsilon(c.Epsilon)
	if err != nil {
		return fail("Epsilon: %v", err)
	}
	c.Epsilons, c.Lambdas, c.Iterations = slices.Clone(c.Epsilons), slices.Clone(c.Lambdas), slices.Clone(c.Iterations)
	c.Epsilon = main.String()
	eps := make([]ldp.Epsilon, len(c.Epsilons))
	for i, s := range c.Epsilons {
		if eps[i], err = ldp.ParseEpsilon(s); err != nil {
			return fail("Epsilons[%d]: %v", i, err)
		}
		if i > 0 && eps[i].Cmp(eps[i-1]) <= 0 {
			return fail("Epsilons[%d] = %s after %s, want ascending", i, s, c.Epsilons[i-1])
		}
		c.Epsilons[i] = eps[i].String()
	}
	return c, main, eps, nil
}

// study is one run under way.
type study struct {
	ctx      context.Context
	cfg      Config
	cost     *cost.Dense
	inputs   [][]float64
	progress func(done, total int, what string)
	gap      float64
}

// maxGap is the certified gap of W_p^p, relative to the largest cost, up to which a distance is reported as exact:
// solvers end near 1e-15.
const maxGap = 1e-12

// Run makes the study and writes the report if cfg.Out is set. Errors: ErrConfig, ErrGap, those of the solvers, the
// context's.
func Run(ctx context.Context, cfg Config) (Result, error) {
	cfg, main, all, err := cfg.resolve()
	if err != nil {
		return Result{}, err
	}
	if err := folder.Prepare(cfg.Out); err != nil {
		return Result{}, err
	}
	s := &study{ctx: ctx, cfg: cfg, progress: cfg.Progress}
	if s.cost, err = costOf(cfg); err != nil {
		return Result{}, err
	}
	if s.progress == nil {
		s.progress = func(int, int, string) {}
	}
	s.inputs = Inputs(cfg.Inputs, cfg.Points, cfg.Alpha, cfg.Seed)
	res := Result{Config: cfg}
	res.Config.Progress = nil
	for _, e := range all {
		row, _, err := s.compare(e)
		if err != nil {
			return Result{}, err
		}
		res.Rows = append(res.Rows, row)
	}
	row, ex, err := s.compare(main)
	if err != nil {
		return Result{}, err
	}
	res.Example, res.Exact, res.KPM = ex, row.WPM, row.KPM
	if res.Worst, err = s.worst(main, row.Worst); err != nil {
		return Result{}, err
	}
	for _, l := range cfg.Lambdas {
		c, err := s.iterate(main, l)
		if err != nil {
			return Result{}, err
		}
		res.Curves = append(res.Curves, c)
	}
	res.Gap = s.gap
	if cfg.Out != "" {
		_, err = report.Write(cfg.Out, res.Report())
	}
	return res, err
}

func costOf(cfg Config) (*cost.Dense, error) {
	m, err := cost.NewRing(cfg.Points, cfg.P)
	if err != nil {
		return nil, err
	}
	return cost.Materialize(context.Background(), m)
}

// Inputs draws n distributions on k points from a Dirichlet distribution of concentration alpha > 0.
func Inputs(n, k int, alpha float64, seed uint64) [][]float64 {
	r := rand.New(rand.NewPCG(seed, 0x72696e67)) // "ring": a stream of its own
	out := make([][]float64, n)
	for u := range out {
		logs := make([]float64, k)
		for i := range logs {
			logs[i] = logGamma(alpha, r)
		}
		top := slices.Max(logs)
		var sum float64
		mu := make([]float64, k)
		for i, l := range logs {
			mu[i] = math.Exp(l - top)
			sum += mu[i]
		}
		for i := range mu {
			mu[i] /= sum
		}
		out[u] = mu
	}
	return out
}

// logGamma draws the logarithm of a gamma variable (Marsaglia and Tsang 2000, boosted by one; small shapes underflow,
// their logarithms do not).
func logGamma(shape float64, r *rand.Rand) float64 {
	d := shape + 1 - 1./3
	for {
		x := r.NormFloat64()
		v := 1 + x/math.Sqrt(9*d)
		v = v * v * v
		if v > 0 && -r.ExpFloat64() < 0.5*x*x+d-d*v+d*math.Log(v) {
			return math.Log(d*v) - r.ExpFloat64()/shape
		}
	}
}

// box is the box of the uniform base measure at its exact scale.
func (s *study) box(eps ldp.Epsilon) (lo, hi []float64, base basemeasure.Result, err error) {
	e := eps.Float64()
	if base, err = basemeasure.Uniform(s.ctx, s.cost, e, basemeasure.Settings{}); err != nil {
		return nil, nil, base, fmt.Errorf("ring: base measure at eps %s: %w", eps, err)
	}
	lo, hi = make([]float64, len(base.M)), make([]float64, len(base.M))
	for j, m := range base.M {
		lo[j], hi[j] = math.Exp(-e/2)*m, math.Exp(e/2)*m
	}
	return lo, hi, base, nil
}

// compare projects every input at one eps.
func (s *study) compare(eps ldp.Epsilon) (Row, Example, error) {
	lo, hi, base, err := s.box(eps)
	if err != nil {
		return Row{}, Example{}, err
	}
	row := Row{Epsilon: eps.String(), Eps: eps.Float64(), Worst: s.root(base.Upper), Lower: s.root(base.Lower)}
	wpm, kpm, gaps := make([]float64, len(s.inputs)), make([]float64, len(s.inputs)), make([]float64, len(s.inputs))
	var ex Example
	err = parallel.Each(s.ctx, len(s.inputs), func(u int) error {
		mu := s.inputs[u]
		r, err := mincostflow.Project(s.ctx, projection.Problem{Cost: s.cost, Source: mu, Lo: lo, Hi: hi},
			mincostflow.Settings{})
		if err != nil {
			return fmt.Errorf("ring: projection of input %d at eps %s: %w", u, eps, err)
		}
		q, _, err := baseline.KPM(mu, row.Eps)
		if err != nil {
			return err
		}
		t, err := mincostflow.Transport(s.ctx, s.cost, mu, q)
		if err != nil {
			return fmt.Errorf("ring: transport of input %d at eps %s: %w", u, eps, err)
		}
		wpm[u], kpm[u], gaps[u] = s.root(r.Objective), s.root(t.Objective), max(r.Gap(), t.Gap())
		if u == 0 {
			ex = Example{Mu: mu, WPM: r.Q, KPM: q, WWPM: wpm[0], WKPM: kpm[0], Scale: base.M[0],
				MovedWPM: moved(r.Plan, len(mu)), MovedKPM: moved(t.Plan, len(mu))}
		}
		return nil
	}, func(done int) { s.progress(done, len(s.inputs), "comparing at eps "+eps.String()) })
	if err != nil {
		return Row{}, Example{}, err
	}
	for u := range wpm {
		if wpm[u] < kpm[u] {
			row.Better++
		}
	}
	row.WPM, row.KPM = meanOf(wpm), meanOf(kpm)
	return row, ex, s.note(slices.Max(gaps))
}

// worst looks for the worst input of every mechanism. For WPM, its mixture mode and randomised response point masses
// are the worst there are: the two last are affine rules under a convex loss, and the loss of the first is never above
// that of the second.
func (s *study) worst(eps ldp.Epsilon, certified float64) ([]Worst, error) {
	lo, hi, _, err := s.box(eps)
	if err != nil {
		return nil, err
	}
	e := eps.Float64()
	transport := func(mu, q []float64, err error) (float64, error) {
		if err != nil {
			return 0, err
		}
		t, err := mincostflow.Transport(s.ctx, s.cost, mu, q)
		return t.Objective, err
	}
	rows := make([][]float64, s.cfg.Points) // of the mixture: the projections of the point masses
	for i := range rows {
		r, err := mincostflow.Project(s.ctx,
			projection.Problem{Cost: s.cost, Source: []float64{1}, Support: []int{i}, Lo: lo, Hi: hi}, mincostflow.Settings{})
		if err != nil {
			return nil, fmt.Errorf("ring: projection of point %d: %w", i, err)
		}
		rows[i] = r.Q
	}
	exponential, err := baseline.NewExponential(context.Background(), s.cost, e)
	if err != nil {
		return nil, err
	}
	rules := []struct {
		name     string
		linear   bool
		upper    float64
		distance func(mu []float64) (float64, error)
	}{
		{"WPM", false, certified, func(mu []float64) (float64, error) {
			r, err := mincostflow.Project(s.ctx, projection.Problem{Cost: s.cost, Source: mu, Lo: lo, Hi: hi},
				mincostflow.Settings{})
			return r.Objective, err
		}},
		{"WPM, mixture mode", false, certified, func(mu []float64) (float64, error) {
			q := make([]float64, len(mu))
			for i, w := range mu {
				for j := range q {
					q[j] += w * rows[i][j]
				}
			}
			return transport(mu, q, nil)
		}},
		{"KPM", false, 0, func(mu []float64) (float64, error) {
			q, _, err := baseline.KPM(mu, e)
			return transport(mu, q, err)
		}},
		{"exponential mechanism", false, 0, func(mu []float64) (float64, error) {
			q, err := exponential.Law(mu, nil)
			return transport(mu, q, err)
		}},
		{"randomised response", true, 0, func(mu []float64) (float64, error) {
			q, err := baseline.RandomizedResponse(mu, e)
			return transport(mu, q, err)
		}},
	}
	out := make([]Worst, len(rules))
	err = parallel.Each(s.ctx, len(rules), func(n int) error {
		r := rules[n]
		f, err := baseline.Search(s.ctx, s.cfg.Points, r.distance, 0)
		if err != nil {
			return fmt.Errorf("ring: worst case of %s: %w", r.name, err)
		}
		out[n] = Worst{Mechanism: r.name, Dirac: s.root(f.Dirac), Search: s.root(f.Value), Upper: r.upper}
		if r.linear {
			out[n].Upper = out[n].Dirac
		}
		return nil
	}, func(done int) { s.progress(done, len(rules), "worst cases") })
	return out, err
}

// iterate runs Algorithm 1 on every input and measures its iterates.
func (s *study) iterate(eps ldp.Epsilon, lambda float64) (Curve, error) {
	lo, hi, _, err := s.box(eps)
	if err != nil {
		return Curve{}, err
	}
	w := make([][]float64, len(s.cfg.Iterations)) // by iteration, then input
	for i := range w {
		w[i] = make([]float64, len(s.inputs))
	}
	gaps := make([]float64, len(s.inputs))
	err = parallel.Each(s.ctx, len(s.inputs), func(u int) error {
		p := sinkhorn.Problem{Problem: projection.Problem{Cost: s.cost, Source: s.inputs[u], Lo: lo, Hi: hi}, Reg: lambda}
		var start []float64 // log v: the next run goes on where this one stopped
		done, last := 0, 0.0
		for i, n := range s.cfg.Iterations {
			if done < n && !(done > 0 && start == nil) {
				steps := n - done
				if start != nil {
					steps++ // LogV is the v that Q was made from: the first step makes Q again
				}
				r, err := sinkhorn.Project(s.ctx, p,
					sinkhorn.Settings{Method: sinkhorn.Paper, MaxIterations: steps, Initial: start})
				if err != nil && !(errors.Is(err, wpmerr.ErrNotConverged) && s.ctx.Err() == nil) {
					return fmt.Errorf("ring: input %d, lambda %v: %w", u, lambda, err)
				}
				t, terr := mincostflow.Transport(s.ctx, s.cost, s.inputs[u], r.Q)
				if terr != nil {
					return fmt.Errorf("ring: transport of input %d, lambda %v: %w", u, lambda, terr)
				}
				last, gaps[u] = s.root(t.Objective), max(gaps[u], t.Gap())
				done, start = n, r.LogV
				if err == nil { // converged: all later iterates are this one
					start = nil
				}
			}
			w[i][u] = last
		}
		return nil
	}, func(done int) { s.progress(done, len(s.inputs), fmt.Sprintf("iterating, lambda %v", lambda)) })
	if err != nil {
		return Curve{}, err
	}
	c := Curve{Lambda: lambda}
	for _, x := range w {
		c.W = append(c.W, meanOf(x))
	}
	return c, s.note(slices.Max(gaps))
}

func (s *study) root(x float64) float64 { return math.Pow(max(x, 0), 1/s.cfg.P) }

func (s *study) note(gap float64) error {
	s.gap = max(s.gap, gap)
	if !(gap <= maxGap*slices.Max(s.cost.Data)) {
		return fmt.Errorf("%w: %v", ErrGap, gap)
	}
	return nil
}

func meanOf(x []float64) Mean {
	n := float64(len(x))
	var m Mean
	for _, v := range x {
		m.Mean += v / n
	}
	for _, v := range x {
		m.SE += (v - m.Mean) * (v - m.Mean)
	}
	m.SE = math.Sqrt(m.SE / (n - 1) / n)
	return m
}
