package mincostflow

import (
	"context"
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
