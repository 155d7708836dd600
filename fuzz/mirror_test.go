package fuzz

import (
	"context"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"testing"

	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/knapsack"
	"github.com/wpm-go/wpm/mirror"
	"github.com/wpm-go/wpm/wpmerr"
)

// FuzzMirror: any costs, eps, rule and number of steps give a result whose certificate holds in rationals and whose
// bounds are numbers, or a typed error.
func FuzzMirror(f *testing.F) {
	f.Add([]byte{2, 2, 0, 0, 8, 16, 24, 8, 0, 8, 8, 16, 0, 64, 0, 9, 0})
	f.Add([]byte{0, 4, 0, 8, 16, 24, 32, 40, 6, 255, 1, 39, 2})
	f.Add([]byte{3, 0, 0, 12, 60, 100, 140, 0, 2, 20, 1})
	f.Add([]byte{1, 3, 7, 63, 63, 63, 63, 0, 0, 0, 0, 32, 3, 30, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		in := &feed{data}
		k, kv := in.size(5), in.size(6)
		c := readCost(t, in.rows(k, kv))
		if c == nil {
			return
		}
		kept := clone(c.Data)
		eps := in.epsilon()
		settings := mirror.Settings{Rule: mirror.Rule(in.byte() % 4), Steps: in.size(40), Every: int(in.byte()%8) - 1}
		if in.byte()%4 == 3 {
			settings.Factor = in.float()
		}
		table, err := knapsack.New(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		r, err := mirror.Descend(context.Background(), table, eps, settings)
		sameBits(t, "C", c.Data, kept)
		if err != nil {
			typed(t, err, wpmerr.ErrEpsilon, wpmerr.ErrSettings)
			return
		}
		finite(t, "M", r.M...)
		finite(t, "average", r.Average...)
		finite(t, "best", r.Best...)
		finite(t, "f", r.F, r.FAverage, r.FBest, r.Upper, r.Lower)
		upper, _, err := basemeasure.Verify(context.Background(), c, eps, basemeasure.Result{
			M: r.M, Upper: r.Upper, Lower: r.Lower, Weights: r.Weights, Thresholds: r.Thresholds,
		})
		if err != nil {
			t.Fatalf("Verify: %v", err)
		}
		// The float box is not the real one: a few roundings of the bounds, in units of the largest cost.
		within(t, "F", num.Rat(r.F), upper, gapTol, given.Max(c))
		last := -1.0
		for _, h := range r.History {
			finite(t, "history", h.F, h.Average, h.Best, h.Lower)
			if !(h.Bound >= 0 && h.PaperBound >= 0 && h.Lower >= last) {
				t.Fatalf("%+v after a lower bound of %v", h, last)
			}
			last = h.Lower
		}
	})
}
