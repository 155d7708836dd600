package gowalla

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/city"
	"github.com/wpm-go/wpm/internal/folder"
	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/lab/report"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/mincostflow"
)

// Result is everything measured. All distances are in cell widths (of a column).
type Result struct {
	Config    Config    `json:"config"` // as resolved, without Progress
	Source    Source    `json:"source"` // zero when the population came from Compare's caller
	Users     int       `json:"users"`
	Checkins  int       `json:"checkins"`
	CellsMean float64   `json:"cells_mean"` // mean number of cells per user
	Truth     []float64 `json:"truth"`
	Designs   []Design  `json:"designs"` // one per eps
	Rows      []Row     `json:"rows"`    // methods in order, and for each the eps in order
	Maps      []Map     `json:"maps"`    // at Config.MapEps, one per method
	// Estimates are the distances of maps that a server would estimate; nil with SkipEstimates.
	Estimates    []Estimate `json:"estimates,omitempty"`
	TransportGap float64    `json:"transport_gap"` // largest certified gap of all W_1 in Rows
}

// Design is the base measure of WPM at one eps.
type Design struct {
	Epsilon string  `json:"epsilon"`
	Mass    float64 `json:"mass"`  // sum of the uniform base measure
	Worst   float64 `json:"worst"` // certified: the worst case over all inputs is at most this
	Lower   float64 `json:"lower"` // certified: no eps-LDP mechanism has a smaller worst case
}

// Row is one mechanism at one eps.
type Row struct {
	Method   Method    `json:"method"`
	Epsilon  string    `json:"epsilon"`
	Eps      float64   `json:"eps"`      // for plots
	Expected float64   `json:"expected"` // W_1 of the mean of the released distributions against the truth
	Sampled  []float64 `json:"sampled"`  // W_1 of the histogram of one release per user against the truth, one per run
	Mean     float64   `json:"mean"`     // of Sampled
	SD       float64   `json:"sd"`       // of Sampled, with n-1; 0 for a single run
	// log of the largest ratio of two users' weights in a cell; certified <= eps in integers
	Loss float64 `json:"loss"`
	// WPM: largest certified gap of a user's projection (mixture: of the rows, in a user's shares); else 0
	Gap float64 `json:"gap"`
	// The least and the greatest expected W_1 that a search met over all choices of exact projections, see Ties. Both are
	// Expected where the mechanism is unique.
	TieLow  float64 `json:"tie_low"`
	TieHigh float64 `json:"tie_high"`
}

// Map is the mean released distribution of a mechanism, row-major.
type Map struct {
	Method Method    `json:"method"`
	Data   []float64 `json:"data"`
}

// maxGap is the certified gap, in cell widths, up to which a W_1 is reported as exact. Solvers end with gaps of
// rounding size (below 1e-13 here); 1e-9 leaves room for other costs and is six orders below the last digit of
// interest.
const maxGap = 1e-9

// Run loads the data, or makes a synthetic city if cfg.Data is empty, makes the comparison, and writes the report if
// cfg.Out is set. Errors: those of Load, city.Generate, Compare and report.Write.
func Run(ctx context.Context, cfg Config) (Result, error) {
	load := Load
	if cfg.Data == "" {
		load = synthetic
	}
	pop, src, err := load(ctx, cfg)
	if err != nil {
		return Result{}, err
	}
	if err := folder.Prepare(cfg.Out); err != nil {
		return Result{}, err
	}
	res, err := Compare(ctx, pop, cfg)
	if err != nil {
		return Result{}, err
	}
	res.Source = src
	if cfg.Out != "" {
		if _, err := report.Write(cfg.Out, res.Report()); err != nil {
			return res, err
		}
	}
	return res, nil
}

// Compare makes the comparison on any population. The fields of cfg that choose data (Data, Area, Rows, Cols,
// MinCheckins, Users) are not used, nor is Out. Errors: ErrConfig, those of city.Population.Validate and of the
// solvers, ErrCertificate, and the context's.
func Compare(ctx context.Context, pop city.Population, cfg Config) (Result, error) {
	if err := pop.Validate(); err != nil {
		return Result{}, fmt.Errorf("gowalla: %w", err)
	}
	cfg.Rows, cfg.Cols = pop.Rows, pop.Cols
	cfg, eps, err := cfg.resolve()
	if err != nil {
		return Result{}, err
	}
	grid, err := cost.NewGrid(pop.Rows, pop.Cols, 1)
	if err != nil {
		return Result{}, err
	}
	c, err := cost.Materialize(ctx, grid)
	if err != nil {
		return Result{}, err
	}
	s := &study{ctx: ctx, cfg: cfg, pop: pop, cost: c, unit: float64(pop.Cols), truth: pop.Truth(), progress: cfg.Progress}
	if s.progress == nil {
		s.progress = func(int, int, string) {}
	}
	res := Result{Config: cfg, Users: len(pop.Users), Checkins: pop.Checkins(), Truth: s.truth}
	res.Config.Progress = nil
	for _, u := range pop.Users {
		res.CellsMean += float64(len(u.Cells)) / float64(len(pop.Users))
	}
	byMethod := make([][]Row, len(cfg.Methods))
	designs := make([]design, len(eps))
	for n, e := range eps {
		if designs[n], err = s.design(e); err != nil {
			return Result{}, err
		}
		rows, maps, err := s.at(e, designs[n])
		if err != nil {
			return Result{}, err
		}
		res.Designs = append(res.Designs, designs[n].public(s.unit))
		for i, r := range rows {
			byMethod[i] = append(byMethod[i], r)
		}
		if e.String() == cfg.MapEps {
			res.Maps = maps
		}
	}
	res.Rows = slices.Concat(byMethod...)
	if res.TransportGap, err = s.measure(res.Rows); err != nil {
		return Result{}, err
	}
	if !cfg.SkipEstimates {
		res.Estimates, err = s.estimates(eps, designs)
	}
	return res, err
}

// study is one comparison under way.
type study struct {
	ctx      context.Context
	cfg      Config
	pop      city.Population
	cost     *cost.Dense
	unit     float64 // cell widths per unit of cost
	truth    []float64
	progress func(done, total int, what string)
	todo     []transport
}

// transport is a W_1 still to be measured, and where it goes: position method, eps (in the order of at) and run (-1:
// expected).
type transport struct {
	q                []float64
	method, eps, run int
}

// at computes what all users release at one eps under every method, certifies it, and notes the W_1 to be measured.
func (s *study) at(eps ldp.Epsilon, design design) ([]Row, []Map, error) {
	n, column := len(s.pop.Users), len(s.todo)/((1+s.cfg.Runs)*len(s.cfg.Methods))
	rows := make([]Row, len(s.cfg.Methods))
	maps := make([]Map, len(s.cfg.Methods))
	for i, m := range s.cfg.Methods {
		mech, err := s.mechanism(m, eps, design)
		if err != nil {
			return nil, nil, fmt.Errorf("gowalla: %s at eps %s: %w", m, eps, err)
		}
		weights := make([]ldp.Weights, n)
		gaps := make([]float64, n)
		what := fmt.Sprintf("%s at eps %s", m.Name(), eps)
		err = parallel.Each(s.ctx, n, func(u int) error {
			q, gap, err := mech.law(s.pop.Users[u])
			if err != nil {
				return fmt.Errorf("gowalla: %s at eps %s: user %d: %w", m, eps, s.pop.Users[u].ID, err)
			}
			weights[u], gaps[u] = mech.box.Round(q), gap
			return nil
		}, func(done int) { s.progress(done, n, what) })
		if err != nil {
			return nil, nil, err
		}
		// Every row lies in a verified box, so this cannot fail; it is decided again from the rows themselves.
		if err := ldp.CheckRows(eps, weights); err != nil {
			return nil, nil, fmt.Errorf("%w: %s at eps %s: %w", ErrCertificate, m, eps, err)
		}
		worst, err := ldp.WorstRatio(weights)
		if err != nil {
			return nil, nil, fmt.Errorf("%w: %s at eps %s: %w", ErrCertificate, m, eps, err)
		}
		rows[i] = Row{
			Method: m, Epsilon: eps.String(), Eps: eps.Float64(), Sampled: make([]float64, s.cfg.Runs),
			Loss: math.Log(float64(worst.Num) / float64(worst.Den)), Gap: slices.Max(gaps) * s.unit,
		}
		maps[i] = Map{m, mean(weights)}
		s.todo = append(s.todo, transport{maps[i].Data, i, column, -1})
		if tied := s.tied(m); tied != nil {
			if rows[i].TieLow, rows[i].TieHigh, err = s.tieRange(mech.box, tied, maps[i].Data, what+", ties"); err != nil {
				return nil, nil, err
			}
		} else {
			rows[i].TieLow, rows[i].TieHigh = math.Inf(1), math.Inf(-1) // measure makes it the one value
		}
		for run := range s.cfg.Runs {
			hist, err := releases(weights, stream(s.cfg.Seed, m, eps, run))
			if err != nil {
				return nil, nil, fmt.Errorf("gowalla: %s at eps %s, run %d: %w", m, eps, run, err)
			}
			s.todo = append(s.todo, transport{hist, i, column, run})
		}
	}
	return rows, maps, nil
}

// measure computes all noted W_1, fills them into rows (methods in order, for each the eps) and returns the largest
// certified gap.
func (s *study) measure(rows []Row) (float64, error) {
	gaps := make([]float64, len(s.todo))
	perMethod := len(rows) / len(s.cfg.Methods)
	err := parallel.Each(s.ctx, len(s.todo), func(n int) error {
		t := s.todo[n]
		r := &rows[t.method*perMethod+t.eps]
		res, err := mincostflow.Transport(s.ctx, s.cost, t.q, s.truth)
		if err != nil {
			return fmt.Errorf("gowalla: W_1 of %s at eps %s: %w", r.Method, r.Epsilon, err)
		}
		gaps[n] = (res.Upper - res.Lower) * s.unit
		if !(gaps[n] <= maxGap) {
			return fmt.Errorf("%w: W_1 of %s at eps %s is between %v and %v (unit square)", ErrCertificate, r.Method, r.Epsilon,
				res.Lower, res.Upper)
		}
		if t.run < 0 {
			r.Expected = res.Objective * s.unit
		} else {
			r.Sampled[t.run] = res.Objective * s.unit // each run its own element: no two tasks share one
		}
		return nil
	}, func(done int) { s.progress(done, len(s.todo), "measuring distances") })
	if err != nil {
		return 0, err
	}
	for i := range rows {
		r := &rows[i]
		r.Mean, r.SD = meanSD(r.Sampled)
		r.TieLow, r.TieHigh = min(r.TieLow, r.Expected), max(r.TieHigh, r.Expected)
	}
	return slices.Max(gaps), nil
}

// mean is the mean of the rows' distributions. Integer sums are exact (128 bits hold 2^62 times any number of users),
// so the only errors are three roundings per cell.
func mean(rows []ldp.Weights) []float64 {
	q := make([]float64, rows[0].Len())
	total := float64(len(rows))
	for j := range q {
		var hi, lo, carry uint64
		for _, w := range rows {
			lo, carry = bits.Add64(lo, w.At(j), 0)
			hi += carry
		}
		q[j] = math.Ldexp(math.Ldexp(float64(hi), 64)+float64(lo), -rows[0].Bits()) / total
	}
	return q
}

// releases draws one point for every row and returns the histogram as frequencies. A simulation: r is seeded.
func releases(rows []ldp.Weights, r io.Reader) ([]float64, error) {
	counts := make([]int, rows[0].Len())
	for _, w := range rows {
		j, err := w.Sample(r)
		if err != nil {
			return nil, err
		}
		counts[j]++
	}
	hist := make([]float64, len(counts))
	for j, c := range counts {
		hist[j] = float64(c) / float64(len(rows))
	}
	return hist, nil
}

// stream is the seeded source of one simulated run. Its key depends on nothing but these four, so a study of fewer
// methods or eps draws the same.
func stream(seed uint64, m Method, eps ldp.Epsilon, run int) io.Reader {
	return rand.NewChaCha8(sha256.Sum256(fmt.Appendf(nil, "wpm simulation, seed %d, %s, eps %s, run %d", seed, m, eps,
		run)))
}

// meanSD returns mean and standard deviation (n-1; 0 for one value).
func meanSD(v []float64) (mean, sd float64) {
	for _, x := range v {
		mean += x / float64(len(v))
	}
	if len(v) < 2 {
		return mean, 0
	}
	for _, x := range v {
		d := x - mean
		sd += d * d
	}
	return mean, math.Sqrt(sd / float64(len(v)-1))
}
