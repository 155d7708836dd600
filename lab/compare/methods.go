package compare

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/baseline"
	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/lab/figure"
	"github.com/wpm-go/wpm/sinkhorn"
	"github.com/wpm-go/wpm/sinkhorn/paper"
)

// Method is a mechanism of the comparison.
type Method string

// The mechanisms, in the order of the reports.
const (
	WPM         Method = "wpm"         // Wasserstein projection, exact
	Mixture     Method = "wpm-mixture" // the same box, client mode without a solver
	Algorithm1  Method = "algorithm1"  // the same box, entropic projection as the paper prints it
	KPM         Method = "kpm"         // KL projection, closed formula
	KPMTuned    Method = "kpm-tuned"   // the same, the mass of its base measure tuned on the users themselves
	Local       Method = "local"       // locally minimax sampler around a public distribution
	Linear      Method = "linear"      // linear sampler around a public distribution
	Exponential Method = "exponential" // exponential mechanism, by the mean cost
	GeoInd      Method = "geoind"      // geo-indistinguishability at its true eps
	Response    Method = "response"    // k-ary randomised response
	NoData      Method = "uniform"     // uniform, without a look at the user
)

// Methods returns all mechanisms in the order of the reports.
func Methods() []Method {
	return []Method{WPM, Mixture, Algorithm1, KPM, KPMTuned, Local, Linear, Exponential, GeoInd, Response, NoData}
}

// form is what is known of a mechanism beforehand.
type form struct {
	name  string
	look  int
	same  bool // outputs must be the inputs
	extra bool // not among the default methods: it needs a setting, or costs much
	own   bool // of the caller: nothing is known of it
	build func(s *study, at level) (baseline.Sampler, error)
}

var methods = map[Method]form{
	WPM: {"WPM", figure.LookWPM, false, false, false, func(s *study, at level) (baseline.Sampler, error) {
		return s.projection(at, func(support []int, weight []float64) ([]float64, error) {
			p, err := at.mech.ProjectSparse(s.ctx, support, weight)
			return p.Q(), err
		}), nil
	}},
	Mixture: {"WPM, mixture mode", figure.LookMixture, false, false, false,
		func(s *study, at level) (baseline.Sampler, error) {
			rows, err := at.mech.Channel(s.ctx)
			if err != nil {
				return nil, err
			}
			return sampler{s.k, at.base.M, func(dst, mu []float64) error {
				q, err := rows.Mix(mu)
				copy(dst, q)
				return err
			}}, nil
		}},
	Algorithm1: {"Algorithm 1", figure.LookAlgorithm1, false, true, false, (*study).algorithm1},
	KPM: {"KPM", figure.LookKPM, true, false, false, func(s *study, at level) (baseline.Sampler, error) {
		return baseline.NewKPM(s.k, at.eps.Float64(), 0)
	}},
	KPMTuned: {"KPM, tuned", figure.LookKPMTuned, true, true, false, (*study).tuned},
	Local: {"locally minimax", figure.LookOptimal, true, true, false, func(s *study, at level) (baseline.Sampler, error) {
		return baseline.NewLocalMinimax(s.public, at.eps.Float64(), s.plan.Gamma)
	}},
	Linear: {"linear sampler", figure.LookLinear, true, true, false, func(s *study, at level) (baseline.Sampler, error) {
		return baseline.NewLinear(s.public, at.eps.Float64())
	}},
	Exponential: {"exponential", figure.LookExponential, false, false, false,
		func(s *study, at level) (baseline.Sampler, error) {
			e, err := baseline.NewExponential(context.Background(), s.cost, at.eps.Float64())
			if err != nil {
				return nil, err
			}
			return e.Sampler(), nil
		}},
	GeoInd: {"geo-indistinguishability", figure.LookGeo, false, true, false,
		func(s *study, at level) (baseline.Sampler, error) {
			return baseline.NewGeoIndistinguishable(context.Background(), s.data.Distance, at.eps.Float64())
		}},
	Response: {"randomised response", figure.LookResponse, true, false, false,
		func(s *study, at level) (baseline.Sampler, error) {
			return baseline.NewRandomizedResponse(s.k, at.eps.Float64())
		}},
	NoData: {"no data", figure.LookNoData, false, true, false, func(s *study, _ level) (baseline.Sampler, error) {
		share := slices.Repeat([]float64{1 / float64(s.kv)}, s.kv)
		return sampler{s.k, share, func(dst, _ []float64) error { copy(dst, share); return nil }}, nil
	}},
}

// Own is a mechanism that this package does not know.
type Own struct {
	// Name is that of tables, files and Config.Methods: letters a to z, digits and hyphens, and none of Methods().
	Name Method
	// New returns the mechanism at one eps. Its laws must lie in the box of its Measure, or Run fails with ErrConfig.
	New func(eps float64) (baseline.Sampler, error)
}

// Channel is a mechanism of the caller that is a matrix: a row for each input, with the probabilities of the outputs for
// somebody who is there alone. Whoever has several places is at one of them by chance. New fails with ErrConfig if a row
// does not sum to 1, and if two rows are more than a factor e^eps apart.
func Channel(name Method, rows *cost.Dense) Own {
	return Own{Name: name, New: func(eps float64) (baseline.Sampler, error) {
		base, row := make([]float64, rows.Kv), make([]float64, rows.Kv)
		low, loss := slices.Repeat([]float64{math.Inf(1)}, rows.Kv), 0.0
		for i := range rows.K {
			sum := 0.0
			for j, v := range rows.Row(i, row) {
				sum += v
				low[j], base[j] = min(low[j], v), max(base[j], v)
			}
			if !(math.Abs(sum-1) <= maxMoved) {
				return nil, fmt.Errorf("%w: row %d of the matrix sums to %v, want 1", ErrConfig, i, sum)
			}
		}
		for j, high := range base {
			if high > 0 {
				loss = max(loss, math.Log(high/low[j]))
			}
			base[j] = math.Sqrt(high * low[j])
		}
		if loss > eps*(1+maxMoved) {
			return nil, fmt.Errorf("%w: two rows of the matrix are a factor e^%.6g apart, more than e^%v", ErrConfig, loss, eps)
		}
		return sampler{rows.K, base, func(dst, mu []float64) error {
			clear(dst)
			row := make([]float64, rows.Kv)
			for i, share := range mu {
				if share > 0 {
					for j, v := range rows.Row(i, row) {
						dst[j] += share * v
					}
				}
			}
			return nil
		}}, nil
	}}
}

// ownLooks are the looks of the first mechanisms of the caller, in figures; no other mechanism here has them.
var ownLooks = []int{figure.LookDisk, figure.LookFast, figure.LookMinimax, figure.LookMixed, figure.LookAverage}

// known returns all mechanisms that may be named, those of the caller among them.
func (c Config) known() (map[Method]form, error) {
	forms := maps.Clone(methods)
	for i, o := range c.Own {
		odd := strings.Trim(string(o.Name), "abcdefghijklmnopqrstuvwxyz0123456789-")
		switch _, taken := forms[o.Name]; {
		case o.Name == "" || odd != "" || taken:
			return nil, fmt.Errorf("%w: Own[%d]: name %q: it is taken, or not of a to z, 0 to 9 and hyphens", ErrConfig, i,
				o.Name)
		case o.New == nil:
			return nil, fmt.Errorf("%w: Own[%d] (%s): New is nil", ErrConfig, i, o.Name)
		}
		forms[o.Name] = form{name: string(o.Name), own: true,
			build: func(_ *study, at level) (baseline.Sampler, error) { return o.New(at.eps.Float64()) }}
	}
	return forms, nil
}

// look is the mechanism's look in figures.
func (r Result) look(m Method) int {
	if f, ok := methods[m]; ok {
		return f.look
	}
	n := 0
	for _, other := range r.Config.Methods[:slices.Index(r.Config.Methods, m)] {
		if _, ok := methods[other]; !ok {
			n++
		}
	}
	return ownLooks[n%len(ownLooks)]
}

// Name is the mechanism's name for people.
func (m Method) Name() string {
	if f, ok := methods[m]; ok {
		return f.name
	}
	return string(m)
}

// sampler is a baseline.Sampler made of its parts.
type sampler struct {
	k    int
	base []float64
	law  func(dst, mu []float64) error
}

func (s sampler) Dims() (k, kv int)           { return s.k, len(s.base) }
func (s sampler) Measure() []float64          { return slices.Clone(s.base) }
func (s sampler) Law(dst, mu []float64) error { return s.law(dst, mu) }

// projection is the box of WPM with a projection of the distribution of one user, given by its places.
func (s *study) projection(at level,
	project func(support []int, weight []float64) ([]float64, error)) baseline.Sampler {
	return sampler{s.k, at.base.M, func(dst, mu []float64) error {
		support, weight := sparse(mu)
		q, err := project(support, weight)
		copy(dst, q)
		return err
	}}
}

// sparse returns the places of a distribution and their shares.
func sparse(mu []float64) (support []int, weight []float64) {
	for i, w := range mu {
		if w > 0 {
			support, weight = append(support, i), append(weight, w)
		}
	}
	return support, weight
}

// algorithm1 sets up the paper's iteration.
func (s *study) algorithm1(at level) (baseline.Sampler, error) {
	if s.lambda == 0 {
		var err error
		if s.lambda, err = sinkhorn.RelativeReg(context.Background(), s.cost, 0.01); err != nil {
			return nil, err
		}
	}
	lo, hi := at.mech.Polytope().Bounds()
	return s.projection(at, func(support []int, weight []float64) ([]float64, error) {
		p := paper.Problem{Mu: weight, Lo: lo, Hi: hi, Lambda: s.lambda}
		for _, i := range support {
			p.C = append(p.C, s.cost.Row(i, nil))
		}
		it, _, err := paper.Project(s.ctx, p, 0, s.plan.Rounds)
		return it.Q, err
	}), nil
}

// tuneSteps is the number of masses that kpm-tuned tries: even steps of the logarithm over all that the box allows.
const tuneSteps = 21

// tuned is KPM with the mass that gives the users the best mean of the first metric.
func (s *study) tuned(at level) (baseline.Sampler, error) {
	var best baseline.Sampler
	var value float64
	for n := range tuneSteps {
		mass := math.Exp(at.eps.Float64() * (float64(n)/(tuneSteps-1) - 0.5))
		try, err := baseline.NewKPM(s.k, at.eps.Float64(), mass)
		if err != nil {
			return nil, err
		}
		scores, err := s.floats(try, s.plan.metrics[0])
		if err != nil {
			return nil, err
		}
		if mean, _ := meanSD(scores); best == nil || s.plan.metrics[0].better(mean, value) {
			best, value = try, mean
		}
	}
	return best, nil
}

// Objectives lists what a base measure may be for, by the names that the command takes.
const Objectives = "uniform, minimax, average or mixed"

// objectives are the same as kinds.
var objectives = []wpm.Kind{wpm.Uniform, wpm.Minimax, wpm.Average, wpm.Mixed}

// ParseObjective reads one of Objectives. The error is ErrConfig.
func ParseObjective(name string) (wpm.Kind, error) {
	for _, k := range objectives {
		if k.String() == name {
			return k, nil
		}
	}
	return 0, fmt.Errorf("%w: objective %q, want %s", ErrConfig, name, Objectives)
}

// BaseMeasure finds the base measure of WPM for an objective; all inputs count alike, and mixed is half and half.
func BaseMeasure(ctx context.Context, c cost.Matrix, eps float64, objective wpm.Kind) (basemeasure.Result, error) {
	settings := basemeasure.Settings{}
	switch objective {
	case wpm.Minimax:
	case wpm.Average:
		settings.Objective = basemeasure.Average
	case wpm.Mixed:
		settings.Objective, settings.Mix = basemeasure.Mixed, 0.5
	default:
		return basemeasure.Uniform(ctx, c, eps, settings)
	}
	return basemeasure.Solve(ctx, c, eps, settings)
}

// design finds the base measure and the mechanism of WPM.
func design(ctx context.Context, c cost.Matrix, at level, kind wpm.Kind) (level, error) {
	var err error
	if at.base, err = BaseMeasure(ctx, c, at.eps.Float64(), kind); err != nil {
		return at, fmt.Errorf("compare: base measure at eps %s: %w", at.eps, err)
	}
	if at.mech, err = wpm.New(ctx, c, at.base.M, at.eps, wpm.Options{}); err != nil {
		return at, fmt.Errorf("compare: mechanism at eps %s: %w", at.eps, err)
	}
	return at, nil
}
