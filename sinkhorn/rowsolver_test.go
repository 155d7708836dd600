package sinkhorn

import (
	"context"
	"math"
	"testing"

	"github.com/wpm-go/wpm/cost"
)

// rowsOf is the workspace of a Projector, loaded with a distribution.
func rowsOf(t *testing.T, p *Projector, source []float64, support []int) *rowSolver {
	t.Helper()
	s := p.take()
	s.in.rows, s.in.mass = s.in.rows[:0], s.in.mass[:0]
	if err := s.in.source(source, support); err != nil {
		t.Fatal(err)
	}
	s.load(p)
	return s
}

// TestRowDerivatives: the Hessian of evaluate is the derivative of its gradient, by differences, and the gradient that of the dual value.
func TestRowDerivatives(t *testing.T) {
	const (
		reg = 0.5
		// Differences of a step of 1e-4 are good to its square, and 12 digits of an exponential leave 1e-8.
		by, same = 1e-4, 1e-6
		k, kv    = 4, 24
	)
	g := newGenerator(15)
	d := &cost.Dense{K: k, Kv: kv}
	for range k {
		for j := range kv {
			// Less than smoothDepth * reg apart in a column, so that no term is left out; columns are near and far.
			d.Data = append(d.Data, g.float()+float64(j)/8)
		}
	}
	lo, hi := make([]float64, kv), make([]float64, kv)
	for j := range lo {
		lo[j], hi[j] = 0.01, 0.07
	}
	p, err := NewProjector(d, lo, hi, reg, Settings{Gap: 1e-6})
	if err != nil {
		t.Fatal(err)
	}
	s := rowsOf(t, p, []float64{0.1, 0.2, 0.3, 0.4}, nil)
	f := []float64{0.1, -0.2, 0.05, 0.15}
	// dual is the value whose derivatives evaluate gives, and rows the row sums.
	dual := func(f []float64) (value float64, rows []float64) {
		copy(s.f, f)
		s.evaluate(reg, true)
		logS := make([]float64, kv)
		for j := range logS {
			e := make([]float64, k)
			for i := range e {
				e[i] = (f[i] - d.Data[i*kv+j]) / reg
			}
			logS[j] = logSumExp(e)
		}
		q, _, err := KLProject(logS, lo, hi)
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range f {
			value += s.in.mass[i] * x
		}
		for j, x := range q {
			value -= reg * x * (logS[j] - math.Log(x))
		}
		return value, append([]float64(nil), s.r...)
	}
	_, r := dual(f)
	h := append([]float64(nil), s.h...)
	var low, free, high int
	for j := range kv {
		var q float64
		for i := range k {
			q += math.Exp((f[i] - d.Data[i*kv+j] + s.smooth.level) / reg)
		}
		switch {
		case q <= lo[j]:
			low++
		case q >= hi[j]:
			high++
		default:
			free++
		}
	}
	if low < 3 || free < 3 || high < 3 {
		t.Fatalf("%d, %d and %d columns at their lower bound, inside and at the upper bound", low, free, high)
	}
	for b := range k {
		up, down := append([]float64(nil), f...), append([]float64(nil), f...)
		up[b] += by
		down[b] -= by
		v1, r1 := dual(up)
		v0, r0 := dual(down)
		if got, want := (v1-v0)/(2*by), s.in.mass[b]-r[b]; !(math.Abs(got-want) <= same) {
			t.Errorf("the dual value rises by %v in f[%d], the gradient is %v", got, b, want)
		}
		for a := b; a < k; a++ { // the lower triangle is filled in
			got := h[a*k+b]
			if a == b {
				got += r[a]
			}
			if want := reg * (r1[a] - r0[a]) / (2 * by); !(math.Abs(got-want) <= same) {
				t.Errorf("Hessian (%d, %d): %v, by differences %v", a, b, got, want)
			}
		}
	}
}

func logSumExp(x []float64) float64 {
	top := math.Inf(-1)
	for _, y := range x {
		top = math.Max(top, y)
	}
	var sum float64
	for _, y := range x {
		sum += math.Exp(y - top)
	}
	return top + math.Log(sum)
}

// TestRowTheta: the multiplier of the box gives mass 1, from any start.
func TestRowTheta(t *testing.T) {
	const mass = 1e-9 // the last step is below 1e-3, and quadratic: exact where no column changes sides
	g := newGenerator(16)
	for n := range 100 {
		kv := 2 + n%20
		w := make([]float64, kv)
		for j := range w {
			w[j] = 10 * g.float()
		}
		lo, hi := box(g.mass(kv), 1+g.float())
		s := &rowSolver{lo: lo, hi: hi}
		var start float64
		for _, y := range w {
			start += y
		}
		x := s.theta(w, 1/start)
		var sum float64
		for j, y := range w {
			sum += min(max(x*y, lo[j]), hi[j])
		}
		if !(math.Abs(sum-1) <= mass) {
			t.Errorf("%d columns: mass %v", kv, sum)
		}
	}
}

// TestHubWay: the way from the hub to a row is the column with room that costs least there.
func TestHubWay(t *testing.T) {
	g := newGenerator(17)
	c, lo, hi := unitSquare(t, g, 40, 1, 2)
	p, err := NewProjector(c, lo, hi, 1e-3, Settings{Gap: 1e-9})
	if err != nil {
		t.Fatal(err)
	}
	u := newUsers(g, 20, 5, 40)
	for n := range u.source {
		s := rowsOf(t, p, u.source[n], u.support[n])
		s.start(p)
		s.scan()
		copy(s.round.f, s.f)
		s.round.reset(s.in.mass, s.level(), s.b, s.own)
		r := &s.round
		for k := range r.m {
			at := r.m*(r.m+1) + k
			want := math.Inf(1)
			for j, q := range r.q {
				if q < r.hi[j] {
					want = min(want, r.c[j*r.m+k])
				}
			}
			if j := r.via[at]; r.way[at] != want || !(r.q[j] < r.hi[j]) {
				t.Errorf("distribution %d, row %d: way %v by column %d, which holds %v of %v; want %v", n, k, r.way[at], j, r.q[j], r.hi[j], want)
			}
		}
	}
}

// TestSecondTry: where the start takes the cost for some hundred times what it is, paths may be too long at first. The plan is then made once more,
// of the shortest ones, and is as good as asked for.
func TestSecondTry(t *testing.T) {
	const (
		gap   = 1e-3
		k, kv = 6, 12
	)
	g := newGenerator(18)
	for n := range 20 {
		// Two columns near each row hold what it has: only just, so that the table of radii, which has 32 steps, counts on others.
		d := &cost.Dense{K: k, Kv: kv}
		lo, hi, source := make([]float64, kv), make([]float64, kv), make([]float64, k)
		var sum float64
		for i := range k {
			for j := range kv {
				x := 1000 * (1 + g.float())
				if j%k == i {
					x = 1 + g.float()
				}
				d.Data = append(d.Data, x)
			}
			source[i] = 1 + 0.2*g.float()
			sum += source[i]
		}
		for j := range hi {
			hi[j] = 1.5 / kv
		}
		for i := range source {
			source[i] /= sum
		}
		p, err := NewProjector(d, lo, hi, 1, Settings{Gap: gap})
		if err != nil {
			t.Fatal(err)
		}
		var r Result
		if err := p.Project(context.Background(), source, nil, &r); err != nil || r.Plan == nil || !(r.Gap() <= gap*r.Upper) {
			t.Errorf("instance %d: %v, gap %v of %v, plan %v", n, err, r.Gap(), r.Upper, r.Plan != nil)
		}
	}
}

// TestOrdinary: the projection in potentials of rows is for costs and a Reg strictly between 2^-200 and 2^200.
func TestOrdinary(t *testing.T) {
	for _, tt := range []struct {
		least, most, reg float64
		want             bool
	}{
		{1, 2, 1, true},
		{0x1p-200, 1, 1, false}, {0x1.0000000000001p-200, 1, 1, true},
		{1, 0x1p200, 0x1p190, false}, {1, 0x1.fffffffffffffp199, 0x1p190, true},
		{1, 2, 0x1p200, false}, {1, 2, 0x1.fffffffffffffp199, true},
		{0x1p-199, 0x1p-198, 0x1p-200, false}, {0x1p-199, 0x1p-198, 0x1.0000000000001p-200, true},
	} {
		p, err := NewProjector(dense(t, []float64{0, tt.least}, []float64{tt.most, 0}), []float64{0, 0}, []float64{1, 1}, tt.reg, Settings{Gap: 0.1})
		if err != nil {
			t.Fatal(err)
		}
		if p.ordinary != tt.want {
			t.Errorf("%+v: %v", tt, p.ordinary)
		}
	}
}
