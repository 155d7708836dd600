package worst

import (
	"context"
	"math"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/knapsack"
)

// globe are n places all over the Earth, of which some are in clusters, at antipodes, at poles, or copies.
func globe(rng *numtest.SplitMix64, n int, clusters bool) (list [][2]float64) {
	for len(list) < n {
		a := [2]float64{math.Asin(2*rng.Float64()-1) * (180 / math.Pi), 360*rng.Float64() - 180}
		if i := len(list); clusters && i > 3 {
			b := list[int(rng.Float64()*float64(i))]
			switch near := math.Exp2(-12*rng.Float64()) * 20; int(8 * rng.Float64()) {
			case 0:
				a = [2]float64{-b[0], b[1] + 180}
				if b[1] > 0 {
					a[1] = b[1] - 180
				}
			case 1:
				a = b
			case 2:
				a[0] = 90
			default:
				a = [2]float64{max(-90, min(90, b[0]+near*(rng.Float64()-0.5))), max(-180, min(180, b[1]+near*(rng.Float64()-0.5)))}
			}
		}
		list = append(list, a)
	}
	return list
}

// towns are points of which most are near others, at all scales, and some copies.
func towns(rng *numtest.SplitMix64, n, axes int) [][]float64 {
	list := cloud(rng, n, axes, 1)
	for i := 4; i < n; i++ {
		if near := math.Exp2(-20 * rng.Float64()); rng.Float64() < 0.7 {
			for a, b := range list[int(rng.Float64()*float64(i))] {
				list[i][a] = b + near*list[i][a]
			}
		} else if rng.Float64() < 0.2 {
			copy(list[i], list[i-1])
		}
	}
	return list
}

// TestSlopes holds the bounds of a sketch against the costs of all inputs, for boxes that are even or not, up to those
// of a single point; and that they are better than those of the triangle inequality.
func TestSlopes(t *testing.T) {
	const k = 90
	rng := numtest.NewSplitMix64(41)
	made := func(c cost.Matrix, err error) cost.Matrix {
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	circle := func(x, v [][2]float64) cost.Matrix { return made(cost.NewGreatCircle(x, v, 1)) }
	points := func(x, v [][]float64) cost.Matrix { return made(cost.NewPoints(x, v, 1)) }
	old, err := cost.ParseSpec([]byte(`{"kind":"greatcircle","x":[[90,0],[0,0],[0,90],[1,91],[-1,271],[-3,-88]],"p":1}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]cost.Matrix{
		"globe": circle(globe(rng, k, false), nil), "clusters": circle(globe(rng, k, true), nil),
		"places of others": circle(globe(rng, k, true), globe(rng, k/2, true)), "haversine": made(old.Build()),
		"line": points(towns(rng, k, 1), nil), "plane": points(cloud(rng, k, 2, 1e6), nil),
		"towns": points(towns(rng, k, 2), nil), "space": points(towns(rng, k, 3), towns(rng, k/3, 3)),
		"one place": points([][]float64{{1, 2}, {1, 2}}, [][]float64{{4, 6}}),
	} {
		t.Run(name, func(t *testing.T) {
			table, err := knapsack.New(context.Background(), c)
			if err != nil {
				t.Fatal(err)
			}
			rng, s := numtest.NewSplitMix64(7), NewSpace(c)
			if s.slopes == nil {
				t.Fatal("no slopes")
			}
			k, kv := c.Dims()
			better, pairs := 0, 0
			for n, eps := range []float64{0, 0.3, 2, 2, 2, 5, 9, 40} {
				// The mass of the base measure is from the least to the most that leaves a box.
				mass := math.Exp(eps / 2 * []float64{0, 1, -1, 0.3, 0, 0.1, 0.5, 0}[n])
				m, sum := make([]float64, kv), 0.0
				for j := range m {
					m[j] = 1
					if n%2 == 1 && j > 0 {
						m[j] = math.Floor(4*rng.Float64()) * rng.Float64()
					}
					sum += m[j]
				}
				lo, hi, phi := make([]float64, kv), make([]float64, kv), make([]float64, k)
				for j := range lo {
					lo[j], hi[j] = math.Exp(-eps/2)*mass*m[j]/sum, math.Exp(eps/2)*mass*m[j]/sum
				}
				if err := table.All(lo, hi, phi, nil); err != nil {
					t.Fatal(err)
				}
				q := s.start(lo, hi, nil, 0, 0)
				for i := range k {
					q.trace(i)
					d := q.sketch
					if !(math.Abs(d.cost-phi[i]) <= d.off+2*knapsack.PhiError*phi[i]) {
						t.Fatalf("eps %v, input %d: costs %v, the sketch has %v, off by %v", eps, i, phi[i], d.cost, d.off)
					}
					for y, far := range s.metric.Row(i, nil) {
						change := d.change(y, far)
						if up := (d.cost+d.off+change)*(1+q.rel) + q.abs; !(up >= phi[y]*(1-2*knapsack.PhiError)) || !(change <= far) {
							t.Fatalf("eps %v: input %d costs %v, by a sketch of %d at %v at most %v", eps, y, phi[y], i, far, up)
						}
						pairs++
						if change < far/2 {
							better++
						}
					}
				}
			}
			if k == 90 && better < pairs/50 {
				t.Errorf("%d of %d bounds are better than half the distance", better, pairs)
			}
		})
	}
}

// TestNearAntipode holds the bounds of sketches of inputs near the antipode of an output, where directions lose digits.
// On the equator, between the antipodes of two outputs of equal mass, all inputs cost the same.
func TestNearAntipode(t *testing.T) {
	var x [][2]float64
	for n := range 500 {
		x = append(x, [2]float64{0, -170 + 0.0005*math.Pow(1.01, float64(n))}, [2]float64{0, -165 + float64(n)/10})
	}
	c, err := cost.NewGreatCircle(x, [][2]float64{{0, 10}, {0, 100}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	phi := make([]float64, len(x))
	for i := range phi {
		row := c.Row(i, nil)
		phi[i] = (row[0] + row[1]) / 2
	}
	s, half := NewSpace(c), []float64{0.5, 0.5}
	q := s.start(half, half, nil, 0, 0)
	for i := range x {
		q.trace(i)
		d := q.sketch
		for y, far := range s.metric.Row(i, nil) {
			if up := (d.cost+d.off+d.change(y, far))*(1+q.rel) + q.abs; !(up >= phi[y]) {
				t.Fatalf("input %v costs %v, by a sketch of %v at %v at most %v", x[y], phi[y], x[i], far, up)
			}
		}
	}
}

// TestGlobe holds that slopes spare most inputs where places are all over the globe, and that nothing is found that
// all of them would not show.
func TestGlobe(t *testing.T) {
	const k = 1500
	c, err := cost.NewGreatCircle(globe(numtest.NewSplitMix64(5), k, false), nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	table, err := knapsack.New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	lo, hi, phi := make([]float64, k), make([]float64, k), make([]float64, k)
	for j := range lo {
		lo[j], hi[j] = math.Exp(-1)/k, math.Exp(1)/k
	}
	if err := table.All(lo, hi, phi, nil); err != nil {
		t.Fatal(err)
	}
	s, worst := NewSpace(c), 0
	for i, v := range phi {
		if v > phi[worst] {
			worst = i
		}
	}
	q := s.start(lo, hi, func(i int) (float64, error) { return phi[i], nil }, knapsack.PhiError, 0)
	q.loose = 1
	if err := q.run(t.Context()); err != nil || q.Input != worst || q.Looked > 10 {
		t.Errorf("%+v, %v: the worst input is %d", q.Result, err, worst)
	}
	sketched := 0
	for _, done := range q.sketch.done {
		if done {
			sketched++
		}
	}
	if sketched > k/3 {
		t.Errorf("%d inputs of %d were sketched", sketched, k)
	}
}
