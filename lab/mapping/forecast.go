package mapping

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/estimate/plan"
	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/lab/report"
	"github.com/wpm-go/wpm/ldp"
)

// Forecast is a case: what a plan with a prior says of the map, and how far maps are from the truth. The prior is a map
// of the panel. Distances are in its unit.
type Forecast struct {
	Map     string    `json:"map"`
	Unit    string    `json:"unit"`
	Eps     float64   `json:"eps"`
	Devices int       `json:"devices"`
	Mean    float64   `json:"mean"`      // forecast
	Line    float64   `json:"within_90"` // forecast for nine of ten
	Real    []float64 `json:"real"`      // of maps, by run
}

// Below is how many of the maps are within the line.
func (f Forecast) Below() (n int) {
	for _, d := range f.Real {
		if d <= f.Line {
			n++
		}
	}
	return n
}

// Forecasts is the outcome of RunForecasts.
type Forecasts struct {
	Config Config     `json:"config"`
	Cases  []Forecast `json:"cases"`
	Below  float64    `json:"below"` // of all maps, within their line
	Least  float64    `json:"least"` // the same of the case that has the fewest
}

const forecastCases = 40

// RunForecasts compares the line of plan, for nine of ten maps, with how far maps are from the truth. Every other truth
// is the prior; the rest have 10 to 30 % of its mass on a hill somewhere, which is not how plan draws its worlds.
// If Config.Out is set, it writes the report. Devices are 500, 5,000 and 50,000 if not given; Data, Plan, Estimator and
// Large have no use. Errors are those of Run.
func RunForecasts(ctx context.Context, cfg Config) (Forecasts, error) {
	s, eps, err := casesOf(cfg, forecastCases)
	if err != nil {
		return Forecasts{}, err
	}
	defer s.kept.Close()
	out := Forecasts{Least: 1}
	err = s.cases(eps, func(w world, seed uint64, eps ldp.Epsilon, devices int) error {
		name := fmt.Sprintf("forecast, %s, eps %s, %d devices, %d runs, seeds %d and %d", w.name, eps, devices, s.cfg.Runs,
			s.cfg.Seed, seed)
		c, err := report.Case(s.kept, name, func() (Forecast, error) { return s.forecast(ctx, w, eps, devices) })
		if err != nil {
			return err
		}
		share := float64(c.Below()) / float64(len(c.Real))
		out.Below += share / float64(s.cfg.Cases)
		out.Least = min(out.Least, share)
		out.Cases = append(out.Cases, c)
		return nil
	})
	if err != nil {
		return Forecasts{}, err
	}
	out.Config = s.cfg
	out.Config.Progress = nil
	if cfg.Out != "" {
		_, err = report.Write(cfg.Out, out.report())
	}
	return out, err
}

func (s study) forecast(ctx context.Context, w world, eps ldp.Epsilon, devices int) (Forecast, error) {
	out := Forecast{Map: w.name, Unit: w.unit, Eps: eps.Float64(), Devices: devices, Real: make([]float64, s.cfg.Runs)}
	rows, channel, err := design(ctx, w.cost, eps)
	if err != nil {
		return out, err
	}
	planner, err := plan.New(ctx, plan.Problem{Cost: w.cost, Prior: w.truth})
	if err != nil {
		return out, err
	}
	m, err := planner.Mechanism(func(i int) ldp.Weights { return rows[i] })
	if err != nil {
		return out, err
	}
	p, err := m.Predict(ctx, devices, estimate.Settings{})
	if err != nil {
		return out, err
	}
	out.Mean, out.Line = p.Map.Mean*w.scale, p.Map.High*w.scale
	geometry, err := estimate.NewGeometry(ctx, w.cost, 1)
	if err != nil {
		return out, err
	}
	c, err := cost.Materialize(ctx, w.cost)
	if err != nil {
		return out, err
	}
	return out, parallel.Each(ctx, s.cfg.Runs, func(n int) error {
		at := w
		at.truth = elsewhere(geometry, w.truth, s.cfg.Seed, n)
		counts, err := s.simulate(at, rows, devices, fmt.Sprint(eps, " forecast ", n))
		if err != nil {
			return err
		}
		found, err := estimate.Map(ctx, estimate.Problem{Counts: counts, Channel: channel, Geometry: geometry},
			estimate.Settings{})
		if err == nil {
			out.Real[n], _, err = distance(ctx, c, at, found.Theta)
		}
		return err
	}, nil)
}

// elsewhere returns the truth of a run: the prior in every other, else the prior with 10 to 30 % of its mass on a hill
// around a place, a tenth to three tenths of the mean distance wide.
func elsewhere(g *estimate.Geometry, prior []float64, seed uint64, run int) []float64 {
	if run%2 == 1 {
		return prior
	}
	r := rand.New(rand.NewPCG(seed^0x656c7365, uint64(run)))
	share, width := 0.1+0.2*r.Float64(), 0.1+0.2*r.Float64()
	far := g.Row(r.IntN(len(prior)), make([]float64, len(prior)))
	hill := make([]float64, len(prior))
	scale := width * mean(far)
	for i, d := range far {
		hill[i] = math.Exp(-d * d / (2 * scale * scale))
	}
	hill = shares(hill)
	for i, v := range prior {
		hill[i] = (1-share)*v + share*hill[i]
	}
	return hill
}

// report describes the result folder.
func (r Forecasts) report() report.Report {
	each := report.Table{
		Name: "forecasts", Title: "The cases",
		Text: fmt.Sprintf("In all %.1f %% of the maps are within the line, and %.0f %% in the worst case.", 100*r.Below,
			100*r.Least),
		Columns: []report.Column{{Name: "prior"}, {Name: "unit"}, {Name: "eps", Label: "ε"}, {Name: "devices"},
			{Name: "mean", Label: "forecast"}, {Name: "real"}, {Name: "line", Label: "forecast for nine of ten"},
			{Name: "below", Label: "maps within it"}},
	}
	for _, c := range r.Cases {
		each.Rows = append(each.Rows, []any{c.Map, c.Unit, c.Eps, c.Devices, c.Mean, mean(c.Real), c.Line, c.Below()})
	}
	return report.Report{
		Title: "What plan says of nine of ten maps",
		Lead: fmt.Sprintf("%d cases of %d maps each: the forecast with a prior, and maps of truths that differ from it. "+
			"Everything is simulated, and each real distance is exact transport.", len(r.Cases), r.Config.Runs),
		Tables: []report.Table{each}, Seed: r.Config.Seed,
		Settings: []report.Setting{{Name: "ε", Value: strings.Join(r.Config.Epsilons, ", ")},
			{Name: "devices", Value: fmt.Sprint(r.Config.Devices)},
			{Name: "simulations", Value: fmt.Sprint(r.Config.Runs)},
			{Name: "policy", Value: "default design, mixture mode"}},
	}
}
