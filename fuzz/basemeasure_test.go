package fuzz

import (
	"context"
	"errors"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"math"
	"testing"

	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/wpmerr"
)

// FuzzObjectives: for every objective the certificate holds in rationals, whether the search converged or stalled;
// the result is no worse than the uniform measure, and its lower bound no better than what the uniform measure reaches.
func FuzzObjectives(f *testing.F) {
	f.Add([]byte{2, 2, 3, 0, 8, 16, 24, 8, 0, 8, 16, 8, 0})
	f.Add([]byte{5, 4, 6, 255, 0, 8, 16, 24, 8, 0, 8, 16, 8, 0, 4, 252})
	f.Add([]byte{4, 5, 5, 40, 0, 8, 11, 19, 27, 35, 43, 51, 59, 67, 75, 83, 91, 99, 107, 2, 5, 3, 8, 16})
	f.Add([]byte{4, 3, 5, 40, 7, 12, 14, 19, 27, 35, 44, 51, 59, 67, 75, 83, 91, 1, 9, 17, 25})
	f.Fuzz(func(t *testing.T, data []byte) {
		in := &feed{data}
		k, kv := in.size(7), in.size(7)
		eps := in.epsilon()
		c := readCost(t, in.rows(k, kv))
		if c == nil {
			return
		}
		s := basemeasure.Settings{Objective: basemeasure.Objective(in.byte() % 3)}
		if s.Objective == basemeasure.Mixed {
			s.Mix = float64(in.byte()) / 255
		}
		if in.byte()%2 == 1 && s.Objective != basemeasure.WorstCase {
			s.InputWeights = in.good(k)
		}
		if b := in.byte(); b%4 == 3 {
			s.Exclude = []int{int(b) % k}
		}
		kept := clone(c.Data)
		r, err := basemeasure.Solve(context.Background(), c, eps, s)
		sameBits(t, "C", c.Data, kept)
		stalled := errors.Is(err, wpmerr.ErrNotConverged)
		if err != nil && !stalled {
			typed(t, err, wpmerr.ErrEpsilon, wpmerr.ErrSettings)
			return
		}
		finite(t, "F, bounds", r.F, r.Upper, r.Lower, r.WorstCase, r.Mean)
		finite(t, "M", r.M...)
		if _, _, err := basemeasure.Verify(context.Background(), c, eps, r); err != nil {
			t.Fatalf("Verify refuses Solve(%v, %v, %+v): %v", c, eps, s, err)
		}
		// Costs may be subnormal: then bounds are a few steps of the smallest float apart.
		floor := math.Max(1e-15*given.Max(c), 100*math.SmallestNonzeroFloat64)
		if !stalled && !(r.Gap() <= math.Max(r.Settings.Gap*r.Upper, floor)) {
			t.Fatalf("%v with gap %v of %v on %v, eps %v", r.Status, r.Gap(), r.Upper, c, eps)
		}
		u, err := basemeasure.Uniform(context.Background(), c, eps, s)
		if err != nil {
			t.Fatalf("Uniform: %v", err)
		}
		if !(r.F <= u.F*(1+1e-12)+floor && r.Lower <= u.Upper && u.Lower <= r.Upper) {
			t.Fatalf("f = %v in [%v, %v], uniform %v in [%v, %v] on %v, eps %v", r.F, r.Lower, r.Upper, u.F, u.Lower, u.Upper, c,
				eps)
		}
	})
}
