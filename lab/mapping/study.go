package mapping

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/internal/folder"
	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/lab/report"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/mincostflow"
)

var (
	// ErrConfig reports a Config field out of range.
	ErrConfig = errors.New("experiments/mapping: bad configuration")
	// ErrGap reports a distance that exact transport did not find to rounding: a bug, not bad input.
	ErrGap = errors.New("experiments/mapping: a distance is not exact")
)

// Config describes a run. Its zero value is the study.
type Config struct {
	Data string `json:"data"` // check-ins, see gowalla.Load; "": none
	Out  string `json:"out"`  // folder to write the report to; "": nothing is written

	Maps     []string `json:"maps"`     // names of maps; nil: all
	Epsilons []string `json:"epsilons"` // exact decimals or fractions, ascending; nil: 0.5, 1, 2, 4, or with Plan 1, 2, 4
	Devices  []int    `json:"devices"`  // numbers of devices; nil: 500, 5000, or with Plan 500, 2000, 20 000
	Large    int      `json:"large"`    // one more number of devices, for four of the maps; 0: 200 000
	Runs     int      `json:"runs"`     // simulations of each case; 0: 100, of RunErrors and RunForecasts 20
	Seed     uint64   `json:"seed"`
	Plan     bool     `json:"plan"`  // other maps, and predictions of every case beside what maps are
	Cases    int      `json:"cases"` // of RunErrors; 0: 60
	// Estimator of RunErrors, as of atlas.Settings; "": the default.
	Estimator string `json:"estimator,omitempty"`

	// Progress, if not nil, is told how much is done. Calls never overlap.
	Progress func(done, total int, what string) `json:"-"`
}

// Limits of a Config: what a study does in reasonable time.
const (
	maxRuns    = 1000
	maxList    = 64
	maxDevices = 10_000_000
)

func (c Config) resolve() (Config, []ldp.Epsilon, error) {
	if c.Plan && c.Epsilons == nil {
		c.Epsilons = []string{"1", "2", "4"}
	}
	if c.Plan && c.Devices == nil {
		c.Devices = []int{500, 2000, 20_000}
	}
	if c.Epsilons == nil {
		c.Epsilons = []string{"0.5", "1", "2", "4"}
	}
	if c.Devices == nil {
		c.Devices = []int{500, 5000}
	}
	if c.Large == 0 {
		c.Large = 200_000
	}
	if c.Runs == 0 {
		c.Runs = 100
	}
	if len(c.Epsilons) < 1 || len(c.Epsilons) > maxList || len(c.Devices) < 1 || len(c.Devices) > maxList || c.Runs < 1 ||
		c.Runs > maxRuns {
		return c, nil, fmt.Errorf("%w: %d Epsilons, %d Devices, %d Runs", ErrConfig, len(c.Epsilons), len(c.Devices), c.Runs)
	}
	for _, n := range append(slices.Clone(c.Devices), c.Large) {
		if n < 1 || n > maxDevices {
			return c, nil, fmt.Errorf("%w: %d devices, want 1 to %d", ErrConfig, n, maxDevices)
		}
	}
	eps := make([]ldp.Epsilon, len(c.Epsilons))
	c.Epsilons = slices.Clone(c.Epsilons)
	for i, s := range c.Epsilons {
		e, err := ldp.ParseEpsilon(s)
		if err != nil {
			return c, nil, fmt.Errorf("%w: Epsilons[%d]: %w", ErrConfig, i, err)
		}
		if i > 0 && e.Cmp(eps[i-1]) <= 0 {
			return c, nil, fmt.Errorf("%w: Epsilons[%d] = %s after %s, want ascending", ErrConfig, i, s, c.Epsilons[i-1])
		}
		eps[i], c.Epsilons[i] = e, e.String()
	}
	return c, eps, nil
}

// estimator of a map, or of the law of releases.
type estimator struct {
	name string
	run  func(context.Context, estimate.Problem) ([]float64, error)
}

// estimators in the order of the columns, after the guess. Those that no prediction is made of are left out with Plan.
func (c Config) estimators() []estimator {
	if c.Plan {
		return known[:column+1]
	}
	return known
}

var known = []estimator{
	{"raw", func(_ context.Context, p estimate.Problem) ([]float64, error) { return estimate.Raw(p.Counts) }},
	{"map", func(ctx context.Context, p estimate.Problem) ([]float64, error) {
		r, err := estimate.Map(ctx, p, estimate.Settings{})
		return r.Theta, err
	}},
	{"EM", func(ctx context.Context, p estimate.Problem) ([]float64, error) {
		r, err := estimate.EM(ctx, p)
		return r.Theta, err
	}},
}

// Row is one case: a map, an eps, a number of devices.
type Row struct {
	Map      string    `json:"map"`
	Unit     string    `json:"unit"`
	Epsilon  string    `json:"epsilon"`
	Eps      float64   `json:"eps"`
	Devices  int       `json:"devices"`
	Guess    float64   `json:"guess"`
	By       []Outcome `json:"by"` // by estimator
	Best     string    `json:"best"`
	Measured bool      `json:"measured"` // on data, and not made

	// What package estimate/plan predicts, if that was asked for: with the truth as the prior, the map and the guess;
	// without a prior, the range of the map over the guess.
	Planned      float64     `json:"planned,omitempty"`
	PlannedGuess float64     `json:"planned_guess,omitempty"`
	PlannedRange *[2]float64 `json:"planned_range,omitempty"`
}

// Outcome is what an estimator makes of a case: distances of its maps to the truth, over the runs.
type Outcome struct {
	Mean     float64 `json:"mean"`
	SD       float64 `json:"sd"`
	Median   float64 `json:"median"`
	Within90 float64 `json:"within_90"` // the 90 % quantile
	ToGuess  float64 `json:"to_guess"`  // Mean over that of the guess
	ToBest   float64 `json:"to_best"`   // Mean over the least of all, the guess among them
}

// Summary says over all made maps how an estimator does.
type Summary struct {
	Estimator  string  `json:"estimator"`
	WorstGuess float64 `json:"worst_to_guess"` // largest ToGuess
	Worse      int     `json:"worse"`          // cases with ToGuess above 1.02
	GeoBest    float64 `json:"geo_to_best"`    // geometric mean of ToBest
	WorstBest  float64 `json:"worst_to_best"`
	Behind     int     `json:"behind"` // cases with ToBest above 1.05
}

// Result is the outcome of a run.
type Result struct {
	Config  Config    `json:"config"`
	Rows    []Row     `json:"rows"`
	Summary []Summary `json:"summary"`
	Plan    *Planning `json:"plan,omitempty"`
	Gap     float64   `json:"gap"` // the largest certified gap of a distance, relative to the largest cost
}

// maxGap is the relative gap up to which a distance counts as exact: solvers end near 1e-15.
const maxGap = 1e-12

// study is a run under way.
type study struct {
	cfg  Config
	tick func(done, total int, what string)
	kept *report.Cases
}

// newStudy prepares the folder of a study.
func newStudy(cfg Config) (study, error) {
	s := study{cfg: cfg, tick: cfg.Progress}
	if s.tick == nil {
		s.tick = func(int, int, string) {}
	}
	err := folder.Prepare(cfg.Out)
	if err == nil {
		s.kept, err = report.OpenCases(cfg.Out)
	}
	return s, err
}

// part is what a map adds to the result.
type part struct {
	Rows []Row   `json:"rows"`
	Gap  float64 `json:"gap"`
}

// Run does the study and, if Config.Out is set, writes the report. Errors: ErrConfig, ErrGap, those of gowalla.Load,
// the solvers, the context and the file system.
func Run(ctx context.Context, cfg Config) (Result, error) {
	cfg, eps, err := cfg.resolve()
	if err != nil {
		return Result{}, err
	}
	s, err := newStudy(cfg)
	if err != nil {
		return Result{}, err
	}
	defer s.kept.Close()
	all, err := s.worlds(ctx)
	if err != nil {
		return Result{}, err
	}
	res := Result{Config: cfg}
	res.Config.Progress = nil
	for _, w := range all {
		kept := s.kept
		if w.users != nil { // of data, which may change
			kept = nil
		}
		name := fmt.Sprintf("%s, eps %v, devices %v and %d, %d runs, seed %d, plan %v", w.name, cfg.Epsilons, cfg.Devices,
			cfg.Large, cfg.Runs, cfg.Seed, cfg.Plan)
		part, err := report.Case(kept, name, func() (part, error) { return s.world(ctx, w, eps) })
		if err != nil {
			return Result{}, fmt.Errorf("experiments/mapping: %s: %w", w.name, err)
		}
		res.Rows = append(res.Rows, part.Rows...)
		res.Gap = max(res.Gap, part.Gap)
	}
	if !(res.Gap <= maxGap) {
		return Result{}, fmt.Errorf("%w: %v", ErrGap, res.Gap)
	}
	res.Summary = summarize(cfg.estimators(), res.Rows)
	if cfg.Plan {
		res.Plan = planning(res.Rows)
	}
	if cfg.Out != "" {
		_, err = report.Write(cfg.Out, res.Report())
	}
	return res, err
}

func (s study) worlds(ctx context.Context) ([]world, error) {
	made := worlds
	if s.cfg.Plan {
		made = panel
	}
	all, err := made(s.cfg.Seed)
	if err != nil {
		return nil, err
	}
	if s.cfg.Data != "" {
		real, err := checkins(ctx, s.cfg.Data)
		if err != nil {
			return nil, err
		}
		all = append(all, real...)
	}
	return s.chosen(all)
}

// chosen are those that Config.Maps names.
func (s study) chosen(all []world) ([]world, error) {
	if s.cfg.Maps == nil {
		return all, nil
	}
	var some []world
	names := ""
	for _, w := range all {
		names += ", " + w.name
		if slices.Contains(s.cfg.Maps, w.name) {
			some = append(some, w)
		}
	}
	if len(some) != len(s.cfg.Maps) {
		return nil, fmt.Errorf("%w: Maps: %q, of%s", ErrConfig, s.cfg.Maps, names[1:])
	}
	return some, nil
}

// task is one simulation.
type task struct {
	eps, devices, run int
	w                 []float64 // distance by estimator
	gap               float64
}

// world simulates all cases of a map.
func (s study) world(ctx context.Context, w world, eps []ldp.Epsilon) (part, error) {
	geometry, err := estimate.NewGeometry(ctx, w.cost, 1)
	if err != nil {
		return part{}, err
	}
	c, err := cost.Materialize(ctx, w.cost)
	if err != nil {
		return part{}, err
	}
	rows := make([][]ldp.Weights, len(eps))
	channels := make([]*estimate.Channel, len(eps))
	for e := range eps {
		if rows[e], channels[e], err = design(ctx, w.cost, eps[e]); err != nil {
			return part{}, fmt.Errorf("eps %s: %w", eps[e], err)
		}
		s.tick(e+1, len(eps), "policies for "+w.name)
	}
	sizes := w.sizes
	if sizes == nil {
		sizes = s.cfg.Devices
		if w.large && !slices.Contains(sizes, s.cfg.Large) {
			sizes = append(slices.Clone(sizes), s.cfg.Large)
		}
	}
	uniform := make([]float64, len(w.truth))
	for i := range uniform {
		uniform[i] = 1 / float64(len(uniform))
	}
	guess, gap, err := distance(ctx, c, w, uniform)
	if err != nil {
		return part{}, err
	}
	var tasks []task
	for e := range eps {
		for n, size := range sizes {
			if w.turn > 0 && n != (e+w.turn)%len(sizes) {
				continue
			}
			for run := range s.cfg.Runs {
				tasks = append(tasks, task{eps: e, devices: size, run: run})
			}
		}
	}
	err = parallel.Each(ctx, len(tasks), func(n int) error {
		t := &tasks[n]
		counts, err := s.simulate(w, rows[t.eps], t.devices, fmt.Sprint(eps[t.eps], " ", t.run))
		if err != nil {
			return err
		}
		for _, by := range s.cfg.estimators() {
			theta, err := by.run(ctx, estimate.Problem{Counts: counts, Channel: channels[t.eps], Geometry: geometry})
			if err != nil {
				return fmt.Errorf("%s at eps %s: %w", by.name, eps[t.eps], err)
			}
			d, gap, err := distance(ctx, c, w, theta)
			if err != nil {
				return err
			}
			t.w, t.gap = append(t.w, d), max(t.gap, gap)
		}
		return nil
	}, func(done int) { s.tick(done, len(tasks), w.name) })
	if err != nil {
		return part{}, err
	}
	var out []Row
	for ; len(tasks) > 0; tasks = tasks[s.cfg.Runs:] {
		e := eps[tasks[0].eps]
		row := Row{Map: w.name, Unit: w.unit, Epsilon: e.String(), Eps: e.Float64(), Devices: tasks[0].devices,
			Guess: guess, Measured: w.sizes != nil}
		row.collect(s.cfg.estimators(), tasks[:s.cfg.Runs])
		for _, t := range tasks[:s.cfg.Runs] {
			gap = max(gap, t.gap)
		}
		out = append(out, row)
	}
	if s.cfg.Plan {
		err = s.predict(ctx, w, eps, rows, out)
	}
	return part{out, gap}, err
}

// collect takes the outcomes of the runs.
func (r *Row) collect(by []estimator, runs []task) {
	r.Best = "guess"
	least := r.Guess
	w := make([]float64, len(runs))
	for n, by := range by {
		var o Outcome
		for i, t := range runs {
			w[i] = t.w[n]
			o.Mean += t.w[n] / float64(len(runs))
		}
		for _, d := range w {
			o.SD += (d - o.Mean) * (d - o.Mean) / float64(max(1, len(runs)-1))
		}
		slices.Sort(w)
		o.SD, o.ToGuess = math.Sqrt(o.SD), o.Mean/r.Guess
		o.Median, o.Within90 = stat.Quantile(0.5, stat.LinInterp, w, nil), stat.Quantile(0.9, stat.LinInterp, w, nil)
		if o.Mean < least {
			least, r.Best = o.Mean, by.name
		}
		r.By = append(r.By, o)
	}
	for n := range r.By {
		r.By[n].ToBest = r.By[n].Mean / least
	}
}

// summarize is over the made maps.
func summarize(by []estimator, rows []Row) []Summary {
	out := make([]Summary, len(by))
	for n, by := range by {
		s := Summary{Estimator: by.name}
		cases := 0
		for _, r := range rows {
			if r.Measured {
				continue
			}
			cases++
			o := r.By[n]
			s.WorstGuess, s.WorstBest = max(s.WorstGuess, o.ToGuess), max(s.WorstBest, o.ToBest)
			s.GeoBest += math.Log(o.ToBest)
			if o.ToBest > 1.05 {
				s.Behind++
			}
			if o.ToGuess > 1.02 {
				s.Worse++
			}
		}
		if cases > 0 {
			s.GeoBest = math.Exp(s.GeoBest / float64(cases))
		}
		out[n] = s
	}
	return out
}

// design makes the default policy of a cost.
func design(ctx context.Context, c cost.Matrix, eps ldp.Epsilon) ([]ldp.Weights, *estimate.Channel, error) {
	d, err := wpm.NewDesign(ctx, c, eps, wpm.Objective{})
	if err != nil {
		return nil, nil, err
	}
	k, kv := c.Dims()
	rows := make([]ldp.Weights, k)
	for i := range rows {
		rows[i] = d.Channel().Row(i)
	}
	channel, err := estimate.NewChannel(k, kv, func(i int, dst []float64) {
		for j := range dst {
			dst[j] = float64(rows[i].At(j))
		}
	})
	return rows, channel, err
}

// simulate draws the releases of n devices, or of the world's users. It is a simulation: its randomness comes from the
// seed.
func (s study) simulate(w world, rows []ldp.Weights, n int, which string) ([]uint64, error) {
	r := rand.NewChaCha8(sha256.Sum256(fmt.Appendf(nil, "wpm mapping %d %s %d %s", s.cfg.Seed, w.name, n, which)))
	uniform := rand.New(r)
	counts := make([]uint64, rows[0].Len())
	for device := range n {
		from := w.truth
		if w.users != nil {
			from = w.users[device]
		}
		u, i := uniform.Float64(), 0
		for i < len(from)-1 && u >= from[i] {
			u -= from[i]
			i++
		}
		j, err := rows[i].Sample(r)
		if err != nil {
			return nil, err
		}
		counts[j]++
	}
	return counts, nil
}

// distance is W_1 to the truth, in the world's unit, with its gap relative to the largest cost.
func distance(ctx context.Context, c *cost.Dense, w world, theta []float64) (d, gap float64, err error) {
	t, err := mincostflow.Transport(ctx, c, theta, w.truth)
	if err != nil {
		return 0, 0, err
	}
	return t.Objective * w.scale, t.Gap() / slices.Max(c.Data), nil
}
