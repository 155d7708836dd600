package sinkhorn

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/sinkhorn/kl"
)

// bands is the state of Newton's method at a kernel of ones in a band of the given width, with a heavy row that reaches
// every column and the others of next to no mass: entries of those are little in their columns, and much in their rows.
func bands(k, width int) (s *fast) {
	s = &fast{c: &core{watch: newWatch(context.Background()), k: k, n: k}, k: &kernel{m: make([]float64, k*k)}}
	s.a, s.u, s.s = make([]float64, k), make([]float64, k), make([]float64, k)
	const heavy = 5
	for i := range k {
		s.u[i] = 1e-20 * float64(i+1)
		if i == heavy {
			s.u[i] = 1 / float64(k)
		}
		for j := range k {
			if i == heavy || (j-i+k)%k < width {
				s.k.m[i*k+j] = 1 + float64((i+j)%3)
				s.a[i] += s.k.m[i*k+j]
				s.s[j] += s.u[i] * s.k.m[i*k+j]
			}
		}
	}
	s.v = slices.Repeat([]float64{1}, k)
	return s
}

// TestCompress: compressed rows hold the entries that count in their row or in their column and no others, and are made
// where they are at most one cell in sparseFill of the rows that are looked at.
func TestCompress(t *testing.T) {
	const k = 200
	if k*k < sparseCells {
		t.Fatal("too small to be compressed")
	}
	for _, width := range []int{1, k/sparseFill - 2} {
		s := bands(k, width)
		if s.compress() == nil {
			t.Errorf("%d of %d columns: not compressed", width, k)
			continue
		}
		w := &s.k.kept
		drop := dropped / float64(k)
		for i := range k {
			at := w.ptr[i]
			for j := range k {
				p := s.u[i] * s.k.m[i*k+j]
				if !(p > drop*s.u[i]*s.a[i] || p > drop*s.s[j]) {
					continue
				}
				want := s.k.m[i*k+j]
				if at == w.ptr[i+1] || int(w.idx[at]) != j || w.val[at] != want {
					t.Fatalf("%d of %d columns: the entry of row %d, column %d is missing", width, k, i, j)
				}
				at++
			}
			if at != w.ptr[i+1] {
				t.Fatalf("%d of %d columns: row %d has entries that do not count", width, k, i)
			}
		}
	}
	for _, width := range []int{k/sparseFill + 2, k/sparseFill + 9, k} {
		s := bands(k, width)
		if s.compress() != nil {
			t.Errorf("%d of %d columns: compressed", width, k)
		}
	}
}

// TestConjugateGradients solves small systems of the shape (diag(c) - B'B + shift diag(c)) d = r, and compares with
// Cholesky's method. One column is alone in its row: there J is zero, and the shift all there is.
func TestConjugateGradients(t *testing.T) {
	const (
		// Where only the shift of 5e-13 is left of a difference of ones, it has three digits.
		same = 1e-2
		k    = 5
	)
	for _, shift := range []float64{5e-13, 1e-3} {
		const na = 4
		s := &fast{c: &core{watch: newWatch(context.Background()), k: k, n: na}}
		s.k = &kernel{c: s.c, ch: 1, m: make([]float64, k*na), part: make([]float64, na)}
		s.u, s.a, s.v = slices.Repeat([]float64{1}, k), make([]float64, k), slices.Repeat([]float64{1}, na)
		s.s = make([]float64, na)
		// Rows of the plan, without the columns that are not in A: row 4 is in column 3 alone.
		plan := [k][]float64{{0.125, 0.0625, 0.03125, 0}, {0.03125, 0.125, 0, 0}, {0.0625, 0.0625, 0.125, 0},
			{0.015625, 0, 0.0625, 0}, {0, 0, 0, 0.25}}
		mu := []float64{0.25, 0.1875, 0.25, 0.125, 0.25}
		r := []float64{0.01, -0.02, 0.015, 1e-6}
		h, want := make([]float64, na*na), slices.Clone(r)
		for i, row := range plan {
			for j, x := range row {
				s.s[j] += x // c, as v is 1
				s.k.m[i*na+j] = x
			}
			s.a[i] = mu[i] // the plan is M, and the weight of a row one over its mass
		}
		for a := range na {
			h[a*na+a] = s.s[a] + shift*s.s[a]
			for i := range k {
				for b := range na {
					h[a*na+b] -= plan[i][a] / mu[i] * plan[i][b]
				}
			}
		}
		if !cholesky(h, want) {
			t.Fatal("not positive definite")
		}
		w := s.newSystem([]int{0, 1, 2, 3})
		got, steps := w.solve(r, w.diagonal(), shift, 1e-9)
		for j, d := range got {
			if !(math.Abs(d-want[j]) <= same*math.Abs(want[j])) {
				t.Errorf("shift %v: d[%d] = %v, want %v", shift, j, d, want[j])
			}
		}
		if most := 3 * na; steps > most { // na in exact arithmetic
			t.Errorf("shift %v: %d steps", shift, steps)
		}
	}
}

// TestAbsorb: what was in the scalings is in the potentials then. The plan is the same, and rows of M v add up to 1.
func TestAbsorb(t *testing.T) {
	const same = 1e-10 // potentials are rounded to 2^-44 of the largest cost, which is 20 Reg
	g := newGenerator(77)
	for range 10 {
		p := g.problem(6, 9, 0.05)
		in, c := loaded(t, p)
		s := newFast(c, Settings{Method: Fast, Tolerance: 1e-12, MaxIterations: 100}, newKernel(c))
		copy(s.k.f, c.min)
		s.build(c.reg)
		for range 5 {
			if !s.pass() {
				t.Fatal("out of range")
			}
			s.v, s.next = s.next, s.v
		}
		s.pass()
		before := s.entries()
		s.absorb()
		s.build(c.reg)
		if !s.pass() {
			t.Fatal("out of range")
		}
		for i, a := range s.a {
			if !(math.Abs(a-1) <= same) {
				t.Errorf("row %d of M v adds up to %v", i, a)
			}
		}
		for e, x := range s.entries() {
			if !(math.Abs(x-before[e]) <= same*in.mass[e/c.n]) {
				t.Errorf("entry %d of the plan was %v and is %v", e, before[e], x)
			}
		}
	}
}

// entries returns the plan at hand.
func (s *fast) entries() []float64 {
	p := make([]float64, s.c.k*s.c.n)
	for i, u := range s.u {
		for j, v := range s.v {
			p[i*s.c.n+j] = u * s.k.m[i*s.c.n+j] * v
		}
	}
	return p
}

// TestColumnOutOfReach: a column so far away that its kernel is zero gets nothing if it need not, and Newton steps for
// the others are as good as without.
func TestColumnOutOfReach(t *testing.T) {
	// The range of the cost, and so the first Reg, is 70 times as large: three or four more levels, and the last ones,
	// at a smaller share of the range, end at a smaller residual. Each level takes a Newton step more, of five passes.
	const k, slack = 30, 20
	p := scattered(t, k, 1)
	d := p.Cost.(*cost.Dense)
	far := &cost.Dense{K: k, Kv: k + 1}
	for i := range k {
		far.Data = append(far.Data, d.Data[i*k:(i+1)*k]...)
		far.Data = append(far.Data, 100)
	}
	p.Cost, p.Reg = far, 0.01 // 10^4 Reg away
	p.Lo, p.Hi = append(p.Lo, 0), append(p.Hi, 0)
	without := mustProject(t, p, Settings{Tolerance: 1e-10})
	p.Hi[k] = 1
	with := mustProject(t, p, Settings{Tolerance: 1e-10})
	if with.Q[k] != 0 {
		t.Errorf("mass %v out of reach", with.Q[k])
	}
	if without.Stats.Newton == 0 || with.Iterations > without.Iterations+slack || with.Stats.CG > without.Stats.CG+slack {
		t.Errorf("%+v, without the column %+v", with.Stats, without.Stats)
	}
}

// TestScale: the quick multiplier is that of kl.Project, from starts on either side, unless it gives up, which is for
// what is far away or has no column inside its bounds.
func TestScale(t *testing.T) {
	const same = 1e-12 // an ulp of the multiplier
	g := newGenerator(78)
	var tries, found [2]int
	for n := range 400 {
		kv := 3 + g.intn(30)
		logS, x := make([]float64, kv), make([]float64, kv)
		for j := range x {
			x[j] = 0.1 + g.float()
			logS[j] = math.Log(x[j])
		}
		lo, hi := box(g.mass(kv), 0.5+2*g.float())
		q, theta, err := kl.Project(logS, lo, hi)
		if err != nil {
			t.Fatal(err)
		}
		near, above := math.Exp(theta)*2, n%2
		if above == 0 {
			near /= 4
		}
		tries[above]++
		y, ok := kl.Scale(x, lo, hi, near)
		if !ok {
			continue
		}
		found[above]++
		for j, want := range q {
			if got := math.Min(math.Max(y*x[j], lo[j]), hi[j]); !(math.Abs(got-want) <= same) {
				t.Errorf("%d: q[%d] = %v, want %v", n, j, got, want)
			}
		}
	}
	for above, n := range found {
		if n < tries[above]*3/5 { // 164 and 135 of 200 are
			t.Errorf("%d of %d found, side %d", n, tries[above], above)
		}
	}
}

// cholesky solves h x = d for the lower triangle h, in place. It reports false if h is not positive definite.
func cholesky(h, d []float64) bool {
	m := len(d)
	for i := range m {
		for j := range i + 1 {
			s := h[i*m+j]
			for k, x := range h[i*m : i*m+j] {
				s -= x * h[j*m+k]
			}
			if i == j {
				if !(s > 0) {
					return false
				}
				h[i*m+i] = math.Sqrt(s)
			} else {
				h[i*m+j] = s / h[j*m+j]
			}
		}
	}
	for i := range m {
		s := d[i]
		for k := range i {
			s -= h[i*m+k] * d[k]
		}
		d[i] = s / h[i*m+i]
	}
	for i := m - 1; i >= 0; i-- {
		s := d[i]
		for k := i + 1; k < m; k++ {
			s -= h[k*m+i] * d[k]
		}
		d[i] = s / h[i*m+i]
	}
	return true
}
