package mincostflow

import (
	"context"
	"errors"
	"math"
	"math/big"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"github.com/wpm-go/wpm/cost"
	"github.com/wpm-go/wpm/internal/numtest"
	"github.com/wpm-go/wpm/wpmerr"
)

// nearOptimum compares an objective with its exact value.
var nearOptimum = numtest.Tol{Abs: 1e-300, Rel: 4e-16, Why: "a rounding or two of the masses and of the sum"}

// TestProject lists the cases that users of other solvers stumble on, with the value that is right.
func TestProject(t *testing.T) {
	inf := math.MaxFloat64
	tiny := math.SmallestNonzeroFloat64
	line := func(k, kv int, p float64) *cost.Dense {
		d := &cost.Dense{K: k, Kv: kv, Data: make([]float64, k*kv)}
		for i := range k {
			for j := range kv {
				d.Data[i*kv+j] = math.Pow(math.Abs(float64(i)/float64(k)-float64(j)/float64(kv)), p)
			}
		}
		return d
	}
	for _, c := range []struct {
		name string
		p    Problem
		want float64
	}{
		{"one by one", Problem{Cost: dense(t, []float64{3}), Source: []float64{1}, Lo: []float64{0.5}, Hi: []float64{2}}, 3},
		{"one column", Problem{Cost: dense(t, []float64{1}, []float64{2}, []float64{4}), Source: []float64{0.25, 0.5, 0.25},
			Lo: []float64{1}, Hi: []float64{1}}, 2.25},
		{"one row", Problem{Cost: dense(t, []float64{4, 1, 2}), Source: []float64{1}, Lo: []float64{0.25, 0, 0},
			Hi: []float64{1, 0.5, 1}}, 2},
		{"a point mass among rows",
			Problem{Cost: dense(t, []float64{9, 9, 9}, []float64{4, 1, 2}), Source: []float64{0, 1}, Lo: []float64{0.25, 0, 0},
				Hi: []float64{1, 0.5, 1}}, 2},
		{"already inside", Problem{Cost: line(4, 4, 1), Source: uniform(4), Lo: repeat(0.1, 4), Hi: repeat(0.5, 4)}, 0},
		{"all costs zero", Problem{Cost: line(3, 3, 1e6), Source: uniform(3), Lo: repeat(0, 3), Hi: []float64{1, 0, 0}}, 0},
		{"costs constant", Problem{Cost: dense(t, repeat(7, 3), repeat(7, 3)), Source: uniform(2), Lo: uniform(3),
			Hi: uniform(3)}, 7},
		{"offset", Problem{Cost: dense(t, []float64{1e6, 1e6 + 1}, []float64{1e6 + 1, 1e6}), Source: []float64{1, 0},
			Lo: []float64{0.5, 0.5}, Hi: []float64{0.5, 0.5}}, 1e6 + 0.5},
		{"scale 1e9", Problem{Cost: dense(t, []float64{0, 1e9}, []float64{1e9, 0}), Source: []float64{0.75, 0.25},
			Lo: []float64{0.5, 0.5}, Hi: []float64{0.5, 0.5}}, 0.25e9},
		{"scale 1e-9", Problem{Cost: dense(t, []float64{0, 1e-9}, []float64{1e-9, 0}), Source: []float64{0.75, 0.25},
			Lo: []float64{0.5, 0.5}, Hi: []float64{0.5, 0.5}}, 0.25e-9},
		{"largest float", Problem{Cost: dense(t, []float64{0, inf}, []float64{inf, 0}), Source: []float64{0.75, 0.25},
			Lo: []float64{0.5, 0.5}, Hi: []float64{0.5, 0.5}}, 0.25 * inf},
		{"largest float throughout",
			Problem{Cost: dense(t, []float64{inf, inf}, []float64{inf, inf}), Source: []float64{0.75, 0.25},
				Lo: []float64{0.5, 0.5}, Hi: []float64{0.5, 0.5}}, inf},
		{"smallest float", Problem{Cost: dense(t, []float64{0, 8 * tiny}, []float64{8 * tiny, 0}),
			Source: []float64{0.75, 0.25}, Lo: []float64{0.5, 0.5}, Hi: []float64{0.5, 0.5}}, 2 * tiny},
		// POT issue 229: "forbidden" arcs must not drown the others.
		{"forbidden arcs", Problem{Cost: dense(t, []float64{1, 1e32, 5}, []float64{1e32, 2, 1e32}, []float64{3, 1e32, 1e32}),
			Source: []float64{0.5, 0.25, 0.25}, Lo: []float64{0.25, 0.25, 0.25}, Hi: []float64{0.5, 0.25, 0.5}},
			0.25 + 0.25*5 + 0.5 + 0.75},
		{"forbidden diagonal", Problem{Cost: dense(t, []float64{1e300, 1e-300}, []float64{2e-300, 1e300}),
			Source: []float64{0.5, 0.5}, Lo: []float64{0.5, 0.5}, Hi: []float64{0.5, 0.5}}, 1.5e-300},
		// pyemd issue 57: bins of mass zero on both sides.
		{"zero bins", Problem{Cost: line(5, 5, 1), Source: []float64{0, 0.5, 0, 0.5, 0}, Lo: []float64{0.5, 0, 0.5, 0, 0},
			Hi: []float64{0.5, 0, 0.5, 0, 0}}, 0.2},
		{"column that admits nothing is cheapest",
			Problem{Cost: dense(t, []float64{0, 1, 2}), Source: []float64{1}, Lo: []float64{0, 0, 0}, Hi: []float64{0, 0.5, 1}},
			1.5},
		{"huge upper bounds", Problem{Cost: line(4, 4, 2), Source: []float64{0.5, 0, 0, 0.5}, Lo: repeat(0, 4),
			Hi: repeat(1e12, 4)}, 0},
		{"largest upper bounds", Problem{Cost: line(4, 4, 2), Source: []float64{0.5, 0, 0, 0.5}, Lo: repeat(0, 4),
			Hi: repeat(inf, 4)}, 0},
		// The masses of mu far below a unit of flow still have to go somewhere.
		{"tiny masses", Problem{Cost: dense(t, []float64{0, 4}, []float64{4, 0}), Source: []float64{1, 1e-300},
			Lo: []float64{0.5, 0.5}, Hi: []float64{0.5, 0.5}}, 2},
		{"tiny target", Problem{Cost: dense(t, []float64{0, 4}, []float64{4, 0}), Source: []float64{1, 0},
			Lo: []float64{0, 1e-300}, Hi: []float64{1, 1e-300}}, 4e-300},
		{"tiny lower bound", Problem{Cost: dense(t, []float64{0, 4}, []float64{4, 0}), Source: []float64{1, 0},
			Lo: []float64{0, 1e-30}, Hi: []float64{1, 1}}, 4e-30},
		{"duplicate rows and columns",
			Problem{Cost: dense(t, []float64{1, 1, 3}, []float64{1, 1, 3}, []float64{3, 3, 1}),
				Source: []float64{0.25, 0.25, 0.5}, Lo: repeat(0.25, 3), Hi: []float64{0.25, 0.25, 0.5}}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, r := range mustBoth(t, c.p) {
				numtest.Near(t, "Objective", r.Objective, c.want, nearOptimum)
			}
		})
	}
}

// TestPotentialsOfIdleBins: rows without mass get the largest valid potential, and so do columns
// that admit nothing, against the rows with mass.
func TestPotentialsOfIdleBins(t *testing.T) {
	for seed := range 300 {
		d := newDraw(uint64(seed) + 5e6)
		p := d.problem(7)
		k, kv := p.Cost.Dims()
		r := mustProject(t, p, Settings{AllRows: true})
		f, g := r.Potentials.F, r.Potentials.G
		for i := range k {
			row := p.Cost.Row(i, nil)
			up := math.Nextafter(f[i], math.Inf(1))
			tight := false
			for j, c := range row {
				if up == math.Inf(1) || new(big.Rat).Add(rat(up), rat(g[j])).Cmp(rat(c)) > 0 {
					tight = true
				}
			}
			if !tight {
				t.Fatalf("%v: F[%d] = %v can be raised", describe(p), i, f[i])
			}
		}
		for j := range kv {
			if p.Hi[j] > 0 {
				continue
			}
			up, tight := math.Nextafter(g[j], math.Inf(1)), false
			for i := range k {
				if p.Source[i] > 0 && (up == math.Inf(1) ||
					new(big.Rat).Add(rat(up), rat(f[i])).Cmp(rat(p.Cost.Row(i, nil)[j])) > 0) {
					tight = true
				}
			}
			if !tight {
				t.Fatalf("%v: G[%d] = %v can be raised", describe(p), j, g[j])
			}
		}
	}
}

// TestInexactMasses is the rule for bounds that miss total mass 1 by rounding.
func TestInexactMasses(t *testing.T) {
	c := dense(t, []float64{0, 1, 2}, []float64{1, 0, 1}, []float64{2, 1, 0})
	mu := []float64{0.6, 0.1, 0.3}
	m := []float64{0.2, 0.3, 0.5}
	for _, x := range []struct {
		name   string
		lo, hi float64 // factors on m
		err    error
		point  bool
	}{
		{"lo sums to one", 1, 2, nil, true},
		{"lo just above", 1 + 5e-13, 2, nil, true},
		{"lo at the edge", 1 + 9.9e-13, 2, nil, true},
		{"lo too large", 1 + 2e-12, 2, wpmerr.ErrInfeasible, false},
		{"lo far too large", 2, 3, wpmerr.ErrInfeasible, false},
		{"hi just below", 0.5, 1 - 5e-13, nil, true},
		{"hi too small", 0.5, 1 - 2e-12, wpmerr.ErrInfeasible, false},
		{"near infeasible from inside", 1 - 1e-15, 1 + 1e-15, nil, true},
	} {
		t.Run(x.name, func(t *testing.T) {
			p := Problem{Cost: c, Source: mu, Lo: scaled(m, x.lo), Hi: scaled(m, x.hi)}
			r, err := Project(context.Background(), p, Settings{})
			if !errors.Is(err, x.err) {
				t.Fatalf("error %v, want %v", err, x.err)
			}
			if _, _, verr := Verify(context.Background(), p, r); err != nil && !errors.Is(verr, x.err) {
				t.Errorf("Verify says %v, want %v", verr, x.err)
			}
			if err != nil {
				return
			}
			mustProject(t, p, Settings{})
			if x.point {
				numtest.NearSlice(t, "Q", r.Q, m, numtest.Tol{Abs: 4e-15, Why: "the box is at most 2e-15 wide"})
			}
		})
	}
	t.Run("bounds that sum to one and a bit", func(t *testing.T) {
		// 2^-1074 above one: the exact sum decides, not the rounded one.
		p := Problem{Cost: dense(t, []float64{1, 5}), Source: []float64{1}, Lo: []float64{1, math.SmallestNonzeroFloat64},
			Hi: []float64{1, 1}}
		mustBoth(t, p)
	})
}

// TestTightMassPrices has bounds that fill everything up to rounding, so that the box is taken as a point and
// the level of the prices is free. The prices must prove the optimum of the box as given all the same: with lo
// and hi of the real bounds, not of the point (found by checking against e^(-eps/2) m in high precision).
func TestTightMassPrices(t *testing.T) {
	d := newDraw(5)
	low, high := 0, 0
	cases := numtest.Cases(150, 400)
	for n := range cases {
		p := d.problem(8)
		k, kv := p.Cost.Dims()
		m := d.masses(kv)
		wide := 1 + 4*d.Float64()
		if n%2 == 0 {
			p.Lo, p.Hi = m, scaled(m, wide)
		} else {
			p.Lo, p.Hi = scaled(m, 1/wide), m
		}
		for _, r := range mustBoth(t, p) {
			dual := new(big.Rat)
			sum := numSum(p.Source)
			for i, x := range p.Source {
				row := i
				if p.Support != nil {
					row = p.Support[i]
				}
				f := new(big.Rat)
				for j := range kv {
					if y := new(big.Rat).Sub(rat(p.Cost.Row(row, nil)[j]), rat(r.Potentials.G[j])); j == 0 || y.Cmp(f) < 0 {
						f = y
					}
				}
				dual.Add(dual, f.Mul(f, rat(x)).Quo(f, sum))
			}
			for j, g := range r.Potentials.G {
				b := p.Lo[j]
				if g < 0 {
					b = p.Hi[j]
				}
				dual.Add(dual, new(big.Rat).Mul(rat(b), rat(g)))
			}
			// The sum of the bounds misses 1 by at most 1e-15 here, and prices are at most max C.
			gap, _ := new(big.Rat).Sub(rat(r.Objective), dual).Float64()
			if !(math.Abs(gap) <= 1e-14*maxCost(p)) {
				t.Errorf("%v, %+v: the prices prove the objective only up to %v of max C %v (k %d)", describe(p), r.Stats, gap,
					maxCost(p), k)
			}
		}
		switch s := numSum(m).Cmp(rat(1)); {
		case s > 0 && n%2 == 0:
			low++
		case s < 0 && n%2 == 1:
			high++
		}
	}
	if low < cases/20 || high < cases/20 {
		t.Errorf("only %d boxes full below and %d above: the test shows nothing", low, high)
	}
}

func numSum(x []float64) *big.Rat {
	s := new(big.Rat)
	for _, v := range x {
		s.Add(s, rat(v))
	}
	return s
}

// TestSubnormalMass has masses that lose bits when they are normalised, under costs that show it: the lower bound
// was once above the optimum (found in review).
func TestSubnormalMass(t *testing.T) {
	for _, p := range []Problem{
		{Cost: dense(t, []float64{0}, []float64{1e308}), Source: []float64{1 + 8e-10, 5e-324}, Lo: []float64{0},
			Hi: []float64{1}},
		{Cost: dense(t, []float64{0, 1e300}, []float64{1e308, 1e307}, []float64{1e308, 1}),
			Source: []float64{1 - 9e-10, 3e-320, 1e-310}, Lo: []float64{0, 0}, Hi: []float64{1, 1}},
	} {
		mustBoth(t, p)
	}
}

// TestPointBoxGap has a box that is one point, and long chains of arcs that carry nothing: the rounding of q once
// ran along them, and the gap grew with the number of columns (found in review).
func TestPointBoxGap(t *testing.T) {
	n := 3000
	if !numtest.Full() {
		n = 500
	}
	c, err := cost.NewRing(n, 1)
	if err != nil {
		t.Fatal(err)
	}
	m := make([]float64, n)
	sum := 0.0
	for j := range m {
		m[j] = float64(1 + j%7)
		sum += m[j]
	}
	m = scaled(m, 1/sum)
	r, err := Project(context.Background(), Problem{Cost: c, Source: m, Lo: m, Hi: m}, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if gap := r.Gap() / float64(n/2); !(gap <= 1e-15) { // of max C, as the contract has it for gaps that are only rounding
		t.Errorf("gap %v of max C", gap)
	}
}

// TestObjectiveOverflow has a plan that carries a rounding too much at the largest cost there is (found by fuzzing).
func TestObjectiveOverflow(t *testing.T) {
	const huge = math.MaxFloat64
	c := dense(t, []float64{6, huge, huge, huge, 6})
	b := []float64{2.3758634321950473e-29, 0.35294117647058826, 2.3758634321950473e-29, 0.6470588235294118, 0}
	r := mustTransport(t, c, []float64{1}, b)
	if math.IsInf(r.Objective, 0) {
		t.Error("infinite objective")
	}
}

// TestInstancesUsersReport runs whole instances from issues of other solvers.
func TestInstancesUsersReport(t *testing.T) {
	t.Run("float32 marginals", func(t *testing.T) {
		// POT issues 93, 126, 342: float32 masses sum to 1 only to 1e-7, and come back infeasible
		// with a zero plan. Here they are refused by name, and accepted once normalised.
		d := newDraw(1)
		mu := make([]float64, 30)
		for i := range mu {
			mu[i] = d.Float64()
		}
		normalise(mu)
		for i := range mu {
			mu[i] = float64(float32(mu[i]))
		}
		mu[0] += 1e-7
		lo, hi := box(uniform(30), 1)
		ring, _ := cost.NewRing(30, 2)
		p := Problem{Cost: ring, Source: mu, Lo: lo, Hi: hi}
		mustProject(t, p, Settings{})
	})
	t.Run("integer masses", func(t *testing.T) {
		// POT issues 12, 345: integer counts were cast to a zero plan.
		p := Problem{Cost: dense(t, []float64{0, 1}, []float64{1, 0}), Source: []float64{1, 2}, Lo: []float64{0, 0},
			Hi: []float64{1, 1}}
		if r := mustProject(t, p, Settings{}); r.Objective != 0 {
			t.Errorf("%+v", r)
		}
	})
	t.Run("5 x 960", func(t *testing.T) {
		// POT issue 190: a random rectangular instance that came back infeasible.
		d := newDraw(190)
		c := &cost.Dense{K: 5, Kv: 960, Data: make([]float64, 5*960)}
		for x := range c.Data {
			c.Data[x] = d.Float64()
		}
		a, b := make([]float64, 5), make([]float64, 960)
		for i := range a {
			a[i] = d.Float64()
		}
		for j := range b {
			b[j] = d.Float64()
		}
		normalise(a)
		normalise(b)
		mustProject(t, Problem{Cost: c, Source: a, Lo: b, Hi: b}, Settings{})
		mustTransport(t, c, a, b)
	})
	t.Run("ties without end", func(t *testing.T) {
		// Uniform masses on a grid with dyadic factors: nearly every pivot is degenerate in other
		// codes, and "sometimes iterations go on in a cycle".
		for _, n := range []int{4, 8, 11} {
			for _, p := range []float64{1, 2} {
				g, err := cost.NewGrid(n, n, p)
				if err != nil {
					t.Fatal(err)
				}
				mustProject(t, Problem{Cost: g, Source: uniform(n * n), Lo: repeat(0.5/float64(n*n), n*n),
					Hi: repeat(2/float64(n*n), n*n)}, Settings{})
				// Mass on every other cell only: the same ties, and something to do.
				mu := make([]float64, n*n)
				for i := range mu {
					mu[i] = float64(i % 2)
				}
				normalise(mu)
				mustProject(t, Problem{Cost: g, Source: mu, Lo: repeat(0.5/float64(n*n), n*n), Hi: repeat(2/float64(n*n), n*n)},
					Settings{})
				mustProject(t, Problem{Cost: g, Source: mu, Lo: uniform(n * n), Hi: uniform(n * n)}, Settings{})
			}
		}
	})
	t.Run("all costs equal to rounding", func(t *testing.T) {
		c := &cost.Dense{K: 12, Kv: 12, Data: make([]float64, 144)}
		for x := range c.Data {
			c.Data[x] = 1 + float64(x%3)*0x1p-52
		}
		mustProject(t, Problem{Cost: c, Source: uniform(12), Lo: uniform(12), Hi: uniform(12)}, Settings{})
	})
}

// TestNearTiesUnderWideBounds: costs that are equal on the cost grid but not exactly. A price with
// the wrong sign in its last bit, times an upper bound of 1e12, would ruin the lower bound.
func TestNearTiesUnderWideBounds(t *testing.T) {
	for _, row := range [][]float64{{1 + 0x1p-50, 1, 1.5}, {1, 1 + 0x1p-50, 1.5}, {1.5, 1 + 0x1p-51, 1}} {
		p := Problem{Cost: dense(t, row, row), Source: []float64{0.5, 0.5}, Lo: repeat(0.25, 3), Hi: repeat(1e12, 3)}
		mustSimplex(t, p)
	}
}

// TestForeignMatrix: a matrix that computes its rows gives the same answer as one in memory.
func TestForeignMatrix(t *testing.T) {
	grid, err := cost.NewGrid(6, 7, 1)
	if err != nil {
		t.Fatal(err)
	}
	d, err := cost.Materialize(context.Background(), grid)
	if err != nil {
		t.Fatal(err)
	}
	mu := newDraw(3).masses(42)
	lo, hi := box(uniform(42), 1)
	a := mustProject(t, Problem{Cost: grid, Source: mu, Lo: lo, Hi: hi}, Settings{})
	b := mustProject(t, Problem{Cost: d, Source: mu, Lo: lo, Hi: hi}, Settings{})
	if !reflect.DeepEqual(a, b) {
		t.Error("the result depends on how the cost is stored")
	}
}

func TestSparseSource(t *testing.T) {
	for seed := range 200 {
		d := newDraw(uint64(seed) + 6e6)
		p := d.problem(8)
		s := p
		s.Source, s.Support = nil, []int{}
		for i, m := range p.Source {
			if m > 0 || d.Intn(2) == 0 { // zeros may be listed or not
				s.Source, s.Support = append(s.Source, m), append(s.Support, i)
			}
		}
		a, b := mustProject(t, p, Settings{}), mustProject(t, s, Settings{})
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("%v: sparse and dense sources differ:\n%+v\n%+v", describe(p), a, b)
		}
		c := mustProject(t, s, Settings{AllRows: true})
		c.Potentials.F = b.Potentials.F
		if !reflect.DeepEqual(b, c) {
			t.Fatalf("%v: AllRows changes more than potentials", describe(p))
		}
	}
}

// unread is a cost whose rows without mass must not be read.
type unread struct {
	cost.Matrix
	live []bool
	t    *testing.T
}

func (u unread) Row(i int, buf []float64) []float64 {
	if !u.live[i] {
		u.t.Errorf("row %d was read", i)
	}
	return u.Matrix.Row(i, buf)
}

func TestReadsNoOtherRow(t *testing.T) {
	ring, _ := cost.NewRing(12, 1)
	live := make([]bool, 12)
	live[3], live[8] = true, true
	lo, hi := box(uniform(12), 1)
	p := Problem{Cost: unread{ring, live, t}, Source: []float64{0.25, 0.75}, Support: []int{3, 8}, Lo: lo, Hi: hi}
	r, err := Project(context.Background(), p, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	p.Cost = ring
	checkResult(t, p, r)
}

// TestIdleRows: rows without mass are read if asked for, and not otherwise.
func TestIdleRows(t *testing.T) {
	for _, c := range []struct {
		name       string
		n, support int
		settings   Settings
		all        bool
	}{
		{"none", 100, 2, Settings{}, false},
		{"none of the other half", 200, 100, Settings{}, false},
		{"all", 200, 2, Settings{AllRows: true}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			ring, err := cost.NewRing(c.n, 1)
			if err != nil {
				t.Fatal(err)
			}
			rows := make([]int, c.n)
			lo, hi := box(uniform(c.n), 1)
			p := Problem{Cost: counted{ring, rows}, Source: uniform(c.support), Lo: lo, Hi: hi}
			for i := range c.support {
				p.Support = append(p.Support, i)
			}
			r, err := Project(context.Background(), p, c.settings)
			if err != nil {
				t.Fatal(err)
			}
			if read := rows[c.n-1] > 0; read != c.all {
				t.Errorf("rows without mass are read: %v, want %v", read, c.all)
			}
			p.Cost = ring
			checkResult(t, p, r)
		})
	}
}

// counted counts how often rows are read.
type counted struct {
	cost.Matrix
	rows []int
}

func (c counted) Row(i int, buf []float64) []float64 {
	c.rows[i]++
	return c.Matrix.Row(i, buf)
}

func TestErrors(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	ok := func() Problem {
		return Problem{
			Cost:   dense(t, []float64{0, 1}, []float64{1, 0}, []float64{2, 2}),
			Source: []float64{0.5, 0.5, 0},
			Lo:     []float64{0.25, 0.25},
			Hi:     []float64{0.75, 0.75},
		}
	}
	raw := func(k, kv int, data ...float64) *cost.Dense { return &cost.Dense{K: k, Kv: kv, Data: data} }
	for _, c := range []struct {
		name string
		edit func(p *Problem, s *Settings)
		want error
	}{
		{"no cost", func(p *Problem, _ *Settings) { p.Cost = nil }, wpmerr.ErrShape},
		{"nil dense", func(p *Problem, _ *Settings) { p.Cost = (*cost.Dense)(nil) }, wpmerr.ErrShape},
		{"nil ring", func(p *Problem, _ *Settings) { p.Cost = (*cost.Ring)(nil) }, wpmerr.ErrShape},
		{"nil grid", func(p *Problem, _ *Settings) { p.Cost = (*cost.Grid)(nil) }, wpmerr.ErrShape},
		{"nil points", func(p *Problem, _ *Settings) { p.Cost = (*cost.Points)(nil) }, wpmerr.ErrShape},
		{"nil cosine", func(p *Problem, _ *Settings) { p.Cost = (*cost.Cosine)(nil) }, wpmerr.ErrShape},
		{"nil great circle", func(p *Problem, _ *Settings) { p.Cost = (*cost.GreatCircle)(nil) }, wpmerr.ErrShape},
		{"empty cost", func(p *Problem, _ *Settings) { p.Cost = raw(0, 0) }, wpmerr.ErrShape},
		{"negative dimensions", func(p *Problem, _ *Settings) { p.Cost = raw(-3, -2, 1, 1, 1, 1, 1, 1) }, wpmerr.ErrShape},
		{"short data", func(p *Problem, _ *Settings) { p.Cost = raw(3, 2, 1, 1, 1) }, wpmerr.ErrShape},
		{"overflowing dimensions", func(p *Problem, _ *Settings) { p.Cost = raw(math.MaxInt/2+1, 4) }, wpmerr.ErrShape},
		{"short row", func(p *Problem, _ *Settings) { p.Cost = shortRow{p.Cost} }, wpmerr.ErrShape},
		{"NaN cost", func(p *Problem, _ *Settings) { p.Cost = raw(3, 2, 0, 1, nan, 0, 2, 2) }, wpmerr.ErrNotFinite},
		{"infinite cost", func(p *Problem, _ *Settings) { p.Cost = raw(3, 2, 0, inf, 1, 0, 2, 2) }, wpmerr.ErrNotFinite},
		{"negative cost", func(p *Problem, _ *Settings) { p.Cost = raw(3, 2, 0, 1, -1, 0, 2, 2) }, wpmerr.ErrNegative},
		{"NaN cost of an idle row", func(p *Problem, s *Settings) { s.AllRows, p.Cost = true, raw(3, 2, 0, 1, 1, 0, nan, 2) },
			wpmerr.ErrNotFinite},
		{"negative cost of an idle row",
			func(p *Problem, s *Settings) { s.AllRows, p.Cost = true, raw(3, 2, 0, 1, 1, 0, 2, -2) }, wpmerr.ErrNegative},
		{"source too short", func(p *Problem, _ *Settings) { p.Source = []float64{1} }, wpmerr.ErrShape},
		{"no source", func(p *Problem, _ *Settings) { p.Source = nil }, wpmerr.ErrShape},
		{"support without source", func(p *Problem, _ *Settings) { p.Source, p.Support = nil, []int{} }, wpmerr.ErrMass},
		{"support too short", func(p *Problem, _ *Settings) { p.Support = []int{0, 1} }, wpmerr.ErrShape},
		{"support unsorted", func(p *Problem, _ *Settings) { p.Support = []int{1, 0, 2} }, wpmerr.ErrSupport},
		{"support with a duplicate", func(p *Problem, _ *Settings) { p.Support = []int{0, 1, 1} }, wpmerr.ErrSupport},
		{"support out of range", func(p *Problem, _ *Settings) { p.Support = []int{0, 1, 3} }, wpmerr.ErrSupport},
		{"support negative", func(p *Problem, _ *Settings) { p.Support = []int{-1, 1, 2} }, wpmerr.ErrSupport},
		{"NaN mass", func(p *Problem, _ *Settings) { p.Source = []float64{nan, 0.5, 0.5} }, wpmerr.ErrNotFinite},
		{"infinite mass", func(p *Problem, _ *Settings) { p.Source = []float64{inf, 0.5, 0.5} }, wpmerr.ErrNotFinite},
		{"negative mass", func(p *Problem, _ *Settings) { p.Source = []float64{-0.5, 0.75, 0.75} }, wpmerr.ErrNegative},
		{"no mass", func(p *Problem, _ *Settings) { p.Source = []float64{0, 0, 0} }, wpmerr.ErrMass},
		{"bounds too short", func(p *Problem, _ *Settings) { p.Lo = []float64{0.5} }, wpmerr.ErrShape},
		{"no upper bounds", func(p *Problem, _ *Settings) { p.Hi = nil }, wpmerr.ErrShape},
		{"NaN bound", func(p *Problem, _ *Settings) { p.Lo = []float64{nan, 0} }, wpmerr.ErrNotFinite},
		{"infinite upper bound", func(p *Problem, _ *Settings) { p.Hi = []float64{inf, 1} }, wpmerr.ErrNotFinite},
		{"negative bound", func(p *Problem, _ *Settings) { p.Lo = []float64{-0.25, 0} }, wpmerr.ErrNegative},
		{"crossed bounds", func(p *Problem, _ *Settings) { p.Lo = []float64{0.25, 0.8} }, wpmerr.ErrBox},
		{"infeasible above", func(p *Problem, _ *Settings) { p.Lo = []float64{0.75, 0.75} }, wpmerr.ErrInfeasible},
		{"infeasible below", func(p *Problem, _ *Settings) { p.Hi = []float64{0.25, 0.25} }, wpmerr.ErrInfeasible},
		{"infeasible and huge", func(p *Problem, _ *Settings) { p.Lo = repeat(math.MaxFloat64, 2); p.Hi = p.Lo },
			wpmerr.ErrInfeasible},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, s := ok(), Settings{}
			good := mustProject(t, p, s)
			c.edit(&p, &s)
			r, err := Project(context.Background(), p, s)
			if !errors.Is(err, c.want) {
				t.Errorf("Project: %v, want %v", err, c.want)
			}
			if !reflect.DeepEqual(r, Result{}) {
				t.Errorf("a result beside the error: %+v", r)
			}
			if _, _, err := Verify(context.Background(), p, good); !errors.Is(err, c.want) {
				t.Errorf("Verify: %v, want %v", err, c.want)
			}
		})
	}
}

type shortRow struct{ cost.Matrix }

func (s shortRow) Row(i int, buf []float64) []float64 { return s.Matrix.Row(i, buf)[:1] }

func TestNegativeZeroIsZero(t *testing.T) {
	z := math.Copysign(0, -1)
	p := Problem{Cost: &cost.Dense{K: 2, Kv: 2, Data: []float64{z, 1, 1, z}}, Source: []float64{1, z},
		Lo: []float64{z, 0.5}, Hi: []float64{1, 1}}
	r := mustProject(t, p, Settings{})
	if r.Objective != 0.5 {
		t.Errorf("Objective = %v, want 0.5", r.Objective)
	}
}

// TestStops: wherever a solve is stopped, after some looks at the context or some pivots, the result is feasible
// and its bounds hold.
func TestStops(t *testing.T) {
	var problems []Problem
	for seed := range numtest.Cases(5, 12) {
		problems = append(problems, newDraw(uint64(seed)+7e6).problem(9))
	}
	for _, name := range []string{"ring30:dir:0.5", "sq100p1:dir:2", "ring100:sp20:2"} {
		p, err := instanceNamed(name)
		if err != nil {
			t.Fatal(err)
		}
		problems = append(problems, p)
	}
	for n, p := range problems {
		full := mustProject(t, p, Settings{})
		check := func(r Result, err error, want Status, cause error) (done bool) {
			t.Helper()
			if err == nil {
				if r.Status != Optimal {
					t.Fatalf("status %v without an error", r.Status)
				}
				return true
			}
			if r.Status != want || !errors.Is(err, wpmerr.ErrNotConverged) || cause != nil && !errors.Is(err, cause) {
				t.Fatalf("problem %d: status %v, error %v", n, r.Status, err)
			}
			upper, _ := checkResult(t, p, r)
			if upper.Cmp(rat(full.Lower)) < 0 {
				t.Fatalf("problem %d: upper bound %v below the optimum %v", n, r.Upper, full.Lower)
			}
			if r.Lower > full.Upper {
				t.Fatalf("problem %d: lower bound %v above the optimum %v", n, r.Lower, full.Upper)
			}
			return false
		}
		for asked := 0; ; asked++ {
			r, err := Project(&numtest.Asked{Context: context.Background(), Most: asked}, p, Settings{})
			if check(r, err, Cancelled, context.Canceled) {
				break
			}
		}
		step := 1
		for limit := 1; ; limit += step {
			r, err := bySimplex(p, limit)
			if r.Stats.Pivots > limit+1 {
				t.Fatalf("%d pivots, at most %d asked for", r.Stats.Pivots, limit)
			}
			if check(r, err, Cancelled, nil) {
				break
			}
			if limit > 50 {
				step = 37
			}
		}
	}
}

func TestNilContext(t *testing.T) {
	p, err := instanceNamed("ring30:dir:2")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Project(nil, p, Settings{}); err != nil { //nolint:staticcheck // no panic on any input
		t.Error(err)
	}
}

func TestInputsAreNotModified(t *testing.T) {
	for seed := range 100 {
		p := newDraw(uint64(seed) + 8e6).problem(8)
		c := p.Cost.(*cost.Dense)
		before := [][]float64{slices.Clone(c.Data), slices.Clone(p.Source), slices.Clone(p.Lo), slices.Clone(p.Hi)}
		r := mustProject(t, p, Settings{})
		for n := range r.Q {
			r.Q[n] = -1 // the result must not alias the input, either
		}
		after := [][]float64{c.Data, p.Source, p.Lo, p.Hi}
		if !reflect.DeepEqual(before, after) {
			t.Fatalf("%v: input changed", describe(p))
		}
	}
}

// TestSameBits: the number of processors changes nothing. The second instance is large enough for
// the idle rows to be shared out.
func TestSameBits(t *testing.T) {
	for _, name := range []string{"sq100p1:dir:2", "sq1000p1:sp20:2"} {
		p, err := instanceNamed(name)
		if err != nil {
			t.Fatal(err)
		}
		old := runtime.GOMAXPROCS(1)
		a, err1 := Project(context.Background(), p, Settings{AllRows: true})
		runtime.GOMAXPROCS(8)
		b, err2 := Project(context.Background(), p, Settings{AllRows: true})
		runtime.GOMAXPROCS(old)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		if !reflect.DeepEqual(a, b) {
			t.Errorf("%s: results differ", name)
		}
	}
}

// TestBadRowAmongWorkers: the first bad row is reported, whichever worker meets one.
func TestBadRowAmongWorkers(t *testing.T) {
	const n = 1024
	d := &cost.Dense{K: n, Kv: n, Data: make([]float64, n*n)}
	d.Data[300*n+5] = math.NaN()
	d.Data[900*n+7] = -1
	p := Problem{Cost: d, Source: []float64{0.5, 0.5}, Support: []int{1, 2}, Lo: repeat(0, n), Hi: repeat(1, n)}
	_, err := Project(context.Background(), p, Settings{AllRows: true})
	var entry *cost.EntryError
	if !errors.Is(err, wpmerr.ErrNotFinite) || !errors.As(err, &entry) || entry.I != 300 || entry.J != 5 {
		t.Errorf("error %v, want the one of row 300", err)
	}
}

// TestNamedInstances holds the objective of some benchmark instances to those of LEMON 1.3.1
// (int64, masses times 2^60, costs times 2^44 / max C), printed to 15 digits.
func TestNamedInstances(t *testing.T) {
	tol := numtest.Tol{Rel: 2e-14, Why: "digits printed, and LEMON's rounding of costs to 2^-44 of the largest"}
	for _, c := range []struct {
		name string
		want float64
	}{
		{"ring30:dir:2", 1.23359138972786},
		{"ring100:dir:2", 4.08731750530378},
		{"sq100p1:dir:2", 0.0620762493747693},
		{"sq300p1:sp20:2", 0.0870604077415966},
		{"grid20p1:dir:2", 0.0424563535949254},
		{"cos250x1346:dir:2", 0.70235995568805},
		{"sq1000p1:dir:2", 0.0233913004538493},
		{"ring1000:dir:0.5", 230.577087641622},
	} {
		p, err := instanceNamed(c.name)
		if err != nil {
			t.Fatal(err)
		}
		if k, kv := p.Cost.Dims(); !numtest.Full() && k*kv > 2e5 {
			continue
		}
		r := mustProject(t, p, Settings{})
		numtest.Near(t, c.name, r.Objective, c.want, tol)
	}
}
