package mapping

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/internal/plane"
	"github.com/wpm-go/wpm/lab/report"
	"github.com/wpm-go/wpm/ldp"
)

// Prior is what maps are made with: nothing, a prior that is right or nearly so, or one that is wrong.
type Prior string

// The priors. The last three have a tenth of their mass spread over all places alike.
const (
	NoPrior      Prior = "none"
	Truth        Prior = "the truth"
	NearTruth    Prior = "near the truth" // 10 to 30 % of its mass is on a hill somewhere
	Shifted      Prior = "shifted"        // the truth, moved by a quarter of the extent
	Another      Prior = "another city"   // of the same kind, on the same places
	TruthMixed   Prior = "the truth, a tenth even"
	ShiftedMixed Prior = "shifted, a tenth even"
	AnotherMixed Prior = "another city, a tenth even"
)

var priors = []Prior{NoPrior, Truth, NearTruth, Shifted, Another, TruthMixed, ShiftedMixed, AnotherMixed}

// right says whether a prior should help.
func (p Prior) right() bool { return p == Truth || p == NearTruth || p == TruthMixed }

// Guided is maps with one prior. Distances are to the truth, in the unit of the map.
type Guided struct {
	Prior Prior     `json:"prior"`
	Guess float64   `json:"guess"` // of the prior itself, mean over the runs
	Real  []float64 `json:"real"`  // of the maps, by run
}

// PriorCase is a case: maps of the same reports with each prior.
type PriorCase struct {
	Map     string   `json:"map"`
	Unit    string   `json:"unit"`
	Eps     float64  `json:"eps"`
	Devices int      `json:"devices"`
	OK      int      `json:"ok"` // runs whose signal without a prior is ok
	By      []Guided `json:"by"` // in the order of the priors, none first
}

// signal says whether more than half of the runs have the signal ok without a prior.
func (c PriorCase) signal() string {
	if 2*c.OK > len(c.By[0].Real) {
		return "ok"
	}
	return "elsewhere"
}

// ratio is the mean distance with a prior over that without.
func (c PriorCase) ratio(n int) float64 { return mean(c.By[n].Real) / mean(c.By[0].Real) }

// PriorSummary says over the cases of a signal what a prior does.
type PriorSummary struct {
	Signal string  `json:"signal"` // ok or elsewhere, without a prior
	Prior  Prior   `json:"prior"`
	Cases  int     `json:"cases"`
	Geo    float64 `json:"geo"`   // geometric mean of the ratio to maps without a prior
	Worst  float64 `json:"worst"` // the largest
	Over   int     `json:"over"`  // cases above the bar: 1.1 where the signal is ok, and 1.25 elsewhere
	// Kept is how much of the gain is kept. What could be gained in a case is how much nearer to the truth the prior
	// itself is than the map without it, relative to the latter; cases where it is not nearer are left out. What is
	// gained is the same for the map with the prior. Kept is the ratio of their sums over the cases.
	Kept   float64 `json:"kept,omitempty"`
	KeptOf int     `json:"kept_of,omitempty"` // so many cases
}

// PriorStudy is the outcome of RunPriors.
type PriorStudy struct {
	Config  Config         `json:"config"`
	Cases   []PriorCase    `json:"cases"`
	Summary []PriorSummary `json:"summary"`
}

const priorCases = 56 // a panel, at four eps

// RunPriors compares maps that have a prior with maps of the same reports without one. If Config.Out is set, it writes
// the report. Devices are 500 and 5,000 if not given; Data, Plan, Estimator and Large have no use. Errors are those of
// Run.
func RunPriors(ctx context.Context, cfg Config) (PriorStudy, error) {
	if cfg.Devices == nil {
		cfg.Devices = []int{500, 5000}
	}
	s, eps, err := casesOf(cfg, priorCases)
	if err != nil {
		return PriorStudy{}, err
	}
	defer s.kept.Close()
	var out PriorStudy
	err = s.cases(eps, func(w world, seed uint64, eps ldp.Epsilon, devices int) error {
		name := fmt.Sprintf("prior, %s, eps %s, %d devices, %d runs, seeds %d and %d", w.name, eps, devices, s.cfg.Runs,
			s.cfg.Seed, seed)
		c, err := report.Case(s.kept, name, func() (PriorCase, error) { return s.priorCase(ctx, w, seed, eps, devices) })
		out.Cases = append(out.Cases, c)
		return err
	})
	if err != nil {
		return PriorStudy{}, err
	}
	out.Config, out.Summary = s.cfg, summarizePriors(out.Cases)
	out.Config.Progress = nil
	if cfg.Out != "" {
		_, err = report.Write(cfg.Out, out.report())
	}
	return out, err
}

func (s study) priorCase(ctx context.Context, w world, seed uint64, eps ldp.Epsilon, devices int) (PriorCase, error) {
	out := PriorCase{Map: w.name, Unit: w.unit, Eps: eps.Float64(), Devices: devices}
	rows, channel, err := design(ctx, w.cost, eps)
	if err != nil {
		return out, err
	}
	geometry, err := estimate.NewGeometry(ctx, w.cost, 1)
	if err != nil {
		return out, err
	}
	c, err := cost.Materialize(ctx, w.cost)
	if err != nil {
		return out, err
	}
	shifted, another, err := wrong(ctx, w, seed)
	if err != nil {
		return out, err
	}
	runs := s.cfg.Runs
	ok, guess, real := make([]bool, runs), make([][]float64, runs), make([][]float64, runs)
	err = parallel.Each(ctx, runs, func(n int) error {
		counts, err := s.simulate(w, rows, devices, fmt.Sprint(eps, " prior ", n))
		if err != nil {
			return err
		}
		for _, prior := range [][]float64{
			nil, w.truth, elsewhere(geometry, w.truth, s.cfg.Seed, 2*n), shifted, another, // in the order of priors
			tenthEven(w.truth), tenthEven(shifted), tenthEven(another),
		} {
			m, err := estimate.Map(ctx, estimate.Problem{Counts: counts, Channel: channel, Geometry: geometry, Prior: prior},
				estimate.Settings{})
			if err != nil {
				return err
			}
			if prior == nil {
				ok[n] = m.Signal == estimate.GoodSignal
			}
			prior, err := estimate.Guess(prior, len(w.truth))
			if err != nil {
				return err
			}
			for _, of := range []struct {
				list  *[]float64
				theta []float64
			}{{&guess[n], prior}, {&real[n], m.Theta}} {
				d, _, err := distance(ctx, c, w, of.theta)
				if err != nil {
					return err
				}
				*of.list = append(*of.list, d)
			}
		}
		return nil
	}, nil)
	if err != nil {
		return out, err
	}
	for p, prior := range priors {
		by := Guided{Prior: prior}
		for n := range guess {
			by.Guess += guess[n][p] / float64(runs)
			by.Real = append(by.Real, real[n][p])
		}
		out.By = append(out.By, by)
	}
	for _, ok := range ok {
		if ok {
			out.OK++
		}
	}
	return out, nil
}

// tenthEven mixes a tenth of the even map into a prior.
func tenthEven(prior []float64) []float64 {
	out := make([]float64, len(prior))
	for i, v := range prior {
		out[i] = 0.9*v + 0.1/float64(len(prior))
	}
	return out
}

// wrong returns two priors on the places of a world: its truth, moved by a quarter of the extent to the right, where
// what leaves comes in at the left; and the truth of the same kind of map of the next seed, laid over the places.
func wrong(ctx context.Context, w world, seed uint64) (shifted, another []float64, err error) {
	all, err := panel(seed + 1)
	if err != nil {
		return nil, nil, err
	}
	next := all[slices.IndexFunc(all, func(v world) bool { return v.name == w.name })]
	here, err := over(ctx, w)
	if err != nil {
		return nil, nil, err
	}
	there, err := over(ctx, next)
	if err != nil {
		return nil, nil, err
	}
	moved := slices.Clone(here)
	for i := range moved {
		if moved[i].X += 0.25; moved[i].X >= 1 {
			moved[i].X--
		}
	}
	return lay(w.truth, moved, here), lay(next.truth, there, here), nil
}

// lay carries masses from places to others: each is shared by those that are nearest to it, or goes to the nearest.
func lay(mass []float64, from, to []plane.Point) []float64 {
	near := make([][]int, len(from))
	for i, a := range to {
		j := nearest(from, a)
		near[j] = append(near[j], i)
	}
	out := make([]float64, len(to))
	for j, v := range mass {
		if near[j] == nil {
			near[j] = []int{nearest(to, from[j])}
		}
		for _, i := range near[j] {
			out[i] += v / float64(len(near[j]))
		}
	}
	return out
}

// over puts the places of a world into the unit square; those of a ring, and films, on a line, in their order.
func over(ctx context.Context, w world) ([]plane.Point, error) {
	spec, err := cost.SpecOf(ctx, w.cost)
	if err != nil {
		return nil, err
	}
	places := plane.Of(spec)
	if !places.Flat() || places.Kind == "ring" {
		at := make([]plane.Point, len(w.truth))
		for i := range at {
			at[i].X = float64(i) / float64(len(at))
		}
		return at, nil
	}
	at, _ := places.Plane()
	least, most := plane.Bounds(at)
	for i, a := range at {
		at[i] = plane.Point{X: (a.X - least.X) / (most.X - least.X), Y: (a.Y - least.Y) / (most.Y - least.Y)}
	}
	return at, nil
}

func nearest(list []plane.Point, a plane.Point) (at int) {
	far := func(b plane.Point) float64 { return math.Hypot(a.X-b.X, a.Y-b.Y) }
	for i, b := range list {
		if far(b) < far(list[at]) {
			at = i
		}
	}
	return at
}

// leastRatio is what smaller ratios count as in a geometric mean: a map of one place with the right prior has ratio 0.
const leastRatio = 0.01

// summarizePriors is over the cases of each signal.
func summarizePriors(list []PriorCase) (out []PriorSummary) {
	for _, signal := range []string{"ok", "elsewhere"} {
		bar := 1.1
		if signal != "ok" {
			bar = 1.25
		}
		for n, prior := range priors[1:] {
			s := PriorSummary{Signal: signal, Prior: prior}
			gained, possible := 0.0, 0.0
			for _, c := range list {
				if c.signal() != signal {
					continue
				}
				s.Cases++
				ratio := c.ratio(n + 1)
				s.Geo += math.Log(max(ratio, leastRatio))
				s.Worst = max(s.Worst, ratio)
				if ratio > bar {
					s.Over++
				}
				if own := c.By[n+1].Guess / mean(c.By[0].Real); prior.right() && own < 1 {
					gained, possible = gained+1-ratio, possible+1-own
					s.KeptOf++
				}
			}
			if s.Cases > 0 {
				s.Geo = math.Exp(s.Geo / float64(s.Cases))
			}
			if possible > 0 {
				s.Kept = gained / possible
			}
			out = append(out, s)
		}
	}
	return out
}

// report describes the result folder.
func (r PriorStudy) report() report.Report {
	sum := report.Table{
		Name: "summary", Title: "What a prior does",
		Text: "The ratio is the mean distance of maps with the prior over that of maps without, in a case. Above the bar are " +
			"cases with more than 1.1 where the signal is ok without the prior, and more than 1.25 elsewhere.",
		Columns: []report.Column{{Name: "signal"}, {Name: "prior"}, {Name: "cases"}, {Name: "geo", Label: "ratio, geometric mean"},
			{Name: "worst", Label: "largest"}, {Name: "over", Label: "cases above the bar"}, {Name: "kept", Label: "gain kept"},
			{Name: "kept_of", Label: "of cases"}},
	}
	for _, s := range r.Summary {
		sum.Rows = append(sum.Rows, []any{s.Signal, string(s.Prior), s.Cases, s.Geo, s.Worst, s.Over, s.Kept, s.KeptOf})
	}
	each := report.Table{
		Name: "priors", Title: "W₁ to the truth", Text: "The guess is the prior itself.",
		Columns: []report.Column{{Name: "truth"}, {Name: "unit"}, {Name: "eps", Label: "ε"}, {Name: "devices"}, {Name: "signal"},
			{Name: "prior"}, {Name: "guess"}, {Name: "mean"}, {Name: "median"}, {Name: "within_90", Label: "90 %"},
			{Name: "ratio"}},
	}
	for _, c := range r.Cases {
		for n, by := range c.By {
			sorted := slices.Sorted(slices.Values(by.Real))
			each.Rows = append(each.Rows, []any{c.Map, c.Unit, c.Eps, c.Devices, c.signal(), string(by.Prior), by.Guess,
				mean(by.Real), stat.Quantile(0.5, stat.LinInterp, sorted, nil), stat.Quantile(0.9, stat.LinInterp, sorted, nil),
				c.ratio(n)})
		}
	}
	return report.Report{
		Title: "Right and wrong priors",
		Lead: fmt.Sprintf("%d cases of %d maps for each prior, all of the same reports. "+
			"Everything is simulated, and each distance is exact transport.", len(r.Cases), r.Config.Runs),
		Tables: []report.Table{sum, each}, Seed: r.Config.Seed,
		Settings: []report.Setting{{Name: "ε", Value: strings.Join(r.Config.Epsilons, ", ")},
			{Name: "devices", Value: fmt.Sprint(r.Config.Devices)},
			{Name: "simulations", Value: fmt.Sprint(r.Config.Runs)},
			{Name: "policy", Value: "default design, mixture mode"}},
	}
}
