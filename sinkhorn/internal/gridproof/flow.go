package gridproof

import (
	"math"
	"slices"

	"github.com/wpm-go/wpm/projection/verify"
)

// Flow is that of package sinkhorn/grid, which says what it means.
type Flow struct {
	Right, Down []float64
	Steps       int
	Mix         bool
}

// Check checks the form of a flow.
func (c *Case) Check(f *Flow) error {
	if len(f.Right) != c.Kv || len(f.Down) != c.Kv || f.Steps < 1 || f.Steps > 1000 {
		return refuse("a flow of %d and %d cells in %d steps, want %d", len(f.Right), len(f.Down), f.Steps, c.Kv)
	}
	for i := range c.Kv {
		if !(math.Abs(f.Right[i]) <= 2 && math.Abs(f.Down[i]) <= 2) {
			return refuse("the flow from cell %d is %v and %v", i, f.Right[i], f.Down[i])
		}
		if f.Right[i] != 0 && i%c.cols == c.cols-1 || f.Down[i] != 0 && i/c.cols == c.rows-1 {
			return refuse("the flow from cell %d leaves the grid", i)
		}
	}
	return nil
}

// A move takes a vector over the cells one step on, in place: a row of a plan, say, or sums of rows. The vector is 0
// outside [from, to), and afterwards outside [low, high).
type move func(p []float64, from, to int) (low, high int)

// follow takes the column sums of a plan along a flow, and calls do for every step of it: what the cells of a step give
// depends on the sums before it.
func (c *Case) follow(f *Flow, sums []float64, do func(move)) {
	step := func(m move) {
		m(sums, 0, len(sums))
		do(m)
	}
	ways := [4]int{1, -1, c.cols, -c.cols}
	asks := c.asks(f)
	for range f.Steps {
		step(passing(ways, asks, gives(asks, sums)))
	}
	for side := 2; f.Mix && side < 2*max(c.rows, c.cols); side *= 2 {
		step(c.mixing(side, sums))
	}
}

// asks returns what a step of a flow asks of every cell: to the right, to the left, down and up.
func (c *Case) asks(f *Flow) [][4]float64 {
	asks := make([][4]float64, c.Kv)
	for n, flow := range [][]float64{f.Right, f.Down} {
		next := 1 + n*(c.cols-1)
		for i, x := range flow {
			if x > 0 {
				asks[i][2*n] = x / float64(f.Steps)
			} else if x < 0 {
				asks[i+next][2*n+1] = -x / float64(f.Steps)
			}
		}
	}
	return asks
}

// gives returns by what asks are multiplied to make shares of what is in the cells. No cell gives more than it has;
// what is asked for beyond that is cut. Cells with next to nothing give nothing, so that quotients stay in range.
func gives(asks [][4]float64, sums []float64) []float64 {
	give := make([]float64, len(sums))
	for i, m := range sums {
		if all := asks[i][0] + asks[i][1] + asks[i][2] + asks[i][3]; all > 0 && m > 0x1p-1000 {
			give[i] = 1 / math.Max(m, all*(1+0x1p-40))
		}
	}
	return give
}

// passing is the move where cell i gives the share give[i] asks[i] of what it has, each part so many cells on.
func passing(ways [4]int, asks [][4]float64, give []float64) move {
	reach := ways[2]
	next := make([]float64, len(give))
	return func(p []float64, from, to int) (low, high int) {
		low, high = max(0, from-reach), min(len(p), to+reach)
		clear(next[low:high])
		for i := from; i < to; i++ {
			x, rest := p[i], 1.0
			for n, y := range asks[i] {
				if y *= give[i]; y > 0 {
					next[i+ways[n]] += x * y
					rest -= y
				}
			}
			next[i] += x * math.Max(0, rest)
		}
		copy(p[low:high], next[low:high])
		return low, high
	}
}

// mixing is the move of Flow.Mix in blocks of side x side cells: a cell with too much gives a share of it, and one with
// too little takes a share of what its block has been given.
func (c *Case) mixing(side int, sums []float64) move {
	block := func(i int) int { return i/c.cols/side*((c.cols+side-1)/side) + i%c.cols/side }
	blocks := block(c.Kv-1) + 1
	excess, deficit, pool := make([]float64, blocks), make([]float64, blocks), make([]float64, blocks)
	for i, x := range sums {
		excess[block(i)] += math.Max(0, x-c.Q[i])
		deficit[block(i)] += math.Max(0, c.Q[i]-x)
	}
	give, fill := make([]float64, c.Kv), make([]float64, c.Kv)
	for i, x := range sums {
		switch a, b := excess[block(i)], deficit[block(i)]; {
		case a == 0 || b == 0:
		case x > c.Q[i]:
			give[i] = (x - c.Q[i]) / x * math.Min(1, b/a)
		case x < c.Q[i]:
			fill[i] = (c.Q[i] - x) / b
		}
	}
	return func(p []float64, _, _ int) (low, high int) {
		clear(pool)
		for i, x := range give {
			if x > 0 {
				part := x * p[i]
				pool[block(i)] += part
				p[i] -= part
			}
		}
		for i, x := range fill {
			if x > 0 {
				p[i] += x * pool[block(i)]
			}
		}
		return 0, len(p)
	}
}

// Moves returns what takes a plan along the flow.
func (c *Case) Moves(f *Flow) verify.Moves {
	return func(sums []float64) ([]float64, func(p []float64)) {
		var moves []move
		after := slices.Clone(sums)
		c.follow(f, after, func(m move) { moves = append(moves, m) })
		return after, func(p []float64) {
			from, to := 0, len(p) // the part that is not zero
			for from < to && p[from] == 0 {
				from++
			}
			for to > from && p[to-1] == 0 {
				to--
			}
			for _, m := range moves {
				from, to = m(p, from, to)
			}
		}
	}
}
