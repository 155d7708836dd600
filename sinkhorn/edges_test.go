package sinkhorn

import (
	"context"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/projection"
)

// TestProjectorWithUnusedRow: a row without mass whose costs leave no kernel to share is no reason to fail.
func TestProjectorWithUnusedRow(t *testing.T) {
	c := &cost.Dense{K: 80, Kv: 10, Data: make([]float64, 800)}
	for i := range c.Data {
		c.Data[i] = float64(i * 7 % 4)
	}
	c.Data[799] = 1e12
	mu := make([]float64, 80)
	lo, hi := make([]float64, 10), make([]float64, 10)
	for i := range 79 {
		mu[i] = 1
	}
	for j := range lo {
		lo[j], hi[j] = 0.05, 0.13
	}
	p := Problem{Problem: projection.Problem{Cost: c, Source: mu, Lo: lo, Hi: hi}, Reg: 1}
	want, err := Project(context.Background(), p, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	many, err := NewProjector(context.Background(), c, lo, hi, 1, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	var got Result
	if err := many.Project(context.Background(), mu, nil, &got); err != nil || got.Upper != want.Upper ||
		got.Lower != want.Lower {
		t.Errorf("[%v, %v], %v, want [%v, %v]", got.Lower, got.Upper, err, want.Lower, want.Upper)
	}
}

// TestVanishingMass: a mass that is lost in floats still costs something, and the bounds hold.
func TestVanishingMass(t *testing.T) {
	for _, mu := range [][]float64{{1e-300, 1e300}, {1e-320, 1e300}, {5e-324, 1.7e308}} {
		p := Problem{Problem: projection.Problem{Cost: &cost.Dense{K: 2, Kv: 1, Data: []float64{1, 0}}, Source: mu,
			Lo: []float64{1}, Hi: []float64{1}}, Reg: 0.1}
		r, err := Project(context.Background(), p, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := Verify(context.Background(), p, r); err != nil {
			t.Errorf("%v: %v", mu, err)
		}
	}
}
