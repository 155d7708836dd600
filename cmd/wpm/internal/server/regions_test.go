package server

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wpm-go/wpm/estimate"
	"github.com/wpm-go/wpm/estimate/atlas"
)

// TestRegionTable: an interval of the reports alone is made wider where the share of the map is outside, and the table
// says so. Without anything to say there is no column for it.
func TestRegionTable(t *testing.T) {
	region := func(name string, share, lower, upper float64) regionShare {
		return regionShare{name, share, atlas.Region{Share: estimate.Share{Lower: lower, Upper: upper}, Guess: 0.5}}
	}
	inside := region("inside", 0.25, 0.125, 0.5)
	single := region("single", 0.25, 0.25, 0.5)
	single.Single = true
	list := []regionShare{inside, region("below", 0.0625, 0.125, 0.5), region("above", 0.75, 0.125, 0.5), single}
	wider := "made wider, to hold the map's share"
	want := [][]string{
		{"inside", "0.5000", "0.2500", "0.1250 to 0.5000", ""},
		{"below", "0.5000", "0.0625", "0.0625 to 0.5000", wider},
		{"above", "0.5000", "0.7500", "0.1250 to 0.7500", wider},
		{"single", "0.5000", "0.2500", "0.2500 to 0.5000", "approximate: a single place"},
	}
	got := regionTable(list, 0.9)
	if d := cmp.Diff(want, got.Rows); d != "" || len(got.Head) != 5 {
		t.Errorf("columns %q, and rows, want - got +:\n%s", got.Head, d)
	}
	if got := regionTable(list[:1], 0.9); len(got.Head) != 4 || len(got.Rows[0]) != 4 {
		t.Errorf("nothing to remark: %q, %q", got.Head, got.Rows)
	}
}
