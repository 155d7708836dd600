//go:build !race

// Under the race detector sync.Pool forgets on purpose.

package knapsack_test

import "testing"

// TestAllocs holds the promise that small tables are evaluated without allocating.
func TestAllocs(t *testing.T) {
	table := newTable(t, [][]float64{{0, 1, 2}, {1, 0, 1}, {2, 1, 0}})
	lo, hi := box([]float64{0.3, 0.3, 0.3}, 1)
	phi, tau, q := make([]float64, 3), make([]float64, 3), make([]float64, 3)
	n := testing.AllocsPerRun(100, func() {
		_, _ = table.Phi(1, lo, hi)
		_, _ = table.Max(lo, hi)
		_ = table.All(lo, hi, phi, tau)
		_ = table.Project(2, lo, hi, q)
	})
	if n >= 1 { // a collection may empty the pool once in a while
		t.Errorf("%v allocations per run", n)
	}
}
