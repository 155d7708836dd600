package baseline_test

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/baseline"
	"github.com/wpm-go/wpm/wpmerr"
)

// TestSearchStops: at its number of evaluations, and at the first error, with what was found so far. A nil context
// never ends.
func TestSearchStops(t *testing.T) {
	// the worst points first: 2, 0, 1
	product := func(mu []float64) (float64, error) { return mu[1]*mu[2] + mu[2]/8 + mu[0]/16, nil }
	all, err := baseline.Search(context.Background(), 3, product, 0)
	if err != nil || !(all.Value > all.Dirac) || all.Input != 2 || all.Dirac != 0.125 {
		t.Fatalf("%+v, %v", all, err)
	}
	if again, err := baseline.Search(nil, 3, product, 0); err != nil ||
		!reflect.DeepEqual(again, all) { //nolint:staticcheck // a nil context is none
		t.Errorf("without a context %+v, %v; want %+v", again, err, all)
	}
	boom := errors.New("boom")
	for n := range all.Evaluations + 1 {
		limited, err := baseline.Search(context.Background(), 3, product, n)
		if want := max(n, 3); n > 0 && (err != nil || limited.Evaluations != want) { // the points are always all tried
			t.Errorf("at most %d: %+v, %v", n, limited, err)
		}
		calls := 0
		best := math.Inf(-1)
		stopped, err := baseline.Search(context.Background(), 3, func(mu []float64) (float64, error) {
			if calls++; calls > n {
				return 9, boom
			}
			v, _ := product(mu)
			best = max(best, v)
			return v, nil
		}, 0)
		if failed := calls > n; failed != errors.Is(err, boom) || stopped.Value != best || stopped.Evaluations != calls {
			t.Errorf("an error after %d: %+v, %v, want the value %v", n, stopped, err, best)
		}
	}
}

func TestSearch(t *testing.T) {
	ctx := context.Background()
	// A convex loss has its worst case at a point.
	f, err := baseline.Search(ctx, 4, func(mu []float64) (float64, error) { return mu[2]*mu[2] + 0.5*mu[1], nil }, 0)
	if err != nil || f.Value != 1 || f.Input != 2 || f.Dirac != 1 || f.Evaluations > 80 || f.Evaluations < 4 {
		t.Errorf("%+v, %v", f, err)
	}
	// A concave one has not, and the search finds its 1/2, 1/2.
	f, err = baseline.Search(ctx, 3, func(mu []float64) (float64, error) { return mu[0] * mu[1], nil }, 0)
	if err != nil || f.Value != 0.25 || f.Dirac != 0 || !slices.Equal(f.Mu, []float64{0.5, 0.5, 0}) {
		t.Errorf("%+v, %v", f, err)
	}
	boom := errors.New("boom")
	if _, err := baseline.Search(ctx, 2, func([]float64) (float64, error) { return 0, boom }, 0); !errors.Is(err, boom) {
		t.Error(err)
	}
	if _, err := baseline.Search(ctx, 2, func([]float64) (float64, error) { return math.NaN(), nil }, 0); !errors.Is(err,
		wpmerr.ErrNotFinite) {
		t.Error(err)
	}
	if _, err := baseline.Search(ctx, 0, nil, 0); !errors.Is(err, wpmerr.ErrShape) {
		t.Error(err)
	}
	if _, err := baseline.Search(ctx, 2, nil, -1); !errors.Is(err, wpmerr.ErrShape) {
		t.Error(err)
	}
	done, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := baseline.Search(done, 2, func([]float64) (float64, error) { return 0, nil }, 0); !errors.Is(err,
		context.Canceled) {
		t.Error(err)
	}
}
