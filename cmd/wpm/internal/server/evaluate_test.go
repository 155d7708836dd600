package server

import (
	"slices"
	"strings"
	"testing"
)

// TestCheckTransport: what takes days is refused.
func TestCheckTransport(t *testing.T) {
	many := slices.Repeat([]float64{1}, 1<<18)
	if err := checkTransport(many, append(many, 0)); err != nil {
		t.Error(err)
	}
	if err := checkTransport(append(many, 1e-300), many); err == nil ||
		!strings.Contains(err.Error(), "262145 places, and the reports 262144") {
		t.Error(err)
	}
}
