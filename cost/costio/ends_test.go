package costio_test

import (
	"context"
	"io"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/cost/costio"
	"github.com/wpm-go/wpm/internal/numtest/given"
)

// TestEnds: what writes a cost reads at most 16 more rows of it when the context has ended.
func TestEnds(t *testing.T) {
	ring, err := cost.NewRing(200, 1)
	if err != nil {
		t.Fatal(err)
	}
	given.Ends(t, "WriteCSV", ring, 16, func(ctx context.Context, c cost.Matrix) error {
		return costio.WriteCSV(ctx, io.Discard, c)
	})
	given.Ends(t, "WriteNPY", ring, 16, func(ctx context.Context, c cost.Matrix) error {
		return costio.WriteNPY(ctx, io.Discard, c)
	})
}
