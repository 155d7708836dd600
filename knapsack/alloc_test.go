//go:build !race

// Under the race detector this takes long, and says nothing new.

package knapsack_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/knapsack"
)

// TestAllocs holds the promise that nothing that grows with the table is allocated once it has been used.
func TestAllocs(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	for _, k := range []int{3, 370} {
		line := &cost.Dense{K: k, Kv: k}
		for i := range k {
			for j := range k {
				line.Data = append(line.Data, float64(max(i-j, j-i)))
			}
		}
		table, err := knapsack.New(context.Background(), line)
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
		// testing.AllocsPerRun would run on one processor. An evaluation of the larger table (two in a run) is shared by
		// goroutines: the func of one goes to the heap twice, that of their loop three times with what it counts, and the
		// runtime may allocate the goroutine itself. None of these has more than 512 bytes.
		const runs, runtimeOwn = 250, 2*64 + 40
		perRun := 0
		if k*k >= 1<<17 {
			perRun = 2 * (8 + 3*runtime.GOMAXPROCS(0))
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range runs {
			run()
		}
		runtime.ReadMemStats(&after)
		if n := after.Mallocs - before.Mallocs; n > uint64(runs*perRun+runtimeOwn) {
			t.Errorf("k = %d: %d allocations in %d runs", k, n, runs)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > uint64(512*(runs*perRun+runtimeOwn)) {
			t.Errorf("k = %d: %d bytes in %d runs", k, n, runs)
		}
	}
}
