package cost_test

import (
	"context"
	"encoding/json"
	"errors"
	"github.com/wpm-go/wpm/internal/numtest/given"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/wpmerr"
)

// coordinate leans to equal, nearly equal, huge and tiny numbers.
var coordinate = rapid.OneOf(
	rapid.Float64Range(-1, 1),
	rapid.Map(rapid.IntRange(-3, 3), func(n int) float64 { return float64(n) }),
	rapid.Map(rapid.IntRange(-4, 4), func(n int) float64 { return 1 + float64(n)*0x1p-52 }),
	rapid.Custom(func(t *rapid.T) float64 {
		return math.Ldexp(rapid.Float64Range(-1, 1).Draw(t, "m"), rapid.IntRange(-1074, 1020).Draw(t, "e"))
	}),
	rapid.SampledFrom([]float64{0, negz, 5e-324, -5e-324, 1e150, -1e150, 1e-160, 1e307, maxF / 4}),
)

func points(t *rapid.T, name string, dim int) [][]float64 {
	point := rapid.SliceOfN(coordinate, dim, dim)
	return rapid.SliceOfN(point, 1, 6).Draw(t, name)
}

// exponent draws a power; the odd ones are rare.
var exponent = rapid.OneOf(rapid.SampledFrom([]float64{1, 2}), rapid.SampledFrom([]float64{0.25, 1.5, 3, 4}),
	rapid.Float64Range(0.01, 8))

// structured draws a cost of any structured type, and says whether it has one point set. A power
// that overflows is drawn again, at 1; so are points that are too far apart.
func structured(t *rapid.T) (m cost.Matrix, square bool) {
	p := exponent.Draw(t, "p")
	dim := rapid.IntRange(1, 4).Draw(t, "dim")
	square = rapid.Bool().Draw(t, "square")
	var err error
	switch kind := rapid.SampledFrom([]string{"ring", "grid", "points", "cosine", "greatcircle", "greatcircle-2"}).Draw(t, "kind"); kind {
	case "ring":
		m, err = cost.NewRing(rapid.IntRange(1, 12).Draw(t, "n"), p)
		square = true
	case "grid":
		m, err = cost.NewGrid(rapid.IntRange(1, 5).Draw(t, "rows"), rapid.IntRange(1, 5).Draw(t, "cols"), p)
		square = true
	case "points":
		x := points(t, "x", dim)
		var v [][]float64
		if !square {
			v = points(t, "v", dim)
		}
		if m, err = cost.NewPoints(x, v, p); errors.Is(err, wpmerr.ErrNotFinite) {
			m, err = cost.NewPoints(x, v, 0.5)
		}
	case "cosine":
		x := points(t, "x", dim)
		var v [][]float64
		if !square {
			v = points(t, "v", dim)
		}
		m, err = cost.NewCosine(x, v)
	default:
		place := rapid.Custom(func(t *rapid.T) [2]float64 {
			lat := rapid.OneOf(rapid.Float64Range(-90, 90), rapid.SampledFrom([]float64{-90, 90, 0, 5e-324, 30, -30}))
			lon := rapid.OneOf(rapid.Float64Range(-180, 360), rapid.SampledFrom([]float64{-180, 180, 360, 0, 1e-300, 20, 200}))
			return [2]float64{lat.Draw(t, "lat"), lon.Draw(t, "lon")}
		})
		x := rapid.SliceOfN(place, 1, 6).Draw(t, "x")
		var v [][2]float64
		if !square {
			v = rapid.SliceOfN(place, 1, 6).Draw(t, "v")
		}
		s := cost.Spec{Kind: kind, P: p}
		for _, a := range x {
			s.X = append(s.X, a[:])
		}
		for _, a := range v {
			s.V = append(s.V, a[:])
		}
		m, err = s.Build()
	}
	if err != nil {
		t.Fatalf("no cost: %v", err)
	}
	return m, square
}

// sameRows compares bit for bit.
func sameRows(a, b [][]float64) bool {
	return slices.EqualFunc(a, b, func(x, y []float64) bool {
		return slices.EqualFunc(x, y, func(s, t float64) bool { return math.Float64bits(s) == math.Float64bits(t) })
	})
}

func TestStructuredLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, square := structured(t)
		if err := cost.Validate(context.Background(), m); err != nil {
			t.Fatalf("Validate: %v", err)
		}
		c := rows(m)
		_, isCosine := m.(*cost.Cosine)
		hi, r := 0.0, 0.0
		for i, row := range c {
			for j, x := range row {
				if !(x >= 0 && x <= maxF) || math.Signbit(x) {
					t.Fatalf("C[%d][%d] = %v", i, j, x)
				}
				hi = math.Max(hi, x)
				if square && x != c[j][i] {
					t.Fatalf("C[%d][%d] = %v but C[%d][%d] = %v", i, j, x, j, i, c[j][i])
				}
				if square && i == j && x != 0 && !(isCosine && x == 1) {
					t.Fatalf("C[%d][%d] = %v, want 0", i, j, x)
				}
			}
			r = math.Max(r, slices.Max(row)-slices.Min(row))
		}
		if a, b := given.Max(m), given.Range(m); a != hi || b != r {
			t.Fatalf("Max, Range = %v, %v, want %v, %v", a, b, hi, r)
		}
		if !sameRows(rows(m), c) {
			t.Fatal("rows differ at the second call")
		}
		d, err := cost.Materialize(context.Background(), m)
		if err != nil || !sameRows(rows(d), c) {
			t.Fatalf("Materialize differs: %v", err)
		}
		if a, b := given.Max(d), given.Range(d); a != hi || b != r {
			t.Fatalf("Max, Range of the Dense = %v, %v, want %v, %v", a, b, hi, r)
		}

		// Through a Spec and its JSON form, for the structured matrix and the dense one.
		for _, m := range []cost.Matrix{m, d} {
			s, err := cost.SpecOf(context.Background(), m)
			if err != nil {
				t.Fatalf("SpecOf: %v", err)
			}
			text, err := json.Marshal(s)
			if err != nil {
				t.Fatalf("Marshal: %v", err)
			}
			back, err := cost.ParseSpec(text)
			if err != nil {
				t.Fatalf("ParseSpec(%s): %v", text, err)
			}
			if d := cmp.Diff(s, back); d != "" {
				t.Fatalf("Spec changed: %s", d)
			}
			again, err := back.Build()
			if err != nil || !sameRows(rows(again), c) {
				t.Fatalf("cost of %s differs: %v", text, err)
			}
			if text2, err := back.MarshalJSON(); err != nil || string(text2) != string(text) {
				t.Fatalf("canonical form %s became %s, %v", text, text2, err)
			}
		}
	})
}

func bigFloat(x float64) *big.Float { return new(big.Float).SetPrec(4500).SetFloat64(x) }

// relErr returns |got - want| / |want| (0 if both are 0).
func relErr(got float64, want *big.Float) float64 {
	d := new(big.Float).SetPrec(4500).Sub(bigFloat(got), want)
	if d.Sign() == 0 {
		return 0
	}
	if want.Sign() == 0 {
		return inf
	}
	e, _ := d.Quo(d.Abs(d), want).Float64()
	return math.Abs(e)
}

// The documented error of Points, against arithmetic that is exact up to the root.
func TestPointsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dim := rapid.IntRange(1, 5).Draw(t, "dim")
		point := rapid.SliceOfN(coordinate, dim, dim)
		x, y := point.Draw(t, "x"), point.Draw(t, "y")
		m, err := cost.NewPoints([][]float64{x}, [][]float64{y}, 1)
		if err != nil {
			t.Fatal(err)
		}
		d2 := new(big.Float).SetPrec(4500)
		for i := range x {
			d := new(big.Float).SetPrec(4500).Sub(bigFloat(x[i]), bigFloat(y[i]))
			d2.Add(d2, d.Mul(d, d))
		}
		got := entry(m, 0, 0)
		want := new(big.Float).SetPrec(4500).Sqrt(d2)
		bound := (float64(dim)/2 + 2) * 0x1p-53
		if dim == 1 {
			bound = 0x1p-53 // correctly rounded
		}
		if e := relErr(got, want); e > bound && want.Cmp(bigFloat(0x1p-1021)) >= 0 {
			t.Fatalf("|x-y| = %v, relative error %v > %v", got, e, bound)
		}
		if want.Cmp(bigFloat(0x1p-1021)) < 0 { // subnormal: absolute
			if d := new(big.Float).Sub(bigFloat(got), want); d.Abs(d).Cmp(bigFloat(0x1p-1073)) > 0 {
				t.Fatalf("|x-y| = %v, want %v", got, want)
			}
		}
		m, err = cost.NewPoints([][]float64{x}, [][]float64{y}, 2)
		if f, _ := d2.Float64(); f > maxF/2 {
			if err != nil && !errors.Is(err, wpmerr.ErrNotFinite) {
				t.Fatalf("square of %v: %v", got, err)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if e := relErr(entry(m, 0, 0), d2); e > 2*(float64(dim)/2+2)*0x1p-53 && d2.Cmp(bigFloat(0x1p-1021)) >= 0 {
			t.Fatalf("|x-y|² = %v, relative error %v", entry(m, 0, 0), e)
		}
	})
}

// The documented error of Cosine: 1 - x·y / (|x||y|) with many digits.
func TestCosineExact(t *testing.T) {
	const prec = 9000
	rapid.Check(t, func(t *rapid.T) {
		dim := rapid.IntRange(1, 5).Draw(t, "dim")
		point := rapid.SliceOfN(coordinate, dim, dim)
		x, y := point.Draw(t, "x"), point.Draw(t, "y")
		m, err := cost.NewCosine([][]float64{x}, [][]float64{y})
		if err != nil {
			t.Fatal(err)
		}
		dot := func(a, b []float64) *big.Float {
			s := new(big.Float).SetPrec(prec)
			for i := range a {
				s.Add(s, new(big.Float).SetPrec(prec).Mul(bigFloat(a[i]), bigFloat(b[i])))
			}
			return s
		}
		got, want := entry(m, 0, 0), 1.0
		if n := new(big.Float).SetPrec(prec).Mul(dot(x, x), dot(y, y)); n.Sign() > 0 {
			c := dot(x, y)
			c.Quo(c, n.Sqrt(n))
			want, _ = c.Sub(bigFloat(1), c).Float64()
		}
		if tol := float64(dim+8) * 0x1p-52; !(math.Abs(got-want) <= tol) {
			t.Fatalf("1 - cos = %v, want %v within %v", got, want, tol)
		}
	})
}

// A metric to the power 1 obeys the triangle inequality up to its own rounding.
func TestTriangle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, square := structured(t)
		p, _ := cost.Exponent(m)
		if _, ok := m.(*cost.Cosine); ok || !square || p > 1 {
			return // not a metric
		}
		// d^p with p <= 1 is a metric too. Each entry is off by at most eight roundings; places by
		// 1.5e-11 km as well, and d^p by p·d^(p-1) of that, which a power below 1 makes large.
		abs := 0.0
		if _, ok := m.(*cost.GreatCircle); ok {
			abs = 3 * math.Pow(1.5e-11, p)
		}
		c := rows(m)
		for i := range c {
			for j := range c {
				for k := range c {
					if !(c[i][j] <= (c[i][k]+c[k][j])*(1+32*0x1p-53)+abs+0x1p-1070) {
						t.Fatalf("C[%d][%d] = %v > %v + %v", i, j, c[i][j], c[i][k], c[k][j])
					}
				}
			}
		}
	})
}

// Constructors copy what they are given and leave it alone.
func TestInputsUnchanged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, v := points(t, "x", 2), points(t, "v", 2)
		clone := func(a [][]float64) (b [][]float64) {
			for _, r := range a {
				b = append(b, slices.Clone(r))
			}
			return b
		}
		x0, v0 := clone(x), clone(v)
		m1, err1 := cost.NewPoints(x, v, 0.5)
		m2, err2 := cost.NewCosine(x, v)
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		if !sameRows(x, x0) || !sameRows(v, v0) {
			t.Fatal("points changed")
		}
		before1, before2 := rows(m1), rows(m2)
		for _, r := range append(x, v...) {
			r[0], r[1] = nan, nan
		}
		if !sameRows(rows(m1), before1) || !sameRows(rows(m2), before2) {
			t.Fatal("the cost keeps the caller's memory")
		}
	})
}
