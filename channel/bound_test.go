package channel

import (
	"math"
	"testing"

	"github.com/wpm-go/wpm/cost"
)

// TestWater: on a ring with an even prior, no eps-LDP channel has a risk below that of water-filling; see
// docs/algorithms/codes.md. No design is below it, and with many devices codes are near it where discs are not.
func TestWater(t *testing.T) {
	const k = 60
	ring, err := cost.NewRing(k, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, eps := range []string{"0.5", "1", "2"} {
		for _, devices := range []int64{500, 500_000} {
			p := Problem{Cost: ring, Epsilon: parse(t, eps), Devices: devices}
			d := design(t, p)
			_, r := riskOf(t, p)
			e := math.Exp(p.Epsilon.Float64())
			bound := 0.0
			for _, one := range r.priors {
				bound += one.scale * water(one, r.devices, k*(e-1)*(e-1)/(4*e))
			}
			got := math.Sqrt(plain(t, r, d.Mixture) / bound)
			t.Logf("eps %s, N %d: %.3f of the bound, best disc %.3f", eps, devices, got, got/d.Risk)
			if limit := map[int64]float64{500: 1.35, 500_000: 1.45}[devices]; !(got > 1-1e-9 && got < limit && (devices == 500 || d.Risk < 0.95)) {
				t.Errorf("eps %s, N %d: %v of the bound", eps, devices, got)
			}
		}
	}
}

// water is min sum_b A_bb / (1 + N s_b x_b) over x >= 0 of the given sum, s_b the square of column b of R.
func water(r prior, devices, total float64) float64 {
	s := make([]float64, r.r)
	for i := range len(r.root) / r.r {
		for b, v := range r.root[i*r.r:][:r.r] {
			s[b] += v * v
		}
	}
	at := func(level float64) (risk, used float64) {
		for b, s := range s {
			a := max(0, r.weigh[b*r.r+b]) // 0 for even waves on a ring
			x := max(0, (math.Sqrt(devices*s*a/level)-1)/(devices*s))
			used += x
			risk += a / (1 + devices*s*x)
		}
		return risk, used
	}
	low, high := 1e-300, 1e300 // of the level: used falls with it
	for range 4000 {
		middle := math.Sqrt(low) * math.Sqrt(high)
		if _, used := at(middle); used > total {
			low = middle
		} else {
			high = middle
		}
	}
	risk, _ := at(low) // more than total is used: the risk is a lower bound
	return risk
}
