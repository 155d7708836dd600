package plan

import (
	"errors"
	"math"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/wpmerr"
)

// TestDrift: transport agrees on how far people move at most: to the farthest place for p = 1, no farther for p = 2.
func TestDrift(t *testing.T) {
	const k, share = 6, .3
	for _, p := range []float64{1, 2} {
		c := &cost.Dense{K: k, Kv: k}
		for i := range k {
			for j := range k {
				c.Data = append(c.Data, math.Pow(math.Abs(float64(i-j)), p))
			}
		}
		l, err := New(t.Context(), Problem{Cost: c, P: p})
		if err != nil {
			t.Fatal(err)
		}
		even, anywhere, err := l.Drift(share)
		if err != nil {
			t.Fatal(err)
		}
		moved := func(w []float64, to func(i int) float64) float64 {
			after := make([]float64, k)
			for i := range after {
				after[i] = (1-share)*w[i] + share*to(i)
			}
			d, err := l.distance(t.Context(), w, after)
			if err != nil {
				t.Fatal(err)
			}
			return d / float64(len(l.worlds))
		}
		spread, far := 0.0, 0.0
		for _, w := range l.worlds {
			spread += moved(w, func(int) float64 { return 1. / k })
			farthest := 0.0
			for j := range k {
				farthest = max(farthest, moved(w, func(i int) float64 {
					if i == j {
						return 1
					}
					return 0
				}))
			}
			far += farthest
		}
		// at p = 1 both are sums of the same terms in another order, and transport is exact to 1e-12
		if spread > even+1e-9 || far > anywhere+1e-9 || p == 1 && (even-spread > 1e-9 || anywhere-far > 1e-9) {
			t.Errorf("p = %v: moved %v and %v, bounds %v and %v", p, spread, far, even, anywhere)
		}
		if even, anywhere, err = l.Drift(0); even != 0 || anywhere != 0 || err != nil {
			t.Errorf("nobody moves: %v, %v, %v", even, anywhere, err)
		}
		for _, bad := range []float64{-.1, 1.1, math.NaN()} {
			if _, _, err := l.Drift(bad); !errors.Is(err, wpmerr.ErrSettings) {
				t.Errorf("a share of %v: %v", bad, err)
			}
		}
	}
}
