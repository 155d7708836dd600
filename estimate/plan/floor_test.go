package plan

import (
	"context"
	"math"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/ldp"
)

// TestFloor: places 0 and 1, at a distance of 1, share a row. Sharing their mass evenly errs by half their difference, so
// the floor is at most the mean of that; a billion devices stay at it; and rows that differ have none.
func TestFloor(t *testing.T) {
	c, err := cost.NewPoints([][]float64{{0}, {1}, {5}, {9}}, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	eps, err := ldp.ParseEpsilon("2")
	if err != nil {
		t.Fatal(err)
	}
	box, err := ldp.NewPolytope(eps, []float64{0.5, 0.5, 0.5, 0.5}, 30)
	if err != nil {
		t.Fatal(err)
	}
	l, err := New(context.Background(), Problem{Cost: c})
	if err != nil {
		t.Fatal(err)
	}
	at := func(favoured func(i int) int) *Mechanism {
		m, err := l.Mechanism(func(i int) ldp.Weights {
			q := make([]float64, 4)
			q[favoured(i)] = 1
			return box.Round(q)
		})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	m := at(func(i int) int { return max(i, 1) })
	want := 0.0
	for _, w := range l.worlds[:few] {
		want += math.Abs(w[0]-w[1]) / 2 / few
	}
	if !(m.Floor() > want/4 && m.Floor() <= want+1e-12) || m.Patches().Shared() != 2 {
		t.Errorf("floor %v of %d places, want at most %v, of 2", m.Floor(), m.Patches().Shared(), want)
	}
	p, err := m.Predict(context.Background(), 1_000_000_000, estimate.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	// The floor takes the nearest of three maps in each world, and two of them are Map's without noise.
	if p.Floor != m.Floor() || p.Alike != 2 || p.Map.Mean < 0.99*p.Floor {
		t.Errorf("%+v, want no map below the floor of %v", p, m.Floor())
	}
	all := at(func(i int) int { return i })
	if all.Floor() != 0 || all.Patches().Shared() != 0 {
		t.Errorf("rows that differ have a floor of %v", all.Floor())
	}
}
