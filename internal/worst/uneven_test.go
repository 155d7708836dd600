package worst

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/knapsack"
	"github.com/wpm-go/wpm/ldp"
)

// With bounds of single units more or less, input 0 is no longer the worst: the upper bound of InBox holds for all
// inputs all the same, and that of Search does not always, or the test would show nothing.
func TestInBox(t *testing.T) {
	rng := numtest.NewSplitMix64(5)
	short := 0 // boxes in which the upper bound of Search is below the value of an input
	for _, lattice := range []string{"ring 7", "ring 12", "grid 3 4", "grid 1 9", "grid 5 2"} {
		for _, p := range []float64{0.5, 1, 3} {
			var c cost.Matrix
			var err error
			var rows, cols int
			if _, e := fmt.Sscanf(lattice, "grid %d %d", &rows, &cols); e == nil {
				c, err = cost.NewGrid(rows, cols, p)
			} else if _, e := fmt.Sscanf(lattice, "ring %d", &cols); e == nil {
				c, err = cost.NewRing(cols, p)
			}
			if err != nil {
				t.Fatal(err)
			}
			k, _ := c.Dims()
			for range 20 {
				box := roundedBox(t, rng, k)
				value := values(t, c, box)
				r, err := NewSpace(c).InBox(t.Context(), box, value, 0x1p-50, 0)
				if err != nil {
					t.Fatal(err)
				}
				plain, err := NewSpace(c).Search(t.Context(), nil, nil, value, 0x1p-50, 0)
				if err != nil {
					t.Fatal(err)
				}
				below := false
				for i := range k {
					v, err := value(i)
					if err != nil {
						t.Fatal(err)
					}
					if v > r.Upper {
						t.Errorf("%s, p = %v: input %d has %v, above %v", lattice, p, i, v, r.Upper)
					}
					below = below || v > plain.Upper
				}
				if below {
					short++
				}
				if got, _ := value(r.Input); got != r.Value {
					t.Errorf("%s, p = %v: input %d has %v, not %v", lattice, p, r.Input, got, r.Value)
				}
			}
		}
	}
	if short == 0 {
		t.Error("in every box input 0 was the worst")
	}
	stop := errors.New("stop")
	ring, err := cost.NewRing(8, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{0, 4} { // the first, and the other side
		_, err := NewSpace(ring).InBox(context.Background(), roundedBox(t, rng, 8), func(i int) (float64, error) {
			if i == at {
				return 0, stop
			}
			return 1, nil
		}, 0x1p-50, 0)
		if !errors.Is(err, stop) {
			t.Errorf("an error at input %d: %v", at, err)
		}
	}
}

// roundedBox returns a box of few bits, whose bounds differ by a unit here and there.
func roundedBox(t *testing.T, rng *numtest.SplitMix64, kv int) *ldp.Polytope {
	t.Helper()
	m := make([]float64, kv)
	for j := range m {
		m[j] = (1 + 0.2*rng.Float64()) / (1.1 * float64(kv))
	}
	eps, err := ldp.ParseEpsilon("1")
	if err != nil {
		t.Fatal(err)
	}
	box, err := ldp.NewPolytope(eps, m, 8)
	if err != nil {
		t.Fatal(err)
	}
	return box
}

// values returns the costs of the cheapest rows.
func values(t *testing.T, c cost.Matrix, box *ldp.Polytope) func(int) (float64, error) {
	t.Helper()
	table, err := knapsack.New(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	kv := box.Len()
	lo, hi, n := make([]uint64, kv), make([]uint64, kv), make([]uint64, kv)
	for j := range lo {
		lo[j], hi[j] = box.Lo(j), box.Hi(j)
	}
	return func(i int) (float64, error) {
		knapsack.FillUnits(table.Order(i), lo, hi, box.Total(), n)
		sum := 0.0
		for j, x := range table.Row(i, nil) {
			sum += x * float64(n[j]) / float64(box.Total())
		}
		return sum, nil
	}
}
