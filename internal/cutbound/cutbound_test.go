package cutbound

import (
	"context"
	"math"
	"math/big"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/num"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/knapsack"
)

// eighths draws a table of costs that are multiples of 1/8, few enough that sums of them are exact.
func eighths(t *testing.T, g *numtest.SplitMix64, k, kv int) *knapsack.Table {
	t.Helper()
	c := &cost.Dense{K: k, Kv: kv}
	for range k * kv {
		c.Data = append(c.Data, float64(g.Intn(25))/8)
	}
	table, err := knapsack.New(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// TestParts compares the sums of the lower bound, its value and its slope with exact ones: on the safe side, and by no
// more than rounding.
func TestParts(t *testing.T) {
	// The errors allowed for are some dozen roundings of the sums of positive terms; so are those made.
	const most = 0x1p-46
	const tiny = 1e-300 // some smallest floats, for products that underflow
	g := numtest.NewSplitMix64(81)
	for n := range 300 {
		k, kv := 1+g.Intn(11), 1+g.Intn(9)
		if n%20 == 0 { // more than one goroutine, and more than one block
			k, kv = 40, 4*columnBlock+g.Intn(columnBlock)
		}
		table := eighths(t, g, k, kv)
		const e = 4
		d := New(table, num.Enclosure{Down: e, Near: e, Up: e})
		d.Slop = float64(n%3%2) * 8 * 0x1p-53
		weights := make([]float64, k)
		total := 0.0
		for i := range weights {
			if weights[i] = float64(g.Intn(4)) / 4; i == k-1 && total == 0 {
				weights[i] = 1
			}
			if d.Slop > 0 && i == k-1 {
				weights[i] = 1
			}
			total += weights[i]
			d.Thresholds[i] = float64(g.Intn(33)-4) / 8
		}
		if d.Slop > 0 {
			total = 1 // the weights are taken as summing to one
		}
		// Multiples of 1/32 below 2^20: nothing is rounded.
		column := func(j int, by float64) (b, size float64) {
			for i, w := range weights {
				x := table.Row(i, nil)[j] - d.Thresholds[i] - by
				if x > 0 {
					x /= e
				}
				size += math.Abs(w * x)
				b += w * x
			}
			return b, size
		}
		least, at := d.Least(weights)
		scale, want := 0.0, math.Inf(1)
		for j := range kv {
			b, size := column(j, 0)
			scale, want = max(scale, size), min(want, b)
			above, below := 0.0, 0.0
			for i, w := range weights {
				x := table.Row(i, nil)[j] - d.Thresholds[i]
				above += w * max(x, 0)
				below += w * max(-x, 0)
			}
			if d.above[j] != above || d.below[j] != below {
				t.Fatalf("column %d: %v above and %v below, want %v and %v", j, d.above[j], d.below[j], above, below)
			}
		}
		if !(least <= want && want-least <= most*scale+tiny) {
			t.Fatalf("least %v, want %v less rounding", least, want)
		}
		if b, _ := column(at, 0); !(b <= want+most*scale) {
			t.Fatalf("column %d is not the least", at)
		}

		for _, x := range []float64{least, 0, 1.5, -1.5} {
			sum, size := new(big.Rat), e*math.Abs(x)
			sum.SetFloat64(x)
			if x < 0 {
				sum.Mul(sum, big.NewRat(e, 1))
			}
			exact := 0.0
			for i, w := range weights {
				exact += w * d.Thresholds[i]
				size += math.Abs(w * d.Thresholds[i])
			}
			sum.Add(sum, num.Rat(exact)).Quo(sum, num.Rat(total))
			f, _ := sum.Float64()
			if got := d.Value(weights, x); num.Rat(got).Cmp(sum) > 0 || !(f-got <= most*size/total+tiny) {
				t.Fatalf("value %v of %v, want %v less rounding", got, x, f)
			}
		}

		for range 5 {
			j := g.Intn(kv)
			before, _ := column(j, 0)
			for _, by := range []float64{1. / 16, -1. / 16} { // nearer than any kink
				after, _ := column(j, by)
				slope := (before - after) / by
				if got := d.Slope(weights, j, by > 0); got != slope {
					t.Fatalf("slope %v of column %d to the side of %v, want %v", got, j, by, slope)
				}
			}
		}
	}
}
