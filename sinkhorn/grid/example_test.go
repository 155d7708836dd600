package grid_test

import (
	"context"
	"fmt"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/sinkhorn/grid"
)

// Mass in one corner of 8 x 8 cells is spread so that no cell has more than a thirty-second of it.
func ExampleSolve() {
	g, err := cost.NewGrid(8, 8, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	p := grid.Problem{Grid: g, Mu: make([]float64, 64), Lo: make([]float64, 64), Hi: make([]float64, 64), Reg: 1e-3}
	p.Mu[0] = 1
	for j := range p.Hi {
		p.Hi[j] = 1.0 / 32
	}
	r := grid.Solve(context.Background(), p, grid.Settings{Tolerance: 1e-9, MaxIterations: 10000})
	fmt.Println("converged:", r.Status == grid.Converged)
	fmt.Printf("the first cell has %.4f, the last %.4f\n", r.Q[0], r.Q[63])
	fmt.Printf("%.4f <= optimum <= %.4f\n", r.Lower, r.Upper)
	// Output:
	// converged: true
	// the first cell has 0.0312, the last 0.0000
	// 0.2412 <= optimum <= 0.2412
}
