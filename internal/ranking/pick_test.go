package ranking

import (
	"slices"
	"testing"
	"time"

	"github.com/wpm-go/wpm/internal/numtest"
)

// TestPickFalling: keys that fall and rise, as those along a line do, are no slower to select from than to sort. Pivots
// from the ends and the middle took the square of the number: 200 times as long as to sort.
func TestPickFalling(t *testing.T) {
	const n = 1 << 16
	valley := make([]candidate, n)
	for j := range valley {
		d := uint64(max(j-n/2, n/2-j))
		valley[j] = candidate{d * d, 1, int32(j)}
	}
	sorted := slices.Clone(valley)
	start := time.Now()
	slices.SortFunc(sorted, candidate.compare)
	limit := 20 * time.Since(start) // other work may share the cores
	for _, need := range []uint64{0, 1, n / 3, n} {
		start = time.Now()
		got, ok := pick(slices.Clone(valley), need)
		if took := time.Since(start); took > limit {
			t.Errorf("need %d: %v, want %v at most", need, took, limit)
		}
		if want := sorted[max(need, 1)-1]; !ok || got != want {
			t.Errorf("need %d: %v, %v, want %v", need, got, ok, want)
		}
	}
	if _, ok := pick(slices.Clone(valley), n+1); ok {
		t.Error("a threshold although all widths are too little")
	}
}

// TestPickTies holds pick against the sum over all candidates in order, for keys and widths of few values, 0 among them.
func TestPickTies(t *testing.T) {
	rng := numtest.NewSplitMix64(8)
	for range 3000 {
		some := make([]candidate, 1+rng.Uint64()%60)
		total := uint64(0)
		for j := range some {
			some[j] = candidate{rng.Uint64() % 3, rng.Uint64() % 3, int32(j)}
			total += some[j].width
		}
		sorted := slices.Clone(some)
		slices.SortFunc(sorted, candidate.compare)
		for need := range total + 2 {
			var want candidate
			sum, found := uint64(0), false
			for _, c := range sorted {
				if sum += c.width; sum >= need {
					want, found = c, true
					break
				}
			}
			if got, ok := pick(slices.Clone(some), need); ok != found || got != want {
				t.Fatalf("need %d of %v: %v, %v, want %v, %v", need, sorted, got, ok, want, found)
			}
		}
	}
}
