package sinkhorn

import (
	"context"
	"math"
	"testing"

	"github.com/wpm-go/wpm/cost"
)

// cellCost is the squared distance of two cells of a grid.
func cellCost(rows, cols, i, j int) float64 {
	x, y := float64(i%cols-j%cols)/float64(cols), float64(i/cols-j/cols)/float64(rows)
	return x*x + y*y
}

// randomLevel is a grid with random masses and a box around others.
func randomLevel(g *generator, rows, cols int) *gridLevel {
	n := rows * cols
	lo, hi := box(g.mass(n), 2)
	return newGridLevel(rows, cols, g.mass(n), lo, hi, 0)
}

// TestGridSums compares sums and means over a grid, axis by axis, with sums over all cells, and the least of cost and price with the least of all.
func TestGridSums(t *testing.T) {
	const (
		// Terms below e^-36 are left out twice; exponents of up to 10^4 are rounded.
		same = 1e-9
		// Means are over weights, of distances up to 1.4.
		mean = 1e-8
	)
	g := newGenerator(21)
	for _, size := range [][2]int{{1, 1}, {1, 12}, {11, 1}, {2, 3}, {9, 17}, {20, 8}, {33, 5}} {
		rows, cols := size[0], size[1]
		n := rows * cols
		l := randomLevel(g, rows, cols)
		k := newGridKernel(l)
		for _, reg := range []float64{1, 0.01, 1e-4} {
			k.setReg(reg)
			w := make([]float64, n)
			for j := range w {
				if w[j] = g.float() / reg; g.intn(6) == 0 && j > 0 {
					w[j] = math.Inf(-1)
				}
			}
			sum := make([]float64, n)
			k.sum(sum, w)
			m := k.moments(w)
			v, least := make([]float64, n), make([]float64, n)
			for j, x := range w {
				v[j] = -reg * x
			}
			k.transform(least, v)
			for i := range n {
				e := make([]float64, n)
				low := math.Inf(1)
				for j := range e {
					c := cellCost(rows, cols, i, j)
					e[j] = w[j] - c/reg
					low = min(low, c+v[j])
				}
				all := logSumExp(e)
				var x, y, square float64
				for j, z := range e {
					p := math.Exp(z - all)
					x += p * float64(j%cols-i%cols) / float64(cols)
					y += p * float64(j/cols-i/cols) / float64(rows)
					square += p * cellCost(rows, cols, i, j)
				}
				if !(math.Abs(sum[i]-all) <= same*(1+math.Abs(all))) || !(math.Abs(m.log[i]-all) <= same*(1+math.Abs(all))) {
					t.Errorf("%v, Reg %v, cell %d: %v and %v, want %v", size, reg, i, sum[i], m.log[i], all)
				}
				if !(math.Abs(m.x[i]-x) <= mean && math.Abs(m.y[i]-y) <= mean && math.Abs(m.square[i]-square) <= mean) {
					t.Errorf("%v, Reg %v, cell %d: means %v, %v and %v, want %v, %v and %v", size, reg, i, m.x[i], m.y[i], m.square[i], x, y, square)
				}
				if !(math.Abs(least[i]-low) <= transformError(rows, cols, 1)) {
					t.Errorf("%v, Reg %v, cell %d: least %v, want %v", size, reg, i, least[i], low)
				}
			}
		}
	}
}

// TestErrorBounds: the bounds on rounding errors grow by what their comments say.
func TestErrorBounds(t *testing.T) {
	const unit = 0x1p-53
	l := &gridLevel{rows: 8, cols: 16}
	for _, x := range []struct {
		what      string
		got, want float64 // exact: small multiples of powers of two
	}{
		{"transform, size", transformError(8, 16, 3) - transformError(8, 16, 2), 26 * 24 * unit},
		{"transform, rows and columns", transformError(9, 18, 2) - transformError(8, 16, 2), 3 * 24 * 4 * unit},
		{"noise, exponents", l.gridNoise(3, 1) - l.gridNoise(2, 1), 64 * unit},
		{"noise, steps", l.gridNoise(2, 2) - l.gridNoise(2, 1), 1024 * unit},
		{"noise, nothing", l.gridNoise(0, 0), (16*24+128)*unit + 4*24*4*unit},
		{"slack, exponents", gridSlack(8, 16, 3, 1) - gridSlack(8, 16, 2, 1), 2 * 60 * unit},
		{"slack, steps", gridSlack(8, 16, 2, 2) - gridSlack(8, 16, 2, 1), 2 * 40 * unit},
		{"slack, nothing", gridSlack(8, 16, 0, 0), 2 * (8*24 + 128 + 100) * unit},
	} {
		if x.got != x.want {
			t.Errorf("%s: %v units, want %v", x.what, x.got/unit, x.want/unit)
		}
	}
}

// TestRefine: prices that are linear in the position are so on the finer grid, where sides are halved, kept or one cell.
func TestRefine(t *testing.T) {
	const same = 1e-14 // a few roundings of numbers up to 5
	at := func(l *gridLevel, i int) float64 {
		x, y := (float64(i%l.cols)+0.5)/float64(l.cols), (float64(i/l.cols)+0.5)/float64(l.rows)
		z := 1.0
		if l.cols > 1 {
			z += 2 * x
		}
		if l.rows > 1 {
			z -= 3 * y
		}
		return z
	}
	for _, tt := range [][4]int{{8, 16, 4, 8}, {16, 5, 8, 5}, {1, 16, 1, 8}, {17, 1, 9, 1}, {18, 22, 9, 11}, {4, 4, 2, 2}} {
		fine, coarse := &gridLevel{rows: tt[0], cols: tt[1]}, &gridLevel{rows: tt[2], cols: tt[3]}
		prices := make([]float64, tt[2]*tt[3])
		for i := range prices {
			prices[i] = at(coarse, i)
		}
		for i, x := range fine.refine(coarse, prices) {
			if want := at(fine, i); !(math.Abs(x-want) <= same) {
				t.Errorf("%v: cell %d is at %v, want %v", tt, i, x, want)
			}
		}
		// A closed cell among open ones takes part in nothing.
		prices[0] = math.Inf(-1)
		for i, x := range fine.refine(coarse, prices) {
			if r, c := i/tt[1]*tt[2]/tt[0], i%tt[1]*tt[3]/tt[1]; math.IsInf(x, 0) || r > 1 && c > 1 && !(math.Abs(x-at(fine, i)) <= same) {
				t.Errorf("%v: cell %d is at %v beside a closed one", tt, i, x)
			}
		}
	}
}

// TestNodes: fine cells lie between their two coarse ones, or at most half a cell outside, for any pair of sizes.
func TestNodes(t *testing.T) {
	const same = 1e-12 // positions up to 40
	for m := 1; m <= 20; m++ {
		for n := m; n <= 2*m; n++ {
			at, way := nodes(n, m)
			for i, a := range at {
				x := (float64(i)+0.5)*float64(m)/float64(n) - 0.5 // in units of coarse cells, from the centre of the first
				if m == 1 {
					if a != 0 {
						t.Errorf("%d among 1: cell %d is at %d", n, i, a)
					}
					continue
				}
				want := min(max(int(math.Floor(x)), 0), m-2)
				if a != want || !(math.Abs(float64(a)+way[i]-x) <= same) {
					t.Errorf("%d among %d: cell %d is at %d + %v, want %v", n, m, i, a, way[i], x)
				}
			}
		}
	}
}

// TestBalance: the flow between neighbours takes the masses to q and is the least one: what it needs, over the conductances, adds up to nothing around
// every square of four cells. It goes in as many steps as it takes for no cell to give more than half of what is there.
func TestBalance(t *testing.T) {
	const (
		off   = 1e-8 // poissonGoal of the first defect, which is below 2
		round = 1e-6 // potentials are as good as the residual times the square of the side
	)
	g := newGenerator(22)
	for _, size := range [][2]int{{1, 9}, {12, 1}, {2, 2}, {5, 7}, {16, 16}, {13, 30}} {
		rows, cols := size[0], size[1]
		n := rows * cols
		l := randomLevel(g, rows, cols)
		mass, q := make([]float64, n), make([]float64, n)
		var ms, qs float64
		for i := range mass {
			mass[i], q[i] = 2+g.float(), 2+g.float()
			ms += mass[i]
			qs += q[i]
		}
		for i := range mass {
			mass[i] /= ms
			q[i] /= qs
		}
		fl := l.balance(mass, q)
		after := append([]float64(nil), mass...)
		give := make([]float64, n)
		pass := func(i, j int, x float64) {
			after[i] -= x
			after[j] += x
			give[i] += max(0, x)
			give[j] += max(0, -x)
		}
		w := func(i int) float64 { return min(mass[i], q[i]) }
		right := func(i int) float64 {
			return fl.Right[i] / (2 * w(i) * w(i+1) / (w(i) + w(i+1)) * float64(cols) / float64(rows))
		}
		down := func(i int) float64 {
			return fl.Down[i] / (2 * w(i) * w(i+cols) / (w(i) + w(i+cols)) * float64(rows) / float64(cols))
		}
		var largest float64
		for i := range n {
			if i%cols+1 < cols {
				pass(i, i+1, fl.Right[i])
				largest = max(largest, math.Abs(right(i)))
			}
			if i/cols+1 < rows {
				pass(i, i+cols, fl.Down[i])
				largest = max(largest, math.Abs(down(i)))
			}
		}
		worst := 0.0
		for i := range n {
			worst = max(worst, give[i]/w(i))
			if !(math.Abs(after[i]-q[i]) <= off) {
				t.Errorf("%v: cell %d has %v in the end, want %v", size, i, after[i], q[i])
			}
			if i%cols+1 < cols && i/cols+1 < rows {
				if z := right(i) + down(i+1) - right(i+cols) - down(i); !(math.Abs(z) <= round*largest*float64(n)) {
					t.Errorf("%v: %v around cell %d, where single ones need up to %v", size, z, i, largest)
				}
			}
		}
		if want := max(1, int(math.Ceil(2*worst))); fl.Steps != want {
			t.Errorf("%v: %d steps, want %d", size, fl.Steps, want)
		}
	}
}

// TestPoissonCycle: the multigrid cycle is symmetric and positive, as conjugate gradients ask of it, and takes most of the error away, with
// conductances that vary by a factor of ten, too.
func TestPoissonCycle(t *testing.T) {
	const same = 1e-12 // sums of up to 10^3 products
	g := newGenerator(23)
	for _, size := range [][2]int{{2, 2}, {1, 13}, {14, 1}, {8, 8}, {11, 24}, {33, 17}} {
		rows, cols := size[0], size[1]
		n := rows * cols
		right, down := make([]float64, n), make([]float64, n)
		for i := range n {
			if i%cols+1 < cols {
				right[i] = 0.1 + g.float()
			}
			if i/cols+1 < rows {
				down[i] = 0.1 + g.float()
			}
		}
		p := newPoisson(rows, cols, right, down)
		random := func() []float64 {
			x := make([]float64, n)
			var sum float64
			for i := range x {
				x[i] = g.float()
				sum += x[i]
			}
			for i := range x {
				x[i] -= sum / float64(n)
			}
			return x
		}
		cycle := func(b []float64) []float64 {
			copy(p.b, b)
			p.cycle()
			return append([]float64(nil), p.x...)
		}
		dot := func(x, y []float64) (s float64) {
			for i := range x {
				s += x[i] * y[i]
			}
			return s
		}
		a, b := random(), random()
		ma, mb := cycle(a), cycle(b)
		if x, y := dot(a, mb), dot(b, ma); !(math.Abs(x-y) <= same*(dot(a, ma)+dot(b, mb))) || !(dot(a, ma) > 0) {
			t.Errorf("%v: not symmetric, %v and %v", size, x, y)
		}
		// The Laplacian, by edges.
		image, energy := make([]float64, n), 0.0
		for i := range n {
			if i%cols+1 < cols {
				d := right[i] * (a[i] - a[i+1])
				image[i] += d
				image[i+1] -= d
				energy += d * (a[i] - a[i+1])
			}
			if i/cols+1 < rows {
				d := down[i] * (a[i] - a[i+cols])
				image[i] += d
				image[i+cols] -= d
				energy += d * (a[i] - a[i+cols])
			}
		}
		got := make([]float64, n)
		p.apply(got, a)
		for i := range n {
			if !(math.Abs(got[i]-image[i]) <= same) {
				t.Errorf("%v: cell %d of the Laplacian is %v, want %v", size, i, got[i], image[i])
			}
		}
		// What is left of a when the cycle has solved for its image, in energy: within (1 - rate, 1 + rate) of it.
		left := cycle(image)
		for i := range left {
			left[i] = a[i] - left[i]
		}
		p.apply(got, left)
		if rate := math.Sqrt(max(0, dot(left, got)) / energy); !(rate <= cycleRate) {
			t.Errorf("%v: %v of the error is left", size, rate)
		}
		x := p.solve(image)
		p.apply(got, x)
		for i := range n {
			if !(math.Abs(got[i]-image[i]) <= 2*poissonGoal*float64(n)) {
				t.Errorf("%v: cell %d of the solution's image is %v, want %v", size, i, got[i], image[i])
			}
		}
	}
}

// cycleRate is what a cycle may leave of a random error, in energy: 0.45 is the most that was measured.
const cycleRate = 0.5

// TestFlowCost: Upper is the cost of the plan of LogV after its flow, followed cell by cell, and the rest at the largest cost.
func TestFlowCost(t *testing.T) {
	const same = 1e-10 // margins for rounding
	for _, size := range [][2]int{{6, 9}, {1, 17}, {14, 1}, {8, 8}} {
		for _, reg := range []float64{0.3, 0.03} {
			for _, most := range []int{1, 5, 40} {
				p := gridProblem(t, size[0], size[1], 2, reg)
				r, err := onGrid(t, context.Background(), p, Settings{Tolerance: 1e-12, MaxIterations: most})
				if err != nil && !is(err, ErrNotConverged) {
					t.Fatal(err)
				}
				v, err := newVerifier(p)
				if err != nil {
					t.Fatal(err)
				}
				plan := carriedPlan{v: v, flow: r.Flow}
				for i := range v.source {
					row := make([]float64, v.kv)
					v.plan(&r, i, p.Cost.Row(i, nil), row)
					plan.p = append(plan.p, row)
				}
				before := plan.cost()
				d0 := distance1(plan.columns(), r.Q)
				plan.move(size[1])
				want := min(plan.cost()+cost.Max(p.Cost)*distance1(plan.columns(), r.Q), before+cost.Max(p.Cost)*d0)
				if !(math.Abs(r.Upper-min(want, cost.Max(p.Cost))) <= same) {
					t.Errorf("%v, Reg %v, %d iterations: Upper = %v, and the plan costs %v, %v before", size, reg, most, r.Upper, want, before)
				}
				upper, _, err := Verify(p, r)
				if err != nil {
					t.Fatal(err)
				}
				// Verify puts what is missing in at the true cost of it.
				c := make([][]float64, v.k)
				for i := range c {
					c[i] = append([]float64(nil), p.Cost.Row(i, make([]float64, v.kv))...)
				}
				repaired := min(cost.Max(p.Cost), repairedCost(plan.p, c, p.Source, r.Q))
				if x, _ := upper.Float64(); !(math.Abs(x-repaired) <= same) {
					t.Errorf("%v, Reg %v, %d iterations: Verify proves %v, and the plan costs %v", size, reg, most, x, repaired)
				}
			}
		}
	}
}
