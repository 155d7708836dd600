package numtest

import "testing"

// ProcessorTime begins to measure the processor time of b. The function that it returns, called after the loop, adds it
// to the benchmark's line as cpu-ns/op, where the system tells it.
func ProcessorTime(b *testing.B) (report func()) {
	start := processor()
	return func() {
		if used := processor() - start; used > 0 {
			b.ReportMetric(float64(used.Nanoseconds())/float64(b.N), "cpu-ns/op")
		}
	}
}
