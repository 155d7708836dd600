package estimate

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/wpm-go/wpm/cost"
)

// discs are the rows of a policy with uniform base measure: of each place, the share of nearest outputs is e^eps times as likely. Rows have no common sum.
func discs(dist [][]float64, eps, share float64) [][]float64 {
	rows := make([][]float64, len(dist))
	for i, d := range dist {
		rows[i] = make([]float64, len(d))
		order := make([]int, len(d))
		for j := range order {
			order[j] = j
		}
		for a := range order { // by distance, then index
			for b := a; b > 0 && d[order[b]] < d[order[b-1]]; b-- {
				order[b], order[b-1] = order[b-1], order[b]
			}
		}
		left := share * float64(len(d))
		for _, j := range order {
			w := min(max(left, 0), 1)
			rows[i][j] = 1 + w*math.Expm1(eps)
			left--
		}
	}
	return rows
}

// normal divides each row by its sum.
func normal(rows [][]float64) [][]float64 {
	out := make([][]float64, len(rows))
	for i, row := range rows {
		sum := 0.0
		for _, v := range row {
			sum += v
		}
		for _, v := range row {
			out[i] = append(out[i], v/sum)
		}
	}
	return out
}

func geometryOf(t testing.TB, m cost.Matrix) (*Geometry, [][]float64) {
	t.Helper()
	g, err := NewGeometry(m, 1)
	if err != nil {
		t.Fatal(err)
	}
	dist := make([][]float64, g.K())
	for i := range dist {
		dist[i] = append([]float64(nil), g.dist.Row(i, make([]float64, g.K()))...)
	}
	return g, dist
}

// TestMapPlain holds Map against the algorithm written out.
func TestMapPlain(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	grid, err := cost.NewGrid(4, 5, 2)
	if err != nil {
		t.Fatal(err)
	}
	ring, err := cost.NewRing(13, 1)
	if err != nil {
		t.Fatal(err)
	}
	var x [][]float64
	for range 15 {
		x = append(x, []float64{r.NormFloat64(), r.NormFloat64()})
	}
	points, err := cost.NewPoints(x, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	for name, m := range map[string]cost.Matrix{"grid": grid, "ring": ring, "points": points} {
		g, dist := geometryOf(t, m)
		k := g.K()
		for _, c := range []struct {
			eps float64
			n   int
		}{{0.5, 20}, {1, 300}, {3, 100}, {4, 20000}} {
			rows := discs(dist, c.eps, .3)
			theta, prior := make([]float64, k), make([]float64, k)
			for i := range theta {
				theta[i] = math.Exp(-dist[i][k/3] / g.unit)
				prior[i] = 1 + r.Float64()
			}
			total, all := 0.0, 0.0
			for i := range theta {
				total += theta[i]
				all += prior[i]
			}
			for i := range theta {
				theta[i] /= total
				prior[i] /= all
			}
			channel := channelOf(t, rows)
			counts := drawCounts(r, channel, theta, c.n)
			want, weights := plainMap(counts, normal(rows), dist, prior)
			got, err := Map(context.Background(), Problem{Counts: counts, Channel: channel, Prior: prior, Geometry: g}, Settings{})
			if err != nil {
				t.Fatalf("%s, %+v: %v", name, c, err)
			}
			// Map stops when a step gains less than gainGoal, so a log-weight is off by a few times that.
			off := 0.0
			for i := range want {
				off += math.Abs(got.Theta[i]-want[i]) / 2
			}
			far := 0.0
			for m, w := range weights {
				far = max(far, math.Abs(got.Models[m].Weight-w))
			}
			t.Logf("%s, %+v: map off by %.2g, weights by %.2g; guess %.3f", name, c, off, far, weights[0])
			if !(off <= 5*gainGoal) || !(far <= 5*gainGoal) {
				t.Errorf("%s, %+v: map off by %v, weights by %v", name, c, off, far)
			}
		}
	}
}
