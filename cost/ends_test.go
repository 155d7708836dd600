package cost_test

import (
	"context"
	"errors"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest/given"
)

// TestEnds: what reads a cost reads at most 16 more rows of it when the context has ended.
func TestEnds(t *testing.T) {
	ring, err := cost.NewRing(200, 1)
	if err != nil {
		t.Fatal(err)
	}
	given.Ends(t, "Validate", ring, 16, cost.Validate)
	given.Ends(t, "Extent", ring, 16, func(ctx context.Context, c cost.Matrix) error {
		_, _, err := cost.Extent(ctx, c)
		return err
	})
	given.Ends(t, "Bound", ring, 16, func(ctx context.Context, c cost.Matrix) error {
		_, err := cost.Bound(ctx, c)
		return err
	})
	given.Ends(t, "SpecOf", ring, 16, func(ctx context.Context, c cost.Matrix) error {
		_, err := cost.SpecOf(ctx, c)
		if errors.Is(err, cost.ErrSpec) { // it has no kind
			return nil
		}
		return err
	})
	given.Ends(t, "Materialize", ring, 16, func(ctx context.Context, c cost.Matrix) error {
		_, err := cost.Materialize(ctx, c)
		return err
	})
}
