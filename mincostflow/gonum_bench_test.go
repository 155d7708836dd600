package mincostflow_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/mincostflow"
)

// BenchmarkGonum times Transport beside gonum's linear programme, on two clouds of the same size in the plane.
func BenchmarkGonum(b *testing.B) {
	for _, n := range []int{10, 20, 30} {
		r := rand.New(rand.NewPCG(uint64(n), 1))
		cloud := func() (rows [][]float64, dense *mat.Dense) {
			dense = mat.NewDense(n, 2, nil)
			for i := range n {
				rows = append(rows, []float64{r.Float64(), r.Float64()})
				dense.SetRow(i, rows[i])
			}
			return rows, dense
		}
		x, p := cloud()
		y, q := cloud()
		b.Run(fmt.Sprintf("points=%d/gonum", n), func(b *testing.B) {
			for b.Loop() {
				if _, err := stat.WassersteinDistanceND(p, q, nil, nil, 1e-9); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("points=%d/wpm", n), func(b *testing.B) {
			for b.Loop() {
				c, err := cost.NewPoints(x, y, 1)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := mincostflow.Transport(context.Background(), c, nil, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
