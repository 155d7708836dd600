package projection

import (
	"math"
	"testing"
)

// TestGibbsDiameter: the diameter of a row of ones beside a row of tiny costs is that of the tiny costs.
func TestGibbsDiameter(t *testing.T) {
	for _, tt := range []struct {
		c    [][]float64
		reg  float64
		want float64
	}{
		{[][]float64{{1, 1}, {0, 6e-33}}, 6e-33, 1},
		{[][]float64{{1, 1}, {3.9e-85, 2.6e-227}}, 7.8e-85, 0.5},
		{[][]float64{{0x1p60, 1}, {0, 0x1p-60}}, 0x1p60, 1},
		{[][]float64{{0, 3, 3}, {3, 1, 3}, {0, 3, 3}}, 0.5, 10},
		{[][]float64{{1, 2, 3}}, 1, 0},
	} {
		if got := gibbsDiameter(tt.c, tt.reg); !(math.Abs(got-tt.want) <= 0x1p-52*tt.want) {
			t.Errorf("gibbsDiameter(%v, %v) = %v, want %v", tt.c, tt.reg, got, tt.want)
		}
	}
}
