package atlas

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/ldp"
	"github.com/wpm-go/wpm/policy"
)

// designed returns the mechanism of a cost, and its policy.
func designed(t *testing.T, text string, mode policy.Mode) (*wpm.Mechanism, policy.Policy) {
	t.Helper()
	c, err := specOf(t, text).Build()
	if err != nil {
		t.Fatal(err)
	}
	eps, err := ldp.ParseEpsilon("2")
	if err != nil {
		t.Fatal(err)
	}
	d, err := wpm.NewDesign(context.Background(), c, eps, wpm.Objective{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Publish(policy.Config{Mode: mode,
		Provenance: policy.Provenance{Geometry: policy.Public, BaseMeasure: policy.DataIndependent}})
	if err != nil {
		t.Fatal(err)
	}
	return d.Mechanism(), p
}

// rowsOf finds the rows of a mechanism.
func rowsOf(m *wpm.Mechanism) func(context.Context) (Rows, error) {
	return func(ctx context.Context) (Rows, error) {
		rows, err := m.Channel(ctx)
		if err != nil {
			return nil, err
		}
		return rows.Row, nil
	}
}

// TestWorld: the rows of a policy are those of its mechanism, in mixture mode, or in projection mode where that is
// assumed; distances and the cost between inputs are there if the cost has them.
func TestWorld(t *testing.T) {
	ctx := context.Background()
	for text, c := range map[string]struct{ distances, same bool }{
		`{"kind":"grid","rows":2,"cols":3,"p":1}`:                     {true, true},
		`{"kind":"explicit","C":[[0,1],[1,0]]}`:                       {true, true},
		`{"kind":"explicit","C":[[0,1],[2,0]]}`:                       {false, false},
		`{"kind":"points","x":[[0,0],[5,1]],"v":[[1,1],[2,2],[3,3]]}`: {true, false},
		`{"kind":"greatcircle","x":[[0,0],[5,1],[60,9]],"v":[[1,1]]}`: {true, false},
		`{"kind":"explicit","C":[[0,1,2],[2,0,1]]}`:                   {false, false},
		`{"kind":"cosine","x":[[1,2,3,4],[4,3,2,1],[0,1,0,1]]}`:       {true, true},
	} {
		for _, mode := range []policy.Mode{policy.Mixture, policy.Projection} {
			m, p := designed(t, text, mode)
			if _, err := Of(ctx, p); errors.Is(err, ErrProjection) != (mode == policy.Projection) {
				t.Errorf("%s, %s: %v", text, mode, err)
			}
			w, err := Assume(ctx, p, rowsOf(m))
			if err != nil {
				t.Fatal(err)
			}
			rows, err := rowsOf(m)(ctx)
			if err != nil {
				t.Fatal(err)
			}
			of, err := OfRows(ctx, m.Cost(), rows)
			if err != nil {
				t.Fatal(err)
			}
			if (w.Geometry != nil) != c.distances || (w.NoGeometry == nil) != c.distances || w.Same != c.same ||
				(w.Between != nil) != c.distances {
				t.Errorf("%s, %s: %+v", text, mode, w)
			}
			if w.Between != nil {
				if a, b := w.Between.Dims(); a != b || a != p.Inputs() {
					t.Errorf("%s: %d x %d between %d inputs", text, a, b, p.Inputs())
				}
			}
			for i := range p.Inputs() {
				point := make([]float64, p.Inputs())
				point[i] = 1
				a, err1 := w.Channel.Law(point)
				b, err2 := of.Channel.Law(point)
				if err := errors.Join(err1, err2); err != nil || !slices.Equal(a, b) {
					t.Errorf("%s, %s: row %d is %v of the policy, %v of the mechanism, %v", text, mode, i, a, b, err)
				}
			}
		}
	}
}

// TestEstimateCancelled: every estimator but raw ends when its context does.
func TestEstimateCancelled(t *testing.T) {
	_, p := designed(t, `{"kind":"ring","n":12}`, policy.Mixture)
	w, err := Of(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	counts := []uint64{900, 1, 1, 1, 300, 1, 1, 1, 1, 1, 1, 20}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, name := range []string{ByMap, ByEM, ByMLE} {
		if _, err := w.Estimate(ctx, counts, Settings{Estimator: name}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Of(ctx, p); !errors.Is(err, context.Canceled) {
		t.Errorf("Of: %v", err)
	}
	if _, err := w.Estimate(context.Background(), counts, Settings{Estimator: "x"}); !errors.Is(err, ErrEstimator) {
		t.Errorf("x: %v", err)
	}
	w.Geometry, w.NoGeometry = nil, estimate.ErrNoGeometry
	if _, err := w.Estimate(context.Background(), counts, Settings{Estimator: ByMap}); !errors.Is(err, estimate.ErrNoGeometry) {
		t.Errorf("a map without distances: %v", err)
	}
}
