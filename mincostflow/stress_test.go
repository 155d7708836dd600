package mincostflow

import (
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
)

// TestStress solves thousands of small problems that lean to trouble and proves every answer. The
// second half of the seeds forbids the knapsack.
func TestStress(t *testing.T) {
	n := numtest.Cases(400, 6000)
	var worst float64
	for seed := range n {
		d := newDraw(uint64(seed))
		p := d.problem(9)
		solve := func() Result { return mustProject(t, p, Settings{}) }
		if 2*seed >= n {
			solve = func() Result { return mustSimplex(t, p) }
		}
		r := solve()
		if maxCost(p) > 1e-300 { // below, the bounds are a quantum apart
			worst = max(worst, r.Gap()/maxCost(p))
		}
	}
	t.Logf("worst gap %.2g max C", worst)
}
