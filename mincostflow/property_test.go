package mincostflow

import (
	"context"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"math"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/cost"
)

// problems draws small problems with dyadic data: masses and bounds are multiples of 2^-12, costs
// of 2^-4, so that the laws below are exact statements about the inputs.
func problems(t *rapid.T) Problem {
	k, kv := rapid.IntRange(1, 6).Draw(t, "k"), rapid.IntRange(1, 6).Draw(t, "kv")
	c := &cost.Dense{K: k, Kv: kv, Data: make([]float64, k*kv)}
	top := rapid.SampledFrom([]int{0, 1, 3, 100, 1 << 20}).Draw(t, "top")
	for x := range c.Data {
		c.Data[x] = float64(rapid.IntRange(0, top).Draw(t, "c")) / 16
	}
	p := Problem{Cost: c, Source: shares(t, k, "mu")}
	m := shares(t, kv, "m")
	switch rapid.IntRange(0, 4).Draw(t, "box") {
	case 0:
		p.Lo, p.Hi = m, m
	case 1:
		p.Lo, p.Hi = m, scaled(m, 2)
	case 2:
		p.Lo, p.Hi = scaled(m, 0.5), m
	case 3:
		p.Lo, p.Hi = scaled(m, 0.5), scaled(m, 2)
	default:
		p.Lo, p.Hi = scaled(m, 0.25), repeat(2, kv)
	}
	return p
}

// shares draws n multiples of 2^-12 with sum 1, often with zeros.
func shares(t *rapid.T, n int, name string) []float64 {
	x := make([]float64, n)
	left := 4096
	for i := range n - 1 {
		u := rapid.OneOf(rapid.Just(0), rapid.Just(4096/n), rapid.IntRange(0, left)).Draw(t, name)
		u = min(u, left)
		x[i] = float64(u) / 4096
		left -= u
	}
	x[n-1] = float64(left) / 4096
	return x
}

// solved is Project with every check.
func solved(t *rapid.T, p Problem) Result {
	r, err := Project(context.Background(), p, Settings{})
	return proved(t, p, r, err)
}

// solvedBySimplex is the same, also for a single row with mass.
func solvedBySimplex(t *rapid.T, p Problem) Result {
	r, err := bySimplex(p, math.MaxInt)
	return proved(t, p, r, err)
}

// proved checks a result.
func proved(t *rapid.T, p Problem, r Result, err error) Result {
	if err != nil {
		t.Fatalf("Project: %v", err)
	}
	if _, _, err := Verify(context.Background(), p, r); err != nil {
		t.Fatalf("Verify: %v", err)
	}
	if top := given.Max(p.Cost); !(r.Gap() <= gapTol*top+quantum) {
		t.Fatalf("gap %g", r.Gap())
	}
	return r
}

// same fails unless both enclose a common value.
func same(t *rapid.T, law string, a, b Result) {
	t.Helper()
	if a.Lower > b.Upper || b.Lower > a.Upper {
		t.Fatalf("%s: [%v, %v] and [%v, %v] are disjoint", law, a.Lower, a.Upper, b.Lower, b.Upper)
	}
}

// TestGenerator: the laws are only as good as the problems they see.
func TestGenerator(t *testing.T) {
	seen := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		p := problems(t)
		if err := new(solver).in.set(p); err != nil {
			t.Fatalf("%v", err)
		}
		r := solvedBySimplex(t, p)
		note := func(name string, yes bool) {
			if yes {
				seen[name]++
			}
		}
		note("drawn", true)
		note("moves", r.Objective > 0)
		note("degenerate", r.Stats.Degenerate > 0)
		note("zero mass", slices.Contains(p.Source, 0))
		note("point", slices.Equal(p.Lo, p.Hi))
		note("one row", len(p.Source) == 1)
		note("no cost", given.Max(p.Cost) == 0)
	})
	if seen["drawn"] < 100 {
		return // -short draws too few to miss none of the kinds
	}
	for _, name := range []string{"moves", "degenerate", "zero mass", "point", "one row", "no cost"} {
		if seen[name] == 0 {
			t.Errorf("no problem drawn with %q: %v", name, seen)
		}
	}
}

func TestLawOfMethods(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := problems(t)
		same(t, "knapsack and simplex", solved(t, p), solvedBySimplex(t, p))
	})
}

// Weak duality: wherever the solver stops, its bounds enclose the optimum.
func TestLawOfWeakDuality(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := problems(t)
		best := solvedBySimplex(t, p)
		n := rapid.IntRange(1, 20).Draw(t, "pivots")
		r, _ := bySimplex(p, n)
		if r.Upper < best.Lower || r.Lower > best.Upper {
			t.Fatalf("after %d pivots: [%v, %v] at %v; optimum in [%v, %v]", n, r.Lower, r.Upper, r.Objective, best.Lower,
				best.Upper)
		}
		if _, _, err := Verify(context.Background(), p, r); err != nil {
			t.Fatalf("Verify: %v", err)
		}
	})
}

// permuted returns the problem with row i taken from rows[i] and column j from cols[j].
func permuted(p Problem, rows, cols []int) Problem {
	c := &cost.Dense{K: len(rows), Kv: len(cols)}
	q := Problem{Cost: c}
	for _, i := range rows {
		row := p.Cost.Row(i, nil)
		for _, j := range cols {
			c.Data = append(c.Data, row[j])
		}
		q.Source = append(q.Source, p.Source[i])
	}
	for _, j := range cols {
		q.Lo, q.Hi = append(q.Lo, p.Lo[j]), append(q.Hi, p.Hi[j])
	}
	return q
}

func indices(n int) []int {
	x := make([]int, n)
	for i := range x {
		x[i] = i
	}
	return x
}

func TestLawOfPermutation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := problems(t)
		k, kv := p.Cost.Dims()
		rows := rapid.Permutation(indices(k)).Draw(t, "rows")
		cols := rapid.Permutation(indices(kv)).Draw(t, "columns")
		same(t, "permutation", solved(t, p), solved(t, permuted(p, rows, cols)))
	})
}

// An offset per row costs its share of the source.
func TestLawOfRowOffsets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := problems(t)
		k, kv := p.Cost.Dims()
		c := p.Cost.(*cost.Dense)
		d := &cost.Dense{K: k, Kv: kv, Data: slices.Clone(c.Data)}
		var offset float64
		for i := range k {
			f := float64(rapid.IntRange(0, 1<<16).Draw(t, "f")) / 16
			offset += p.Source[i] * f // exact
			for j := range kv {
				d.Data[i*kv+j] += f
			}
		}
		a := solved(t, p)
		p.Cost = d
		b := solved(t, p)
		// One rounding of the sums below, outward.
		a.Lower = math.Nextafter(a.Lower+offset, 0)
		a.Upper = math.Nextafter(a.Upper+offset, math.Inf(1))
		same(t, "row offsets", a, b)
	})
}

// A power of two in front of the costs changes nothing else: every bit of q and of the plan stays.
func TestLawOfScale(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := problems(t)
		s := rapid.IntRange(-800, 800).Draw(t, "s")
		a := solved(t, p)
		c := p.Cost.(*cost.Dense)
		by := math.Ldexp(1, s)
		p.Cost = &cost.Dense{K: c.K, Kv: c.Kv, Data: scaled(c.Data, by)}
		b := solved(t, p)
		a.Potentials.F, a.Potentials.G = scaled(a.Potentials.F, by), scaled(a.Potentials.G, by)
		a.Objective *= by
		a.Lower *= by
		a.Upper *= by
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("scaled by 2^%d:\n%+v\n%+v", s, a, b)
		}
	})
}

// Splitting a row, or a column with its bounds, changes nothing.
func TestLawOfSplitting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := problems(t)
		k, kv := p.Cost.Dims()
		i, j := rapid.IntRange(0, k-1).Draw(t, "i"), rapid.IntRange(0, kv-1).Draw(t, "j")
		q := permuted(p, append(indices(k), i), append(indices(kv), j))
		q.Source[i] /= 4
		q.Source[k] *= 0.75
		q.Lo[j], q.Hi[j] = q.Lo[j]/2, q.Hi[j]/2
		q.Lo[kv], q.Hi[kv] = q.Lo[kv]/2, q.Hi[kv]/2
		same(t, "splitting", solved(t, p), solved(t, q))
	})
}

// A larger box cannot cost more.
func TestLawOfMonotony(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := problems(t)
		q := p
		q.Lo, q.Hi = scaled(p.Lo, 0.5), scaled(p.Hi, 2)
		if a, b := solved(t, p), solved(t, q); b.Lower > a.Upper {
			t.Fatalf("larger box: [%v, %v], smaller: [%v, %v]", b.Lower, b.Upper, a.Lower, a.Upper)
		}
	})
}

// A distribution in the box stays where it is, if that costs nothing.
func TestLawOfFixedPoints(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := problems(t)
		k, kv := p.Cost.Dims()
		if k > kv {
			return
		}
		c := p.Cost.(*cost.Dense)
		for i := range k {
			c.Data[i*kv+i] = 0
		}
		q := p
		q.Lo, q.Hi = make([]float64, kv), make([]float64, kv)
		copy(q.Lo, p.Source)
		copy(q.Hi, p.Source)
		for j := range kv {
			q.Lo[j] *= 0.5
		}
		if r := solvedBySimplex(t, q); r.Objective != 0 {
			t.Fatalf("Objective = %v, want 0", r.Objective)
		}
	})
}
