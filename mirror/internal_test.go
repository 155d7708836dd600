package mirror

import (
	"context"
	"math"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/knapsack"
)

// TestShiftClosesRing: on a ring equal weights and equal thresholds, shifted, prove the optimum, wherever they start.
// It has a closed form: with the costs of a row in order and kappa = E - 1, the least over n of
// J(n) = (kappa * sum of the n cheapest + sum of all) / (kappa*n + k).
func TestShiftClosesRing(t *testing.T) {
	const k = 30
	ring, err := cost.NewRing(k, 2)
	if err != nil {
		t.Fatal(err)
	}
	table, err := knapsack.New(context.Background(), ring)
	if err != nil {
		t.Fatal(err)
	}
	golden := map[float64]float64{2: 29.495487286, 5: 4.86155374524601}
	for _, eps := range []float64{0.1, 2, 5, 12, 30, 100} {
		row, order, kappa := table.Row(0, nil), table.Order(0), math.Expm1(eps)
		all, cheap, want := 0.0, 0.0, math.Inf(1)
		for _, c := range row {
			all += c
		}
		for n, j := range order {
			cheap += row[j]
			want = min(want, (kappa*cheap+all)/(kappa*float64(n+1)+k))
		}
		want = min(want, all/k)
		if g, ok := golden[eps]; ok {
			numtest.Near(t, "closed form", want, g, numtest.Tol{Rel: 1e-11, Why: "digits given"})
		}
		for _, start := range []float64{0, 1, 7.25, 100, 225} {
			p := newProver(table, eps)
			c := cuts{make([]float64, k), make([]float64, k)}
			for i := range k {
				c.add(i, start, 3)
			}
			p.improve(&c)
			if !(p.lower <= want*(1+1e-14)) {
				t.Errorf("eps = %v from %v: lower bound %v above the optimum %v", eps, start, p.lower, want)
			}
			// The error of the column sums: 38 roundings of sums that are at most 225 on the cheap side.
			numtest.Near(t, "lower", p.lower, want,
				numtest.Tol{Rel: 1e-13, Abs: 40 * 225 * 0x1p-53, Why: "relative to the costs"})
		}
	}
}

// TestShiftIsBest compares improve with the bound at many other shifts, evaluated naively, for cuts at random.
func TestShiftIsBest(t *testing.T) {
	rnd := numtest.NewSplitMix64(3)
	for range 300 {
		k, kv := 1+rnd.Intn(6), 1+rnd.Intn(6)
		c := &cost.Dense{K: k, Kv: kv}
		for range k * kv {
			c.Data = append(c.Data, rnd.Float64()*float64(1+rnd.Intn(3)))
		}
		table, err := knapsack.New(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		eps := 4 * rnd.Float64()
		e := math.Exp(eps)
		list := cuts{make([]float64, k), make([]float64, k)}
		total := 0.0
		for range 1 + rnd.Intn(9) {
			i := rnd.Intn(k)
			w := 1 + float64(rnd.Intn(5))
			list.add(i, c.Data[i*kv+rnd.Intn(kv)], w)
			total += w
		}
		bound := func(shift float64) float64 {
			sum, b := 0.0, make([]float64, kv)
			for i, w := range list.weights {
				if w == 0 {
					continue
				}
				low := c.Data[i*kv+int(table.Order(i)[0])]
				eta := max(list.thresholds[i]+shift, low)
				sum += w / total * eta
				for j := range b {
					d := c.Data[i*kv+j] - eta
					b[j] += w / total * (max(d, 0) - e*max(-d, 0))
				}
			}
			least := math.Inf(1)
			for _, x := range b {
				least = min(least, x)
			}
			return sum + min(least, least/e)
		}
		p := newProver(table, eps)
		p.lower = math.Inf(-1) // the bound of the cuts alone
		p.improve(&list)
		best := math.Inf(-1)
		for n := -300; n <= 300; n++ {
			best = max(best, bound(float64(n)/100))
		}
		const rounding = 1e-12
		if !(p.lower >= best-rounding) {
			t.Fatalf("improve finds %v, another shift %v: %+v of %v at eps = %v", p.lower, best, list, c.Data, eps)
		}
	}
}
