package network

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/wpm-go/wpm/wpmerr"
)

// oneWay is a torus of side^2 columns and side rows, after GOTO: arcs along rows and down columns with capacities, and
// one path through all nodes that can carry the one supply to the one demand.
func oneWay(seed uint64, side int) *Problem {
	r := rand.New(rand.NewPCG(seed, 3))
	wide := side * side
	g := &Problem{Supply: make([]int64, wide*side)}
	n := len(g.Supply)
	for x := range wide {
		for y := range side {
			v := y*wide + x
			for d := 1; d <= 6; d++ {
				if x+d < wide {
					g.AddArc(v, v+d, 0, 1+r.Int64N(1<<14)>>d, r.Int64N(4096))
				}
			}
			for d := 1; d <= 2; d++ {
				g.AddArc(v, (y+d)%side*wide+x, 0, 1+r.Int64N(1<<14), r.Int64N(8))
			}
			switch total := int64(60_000 * side); {
			case y+1 < side:
				g.AddArc(v, v+wide, 0, total, 300)
			case x+1 < wide:
				g.AddArc(v, x+1, 0, total, 300)
			}
		}
	}
	g.Supply[0], g.Supply[n-1] = int64(60_000*side), -int64(60_000*side)
	return g
}

// TestInitialPivots: with one supply and one demand, the search back finds the path that carries everything, which
// saves pivots; the budget of pivots holds for the first ones, too.
func TestInitialPivots(t *testing.T) {
	for seed := range uint64(3) {
		g := oneWay(seed, 7)
		r, err := Solve(context.Background(), g, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if err := Verify(g, r); err != nil {
			t.Fatal(err)
		}
		l, err := g.load()
		if err != nil {
			t.Fatal(err)
		}
		l.run(context.Background(), math.MaxInt)
		if without := l.pivots; r.Stats.Pivots >= without {
			t.Errorf("seed %d: %d pivots, %d without the first ones", seed, r.Stats.Pivots, without)
		}
		for _, most := range []int{1, 5, 40} {
			r, err := Solve(context.Background(), g, Settings{MaxPivots: most})
			if !errors.Is(err, wpmerr.ErrNotConverged) || r.Stats.Pivots != most {
				t.Errorf("MaxPivots = %d: %d pivots, %v", most, r.Stats.Pivots, err)
			}
		}
	}
}
