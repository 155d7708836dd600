package aggregate

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/wpmerr"
)

// TestEvaluateStops: what the transport cannot finish is an error, and no number.
func TestEvaluateStops(t *testing.T) {
	ring, err := cost.NewRing(400, 1)
	if err != nil {
		t.Fatal(err)
	}
	a, b := make([]float64, 400), make([]float64, 400)
	for i := range a {
		a[i], b[i] = 1+float64(i*i%7), 1+float64(i*i%11)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	e, err := Evaluate(ctx, ring, a, b)
	if !errors.Is(err, wpmerr.ErrNotConverged) || !errors.Is(err, context.Canceled) || e != (Evaluation{}) {
		t.Errorf("%+v, %v", e, err)
	}
}

// TestEvaluateTexts: an error says once what is wrong.
func TestEvaluateTexts(t *testing.T) {
	_, err := Evaluate(context.Background(), nil, []float64{1}, []float64{1})
	if !errors.Is(err, ErrShape) || strings.Count(err.Error(), ": ") != 1 {
		t.Error(err)
	}
}
