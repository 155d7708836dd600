package estimate

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
)

// TestFar: Map asks how far maps of groups are, those of fewer groups first, and takes the first that is far enough. It
// makes no map of groups that is far from that. If none is far enough, or if there are few places, the map has every place.
func TestFar(t *testing.T) {
	p := mapWorld(t, 3, 500)
	k, _ := p.Channel.Dims()
	l := ladder{rungs: []int{4, 8, 16, k - 1}, whole: k} // the last are too many to be worth it
	every, err := mapOf(context.Background(), p, Settings{Draws: 3}, 0, ladder{rungs: []int{4}, whole: k})
	if err != nil {
		t.Fatal(err)
	}
	diameter := 0.0
	for i := range k {
		diameter = max(diameter, slices.Max(p.Geometry.Row(i, make([]float64, k))))
	}
	for _, tt := range []struct {
		name  string
		far   []float64 // answers, as parts of the diameter
		asked int
	}{
		{"the first", []float64{2}, 1},
		{"the second", []float64{.15, 2}, 2},
		{"none", []float64{0}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var asked []Result
			last, end := 0, 0
			res, err := mapOf(context.Background(), p, Settings{Draws: 3, Far: func(r Result) (float64, error) {
				asked = append(asked, r)
				return tt.far[len(asked)-1] * diameter, nil
			}, Progress: func(done, total int) { last, end = done, total }}, 0, l)
			if err != nil {
				t.Fatal(err)
			}
			checkDistribution(t, res.Theta, k)
			if len(asked) != tt.asked || last != end || end == 0 {
				t.Fatalf("asked %d times, after %d of %d steps", len(asked), last, end)
			}
			for n, r := range asked {
				if len(r.Draws) != 3 || len(r.Before) == 0 {
					t.Errorf("question %d: %d draws, and %d before the reports", n, len(r.Draws), len(r.Before))
				}
			}
			chosen := tt.far[tt.asked-1] > 1
			if slices.Equal(res.Theta, asked[tt.asked-1].Theta) != chosen {
				t.Errorf("a map that will do is the result: %v", !chosen)
			}
			for i, v := range res.Theta { // modes are found to gainGoal, each from another start
				if !chosen && !(math.Abs(v-every.Theta[i]) <= 1e-3) {
					t.Errorf("place %d: %v, %v without a question", i, v, every.Theta[i])
				}
			}
		})
	}
	want := errors.New("no answer")
	ask := func(Result) (float64, error) { return 1, want }
	if _, err := mapOf(context.Background(), p, Settings{Far: ask}, 0, l); !errors.Is(err, want) {
		t.Error(err)
	}
	if _, err := Map(context.Background(), p, Settings{Far: ask}); err != nil {
		t.Errorf("%d places have no groups: %v", k, err)
	}
}
