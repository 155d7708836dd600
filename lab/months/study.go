package months

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/estimate/atlas"
	"github.com/wpm-go/wpm/estimate/series"
	"github.com/wpm-go/wpm/internal/folder"
	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/lab/report"
	"github.com/wpm-go/wpm/lab/towns"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/mincostflow"
)

// ErrConfig reports a Config field out of range.
var ErrConfig = errors.New("lab/months: bad configuration")

// Config describes a run. Its zero value is the study.
type Config struct {
	Out     string    `json:"out"`     // folder to write the report to; "": nothing is written
	Epsilon string    `json:"epsilon"` // that each device spends in all epochs together; "": 4
	Epochs  int       `json:"epochs"`  // and slots; 0: 12
	Devices int       `json:"devices"` // 0: 20,000
	Moving  []float64 `json:"moving"`  // shares that move each epoch; nil: 0.005, 0.05 and 0.3
	Cities  int       `json:"cities"`  // only the first so many; 0: all
	Runs    int       `json:"runs"`    // of each city and share, each with another move; 0: 1
	Seed    uint64    `json:"seed"`

	// Progress, if not nil, is told how much is done.
	Progress func(done, total int, what string) `json:"-"`
}

const (
	maxRuns   = 1000
	maxEpochs = 1000
)

func (c Config) resolve() (Config, ldp.Epsilon, error) {
	if c.Epsilon == "" {
		c.Epsilon = "4"
	}
	if c.Epochs == 0 {
		c.Epochs = 12
	}
	if c.Devices == 0 {
		c.Devices = 20_000
	}
	if c.Moving == nil {
		c.Moving = []float64{0.005, 0.05, 0.3}
	}
	if c.Runs == 0 {
		c.Runs = 1
	}
	eps, err := ldp.ParseEpsilon(c.Epsilon)
	switch {
	case err != nil:
		return c, eps, fmt.Errorf("%w: %w", ErrConfig, err)
	case c.Epochs < 2 || c.Epochs > maxEpochs || c.Devices < c.Epochs || c.Runs < 1 || c.Runs > maxRuns || c.Cities < 0:
		return c, eps, fmt.Errorf("%w: %d epochs, %d devices, %d runs, %d cities", ErrConfig, c.Epochs, c.Devices, c.Runs, c.Cities)
	}
	for _, m := range c.Moving {
		if !(m >= 0 && m <= 1) {
			return c, eps, fmt.Errorf("%w: a share of %v", ErrConfig, m)
		}
	}
	return c, eps, nil
}

// Cell is a city and a share that moves: means over epochs and runs.
type Cell struct {
	City    string    `json:"city"`
	Moving  float64   `json:"moving"`
	Runs    int       `json:"runs"`
	Guess   float64   `json:"guess"`
	Split   float64   `json:"split"`    // everybody, in every epoch
	Once    float64   `json:"once"`     // everybody, in the first
	Slots   float64   `json:"slots"`    // each in one, its map alone
	Row     float64   `json:"row"`      // each in one, maps in a row
	Stated  float64   `json:"stated"`   // error of Row, as it says itself
	Below   float64   `json:"below"`    // of the maps of Row, nearer than they say of nine in ten
	Rates   []float64 `json:"rates"`    // of Row at the last epoch, by run
	OfSlots []float64 `json:"of_slots"` // Row over Slots, by run
}

// Result is the outcome of a run.
type Result struct {
	Config Config `json:"config"`
	Cells  []Cell `json:"cells"`
}

// Run does the study and, if Config.Out is set, writes the report. Errors: ErrConfig, those of the designs, of the
// estimators, the context and the file system.
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
	part, err := ldp.ParseEpsilon(fmt.Sprint(eps.Float64() / float64(cfg.Epochs)))
	if err != nil {
		return Result{}, err
	}
	res := Result{Config: cfg}
	for _, c := range all {
		whole, err := newPlace(ctx, c, eps)
		if err != nil {
			return Result{}, fmt.Errorf("%s: %w", c.Name, err)
		}
		split, err := newPlace(ctx, c, part)
		if err != nil {
			return Result{}, fmt.Errorf("%s: %w", c.Name, err)
		}
		for _, moving := range cfg.Moving {
			if cfg.Progress != nil {
				cfg.Progress(len(res.Cells), len(all)*len(cfg.Moving), c.Name)
			}
			cell, err := cfg.cell(ctx, whole, split, moving)
			if err != nil {
				return Result{}, fmt.Errorf("%s, %v moving: %w", c.Name, moving, err)
			}
			res.Cells = append(res.Cells, cell)
		}
	}
	if cfg.Out != "" {
		_, err = report.Write(cfg.Out, res.report())
	}
	return res, err
}

// place is a city with the default design for one eps.
type place struct {
	city  towns.City
	world atlas.World
	dense *cost.Dense
}

func newPlace(ctx context.Context, c towns.City, eps ldp.Epsilon) (place, error) {
	p := place{city: c}
	d, err := wpm.NewDesign(ctx, c.Cost, eps, wpm.Objective{})
	if err == nil {
		p.world, err = atlas.OfRows(ctx, c.Cost, d.Channel().Row)
	}
	if err == nil {
		p.dense, err = cost.Materialize(ctx, c.Cost)
	}
	return p, err
}

// truths are the population in every epoch: of those who have not moved yet, a share moves towards other places.
func (c Config) truths(city towns.City, moving float64, run int) [][]float64 {
	to := city.Blobs(c.Seed+1+uint64(run), 2)
	list := make([][]float64, c.Epochs)
	for t := range list {
		stay := math.Pow(1-moving, float64(t))
		for i, v := range city.Truth {
			list[t] = append(list[t], stay*v+(1-stay)*to[i])
		}
	}
	return list
}

func (p place) draw(truth []float64, n int, seed uint64) ([]uint64, error) {
	law, err := p.world.Channel.Law(truth)
	if err != nil {
		return nil, err
	}
	return towns.Draw(law, n, seed), nil
}

// cell makes all runs of a city and a share.
func (c Config) cell(ctx context.Context, whole, split place, moving float64) (Cell, error) {
	runs := make([]Cell, c.Runs)
	err := parallel.Each(ctx, c.Runs, func(n int) (err error) {
		runs[n], err = c.run(ctx, whole, split, moving, n)
		return err
	}, nil)
	out := Cell{City: whole.city.Name, Moving: moving, Runs: c.Runs}
	for _, r := range runs {
		n := float64(c.Runs)
		out.Guess, out.Split, out.Once = out.Guess+r.Guess/n, out.Split+r.Split/n, out.Once+r.Once/n
		out.Slots, out.Row, out.Stated = out.Slots+r.Slots/n, out.Row+r.Row/n, out.Stated+r.Stated/n
		out.Below += r.Below / n
		out.Rates, out.OfSlots = append(out.Rates, r.Rates...), append(out.OfSlots, r.Row/r.Slots)
	}
	return out, err
}

func (c Config) run(ctx context.Context, whole, split place, moving float64, n int) (out Cell, err error) {
	truths := c.truths(whole.city, moving, n)
	seed := func(t, way int) uint64 { return c.Seed ^ uint64(n)<<40 ^ uint64(t)<<20 ^ uint64(way) }
	distance := func(truth, theta []float64) float64 {
		t, fault := mincostflow.Transport(ctx, whole.dense, truth, theta)
		err = errors.Join(err, fault)
		return t.Objective
	}
	mapOf := func(p place, truth []float64, devices int, seed uint64) []float64 {
		counts, fault := p.draw(truth, devices, seed)
		if fault == nil {
			var r estimate.Result
			r, fault = estimate.Map(ctx, estimate.Problem{Counts: counts, Channel: p.world.Channel,
				Geometry: p.world.Geometry}, estimate.Settings{})
			if fault == nil {
				return r.Theta
			}
		}
		err = errors.Join(err, fault)
		return truth
	}
	even, fault := estimate.Guess(nil, len(truths[0]))
	if fault != nil {
		return out, fault
	}
	var epochs []series.Epoch
	once := mapOf(whole, truths[0], c.Devices, seed(0, 1))
	each := 1 / float64(c.Epochs)
	for t, truth := range truths {
		out.Guess += each * distance(truth, even)
		out.Split += each * distance(truth, mapOf(split, truth, c.Devices, seed(t, 2)))
		out.Once += each * distance(truth, once)
		counts, fault := whole.draw(truth, c.Devices/c.Epochs, seed(t, 3))
		if fault != nil {
			return out, fault
		}
		epochs = append(epochs, series.Epoch{Name: fmt.Sprint(t), Number: t, World: whole.world, Counts: counts})
		out.Slots += each * distance(truth, mapOf(whole, truth, c.Devices/c.Epochs, seed(t, 3)))
	}
	if err != nil {
		return out, err
	}
	list, err := series.Maps(ctx, epochs, series.Settings{})
	if err != nil {
		return out, err
	}
	for t, m := range list {
		d := distance(truths[t], m.Shares)
		out.Row += each * d
		out.Stated += each * m.Error.Expected
		if d <= m.Error.Within90 {
			out.Below += each
		}
	}
	out.Rates = []float64{list[len(list)-1].Rate}
	return out, err
}

// Summary is over the cities of a share that moves.
type Summary struct {
	Moving  float64 `json:"moving"`
	Cities  int     `json:"cities"`
	OfSlots float64 `json:"of_slots"` // geometric mean of Row over Slots
	Mean    float64 `json:"mean"`     // of the same
	Largest float64 `json:"largest"`  // of the same
	OfSplit float64 `json:"of_split"` // geometric mean of Slots over Split
	Stated  float64 `json:"stated"`   // geometric mean of Row over what it states
	Within  float64 `json:"within"`   // of the cities, Row within 25 % of what it states
	Below   float64 `json:"below"`    // of all maps
}

// Summaries are those of a result, in the order of Config.Moving.
func (r Result) Summaries() (list []Summary) {
	for _, moving := range r.Config.Moving {
		s := Summary{Moving: moving}
		for _, c := range r.Cells {
			if c.Moving != moving {
				continue
			}
			s.Cities++
			of := c.Row / c.Slots
			s.OfSlots, s.OfSplit, s.Stated = s.OfSlots+math.Log(of), s.OfSplit+math.Log(c.Slots/c.Split), s.Stated+math.Log(c.Row/c.Stated)
			s.Mean, s.Largest, s.Below = s.Mean+of, max(s.Largest, of), s.Below+c.Below
			if off := c.Row / c.Stated; math.Abs(off-1) <= 0.25 {
				s.Within++
			}
		}
		n := float64(max(s.Cities, 1))
		s.OfSlots, s.OfSplit, s.Stated = math.Exp(s.OfSlots/n), math.Exp(s.OfSplit/n), math.Exp(s.Stated/n)
		s.Mean, s.Below, s.Within = s.Mean/n, s.Below/n, s.Within/n
		list = append(list, s)
	}
	return list
}

// report describes the result folder.
func (r Result) report() report.Report {
	sum := report.Table{Name: "summary", Title: "Maps in a row over maps of one epoch",
		Columns: []report.Column{{Name: "moving", Label: "share that moves each epoch"}, {Name: "cities"},
			{Name: "of_slots", Label: "in a row / alone, geometric mean"}, {Name: "mean"}, {Name: "largest"},
			{Name: "of_split", Label: "slots / split, geometric mean"}, {Name: "stated", Label: "real / stated, geometric mean"},
			{Name: "within", Label: "cities within 25 %"}, {Name: "below", Label: "maps below the upper figure"}}}
	for _, s := range r.Summaries() {
		sum.Rows = append(sum.Rows, []any{s.Moving, s.Cities, s.OfSlots, s.Mean, s.Largest, s.OfSplit, s.Stated, s.Within, s.Below})
	}
	each := report.Table{Name: "cells", Title: "Every city", Text: "Mean W_1 over the epochs, in the unit of the city.",
		Columns: []report.Column{{Name: "city"}, {Name: "moving"}, {Name: "runs"}, {Name: "guess"}, {Name: "split"}, {Name: "once"},
			{Name: "slots"}, {Name: "row", Label: "slots, in a row"}, {Name: "stated"}, {Name: "below"}}}
	for _, c := range r.Cells {
		each.Rows = append(each.Rows, []any{c.City, c.Moving, c.Runs, c.Guess, c.Split, c.Once, c.Slots, c.Row, c.Stated, c.Below})
	}
	return report.Report{Title: "Maps month after month",
		Lead: fmt.Sprintf("%d devices spend eps %s each in %d epochs. Everything is simulated, and each distance is exact transport.",
			r.Config.Devices, r.Config.Epsilon, r.Config.Epochs),
		Tables: []report.Table{sum, each}, Seed: r.Config.Seed,
		Settings: []report.Setting{{Name: "policy", Value: "default design, mixture mode"}, {Name: "runs", Value: fmt.Sprint(r.Config.Runs)}}}
}
