package movielens

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/wpm-go/wpm/baseline"
	"github.com/wpm-go/wpm/internal/folder"
	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/lab/report"
	"github.com/wpm-go/wpm/ldp"
)

// Method is a mechanism of the comparison.
type Method string

// The mechanisms, in the order of the reports.
const (
	WPM         Method = "wpm"
	KPM         Method = "genre-kpm"
	Exponential Method = "exponential"
	Uniform     Method = "uniform"
)

// What a mechanism could reach, without privacy and without an eps.
const (
	Popular Method = "popular"      // the candidate that most validation users like, for everybody
	NoNoise Method = "wpm-infinity" // WPM at eps = infinity: Algorithm 1 with the box [0, 1]
)

// Methods returns all mechanisms in the order of the reports.
func Methods() []Method { return []Method{WPM, KPM, Exponential, Uniform} }

// Ceilings returns the two hit rates that no mechanism is measured by, but next to.
func Ceilings() []Method { return []Method{Popular, NoNoise} }

// Name is the mechanism's name for people.
func (m Method) Name() string {
	switch m {
	case WPM:
		return "WPM"
	case KPM:
		return "KPM on genres"
	case Exponential:
		return "exponential mechanism"
	case Uniform:
		return "uniform choice"
	case Popular:
		return "the most popular film"
	case NoNoise:
		return "WPM at ε = ∞"
	}
	return string(m)
}

// Result is everything measured.
type Result struct {
	Config  Config `json:"config"` // as resolved, without Progress
	Users   int    `json:"users"`
	Films   int    `json:"films"`
	Ratings int    `json:"ratings"`
	Rows    []Row  `json:"rows"` // methods in order, and for each the eps in order
	// Ceilings are the hit rates of Ceilings(), without an eps.
	Ceilings []Row `json:"ceilings"`
	// Differences are those of WPM to the other methods, split by split: methods in order, and for each the eps in order.
	Differences []Difference `json:"differences"`
}

// Difference is the hit rate of WPM less that of another method, over the same splits.
type Difference struct {
	Method  Method  `json:"method"`
	Epsilon string  `json:"epsilon"`
	Eps     float64 `json:"eps"`
	Mean    float64 `json:"mean"`
	SE      float64 `json:"se"`
	// The t-interval of level Level for the mean over splits. Splits share their users and films: the interval is about
	// other splits of this data, not about other data.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Level is that of the intervals of differences.
const Level = 0.95

// Row is one mechanism at one eps.
type Row struct {
	Method  Method    `json:"method"`
	Epsilon string    `json:"epsilon"`
	Eps     float64   `json:"eps"`
	HitRate float64   `json:"hit_rate"` // mean over the splits
	SE      float64   `json:"se"`       // its standard error
	Splits  []float64 `json:"splits"`   // of each split, on test users
	// of each split: the base measure chosen on validation users; nil where there is none to choose
	Masses []float64 `json:"masses"`
}

// Run loads the data, makes the comparison, and writes the report if cfg.Out is set.
func Run(ctx context.Context, cfg Config) (Result, error) {
	if _, _, err := cfg.resolve(); err != nil { // before reading anything
		return Result{}, err
	}
	d, err := Load(cfg.Ratings, cfg.Films)
	if err != nil {
		return Result{}, err
	}
	if err := folder.Prepare(cfg.Out); err != nil {
		return Result{}, err
	}
	res, err := Compare(ctx, d, cfg)
	if err != nil {
		return Result{}, err
	}
	if cfg.Out != "" {
		if _, err = report.Write(cfg.Out, res.Report()); err == nil {
			err = removeCheckpoint(cfg)
		}
	}
	return res, err
}

// Compare makes the comparison on any data. If cfg.Out is set, finished splits are kept there and not made again by
// another Compare of the same data and protocol. Errors: ErrConfig, ErrTooFew, those of the solvers, and the context's.
func Compare(ctx context.Context, d Data, cfg Config) (Result, error) {
	cfg, eps, err := cfg.resolve()
	if err != nil {
		return Result{}, err
	}
	progress := cfg.Progress
	if progress == nil {
		progress = func(int, int, string) {}
	}
	res := Result{Config: cfg, Users: len(d.Users), Films: len(d.Films), Ratings: len(d.Ratings)}
	res.Config.Progress = nil
	for _, m := range Methods() {
		for _, e := range eps {
			res.Rows = append(res.Rows, Row{Method: m, Epsilon: e.String(), Eps: e.Float64()})
		}
	}
	for _, m := range Ceilings() {
		res.Ceilings = append(res.Ceilings, Row{Method: m})
	}
	var stored []parts
	if cfg.SplitFile != "" {
		if stored, err = loadParts(cfg.SplitFile, d); err != nil {
			return Result{}, err
		}
		if cfg.Splits == 0 {
			cfg.Splits = len(stored)
		}
		if cfg.Splits < 2 || cfg.Splits > len(stored) {
			return Result{}, fmt.Errorf("%w: Splits is %d, want 2 to %d, those of %s",
				ErrConfig, cfg.Splits, len(stored), cfg.SplitFile)
		}
		res.Config.Splits = cfg.Splits
	}
	kept, err := openCheckpoint(cfg, d, stored)
	if err != nil {
		return Result{}, err
	}
	steps := cfg.Splits * len(eps)
	for n := range cfg.Splits {
		what := fmt.Sprintf("split %d", n+1)
		cells := kept.split(n)
		if cells == nil {
			progress(n*len(eps), steps, what)
			p := parts{}
			if stored != nil {
				p = stored[n]
			} else {
				p = drawn(d, cfg.Seed+uint64(n))
			}
			if cells, err = splitCells(ctx, d, cfg, p, eps, func(done int) {
				progress(n*len(eps)+done, steps, what)
			}); err != nil {
				return Result{}, fmt.Errorf("movielens: split %d: %w", n+1, err)
			}
			if err := kept.add(cells); err != nil {
				return Result{}, err
			}
		}
		for i, c := range cells { // by eps, then method; the rows are by method, then eps
			if at := i - len(res.Rows); at >= 0 {
				res.Ceilings[at].Splits = append(res.Ceilings[at].Splits, c.Rate)
				continue
			}
			row := &res.Rows[i%len(Methods())*len(eps)+i/len(Methods())]
			row.Splits = append(row.Splits, c.Rate)
			if c.Mass > 0 {
				row.Masses = append(row.Masses, c.Mass)
			}
		}
	}
	for i := range res.Rows {
		r := &res.Rows[i]
		r.HitRate, r.SE = meanSE(r.Splits)
	}
	for i := range res.Ceilings {
		r := &res.Ceilings[i]
		r.HitRate, r.SE = meanSE(r.Splits)
	}
	res.Differences = differences(res.Rows, len(eps))
	return res, nil
}

// splitCells measures every method at every eps on one split, and the ceilings.
func splitCells(
	ctx context.Context, d Data, cfg Config, p parts, eps []ldp.Epsilon, progress func(done int),
) (cells []cell, err error) {
	s, err := newSplit(d, cfg, p)
	if err != nil {
		return nil, err
	}
	for at, e := range eps {
		for _, method := range Methods() {
			rate, mass, err := s.rate(ctx, cfg, method, e)
			if err != nil {
				return nil, fmt.Errorf("%s at eps %s: %w", method, e, err)
			}
			cells = append(cells, cell{rate, mass})
		}
		progress(at + 1)
	}
	for _, method := range Ceilings() {
		r := newProjector(s.cost, cfg, 0).unbounded()
		if method == Popular {
			q := make([]float64, s.cost.Kv)
			q[s.popular] = 1
			r = func(user) ([]float64, error) { return q, nil }
		}
		rate, err := meanHit(ctx, s.test, r)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", method, err)
		}
		cells = append(cells, cell{Rate: rate})
	}
	return cells, nil
}

// differences compares the first method with the others, whose rows follow in blocks of n eps.
func differences(rows []Row, n int) (out []Difference) {
	for i := n; i < len(rows); i++ {
		first, other := rows[i%n], rows[i]
		x := make([]float64, len(first.Splits))
		for k, v := range first.Splits {
			x[k] = v - other.Splits[k]
		}
		d := Difference{Method: other.Method, Epsilon: other.Epsilon, Eps: other.Eps}
		d.Mean, d.SE = meanSE(x)
		t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(len(x) - 1)}.Quantile(1 - (1-Level)/2)
		d.Low, d.High = d.Mean-t*d.SE, d.Mean+t*d.SE
		out = append(out, d)
	}
	return out
}

// meanSE returns the mean and its standard error, with n-1.
func meanSE(x []float64) (mean, se float64) {
	n := float64(len(x))
	for _, v := range x {
		mean += v / n
	}
	for _, v := range x {
		se += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(se / (n - 1) / n)
}

// rate returns the hit rate on test users and the mass chosen on validation users (0 where none is).
func (s *split) rate(ctx context.Context, cfg Config, m Method, eps ldp.Epsilon) (rate, mass float64, err error) {
	e := eps.Float64()
	switch m {
	case Uniform:
		q := make([]float64, s.cost.Kv)
		for j := range q {
			q[j] = 1 / float64(len(q))
		}
		rate, err = meanHit(ctx, s.test, func(user) ([]float64, error) { return q, nil })
		return rate, 0, err
	case Exponential:
		mechanism, err := baseline.NewExponential(ctx, s.cost, e)
		if err != nil {
			return 0, 0, err
		}
		rate, err = meanHit(ctx, s.test, func(u user) ([]float64, error) { return mechanism.Law(u.source, u.support) })
		return rate, 0, err
	}
	var mechanism func(mass float64) (rule, error)
	switch m {
	case WPM:
		mechanism = newProjector(s.cost, cfg, e).withMass
	case KPM:
		mechanism = func(mass float64) (rule, error) { return s.genreKPM(e, mass), nil }
	default:
		return 0, 0, fmt.Errorf("%w: method %q", ErrConfig, m)
	}
	at := func(n int) float64 {
		step := 0.5 // a sweep of one is mass 1
		if cfg.Scales > 1 {
			step = float64(n) / float64(cfg.Scales-1)
		}
		return math.Exp(e * (step - 0.5))
	}
	best, err := peak(cfg.Scales, func(n int) (float64, error) {
		r, err := mechanism(at(n))
		if err != nil {
			return 0, err
		}
		return meanHit(ctx, s.validation, r)
	})
	if err != nil {
		return 0, 0, err
	}
	mass = at(best)
	r, err := mechanism(mass)
	if err != nil {
		return 0, 0, err
	}
	rate, err = meanHit(ctx, s.test, r)
	return rate, mass, err
}

// stride is the first step of peak.
const stride = 4

// peak returns the n < count, the lowest of several, where f is greatest among those that it looks at: 0, 4, 8, ... and
// the last, then those 2 beside the best, then those 1 beside. That is the maximum if f has one peak, or peaks that are
// wider than the steps.
func peak(count int, f func(n int) (float64, error)) (best int, err error) {
	seen := make([]float64, count)
	for n := range seen {
		seen[n] = math.Inf(-1)
	}
	look := func(n int) error {
		if n < 0 || n >= count || !math.IsInf(seen[n], -1) {
			return nil
		}
		seen[n], err = f(n)
		if seen[n] > seen[best] || seen[n] == seen[best] && n < best {
			best = n
		}
		return err
	}
	for n := 0; n < count+stride-1; n += stride {
		if err := look(min(n, count-1)); err != nil {
			return 0, err
		}
	}
	for step := stride / 2; step > 0; step /= 2 {
		middle := best
		if err := errors.Join(look(middle-step), look(middle+step)); err != nil {
			return 0, err
		}
	}
	return best, nil
}

// rule gives the distribution that a user's film is drawn from.
type rule func(user) ([]float64, error)

// meanHit is the mean hit rate of a rule.
func meanHit(ctx context.Context, users []user, r rule) (float64, error) {
	hits := make([]float64, len(users))
	err := parallel.Each(ctx, len(users), func(n int) error {
		if len(users[n].hits) == 0 {
			return nil // whatever q is
		}
		q, err := r(users[n])
		if err == nil {
			hits[n] = users[n].hit(q)
		}
		return err
	}, nil)
	var mean float64
	for _, h := range hits { // in order: the same bits whatever the schedule
		mean += h / float64(len(users))
	}
	return mean, err
}

// genreKPM is KPM on genres with a uniform base measure of the given mass.
func (s *split) genreKPM(eps, mass float64) rule {
	return func(u user) ([]float64, error) {
		mu := make([]float64, s.cost.K)
		u.dense(mu)
		return baseline.GroupKPM(mu, s.genres, s.outputs, eps, mass)
	}
}
