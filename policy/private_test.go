package policy

import (
	"slices"
	"strings"
	"testing"
)

// A release of text of one length takes as many allocations whatever it says: what is unusable goes all the way.
func TestUnusableDataCostAsMuch(t *testing.T) {
	cfg := smallConfig(t)
	cfg.InputLabels, cfg.Inputs, cfg.Rows = nil, 2, cfg.Rows[:2]
	p := mustNew(t, cfg)
	second := cfg
	second.Rows = nil
	second.Geometry = &Geometry{Kind: Points, Axes: 1, InputPoints: []int32{0, 1}}
	for j := range cfg.Polytope.Len() {
		second.Geometry.OutputPoints = append(second.Geometry.OutputPoints, int32(j))
	}
	policies := []Policy{p, mustNew(t, greedily(second))}
	second.Thresholds = make([]int32, 2) // a rest that does not fit costs as much, too
	for second.Thresholds[0] == policies[1].c.Thresholds[0] || second.Thresholds[1] == policies[1].c.Thresholds[1] {
		second.Thresholds[0]++
		second.Thresholds[1]++
	}
	policies = append(policies, mustNew(t, second))
	readable := "user,label,count\nuu,0,7\nuu,1,9\nuu,1,1\n"
	size := len(readable)
	var allocs [2]float64 // of versions 1 and 2
	for i, data := range []string{
		readable, "user,label,count\nuu,0,7\nvv,1,9\nuu,1,1\n", "user,label,count\nuu,0,0\nuu,1,0\nuu,1,0\n",
		"user,label,count\nu\t,0,7\nu\t,1,9\nu\t,1,1\n", "label,count\n" + strings.Repeat("0,1\n", 6) + "\n\n",
		"label,count\n" + strings.Repeat("0,x\n", 6) + "\n\n", strings.Repeat("0,1\n", 9) + "\n\n",
		strings.Repeat("2,1\n", 9) + "\n\n", strings.Repeat("x", size), strings.Repeat("\n", size),
		strings.Repeat(",", size), strings.Repeat("\x00", size),
	} {
		if len(data) != size {
			t.Fatalf("%q has %d bytes, want %d", data, len(data), size)
		}
		private := []byte(data)
		for v, p := range policies {
			took := testing.AllocsPerRun(100, func() { p.c.law(t.Context(), private, nil, 0) })
			if i == 0 && v < len(allocs) {
				allocs[v] = took
			}
			if want := allocs[min(v, 1)]; took != want {
				t.Errorf("%v, %q: %v allocations, readable data take %v", p, data, took, want)
			}
		}
	}
	w, err := secretRow(p.c.Polytope, p.c.Rows, p.c.Fallback, len(p.c.Rows)) // not by way of an error
	if err != nil || !slices.Equal(weights(w), weights(p.Fallback())) {
		t.Errorf("the row after the last is %v, %v, want the fallback", weights(w), err)
	}
}
