package ranking

import (
	"math/big"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
)

// TestRoundPointsWidth: points move as soon as the squares of their widths would have a sum of 2^63, and not long
// before.
func TestRoundPointsWidth(t *testing.T) {
	const side = 3037000500 // its square is 2^63 and 1.5e11 more
	limit := new(big.Int).Lsh(big.NewInt(1), 63)
	for _, tt := range []struct {
		width []float64
		moves bool
	}{
		{[]float64{side + 1}, true},
		{[]float64{side - 5001}, false},
		{[]float64{side + 1, 1}, true},
		{[]float64{side - 5001, 1}, false},
		{[]float64{2147483648, 2147483647}, true}, // 2^63 less 2^32, which floats do not tell from it
		{[]float64{2147481647, 2147481647}, false},
	} {
		axes := len(tt.width)
		points := [][]float64{make([]float64, axes), append([]float64(nil), tt.width...)}
		n := roundPoints(points)
		sum, moved := new(big.Int), false
		for a, w := range tt.width {
			d := big.NewInt(int64(n[axes+a]) - int64(n[a]))
			sum.Add(sum, d.Mul(d, d))
			moved = moved || points[1][a] != w || points[0][a] != 0
		}
		if moved != tt.moves || sum.Cmp(limit) >= 0 {
			t.Errorf("widths %v: integers %v, moved %v, want %v", tt.width, n, moved, tt.moves)
		}
	}
}

// TestRoundPlacesAgain: places that were rounded once stay where they are, and so do their vectors.
func TestRoundPlacesAgain(t *testing.T) {
	rng := numtest.NewSplitMix64(17)
	var places [][]float64
	for range 20000 {
		places = append(places, []float64{180*rng.Float64() - 90, 360*rng.Float64() - 180})
	}
	first, _, err := roundPlaces(places)
	if err != nil {
		t.Fatal(err)
	}
	var again [][]float64
	for _, x := range places {
		again = append(again, slices.Clone(x))
	}
	second, displacement, err := roundPlaces(again)
	if err != nil || displacement != 0 || !slices.Equal(first, second) ||
		!slices.EqualFunc(places, again, slices.Equal[[]float64]) {
		t.Errorf("places move by another %v km, %v", displacement, err)
	}
}
