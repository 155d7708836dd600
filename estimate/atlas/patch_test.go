package atlas

import (
	"context"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/ldp"
)

// TestPatches: places 0 and 1 share a row, so a map never names one of them or draws it by itself, whatever the counts.
func TestPatches(t *testing.T) {
	eps, err := ldp.ParseEpsilon("3")
	if err != nil {
		t.Fatal(err)
	}
	box, err := ldp.NewPolytope(eps, []float64{0.3, 0.3, 0.3, 0.3}, 30)
	if err != nil {
		t.Fatal(err)
	}
	c, err := cost.NewPoints([][]float64{{0}, {1}, {5}, {9}}, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, apart := range []bool{false, true} {
		w, err := OfRows(context.Background(), c, func(i int) ldp.Weights {
			q := make([]float64, 4)
			if q[i] = 1; i == 0 && !apart {
				q[0], q[1] = 0, 1
			}
			return box.Round(q)
		})
		if err != nil {
			t.Fatal(err)
		}
		m, err := w.Map(context.Background(), []uint64{1000, 800_000, 150_000, 49_000}, Settings{Estimator: ByEM})
		if err != nil {
			t.Fatal(err)
		}
		text := m.Coarse()
		if apart {
			if m.Squares != 4 || strings.Contains(text, "report odds") {
				t.Errorf("rows that differ: %d squares, %q", m.Squares, text)
			}
			continue
		}
		if m.Squares != 3 || m.Of[0] != m.Of[1] || strings.Contains(text, "finer") || !strings.Contains(text, "2 of 4 places have the same report odds") {
			t.Errorf("%d squares, %v, %q: want places 0 and 1 in one", m.Squares, m.Of, text)
		}
		for _, i := range m.Single {
			if i < 2 {
				t.Errorf("place %d is named: %s", i, m.Headline)
			}
		}
	}
}
