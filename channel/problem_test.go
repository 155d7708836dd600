package channel

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/wpmerr"
)

func TestErrors(t *testing.T) {
	one := parse(t, "1")
	c := grid(t, 3)
	for name, x := range map[string]struct {
		p    Problem
		want error
	}{
		"no cost":       {Problem{Epsilon: one, Devices: 1}, wpmerr.ErrShape},
		"no eps":        {Problem{Cost: c, Devices: 1}, wpmerr.ErrShape},
		"no device":     {Problem{Cost: c, Epsilon: one}, wpmerr.ErrShape},
		"too many":      {Problem{Cost: c, Epsilon: one, Devices: MaxDevices + 1}, wpmerr.ErrShape},
		"no mass":       {Problem{Cost: c, Epsilon: one, Devices: 1, Prior: make([]float64, 9)}, wpmerr.ErrMass},
		"a short prior": {Problem{Cost: c, Epsilon: one, Devices: 1, Prior: []float64{1}}, wpmerr.ErrShape},
		"NaN":           {Problem{Cost: c, Epsilon: one, Devices: 1, Prior: []float64{8: math.NaN()}}, wpmerr.ErrNotFinite},
		"bits":          {Problem{Cost: c, Epsilon: one, Devices: 1, Bits: 63}, wpmerr.ErrShape},
		"few bits":      {Problem{Cost: c, Epsilon: one, Devices: 1, Bits: 2}, ErrBits},
		"power":         {Problem{Cost: &cost.Dense{K: 1, Kv: 1, Data: []float64{0}}, P: -1, Epsilon: one, Devices: 1}, cost.ErrExponent},
	} {
		if _, err := New(context.Background(), x.p); !errors.Is(err, x.want) {
			t.Errorf("%s: %v, want %v", name, err, x.want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := New(ctx, Problem{Cost: c, Epsilon: one, Devices: 1000}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestOdd: places at distance 0, one place, places that are all equal, a matrix that is no distance, priors on one
// place, one device and 10^12: an answer that is private.
func TestOdd(t *testing.T) {
	points := func(x ...float64) cost.Matrix {
		rows := make([][]float64, len(x))
		for i, v := range x {
			rows[i] = []float64{v}
		}
		c, err := cost.NewPoints(rows, nil, 1)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	for name, c := range map[string]cost.Matrix{
		"one place": points(5), "all equal": points(2, 2, 2, 2), "two": points(0, 1), "pairs": points(0, 0, 1, 1, 7),
		"far":    points(0, 1e-300, 1, 1e300),
		"matrix": &cost.Dense{K: 3, Kv: 4, Data: []float64{0, 1, 2, 9, 3, 0, 1, 1, 5, 5, 0, 0}},
		"zero":   &cost.Dense{K: 3, Kv: 2, Data: make([]float64, 6)},
		// The chain 1-2-3 breaks the triangle inequality.
		"no metric": &cost.Dense{K: 3, Kv: 3, Data: []float64{0, 1, 100, 1, 0, 1, 100, 1, 0}},
	} {
		k, _ := c.Dims()
		last := make([]float64, k)
		last[k-1] = 1
		for _, eps := range []string{"0.01", "1", "8"} {
			for _, devices := range []int64{1, 1000, MaxDevices} {
				for _, prior := range [][]float64{nil, last} {
					d, err := New(context.Background(), Problem{Cost: c, Epsilon: parse(t, eps), Devices: devices, Prior: prior})
					if err != nil {
						t.Errorf("%s, eps %s, N %d: %v", name, eps, devices, err)
						continue
					}
					if !(d.Risk > 0 && d.Risk < 2 && d.Gap >= 0 && d.Disc > 0) {
						t.Errorf("%s, eps %s, N %d: %+v", name, eps, devices, d)
					}
					private(t, d.Mixture)
				}
			}
		}
	}
}

// TestMatrix: inputs of a cost without distances are at max_y |C_iy - C_jy|.
func TestMatrix(t *testing.T) {
	d, err := distances(context.Background(), &cost.Dense{K: 3, Kv: 2, Data: []float64{0, 1, 4, 1, 0, 3}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]float64{{0, 4, 2}, {4, 0, 4}, {2, 4, 0}} {
		for j, v := range d.row(i, nil) {
			if v != want[j] {
				t.Errorf("distance of %d and %d: %v, want %v", i, j, v, want[j])
			}
		}
	}
}

// TestNet: centres are at least 0.7 s apart, every place is within s of its block's centre, blocks are numbered without
// gaps, and balanced colours differ by one block at most.
func TestNet(t *testing.T) {
	c := grid(t, 12)
	d, err := distances(context.Background(), c, 1)
	if err != nil {
		t.Fatal(err)
	}
	for n, s := range []float64{0, 0.05, 0.12, 0.3, 0.9, 5} {
		block, blocks := d.net(s, d.k, generator(1, uint64(n)))
		inside := make([]int, blocks)
		for i, b := range block {
			inside[b]++
			for j := range i {
				if block[j] == b && d.row(i, nil)[j] >= 2*s {
					t.Errorf("scale %v: two places of a block are at %v", s, d.row(i, nil)[j])
				}
			}
		}
		for b, n := range inside {
			if n == 0 {
				t.Errorf("scale %v: block %d is empty", s, b)
			}
		}
		if s == 0 && blocks != 144 || s == 5 && blocks != 1 {
			t.Errorf("scale %v: %d blocks", s, blocks)
		}
		for _, g := range []int{1, 2, 4, blocks} {
			if g > blocks {
				continue
			}
			of, colour := make([]int, g), paint(block, blocks, g, generator(2, uint64(n)))
			seen := make(map[int32]int32)
			for i, b := range block {
				if before, ok := seen[b]; ok && before != colour[i] {
					t.Fatalf("scale %v: block %d has two colours", s, b)
				} else if !ok {
					of[colour[i]]++
				}
				seen[b] = colour[i]
			}
			for _, n := range of {
				if n < blocks/g || n > (blocks+g-1)/g {
					t.Errorf("scale %v: %v blocks of each of %d colours", s, of, g)
				}
			}
		}
	}
}

func TestCounts(t *testing.T) {
	for eps, want := range map[float64]int{0.1: 24, 2: 24, 3: 14, 4: 8, 64: 8} {
		if got := codesAt(eps); got != want {
			t.Errorf("codesAt(%v) = %d, want %d", eps, got, want)
		}
	}
	for eps, want := range map[float64]int{1e-18: 2, 0.5: 3, 1: 4, 2: 8, 4: 56, 64: 1000} {
		if got := colours(eps, 1000); got != want {
			t.Errorf("colours(%v) = %d, want %d", eps, got, want)
		}
	}
}

// TestShares: integers above 0 that sum to 2^B, within one of the shares where that leaves room.
func TestShares(t *testing.T) {
	for _, w := range [][]float64{{1}, {0.5, 0.5}, {1. / 3, 1. / 3, 1. / 3}, {0.999999, 1e-30, 1e-6 - 1e-30}, {0.1, 0.2, 0.3, 0.4}} {
		for _, bits := range []int{2, 8, 20, 53, 62} {
			got, err := shares(w, bits)
			if err != nil {
				t.Fatal(err)
			}
			sum := uint64(0)
			for n, v := range got {
				sum += v
				if off := math.Abs(float64(v) - math.Ldexp(w[n], bits)); v == 0 || off > 3+math.Ldexp(1, bits-50) {
					t.Errorf("shares(%v, %d) = %v", w, bits, got)
				}
			}
			if sum != 1<<bits {
				t.Errorf("shares(%v, %d) = %v of sum %d", w, bits, got, sum)
			}
		}
	}
	if _, err := shares(make([]float64, 5), 2); !errors.Is(err, ErrBits) {
		t.Errorf("5 components of 2 bits: %v", err)
	}
}

// TestWeights: the programme is within its gap of the best of 1,000 mixtures of two discs.
func TestWeights(t *testing.T) {
	p := Problem{Cost: grid(t, 6), Epsilon: parse(t, "1"), Devices: 20_000}
	d, u, err := p.check(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	r, err := newRisk(d, u, 20_000)
	if err != nil {
		t.Fatal(err)
	}
	infos := [][]float64{r.ofDisc(1, 2), r.ofDisc(1, 18)}
	best := math.Inf(1)
	for n := range 1001 {
		w, all := float64(n)/1000, make([]float64, r.entries())
		blasOf.Daxpy(len(all), w, infos[0], 1, all, 1)
		blasOf.Daxpy(len(all), 1-w, infos[1], 1, all, 1)
		best = min(best, r.value(all, nil))
	}
	value, gap := r.weights(infos, []float64{0.5, 0.5}, maxSteps)
	// The scan is up to its own step above the minimum.
	if !(value-gap <= best && value <= best*(1+wantGap)) {
		t.Errorf("risk %v with a gap of %v; the scan finds %v", value, gap, best)
	}
}
