package plan

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/estimate/patch"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/wpmerr"
)

// gridOf is a grid with the policy of the default design at eps 2.
func gridOf(t *testing.T, side int) (*cost.Grid, *wpm.Design, policy.Policy) {
	t.Helper()
	c, err := cost.NewGrid(side, side, 1)
	if err != nil {
		t.Fatal(err)
	}
	eps, err := ldp.ParseEpsilon("2")
	if err != nil {
		t.Fatal(err)
	}
	d, err := wpm.NewDesign(t.Context(), c, eps, wpm.Objective{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Publish(policy.Config{Mode: policy.Mixture,
		Provenance: policy.Provenance{Geometry: policy.Public, BaseMeasure: policy.DataIndependent}})
	if err != nil {
		t.Fatal(err)
	}
	return c, d, p
}

// TestMerged: a forecast by groups of places is that by all of them, but for what groups lose.
func TestMerged(t *testing.T) {
	const side, devices, merged = 9, 1000, 70
	c, d, _ := gridOf(t, side)
	all, err := New(t.Context(), Problem{Cost: c})
	if err != nil {
		t.Fatal(err)
	}
	groups, err := newPlanner(t.Context(), Problem{Cost: c}, 0, merged)
	if err != nil {
		t.Fatal(err)
	}
	if all.coarse != 0 || groups.coarse != merged || merged >= side*side {
		t.Fatalf("%d and %d groups of %d places", all.coarse, groups.coarse, side*side)
	}
	for n, want := range all.guess { // distances have a group for each place
		if got := groups.guess[n]; !(math.Abs(got-want) <= 1e-9) {
			t.Errorf("world %d: the guess is %v from it by groups, %v by places", n, got, want)
		}
	}
	m, err := all.Design(t.Context(), d.Channel().Row, nil)
	if err != nil {
		t.Fatal(err)
	}
	by, err := groups.Design(t.Context(), nil, d.Publish)
	if err != nil {
		t.Fatal(err)
	}
	want, err := m.Predict(t.Context(), devices, estimate.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := by.Predict(t.Context(), devices, estimate.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	// The disc of a policy is that of its rows.
	if !(math.Abs(got.Disc-want.Disc) <= 1e-12) || !(math.Abs(got.Raw.Mean-want.Raw.Mean) <= 1e-9) {
		t.Errorf("%+v by groups, %+v by places", got, want)
	}
	// The reports are the same. TestCoarseLoss of package estimate allows a map of groups a fifth more in one world, and a
	// fiftieth on average; an interval of merged places, of which most are places, differs less.
	for _, r := range []float64{got.Map.Mean / want.Map.Mean, got.HalfWidth / want.HalfWidth} {
		if !(r >= 0.95 && r <= 1.05) {
			t.Errorf("%+v by groups, %+v by places", got, want)
		}
	}
}

// TestMissed: a forecast takes the map that a user will have: of groups where reports say little, and of every place
// where they say much.
func TestMissed(t *testing.T) {
	const world = 3
	c, d, _ := gridOf(t, 18)
	l, err := New(t.Context(), Problem{Cost: c})
	if err != nil {
		t.Fatal(err)
	}
	m, err := l.Design(t.Context(), d.Channel().Row, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, devices := range []int{2000, 100_000_000} {
		p := estimate.Problem{Counts: draw(m.laws[world], devices, 0), Channel: m.channel, Geometry: l.geometry}
		far := func(groups int) float64 {
			found, err := estimate.Map(t.Context(), p, estimate.Settings{Groups: groups})
			if err != nil {
				t.Fatal(err)
			}
			d, err := l.distance(t.Context(), l.worlds[world], found.Theta)
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
		got, err := l.missed(t.Context(), p, l.worlds[world])
		if err != nil {
			t.Fatal(err)
		}
		every, groups := far(0), far(150)
		t.Logf("%d devices: %v; %v with every place, %v with 150 groups", devices, got, every, groups)
		// TestCoarseLoss of package estimate has what groups lose.
		if r := got / every; !(r >= 0.9 && r <= 1.1) || devices > 2000 && !(got <= groups/2) {
			t.Errorf("%d devices: %v; %v with every place, %v with 150 groups", devices, got, every, groups)
		}
	}
}

// TestMoved: of maps with the same sums in pairs of neighbours, the distance is that of moves between neighbours, also
// where distances are those of groups.
func TestMoved(t *testing.T) {
	const side = 9
	pairs := patch.Patches{Of: make([]int, side*side)}
	for i := range side * side { // of a row; the last place of each is alone
		if i%side%2 == 0 {
			pairs.Size = append(pairs.Size, 0)
		}
		pairs.Of[i] = len(pairs.Size) - 1
		pairs.Size[pairs.Of[i]]++
	}
	for _, p := range []float64{1, 2} {
		c, err := cost.NewGrid(side, side, p)
		if err != nil {
			t.Fatal(err)
		}
		l, err := newPlanner(t.Context(), Problem{Cost: c, P: p}, 0, 20)
		if err != nil {
			t.Fatal(err)
		}
		step := c.Row(0, make([]float64, side*side))[1]
		for n, a := range l.worlds {
			b, err := pairs.Best(a, nil)
			if err != nil {
				t.Fatal(err)
			}
			want := 0.0
			for i, v := range a {
				want += math.Abs(v-b[i]) / 2 * step
			}
			want = math.Pow(want, 1/p)
			if got, err := l.moved(t.Context(), l.patches(pairs), a, b); err != nil || !(math.Abs(got-want) <= 1e-9*want) {
				t.Fatalf("p = %v, world %d: %v, %v, want %v", p, n, got, err, want)
			}
		}
	}
}

// TestManyPlaces: there are forecasts for more than 2,048 places, of policies that fit, and until the context ends.
func TestManyPlaces(t *testing.T) {
	c, _, p := gridOf(t, 50)
	l, err := New(t.Context(), Problem{Cost: c})
	if err != nil {
		t.Fatal(err)
	}
	m, err := l.Policy(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if k, _ := m.merged.Dims(); k != merged || !m.places {
		t.Errorf("%d merged places, outputs are places: %v", k, m.places)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Predict(ended, 100, estimate.Settings{}); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
	if _, err := l.Policy(ended, p); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
	_, _, other := gridOf(t, 3)
	if _, err := l.Policy(t.Context(), other); !errors.Is(err, wpmerr.ErrShape) {
		t.Errorf("a policy of other places: %v", err)
	}
}
