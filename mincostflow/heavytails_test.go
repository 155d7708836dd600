package mincostflow

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
)

// heavyTail draws n masses of tail index 0.6 in random order: few have nearly all.
func (r *source) heavyTail(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(float32(math.Pow(1-r.Float64(), -1/0.6)))
	}
	return x
}

// towns draws n places in the square, or latitudes and longitudes, that crowd around towns of many sizes.
func (r *source) towns(n int, centres [][]float64) [][2]float64 {
	x := make([][2]float64, n)
	for i := range x {
		u := r.Float64()
		c := int(u * u * u * float64(len(centres)))
		for d := range x[i] {
			x[i][d] = float64(float32(centres[c][d] + 0.3*u*u*0.05*r.normal()))
		}
	}
	return x
}

// heavyTailed is transport between two sides of n places, on the earth or in the plane, with heavy tails on the rows,
// and on the columns as well if both is set.
func heavyTailed(t *testing.T, seed uint64, n int, earth, both bool) (c *cost.Dense, a, b []float64) {
	t.Helper()
	r := &source{numtest.NewSplitMix64(seed)}
	centres := r.points(20, 2, r.Float64)
	x, v := r.towns(n, centres), r.towns(n, centres)
	var m cost.Matrix
	var err error
	if earth {
		for _, side := range [][][2]float64{x, v} {
			for i := range side {
				side[i] = [2]float64{min(max(120*side[i][0]-60, -90), 90), min(max(360*side[i][1]-180, -180), 180)}
			}
		}
		m, err = cost.NewGreatCircle(x, v, 1)
	} else {
		var xs, vs [][]float64
		for i := range x {
			xs, vs = append(xs, x[i][:]), append(vs, v[i][:])
		}
		m, err = cost.NewPoints(xs, vs, 2)
	}
	if err != nil {
		t.Fatal(err)
	}
	if c, err = cost.Materialize(context.Background(), m); err != nil {
		t.Fatal(err)
	}
	a, b = r.heavyTail(n), r.heavyTail(n)
	if !both {
		for j := range b {
			b[j] = float64(float32(-math.Log1p(-r.Float64())))
		}
	}
	return c, a, b
}

// TestHeavyTails: where few places have nearly all mass, the pivots for each row and column stay few, and do not grow
// with their number.
func TestHeavyTails(t *testing.T) {
	const most = 20 // for each row and column; 44 to 217 before groups took note of masses
	sizes := []int{250, 1000}
	if !testing.Short() {
		sizes = append(sizes, 2000)
	}
	for _, n := range sizes {
		for seed := range uint64(3) {
			if n > 1000 && seed > 0 {
				break // as many seconds
			}
			for _, earth := range []bool{false, true} {
				for _, both := range []bool{false, true} {
					name := fmt.Sprintf("%d places, seed %d, earth %v, both sides %v", n, seed, earth, both)
					c, a, b := heavyTailed(t, seed+110e6, n, earth, both)
					r, err := Transport(context.Background(), c, a, b)
					if err != nil {
						t.Fatal(name, err)
					}
					if each := float64(r.Stats.Pivots) / float64(2*n); each > most {
						t.Errorf("%s: %.1f pivots for each row and column, at most %d", name, each, most)
					}
					if n == sizes[0] {
						if _, _, err := VerifyTransport(context.Background(), c, a, b, r); err != nil {
							t.Errorf("%s: %v", name, err)
						}
					}
				}
			}
		}
	}
}

// TestHeavyMasses: small problems of masses with heavy tails, with ties, more rows than columns and the reverse, keep
// all promises.
func TestHeavyMasses(t *testing.T) {
	n := numtest.Cases(300, 3000)
	for seed := range n {
		d := newDraw(uint64(seed) + 111e6)
		r := &source{d.SplitMix64}
		k, kv := 1+d.Intn(30), 1+d.Intn(30)
		if d.Intn(4) == 0 {
			k, kv = 40+d.Intn(40), 1+d.Intn(6)
		}
		c := d.Costs(k, kv)
		if d.Intn(3) == 0 {
			for x := range c.Data {
				c.Data[x] = float64(d.Intn(3))
			}
		}
		p := Problem{Cost: c, Source: r.heavyTail(k)}
		target := r.heavyTail(kv)
		normalise(target)
		p.Lo, p.Hi = box(target, float64(d.Intn(3))*0.4)
		if err := new(solver).in.set(p); err != nil {
			continue // bounds that no distribution meets
		}
		mustSimplex(t, p)
	}
}
