package basemeasure_test

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/basemeasure"
	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
)

func TestUniformOnePass(t *testing.T) {
	rng := numtest.NewSplitMix64(3)
	cloud := func(n, axes int, side float64) [][]float64 {
		x := make([][]float64, n)
		for i := range x {
			for range axes {
				x[i] = append(x[i], side*(rng.Float64()-0.5))
			}
		}
		return x
	}
	costs := map[string]cost.Matrix{}
	add := func(name string) func(c cost.Matrix, err error) {
		return func(c cost.Matrix, err error) {
			if err != nil {
				t.Fatal(name, err)
			}
			costs[name] = c
		}
	}
	points := func(x, v [][]float64, p float64) (cost.Matrix, error) { return cost.NewPoints(x, v, p) }
	plane := cloud(60, 2, 1)
	add("plane")(points(plane, nil, 1))
	add("plane, p = 2")(points(plane, nil, 2))
	add("plane, p = 1/2")(points(plane, nil, 0.5))
	add("two sides")(points(cloud(40, 3, 1), cloud(17, 3, 2), 1.5))
	add("few outputs")(points(cloud(40, 2, 1), [][]float64{{0, 0}, {0.2, 0.1}}, 1))
	add("one output")(points(cloud(10, 2, 1), [][]float64{{0, 0}}, 1))
	add("copies")(points(slices.Concat(plane[:20], plane[:20], plane[:1], plane[:1]), nil, 1))
	add("one place")(points([][]float64{{1, 2}, {1, 2}, {1, 2}}, nil, 1))
	add("one input")(points([][]float64{{1, 2}}, plane, 1))
	add("outlier")(points(slices.Concat(plane[:30], [][]float64{{40, -3}}), nil, 1))
	add("huge")(points(cloud(20, 2, 1e200), nil, 1))
	add("tiny")(points(cloud(20, 2, 1e-200), nil, 1))
	earth := [][2]float64{{90, 0}, {-90, 7}, {0, 180}, {0, -180}}
	for _, x := range cloud(40, 2, 1) {
		earth = append(earth, [2]float64{x[0] * 180, x[1] * 360})
	}
	add("earth")(cost.NewGreatCircle(earth, nil, 1))
	cosine := func(x, v [][]float64) (cost.Matrix, error) { return cost.NewCosine(x, v) }
	add("cosine")(cosine(cloud(40, 8, 1), nil))
	add("cosine, zero")(cosine(slices.Concat(cloud(20, 2, 1), [][]float64{{0, 0}}), nil))
	add("ring")(cost.NewRing(31, 1))
	add("grid")(cost.NewGrid(6, 9, 1))
	add("dense")(cost.FromRows([][]float64{{0, 1, 5}, {2, 2, 2}, {9, 0, 3}}))
	ctx := context.Background()
	for name, c := range costs {
		for _, eps := range []float64{0, 0.5, 300, 6, 1e-3, 2, 30}[:numtest.Cases(3, 7)] {
			want, err := basemeasure.Uniform(ctx, c, eps, basemeasure.Settings{})
			if err != nil {
				t.Fatal(name, err)
			}
			var first basemeasure.Result
			for _, procs := range []int{1, 4} {
				old := runtime.GOMAXPROCS(procs)
				got, err := basemeasure.UniformOnePass(ctx, c, eps)
				runtime.GOMAXPROCS(old)
				if err != nil {
					t.Fatal(name, err)
				}
				if procs == 1 {
					first = got
				} else if got.Upper != first.Upper || got.Lower != first.Lower || !slices.Equal(got.M, first.M) ||
					!slices.Equal(got.Weights, first.Weights) {
					t.Errorf("%s, eps %v: the bits depend on GOMAXPROCS", name, eps)
				}
			}
			p, _ := cost.Exponent(c)
			tol := 4*max(p, 2)*0x1p-40*want.Upper + 1e-300 // what internal/worst leaves open
			if !(math.Abs(first.Upper-want.Upper) <= tol) {
				t.Errorf("%s, eps %v: worst case %v, want %v", name, eps, first.Upper, want.Upper)
			}
			if first.Lower < want.Lower*(1-1e-12) {
				t.Errorf("%s, eps %v: lower bound %v, with a table %v", name, eps, first.Lower, want.Lower)
			}
			if _, _, err := basemeasure.Verify(context.Background(), c, eps, first); err != nil {
				t.Errorf("%s, eps %v: %v", name, eps, err)
			}
		}
	}
}

func BenchmarkUniformOnePass(b *testing.B) {
	for _, k := range []int{4000, 20000} {
		b.Run(fmt.Sprint(k), func(b *testing.B) {
			rng := numtest.NewSplitMix64(1)
			x := make([][]float64, k)
			for i := range x {
				x[i] = []float64{rng.Float64(), rng.Float64()}
			}
			c, err := cost.NewPoints(x, nil, 1)
			if err != nil {
				b.Fatal(err)
			}
			var r basemeasure.Result
			for b.Loop() {
				if r, err = basemeasure.UniformOnePass(context.Background(), c, 2); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(r.Stats.Evaluations), "inputs")
			b.ReportMetric(r.Upper, "upper")
			b.ReportMetric(r.Lower, "lower")
		})
	}
}

// TestUniformOfGrids holds one pass over small grids of all shapes, where input 0 is the worst, against the table.
func TestUniformOfGrids(t *testing.T) {
	ctx := context.Background()
	for rows := 1; rows <= 7; rows++ {
		for cols := 1; cols <= 9; cols++ {
			for at, p := range []float64{0.5, 1, 2, 3} {
				c, err := cost.NewGrid(rows, cols, p)
				if err != nil {
					t.Fatal(err)
				}
				for n, eps := range []float64{0, 0.01, 0.5, 2, 5, 12} {
					if (n+rows+cols+at)%6 != 0 && !numtest.Full() {
						continue
					}
					name := fmt.Sprintf("%dx%d, p = %v, eps = %v", rows, cols, p, eps)
					got, err := basemeasure.UniformOnePass(ctx, c, eps)
					want, wantErr := basemeasure.Uniform(ctx, c, eps, basemeasure.Settings{})
					if err != nil || wantErr != nil {
						t.Fatal(name, err, wantErr)
					}
					// Distances are off by 34 times 2^-52 on both sides, see package internal/worst, and both fills by
					// knapsack.PhiError.
					tol := 2*34*0x1p-52*max(p, 1) + 4*0x1p-49
					if !(got.Upper >= want.F && got.Upper <= want.Upper*(1+tol)+1e-300) {
						t.Errorf("%s: worst case %v, at most %v, with a table %v, %v", name, got.F, got.Upper, want.F, want.Upper)
					}
					// The threshold of an input jumps at the best scale, and the bound hangs on the side.
					if got.Lower > got.F || got.Lower < 0.95*want.Lower {
						t.Errorf("%s: lower bound %v, with a table %v", name, got.Lower, want.Lower)
					}
					if _, _, err := basemeasure.Verify(context.Background(), c, eps, got); err != nil {
						t.Errorf("%s: %v", name, err)
					}
				}
			}
		}
	}
}
