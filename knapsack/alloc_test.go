//go:build !race

// Under the race detector this takes long, and says nothing new.

package knapsack_test

import (
	"runtime"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/knapsack"
)

// TestAllocs holds the promise that nothing is allocated once a table has been used: neither by one goroutine
// nor by several (the larger table).
func TestAllocs(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	for _, k := range []int{3, 370} {
		line := &cost.Dense{K: k, Kv: k}
		for i := range k {
			for j := range k {
				line.Data = append(line.Data, float64(max(i-j, j-i)))
			}
		}
		table, err := knapsack.New(line)
		if err != nil {
			t.Fatal(err)
		}
		m := make([]float64, k)
		for j := range m {
			m[j] = 1 / float64(k)
		}
		lo, hi := box(m, 1)
		phi, tau, q := make([]float64, k), make([]float64, k), make([]float64, k)
		run := func() {
			_, _ = table.Phi(1, lo, hi)
			_, _ = table.Max(lo, hi)
			_ = table.All(lo, hi, phi, tau)
			_ = table.Project(2, lo, hi, q)
			table.Subgradient(1, tau[1], 1, 2, q)
		}
		run()
		// testing.AllocsPerRun would run on one processor. What the runtime allocates is goroutines: one that ended
		// waits on its processor's list, where the other processor finds it only once there are 64 of them.
		const runs, runtimeOwn = 250, 2*64 + 40
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range runs {
			run()
		}
		runtime.ReadMemStats(&after)
		if n := after.Mallocs - before.Mallocs; n > runtimeOwn {
			t.Errorf("k = %d: %d allocations in %d runs", k, n, runs)
		}
	}
}
