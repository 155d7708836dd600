package estimate

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/wpm-go/wpm/internal/parallel"
	"github.com/wpm-go/wpm/wpmerr"
)

// Path is what EM found: an average over the path of expectation-maximization.
type Path struct {
	Theta []float64 // k shares
	// Steps are the numbers of steps along the path, and Weights are their weights in Theta, which sum to 1. A large
	// weight on 0 steps, the prior, means that the counts hold little information.
	Steps   []int
	Weights []float64
}

const (
	folds = 5
	// The path is looked at after pathRatio^i steps, rounded, up to longestPath.
	pathRatio   = 1.35
	longestPath = 3000
	// foldSeed starts the generator that splits the counts.
	foldSeed = 0x9e3779b97f4a7c15
	// mostSingly is up to how many releases of an output are given to folds one by one.
	mostSingly = 1024
)

// EM returns an average over the path of expectation-maximization from Prior, theta_i <- theta_i sum_j (N_j/N)
// P_ij/(theta P)_j. The path leads from the prior, which is smooth, to the likeliest map, which is not.
// Cross-validation on the counts decides where on the path a map is best. The counts are split into five parts at
// random, with a fixed seed, and each part is predicted by the path on the other four. With LL_t the log-likelihood of
// all parts after t steps, the average of the five paths at t has weight in proportion to exp(LL_t) / sqrt(1+t). It
// needs no Geometry.
//
// A place of prior 0 keeps mass 0. The split depends on counts alone: the same counts give the same bits.
//
// EM takes about 25,000 products with P, and memory for 150 k floats. Errors: ErrShape, ErrCounts; ErrChannel, also if
// the prior rules out an output that was released; ErrNotConverged if ctx ends, with the average over the shorter path.
func EM(ctx context.Context, p Problem) (Path, error) {
	ctx = wpmerr.Context(ctx)
	counts, n, prior, err := p.check()
	if err != nil {
		return Path{}, err
	}
	all := newLikelihood(p.Channel, counts, n)
	if err := all.reach(prior, make([]float64, len(all.seen))); err != nil {
		return Path{}, err
	}
	if p.Weighted != nil {
		return Path{}, fmt.Errorf("%w: EM splits whole releases, and these are weighted", ErrCounts)
	}
	parts := split(p.Counts)
	paths := make([]*emPath, folds)
	for v := range paths {
		paths[v] = newEMPath(p.Channel, prior, counts, parts[v])
	}
	path := Path{Steps: []int{0}}
	means, held := [][]float64{prior}, []float64{heldOut(paths)}
	for power := 1.0; power <= longestPath; power *= pathRatio {
		t := int(math.Round(power))
		last := path.Steps[len(path.Steps)-1]
		if t == last {
			continue
		}
		_ = parallel.For(ctx, folds, func(v int) { paths[v].advance(ctx, t-last) })
		if ctx.Err() != nil {
			err = fmt.Errorf("%w after %d steps of %d", wpmerr.Ended(ctx), last, longestPath)
			break
		}
		path.Steps, means, held = append(path.Steps, t), append(means, meanOf(paths)), append(held, heldOut(paths))
	}
	path.average(means, held)
	return path, err
}

// average sets weights and Theta from the maps on the path and their log-likelihoods.
func (p *Path) average(means [][]float64, held []float64) {
	best := slices.Max(held)
	total := 0.0
	p.Weights = make([]float64, len(held))
	for n, l := range held {
		p.Weights[n] = math.Exp(l-best) / math.Sqrt(float64(1+p.Steps[n]))
		total += p.Weights[n]
	}
	p.Theta = make([]float64, len(means[0]))
	for n := range held {
		p.Weights[n] /= total
		for i, x := range means[n] {
			p.Theta[i] += p.Weights[n] * x
		}
	}
	toSum(p.Theta)
}

// heldOut is the log-likelihood of all parts, each by the path on the others.
func heldOut(paths []*emPath) float64 {
	sum := 0.0
	for _, f := range paths {
		sum += f.held
	}
	return sum
}

// meanOf is the mean of the maps at which the paths are.
func meanOf(paths []*emPath) []float64 {
	mean := make([]float64, len(paths[0].theta))
	for _, f := range paths {
		for i, x := range f.theta {
			mean[i] += x / folds
		}
	}
	return mean
}

// emPath is the path on all parts but one.
type emPath struct {
	train *likelihood
	part  []float64 // the counts that are held out
	theta []float64
	g     []float64
	q     []float64
	held  float64 // log-likelihood of part
}

func newEMPath(channel *Channel, prior, counts, part []float64) *emPath {
	rest, n := make([]float64, len(counts)), 0.0
	for j, c := range counts {
		rest[j] = c - part[j]
		n += rest[j]
	}
	f := &emPath{
		train: newLikelihood(channel, rest, n), part: part, theta: append([]float64(nil), prior...),
		g: make([]float64, len(prior)),
	}
	f.q = make([]float64, len(f.train.seen))
	f.predict()
	return f
}

// predict sets held from theta. An output that the path as good as rules out makes it -Inf.
func (f *emPath) predict() {
	f.train.channel.forward(f.theta, f.train.out)
	f.held = 0
	for j, c := range f.part {
		switch q := f.train.out[j]; {
		case c == 0:
		case q < leastProbability:
			f.held = math.Inf(-1)
		default:
			f.held += c * math.Log(q)
		}
	}
}

// advance makes steps. It stops where a quotient would overflow, and stays where it is without counts.
func (f *emPath) advance(ctx context.Context, steps int) {
	if len(f.train.seen) == 0 {
		return
	}
	for range steps {
		if ctx.Err() != nil || f.train.reach(f.theta, f.q) != nil {
			break
		}
		f.train.gradient(f.q, f.g)
		for i, g := range f.g {
			if f.theta[i] *= g; f.theta[i] < leastWeight {
				f.theta[i] = 0
			}
		}
		toSum(f.theta)
	}
	f.predict()
}

// split gives each release to one of the folds, at random and apart from the others: multinomial thinning. Of an output
// that was released very often, the numbers are drawn by the normal approximation, which is within a part in a thousand
// of the binomial law's standard deviation and is exact in its mean.
func split(counts []uint64) (parts [][]float64) {
	r := rand.New(rand.NewPCG(foldSeed, foldSeed))
	for range folds {
		parts = append(parts, make([]float64, len(counts)))
	}
	for j, c := range counts {
		if c <= mostSingly {
			for range c {
				parts[r.IntN(folds)][j]++
			}
			continue
		}
		rest := float64(c)
		for v := range folds - 1 {
			p := 1 / float64(folds-v)
			x := math.Round(rest*p + math.Sqrt(rest*p*(1-p))*r.NormFloat64())
			parts[v][j] = min(max(x, 0), rest)
			rest -= parts[v][j]
		}
		parts[folds-1][j] = rest
	}
	return parts
}
