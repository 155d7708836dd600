package mirror

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/baseline"
	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/folder"
	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/knapsack"
	"github.com/wpm-go/wpm/lab/report"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/mirror"
)

// Errors of this package; those of the solvers pass through.
var (
	// ErrConfig: a Config field out of range.
	ErrConfig = errors.New("mirror study: bad configuration")
	// ErrGap: an optimum whose bounds are too far apart to be called one.
	ErrGap = errors.New("mirror study: gap too large")
)

// Config is the protocol. Its zero value is the study; the fields say what zero means.
type Config struct {
	Out      string   `json:"out"`      // folder to write the report to; "": nothing is written
	Points   int      `json:"points"`   // of the descents; 0: 30
	Steps    int      `json:"steps"`    // 0: 100 000
	Epsilons []string `json:"epsilons"` // of the descents, ascending; nil: 0.5, 2, 5
	Size     int      `json:"size"`     // points of the designs; 0: 100
	Designs  []string `json:"designs"`  // eps of the designs, ascending; nil: 0.5, 1, 2, 5
	Inputs   int      `json:"inputs"`   // of the modes, for each number of atoms; 0: 200
	Side     int      `json:"side"`     // of the modes' grid; 0: 10
	ModeEps  string   `json:"mode_eps"` // "": 2
	Seed     uint64   `json:"seed"`

	// Progress, if not nil, is told what is being done and how much of it is. Calls never overlap.
	Progress func(done, total int, what string) `json:"-"`
}

// Result is everything measured.
type Result struct {
	Config   Config    `json:"config"` // as resolved, without Progress
	Descents []Descent `json:"descents"`
	Designs  []Design  `json:"designs"`
	Modes    []Mode    `json:"modes"`
}

// Descent is one run of mirror descent. All errors are relative to the optimum.
type Descent struct {
	Space   string       `json:"space"`
	Epsilon string       `json:"epsilon"`
	Rule    string       `json:"rule"`
	Optimum float64      `json:"optimum"` // f*, certified to 1e-9
	Points  []Checkpoint `json:"points"`
}

// Checkpoint is the state after some steps, relative to the optimum.
type Checkpoint struct {
	Step    int     `json:"step"`
	Average float64 `json:"average"` // f(average) / f* - 1
	Best    float64 `json:"best"`    // f(best) / f* - 1
	Bound   float64 `json:"bound"`   // proved on Average, by the proposition with its constants repaired
	// proved by the certificate: best / lower - 1; -1 if there is no lower bound above 0 yet
	Gap float64 `json:"gap"`
}

// Design is one base measure.
type Design struct {
	Space    string  `json:"space"`
	Epsilon  string  `json:"epsilon"`
	Eps      float64 `json:"eps"`
	Name     string  `json:"name"`
	Worst    float64 `json:"worst"` // over all inputs, in units of the cost
	Mean     float64 `json:"mean"`  // over point inputs
	Nonzeros int     `json:"nonzeros"`
	Mass     float64 `json:"mass"`
}

// Mode compares the client modes on inputs of one number of atoms: mean W_1 to the input.
type Mode struct {
	Atoms      int     `json:"atoms"`
	Projection float64 `json:"projection"`
	Mixture    float64 `json:"mixture"`
	KPM        float64 `json:"kpm"`
	SE         float64 `json:"se"` // of Mixture - Projection
	// Standard errors of the three means.
	ProjectionSE float64 `json:"projection_se"`
	MixtureSE    float64 `json:"mixture_se"`
	KPMSE        float64 `json:"kpm_se"`
}

func (c Config) resolve() (cfg Config, descents, designs []ldp.Epsilon, mode ldp.Epsilon, err error) {
	for _, d := range []struct {
		v *int
		d int
	}{{&c.Points, 30}, {&c.Steps, 100_000}, {&c.Size, 100}, {&c.Inputs, 200}, {&c.Side, 10}} {
		if *d.v == 0 {
			*d.v = d.d
		}
	}
	if c.Epsilons == nil {
		c.Epsilons = []string{"0.5", "2", "5"}
	}
	if c.Designs == nil {
		c.Designs = []string{"0.5", "1", "2", "5"}
	}
	if c.ModeEps == "" {
		c.ModeEps = "2"
	}
	c.Epsilons, c.Designs = slices.Clone(c.Epsilons), slices.Clone(c.Designs)
	for _, v := range []struct {
		what       string
		n, lo, max int
	}{
		{"Points", c.Points, 2, 300}, {"Steps", c.Steps, 1, 100_000_000}, {"Size", c.Size, 4, 1000},
		{"Inputs", c.Inputs, 2, 100_000}, {"Side", c.Side, 2, 40},
		{"number of Epsilons", len(c.Epsilons), 1, 16}, {"number of Designs", len(c.Designs), 1, 16},
	} {
		if v.n < v.lo || v.n > v.max {
			return c, nil, nil, mode, fmt.Errorf("%w: %s is %d, want %d to %d", ErrConfig, v.what, v.n, v.lo, v.max)
		}
	}
	parse := func(what string, all []string) (out []ldp.Epsilon, err error) {
		for i, s := range all {
			e, err := ldp.ParseEpsilon(s)
			if err != nil {
				return nil, fmt.Errorf("%w: %s[%d]: %w", ErrConfig, what, i, err)
			}
			if i > 0 && e.Cmp(out[i-1]) <= 0 {
				return nil, fmt.Errorf("%w: %s[%d] = %s after %s, want ascending", ErrConfig, what, i, s, all[i-1])
			}
			out, all[i] = append(out, e), e.String()
		}
		return out, nil
	}
	if descents, err = parse("Epsilons", c.Epsilons); err != nil {
		return c, nil, nil, mode, err
	}
	if designs, err = parse("Designs", c.Designs); err != nil {
		return c, nil, nil, mode, err
	}
	if mode, err = ldp.ParseEpsilon(c.ModeEps); err != nil {
		return c, nil, nil, mode, fmt.Errorf("%w: ModeEps: %w", ErrConfig, err)
	}
	c.ModeEps = mode.String()
	return c, descents, designs, mode, nil
}

// Run makes the study and writes the report if cfg.Out is set. Errors: ErrConfig, ErrGap, those of the solvers, the
// context's.
func Run(ctx context.Context, cfg Config) (Result, error) {
	cfg, descents, designs, mode, err := cfg.resolve()
	if err != nil {
		return Result{}, err
	}
	if err := folder.Prepare(cfg.Out); err != nil {
		return Result{}, err
	}
	s := &study{ctx: ctx, cfg: cfg, progress: cfg.Progress}
	if s.progress == nil {
		s.progress = func(int, int, string) {}
	}
	res := Result{Config: cfg}
	res.Config.Progress = nil
	if res.Descents, err = s.descents(descents); err != nil {
		return Result{}, err
	}
	if res.Designs, err = s.designs(designs); err != nil {
		return Result{}, err
	}
	if res.Modes, err = s.modes(mode); err != nil {
		return Result{}, err
	}
	if cfg.Out != "" {
		_, err = report.Write(cfg.Out, res.Report())
	}
	return res, err
}

type study struct {
	ctx      context.Context
	cfg      Config
	progress func(done, total int, what string)
}

// stream is a generator of its own for every part of the study.
func (s *study) stream(what string) *rand.Rand {
	var word uint64
	for _, b := range []byte(what) {
		word = word*31 + uint64(b)
	}
	return rand.New(rand.NewPCG(s.cfg.Seed, word))
}

// maxGap is the certified relative gap up to which an optimum is called one: the plots end at 1e-6.
const maxGap = 1e-8

// rules are the steps that the study compares.
var rules = []mirror.Rule{mirror.Paper, mirror.Adaptive}

// descents runs mirror descent on each space, at each eps, by each rule.
func (s *study) descents(eps []ldp.Epsilon) ([]Descent, error) {
	type task struct {
		space string
		c     cost.Matrix
		eps   ldp.Epsilon
		rule  mirror.Rule
	}
	var tasks []task
	for _, space := range []string{"ring", "square", "path"} {
		c, err := s.space(space, s.cfg.Points)
		if err != nil {
			return nil, err
		}
		for _, e := range eps {
			for _, rule := range rules {
				tasks = append(tasks, task{space, c, e, rule})
			}
		}
	}
	out := make([]Descent, len(tasks))
	err := parallel.Each(s.ctx, len(tasks), func(n int) error {
		t := tasks[n]
		opt, err := s.optimum(t.c, t.eps, basemeasure.Settings{})
		if err != nil {
			return fmt.Errorf("mirror study: %s at eps %s: %w", t.space, t.eps, err)
		}
		table, err := knapsack.New(context.Background(), t.c)
		if err != nil {
			return err
		}
		r, err := mirror.Descend(s.ctx, table, t.eps.Float64(), mirror.Settings{Steps: s.cfg.Steps, Rule: t.rule})
		if err != nil {
			return fmt.Errorf("mirror study: %s at eps %s: %w", t.space, t.eps, err)
		}
		d := Descent{Space: t.space, Epsilon: t.eps.String(), Rule: t.rule.String(), Optimum: opt.Upper}
		for _, h := range r.History {
			c := Checkpoint{Step: h.Step, Average: excess(h.Average, opt.Upper), Best: excess(h.Best, opt.Upper),
				Bound: h.Bound / opt.Upper, Gap: -1}
			if h.Lower > 0 {
				c.Gap = excess(h.Best, h.Lower)
			}
			d.Points = append(d.Points, c)
		}
		out[n] = d
		return nil
	}, func(done int) { s.progress(done, len(tasks), "mirror descent") })
	return out, err
}

// excess is a/b - 1; an answer a rounding below the optimum is at the optimum.
func excess(a, b float64) float64 { return max(a/b-1, 0) }

func (s *study) optimum(c cost.Matrix, eps ldp.Epsilon, settings basemeasure.Settings) (basemeasure.Result, error) {
	r, err := basemeasure.Solve(s.ctx, c, eps.Float64(), settings)
	if err != nil {
		return r, err
	}
	if !(r.Upper-r.Lower <= maxGap*r.Upper) {
		return r, fmt.Errorf("%w: between %v and %v", ErrGap, r.Lower, r.Upper)
	}
	return r, nil
}

// space makes k points, and their cost, of a family.
func (s *study) space(name string, k int) (cost.Matrix, error) {
	r := s.stream(name)
	points := func(draw func(i int) []float64) (cost.Matrix, error) {
		x := make([][]float64, k)
		for i := range x {
			x[i] = draw(i)
		}
		return cost.NewPoints(x, nil, 1)
	}
	switch name {
	case "ring":
		return cost.NewRing(k, 2)
	case "grid":
		side := int(math.Round(math.Sqrt(float64(k))))
		return cost.NewGrid(side, side, 1)
	case "square":
		return points(func(int) []float64 { return []float64{r.Float64(), r.Float64()} })
	case "path":
		return points(func(i int) []float64 { return []float64{float64(i) / float64(k-1)} })
	case "normal":
		return points(func(int) []float64 { return []float64{r.NormFloat64(), r.NormFloat64()} })
	case "clusters":
		var centre [5][2]float64
		for i := range centre {
			centre[i] = [2]float64{r.Float64(), r.Float64()}
		}
		return points(func(i int) []float64 {
			c := centre[i%len(centre)]
			return []float64{c[0] + 0.02*r.NormFloat64(), c[1] + 0.02*r.NormFloat64()}
		})
	case "star": // a centre, and points at distance 1 from it and 2 from each other
		rows := make([][]float64, k)
		for i := range rows {
			rows[i] = make([]float64, k)
			for j := range rows[i] {
				switch {
				case i == j:
				case i == 0 || j == 0:
					rows[i][j] = 1
				default:
					rows[i][j] = 2
				}
			}
		}
		return cost.FromRows(rows)
	}
	return nil, fmt.Errorf("%w: space %q", ErrConfig, name)
}

// Families are the spaces of the designs.
var Families = []string{"grid", "square", "path", "normal", "clusters", "star"}

// designs makes every design on every space.
func (s *study) designs(eps []ldp.Epsilon) ([]Design, error) {
	type task struct {
		space string
		c     cost.Matrix
		eps   ldp.Epsilon
	}
	var tasks []task
	for _, space := range Families {
		c, err := s.space(space, s.cfg.Size)
		if err != nil {
			return nil, err
		}
		for _, e := range eps {
			tasks = append(tasks, task{space, c, e})
		}
	}
	out := make([][]Design, len(tasks))
	err := parallel.Each(s.ctx, len(tasks), func(n int) (err error) {
		t := tasks[n]
		if out[n], err = s.designsAt(t.c, t.eps); err != nil {
			return fmt.Errorf("mirror study: designs on %s at eps %s: %w", t.space, t.eps, err)
		}
		for i := range out[n] {
			out[n][i].Space = t.space
		}
		return nil
	}, func(done int) { s.progress(done, len(tasks), "designs") })
	return slices.Concat(out...), err
}

func (s *study) designsAt(c cost.Matrix, eps ldp.Epsilon) ([]Design, error) {
	e := eps.Float64()
	_, kv := c.Dims()
	table, err := knapsack.New(context.Background(), c)
	if err != nil {
		return nil, err
	}
	var out []Design
	add := func(name string, m []float64) error {
		d := Design{Epsilon: eps.String(), Eps: e, Name: name}
		lo, hi := make([]float64, kv), make([]float64, kv)
		for j, x := range m {
			lo[j], hi[j] = math.Exp(-e/2)*x, math.Exp(e/2)*x
			d.Mass += x
			if x > 0 {
				d.Nonzeros++
			}
		}
		k, _ := c.Dims()
		phi := make([]float64, k)
		if err := table.All(lo, hi, phi, make([]float64, k)); err != nil {
			return err
		}
		for _, x := range phi {
			d.Mean += x / float64(k)
		}
		d.Worst = slices.Max(phi)
		out = append(out, d)
		return nil
	}
	kpm, err := baseline.KPMMeasure(kv, e)
	if err != nil {
		return nil, err
	}
	if err := add("KPM's", kpm); err != nil {
		return nil, err
	}
	u, err := basemeasure.Uniform(s.ctx, c, e, basemeasure.Settings{})
	if err != nil {
		return nil, err
	}
	if err := add("uniform", u.M); err != nil {
		return nil, err
	}
	for _, d := range []struct {
		name     string
		settings basemeasure.Settings
	}{
		{"minimax", basemeasure.Settings{}},
		{"mixed", basemeasure.Settings{Objective: basemeasure.Mixed, Mix: 0.5}},
		{"average", basemeasure.Settings{Objective: basemeasure.Average}},
	} {
		r, err := s.optimum(c, eps, d.settings)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.name, err)
		}
		if err := add(d.name, r.M); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// atoms are the support sizes of the modes.
var atoms = []int{1, 2, 5, 10, 20, 50}

// modes compares the client modes.
func (s *study) modes(eps ldp.Epsilon) ([]Mode, error) {
	g, err := cost.NewGrid(s.cfg.Side, s.cfg.Side, 1)
	if err != nil {
		return nil, err
	}
	c, err := cost.Materialize(context.Background(), g)
	if err != nil {
		return nil, err
	}
	design, err := wpm.NewDesign(s.ctx, c, eps, wpm.Objective{})
	if err != nil {
		return nil, err
	}
	mech, channel := design.Mechanism(), design.Channel()
	k, _ := c.Dims()
	r := s.stream("modes")
	var out []Mode
	for at, n := range atoms {
		if n > k {
			break
		}
		inputs := make([][]float64, s.cfg.Inputs)
		for u := range inputs {
			mu := make([]float64, k)
			var sum float64
			for _, i := range r.Perm(k)[:n] {
				mu[i] = r.ExpFloat64()
				sum += mu[i]
			}
			for i := range mu {
				mu[i] /= sum
			}
			inputs[u] = mu
		}
		w := make([][3]float64, len(inputs))
		err := parallel.Each(s.ctx, len(inputs), func(u int) error {
			mu := inputs[u]
			p, err := mech.Project(s.ctx, mu)
			if err != nil {
				return err
			}
			mixed, err := channel.Mix(mu)
			if err != nil {
				return err
			}
			kpm, _, err := baseline.KPM(mu, eps.Float64())
			if err != nil {
				return err
			}
			w[u][0] = p.Objective()
			for i, q := range [][]float64{mixed, kpm} {
				t, err := mincostflow.Transport(s.ctx, c, mu, q)
				if err != nil {
					return err
				}
				w[u][i+1] = t.Objective
			}
			return nil
		}, func(done int) { s.progress(at*s.cfg.Inputs+done, len(atoms)*s.cfg.Inputs, "modes") })
		if err != nil {
			return nil, fmt.Errorf("mirror study: modes with %d atoms: %w", n, err)
		}
		m := Mode{Atoms: n}
		mean := func(f func(x [3]float64) float64) (mean, se float64) {
			count := float64(len(w))
			for _, x := range w {
				mean += f(x) / count
			}
			for _, x := range w {
				d := f(x) - mean
				se += d * d
			}
			return mean, math.Sqrt(se / (count - 1) / count)
		}
		m.Projection, m.ProjectionSE = mean(func(x [3]float64) float64 { return x[0] })
		m.Mixture, m.MixtureSE = mean(func(x [3]float64) float64 { return x[1] })
		m.KPM, m.KPMSE = mean(func(x [3]float64) float64 { return x[2] })
		_, m.SE = mean(func(x [3]float64) float64 { return x[1] - x[0] })
		out = append(out, m)
	}
	return out, nil
}
