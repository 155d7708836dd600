package estimate

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTrial: where groups stand for places and it is asked for, a map comes with a made-up truth and the map of it, which
// are distributions; else there is none.
func TestTrial(t *testing.T) {
	p := mapWorld(t, 2, 5000)
	for _, c := range []struct {
		s    Settings
		want bool
	}{{Settings{Draws: 4, Groups: 20, Trial: true}, true}, {Settings{Draws: 4, Groups: 20}, false}, {Settings{Groups: 20, Trial: true}, false},
		{Settings{Draws: 4, Trial: true}, false}} {
		r, err := Map(t.Context(), p, c.s)
		if err != nil {
			t.Fatal(err)
		}
		if (r.Trial != nil) != c.want {
			t.Errorf("%+v: trial %v", c.s, r.Trial)
		}
		if !c.want {
			continue
		}
		for _, x := range [][]float64{r.Trial.Truth, r.Trial.Map} {
			sum := 0.0
			for _, v := range x {
				sum += v
			}
			if !(slices.Min(x) >= 0) || len(x) != len(r.Theta) || math.Abs(sum-1) > 1e-9 { // sums of 100 terms
				t.Errorf("%v, sum %v", x, sum)
			}
		}
		if slices.Equal(r.Trial.Truth, r.Draws[3]) {
			t.Error("the truth of a trial is a draw as it is, without what is within groups")
		}
	}
}

// TestPoisson: mean and variance of draws are the mean, below and above where the normal law begins.
func TestPoisson(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, mean := range []float64{0, 0.3, 40, 150} {
		const n = 20_000
		sum, squares := 0.0, 0.0
		for range n {
			v := poisson(r, mean)
			sum, squares = sum+v, squares+(v-mean)*(v-mean)
		}
		// Six standard deviations of either, with those of the square of a Poisson variable.
		if d := sum/n - mean; math.Abs(d) > 6*math.Sqrt(mean/n) {
			t.Errorf("mean %v, off by %v", mean, d)
		}
		if d := squares/n - mean; math.Abs(d) > 6*math.Sqrt((mean+2*mean*mean)/n) {
			t.Errorf("variance of %v, off by %v", mean, d)
		}
	}
}
