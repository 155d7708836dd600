package country

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/aggregate"
	"github.com/wpm-go/wpm/audit"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/folder"
	"github.com/wpm-go/wpm/lab/report"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
)

// ErrConfig reports a Config field out of range.
var ErrConfig = errors.New("experiments/country: bad configuration")

// Config describes a run. Its zero value is the study.
type Config struct {
	Out      string   `json:"out"`      // folder to write the report to; "": nothing is written
	Places   int      `json:"places"`   // 0: 20,000
	Devices  int      `json:"devices"`  // 0: 1,000
	Epsilons []string `json:"epsilons"` // exact decimals or fractions; nil: 2, 4, 8
	Seed     uint64   `json:"seed"`

	// Progress, if not nil, is told how much is done.
	Progress func(done, total int, what string) `json:"-"`
}

// Limits of a Config: what a study does in minutes.
const (
	maxPlaces   = 100_000
	maxDevices  = 10_000
	maxEpsilons = 16
)

func (c Config) resolve() (Config, []ldp.Epsilon, error) {
	if c.Places == 0 {
		c.Places = 20_000
	}
	if c.Devices == 0 {
		c.Devices = 1000
	}
	if c.Epsilons == nil {
		c.Epsilons = []string{"2", "4", "8"}
	}
	if c.Places < 2 || c.Places > maxPlaces || c.Devices < 1 || c.Devices > maxDevices || len(c.Epsilons) > maxEpsilons {
		return c, nil, fmt.Errorf("%w: %d places, %d devices and %d eps, want 2 to %d, 1 to %d and at most %d",
			ErrConfig, c.Places, c.Devices, len(c.Epsilons), maxPlaces, maxDevices, maxEpsilons)
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

// Row is what one eps gives. Distances are W_1 in km.
type Row struct {
	Epsilon string  `json:"epsilon"`
	Bytes   int     `json:"bytes"` // of the policy file
	Worst   float64 `json:"worst"` // certified, for any one device
	Lower   float64 `json:"lower"` // no mechanism has a smaller worst case
	Map     float64 `json:"map"`   // from the truth to the releases as counted
	Times   Times   `json:"-"`
}

// Times are seconds of the wall.
type Times struct {
	Design  float64 // with certified bounds, and published
	Verify  float64 // privacy, from the bytes
	Order   float64 // of all rows
	Release float64 // all devices
}

// Result is the outcome of a run. Distances are W_1 to the truth in km.
type Result struct {
	Config  Config  `json:"config"`
	Uniform float64 `json:"uniform"` // the guess that all places are alike
	People  float64 `json:"people"`  // the guess by inhabitants
	Open    float64 `json:"open"`    // one place from each device, without privacy
	Rows    []Row   `json:"rows"`
}

// Run does the study and, if Config.Out is set, writes the report. Errors: ErrConfig, those of wpm.NewDesign, the
// context and the file system.
func Run(ctx context.Context, cfg Config) (Result, error) {
	cfg, eps, err := cfg.resolve()
	if err != nil {
		return Result{}, err
	}
	if err := folder.Prepare(cfg.Out); err != nil {
		return Result{}, err
	}
	if ctx == nil {
		ctx = context.Background()
	}
	res := Result{Config: cfg}
	s := study{places: Generate(cfg.Seed, cfg.Places), seed: cfg.Seed}
	s.devices = population(cfg.Seed, s.places, cfg.Devices)
	if err := s.guesses(ctx, &res); err != nil {
		return Result{}, err
	}
	for n, e := range eps {
		if cfg.Progress != nil {
			cfg.Progress(n, len(eps), "policies")
		}
		row, err := s.run(ctx, e)
		if err != nil {
			return Result{}, fmt.Errorf("eps = %v: %w", e, err)
		}
		res.Rows = append(res.Rows, row)
	}
	if cfg.Progress != nil {
		cfg.Progress(len(eps), len(eps), "policies")
	}
	if cfg.Out != "" {
		if _, err := report.Write(cfg.Out, res.Report()); err != nil {
			return Result{}, err
		}
	}
	return res, nil
}

type study struct {
	places  []Place
	devices []device
	truth   []float64 // the mean of the devices
	seed    uint64
}

// stream is the generator of the draws for a use.
func (s *study) stream(use string) *rand.ChaCha8 {
	var key [32]byte
	copy(key[:], fmt.Sprintf("%d %s", s.seed, use))
	return rand.NewChaCha8(key)
}

// guesses sets the truth, and what is known or would be without the mechanism.
func (s *study) guesses(ctx context.Context, res *Result) (err error) {
	s.truth = make([]float64, len(s.places))
	open, people := make([]float64, len(s.places)), make([]float64, len(s.places))
	r := rand.New(s.stream("open"))
	for _, d := range s.devices {
		for n, i := range d.places {
			s.truth[i] += d.share[n]
		}
		open[d.places[pick(r, d.share)]]++
	}
	for i, p := range s.places {
		people[i] = p.People
	}
	for _, m := range []struct {
		to   *float64
		mass []float64
	}{{&res.Uniform, slices.Repeat([]float64{1}, len(s.places))}, {&res.People, people}, {&res.Open, open}} {
		if *m.to, err = s.distance(ctx, m.mass); err != nil {
			return err
		}
	}
	return nil
}

// distance is W_1 from the truth to a map: exact transport between the places that have mass.
func (s *study) distance(ctx context.Context, mass []float64) (float64, error) {
	part := func(all []float64) (at [][2]float64, some []float64) {
		for i, m := range all {
			if m > 0 {
				at, some = append(at, [2]float64{s.places[i].Lat, s.places[i].Lon}), append(some, m)
			}
		}
		return at, some
	}
	x, a := part(s.truth)
	v, b := part(mass)
	c, err := cost.NewGreatCircle(x, v, 1)
	if err != nil {
		return 0, err
	}
	e, err := aggregate.Evaluate(ctx, c, a, b)
	return e.Distance(1), err
}

// run designs, publishes, verifies and simulates at one eps.
func (s *study) run(ctx context.Context, eps ldp.Epsilon) (Row, error) {
	row := Row{Epsilon: eps.String()}
	start := time.Now()
	lap := func(to *float64) {
		*to, start = time.Since(start).Seconds(), time.Now()
	}
	at := make([][2]float64, len(s.places))
	for i, p := range s.places {
		at[i] = [2]float64{p.Lat, p.Lon}
	}
	c, err := cost.NewGreatCircle(at, nil, 1)
	if err != nil {
		return row, err
	}
	d, err := wpm.NewDesign(ctx, c, eps, wpm.Objective{})
	if err != nil {
		return row, err
	}
	row.Worst, _ = d.WorstCase()
	row.Lower = d.Lower()
	published, err := d.Publish(policy.Config{Provenance: policy.Provenance{Geometry: policy.Public,
		BaseMeasure: policy.DataIndependent}})
	if err != nil {
		return row, err
	}
	text, err := policy.Encode(published)
	if err != nil {
		return row, err
	}
	row.Bytes = len(text)
	lap(&row.Times.Design)
	p, err := policy.Decode(text)
	if err == nil {
		err = policy.Verify(p)
	}
	if err != nil {
		return row, err
	}
	lap(&row.Times.Verify)
	if err := audit.Thresholds(ctx, p); err != nil {
		return row, err
	}
	lap(&row.Times.Order)
	released, err := s.releases(ctx, p)
	if err != nil {
		return row, err
	}
	lap(&row.Times.Release)
	counts, err := aggregate.Count(p.Outputs(), released)
	if err != nil {
		return row, err
	}
	mass := make([]float64, len(counts))
	for j, n := range counts {
		mass[j] = float64(n)
	}
	row.Map, err = s.distance(ctx, mass)
	return row, err
}

// releases simulates one report of each device, in mixture mode.
func (s *study) releases(ctx context.Context, p policy.Policy) ([]int, error) {
	source := s.stream("release at " + p.Epsilon().String())
	r := rand.New(source)
	var out []int
	for _, d := range s.devices {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		w, err := p.Row(d.places[pick(r, d.share)])
		if err != nil {
			return nil, err
		}
		j, err := w.Sample(source)
		if err != nil {
			return nil, err
		}
		out = append(out, j)
	}
	return out, nil
}

// Report describes the result folder.
func (r Result) Report() report.Report {
	t := report.Table{
		Title: "The map of the releases",
		Text:  "Distances are W₁ in km. The worst case is certified for any one device.",
		Columns: []report.Column{
			{Name: "eps", Label: "ε"}, {Name: "bytes", Label: "policy", Unit: "bytes"},
			{Name: "worst", Label: "worst case", Unit: "km"},
			{Name: "lower", Label: "no mechanism beats", Unit: "km"}, {Name: "map", Label: "map of the releases", Unit: "km"},
			{Name: "uniform", Label: "all places alike", Unit: "km"}, {Name: "people", Label: "by inhabitants", Unit: "km"},
			{Name: "open", Label: "no privacy", Unit: "km"},
		},
	}
	for _, row := range r.Rows {
		t.Rows = append(t.Rows, []any{row.Epsilon, row.Bytes, row.Worst, row.Lower, row.Map, r.Uniform, r.People, r.Open})
	}
	return report.Report{
		Title: "A country of many places",
		Lead: fmt.Sprintf("A policy of %d places like those of a real country, and the map that %d devices give, one place each. The map is as "+
			"counted: it is not corrected for what the mechanism does.", r.Config.Places, r.Config.Devices),
		Notes:  []string{"A simulation: country, devices and releases come from a seeded generator."},
		Tables: []report.Table{t}, Seed: r.Config.Seed,
		Settings: []report.Setting{
			{Name: "places", Value: fmt.Sprint(r.Config.Places)}, {Name: "devices", Value: fmt.Sprint(r.Config.Devices)},
		},
	}
}
