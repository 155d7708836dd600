package cost

import (
	"context"
	"errors"
	"fmt"
	"github.com/wpm-go/wpm/wpmerr"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestBound holds the bound against the largest entry.
func TestBound(t *testing.T) {
	check := func(name string, c Matrix, err error, loose float64) {
		t.Helper()
		if err != nil {
			t.Fatal(name, err)
		}
		if got, most := bounds(t, c); !(got >= most && got <= loose*most*(1+1e-5)+1e-300) {
			t.Errorf("%s: bound %v, largest entry %v", name, got, most)
		}
	}
	for _, p := range []float64{0.5, 1, 2, 7} {
		name := fmt.Sprint("p = ", p)
		ring, err := NewRing(7, p)
		check(name+", ring", ring, err, 1)
		grid, err := NewGrid(4, 3, p)
		check(name+", grid", grid, err, 1)
		points, err := NewPoints([][]float64{{0, 1}, {1, 0}, {0, 0}}, nil, p)
		check(name+", points", points, err, 1)
		points, err = NewPoints([][]float64{{0, 0}, {1, 0}}, [][]float64{{0, 3}}, p)
		check(name+", two sides", points, err, math.Pow(math.Sqrt2, p))
		tiny := min(p, 2) // or costs are 0
		points, err = NewPoints([][]float64{{0, 1e-150}, {1e-150, 0}}, nil, tiny)
		check(name+", tiny", points, err, 1)
		earth, err := NewGreatCircle([][2]float64{{48, 16}, {52, 13}, {41, 12}}, nil, p)
		check(name+", earth", earth, err, math.Pow(2, p))
		earth, err = NewGreatCircle([][2]float64{{90, 16}, {52, 13}}, [][2]float64{{-90, 0}, {-52, 193}}, p)
		check(name+", antipodes", earth, err, 1)
	}
	far, err := NewPoints([][]float64{{1e300, 0}, {0, 1e300}}, nil, 1)
	check("far", far, err, 1)
	huge, err := NewPoints([][]float64{{1e154, 0}, {0, 0}}, nil, 2)
	check("huge", huge, err, 1)
	one, err := NewPoints([][]float64{{5}}, nil, 3)
	check("one", one, err, 1)
	cosine, err := NewCosine([][]float64{{1, 0}, {-1, 0}}, nil)
	check("cosine", cosine, err, 1)
	dense, err := FromRows([][]float64{{0, 3}, {4, 1}})
	check("dense", dense, err, 1)
	for _, c := range []Matrix{nil, (*Points)(nil)} {
		if x, err := Bound(context.Background(), c); !math.IsNaN(x) || !errors.Is(err, wpmerr.ErrShape) {
			t.Errorf("a bound without a matrix: %v, %v", x, err)
		}
	}
}

// bounds returns the bound and the largest entry.
func bounds(t rapid.TB, c Matrix) (bound, most float64) {
	bound, err := Bound(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	most, _, err = Extent(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return bound, most
}

func TestBoundLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := func(most float64) *rapid.Generator[float64] { return rapid.Float64Range(-most, most) }
		x := rapid.SliceOfN(rapid.SliceOfN(at(90), 2, 2), 1, 6).Draw(t, "x")
		v := rapid.SliceOfN(rapid.SliceOfN(at(90), 2, 2), 1, 6).Draw(t, "v")
		p := rapid.SampledFrom([]float64{0.1, 0.5, 1, 1.5, 2, 9}).Draw(t, "p")
		for _, kind := range []string{"points", "greatcircle-2", "greatcircle", "cosine"} {
			s := Spec{Kind: kind, X: x, V: v, P: p}
			if kind == "cosine" {
				s.P = 0
			}
			c, err := s.Build()
			if err != nil {
				t.Fatal(err)
			}
			if got, most := bounds(t, c); !(got >= most) {
				t.Errorf("%s: bound %v, largest entry %v", kind, got, most)
			}
		}
	})
}
