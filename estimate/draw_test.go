package estimate

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"testing"

	"github.com/wpm-go/wpm/cost"
)

// TestChain holds the draws of a model against the mean and the variance of its posterior, by draws of the prior that
// are weighed by the likelihood. The effective number of these is above 1,000, and that of the chain about 700 (of 3,000,
// each of which depends on those before): a mean is then off by less than 5 sd (700^-1/2 + 1,000^-1/2) = .35 sd, but for a
// false alarm in a million.
func TestChain(t *testing.T) {
	for _, c := range []struct {
		kernel int
		tau    float64
		n      int
		split  bool
	}{{1, 1.2, 40, false}, {3, 2.4, 60, false}, {5, 1.2, 40, false}, {0, .6, 30, false}, {1, 1.2, 40, true}, {0, .6, 30, true}} {
		f := fitOf(t, 3, 3, c.kernel, 2, .3, c.n)
		if _, err := f.mode(context.Background(), c.tau, math.Inf(-1)); err != nil {
			t.Fatal(err)
		}
		if c.split { // as if outputs were few
			f.split()
			f.decompose()
		}
		k := len(f.prior)
		r := rand.New(rand.NewPCG(1, uint64(c.n)))
		zero := make([]float64, k)
		var maps [][]float64
		var logs []float64
		for range 100_000 {
			p := f.move(zero, f.kernel.normal(r, c.tau))
			maps, logs = append(maps, p.theta), append(logs, p.value)
		}
		w := softmax(logs)
		effective := 0.0
		for _, v := range w {
			effective += v * v
		}
		if !(effective < 1./1000) {
			t.Fatalf("%+v: draws of the prior are worth %v", c, 1/effective)
		}
		want := mean(w, maps)
		chain := f.chain(r)
		const draws = 3000
		got, square := make([]float64, k), make([]float64, k)
		for range draws {
			for range thin {
				chain.next()
			}
			for i, v := range chain.theta {
				got[i] += v / draws
				square[i] += v * v / draws
			}
		}
		for i := range want {
			variance := 0.0
			for n, x := range maps {
				variance += w[n] * (x[i] - want[i]) * (x[i] - want[i])
			}
			sd := math.Sqrt(variance)
			// A variance is within a part of itself that is sqrt(2) and more of that of a mean; laws here have heavier tails.
			here := math.Sqrt(square[i] - got[i]*got[i])
			if !(math.Abs(got[i]-want[i]) <= .35*sd) || !(math.Abs(here/sd-1) <= .35) {
				t.Errorf("%+v, place %d: mean %v, sd %v; want %v, %v", c, i, got[i], here, want[i], sd)
			}
		}
	}
}

// TestDraws: as many as are asked for, distributions, the same bits on any number of threads, and a map that does not
// depend on them.
func TestDraws(t *testing.T) {
	grid, err := cost.NewGrid(5, 5, 1)
	if err != nil {
		t.Fatal(err)
	}
	g, dist := geometryOf(t, grid)
	channel := channelOf(t, discs(dist, 2, .3))
	prior := make([]float64, 25)
	for i := range prior {
		prior[i] = float64(i % 4)
	}
	for _, n := range []int{1, 300, 100_000} {
		theta := make([]float64, 25)
		for i := range theta {
			theta[i] = prior[i] / 36
		}
		p := Problem{Counts: drawCounts(rand.New(rand.NewPCG(3, 3)), channel, theta, n), Channel: channel, Geometry: g,
			Prior: prior}
		bare, err := Map(context.Background(), p, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := Map(context.Background(), p, Settings{Draws: 37})
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(bare.Theta, got.Theta) || bare.Draws != nil || bare.Before != nil {
			t.Errorf("%d releases: draws change the map, or come without being asked for", n)
		}
		if len(got.Draws) != 37 || len(got.Before) != 37 {
			t.Fatalf("%d and %d draws", len(got.Draws), len(got.Before))
		}
		for _, list := range [][][]float64{got.Draws, got.Before} {
			for _, d := range list {
				checkDistribution(t, d, 25)
			}
		}
		old := runtime.GOMAXPROCS(1)
		again, err := Map(context.Background(), p, Settings{Draws: 37})
		runtime.GOMAXPROCS(old)
		if err != nil || !reflect.DeepEqual(again.Draws, got.Draws) || !reflect.DeepEqual(again.Before, got.Before) {
			t.Errorf("%d releases: other draws on one thread", n)
		}
	}
}
