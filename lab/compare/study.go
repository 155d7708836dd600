package compare

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/baseline"
	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/internal/folder"
	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/lab/report"
	"github.com/wpm-go/wpm/lab/rivals"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/mincostflow"
)

// Result is everything measured.
type Result struct {
	Config  Config    `json:"config"` // as resolved, without Progress
	Source  string    `json:"source"`
	Unit    string    `json:"unit"`
	P       float64   `json:"p"`
	Inputs  int       `json:"inputs"`
	Outputs int       `json:"outputs"`
	IDs     []string  `json:"ids"`
	Truth   []float64 `json:"truth"`   // the mean of the users' distributions
	Designs []Design  `json:"designs"` // one per eps
	Rows    []Row     `json:"rows"`    // methods in order, for each the eps, for each the metrics
	Gap     float64   `json:"gap"`     // the largest certified gap of a W_r^r
	laws    []laws

	// Maps are readings of the reports of WPM in mixture mode, of Config.Maps, and of Methods that package rivals has; nil
	// without Config.Maps. A run is a simulation of all reports.
	Maps *rivals.Result `json:"maps,omitempty"`
}

// Design is the base measure of WPM at one eps, in W_P.
type Design struct {
	Epsilon string  `json:"epsilon"`
	Mass    float64 `json:"mass"`
	Worst   float64 `json:"worst"` // certified: the worst case over all inputs is at most this
	Lower   float64 `json:"lower"` // certified: no eps-LDP mechanism has a smaller worst case
}

// Row is one mechanism at one eps by one metric.
type Row struct {
	Method  Method    `json:"method"`
	Epsilon string    `json:"epsilon"`
	Eps     float64   `json:"eps"`
	Metric  string    `json:"metric"`
	Users   []float64 `json:"users"`
	Mean    float64   `json:"mean"`    // of Users
	SE      float64   `json:"se"`      // of the mean
	Bias    float64   `json:"bias"`    // w and tv: of the mean of the laws against the truth
	Sampled []float64 `json:"sampled"` // w and tv: of one release per user against the truth, one per seed
	MapMean float64   `json:"map_mean"`
	MapSD   float64   `json:"map_sd"`
	Loss    float64   `json:"loss"` // log of the largest ratio of two laws in an output; certified <= eps in integers
}

// laws are the distributions that one mechanism draws from at one eps.
type laws struct {
	name           string
	users, channel []ldp.Weights
}

// level is one eps with the mechanism of WPM there.
type level struct {
	eps  ldp.Epsilon
	base basemeasure.Result
	mech *wpm.Mechanism
}

// study is one comparison under way.
type study struct {
	ctx    context.Context
	plan   plan
	data   Data
	k, kv  int
	mu     [][]float64
	truth  []float64
	public []float64
	cost   *cost.Dense
	lambda float64
	powers map[int]*cost.Dense // distances to the power of a metric
	gap    float64
	tick   func(done, total int, what string)
}

// maxGap is the certified relative gap up to which a W_r^r is reported as exact: rounding ends below 1e-12.
const maxGap = 1e-9

// Run compares and, if cfg.Out is set, writes the report. Errors: ErrData, ErrConfig, ErrCertificate, those of the
// mechanisms, the context and the file system.
func Run(ctx context.Context, data Data, cfg Config) (Result, error) {
	mu, err := data.check()
	if err != nil {
		return Result{}, err
	}
	p, err := cfg.resolve(data)
	if err != nil {
		return Result{}, err
	}
	k, kv := data.Distance.Dims()
	if n := len(p.Methods) * len(p.eps) * (len(mu) + k); p.NPY && n > maxNumbers/kv {
		return Result{}, fmt.Errorf("%w: NPY: %d laws of %d numbers, at most %d numbers", ErrConfig, n, kv, maxNumbers)
	}
	if err := folder.Prepare(p.Out); err != nil {
		return Result{}, err
	}
	s, err := newStudy(ctx, data, p, mu)
	if err != nil {
		return Result{}, err
	}
	res := Result{
		Config: p.Config, Source: data.Source, Unit: data.Unit, P: data.P, Inputs: k, Outputs: kv, Truth: s.truth,
	}
	res.Config.Progress = nil
	for _, u := range data.Users {
		res.IDs = append(res.IDs, u.ID)
	}
	if len(p.Maps) > 0 {
		if res.Maps, err = s.maps(); err != nil {
			return Result{}, err
		}
	}
	levels := make([]level, len(p.eps))
	for i, e := range p.eps {
		if len(p.Methods) == 0 {
			break
		}
		if levels[i], err = design(ctx, s.cost, level{eps: e}, p.kind); err != nil {
			return Result{}, err
		}
		root := func(v float64) float64 { return math.Pow(max(v, 0), 1/data.P) }
		base := levels[i].base
		res.Designs = append(res.Designs, Design{e.String(), base.Mass, root(base.Upper), root(base.Lower)})
	}
	for _, m := range p.Methods {
		for _, at := range levels {
			rows, l, err := s.at(m, at)
			if err != nil {
				return Result{}, fmt.Errorf("%s at eps %s: %w", m, at.eps, err)
			}
			res.Rows = append(res.Rows, rows...)
			if p.NPY {
				res.laws = append(res.laws, l)
			}
		}
	}
	res.Gap, res.Config.Lambda = s.gap, s.lambda
	if p.Out != "" {
		r, err := res.Report()
		if err != nil {
			return res, err
		}
		_, err = report.Write(p.Out, r)
		return res, err
	}
	return res, nil
}

func newStudy(ctx context.Context, data Data, p plan, mu [][]float64) (*study, error) {
	s := &study{ctx: ctx, plan: p, data: data, mu: mu, lambda: p.Lambda, tick: p.Progress, powers: map[int]*cost.Dense{}}
	if s.ctx == nil {
		s.ctx = context.Background()
	}
	if s.tick == nil {
		s.tick = func(int, int, string) {}
	}
	s.k, s.kv = data.Distance.Dims()
	var err error
	if s.cost, err = data.power(data.P); err != nil {
		return nil, err
	}
	for _, m := range p.metrics {
		if m.power > 0 {
			if s.powers[m.power], err = data.power(float64(m.power)); err != nil {
				return nil, err
			}
		}
	}
	s.public = slices.Repeat([]float64{1 / float64(s.k)}, s.k)
	if p.Public != nil {
		if s.public, err = scaled(p.Public); err != nil {
			return nil, fmt.Errorf("%w: Public: %w", ErrConfig, err)
		}
	}
	s.truth = make([]float64, s.k)
	for _, m := range mu {
		for i, w := range m {
			s.truth[i] += w / float64(len(mu))
		}
	}
	return s, nil
}

// maps makes the maps of package rivals.
func (s *study) maps() (*rivals.Result, error) {
	w := &rivals.World{Distance: s.data.Distance, Cost: s.cost}
	for _, mu := range s.mu {
		places, shares := sparse(mu)
		w.People = append(w.People, rivals.Person{Places: places, Shares: shares})
	}
	methods := append([]string{rivals.WPM}, s.plan.Maps...)
	for _, m := range s.plan.Methods {
		if m == GeoInd || m == Response {
			methods = append(methods, string(m))
		}
	}
	r, err := rivals.Run(s.ctx, rivals.Config{World: w, Epsilons: s.plan.Epsilons, Runs: s.plan.Seeds, Methods: methods,
		Seed: s.plan.Seed, Progress: s.plan.Progress})
	if errors.Is(err, rivals.ErrConfig) || errors.Is(err, estimate.ErrNoGeometry) {
		err = fmt.Errorf("%w: maps: %w", ErrConfig, err)
	}
	return &r, err
}

// at scores one mechanism at one eps.
func (s *study) at(m Method, at level) ([]Row, laws, error) {
	none := laws{}
	f := s.plan.forms[m]
	rule, err := f.build(s, at)
	if err != nil {
		return nil, none, err
	}
	base := rule.Measure()
	if k, kv := rule.Dims(); k != s.k || kv != s.kv || len(base) != kv {
		return nil, none, fmt.Errorf("%w: a mechanism of %d inputs, %d outputs and a measure of %d, want %d, %d and %d",
			ErrConfig, k, kv, len(base), s.k, s.kv, s.kv)
	}
	box, err := ldp.NewPolytope(at.eps, base, wpm.DefaultBits)
	if err != nil {
		return nil, none, err
	}
	l := laws{name: fmt.Sprintf("%s-%s", m, fileName(at.eps))}
	points := make([][]float64, s.k)
	for i := range points {
		points[i] = make([]float64, s.k)
		points[i][i] = 1
	}
	what := fmt.Sprintf("%s at eps %s", m.Name(), at.eps)
	if l.users, err = s.round(rule, box, s.mu, what, f.own); err != nil {
		return nil, none, err
	}
	if l.channel, err = s.round(rule, box, points, what+", point masses", f.own); err != nil {
		return nil, none, err
	}
	all := slices.Concat(l.users, l.channel)
	// Every law lies in a verified box, so this cannot fail; it is decided again from the laws themselves.
	if err := ldp.CheckRows(at.eps, all); err != nil {
		return nil, none, fmt.Errorf("%w: %w", ErrCertificate, err)
	}
	worst, err := ldp.WorstRatio(all)
	if err != nil {
		return nil, none, fmt.Errorf("%w: %w", ErrCertificate, err)
	}
	users := floats(l.users)
	mean := make([]float64, s.kv)
	for _, q := range users {
		for j, v := range q {
			mean[j] += v / float64(len(users))
		}
	}
	maps := make([][]float64, s.plan.Seeds)
	for n := range maps {
		if maps[n], err = releases(l.users, stream(s.plan.Seed+uint64(n), m, at.eps)); err != nil {
			return nil, none, err
		}
	}
	var rows []Row
	for _, metric := range s.plan.metrics {
		r := Row{Method: m, Epsilon: at.eps.String(), Eps: at.eps.Float64(), Metric: metric.name, Loss: logRatio(worst)}
		if r.Users, err = s.score(metric, users, s.mu); err != nil {
			return nil, none, err
		}
		var sd float64
		r.Mean, sd = meanSD(r.Users)
		r.SE = sd / math.Sqrt(float64(len(r.Users)))
		if metric.ofMaps() {
			// The first is the mean law, the others are simulated.
			scores, err := s.score(metric, slices.Concat([][]float64{mean}, maps), [][]float64{s.truth})
			if err != nil {
				return nil, none, err
			}
			r.Bias, r.Sampled = scores[0], scores[1:]
			r.MapMean, r.MapSD = meanSD(r.Sampled)
		}
		rows = append(rows, r)
	}
	return rows, l, nil
}

// maxMoved is the mass that rounding may move of a law of the caller: what floats lose in a sum of thousands is less.
const maxMoved = 1e-9

// round computes the laws of distributions and rounds them into the box. If strict, a law that lies elsewhere is an
// error: its scores would be those of another mechanism.
func (s *study) round(rule baseline.Sampler, box *ldp.Polytope, mu [][]float64, what string,
	strict bool) ([]ldp.Weights, error) {
	out := make([]ldp.Weights, len(mu))
	err := parallel.Each(s.ctx, len(mu), func(u int) error {
		q := make([]float64, s.kv)
		if err := rule.Law(q, mu[u]); err != nil {
			return err
		}
		out[u] = box.Round(q)
		if moved := variation(floats(out[u : u+1])[0], q); strict && !(moved <= maxMoved) {
			return fmt.Errorf("%w: law %d is no distribution within a factor e^(±eps/2) of Measure: %v of its mass is outside",
				ErrConfig, u, moved)
		}
		return nil
	}, func(done int) { s.tick(done, len(mu), what) })
	return out, err
}

// floats scores the laws of a rule before rounding, for tuning.
func (s *study) floats(rule baseline.Sampler, m metric) ([]float64, error) {
	laws := make([][]float64, len(s.mu))
	err := parallel.Each(s.ctx, len(s.mu), func(u int) error {
		laws[u] = make([]float64, s.kv)
		return rule.Law(laws[u], s.mu[u])
	}, nil)
	if err != nil {
		return nil, err
	}
	return s.score(m, laws, s.mu)
}

// score scores laws against distributions, one each or one for all.
func (s *study) score(m metric, laws, mu [][]float64) ([]float64, error) {
	out, gaps := make([]float64, len(laws)), make([]float64, len(laws))
	err := parallel.Each(s.ctx, len(laws), func(u int) (err error) {
		of := mu[0]
		if len(mu) > 1 {
			of = mu[u]
		}
		switch {
		case m.power > 0:
			out[u], gaps[u], err = s.distance(m.power, laws[u], of)
		case m.top > 0:
			out[u] = hit(laws[u], of, m.top)
		case m.name == "tv":
			out[u] = variation(laws[u], of)
		default:
			out[u] = divergence(laws[u], of)
		}
		if err == nil && math.IsInf(out[u], 0) {
			err = fmt.Errorf("%w: %s of user %s is infinite, as a place of theirs has probability 0: leave the metric or the "+
				"mechanism out, or give local and linear a public distribution without zeros", ErrConfig, m.name,
				s.data.Users[u].ID)
		}
		return err
	}, nil)
	if err != nil {
		return nil, err
	}
	s.gap = max(s.gap, slices.Max(gaps))
	return out, nil
}

// distance returns W_r(q, mu), and the certified gap of its r-th power.
func (s *study) distance(r int, q, mu []float64) (w, gap float64, err error) {
	support, weight := sparse(mu)
	data := make([]float64, 0, len(support)*s.kv)
	for _, i := range support {
		data = append(data, s.powers[r].Row(i, nil)...)
	}
	c := &cost.Dense{K: len(support), Kv: s.kv, Data: data}
	t, err := mincostflow.Transport(s.ctx, c, weight, q)
	if err != nil {
		return 0, 0, err
	}
	if gap = t.Upper - t.Lower; !(gap <= maxGap*slices.Max(data)) {
		return 0, 0, fmt.Errorf("%w: W_%d^%d is between %v and %v", ErrCertificate, r, r, t.Lower, t.Upper)
	}
	return math.Pow(max(t.Objective, 0), 1/float64(r)), gap, nil
}

// hit is the probability of the n most frequent of the inputs that the user has. Inputs that tie for the last ranks
// share them, so that the order of the inputs says nothing.
func hit(q, mu []float64, n int) (p float64) {
	support, weight := sparse(mu)
	ranked := slices.Clone(weight)
	slices.Sort(ranked)
	last := ranked[max(len(ranked)-n, 0)]
	var tied, ties float64
	room := float64(n)
	for i, w := range weight {
		switch {
		case w > last:
			p += q[support[i]]
			room--
		case w == last:
			tied += q[support[i]]
			ties++
		}
	}
	return p + tied*min(room/ties, 1)
}

// variation is the total variation.
func variation(q, mu []float64) (d float64) {
	for j := range q {
		d += math.Abs(q[j]-mu[j]) / 2
	}
	return d
}

// divergence is KL(mu || q), +Inf where q misses mass of mu.
func divergence(q, mu []float64) (d float64) {
	for j, w := range mu {
		if w > 0 {
			d += w * math.Log(w/q[j])
		}
	}
	return max(d, 0) // rounding
}

// floats are laws as numbers.
func floats(rows []ldp.Weights) [][]float64 {
	out := make([][]float64, len(rows))
	for u, w := range rows {
		out[u] = make([]float64, w.Len())
		for j := range out[u] {
			out[u][j] = math.Ldexp(float64(w.At(j)), -w.Bits())
		}
	}
	return out
}

// releases draws one output for every row and returns the shares. A simulation: r is seeded.
func releases(rows []ldp.Weights, r io.Reader) ([]float64, error) {
	share := make([]float64, rows[0].Len())
	for _, w := range rows {
		j, err := w.Sample(r)
		if err != nil {
			return nil, err
		}
		share[j]++
	}
	for j := range share {
		share[j] /= float64(len(rows))
	}
	return share, nil
}

// stream is the seeded source of one simulation. Its key depends on nothing but these three, so that a comparison of
// fewer methods or eps draws the same.
func stream(seed uint64, m Method, eps ldp.Epsilon) io.Reader {
	return rand.NewChaCha8(sha256.Sum256(fmt.Appendf(nil, "wpm comparison, seed %d, %s, eps %s", seed, m, eps)))
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
		sd += (x - mean) * (x - mean)
	}
	return mean, math.Sqrt(sd / float64(len(v)-1))
}
