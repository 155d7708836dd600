package mincostflow_test

import (
	"context"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/mincostflow/units"
	"github.com/wpm-go/wpm/projection"
)

// TestVerifyEnds: no row is read when the context has ended.
func TestVerifyEnds(t *testing.T) {
	const k = 40
	ctx := context.Background()
	ring, err := cost.NewRing(k, 1)
	if err != nil {
		t.Fatal(err)
	}
	mu := make([]float64, k)
	counts := make([]int64, k)
	for i := range mu {
		mu[i], counts[i] = float64(i), int64(i)
	}
	p := projection.Problem{Cost: ring, Source: mu, Lo: make([]float64, k), Hi: slices.Repeat([]float64{2. / k}, k)}
	r, err := mincostflow.Project(ctx, p, mincostflow.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	given.Ends(t, "Verify", ring, 0, func(ctx context.Context, c cost.Matrix) error {
		p := p
		p.Cost = c
		_, _, err := mincostflow.Verify(ctx, p, r)
		return err
	})
	moved, err := mincostflow.Transport(ctx, ring, mu, nil)
	if err != nil {
		t.Fatal(err)
	}
	given.Ends(t, "VerifyTransport", ring, 0, func(ctx context.Context, c cost.Matrix) error {
		_, _, err := mincostflow.VerifyTransport(ctx, c, mu, nil, moved)
		return err
	})
	u := units.Problem{Cost: ring, Source: counts, Lo: make([]int64, k), Hi: slices.Repeat([]int64{60}, k)}
	whole, err := units.Project(ctx, u, units.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	given.Ends(t, "units.Verify", ring, 0, func(ctx context.Context, c cost.Matrix) error {
		p := u
		p.Cost = c
		_, _, err := units.Verify(ctx, p, whole)
		return err
	})
}
