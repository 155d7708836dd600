package sinkhorn

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/projection"
	"github.com/wpm-go/wpm/sinkhorn/internal/loops"
	"github.com/wpm-go/wpm/sinkhorn/kl"
)

// midway is the state of method Fast after some passes at Reg, with bounds active and not.
func midway(t *testing.T, p Problem, passes int) *fast {
	t.Helper()
	_, c := loaded(t, p)
	s := newFast(c, Settings{Method: Fast, Tolerance: 1e-12, MaxIterations: 1000}, newKernel(c))
	copy(s.k.f, c.min)
	for j := range s.k.g { // not the potentials that a start has
		s.k.g[j] = c.rng * float64(j%3) / 20
	}
	s.logStep(c.reg)
	s.build(c.reg)
	for n := range passes {
		if !s.pass() {
			t.Fatal("out of range")
		}
		if n+1 < passes {
			s.v, s.next = s.next, s.v
		}
	}
	return s
}

// TestNewtonParts: the products of a Newton step and what it is to maximise, by plain loops over the plan, from rows in
// full, from those of a compressed kernel, and from those that the step compresses itself.
func TestNewtonParts(t *testing.T) {
	const (
		same = 1e-12 // sums of some hundred products
		// What is dropped counts for next to nothing: sparseShare and dropped.
		left = 1e-11
	)
	for n, p := range []Problem{scattered(t, 30, 0.02), scattered(t, 31, 0.1), scattered(t, 200, 0.001),
		newGenerator(8).problem(7, 24, 0.1)} {
		s := midway(t, p, 6)
		k, kv := s.c.k, s.c.n
		for _, compressed := range []bool{false, true} {
			if compressed {
				// Everything is kept, or all entries of the plan that are a part of 1e-14 of their row.
				few := &s.k.kept
				*few = sparse{ptr: []int{0}, passes: true, u0: slices.Clone(s.u), v0: slices.Clone(s.v)}
				for i := range k {
					for j := range kv {
						if s.k.m[i*kv+j]*s.v[j] > 1e-14*s.a[i] {
							few.idx = append(few.idx, int32(j))
							few.val = append(few.val, s.k.m[i*kv+j])
						}
					}
					few.ptr = append(few.ptr, len(few.idx))
				}
				before := [3][]float64{append([]float64(nil), s.a...), append([]float64(nil), s.u...),
					append([]float64(nil), s.s...)}
				if !few.normalise(s.k, s.c.mass, s.v, s.a, s.u, s.s) {
					t.Fatalf("number %d: entries count that are as large as before", n)
				}
				for x, y := range [3][]float64{s.a, s.u, s.s} {
					for e, z := range y {
						if !(math.Abs(z-before[x][e]) <= left*before[x][e]+1e-14) {
							t.Errorf("number %d: entry %d of %d is %v with few entries, and %v with all", n, e, x, z, before[x][e])
						}
					}
				}
			}
			var act []int
			for j := range kv {
				if s.side(j) != 0 || n == 1 {
					act = append(act, j)
				}
			}
			w := s.newSystem(act)
			if len(w.act) == 0 || len(w.act) == kv && n != 1 {
				t.Fatalf("number %d: %d of %d columns are at a bound", n, len(w.act), kv)
			}
			w.entries = s.compress()
			gotDiag := w.diagonal()
			x, y, out := make([]float64, kv), make([]float64, k), make([]float64, kv)
			xa, outA := make([]float64, len(w.act)), make([]float64, len(w.act))
			for j := range x {
				x[j] = float64(j%5) - 1.5
			}
			for m := range xa {
				xa[m] = float64(m%4) - 1
			}
			s.k.curvature(w.entries, x, y, w.row, out)
			w.image(0, xa, outA)
			want, wantA, diag := make([]float64, kv), make([]float64, len(w.act)), append([]float64(nil), w.cd...)
			for i := range k {
				var mx, px float64
				for j, v := range s.k.m[i*kv : (i+1)*kv] {
					mx += v * x[j]
				}
				for m, j := range w.act {
					px += s.u[i] * s.k.m[i*kv+j] * s.v[j] * xa[m]
				}
				for j, v := range s.k.m[i*kv : (i+1)*kv] {
					want[j] += v * s.u[i] / s.a[i] * mx
				}
				for m, j := range w.act {
					entry := s.u[i] * s.k.m[i*kv+j] * s.v[j]
					wantA[m] += entry / s.c.mass[i] * px
					diag[m] -= entry * entry / s.c.mass[i]
				}
			}
			top := slices.Max(w.cd)
			for j := range want {
				if !(math.Abs(out[j]-want[j]) <= (same+left)*math.Abs(want[j])+same) {
					t.Errorf("number %d: curvature %d is %v, want %v", n, j, out[j], want[j])
				}
			}
			for m := range wantA {
				wantA[m] = w.cd[m]*xa[m] - wantA[m]
				if !(math.Abs(outA[m]-wantA[m]) <= left*top) || !(math.Abs(gotDiag[m]-diag[m]) <= left*top) {
					t.Errorf("number %d: column %d: %v with %v on the diagonal, want %v and %v", n, m, outA[m], gotDiag[m], wantA[m],
						diag[m])
				}
			}
		}
		// The dual value over Reg: sum mu log u + sum q log (q / s), with q the projection of s, and s of the original
		// kernel.
		logS := make([]float64, kv)
		for j, y := range s.s {
			logS[j] = math.Log(y) - s.k.g[j]/s.k.reg
		}
		q, _, err := kl.Project(logS, s.lo, s.hi)
		if err != nil {
			t.Fatal(err)
		}
		var value, size float64
		for i, u := range s.u {
			value += s.c.mass[i] * math.Log(u)
			size += math.Abs(s.c.mass[i] * math.Log(u))
		}
		for j, x := range q {
			value += x * (math.Log(x) - logS[j])
			size += math.Abs(x * (math.Log(x) - logS[j]))
		}
		got, noise := s.merit()
		if !(math.Abs(got-value) <= same*size) || !(noise > 0 && noise <= 0x1p-47*size) {
			t.Errorf("number %d: the dual value is %v up to %v, want %v", n, got, noise, value)
		}
		s.k.free()
	}
}

// TestSparseDrift: entries that were left out may count again when scalings have grown by sparseDrift in all, and not
// before.
func TestSparseDrift(t *testing.T) {
	s := midway(t, scattered(t, 30, 0.02), 3)
	w := &sparse{ptr: []int{0}, u0: slices.Clone(s.u), v0: slices.Clone(s.v)}
	for i := range s.c.k {
		for j := range s.c.n {
			w.idx, w.val = append(w.idx, int32(j)), append(w.val, s.k.m[i*s.c.n+j])
		}
		w.ptr = append(w.ptr, len(w.idx))
	}
	for _, tt := range []struct {
		rows, cols float64
		want       bool
	}{{1, 1, true}, {1e5, 0.9e6, true}, {1e5, 1.1e6, false}, {0.9e11, 1, true}, {1, 1.1e11, false}, {1e-5, 1e15, true}} {
		mu := append([]float64(nil), s.c.mass...)
		mu[3] *= tt.rows // and so does u
		v := append([]float64(nil), s.v...)
		w.v0[5] = v[5] / tt.cols
		w.u0 = append(w.u0[:0], s.u...)
		if tt.rows < 1 {
			for i := range mu {
				mu[i] = s.c.mass[i] * tt.rows
			}
		}
		if got := w.normalise(s.k, mu, v, make([]float64, s.c.k), make([]float64, s.c.k),
			make([]float64, s.c.n)); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}

// TestRowsInPairs: sums over the entries of a compressed row, even and odd, are those of plain loops.
func TestRowsInPairs(t *testing.T) {
	for n := range 8 {
		idx, val, v := make([]int32, n), make([]float64, n), make([]float64, 20)
		for j := range v {
			v[j] = float64(j + 1) // whole numbers: sums are exact
		}
		var sum float64
		want := make([]float64, 20)
		for l := range n {
			idx[l], val[l] = int32(2*l+1), float64(3*l+2)
			sum += val[l] * v[idx[l]]
			want[idx[l]] = 7 * val[l]
		}
		if got := loops.DotSparse(idx, val, v); got != sum {
			t.Errorf("%d entries: %v, want %v", n, got, sum)
		}
		out := make([]float64, 20)
		if loops.AddSparse(idx, val, 7, out); !slices.Equal(out, want) {
			t.Errorf("%d entries: added %v, want %v", n, out, want)
		}
	}
}

// TestOpen: the first pass, with what a certificate of it needs, is exponentiating, normalising and a look at the
// costs, one after the other.
func TestOpen(t *testing.T) {
	const same = 1e-12 // exponentials of up to 30, with errors of 30 ulps, and sums of some hundred
	for _, shape := range [][2]int{{5, 7}, {300, 900}} {
		k, n := shape[0], shape[1]
		g := newGenerator(51)
		d := &cost.Dense{K: k, Kv: n, Data: make([]float64, k*n)}
		for e := range d.Data {
			d.Data[e] = 3 * g.float()
		}
		lo, hi := box(slices.Repeat([]float64{1 / float64(n)}, n), 1)
		in, c := loaded(t, Problem{Problem: projection.Problem{Cost: d, Source: slices.Repeat([]float64{1 / float64(k)}, k),
			Lo: lo, Hi: hi}, Reg: 0.1})
		m := newKernel(c)
		copy(m.f, c.min)
		a, u, s := make([]float64, k), make([]float64, k), make([]float64, n)
		w := m.open(c.reg, in.mass, a, u, s)
		sums, low := make([]float64, n), slices.Repeat([]float64{math.Inf(1)}, n)
		for i := range k {
			var sum, carried float64
			row := d.Data[i*n : (i+1)*n]
			least := slices.Min(row)
			for j, x := range row {
				y := math.Exp((least - x) / 0.1)
				sum += y
				carried += y * x
				if !(math.Abs(m.m[i*n+j]-y) <= same*y) {
					t.Fatalf("entry (%d, %d) is %v, want %v", i, j, m.m[i*n+j], y)
				}
				low[j] = min(low[j], x-least)
			}
			if !(math.Abs(a[i]-sum) <= same*sum) || !(math.Abs(u[i]-in.mass[i]/sum) <= same*u[i]) ||
				!(math.Abs(w.carried[i]-carried) <= same*carried) {
				t.Errorf("row %d: %v, %v and %v, want sum %v and cost %v", i, a[i], u[i], w.carried[i], sum, carried)
			}
			for j := range row {
				sums[j] += in.mass[i] / sum * m.m[i*n+j]
			}
		}
		for j := range n {
			least := math.Inf(1)
			for ch := range m.ch {
				least = min(least, w.low[ch*n+j])
			}
			if least != low[j] || !(math.Abs(s[j]-sums[j]) <= same*sums[j]) {
				t.Errorf("column %d: least %v and sum %v, want %v and %v", j, least, s[j], low[j], sums[j])
			}
		}
		f, prices := make([]float64, k), make([]float64, n)
		for j := range prices {
			prices[j] = g.float()
		}
		c.rowMinima(prices, f)
		for i, x := range f {
			least := math.Inf(1)
			for j, y := range d.Data[i*n : (i+1)*n] {
				least = min(least, y-prices[j])
			}
			if x != least {
				t.Errorf("row %d: %v, want %v", i, x, least)
			}
		}
		m.free()
	}
}

// TestSettle: a step of Algorithm 1 in logarithms from any prices leaves free columns at 0, rows with an entry of 1 in
// the kernel, and columns that must hold mass with one of at least e^-30.
func TestSettle(t *testing.T) {
	g := newGenerator(52)
	for range 30 {
		p := g.problem(4+g.intn(6), 4+g.intn(9), 0.01)
		s := midway(t, p, 1)
		reg := p.Reg
		for j := range s.k.g {
			s.k.g[j] = 200 * reg * (g.float() - 0.5)
		}
		prices := append([]float64(nil), s.k.g...)
		s.x = 7
		s.logStep(reg)
		if s.x != 1 {
			t.Errorf("the multiplier is %v", s.x)
		}
		// The step, by plain loops.
		k, n := s.c.k, s.c.n
		logU, logS := make([]float64, k), make([]float64, n)
		for i := range k {
			e := make([]float64, n)
			for j := range e {
				e[j] = (prices[j] - s.c.row[i][j]) / reg
			}
			logU[i] = math.Log(s.c.mass[i]) - logSumExp(e)
		}
		for j := range logS {
			e := make([]float64, k)
			for i := range e {
				e[i] = logU[i] - s.c.row[i][j]/reg
			}
			logS[j] = logSumExp(e)
		}
		if s.c.fixed {
			continue
		}
		q, theta, err := kl.Project(logS, s.lo, s.hi)
		if err != nil {
			continue
		}
		for j, x := range q {
			want := reg * (math.Log(x) - logS[j] - theta)
			if x == 0 {
				want = 0
			}
			least := math.Inf(1)
			for i := range k {
				least = min(least, s.c.row[i][j]-s.k.f[i])
			}
			if s.lo[j] > 0 && least-want > 30*reg {
				want = least
			}
			if !(math.Abs(s.k.g[j]-want) <= 1e-9*s.c.max) { // exponents of up to some hundred
				t.Errorf("price %d is %v, want %v", j, s.k.g[j], want)
			}
		}
		s.k.free()
	}
}

// TestSecondOrder: on a linear iteration with eigenvalues up to a known rate, extrapolation observes the rate, chooses
// the parameters of the second-order iteration for it, and follows its recurrence.
func TestSecondOrder(t *testing.T) {
	const same = 1e-12 // logarithms and exponentials of numbers near 1
	rates := []float64{0.9, 0.5, 0.1}
	var x extrapolation
	y, before := []float64{1, 1, 1}, []float64(nil) // log v
	for n := range 25 {
		v, next, plain := make([]float64, 3), make([]float64, 3), make([]float64, 3)
		var res float64
		for j, r := range rates {
			plain[j] = r * y[j]
			v[j], next[j] = math.Exp(y[j]), math.Exp(plain[j])
			res = max(res, math.Abs(y[j]-plain[j]))
		}
		x.record(res)
		if got, want := x.rateKnown(), x.omega == 0 && len(x.res) > 1 || len(x.res) > 3; got != want {
			t.Errorf("step %d: settled %v", n, got)
		}
		if m := len(x.res); m > 1 {
			w := min(3, m-1)
			if want := math.Pow(x.res[m-1]/x.res[m-1-w], 1/float64(w)); !(math.Abs(x.rate()-want) <= same) {
				t.Errorf("step %d: rate %v, want %v", n, x.rate(), want)
			}
		} else if x.rate() != x.omega-1 {
			t.Errorf("step %d: rate %v of omega %v", n, x.rate(), x.omega)
		}
		was := x
		x.apply(v, next)
		if x.omega != was.omega && x.omega > 0 {
			// What was observed is the rate of the iteration so far at the largest eigenvalue.
			m := len(was.res)
			r := math.Pow(was.res[m-1]/was.res[m-4], 1./3)
			rho := r
			if was.omega > 0 {
				rho = (r*r + was.omega - 1 - was.omega*(1-was.gamma)*r) / (was.omega * was.gamma * r)
			}
			rho = min(max(rho, 0.1), 0.999)
			sigma := rho / (2 - rho)
			if want := 2 / (1 + math.Sqrt(1-sigma*sigma)); !(math.Abs(x.omega-want) <= same) ||
				!(math.Abs(x.gamma-2/(2-rho)) <= same) || len(x.res) != 0 {
				t.Errorf("step %d: omega %v and gamma %v, want %v and %v", n, x.omega, x.gamma, want, 2/(2-rho))
			}
		}
		for j := range y {
			want := plain[j]
			if x.omega > 0 {
				want = x.omega*(x.gamma*plain[j]+(1-x.gamma)*y[j]-before[j]) + before[j]
			}
			if got := math.Log(next[j]); !(math.Abs(got-want) <= same) || x.old[j] != math.Log(v[j]) {
				t.Errorf("step %d: %v after %v and %v, want %v", n, got, y[j], before, want)
			}
			plain[j] = math.Log(next[j])
		}
		before, y = y, plain
		if n > 3 && x.omega == 0 {
			t.Errorf("step %d: plain", n)
		}
	}
	if !(math.Abs(y[0]) <= 1e-4) { // 0.07 with plain steps
		t.Errorf("%v in the end", y)
	}
}

// TestStepsToGo: so many steps of a rate lead from one residual to the other.
func TestStepsToGo(t *testing.T) {
	const same = 1e-12
	if n := steps(1, 1e-3, 0.1); !(math.Abs(n-3) <= same) {
		t.Errorf("%v steps of a tenth to a thousandth", n)
	}
	if n := steps(8, 1, 0.5); !(math.Abs(n-3) <= same) {
		t.Errorf("%v halvings of 8 to 1", n)
	}
	for _, rate := range []float64{1, 1.5, math.NaN()} {
		if n := steps(1, 0.1, rate); !math.IsInf(n, 1) {
			t.Errorf("%v steps of rate %v", n, rate)
		}
	}
}

// TestTame: logarithms near 0 stay, others are shifted by the largest, and none is below it by more than logRange.
func TestTame(t *testing.T) {
	inf := math.Inf(-1)
	for _, tt := range []struct{ x, want []float64 }{
		{[]float64{1, -2, 100}, []float64{1, -2, 100}},
		{[]float64{-100, -101, inf}, []float64{-100, -101, -logRange}},
		{[]float64{101, 1, -99}, []float64{0, -100, -200}},
		{[]float64{-150, -151, -150.5}, []float64{0, -1, -0.5}},
		{[]float64{2e10, 0, 1.5e10}, []float64{0, -logRange, -0.5e10}},
	} {
		if got := tameLogs(append([]float64(nil), tt.x...)); !slices.Equal(got, tt.want) {
			t.Errorf("%v: %v, want %v", tt.x, got, tt.want)
		}
	}
}

// TestEntriesThatCount: entries of a compressed kernel, for passes and for Newton steps, are those that are more than a
// share of their row of the plan or of their column, of masses and entries of all sizes. Where too many are, none are
// left out.
func TestEntriesThatCount(t *testing.T) {
	for _, tt := range []struct {
		k, n  int
		share float64
		every int // how many of the entries are not next to nothing
		want  bool
	}{{200, 200, dropped, 3 * sparseFill, true}, {200, 190, dropped, 3, false},
		{1030, 520, sparseShare, 3 * kernelFill, true}, {520, 1030, sparseShare, 3 * kernelFill, true},
		{520, 1030, sparseShare, 3, false}} {
		g := newGenerator(54)
		k, n := tt.k, tt.n
		c := &core{watch: newWatch(context.Background()), k: k, n: n}
		c.mass = make([]float64, k)
		s := &fast{c: c, k: &kernel{c: c, ch: 1, m: make([]float64, k*n)}}
		s.sound = true
		s.a, s.u, s.s, s.v = make([]float64, k), make([]float64, k), make([]float64, n), make([]float64, n)
		va := make([]float64, n)
		for j := range n {
			va[j] = math.Pow(10, 6*g.float()-3)
			s.v[j] = va[j]
		}
		for i := range k {
			s.u[i] = math.Pow(10, -12*g.float())
			for j := range n {
				x := math.Pow(10, -60-20*g.float())
				if g.intn(tt.every) == 0 || i == j {
					x = math.Pow(10, -40*g.float())
				}
				s.k.m[i*n+j] = x
				s.a[i] += x * va[j]
				s.s[j] += x * s.u[i]
			}
			s.c.mass[i] = s.u[i] * s.a[i]
		}
		if tt.share == dropped {
			if got := s.compress() != nil; got != tt.want {
				t.Errorf("%+v: %v", tt, got)
			}
		} else {
			s.trySparse()
			if got := s.k.few() != nil; got != tt.want {
				t.Errorf("%+v: %v after %d tries", tt, got, s.tries)
			}
		}
		ptr, idx, val := s.k.kept.ptr, s.k.kept.idx, s.k.kept.val
		if !tt.want {
			continue
		}
		const edge = 1e-12 // what is as good as equal to the share may be kept or not
		share := tt.share / float64(max(k, n))
		rows, cols := 0, 0
		for i := range k {
			at := ptr[i]
			for j := range n {
				p := s.u[i] * s.k.m[i*n+j] * va[j]
				row, col := p/(share*s.c.mass[i]), p/(share*s.s[j]*va[j])
				kept := at < ptr[i+1] && int(idx[at]) == j
				if kept != (row > 1 || col > 1) && math.Abs(row-1) > edge && math.Abs(col-1) > edge {
					t.Fatalf("%+v: entry (%d, %d) is %v shares of its row and %v of its column, and kept %v", tt, i, j, row, col, kept)
				}
				if !kept {
					continue
				}
				if want := s.k.m[i*n+j]; val[at] != want {
					t.Fatalf("%+v: entry (%d, %d) is %v, want %v", tt, i, j, val[at], want)
				}
				if at++; row < 1 {
					cols++
				} else if col < 1 {
					rows++
				}
			}
			if at != ptr[i+1] {
				t.Fatalf("%+v: row %d has %d entries", tt, i, ptr[i+1]-ptr[i])
			}
		}
		if rows < 10 || cols < 10 {
			t.Errorf("%+v: %d entries count in their rows alone, %d in their columns", tt, rows, cols)
		}
	}
}
