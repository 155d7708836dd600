package cost

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Parts have the entries of the whole, bit for bit, whatever the kind.
func TestPart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(1, 12).Draw(t, "k")
		p := rapid.SampledFrom([]float64{0.5, 1, 2, 3}).Draw(t, "p")
		coordinate := rapid.Float64Range(-80, 80)
		var list [][]float64
		var places [][2]float64
		dim := rapid.IntRange(1, 4).Draw(t, "dim")
		for range k {
			x := make([]float64, dim)
			for a := range x {
				x[a] = coordinate.Draw(t, "x")
			}
			list, places = append(list, x), append(places, [2]float64{coordinate.Draw(t, "lat"), coordinate.Draw(t, "lon")})
		}
		points, err := NewPoints(list, nil, p)
		if err != nil {
			t.Fatal(err)
		}
		circle, err := NewGreatCircle(places, nil, p)
		if err != nil {
			t.Fatal(err)
		}
		old, err := newGreatCircle(places, nil, p, true)
		if err != nil {
			t.Fatal(err)
		}
		table, err := Materialize(t.Context(), points)
		if err != nil {
			t.Fatal(err)
		}
		some := rapid.SliceOfN(rapid.IntRange(0, k-1), 1, 2*k)
		rows, cols := some.Draw(t, "rows"), some.Draw(t, "cols")
		for n, m := range []Matrix{points, circle, old, table} {
			part := Part(m, rows, cols)
			if (part == nil) != (n == 3) {
				t.Fatalf("matrix %d: part %v", n, part)
			}
			among := Among(m, cols)
			for a, i := range rows {
				if part == nil {
					break
				}
				whole, got := m.Row(i, nil), part.Row(a, nil)
				for b, j := range cols {
					if got[b] != whole[j] {
						t.Fatalf("matrix %d: entry %d, %d is %v, want %v", n, i, j, got[b], whole[j])
					}
				}
			}
			for a, i := range cols {
				want := m.Row(i, nil)
				if !slices.EqualFunc(among.Row(a, nil), cols, func(v float64, j int) bool { return v == want[j] }) {
					t.Fatalf("matrix %d: row %d among %v is %v", n, i, cols, among.Row(a, nil))
				}
			}
		}
	})
}
