package sinkhorn

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/wpmerr"
)

// report is what a Result says of the plan of LogV, by plain loops.
type report struct {
	transport, objective, residual, posterior float64
	// lower is the dual value of the potentials that LogV leads to, at the best shift. repaired is what the plan costs
	// when its columns are cut down to Q and what is then missing is put in as a product of rows and columns, and charged
	// what it costs when that is charged at the largest cost.
	lower, repaired, charged, most float64
}

// reportOf recomputes it. Columns with hi of at most tinyMass take no part.
func reportOf(p Problem, r Result) report {
	k, kv := p.Cost.Dims()
	mu := make([]float64, k)
	var total float64
	for n, x := range p.Source {
		if p.Support == nil {
			mu[n] = x
		} else {
			mu[p.Support[n]] = x
		}
		total += x
	}
	var rep report
	c, plan := make([][]float64, k), make([][]float64, k)
	cols, live := make([]float64, kv), 0
	for j := range kv {
		if p.Hi[j] > tinyMass {
			live++
		}
	}
	f, b := make([]float64, k), make([]float64, kv)
	for j := range b {
		b[j] = math.Inf(1)
	}
	var dual float64 // of f and Reg log v
	for i := range k {
		if mu[i] /= total; mu[i] == 0 {
			continue
		}
		c[i], plan[i] = append([]float64(nil), p.Cost.Row(i, make([]float64, kv))...), make([]float64, kv)
		e := make([]float64, kv)
		f[i] = math.Inf(1)
		for j, x := range c[i] {
			e[j] = r.LogV[j] - x/r.Reg
			if p.Hi[j] > 0 {
				rep.most = max(rep.most, x)
			}
			if p.Hi[j] > tinyMass {
				f[i] = min(f[i], x-r.Reg*r.LogV[j])
			}
		}
		all := logSumExp(e)
		for j, x := range e {
			plan[i][j] = mu[i] * math.Exp(x-all)
			cols[j] += plan[i][j]
			rep.transport += plan[i][j] * c[i][j]
			if plan[i][j] > 0 {
				rep.objective += r.Reg * plan[i][j] * math.Log(plan[i][j])
			}
			b[j] = min(b[j], c[i][j]-f[i])
		}
		dual += mu[i] * f[i]
	}
	rep.objective += rep.transport
	var lacking float64
	for j, q := range r.Q {
		rep.residual += math.Abs(q - cols[j])
		lacking += max(0, q-cols[j])
		if cols[j] > 0 {
			dual += cols[j] * r.Reg * r.LogV[j]
		}
	}
	rep.posterior = max(0, rep.transport-dual)
	rep.charged = rep.transport + rep.most*lacking
	rep.repaired = repairedCost(plan, c, mu, r.Q)
	// The dual value is concave in the shift, and has its maximum where a b vanishes.
	rep.lower = math.Inf(-1)
	for l, t := range b {
		if p.Hi[l] <= tinyMass {
			continue
		}
		value := t
		for i, x := range f {
			value += mu[i] * x
		}
		for j, x := range b {
			if p.Hi[j] > tinyMass {
				value += min(p.Lo[j]*(x-t), p.Hi[j]*(x-t))
			}
		}
		rep.lower = max(rep.lower, value)
	}
	rep.lower = max(0, rep.lower)
	return rep
}

// repairedCost is what a plan costs when its columns are cut down to q and what is then missing is put in as a product
// of rows and columns.
func repairedCost(plan, c [][]float64, mu, q []float64) (sum float64) {
	cols := make([]float64, len(q))
	for _, row := range plan {
		for j, x := range row {
			cols[j] += x
		}
	}
	var lacking float64
	for j, x := range q {
		lacking += max(0, x-cols[j])
	}
	for i, row := range plan {
		left := mu[i]
		for j, x := range row {
			if cols[j] > 0 {
				x *= min(1, q[j]/cols[j])
				left -= x
				sum += x * c[i][j]
			}
		}
		for j, x := range q {
			if lacking > 0 && row != nil {
				sum += left * max(0, x-cols[j]) / lacking * c[i][j]
			}
		}
	}
	return sum
}

// w0 solves w e^w = x by bisection.
func w0(x float64) float64 {
	low, high := 0.0, x+1
	for range 200 {
		if w := low + (high-low)/2; w*math.Exp(w) < x {
			low = w
		} else {
			high = w
		}
	}
	return low
}

// checkReport compares what r says with that. noise is over the largest cost and the entropy.
func checkReport(t *testing.T, what string, p Problem, r Result, noise float64) {
	t.Helper()
	rep := reportOf(p, r)
	_, kv := p.Cost.Dims()
	size := rep.most + r.Reg*math.Log(float64(kv)*float64(len(p.Source)))
	for _, x := range []struct {
		name      string
		got, want float64
		size      float64
	}{
		{"Transport", r.Transport, rep.transport, rep.most}, {"Objective", r.Objective, rep.objective, size},
		{"Residual", r.Residual, rep.residual, 1},
		{"Posterior", r.Posterior, rep.posterior, rep.most},
	} {
		if !(math.Abs(x.got-x.want) <= noise*x.size) {
			t.Errorf("%s: %s = %v, want %v", what, x.name, x.got, x.want)
		}
	}
	checkPotentials(t, what, p, r, noise*rep.most)
	up, down, err := Verify(context.Background(), p, r)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	high, _ := up.Float64()
	low, _ := down.Float64()
	if !(math.Abs(low-r.Lower) <= noise*rep.most) {
		t.Errorf("%s: Lower = %v, and Verify proves %v", what, r.Lower, low)
	}
	// Lower is below the exact dual value by 2^-50 of its terms; four roundings of half a unit, up or down, are half of
	// that.
	if size := dualSize(p, r); r.Lower > 0 {
		gap, _ := new(big.Rat).Sub(down, new(big.Rat).SetFloat64(r.Lower)).Float64()
		if share := gap / (size * 0x1p-50); size > 0x1p-900 && !(share >= 0.5 && share <= 1.5) {
			t.Errorf("%s: Lower = %v is %v times what roundings of terms of size %v need below %v", what, r.Lower, share, size,
				low)
		}
	}
	if !(math.Abs(high-min(rep.repaired, rep.most)) <= noise*rep.most) && r.Flow == nil {
		t.Errorf("%s: Verify proves %v, the repaired plan costs %v", what, high, rep.repaired)
	}
	if !(math.Abs(r.Lower-rep.lower) <= noise*rep.most) {
		t.Errorf("%s: Lower = %v, the potentials of LogV prove %v", what, r.Lower, rep.lower)
	}
	if r.Flow != nil { // as good as charging the defect, or better
		if !(r.Upper <= rep.charged+rep.most*(rep.residual+noise)) {
			t.Errorf("%s: Upper = %v, want at most %v", what, r.Upper, rep.charged)
		}
		return
	}
	upper := rep.charged
	if rep.residual > coarse {
		upper = min(rep.charged, rep.repaired)
	}
	if want := min(upper, rep.most); !(math.Abs(r.Upper-want) <= noise*rep.most) {
		t.Errorf("%s: Upper = %v, want %v", what, r.Upper, want)
	}
}

// checkPotentials checks the dual value, and that rows without mass have the largest potential that will do, and
// columns that take no part, given those of rows with mass.
func checkPotentials(t *testing.T, what string, p Problem, r Result, noise float64) {
	t.Helper()
	k, kv := p.Cost.Dims()
	mu := make([]float64, k)
	for n, x := range p.Source {
		if p.Support == nil {
			mu[n] = x
		} else {
			mu[p.Support[n]] = x
		}
	}
	var dual float64
	high := make([]float64, kv)
	for j, g := range r.Potentials.G {
		dual += min(p.Lo[j]*g, p.Hi[j]*g)
		high[j] = math.Inf(1)
	}
	for i, f := range r.Potentials.F {
		row := p.Cost.Row(i, make([]float64, kv))
		least := math.Inf(1)
		for j, c := range row {
			least = min(least, c-r.Potentials.G[j])
			if mu[i] > 0 {
				high[j] = min(high[j], c-f)
			}
		}
		dual += mu[i] * f
		if mu[i] == 0 && !(math.Abs(f-least) <= noise) {
			t.Errorf("%s: F[%d] = %v, and %v would do", what, i, f, least)
		}
	}
	for j, g := range r.Potentials.G {
		if p.Hi[j] <= tinyMass && !(math.Abs(g-high[j]) <= noise) {
			t.Errorf("%s: G[%d] = %v, and %v would do", what, j, g, high[j])
		}
	}
	if !(math.Abs(max(0, dual)-r.Lower) <= noise) {
		t.Errorf("%s: Lower = %v, the potentials prove %v", what, r.Lower, dual)
	}
}

// dualSize is the sum of the terms of the dual value, or what columns with next to no room may add to it.
func dualSize(p Problem, r Result) float64 {
	var size, total, most, tiny float64
	for _, x := range p.Source {
		total += x
	}
	for n, x := range p.Source {
		i := n
		if p.Support != nil {
			i = p.Support[n]
		}
		size += x / total * math.Abs(r.Potentials.F[i])
		if x > 0 {
			most = max(most, r.Potentials.F[i])
		}
	}
	for j, g := range r.Potentials.G {
		size += math.Abs(min(p.Lo[j]*g, p.Hi[j]*g))
		if p.Hi[j] > 0 && p.Hi[j] <= tinyMass {
			tiny++
		}
	}
	return max(size, tiny*most)
}

// awkward changes an instance: costs beyond the range of squares, all costs far from zero, columns without room or next
// to none, rows that are left out.
func awkward(g *generator, kind int, p Problem) Problem {
	d := p.Cost.(*cost.Dense)
	k, kv := d.K, d.Kv
	c := &cost.Dense{K: k, Kv: kv, Data: append([]float64(nil), d.Data...)}
	p.Cost = c
	switch kind {
	case 1, 2: // scaled back by powers of two
		s := []float64{0x1p850, 0x1p-850}[kind-1]
		for e := range c.Data {
			c.Data[e] *= s
		}
		p.Reg *= s
	case 3: // the least cost of every row is taken out
		for e := range c.Data {
			c.Data[e] = 1000 + 100*float64(e/kv) + c.Data[e]
		}
	case 4, 5:
		for j := range kv {
			if j%3 == 1 {
				p.Lo[j], p.Hi[j] = 0, []float64{0, 1e-250}[kind-4]
			} else {
				p.Hi[j] = 2.5 * max(p.Hi[j], 1/float64(kv))
			}
		}
		var low float64
		for j := range kv {
			low += p.Lo[j]
		}
		if low > 0.9 {
			for j := range kv {
				p.Lo[j] *= 0.5
			}
		}
	case 6:
		p.Support, p.Source = nil, nil
		for i := 0; i < k; i += 2 {
			p.Support = append(p.Support, i)
		}
		p.Source = g.mass(len(p.Support))
	}
	return p
}

// TestReport: what a Result says is what its definition says, converged and stopped early, for all methods.
func TestReport(t *testing.T) {
	// Exponents up to 100 are rounded, and Fast absorbs them in potentials with 44 bits; Reg is within a factor 10^3 of
	// the costs that remain. With costs of 1000 beside a range of 1, what is left of them is a thousandth.
	const noise = 1e-10
	g := newGenerator(61)
	for kind := range 7 {
		for n := range numtest.Cases(6, 12) {
			base := g.problem(2+g.intn(8), 3+g.intn(9), []float64{0.5, 0.05, 0.02}[n%3])
			p := awkward(g, kind, base)
			for _, m := range methods {
				for _, s := range []Settings{{}, {MaxIterations: 2}, {Gap: 0.3}, {MaxIterations: 1, Gap: 1e-9}} {
					s.Method, s.AllRows = m, true
					r := solvedOrStopped(t, p, s)
					checkReport(t, fmt.Sprintf("kind %d, number %d, %v, %+v", kind, n, m, s), p, r, noise)
				}
			}
		}
	}
}

// TestReportProjector: so do the results of a Projector, with and without the shared kernel.
func TestReportProjector(t *testing.T) {
	const noise = 1e-10
	g := newGenerator(62)
	for n := range 12 {
		k := []int{20, 80}[n%2]
		p := square(k, []float64{0.2, 0.05, 0.6}[n%3])
		if n >= 6 {
			for j := range p.Lo {
				if j%4 == 1 {
					p.Lo[j], p.Hi[j] = 0, 0
				}
				p.Hi[j] *= 2
			}
		}
		for _, s := range []Settings{{Gap: 0.2, AllRows: true}, {Gap: 1e-6, MaxIterations: 3, AllRows: true},
			{Tolerance: 1e-8, AllRows: true}} {
			pr, err := NewProjector(context.Background(), p.Cost, p.Lo, p.Hi, p.Reg, s)
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				p.Source, p.Support = skewed(g, k), nil
				if g.intn(2) == 0 && k < 64 {
					u := newUsers(g, 1, k/2, k)
					p.Source, p.Support = u.source[0], u.support[0]
				}
				var r Result
				if err := pr.Project(context.Background(), p.Source, p.Support, &r); err != nil && !is(err, wpmerr.ErrNotConverged) {
					t.Fatal(err)
				}
				checkReport(t, fmt.Sprintf("number %d, %+v", n, s), p, r, noise)
			}
		}
	}
}

// TestReportGrid: and those of the method for grids.
func TestReportGrid(t *testing.T) {
	const noise = 1e-10 // and terms below e^-36 are left out
	for n, size := range [][2]int{{6, 9}, {1, 17}, {14, 1}, {7, 7}} {
		for _, reg := range []float64{0.2, 0.03} {
			for _, s := range []Settings{{Tolerance: 1e-6, MaxIterations: 60}, {Tolerance: 1e-12, MaxIterations: 1},
				{Tolerance: 1e-12, MaxIterations: 7}} {
				p := gridProblem(t, size[0], size[1], 1, reg)
				if n%2 == 1 {
					for i := range p.Source {
						if i%3 == 1 {
							p.Lo[i], p.Hi[i] = 0, 0
						}
						p.Hi[i] *= 2
					}
				}
				r, err := onGrid(t, context.Background(), p, s)
				if err != nil && !is(err, wpmerr.ErrNotConverged) {
					t.Fatal(err)
				}
				checkReport(t, fmt.Sprintf("%v cells, Reg %v, %+v", size, reg, s), p, r, noise)
			}
		}
	}
}
