package mincostflow

import (
	"context"
	"math"
	"runtime"
	"testing"

	"github.com/wpm-go/wpm/cost"
)

// TestComputedRowsTakeLittleMemory: where rows are computed anew for every pass, on several goroutines, what a call
// allocates is a small part of the matrix. The costs of the smaller problems take a fifteenth of it, and everything
// else less than 3 kB for every row and column, five eighths of it here.
func TestComputedRowsTakeLittleMemory(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	const n = 1200
	r := &source{newDraw(68e6).SplitMix64}
	c, err := cost.NewPoints(r.points(n, 2, r.normal), r.points(n, 2, r.Float64), 2)
	if err != nil {
		t.Fatal(err)
	}
	lo, hi := box(uniform(n), 0.5)
	p := Problem{Cost: c, Source: newDraw(69e6).masses(n), Lo: lo, Hi: hi}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = Project(context.Background(), p, Settings{Memory: -1})
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	const most = 8*n*n/15 + 2*n*3000
	if got := after.TotalAlloc - before.TotalAlloc; got > most {
		t.Errorf("%d bytes allocated, %d are enough; the matrix takes %d", got, most, 8*n*n)
	}
}

// TestTurnedTakesLittleMemory: transport of many rows to few columns is solved on a copy of its costs. A later call
// makes it where an earlier one has left its own: it allocates less than the matrix, and allocated twice as much.
func TestTurnedTakesLittleMemory(t *testing.T) {
	c, a, b := newDraw(25e6).tallProblem("random", 4000, 20)
	least := uint64(math.MaxUint64)
	for range 10 { // the runtime may free workspaces, and drops some of them under the race detector
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Transport(context.Background(), c, a, b)
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatal(err)
		}
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	if most := uint64(8 * len(c.Data)); least > most {
		t.Errorf("%d bytes allocated, %d are enough", least, most)
	}
}
