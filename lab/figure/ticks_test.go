package figure

import (
	"math"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// TestTicks: labels enough to read values off, at round numbers on the axis, each with a text of its own.
func TestTicks(t *testing.T) {
	for _, tt := range []struct {
		lo, hi float64
		want   []string
	}{
		{0, 6, []string{"0", "1", "2", "3", "4", "5", "6"}}, {0, 0.26, []string{"0", "0.05", "0.1", "0.15", "0.2", "0.25"}},
		{0, 29, []string{"0", "5", "10", "15", "20", "25"}}, {-2, 2, []string{"-2", "-1", "0", "1", "2"}},
	} {
		var got []string
		for _, k := range (ticks{}).Ticks(tt.lo, tt.hi) {
			if k.Label != "" {
				got = append(got, k.Label)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%v to %v: %q, want %q", tt.lo, tt.hi, got, tt.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		lo := rapid.Float64Range(-1e6, 1e6).Draw(t, "lo")
		hi := lo + math.Pow(10, rapid.Float64Range(-1, 8).Draw(t, "digits"))
		if step, _ := tickStep(lo, hi); step == 0 {
			return // gonum's
		}
		labels, last := 0, math.Inf(-1)
		for _, k := range (ticks{}).Ticks(lo, hi) {
			if !(k.Value > last && k.Value >= lo && k.Value <= hi) {
				t.Fatalf("%v to %v: tick at %v after %v", lo, hi, k.Value, last)
			}
			last = k.Value
			if k.Label == "" {
				continue
			}
			labels++
			const rel = 1e-4 // five digits are printed
			if v, err := strconv.ParseFloat(k.Label, 64); err != nil ||
				math.Abs(v-k.Value) > rel*math.Max(math.Abs(lo), math.Abs(hi)) {
				t.Fatalf("%v to %v: %q at %v", lo, hi, k.Label, k.Value)
			}
		}
		if labels < 4 || labels > 11 {
			t.Fatalf("%v to %v: %d labels", lo, hi, labels)
		}
	})
}
