package atlas

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/wpm-go/wpm/estimate"
)

// Slack is what the log-likelihood may fall by for the sake of a coarser picture: chi2_1(0.9)/2, as at the ends of an
// interval.
const Slack = 1.3527717270

// Resolution is how fine a map the counts support.
type Resolution struct {
	// Squares is how many squares the drawn map has; 1 says that it is the guess, k that each place is for itself.
	Squares int
	// Level of the squares, 0 for places; their side is 2^Level cells of a grid, which Side is, else 0.
	Level int
	Side  int
	Of    []int     // the square of each input
	Drawn []float64 // k shares
	// Single are the largest places, at most three and largest first, that have more than the guess in every map that
	// the counts do not contradict. Tested says that places were looked at.
	Single []int
	Tested bool
}

// maxTested is the number of squares up to which intervals decide what is drawn: they take some seconds there.
const maxTested = 1500

// Resolve finds how fine a picture of an estimate may be. Its squares have the mass of the estimate, spread within each
// as the guess has it. From the whole to the places, the squares of the next level are taken if the log-likelihood of
// the picture is more than Slack below that of the estimate, and if the counts support them: the three largest have
// more than the guess, so far as the estimate says so, in every map of such squares that the counts do not contradict
// (see estimate.Interval). For a cost without a plane, the choice is between the guess and the estimate. A single place
// is named by its interval, too, whatever the map.
//
// Intervals are made for up to 1,500 squares, and no finer picture is drawn. The error is that of ctx.
func Resolve(ctx context.Context, p estimate.Problem, r Reading, at Places) (out Resolution, err error) {
	k := len(r.Map)
	logs := func(theta []float64) float64 {
		q, err := p.Channel.Law(theta)
		if err != nil {
			return math.NaN()
		}
		sum := 0.0
		for j, n := range p.Counts {
			if n > 0 {
				sum += float64(n) * math.Log(q[j])
			}
		}
		return sum
	}
	best := logs(r.Map)
	levels := at.levels(k)
	out.Tested = k <= maxTested
	for level := len(levels) - 1; level >= 0; level-- {
		of := levels[level]
		n := slices.Max(of) + 1
		if out.Of != nil {
			if n > maxTested || best-logs(out.Drawn) <= Slack {
				break
			}
			above, all, err := beyond(ctx, p, r, of, n)
			if err != nil {
				return out, err
			}
			if !all {
				break
			}
			if level == 0 {
				out.Single = above
			}
		}
		out.Squares, out.Level, out.Of, out.Drawn = n, level, of, block(r, of, n)
	}
	if at.Kind == "grid" && out.Squares > 1 && out.Level > 0 {
		out.Side = 1 << out.Level
	}
	if out.Tested && out.Squares < k {
		out.Single, _, err = beyond(ctx, p, r, levels[0], k)
	}
	return out, err
}

// levels are the squares of each level, from the places themselves to the whole.
func (p Places) levels(k int) (levels [][]int) {
	each := make([]int, k)
	for i := range each {
		each[i] = i
	}
	if levels = append(levels, each); k == 1 {
		return levels
	}
	if p.Flat() {
		in, _ := p.Plane()
		for level := 1; level < 64; level++ {
			of, n := p.squares(in, level)
			if n == 1 {
				break
			}
			levels = append(levels, of)
		}
	}
	return append(levels, make([]int, k))
}

// looked is how many squares of a level are looked at.
const looked = 3

// beyond returns the largest squares that have more than the guess by their intervals, by their largest places; all
// says that this is so for all that are looked at, those to which the estimate gives more. Maps have squares of the
// shape of the guess.
func beyond(ctx context.Context, p estimate.Problem, r Reading, of []int, n int) (above []int, all bool, err error) {
	p.Prior, p.Geometry = nil, nil // an interval does not look at them
	if n < len(of) {
		if p.Channel, err = squared(p.Channel, r, of, n); err != nil {
			return nil, false, err
		}
	}
	parts := Resolution{Squares: n, Of: of}.Parts(r)
	var regions [][]float64
	for _, part := range parts[:min(n, looked)] {
		if !(part.Map > part.Guess) {
			break
		}
		region := make([]float64, n)
		region[of[part.Center]] = 1
		regions = append(regions, region)
	}
	shares, err := estimate.Intervals(ctx, p, regions, 0)
	if ctx.Err() != nil {
		return nil, false, ctx.Err()
	}
	if err != nil && !errors.Is(err, estimate.ErrNotConverged) {
		return nil, false, err
	}
	for m, s := range shares {
		if s.Lower > parts[m].Guess {
			above = append(above, parts[m].Center)
		}
	}
	return above, len(above) == len(regions), nil
}

// squared is the channel of squares: a device in one is in its places as the guess has them.
func squared(c *estimate.Channel, r Reading, of []int, n int) (*estimate.Channel, error) {
	_, kv := c.Dims()
	even := Reading{Map: make([]float64, len(of)), Guess: r.Guess}
	var fault error
	out, err := estimate.NewChannel(n, kv, func(b int, dst []float64) {
		for i := range even.Map {
			even.Map[i] = 0
			if of[i] == b {
				even.Map[i] = 1
			}
		}
		law, err := c.Law(block(even, of, n))
		if err != nil {
			fault = err
			return
		}
		copy(dst, law)
	})
	return out, cmp.Or(fault, err)
}

// block spreads the mass of each of n blocks as the guess has it there, or evenly where the guess has none.
func block(r Reading, of []int, n int) []float64 {
	mass, guess, size := make([]float64, n), make([]float64, n), make([]float64, n)
	for i, b := range of {
		mass[b] += r.Map[i]
		guess[b] += r.Guess[i]
		size[b]++
	}
	out := make([]float64, len(of))
	for i, b := range of {
		if guess[b] > 0 {
			out[i] = mass[b] * (r.Guess[i] / guess[b])
		} else {
			out[i] = mass[b] / size[b]
		}
	}
	return out
}
