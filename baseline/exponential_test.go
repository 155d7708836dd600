package baseline

import (
	"context"
	"errors"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/wpmerr"
)

// sweep is the exponential mechanism in the simplest way: for one user it reads all costs, those of places without
// mass, too.
func sweep(c cost.Matrix, mu []float64, sum, eps float64) []float64 {
	k, kv := c.Dims()
	scale := 1.0
	if given.Max(c) > 0x1p1020 {
		scale = 0x1p-4
	}
	u, low := make([]float64, kv), make([]float64, kv)
	for i := range k {
		row := c.Row(i, make([]float64, kv))
		for j, x := range row {
			term := float64(mu[i] / sum * (scale * (x - slices.Min(row))))
			t := u[j] + term
			v := t - u[j]
			low[j] += (u[j] - (t - v)) + (term - v)
			u[j] = t
		}
	}
	spread := 0.0
	for j := range kv {
		u[j] += low[j]
		column := make([]float64, k)
		for i := range k {
			column[i] = c.Row(i, make([]float64, kv))[j]
		}
		spread = max(spread, slices.Max(column)-slices.Min(column))
	}
	return softmax(u, spread, eps/scale, u)
}

// TestExponentialSharesCost: the mechanism that is prepared once gives every user, dense or sparse, the bits of the
// simple one, and leaves its arguments alone.
func TestExponentialSharesCost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k, kv := rapid.IntRange(1, 6).Draw(t, "k"), rapid.IntRange(1, 6).Draw(t, "kv")
		value := rapid.OneOf(rapid.Float64Range(0, 3),
			rapid.SampledFrom([]float64{0, 1, 1e-320, 5e-324, 1e308, math.MaxFloat64}))
		var c cost.Matrix = &cost.Dense{K: k, Kv: kv, Data: rapid.SliceOfN(value, k*kv, k*kv).Draw(t, "C")}
		if rapid.Bool().Draw(t, "ring") {
			ring, err := cost.NewRing(k, 2)
			if err != nil {
				t.Fatal(err)
			}
			c = ring
		}
		eps := rapid.SampledFrom([]float64{0, 5e-324, 0.1, 1, 5, 700}).Draw(t, "eps")
		e, err := NewExponential(context.Background(), c, eps)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			mu := make([]float64, k)
			for i := range mu {
				mu[i] = rapid.SampledFrom([]float64{0, 0, 1, 2, 1e-9, 1e-300}).Draw(t, "mass")
			}
			mu[rapid.IntRange(0, k-1).Draw(t, "sure")] = 1
			total := 0.0
			for _, x := range mu {
				total += x
			}
			var weight []float64
			var support []int
			for i := range mu {
				mu[i] /= total
				if mu[i] > 0 || rapid.Bool().Draw(t, "zero listed") {
					weight, support = append(weight, mu[i]), append(support, i)
				}
			}
			keptMu, keptSupport := slices.Clone(mu), slices.Clone(support)
			sum, err := checkDistribution("mu", mu, k)
			if err != nil {
				t.Fatal(err)
			}
			want := sweep(c, mu, sum, eps)
			dense, err := e.Law(mu, nil)
			sparse, serr := e.Law(weight, support)
			if err := errors.Join(err, serr); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(dense, want) || !slices.Equal(sparse, want) { // no NaN, and one zero
				t.Fatalf("dense %v\nsparse %v\nwant %v", dense, sparse, want)
			}
			if !slices.Equal(mu, keptMu) || !slices.Equal(support, keptSupport) {
				t.Fatal("mu or support was changed")
			}
		}
	})
}

// TestExponentialSupport: a support that is out of order, out of range or of another length is refused.
func TestExponentialSupport(t *testing.T) {
	e, err := NewExponential(context.Background(), &cost.Dense{K: 3, Kv: 1, Data: []float64{1, 2, 3}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, support := range [][]int{{}, {0}, {0, 1, 2}, {1, 0}, {1, 1}, {-1, 0}, {0, 3}} {
		if _, err := e.Law([]float64{0.5, 0.5}, support); !errors.Is(err, wpmerr.ErrShape) {
			t.Errorf("support %v: %v, want %v", support, err, wpmerr.ErrShape)
		}
	}
	if _, err := e.Law([]float64{0.5, 0.5 + 1e-8}, []int{0, 2}); !errors.Is(err, wpmerr.ErrMass) {
		t.Errorf("mass above 1: %v", err)
	}
}
