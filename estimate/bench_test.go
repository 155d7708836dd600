package estimate

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/cost"
)

// BenchmarkMap has the kernels at hand.
func BenchmarkMap(b *testing.B) {
	for _, c := range []struct {
		side int
		eps  float64
		n    int
	}{{20, 1, 500}, {20, 1, 5000}, {20, 4, 5000}, {20, 4, 200000}} {
		b.Run(fmt.Sprintf("k=%d/eps=%v/n=%d", c.side*c.side, c.eps, c.n), func(b *testing.B) {
			m, err := cost.NewGrid(c.side, c.side, 1)
			if err != nil {
				b.Fatal(err)
			}
			g, dist := geometryOf(b, m)
			share := .333
			if c.eps == 4 {
				share = .077
			}
			rows := discs(dist, c.eps, share)
			theta := make([]float64, g.K())
			r := rand.New(rand.NewPCG(1, 2))
			theta[g.K()/3], theta[g.K()/2+5] = .5, .2
			for i := range theta {
				theta[i] += .3 / float64(g.K())
			}
			channel := channelOf(b, rows)
			p := Problem{Counts: drawCounts(r, channel, theta, c.n), Channel: channel, Geometry: g}
			for n := range kernels {
				if _, err := g.kernel(n); err != nil {
					b.Fatal(err)
				}
			}
			for b.Loop() {
				if _, err := Map(context.Background(), p, Settings{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkMapFew has fewer outputs than places: every so many of the rows of a policy.
func BenchmarkMapFew(b *testing.B) {
	m, err := cost.NewGrid(20, 20, 1)
	if err != nil {
		b.Fatal(err)
	}
	g, dist := geometryOf(b, m)
	for _, every := range []int{2, 3, 4, 13} {
		b.Run(fmt.Sprintf("outputs=%d", (g.K()-1)/every+1), func(b *testing.B) {
			rows := discs(dist, 2, .2)
			for i, row := range rows {
				rows[i] = nil
				for j := 0; j < len(row); j += every {
					rows[i] = append(rows[i], row[j])
				}
			}
			channel, r := channelOf(b, rows), rand.New(rand.NewPCG(1, 2))
			p := Problem{Counts: drawCounts(r, channel, someTheta(r, g.K()), 20_000), Channel: channel, Geometry: g}
			for b.Loop() {
				if _, err := Map(context.Background(), p, Settings{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkGeometry is what Map computes of the distances, once.
func BenchmarkGeometry(b *testing.B) {
	m, err := cost.NewGrid(20, 20, 1)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		g, err := NewGeometry(context.Background(), m, 1)
		if err != nil {
			b.Fatal(err)
		}
		for n := range kernels {
			if _, err := g.kernel(n); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// BenchmarkMapLarge has groups of places.
func BenchmarkMapLarge(b *testing.B) {
	const side, eps, n = 100, 2, 20_000
	m, err := cost.NewGrid(side, side, 1)
	if err != nil {
		b.Fatal(err)
	}
	g, err := NewGeometry(context.Background(), m, 1)
	if err != nil {
		b.Fatal(err)
	}
	k := side * side
	row := func(i int, dst []float64) {
		for j := range dst {
			x, y := i%side-j%side, i/side-j/side
			dst[j] = 1
			if x*x+y*y <= 22*22 {
				dst[j] = math.Exp(eps)
			}
		}
	}
	channel, err := NewChannel(k, k, row)
	if err != nil {
		b.Fatal(err)
	}
	theta := make([]float64, k)
	for i := range theta {
		theta[i] = .5 / float64(k)
	}
	for i := range 10 {
		theta[k/3+i] += .05
	}
	p := Problem{Counts: drawCounts(rand.New(rand.NewPCG(1, 2)), channel, theta, n), Channel: channel, Geometry: g}
	for b.Loop() {
		if _, err := Map(context.Background(), p, Settings{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkScatterOfGroups is S of 150 groups and 400 outputs, of which a part is above the least of its column, by lists
// of these and as a product.
func BenchmarkScatterOfGroups(b *testing.B) {
	const k, kv = 150, 400
	for _, share := range []float64{.1, .25, .4, .5, .6, .7} {
		c := &Channel{k: k, kv: kv, rows: slices.Repeat([]float64{.001}, k*kv)}
		r := rand.New(rand.NewPCG(1, 2))
		for n := range c.rows {
			if r.Float64() < share {
				c.rows[n] += .003 * r.Float64()
			}
		}
		c.listTops(2)
		f := &fit{channel: c, n: 1e4, prior: slices.Repeat([]float64{1. / k}, k)}
		f.s, f.at = make([]float64, k*k), point{theta: f.prior, q: make([]float64, kv)}
		c.forward(f.prior, f.at.q)
		for _, lists := range []bool{true, false} {
			b.Run(fmt.Sprintf("share=%v/lists=%v", share, lists), func(b *testing.B) {
				for b.Loop() {
					if clear(f.s); lists {
						f.scattered()
					} else {
						f.product()
					}
				}
			})
		}
	}
}

// BenchmarkScatter is one product of codes, 400 codes of 8 colours each, from columns and from rows.
func BenchmarkScatter(b *testing.B) {
	const k, codes, colours = 400, 400, 8
	r := rand.New(rand.NewPCG(1, 2))
	of := make([][]int, codes) // the colour of each place
	for n := range of {
		of[n] = r.Perm(k)
	}
	rows := make([][]float64, k)
	for i := range rows {
		rows[i] = slices.Repeat([]float64{1}, codes*colours)
		for n, place := range of {
			rows[i][n*colours+place[i]%colours] = math.Exp(2)
		}
	}
	c := channelOf(b, rows)
	q, v := make([]float64, codes*colours), make([]float64, codes*colours)
	c.forward(slices.Repeat([]float64{1. / k}, k), q)
	for j := range v {
		v[j] = 1 / q[j]
	}
	out := make([]float64, k*k)
	c.scatter(q, v, out)
	for _, columns := range []bool{true, false} {
		b.Run(fmt.Sprintf("columns=%v", columns), func(b *testing.B) {
			if c.tops == nil {
				b.Fatal("too many pairs")
			}
			if !columns {
				kept := c.tops
				c.tops = nil
				defer func() { c.tops = kept }()
			}
			for b.Loop() {
				c.scatter(q, v, out)
			}
		})
	}
}
