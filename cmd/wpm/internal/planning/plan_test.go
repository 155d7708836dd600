package planning

import (
	"slices"
	"testing"

	"github.com/wpm-go/wpm/internal/places"
)

// TestDeviceSteps: they rise from 10 to the largest number, also where an int has 32 bits.
func TestDeviceSteps(t *testing.T) {
	steps := deviceSteps()
	if len(steps) != 97 || steps[0] != 10 || steps[96] != 1_000_000_000 || !slices.IsSorted(steps) {
		t.Errorf("%d steps, %v", len(steps), steps)
	}
}

func TestParseTarget(t *testing.T) {
	km, cells, matrix := places.UnitOf("greatcircle", 1, 0, 0), places.UnitOf("grid", 1, 5, 5),
		places.UnitOf("explicit", 0, 0, 0)
	for _, c := range []struct {
		text string
		unit places.Unit
		want float64
	}{{"2km", km, 2}, {" 2.5 km ", km, 2.5}, {"1e1", km, 10}, {"0,25km", km, 0.25}, {"250m", km, 0.25}, {"1 cell", cells, 1}, {"3cells", cells, 3},
		{"0.5", matrix, .5}} {
		if got, err := parseTarget(c.text, c.unit); err != nil || got != c.want {
			t.Errorf("%q: %v, %v, want %v", c.text, got, err, c.want)
		}
	}
	for _, text := range []string{"", "km", "2 ft", "2kmkm", "0", "-1km", "1e999"} {
		if got, err := parseTarget(text, km); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}
