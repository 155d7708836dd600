package ranking

import (
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/internal/numtest/given"
)

// placed are costs between places of every kind.
func placed(t *testing.T) map[string]cost.Matrix {
	rng := numtest.NewSplitMix64(5)
	list := map[string]cost.Matrix{}
	add := func(name string) func(c cost.Matrix, err error) {
		return func(c cost.Matrix, err error) {
			if err != nil {
				t.Fatal(name, err)
			}
			list[name] = c
		}
	}
	pts := func(x, v [][]float64, p float64) (cost.Matrix, error) { return cost.NewPoints(x, v, p) }
	add("plane")(pts(numtest.Cloud(rng, 20, 2, 0, 1), nil, 1))
	add("plane, two sides")(pts(numtest.Cloud(rng, 20, 2, 0, 1), numtest.Cloud(rng, 11, 2, 0, 1), 2))
	add("line")(pts(numtest.Cloud(rng, 15, 1, 0, 1), nil, 0.5))
	add("fifty axes")(pts(numtest.Cloud(rng, 10, 50, 0, 1), nil, 3))
	add("metres")(pts(numtest.Cloud(rng, 12, 2, 5.3e6, 1e4), nil, 1))
	add("far away")(pts(numtest.Cloud(rng, 12, 2, 1e12, 1), nil, 1))
	add("huge")(pts(numtest.Cloud(rng, 8, 2, 0, 1e300), nil, 1))
	add("tiny")(pts(numtest.Cloud(rng, 8, 2, 0, 1e-280), nil, 1))
	add("tiniest")(pts(numtest.Cloud(rng, 8, 2, 0, 1e-310), nil, 1))
	add("wide")(pts(numtest.Cloud(rng, 700, 2, 0, 1), nil, 1))
	add("many, two sides")(pts(numtest.Cloud(rng, 300, 2, 0, 1), numtest.Cloud(rng, 500, 2, 0, 1), 1))
	add("one place")(pts([][]float64{{0, 0}, {0, 0}, {0, 0}}, nil, 1))
	add("decimals")(pts([][]float64{{48.2082, 16.3738}, {52.52, 13.405}, {-0.1, 1e4}}, nil, 1))

	earth := [][2]float64{
		{90, 3}, {-90, 0}, {0, 180}, {0, -180}, {89.9999999, -17},
		// integers of another length
		{-18.799143056149546, 0}, {14.826768823221357, -180}, {67.27500191805265, 179.9999999999},
	}
	for _, x := range numtest.Cloud(rng, 15, 2, 0, 1) {
		earth = append(earth, [2]float64{180 * x[0], 360 * x[1]})
	}
	gc := func(x, v [][2]float64, p float64) (cost.Matrix, error) { return cost.NewGreatCircle(x, v, p) }
	add("earth")(gc(earth, nil, 1))
	add("earth, two sides")(gc(earth, earth[3:9], 2))
	cos := func(x, v [][]float64) (cost.Matrix, error) { return cost.NewCosine(x, v) }
	add("cosine")(cos(numtest.Cloud(rng, 14, 30, 0.2, 1e-3), nil))
	add("cosine, two sides")(cos(numtest.Cloud(rng, 14, 3, 0, 1e200), numtest.Cloud(rng, 9, 3, 0, 1e-200)))
	return list
}

// TestThresholds holds the thresholds against those of package policy, for widths that differ, zeros among them, and
// boxes whose sum lo or sum hi is 2^B.
func TestThresholds(t *testing.T) {
	rng := numtest.NewSplitMix64(12)
	costs := placed(t)
	var err error
	if costs["grid"], err = cost.NewGrid(9, 14, 1); err != nil {
		t.Fatal(err)
	}
	for name, n := range map[string]int{"one": 1, "two": 2, "odd ring": 301, "even ring": 64} {
		t.Run(name, func(t *testing.T) {
			if costs[name], err = cost.NewRing(n, 2); err != nil {
				t.Fatal(err)
			}
		})
	}
	same := make([][]float64, 300) // many ties
	for i := range same {
		same[i] = []float64{float64(i % 7), float64(i % 5)}
	}
	if costs["ties"], err = cost.NewPoints(same, nil, 1); err != nil {
		t.Fatal(err)
	}
	for name, c := range costs {
		_, kv := c.Dims()
		for _, eps := range []string{"1/100", "2", "9"} {
			for _, mass := range masses() {
				m := make([]float64, kv)
				for j := range m {
					if rng.Float64() < 0.7 || j == 0 {
						m[j] = rng.Float64()
					}
				}
				if err := compare(c, m, given.Epsilon(t, eps), mass, 40); err != nil {
					t.Errorf("%s, eps %s, mass %v: %v", name, eps, mass, err)
				}
			}
		}
	}
}
