package fuzz

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/wpm-go/wpm/baseline"
	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/proptest"
	"github.com/wpm-go/wpm/wpmerr"
)

// FuzzSolve: any cost, eps and settings give a base measure whose certificate holds in rationals, never worse than the
// best uniform one, or a typed error.
func FuzzSolve(f *testing.F) {
	f.Add([]byte{2, 2, 3, 0, 8, 16, 24, 8, 0, 8, 16, 8, 0})
	f.Add([]byte{5, 4, 6, 255, 0, 8, 16, 24, 8, 0, 8, 16, 8, 0, 4, 252})
	f.Add([]byte{4, 4, 2, 1, 9, 17, 25, 33, 41, 49, 57, 65, 73, 81, 89, 97, 105, 113, 121, 2, 1, 0, 128, 0, 8, 8, 8})
	f.Add([]byte{1, 2, 2, 0, 4, 132, 4, 4, 132, 4, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		in := &feed{data}
		k, kv := in.size(6), in.size(6)
		eps := in.epsilon()
		rows := in.rows(k, kv)
		c := readCost(t, rows)
		if c == nil {
			return
		}
		var s basemeasure.Settings
		switch in.byte() % 4 {
		case 1:
			s.Objective, s.InputWeights = basemeasure.Average, in.good(k)
		case 2:
			s.Objective, s.Mix = basemeasure.Mixed, float64(in.byte())/255
		case 3:
			s.Exclude = []int{int(in.byte()) % 7}
		}
		switch in.byte() % 8 {
		case 1:
			s.MaxEvaluations = 1 + int(in.byte()%4)
		case 2:
			s.MaxPivots = 1 + int(in.byte()%4)
		case 3:
			s.Gap = math.Abs(in.float())
		}
		kept, weights := clone(c.Data), clone(s.InputWeights)
		r, err := basemeasure.Solve(context.Background(), c, eps, s)
		sameBits(t, "C", c.Data, kept)
		sameBits(t, "weights", s.InputWeights, weights)
		if err != nil && !errors.Is(err, wpmerr.ErrNotConverged) {
			typed(t, err, wpmerr.ErrEpsilon, wpmerr.ErrSettings)
			return
		}
		finite(t, "F, bounds", r.F, r.Upper, r.Lower)
		finite(t, "M", r.M...)
		upper, lower, verr := basemeasure.Verify(context.Background(), c, eps, r)
		if verr != nil {
			t.Fatalf("Verify refuses Solve(%v, %v, %+v): %v", rows, eps, s, verr)
		}
		if lower.Cmp(upper) > 0 || num.Rat(r.Lower).Cmp(lower) > 0 || num.Rat(r.Upper).Cmp(upper) < 0 {
			t.Fatalf("bounds [%v, %v], certified [%v, %v] on %v, eps %v, %+v", r.Lower, r.Upper, lower, upper, rows, eps, s)
		}
		u, uerr := basemeasure.Uniform(context.Background(), c, eps, s)
		if uerr == nil && r.Upper > u.Upper*(1+1e-12) {
			t.Fatalf("Solve has %v, Uniform %v (%v) on %v, eps %v, %+v", r.Upper, u.Upper, err, rows, eps, s)
		}
	})
}

// FuzzBaselines: the rules that the mechanism is compared with give distributions in the boxes that they state, for any
// cost, distribution and eps.
func FuzzBaselines(f *testing.F) {
	f.Add([]byte{2, 3, 0, 8, 16, 24, 8, 0, 8, 16, 8, 0, 0, 8, 16, 24, 5})
	f.Add([]byte{0, 6, 255, 0, 8, 0, 8})
	f.Add([]byte{4, 0, 7, 15, 23, 31, 39, 47, 55, 0, 8, 8, 8, 8, 9, 9, 128})
	f.Fuzz(func(t *testing.T, data []byte) {
		in := &feed{data}
		k := in.size(6)
		eps := in.epsilon()
		c := readCost(t, in.rows(k, k))
		if c == nil {
			return
		}
		mu := in.mass(k, 1)
		mass := math.Exp((float64(in.byte())/127.5 - 1) * eps / 2)
		kept := clone(mu)
		// check: q is a distribution in the box of m, all up to a few roundings (of e^eps: relative to its exponent).
		check := func(what string, q []float64, err error, m []float64, merr error) {
			t.Helper()
			sameBits(t, "mu", mu, kept)
			if err != nil {
				typed(t, err, wpmerr.ErrShape, wpmerr.ErrNotFinite, wpmerr.ErrNegative, wpmerr.ErrMass, wpmerr.ErrEpsilon,
					wpmerr.ErrInfeasible)
				return
			}
			if merr != nil {
				t.Fatalf("%s answers, its box is refused: %v", what, merr)
			}
			finite(t, what, q...)
			b, sum := proptest.BoxOf(m, eps), 0.0
			tol := 1e-12 * (1 + eps)
			for j, v := range q {
				sum += v
				if !(v >= b.Lo[j]*(1-tol)-1e-15 && v <= b.Hi[j]*(1+tol)+1e-15) {
					t.Fatalf("%s: q[%d] = %v outside [%v, %v]\nmu %v, eps %v, C %v", what, j, v, b.Lo[j], b.Hi[j], mu, eps, c.Data)
				}
			}
			if !(math.Abs(sum-1) <= 1e-13*float64(k)) {
				t.Fatalf("%s: the sum is %v", what, sum)
			}
		}
		var q, m []float64
		e, merr := baseline.NewExponential(context.Background(), c, eps)
		err := merr
		if err == nil {
			m = e.Measure()
			q, err = e.Law(mu, nil)
		}
		check("Exponential", q, err, m, merr)
		q, err = baseline.RandomizedResponse(mu, eps)
		m, merr = baseline.RandomizedResponseMeasure(k, eps)
		check("RandomizedResponse", q, err, m, merr)
		q, err = baseline.KPMScaled(mu, eps, mass)
		flat := make([]float64, k)
		for j := range flat {
			flat[j] = mass / float64(k)
		}
		check("KPMScaled", q, err, flat, nil)
	})
}
