package atlas

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/wpm-go/wpm/estimate"
)

// Slack is what the log-likelihood may fall by for the sake of a coarser picture: chi2_1(0.9)/2, as at the ends of an interval.
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
	// Single are the largest places, at most three and largest first, that have more than the guess in every map that the
	// counts do not contradict. Tested says that places were looked at.
	Single []int
	Tested bool
}

// maxTested is the number of places up to which intervals decide what is drawn: they take a second or two there.
const maxTested = 1500

// Resolve finds how fine a picture of an estimate may be. Its squares have the mass of the estimate, spread within each as the
// guess has it. They are as small as the counts support: the three largest have more than the guess, as the estimate says, in every
// map that the counts do not contradict, by their intervals (see estimate.Interval). And they are as large as the counts allow: the log-likelihood is that of
// the estimate, but for Slack. For a cost without a plane, the choice is between the guess and the estimate. A single place is named by its interval, too.
//
// Above 1,500 places there are no intervals: the likelihood alone decides, and no place is named. The error is that of ctx.
func Resolve(ctx context.Context, p estimate.Problem, r Reading, at Places) (Resolution, error) {
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
	apart := func(theta []float64) bool { return !(best-logs(theta) <= Slack) } // NaN: finer
	levels := at.levels(k)
	named, firm, err := certain(ctx, p, r, levels)
	if err != nil {
		return Resolution{}, err
	}
	out := Resolution{Tested: k <= maxTested, Single: named}
	for level := len(levels) - 1; level >= 0; level-- {
		of := levels[level]
		if level < len(levels)-1 && level < firm {
			break
		}
		n := slices.Max(of) + 1
		out.Squares, out.Level, out.Of, out.Drawn = n, level, of, block(r, of, n)
		if !apart(out.Drawn) {
			break
		}
	}
	if at.Kind == "grid" && out.Level > 0 && out.Squares > 1 {
		out.Side = 1 << out.Level
	}
	return out, nil
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
		in, _ := p.plane()
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

// tested is how many squares of a level are looked at.
const tested = 3

// certain returns the largest places that have more than the guess by their intervals, and the first level on which all of the
// largest squares have, so far as the estimate gives them more.
func certain(ctx context.Context, p estimate.Problem, r Reading, levels [][]int) (named []int, firm int, err error) {
	k := len(r.Map)
	if k > maxTested || k == 1 {
		return nil, 0, nil
	}
	var regions [][]float64
	var guess []float64
	var first []int // of each level, in regions
	var largest []int
	for level, of := range levels[:len(levels)-1] {
		parts := Resolution{Squares: slices.Max(of) + 1, Of: of}.Parts(r)
		first = append(first, len(regions))
		for _, part := range parts[:min(len(parts), tested)] {
			if !(part.Map > part.Guess) {
				break
			}
			if level == 0 {
				largest = append(largest, part.Center)
			}
			region := make([]float64, k)
			for i := range region {
				if of[i] == of[part.Center] {
					region[i] = 1
				}
			}
			regions, guess = append(regions, region), append(guess, part.Guess)
		}
	}
	shares, err := estimate.Intervals(ctx, p, regions, 0)
	if err != nil && (!errors.Is(err, estimate.ErrNotConverged) || ctx.Err() != nil) {
		return nil, 0, err
	}
	above := func(n int) bool { return shares[n].Lower > guess[n] }
	for n, i := range largest {
		if above(n) {
			named = append(named, i)
		}
	}
	first = append(first, len(regions))
	for firm = 0; firm < len(levels)-1; firm++ {
		all := true
		for n := first[firm]; n < first[firm+1]; n++ {
			all = all && above(n)
		}
		if all {
			break
		}
	}
	return named, firm, nil
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
