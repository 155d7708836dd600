package grid

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/sinkhorn/kl"
)

// cellCost is the squared distance of two cells of a grid.
func cellCost(rows, cols, i, j int) float64 {
	x, y := float64(i%cols-j%cols)/float64(cols), float64(i/cols-j/cols)/float64(rows)
	return x*x + y*y
}

// randomLevel is a grid with random masses and a box around others.
func randomLevel(g *generator, rows, cols int) *level {
	n := rows * cols
	lo, hi := box(g.mass(n), 2)
	return newLevel(rows, cols, g.mass(n), lo, hi)
}

// TestGridSums compares sums and means over a grid, axis by axis, with sums over all cells, and the least of cost and
// price with the least of all.
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
		k := newKernel(l)
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
					t.Errorf("%v, Reg %v, cell %d: means %v, %v and %v, want %v, %v and %v", size, reg, i, m.x[i], m.y[i], m.square[i],
						x, y, square)
				}
				if !(math.Abs(least[i]-low) <= transformError(rows, cols, 1)) {
					t.Errorf("%v, Reg %v, cell %d: least %v, want %v", size, reg, i, least[i], low)
				}
			}
		}
	}
}

// TestRefine: prices that are linear in the position are so on the finer grid, where sides are halved, kept or one
// cell.
func TestRefine(t *testing.T) {
	const same = 1e-14 // a few roundings of numbers up to 5
	at := func(l *level, i int) float64 {
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
	for _, tt := range [][4]int{{8, 16, 4, 8}, {16, 5, 8, 5}, {1, 16, 1, 8}, {17, 1, 9, 1}, {18, 22, 9, 11},
		{4, 4, 2, 2}} {
		fine, coarse := &level{rows: tt[0], cols: tt[1]}, &level{rows: tt[2], cols: tt[3]}
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
			if r, c := i/tt[1]*tt[2]/tt[0],
				i%tt[1]*tt[3]/tt[1]; math.IsInf(x, 0) || r > 1 && c > 1 && !(math.Abs(x-at(fine, i)) <= same) {
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

// TestBalance: the flow between neighbours takes the masses to q and is the least one: what it needs, over the
// conductances, adds up to nothing around every square of four cells. It goes in as many steps as it takes for no cell
// to give more than half of what is there.
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

// TestPoissonCycle: the multigrid cycle is symmetric and positive, as conjugate gradients ask of it, and takes most of
// the error away, with conductances that vary by a factor of ten, too.
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
		p := newPoisson(rows, cols, 1, 1, right, down, make([]float64, n))
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
		x, _ := p.solve(image)
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

// TestErrorBounds: the bounds on rounding errors grow by what their comments say.
func TestErrorBounds(t *testing.T) {
	const unit = 0x1p-53
	l := &level{rows: 8, cols: 16}
	for _, x := range []struct {
		what      string
		got, want float64 // exact: small multiples of powers of two
	}{
		{"transform, size", transformError(8, 16, 3) - transformError(8, 16, 2), 26 * 24 * unit},
		{"transform, rows and columns", transformError(9, 18, 2) - transformError(8, 16, 2), 3 * 24 * 4 * unit},
		{"noise, exponents", l.rounding(3, 1) - l.rounding(2, 1), 64 * unit},
		{"noise, steps", l.rounding(2, 2) - l.rounding(2, 1), 1024 * unit},
		{"noise, nothing", l.rounding(0, 0), (16*24+128)*unit + 4*24*4*unit},
	} {
		if x.got != x.want {
			t.Errorf("%s: %v units, want %v", x.what, x.got/unit, x.want/unit)
		}
	}
}

// TestExtrapolate: prices go on by a quarter of their last change, unless that changes their sign, and the prices
// before are kept.
func TestExtrapolate(t *testing.T) {
	s := &solver{g: []float64{2, -3, 1, -1, 0, 5}}
	before := []float64{1, -1, 9, -8, 4, 5}
	s.extrapolate(before)
	if want := []float64{2.25, -3.5, 1, -1, 0, 5}; !slices.Equal(s.g, want) { // exact in floats
		t.Errorf("prices %v, want %v", s.g, want)
	}
	if want := []float64{2, -3, 1, -1, 0, 5}; !slices.Equal(before, want) {
		t.Errorf("prices before %v, want %v", before, want)
	}
}

// TestMultiplierKeepsStart: where every column is at a bound and the mass is 1, any multiplier of an interval will do,
// and the one to start from is kept: prices do not drift from step to step.
func TestMultiplierKeepsStart(t *testing.T) {
	logS, lo, hi := []float64{2, -8}, []float64{0, 0.25}, []float64{0.75, 1}
	for _, near := range []float64{0, 1.5, 6, -2} { // between log 0.75 - 2 and log 0.25 + 8
		if got := newSolver(newLevel(1, 2, lo, lo, hi)).multiplier(logS, lo, hi, near); got != near {
			t.Errorf("from %v to %v", near, got)
		}
	}
}

// TestGridStops counts the steps at one Reg by hand: the first whose residual is the tolerance is the last, and when
// none of a hundred and one in a row brings the residual down by two per cent, the run has stalled.
func TestGridStops(t *testing.T) {
	p := gridProblem(t, 12, 16, 1, 0.01)
	level := newLevel(12, 16, p.Mu, p.Lo, p.Hi)
	fresh := func() *solver {
		s := newSolver(level)
		s.k.setReg(p.Reg)
		return s
	}
	last := func(tolerance float64) *Result {
		r := &Result{}
		run := &call{ctx: context.Background(), set: Settings{Tolerance: tolerance, MaxIterations: 2000}, r: r, fine: level,
			goal: p.Reg}
		run.last(fresh(), p.Reg)
		return r
	}
	s := fresh()
	var residuals []float64
	least, at := math.Inf(1), 0
	for n := 1; n-at <= 101; n++ {
		s.step()
		residuals = append(residuals, s.residual)
		if s.residual < 0.98*least {
			least, at = s.residual, n
		}
	}
	if !(least > 0) {
		t.Fatal("a residual of 0 meets every tolerance")
	}
	// The smallest tolerance that none of these residuals meets.
	unmet := math.Nextafter(slices.Min(residuals), 0)
	if r := last(unmet); r.Status != Stalled || r.Iterations != len(residuals) {
		t.Errorf("%v after %d steps, want stalled after %d", r.Status, r.Iterations, len(residuals))
	}
	const early = 4
	if slices.Min(residuals[:early-1]) <= residuals[early-1] {
		t.Fatal("the first residuals do not fall")
	}
	if r := last(residuals[early-1]); r.Status != Converged || r.Iterations != early {
		t.Errorf("%v after %d steps, want converged after %d", r.Status, r.Iterations, early)
	}
}

// TestCoarser: an axis of 16 cells or more is halved where its cells are not much longer than those of the other, or
// the other is not halved.
func TestCoarser(t *testing.T) {
	for _, tt := range []struct{ rows, cols, coarseRows, coarseCols int }{
		{15, 15, 0, 0}, {1, 15, 0, 0}, {1, 16, 1, 8}, {17, 1, 9, 1}, {16, 16, 8, 8}, {15, 16, 15, 8}, {16, 15, 8, 15},
		{31, 33, 16, 17},
		// half as long again is much
		{16, 23, 8, 12}, {16, 24, 16, 12}, {24, 16, 12, 16}, {23, 16, 12, 8}, {24, 40, 24, 20}, {30, 40, 15, 20},
	} {
		n := tt.rows * tt.cols
		mu, hi := make([]float64, n), make([]float64, n)
		for i := range mu {
			mu[i], hi[i] = float64(i), 1
		}
		l := newLevel(tt.rows, tt.cols, mu, mu, hi).coarser()
		if l == nil {
			if tt.coarseRows != 0 {
				t.Errorf("%+v: none", tt)
			}
			continue
		}
		if l.rows != tt.coarseRows || l.cols != tt.coarseCols {
			t.Errorf("%+v: %d x %d", tt, l.rows, l.cols)
		}
		var mass, room float64 // whole numbers
		for i, x := range l.mu {
			mass += x
			room += l.hi[i]
			if l.lo[i] != x {
				t.Errorf("%+v: cell %d has lo %v and mass %v, which were the same", tt, i, l.lo[i], x)
			}
		}
		if mass != float64(n*(n-1)/2) || room != float64(n) {
			t.Errorf("%+v: mass %v and room %v", tt, mass, room)
		}
	}
}

// TestFlowLimits: a flow that would take more than maxFlowSteps leaks, and one that takes just as many does not.
func TestFlowLimits(t *testing.T) {
	for _, tt := range []struct {
		moved float64
		steps int
	}{{1, 2}, {31, 62}, {32, 64}, {33, 0}} {
		// What moves passes through a cell of mass 1.
		l := &level{rows: 1, cols: 3}
		f := l.balance([]float64{40 + tt.moved, 1, 40}, []float64{40, 1, 40 + tt.moved})
		if f.Mix != (tt.steps == 0) || f.Steps != tt.steps && !f.Mix || f.Steps > maxFlowSteps || f.Right[0] == 0 {
			t.Errorf("%v through a cell of 1: %d steps, flow %v", tt.moved, f.Steps, f.Right)
		}
	}
}

// TestGridStep: an iteration on a grid is one of Algorithm 1, by plain loops over all pairs, on boxes, with closed
// cells, and on a point.
func TestGridStep(t *testing.T) {
	const same = 1e-9 // terms below e^-36 are left out, a thousand of them, and multipliers are good to 2^-46
	g := newGenerator(37)
	for n, size := range [][2]int{{4, 6}, {1, 9}, {7, 1}, {5, 5}, {9, 10}} {
		for _, reg := range []float64{0.5, 0.05, 0.005} {
			p := gridProblem(t, size[0], size[1], 1.5, reg)
			kv := len(p.Mu)
			switch n % 3 {
			case 1:
				p.Lo[2], p.Hi[2] = 0, 0
				for j := range p.Hi {
					p.Hi[j] *= 1.5
				}
			case 2:
				p.Lo = g.mass(kv)
				for j := range p.Lo {
					p.Lo[j] = (p.Lo[j] + 1) / float64(kv+1)
				}
				p.Hi = p.Lo
			}
			s := newSolver(newLevel(size[0], size[1], p.Mu, p.Lo, p.Hi))
			s.k.setReg(reg)
			logV := make([]float64, kv)
			for j := range s.g {
				if s.g[j] = reg * 3 * g.float(); p.Hi[j] == 0 {
					s.g[j] = math.Inf(-1)
				}
				logV[j] = s.g[j] / reg
			}
			s.step()
			logU, logS := make([]float64, kv), make([]float64, kv)
			e := make([]float64, kv)
			for i := range kv {
				for j := range e {
					e[j] = logV[j] - cellCost(size[0], size[1], i, j)/reg
				}
				logU[i] = math.Log(p.Mu[i]) - logSumExp(e)
			}
			for j := range kv {
				for i := range e {
					e[i] = logU[i] - cellCost(size[0], size[1], i, j)/reg
				}
				logS[j] = logSumExp(e)
			}
			q := make([]float64, kv)
			theta, ok := new(kl.Workspace).Project(logS, p.Lo, p.Hi, q)
			if !ok {
				t.Fatal("no projection")
			}
			if n%3 == 2 {
				theta = s.theta
			}
			var residual float64
			for j, x := range q {
				if p.Hi[j] == 0 {
					if !math.IsInf(s.g[j], -1) {
						t.Errorf("%v, Reg %v: the closed cell %d is at %v", size, reg, j, s.g[j])
					}
					continue
				}
				residual += math.Abs(x - math.Exp(logS[j]+logV[j]))
				if want := reg * (math.Log(x) - logS[j] - theta); !(math.Abs(s.g[j]-want) <= same*(1+math.Abs(want))) {
					t.Errorf("%v, Reg %v: price %d is %v, want %v", size, reg, j, s.g[j], want)
				}
			}
			if !(math.Abs(s.residual-residual) <= same) {
				t.Errorf("%v, Reg %v: residual %v, want %v", size, reg, s.residual, residual)
			}
		}
	}
}

// TestMultiplier compares the quick multiplier with the exact one.
func TestMultiplier(t *testing.T) {
	g := newGenerator(12)
	for range 200 {
		n := 1 + g.intn(40)
		logS := make([]float64, n)
		scale := math.Pow(10, 4*g.float())
		for j := range logS {
			logS[j] = scale * (g.float() - 0.5)
		}
		lo, hi := box(g.mass(n), 3*g.float()+0.01)
		want := make([]float64, n)
		theta, ok := new(kl.Workspace).Project(logS, lo, hi, want)
		if !ok {
			t.Fatal("no projection")
		}
		x := newSolver(newLevel(1, n, lo, lo, hi)).multiplier(logS, lo, hi, scale*(g.float()-0.5))
		for j, y := range logS {
			q := min(max(math.Exp(min(x+y, 300)), lo[j]), hi[j])
			// Masses are right to 2^-46 in all, and exponents of this size to their rounding.
			if tol := 0x1p-44 + scale*0x1p-48; !(math.Abs(q-want[j]) <= tol) {
				t.Fatalf("n %d, scale %v: q[%d] = %v, want %v (theta %v, %v)", n, scale, j, q, want[j], x, theta)
			}
		}
	}
}

// TestMix: mixing in blocks leaves every column with what it should hold, at the cost of a plan that is moved cell by
// cell, and between blobs with nothing in between it is what a flow leaves.
func TestMix(t *testing.T) {
	const same = 1e-12 // sums of some hundred terms below 4
	g := newGenerator(51)
	for _, size := range [][2]int{{1, 1}, {1, 7}, {5, 1}, {4, 4}, {6, 9}} {
		rows, cols := size[0], size[1]
		n := rows * cols
		l := randomLevel(g, rows, cols)
		dx, dy := l.spacing()
		q := g.mass(n)
		// plan[i][j] is what comes from cell i.
		plan, p := make([][]float64, n), make([]column, n)
		for i := range plan {
			plan[i] = g.mass(n)
			for j := range plan[i] {
				x := plan[i][j] / float64(n)
				plan[i][j] = x
				a, b := dx*float64(i%cols-j%cols), dy*float64(i/cols-j/cols)
				p[j].add(column{x, x * a, x * b, x * (a*a + b*b)})
			}
		}
		l.mix(p, q)
		for side := 2; side < 2*max(rows, cols); side *= 2 {
			mixPlan(plan, q, cols, side)
		}
		var got, want float64
		for j, c := range p {
			got += c.square
			if !(math.Abs(c.mass-q[j]) <= same) {
				t.Errorf("%v: column %d holds %v, want %v", size, j, c.mass, q[j])
			}
			for i, row := range plan {
				want += row[j] * cellCost(rows, cols, i, j)
			}
		}
		if !(math.Abs(got-want) <= same) {
			t.Errorf("%v: cost %v, and the plan costs %v", size, got, want)
		}
	}
}

// mixPlan mixes blocks of one size, from every cell to every other.
func mixPlan(plan [][]float64, q []float64, cols, side int) {
	n := len(q)
	off, over, under := make([]float64, n), map[[2]int]float64{}, map[[2]int]float64{}
	block := func(j int) [2]int { return [2]int{j / cols / side, j % cols / side} }
	sums := make([]float64, n)
	for j := range q {
		for _, row := range plan {
			sums[j] += row[j]
		}
		off[j] = sums[j] - q[j]
		over[block(j)] += max(0, off[j])
		under[block(j)] += max(0, -off[j])
	}
	for _, row := range plan {
		before := append([]float64(nil), row...)
		for a := range q {
			for b := range q {
				if k := block(a); k == block(b) && off[a] > 0 && off[b] < 0 {
					x := before[a] / sums[a] * off[a] * -off[b] / max(over[k], under[k])
					row[a] -= x
					row[b] += x
				}
			}
		}
	}
}
