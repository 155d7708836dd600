package estimate

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/mincostflow"
)

// TestCoarseLoss holds what groups of places cost in W_1 against Map with every place by itself.
func TestCoarseLoss(t *testing.T) {
	side, n := 16, 128
	if s := os.Getenv("COARSE"); s != "" {
		side, _ = strconv.Atoi(s)
		n = 400
	}
	m, err := cost.NewGrid(side, side, 1)
	if err != nil {
		t.Fatal(err)
	}
	g, dist := geometryOf(t, m)
	table := &cost.Dense{K: g.K(), Kv: g.K()}
	for _, row := range dist {
		table.Data = append(table.Data, row...)
	}
	w1 := func(a, b []float64) float64 {
		r, err := mincostflow.Transport(context.Background(), table, a, b)
		if err != nil {
			t.Fatal(err)
		}
		return r.Objective * float64(side)
	}
	r := rand.New(rand.NewPCG(5, 6))
	bump := func(i int, x, y, sd float64) float64 {
		dx, dy := float64(i%side)/float64(side)-x, float64(i/side)/float64(side)-y
		return math.Exp(-(dx*dx+dy*dy)/(2*sd*sd)) / (sd * sd)
	}
	for name, density := range map[string]func(i int) float64{
		"spread":  func(i int) float64 { return .5 + bump(i, .4, .4, .3) },
		"centres": func(i int) float64 { return .001 + .5*bump(i, .2, .3, .07) + .4*bump(i, .7, .6, .05) },
		"point":   func(i int) float64 { return 1e-5 + bump(i, .55, .35, .03) },
	} {
		theta, sum := make([]float64, g.K()), 0.0
		for i := range theta {
			theta[i] = density(i)
			sum += theta[i]
		}
		for i := range theta {
			theta[i] /= sum
		}
		for _, c := range []struct {
			eps, share float64
			n          int
		}{{1, .333, 500}, {1, .333, 5000}, {2, .2, 5000}, {4, .077, 500}, {4, .077, 5000}} {
			rows := discs(dist, c.eps, c.share)
			fine, coarse := 0.0, 0.0
			channel := channelOf(t, rows)
			for range 6 {
				p := Problem{Counts: sample(r, theta, normal(rows), c.n), Channel: channel, Geometry: g}
				a, err := mapOf(context.Background(), p, Settings{}, g.K(), 0, 0)
				if err != nil {
					t.Fatal(err)
				}
				b, err := mapOf(context.Background(), p, Settings{}, 0, n*3/10, n)
				if err != nil {
					t.Fatal(err)
				}
				fine, coarse = fine+w1(a.Theta, theta), coarse+w1(b.Theta, theta)
			}
			t.Logf("%s, %+v: every place %.3f, groups %.3f (%.3f)", name, c, fine/6, coarse/6, coarse/fine)
		}
	}
}
