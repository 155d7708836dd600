package atlas

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/policy"
)

// country is a policy of n points in the plane, in no order.
func country(t *testing.T, n int) policy.Policy {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(n), 41))
	spec := cost.Spec{Kind: "points"}
	for range n {
		spec.X = append(spec.X, []float64{math.Floor(1e6 * r.Float64()), math.Floor(1e6 * r.ExpFloat64())})
	}
	text, err := json.Marshal(map[string]any{"kind": "points", "x": spec.X})
	if err != nil {
		t.Fatal(err)
	}
	_, p := designed(t, string(text), policy.Mixture)
	return p
}

// TestManyRows: rows that follow from thresholds are those of the policy.
func TestManyRows(t *testing.T) {
	for _, p := range []policy.Policy{country(t, 50), country(t, 1100), gridOf(t, 33, 40)} {
		w, err := Of(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		if p.Geometry().Kind == policy.Grid && p.Inputs() <= fewEntries/p.Outputs() || !p.Ranked() {
			t.Fatalf("%v has few rows, or no thresholds", p)
		}
		one := float64(p.Polytope().Total())
		for i := 0; i < p.Inputs(); i += 7 {
			point := make([]float64, p.Inputs())
			point[i] = 1
			law, err := w.Channel.Law(point)
			if err != nil {
				t.Fatal(err)
			}
			row, err := p.AppendRow(nil, i)
			if err != nil {
				t.Fatal(err)
			}
			for j, n := range row {
				// A weight and a quotient are rounded; the sum of a column of runs loses 2^-53 for each of 1,320 outputs.
				if want := float64(n) / one; !(math.Abs(law[j]-want) <= 1e-12*want) {
					t.Fatalf("%v: row %d, output %d: %v, want %v", p, i, j, law[j], want)
				}
			}
		}
	}
}

func gridOf(t *testing.T, rows, cols int) policy.Policy {
	t.Helper()
	_, p := designed(t, fmt.Sprintf(`{"kind":"grid","rows":%d,"cols":%d}`, rows, cols), policy.Mixture)
	return p
}

// TestWrongThreshold: a row with a wrong threshold is the fallback, as on a device.
func TestWrongThreshold(t *testing.T) {
	p := gridOf(t, 33, 40)
	thresholds := p.Thresholds()
	for n, v := range thresholds {
		thresholds[n] = (v + 1) % int32(len(thresholds))
	}
	wrong, err := policy.New(policy.Config{Polytope: p.Polytope(), Mode: policy.Mixture, Geometry: p.Geometry(),
		Thresholds: thresholds, Cost: p.Cost(), Provenance: p.Provenance()})
	if err != nil {
		t.Fatal(err)
	}
	w, err := Of(context.Background(), wrong)
	if err != nil {
		t.Fatal(err)
	}
	one, differ := float64(p.Polytope().Total()), 0
	for i := 0; i < p.Inputs(); i += 101 {
		point := make([]float64, p.Inputs())
		point[i] = 1
		law, err := w.Channel.Law(point)
		if err != nil {
			t.Fatal(err)
		}
		row, err := wrong.AppendRow(nil, i)
		if err != nil {
			t.Fatal(err)
		}
		for j, n := range row {
			if want := float64(n) / one; !(math.Abs(law[j]-want) <= 1e-12*want) {
				t.Fatalf("row %d, output %d: %v, want %v", i, j, law[j], want)
			}
		}
		if policy.VerifyRows(t.Context(), wrong, i, i+1) != nil {
			differ++
		}
	}
	if differ == 0 {
		t.Error("no threshold is wrong")
	}
}

// TestManyPlaces: 12,000 places have a map, of the same bits on any number of threads, and where there is none, an error says what to do.
func TestManyPlaces(t *testing.T) {
	const n, n53 = 12_000, 12_000 * 0x1p-52
	ctx := context.Background()
	p := country(t, n)
	w, err := Of(ctx, p)
	if err != nil {
		t.Fatal(err)
	}
	theta := make([]float64, n)
	for i := range theta {
		if i%3 == 0 {
			theta[i] = 1
		}
	}
	law, err := w.Channel.Law(theta)
	if err != nil {
		t.Fatal(err)
	}
	counts, sum := make([]uint64, n), 0.0
	for j, q := range law {
		counts[j], sum = uint64(math.Round(q*10)), sum+q // of 40,000 devices
	}
	if !(math.Abs(sum-4000) <= 4000*n53) { // n sums of rows, each rounded as above
		t.Errorf("the law of 4,000 places has the sum %v", sum)
	}
	r, err := estimate.Map(ctx, w.problem(counts, nil), estimate.Settings{Groups: 40})
	if err != nil {
		t.Fatal(err)
	}
	sum = 0
	for _, v := range r.Theta {
		sum += v
	}
	if !(math.Abs(sum-1) <= n53) || len(r.Theta) != n {
		t.Errorf("%d shares of sum %v", len(r.Theta), sum)
	}
	old := runtime.GOMAXPROCS(3 - min(2, runtime.GOMAXPROCS(0))) // 1, or 2
	defer runtime.GOMAXPROCS(old)
	again, err := Of(ctx, p)
	if err != nil {
		t.Fatal(err)
	}
	other, err := estimate.Map(ctx, again.problem(counts, nil), estimate.Settings{Groups: 40})
	if err != nil || !slices.Equal(r.Theta, other.Theta) {
		t.Errorf("other bits on another number of threads, or %v", err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := Of(ended, p); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
	if err := Fits(n, n); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "merge places") {
		t.Errorf("rows one by one: %v", err)
	}
}
