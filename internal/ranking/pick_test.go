package ranking

import (
	"slices"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
)

// TestPickFalling: keys that fall and rise, as those along a line do, are halved in a round or two. Pivots from the ends
// and the middle took a few of them in a round, and so the square of the number in all.
func TestPickFalling(t *testing.T) {
	const n = 1 << 16
	valley := make([]candidate, n)
	for j := range valley {
		d := uint64(max(j-n/2, n/2-j))
		valley[j] = candidate{d * d, 1, int32(j)}
	}
	sorted := slices.Clone(valley)
	slices.SortFunc(sorted, candidate.compare)
	for _, need := range []uint64{0, 1, n / 3, n} {
		got, ok := pick(slices.Clone(valley), need)
		if want := sorted[max(need, 1)-1]; !ok || got != want {
			t.Errorf("need %d: %v, %v, want %v", need, got, ok, want)
		}
		some, left, at, rounds := slices.Clone(valley), need, uint64(1), 0
		for len(some) > 16 && rounds <= n {
			some, left, at = narrow(some, left, at)
			rounds++
		}
		if rounds > 48 { // four for each halving: the median of three leaves two thirds on average
			t.Errorf("need %d: %d rounds for 12 halvings", need, rounds)
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
