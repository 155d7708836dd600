package estimate_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/estimate"
	laws "github.com/wpm-go/wpm/proptest/estimate"
	"github.com/wpm-go/wpm/proptest/internal/planted"
)

func problem(counts []uint64, rows [][]float64) (estimate.Problem, error) {
	c, err := estimate.NewChannel(len(rows), len(counts), func(i int, dst []float64) { copy(dst, rows[i]) })
	return estimate.Problem{Counts: counts, Channel: c}, err
}

func likeliest(counts []uint64, rows [][]float64) ([]float64, float64, error) {
	p, err := problem(counts, rows)
	if err != nil {
		return nil, 0, err
	}
	r, err := estimate.MLE(context.Background(), p, laws.MaxGap)
	return r.Theta, r.Gap, err
}

func interval(counts []uint64, rows [][]float64, region []float64) (lower, upper float64, err error) {
	p, err := problem(counts, rows)
	if err != nil {
		return 0, 0, err
	}
	s, err := estimate.Interval(context.Background(), p, region, 0.9)
	return s.Lower, s.Upper, err
}

func TestLikeliestLaws(t *testing.T) {
	edit := func(change func(counts []uint64, rows [][]float64, theta []float64)) laws.Likeliest {
		return func(counts []uint64, rows [][]float64) ([]float64, float64, error) {
			theta, gap, err := likeliest(counts, rows)
			if err == nil {
				change(counts, rows, theta)
			}
			return theta, gap, err
		}
	}
	planted.Laws(t, laws.LikeliestLaws(), likeliest, []planted.Error[laws.Likeliest]{
		{Name: "one more release of each output", Impl: func(counts []uint64, rows [][]float64) ([]float64, float64, error) {
			more := slices.Clone(counts)
			for j := range more {
				for _, row := range rows {
					if row[j] > 0 {
						more[j] = counts[j] + 1
					}
				}
			}
			return likeliest(more, rows)
		}, Killed: []string{"LikeliestOptimal", "LikeliestScale"}},
		{Name: "some mass everywhere", Impl: edit(func(_ []uint64, _ [][]float64, theta []float64) {
			for i := range theta {
				theta[i] = 0.999*theta[i] + 0.001/float64(len(theta))
			}
		}), Killed: []string{"LikeliestRecovers", "LikeliestOptimal", "LikeliestGrid"}},
		{Name: "first of two inputs", Impl: edit(func(_ []uint64, _ [][]float64, theta []float64) {
			theta[0], theta[len(theta)-1] = theta[0]+theta[len(theta)-1], 0
			if len(theta) == 1 {
				theta[0] = 1
			}
		}), Killed: []string{"LikeliestPermuted", "LikeliestRecovers"}},
		{Name: "writes to its counts", Impl: func(counts []uint64, rows [][]float64) ([]float64, float64, error) {
			theta, gap, err := likeliest(counts, rows)
			counts[0]++
			return theta, gap, err
		}, Killed: []string{"LikeliestOptimal"}},
		{Name: "a gap that is not proved", Impl: func(counts []uint64, rows [][]float64) ([]float64, float64, error) {
			k := float64(len(rows))
			return slices.Repeat([]float64{1 / k}, len(rows)), 0, nil
		}, Killed: []string{"LikeliestOptimal", "LikeliestGrid"}},
	})
}

func TestIntervalLaws(t *testing.T) {
	edit := func(change func(counts []uint64, region []float64, lower, upper float64) (float64, float64)) laws.Interval {
		return func(counts []uint64, rows [][]float64, region []float64) (float64, float64, error) {
			lower, upper, err := interval(counts, rows, region)
			if err == nil {
				lower, upper = change(counts, region, lower, upper)
			}
			return lower, upper, err
		}
	}
	planted.Laws(t, laws.IntervalLaws(), interval, []planted.Error[laws.Interval]{
		{Name: "half as wide", Impl: edit(func(_ []uint64, _ []float64, lower, upper float64) (float64, float64) {
			return lower + (upper-lower)/4, upper - (upper-lower)/4
		}), Killed: []string{"IntervalHolds"}},
		{Name: "a tenth wider", Impl: edit(func(_ []uint64, _ []float64, lower, upper float64) (float64, float64) {
			return max(0, lower-(upper-lower)/20), min(1, upper+(upper-lower)/20)
		}), Killed: []string{"IntervalTight"}},
		{Name: "everything", Impl: edit(func([]uint64, []float64, float64, float64) (float64, float64) { return 0, 1 }),
			Killed: []string{"IntervalTight", "IntervalNarrows"}},
		{Name: "wider above", Impl: edit(func(_ []uint64, _ []float64, lower, upper float64) (float64, float64) {
			return lower, math.Sqrt(upper)
		}), Killed: []string{"IntervalComplement"}},
		{Name: "wider with more releases",
			Impl: edit(func(counts []uint64, _ []float64, lower, upper float64) (float64, float64) {
				n := 0.0
				for _, c := range counts {
					n += float64(c)
				}
				return lower / (1 + n/100), 1 - (1-upper)/(1+n/100)
			}), Killed: []string{"IntervalNested", "IntervalNarrows"}},
	})
}

func TestRawLaws(t *testing.T) {
	planted.Laws(t, laws.RawLaws(), estimate.Raw, []planted.Error[laws.Raw]{
		{Name: "one more", Impl: func(counts []uint64) ([]float64, error) {
			more := slices.Clone(counts)
			for j := range more {
				more[j]++
			}
			return estimate.Raw(more)
		}, Killed: []string{"RawScale"}},
		{Name: "in order of size", Impl: func(counts []uint64) ([]float64, error) {
			out, err := estimate.Raw(counts)
			if err == nil && len(out) > 1 {
				out[0], out[1] = max(out[0], out[1]), min(out[0], out[1])
			}
			return out, err
		}, Killed: []string{"RawPermuted"}},
	})
}
