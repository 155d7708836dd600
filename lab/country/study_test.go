package country

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"testing"

	"github.com/wpm-go/wpm/internal/numtest"
)

// TestGenerate holds that a country has as many distinct places as asked for, all in it, by Zipf's law, in clusters,
// and another one for another seed.
func TestGenerate(t *testing.T) {
	for _, n := range []int{2, 10, 1000, numtest.Cases(5000, 20_000)} {
		places := Generate(3, n)
		if len(places) != n || !reflect.DeepEqual(places, Generate(3, n)) || reflect.DeepEqual(places, Generate(4, n)) {
			t.Fatalf("%d of %d places, or not those of the seed", len(places), n)
		}
		seen := map[[2]float64]bool{}
		for i, p := range places {
			if at := [2]float64{p.Lat, p.Lon}; seen[at] ||
				!(p.Lat >= south && p.Lat <= north && p.Lon >= west && p.Lon <= east) {
				t.Fatalf("place %d is at %v", i, at)
			}
			seen[[2]float64{p.Lat, p.Lon}] = true
			if p.People != 1/float64(i+1) {
				t.Fatalf("place %d has %v people", i, p.People)
			}
		}
	}
	// Of places anywhere, the nearest other one is 0.5/sqrt(density) away on average; of clustered ones less.
	const n = 1000
	places := Generate(3, n)
	area := (north - south) * (east - west) * kmPerDegree * kmPerDegree * math.Cos((north+south)*(math.Pi/360))
	anywhere, mean := 0.5*math.Sqrt(area/n), 0.0
	for i, p := range places {
		least := math.Inf(1)
		for j, q := range places {
			if j != i {
				least = min(least, near(p, q))
			}
		}
		mean += least / n
	}
	if mean > 0.8*anywhere {
		t.Errorf("the next place is %.2f km away, as of places anywhere: %.2f km", mean, anywhere)
	}
}

// TestPopulation holds that each device has a distribution over distinct places, in order.
func TestPopulation(t *testing.T) {
	places := Generate(1, 500)
	for u, d := range population(1, places, 200) {
		sum := 0.0
		for n, i := range d.places {
			if n > 0 && d.places[n-1] >= i || i < 0 || i >= len(places) || d.share[n] <= 0 {
				t.Fatalf("device %d: %v", u, d)
			}
			sum += d.share[n]
		}
		// five sums of numbers below 1
		if n := len(d.places); n < 1 || n > 5 || n != len(d.share) || math.Abs(sum-1) > 1e-12 {
			t.Fatalf("device %d: %v, sum %v", u, d, sum)
		}
	}
}

// TestRun holds that a run is the same at any GOMAXPROCS, that its distances are in the order that they must be, and
// that it writes its report.
func TestRun(t *testing.T) {
	cfg := Config{Out: t.TempDir(), Places: 200, Devices: 60, Epsilons: []string{"1", "12"}, Seed: 5}
	res, err := Run(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(cfg.Out, "index.html")); err != nil {
		t.Error(err)
	}
	weak, strong := res.Rows[0], res.Rows[1]
	if !(0 < res.Open && res.Open < res.Uniform) || !(strong.Map < weak.Map) {
		t.Errorf("%+v", res)
	}
	for _, row := range res.Rows {
		if !(0 < row.Lower && row.Lower <= row.Worst) || row.Bytes < 200 || row.Times.Design <= 0 || row.Times.Release <= 0 {
			t.Errorf("%+v", row)
		}
	}
	old := runtime.GOMAXPROCS(1)
	again, err := Run(context.Background(), cfg)
	runtime.GOMAXPROCS(old)
	for n := range again.Rows {
		again.Rows[n].Times = res.Rows[n].Times
	}
	if err != nil || !reflect.DeepEqual(again, res) {
		t.Errorf("on one core %+v, %v, want %+v", again, err, res)
	}
}

func TestErrors(t *testing.T) {
	for _, cfg := range []Config{
		{Places: 1}, {Places: -1}, {Places: maxPlaces + 1}, {Devices: -1}, {Devices: maxDevices + 1},
		{Epsilons: []string{"x"}}, {Epsilons: make([]string, maxEpsilons+1)}, {Places: 5, Epsilons: []string{"0"}},
	} {
		if _, err := Run(context.Background(), cfg); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := Run(ctx, Config{Places: 300, Devices: 5}); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that is over: %v", err)
	}
}
