package rows

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/channel"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/internal/folder"
	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/lab/report"
	"github.com/wpm-go/wpm/lab/towns"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/mincostflow"
)

// ErrConfig reports a Config field out of range.
var ErrConfig = errors.New("lab/rows: bad configuration")

// Config describes a run. Its zero value is the study.
type Config struct {
	Out      string   `json:"out"`      // folder to write the report to; "": nothing is written
	Epsilons []string `json:"epsilons"` // exact decimals or fractions; nil: 0.5, 1, 2, 4
	Devices  []int    `json:"devices"`  // nil: 500, 5,000, 50,000 and 500,000
	Few      int      `json:"few"`      // runs of a cell with up to 5,000 devices; 0: 100
	Many     int      `json:"many"`     // runs of a cell with more; 0: 20
	Cities   int      `json:"cities"`   // only the first so many; 0: all
	Seed     uint64   `json:"seed"`

	// Progress, if not nil, is told how much is done.
	Progress func(done, total int, what string) `json:"-"`
}

const maxRuns = 1000

func (c Config) resolve() (Config, []ldp.Epsilon, error) {
	if c.Epsilons == nil {
		c.Epsilons = []string{"0.5", "1", "2", "4"}
	}
	if c.Devices == nil {
		c.Devices = []int{500, 5000, 50_000, 500_000}
	}
	if c.Few == 0 {
		c.Few = 100
	}
	if c.Many == 0 {
		c.Many = 20
	}
	if c.Few < 1 || c.Few > maxRuns || c.Many < 1 || c.Many > maxRuns || c.Cities < 0 {
		return c, nil, fmt.Errorf("%w: %d and %d runs, want 1 to %d; %d cities", ErrConfig, c.Few, c.Many, maxRuns, c.Cities)
	}
	for _, n := range c.Devices {
		if n < 1 || n > 1_000_000_000 {
			return c, nil, fmt.Errorf("%w: %d devices", ErrConfig, n)
		}
	}
	eps := make([]ldp.Epsilon, len(c.Epsilons))
	for i, s := range c.Epsilons {
		var err error
		if eps[i], err = ldp.ParseEpsilon(s); err != nil {
			return c, nil, fmt.Errorf("%w: Epsilons[%d]: %w", ErrConfig, i, err)
		}
	}
	return c, eps, nil
}

// Error is W_1 to the truth over the runs of a cell.
type Error struct {
	Mean   float64   `json:"mean"`
	SE     float64   `json:"se"` // standard error of the mean, 0 for one run
	Median float64   `json:"median"`
	Q90    float64   `json:"q90"` // the 90 % quantile
	By     []float64 `json:"by"`  // by run
}

// Over returns the ratio of the means of e and of other, with the standard error of its logarithm (by the delta method).
// The runs of both have the same seeds.
func (e Error) Over(other Error) (ratio, se float64) {
	n := float64(len(e.By))
	for i, v := range e.By {
		d := v/e.Mean - other.By[i]/other.Mean
		se += d * d
	}
	return e.Mean / other.Mean, math.Sqrt(se / max(1, n-1) / n)
}

// Cell is one city, eps and number of devices.
type Cell struct {
	City    string  `json:"city"`
	Family  string  `json:"family"`
	Epsilon string  `json:"epsilon"`
	Devices int     `json:"devices"`
	Runs    int     `json:"runs"`
	Guess   float64 `json:"guess"`   // of the even map
	Default Error   `json:"default"` // of the default design
	Disc    Error   `json:"disc"`    // of objective map
	Chosen  Error   `json:"chosen"`  // of package channel
	Codes   bool    `json:"codes"`   // whether it took codes
	Risk    float64 `json:"risk"`    // its predicted root risk, over that of the best single disc
	Outputs int     `json:"outputs"` // of the chosen one
}

// Result is the outcome of a run.
type Result struct {
	Config Config `json:"config"`
	Cells  []Cell `json:"cells"`
}

// Run does the study and, if Config.Out is set, writes the report. Errors: ErrConfig, those of the designs, of the
// estimator, the context and the file system.
func Run(ctx context.Context, cfg Config) (Result, error) {
	cfg, eps, err := cfg.resolve()
	if err != nil {
		return Result{}, err
	}
	if err := folder.Prepare(cfg.Out); err != nil {
		return Result{}, err
	}
	all, err := towns.Cities(cfg.Seed)
	if err != nil {
		return Result{}, err
	}
	if cfg.Cities > 0 {
		all = all[:min(cfg.Cities, len(all))]
	}
	kept, err := report.OpenCases(cfg.Out)
	if err != nil {
		return Result{}, err
	}
	defer kept.Close()
	res := Result{Config: cfg}
	total := len(all) * len(eps) * len(cfg.Devices)
	for _, c := range all {
		for n, e := range eps {
			for _, devices := range cfg.Devices {
				if cfg.Progress != nil {
					cfg.Progress(len(res.Cells), total, c.Name)
				}
				runs := cfg.Many
				if devices <= 5000 {
					runs = cfg.Few
				}
				name := fmt.Sprintf("%s, eps %s, %d devices, %d runs, seed %d", c.Name, e, devices, runs, cfg.Seed)
				cell, err := report.Case(kept, name, func() (Cell, error) { return cellOf(ctx, c, cfg.Seed, e, devices, runs) })
				if err != nil {
					return Result{}, fmt.Errorf("%s, eps %s, %d devices: %w", c.Name, cfg.Epsilons[n], devices, err)
				}
				cell.Epsilon = cfg.Epsilons[n]
				res.Cells = append(res.Cells, cell)
			}
		}
	}
	if cfg.Out != "" {
		if _, err := report.Write(cfg.Out, res.Report()); err != nil {
			return Result{}, err
		}
	}
	return res, nil
}

// cellOf designs three ways, and draws the runs of each.
func cellOf(ctx context.Context, c towns.City, seed uint64, eps ldp.Epsilon, devices, runs int) (Cell, error) {
	out := Cell{City: c.Name, Family: c.Family, Devices: devices, Runs: runs}
	geometry, err := estimate.NewGeometry(ctx, c.Cost, 1)
	if err != nil {
		return out, err
	}
	dense, err := cost.Materialize(ctx, c.Cost)
	if err != nil {
		return out, err
	}
	distance := func(a []float64) (float64, error) {
		t, err := mincostflow.Transport(ctx, dense, c.Truth, a)
		return t.Objective, err
	}
	even, err := estimate.Guess(nil, len(c.Truth))
	if err != nil {
		return out, err
	}
	if out.Guess, err = distance(even); err != nil {
		return out, err
	}
	measure := func(ch *estimate.Channel) (Error, error) {
		law, err := ch.Law(c.Truth)
		if err != nil {
			return Error{}, err
		}
		w := make([]float64, runs)
		err = parallel.Each(ctx, runs, func(n int) error {
			counts := towns.Draw(law, devices, seed+uint64(n))
			found, err := estimate.Map(ctx, estimate.Problem{Counts: counts, Channel: ch, Geometry: geometry},
				estimate.Settings{})
			if err == nil {
				w[n], err = distance(found.Theta)
			}
			return err
		}, nil)
		return spread(w), err
	}
	for _, o := range []wpm.Objective{{}, {Kind: wpm.Map, Devices: devices}} {
		d, err := wpm.NewDesign(ctx, c.Cost, eps, o)
		if err != nil {
			return out, err
		}
		rows := d.Channel()
		k, kv := rows.Dims()
		ch, err := estimate.NewChannel(k, kv, func(i int, dst []float64) {
			row := rows.Row(i)
			for j := range dst {
				dst[j] = float64(row.At(j))
			}
		})
		if err != nil {
			return out, err
		}
		e, err := measure(ch)
		if err != nil {
			return out, err
		}
		if out.Disc = e; o.Devices == 0 {
			out.Default = e
		}
	}
	d, err := channel.New(ctx, channel.Problem{Cost: c.Cost, Epsilon: eps, Devices: int64(devices)})
	if err != nil {
		return out, err
	}
	out.Codes, out.Risk, out.Outputs = d.Codes, d.Risk, d.Outputs()
	ch, err := d.Channel()
	if err != nil {
		return out, err
	}
	out.Chosen, err = measure(ch)
	return out, err
}

func spread(x []float64) Error {
	n := float64(len(x))
	e := Error{By: x}
	for _, v := range x {
		e.Mean += v / n
	}
	for _, v := range x {
		e.SE += (v - e.Mean) * (v - e.Mean)
	}
	if n > 1 {
		e.SE = math.Sqrt(e.SE / (n - 1) / n)
	}
	x = slices.Sorted(slices.Values(x))
	e.Median, e.Q90 = stat.Quantile(0.5, stat.LinInterp, x, nil), stat.Quantile(0.9, stat.LinInterp, x, nil)
	return e
}

// Summary is a geometric mean of ratios over the cells of a family, an eps and a number of devices.
type Summary struct {
	Family            string
	Epsilon           string
	Devices, Cells    int
	OfDefault, OfDisc float64 // chosen over these
	DiscOfDefault     float64
}

// Summaries are geometric means by family, and over all.
func (r Result) Summaries() []Summary {
	families := []string{"all"}
	for _, c := range r.Cells {
		if !slices.Contains(families, c.Family) {
			families = append(families, c.Family)
		}
	}
	var out []Summary
	for _, f := range families {
		for _, e := range r.Config.Epsilons {
			for _, n := range r.Config.Devices {
				s := Summary{Family: f, Epsilon: e, Devices: n}
				for _, c := range r.Cells {
					if (f == "all" || c.Family == f) && c.Epsilon == e && c.Devices == n &&
						min(c.Default.Mean, c.Disc.Mean, c.Chosen.Mean) > 0 {
						s.Cells++
						s.OfDefault += math.Log(c.Chosen.Mean / c.Default.Mean)
						s.OfDisc += math.Log(c.Chosen.Mean / c.Disc.Mean)
						s.DiscOfDefault += math.Log(c.Disc.Mean / c.Default.Mean)
					}
				}
				if s.Cells > 0 {
					m := float64(s.Cells)
					s.OfDefault, s.OfDisc = math.Exp(s.OfDefault/m), math.Exp(s.OfDisc/m)
					s.DiscOfDefault = math.Exp(s.DiscOfDefault / m)
					out = append(out, s)
				}
			}
		}
	}
	return out
}

// Report describes the result folder.
func (r Result) Report() report.Report {
	t := report.Table{
		Title: "All cells",
		Text: "W₁ to the truth, in the unit of the city: mean, median and 90 % quantile of the runs. Ratios are of means, with " +
			"the 99 % interval of chosen / rule disc.",
		Columns: []report.Column{
			{Name: "city"}, {Name: "eps", Label: "ε"}, {Name: "devices"}, {Name: "runs"}, {Name: "guess"},
			{Name: "default"}, {Name: "default_median", Label: "median"}, {Name: "default_90", Label: "90 %"},
			{Name: "disc", Label: "rule disc"}, {Name: "disc_median", Label: "median"}, {Name: "disc_90", Label: "90 %"},
			{Name: "chosen"}, {Name: "chosen_median", Label: "median"}, {Name: "chosen_90", Label: "90 %"},
			{Name: "chosen_default", Label: "chosen / default"}, {Name: "chosen_disc", Label: "chosen / rule disc"},
			{Name: "low", Label: "from"}, {Name: "high", Label: "to"}, {Name: "codes", Label: "codes taken"},
			{Name: "risk", Label: "predicted"}, {Name: "outputs"},
		},
	}
	for _, c := range r.Cells {
		row := []any{c.City, c.Epsilon, c.Devices, c.Runs, c.Guess}
		for _, e := range []Error{c.Default, c.Disc, c.Chosen} {
			row = append(row, e.Mean, e.Median, e.Q90)
		}
		ofDefault, _ := c.Chosen.Over(c.Default)
		ofDisc, se := c.Chosen.Over(c.Disc)
		margin := math.Exp(distuv.StudentsT{Sigma: 1, Nu: float64(max(1, c.Runs-1))}.Quantile(0.995) * se)
		t.Rows = append(t.Rows, append(row, ofDefault, ofDisc, ofDisc/margin, ofDisc*margin, c.Codes, c.Risk, c.Outputs))
	}
	means := report.Table{
		Name: "means", Title: "Geometric means of ratios", Text: "Over the cities of a family.",
		Columns: []report.Column{{Name: "family"}, {Name: "eps", Label: "ε"}, {Name: "devices"}, {Name: "cities"},
			{Name: "chosen_default", Label: "chosen / default"}, {Name: "chosen_disc", Label: "chosen / rule disc"},
			{Name: "disc_default", Label: "rule disc / default"}},
	}
	for _, s := range r.Summaries() {
		means.Rows = append(means.Rows, []any{s.Family, s.Epsilon, s.Devices, s.Cells, s.OfDefault, s.OfDisc,
			s.DiscOfDefault})
	}
	return report.Report{
		Title: "Rows for a map",
		Lead: "The error of the map of the releases for the default design, the best disc, and the list of codes and discs that " +
			"package channel chooses, on made-up cities.",
		Notes:  []string{"A simulation: cities, truths and counts come from a seeded generator."},
		Tables: []report.Table{t, means}, Seed: r.Config.Seed,
		Settings: []report.Setting{
			{Name: "eps", Value: fmt.Sprint(r.Config.Epsilons)}, {Name: "devices", Value: fmt.Sprint(r.Config.Devices)},
			{Name: "few", Value: fmt.Sprint(r.Config.Few)}, {Name: "many", Value: fmt.Sprint(r.Config.Many)},
			{Name: "cities", Value: fmt.Sprint(r.Config.Cities)},
		},
	}
}
