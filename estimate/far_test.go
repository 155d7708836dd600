package estimate

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/cost"
)

// TestFar: Map asks how far maps of groups are, and after the first takes one that is far enough. It makes no map of groups
// that would be too near. If none is far enough, or if there are few places, the map has every place.
func TestFar(t *testing.T) {
	p := mapWorld(t, 1, 100)
	k, _ := p.Channel.Dims()
	l := ladder{rungs: []int{4, 8, 15, k - 1}, whole: k} // the last are too many to be worth it
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
		{"the second", []float64{2, 2}, 2},
		{"the third", []float64{2, .018, 2}, 3},
		{"none", []float64{2, 0}, 2},
		{"none, by the first", []float64{0}, 1},
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

// TestFarTwins: groups do not hide what the counts tell of places at one point, whose distances are nothing.
func TestFarTwins(t *testing.T) {
	const k, points, n = 60, 15, 200_000
	x := make([][]float64, k)
	theta := make([]float64, k)
	rows := make([][]float64, k)
	r := rand.New(rand.NewPCG(1, 9))
	for i := range x {
		x[i] = []float64{float64(i % points)}
		theta[i] = r.ExpFloat64()
		rows[i] = slices.Repeat([]float64{1}, k)
		rows[i][i] = math.Exp(6)
	}
	normalized(theta)
	m, err := cost.NewPoints(x, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	g, _ := geometryOf(t, m)
	channel := channelOf(t, rows)
	p := Problem{Counts: drawCounts(r, channel, theta, n), Channel: channel, Geometry: g}
	res, err := mapOf(context.Background(), p, Settings{Draws: 3, Far: func(Result) (float64, error) { return 100, nil }}, 0,
		ladder{rungs: []int{points, points, 2 * points}, whole: k})
	if err != nil {
		t.Fatal(err)
	}
	off := 0.0
	for i, v := range res.Theta {
		off += math.Abs(v - theta[i])
	}
	if !(off <= 0.05) { // 0.7 with groups; the sum of 60 standard errors of the counts is about 0.02
		t.Errorf("%v of the mass is elsewhere", off/2)
	}
}
