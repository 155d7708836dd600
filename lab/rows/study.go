package rows

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

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
	Few      int      `json:"few"`      // runs of a cell with up to 5,000 devices; 0: 3
	Many     int      `json:"many"`     // runs of a cell with more; 0: 3
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
		c.Few = 3
	}
	if c.Many == 0 {
		c.Many = 3
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

// Error is the mean of W_1 over the runs of a cell, and its standard error (0 for one run).
type Error struct {
	Mean float64 `json:"mean"`
	SE   float64 `json:"se"`
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
	res := Result{Config: cfg}
	total := len(all) * len(eps) * len(cfg.Devices)
	for _, c := range all {
		for n, e := range eps {
			for _, devices := range cfg.Devices {
				if cfg.Progress != nil {
					cfg.Progress(len(res.Cells), total, c.Name)
				}
				cell, err := cellOf(ctx, c, cfg, e, devices)
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

// cell designs three ways, and draws the runs of each.
func cellOf(ctx context.Context, c towns.City, cfg Config, eps ldp.Epsilon, devices int) (Cell, error) {
	runs := cfg.Many
	if devices <= 5000 {
		runs = cfg.Few
	}
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
			counts := towns.Draw(law, devices, cfg.Seed+uint64(n))
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
	var e Error
	for _, v := range x {
		e.Mean += v / n
	}
	for _, v := range x {
		e.SE += (v - e.Mean) * (v - e.Mean)
	}
	if n > 1 {
		e.SE = math.Sqrt(e.SE / (n - 1) / n)
	}
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
		Title: "All cells", Text: "Distances are means of W₁ to the truth, in the unit of the city, with the standard error of each.",
		Columns: []report.Column{
			{Name: "city"}, {Name: "eps", Label: "ε"}, {Name: "devices"}, {Name: "runs"}, {Name: "guess"},
			{Name: "default"}, {Name: "default_se", Label: "±"}, {Name: "disc", Label: "rule disc"}, {Name: "disc_se", Label: "±"},
			{Name: "chosen"}, {Name: "chosen_se", Label: "±"}, {Name: "codes", Label: "codes taken"},
			{Name: "risk", Label: "predicted"}, {Name: "outputs"},
		},
	}
	for _, c := range r.Cells {
		t.Rows = append(t.Rows, []any{c.City, c.Epsilon, c.Devices, c.Runs, c.Guess, c.Default.Mean, c.Default.SE,
			c.Disc.Mean, c.Disc.SE, c.Chosen.Mean, c.Chosen.SE, c.Codes, c.Risk, c.Outputs})
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
