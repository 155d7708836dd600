package aggregate_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/wpm-go/wpm/aggregate"
)

// TestEpochNumbers: names say when epochs were, also those of simulations.
func TestEpochNumbers(t *testing.T) {
	for _, c := range []struct {
		names string
		want  []int
	}{
		{"2026-03 2026-01 2027-01", []int{24315, 24313, 24325}},
		{"simulation-2026-W01 simulation-2026-W53", []int{2921, 2973}},
		{"2026 2028", []int{2026, 2028}},
		{"a b", []int{0, 1}},
		{"simulation simulation-b", []int{0, 1}},
		{"2026 2026-01", nil},
		{"a 2026-01", nil},
		{"2026-02-30 2026-02-28", nil},
		{"2026-01 simulation-2026-02", nil},
	} {
		got, err := aggregate.EpochNumbers(strings.Fields(c.names))
		if !slices.Equal(got, c.want) || (err == nil) != (c.want != nil) || err != nil && !errors.Is(err, aggregate.ErrEpoch) {
			t.Errorf("%s: %d, %v, want %d", c.names, got, err, c.want)
		}
	}
}
