package ranking

import (
	"math"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"github.com/wpm-go/wpm/ldp"
)

// An even row lies in the box, and its sum up to any output is less than two widths from that of even shares.
func TestEven(t *testing.T) {
	rng := numtest.NewSplitMix64(3)
	for _, kv := range []int{1, 2, 3, 17, 400} {
		for _, bits := range []int{12, 30, 62} {
			m := make([]float64, kv)
			total := 0.0
			for j := range m {
				m[j] = 0.5 + rng.Float64()
				total += m[j]
			}
			for j := range m {
				m[j] *= 1.05 / total
			}
			box, err := ldp.NewPolytope(given.Epsilon(t, "1"), m, bits)
			if err != nil {
				t.Fatal(err)
			}
			w, err := even(box)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Even(box); err != nil {
				t.Error(err)
			}
			widest, free, all := 0.0, float64(box.Total()), 0.0
			for j := range kv {
				free -= float64(box.Lo(j))
				all += float64(box.Hi(j) - box.Lo(j))
				widest = max(widest, float64(box.Hi(j)-box.Lo(j)))
			}
			given, want := 0.0, 0.0
			for j := range kv {
				given += float64(w.At(j) - box.Lo(j))
				want += free / all * float64(box.Hi(j)-box.Lo(j))
				if math.Abs(given-want) > 2*widest+1e-12*free { // and the roundings of the sums
					t.Errorf("kv %d, %d bits: %v given up to %d, even shares are %v, widths at most %v", kv, bits, given, j,
						want, widest)
				}
			}
		}
	}
}

// The rows are those of the fill by key, and an input that is none is an error.
func TestRows(t *testing.T) {
	for name, c := range placed(t) {
		r, err := Of(c)
		if err != nil {
			t.Fatal(err)
		}
		_, kv := c.Dims()
		box, err := ldp.NewPolytope(given.Epsilon(t, "2"), slices.Repeat([]float64{1 / float64(kv)}, kv), 40)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := r.Rows(t.Context(), box)
		if err != nil {
			t.Fatal(name, err)
		}
		want, err := r.Thresholds(t.Context(), box)
		if err != nil {
			t.Fatal(name, err)
		}
		k, _ := c.Dims()
		for i := range k {
			if rows.Thresholds[i] != want[i] {
				t.Errorf("%s: threshold %d is %d, want %d", name, i, rows.Thresholds[i], want[i])
			}
			if w, err := rows.Row(i); err != nil || w.Len() != kv || w.Bits() != box.Bits() {
				t.Errorf("%s: row %d: %v", name, i, err)
			}
		}
		if _, err := rows.Row(k); err == nil {
			t.Errorf("%s: row %d of %d", name, k, k)
		}
	}
}
