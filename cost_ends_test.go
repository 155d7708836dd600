package wpm_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"

	"github.com/wpm-go/wpm"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"github.com/wpm-go/wpm/policy"
	"github.com/wpm-go/wpm/wpmerr"
)

// TestEnds: what makes a mechanism, or a certificate of its projection, reads at most 64 more rows a processor of the
// cost when the context has ended.
func TestEnds(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	const k, allowed = 300, 2 * 64
	ctx := context.Background()
	ring, err := cost.NewRing(k, 1)
	if err != nil {
		t.Fatal(err)
	}
	m, eps := slices.Repeat([]float64{1. / k}, k), given.Epsilon(t, "1")
	even, err := wpm.New(ctx, ring, m, eps, wpm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	mu := slices.Repeat([]float64{1}, k)
	mu[0] = k
	for _, solver := range []wpm.Solver{wpm.Exact, wpm.Entropic} {
		opt := wpm.Options{Solver: solver}
		given.Ends(t, "New, "+solver.String(), ring, allowed, func(ctx context.Context, c cost.Matrix) error {
			_, err := wpm.New(ctx, c, m, eps, opt)
			return err
		})
		given.Ends(t, "FromPolytope, "+solver.String(), ring, allowed, func(ctx context.Context, c cost.Matrix) error {
			_, err := wpm.FromPolytope(ctx, c, even.Polytope(), opt)
			return err
		})
	}

	d, err := cost.Materialize(ctx, ring)
	if err != nil {
		t.Fatal(err)
	}
	stated, err := wpm.New(ctx, d, m, eps, wpm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := stated.Publish(ctx, policy.Config{Mode: policy.Projection,
		Provenance: policy.Provenance{Geometry: policy.Public, BaseMeasure: policy.DataIndependent}})
	if err != nil {
		t.Fatal(err)
	}
	found, err := stated.Project(ctx, mu)
	if err != nil {
		t.Fatal(err)
	}
	cause := errors.New("cause")
	ended, cancel := context.WithCancelCause(ctx)
	cancel(cause)
	_, loading := wpm.Load(ended, p, wpm.Options{})
	_, certifying := found.Certificate(ended)
	for name, err := range map[string]error{"Load": loading, "Certificate": certifying} {
		if !errors.Is(err, wpmerr.ErrNotConverged) || !errors.Is(err, context.Canceled) || !errors.Is(err, cause) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
