package plane

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/wpmerr"
)

// TestTooManyFlows: regions that make too many flows are refused before weights are made of all of them, which are a
// gigabyte here.
func TestTooManyFlows(t *testing.T) {
	const pairs, regions = 50_000, 2500
	at := Places{In: make([][]float64, pairs), Ends: []End{
		{Places: Places{In: make([][]float64, 1)}, Labels: []string{"a"}, Of: make([]int, pairs)},
	}}
	var list []Region
	for n := range regions {
		list = append(list, Region{Name: fmt.Sprint(n), Weights: []float64{1}})
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := FlowsBetween(at, []string{"a"}, list)
	runtime.ReadMemStats(&after)
	if !errors.Is(err, wpmerr.ErrTooLarge) {
		t.Errorf("%d flows: %v", regions, err)
	}
	most := uint64(MaxFlows+3) * 8 * pairs * 11 / 10 // the flows that may be, and one more; allocations are rounded up
	if took := after.TotalAlloc - before.TotalAlloc; took > most {
		t.Errorf("%d bytes for a refusal, want %d at most", took, most)
	}
	if flows, err := FlowsBetween(at, []string{"a"}, list[:3]); err != nil || !slices.EqualFunc(flows, list[:3], func(f, r Region) bool {
		return f.Name == r.Name && len(f.Weights) == pairs
	}) {
		t.Errorf("%d flows of 3 regions of one end: %v", len(flows), err)
	}
}
