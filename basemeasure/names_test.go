package basemeasure_test

import (
	"testing"

	"github.com/wpm-go/wpm/basemeasure"
)

// TestNames: what statuses and objectives are called.
func TestNames(t *testing.T) {
	for _, tt := range []struct {
		got, want string
	}{
		{basemeasure.Status(0).String(), "unknown"},
		{basemeasure.Converged.String(), "converged"},
		{basemeasure.Stalled.String(), "stalled"},
		{basemeasure.Limited.String(), "limited"},
		{basemeasure.Cancelled.String(), "cancelled"},
		{basemeasure.Status(9).String(), "unknown"},
		{basemeasure.WorstCase.String(), "worst case"},
		{basemeasure.Average.String(), "average"},
		{basemeasure.Mixed.String(), "mixed"},
		{basemeasure.Objective(-1).String(), "Objective(-1)"},
	} {
		if tt.got != tt.want {
			t.Errorf("%q, want %q", tt.got, tt.want)
		}
	}
}
