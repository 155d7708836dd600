package basemeasure

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/worst"
	"github.com/wpm-go/wpm/knapsack"
	"github.com/wpm-go/wpm/wpmerr"
)

// sampleCells bounds the cells of the rows that UniformOnePass holds at a time for its lower bound. With twice as many,
// designs of 20,000 places on the globe, in a box and in clusters take 1.0, 1.2 and 1.2 of the time and half as much memory
// again, and their lower bounds are 1.017, 1.003 and .955 of these.
const sampleCells = 1 << 21

// sampleInputs bounds how many inputs it is proved by: each takes some 30 bytes of a certificate.
const sampleInputs = 512

// UniformOnePass is Uniform without a table of the cost. It computes rows when it needs them, and takes O(k + kv)
// memory, besides the rows that attain the maximum. The certified search of package internal/worst finds the worst
// input. This search evaluates few inputs where the distances of places allow it, and otherwise all inputs. On a grid
// the worst input is a corner.
//
// The best scale for a few inputs is best for all inputs if the worst of all is among the few. So UniformOnePass starts
// from one input, and adds the worst input until it is already among them. F is that of Uniform to within rounding.
// Lower is proved from these inputs and a sample of the others, so it may be below the Lower of Uniform. Mean is not
// computed, and is 0.
//
// Errors: ErrShape, ErrNotFinite, ErrNegative, ErrEpsilon; ErrNotConverged with valid bounds if rounding keeps the
// search from closing, and without a Result if ctx ends.
func UniformOnePass(ctx context.Context, c cost.Matrix, eps float64) (Result, error) {
	ctx = wpmerr.Context(ctx)
	if err := cost.Validate(ctx, c); err != nil {
		return Result{}, err
	}
	if err := checkEps(eps); err != nil {
		return Result{}, err
	}
	if cost.SpaceOf(c).Transitive {
		return Homogeneous(c.Row(0, nil), eps)
	}
	k, kv := c.Dims()
	u := &onePass{ctx: ctx, c: c, priv: newPrivacy(eps), space: worst.NewSpace(c), kv: kv}
	res, err := u.scale(eps)
	if err != nil {
		return Result{}, err
	}
	res.WorstCase, res.Mean = res.F, 0
	res.Stats.Evaluations = u.looked
	sample := u.sample()
	few, err := u.bound(sample, res.M, eps)
	if ctx.Err() != nil || err != nil && !errors.Is(err, wpmerr.ErrNotConverged) {
		return Result{}, ended(ctx, err)
	}
	res.Weights, res.Thresholds = make([]float64, k), make([]float64, k)
	for n, i := range sample {
		res.Weights[i], res.Thresholds[i] = few.Weights[n], few.Thresholds[n]
	}
	// What no mechanism beats for some inputs, none beats for all.
	res.Lower = min(few.Lower, res.F)
	res.Upper = max(res.Upper, res.F)
	settings, err := Settings{}.resolve(k, kv, false)
	res.Settings, res.Status = settings, Converged
	return res, err
}

// scale finds the best scale, from the inputs that are worst at some scale.
func (u *onePass) scale(eps float64) (res Result, err error) {
	u.in = append(u.in, 0)
	for {
		few, err := Uniform(u.ctx, rows{u.c, u.in}, eps, Settings{})
		if u.ctx.Err() != nil || err != nil && !errors.Is(err, wpmerr.ErrNotConverged) {
			return Result{}, ended(u.ctx, err)
		}
		found, err := u.search(few.M[0])
		if err != nil {
			return Result{}, ended(u.ctx, err)
		}
		if res.M == nil || found.Upper < res.Upper {
			res = few
			res.F, res.Upper, res.Worst = found.Value, found.Upper, found.Input
		}
		// What is in few already is worth F there, to a rounding.
		if found.Value <= few.F*(1+closedTol) || slices.Contains(u.in, found.Input) {
			return res, nil
		}
		u.in = append(u.in, found.Input)
	}
}

// ended returns err, or what says that the context has ended.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("no answer: %w", wpmerr.Ended(ctx))
	}
	return err
}

type onePass struct {
	ctx    context.Context
	c      cost.Matrix
	priv   privacy
	space  *worst.Space
	kv     int
	in     []int // inputs
	looked int
}

// search finds the worst input at the uniform measure of mass m an output, in a box inside its own, as problem.certified.
func (u *onePass) search(m float64) (worst.Result, error) {
	low, high := u.priv.inside(m)
	lo, hi := slices.Repeat([]float64{low}, u.kv), slices.Repeat([]float64{high}, u.kv)
	found, err := u.space.Search(u.ctx, lo, hi, func(i int) (float64, error) {
		table, err := knapsack.New(u.ctx, rows{u.c, []int{i}})
		if err != nil {
			return 0, err
		}
		f, row := table.Max(lo, hi)
		if row < 0 {
			return 0, fmt.Errorf("%w: no distribution at mass %v", wpmerr.ErrMass, m)
		}
		return f, nil
	}, 1.25*knapsack.PhiError, 0)
	u.looked += found.Looked
	found.Upper += float64(u.kv) * math.SmallestNonzeroFloat64
	return found, err
}

// bound returns the lower bound that some inputs prove. In general it runs Uniform for them. On a grid input 0 is the
// maximiser at every scale, so Uniform on the sample cannot tighten Lower: bound evaluates the dual at m directly.
func (u *onePass) bound(list []int, m []float64, eps float64) (Result, error) {
	few := rows{u.c, list}
	if !cost.SpaceOf(u.c).First {
		return Uniform(u.ctx, few, eps, Settings{})
	}
	p, settings, err := newProblem(u.ctx, few, eps, Settings{}, false)
	if err != nil {
		return Result{}, err
	}
	r := &search{p: p, m: m}
	r.look()
	lower, err := r.prove(u.ctx, p.noProof())
	return p.result(settings, m, r.upper, lower), err
}

// sample returns the inputs that Lower is proved by, in order: those that were found, and others spread over the space.
func (u *onePass) sample() []int {
	all := slices.Clone(u.in)
	n := max(min(sampleCells/u.kv, sampleInputs)-len(u.in), 8)
	all = append(all, u.space.Spread(n)...)
	slices.Sort(all)
	return slices.Compact(all)
}

// rows are some rows of a cost.
type rows struct {
	cost.Matrix
	list []int
}

func (r rows) Dims() (k, kv int) {
	_, kv = r.Matrix.Dims()
	return len(r.list), kv
}

func (r rows) Row(n int, buf []float64) []float64 { return r.Matrix.Row(r.list[n], buf) }
