package estimate

import (
	"errors"
	"math"
	"testing"

	"github.com/wpm-go/wpm/wpmerr"
)

// TestLaw: the law of a point mass is its row, and that of a mean the mean of the rows; both kinds of table.
func TestLaw(t *testing.T) {
	for name, rows := range map[string][][]float64{
		"two values": {{3, 1, 1}, {1, 3, 1}},
		"any":        {{1, 2, 3}, {7, 0, 1}},
	} {
		c, err := NewChannel(2, 3, func(i int, dst []float64) { copy(dst, rows[i]) })
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Law([]float64{0.25, 0.75})
		if err != nil {
			t.Fatal(err)
		}
		for j := range got {
			want := 0.0
			for i, theta := range []float64{0.25, 0.75} {
				sum := 0.0
				for _, v := range rows[i] {
					sum += v
				}
				want += theta * rows[i][j] / sum
			}
			if !(math.Abs(got[j]-want) <= 8*0x1p-53) { // some roundings of terms below 1
				t.Errorf("%s: Law[%d] = %v, want %v", name, j, got[j], want)
			}
		}
		if _, err := c.Law([]float64{1}); !errors.Is(err, wpmerr.ErrShape) {
			t.Errorf("%s: a short map: %v", name, err)
		}
	}
}

func TestGuess(t *testing.T) {
	if got, err := Guess([]float64{3e300, 1e300}, 2); err != nil || !(math.Abs(got[0]-0.75) <= 0x1p-52) ||
		!(math.Abs(got[1]-0.25) <= 0x1p-52) {
		t.Errorf("Guess() = %v, %v", got, err)
	}
	if got, err := Guess(nil, 2); err != nil || got[0] != 0.5 || got[1] != 0.5 {
		t.Errorf("Guess(nil) = %v, %v", got, err)
	}
	for _, prior := range [][]float64{{1}, {0, 0}, {1, -1}, {1, math.NaN()}, {1, math.Inf(1)}} {
		if got, err := Guess(prior, 2); got != nil || !errors.Is(err, wpmerr.ErrShape) {
			t.Errorf("Guess(%v) = %v, %v", prior, got, err)
		}
	}
	if _, err := Guess(nil, 0); !errors.Is(err, wpmerr.ErrShape) {
		t.Errorf("no inputs: %v", err)
	}
}
