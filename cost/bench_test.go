package cost_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
)

// BenchmarkRow times one row of 1024 entries of each structured cost.
func BenchmarkRow(b *testing.B) {
	const k = 1024
	g := numtest.NewSplitMix64(1)
	random := func(dim int) [][]float64 {
		x := make([][]float64, k)
		for i := range x {
			x[i] = make([]float64, dim)
			for j := range x[i] {
				x[i][j] = g.Float64() - 0.5
			}
		}
		return x
	}
	places := make([][2]float64, k)
	for i := range places {
		places[i] = [2]float64{180*g.Float64() - 90, 360*g.Float64() - 180}
	}
	run := func(name string, m cost.Matrix, err error) {
		b.Run(name, func(b *testing.B) {
			if err != nil {
				b.Fatal(err)
			}
			buf := make([]float64, k)
			i, sum := 0, 0.0
			for b.Loop() {
				sum += m.Row(i, buf)[k/2]
				i = (i + 1) % k
			}
			if !(sum >= 0) {
				b.Fatal("no rows")
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/k, "ns/entry")
		})
	}
	ring, err := cost.NewRing(k, 2)
	run("Ring", ring, err)
	grid, err := cost.NewGrid(32, 32, 1)
	run("Grid", grid, err)
	for _, dim := range []int{2, 64} {
		for _, p := range []float64{1, 2, 3} {
			m, err := cost.NewPoints(random(dim), nil, p)
			run(fmt.Sprintf("Points/dim=%d/p=%v", dim, p), m, err)
		}
	}
	cosine, err := cost.NewCosine(random(64), nil)
	run("Cosine/dim=64", cosine, err)
	circle, err := cost.NewGreatCircle(places, nil, 1)
	run("GreatCircle", circle, err)
}

func BenchmarkParseSpec(b *testing.B) {
	g := numtest.NewSplitMix64(1)
	x := make([][]float64, 300)
	for i := range x {
		x[i] = make([]float64, 300)
		for j := range x[i] {
			x[i][j] = g.Float64()
		}
	}
	text, err := json.Marshal(cost.Spec{Kind: "explicit", C: x})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := cost.ParseSpec(text); err != nil {
			b.Fatal(err)
		}
	}
}
