package baseline_test

import (
	"errors"
	"testing"

	"github.com/wpm-go/wpm/baseline"
	"github.com/wpm-go/wpm/wpmerr"
)

// TestNewGroupsSizes: items without groups and groups without items are refused, each alone.
func TestNewGroupsSizes(t *testing.T) {
	for _, tt := range []struct {
		items   int
		members [][]int
		ok      bool
	}{
		{1, [][]int{{0}}, true}, {1, [][]int{{}}, true}, {1, nil, false}, {3, [][]int{}, false}, {0, [][]int{{}}, false},
		{-1, [][]int{{}}, false}, {0, nil, false},
	} {
		g, err := baseline.NewGroups(tt.items, tt.members)
		if tt.ok != (err == nil) || !tt.ok && (!errors.Is(err, wpmerr.ErrShape) || g != nil) {
			t.Errorf("%d items, %v: %v, %v", tt.items, tt.members, g, err)
		}
	}
}
