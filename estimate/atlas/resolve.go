package atlas

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/internal/plane"
	"github.com/wpm-go/wpm/wpmerr"
)

// slack is what the log-likelihood may fall by for the sake of a coarser picture: chi2_1(0.9)/2, as at the ends of an
// interval.
const slack = 1.3527717270

// maxTested is the number of squares up to which intervals decide what is drawn: they take some seconds there.
const maxTested = 1500

// maxSquared bounds the entries of the rows of squares: 256 MB.
const maxSquared = 1 << 25

// resolve finds how fine a picture of the estimate may be. Its squares have the mass of the estimate, spread within
// each as the guess has it. From the whole to the places, the squares of a level are taken if the log-likelihood of the
// picture so far is more than slack below that of the estimate, and if the counts support them: the three largest have
// more than the guess, so far as the estimate says so, in every map of such squares that the counts do not contradict
// (see estimate.Interval). A level that they do not support is left out, but where the picture so far is farther from the
// estimate than the estimate is expected to be from the truth: a picture leaves out no more than is not known. For a
// cost without a plane, the choice is between the guess and the estimate. A single place is named by its interval, too,
// whatever squares are drawn. No square divides a patch: see Map.Patches.
//
// Intervals are made for up to maxTested squares, or fewer if there are more than 22,000 outputs. No finer picture is
// drawn. Intervals of many pairs see the reports in groups.
func (m *Map) resolve(ctx context.Context, p estimate.Problem, at plane.Places, f *flows,
	off func(ctx context.Context, a, b []float64) (float64, error)) (err error) {
	k := len(m.Shares)
	best := likelihood(p, m.Shares)
	levels := at.Levels(k)
	each := levels[0]
	if m.Patches.Shared() > 0 {
		for level, of := range levels {
			levels[level] = joined(of, m.Patches.Of)
		}
	}
	m.Tested = k <= maxTested
	settled := f.seen(p)
	_, kv := settled.Channel.Dims()
	var above []known
	for level := len(levels) - 1; level >= 0; level-- {
		of := levels[level]
		n := slices.Max(of) + 1
		if m.Of != nil {
			if n > maxTested || n < k && n > maxSquared/kv || best-likelihood(p, m.Drawn) <= slack {
				break
			}
			all := false
			if above, all, err = beyond(ctx, settled, m.Estimate, of, n); err != nil {
				return err
			}
			if !all { // smaller squares, at other borders, may still be settled
				if m.Error == nil || at.Ends != nil {
					continue
				}
				if coarser, err := off(ctx, m.Shares, m.Drawn); err != nil {
					return err
				} else if coarser <= m.Error.Expected {
					continue
				}
			}
		}
		m.Squares, m.Level, m.Of, m.Drawn = n, level, of, block(m.Estimate, of, n)
	}
	if m.Squares == slices.Max(levels[0])+1 {
		m.Level = 0
	}
	if at.Kind == "grid" && m.Squares > 1 && m.Level > 0 {
		m.Side = 1 << m.Level
	}
	if m.Tested && m.Squares < k {
		if above, _, err = beyond(ctx, settled, m.Estimate, each, k); err != nil {
			return err
		}
	}
	if m.Tested {
		m.name(above)
	}
	return nil
}

// known is a place, and what the counts say of its share.
type known struct {
	place int
	share estimate.Share
}

// name sets the places that are known to have more than the guess, but for those of patches, and draws each of them by
// itself: what is said of it is what is drawn.
func (m *Map) name(above []known) {
	for _, a := range above {
		if m.Patches.Shared() > 0 && !m.Patches.Alone(a.place) {
			continue
		}
		m.Single, m.bands = append(m.Single, a.place), append(m.bands, a.share)
	}
	whole := m.Of
	size := make([]int, m.Squares)
	for _, b := range m.Of {
		size[b]++
	}
	apart := slices.Clone(m.Of)
	for n, i := range m.Single {
		if size[m.Of[i]] > 1 {
			size[m.Of[i]]--
			apart[i] = m.Squares + n
			m.apart++
		}
	}
	if m.apart > 0 {
		m.Of, m.Squares = renumbered(apart)
		m.Drawn = block(m.Estimate, m.Of, m.Squares)
	}
	for n, i := range m.Single {
		m.settle(i, m.bands[n], whole)
	}
}

// settle draws a place with a share of its interval, where the estimate has another: what is more, or less, is taken from
// the other places of its square, or of the whole map if there is none.
func (m *Map) settle(i int, b estimate.Share, whole []int) {
	most := m.mates(i, whole)
	if !(most > 0) {
		whole = make([]int, len(whole))
		most = m.mates(i, whole)
	}
	share := min(max(m.Drawn[i], b.Lower), b.Upper, m.Drawn[i]+most)
	if share == m.Drawn[i] || !(most > 0) {
		return
	}
	part := (most + m.Drawn[i] - share) / most
	m.Drawn = slices.Clone(m.Drawn) // it may be the estimate itself
	for j := range m.Drawn {
		if whole[j] == whole[i] && !slices.Contains(m.Single, j) {
			m.Drawn[j] *= part
		}
	}
	m.Drawn[i] = share
}

// mates returns what the other places in the square of i have, but for those that are named.
func (m *Map) mates(i int, whole []int) (sum float64) {
	for j, v := range m.Drawn {
		if whole[j] == whole[i] && !slices.Contains(m.Single, j) {
			sum += v
		}
	}
	return sum
}

// joined returns the finest partition that neither of two partitions divides.
func joined(a, b []int) []int {
	n := slices.Max(a) + 1
	up := make([]int, n+slices.Max(b)+1)
	for i := range up {
		up[i] = i
	}
	root := func(i int) int {
		for up[i] != i {
			up[i] = up[up[i]]
			i = up[i]
		}
		return i
	}
	for i := range a {
		up[root(a[i])] = root(n + b[i])
	}
	out := make([]int, len(a))
	for i := range a {
		out[i] = root(a[i])
	}
	out, _ = renumbered(out)
	return out
}

// renumbered returns a partition with numbers in the order of its members, and how many there are.
func renumbered(of []int) (out []int, n int) {
	number := map[int]int{}
	for _, b := range of {
		if _, ok := number[b]; !ok {
			number[b] = len(number)
		}
		out = append(out, number[b])
	}
	return out, len(number)
}

// likelihood is the logarithm of that of a map.
func likelihood(p estimate.Problem, theta []float64) float64 {
	q, err := p.Channel.Law(theta)
	if err != nil {
		return math.NaN()
	}
	sum := 0.0
	for j, n := range floats(p) {
		if n > 0 {
			sum += n * math.Log(q[j])
		}
	}
	return sum
}

// looked is how many squares of a level are looked at.
const looked = 3

// beyond returns the largest squares that have more than the guess by their intervals, by their largest places; all
// says that this is so for all that are looked at, those to which the estimate gives more. Maps have squares of the
// shape of the guess.
func beyond(ctx context.Context, p estimate.Problem, e Estimate, of []int, n int) (above []known, all bool, err error) {
	p.Prior, p.Geometry = nil, nil // an interval does not look at them
	if n < len(of) {
		if p.Channel, err = p.Channel.Merge(of, n, e.Guess); err != nil {
			return nil, false, err
		}
	}
	parts := partsOf(e, e.Shares, of, n)
	var regions [][]float64
	for _, part := range parts[:min(n, looked)] {
		if !(part.Share > part.Guess) {
			break
		}
		region := make([]float64, n)
		region[of[part.Center]] = 1
		regions = append(regions, region)
	}
	shares, err := estimate.Intervals(ctx, p, regions, 0)
	if ctx.Err() != nil {
		return nil, false, wpmerr.Ended(ctx)
	}
	if err != nil && !errors.Is(err, wpmerr.ErrNotConverged) {
		return nil, false, err
	}
	for m, s := range shares {
		if s.Lower > parts[m].Guess {
			above = append(above, known{parts[m].Center, s})
		}
	}
	return above, len(above) == len(regions), nil
}

// block spreads the mass of each of n blocks as the guess has it there, or evenly where the guess has none.
func block(e Estimate, of []int, n int) []float64 {
	mass, guess, size := make([]float64, n), make([]float64, n), make([]float64, n)
	for i, b := range of {
		mass[b] += e.Shares[i]
		guess[b] += e.Guess[i]
		size[b]++
	}
	out := make([]float64, len(of))
	for i, b := range of {
		if guess[b] > 0 {
			out[i] = mass[b] * (e.Guess[i] / guess[b])
		} else {
			out[i] = mass[b] / size[b]
		}
	}
	return out
}

// partsOf lists n squares, the largest share first, by what is drawn; their centers are those of the estimate.
func partsOf(e Estimate, drawn []float64, of []int, n int) []Part {
	out := make([]Part, n)
	for i := range out {
		out[i].Center = -1
	}
	for i, b := range of {
		p := &out[b]
		if p.Center < 0 || e.Shares[i] > e.Shares[p.Center] {
			p.Center = i
		}
		p.Size++
		p.Guess += e.Guess[i]
		p.Share += drawn[i]
		if i < len(e.Raw) {
			p.Raw += e.Raw[i]
		}
	}
	slices.SortStableFunc(out, func(a, b Part) int { return cmp.Compare(b.Share, a.Share) })
	return out
}
