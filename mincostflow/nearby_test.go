package mincostflow

import (
	"math"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/cost"
)

// orderOf is nearby for a matrix in memory.
func orderOf(c *cost.Dense) []int32 {
	var r rows
	r.reset(c, c.Kv)
	return nearby(&r, c.K, c.Kv, slices.Max(c.Data))
}

// TestNearby: of shuffled points on a line, every power of two of columns from its multiple on is a stretch of the line.
func TestNearby(t *testing.T) {
	for seed := range 20 {
		d := newDraw(uint64(seed) + 79e6)
		k, kv := 2+d.Intn(40), newtonColumns+d.Intn(200)
		place := make([]float64, kv) // 0 to kv - 1, shuffled
		for j := range place {
			i := d.Intn(j + 1)
			place[j] = place[i]
			place[i] = float64(j)
		}
		c := &cost.Dense{K: k, Kv: kv, Data: make([]float64, k*kv)}
		scale := math.Ldexp(1, d.Intn(2000)-1030)
		for i := range k {
			x := (d.Float64() + float64(2*d.Intn(2)-1)) * float64(kv) // on either side of all, so that costs do not fold the line
			for j, y := range place {
				c.Data[i*kv+j] = math.Abs(x-y) / float64(kv) * scale
			}
		}
		order := orderOf(c)
		for n := 1; n < kv; n *= 2 {
			for from := 0; from < kv; from += n {
				part := order[from:min(from+n, kv)]
				least, most := math.Inf(1), math.Inf(-1)
				for _, j := range part {
					least, most = min(least, place[j]), max(most, place[j])
				}
				if int(most-least)+1 != len(part) {
					t.Fatalf("seed %d: %d columns from %d on lie between %v and %v", seed, len(part), from, least, most)
				}
			}
		}
	}
}

// TestNearbyIsAPermutation: whatever the costs; and the natural one where there is nothing to tell.
func TestNearbyIsAPermutation(t *testing.T) {
	natural := func(n int) []int32 {
		x := make([]int32, n)
		for j := range x {
			x[j] = int32(j)
		}
		return x
	}
	for seed := range 60 {
		d := newDraw(uint64(seed) + 80e6)
		k, kv := 1+d.Intn(30), 1+d.Intn(3*newtonColumns)
		c := d.costs(k, kv)
		switch seed % 4 {
		case 0:
			for x := range c.Data {
				c.Data[x] = float64(d.Intn(2)) * math.MaxFloat64
			}
		case 1:
			for x := range c.Data {
				c.Data[x] = float64(d.Intn(2)) * math.SmallestNonzeroFloat64
			}
		case 2:
			for x := range c.Data {
				c.Data[x] = float64(seed / 4 % 2)
			}
		}
		order := orderOf(c)
		if same := seed%4 == 2 || kv < newtonColumns; same && !slices.Equal(order, natural(kv)) {
			t.Fatalf("seed %d: order %v", seed, order)
		}
		slices.Sort(order)
		if !slices.Equal(order, natural(kv)) {
			t.Fatalf("seed %d: columns %v", seed, order)
		}
	}
}

// TestNearbyReads: rows from all parts of the cost, columns that take nothing as if they cost the most of those that do, and
// columns that are the same in their own order.
func TestNearbyReads(t *testing.T) {
	for seed := range 20 {
		d := newDraw(uint64(seed) + 82e6)
		k, kv := 2*nearbyRows+d.Intn(20), newtonColumns+d.Intn(200)
		kinds := 2 + d.Intn(5)
		c := &cost.Dense{K: k, Kv: kv, Data: make([]float64, k*kv)}
		for i := k - k/4; i < k; i++ {
			for j := range kv {
				c.Data[i*kv+j] = float64(j%kinds) / float64(kinds-1)
			}
		}
		order := orderOf(c)
		for n, j := range order[1:] {
			if i := order[n]; int(i)%kinds == int(j)%kinds && i > j {
				t.Fatalf("seed %d: column %d before %d", seed, i, j)
			}
		}
		if slices.IsSorted(order) {
			t.Fatalf("seed %d: no row has been read that tells columns apart", seed)
		}
		dead := d.Intn(kv)
		at := func(x float64) []int32 {
			for i := range k {
				c.Data[i*kv+dead] = x
			}
			var r rows
			r.reset(c, kv)
			return nearby(&r, k, kv, 1)
		}
		if a, b := at(1), at(1e300); !slices.Equal(a, b) {
			t.Fatalf("seed %d: the cost of column %d, which takes nothing, matters", seed, dead)
		}
	}
}
