package certificate_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/certificate"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"github.com/wpm-go/wpm/mincostflow"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/sinkhorn"
	"github.com/wpm-go/wpm/wpmerr"
)

// TestEnds: what makes a certificate reads at most 64 more rows a processor when the context has ended, and Verify says
// that it has.
func TestEnds(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	const k, allowed = 300, 2 * 64
	ctx := context.Background()
	ring, err := cost.NewRing(k, 1)
	if err != nil {
		t.Fatal(err)
	}
	base, err := basemeasure.Uniform(ctx, ring, 1, basemeasure.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	given.Ends(t, "NewBaseMeasure", ring, allowed, func(ctx context.Context, c cost.Matrix) error {
		_, err := certificate.NewBaseMeasure(ctx, c, 1, base)
		return err
	})
	even := slices.Repeat([]float64{1. / k}, k)
	p := sinkhorn.Problem{Problem: projection.Problem{Cost: ring, Source: even, Lo: make([]float64, k),
		Hi: slices.Repeat([]float64{2. / k}, k)}, Reg: 10}
	r, err := sinkhorn.Project(ctx, p, sinkhorn.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	given.Ends(t, "NewEntropic", ring, allowed, func(ctx context.Context, c cost.Matrix) error {
		p := p
		p.Cost = c
		_, err := certificate.NewEntropic(ctx, p, r)
		return err
	})
	plain := projection.Problem{Cost: ring, Source: even, Lo: p.Lo, Hi: p.Hi}
	exact, err := mincostflow.Project(ctx, plain, mincostflow.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	given.Ends(t, "NewProjection", ring, allowed, func(ctx context.Context, c cost.Matrix) error {
		p := plain
		p.Cost = c
		_, err := certificate.NewProjection(ctx, p, exact)
		return err
	})
	c, err := certificate.NewEntropic(ctx, p, r)
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := certificate.Verify(ended, c); !errors.Is(err, wpmerr.ErrNotConverged) || !errors.Is(err, context.Canceled) {
		t.Errorf("Verify: %v", err)
	}
}
