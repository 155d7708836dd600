package worst

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/knapsack"
)

func cloud(rng *numtest.SplitMix64, n, axes int, side float64) [][]float64 {
	x := make([][]float64, n)
	for i := range x {
		for range axes {
			x[i] = append(x[i], side*(rng.Float64()-0.5))
		}
	}
	return x
}

// spaces are costs of every kind, with ties, duplicates and an input far from the others.
func spaces(t *testing.T, k int) map[string]cost.Matrix {
	rng := numtest.NewSplitMix64(11)
	list := map[string]cost.Matrix{}
	add := func(name string) func(c cost.Matrix, err error) {
		return func(c cost.Matrix, err error) {
			if err != nil {
				t.Fatal(name, err)
			}
			list[name] = c
		}
	}
	points := func(x, v [][]float64, p float64) (cost.Matrix, error) { return cost.NewPoints(x, v, p) }
	plane := cloud(rng, k, 2, 1)
	for _, p := range []float64{0.01, 0.5, 1, 1.5, 2, 7, 300} {
		add("plane " + fmt.Sprint(p))(points(plane, nil, p))
	}
	add("two sides")(points(cloud(rng, k, 3, 1), cloud(rng, k/3+1, 3, 2), 1))
	add("copies")(points(append(append(plane[:k/3:k/3], plane[:k/3]...), plane[0], plane[0]), nil, 1))
	add("outlier")(points(append(plane[:k-1:k-1], []float64{40, -3}), plane, 2))
	add("one place")(points([][]float64{{1, 2}, {1, 2}, {1, 2}}, nil, 1))
	add("tiny")(points(cloud(rng, k/4+1, 2, 1e-160), nil, 2))
	add("axes")(points(cloud(rng, k/4+1, 40, 1), nil, 1))
	earth := [][2]float64{{90, 0}, {-90, 7}, {0, 180}, {0, -180}}
	for _, x := range cloud(rng, k, 2, 1) {
		earth = append(earth, [2]float64{x[0] * 10, x[1] * 20})
	}
	add("earth")(cost.NewGreatCircle(earth, nil, 1))
	add("earth, p = 1/2")(cost.NewGreatCircle(earth, earth[:k/2], 0.5))
	cosine := func(x, v [][]float64) (cost.Matrix, error) { return cost.NewCosine(x, v) }
	add("cosine")(cosine(cloud(rng, k, 5, 1), nil))
	add("cosine, narrow")(cosine(append(cloud(rng, k/2+1, 2, 1e-3), []float64{1, 1}), nil))
	add("cosine, zero")(cosine(append(cloud(rng, k/2+1, 2, 1), []float64{0, 0}), nil))
	add("ring")(cost.NewRing(k, 1))
	for _, p := range []float64{0.01, 0.5, 1, 1.5, 2, 7, 300} {
		add("grid " + fmt.Sprint(p))(cost.NewGrid(5, k/5+1, p))
	}
	add("square grid")(cost.NewGrid(12, 12, 1))
	add("thin grid")(cost.NewGrid(k, 1, 3))
	add("dense")(cost.FromRows([][]float64{{0, 1, 5}, {2, 2, 2}, {9, 0, 3}}))
	return list
}

// TestSearch holds the search against all inputs, at several boxes.
func TestSearch(t *testing.T) {
	for name, c := range spaces(t, 150) {
		table, err := knapsack.New(context.Background(), c)
		if err != nil {
			t.Fatal(name, err)
		}
		k, kv := c.Dims()
		for _, eps := range []float64{0, 0.3, 2, 9, 40} {
			lo, hi, phi := make([]float64, kv), make([]float64, kv), make([]float64, k)
			for j := range lo {
				lo[j], hi[j] = math.Exp(-eps/2)/float64(kv), math.Exp(eps/2)/float64(kv)
			}
			if err := table.All(lo, hi, phi, nil); err != nil {
				t.Fatal(err)
			}
			largest := 0.0
			for _, v := range phi {
				largest = max(largest, v)
			}
			var first Result
			for n, procs := range []int{1, 4} {
				old := runtime.GOMAXPROCS(procs)
				r, err := NewSpace(c).Search(context.Background(), lo, hi, func(i int) (float64, error) { return phi[i], nil },
					knapsack.PhiError, 0)
				runtime.GOMAXPROCS(old)
				if err != nil {
					t.Fatal(name, err)
				}
				if n == 0 {
					first = r
				} else if r != first {
					t.Errorf("%s, eps %v: %+v on one processor, %+v on %d", name, eps, first, r, procs)
				}
			}
			// With Exact, the largest of those looked at is the largest of all, to the last bit.
			var lock sync.Mutex
			seen, looked := 0.0, make([]bool, k)
			err := NewSpace(c).Exact(context.Background(), lo, hi, func(i int) (float64, error) {
				lock.Lock()
				defer lock.Unlock()
				if looked[i] {
					t.Errorf("%s, eps %v: input %d twice", name, eps, i)
				}
				seen, looked[i] = max(seen, phi[i]), true
				return phi[i], nil
			}, 0)
			if err != nil || seen != largest {
				t.Errorf("%s, eps %v: Exact ends at %v, %v, the largest is %v", name, eps, seen, err, largest)
			}
			p, _ := cost.Exponent(c)
			loose := 1 + 4*max(p, 2)*same
			if !(first.Upper >= largest && first.Upper <= largest*loose+1e-300 && first.Value >= largest/loose-1e-300) ||
				phi[first.Input] != first.Value {
				t.Errorf("%s, eps %v: %+v, the largest is %v", name, eps, first, largest)
			}
		}
	}
}

// TestLooked holds that the bound spares most inputs in the plane.
func TestLooked(t *testing.T) {
	const k = 3000
	c, err := cost.NewPoints(cloud(numtest.NewSplitMix64(2), k, 2, 1), nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	value := func(i int) (float64, error) { // of the uniform distribution
		sum := 0.0
		for _, x := range c.Row(i, nil) {
			sum += x
		}
		return sum / k, nil
	}
	r, err := NewSpace(c).Search(context.Background(), nil, nil, value, 1e-12, 0)
	if err != nil || r.Looked > k/10 {
		t.Errorf("%+v, %v: looked at %d of %d inputs", r, err, r.Looked, k)
	}
	failed := errors.New("failed")
	if _, err := NewSpace(c).Search(context.Background(), nil, nil, func(int) (float64, error) { return 0, failed }, 0,
		0); !errors.Is(err, failed) {
		t.Error(err)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := NewSpace(c).Search(ended, nil, nil, value, 0, 0); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := NewSpace(c).Exact(ended, nil, nil, value, 0); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestSpread holds that the chosen inputs are as far from each other as any input is from the nearest of them.
func TestSpread(t *testing.T) {
	for name, c := range spaces(t, 60) {
		s := NewSpace(c)
		for _, n := range []int{1, 2, 7, 1000} {
			list := s.Spread(n)
			if len(list) == 0 || len(list) > n || !slices.IsSorted(list) ||
				len(slices.Compact(slices.Clone(list))) != len(list) || list[0] != 0 {
				t.Fatalf("%s: Spread(%d) = %v", name, n, list)
			}
			if n >= s.k && len(list) < s.k {
				t.Errorf("%s: Spread(%d) = %v", name, n, list)
			}
			if s.metric == nil || n >= s.k {
				continue
			}
			apart, cover := math.Inf(1), 0.0
			for i := range s.k {
				near := math.Inf(1)
				for m, d := range s.metric.Row(i, nil) {
					if !slices.Contains(list, m) {
						continue
					}
					near = min(near, d)
					if m != i && slices.Contains(list, i) {
						apart = min(apart, d)
					}
				}
				cover = max(cover, near)
			}
			if cover > apart*(1+1e-9) {
				t.Errorf("%s: Spread(%d): an input is %v from the nearest chosen, which are %v apart", name, n, cover, apart)
			}
		}
	}
}
