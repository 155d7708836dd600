package numtest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// Welch is the body of a benchmark that asks whether the time of run depends on data. prepare puts the data of class 0
// or 1 where run will find them: in the same memory for both, because where memory lies makes half a per mille of the
// time of a scan. The class of each of b.N measurements is decided by a coin, so that whatever else the machine does
// falls on both classes alike; times above the 90th percentile of all of them, interrupts, are left out.
//
// It reports Welch's t, the difference of the means, and the difference that |t| = 4.5 would stand for. Below that no
// difference can be seen: by chance it is passed once in 150,000 runs.
func Welch(b *testing.B, prepare func(class int), run func()) {
	b.Helper()
	const calls = 8 // in one measurement, for the clock is coarse
	rng := rand.New(rand.NewPCG(1, 2))
	class, took := make([]uint8, b.N), make([]float64, b.N)
	for i := range took {
		class[i] = uint8(rng.Uint64() & 1)
		prepare(int(class[i]))
		start := time.Now()
		for range calls {
			run()
		}
		took[i] = float64(time.Since(start).Nanoseconds()) / calls
	}
	sorted := slices.Sorted(slices.Values(took))
	limit := sorted[len(sorted)*9/10]
	var count, mean, square [2]float64
	for i, x := range took {
		if c := class[i]; x <= limit {
			count[c]++
			d := x - mean[c]
			mean[c] += d / count[c]
			square[c] += d * (x - mean[c])
		}
	}
	const wanted = 4.5
	se := math.Sqrt(square[0]/(count[0]-1)/count[0] + square[1]/(count[1]-1)/count[1])
	b.ReportMetric((mean[1]-mean[0])/se, "t")
	b.ReportMetric(mean[1]-mean[0], "ns-difference")
	b.ReportMetric(wanted*se, "ns-detectable")
	b.ReportMetric(mean[0], "ns/op")
}
