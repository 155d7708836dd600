package proptest

import (
	"math"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/proptest/exact"
	"pgregory.net/rapid"
)

// TestGeneratorsReachEdges holds that each edge the laws rely on comes up in a modest number of draws. The
// seeds are fixed.
func TestGeneratorsReachEdges(t *testing.T) {
	const draws = 2000
	seen := map[string]int{}
	mark := func(name string, ok bool) {
		if ok {
			seen[name]++
		} else {
			seen[name] += 0
		}
	}
	problems := Problems(5, 5)
	for seed := range draws {
		p := problems.Example(seed)
		if err := valid(p); err != nil {
			t.Fatalf("seed %d: %v\n%#v", seed, err, p)
		}
		mark("k = 1", len(p.Mu) == 1)
		mark("kv = 1", len(p.Lo) == 1)
		mark("kv > k", len(p.Lo) > len(p.Mu))
		ties, zero, nearTie, low := false, false, false, p.C[0][0]
		for _, row := range p.C {
			for j, c := range row {
				low = min(low, c)
				zero = zero || c == 0
				if j > 0 {
					ties = ties || c == row[j-1]
					nearTie = nearTie || c != row[j-1] && math.Abs(c-row[j-1]) <= 4e-16*c
				}
			}
		}
		mark("equal costs", ties)
		mark("nearly equal costs", nearTie)
		mark("zero cost", zero)
		mark("all costs zero", MaxCost(p.C) == 0)
		mark("cost spread above 1e100", low > 0 && MaxCost(p.C)/low > 1e100)
		point, empty := false, false
		for _, m := range p.Mu {
			point = point || m == 1
			empty = empty || m == 0
		}
		mark("point mass", point && len(p.Mu) > 1)
		mark("row without mass", empty)
		shut, fixed := false, true
		sl, sh := 0.0, 0.0
		for j := range p.Lo {
			shut = shut || p.Hi[j] == 0
			fixed = fixed && p.Lo[j] == p.Hi[j]
			sl += p.Lo[j]
			sh += p.Hi[j]
		}
		mark("shut column", shut)
		mark("box of one point", fixed && len(p.Lo) > 1)
		mark("mass at the low end", math.Abs(sl-1) < 1e-14)
		mark("mass at the high end", math.Abs(sh-1) < 1e-14)
		_, _, err := exact.Box(p.Lo, p.Hi)
		mark("box that misses 1 by rounding",
			err == nil && (exact.Sum(exact.Rats(p.Lo)).Cmp(exact.Rat(1)) > 0 ||
				exact.Sum(exact.Rats(p.Hi)).Cmp(exact.Rat(1)) < 0))
		mark("mu that misses 1", exact.Sum(exact.Rats(p.Mu)).Cmp(exact.Rat(1)) != 0)
	}
	eps := Epsilon()
	for seed := range draws {
		e := eps.Example(seed)
		if !(e >= MinEpsilon && e <= MaxEpsilon) {
			t.Fatalf("eps = %v", e)
		}
		mark("eps below 1e-4", e < 1e-4)
		mark("eps above 20", e > 20)
	}
	rationals := ExactEpsilon()
	for seed := range draws {
		e := exact.Float(rationals.Example(seed))
		if !(e >= MinEpsilon && e <= MaxEpsilon) {
			t.Fatalf("exact eps = %v", e)
		}
		mark("exact eps below 0.01", e < 0.01)
		mark("exact eps above 10", e > 10)
	}
	hostile := Hostile(3)
	for seed := range draws {
		q := hostile.Example(seed)
		mark("hostile length", len(q) != 3)
		for _, v := range q {
			mark("NaN", math.IsNaN(v))
			mark("+Inf", math.IsInf(v, 1))
			mark("negative", v < 0)
		}
	}
	for name, n := range seen {
		if n < draws/200 {
			t.Errorf("%s: %d times in %d draws", name, n, draws)
		}
	}
}

func valid(p Problem) error {
	if _, err := exact.Distribution(p.Mu); err != nil {
		return err
	}
	_, _, err := exact.Box(p.Lo, p.Hi)
	return err
}

// TestFamiliesAreLDP: both generators of mechanisms make exactly what they promise, and FamiliesAt meets eps
// nearly with equality often enough to be a sharp adversary.
func TestFamiliesAreLDP(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := Families(rapid.IntRange(1, 4).Draw(t, "rows"), rapid.IntRange(1, 5).Draw(t, "kv")).Draw(t, "family")
		if err := exact.RowsHold(exact.NewExpo(f.Epsilon), f.Rows); err != nil {
			t.Fatal(err)
		}
		for _, row := range f.Rows {
			if !exact.TotalIs(row, f.Bits) {
				t.Fatalf("row %d does not sum to 2^%d", row, f.Bits)
			}
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		k, kv := Size(4).Draw(t, "k"), Size(4).Draw(t, "kv")
		eps := Epsilon().Draw(t, "eps")
		f := FamiliesAt(exact.Rat(eps), Costs(k, kv).Draw(t, "C"), BaseMeasure(kv, eps).Draw(t, "m")).Draw(t, "family")
		if len(f.Rows) != k {
			t.Fatalf("%d rows for %d inputs", len(f.Rows), k)
		}
		if err := exact.RowsHold(exact.NewExpo(exact.Rat(eps)), f.Rows); err != nil {
			t.Fatal(err)
		}
		for _, row := range f.Rows {
			if !exact.TotalIs(row, f.Bits) {
				t.Fatalf("row %d does not sum to 2^%d", row, f.Bits)
			}
		}
	})
}

// TestTransitiveCosts: all rows are permutations of each other, and so are the columns, which is what the
// optimality of the uniform measure needs.
func TestTransitiveCosts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := TransitiveCosts(8).Draw(t, "C")
		want := slices.Sorted(slices.Values(c[0]))
		for i := range c {
			col := make([]float64, len(c))
			for j := range c {
				col[j] = c[j][i]
			}
			for _, x := range [][]float64{c[i], col} {
				if got := slices.Sorted(slices.Values(x)); !slices.Equal(got, want) {
					t.Fatalf("row or column %d of %v is no permutation of the first row", i, c)
				}
			}
		}
	})
}
