package estimate

import (
	"errors"
	"fmt"
	"slices"

	"github.com/wpm-go/wpm/wpmerr"
)

var (
	// ErrCounts: no release at all, or so many that floats cannot count them (2^53).
	ErrCounts = errors.New("estimate: bad counts")
	// ErrNoGeometry: the cost has no distances between inputs. EM needs none.
	ErrNoGeometry = errors.New("estimate: no distances between inputs")
)

// maxCounts is the largest number of releases: floats hold every whole number up to it.
const maxCounts = 1 << 53

// Problem is what an estimator sees. Nothing in it is private.
type Problem struct {
	// Counts of releases, one for each of the kv outputs.
	Counts []uint64
	// Weighted stands for Counts, which is nil then: releases that count for less than one each, as older ones do. EM
	// does not take it.
	Weighted []float64
	// Channel holds the law of a release for each of the k inputs.
	Channel *Channel
	// Prior is a public distribution over the inputs, the guess without any release, in any unit: finite, not negative,
	// with a positive sum. Nil is uniform. Map gives mass to a place of prior 0 only if the counts say so.
	Prior []float64
	// Geometry holds the distances between inputs. Map needs it; the other estimators do not use it.
	Geometry *Geometry
}

// check returns the counts as floats, their sum, and the prior with sum 1.
func (p Problem) check() (counts []float64, n float64, prior []float64, err error) {
	if p.Channel == nil {
		return nil, 0, nil, fmt.Errorf("%w: no channel", wpmerr.ErrShape)
	}
	k, kv := p.Channel.Dims()
	if p.Weighted != nil {
		if counts, n, err = p.weighted(kv); err == nil {
			prior, err = Guess(p.Prior, k)
		}
		return counts, n, prior, err
	}
	if len(p.Counts) != kv {
		return nil, 0, nil, fmt.Errorf("%w: %d counts for %d outputs", wpmerr.ErrShape, len(p.Counts), kv)
	}
	counts = make([]float64, kv)
	sum := uint64(0)
	for j, c := range p.Counts {
		if c > maxCounts-sum {
			return nil, 0, nil, fmt.Errorf("%w: %d releases of output %d, and %d before it: more than 2^53", ErrCounts, c, j,
				sum)
		}
		counts[j] = float64(c)
		sum += c
	}
	if sum == 0 {
		return nil, 0, nil, fmt.Errorf("%w: no releases", ErrCounts)
	}
	prior, err = Guess(p.Prior, k)
	return counts, float64(sum), prior, err
}

// weighted checks counts that are not whole, and returns them with their sum.
func (p Problem) weighted(kv int) (counts []float64, n float64, err error) {
	if p.Counts != nil || len(p.Weighted) != kv {
		return nil, 0, fmt.Errorf("%w: %d weighted counts and %d counts for %d outputs", wpmerr.ErrShape, len(p.Weighted),
			len(p.Counts), kv)
	}
	for j, c := range p.Weighted {
		if !(c >= 0 && c <= maxCounts) {
			return nil, 0, fmt.Errorf("%w: %v releases of output %d", ErrCounts, c, j)
		}
		n += c
	}
	if n > maxCounts {
		return nil, 0, fmt.Errorf("%w: %v releases, more than 2^53", ErrCounts, n)
	}
	if n == 0 {
		return nil, 0, fmt.Errorf("%w: no releases", ErrCounts)
	}
	return p.Weighted, n, nil
}

// Guess returns a prior over k inputs as shares: the estimate without any release, uniform if the prior is nil. The
// errors are ErrShape for a length other than k, ErrNotFinite, ErrNegative, and ErrMass if all entries are 0.
func Guess(prior []float64, k int) ([]float64, error) {
	if k < 1 || prior != nil && len(prior) != k {
		return nil, fmt.Errorf("%w: a prior of %d entries for %d inputs", wpmerr.ErrShape, len(prior), k)
	}
	if prior == nil {
		return slices.Repeat([]float64{1 / float64(k)}, k), nil
	}
	if err := wpmerr.Masses("Prior", prior); err != nil {
		return nil, err
	}
	largest := slices.Max(prior)
	if largest == 0 {
		return nil, fmt.Errorf("%w: the prior sums to 0", wpmerr.ErrMass)
	}
	out := make([]float64, k)
	for i, v := range prior {
		out[i] = v / largest
	}
	toSum(out)
	return out, nil
}

// Raw returns the releases as they are, as shares: length kv. The error is ErrCounts if there are none.
func Raw(counts []uint64) ([]float64, error) {
	n := 0.0
	for _, c := range counts {
		n += float64(c)
	}
	if n == 0 {
		return nil, fmt.Errorf("%w: no releases", ErrCounts)
	}
	out := make([]float64, len(counts))
	for j, c := range counts {
		out[j] = float64(c) / n
	}
	return out, nil
}
