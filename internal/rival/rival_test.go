package rival

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/estimate"
)

// TestUnary: at a clear eps both readings find where people are, and the second one is the unbiased estimate.
func TestUnary(t *testing.T) {
	const k = 9
	ctx := context.Background()
	c, err := cost.NewGrid(3, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	g, err := estimate.NewGeometry(ctx, c, 1)
	if err != nil {
		t.Fatal(err)
	}
	at := func(i int) (int, error) { return 4 * (i % 2), nil } // a half at place 0, and a half at place 4
	for n, want := range map[int]string{400: "same", 400*2000/k + 1: "unbiased"} {
		if got := Reading(k, n); !strings.Contains(got, want) {
			t.Errorf("%d reports are %s, want %s", n, got, want)
		}
		shares, err := Unary(ctx, k, 3, n, at, rand.New(rand.NewPCG(1, 2)), g)
		if err != nil {
			t.Fatal(err)
		}
		sum, off := 0.0, 0.0
		for i, v := range shares {
			want := 0.0
			if i == 0 || i == 4 {
				want = 0.5
			}
			sum += v
			off += math.Abs(v - want)
		}
		// A share has the deviation sqrt(4 e^3/400)/(e^3-1) = .023 at most: nine of them, five times.
		if !(math.Abs(sum-1) < 1e-12) || !(off < 1) {
			t.Errorf("%v sum to %v, off by %v", shares, sum, off)
		}
	}
	lost := errors.New("no place")
	if _, err := Unary(ctx, k, 3, 1, func(int) (int, error) { return 0, lost }, rand.New(rand.NewPCG(1, 2)), g); !errors.Is(
		err, lost) {
		t.Errorf("%v, want %v", err, lost)
	}
}
