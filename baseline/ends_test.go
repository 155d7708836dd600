package baseline_test

import (
	"context"
	"testing"

	"github.com/wpm-go/wpm/baseline"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest/given"
)

// TestEnds: what reads a cost reads at most 16 more rows of it when the context has ended.
func TestEnds(t *testing.T) {
	const k = 200
	ring, err := cost.NewRing(k, 1)
	if err != nil {
		t.Fatal(err)
	}
	rows := make([][]float64, k)
	for i := range rows {
		rows[i] = make([]float64, k)
		rows[i][i] = 1
	}
	for name, call := range map[string]func(ctx context.Context, c cost.Matrix) error{
		"NewExponential": func(ctx context.Context, c cost.Matrix) error {
			_, err := baseline.NewExponential(ctx, c, 1)
			return err
		},
		"NewGeoIndistinguishable": func(ctx context.Context, c cost.Matrix) error {
			_, err := baseline.NewGeoIndistinguishable(ctx, c, 1)
			return err
		},
		"WorstCase": func(ctx context.Context, c cost.Matrix) error {
			_, _, err := baseline.WorstCase(ctx, c, rows)
			return err
		},
	} {
		given.Ends(t, name, ring, 16, call)
	}
}
