package rivals

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/baseline"
	"github.com/wpm-go/wpm/channel"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/internal/city"
	"github.com/wpm-go/wpm/internal/folder"
	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/lab/report"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/mincostflow"
)

// ErrConfig reports a Config field out of range.
var ErrConfig = errors.New("lab/rivals: bad configuration")

// Config describes a run. Its zero value is the study.
type Config struct {
	Out      string   `json:"out"`      // folder to write the report to; "": nothing is written
	Epsilons []string `json:"epsilons"` // exact decimals or fractions; nil: 1, 2, 4
	Devices  int      `json:"devices"`  // of every city; 0: 500
	Runs     int      `json:"runs"`     // cities, each with releases of its own; 0: 100
	Side     int      `json:"side"`     // cells a side; 0: 20
	Methods  []string `json:"methods"`  // names of Methods; nil: all
	Seed     uint64   `json:"seed"`

	// Progress, if not nil, is told how much is done.
	Progress func(done, total int, what string) `json:"-"`
}

// maxRuns and maxDevices bound a study to hours. A report of an oracle is an output of its own.
const (
	maxRuns    = 10_000
	maxDevices = 20_000
	maxSide    = 40
)

// Methods returns the names of the mechanisms, in the order of the tables.
func Methods() []string {
	return []string{"wpm", "wpm-devices", "dam", "geoind", "hierarchy", "subset", "olh", "oue", "response"}
}

// names are those for people.
var names = map[string]string{
	"wpm": "WPM, default design", "wpm-devices": "WPM, designed for the number of devices", "dam": "Disk Area Mechanism",
	"geoind": "geo-indistinguishability", "hierarchy": "hierarchy of blocks, subset selection",
	"subset": "subset selection", "olh": "OLH", "oue": "OUE", "response": "randomised response",
}

func (c Config) resolve() (Config, []ldp.Epsilon, error) {
	if c.Epsilons == nil {
		c.Epsilons = []string{"1", "2", "4"}
	}
	if c.Methods == nil {
		c.Methods = Methods()
	}
	for _, d := range []struct {
		name string
		v    *int
		d    int
		most int
	}{{"Devices", &c.Devices, 500, maxDevices}, {"Runs", &c.Runs, 100, maxRuns}, {"Side", &c.Side, 20, maxSide}} {
		if *d.v == 0 {
			*d.v = d.d
		}
		if *d.v < 1 || *d.v > d.most || d.name == "Side" && *d.v < 4 {
			return c, nil, fmt.Errorf("%w: %s is %d, want at most %d", ErrConfig, d.name, *d.v, d.most)
		}
	}
	for i, m := range c.Methods {
		if !slices.Contains(Methods(), m) || slices.Contains(c.Methods[:i], m) {
			return c, nil, fmt.Errorf("%w: Methods[%d] is %q, want each once of %v", ErrConfig, i, m, Methods())
		}
	}
	eps := make([]ldp.Epsilon, len(c.Epsilons))
	for i, s := range c.Epsilons {
		var err error
		if eps[i], err = ldp.ParseEpsilon(s); err != nil {
			return c, nil, fmt.Errorf("%w: Epsilons[%d]: %w", ErrConfig, i, err)
		}
		if eps[i].Float64() > 12 {
			return c, nil, fmt.Errorf("%w: Epsilons[%d] is %s, want at most 12", ErrConfig, i, s)
		}
	}
	return c, eps, nil
}

// Row is one reading of one mechanism at one eps, over all cities. Distances are W_1 to the truth in cell widths.
type Row struct {
	Epsilon string  `json:"epsilon"`
	Method  string  `json:"method"`
	Reading string  `json:"reading"`
	Mean    float64 `json:"mean"`
	Median  float64 `json:"median"`
	Q90     float64 `json:"q90"`
	Best    bool    `json:"best"` // the reading of this mechanism with the least mean
}

// Result is the outcome of a run.
type Result struct {
	Config Config  `json:"config"`
	Guess  float64 `json:"guess"` // mean distance of the even map
	Rows   []Row   `json:"rows"`
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
	s := &study{cfg: cfg}
	if s.grid, err = cost.NewGrid(cfg.Side, cfg.Side, 1); err != nil {
		return Result{}, err
	}
	if s.geometry, err = estimate.NewGeometry(ctx, s.grid, 1); err != nil {
		return Result{}, err
	}
	if s.dense, err = cost.Materialize(ctx, s.grid); err != nil {
		return Result{}, err
	}
	if s.kept, err = report.OpenCases(cfg.Out); err != nil {
		return Result{}, err
	}
	defer s.kept.Close()
	res := Result{Config: cfg}
	for n, e := range eps {
		for m, name := range cfg.Methods {
			if cfg.Progress != nil {
				cfg.Progress(n*len(cfg.Methods)+m, len(eps)*len(cfg.Methods), names[name])
			}
			rows, err := s.measure(ctx, name, e)
			if err != nil {
				return Result{}, fmt.Errorf("lab/rivals: %s at eps %s: %w", name, cfg.Epsilons[n], err)
			}
			for i := range rows {
				rows[i].Epsilon = cfg.Epsilons[n]
			}
			res.Rows = append(res.Rows, rows...)
		}
	}
	even := slices.Repeat([]float64{1 / float64(cfg.Side*cfg.Side)}, cfg.Side*cfg.Side)
	for run := range cfg.Runs {
		people, err := s.people(run)
		if err != nil {
			return Result{}, err
		}
		d, err := s.distance(ctx, even, people.Truth())
		if err != nil {
			return Result{}, err
		}
		res.Guess += d / float64(cfg.Runs)
	}
	if cfg.Out != "" {
		if _, err := report.Write(cfg.Out, res.Report()); err != nil {
			return Result{}, err
		}
	}
	return res, nil
}

type study struct {
	cfg      Config
	grid     cost.Matrix
	geometry *estimate.Geometry
	dense    *cost.Dense
	kept     *report.Cases
}

// people are the city of a run: that of the demo with its seed.
func (s *study) people(run int) (city.Population, error) {
	return city.Generate(s.cfg.Seed+uint64(run), s.cfg.Devices, s.cfg.Side, s.cfg.Side)
}

func (s *study) distance(ctx context.Context, a, truth []float64) (float64, error) {
	t, err := mincostflow.Transport(ctx, s.dense, a, truth)
	return t.Objective * float64(s.cfg.Side), err
}

// reading is a map that a server makes of the reports of one run.
type reading struct {
	name  string
	theta []float64
}

// mechanism simulates the reports of users at the given places and reads them.
type mechanism func(ctx context.Context, at []int, r *rand.Rand) ([]reading, error)

// measure makes the maps of all runs, and reports every reading.
func (s *study) measure(ctx context.Context, name string, eps ldp.Epsilon) ([]Row, error) {
	variants, err := s.mechanisms(ctx, name, eps)
	if err != nil {
		return nil, err
	}
	runs := make([][]measured, s.cfg.Runs)
	err = parallel.Each(ctx, len(runs), func(run int) (err error) {
		seed := s.cfg.Seed + uint64(run)
		which := fmt.Sprintf("%s, eps %s, %d devices, side %d, seed %d", name, eps, s.cfg.Devices, s.cfg.Side, seed)
		runs[run], err = report.Case(s.kept, which, func() ([]measured, error) { return s.city(ctx, run, variants) })
		return err
	}, nil)
	if err != nil {
		return nil, err
	}
	found := map[string][]float64{}
	var order []string
	for _, run := range runs {
		for _, x := range run {
			if _, seen := found[x.Reading]; !seen {
				order = append(order, x.Reading)
			}
			found[x.Reading] = append(found[x.Reading], x.W)
		}
	}
	rows := make([]Row, len(order))
	best := 0
	for i, x := range order {
		rows[i] = summary(found[x])
		rows[i].Method, rows[i].Reading = name, x
		if rows[i].Mean < rows[best].Mean {
			best = i
		}
	}
	rows[best].Best = true
	return rows, nil
}

// measured is the distance to the truth of a reading of one city.
type measured struct {
	Reading string  `json:"reading"`
	W       float64 `json:"w"`
}

// city draws the reports of one city by each variant of a mechanism, and reads them.
func (s *study) city(ctx context.Context, run int, variants []mechanism) (all []measured, err error) {
	people, err := s.people(run)
	if err != nil {
		return nil, err
	}
	truth := people.Truth()
	for v, m := range variants {
		r := rand.New(rand.NewPCG(s.cfg.Seed+uint64(run), uint64(v)))
		at := make([]int, len(people.Users))
		for n, u := range people.Users {
			at[n] = place(u, r)
		}
		maps, err := m(ctx, at, r)
		if err != nil {
			return nil, err
		}
		for _, x := range maps {
			d, err := s.distance(ctx, x.theta, truth)
			if err != nil {
				return nil, err
			}
			all = append(all, measured{x.name, d})
		}
	}
	return all, nil
}

// place draws one of a user's places, as in mixture mode.
func place(u city.User, r *rand.Rand) int {
	cells, weights := u.Distribution()
	left := r.Float64()
	for n, w := range weights {
		if left -= w; left < 0 {
			return cells[n]
		}
	}
	return cells[len(cells)-1]
}

func summary(w []float64) Row {
	w = slices.Clone(w)
	slices.Sort(w)
	n := len(w)
	row := Row{Median: (w[(n-1)/2] + w[n/2]) / 2, Q90: w[int(math.Ceil(0.9*float64(n)))-1]}
	for _, x := range w {
		row.Mean += x / float64(n)
	}
	return row
}

// mechanisms returns a mechanism, or its variants where a parameter is swept.
func (s *study) mechanisms(ctx context.Context, name string, eps ldp.Epsilon) ([]mechanism, error) {
	k, e := s.cfg.Side*s.cfg.Side, eps.Float64()
	oracle := func(make func(k int, eps float64) (baseline.Oracle, error)) ([]mechanism, error) {
		o, err := make(k, e)
		return []mechanism{s.sets(e, o.Report, o)}, err
	}
	switch name {
	case "wpm":
		d, err := wpm.NewDesign(ctx, s.grid, eps, wpm.Objective{})
		if err != nil {
			return nil, err
		}
		rows := d.Channel()
		return s.rows(k, "", func(i int, dst []float64) {
			row := rows.Row(i)
			for j := range dst {
				dst[j] = float64(row.At(j))
			}
		})
	case "wpm-devices":
		d, err := channel.New(ctx, channel.Problem{Cost: s.grid, Epsilon: eps, Devices: int64(s.cfg.Devices)})
		if err != nil {
			return nil, err
		}
		ch, err := d.Channel()
		if err != nil {
			return nil, err
		}
		return []mechanism{s.released(ch, "")}, nil
	case "dam":
		return s.discs(e)
	case "geoind":
		g, err := baseline.NewGeoIndistinguishable(ctx, s.grid, e)
		if err != nil {
			return nil, err
		}
		return s.sampled(g)
	case "response":
		g, err := baseline.NewRandomizedResponse(k, e)
		if err != nil {
			return nil, err
		}
		return s.sampled(g)
	case "hierarchy":
		h, err := baseline.NewHierarchy(s.levels(), e)
		if err != nil {
			return nil, err
		}
		return []mechanism{s.sets(e, h.Report, nil)}, nil
	case "subset":
		return oracle(baseline.NewSubset)
	case "olh":
		return oracle(baseline.NewHash)
	default:
		return oracle(baseline.NewUnary)
	}
}

// discs are the Disk Area Mechanism with several radii.
func (s *study) discs(eps float64) (all []mechanism, err error) {
	for _, radius := range baseline.DiskRadii(s.cfg.Side, eps) {
		d, err := baseline.NewDisk(s.cfg.Side, s.cfg.Side, radius, eps)
		if err != nil {
			return nil, err
		}
		one, err := s.rows(d.Reports(), fmt.Sprintf(", radius %d", radius), d.Row)
		if err != nil {
			return nil, err
		}
		all = append(all, one...)
	}
	return all, nil
}

// sampled is a rule whose law is linear in the user's distribution.
func (s *study) sampled(g baseline.Sampler) ([]mechanism, error) {
	k, kv := g.Dims()
	var failed error
	all, err := s.rows(kv, "", func(i int, dst []float64) {
		mu := make([]float64, k)
		mu[i] = 1
		if err := g.Law(dst, mu); err != nil {
			failed = err
		}
	})
	return all, errors.Join(failed, err)
}

// rows is a mechanism with kv outputs, given by its rows.
func (s *study) rows(kv int, suffix string, row func(i int, dst []float64)) ([]mechanism, error) {
	ch, err := estimate.NewChannel(s.cfg.Side*s.cfg.Side, kv, row)
	if err != nil {
		return nil, err
	}
	return []mechanism{s.released(ch, suffix)}, nil
}

// released draws an output for each user from the row of the place.
func (s *study) released(ch *estimate.Channel, suffix string) mechanism {
	k, kv := ch.Dims()
	return func(ctx context.Context, at []int, r *rand.Rand) ([]reading, error) {
		counts := make([]uint64, kv)
		laws := map[int][]float64{}
		for _, i := range at {
			if laws[i] == nil {
				here := make([]float64, k)
				here[i] = 1
				law, err := ch.Law(here)
				if err != nil {
					return nil, err
				}
				for j := 1; j < kv; j++ {
					law[j] += law[j-1]
				}
				laws[i] = law
			}
			law := laws[i]
			j, _ := slices.BinarySearch(law, r.Float64()*law[kv-1])
			counts[min(j, kv-1)]++
		}
		return s.read(ctx, counts, ch, suffix)
	}
}

// read is a map by this module's estimator, and one by expectation-maximization.
func (s *study) read(ctx context.Context, counts []uint64, ch *estimate.Channel, suffix string) ([]reading, error) {
	p := estimate.Problem{Counts: counts, Channel: ch, Geometry: s.geometry}
	m, err := estimate.Map(ctx, p, estimate.Settings{})
	if err != nil {
		return nil, err
	}
	em, err := estimate.EM(ctx, p)
	return []reading{{"Map" + suffix, m.Theta}, {"EM" + suffix, em.Theta}}, err
}

// levels are blocks of 1, 2, 4 and so on cells a side, down to at least two blocks a side.
func (s *study) levels() (all [][]int32) {
	for side := 1; 2*side <= s.cfg.Side; side *= 2 {
		across := (s.cfg.Side + side - 1) / side
		level := make([]int32, s.cfg.Side*s.cfg.Side)
		for c := range level {
			level[c] = int32(c/s.cfg.Side/side*across + c%s.cfg.Side/side)
		}
		all = append(all, level)
	}
	return all
}

// widths of kernels that smooth the shares of an oracle, in cell widths.
var widths = []float64{0.5, 0.75, 1, 1.5, 2, 3}

// sets is a mechanism whose reports are sets. Besides maps from the exact likelihood, an oracle has its own estimate: the
// distribution nearest to the unbiased one (norm-sub), plain and after a kernel.
func (s *study) sets(eps float64, draw func(set []int32, x int, r baseline.Source) []int32, o baseline.Oracle) mechanism {
	k := s.cfg.Side * s.cfg.Side
	return func(ctx context.Context, at []int, r *rand.Rand) ([]reading, error) {
		sets, counts := make([][]int32, len(at)), make([]uint64, k)
		for n, x := range at {
			sets[n] = draw(nil, x, r)
			for _, j := range sets[n] {
				counts[j]++
			}
		}
		reports, err := baseline.NewReports(k, eps, sets)
		if err != nil {
			return nil, err
		}
		_, kv := reports.Dims()
		ch, err := estimate.NewChannel(k, kv, reports.Row)
		if err != nil {
			return nil, err
		}
		all, err := s.read(ctx, reports.Counts(), ch, "")
		if err != nil || o == nil {
			return all, err
		}
		raw := make([]float64, k)
		if err := o.Estimate(raw, counts, uint64(len(at))); err != nil {
			return nil, err
		}
		sub, err := baseline.Simplex(raw)
		if err != nil {
			return nil, err
		}
		all = append(all, reading{"norm-sub", sub})
		for _, width := range widths {
			if sub, err = baseline.Simplex(s.smooth(raw, width)); err != nil {
				return nil, err
			}
			all = append(all, reading{fmt.Sprintf("kernel %g, norm-sub", width), sub})
		}
		return all, nil
	}
}

// smooth spreads every share over the cells by a normal kernel. Each kernel has sum 1 within the grid.
func (s *study) smooth(theta []float64, width float64) []float64 {
	out, w := make([]float64, len(theta)), make([]float64, len(theta))
	for i, x := range theta {
		sum := 0.0
		for j, d := range s.dense.Row(i, nil) {
			d *= float64(s.cfg.Side) / width
			w[j] = math.Exp(-d * d / 2)
			sum += w[j]
		}
		for j := range out {
			out[j] += x * w[j] / sum
		}
	}
	return out
}
