package sinkhorn_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/sinkhorn"
)

// line is a Projector on the points 0 to n-1 of a line with squared distances, with a box around the uniform measure.
func line(t *testing.T, n int, lo, hi float64) (*sinkhorn.Projector, sinkhorn.Problem) {
	t.Helper()
	x := make([][]float64, n)
	p := sinkhorn.Problem{Problem: projection.Problem{Lo: make([]float64, n), Hi: make([]float64, n)}, Reg: 1}
	for j := range x {
		x[j] = []float64{float64(j)}
		p.Lo[j], p.Hi[j] = lo/float64(n), hi/float64(n)
	}
	points, err := cost.NewPoints(x, nil, 2)
	if err != nil {
		t.Fatal(err)
	}
	if p.Cost, err = cost.Materialize(context.Background(), points); err != nil {
		t.Fatal(err)
	}
	b, err := sinkhorn.NewProjector(context.Background(), p.Cost, p.Lo, p.Hi, p.Reg, sinkhorn.Settings{Gap: 0.5})
	if err != nil {
		t.Fatal(err)
	}
	return b, p
}

// TestProjectorAnswers: a nil context never ends a Projector.
func TestProjectorAnswers(t *testing.T) {
	b, _ := line(t, 6, 0.5, 2)
	source := []float64{0, 0, 1, 0, 0, 0}
	var with, without sinkhorn.Result
	if err := b.Project(context.Background(), source, nil, &with); err != nil {
		t.Fatal(err)
	}
	if err := b.Project(nil, source, nil, &without); err != nil ||
		!reflect.DeepEqual(with, without) { //nolint:staticcheck // nil on purpose
		t.Errorf("without a context %+v, %v; want %+v", without, err, with)
	}
}

// TestNames: what statuses and methods are called.
func TestNames(t *testing.T) {
	for want, got := range map[string]string{
		"converged":  sinkhorn.Converged.String(),
		"iterations": sinkhorn.IterationLimit.String(),
		"cancelled":  sinkhorn.Cancelled.String(),
		"stalled":    sinkhorn.Stalled.String(),
		"reg":        sinkhorn.RegLimit.String(),
		"paper":      sinkhorn.Paper.String(),
		"fast":       sinkhorn.Fast.String(),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if s, m := sinkhorn.Status(9).String(),
		sinkhorn.Method(9).String(); s != "unknown" || m != "unknown" || sinkhorn.Unknown.String() != s {
		t.Errorf("%q, %q", s, m)
	}
}
