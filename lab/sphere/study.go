package sphere

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/folder"
	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/lab/report"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/sphere"
	"github.com/wpm-go/wpm/sphere/codebook"
)

// AtomRow compares W_2 of three ways to release a distribution of several atoms: means over the instances.
type AtomRow struct {
	Dim        int     `json:"d"`
	Atoms      int     `json:"n"`
	Epsilon    string  `json:"epsilon"`
	Eps        float64 `json:"eps"`
	Points     int     `json:"points"`
	Worst      float64 `json:"worst"` // W_2 of the worst input, a point, under the optimal mechanism
	Uniform    float64 `json:"uniform"`
	RandomAtom float64 `json:"random_atom"`
	Projection float64 `json:"projection"`
	Ratio      float64 `json:"ratio"` // Projection over RandomAtom
	// Standard errors of the three means over the instances.
	UniformSE    float64 `json:"uniform_se"`
	RandomAtomSE float64 `json:"random_atom_se"`
	ProjectionSE float64 `json:"projection_se"`
	Wins         int     `json:"wins"` // instances where the projection was closer
	Loss         float64 `json:"loss"` // the largest log ratio between two laws of one list of candidates, at most eps
	Gap          float64 `json:"gap"`  // the largest certified gap of a W_2^2
}

// Result is the outcome of a run.
type Result struct {
	Config Config    `json:"config"`
	Means  []MeanRow `json:"means"`
	Rows   []AtomRow `json:"rows"`
	Scales []Scale   `json:"scales"`
}

// Scale is the mass of the optimal base measure for one exponent.
type Scale struct {
	Dim   int     `json:"d"`
	Eps   float64 `json:"eps"`
	P     float64 `json:"p"`
	Alpha float64 `json:"alpha"` // mass, between e^(-eps/2) and e^(eps/2)
	S     float64 `json:"S"`     // share of the sphere in the optimal cap
}

// scaleExponents are the p of the masses.
var scaleExponents = []float64{0.5, 0.75, 1, 1.5, 2, 3, 4, 6, 8, 12}

// scales are the optimal masses over p, on two spheres of the study and at three eps.
func scales(dims []int) (out []Scale, err error) {
	for _, d := range []int{dims[0], dims[min(1, len(dims)-1)]} {
		for _, eps := range []float64{1, 4, 8} {
			for _, p := range scaleExponents {
				m, err := sphere.Solve(d, p, eps)
				if err != nil {
					return nil, err
				}
				out = append(out, Scale{d, eps, p, m.Alpha, m.S})
			}
		}
		if len(dims) == 1 {
			break
		}
	}
	return out, nil
}

// Run does the study and, if Config.Out is set, writes the report. Errors: ErrConfig, ErrCertificate, those of the
// solvers, the context and the file system.
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
	tick := cfg.Progress
	if tick == nil {
		tick = func(int, int, string) {}
	}
	res := Result{Config: cfg}
	res.Means = make([]MeanRow, len(cfg.Dims)*len(cfg.Epsilons))
	err = parallel.Each(ctx, len(res.Means), func(i int) (err error) {
		res.Means[i], err = meanRow(cfg.Dims[i/len(cfg.Epsilons)], cfg.Epsilons[i%len(cfg.Epsilons)])
		return err
	}, func(done int) { tick(done, len(res.Means), "mean estimation") })
	if err != nil {
		return Result{}, fmt.Errorf("experiments/sphere: %w", err)
	}

	if res.Scales, err = scales(cfg.Dims); err != nil {
		return Result{}, fmt.Errorf("experiments/sphere: %w", err)
	}

	type task struct {
		row      AtomRow
		eps      ldp.Epsilon
		instance int
	}
	var tasks []task
	for _, d := range cfg.AtomDims {
		for _, n := range cfg.Atoms {
			for _, e := range eps {
				for i := range cfg.Instances {
					tasks = append(tasks, task{AtomRow{Dim: d, Atoms: n, Epsilon: e.String(), Eps: e.Float64()}, e, i})
				}
			}
		}
	}
	err = parallel.Each(ctx, len(tasks), func(i int) error {
		t := &tasks[i]
		return t.row.measure(ctx, cfg, t.eps, t.instance)
	}, func(done int) { tick(done, len(tasks), "distributions of several atoms") })
	if err != nil {
		return Result{}, fmt.Errorf("experiments/sphere: %w", err)
	}
	for i := 0; i < len(tasks); i += cfg.Instances {
		row := tasks[i].row
		var uniform, atom, projection []float64
		row.Loss, row.Gap = 0, 0
		for _, t := range tasks[i : i+cfg.Instances] {
			uniform, atom, projection = append(uniform, t.row.Uniform), append(atom, t.row.RandomAtom),
				append(projection, t.row.Projection)
			row.Loss, row.Gap = max(row.Loss, t.row.Loss), max(row.Gap, t.row.Gap)
			if t.row.Projection < t.row.RandomAtom {
				row.Wins++
			}
		}
		row.Uniform, row.UniformSE = meanSE(uniform)
		row.RandomAtom, row.RandomAtomSE = meanSE(atom)
		row.Projection, row.ProjectionSE = meanSE(projection)
		row.Ratio = row.Projection / row.RandomAtom
		res.Rows = append(res.Rows, row)
	}
	if cfg.Out != "" {
		if _, err := report.Write(cfg.Out, res.Report()); err != nil {
			return Result{}, err
		}
	}
	return res, nil
}

// meanSE returns the mean of values and its standard error; 0 for one value.
func meanSE(v []float64) (mean, se float64) {
	for _, x := range v {
		mean += x / float64(len(v))
	}
	if len(v) < 2 {
		return mean, 0
	}
	for _, x := range v {
		se += (x - mean) * (x - mean)
	}
	return mean, math.Sqrt(se / float64(len(v)-1) / float64(len(v)))
}

// key derives a seed from the study's, for one use.
func key(cfg Config, use string, d, n, instance int) codebook.Seed {
	return sha256.Sum256(fmt.Appendf(nil, "wpm sphere %d %s %d %d %d", cfg.Seed, use, d, n, instance))
}

// instance draws the atoms and weights; the same ones for every eps.
func instance(cfg Config, d, n, number int) (atoms [][]float64, weights []float64) {
	r := rand.New(rand.NewChaCha8(key(cfg, "atoms", d, n, number)))
	total := 0.0
	for range n {
		x := make([]float64, d+1)
		norm := 0.0
		for i := range x {
			x[i] = r.NormFloat64()
			norm += x[i] * x[i]
		}
		for i := range x {
			x[i] /= math.Sqrt(norm)
		}
		w := r.ExpFloat64() + r.ExpFloat64() // a Gamma variable of shape 2
		atoms, weights, total = append(atoms, x), append(weights, w), total+w
	}
	for i := range weights {
		weights[i] /= total
	}
	return atoms, weights
}

// measure fills in the row for one instance.
func (row *AtomRow) measure(ctx context.Context, cfg Config, eps ldp.Epsilon, number int) error {
	conf := codebook.Config{
		Dim: row.Dim, P: 2, Epsilon: eps, Points: cfg.Points, Atoms: max(row.Atoms, 2),
		Provenance: policy.Provenance{Geometry: policy.Public, BaseMeasure: policy.DataIndependent},
	}
	book, err := codebook.New(conf)
	if err != nil {
		return err
	}
	if want := int(min(math.Ceil(40/book.Measure().S), maxPoints)); want > cfg.Points {
		conf.Points = want
		if book, err = codebook.New(conf); err != nil {
			return err
		}
	}
	row.Points, row.Worst = conf.Points, book.Measure().W
	seed := key(cfg, "candidates", row.Dim, row.Atoms, number)
	atoms, mu := instance(cfg, row.Dim, row.Atoms, number)

	candidates := make([][]float64, conf.Points)
	for j := range candidates {
		if candidates[j], err = book.Candidate(seed, j); err != nil {
			return err
		}
	}
	pts, err := cost.NewPoints(atoms, candidates, 2)
	if err != nil {
		return err
	}
	c, err := cost.Materialize(ctx, pts)
	if err != nil {
		return err
	}
	w2 := func(q []float64) (float64, error) {
		res, err := mincostflow.Transport(ctx, c, mu, q)
		row.Gap = max(row.Gap, res.Upper-res.Lower)
		return math.Sqrt(max(res.Objective, 0)), err
	}

	projection := book.Law(seed, atoms, mu)
	laws := []ldp.Weights{projection, book.Fallback()}
	mixture := make([]float64, conf.Points)
	for i, x := range atoms {
		law := book.Law(seed, [][]float64{x}, []float64{1})
		laws = append(laws, law)
		for j, v := range shares(law) {
			mixture[j] += mu[i] * v
		}
	}
	if row.Uniform, err = w2(shares(book.Fallback())); err != nil {
		return err
	}
	if row.RandomAtom, err = w2(mixture); err != nil {
		return err
	}
	if row.Projection, err = w2(shares(projection)); err != nil {
		return err
	}
	if err := ldp.CheckRows(eps, laws); err != nil {
		return fmt.Errorf("%w: %w", ErrCertificate, err)
	}
	worst, err := ldp.WorstRatio(laws)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCertificate, err)
	}
	// the integers have decided; the logarithm rounds
	row.Loss = min(math.Log(float64(worst.Num)/float64(worst.Den)), row.Eps)
	return nil
}

func shares(w ldp.Weights) []float64 {
	q := make([]float64, w.Len())
	for j := range q {
		q[j] = math.Ldexp(float64(w.At(j)), -w.Bits())
	}
	return q
}
