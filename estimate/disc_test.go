package estimate

import (
	"context"
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/wpmerr"
)

// TestDisc holds the rule against its formula, written out with inverses, and against what must follow from it.
func TestDisc(t *testing.T) {
	ctx := context.Background()
	grid, err := cost.NewGrid(5, 6, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, eps := range []float64{0.5, 2} {
		last := 1.0
		for _, n := range []int{100, 10_000, 1_000_000} {
			got, err := Disc(ctx, grid, 1, eps, n)
			if err != nil {
				t.Fatal(err)
			}
			best, at := math.Inf(1), 0.0
			for step := range 33 {
				share := 0.6 * math.Pow(1./30/0.6, float64(step)/32)
				if risk := plainRisk(grid, eps, share, float64(n)); risk < best {
					best, at = risk, share
				}
			}
			if risk := plainRisk(grid, eps, got, float64(n)); !(risk <= best*(1+1e-3)) {
				t.Errorf("eps %v, %d devices: share %v of risk %v; best is %v of risk %v", eps, n, got, risk, at, best)
			}
			if got > last {
				t.Errorf("eps %v: share %v for %d devices, %v for fewer", eps, got, n, last)
			}
			last = got
		}
	}
}

// plainRisk is the formula of Disc as it stands, with a pseudo-inverse that the kernel's cut makes good.
func plainRisk(c cost.Matrix, eps, share, n float64) float64 {
	k, _ := c.Dims()
	d := mat.NewDense(k, k, nil)
	mean := 0.0
	for i := range k {
		for j, v := range c.Row(i, nil) {
			d.Set(i, j, v)
			mean += v / float64(k*k)
		}
	}
	h := mat.NewDense(k, k, nil)
	kernel := mat.NewDense(k, k, nil)
	for i := range k {
		for j := range k {
			h.Set(i, j, -1/float64(k))
			kernel.Set(i, j, math.Exp(-d.At(i, j)/(0.4*mean))/float64(k*k))
		}
		h.Set(i, i, 1-1/float64(k))
	}
	var s, w, both mat.Dense
	s.Product(h, kernel, h)
	w.Product(h, d, h)
	w.Scale(-1/mean, &w)
	// The information of a release, from rows written one entry at a time.
	rows := mat.NewDense(k, k, nil)
	for i := range k {
		left := share * float64(k)
		used := make([]bool, k)
		for range k {
			at := -1
			for j := range k {
				if !used[j] && (at < 0 || d.At(i, j) < d.At(i, at)) {
					at = j
				}
			}
			used[at] = true
			high := min(1, left)
			left -= high
			rows.Set(i, at, (1+(math.Exp(eps)-1)*high)/(float64(k)*(1+(math.Exp(eps)-1)*share)))
		}
	}
	info := mat.NewDense(k, k, nil)
	for j := range k {
		q := 0.0
		for i := range k {
			q += rows.At(i, j) / float64(k)
		}
		for a := range k {
			for b := range k {
				info.Set(a, b, info.At(a, b)+n*rows.At(a, j)*rows.At(b, j)/q)
			}
		}
	}
	// (N I + S^-1)^-1 = S (1 + N I S)^-1.
	both.Mul(info, &s)
	for i := range k {
		both.Set(i, i, both.At(i, i)+1)
	}
	var inverse, risk mat.Dense
	if err := inverse.Inverse(&both); err != nil {
		return math.NaN()
	}
	risk.Product(&w, &s, &inverse)
	return mat.Trace(&risk)
}

// TestDiscCells: figures of another program, which tried shares of its own, on a grid of 20 x 20 cells. Risk is flat
// around the best.
func TestDiscCells(t *testing.T) {
	if !numtest.Full() {
		t.Skip("some seconds")
	}
	grid, err := cost.NewGrid(20, 20, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		eps  float64
		n    int
		want float64
	}{{1, 200_000, .12}, {4, 200_000, .02}} {
		got, err := Disc(context.Background(), grid, 1, c.eps, c.n)
		if err != nil || !(math.Abs(math.Log(got/c.want)) <= math.Log(1.25)) {
			t.Errorf("eps %v, %d devices: share %v, %v; want about %v", c.eps, c.n, got, err, c.want)
		}
	}
}

func TestDiscEdges(t *testing.T) {
	ctx := context.Background()
	ring, err := cost.NewRing(1, 1)
	if err != nil {
		t.Fatal(err)
	}
	same := &cost.Dense{K: 3, Kv: 3, Data: make([]float64, 9)}
	// More than discPlaces at 20 points: the share is as good as the best for these.
	var x [][]float64
	for i := range discPlaces + 20 {
		x = append(x, []float64{float64(i % 4), float64(i % 5)})
	}
	many, err := cost.NewPoints(x, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	points, err := cost.NewPoints(x[:20], nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	best := math.Inf(1)
	for step := range 33 {
		best = min(best, plainRisk(points, 1, 0.6*math.Pow(2./20/0.6, float64(step)/32), 1000))
	}
	if f, err := Disc(ctx, many, 1, 1, 1000); err != nil || !(plainRisk(points, 1, f, 1000) <= best*(1+1e-3)) {
		t.Errorf("many places: share %v, %v", f, err)
	}
	if numtest.Full() {
		grid, err := cost.NewGrid(20, 21, 2)
		if err != nil {
			t.Fatal(err)
		}
		if f, err := Disc(ctx, grid, 1, 1, 1000); err != nil || !(f >= 2./discPlaces && f <= 0.6) {
			t.Errorf("many places apart: share %v, %v", f, err)
		}
	}
	for _, c := range []cost.Matrix{ring, same} {
		for _, eps := range []float64{0, 1e-9, 700} {
			for _, n := range []int{0, 1, math.MaxInt} {
				if f, err := Disc(ctx, c, 1, eps, n); err != nil || !(f > 0 && f <= 0.6) {
					t.Errorf("eps %v, %d devices: share %v, %v", eps, n, f, err)
				}
			}
		}
	}
	if _, err := Disc(ctx, &cost.Dense{K: 1, Kv: 2, Data: []float64{0, 1}}, 1, 1, 1); !errors.Is(err, ErrNoGeometry) {
		t.Errorf("a cost without distances: %v", err)
	}
	for _, c := range []struct {
		eps     float64
		devices int
		want    error
	}{
		{-1, 1, wpmerr.ErrEpsilon}, {math.NaN(), 1, wpmerr.ErrEpsilon}, {1, -1, wpmerr.ErrSettings},
	} {
		if _, err := Disc(ctx, ring, 1, c.eps, c.devices); !errors.Is(err, c.want) {
			t.Errorf("eps %v, %d devices: %v, want %v", c.eps, c.devices, err, c.want)
		}
	}
	stopped, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := Disc(stopped, many, 1, 1, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
}
