package mapping

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/estimate/atlas"
	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/lab/report"
	"github.com/wpm-go/wpm/ldp"
)

// Stated is a case: what maps say of their error, and what it is. Distances are in the unit of the map.
type Stated struct {
	Map      string    `json:"map"`
	Unit     string    `json:"unit"`
	Eps      float64   `json:"eps"`
	Devices  int       `json:"devices"`
	Guess    float64   `json:"guess"`    // of the even map
	Expected []float64 `json:"expected"` // stated, by run
	Within90 []float64 `json:"within_90"`
	Real     []float64 `json:"real"`
	// By run, how many had which words.
	Information map[atlas.Information]int `json:"information"`
	Verdict     map[atlas.Verdict]int     `json:"verdict"`
	Signal      string                    `json:"signal"` // weak, middle or strong: the third by Real over Guess
}

// Ratio is the mean of what is over the mean of what is said.
func (s Stated) Ratio() float64 { return mean(s.Real) / mean(s.Expected) }

// below is how many of the runs are below their upper figure.
func (s Stated) below() (n int) {
	for i, v := range s.Real {
		if v <= s.Within90[i] {
			n++
		}
	}
	return n
}

func mean(x []float64) (m float64) {
	for _, v := range x {
		m += v / float64(len(x))
	}
	return m
}

// Errors is the outcome of RunErrors.
type Errors struct {
	Config      Config        `json:"config"`
	Cases       []Stated      `json:"cases"`
	Calibration []Calibration `json:"calibration"`
}

const (
	defaultCases = 60
	maxCases     = 1000
)

// RunErrors compares what maps say of their error with what it is, on maps of Config.Seed and of the seeds that follow
// it. If Config.Out is set, it writes the report. Devices are 500, 5,000 and 50,000 if not given; Data, Plan and Large
// have no use. Errors are those of Run.
func RunErrors(ctx context.Context, cfg Config) (Errors, error) {
	s, eps, err := casesOf(cfg, defaultCases)
	if err != nil {
		return Errors{}, err
	}
	defer s.kept.Close()
	if cfg.Estimator != "" && !atlas.Known(cfg.Estimator) {
		return Errors{}, fmt.Errorf("%w: Estimator %q is not %s", ErrConfig, cfg.Estimator, atlas.Estimators)
	}
	var list []Stated
	err = s.cases(eps, func(w world, seed uint64, eps ldp.Epsilon, devices int) error {
		name := fmt.Sprintf("error, %s, eps %s, %d devices, %d runs, seeds %d and %d, estimator %q", w.name, eps, devices,
			s.cfg.Runs, s.cfg.Seed, seed, s.cfg.Estimator)
		c, err := report.Case(s.kept, name, func() (Stated, error) { return s.statedCase(ctx, w, eps, devices) })
		list = append(list, c)
		return err
	})
	if err != nil {
		return Errors{}, err
	}
	byThirds(list)
	out := Errors{Config: s.cfg, Cases: list, Calibration: calibrate(list)}
	out.Config.Progress = nil
	if cfg.Out != "" {
		_, err = report.Write(cfg.Out, out.report())
	}
	return out, err
}

// casesOf checks the Config of a study of cases, and prepares its folder.
func casesOf(cfg Config, cases int) (study, []ldp.Epsilon, error) {
	if cfg.Devices == nil {
		cfg.Devices = []int{500, 5000, 50_000}
	}
	if cfg.Runs == 0 {
		cfg.Runs = 20
	}
	if cfg.Cases == 0 {
		cfg.Cases = cases
	}
	cfg, eps, err := cfg.resolve()
	if err == nil && (cfg.Cases < 1 || cfg.Cases > maxCases) {
		err = fmt.Errorf("%w: %d Cases", ErrConfig, cfg.Cases)
	}
	if err != nil {
		return study{}, nil, err
	}
	s, err := newStudy(cfg)
	return s, eps, err
}

// cases calls do for the maps of the panels of seeds that follow Seed, each with one number of devices for each eps.
func (s study) cases(eps []ldp.Epsilon, do func(w world, seed uint64, eps ldp.Epsilon, devices int) error) error {
	done := 0
	for seed := s.cfg.Seed; ; seed++ {
		all, err := panel(seed)
		if err == nil {
			all, err = s.chosen(all)
		}
		if err != nil {
			return err
		}
		for _, w := range all {
			for e, ep := range eps {
				if err := do(w, seed, ep, s.cfg.Devices[(e+w.turn)%len(s.cfg.Devices)]); err != nil {
					return fmt.Errorf("experiments/mapping: %s at eps %s: %w", w.name, ep, err)
				}
				done++
				if s.tick(done, s.cfg.Cases, w.name); done == s.cfg.Cases {
					return nil
				}
			}
		}
	}
}

func (s study) statedCase(ctx context.Context, w world, eps ldp.Epsilon, devices int) (Stated, error) {
	rows, _, err := design(ctx, w.cost, eps)
	if err != nil {
		return Stated{}, err
	}
	at, err := atlas.OfRows(ctx, w.cost, func(i int) ldp.Weights { return rows[i] })
	if err != nil {
		return Stated{}, err
	}
	c, err := cost.Materialize(ctx, w.cost)
	if err != nil {
		return Stated{}, err
	}
	runs := make([]atlas.Estimate, s.cfg.Runs)
	out := Stated{Map: w.name, Unit: w.unit, Eps: eps.Float64(), Devices: devices, Real: make([]float64, len(runs)),
		Information: map[atlas.Information]int{}, Verdict: map[atlas.Verdict]int{}}
	err = parallel.Each(ctx, len(runs), func(n int) error {
		counts, err := s.simulate(w, rows, devices, fmt.Sprint(eps, " ", n))
		if err != nil {
			return err
		}
		if runs[n], err = at.Estimate(ctx, counts, atlas.Settings{Estimator: s.cfg.Estimator}); err != nil {
			return err
		}
		out.Real[n], _, err = distance(ctx, c, w, runs[n].Shares)
		return err
	}, nil)
	if err != nil {
		return out, err
	}
	for _, r := range runs {
		out.Expected = append(out.Expected, r.Error.Expected*w.scale)
		out.Within90 = append(out.Within90, r.Error.Within90*w.scale)
		out.Information[r.Information]++
		out.Verdict[r.Verdict]++
	}
	out.Guess, _, err = distance(ctx, c, w, runs[0].Guess)
	return out, err
}

// byThirds names the thirds of the signal.
func byThirds(list []Stated) {
	order := make([]*Stated, len(list))
	for n := range list {
		order[n] = &list[n]
	}
	ratio := func(s *Stated) float64 { return mean(s.Real) / s.Guess }
	slices.SortStableFunc(order, func(a, b *Stated) int {
		switch x, y := ratio(a), ratio(b); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	for n, s := range order {
		s.Signal = [...]string{"weak", "middle", "strong"}[3*n/len(order)]
	}
}

// Calibration says over a third of the cases, or all, how stated errors compare with real ones.
type Calibration struct {
	Signal   string  `json:"signal"`
	Cases    int     `json:"cases"`
	Ratio    float64 `json:"ratio"`     // geometric mean of real over stated
	Within25 float64 `json:"within_25"` // of the cases, by their ratio or its inverse
	Within40 float64 `json:"within_40"`
	Below    float64 `json:"below"` // of all maps, below their upper figure
}

// calibrate compares, by thirds and in all.
func calibrate(list []Stated) []Calibration {
	out := []Calibration{{Signal: "weak"}, {Signal: "middle"}, {Signal: "strong"}, {Signal: "all"}}
	for n := range out {
		c, maps := &out[n], 0
		for _, s := range list {
			if c.Signal != "all" && s.Signal != c.Signal {
				continue
			}
			c.Cases++
			maps += len(s.Real)
			off := math.Abs(s.Ratio() - 1)
			c.Ratio += math.Log(s.Ratio())
			c.Below += float64(s.below())
			if off <= 0.25 {
				c.Within25++
			}
			if off <= 0.4 {
				c.Within40++
			}
		}
		if c.Cases > 0 {
			c.Ratio = math.Exp(c.Ratio / float64(c.Cases))
			c.Within25 /= float64(c.Cases)
			c.Within40 /= float64(c.Cases)
			c.Below /= float64(maps)
		}
	}
	return out
}

// report describes the result folder.
func (r Errors) report() report.Report {
	sum := report.Table{
		Name: "calibration", Title: "What maps say of their error, and what it is",
		Text: "Within a case, real over stated is the mean of real distances over that of stated ones.",
		Columns: []report.Column{{Name: "signal"}, {Name: "cases"}, {Name: "ratio", Label: "real over stated, geometric mean"},
			{Name: "within_25", Label: "cases within 25 %"}, {Name: "within_40", Label: "cases within 40 %"},
			{Name: "below", Label: "maps below the upper figure"}},
	}
	for _, c := range r.Calibration {
		sum.Rows = append(sum.Rows, []any{c.Signal, c.Cases, c.Ratio, c.Within25, c.Within40, c.Below})
	}
	each := report.Table{
		Name: "stated", Title: "The cases",
		Text: "Distances are means over the simulations.",
		Columns: []report.Column{{Name: "truth"}, {Name: "unit"}, {Name: "eps", Label: "ε"}, {Name: "devices"},
			{Name: "guess"}, {Name: "stated"}, {Name: "real"}, {Name: "ratio"}, {Name: "upper", Label: "upper figure"},
			{Name: "below", Label: "maps below it"}, {Name: "signal"}, {Name: "much"}, {Name: "little"}, {Name: "confirm"}},
	}
	for _, s := range r.Cases {
		each.Rows = append(each.Rows, []any{s.Map, s.Unit, s.Eps, s.Devices, s.Guess, mean(s.Expected), mean(s.Real),
			s.Ratio(), mean(s.Within90), s.below(), s.Signal, s.Information[atlas.Much], s.Information[atlas.Little],
			s.Verdict[atlas.Confirm]})
	}
	return report.Report{
		Title: "The error that maps state",
		Lead: fmt.Sprintf("%d cases of %d maps each: the distance to the truth that a map expects, and the one that it has. "+
			"Everything is simulated, and each real distance is exact transport.", len(r.Cases), r.Config.Runs),
		Tables: []report.Table{sum, each}, Seed: r.Config.Seed,
		Settings: []report.Setting{{Name: "ε", Value: strings.Join(r.Config.Epsilons, ", ")},
			{Name: "devices", Value: fmt.Sprint(r.Config.Devices)},
			{Name: "simulations", Value: fmt.Sprint(r.Config.Runs)},
			{Name: "estimator", Value: cmp.Or(r.Config.Estimator, atlas.ByMap)},
			{Name: "policy", Value: "default design, mixture mode"}},
	}
}
