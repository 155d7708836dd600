package kl

import (
	"math"
	"testing"
)

func TestRepair(t *testing.T) {
	for _, c := range []struct{ q, lo, hi []float64 }{
		{[]float64{.5, .4}, []float64{0, 0}, []float64{1, 1}},
		{[]float64{.5, .4}, []float64{.5, .4}, []float64{.55, 1}},
		{[]float64{1, .4, .3}, []float64{0, .4, .2}, []float64{1, 1, 1}},
		{[]float64{1, 0}, []float64{0, 0}, []float64{1, 1}},
		{[]float64{.1, .1, .1}, []float64{.1, .1, .1}, []float64{.2, .2, .9}},
	} {
		q := append([]float64(nil), c.q...)
		Repair(q, c.lo, c.hi)
		var sum float64
		for j, x := range q {
			if !(c.lo[j] <= x && x <= c.hi[j]) {
				t.Errorf("Repair(%v) = %v leaves [%v, %v]", c.q, q, c.lo, c.hi)
			}
			sum += x
		}
		if !(math.Abs(sum-1) <= float64(len(q))*0x1p-52) {
			t.Errorf("Repair(%v) = %v sums to %v", c.q, q, sum)
		}
	}
}

// TestRepairInParts: what a sum lacks goes to the columns inside their bounds, in proportion, if it is little beside
// them, and to the first ones with room if not.
func TestRepairInParts(t *testing.T) {
	const off, same = 0x1p-40, 1e-3 // of the change, which is 2^12 ulps of a half
	for _, side := range []float64{1, -1} {
		d := side * off
		lo, hi := []float64{0.25, 0, 0, 0.125}, []float64{1, 1, 1, 1}
		q := []float64{0.25, 0.5 - d, 0.125, 0.125}
		want := []float64{0.25, q[1] + 0.8*d, q[2] + 0.2*d, 0.125} // at their bounds: the first and the last
		Repair(q, lo, hi)
		for j, x := range q {
			if !(math.Abs(x-want[j]) <= same*off) {
				t.Errorf("%v: column %d holds %v, want %v", d, j, x, want[j])
			}
		}
	}
	lo, hi := []float64{0.5, 0, 0}, []float64{1, 1, 0.5 - 2.5*off}
	q := []float64{0.5, 1.5 * off, 0.5 - 2.5*off} // 2^-40 less than 1, with little more than that inside
	if Repair(q, lo, hi); q[0] != 0.5+off || q[1] != 1.5*off {
		t.Errorf("%v", q)
	}
}
