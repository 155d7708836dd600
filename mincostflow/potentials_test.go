package mincostflow

import (
	"slices"
	"testing"

	"github.com/wpm-go/wpm/projection"
)

func TestRepair(t *testing.T) {
	for _, c := range []struct {
		name      string
		q, lo, hi []float64
		want      []float64
	}{
		{"inside first", []float64{0.5, 0.25, 0.125}, []float64{0.5, 0, 0.125}, repeat(1, 3), []float64{0.5, 0.375, 0.125}},
		{"down to the bound, then the next", []float64{0.5, 0.5, 0.25}, []float64{0.375, 0.25, 0.25}, repeat(1, 3),
			[]float64{0.375, 0.375, 0.25}},
		{"only at bounds", []float64{0.5, 0.25}, []float64{0.5, 0.25}, []float64{0.5, 1}, []float64{0.5, 0.5}},
		{"already one", []float64{0.5, 0.5}, []float64{0, 0}, []float64{1, 1}, []float64{0.5, 0.5}},
		{"less than an ulp of the first", []float64{0.5, 0.5, 0x1p-60}, repeat(0, 3), repeat(1, 3), []float64{0.5, 0.5, 0}},
	} {
		in := &instance{Instance: projection.Instance{Box: projection.Box{Lo: c.lo, Hi: c.hi}}}
		in.repair(c.q)
		if !slices.Equal(c.q, c.want) {
			t.Errorf("%s: %v, want %v", c.name, c.q, c.want)
		}
	}
}
