package rivals

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

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

	// World, if not nil, is whose map is made, at every run; Devices and Side are then not used, and Out must be "". Nil:
	// made-up cities.
	World *World `json:"-"`

	// Progress, if not nil, is told how much is done.
	Progress func(done, total int, what string) `json:"-"`
}

// World is whose map is made.
type World struct {
	Distance *cost.Dense // between places, in the unit of the results
	Cost     cost.Matrix // what WPM is designed for
	People   []Person
}

// Person has shares of places, which sum to 1.
type Person struct {
	Places []int
	Shares []float64
}

// Truth is the map of the people: the mean of their shares.
func (w *World) Truth() []float64 {
	truth := make([]float64, w.Distance.K)
	for _, u := range w.People {
		for n, i := range u.Places {
			truth[i] += u.Shares[n] / float64(len(w.People))
		}
	}
	return truth
}

// Bounds of a study of hours, and of its memory: a report of an oracle is an output of its own, with a number for each
// place.
const (
	maxRuns    = 10_000
	maxDevices = 20_000
	maxSide    = 40
)

// WPM is the mechanism that others are compared with: the default design, one output of the row of one of a user's places.
const WPM = "wpm"

// Methods returns the names of the mechanisms, in the order of the tables.
func Methods() []string {
	return []string{WPM, "wpm-devices", "dam", "geoind", "hierarchy", "subset", "olh", "oue", "response"}
}

// names are those for people.
var names = map[string]string{
	WPM: "WPM, default design", "wpm-devices": "WPM, designed for the number of devices", "dam": "Disk Area Mechanism",
	"geoind": "geo-indistinguishability", "hierarchy": "hierarchy of blocks, subset selection",
	"subset": "subset selection", "olh": "OLH", "oue": "OUE", "response": "randomised response",
}

// Name is the name of the mechanism for people.
func (r Row) Name() string { return names[r.Method] }

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
	if w := c.World; w != nil {
		c.Devices, c.Side = len(w.People), 0
		if c.Out != "" {
			return c, nil, fmt.Errorf("%w: Out: the report is one of cities", ErrConfig)
		}
		if k := w.Distance.K; k < 2 || k > maxSide*maxSide || c.Devices < 1 || c.Devices > maxDevices {
			return c, nil, fmt.Errorf("%w: %d users of %d places: maps are made of at most %d users and %d places, for a report "+
				"can take a number for each place", ErrConfig, c.Devices, k, maxDevices, maxSide*maxSide)
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

// Row is one reading of one mechanism at one eps, over all runs. Distances are W_1 to the truth, of cities in cell widths.
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

// Run does the study and, if Config.Out is set, writes the report. Errors: ErrConfig, estimate.ErrNoGeometry for a World
// whose distances are none, those of the designs, of the estimators, the context and the file system.
func Run(ctx context.Context, cfg Config) (Result, error) {
	cfg, eps, err := cfg.resolve()
	if err != nil {
		return Result{}, err
	}
	if err := folder.Prepare(cfg.Out); err != nil {
		return Result{}, err
	}
	s, err := newStudy(ctx, cfg)
	if err != nil {
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
	even, err := estimate.Guess(nil, s.dense.K)
	if err != nil {
		return Result{}, err
	}
	for run := range cfg.Runs {
		world, err := s.world(run)
		if err != nil {
			return Result{}, err
		}
		d, err := s.distance(ctx, even, world.Truth())
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
	cfg        Config
	cost       cost.Matrix // of WPM
	geometry   *estimate.Geometry
	dense      *cost.Dense
	high, wide int     // in cells, of the grid that the places are; 0: of none
	width      float64 // between neighbours: the median distance of a place to the nearest one that is elsewhere
	kept       *report.Cases
}

func newStudy(ctx context.Context, cfg Config) (*study, error) {
	s := &study{cfg: cfg}
	var err error
	if w := cfg.World; w != nil {
		s.cost, s.dense = w.Cost, w.Distance
	} else if s.cost, s.dense, err = grid(ctx, cfg.Side); err != nil {
		return nil, err
	}
	if s.geometry, err = estimate.NewGeometry(ctx, s.dense, 1); err != nil {
		return nil, err
	}
	var near []float64
	for i := range s.dense.K {
		least := math.Inf(1)
		for _, d := range s.dense.Row(i, nil) {
			if d > 0 {
				least = min(least, d)
			}
		}
		near = append(near, least)
	}
	slices.Sort(near)
	s.width = near[len(near)/2]
	s.high, s.wide = lattice(s.dense)
	if s.high == 0 && slices.Contains(cfg.Methods, "dam") {
		return nil, fmt.Errorf("%w: dam, the disk area mechanism, needs places that are a full grid of square cells, row by row, "+
			"with euclidean or greatcircle distances", ErrConfig)
	}
	return s, nil
}

// grid is the cost of square cells, and their distances in cell widths.
func grid(ctx context.Context, side int) (cost.Matrix, *cost.Dense, error) {
	g, err := cost.NewGrid(side, side, 1)
	if err != nil {
		return nil, nil, err
	}
	d, err := cost.Materialize(ctx, g)
	if err != nil {
		return nil, nil, err
	}
	for n := range d.Data {
		d.Data[n] *= float64(side)
	}
	return g, d, nil
}

// gridTol is how far a distance may be off in a grid, of itself: a hundredth for distances on a globe, and rounding.
const gridTol = 0.01

// lattice returns the sides of the grid of square cells in row-major order that has these distances, 0 if there is none.
// A single row is none.
func lattice(d *cost.Dense) (rows, cols int) {
	unit := d.Row(0, nil)[1]
	fits := func(cols int) bool {
		for i := range d.K {
			for j, v := range d.Row(i, nil) {
				want := unit * math.Hypot(float64(i/cols-j/cols), float64(i%cols-j%cols))
				if !(math.Abs(v-want) <= gridTol*want) {
					return false
				}
			}
		}
		return true
	}
	for cols := 2; cols <= d.K/2; cols++ {
		if d.K%cols == 0 && unit > 0 && fits(cols) {
			return d.K / cols, cols
		}
	}
	return 0, 0
}

// world is that of a run: the city of the demo with its seed, or the one that is given.
func (s *study) world(run int) (*World, error) {
	if s.cfg.World != nil {
		return s.cfg.World, nil
	}
	c, err := city.Generate(s.cfg.Seed+uint64(run), s.cfg.Devices, s.cfg.Side, s.cfg.Side)
	w := &World{Distance: s.dense, Cost: s.cost}
	for _, u := range c.Users {
		places, shares := u.Distribution()
		w.People = append(w.People, Person{places, shares})
	}
	return w, err
}

func (s *study) distance(ctx context.Context, a, truth []float64) (float64, error) {
	t, err := mincostflow.Transport(ctx, s.dense, a, truth)
	return t.Objective, err
}

// reading is a map that a server makes of the reports of one run.
type reading struct {
	name  string
	theta []float64
}

// mechanism simulates the reports of users at the given places and reads them.
type mechanism func(ctx context.Context, at []int, r *rand.Rand) ([]reading, error)

// byMap begins the reading of estimate.Map, and raws is that of reports as they are.
const byMap, raws = "Map", "raw reports"

// Shown are the rows that a table of several mechanisms has room for: of each the best reading by estimate.Map, the best
// other one, and, of WPM, the raw reports.
func (r Result) Shown() (rows []Row) {
	for _, x := range r.Rows {
		better := func(y Row) bool {
			return y.Epsilon == x.Epsilon && y.Method == x.Method && y.Mean < x.Mean &&
				strings.HasPrefix(y.Reading, byMap) == strings.HasPrefix(x.Reading, byMap)
		}
		if x.Method == WPM && x.Reading == raws || !slices.ContainsFunc(r.Rows, better) {
			rows = append(rows, x)
		}
	}
	return rows
}

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
		runs[run], err = report.Case(s.kept, which, func() ([]measured, error) { return s.once(ctx, run, variants) })
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

// measured is the distance to the truth of a reading of one run.
type measured struct {
	Reading string  `json:"reading"`
	W       float64 `json:"w"`
}

// once draws the reports of one run by each variant of a mechanism, and reads them.
func (s *study) once(ctx context.Context, run int, variants []mechanism) (all []measured, err error) {
	world, err := s.world(run)
	if err != nil {
		return nil, err
	}
	truth := world.Truth()
	for v, m := range variants {
		r := rand.New(rand.NewPCG(s.cfg.Seed+uint64(run), uint64(v)))
		at := make([]int, len(world.People))
		for n, u := range world.People {
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
func place(u Person, r *rand.Rand) int {
	left := r.Float64()
	for n, w := range u.Shares {
		if left -= w; left < 0 {
			return u.Places[n]
		}
	}
	return u.Places[len(u.Places)-1]
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
	k, e := s.dense.K, eps.Float64()
	oracle := func(make func(k int, eps float64) (baseline.Oracle, error)) ([]mechanism, error) {
		o, err := make(k, e)
		return []mechanism{s.sets(e, o.Report, o)}, err
	}
	switch name {
	case WPM:
		d, err := wpm.NewDesign(ctx, s.cost, eps, wpm.Objective{})
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
		d, err := channel.New(ctx, channel.Problem{Cost: s.cost, Epsilon: eps, Devices: int64(s.cfg.Devices)})
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
		g, err := baseline.NewGeoIndistinguishable(ctx, s.dense, e)
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
		levels, err := s.levels(ctx)
		if err != nil {
			return nil, err
		}
		h, err := baseline.NewHierarchy(levels, e)
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
	side := int(math.Round(math.Sqrt(float64(s.dense.K)))) // of a square as large
	for _, radius := range baseline.DiskRadii(side, eps) {
		d, err := baseline.NewDisk(s.high, s.wide, radius, eps)
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
	ch, err := estimate.NewChannel(s.dense.K, kv, row)
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
		all, err := s.read(ctx, counts, ch, suffix)
		if err != nil || kv != k {
			return all, err
		}
		raw, err := estimate.Raw(counts) // outputs are places
		return append(all, reading{raws, raw}), err
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
	return []reading{{byMap + suffix, m.Theta}, {"EM" + suffix, em.Theta}}, err
}

// levels are, on a grid, blocks of 1, 2, 4 and so on cells a side, down to at least two blocks a side; elsewhere groups
// of 1, 4, 16 and so on places, down to at least four groups.
func (s *study) levels(ctx context.Context) (all [][]int32, err error) {
	k := s.dense.K
	if s.high == 0 {
		even := slices.Repeat([]float64{1}, k)
		for n := k; len(all) == 0 || n >= 4; n /= 4 {
			of, _, err := s.geometry.Groups(ctx, even, n)
			if err != nil {
				return nil, err
			}
			level := make([]int32, k)
			for c, group := range of {
				level[c] = int32(group)
			}
			all = append(all, level)
		}
		return all, nil
	}
	for side := 1; 2*side <= min(s.high, s.wide); side *= 2 {
		across := (s.wide + side - 1) / side
		level := make([]int32, k)
		for c := range level {
			level[c] = int32(c/s.wide/side*across + c%s.wide/side)
		}
		all = append(all, level)
	}
	return all, nil
}

// widths of kernels that smooth the shares of an oracle, in distances between neighbours.
var widths = []float64{0.5, 0.75, 1, 1.5, 2, 3}

// sets is a mechanism whose reports are sets. Besides maps from the exact likelihood, an oracle has its own estimate: the
// distribution nearest to the unbiased one (norm-sub), plain and after a kernel.
func (s *study) sets(eps float64, draw func(set []int32, x int, r baseline.Source) []int32, o baseline.Oracle) mechanism {
	k := s.dense.K
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
			d /= s.width * width
			w[j] = math.Exp(-d * d / 2)
			sum += w[j]
		}
		for j := range out {
			out[j] += x * w[j] / sum
		}
	}
	return out
}
