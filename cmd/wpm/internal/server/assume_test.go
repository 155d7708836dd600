package server

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/estimate/atlas"
	_ "github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
)

// projecting is a policy of projection mode on a ring of 24 steps, at eps = 2.
func projecting(t *testing.T) (policy.Policy, *wpm.Mechanism, atlas.World) {
	t.Helper()
	ctx := context.Background()
	ring, err := cost.NewRing(24, 1)
	if err != nil {
		t.Fatal(err)
	}
	eps, err := ldp.ParseEpsilon("2")
	if err != nil {
		t.Fatal(err)
	}
	d, err := wpm.NewDesign(ctx, ring, eps, wpm.Objective{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Publish(policy.Config{Mode: policy.Projection, WorkLimit: time.Second,
		Provenance: policy.Provenance{Geometry: policy.Public, BaseMeasure: policy.DataIndependent}})
	if err != nil {
		t.Fatal(err)
	}
	w, err := worldOf(ctx, p, true)
	if err != nil {
		t.Fatal(err)
	}
	return p, d.Mechanism(), w
}

// TestForecast: of few reports the bias is less than the error, of many it is more, and it does not go away. Of people who
// are at one place each the modes are the same, and there is none.
func TestForecast(t *testing.T) {
	ctx := context.Background()
	_, m, w := projecting(t)
	spread := crowd(w.Between, crowdSeed)
	few, err := predict(ctx, m, w, spread, 100)
	if err != nil {
		t.Fatal(err)
	}
	many, err := predict(ctx, m, w, spread, 1_000_000)
	if err != nil {
		t.Fatal(err)
	}
	if !(few.Bias < few.Error) || !(many.Bias > many.Error) || !(many.Error < few.Error/10) || !(many.Bias > few.Bias/2) {
		t.Errorf("of few reports %+v, of many %+v", few, many)
	}
	if again, err := predict(ctx, m, w, crowd(w.Between, crowdSeed), 100); err != nil || again != few {
		t.Errorf("%+v, then %+v, %v", few, again, err)
	}
	for i, p := range spread { // each at the place where it is most
		at := slices.Index(p, slices.Max(p))
		spread[i] = make([]float64, len(p))
		spread[i][at] = 1
	}
	// Rows are projections of a place, rounded to integers: counts are the same but for ties.
	if none, err := predict(ctx, m, w, spread, 1_000_000); err != nil || !(none.Bias <= 1e-3*many.Bias) {
		t.Errorf("of people at one place %+v, %v", none, err)
	}
}

// TestForecastReal: other people than those of the forecast, who really release in projection mode, have the map that it
// says: where it allows the map, its error is not much more than that of mixture mode; where it refuses, it is.
func TestForecastReal(t *testing.T) {
	ctx := context.Background()
	p, m, w := projecting(t)
	allowed, refused := uint64(100), uint64(100_000)
	told, err := checkAssumed(ctx, p, w, allowed)
	if err != nil || !strings.Contains(told, "bias would be about 0.") {
		t.Errorf("%q, %v", told, err)
	}
	_, err = checkAssumed(ctx, p, w, refused)
	f, fault := predict(ctx, m, w, crowd(w.Between, crowdSeed), refused)
	if err == nil || fault != nil || !strings.Contains(err.Error(), "100000 reports are too many") ||
		!strings.Contains(err.Error(), "more than the 0.0") {
		t.Errorf("%v, of %+v, %v", err, f, fault)
	}
	honest := w
	honest.Biased = false
	if told, err := checkAssumed(ctx, p, honest, refused); told != "" || err != nil {
		t.Errorf("of mixture mode: %q, %v", told, err)
	}
	const crowds = 6
	ratio := map[uint64]float64{}
	for _, n := range []uint64{allowed, refused} {
		biased, mixture := 0.0, 0.0
		for seed := range uint64(crowds) {
			others := crowd(w.Between, 100+seed)
			mixed, projected, err := laws(ctx, m, w, others)
			if err != nil {
				t.Fatal(err)
			}
			truth := make([]float64, 24)
			for _, p := range others {
				for i, v := range p {
					truth[i] += v / float64(len(others))
				}
			}
			r := rand.New(rand.NewPCG(7, seed))
			for _, one := range []struct {
				law []float64
				off *float64
			}{{mixed, &mixture}, {projected, &biased}} {
				e, err := honest.Estimate(ctx, sampled(r, one.law, n), atlas.Settings{})
				if err != nil {
					t.Fatal(err)
				}
				d, err := w.Distance(ctx, e.Shares, truth)
				if err != nil {
					t.Fatal(err)
				}
				*one.off += d
			}
		}
		ratio[n] = biased / mixture
	}
	t.Logf("error of the biased map over that of mixture mode: %v", ratio)
	// A bias as large as the error makes it sqrt(2) times as large if the two are independent, and twice at most.
	if !(ratio[allowed] < math.Sqrt2) || !(ratio[refused] > 2) {
		t.Error("the forecast allows what is bad, or refuses what is good")
	}
}

// sampled draws n releases from a law.
func sampled(r *rand.Rand, law []float64, n uint64) []uint64 {
	out := make([]uint64, len(law))
	for range n {
		u, j := r.Float64(), 0
		for ; j < len(law)-1 && u >= law[j]; j++ {
			u -= law[j]
		}
		out[j]++
	}
	return out
}
