package atlas

import (
	"context"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/estimate"
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
		text := m.Coarse() + m.Patches.String()
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

// TestPatchesUnknown: a search that gives up is said, and is not taken for one that finds none.
func TestPatchesUnknown(t *testing.T) {
	const k = 40_000 // two inseparable rows are apart by 10^4 of these
	ch, err := estimate.NewChannel(k, 2, func(i int, dst []float64) { dst[0], dst[1] = 1e6+float64(i), 1e6-float64(i) })
	if err != nil {
		t.Fatal(err)
	}
	p, err := World{Channel: ch}.Patches(t.Context())
	if err != nil || !p.Unknown || p.Shared() != 0 {
		t.Errorf("%d patches, unknown: %v, %v", len(p.Size), p.Unknown, err)
	}
	if text := p.String(); !strings.Contains(text, "is not known") {
		t.Errorf("it says %q", text)
	}
}
