package plan

import (
	"math"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/estimate"
)

// TestAround: worlds have 30 % of the mass of the prior elsewhere at most, and about that much where there is
// elsewhere to go.
func TestAround(t *testing.T) {
	spike := make([]float64, 400)
	spike[7], spike[8] = 9, 1
	for name, prior := range map[string][]float64{
		"one place": {3}, "one of three": {0, 5, 0}, "uneven": {.9, .1, 0, 0, 0, 0, 0, 0},
		"even": slices.Repeat([]float64{1e-300}, 500), "spike": spike,
	} {
		ring, err := cost.NewRing(len(prior), 1)
		if err != nil {
			t.Fatal(err)
		}
		g, err := estimate.NewGeometry(ring, 1)
		if err != nil {
			t.Fatal(err)
		}
		worlds, err := around(g, prior)
		if err != nil {
			t.Fatal(err)
		}
		total, mean := 0.0, 0.0
		for _, v := range prior {
			total += v
		}
		for n, w := range worlds {
			sum, off := 0.0, 0.0
			for i, v := range w {
				if !(v >= 0) {
					t.Errorf("%s: world %d: %v", name, n, w)
				}
				sum += v
				off += max(0, v-prior[i]/total)
			}
			if math.Abs(sum-1) > 1e-12 || off > moved+1e-12 {
				t.Errorf("%s: world %d: sum %v, %v moved", name, n, sum, off)
			}
			mean += off / Worlds
		}
		if len(prior) > 2 && !(mean > 0.4*moved) {
			t.Errorf("%s: %v moved on average", name, mean)
		}
	}
}

// TestGeneric: maps with the roughness that they are made for, some of which are nearly even and some not.
func TestGeneric(t *testing.T) {
	c, err := cost.NewGrid(9, 9, 1)
	if err != nil {
		t.Fatal(err)
	}
	g, err := estimate.NewGeometry(c, 1)
	if err != nil {
		t.Fatal(err)
	}
	for n, w := range generic(g) {
		sum, mean, square := 0.0, 0.0, 0.0
		for _, v := range w {
			sum += v
			mean += math.Log(v) / 81
		}
		for _, v := range w {
			square += (math.Log(v) - mean) * (math.Log(v) - mean) / 81
		}
		if want := roughnesses[n/len(lengths)]; math.Abs(sum-1) > 1e-12 || math.Abs(math.Sqrt(square)-want) > 1e-9 {
			t.Errorf("world %d: sum %v, roughness %v, want %v", n, sum, math.Sqrt(square), want)
		}
	}
}

// TestQuarter: of a grid it is around a corner.
func TestQuarter(t *testing.T) {
	c, err := cost.NewGrid(4, 4, 1)
	if err != nil {
		t.Fatal(err)
	}
	g, err := estimate.NewGeometry(c, 1)
	if err != nil {
		t.Fatal(err)
	}
	got, n := quarter(g), 0.0
	for _, w := range got {
		n += w
	}
	if n != 4 || got[15] != 1 || got[14] != 1 || got[11] != 1 || got[10] != 1 {
		t.Errorf("quarter = %v", got)
	}
}

// TestDraw: sums, impossible outputs, and the mean and the variance of each count. The sums of squares of 4,000
// standardized counts over an output are within 5 of their standard deviation, sqrt(2/4,000): a false alarm in 2
// million, for each of 12 figures.
func TestDraw(t *testing.T) {
	law := []float64{0, .5, 0, .3, .15, .05, 0}
	const runs = 4000
	for _, n := range []int{1, 10, 1000, MaxDevices} {
		mean, square := make([]float64, len(law)), make([]float64, len(law))
		for world := range runs {
			counts := draw(law, n, world)
			sum := uint64(0)
			for j, c := range counts {
				sum += c
				if law[j] == 0 && c > 0 {
					t.Fatalf("output %d was drawn", j)
				}
				z := (float64(c) - law[j]*float64(n)) / math.Sqrt(law[j]*(1-law[j])*float64(n))
				mean[j] += z / runs
				square[j] += z * z / runs
			}
			if sum != uint64(n) {
				t.Fatalf("%d of %d drawn", sum, n)
			}
		}
		for j, q := range law {
			if q == 0 {
				continue
			}
			// The fourth moment of a binomial: 3 + (1 - 6q(1-q)) / (n q (1-q)).
			fourth := 3 + (1-6*q*(1-q))/(float64(n)*q*(1-q))
			if math.Abs(mean[j]) > 5/math.Sqrt(runs) || math.Abs(square[j]-1) > 5*math.Sqrt((fourth-1)/runs)+1e-9 {
				t.Errorf("%d draws, output %d: mean %v, variance %v, in standard units", n, j, mean[j], square[j])
			}
		}
	}
	if counts := draw([]float64{0, 0, 1}, 7, 0); counts[2] != 7 {
		t.Errorf("one output: %v", counts)
	}
}
