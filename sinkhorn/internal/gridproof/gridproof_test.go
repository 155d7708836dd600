package gridproof

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/projection/verify"
	"github.com/wpm-go/wpm/wpmerr"
)

// caseOf returns a case with a random source and q, in a box with room around it.
func caseOf(t *testing.T, g *numtest.SplitMix64, rows, cols int) (c *Case, source []float64) {
	t.Helper()
	m, err := cost.NewGrid(rows, cols, 2)
	if err != nil {
		t.Fatal(err)
	}
	n := rows * cols
	source, q := masses(g, n), masses(g, n)
	p := projection.Problem{Cost: m, Source: source, Lo: make([]float64, n), Hi: slices.Repeat([]float64{1}, n)}
	v, err := verify.New(p, q)
	if err != nil {
		t.Fatal(err)
	}
	return New(v), source
}

// masses returns a distribution on n points, some of which have none.
func masses(g *numtest.SplitMix64, n int) []float64 {
	x := make([]float64, n)
	sum := 0.0
	for i := range x {
		x[i] = max(0, g.Float64()-0.2)
		sum += x[i]
	}
	for i := range x {
		x[i] /= sum
	}
	return x
}

// randomFlow returns a flow between all neighbours, or none, of at most that size.
func randomFlow(g *numtest.SplitMix64, c *Case, size float64, steps int) *Flow {
	f := &Flow{Right: make([]float64, c.Kv), Down: make([]float64, c.Kv), Steps: steps}
	for i := range f.Right {
		if i%c.cols+1 < c.cols && g.Float64() < 0.75 {
			f.Right[i] = size * (2*g.Float64() - 1)
		}
		if i/c.cols+1 < c.rows && g.Float64() < 0.75 {
			f.Down[i] = size * (2*g.Float64() - 1)
		}
	}
	return f
}

// slowly takes the rows of a plan along a flow by plain loops over pairs of cells: each gives at the same time, in
// proportion to what is asked of it, and no more than it has; then blocks are mixed.
func slowly(plan [][]float64, c *Case, f *Flow) (cut int) {
	n := c.Kv
	sums := func() []float64 {
		s := make([]float64, n)
		for _, row := range plan {
			for j, x := range row {
				s[j] += x
			}
		}
		return s
	}
	apply := func(share [][]float64) {
		for r, row := range plan {
			next := make([]float64, n)
			for i, x := range row {
				for j, y := range share[i] {
					next[j] += x * y
				}
			}
			plan[r] = next
		}
	}
	identity := func() [][]float64 {
		share := make([][]float64, n)
		for i := range share {
			share[i] = make([]float64, n)
			share[i][i] = 1
		}
		return share
	}
	for range f.Steps {
		had, share := sums(), identity()
		ask := func(from, to int, x float64) {
			if x < 0 {
				from, to, x = to, from, -x
			}
			share[from][to] += x / float64(f.Steps)
		}
		for i := range n {
			if i%c.cols+1 < c.cols {
				ask(i, i+1, f.Right[i])
			}
			if i/c.cols+1 < c.rows {
				ask(i, i+c.cols, f.Down[i])
			}
		}
		for i := range n {
			all := 0.0
			share[i][i] = 0
			for _, x := range share[i] {
				all += x
			}
			if all > had[i] {
				cut++
			}
			for j := range share[i] {
				if share[i][j] /= max(all, had[i], 1e-300); had[i] == 0 {
					share[i][j] = 0
				}
			}
			share[i][i] = 1
			for j, x := range share[i] {
				if j != i {
					share[i][i] -= x
				}
			}
		}
		apply(share)
	}
	for side := 2; f.Mix && side < 2*max(c.rows, c.cols); side *= 2 {
		had, share := sums(), identity()
		for i := range n {
			over, under := 0.0, 0.0
			same := func(j int) bool {
				return i/c.cols/side == j/c.cols/side && i%c.cols/side == j%c.cols/side
			}
			for j := range n {
				if same(j) {
					over, under = over+max(0, had[j]-c.Q[j]), under+max(0, c.Q[j]-had[j])
				}
			}
			if had[i] <= c.Q[i] || under == 0 {
				continue
			}
			give := (had[i] - c.Q[i]) / had[i] * min(1, under/over)
			share[i][i] -= give
			for j := range n {
				if same(j) && had[j] < c.Q[j] {
					share[i][j] += give * (c.Q[j] - had[j]) / under
				}
			}
		}
		apply(share)
	}
	return cut
}

// entropicPlan is the plan of logV at reg, by plain loops.
func entropicPlan(c *Case, source, logV []float64, reg float64) [][]float64 {
	plan := make([][]float64, c.K)
	for i := range plan {
		plan[i] = make([]float64, c.Kv)
		row, sum := c.Cost.Row(i, make([]float64, c.Kv)), 0.0
		for j := range row {
			plan[i][j] = math.Exp(logV[j] - row[j]/reg)
			sum += plan[i][j]
		}
		for j := range row {
			plan[i][j] *= source[i] / sum
		}
	}
	return plan
}

// TestFollow: Moves and the moments of Plan say of a flow, with its cuts and with blocks that are mixed, what loops
// over pairs of cells make of the plan itself.
func TestFollow(t *testing.T) {
	// Slack is 1e-12 here, the sums of the test are no better, and a cell that gives all it has keeps 2^-40 of it.
	const same = 1e-11
	g := numtest.NewSplitMix64(83)
	cut := 0
	for _, size := range [][2]int{{3, 4}, {1, 7}, {6, 1}, {5, 9}, {4, 5}} {
		for _, mix := range []bool{false, true} {
			for _, steps := range []int{0, 1, 3} {
				c, source := caseOf(t, g, size[0], size[1])
				f := randomFlow(g, c, 0.3/float64(c.Kv), max(1, steps))
				if f.Mix = mix; steps == 0 {
					clear(f.Right)
					clear(f.Down)
				}
				if err := c.Check(f); err != nil {
					t.Fatal(err)
				}
				logV := make([]float64, c.Kv)
				for j := range logV {
					logV[j] = g.Float64()
				}
				const reg = 0.05
				plan := entropicPlan(c, source, logV, reg)
				before := make([]float64, c.Kv)
				rows := make([][]float64, c.K)
				for i, row := range plan {
					rows[i] = slices.Clone(row)
					for j, x := range row {
						before[j] += x
					}
				}
				cut += slowly(plan, c, f)
				after, move := c.Moves(f)(before)
				transport, off := 0.0, 0.0
				for j := range c.Kv {
					sum := 0.0
					for i := range c.K {
						sum += plan[i][j]
						transport += plan[i][j] * c.Cost.Row(i, make([]float64, c.Kv))[j]
					}
					if off += math.Abs(sum - c.Q[j]); !(math.Abs(after[j]-sum) <= same) {
						t.Errorf("%v, mix %v: cell %d has %v, want %v", size, mix, j, after[j], sum)
					}
				}
				if mix && !(off <= same) {
					t.Errorf("%v: %v off Q after the whole grid is mixed", size, off)
				}
				for i, row := range rows {
					move(row)
					for j, x := range row {
						if !(math.Abs(x-plan[i][j]) <= same) {
							t.Errorf("%v, mix %v: (%d, %d) is %v, want %v", size, mix, i, j, x, plan[i][j])
						}
					}
				}
				found, err := c.Plan(logV, reg, f)
				if err != nil {
					t.Fatal(err)
				}
				got, _ := found.Upper.Float64()
				if want := min(found.Most, transport+found.Most*off); !(got >= want-1e-15 && got <= want+same) {
					t.Errorf("%v, mix %v, %d steps: %v, and the plan costs %v", size, mix, steps, got, want)
				}
			}
		}
	}
	if cut == 0 {
		t.Error("no cell ran out")
	}
}

// TestMovesRange: next to nothing in a cell, and nothing at all, keep everything finite and nothing negative.
func TestMovesRange(t *testing.T) {
	g := numtest.NewSplitMix64(84)
	for _, tiny := range []float64{0, 5e-324, 1e-320, 1e-310, 1e-300} {
		c, _ := caseOf(t, g, 4, 5)
		f := randomFlow(g, c, 1e-310, 2)
		f.Mix = true
		sums := slices.Repeat([]float64{tiny}, c.Kv)
		sums[7] = 1
		after, move := c.Moves(f)(sums)
		move(sums)
		for j, x := range sums {
			if !(x >= 0 && x <= 1 && after[j] >= 0 && after[j] <= 1) {
				t.Errorf("masses of %v: cell %d ends with %v and %v", tiny, j, x, after[j])
			}
		}
	}
}

// TestCheck: what leaves the grid is refused, to each side, and what is no flow.
func TestCheck(t *testing.T) {
	const rows, cols = 3, 4
	c, _ := caseOf(t, numtest.NewSplitMix64(85), rows, cols)
	still := func() *Flow {
		return &Flow{Right: make([]float64, rows*cols), Down: make([]float64, rows*cols), Steps: 1}
	}
	for i := range rows * cols {
		f := still()
		f.Right[i] = 0.1
		if err := c.Check(f); (err == nil) != (i%cols < cols-1) {
			t.Errorf("to the right of cell %d: %v", i, err)
		}
		f.Right[i], f.Down[i] = 0, -0.1
		if err := c.Check(f); (err == nil) != (i/cols < rows-1) {
			t.Errorf("below cell %d: %v", i, err)
		}
	}
	for _, x := range []struct {
		flow  float64
		steps int
		want  bool
	}{
		{2, 1, true}, {-2, 1000, true}, {2.1, 1, false}, {-2.1, 1, false}, {math.NaN(), 1, false}, {math.Inf(1), 1, false},
		{0, 0, false}, {0, -1, false}, {0, 1001, false},
	} {
		f := still()
		f.Right[0], f.Steps = x.flow, x.steps
		if err := c.Check(f); (err == nil) != x.want || err != nil && !errors.Is(err, wpmerr.ErrCertificate) {
			t.Errorf("%+v: %v", x, err)
		}
	}
	for _, f := range []*Flow{{Steps: 1}, {Right: still().Right, Steps: 1},
		{Right: still().Right, Down: still().Down[1:], Steps: 1}} {
		if c.Check(f) == nil {
			t.Errorf("%+v is accepted", f)
		}
	}
}

// TestSlack: the margin of Plan grows by what its comment says.
func TestSlack(t *testing.T) {
	const unit = 0x1p-53
	for _, x := range []struct {
		what      string
		got, want float64 // exact: small multiples of powers of two
	}{
		{"exponents", slack(8, 16, 3, 1, 0) - slack(8, 16, 2, 1, 0), 2 * 60 * unit},
		{"steps", slack(8, 16, 2, 2, 0) - slack(8, 16, 2, 1, 0), 2 * 40 * unit},
		{"mixings", slack(8, 16, 2, 2, 2) - slack(8, 16, 2, 2, 1), 2 * (3*128 + 40) * unit},
		{"nothing", slack(8, 16, 0, 0, 0), 2 * (8*24 + 128 + 100) * unit},
	} {
		if x.got != x.want {
			t.Errorf("%s: %v units, want %v", x.what, x.got/unit, x.want/unit)
		}
	}
}
