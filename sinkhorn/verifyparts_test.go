package sinkhorn

import (
	"context"
	"math"
	"math/big"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/num"
)

// TestDyadic: numbers n 2^e against rationals.
func TestDyadic(t *testing.T) {
	g := newGenerator(81)
	float := func() float64 { return math.Ldexp(g.float()-0.5, g.intn(200)-100) }
	for range 300 {
		x, y := float(), float()
		if g.intn(10) == 0 {
			x = math.SmallestNonzeroFloat64 * float64(g.intn(9))
		}
		a, b := newDyadic(x), newDyadic(y)
		p, q := new(big.Rat).SetFloat64(x), new(big.Rat).SetFloat64(y)
		for _, op := range []struct {
			name string
			got  *big.Rat
			want *big.Rat
		}{
			{"itself", a.rat(), p}, {"plus", a.plus(b).rat(), new(big.Rat).Add(p, q)}, {"minus", a.minus(b).rat(), new(big.Rat).Sub(p, q)},
			{"times", a.times(b).rat(), new(big.Rat).Mul(p, q)}, {"abs", a.abs().rat(), new(big.Rat).Abs(p)}, {"over", a.over(b), new(big.Rat).Quo(p, q)},
			{"sum", dyadicSum([]float64{x, y, x}).rat(), new(big.Rat).Add(p, new(big.Rat).Add(p, q))},
		} {
			if op.got.Cmp(op.want) != 0 {
				t.Errorf("%v %s %v: %v, want %v", x, op.name, y, op.got, op.want)
			}
		}
		if a.sign() != p.Sign() || a.float() != x {
			t.Errorf("%v: sign %d, %v as a float", x, a.sign(), a.float())
		}
	}
}

// TestPlanProof: what Verify proves of a plan is its cost, and the largest cost for what is missing and for what rows, columns and Q hold too much,
// in rationals; whatever is done to the plan.
func TestPlanProof(t *testing.T) {
	g := newGenerator(82)
	for n := range 60 {
		k, kv := 2+g.intn(4), 2+g.intn(5)
		p := g.problem(k, kv, 0.1)
		p.Source = g.mass(k)
		m := g.mass(kv)
		p.Lo, p.Hi = box(m, 1)
		if n%4 == 3 { // one point, and not of mass 1
			for j := range m {
				m[j] *= 1 - 3e-13
			}
			p.Lo, p.Hi = m, m
		}
		v, err := newVerifier(p)
		if err != nil {
			t.Fatal(err)
		}
		v.most = cost.Max(p.Cost)
		if v.point != (n%4 == 3) {
			t.Fatalf("number %d: a point %v", n, v.point)
		}
		r := Result{Q: g.mass(kv)}
		if n%3 == 0 {
			r.Q[0] += 1e-3
		}
		var plan [][]float64
		for i := range k {
			row := make([]float64, kv)
			for j := range row {
				if g.intn(3) > 0 {
					row[j] = p.Source[i] * r.Q[j] * (0.5 + g.float())
					r.Plan = append(r.Plan, Entry{i, j, row[j]})
				}
			}
			plan = append(plan, row)
		}
		want, missing := new(big.Rat), big.NewRat(1, 1)
		rat := func(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }
		cols := make([]*big.Rat, kv)
		for j := range cols {
			cols[j] = new(big.Rat)
		}
		total, point := num.SumRat(p.Source), num.SumRat(p.Lo)
		excess := func(have, allowed *big.Rat) *big.Rat {
			if d := new(big.Rat).Sub(have, allowed); d.Sign() > 0 {
				return d
			}
			return new(big.Rat)
		}
		for i, row := range plan {
			sum := new(big.Rat)
			for j, x := range row {
				sum.Add(sum, rat(x))
				cols[j].Add(cols[j], rat(x))
				want.Add(want, new(big.Rat).Mul(rat(x), rat(p.Cost.Row(i, make([]float64, kv))[j])))
			}
			missing.Sub(missing, sum)
			missing.Add(missing, excess(sum, new(big.Rat).Quo(rat(p.Source[i]), total)))
		}
		for j, x := range cols {
			d := excess(x, rat(r.Q[j]))
			if v.point {
				if e := excess(x, new(big.Rat).Quo(rat(p.Lo[j]), point)); e.Cmp(d) > 0 {
					d = e
				}
			}
			missing.Add(missing, d)
		}
		missing.Add(missing, excess(num.SumRat(r.Q), big.NewRat(1, 1)))
		if missing.Sign() < 0 {
			missing.SetInt64(0)
		}
		most := rat(v.most)
		if want.Add(want, missing.Mul(missing, most)); want.Cmp(most) > 0 {
			want = most
		}
		got, err := v.planUpper(r)
		if err != nil {
			t.Fatal(err)
		}
		if got.Cmp(want) != 0 {
			t.Errorf("number %d: %v, want %v", n, got, want)
		}
	}
}

// TestClaims: Verify lets Transport be off by claimSlack of the largest cost, Residual by claimSlack, and sums of Q by kv 2^-52, and no more; on grids, in floats, too.
func TestClaims(t *testing.T) {
	type prove func(v *verifier, r Result) error
	exactly := func(v *verifier, r Result) error { _, err := v.upper(r); return err }
	floats := func(v *verifier, r Result) error { _, err := v.gridUpper(r); return err }
	p := gridProblem(t, 4, 5, 1, 0.1)
	r, err := onGrid(t, context.Background(), p, Settings{Tolerance: 1e-9})
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]prove{"exactly": exactly, "in floats": floats} {
		for _, tt := range []struct {
			transport, residual float64
			want                bool
		}{
			{0, 0, true}, {0.9, 0, true}, {-0.9, 0, true}, {1.1, 0, false}, {-1.1, 0, false}, {0, 0.9, true}, {0, 1.1, false}, {0.9, 0.9, true},
		} {
			v, err := newVerifier(p)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := v.lower(r.Potentials); err != nil {
				t.Fatal(err)
			}
			if v.most != cost.Max(p.Cost) {
				t.Fatalf("the largest cost is %v", v.most)
			}
			x := r
			x.Transport += tt.transport * claimSlack * v.most
			x.Residual += tt.residual * claimSlack
			if err := f(v, x); (err == nil) != tt.want {
				t.Errorf("%s: %+v: %v", name, tt, err)
			}
		}
	}
	v, err := newVerifier(Problem{Cost: dense(t, []float64{0, 1, 1, 1}), Source: []float64{1}, Lo: []float64{0, 0, 0, 0}, Hi: []float64{1, 1, 1, 1}, Reg: 1})
	if err != nil {
		t.Fatal(err)
	}
	const unit = 0x1p-52
	for _, tt := range []struct {
		more float64
		want bool
	}{{0, true}, {4, true}, {-4, true}, {5, false}, {-5, false}} {
		if err := v.checkQ([]float64{0.25, 0.25, 0.25, 0.25 + tt.more*unit}); (err == nil) != tt.want {
			t.Errorf("%v units more: %v", tt.more, err)
		}
	}
}

// TestShares: the steps of a flow, by plain loops: every cell gives at the same time, in proportion to what is asked of it, and no more than it has.
func TestShares(t *testing.T) {
	const rows, cols, same = 3, 4, 1e-12 // and 2^-40 where a cell gives all that it has
	p := gridProblem(t, rows, cols, 1, 0.1)
	v, err := newVerifier(p)
	if err != nil {
		t.Fatal(err)
	}
	g := newGenerator(83)
	cut := 0
	for range 40 {
		f := &Flow{Right: make([]float64, rows*cols), Down: make([]float64, rows*cols), Steps: 1 + g.intn(3)}
		for i := range f.Right {
			if i%cols+1 < cols && g.intn(4) > 0 {
				f.Right[i] = 0.3 * (g.float() - 0.5)
			}
			if i/cols+1 < rows && g.intn(4) > 0 {
				f.Down[i] = 0.3 * (g.float() - 0.5)
			}
		}
		if err := v.checkFlow(f); err != nil {
			t.Fatal(err)
		}
		sums := g.mass(rows * cols)
		want := append([]float64(nil), sums...)
		for range f.Steps {
			var ask [rows * cols][rows * cols]float64
			for i := range want {
				if i%cols+1 < cols {
					ask[i][i+1], ask[i+1][i] = max(0, f.Right[i]), max(0, -f.Right[i])
				}
				if i/cols+1 < rows {
					ask[i][i+cols], ask[i+cols][i] = max(0, f.Down[i]), max(0, -f.Down[i])
				}
			}
			next := append([]float64(nil), want...)
			for i := range want {
				var all float64
				for _, x := range ask[i] {
					all += x / float64(f.Steps)
				}
				part := 1.0
				if all > want[i] {
					part = want[i] / all
					cut++
				}
				for j, x := range ask[i] {
					next[i] -= part * x / float64(f.Steps)
					next[j] += part * x / float64(f.Steps)
				}
			}
			want = next
		}
		_, got := v.shares(f, sums)
		for i, x := range want {
			if !(math.Abs(got[i]-x) <= same) {
				t.Errorf("%d steps: cell %d has %v, want %v", f.Steps, i, got[i], x)
			}
		}
	}
	if cut == 0 {
		t.Error("no cell ran out")
	}
	// What leaves the grid is refused, to each side.
	for i := range rows * cols {
		f := &Flow{Right: make([]float64, rows*cols), Down: make([]float64, rows*cols), Steps: 1}
		f.Right[i] = 0.1
		if err := v.checkFlow(f); (err == nil) != (i%cols < cols-1) {
			t.Errorf("to the right of cell %d: %v", i, err)
		}
		f.Right[i], f.Down[i] = 0, -0.1
		if err := v.checkFlow(f); (err == nil) != (i/cols < rows-1) {
			t.Errorf("below cell %d: %v", i, err)
		}
	}
	for _, x := range []struct {
		flow  float64
		steps int
		want  bool
	}{{2, 1, true}, {-2, 1000, true}, {2.1, 1, false}, {-2.1, 1, false}, {math.NaN(), 1, false}, {0, 0, false}, {0, 1001, false}} {
		f := &Flow{Right: make([]float64, rows*cols), Down: make([]float64, rows*cols), Steps: x.steps}
		f.Right[0] = x.flow
		if err := v.checkFlow(f); (err == nil) != x.want {
			t.Errorf("%+v: %v", x, err)
		}
	}
}
