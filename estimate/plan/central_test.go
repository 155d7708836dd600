package plan

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/internal/parallel"
)

// laplace returns how far a central histogram is from the truth: the counts of so many people, Laplace noise of scale
// 2/eps on each (one person's place may be replaced by another), and the nearest distribution in least squares, of which
// negative counts are 0. The mean over the worlds.
func (l *Planner) laplace(ctx context.Context, people int, eps float64) (float64, error) {
	far := make([]float64, Worlds)
	err := parallel.Each(ctx, Worlds, func(n int) error {
		r := generator(n, uint64(people)+1)
		drawn := draw(l.worlds[n], people, n)
		shares := make([]float64, len(drawn))
		for i, c := range drawn {
			shares[i] = (float64(c) + 2/eps*(r.ExpFloat64()-r.ExpFloat64())) / float64(people)
		}
		low, high := slices.Min(shares)-1, slices.Max(shares) // of what all are lowered by, to the sum 1
		for range 100 {
			mid, sum := (low+high)/2, 0.0
			for _, x := range shares {
				sum += max(0, x-mid)
			}
			if sum > 1 {
				low = mid
			} else {
				high = mid
			}
		}
		for i, x := range shares {
			shares[i] = max(0, x-low)
		}
		normalize(shares)
		var err error
		far[n], err = l.distance(ctx, l.toInput, l.worlds[n], shares)
		return err
	}, nil)
	return spread(far).Mean, err
}

// TestCentral says what a server that may see all data would have at the central guarantee of summed reports, on the worlds
// of plan: docs/shuffling.md has the figures, beside those that wpm plan prints.
func TestCentral(t *testing.T) {
	if !numtest.Full() {
		t.Skip("some seconds")
	}
	c, err := cost.NewGrid(20, 20, 1)
	if err != nil {
		t.Fatal(err)
	}
	l, err := New(t.Context(), Problem{Cost: c})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		people    int
		eps, map4 float64 // what plan -eps 4 -shuffled prints
	}{{500, 2.22, 0.661}, {5_000, 0.545, 0.308}, {100_000, 0.108, 0.11}} {
		got, err := l.laplace(t.Context(), test.people, test.eps)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d people, central eps %v: %.3f cells; the map of their reports at eps 4: %v", test.people, test.eps, 20*got, test.map4)
		if ratio := 20 * got / test.map4; math.IsNaN(ratio) || ratio > 2 || ratio < 0.2 {
			t.Errorf("%d people: %v", test.people, got)
		}
	}
}
